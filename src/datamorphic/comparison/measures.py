"""What the labels say about two models: errors, recall and precision per class, probabilities, each with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..core.result import Measure, ResultPart
from .groups import Floats, Mask

NORMAL_95, NORMAL_99 = 1.96, 2.576
MIN_CLASS_ROWS = 10  # fewer say nothing about a class
CALIBRATION_BINS = 10
WRONG_ANSWERS, ABSOLUTE_ERROR, RECALL = "wrong answers", "mean absolute error", "recall"  # names of figures


@dataclass(frozen=True, kw_only=True)
class FigurePair(ResultPart):
    """A figure of both models on the same rows, and the difference from the old to the new one."""

    name: str
    old: float
    new: float
    difference: Measure  # with a 95% interval, paired
    low: float  # of a 99% interval of the difference, by which it is judged
    high: float
    p_value: float  # that the models do not differ; two-sided
    rows: int
    better: str  # "up" or "down": which way is better
    is_share: bool = True
    label: str = ""  # the class that it is about

    @property
    def is_error(self) -> bool:
        """Whether this is the error of the answers to all rows."""
        return self.name in (WRONG_ANSWERS, ABSOLUTE_ERROR)

    @property
    def is_clear(self) -> bool:
        """Whether the difference is more than chance."""
        return not self.low <= 0 <= self.high

    @property
    def outcome(self) -> str:
        """Whether the new model is "better", "worse", or the difference may be chance."""
        if not self.is_clear:
            return "no clear difference"
        return "better" if (self.difference.value > 0) == (self.better == "up") else "worse"

    @property
    def surely_worse_by(self) -> float:
        """The least by which the new model is worse, at 99 % confidence; 0 if it may not be."""
        return max(0.0, -self.high if self.better == "up" else self.low)


def compare_means_of_pairs(
    name: str, old: Floats, new: Floats, *, better: str, is_share: bool = True, label: str = ""
) -> FigurePair:
    """Compare the means of two figures of the same rows; for right and wrong answers, by McNemar's exact test."""
    difference = new - old
    count = len(difference)
    mean = float(difference.mean()) if count else 0.0
    # with one row more that differs, so that equal rows do not give an interval of no width
    error = float(np.sqrt((difference.var() * count + 1.0 * is_share) / max(count, 1) ** 2)) if count else 0.0
    return FigurePair(
        name=name,
        old=float(old.mean()) if count else 0.0,
        new=float(new.mean()) if count else 0.0,
        difference=Measure(mean, mean - NORMAL_95 * error, mean + NORMAL_95 * error, count),
        low=mean - NORMAL_99 * error,
        high=mean + NORMAL_99 * error,
        p_value=_compute_p_value(difference, mean, error, is_share),
        rows=count,
        better=better,
        is_share=is_share,
        label=label,
    )


def _compute_p_value(difference: Floats, mean: float, error: float, is_share: bool) -> float:
    from scipy.stats import binomtest, norm

    if is_share:
        ups, downs = int((difference > 0).sum()), int((difference < 0).sum())
        return float(binomtest(ups, ups + downs).pvalue) if ups + downs else 1.0
    return float(2 * norm.sf(abs(mean) / error)) if error else 1.0


def compare_classes(
    truth: npt.NDArray[np.object_], old: npt.NDArray[np.object_], new: npt.NDArray[np.object_]
) -> list[FigurePair]:
    """Return the shares of wrong answers, and recall and precision per class; labels and answers are keys, None is missing."""
    known = np.array([key is not None for key in truth], dtype=bool)
    truth, old, new = truth[known], old[known], new[known]
    if not len(truth):
        return []
    figures = [compare_means_of_pairs(WRONG_ANSWERS, _to_floats(old != truth), _to_floats(new != truth), better="down")]
    names, counts = np.unique(truth.astype(str), return_counts=True)
    for name, count in zip(names.tolist(), counts.tolist(), strict=True):
        rows = truth == name
        if count >= MIN_CLASS_ROWS:
            figures.append(
                compare_means_of_pairs(
                    RECALL, _to_floats(old[rows] == name), _to_floats(new[rows] == name), better="up", label=name
                )
            )
        predicted = (old == name).sum(), (new == name).sum()
        if min(predicted) >= MIN_CLASS_ROWS:
            figures.append(_compare_precision(truth, old, new, name))
    return figures


def _compare_precision(
    truth: npt.NDArray[np.object_], old: npt.NDArray[np.object_], new: npt.NDArray[np.object_], name: str
) -> FigurePair:
    """Compare precision, a ratio of counts, by its linear approximation per row, which is paired."""
    influences, values = [], []
    for answers in (old, new):
        predicted = answers == name
        precision = float((truth[predicted] == name).mean())
        influences.append(np.where(predicted, (truth == name) - precision, 0.0) / predicted.mean())
        values.append(precision)
    pair = compare_means_of_pairs("precision", influences[0], influences[1], better="up", is_share=False, label=name)
    difference = values[1] - values[0]
    error = (pair.high - pair.low) / 2 / NORMAL_99
    from scipy.stats import norm

    return FigurePair(
        name="precision",
        old=values[0],
        new=values[1],
        difference=Measure(difference, difference - NORMAL_95 * error, difference + NORMAL_95 * error, len(truth)),
        low=difference - NORMAL_99 * error,
        high=difference + NORMAL_99 * error,
        p_value=float(2 * norm.sf(abs(difference) / error)) if error else 1.0,
        rows=len(truth),
        better="up",
        label=name,
    )


def compare_numbers(truth: Floats, old: Floats, new: Floats) -> list[FigurePair]:
    """Return the mean absolute error, and the mean squared one."""
    known = np.isfinite(truth) & np.isfinite(old) & np.isfinite(new)
    if not known.any():
        return []
    old_errors, new_errors = np.abs(old - truth)[known], np.abs(new - truth)[known]
    squares = compare_means_of_pairs("mean squared error", old_errors**2, new_errors**2, better="down", is_share=False)
    return [compare_means_of_pairs(ABSOLUTE_ERROR, old_errors, new_errors, better="down", is_share=False), squares]


def compare_probabilities(
    truth: npt.NDArray[np.object_], classes: Sequence[str], old: Floats, new: Floats
) -> list[FigurePair]:
    """Return the squared error of the probabilities, and how far they are from the shares of the classes that came true."""
    known = np.isin(truth, list(classes)) & np.isfinite(old).all(axis=1) & np.isfinite(new).all(axis=1)
    if not known.any():
        return []
    is_class = truth[known, None] == np.array(classes, dtype=object)
    pairs = [np.asarray(((scores[known] - is_class) ** 2).sum(axis=1), dtype=np.float64) for scores in (old, new)]
    return [
        compare_means_of_pairs("squared error of the probabilities", pairs[0], pairs[1], better="down", is_share=False)
    ]


def measure_calibration(truth: npt.NDArray[np.object_], classes: Sequence[str], scores: Floats) -> float | None:
    """Return the mean distance of the highest probability from the share of right answers, over bins of equal size."""
    known = np.isin(truth, list(classes)) & np.isfinite(scores).all(axis=1)
    if known.sum() < CALIBRATION_BINS * MIN_CLASS_ROWS:
        return None
    best = scores[known].max(axis=1)
    right = np.array(classes, dtype=object)[scores[known].argmax(axis=1)] == truth[known]
    parts = np.array_split(np.argsort(best, kind="stable"), CALIBRATION_BINS)
    return float(sum(len(part) * abs(best[part].mean() - right[part].mean()) for part in parts) / known.sum())


def _to_floats(mask: Mask) -> Floats:
    return np.asarray(mask, dtype=np.float64)
