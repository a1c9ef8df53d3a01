"""Is every class predicted somewhere?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from .._checks import plural
from .checks import Check, Found, Turn
from .finding import Finding
from .given import Given
from .words import brief

FEWEST = 10  # different inputs that something can be said of
RARE = 0.01  # of the labels: so rare a class need not be predicted anywhere


def classes(given: Given, turn: Turn) -> Found:
    """Compare the classes that the model and the data have with those that were ever answered."""
    seen = {str(label) for label in given.labels_seen}  # a file may have made text of numbers
    known = list(given.sut.labels or ())
    truth = Counter(_labels(given))
    total = sum(given.labels_seen.values())
    rests = f"{plural(len(seen), 'class', 'classes')} in {plural(total, 'answer')}"
    vocabulary = {str(label) for label in known} | seen
    if truth and not {str(label) for label in truth} & vocabulary:
        rests += "; the labels of the data are none of the model's, so they tell nothing here"
        truth = Counter()
    findings = [
        _never(given, label, truth, total)
        for label in {str(each): each for each in [*known, *truth]}.values()
        if str(label) not in seen
    ]
    one = next(iter(given.labels_seen), None)
    if not findings and given.answers is not None and len(seen) == 1 and int(given.answers.ok.sum()) >= FEWEST:
        findings.append(
            Finding(
                "classes", "one", f"Every input gets the same answer: {brief(one)}", "concern", 0.9,
                f"{plural(total, 'answer')}, given inputs and made ones.",
                "Give inputs of all classes; if these are, the model has learned nothing from them.",
                total, total,
            )
        )  # fmt: skip
    return Found(rests, findings)


def _labels(given: Given) -> list[Any]:
    """Return the labels of the data that are any."""
    import pandas as pd

    return [] if given.truth is None else [each for each in given.truth.tolist() if not _missing(pd, each)]


def _missing(pd: Any, label: Any) -> bool:
    return bool(pd.api.types.is_scalar(label) and pd.isna(label))


def _never(given: Given, label: Any, truth: Counter[Any], total: int) -> Finding:
    count = truth.get(label, 0)
    rare = 0 < count < max(5, RARE * truth.total())
    there = (
        f"{count:,} of {truth.total():,} labels of the data are {brief(label)}, and"
        if count
        else "It is declared, and"
    )
    along = ", not along its borders" if given.front is not None else ""
    return Finding(
        "classes", str(label), f"The class {brief(label)} is never predicted", "advice" if rare else "concern",
        0.95 if count else 0.8,
        f"{there} none of {plural(total, 'answer')} is: not to the given inputs, not at the edges of the space{along}.",
        "See whether the class is too rare or lost on the way (a wrong encoding of labels, a threshold, weights). "
        "If it cannot be told apart, say so to whoever relies on it.",
    )  # fmt: skip


def _no_classes(given: Given) -> str:
    if given.answers is None or given.asked is None:
        return "the system was not asked"
    if given.subject.numbers or not given.labels_seen:
        return "the answers are numbers"
    return (
        ""
        if len({row.tobytes() for row in given.asked.codes[:1000]}) >= FEWEST
        else "too few different inputs are given"
    )


CLASSES = Check("classes", "Is every class predicted somewhere?", 0.1, _no_classes, classes, needs=("answers",))
