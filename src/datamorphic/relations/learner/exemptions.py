"""Data-dependent exemptions from the table of necessary relations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...systems.training import Training
from .base import compute_widths
from .smoothing import SMOOTHING_FACTORS, is_smoothing_decisive
from .stance import EstimatorParameters

_FLAGS_REASON = "booleans and categories are not mapped like the numbers"
_PRECISION_REASON = "the numbers are far from zero and close together, so floating-point precision does not suffice"


def _exempt_distances(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation in ("MR-0", "MR-0 mirrored") and len(data.numeric) < data.x.shape[1]:
        return _FLAGS_REASON
    far = np.abs(data.numbers).max(initial=0) > 1e4 * compute_widths(data).max(initial=0)
    return _PRECISION_REASON if far else ""


def _exempt_densities(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation in ("MR-0", "MR-0 mirrored") and len(data.numeric) < data.x.shape[1]:
        return _FLAGS_REASON
    if _is_imprecise(data, 1e6):
        return _PRECISION_REASON
    if relation in SMOOTHING_FACTORS and is_smoothing_decisive(relation, model, data):
        return "smoothing (var_smoothing) depends on the spread of all rows, and on these data it is decisive"
    return ""


def _exempt_splits(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation in ("MR-0", "MR-1.1", "MR-3.1", "sparse") and _is_imprecise(data, 1e3, 1e-3):
        return "values are compared in single precision, and values closer than 1e-7 are never split"
    return ""


def _is_imprecise(data: Training, max_ratio: float, min_width: float = 0.0) -> bool:
    """Return whether an attribute varies too little for floating-point precision."""
    spans, sizes = compute_widths(data), np.abs(data.numbers).max(axis=0, initial=0)
    return bool(((spans > 0) & ((spans < min_width) | (spans * max_ratio < sizes))).any())


# by class of scikit-learn: returns why a necessary relation is not necessary on given data; empty if it is
EXEMPTIONS: dict[str, Callable[[str, EstimatorParameters, Training], str]] = {
    "DecisionTreeClassifier": _exempt_splits,
    "ExtraTreesClassifier": _exempt_splits,
    "GaussianNB": _exempt_densities,
    "GradientBoostingClassifier": _exempt_splits,
    "HistGradientBoostingClassifier": lambda relation, model, data: (
        _PRECISION_REASON if _is_imprecise(data, 1e6) else ""
    ),
    "KNeighborsClassifier": _exempt_distances,
    "KNeighborsRegressor": _exempt_distances,
    "NearestCentroid": _exempt_distances,
    "RandomForestClassifier": _exempt_splits,
}
