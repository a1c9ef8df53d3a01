"""Check whether every class is predicted somewhere."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._text import pluralise
from ...core.result import Finding, count_rows, format_share
from ...space.labels import to_label_key
from ..case_text import format_label
from ..check import MISSING_RESULT, CheckBudget, CheckFindings, get_facts, make_check
from ..context import CheckContext
from ..rivals import MAX_COARSE_OUTPUTS

MIN_DISTINCT_INPUTS = 10  # fewer do not allow a judgement
RARE_LABEL_SHARE = 0.01  # of the labels; a class this rare need not be predicted
RARE_LABEL_COUNT = 5
MAX_CHANCE_OF_ABSENCE = 0.001  # of a class among the few answers of a slow system


def check_classes(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Compare the classes of the model and of the data with the predicted ones."""
    predicted_labels = {to_label_key(label) for label in context.label_counts}
    declared_labels = list(context.sut.labels or ())
    labels = [] if context.truth is None else context.truth.tolist()
    truth = Counter(label for label in labels if not (pd.api.types.is_scalar(label) and pd.isna(label)))
    total = sum(context.label_counts.values())
    basis = f"{pluralise(len(predicted_labels), 'class', 'classes')} in {pluralise(total, 'answer')}"
    vocabulary = {to_label_key(label) for label in declared_labels} | predicted_labels
    if truth and not {to_label_key(label) for label in truth} & vocabulary:
        basis += "; the labels of the data are not classes of the model, and were ignored"
        truth = Counter()
    levels = context.probabilities
    is_simple = levels is not None and len(np.unique(np.round(levels, 9), axis=0)) <= MAX_COARSE_OUTPUTS
    findings = [
        _build_finding(label, truth, is_simple)
        for label in {to_label_key(value): value for value in [*declared_labels, *truth]}.values()
        if to_label_key(label) not in predicted_labels
        and (not context.is_slow or _is_expected(label, truth, len(declared_labels), total))
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
                **get_facts("classes.one"),
                title=f"Every input gets the same answer: {format_label(only_label)}",
                detail=f"All of {pluralise(total, 'answer')} to given and generated inputs are the same.",
                cases=total,
                cases_tried=total,
                affected_rows=int(context.answers.ok.sum()),
                rows=len(context.answers),
            )
        )
    return CheckFindings(basis=basis, findings=findings)


def _is_expected(label: object, truth: Counter[Any], declared_count: int, answers: int) -> bool:
    """Tell whether so many answers should contain a class, if they are as frequent as in the labels."""
    share = truth[label] / truth.total() if truth[label] else 1 / max(declared_count, 1)
    return (1 - share) ** answers < MAX_CHANCE_OF_ABSENCE


def _build_finding(label: object, truth: Counter[Any], is_simple: bool) -> Finding:
    """Return advice about a rare class or a model of few decisions, which may have no place for it, and a concern otherwise."""
    count = truth.get(label, 0)
    rare = 0 < count < max(RARE_LABEL_COUNT, RARE_LABEL_SHARE * truth.total())
    presence = "The model declares it"
    if count:
        share = format_share(count, truth.total(), "row")
        presence = f"{share} are labelled {format_label(label)}"
    return Finding(
        **get_facts("classes.unpredicted"),
        about=str(label),
        title=f"The class {format_label(label)} is never predicted",
        level="advice" if rare or is_simple else "concern",
        confidence=0.95 if count else 0.8,
        detail=f"{presence}, but it is never the answer to given or generated inputs.",
        **count_rows(count, truth.total() if count else 0),
        inputs="given" if count else "",
    )


def _find_skip_reason(context: CheckContext) -> str:
    if context.answers is None or context.queries is None:
        return MISSING_RESULT
    if context.has_numeric_answers or not context.label_counts:
        return "the answers are numbers"
    distinct = {row.tobytes() for row in context.queries.codes[:1000]}
    return "" if len(distinct) >= MIN_DISTINCT_INPUTS else "too few distinct inputs are given"


CLASSES = make_check("classes", check_classes, _find_skip_reason)
