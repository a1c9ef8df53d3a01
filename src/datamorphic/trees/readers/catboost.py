"""Read the trees of CatBoost models."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._typing import DataLike
from ...errors import ModelError
from ...systems.boosters import dump_catboost
from ..forest import Forest, Joining
from ..pipeline import Preprocessing
from ..tree import ABOVE, EQUAL, LEAF, Tree
from ._build import NodeBuilder, build_no_trees_error, describe_meanings, name_columns, sum_upwards

if TYPE_CHECKING:
    from catboost import CatBoost

Document = dict[str, Any]
Codes = dict[tuple[int, int], int]


def read_forest(
    model: CatBoost, columns: list[str] | None, preprocessing: Preprocessing | None, data: DataLike | None = None
) -> Forest:
    """Read the trees of a fitted CatBoost model.

    A tree of CatBoost has a leaf for every combination of answers to its questions. If two questions are about the
    same column, no row can reach some of the leaves. These leaves are dropped, and so are questions with only one
    possible answer. The answers of the model stay the same.

    CatBoost keeps only hashes of categories. Their names are found in `data`.
    """
    owner = type(model).__name__
    if not hasattr(model, "save_model"):
        raise build_no_trees_error(owner)
    document = dump_catboost(model)
    info = document["features_info"]
    sources = document.get("oblivious_trees") or document.get("trees") or []
    if "ctrs" in info or any(info.get(f"{kind}_features") for kind in ("text", "embedding")):
        raise _build_unreadable_error(owner, info)
    codes, categories = _read_categories(model, info, data, owner)
    read_split = _SplitReader(info, codes)
    if not sources:
        raise ModelError(f"This {owner} has no trees. Fit it first, with at least one iteration.")
    labels, decision = None, "number"
    if hasattr(model, "predict_proba"):
        labels = tuple(np.asarray(model.classes_).tolist())
        is_multiclass = str(model.get_all_params().get("loss_function", "")).startswith("MultiClass")
        decision = "most" if is_multiclass else "above"
    factor, start = document["scale_and_bias"]
    scores = len(start)
    prediction_type = getattr(model, "_get_default_prediction_type", lambda: "")()
    link = "exp" if prediction_type == "Exponent" else ""
    names = name_columns(columns, width := len(model.feature_names_))
    if decision == "most" and scores > 1:
        answer_fields: dict[str, Any] = {"meaning": "gets the most added to its score", "labels": labels}
    else:
        answer_fields = {"meaning": describe_meanings(labels if scores == 1 else None, 1, link)[0]}
    trees = []
    for source in sources:
        nodes = _read_symmetric(source, read_split) if "splits" in source else _read_any_shape(source, read_split)
        trees.append(_build_tree(nodes, factor, names, preprocessing, answer_fields))
    if decision == "above" and scores == 1:
        probability = float(document["model_info"].get("binclass_probability_threshold", 0.5))
        start = [start[0] - math.log(probability / (1 - probability))]
    is_multi_output = scores > 1 and decision != "most"
    parts = (1,) * scores if is_multi_output else ()
    joining = Joining(method="sum", start=tuple(start), decision=decision, link=link, parts=parts)
    return Forest(
        trees=tuple(trees),
        owner=owner,
        columns=None if columns is None else tuple(columns),
        width=width,
        labels=(labels,) * scores if is_multi_output and labels is not None else labels,
        joining=joining if prediction_type != "RMSEWithUncertainty" else None,
        categories=categories,
        preprocessing=preprocessing,
    )


def _build_unreadable_error(owner: str, info: Document) -> ModelError:
    """Build the error for splits on more than one value."""
    if "ctrs" not in info:
        return ModelError(
            f"This {owner} uses columns of text or of embeddings, which are not supported. Encode them as numbers."
        )
    indices = {element.get("cat_feature_index") for ctr in info["ctrs"] for element in ctr["elements"]}
    names = [
        feature["feature_id"] or str(feature["flat_feature_index"])
        for feature in info["categorical_features"]
        if feature["feature_index"] in indices
    ]
    return ModelError(
        f"This {owner} compares target statistics of the categories of {', '.join(map(repr, names[:6]))}, which cannot be "
        "traced back to categories. Fit it with one_hot_max_size at least as large as the number of categories, or encode "
        "the column before."
    )


# -- splits ---------------------------------------------------------------------------------------------


class _SplitReader:
    """Converts splits of a model; a row for which the split is true goes left."""

    def __init__(self, info: Document, codes: Codes) -> None:
        self.float_features = {feature["feature_index"]: feature for feature in info.get("float_features", [])}
        self.category_columns = {
            feature["feature_index"]: feature["flat_feature_index"] for feature in info.get("categorical_features", [])
        }
        self.codes = codes

    def __call__(self, split: Document) -> tuple[int, int, float, bool]:
        """Return column, operator, constant, and whether missing values go left."""
        if split["split_type"] == "OneHotFeature":
            column = self.category_columns[split["cat_feature_index"]]
            return column, EQUAL, self.codes[column, split["value"]], False
        feature = self.float_features[split["float_feature_index"]]
        missing = feature["nan_value_treatment"] == "AsTrue"
        return feature["flat_feature_index"], ABOVE, float(np.float32(split["border"])), missing


def _read_categories(
    model: CatBoost, info: Document, data: DataLike | None, owner: str
) -> tuple[Codes, dict[int, tuple[Any, ...]]]:
    """Return the codes of hashes, and the categories of each column."""
    hashes_by_column = {
        feature["flat_feature_index"]: feature.get("values", []) for feature in info.get("categorical_features", [])
    }
    if not any(hashes_by_column.values()):
        return {}, dict.fromkeys(hashes_by_column, ())
    names = model.feature_names_
    frame = _select_columns(data, names)
    if frame is None:
        first = next(names[column] for column, hashes in hashes_by_column.items() if hashes)
        raise ModelError(
            f"This {owner} compares categories of {first!r} and keeps only hashes of their names. Pass the data it was "
            "fitted on, with all columns, so that the names can be found."
        )
    import catboost

    pool = catboost.Pool(frame, cat_features=sorted(hashes_by_column))
    hash_records = dump_catboost(model, pool=pool)["features_info"].get("cat_features_hash", [])
    hash_of = {record["value"]: int(np.uint32(record["hash"]).astype(np.int32)) for record in hash_records}
    codes: Codes = {}
    categories: dict[int, tuple[Any, ...]] = {}
    for column, hashes in hashes_by_column.items():
        values = frame.iloc[:, column].unique().tolist()
        for code, value in enumerate(values):
            codes[column, hash_of.get(str(int(value) if isinstance(value, bool | np.bool_) else value), 0)] = code
        for number in hashes:
            if (column, number) not in codes:
                codes[column, number] = len(values)
                values.append(f"a category that is not in the data (hash {number})")
        categories[column] = tuple(values)
    return codes, categories


def _select_columns(data: DataLike | None, names: list[str]) -> Any:
    """Return the columns of the data that a model uses; None if they are not there."""
    if data is None:
        return None
    frame = data if isinstance(data, pd.DataFrame) else pd.DataFrame(np.asarray(data))
    if all(name in frame.columns for name in names):
        return frame[names]
    return frame if len(frame.columns) == len(names) else None


# -- trees -----------------------------------------------------------------------------------------------


def _build_tree(
    nodes: NodeBuilder,
    factor: float,
    names: tuple[str, ...],
    preprocessing: Preprocessing | None,
    answer_fields: dict[str, Any],
) -> Tree:
    """Build a tree with the answers of its values."""
    nodes.value = value = factor * np.asarray(nodes.value, dtype=np.float64).reshape(len(nodes.feature), -1)
    answers: dict[str, Any] = {}
    if "labels" in answer_fields:
        answers = {"answer": value.argmax(axis=1).astype(np.int32)}
    elif value.shape[1] > 1:
        kinds, places = np.unique(value, axis=0, return_inverse=True)
        answers = {"answer": places.ravel().astype(np.int32), "labels": tuple(map(tuple, kinds.tolist()))}
    return nodes.build_tree(names, single=True, preprocessing=preprocessing, **answer_fields, **answers)


def _read_any_shape(source: Document, read_split: _SplitReader) -> NodeBuilder:
    """Read the nodes of a tree whose levels have different splits."""
    nodes = NodeBuilder()
    pending = [(source, -1, False)]
    while pending:
        source_node, parent, yes = pending.pop()
        node = nodes.add_leaf(source_node.get("value"), source_node.get("weight", 0.0))
        if parent >= 0:
            (nodes.left if yes else nodes.right)[parent] = node
        if "split" in source_node:
            nodes.split(node, *read_split(source_node["split"]))
            pending += [(source_node["left"], node, False), (source_node["right"], node, True)]
    values = np.array([value for value in nodes.value if value is not None], dtype=np.float64)
    leaf = np.array(nodes.left) == LEAF
    values_by_node = np.zeros((len(leaf), values[0].size))
    values_by_node[leaf] = values.reshape(len(values), -1)
    weight = np.where(leaf, nodes.weight, 0.0)
    nodes.weight = sum_upwards(nodes.left, nodes.right, weight)
    nodes.value = values_by_node
    for column in range(values_by_node.shape[1]):
        total = sum_upwards(nodes.left, nodes.right, values_by_node[:, column] * weight)
        values_by_node[~leaf, column] = (total / np.maximum(nodes.weight, 1e-300))[~leaf]
    return nodes


def _read_symmetric(source: Document, read_split: _SplitReader) -> NodeBuilder:
    """Read a tree whose levels have one split each, without unreachable nodes.

    The nodes of the full tree are laid out level by level, with the last split at the root. Node n leads to 2 n + 1
    if the split is false and to 2 n + 2 if it is true. The last level holds the leaves in the order of CatBoost.
    """
    questions = [read_split(split) for split in reversed(source["splits"])]
    depth, leaves = len(questions), 1 << len(questions)
    value = np.array(source["leaf_values"], dtype=np.float64).reshape(leaves, -1)
    weight = np.array(source.get("leaf_weights") or np.ones(leaves), dtype=np.float64)
    is_reachable = _find_possible(questions)
    levels: list[tuple[Any, Any, Any]] = [(is_reachable, weight, value)]
    for _ in range(depth):
        is_reachable, weight, value = levels[0]
        weight_sums = weight.reshape(-1, 2).sum(axis=1)
        sums = (value * weight[:, None]).reshape(-1, 2, value.shape[1]).sum(axis=1)
        means = sums / np.maximum(weight_sums, 1e-300)[:, None]
        levels.insert(0, (is_reachable.reshape(-1, 2).any(axis=1), weight_sums, means))
    is_reachable, weight, value = (np.concatenate(arrays) for arrays in zip(*levels, strict=True))
    inner = np.arange(leaves - 1)
    no, yes = 2 * inner + 1, 2 * inner + 2
    is_decision = np.concatenate([is_reachable[no] & is_reachable[yes], np.zeros(leaves, dtype=bool)])
    is_kept = is_decision | (is_reachable & (np.arange(len(is_reachable)) >= leaves - 1))
    number = np.cumsum(is_kept) - 1
    for node in inner[::-1]:  # skip a question with only one possible answer
        if is_reachable[node] and not is_kept[node]:
            number[node] = number[yes[node] if is_reachable[yes[node]] else no[node]]
    level = np.repeat(np.arange(depth + 1), [len(nodes) for nodes, _, _ in levels])[is_kept]
    asks_here = is_decision[is_kept]
    column, operator, threshold, missing = (
        (np.array([*parts, LEAF])[np.where(asks_here, level, depth)] for parts in zip(*questions, strict=True))
        if questions
        else (np.array([LEAF]),) * 4
    )
    places = np.flatnonzero(is_kept)[asks_here]
    left, right = np.full((2, len(level)), LEAF)
    left[asks_here], right[asks_here] = number[yes[places]], number[no[places]]
    return NodeBuilder(
        feature=column,
        operator=np.where(asks_here, operator, 0),
        threshold=threshold,
        left=left,
        right=right,
        missing_left=missing > 0,
        value=value[is_kept],
        weight=weight[is_kept],
    )


def _find_possible(questions: list[tuple[int, int, float, bool]]) -> npt.NDArray[np.bool_]:
    """Return which combinations of answers are possible, first question highest."""
    depth = len(questions)
    answers = (np.arange(1 << depth)[:, None] >> np.arange(depth)[::-1]) & 1 == 1
    possible = np.ones(1 << depth, dtype=bool)
    for i, j in combinations(range(depth), 2):
        (column, operator, threshold, _), (other_column, _, other_threshold, _) = questions[i], questions[j]
        if column != other_column:
            continue
        if threshold == other_threshold:
            possible &= answers[:, i] == answers[:, j]
        elif operator == EQUAL:
            possible &= ~(answers[:, i] & answers[:, j])
        else:
            high, low = (i, j) if threshold > other_threshold else (j, i)
            possible &= answers[:, low] | ~answers[:, high]
    return possible
