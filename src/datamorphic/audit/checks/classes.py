"""Is every class predicted somewhere?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..._text import pluralize
from ..case_text import format_label
from ..check import Check, CheckBudget, CheckFindings
from ..context import CheckContext
from ..finding import Finding

MIN_DISTINCT_INPUTS = 10  # different inputs that something can be said of
RARE_LABEL_SHARE = 0.01  # of the labels: so rare a class need not be predicted anywhere


def check_classes(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Compare the classes that the model and the data have with those that were ever answered."""
    predicted_labels = {str(label) for label in context.label_counts}  # a file may have made text of numbers
    declared_labels = list(context.sut.labels or ())
    truth = Counter(_list_labels(context))
    total = sum(context.label_counts.values())
    basis = f"{pluralize(len(predicted_labels), 'class', 'classes')} in {pluralize(total, 'answer')}"
    vocabulary = {str(label) for label in declared_labels} | predicted_labels
    if truth and not {str(label) for label in truth} & vocabulary:
        basis += "; the labels of the data are none of the model's, so they tell nothing here"
        truth = Counter()
    findings = [
        _build_finding(context, label, truth, total)
        for label in {str(value): value for value in [*declared_labels, *truth]}.values()
        if str(label) not in predicted_labels
    ]
    only_label = next(iter(context.label_counts), None)
    if (
        not findings
        and context.answers is not None
        and len(predicted_labels) == 1
        and int(context.answers.ok.sum()) >= MIN_DISTINCT_INPUTS
    ):
        findings.append(
            Finding(
                check="classes",
                about="one",
                title=f"Every input gets the same answer: {format_label(only_label)}",
                level="concern",
                sure=0.9,
                detail=f"{pluralize(total, 'answer')}, given inputs and made ones.",
                remedy="Give inputs of all classes; if these are, the model has learned nothing from them.",
                cases=total,
                of=total,
            )
        )
    return CheckFindings(basis, findings)


def _list_labels(context: CheckContext) -> list[Any]:
    """Return the labels of the data that are any."""
    import pandas as pd

    return (
        [] if context.truth is None else [label for label in context.truth.tolist() if not _is_missing(pd, label)]
    )


def _is_missing(pd: Any, label: Any) -> bool:
    return bool(pd.api.types.is_scalar(label) and pd.isna(label))


def _build_finding(context: CheckContext, label: Any, truth: Counter[Any], total: int) -> Finding:
    count = truth.get(label, 0)
    rare = 0 < count < max(5, RARE_LABEL_SHARE * truth.total())
    presence_text = (
        f"{count:,} of {truth.total():,} labels of the data are {format_label(label)}, and"
        if count
        else "It is declared, and"
    )
    border_text = ", not along its borders" if context.front is not None else ""
    return Finding(
        check="classes",
        about=str(label),
        title=f"The class {format_label(label)} is never predicted",
        level="advice" if rare else "concern",
        sure=0.95 if count else 0.8,
        detail=f"{presence_text} none of {pluralize(total, 'answer')} is: not to the given inputs, not at the edges of the space{border_text}.",
        remedy="See whether the class is too rare or lost on the way (a wrong encoding of labels, a threshold, weights). "
        "If it cannot be told apart, say so to whoever relies on it.",
    )


def _find_skip_reason(context: CheckContext) -> str:
    if context.answers is None or context.queries is None:
        return "the system was not asked"
    if context.subject.has_numeric_answers or not context.label_counts:
        return "the answers are numbers"
    return (
        ""
        if len({row.tobytes() for row in context.queries.codes[:1000]}) >= MIN_DISTINCT_INPUTS
        else "too few different inputs are given"
    )


CLASSES = Check(
    name="classes",
    question="Is every class predicted somewhere?",
    weight=0.1,
    find_skip_reason=_find_skip_reason,
    run=check_classes,
    needs=("answers",),
)
