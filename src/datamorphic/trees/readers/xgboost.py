"""Read the trees of XGBoost models."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np

from ..._typing import DataLike
from ...errors import ModelError
from ...systems.boosters import XGBoostCategoryModel, read_xgboost_categories
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


def read_forest(
    model: Any, columns: list[str] | None, preprocessing: Preprocessing | None, data: DataLike | None = None
) -> Forest:
    """Read the trees of a fitted XGBoost model.

    A Booster answers like its `predict`, except
    that for several classes it answers the most likely class instead of probabilities.
    """
    if isinstance(model, XGBoostCategoryModel):
        model = model.model
    owner = type(model).__name__
    is_wrapped = hasattr(model, "get_booster")
    booster = model.get_booster() if is_wrapped else model
    if not hasattr(booster, "save_raw"):
        raise build_no_trees_error(owner)
    # after early stopping, an estimator answers with the rounds up to the best one
    best = getattr(model, "best_iteration", None) if is_wrapped else None
    rounds = None if best is None else int(best) + 1
    document = json.loads(bytes(booster.save_raw("json")))
    learner, width = document["learner"], int(booster.num_features())
    param, objective = learner["learner_model_param"], learner["objective"]["name"]
    sources, column, drop_weights = _select_trees(learner["gradient_booster"], owner, rounds)
    categories = read_xgboost_categories(learner, document["version"], owner)
    classes, outputs = int(param["num_class"]), int(param.get("num_target", 1))
    start = [_compute_margin(float(text), objective) for text in re.findall(r"[^\[\],\s]+", param["base_score"])]
    if len(start) == 1:
        start *= max(classes, outputs, 1)
    link, is_multi_output = LINKS.get(objective, ""), outputs > 1
    labels: tuple[Any, ...] | None = tuple(range(classes)) if classes > 1 else None
    if hasattr(model, "n_classes_"):
        labels = ((0, 1),) * outputs if is_multi_output else tuple(np.asarray(model.classes_).tolist())
    leaf_meanings = describe_meanings(None if is_multi_output else labels, len(start), link)
    names = name_columns(columns, width)
    weights = drop_weights or [1.0] * len(sources)
    trees = tuple(
        _read_tree(source, names, leaf_meanings[score], preprocessing, weight)
        for source, score, weight in zip(sources, column, weights, strict=False)
    )
    decision = "number" if labels is None else "half" if is_multi_output or len(start) == 1 else "most"
    is_known_objective = objective in LINKS or OBJECTIVES_WITHOUT_LINK.match(objective)
    joining = Joining(
        method="sum",
        start=tuple(start),
        column=tuple(column),
        decision=decision,
        link=link,
        single=True,
        parts=(1,) * outputs if is_multi_output else (),
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
        categories=categories,
        missing_markers=dict.fromkeys(range(width), float(np.float32(marker))) if has_marker else {},
        preprocessing=preprocessing,
    )


def _select_trees(
    booster: dict[str, Any], owner: str, rounds: int | None
) -> tuple[list[dict[str, Any]], list[int], list[float] | None]:
    """Return the trees of the first rounds, the score that each adds to, and their weights after dropout."""
    if booster["name"] == "gblinear":
        raise ModelError(
            f"This {owner} is linear (booster='gblinear') and has no trees. Fit a tree to its answers: surrogate=True "
            "(--surrogate on the command line)."
        )
    model = booster.get("gbtree", booster)["model"]
    count = None if rounds is None else model["iteration_indptr"][rounds]
    if any(int(tree["tree_param"].get("size_leaf_vector", 1)) > 1 for tree in model["trees"]):
        raise ModelError(
            f"The trees of this {owner} hold several numbers per leaf (multi_strategy='multi_output_tree'), which is not "
            "supported. Fit it with multi_strategy='one_output_per_tree'."
        )
    if not model["trees"][:count]:
        raise ModelError(f"This {owner} has no trees. Fit it first, with at least one round.")
    return model["trees"][:count], model["tree_info"][:count], booster.get("weight_drop")


def _compute_margin(base: float, objective: str) -> float:
    """Return the score of the base score, in the precision of XGBoost."""
    unit, base_score, link = np.float32(1), np.float32(base), LINKS.get(objective)
    if link == "sigmoid":
        return float(-np.log(unit / base_score - unit))
    return float(np.log(base_score) if link == "exp" else base_score)


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
