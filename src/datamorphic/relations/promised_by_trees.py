"""What trees, forests and boosted trees promise: a row for each relation, with the reason in a line."""

from __future__ import annotations

from typing import Any

from .stances import (
    CONSTANTS,
    COPIES,
    FLIPPED,
    INFORMED,
    NO_SPARSE,
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

_ORDER = must("splits depend on the order of values, which stays; cases on a threshold are set aside")
_LOWER = "of equally good splits the one of lower values is taken"
_ROUNDED = may("sums in another order are rounded, and that may decide between equal splits")
_SPLITS = {
    **each(INFORMED, may("a split by another attribute may be as good, and the case on its other side")),
    **each(("MR-3.2", "MR-3.2 odds"), fails("a class with more weight leads to other splits")),
    **each((*COPIES, "MR-4.2", *REMOVALS, "MR-NBC"), fails("other rows or labels lead to other splits")),
}


def tree_promises(model: Any, scaler: str) -> Rows:
    """Return the rows of a decision tree."""
    columns = "equally good splits are chosen among by the order and number of the columns"
    return {
        **SAME,
        **_SPLITS,
        **_grown(model),
        **each(("MR-0", UNDONE), _ORDER),
        **each(("MR-0 mirrored", "MR-0 subset", FLIPPED), fails(_LOWER)),
        **each(("MR-1.2", *CONSTANTS), fails(columns)),
    }


def _grown(model: Any) -> Rows:
    """Return what holds for trees that are given all rows."""
    plain = model.class_weight is None
    every = plain and (model.min_samples_split, model.min_samples_leaf) == (2, 1)
    limits = (model.max_depth, model.max_leaf_nodes, model.monotonic_cst)
    least = (model.min_impurity_decrease, model.min_weight_fraction_leaf, model.ccp_alpha)
    pure = every and limits == (None, None, None) and not any(least)
    return {
        "MR-1.1": must("counts of rows are exact in any order of the classes, and each leaf has one class")
        if pure and model.criterion == "gini"
        else may("a leaf in which classes tie answers the label that sorts first"),
        "MR-3.1": must("the tree grows until each row has its label, and the case is one of them")
        if pure
        else may("one more row may lead to other splits, and a leaf need not have one class only"),
        "sample order": must("splits depend on counts of rows, which are exact in any order")
        if plain
        else may("weights are added up in the order of the rows, and rounding decides between equal splits"),
        "weights": must("two rows count as one of weight 2, exactly", "score_exact")
        if every
        else may("limits and class weights count rows, not their weights"),
        "sparse": must("the same splits are found in another way"),
    }


def forest_promises(model: Any, scaler: str) -> Rows:
    """Return the rows of a random forest, or of extremely randomised trees."""
    drawn = varies("rows and columns are drawn by their places, so this is another forest")
    rows = {
        **SAME,
        **_SPLITS,
        **_grown(model),
        **each(("MR-0", UNDONE), _ORDER),
        **each(
            ("MR-0 mirrored", "MR-0 subset", FLIPPED), varies("splits change sides, and what is drawn for these")
        ),
        "MR-1.1": fails("a tied vote of the trees goes to the label that sorts first"),
        **each(("MR-1.2", *CONSTANTS), drawn),
        **each(INFORMED, may("trees that are not given the new attribute do not know it")),
    }
    if model.bootstrap:
        rows |= {"MR-3.1": may("not every tree is given the case"), **each(("sample order", "weights"), drawn)}
    if model.n_jobs not in (None, 1):
        added = may("votes are added up by threads, in any order")
        rows |= {name: added for name, row in rows.items() if row.necessary}
    return rows


def boosting_promises(model: Any, scaler: str) -> Rows:
    """Return the rows of gradient boosting."""
    columns = "equally good splits are chosen among by the order of the columns and by chance"
    first = model.init in (None, "zero")
    return {
        **SAME,
        **_SPLITS,
        **each(("MR-0", UNDONE), _ORDER if first else may("`init` is a learner of its own")),
        **each(("MR-0 mirrored", "MR-0 subset", FLIPPED), fails(_LOWER)),
        "MR-1.1": fails("the classes' trees are grown in the order of the labels, each with other random numbers"),
        **each(("MR-1.2", *CONSTANTS), fails(columns)),
        "MR-3.1": may("one more row may lead to other splits"),
        **each(("sample order", "weights", "sparse"), _ROUNDED),
    }


def histogram_promises(model: Any, scaler: str) -> Rows:
    """Return the rows of gradient boosting on histograms."""
    numbers = isinstance(model.categorical_features, str | None) and model.categorical_features in (
        None,
        "from_dtype",
    )
    alike = numbers and model.max_features == 1.0 and model.monotonic_cst is None and model.interaction_cst is None
    return {
        **SAME,
        **_SPLITS,
        **each(
            ("MR-0", UNDONE),
            must("values are put into bins by their order, which stays")
            if numbers
            else may("numbers of categories are no numbers"),
        ),
        **each(("MR-0 mirrored", "MR-0 subset", FLIPPED), fails(_LOWER)),
        "MR-1.1": _ROUNDED,
        "MR-1.2": fails("of equally good splits the one of the first column is taken"),
        **each(
            CONSTANTS,
            must("a column that cannot be split changes nothing, nor the order of the others")
            if alike
            else may("columns are drawn or named by their places"),
        ),
        "MR-3.1": may("one more row may lead to other splits"),
        "sample order": _ROUNDED,
        "weights": fails("limits (min_samples_leaf) count rows, not their weights"),
        "sparse": NO_SPARSE,
    }
