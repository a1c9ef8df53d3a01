"""Data on which a learner need not keep what it must keep on all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..sut.training import Training
from .learners import widths
from .smoothing import CHANGES, smoothing_tells

_FLAGS = "flags and categories are not mapped along with the numbers"
_BLURRED = "numbers that lie far from zero and close together have lost the digits it takes"


def _distances(relation: str, model: Any, data: Training) -> str:
    if relation in ("MR-0", "MR-0 mirrored") and _flagged(data):
        return _FLAGS
    far = np.abs(data.numbers).max(initial=0) > 1e4 * widths(data).max(initial=0)
    return _BLURRED if far else ""


def _densities(relation: str, model: Any, data: Training) -> str:
    if relation in ("MR-0", "MR-0 mirrored") and _flagged(data):
        return _FLAGS
    if _blurred(data, 1e6):
        return _BLURRED
    if relation in CHANGES and smoothing_tells(relation, model, data):
        return "smoothing (var_smoothing) changes with the spread of all rows, and here it tells"
    return ""


def _splits(relation: str, model: Any, data: Training) -> str:
    if relation in ("MR-0", "MR-1.1", "MR-3.1", "sparse") and _blurred(data, 1e3, 1e-3):
        return "values are compared in single precision, and closer than 1e-7 they are never split"
    return ""


def _bins(relation: str, model: Any, data: Training) -> str:
    return _BLURRED if _blurred(data, 1e6) else ""


def _flagged(data: Training) -> bool:
    return len(data.numeric) < data.x.shape[1]


def _blurred(data: Training, most: float, least: float = 0.0) -> bool:
    """Tell whether an attribute varies by less than `least`, or by less than one part in `most` of its size."""
    wide, sizes = widths(data), np.abs(data.numbers).max(axis=0, initial=0)
    return bool(((wide > 0) & ((wide < least) | (wide * most < sizes))).any())


# by name of scikit-learn's class: why a relation that is necessary is not so on these data; empty where it is
UNLESS: dict[str, Callable[[str, Any, Training], str]] = {
    "DecisionTreeClassifier": _splits,
    "ExtraTreesClassifier": _splits,
    "GaussianNB": _densities,
    "GradientBoostingClassifier": _splits,
    "HistGradientBoostingClassifier": _bins,
    "KNeighborsClassifier": _distances,
    "KNeighborsRegressor": _distances,
    "NearestCentroid": _distances,
    "RandomForestClassifier": _splits,
}
