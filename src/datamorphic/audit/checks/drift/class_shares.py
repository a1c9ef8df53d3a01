"""Classes that are far more frequent than in the reference, and more frequent than the model expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._stats import compute_wilson_interval
from ...._text import format_percent, format_rounded
from ....core.result import Finding, count_rows
from ...case_text import format_label
from ...check import get_facts
from ...context import CheckContext
from ...labels import find_missing_labels
from ...responses import AnswerCodes
from .reference_rows import ReferenceRows

Counts = npt.NDArray[np.intp]

CONFIDENCE = 0.999  # of the intervals of shares: all classes are looked at
#: Times by which the odds of a class are at least higher than in the reference: the probabilities of a model that was fitted
#: to the reference are too low by as much, unless the inputs tell the classes apart.
MIN_ODDS_RATIO = 3.0
MIN_EXCESS = 1.25  # of the share of a class, at the lower end of its interval, to the share that the model expects
MIN_REFERENCE_ROWS = 5  # of a class


@dataclass(frozen=True, kw_only=True)
class GrownClass:
    """A class that is more frequent than in the reference."""

    place: int  # among the classes
    count: int
    share: float
    reference_share: float


def find_grown_class(old: Counts, new: Counts, expected: npt.NDArray[np.float64]) -> GrownClass | None:
    """Return the class whose odds rose most, if they rose by much and the model expects fewer; counts are by class.

    Examples
    --------
    >>> find_grown_class(np.array([900, 100]), np.array([100, 100]), np.array([0.8, 0.2]))
    GrownClass(place=1, count=100, share=0.5, reference_share=0.1)
    >>> find_grown_class(np.array([900, 100]), np.array([100, 100]), np.array([0.5, 0.5])) is None
    True
    """
    best, best_ratio = None, MIN_ODDS_RATIO
    for place, (old_count, count) in enumerate(zip(old.tolist(), new.tolist(), strict=True)):
        if old_count < MIN_REFERENCE_ROWS:
            continue
        low = compute_wilson_interval(count, int(new.sum()), CONFIDENCE)[0]
        high = compute_wilson_interval(old_count, int(old.sum()), CONFIDENCE)[1]
        ratio = low / max(1 - low, 1e-9) * (1 - high) / high
        if ratio >= best_ratio and low >= MIN_EXCESS * expected[place]:
            best_ratio = ratio
            best = GrownClass(
                place=place, count=count, share=count / int(new.sum()), reference_share=old_count / int(old.sum())
            )
    return best


def find_changed_shares(context: CheckContext, reference: ReferenceRows) -> Finding | None:
    """Return a finding about a class that is far more frequent than in the reference and than the model expects."""
    if context.has_numeric_answers or context.truth is None or reference.labels is None or context.has_unmatched_labels:
        return None
    codes = AnswerCodes(False, context.sut.labels)
    labels = [codes.encode(values, ~find_missing_labels(values)) for values in (reference.labels, context.truth)]
    old, new = (_count(values, len(codes.labels)) for values in labels)
    if not len(codes.labels) or not min(old.sum(), new.sum()):
        return None
    expected, source = _expect_shares(context, codes)
    grown = find_grown_class(old, new, expected)
    if grown is None:
        return None
    name = format_label(codes.labels[grown.place])
    times = format_rounded(grown.share / grown.reference_share, digits=2)
    return Finding(
        **get_facts("drift.shares"),
        about=codes.labels[grown.place],
        title=f"The class {name} is {times} times as frequent as in the reference data, and the model does not expect it",
        detail=f"{format_percent(grown.share)} of the labels are {name}, in the reference {format_percent(grown.reference_share)}. "
        f"The model expects {format_percent(float(expected[grown.place]))} of these rows to be {name}, {source}. Probabilities and "
        "thresholds that fit the reference do not fit these rows.",
        **count_rows(grown.count, int(new.sum())),
    )


def _count(codes: npt.NDArray[np.float64], size: int) -> Counts:
    return np.bincount(codes[np.isfinite(codes)].astype(np.intp), minlength=size)


def _expect_shares(context: CheckContext, codes: AnswerCodes) -> tuple[npt.NDArray[np.float64], str]:
    """Return which share of the rows the model expects of each class, by its probabilities or its answers."""
    names: Sequence[str] = codes.labels
    classes = context.sut.labels
    if context.probabilities is not None and classes is not None and context.probabilities.shape[1] == len(classes):
        shares = np.zeros(len(names))
        shares[codes.encode(list(classes)).astype(np.intp)] = context.probabilities.mean(axis=0)
        return shares, "by the mean of its probabilities"
    assert context.answers is not None
    counts = _count(codes.encode(context.answers.values, context.answers.ok), len(codes.labels))
    return counts[: len(names)] / max(1, counts.sum()), "by its answers"
