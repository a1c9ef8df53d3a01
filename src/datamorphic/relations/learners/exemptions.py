"""Data-dependent exemptions from the table of necessary relations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...systems.training import Training
from .base import compute_widths
from .requirement import SCALING_UNDONE, EstimatorParameters
from .smoothing import SMOOTHING_FACTORS, is_smoothing_decisive

MAX_RELATIVE_SIZE = 1e4  # of numbers, in widths of the data, up to which the precision of distances suffices
SINGLE_EPSILON = 1e-6  # relative distance from a threshold below which rounding in single precision may decide
_FLAGS_REASON = "booleans and categories are not mapped like the numbers"
_PRECISION_REASON = "the numbers are far from zero and close together, so floating-point precision does not suffice"


def _exempt_distances(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation in ("MR-0", "MR-0 mirrored") and len(data.numeric) < data.x.shape[1]:
        return _FLAGS_REASON
    return _PRECISION_REASON if _is_far_from_zero(data) else ""


def _exempt_densities(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation in ("MR-0", "MR-0 mirrored") and len(data.numeric) < data.x.shape[1]:
        return _FLAGS_REASON
    if _is_imprecise(data, 1e6):
        return _PRECISION_REASON
    if relation in SMOOTHING_FACTORS and is_smoothing_decisive(relation, model, data):
        return "smoothing (var_smoothing) depends on the spread of all rows, and on these data it is decisive"
    return ""


def _exempt_splits(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation == "weights" and np.isnan(data.numbers).any():
        return "a missing value may go to the child with the most rows, not the most weight"
    if relation in ("MR-0", "MR-1.1", "MR-3.1", "sparse") and _is_imprecise(data, 1e3, 1e-3):
        return "values are compared in single precision, and values closer than 1e-7 are never split"
    if relation == "MR-1.1" and _has_conflicting_copies(data):
        return "equal rows have different labels, and a leaf with tied classes answers the label that sorts first"
    if relation in ("MR-0", SCALING_UNDONE) and _has_case_between(data):
        return "a value of the case may lie exactly on a threshold, and rounding moves both"
    return ""


def _exempt_histograms(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation in ("MR-0", SCALING_UNDONE) and _has_case_between(data):
        return "a value of the case may lie exactly on a threshold, and rounding moves both"
    return _PRECISION_REASON if _is_imprecise(data, 1e6) else ""


def _exempt_clusters(relation: str, model: EstimatorParameters, data: Training) -> str:
    return _PRECISION_REASON if relation != "fitted again" and _is_far_from_zero(data) else ""


def _exempt_dense_clusters(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation == "far cluster" and model.eps > compute_widths(data).max(initial=0):
        return "eps is greater than the width of the data, so nothing is far away"
    if relation in ("rows reordered", "far cluster") and _has_shared_border(model, data):
        return "a row at the border of two clusters belongs to the one that is found first"
    return _exempt_clusters(relation, model, data)


def _is_far_from_zero(data: Training) -> bool:
    return bool(np.abs(data.numbers).max(initial=0) > MAX_RELATIVE_SIZE * compute_widths(data).max(initial=0))


def _is_imprecise(data: Training, max_ratio: float, min_width: float = 0.0) -> bool:
    """Return whether an attribute varies too little for floating-point precision."""
    spans, sizes = compute_widths(data), np.abs(data.numbers).max(axis=0, initial=0)
    return bool(((spans > 0) & ((spans < min_width) | (spans * max_ratio < sizes))).any())


def _has_conflicting_copies(data: Training) -> bool:
    """Return whether training rows with equal values have different labels."""
    numbers = data.numbers[: len(data.y)].astype(np.float32)
    _, copies = np.unique(np.nan_to_num(numbers, nan=np.inf), axis=0, return_inverse=True)
    pairs = set(zip(copies.ravel().tolist(), data.y.tolist(), strict=True))
    return len(pairs) > len(np.unique(copies))


def _has_case_between(data: Training) -> bool:
    """Return whether a value of a case lies exactly halfway between two values of training rows, where a threshold may be."""
    numbers, rows = data.numbers.astype(np.float32).astype(np.float64), len(data.y)
    for column in numbers.T:
        values, cases = np.unique(column[:rows][np.isfinite(column[:rows])]), column[rows:]
        halves = (values[:, None] + values[None, :]) / 2
        halves = halves[~np.eye(len(values), dtype=bool)]
        if np.isclose(cases[:, None], halves[None, :], rtol=SINGLE_EPSILON, atol=0).any():
            return True
    return False


def _has_shared_border(model: EstimatorParameters, data: Training) -> bool:
    """Return whether a row that is not dense itself has dense rows of several clusters within eps."""
    from sklearn.base import clone
    from sklearn.metrics import pairwise_distances

    rows = data.numbers[: len(data.y)]
    if rows.shape[1] < data.x.shape[1] or not np.isfinite(rows).all():
        return False
    fitted = clone(model).fit(rows)
    dense = fitted.core_sample_indices_
    if not len(dense):
        return False
    order = np.inf if model.metric == "minkowski" and model.p == np.inf else model.p
    options = {"p": 2 if order is None else order} if model.metric == "minkowski" else {}
    near = pairwise_distances(rows, rows[dense], metric=model.metric, **options) <= model.eps
    clusters = fitted.labels_[dense]
    borders = np.setdiff1d(np.arange(len(rows)), dense)
    return any(len(np.unique(clusters[near[row]])) > 1 for row in borders)


# by the name in learners.csv: returns why a necessary relation is not necessary on given data; empty if it is
EXEMPTIONS: dict[str, Callable[[str, EstimatorParameters, Training], str]] = {
    "clusters": _exempt_clusters,
    "dense clusters": _exempt_dense_clusters,
    "densities": _exempt_densities,
    "distances": _exempt_distances,
    "histograms": _exempt_histograms,
    "splits": _exempt_splits,
}
