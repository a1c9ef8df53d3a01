"""What each kind of learner promises: a row for each relation, with the reason in a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .promised_by_trees import boosting_promises, forest_promises, histogram_promises, tree_promises
from .smoothing import CHANGES, STRONG
from .stances import (
    CONSTANTS,
    COPIES,
    FLIPPED,
    INFORMED,
    MAPS,
    NO_SPARSE,
    NO_WEIGHTS,
    REMOVALS,
    SAME,
    UNDONE,
    Rows,
    each,
    fails,
    may,
    must,
    varies,
)

_TIES = "ties aside"
_BORDERS = "other rows, other borders: nothing holds the one near the case in its place"


# -- classes by their distance -----------------------------------------------------------------------------------


def _neighbours(model: Any, scaler: str) -> Rows:
    lengths = ("minkowski", "euclidean", "l2", "manhattan", "cityblock", "l1", "chebyshev")
    if model.metric not in lengths or model.metric_params or model.weights not in ("uniform", "distance"):
        return SAME
    largest = model.metric == "chebyshev" or (model.metric == "minkowski" and model.p == np.inf)
    summed = model.metric in lengths[1:-1] or (model.metric == "minkowski" and model.p in (1, 2))
    return {
        **SAME,
        **(_nearest() if model.n_neighbors == 1 else _voters(model, largest)),
        **each(("MR-0", "MR-0 mirrored"), must(f"all distances are multiplied by |k|; {_TIES}")),
        "MR-0 subset": fails("distances along some attributes only are multiplied by |k|"),
        "MR-1.2": must(f"a distance is a sum over attributes, whatever their order; {_TIES}"),
        **each(CONSTANTS, must(f"no distance changes; {_TIES}")),
        "MR-3.1": must(f"the predicted class gets the nearest place of all, and no other class gains; {_TIES}"),
        "MR-3.2": must(f"the doubled class takes more of the k places and no other does; {_TIES}"),
        "MR-4.2": must(f"no class has more of the k places than before; {_TIES}"),
        "overruled": must(f"the k nearest are then all of that label; {_TIES}"),
        "MR-NBC": fails("rows with an exchanged value lie elsewhere"),
        "sample order": must(f"neighbours are found by distance, not by place; {_TIES}"),
        "weights": NO_WEIGHTS,
        "sparse": must(f"the same distances, but for last digits; {_TIES}")
        if summed
        else may("this distance is not for sparse matrices"),
        **each((UNDONE, FLIPPED), must(f"no distance changes; {_TIES}")),
    }


def _nearest() -> Rows:
    return {
        "MR-1.1": must(f"the label of the nearest row, whatever it is called; {_TIES}"),
        **each(INFORMED, must(f"the nearest row stays where it is, and other classes move away; {_TIES}")),
        "MR-3.2 odds": must("the nearest row has all the probability, doubled or not", "score_exact"),
        **each(COPIES, must(f"copies lie where the originals do, and these are not the nearest; {_TIES}")),
        **each(REMOVALS, must(f"the nearest row stays; {_TIES}")),
    }


def _voters(model: Any, largest: bool) -> Rows:
    uniform = model.weights == "uniform"
    # of two weighted neighbours the nearer one decides, as if it were alone
    known = fails if uniform or model.n_neighbors > 2 else may
    return {
        "MR-1.1": (fails if uniform else may)("a tied vote goes to the label that sorts first"),
        "MR-2.2": known("other classes move away by different lengths, so one of them may gain a place"),
        "MR-2.2 shared": may("the new attribute has the largest difference for many rows, and these tie")
        if largest
        else must(f"other classes move away in the same order, so none of them gains a place; {_TIES}"),
        "MR-3.2 odds": fails("probabilities are shares of the k neighbours"),
        **each(COPIES, known("copies may take places of the predicted class")),
        **each(REMOVALS, known("another class may take the places of removed rows")),
    }


def _centroids(model: Any, scaler: str) -> Rows:
    if model.shrink_threshold is not None or not (isinstance(model.priors, str) and model.priors == "uniform"):
        return SAME
    return {
        **SAME,
        **each(("MR-0", "MR-0 mirrored"), must(f"all distances are multiplied by |k|; {_TIES}")),
        "MR-0 subset": fails("distances along some attributes only are multiplied by |k|"),
        "MR-1.1": must(f"the nearest centre, whatever it is called; {_TIES}"),
        "MR-1.2": must(f"a distance is a sum over attributes, whatever their order; {_TIES}"),
        **each(CONSTANTS, must(f"no distance changes; {_TIES}")),
        **each(INFORMED, must(f"the nearest centre stays where it is, and all others move away; {_TIES}")),
        "MR-3.1": must(f"the nearest centre moves towards the case; {_TIES}"),
        "MR-3.2": must(f"no centre moves; {_TIES}"),
        "MR-3.2 odds": fails("all classes count alike, however many rows they have"),
        **each(COPIES, must(f"new centres lie where old ones do, and these are not the nearest; {_TIES}")),
        **each(("MR-4.2", "MR-5.2"), fails("the centre of what is left of a class may lie nearer to the case")),
        "MR-5.1": must(f"the nearest centre stays; {_TIES}"),
        "MR-NBC": must(f"a centre is found attribute by attribute; {_TIES}"),
        "sample order": must(f"a centre does not depend on the order of rows; {_TIES}"),
        "weights": NO_WEIGHTS,
        "sparse": must(f"the same distances, but for last digits; {_TIES}"),
        **each((UNDONE, FLIPPED), must(f"no distance changes; {_TIES}")),
    }


# -- classes by their distribution -------------------------------------------------------------------------------


def _bayes(model: Any, scaler: str) -> Rows:
    rows = {
        **SAME,
        **each(("MR-0", "MR-0 mirrored"), must("variances, smoothing too, are all multiplied by k squared")),
        "MR-0 subset": must("an attribute's scale is the same in all classes; smoothing (var_smoothing) aside"),
        "MR-1.1": must("classes are modelled one by one, whatever they are called"),
        "MR-1.2": must("the log-likelihood is a sum over attributes, whatever their order"),
        **each(CONSTANTS, must("a constant is equally likely in all classes")),
        **each(INFORMED, must("the new value is likely in the predicted class only; smoothing aside")),
        "MR-3.1": must("the new mean and variance make the case likelier, and the prior rises; smoothing aside"),
        "MR-3.2": must("mean and variance of the class stay and its prior rises; smoothing aside"),
        "MR-3.2 odds": must("the prior doubles against all others, and no likelihood changes", "score_exact"),
        **each(COPIES, must("a class of copies scores as its original, which did not win; smoothing aside")),
        **each(("MR-4.2", "MR-5.2"), fails("what is left of a class may lie closer around the case")),
        "MR-5.1": must("the scores of the other classes keep their order; smoothing aside"),
        "MR-NBC": must("means and variances are taken attribute by attribute"),
        "sample order": must("means and variances are sums over rows, whatever their order"),
        "weights": must("means, variances and priors are weighted sums; smoothing aside"),
        "sparse": NO_SPARSE,
        **each((UNDONE, FLIPPED), must("variances stay, whatever the sign")),
    }
    if model.priors is not None:
        rows |= each((*COPIES, "MR-4.2", "MR-5.1"), may("`priors` are for so many classes, and no others"))
        rows |= {
            "MR-1.1": fails("`priors` belong to labels by their order"),
            "MR-3.1": must("the new mean and variance make the case likelier; smoothing aside"),
            "MR-3.2": must("mean and variance of the class stay; smoothing aside"),
            "MR-3.2 odds": fails("`priors` do not rise"),
        }
    if model.var_smoothing < 1e-12:
        rows |= each((*CONSTANTS, *INFORMED), may("without smoothing (var_smoothing) a constant has no density"))
    if model.var_smoothing > STRONG:
        strong = may("smoothing (var_smoothing) is strong, and changes with the spread of all rows")
        rows |= {name: strong for name in CHANGES if rows[name].necessary}
    return rows


# -- classes by their borders ------------------------------------------------------------------------------------


def _logistic(model: Any, scaler: str) -> Rows:
    exact = model.solver == "newton-cholesky" or (model.solver == "lbfgs" and scaler)
    squared = getattr(model, "penalty", "l2") in ("l2", "deprecated") and not model.l1_ratio
    if exact and squared and model.C <= 100 and not isinstance(model.class_weight, dict):
        one = must("there is one optimum, and the solver takes the same way to it")
    else:
        one = may("there is one optimum, but the solver may stop short of it, depending on the last digit")
    way = may("the solver takes another way to the same optimum, and stops within `tol` of it")
    return {
        **SAME,
        **each(MAPS, fails("the penalty (C) is on coefficients, which the scale changes")),
        **each(("MR-1.1", "MR-1.2", "sample order", "sparse", UNDONE), one),
        # a scaler makes zeros of a constant, and their coefficient stays zero
        **each(CONSTANTS, one if scaler else way),
        **each(INFORMED, may("the coefficients of the other attributes change, too")),
        "MR-3.1": may("the case gets likelier in its class, but perhaps more so in a third one"),
        "MR-3.2": may("a border that a class pushes away turns, too, and may come nearer elsewhere"),
        "MR-3.2 odds": fails("odds depend on all coefficients, not on a prior alone"),
        **each((*COPIES, "MR-4.2", *REMOVALS, "MR-NBC"), fails(_BORDERS)),
        "weights": one if model.class_weight is None else may("class weights count rows, not their weights"),
        FLIPPED: one if scaler == "StandardScaler" else way,
    }


def _support(model: Any, scaler: str) -> Rows:
    if model.kernel not in ("linear", "rbf"):
        return SAME
    digit = "where no support vector is free the intercept is not unique, and the last digit decides"
    way = "the solver takes another way, and stops within `tol` of the optimum"
    undone = model.kernel == "rbf" and model.gamma == "scale"  # gamma is divided by the variance of all values
    fixed = model.kernel == "linear" or not isinstance(model.gamma, str)
    return {
        **SAME,
        **_margins(),
        **each(("MR-0", "MR-0 mirrored"), may(digit) if undone else fails("C and gamma are for one scale")),
        "MR-0 subset": fails("C and gamma are for one scale of all attributes"),
        "MR-1.1": may("tied votes of pairs of classes go to the label that sorts first"),
        **each(("MR-1.2", "sparse", UNDONE, FLIPPED), may(digit)),
        **each(CONSTANTS, may(digit) if fixed else fails("gamma depends on the number and spread of attributes")),
        "MR-3.1": may("the case's loss does not rise, but the solver stops within `tol` of the optimum"),
        "sample order": may(way),
        "weights": may(way if fixed else "gamma depends on the spread of rows, whatever their weights"),
    }


def _linear_support(model: Any, scaler: str) -> Rows:
    way = may("the solver visits rows in an order drawn by their places, and stops within `tol` of the optimum")
    return {
        **SAME,
        **_margins(),
        **each(MAPS, fails("C, and the penalty on the intercept, are for one scale")),
        **each(("MR-1.1", "MR-1.2", "MR-3.1", "sample order", "weights", "sparse", UNDONE, FLIPPED), way),
        **each(CONSTANTS, fails("the intercept is penalised, and a constant shares its load")),
    }


def _margins() -> Rows:
    """Return what support vector machines have in common."""
    return {
        **each(INFORMED, may("the coefficients of the other attributes change, too")),
        "MR-3.2": may("a border that a class pushes away turns, too, and may come nearer elsewhere"),
        "MR-3.2 odds": may("scores are distances from borders, and no probabilities"),
        **each((*COPIES, "MR-4.2", *REMOVALS), may(_BORDERS)),
        "MR-NBC": fails(_BORDERS),
    }


def _network(model: Any, scaler: str) -> Rows:
    start = "first weights are drawn by the places of attributes and classes, so this is another network"
    batches = "steps are taken for other batches of rows"
    return {
        **SAME,
        **each(MAPS, fails("weights are drawn and learnt for one scale")),
        **each(("MR-1.1", "MR-1.2", *CONSTANTS, FLIPPED), varies(start)),
        **each((*INFORMED, *COPIES, "MR-4.2", "MR-5.1"), fails(start)),
        **each(("MR-3.1", "MR-3.2", "MR-5.2", "MR-NBC"), may(batches)),
        "MR-3.2 odds": fails("odds depend on all weights, not on a prior alone"),
        **each(("sample order", "weights"), varies(batches)),
        **each(("sparse", UNDONE), may("last digits differ, and each step makes more of it")),
    }


# by name of scikit-learn's class: what it promises, given its parameters and the scaler before it, if any
PROMISES: dict[str, Callable[[Any, str], Rows]] = {
    "DecisionTreeClassifier": tree_promises,
    "ExtraTreesClassifier": forest_promises,
    "GaussianNB": _bayes,
    "GradientBoostingClassifier": boosting_promises,
    "HistGradientBoostingClassifier": histogram_promises,
    "KNeighborsClassifier": _neighbours,
    "KNeighborsRegressor": _neighbours,
    "LinearSVC": _linear_support,
    "LogisticRegression": _logistic,
    "MLPClassifier": _network,
    "NearestCentroid": _centroids,
    "RandomForestClassifier": forest_promises,
    "SVC": _support,
}
