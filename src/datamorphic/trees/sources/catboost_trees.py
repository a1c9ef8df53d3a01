"""The trees of CatBoost's models as ours."""

from __future__ import annotations

import json
import math
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import ModelError
from ..forest import Forest, Joining
from ..model import ABOVE, EQUAL, LEAF, Tree
from ..reading import no_trees
from ..steps import Before
from .building import Nodes, meanings, names_of, summed_upwards

Document = dict[str, Any]
Codes = dict[tuple[int, int], int]


def read_forest(model: Any, columns: list[str] | None, before: Before | None, data: Any = None) -> Forest:
    """Return the trees of a fitted model of CatBoost, and how they make its answer.

    A tree of CatBoost has a leaf for every combination of answers to its questions. Where two of these are about the
    same column, no row can reach some of the leaves. Such leaves are left out, and questions with only one answer left;
    what rows are told stays as it is.

    CatBoost keeps but hashes of the categories it asks for. Which these are is found among those in `data`.
    """
    owner = type(model).__name__
    if not hasattr(model, "save_model"):
        raise no_trees(owner)
    document = _document(model)
    info = document["features_info"]
    sources = document.get("oblivious_trees") or document.get("trees") or []
    if "ctrs" in info or any(info.get(f"{kind}_features") for kind in ("text", "embedding")):
        raise _cannot_be_read(owner, info)
    codes, categories = _categories(model, info, data, owner)
    asks = _Asks(info, codes)
    if not sources:
        raise ModelError(f"This {owner} has no trees. Fit it first, with at least one iteration.")
    labels, decides = _labels(model)
    factor, start = document["scale_and_bias"]
    scores = len(start)
    predicts = getattr(model, "_get_default_prediction_type", lambda: "")()
    link = "exp" if predicts == "Exponent" else ""
    names = names_of(columns, width := len(model.feature_names_))
    told = _told(labels if decides == "most" or scores == 1 else None, scores, link)
    trees = tuple(
        _with_answers(
            _symmetric(each, asks) if "splits" in each else _any_shape(each, asks), factor, names, before, told
        )
        for each in sources
    )
    if decides == "above" and scores == 1:
        likely = float(document["model_info"].get("binclass_probability_threshold", 0.5))
        start = [start[0] - math.log(likely / (1 - likely))]
    several = scores > 1 and decides != "most"
    return Forest(
        trees,
        owner,
        None if columns is None else tuple(columns),
        width,
        (labels,) * scores if several and labels is not None else labels,
        None
        if predicts == "RMSEWithUncertainty"
        else Joining("sum", tuple(start), (), decides, link, parts=(1,) * scores if several else ()),
        categories=categories,
        before=before,
    )


