"""The table of clusterers: the stance of every relation, with a reason."""

from __future__ import annotations

from collections.abc import Callable

from ..learner.stance import (
    SCALING_UNDONE,
    EstimatorParameters,
    StanceTable,
    for_all,
    known_to_fail,
    may_fail,
    must_hold,
)

AGAIN, ROWS, DOUBLED, SCALED = "fitted again", "rows reordered", "rows doubled", "all features scaled"
SHIFTED, FEATURES, CONSTANT = "all features shifted", "features reordered", "constant feature"
CENTRE, FAR = "row on its centre", "far cluster"
CLUSTER_RELATION_NAMES = (AGAIN, ROWS, DOUBLED, SCALED, SHIFTED, FEATURES, CONSTANT, CENTRE, FAR)

_AGAIN_STANCE = must_hold("the algorithm is deterministic once random_state is fixed")
_STARTS_ASIDE = "apart from random starts"
_TIES_ASIDE = "apart from ties"
_SAME_DISTANCES = must_hold(f"no distance between rows changes, {_TIES_ASIDE}")
_SHARED_STANCES: StanceTable = {
    AGAIN: _AGAIN_STANCE,
    **for_all((SHIFTED, FEATURES, CONSTANT, SCALING_UNDONE), _SAME_DISTANCES),
    CENTRE: may_fail("the mean of the cluster moves, and rows at its edge may change sides"),
}


def _build_means_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    if not isinstance(model.init, str):
        return {}  # given centres do not move with the rows
    return {
        **_SHARED_STANCES,
        **for_all(
            (ROWS, DOUBLED), must_hold(f"the best centres depend on no order or number of copies, {_STARTS_ASIDE}")
        ),
        SCALED: must_hold("all distances and the tolerance are multiplied by the same factor"),
        FAR: may_fail("to divide the copy may gain more than to keep two old clusters apart"),
    }


def _build_batch_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    return {
        **_build_means_stances(model, scaler),
        **for_all((ROWS, DOUBLED), may_fail("other rows are drawn into the batches")),
    }


def _build_linkage_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    metrics = ("euclidean", "l2", "manhattan", "l1", "cityblock")
    if model.connectivity is not None or model.metric not in metrics:
        return {}
    counted = model.distance_threshold is None
    return {
        **_SHARED_STANCES,
        ROWS: must_hold(f"the nearest clusters are joined, whatever the order of rows, {_TIES_ASIDE}"),
        DOUBLED: known_to_fail(
            "distance_threshold is compared with Ward's distance, which grows with the number of rows"
        )
        if model.linkage == "ward" and not counted
        else must_hold(f"copies are joined first, and the others then in the same order, {_TIES_ASIDE}"),
        SCALED: must_hold("all distances are multiplied by the same factor")
        if counted
        else known_to_fail("distance_threshold is a distance, which is not scaled"),
        CENTRE: may_fail("the distances of the moved row change, so clusters may be joined in another order"),
        FAR: must_hold(f"the copy is joined like its original, and with the others last, {_TIES_ASIDE}")
        if counted
        else may_fail("the copy is joined with the others if distance_threshold allows it"),
    }


def _build_density_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    if not _has_plain_distance(model):
        return {}
    return {
        **_SHARED_STANCES,
        ROWS: must_hold("density does not depend on the order of rows, apart from rows at the border of two clusters"),
        DOUBLED: known_to_fail("min_samples counts rows, and copies count, too"),
        SCALED: known_to_fail("eps is a distance, which is not scaled"),
        CENTRE: may_fail("the row may have been what connects two parts of its cluster"),
        FAR: must_hold("the copy is as dense as its original, and farther than eps from all others"),
    }


