"""The table of learners: the stance of every relation, with a reason."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .smoothing import SMOOTHING_FACTORS, STRONG_VAR_SMOOTHING
from .stance import (
    CONSTANT_RELATIONS,
    COPY_RELATIONS,
    INFORMATIVE_RELATIONS,
    MAP_RELATIONS,
    NO_SPARSE_STANCE,
    NO_WEIGHTS_STANCE,
    REMOVAL_RELATIONS,
    SCALING_UNDONE,
    SHARED_STANCES,
    SIGNS_FLIPPED,
    EstimatorParameters,
    StanceTable,
    for_all,
    known_to_fail,
    may_fail,
    may_vary,
    must_hold,
)

_TIES_ASIDE = "apart from ties"
_BORDERS_REASON = "other rows give other borders, and the border near the case may move"


# -- learners by distance ----------------------------------------------------------------------------------------


def _build_neighbour_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    metrics = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
    if model.metric not in metrics or model.metric_params or model.weights not in ("uniform", "distance"):
        return {}
    largest = model.metric == "chebyshev" or (model.metric == "minkowski" and model.p == np.inf)
    summed = model.metric in metrics[1:-1] or (model.metric == "minkowski" and model.p in (1, 2))
    return {
        **(_build_nearest_stances() if model.n_neighbors == 1 else _build_voting_stances(model, largest)),
        **for_all(("MR-0", "MR-0 mirrored"), must_hold(f"all distances are multiplied by |k|, {_TIES_ASIDE}")),
        "MR-0 subset": known_to_fail("only distances along some attributes are multiplied by |k|"),
        "MR-1.2": must_hold(f"a distance is a sum over attributes in any order, {_TIES_ASIDE}"),
        **for_all(CONSTANT_RELATIONS, must_hold(f"no distance changes, {_TIES_ASIDE}")),
        "MR-3.1": must_hold(f"the predicted class gets the nearest neighbour, and no other class gains, {_TIES_ASIDE}"),
        "MR-3.2": must_hold(f"only the doubled class gets more of the k neighbours, {_TIES_ASIDE}"),
        "MR-4.2": must_hold(f"no class has more of the k neighbours than before, {_TIES_ASIDE}"),
        "overruled": must_hold(f"all k nearest neighbours then have that label, {_TIES_ASIDE}"),
        "MR-NBC": known_to_fail("rows with a permuted value have other distances"),
        "sample order": must_hold(f"neighbours are found by distance, not by position, {_TIES_ASIDE}"),
        "weights": NO_WEIGHTS_STANCE,
        "sparse": must_hold(f"the distances are the same up to rounding, {_TIES_ASIDE}")
        if summed
        else may_fail("this distance does not support sparse matrices"),
        **for_all((SCALING_UNDONE, SIGNS_FLIPPED), must_hold(f"no distance changes, {_TIES_ASIDE}")),
    }


def _build_nearest_stances() -> StanceTable:
    return {
        "MR-1.1": must_hold(f"the answer is the label of the nearest row, whatever its name, {_TIES_ASIDE}"),
        **for_all(
            INFORMATIVE_RELATIONS,
            must_hold(f"the nearest row stays at its distance, and other classes move away, {_TIES_ASIDE}"),
        ),
        "MR-3.2 odds": must_hold("the nearest row has probability 1, doubled or not", "score_exact"),
        **for_all(
            COPY_RELATIONS, must_hold(f"copies are as far as their originals, which are not the nearest, {_TIES_ASIDE}")
        ),
        **for_all(REMOVAL_RELATIONS, must_hold(f"the nearest row is not removed, {_TIES_ASIDE}")),
    }


def _build_voting_stances(model: EstimatorParameters, largest: bool) -> StanceTable:
    uniform = model.weights == "uniform"
    # of two weighted neighbours the nearer one decides alone
    make_stance = known_to_fail if uniform or model.n_neighbors > 2 else may_fail
    return {
        "MR-1.1": (known_to_fail if uniform else may_fail)("a tied vote goes to the label that sorts first"),
        "MR-2.2": make_stance("other classes move away by different distances, so one of them may gain a neighbour"),
        "MR-2.2 shared": may_fail("the new attribute has the largest difference for many rows, which then tie")
        if largest
        else must_hold(f"other classes move away in the same order, so none of them gains a neighbour, {_TIES_ASIDE}"),
        "MR-3.2 odds": known_to_fail("probabilities are shares of the k neighbours"),
        **for_all(COPY_RELATIONS, make_stance("copies may replace neighbours of the predicted class")),
        **for_all(REMOVAL_RELATIONS, make_stance("another class may replace the removed rows")),
    }


def _build_centroid_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    if model.shrink_threshold is not None or not (isinstance(model.priors, str) and model.priors == "uniform"):
        return {}
    return {
        **for_all(("MR-0", "MR-0 mirrored"), must_hold(f"all distances are multiplied by |k|, {_TIES_ASIDE}")),
        "MR-0 subset": known_to_fail("only distances along some attributes are multiplied by |k|"),
        "MR-1.1": must_hold(f"the answer is the class of the nearest centre, whatever its name, {_TIES_ASIDE}"),
        "MR-1.2": must_hold(f"a distance is a sum over attributes in any order, {_TIES_ASIDE}"),
        **for_all(CONSTANT_RELATIONS, must_hold(f"no distance changes, {_TIES_ASIDE}")),
        **for_all(
            INFORMATIVE_RELATIONS,
            must_hold(f"the nearest centre stays at its distance, and all others move away, {_TIES_ASIDE}"),
        ),
        "MR-3.1": must_hold(f"the nearest centre moves towards the case, {_TIES_ASIDE}"),
        "MR-3.2": must_hold(f"no centre moves, {_TIES_ASIDE}"),
        "MR-3.2 odds": known_to_fail("all classes have the same weight, however many rows they have"),
        **for_all(
            COPY_RELATIONS, must_hold(f"new centres are as far as old ones, which are not the nearest, {_TIES_ASIDE}")
        ),
        **for_all(
            ("MR-4.2", "MR-5.2"), known_to_fail("the centre of the remaining rows of a class may be nearer to the case")
        ),
        "MR-5.1": must_hold(f"the nearest centre is not removed, {_TIES_ASIDE}"),
        "MR-NBC": must_hold(f"a centre is computed attribute by attribute, {_TIES_ASIDE}"),
        "sample order": must_hold(f"a centre does not depend on the order of rows, {_TIES_ASIDE}"),
        "weights": NO_WEIGHTS_STANCE,
        "sparse": must_hold(f"the distances are the same up to rounding, {_TIES_ASIDE}"),
        **for_all((SCALING_UNDONE, SIGNS_FLIPPED), must_hold(f"no distance changes, {_TIES_ASIDE}")),
    }


# -- learners by distribution ------------------------------------------------------------------------------------


def _build_bayes_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    stances = {
        **for_all(("MR-0", "MR-0 mirrored"), must_hold("all variances and the smoothing are multiplied by k squared")),
        "MR-0 subset": must_hold(
            "an attribute has the same scale in all classes, apart from smoothing (var_smoothing)"
        ),
        "MR-1.1": must_hold("each class is modelled separately, whatever its name"),
        "MR-1.2": must_hold("the log-likelihood is a sum over attributes in any order"),
        **for_all(CONSTANT_RELATIONS, must_hold("a constant is equally likely in all classes")),
        **for_all(
            INFORMATIVE_RELATIONS,
            must_hold("the new value is likely in the predicted class only, apart from smoothing"),
        ),
        "MR-3.1": must_hold(
            "the new mean and variance make the case likelier, and the prior rises, apart from smoothing"
        ),
        "MR-3.2": must_hold("mean and variance of the class stay and its prior rises, apart from smoothing"),
        "MR-3.2 odds": must_hold("the prior doubles relative to all others, and no likelihood changes", "score_exact"),
        **for_all(
            COPY_RELATIONS,
            must_hold("a class of copies scores like its original, which did not win, apart from smoothing"),
        ),
        **for_all(("MR-4.2", "MR-5.2"), known_to_fail("the remaining rows of a class may be closer to the case")),
        "MR-5.1": must_hold("the scores of the other classes keep their order, apart from smoothing"),
        "MR-NBC": must_hold("means and variances are computed attribute by attribute"),
        "sample order": must_hold("means and variances are sums over rows in any order"),
        "weights": must_hold("means, variances and priors are weighted sums, apart from smoothing"),
        "sparse": NO_SPARSE_STANCE,
        **for_all((SCALING_UNDONE, SIGNS_FLIPPED), must_hold("variances do not depend on the sign")),
    }
    if model.priors is not None:
        stances |= for_all((*COPY_RELATIONS, "MR-4.2", "MR-5.1"), may_fail("`priors` fix the number of classes"))
        stances |= {
            "MR-1.1": known_to_fail("`priors` are assigned to labels by their order"),
            "MR-3.1": must_hold("the new mean and variance make the case likelier, apart from smoothing"),
            "MR-3.2": must_hold("mean and variance of the class stay, apart from smoothing"),
            "MR-3.2 odds": known_to_fail("`priors` are fixed"),
        }
    if model.var_smoothing < 1e-12:
        stances |= for_all(
            (*CONSTANT_RELATIONS, *INFORMATIVE_RELATIONS),
            may_fail("without smoothing (var_smoothing) a constant has no density"),
        )
    if model.var_smoothing > STRONG_VAR_SMOOTHING:
        smoothing_stance = may_fail("smoothing (var_smoothing) is strong and depends on the spread of all rows")
        stances |= {name: smoothing_stance for name in SMOOTHING_FACTORS if stances[name].necessary}
    return stances


# -- learners by borders -----------------------------------------------------------------------------------------


def _build_logistic_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    exact = model.solver == "newton-cholesky" or (model.solver == "lbfgs" and scaler)
    squared = getattr(model, "penalty", "l2") in ("l2", "deprecated") and not model.l1_ratio
    if exact and squared and model.C <= 100 and not isinstance(model.class_weight, dict):
        optimum_stance = must_hold("there is one optimum, and the solver takes the same path to it")
    else:
        optimum_stance = may_fail("there is one optimum, but the solver may stop before it, depending on rounding")
    path_stance = may_fail("the solver takes another path to the same optimum and stops within `tol` of it")
    return {
        **for_all(MAP_RELATIONS, known_to_fail("the penalty (C) applies to coefficients, which depend on the scale")),
        **for_all(("MR-1.1", "MR-1.2", "sample order", "sparse", SCALING_UNDONE), optimum_stance),
        # a scaler turns a constant into zeros, whose coefficient stays zero
        **for_all(CONSTANT_RELATIONS, optimum_stance if scaler else path_stance),
        **for_all(INFORMATIVE_RELATIONS, may_fail("the coefficients of the other attributes change, too")),
        "MR-3.1": may_fail("the case becomes likelier in its class, but perhaps even more so in a third one"),
        "MR-3.2": may_fail("a border that moves away from a class also turns, and may come nearer elsewhere"),
        "MR-3.2 odds": known_to_fail("odds depend on all coefficients, not only on a prior"),
        **for_all((*COPY_RELATIONS, "MR-4.2", *REMOVAL_RELATIONS, "MR-NBC"), known_to_fail(_BORDERS_REASON)),
        "weights": optimum_stance
        if model.class_weight is None
        else may_fail("class weights depend on the number of rows, not on their weights"),
        SIGNS_FLIPPED: optimum_stance if scaler == "StandardScaler" else path_stance,
    }


def _build_svc_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    if model.kernel not in ("linear", "rbf"):
        return {}
    digit_reason = "without a free support vector the intercept is not unique, and rounding decides"
    path_reason = "the solver takes another path and stops within `tol` of the optimum"
    undone = model.kernel == "rbf" and model.gamma == "scale"  # gamma is divided by the variance of all values
    fixed = model.kernel == "linear" or not isinstance(model.gamma, str)
    return {
        **_build_margin_stances(),
        **for_all(
            ("MR-0", "MR-0 mirrored"),
            may_fail(digit_reason) if undone else known_to_fail("C and gamma are chosen for one scale"),
        ),
        "MR-0 subset": known_to_fail("C and gamma are chosen for one scale of all attributes"),
        "MR-1.1": may_fail("tied votes of pairs of classes go to the label that sorts first"),
        **for_all(("MR-1.2", "sparse", SCALING_UNDONE, SIGNS_FLIPPED), may_fail(digit_reason)),
        **for_all(
            CONSTANT_RELATIONS,
            may_fail(digit_reason) if fixed else known_to_fail("gamma depends on the number and spread of attributes"),
        ),
        "MR-3.1": may_fail("the loss of the case does not rise, but the solver stops within `tol` of the optimum"),
        "sample order": may_fail(path_reason),
        "weights": may_fail(path_reason if fixed else "gamma depends on the spread of rows, not on their weights"),
    }


def _build_linear_svc_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    path_stance = may_fail(
        "the solver visits rows in a random order of positions and stops within `tol` of the optimum"
    )
    return {
        **_build_margin_stances(),
        **for_all(MAP_RELATIONS, known_to_fail("C and the penalty on the intercept are chosen for one scale")),
        **for_all(
            ("MR-1.1", "MR-1.2", "MR-3.1", "sample order", "weights", "sparse", SCALING_UNDONE, SIGNS_FLIPPED),
            path_stance,
        ),
        **for_all(
            CONSTANT_RELATIONS, known_to_fail("the intercept is penalised, and a constant takes over part of it")
        ),
    }


def _build_margin_stances() -> StanceTable:
    """Return the stances that support vector machines have in common."""
    return {
        **for_all(INFORMATIVE_RELATIONS, may_fail("the coefficients of the other attributes change, too")),
        "MR-3.2": may_fail("a border that moves away from a class also turns, and may come nearer elsewhere"),
        "MR-3.2 odds": may_fail("scores are distances from borders, not probabilities"),
        **for_all((*COPY_RELATIONS, "MR-4.2", *REMOVAL_RELATIONS), may_fail(_BORDERS_REASON)),
        "MR-NBC": known_to_fail(_BORDERS_REASON),
    }


def _build_network_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    start_reason = "initial weights are drawn by the positions of attributes and classes, so the network differs"
    batch_reason = "gradient steps use other batches of rows"
    return {
        **for_all(MAP_RELATIONS, known_to_fail("weights are drawn and learnt for one scale")),
        **for_all(("MR-1.1", "MR-1.2", *CONSTANT_RELATIONS, SIGNS_FLIPPED), may_vary(start_reason)),
        **for_all((*INFORMATIVE_RELATIONS, *COPY_RELATIONS, "MR-4.2", "MR-5.1"), known_to_fail(start_reason)),
        **for_all(("MR-3.1", "MR-3.2", "MR-5.2", "MR-NBC"), may_fail(batch_reason)),
        "MR-3.2 odds": known_to_fail("odds depend on all weights, not only on a prior"),
        **for_all(("sample order", "weights"), may_vary(batch_reason)),
        **for_all(("sparse", SCALING_UNDONE), may_fail("rounding differs, and each step amplifies the difference")),
    }


# -- trees and forests -------------------------------------------------------------------------------------------

_ORDER_STANCE = must_hold("splits depend on the order of values, which stays the same, apart from cases on a threshold")
_LOWER_VALUE_REASON = "of equally good splits the one with lower values is taken"
_ROUNDING_STANCE = may_fail("sums in another order are rounded differently, which may decide between equal splits")
_SPLIT_STANCES = {
    **for_all(
        INFORMATIVE_RELATIONS, may_fail("a split by another attribute may be as good, with the case on its other side")
    ),
    **for_all(("MR-3.2", "MR-3.2 odds"), known_to_fail("a class with more weight leads to other splits")),
    **for_all(
        (*COPY_RELATIONS, "MR-4.2", *REMOVAL_RELATIONS, "MR-NBC"),
        known_to_fail("other rows or labels lead to other splits"),
    ),
}


def _build_tree_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    column_reason = "the choice among equally good splits depends on the order and number of the columns"
    return {
        **_SPLIT_STANCES,
        **_build_grown_stances(model),
        **for_all(("MR-0", SCALING_UNDONE), _ORDER_STANCE),
        **for_all(("MR-0 mirrored", "MR-0 subset", SIGNS_FLIPPED), known_to_fail(_LOWER_VALUE_REASON)),
        **for_all(("MR-1.2", *CONSTANT_RELATIONS), known_to_fail(column_reason)),
    }


def _build_grown_stances(model: EstimatorParameters) -> StanceTable:
    """Return the stances of trees that are grown from all rows."""
    plain = model.class_weight is None
    every = plain and (model.min_samples_split, model.min_samples_leaf) == (2, 1)
    limits = (model.max_depth, model.max_leaf_nodes, model.monotonic_cst)
    thresholds = (model.min_impurity_decrease, model.min_weight_fraction_leaf, model.ccp_alpha)
    pure = every and limits == (None, None, None) and not any(thresholds)
    return {
        "MR-1.1": must_hold("row counts are exact in any order of the classes, and each leaf has one class")
        if pure and model.criterion == "gini"
        else may_fail("a leaf with tied classes answers the label that sorts first"),
        "MR-3.1": must_hold("the tree grows until each training row gets its label, and the case is one of them")
        if pure
        else may_fail("one more row may lead to other splits, and a leaf may have several classes"),
        "sample order": must_hold("splits depend on row counts, which are exact in any order")
        if plain
        else may_fail("weights are added in the order of the rows, and rounding decides between equal splits"),
        "weights": must_hold("two rows count exactly like one of weight 2", "score_exact")
        if every
        else may_fail("limits and class weights depend on the number of rows, not on their weights"),
        "sparse": must_hold("the same splits are found by another method"),
    }


def _build_forest_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    drawing_stance = may_vary("rows and columns are drawn by position, so the forest differs")
    stances = {
        **SHARED_STANCES,
        **_SPLIT_STANCES,
        **_build_grown_stances(model),
        **for_all(("MR-0", SCALING_UNDONE), _ORDER_STANCE),
        **for_all(
            ("MR-0 mirrored", "MR-0 subset", SIGNS_FLIPPED),
            may_vary("splits change sides, and so do the random numbers drawn for them"),
        ),
        "MR-1.1": known_to_fail("a tied vote of the trees goes to the label that sorts first"),
        **for_all(("MR-1.2", *CONSTANT_RELATIONS), drawing_stance),
        **for_all(INFORMATIVE_RELATIONS, may_fail("trees that do not draw the new attribute ignore it")),
    }
    if model.bootstrap:
        stances |= {
            "MR-3.1": may_fail("not every tree is grown with the case"),
            **for_all(("sample order", "weights"), drawing_stance),
        }
    if model.n_jobs not in (None, 1):
        thread_stance = may_fail("votes are added by threads, in any order")
        stances |= {name: thread_stance for name, row in stances.items() if row.necessary}
    return stances


def _build_boosting_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    column_reason = "the choice among equally good splits depends on the order of the columns and on chance"
    first = model.init in (None, "zero")
    return {
        **_SPLIT_STANCES,
        **for_all(("MR-0", SCALING_UNDONE), _ORDER_STANCE if first else may_fail("`init` is a learner of its own")),
        **for_all(("MR-0 mirrored", "MR-0 subset", SIGNS_FLIPPED), known_to_fail(_LOWER_VALUE_REASON)),
        "MR-1.1": known_to_fail(
            "the trees of the classes are grown in the order of the labels, each with other random numbers"
        ),
        **for_all(("MR-1.2", *CONSTANT_RELATIONS), known_to_fail(column_reason)),
        "MR-3.1": may_fail("one more row may lead to other splits"),
        **for_all(("sample order", "weights", "sparse"), _ROUNDING_STANCE),
    }


def _build_histogram_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    numbers = isinstance(model.categorical_features, str | None) and model.categorical_features in (None, "from_dtype")
    alike = numbers and model.max_features == 1.0 and model.monotonic_cst is None and model.interaction_cst is None
    return {
        **_SPLIT_STANCES,
        **for_all(
            ("MR-0", SCALING_UNDONE),
            must_hold("values are binned by their order, which stays the same")
            if numbers
            else may_fail("codes of categories are not numbers"),
        ),
        **for_all(("MR-0 mirrored", "MR-0 subset", SIGNS_FLIPPED), known_to_fail(_LOWER_VALUE_REASON)),
        "MR-1.1": _ROUNDING_STANCE,
        "MR-1.2": known_to_fail("of equally good splits the one in the first column is taken"),
        **for_all(
            CONSTANT_RELATIONS,
            must_hold("a column that cannot be split changes nothing, not even the order of the others")
            if alike
            else may_fail("columns are drawn or named by position"),
        ),
        "MR-3.1": may_fail("one more row may lead to other splits"),
        "sample order": _ROUNDING_STANCE,
        "weights": known_to_fail("limits (min_samples_leaf) count rows, not their weights"),
        "sparse": NO_SPARSE_STANCE,
    }


# by class of scikit-learn: builds the stances, apart from the shared ones, from the parameters and the scaler in front
STANCE_BUILDERS: dict[str, Callable[[EstimatorParameters, str], StanceTable]] = {
    "DecisionTreeClassifier": _build_tree_stances,
    "ExtraTreesClassifier": _build_forest_stances,
    "GaussianNB": _build_bayes_stances,
    "GradientBoostingClassifier": _build_boosting_stances,
    "HistGradientBoostingClassifier": _build_histogram_stances,
    "KNeighborsClassifier": _build_neighbour_stances,
    "KNeighborsRegressor": _build_neighbour_stances,
    "LinearSVC": _build_linear_svc_stances,
    "LogisticRegression": _build_logistic_stances,
    "MLPClassifier": _build_network_stances,
    "NearestCentroid": _build_centroid_stances,
    "RandomForestClassifier": _build_forest_stances,
    "SVC": _build_svc_stances,
}
