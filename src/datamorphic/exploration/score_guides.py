"""Guides: numbers that tell how far a case is from a border, from the scores a system gives or its own answers."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from ..space.features import Codes
from .borders import Border, Parts, Threshold

Scores = npt.NDArray[np.float64]
MIN_PROBABILITY = 1e-300  # probabilities below are as good as this


class Guide(Protocol):
    """Tells how far a case lies on the first side of a border (above 0) or on the second (below)."""

    wants_scores: bool

    def value(self, states: Codes, scores: Scores | None, x: Codes, y: Codes) -> Codes:
        """Return the values of cases on borders between the answers `x` and `y`; NaN where unknown."""
        ...


class Margin:
    """How much more the system's scores speak for one label than for the other.

    Parameters
    ----------
    kind : {"decision", "probability", "pairwise"}
        One decision value a class; one probability a class, compared as logarithms, which are straight where
        probabilities are curved; or one decision value a pair of classes (0 and 1, 0 and 2, ..., 1 and 2, ...),
        above 0 for the first of the two.
    classes : int
        How many classes have scores: those with codes below.
    """

    wants_scores = True

    def __init__(self, kind: Literal["decision", "probability", "pairwise"], classes: int) -> None:
        self.kind, self.classes = kind, classes

    def value(self, states: Codes, scores: Scores | None, x: Codes, y: Codes) -> Codes:
        """Return the margin of the label `x` over the label `y`; NaN where one has no score."""
        if scores is None:
            return np.full(len(x), np.nan)
        a, b = x.astype(np.intp), y.astype(np.intp)
        has_scores = (a < self.classes) & (b < self.classes)
        a, b = np.where(has_scores, a, 0), np.where(has_scores, b, min(1, self.classes - 1))
        rows = np.arange(len(scores))
        with np.errstate(invalid="ignore"):  # infinite scores have no difference: NaN is what they are worth
            return np.where(has_scores, self._compute_margin(scores, rows, a, b), np.nan)

    def _compute_margin(self, scores: Scores, rows: Parts, a: Parts, b: Parts) -> Codes:
        if self.kind == "pairwise":
            low, high = np.minimum(a, b), np.maximum(a, b)
            column = low * (2 * self.classes - low - 1) // 2 + high - low - 1
            return np.where(a < b, scores[rows, column], -scores[rows, column])
        if self.kind == "probability":
            return np.log(np.maximum(scores[rows, a], MIN_PROBABILITY)) - np.log(
                np.maximum(scores[rows, b], MIN_PROBABILITY)
            )
        return scores[rows, a] - scores[rows, b]


class Level:
    """How far a regressor's answer is from the threshold."""

    wants_scores = False

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def value(self, states: Codes, scores: Scores | None, x: Codes, y: Codes) -> Codes:
        """Return the distance to the threshold, above 0 on the side of `x`."""
        return (states - self.threshold) * np.where(x > self.threshold, 1.0, -1.0)


def choose_guide(border: Border, score_kind: str | None, classes: int) -> Guide | None:
    """Return the guide a border and a system's scores allow, if any."""
    if isinstance(border, Threshold):
        return Level(border.value)
    if border.name in ("labels", "hierarchy") and score_kind is not None and classes > 1:
        return Margin(score_kind, classes)  # type: ignore[arg-type]
    return None


def interpolate_root(
    f_low: Codes, f_high: Codes, last_root: Codes, width: Codes, target: Codes, cases_left: Codes
) -> tuple[Codes, Codes]:
    """Return where between 0 and 1 to look next for the change of sign, and the root that was interpolated.

    Oliveira and Takahashi's interpolate-truncate-project: the secant's root, moved a little towards the middle so
    that both ends close in, and kept so near the middle that `left` more cases suffice to get from `width` to
    `target`, whatever comes. How far it is moved follows how far the secant's root has shifted since the `last`
    time: not at all, and the function is straight.
    """
    with np.errstate(all="ignore"):
        root = f_low / (f_low - f_high)
        usable = (f_low >= 0) & (f_high <= 0) & np.isfinite(root)
        root = np.where(usable, root, 0.5)
        shift = np.where(np.isnan(last_root), np.inf, 2 * np.abs(root - last_root))
    inward = np.maximum(0.45 * target / width, np.minimum(shift, 0.2 * width))
    side = np.sign(0.5 - root)
    candidate = np.where(inward <= np.abs(0.5 - root), root + side * inward, 0.5)
    reach = np.maximum(0.0, target / width / 2 * 2.0**cases_left * (1 - 1e-9) - 0.5)
    return np.where(np.abs(candidate - 0.5) <= reach, candidate, 0.5 - side * reach), root
