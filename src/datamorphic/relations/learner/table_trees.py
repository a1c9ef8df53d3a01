"""The table of trees and forests: the stance of every relation, with a reason."""

from __future__ import annotations

from .stance import (
    CONSTANT_ATTRIBUTE_RELATIONS,
    COPY_RELATIONS,
    INFORMATIVE_ATTRIBUTE_RELATIONS,
    NO_SPARSE_STANCE,
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

_ORDER_STANCE = must_hold("splits depend on the order of values, which stays the same, apart from cases on a threshold")
_LOWER_VALUE_REASON = "of equally good splits the one with lower values is taken"
_ROUNDING_STANCE = may_fail("sums in another order are rounded differently, which may decide between equal splits")
_SPLIT_STANCES = {
    **for_all(
        INFORMATIVE_ATTRIBUTE_RELATIONS,
        may_fail("a split by another attribute may be as good, with the case on its other side"),
    ),
    **for_all(("MR-3.2", "MR-3.2 odds"), known_to_fail("a class with more weight leads to other splits")),
    **for_all(
        (*COPY_RELATIONS, "MR-4.2", *REMOVAL_RELATIONS, "MR-NBC"),
        known_to_fail("other rows or labels lead to other splits"),
    ),
}


def build_tree_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    """Return the stances of a decision tree."""
    column_reason = "the choice among equally good splits depends on the order and number of the columns"
    return {
        **SHARED_STANCES,
        **_SPLIT_STANCES,
        **_build_grown_stances(model),
        **for_all(("MR-0", SCALING_UNDONE), _ORDER_STANCE),
        **for_all(("MR-0 mirrored", "MR-0 subset", SIGNS_FLIPPED), known_to_fail(_LOWER_VALUE_REASON)),
        **for_all(("MR-1.2", *CONSTANT_ATTRIBUTE_RELATIONS), known_to_fail(column_reason)),
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


def build_forest_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    """Return the stances of a random forest or of extremely randomised trees."""
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
        **for_all(("MR-1.2", *CONSTANT_ATTRIBUTE_RELATIONS), drawing_stance),
        **for_all(INFORMATIVE_ATTRIBUTE_RELATIONS, may_fail("trees that do not draw the new attribute ignore it")),
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


def build_boosting_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    """Return the stances of gradient boosting."""
    column_reason = "the choice among equally good splits depends on the order of the columns and on chance"
    first = model.init in (None, "zero")
    return {
        **SHARED_STANCES,
        **_SPLIT_STANCES,
        **for_all(("MR-0", SCALING_UNDONE), _ORDER_STANCE if first else may_fail("`init` is a learner of its own")),
        **for_all(("MR-0 mirrored", "MR-0 subset", SIGNS_FLIPPED), known_to_fail(_LOWER_VALUE_REASON)),
        "MR-1.1": known_to_fail(
            "the trees of the classes are grown in the order of the labels, each with other random numbers"
        ),
        **for_all(("MR-1.2", *CONSTANT_ATTRIBUTE_RELATIONS), known_to_fail(column_reason)),
        "MR-3.1": may_fail("one more row may lead to other splits"),
        **for_all(("sample order", "weights", "sparse"), _ROUNDING_STANCE),
    }


def build_histogram_stances(model: EstimatorParameters, scaler: str) -> StanceTable:
    """Return the stances of gradient boosting on histograms."""
    numbers = isinstance(model.categorical_features, str | None) and model.categorical_features in (None, "from_dtype")
    alike = numbers and model.max_features == 1.0 and model.monotonic_cst is None and model.interaction_cst is None
    return {
        **SHARED_STANCES,
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
            CONSTANT_ATTRIBUTE_RELATIONS,
            must_hold("a column that cannot be split changes nothing, not even the order of the others")
            if alike
            else may_fail("columns are drawn or named by position"),
        ),
        "MR-3.1": may_fail("one more row may lead to other splits"),
        "sample order": _ROUNDING_STANCE,
        "weights": known_to_fail("limits (min_samples_leaf) count rows, not their weights"),
        "sparse": NO_SPARSE_STANCE,
    }
