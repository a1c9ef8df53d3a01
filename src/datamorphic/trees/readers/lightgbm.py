"""Read the trees of LightGBM models."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..._typing import DataLike
from ...errors import ModelError
from ..forest import Forest, Joining
from ..pipeline import Preprocessing
from ..tree import LEAF, UP_TO, WITHIN, Tree
from ._build import NodeBuilder, build_no_trees_error, decode_bits, describe_meanings, name_columns

# the function that is applied to the sum of the leaves, by objective
LINKS = {
    "binary": "sigmoid",
    "cross_entropy": "sigmoid",
    "cross_entropy_lambda": "softplus",
    "multiclass": "softmax",
    "multiclassova": "sigmoid",
    "poisson": "exp",
    "gamma": "exp",
    "tweedie": "exp",
}
OBJECTIVES_WITHOUT_LINK = (
    *("regression", "regression_l1", "huber", "fair", "quantile", "mape"),
    *("lambdarank", "rank_xendcg"),
)
CATEGORICAL_BIT, DEFAULT_LEFT_BIT = 1, 2  # bits of a decision; the next ones say what counts as missing
ZERO_TOLERANCE = float(np.float32(1e-35))  # values with at most this absolute value count as 0
NEGATIVE_LIMIT = float(np.nextafter(-ZERO_TOLERANCE, -np.inf))
MISSING_IS_ZERO, MISSING_IS_NAN = 1, 2  # what counts as missing; otherwise NaN counts as 0


def read_forest(
    model: Any, columns: list[str] | None, preprocessing: Preprocessing | None, data: DataLike | None = None
) -> Forest:
    """Read the trees of a fitted LightGBM model.

    After early stopping, only the trees up to the best round are read. A Booster answers like its `predict`, except
    that for several classes it answers the most likely class instead of probabilities. LightGBM writes column names
    without spaces; the original names are taken from `data` if given.
    """
    owner = type(model).__name__
    booster = getattr(model, "booster_", model)
    if not hasattr(booster, "model_to_string"):
        raise build_no_trees_error(owner)
    text = booster.model_to_string()
    # the entries of the model, then those of each tree
    head, *parts = (
        {name: value for name, _, value in (line.partition("=") for line in part.splitlines()[1:])}
        for part in text.partition("\nend of trees")[0].split("\nTree=")
    )
    width, scores = int(head["max_feature_idx"]) + 1, int(head["num_tree_per_iteration"])
    objective, _, settings = head.get("objective", "").partition(" ")
    link = "square" if settings == "sqrt" else LINKS.get(objective, "")
    labels = tuple(np.asarray(model.classes_).tolist()) if hasattr(model, "classes_") else None
    if labels is None and scores > 1:
        labels = tuple(range(scores))
    if columns is not None and data is not None and hasattr(data, "columns"):  # names as the data write them
        name_by_written = {str(name).replace(" ", "_"): str(name) for name in data.columns}
        columns = [name_by_written.get(name, name) for name in columns]
    leaf_meanings, names = describe_meanings(labels, scores, link), name_columns(columns, width)
    missing_markers: dict[int, float] = {}
    trees = tuple(
        _read_tree(part, names, leaf_meanings[i % scores], preprocessing, missing_markers, owner)
        for i, part in enumerate(parts)
    )
    if not trees:
        raise ModelError(f"This {owner} has no trees. Fit it first, with at least one round.")
    scale = next((float(setting[8:]) for setting in settings.split() if setting.startswith("sigmoid:")), 1.0)
    joining = Joining(
        method="mean" if "average_output" in head else "sum",
        start=(0.0,) * scores,
        column=tuple(i % scores for i in range(len(trees))),
        decision="number" if labels is None else "half" if scores == 1 else "most",
        link=link,
        scale=scale,
    )
    return Forest(
        trees=trees,
        owner=owner,
        columns=None if columns is None else tuple(columns),
        width=width,
        labels=labels,
        joining=joining if objective in LINKS or objective in OBJECTIVES_WITHOUT_LINK else None,
        categories=_read_categories(text, booster.pandas_categorical, owner),
        missing_markers=missing_markers,
        preprocessing=preprocessing,
    )


def _read_categories(text: str, categories: list[list[Any]] | None, owner: str) -> dict[int, tuple[Any, ...]]:
    """Return the categories of categorical columns; none for columns that hold codes."""
    if not categories:
        return {}
    places = text.rpartition("\n[categorical_feature: ")[2].partition("]")[0].split(",")
    if len(places) != len(categories) or not all(place.isdigit() for place in places):
        raise ModelError(
            f"This {owner} was fitted on {len(categories)} categorical columns of pandas and on others given by "
            "categorical_feature, so they cannot be distinguished. Make all of them categorical in pandas."
        )
    return {int(place): tuple(values) for place, values in zip(places, categories, strict=True)}


def _read_tree(
    source: dict[str, str],
    names: tuple[str, ...],
    meaning: str,
    preprocessing: Preprocessing | None,
    missing_markers: dict[int, float],
    owner: str,
) -> Tree:
    """Read one tree, and add columns where 0 means missing to the markers."""

    def parse_numbers(name: str, kind: type = float) -> Any:
        return np.array(source.get(name, "").split(), dtype=kind)

    if source.get("is_linear", "0") != "0":
        raise ModelError(
            f"The leaves of this {owner} hold linear models (linear_tree=True), which are not supported. Fit it without."
        )
    leaf_value = parse_numbers("leaf_value")
    if int(source["num_leaves"]) == 1:
        nodes = NodeBuilder()
        nodes.add_leaf(leaf_value[0], 1.0)
        return nodes.build_tree(names, single=False, preprocessing=preprocessing, meaning=meaning)
    feature, threshold = parse_numbers("split_feature", int), parse_numbers("threshold")
    decision = parse_numbers("decision_type", int)
    is_categorical, missing = (decision & CATEGORICAL_BIT) > 0, decision >> 2
    missing_is_zero = ~is_categorical & (missing == MISSING_IS_ZERO)
    missing_markers.update(dict.fromkeys(feature[missing_is_zero].tolist(), 0.0))
    if any(column in missing_markers for column in feature[~is_categorical & ~missing_is_zero].tolist()):
        raise ModelError(f"Some trees of this {owner} treat 0 as missing and others do not. Fit it again.")
    nan_is_zero = ~is_categorical & (missing != MISSING_IS_ZERO) & (missing != MISSING_IS_NAN)
    is_near_zero = ~is_categorical & (np.abs(threshold) <= ZERO_TOLERANCE)
    children = (parse_numbers("left_child", int), parse_numbers("right_child", int))
    left, right = (np.where(child < 0, len(feature) + ~child, child) for child in children)  # leaves come last
    filler = np.full(len(leaf_value), LEAF)
    nodes = NodeBuilder(
        feature=np.concatenate([feature, filler]),
        operator=np.concatenate([np.where(is_categorical, WITHIN, UP_TO), filler * 0]),
        threshold=np.concatenate(
            [np.where(is_near_zero, np.where(threshold < 0, NEGATIVE_LIMIT, ZERO_TOLERANCE), threshold), filler]
        ),
        left=np.concatenate([left, filler]),
        right=np.concatenate([right, filler]),
        missing_left=np.concatenate(
            [np.where(nan_is_zero, threshold >= 0, ~is_categorical & ((decision & DEFAULT_LEFT_BIT) > 0)), filler == 0]
        ),
        value=np.concatenate([parse_numbers("internal_value"), leaf_value]),
        weight=np.concatenate([parse_numbers("internal_count"), parse_numbers("leaf_count")]),
    )
    ends, bit_words = parse_numbers("cat_boundaries", int), parse_numbers("cat_threshold", int)
    nodes.sets = [frozenset(decode_bits(bit_words[a:b])) for a, b in pairwise(ends)]
    return nodes.build_tree(names, single=False, preprocessing=preprocessing, meaning=meaning)
