"""Read the trees of XGBoost models."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..._typing import DataLike
from ...errors import ModelError
from ..forest import Forest, Joining
from ..pipeline import Preprocessing
from ..tree import BELOW, LEAF, WITHIN, Tree
from ._build import NodeBuilder, build_no_trees_error, describe_meanings, find_reachable, name_columns

# the function that is applied to the sum of the leaves, by objective; others have none
LINKS = {
    "reg:logistic": "sigmoid",
    "binary:logistic": "sigmoid",
    "binary:hinge": "step",
    "multi:softprob": "softmax",
    "count:poisson": "exp",
    "reg:gamma": "exp",
    "reg:tweedie": "exp",
    "survival:cox": "exp",
    "survival:aft": "exp",
}
OBJECTIVES_WITHOUT_LINK = re.compile(
    r"rank:|multi:softmax$|binary:logitraw$|"
    r"reg:(squarederror|squaredlogerror|linear|pseudohubererror|absoluteerror|quantileerror|expectileerror)$"
)


class XgboostModel(NamedTuple):
    """The parts of the JSON document of a model that are needed."""

    objective: str
    start: list[float]
    outputs: int
    classes: int
    trees: list[dict[str, Any]]
    column: list[int]
    weights: list[float] | None
    categories: dict[int, tuple[Any, ...]]


def read_forest(
    model: Any, columns: list[str] | None, preprocessing: Preprocessing | None, data: DataLike | None = None
) -> Forest:
    """Read the trees of a fitted XGBoost model.

    A Booster answers like its `predict`, except
    that for several classes it answers the most likely class instead of probabilities.
    """
    owner = type(model).__name__
    is_wrapped = hasattr(model, "get_booster")
    booster = model.get_booster() if is_wrapped else model
    if not hasattr(booster, "save_raw"):
        raise build_no_trees_error(owner)
    # after early stopping, an estimator answers with the rounds up to the best one
    best = getattr(model, "best_iteration", None) if is_wrapped else None
    rounds = None if best is None else int(best) + 1
    source = _parse_document(json.loads(bytes(booster.save_raw("json"))), owner, rounds)
    width = int(booster.num_features())
    labels = _read_labels(model, source)
    link, is_multi_output = LINKS.get(source.objective, ""), source.outputs > 1
    leaf_meanings = describe_meanings(None if is_multi_output else labels, len(source.start), link)
    names = name_columns(columns, width)
    weights = source.weights or [1.0] * len(source.trees)
    trees = tuple(
        _read_tree(tree_source, names, leaf_meanings[column], preprocessing, weight)
        for tree_source, column, weight in zip(source.trees, source.column, weights, strict=False)
    )
    decision = "number" if labels is None else "half" if is_multi_output or len(source.start) == 1 else "most"
    is_known_objective = source.objective in LINKS or OBJECTIVES_WITHOUT_LINK.match(source.objective)
    joining = Joining(
        method="sum",
        start=tuple(source.start),
        column=tuple(source.column),
        decision=decision,
        link=link,
        single=True,
        parts=(1,) * source.outputs if is_multi_output else (),
    )
    marker = getattr(model, "missing", math.nan)
    has_marker = marker is not None and not math.isnan(marker)
    return Forest(
        trees=trees,
        owner=owner,
        columns=None if columns is None else tuple(columns),
        width=width,
        labels=labels,
        joining=joining if is_known_objective else None,
        categories=source.categories,
        missing_markers=dict.fromkeys(range(width), float(np.float32(marker))) if has_marker else {},
        preprocessing=preprocessing,
    )


def _read_labels(model: Any, source: XgboostModel) -> tuple[Any, ...] | None:
    """Return the labels of a model; None for numbers."""
    if hasattr(model, "n_classes_"):
        if source.outputs > 1:
            return ((0, 1),) * source.outputs
        return tuple(np.asarray(model.classes_).tolist())
    return tuple(range(source.classes)) if source.classes > 1 else None


def _parse_document(document: dict[str, Any], owner: str, rounds: int | None) -> XgboostModel:
    """Read the parts that are needed from the JSON document of a model."""
    learner = document["learner"]
    booster, param = learner["gradient_booster"], learner["learner_model_param"]
    if booster["name"] == "gblinear":
        raise ModelError(
            f"This {owner} is linear (booster='gblinear') and has no trees. Fit a tree to its answers: surrogate=True "
            "(--surrogate on the command line)."
        )
    model = booster.get("gbtree", booster)["model"]
    trees, column = model["trees"], model["tree_info"]
    if any(int(tree["tree_param"].get("size_leaf_vector", 1)) > 1 for tree in trees):
        raise ModelError(
            f"The trees of this {owner} hold several numbers per leaf (multi_strategy='multi_output_tree'), which is not "
            "supported. Fit it with multi_strategy='one_output_per_tree'."
        )
    if rounds is not None:
        trees, column = (items[: model["iteration_indptr"][rounds]] for items in (trees, column))
    if not trees:
        raise ModelError(f"This {owner} has no trees. Fit it first, with at least one round.")
    objective = learner["objective"]["name"]
    classes, outputs = int(param["num_class"]), int(param.get("num_target", 1))
    start = [float(text) for text in re.findall(r"[^\[\],\s]+", param["base_score"])]
    if len(start) == 1:
        start *= max(classes, outputs, 1)
    return XgboostModel(
        objective=objective,
        start=[_compute_margin(score, objective) for score in start],
        outputs=outputs,
        classes=classes,
        trees=trees,
        column=column,
        weights=booster.get("weight_drop"),
        categories=_read_categories(model, learner, document["version"], owner),
    )


def _compute_margin(base: float, objective: str) -> float:
    """Return the score of the base score, in the precision of XGBoost."""
    unit, base_score, link = np.float32(1), np.float32(base), LINKS.get(objective)
    if link == "sigmoid":
        return float(-np.log(unit / base_score - unit))
    return float(np.log(base_score) if link == "exp" else base_score)


def _read_categories(
    model: dict[str, Any], learner: dict[str, Any], version: list[int], owner: str
) -> dict[int, tuple[Any, ...]]:
    """Return the categories of categorical columns; none for columns that hold codes."""
    has_categories = any(any(tree.get("categories_nodes", ())) for tree in model["trees"])
    if has_categories and learner.get("feature_names") and tuple(version) < (3, 1):
        raise ModelError(
            f"This {owner} compares categories and was saved by XGBoost {'.'.join(map(str, version))}, which did not "
            "keep their names. Fit it with XGBoost 3.1 or later, or encode the column as numbers before."
        )
    categories: dict[int, tuple[Any, ...]] = {}
    for column, encoding in enumerate(model.get("cats", {}).get("enc", ())):
        if "offsets" not in encoding:
            categories[column] = tuple(encoding["values"])
        elif encoding["offsets"]:
            text, ends = bytes(byte % 256 for byte in encoding["values"]), encoding["offsets"]
            if not text.isascii() and tuple(version) < (3, 3):
                raise ModelError(
                    f"This {owner} has categories with non-ASCII letters, which XGBoost up to 3.2 splits wrongly and "
                    "confuses. Encode the column as numbers before, or write the categories in ASCII."
                )
            categories[column] = tuple(text[a:b].decode(errors="replace") for a, b in pairwise(ends))
    return categories


def _read_tree(
    source: dict[str, Any], names: tuple[str, ...], meaning: str, preprocessing: Preprocessing | None, factor: float
) -> Tree:
    """Read one tree."""
    left, right = (np.array(source[key]) for key in ("left_children", "right_children"))
    reachable_nodes = np.array(sorted(find_reachable(left, right)), dtype=np.intp)
    place = np.full(len(left), LEAF)
    place[reachable_nodes] = np.arange(len(reachable_nodes))
    left, right = left[reachable_nodes], right[reachable_nodes]
    is_leaf = left == LEAF
    is_categorical = np.array(source["split_type"], dtype=bool)[reachable_nodes] & ~is_leaf
    missing_first = np.array(source["default_left"], dtype=bool)[reachable_nodes]
    condition = np.array(source["split_conditions"], dtype=np.float32)[reachable_nodes]
    inner_values = np.array(source["base_weights"], dtype=np.float32)[reachable_nodes]
    nodes = NodeBuilder(
        feature=np.where(is_leaf, LEAF, np.array(source["split_indices"])[reachable_nodes]),
        operator=np.where(is_categorical, WITHIN, BELOW),
        threshold=condition.astype(np.float64),
        # categories in the set go right
        left=np.where(is_leaf, LEAF, place[np.where(is_categorical, right, left)]),
        right=np.where(is_leaf, LEAF, place[np.where(is_categorical, left, right)]),
        missing_left=missing_first ^ is_categorical,
        value=np.where(is_leaf, condition, inner_values) * np.float32(factor),
        weight=np.array(source["sum_hessian"], dtype=np.float64)[reachable_nodes],
    )
    codes = source.get("categories", [])
    for node, start, size in zip(
        *(source.get(f"categories_{suffix}", []) for suffix in ("nodes", "segments", "sizes")), strict=True
    ):
        if place[node] != LEAF:
            nodes.threshold[place[node]] = nodes.add_code_set(codes[start : start + size])
    return nodes.build_tree(names, single=True, preprocessing=preprocessing, meaning=meaning)
