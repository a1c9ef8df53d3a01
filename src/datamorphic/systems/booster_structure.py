"""Structure of the trees in booster files: compiled code follows their indices without checks, so forged ones end the process.

What is validated is the library's own account of the model after loading it, so that no second parser can disagree.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from .boosters import dump_catboost

LEAF = -1  # the child of a leaf of XGBoost
NO_PARENT = (-1, 2**31 - 1)  # of a root of XGBoost
CATEGORICAL_BIT = 1  # of the decision type of a node of LightGBM


class StructureError(ValueError):
    """An index of a model points outside the model."""


def validate_booster(library: str | None, booster: Any) -> None:
    """Raise `StructureError` if a loaded booster has indices that lead outside its own arrays."""
    try:
        if library == "xgboost":
            _validate_xgboost(json.loads(booster.save_raw("json"))["learner"])
        elif library == "lightgbm":
            _validate_lightgbm(booster.model_to_string(num_iteration=-1))
        elif library == "catboost":
            _validate_catboost(dump_catboost(booster), len(booster.feature_names_))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, StructureError):
            raise
        raise StructureError(f"a part is missing or of the wrong kind ({type(error).__name__})") from None


def _require(condition: bool, problem: str) -> None:
    if not condition:
        raise StructureError(problem)


def _validate_paths(children: Sequence[Sequence[int]], node_count: int, tree: int) -> None:
    """Require that every path from the root ends; `children` has the children of each node that are not leaves."""
    seen = {0}
    pending = [0]
    while pending:
        for child in children[pending.pop()]:
            _require(0 <= child < node_count, f"tree {tree} has {node_count} nodes, but a child {child}")
            _require(child not in seen, f"tree {tree} has node {child} as a child twice")
            seen.add(child)
            pending.append(child)


def _validate_segments(bounds: Sequence[int], end: int, name: str) -> None:
    """Require that bounds rise from 0 to `end`."""
    rises = all(low <= high for low, high in pairwise(bounds))
    _require(len(bounds) > 0 and bounds[0] == 0 and bounds[-1] == end and rises, f"{name} are out of order")


# -- XGBoost -----------------------------------------------------------------------------------------------------------


def _validate_xgboost(learner: Mapping[str, Any]) -> None:
    sizes = {name: int(learner["learner_model_param"][name]) for name in ("num_feature", "num_class", "num_target")}
    width, groups = sizes["num_feature"], max(1, sizes["num_class"], sizes["num_target"])
    class_count = learner["objective"].get("softmax_multiclass_param", {}).get("num_class")
    _require(class_count is None or int(class_count) == sizes["num_class"], "the numbers of classes differ")
    booster = learner["gradient_booster"]
    if booster["name"] == "gblinear":
        weight_count = len(booster["model"]["weights"])
        _require(weight_count == (width + 1) * groups, f"there are {weight_count} weights for {width} columns")
        return
    model = booster["gbtree"]["model"] if booster["name"] == "dart" else booster["model"]
    trees = model["trees"]
    if booster["name"] == "dart":
        _require(len(booster["weight_drop"]) == len(trees), "there is not one weight per tree")
    _require(len(model["tree_info"]) == len(trees), "there is not one group per tree")
    _require(
        all(0 <= group < groups for group in model["tree_info"]),
        f"a tree adds to a group beyond the {groups} of the model",
    )
    _validate_segments(model["iteration_indptr"], len(trees), "the iterations")
    for place, tree in enumerate(trees):
        _validate_xgboost_tree(tree, place, width, groups)
    _validate_categories(model.get("cats", {}), width)


def _validate_xgboost_tree(tree: Mapping[str, Any], place: int, width: int, groups: int) -> None:
    left, right, feature = tree["left_children"], tree["right_children"], tree["split_indices"]
    nodes = range(len(left))
    _require(len(left) == len(right) == len(feature) > 0, f"the arrays of tree {place} differ in length")
    _validate_paths([[] if left[node] == LEAF else [left[node], right[node]] for node in nodes], len(left), place)
    inner = [node for node in nodes if left[node] != LEAF]
    _require(
        all(0 <= feature[node] < width for node in inner), f"tree {place} uses a column beyond the {width} of the model"
    )
    parents = tree["parents"]
    _require(
        len(parents) == len(left)
        and all(parent in NO_PARENT or 0 <= parent < len(left) for parent in parents)
        and all(parents[child] == node for node in inner for child in (left[node], right[node])),
        f"tree {place} has a node whose parent is not the node above it",
    )
    vector_size = int(tree["tree_param"]["size_leaf_vector"])
    if vector_size > 1:  # then the right child of a leaf is the number of its vector
        _require(vector_size == groups, f"the leaves of tree {place} have {vector_size} values for {groups} groups")
        vector_count = len(tree.get("leaf_weights", tree["base_weights"])) // vector_size
        leaves = set(nodes) - set(inner)
        _require(all(0 <= right[leaf] < vector_count for leaf in leaves), f"tree {place} has a leaf without values")
    segments = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    category_count = len(tree["categories"])
    sets = {node: start >= 0 and size > 0 and start + size <= category_count for node, start, size in segments}
    kinds = tree["split_type"]
    _require(
        all(sets.get(node, False) for node in inner if kinds[node]),
        f"tree {place} compares with a set of categories that does not exist",
    )


def _validate_categories(categories: Mapping[str, Any], width: int) -> None:
    """Require that the names of categories lie within their texts, and their order within the names."""
    columns, bounds = categories.get("enc", []), categories.get("feature_segments", [])
    if not columns:
        return
    _require(len(columns) == width == len(bounds) - 1, "there is not one list of categories per column")
    order = categories["sorted_idx"]
    _validate_segments(bounds, len(order), "the categories")
    for column, (start, end) in zip(columns, pairwise(bounds), strict=True):
        if column.get("offsets"):
            _validate_segments(column["offsets"], len(column["values"]), "the names of categories")
        name_count = max(0, len(column["offsets"]) - 1) if "offsets" in column else len(column["values"])
        _require(name_count == end - start, "the numbers of categories differ")
        _require(all(0 <= place < end - start for place in order[start:end]), "the order of categories is invalid")


# -- LightGBM ----------------------------------------------------------------------------------------------------------


def _validate_lightgbm(text: str) -> None:
    head, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    sizes = _read_fields(head)
    width, class_count = int(sizes["max_feature_idx"]) + 1, int(sizes["num_class"])
    group_count = int(sizes["num_tree_per_iteration"])
    objective = dict(part.partition(":")[::2] for part in sizes.get("objective", "").split(" "))
    _require(int(objective.get("num_class", class_count)) == class_count, "the numbers of classes differ")
    _require(
        group_count == class_count > 0 and len(blocks) % group_count == 0,
        "an iteration does not have one tree per class",
    )
    for place, block in enumerate(blocks):
        _validate_lightgbm_tree(_read_fields(block), place, width)


def _read_fields(block: str) -> dict[str, str]:
    return dict(line.partition("=")[::2] for line in block.splitlines() if "=" in line)


def _read_integers(fields: Mapping[str, str], name: str) -> list[int]:
    return [int(item) for item in fields.get(name, "").split()]


def _validate_lightgbm_tree(fields: Mapping[str, str], place: int, width: int) -> None:
    leaf_count, set_count = int(fields["num_leaves"]), int(fields["num_cat"])
    inner_count = leaf_count - 1
    left, right = _read_integers(fields, "left_child"), _read_integers(fields, "right_child")
    feature, kinds = _read_integers(fields, "split_feature"), _read_integers(fields, "decision_type")
    lengths = {len(left), len(right), len(feature), len(kinds), len(fields.get("threshold", "").split())}
    _require(lengths == {inner_count}, f"the arrays of tree {place} differ in length")
    _require(len(fields["leaf_value"].split()) == leaf_count > 0, f"tree {place} does not have one value per leaf")
    for child in (*left, *right):
        _require(-leaf_count <= child < inner_count, f"tree {place} has {leaf_count} leaves, but a child {child}")
    if inner_count:
        children = [[child for child in pair if child >= 0] for pair in zip(left, right, strict=True)]
        _validate_paths(children, inner_count, place)
    leaf_features = _read_integers(fields, "leaf_features")
    columns = [*feature, *leaf_features]
    _require(
        all(0 <= column < width for column in columns), f"tree {place} uses a column beyond the {width} of the model"
    )
    if fields.get("is_linear", "0") != "0":
        counts = _read_integers(fields, "num_features")
        _require(
            len(counts) == leaf_count and min(counts) >= 0, f"tree {place} does not have one linear model per leaf"
        )
        _require(sum(counts) == len(leaf_features), f"the linear models of tree {place} do not fit its list of columns")
    if set_count:
        _validate_segments(
            _read_integers(fields, "cat_boundaries"), len(fields["cat_threshold"].split()), "the sets of categories"
        )
    for kind, threshold in zip(kinds, fields.get("threshold", "").split(), strict=True):
        if kind & CATEGORICAL_BIT:
            _require(
                0 <= float(threshold) < set_count, f"tree {place} compares with a set of categories that does not exist"
            )


# -- CatBoost ----------------------------------------------------------------------------------------------------------


def _validate_catboost(document: Mapping[str, Any], width: int) -> None:
    info = document["features_info"]
    columns = [feature for kind, features in info.items() if kind.endswith("_features") for feature in features]
    places = [feature["flat_feature_index"] for feature in columns]
    _require(all(0 <= place < width for place in places), f"it uses a column beyond the {width} of the model")
    _require(len(set(places)) == len(places), "two columns have the same place")
    numbers = {feature["feature_index"] for feature in info.get("float_features", [])}
    group_count = len(document["scale_and_bias"][1])
    for place, tree in enumerate(document.get("oblivious_trees", [])):
        splits = tree["splits"] or []
        compared = {split["float_feature_index"] for split in splits if "float_feature_index" in split}
        _require(compared <= numbers, f"tree {place} uses a column beyond the {width} of the model")
        value_count = len(tree["leaf_values"])
        _require(value_count == group_count << len(splits), f"tree {place} has {value_count} values for its leaves")
