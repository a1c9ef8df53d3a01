"""What each kind of learner promises: a row for each relation, with the reason in a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .smoothing import SMOOTHING_FACTORS, STRONG_VAR_SMOOTHING
from .stance import (
    CONSTANT_ATTRIBUTE_RELATIONS,
    COPY_RELATIONS,
    INFORMATIVE_ATTRIBUTE_RELATIONS,
    MAP_RELATIONS,
    NO_SPARSE_STANCE,
    NO_WEIGHTS_STANCE,
    REMOVAL_RELATIONS,
    SCALING_UNDONE,
    SHARED_STANCES,
    SIGNS_FLIPPED,
    StanceTable,
    for_all,
    known_to_fail,
    may_fail,
    may_vary,
    must_hold,
)
from .table_trees import build_boosting_stances, build_forest_stances, build_histogram_stances, build_tree_stances

_TIES_ASIDE = "ties aside"
_BORDERS_REASON = "other rows, other borders: nothing holds the one near the case in its place"


# -- classes by their distance -----------------------------------------------------------------------------------


def _build_neighbour_stances(model: Any, scaler: str) -> StanceTable:
    metrics = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
    if model.metric not in metrics or model.metric_params or model.weights not in ("uniform", "distance"):
        return SHARED_STANCES
    largest = model.metric == "chebyshev" or (model.metric == "minkowski" and model.p == np.inf)
    summed = model.metric in metrics[1:-1] or (model.metric == "minkowski" and model.p in (1, 2))
    return {
        **SHARED_STANCES,
        **(_build_nearest_stances() if model.n_neighbors == 1 else _build_voting_stances(model, largest)),
        **for_all(("MR-0", "MR-0 mirrored"), must_hold(f"all distances are multiplied by |k|; {_TIES_ASIDE}")),
        "MR-0 subset": known_to_fail("distances along some attributes only are multiplied by |k|"),
        "MR-1.2": must_hold(f"a distance is a sum over attributes, whatever their order; {_TIES_ASIDE}"),
        **for_all(CONSTANT_ATTRIBUTE_RELATIONS, must_hold(f"no distance changes; {_TIES_ASIDE}")),
        "MR-3.1": must_hold(
            f"the predicted class gets the nearest place of all, and no other class gains; {_TIES_ASIDE}"
        ),
        "MR-3.2": must_hold(f"the doubled class takes more of the k places and no other does; {_TIES_ASIDE}"),
        "MR-4.2": must_hold(f"no class has more of the k places than before; {_TIES_ASIDE}"),
        "overruled": must_hold(f"the k nearest are then all of that label; {_TIES_ASIDE}"),
        "MR-NBC": known_to_fail("rows with an exchanged value lie elsewhere"),
        "sample order": must_hold(f"neighbours are found by distance, not by place; {_TIES_ASIDE}"),
        "weights": NO_WEIGHTS_STANCE,
        "sparse": must_hold(f"the same distances, but for last digits; {_TIES_ASIDE}")
        if summed
        else may_fail("this distance is not for sparse matrices"),
        **for_all((SCALING_UNDONE, SIGNS_FLIPPED), must_hold(f"no distance changes; {_TIES_ASIDE}")),
    }


def _build_nearest_stances() -> StanceTable:
    return {
        "MR-1.1": must_hold(f"the label of the nearest row, whatever it is called; {_TIES_ASIDE}"),
        **for_all(
            INFORMATIVE_ATTRIBUTE_RELATIONS,
            must_hold(f"the nearest row stays where it is, and other classes move away; {_TIES_ASIDE}"),
        ),
        "MR-3.2 odds": must_hold("the nearest row has all the probability, doubled or not", "score_exact"),
        **for_all(
            COPY_RELATIONS,
            must_hold(f"copies lie where the originals do, and these are not the nearest; {_TIES_ASIDE}"),
        ),
        **for_all(REMOVAL_RELATIONS, must_hold(f"the nearest row stays; {_TIES_ASIDE}")),
    }


def _build_voting_stances(model: Any, largest: bool) -> StanceTable:
    uniform = model.weights == "uniform"
    # of two weighted neighbours the nearer one decides, as if it were alone
    make_stance = known_to_fail if uniform or model.n_neighbors > 2 else may_fail
    return {
        "MR-1.1": (known_to_fail if uniform else may_fail)("a tied vote goes to the label that sorts first"),
        "MR-2.2": make_stance("other classes move away by different lengths, so one of them may gain a place"),
        "MR-2.2 shared": may_fail("the new attribute has the largest difference for many rows, and these tie")
        if largest
        else must_hold(f"other classes move away in the same order, so none of them gains a place; {_TIES_ASIDE}"),
        "MR-3.2 odds": known_to_fail("probabilities are shares of the k neighbours"),
        **for_all(COPY_RELATIONS, make_stance("copies may take places of the predicted class")),
        **for_all(REMOVAL_RELATIONS, make_stance("another class may take the places of removed rows")),
    }


def _build_centroid_stances(model: Any, scaler: str) -> StanceTable:
    if model.shrink_threshold is not None or not (isinstance(model.priors, str) and model.priors == "uniform"):
        return SHARED_STANCES
    return {
        **SHARED_STANCES,
        **for_all(("MR-0", "MR-0 mirrored"), must_hold(f"all distances are multiplied by |k|; {_TIES_ASIDE}")),
        "MR-0 subset": known_to_fail("distances along some attributes only are multiplied by |k|"),
        "MR-1.1": must_hold(f"the nearest centre, whatever it is called; {_TIES_ASIDE}"),
        "MR-1.2": must_hold(f"a distance is a sum over attributes, whatever their order; {_TIES_ASIDE}"),
        **for_all(CONSTANT_ATTRIBUTE_RELATIONS, must_hold(f"no distance changes; {_TIES_ASIDE}")),
        **for_all(
            INFORMATIVE_ATTRIBUTE_RELATIONS,
            must_hold(f"the nearest centre stays where it is, and all others move away; {_TIES_ASIDE}"),
        ),
        "MR-3.1": must_hold(f"the nearest centre moves towards the case; {_TIES_ASIDE}"),
        "MR-3.2": must_hold(f"no centre moves; {_TIES_ASIDE}"),
        "MR-3.2 odds": known_to_fail("all classes count alike, however many rows they have"),
        **for_all(
            COPY_RELATIONS,
            must_hold(f"new centres lie where old ones do, and these are not the nearest; {_TIES_ASIDE}"),
        ),
        **for_all(
            ("MR-4.2", "MR-5.2"), known_to_fail("the centre of what is left of a class may lie nearer to the case")
        ),
        "MR-5.1": must_hold(f"the nearest centre stays; {_TIES_ASIDE}"),
        "MR-NBC": must_hold(f"a centre is found attribute by attribute; {_TIES_ASIDE}"),
        "sample order": must_hold(f"a centre does not depend on the order of rows; {_TIES_ASIDE}"),
        "weights": NO_WEIGHTS_STANCE,
        "sparse": must_hold(f"the same distances, but for last digits; {_TIES_ASIDE}"),
        **for_all((SCALING_UNDONE, SIGNS_FLIPPED), must_hold(f"no distance changes; {_TIES_ASIDE}")),
    }


# -- classes by their distribution -------------------------------------------------------------------------------


def _build_bayes_stances(model: Any, scaler: str) -> StanceTable:
    stances = {
        **SHARED_STANCES,
        **for_all(
            ("MR-0", "MR-0 mirrored"), must_hold("variances, smoothing too, are all multiplied by k squared")
        ),
        "MR-0 subset": must_hold(
            "an attribute's scale is the same in all classes; smoothing (var_smoothing) aside"
        ),
        "MR-1.1": must_hold("classes are modelled one by one, whatever they are called"),
        "MR-1.2": must_hold("the log-likelihood is a sum over attributes, whatever their order"),
        **for_all(CONSTANT_ATTRIBUTE_RELATIONS, must_hold("a constant is equally likely in all classes")),
        **for_all(
            INFORMATIVE_ATTRIBUTE_RELATIONS,
            must_hold("the new value is likely in the predicted class only; smoothing aside"),
        ),
        "MR-3.1": must_hold(
            "the new mean and variance make the case likelier, and the prior rises; smoothing aside"
        ),
        "MR-3.2": must_hold("mean and variance of the class stay and its prior rises; smoothing aside"),
        "MR-3.2 odds": must_hold("the prior doubles against all others, and no likelihood changes", "score_exact"),
        **for_all(
            COPY_RELATIONS,
            must_hold("a class of copies scores as its original, which did not win; smoothing aside"),
        ),
        **for_all(("MR-4.2", "MR-5.2"), known_to_fail("what is left of a class may lie closer around the case")),
        "MR-5.1": must_hold("the scores of the other classes keep their order; smoothing aside"),
        "MR-NBC": must_hold("means and variances are taken attribute by attribute"),
        "sample order": must_hold("means and variances are sums over rows, whatever their order"),
        "weights": must_hold("means, variances and priors are weighted sums; smoothing aside"),
        "sparse": NO_SPARSE_STANCE,
        **for_all((SCALING_UNDONE, SIGNS_FLIPPED), must_hold("variances stay, whatever the sign")),
    }
    if model.priors is not None:
        stances |= for_all(
            (*COPY_RELATIONS, "MR-4.2", "MR-5.1"), may_fail("`priors` are for so many classes, and no others")
        )
        stances |= {
            "MR-1.1": known_to_fail("`priors` belong to labels by their order"),
            "MR-3.1": must_hold("the new mean and variance make the case likelier; smoothing aside"),
            "MR-3.2": must_hold("mean and variance of the class stay; smoothing aside"),
            "MR-3.2 odds": known_to_fail("`priors` do not rise"),
        }
    if model.var_smoothing < 1e-12:
        stances |= for_all(
            (*CONSTANT_ATTRIBUTE_RELATIONS, *INFORMATIVE_ATTRIBUTE_RELATIONS),
            may_fail("without smoothing (var_smoothing) a constant has no density"),
        )
    if model.var_smoothing > STRONG_VAR_SMOOTHING:
        smoothing_stance = may_fail("smoothing (var_smoothing) is strong, and changes with the spread of all rows")
        stances |= {name: smoothing_stance for name in SMOOTHING_FACTORS if stances[name].necessary}
    return stances


# -- classes by their borders ------------------------------------------------------------------------------------


def _build_logistic_stances(model: Any, scaler: str) -> StanceTable:
    exact = model.solver == "newton-cholesky" or (model.solver == "lbfgs" and scaler)
    squared = getattr(model, "penalty", "l2") in ("l2", "deprecated") and not model.l1_ratio
    if exact and squared and model.C <= 100 and not isinstance(model.class_weight, dict):
        optimum_stance = must_hold("there is one optimum, and the solver takes the same way to it")
    else:
        optimum_stance = may_fail(
            "there is one optimum, but the solver may stop short of it, depending on the last digit"
        )
    path_stance = may_fail("the solver takes another way to the same optimum, and stops within `tol` of it")
    return {
        **SHARED_STANCES,
        **for_all(MAP_RELATIONS, known_to_fail("the penalty (C) is on coefficients, which the scale changes")),
        **for_all(("MR-1.1", "MR-1.2", "sample order", "sparse", SCALING_UNDONE), optimum_stance),
        # a scaler makes zeros of a constant, and their coefficient stays zero
        **for_all(CONSTANT_ATTRIBUTE_RELATIONS, optimum_stance if scaler else path_stance),
        **for_all(
            INFORMATIVE_ATTRIBUTE_RELATIONS, may_fail("the coefficients of the other attributes change, too")
        ),
        "MR-3.1": may_fail("the case gets likelier in its class, but perhaps more so in a third one"),
        "MR-3.2": may_fail("a border that a class pushes away turns, too, and may come nearer elsewhere"),
        "MR-3.2 odds": known_to_fail("odds depend on all coefficients, not on a prior alone"),
        **for_all((*COPY_RELATIONS, "MR-4.2", *REMOVAL_RELATIONS, "MR-NBC"), known_to_fail(_BORDERS_REASON)),
        "weights": optimum_stance
        if model.class_weight is None
        else may_fail("class weights count rows, not their weights"),
        SIGNS_FLIPPED: optimum_stance if scaler == "StandardScaler" else path_stance,
    }


def _build_svc_stances(model: Any, scaler: str) -> StanceTable:
    if model.kernel not in ("linear", "rbf"):
        return SHARED_STANCES
    digit_reason = "where no support vector is free the intercept is not unique, and the last digit decides"
    path_reason = "the solver takes another way, and stops within `tol` of the optimum"
    undone = model.kernel == "rbf" and model.gamma == "scale"  # gamma is divided by the variance of all values
    fixed = model.kernel == "linear" or not isinstance(model.gamma, str)
    return {
        **SHARED_STANCES,
        **_build_margin_stances(),
        **for_all(
            ("MR-0", "MR-0 mirrored"),
            may_fail(digit_reason) if undone else known_to_fail("C and gamma are for one scale"),
        ),
        "MR-0 subset": known_to_fail("C and gamma are for one scale of all attributes"),
        "MR-1.1": may_fail("tied votes of pairs of classes go to the label that sorts first"),
        **for_all(("MR-1.2", "sparse", SCALING_UNDONE, SIGNS_FLIPPED), may_fail(digit_reason)),
        **for_all(
            CONSTANT_ATTRIBUTE_RELATIONS,
            may_fail(digit_reason)
            if fixed
            else known_to_fail("gamma depends on the number and spread of attributes"),
        ),
        "MR-3.1": may_fail("the case's loss does not rise, but the solver stops within `tol` of the optimum"),
        "sample order": may_fail(path_reason),
        "weights": may_fail(
            path_reason if fixed else "gamma depends on the spread of rows, whatever their weights"
        ),
    }


def _build_linear_svc_stances(model: Any, scaler: str) -> StanceTable:
    path_stance = may_fail(
        "the solver visits rows in an order drawn by their places, and stops within `tol` of the optimum"
    )
    return {
        **SHARED_STANCES,
        **_build_margin_stances(),
        **for_all(MAP_RELATIONS, known_to_fail("C, and the penalty on the intercept, are for one scale")),
        **for_all(
            ("MR-1.1", "MR-1.2", "MR-3.1", "sample order", "weights", "sparse", SCALING_UNDONE, SIGNS_FLIPPED),
            path_stance,
        ),
        **for_all(
            CONSTANT_ATTRIBUTE_RELATIONS,
            known_to_fail("the intercept is penalised, and a constant shares its load"),
        ),
    }


def _build_margin_stances() -> StanceTable:
    """Return what support vector machines have in common."""
    return {
        **for_all(
            INFORMATIVE_ATTRIBUTE_RELATIONS, may_fail("the coefficients of the other attributes change, too")
        ),
        "MR-3.2": may_fail("a border that a class pushes away turns, too, and may come nearer elsewhere"),
        "MR-3.2 odds": may_fail("scores are distances from borders, and no probabilities"),
        **for_all((*COPY_RELATIONS, "MR-4.2", *REMOVAL_RELATIONS), may_fail(_BORDERS_REASON)),
        "MR-NBC": known_to_fail(_BORDERS_REASON),
    }


def _build_network_stances(model: Any, scaler: str) -> StanceTable:
    start_reason = "first weights are drawn by the places of attributes and classes, so this is another network"
    batch_reason = "steps are taken for other batches of rows"
    return {
        **SHARED_STANCES,
        **for_all(MAP_RELATIONS, known_to_fail("weights are drawn and learnt for one scale")),
        **for_all(("MR-1.1", "MR-1.2", *CONSTANT_ATTRIBUTE_RELATIONS, SIGNS_FLIPPED), may_vary(start_reason)),
        **for_all(
            (*INFORMATIVE_ATTRIBUTE_RELATIONS, *COPY_RELATIONS, "MR-4.2", "MR-5.1"), known_to_fail(start_reason)
        ),
        **for_all(("MR-3.1", "MR-3.2", "MR-5.2", "MR-NBC"), may_fail(batch_reason)),
        "MR-3.2 odds": known_to_fail("odds depend on all weights, not on a prior alone"),
        **for_all(("sample order", "weights"), may_vary(batch_reason)),
        **for_all(("sparse", SCALING_UNDONE), may_fail("last digits differ, and each step makes more of it")),
    }


# by name of scikit-learn's class: what it promises, given its parameters and the scaler before it, if any
STANCE_BUILDERS: dict[str, Callable[[Any, str], StanceTable]] = {
    "DecisionTreeClassifier": build_tree_stances,
    "ExtraTreesClassifier": build_forest_stances,
    "GaussianNB": _build_bayes_stances,
    "GradientBoostingClassifier": build_boosting_stances,
    "HistGradientBoostingClassifier": build_histogram_stances,
    "KNeighborsClassifier": _build_neighbour_stances,
    "KNeighborsRegressor": _build_neighbour_stances,
    "LinearSVC": _build_linear_svc_stances,
    "LogisticRegression": _build_logistic_stances,
    "MLPClassifier": _build_network_stances,
    "NearestCentroid": _build_centroid_stances,
    "RandomForestClassifier": build_forest_stances,
    "SVC": _build_svc_stances,
}