def _build_hierarchical_density_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    if model.metric not in ("euclidean", "manhattan") or model.metric_params:
        return {}
    relative = not model.cluster_selection_epsilon
    return {
        **_SHARED_STANCES,
        **for_all(
            (ROWS, SHIFTED, FEATURES, SCALING_UNDONE),
            may_fail("rows at equal reachability distances join clusters in the order in which they come"),
        ),
        DOUBLED: known_to_fail("min_cluster_size and min_samples count rows, and copies count, too"),
        SCALED: must_hold("all distances are multiplied by the same factor")
        if relative
        else known_to_fail("cluster_selection_epsilon is a distance, which is not scaled"),
        CENTRE: may_fail("the density around the row changes"),
        FAR: may_fail("all old rows together may become one cluster as soon as there is another one"),
    }


def _build_mixture_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    if any(getattr(model, name, None) is not None for name in ("weights_init", "means_init", "precisions_init")):
        return {}
    if model.init_params not in ("kmeans", "k-means++"):
        return {AGAIN: _AGAIN_STANCE}
    return {
        AGAIN: _AGAIN_STANCE,
        ROWS: must_hold(f"the likelihood is a product over rows in any order, {_STARTS_ASIDE}"),
        DOUBLED: must_hold(f"means, covariances and weights are the same with every row twice, {_STARTS_ASIDE}"),
        SCALED: may_fail("reg_covar is added to all variances and is not scaled"),
        **for_all((SHIFTED, SCALING_UNDONE), must_hold(f"the means move with the rows, {_STARTS_ASIDE}")),
        FEATURES: must_hold(
            f"means and covariances are computed for each feature, whatever their order, {_STARTS_ASIDE}"
        ),
        CONSTANT: may_fail("the covariances would be singular without reg_covar"),
        CENTRE: may_fail("the covariance of the component shrinks, and rows at its edge may change sides"),
        FAR: may_fail("the start, which is made by k-means, may divide the copy"),
    }


def _build_bayesian_mixture_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    priors = ("weight_concentration_prior", "mean_prior", "covariance_prior", "mean_precision_prior")
    if any(getattr(model, name, None) is not None for name in priors):
        return {AGAIN: _AGAIN_STANCE}
    return {**_build_mixture_stances(model, scaler), DOUBLED: may_fail("more rows weigh more against the priors")}


def _build_shift_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    return {
        **_build_doubtful_stances(model, scaler),
        SCALED: must_hold("the bandwidth is estimated from the distances")
        if model.bandwidth is None and not model.bin_seeding
        else known_to_fail("bandwidth is a distance, which is not scaled"),
    }


def _build_spectral_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    by_kernel = model.affinity == "rbf"
    return {
        **_build_doubtful_stances(model, scaler),
        **({SCALED: known_to_fail("gamma is per squared distance, which is not scaled")} if by_kernel else {}),
    }


def _build_birch_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    return {
        **_build_doubtful_stances(model, scaler),
        ROWS: known_to_fail("rows are inserted into a tree one by one"),
        SCALED: known_to_fail("threshold is a distance, which is not scaled"),
    }


def _build_doubtful_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    """Return the stances of an algorithm that must only be repeatable; the rest depends on ties and tolerances."""
    doubt = may_fail("ties, tolerances or the order of rows may decide")
    return {**for_all(CLUSTER_RELATION_NAMES, doubt), AGAIN: _AGAIN_STANCE}


def _has_plain_distance(model: EstimatorParameters) -> bool:
    metrics = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1")
    return model.metric in metrics and not model.metric_params


# by class of scikit-learn: builds the stances from the parameters and the scaler in front
CLUSTER_STANCE_BUILDERS: dict[str, Callable[[EstimatorParameters, str], StanceTable]] = {
    "AffinityPropagation": _build_doubtful_stances,
    "AgglomerativeClustering": _build_linkage_stances,
    "BayesianGaussianMixture": _build_bayesian_mixture_stances,
    "Birch": _build_birch_stances,
    "BisectingKMeans": _build_means_stances,
    "DBSCAN": _build_density_stances,
    "GaussianMixture": _build_mixture_stances,
    "HDBSCAN": _build_hierarchical_density_stances,
    "KMeans": _build_means_stances,
    "MeanShift": _build_shift_stances,
    "MiniBatchKMeans": _build_batch_stances,
    "OPTICS": _build_doubtful_stances,
    "SpectralClustering": _build_spectral_stances,
}