def _document(model: Any, **pool: Any) -> Document:
    """Return what CatBoost writes about a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json", **pool)
        return json.loads(path.read_text(encoding="utf-8"))


def _cannot_be_read(owner: str, info: Document) -> ModelError:
    """Return the error about splits that look at more than one value."""
    if "ctrs" not in info:
        return ModelError(
            f"This {owner} looks at columns of text or of embeddings, which are not read. Encode them."
        )
    asked = {
        each["cat_feature_index"]
        for ctr in info["ctrs"]
        for each in ctr["elements"]
        if "cat_feature_index" in each
    }
    names = [
        each["feature_id"] or str(each["flat_feature_index"])
        for each in info["categorical_features"]
        if each["feature_index"] in asked
    ]
    return ModelError(
        f"This {owner} compares statistics of the target for categories of {', '.join(map(repr, names[:6]))}, and no "
        "tree says which categories these are. Fit it with one_hot_max_size at least as large as the number of "
        "categories, or encode the column before."
    )


def _labels(model: Any) -> tuple[tuple[Any, ...] | None, str]:
    """Return what a model answers, where that is no number, and how it decides."""
    if not hasattr(model, "predict_proba"):
        return None, "number"
    labels = tuple(np.asarray(model.classes_).tolist())
    many = str(model.get_all_params().get("loss_function", "")).startswith("MultiClass")
    return labels, "most" if many else "above"


# -- what splits ask -------------------------------------------------------------------------------------


class _Asks:
    """What the splits of a model ask in our terms; a row that says yes goes left."""

    def __init__(self, info: Document, codes: Codes) -> None:
        self.floats = {each["feature_index"]: each for each in info.get("float_features", [])}
        self.grouped = _columns_of_categories(info)
        self.codes = codes

    def __call__(self, split: Document) -> tuple[int, int, float, bool]:
        """Return the column, the operator, the border or the code, and whether a missing value says yes."""
        if split["split_type"] == "OneHotFeature":
            column = self.grouped[split["cat_feature_index"]]
            return column, EQUAL, self.codes[column, split["value"]], False
        each = self.floats[split["float_feature_index"]]
        missing = each["nan_value_treatment"] == "AsTrue"
        return each["flat_feature_index"], ABOVE, float(np.float32(split["border"])), missing


def _columns_of_categories(info: Document) -> dict[int, int]:
    return {each["feature_index"]: each["flat_feature_index"] for each in info.get("categorical_features", [])}


def _categories(model: Any, info: Document, data: Any, owner: str) -> tuple[Codes, dict[int, tuple[Any, ...]]]:
    """Return the codes of hashes by column, and what the codes of each column of categories stand for."""
    columns = _columns_of_categories(info)
    asked = {
        columns[each["feature_index"]]: each.get("values", []) for each in info.get("categorical_features", [])
    }
    if not any(asked.values()):
        return {}, dict.fromkeys(asked, ())
    names = model.feature_names_
    frame = _frame(data, names)
    if frame is None:
        first = next(names[column] for column, hashes in asked.items() if hashes)
        raise ModelError(
            f"This {owner} asks for categories of {first!r} and keeps only hashes of their names. Give the data it was "
            "fitted on along, with all of its columns, so that the names can be found among theirs."
        )
    import catboost

    pool = catboost.Pool(frame, cat_features=sorted(asked))
    written = _document(model, pool=pool)["features_info"].get("cat_features_hash", [])
    hash_of = {each["value"]: int(np.uint32(each["hash"]).astype(np.int32)) for each in written}
    codes: Codes = {}
    categories: dict[int, tuple[Any, ...]] = {}
    for column, hashes in asked.items():
        values = frame.iloc[:, column].unique().tolist()
        for code, value in enumerate(values):
            codes[column, hash_of.get(str(int(value) if isinstance(value, bool | np.bool_) else value), 0)] = code
        for number in hashes:
            if (column, number) not in codes:
                codes[column, number] = len(values)
                values.append(f"a category that is not in the data (hash {number})")
        categories[column] = tuple(values)
    return codes, categories


def _frame(data: Any, names: list[str]) -> Any:
    """Return the columns of data a model looks at; None if they are not there."""
    import pandas as pd

    if data is None:
        return None
    frame = data if isinstance(data, pd.DataFrame) else pd.DataFrame(np.asarray(data))
    if all(name in frame.columns for name in names):
        return frame[names]
    return frame if len(frame.columns) == len(names) else None


# -- trees -----------------------------------------------------------------------------------------------


def _told(labels: tuple[Any, ...] | None, scores: int, link: str) -> dict[str, Any]:
    """Return what answers are, in words and labels: of several scores the one that gets the most."""
    if scores == 1 or labels is None:
        return {"meaning": meanings(labels, 1, link)[0]}
    return {"meaning": "gets the most added to its score", "labels": labels}


def _with_answers(
    nodes: Nodes, factor: float, names: tuple[str, ...], before: Before | None, told: dict[str, Any]
) -> Tree:
    """Return a tree with the answers its values stand for."""
    value = factor * np.asarray(nodes.value, dtype=np.float64).reshape(len(nodes.feature), -1)
    nodes.value = value
    if value.shape[1] == 1:
        answers = {}
    elif "labels" in told:
        answers = {"answer": value.argmax(axis=1).astype(np.int32)}
    else:
        kinds, places = np.unique(value, axis=0, return_inverse=True)
        answers = {"answer": places.ravel().astype(np.int32), "labels": tuple(map(tuple, kinds.tolist()))}
    return nodes.tree(names, single=True, before=before, **told, **answers)


def _any_shape(source: Document, asks: _Asks) -> Nodes:
    """Return the nodes of a tree whose levels do not ask the same."""
    nodes = Nodes()
    waiting = [(source, -1, False)]
    while waiting:
        each, above, yes = waiting.pop()
        node = nodes.add(each.get("value"), each.get("weight", 0.0))
        if above >= 0:
            (nodes.left if yes else nodes.right)[above] = node
        if "split" in each:
            nodes.split(node, *asks(each["split"]))
            waiting += [(each["left"], node, False), (each["right"], node, True)]
    values = np.array([value for value in nodes.value if value is not None], dtype=np.float64)
    leaf = np.array(nodes.left) == LEAF
    full = np.zeros((len(leaf), values[0].size))
    full[leaf] = values.reshape(len(values), -1)
    weight = np.where(leaf, nodes.weight, 0.0)
    nodes.weight = summed_upwards(nodes.left, nodes.right, weight)
    nodes.value = full
    for column in range(full.shape[1]):
        total = summed_upwards(nodes.left, nodes.right, full[:, column] * weight)
        full[~leaf, column] = (total / np.maximum(nodes.weight, 1e-300))[~leaf]
    return nodes


def _symmetric(source: Document, asks: _Asks) -> Nodes:
    """Return the nodes of a tree whose levels ask the same, without those that no row can reach.

    The nodes of the whole tree are laid out level by level, the root asking the last question: node n leads to
    2 n + 1 if the answer is no and to 2 n + 2 if it is yes, and the last level has the leaves in CatBoost's order.
    """
    asked = [asks(split) for split in reversed(source["splits"])]
    depth, leaves = len(asked), 1 << len(asked)
    value = np.array(source["leaf_values"], dtype=np.float64).reshape(leaves, -1)
    weight = np.array(source.get("leaf_weights") or np.ones(leaves), dtype=np.float64)
    alive = _possible(asked)
    levels: list[tuple[Any, Any, Any]] = [(alive, weight, value)]
    for _ in range(depth):
        alive, weight, value = levels[0]
        both = weight.reshape(-1, 2).sum(axis=1)
        mean = (value * weight[:, None]).reshape(-1, 2, value.shape[1]).sum(axis=1) / np.maximum(both, 1e-300)[
            :, None
        ]
        levels.insert(0, (alive.reshape(-1, 2).any(axis=1), both, mean))
    alive, weight, value = (np.concatenate(each) for each in zip(*levels, strict=True))
    inner = np.arange(leaves - 1)
    no, yes = 2 * inner + 1, 2 * inner + 2
    decides = np.concatenate([alive[no] & alive[yes], np.zeros(leaves, dtype=bool)])
    kept = decides | (alive & (np.arange(len(alive)) >= leaves - 1))
    number = np.cumsum(kept) - 1
    for node in inner[::-1]:  # a question with one answer left is skipped
        if alive[node] and not kept[node]:
            number[node] = number[yes[node] if alive[yes[node]] else no[node]]
    level = np.repeat(np.arange(depth + 1), [len(each) for each, _, _ in levels])[kept]
    asks_here = decides[kept]
    column, operator, threshold, missing = (
        (np.array([*each, LEAF])[np.where(asks_here, level, depth)] for each in zip(*asked, strict=True))
        if asked
        else (np.array([LEAF]),) * 4
    )
    places = np.flatnonzero(kept)[asks_here]
    left, right = np.full((2, len(level)), LEAF)
    left[asks_here], right[asks_here] = number[yes[places]], number[no[places]]
    return Nodes(
        column, np.where(asks_here, operator, 0), threshold, left, right, missing > 0, value[kept], weight[kept]
    )


def _possible(asked: list[tuple[int, int, float, bool]]) -> npt.NDArray[np.bool_]:
    """Return which combinations of answers a row can give; the first question is the highest bit."""
    depth = len(asked)
    says = (np.arange(1 << depth)[:, None] >> np.arange(depth)[::-1]) & 1 == 1
    possible = np.ones(1 << depth, dtype=bool)
    for (i, (column, operator, one, _)), (j, (other_column, _, other, _)) in combinations(enumerate(asked), 2):
        if column != other_column:
            continue
        if one == other:
            possible &= says[:, i] == says[:, j]
        elif operator == EQUAL:
            possible &= ~(says[:, i] & says[:, j])
        else:
            high, low = (i, j) if one > other else (j, i)
            possible &= says[:, low] | ~says[:, high]
    return possible
