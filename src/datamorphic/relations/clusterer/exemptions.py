"""Data-dependent exemptions from the table of clusterers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...systems.training import Training
from ..learner.base import compute_widths
from ..learner.stance import EstimatorParameters
from .table import AGAIN, FAR, ROWS

MAX_RELATIVE_SIZE = 1e4  # of numbers, in widths of the data, up to which precision suffices
_PRECISION_REASON = "the numbers are far from zero and close together, so floating-point precision does not suffice"


def _exempt_imprecise(relation: str, model: EstimatorParameters, data: Training) -> str:
    far = np.abs(data.numbers).max(initial=0) > MAX_RELATIVE_SIZE * compute_widths(data).max(initial=0)
    return _PRECISION_REASON if far and relation != AGAIN else ""


def _exempt_density(relation: str, model: EstimatorParameters, data: Training) -> str:
    if relation == FAR and model.eps > compute_widths(data).max(initial=0):
        return "eps is greater than the width of the data, so nothing is far away"
    if relation in (ROWS, FAR) and _has_shared_border(model, data):
        return "a row at the border of two clusters belongs to the one that is found first"
    return _exempt_imprecise(relation, model, data)


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


# by class of scikit-learn: returns why a necessary relation is not necessary on given data; empty if it is
CLUSTER_EXEMPTIONS: dict[str, Callable[[str, EstimatorParameters, Training], str]] = {
    "AgglomerativeClustering": _exempt_imprecise,
    "BayesianGaussianMixture": _exempt_imprecise,
    "BisectingKMeans": _exempt_imprecise,
    "DBSCAN": _exempt_density,
    "GaussianMixture": _exempt_imprecise,
    "HDBSCAN": _exempt_imprecise,
    "KMeans": _exempt_imprecise,
    "MiniBatchKMeans": _exempt_imprecise,
}
