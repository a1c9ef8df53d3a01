"""ROC curves: which share of the defaulters a limit on the risk refuses, for the share of payers that it refuses too.

Curves of repetitions are averaged along lines of slope -1. The distance from the diagonal is then a function, also where a curve
rises vertically, and the area below the mean curve is the mean of the areas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.result import ResultPart
from .measures import Flags, Floats

MAX_CURVE_POINTS = 101
DOCUMENT_DIGITS = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class RocCurve(ResultPart):
    """The points of a ROC curve, from (0, 0) to (1, 1), one per limit on the score."""

    false_positive_rates: Floats  # the share of payers with a score of at least the limit
    true_positive_rates: Floats  # the same share of defaulters

    def __len__(self) -> int:
        return len(self.false_positive_rates)

    @property
    def area(self) -> float:
        """The area below the curve."""
        return float(np.trapezoid(self.true_positive_rates, self.false_positive_rates))

    def read(self, rate: float) -> float:
        """Return the share of defaulters that are refused if this share of payers is; the highest where the curve is vertical."""
        place = int(np.searchsorted(self.false_positive_rates, rate, side="right")) - 1
        return float(np.interp(rate, self.false_positive_rates[place:], self.true_positive_rates[place:]))

    def document(self) -> dict[str, Any]:
        """Return the rates as lists of rounded numbers."""
        return {
            "false_positive_rates": np.round(self.false_positive_rates, DOCUMENT_DIGITS).tolist(),
            "true_positive_rates": np.round(self.true_positive_rates, DOCUMENT_DIGITS).tolist(),
        }


def compute_roc(scores: Floats, defaulted: Flags) -> RocCurve:
    """Return the ROC curve of the scores, with one point per distinct score.

    The area below it is the AUC: equal scores are one step, which is a straight line.

    Examples
    --------
    >>> curve = compute_roc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    >>> curve.false_positive_rates.tolist(), curve.true_positive_rates.tolist(), curve.area
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0], 0.75)
    """
    levels, codes = np.unique(-scores, return_inverse=True)
    rates = [
        np.concatenate([[0.0], np.cumsum(np.bincount(codes[mask], minlength=len(levels))) / mask.sum()])
        for mask in (~defaulted, defaulted)
    ]
    return RocCurve(false_positive_rates=rates[0], true_positive_rates=rates[1])


def average_roc(curves: Sequence[RocCurve]) -> RocCurve:
    """Return the mean of curves; curves with many points are thinned to `MAX_CURVE_POINTS`."""
    if len(curves) == 1 and len(curves[0]) <= MAX_CURVE_POINTS:
        return curves[0]
    sums = np.linspace(0, 2, MAX_CURVE_POINTS)  # of both rates: they grow along a curve
    heights = [
        np.interp(
            sums,
            curve.false_positive_rates + curve.true_positive_rates,
            curve.true_positive_rates - curve.false_positive_rates,
        )
        for curve in curves
    ]
    height = np.mean(heights, axis=0)
    return RocCurve(false_positive_rates=(sums - height) / 2, true_positive_rates=(sums + height) / 2)
