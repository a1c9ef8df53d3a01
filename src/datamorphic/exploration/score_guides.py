"""Guides: estimate how far a case is from a border, by the scores of the system or by its answers."""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from ..space.features import Codes
from .borders import Border, Threshold
from .changes import Rows

Scores = npt.NDArray[np.float64]
MIN_PROBABILITY = 1e-300  # smaller probabilities are replaced by this before the logarithm


class Guide(Protocol):
    """Estimates how far a case is on the first side of a border (above 0) or on the second (below 0)."""

    wants_scores: bool

    def value(self, states: Codes, scores: Scores | None, x: Codes, y: Codes) -> Codes:
        """Return the estimates for borders between the answers `x` and `y`; NaN where unknown."""
        ...


class Margin:
    """The margin between the scores of two of `classes` labels; the codes of labels with scores are below `classes`.

    Scores are one decision value per class; one probability per class, compared by their logarithms, which are closer to
    linear; or one decision value per pair of classes (0 and 1, 0 and 2, ..., 1 and 2, ...), above 0 for the first of both.
    """

    wants_scores = True

    def __init__(self, kind: Literal["decision", "probability", "pairwise"], classes: int) -> None:
        self.kind, self.classes = kind, classes

    def value(self, states: Codes, scores: Scores | None, x: Codes, y: Codes) -> Codes:
        """Return the margin of the label `x` over the label `y`; NaN where one of them has no score."""
        if scores is None:
            return np.full(len(x), np.nan)
        a, b = x.astype(np.intp), y.astype(np.intp)
        has_scores = (a < self.classes) & (b < self.classes)
        a, b = np.where(has_scores, a, 0), np.where(has_scores, b, min(1, self.classes - 1))
        rows = np.arange(len(scores))
        with np.errstate(invalid="ignore"):  # the difference of infinite scores is NaN: unknown
            return np.where(has_scores, self._compute_margin(scores, rows, a, b), np.nan)

    def _compute_margin(self, scores: Scores, rows: Rows, a: Rows, b: Rows) -> Codes:
        if self.kind == "pairwise":
            low, high = np.minimum(a, b), np.maximum(a, b)
            column = low * (2 * self.classes - low - 1) // 2 + high - low - 1
            return np.where(a < b, scores[rows, column], -scores[rows, column])
        first, second = scores[rows, a], scores[rows, b]
        if self.kind == "probability":
            first, second = (np.log(np.maximum(values, MIN_PROBABILITY)) for values in (first, second))
        return first - second


class Level:
    """The distance of the answer of a regressor from the threshold."""

    wants_scores = False

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def value(self, states: Codes, scores: Scores | None, x: Codes, y: Codes) -> Codes:
        """Return the distance to the threshold, above 0 on the side of `x`."""
        return (states - self.threshold) * np.where(x > self.threshold, 1.0, -1.0)


def choose_guide(border: Border, score_kind: str | None, classes: int) -> Guide | None:
    """Return the guide for a border and the scores of a system, or None if there is none."""
    if isinstance(border, Threshold):
        return Level(border.value)
    if border.name in ("labels", "hierarchy") and score_kind is not None and classes > 1:
        return Margin(score_kind, classes)  # type: ignore[arg-type]
    return None


def interpolate_root(
    f_low: Codes, f_high: Codes, last_root: Codes, width: Codes, target: Codes, cases_left: Codes
) -> tuple[Codes, Codes]:
    """Return where between 0 and 1 to search next for the change of sign, and the interpolated root.

    This is the interpolate-truncate-project method (Oliveira & Takahashi 2020). The root of the secant is moved a little
    towards the middle, so that both ends close in. It is kept so near to the middle that `cases_left` more cases always
    suffice to get from `width` to `target`. The move is as large as the root shifted since `last_root`: none for a
    linear function.
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
