"""Data-dependent exemptions from the table of necessary relations."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from ...systems.training import Floats, Training
from .base import compute_widths
from .requirement import SCALING_UNDONE, EstimatorParameters
from .smoothing import SMOOTHING_FACTORS, is_smoothing_decisive

MAX_RELATIVE_SIZE = 1e4  # of numbers, in widths of the data, up to which the precision of distances suffices
# singular values, relative to the largest, that are neither zero up to rounding nor large enough to divide by
MIN_SINGULAR_SHARE, MAX_SINGULAR_SHARE = 1e-13, 1e-4
MAX_ITERATION_SHARE = 0.5  # of those allowed, within which a solver must come near the optimum
MIN_MARGIN = 0.1  # between the log-odds of two classes, below which the solver is not sure
SINGLE_EPSILON = 1e-6  # relative distance from a threshold below which rounding in single precision may decide
_FLAGS_REASON = "booleans and categories are not mapped like the numbers"
_THRESHOLD_REASON = "a value of the case may lie exactly on a threshold, and rounding moves both"
_REFUSAL_REASON = "the learner refuses these data"
_SINGLE_PRECISION_REASON = "values are compared in single precision, and values closer than 1e-7 are never split"
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
        return _SINGLE_PRECISION_REASON
    if relation == "MR-1.1" and _has_conflicting_copies(data):
        return "equal rows have different labels, and a leaf with tied classes answers the label that sorts first"
    if relation in ("MR-0", SCALING_UNDONE) and _has_case_between(data):
        return _THRESHOLD_REASON
    return ""


def _exempt_logistic(relation: str, model: EstimatorParameters, data: Training) -> str:
    """Exempt data on which the solver stops before the optimum, or is not sure which class is likelier there."""
    from sklearn.base import clone

    if len(data.numeric) < data.x.shape[1]:
        return "booleans and categories may be numbers to the learner"
    rows, cases = data.numbers[: len(data.y)], data.numbers[len(data.y) :]
    learner = clone(model).set_params(solver="lbfgs")
    exact = clone(model).set_params(solver="newton-cholesky", tol=1e-10, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fits = [part.fit(rows, data.y, data.weights) for part in (learner, exact)]
        except (TypeError, ValueError):
            return _REFUSAL_REASON
    margins = [np.sort(fit.decision_function(cases).reshape(len(cases), -1), axis=1) for fit in fits]
    gaps = [np.abs(m[:, 0]) if m.shape[1] == 1 else m[:, -1] - m[:, -2] for m in margins]
    if max(fits[0].n_iter_) >= MAX_ITERATION_SHARE * model.max_iter or min(map(np.min, gaps)) < MIN_MARGIN:
        return "the solver stops before the optimum, or two classes are almost equally likely there"
    if (fits[0].predict(cases) != fits[1].predict(cases)).any():
        return "the solver stops before the optimum"
    return ""


def _exempt_regression_trees(relation: str, model: EstimatorParameters, data: Training) -> str:
    if not np.array_equal(data.y, np.round(data.y)):
        return "the targets are no whole numbers, so sums in another order are rounded differently"
    if model.max_features not in (None, 1.0) and relation != "sample order":
        return "columns are drawn at random"
    return _exempt_splits(relation, model, data) or (_SINGLE_PRECISION_REASON if _is_imprecise(data, 1e3, 1e-3) else "")


def _exempt_linear_regression(relation: str, model: EstimatorParameters, data: Training) -> str:
    spectrum = _compute_spectrum(data)
    # with a lower `tol`, what is left of zero by rounding counts as well
    floor = MIN_SINGULAR_SHARE if getattr(model, "tol", 1) > MIN_SINGULAR_SHARE else -1
    if ((spectrum > floor) & (spectrum < MAX_SINGULAR_SHARE)).any():
        return "columns nearly depend on each other, so rounding decides"
    return _PRECISION_REASON if _is_far_from_zero(data) else ""


def _exempt_ridge_regression(relation: str, model: EstimatorParameters, data: Training) -> str:
    if (_compute_spectrum(data) < MAX_SINGULAR_SHARE).any() or _is_far_from_zero(data):
        return "columns depend on each other or differ much in scale, so rounding decides"
    return ""


def _compute_spectrum(data: Training) -> Floats:
    """Return the singular values of the centred training rows that have weight, as shares of the largest."""
    rows = data.numbers[: len(data.y)]
    if data.weights is not None:
        rows = rows[data.weights > 0]
    if not np.isfinite(rows).all() or rows.shape[1] < data.x.shape[1]:
        return np.array([MAX_SINGULAR_SHARE / 10])  # unknown: as if columns nearly depended on each other
    values = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    return np.asarray(values / max(values.max(initial=0), np.finfo(np.float64).tiny))


def _exempt_histograms(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation in ("MR-0", SCALING_UNDONE) and _has_case_between(data):
        return _THRESHOLD_REASON
    return _PRECISION_REASON if _is_imprecise(data, 1e6) else ""


def _exempt_clusters(relation: str, model: EstimatorParameters, data: Training) -> str:
    return _PRECISION_REASON if relation != "fitted again" and _is_far_from_zero(data) else ""


def _exempt_dense_clusters(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation == "far cluster" and model.eps > compute_widths(data).max(initial=0):
        return "eps is greater than the width of the data, so nothing is far away"
    if relation in ("rows reordered", "far cluster") and _has_shared_border(model, data):
        return "a row at the border of two clusters belongs to the one that is found first"
    return _exempt_clusters(relation, model, data)


def _exempt_messages(relation: str, model: EstimatorParameters, data: Training) -> str:
    """Exempt data on which affinity propagation stops before its messages converge, since it warns that clusters are degenerate."""
    from sklearn.base import clone

    rows = data.numbers[: len(data.y)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted = clone(model).fit(rows)
        except (TypeError, ValueError):
            return _REFUSAL_REASON
    return "the algorithm does not converge on these data" if fitted.n_iter_ >= model.max_iter else ""


def _is_far_from_zero(data: Training) -> bool:
    return bool(np.abs(data.numbers).max(initial=0) > MAX_RELATIVE_SIZE * compute_widths(data).max(initial=0))


def _is_imprecise(data: Training, max_ratio: float, min_width: float = 0.0) -> bool:
    """Return whether an attribute varies too little for floating-point precision."""
    widths, sizes = compute_widths(data), np.abs(data.numbers).max(axis=0, initial=0)
    return bool(((widths > 0) & ((widths < min_width) | (widths * max_ratio < sizes))).any())


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
        midpoints = (values[:, None] + values[None, :]) / 2
        midpoints = midpoints[~np.eye(len(values), dtype=bool)]
        if np.isclose(cases[:, None], midpoints[None, :], rtol=SINGLE_EPSILON, atol=0).any():
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
    "logistic": _exempt_logistic,
    "messages": _exempt_messages,
    "linear regression": _exempt_linear_regression,
    "regression trees": _exempt_regression_trees,
    "ridge regression": _exempt_ridge_regression,
    "splits": _exempt_splits,
}
