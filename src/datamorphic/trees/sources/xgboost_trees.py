"""The trees of XGBoost's models as ours."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...errors import ModelError
from ..forest import Forest, Joining
from ..model import BELOW, LEAF, WITHIN, Tree
from ..reading import no_trees
from ..steps import Before
from .building import Nodes, meanings, names_of, reachable

# what the sum of the leaves goes through, by objective; what is ranked or has none of these stays as it is
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
PLAIN = re.compile(
    r"rank:|multi:softmax$|binary:logitraw$|"
    r"reg:(squarederror|squaredlogerror|linear|pseudohubererror|absoluteerror|quantileerror|expectileerror)$"
)


class Source(NamedTuple):
    """What is kept of a model's document."""

    objective: str
    start: list[float]
    outputs: int
    classes: int
    trees: list[dict[str, Any]]
    column: list[int]
    weights: list[float] | None
    categories: dict[int, tuple[Any, ...]]


def read_forest(model: Any, columns: list[str] | None, before: Before | None, data: Any = None) -> Forest:
    """Return the trees of a fitted model of XGBoost, and how they make its answer.

    Of a model that was stopped early the trees that answer are read, those up to the best round. A plain Booster
    answers as its `predict` does, but of several classes it tells the number of the likeliest rather than how likely
    each is.
    """
    owner = type(model).__name__
    wrapped = hasattr(model, "get_booster")
    booster = model.get_booster() if wrapped else model
    if not hasattr(booster, "save_raw"):
        raise no_trees(owner)
    rounds = _rounds(model) if wrapped else None
    source = _source(json.loads(bytes(booster.save_raw("json"))), owner, rounds)
    width = int(booster.num_features())
    labels = _labels(model, source)
    link, several = LINKS.get(source.objective, ""), source.outputs > 1
    told = meanings(None if several else labels, len(source.start), link)
    names = names_of(columns, width)
    trees = tuple(
        _read(each, names, told[column], before, 1.0 if source.weights is None else source.weights[i])
        for i, (each, column) in enumerate(zip(source.trees, source.column, strict=True))
    )
    decides = "number" if labels is None else "half" if several or len(source.start) == 1 else "most"
    known = source.objective in LINKS or PLAIN.match(source.objective)
    joining = Joining(
        "sum",
        tuple(source.start),
        tuple(source.column),
        decides,
        link,
        single=True,
        parts=(1,) * source.outputs if several else (),
    )
    gone = getattr(model, "missing", math.nan)
    return Forest(
        trees,
        owner,
        None if columns is None else tuple(columns),
        width,
        labels,
        joining if known else None,
        categories=source.categories,
        gone={} if gone is None or math.isnan(gone) else dict.fromkeys(range(width), float(np.float32(gone))),
        before=before,
    )


def _rounds(model: Any) -> int | None:
    """Return how many rounds a model of the scikit-learn kind answers with; None for all."""
    try:
        return int(model.best_iteration) + 1
    except AttributeError:
        return None


def _labels(model: Any, source: Source) -> tuple[Any, ...] | None:
    """Return what a model answers, where that is no number."""
    if hasattr(model, "n_classes_"):
        if source.outputs > 1:
            return ((0, 1),) * source.outputs
        return tuple(np.asarray(model.classes_).tolist())
    return tuple(range(source.classes)) if source.classes > 1 else None


def _source(document: dict[str, Any], owner: str, rounds: int | None) -> Source:
    """Return what is needed of the document XGBoost writes about a model."""
    learner = document["learner"]
    booster, param = learner["gradient_booster"], learner["learner_model_param"]
    if booster["name"] == "gblinear":
        raise ModelError(
            f"This {owner} is linear (booster='gblinear'): it has no trees. dm.test fits a surrogate tree to the "
            "answers of any model."
        )
    model = booster.get("gbtree", booster)["model"]
    trees, column = model["trees"], model["tree_info"]
    if any(int(each["tree_param"].get("size_leaf_vector", 1)) > 1 for each in trees):
        raise ModelError(
            f"The trees of this {owner} hold several numbers in a leaf (multi_strategy='multi_output_tree'), which are "
            "not read. Fit it with multi_strategy='one_output_per_tree'."
        )
    if rounds is not None:
        trees, column = (each[: model["iteration_indptr"][rounds]] for each in (trees, column))
    if not trees:
        raise ModelError(f"This {owner} has no trees yet. Fit it first, with at least one round.")
    objective = learner["objective"]["name"]
    classes, outputs = int(param["num_class"]), int(param.get("num_target", 1))
    start = [float(each) for each in re.findall(r"[^\[\],\s]+", param["base_score"])]
    if len(start) == 1:
        start *= max(classes, outputs, 1)
    return Source(
        objective,
        [_margin(each, objective) for each in start],
        outputs,
        classes,
        trees,
        column,
        booster.get("weight_drop"),
        _categories(model, learner, document["version"], owner),
    )


def _margin(base: float, objective: str) -> float:
    """Return the score that belongs to a first answer, in the precision of XGBoost."""
    one, single, link = np.float32(1), np.float32(base), LINKS.get(objective)
    if link == "sigmoid":
        return float(-np.log(one / single - one))
    return float(np.log(single) if link == "exp" else single)


def _categories(
    model: dict[str, Any], learner: dict[str, Any], version: list[int], owner: str
) -> dict[int, tuple[Any, ...]]:
    """Return what the codes of columns of categories stand for; nothing for columns that hold the codes."""
    asked = any(any(each.get("categories_nodes", ())) for each in model["trees"])
    if asked and learner.get("feature_names") and tuple(version) < (3, 1):
        raise ModelError(
            f"This {owner} asks for categories and was saved by XGBoost {'.'.join(map(str, version))}, which did not "
            "keep their names. Fit it with XGBoost 3.1 or later, or encode the column as numbers before."
        )
    found: dict[int, tuple[Any, ...]] = {}
    for column, kept in enumerate(model.get("cats", {}).get("enc", ())):
        if "offsets" not in kept:
            found[column] = tuple(kept["values"])
        elif kept["offsets"]:
            text, ends = bytes(each % 256 for each in kept["values"]), kept["offsets"]
            if not text.isascii() and tuple(version) < (3, 3):
                raise ModelError(
                    f"This {owner} has categories with letters beyond ASCII, which XGBoost up to 3.2 cuts in pieces: it "
                    "takes some for others. Encode the column as numbers before, or write the categories in ASCII."
                )
            found[column] = tuple(text[a:b].decode(errors="replace") for a, b in pairwise(ends))
    return found


def _read(
    source: dict[str, Any], names: tuple[str, ...], meaning: str, before: Before | None, factor: float
) -> Tree:
    """Return one tree of XGBoost as ours."""
    left, right = (np.array(source[each]) for each in ("left_children", "right_children"))
    kept = reachable(left, right)
    place = np.full(len(left), LEAF)
    place[kept] = np.arange(len(kept))
    left, right = left[kept], right[kept]
    leaf = left == LEAF
    grouped = np.array(source["split_type"], dtype=bool)[kept] & ~leaf
    first = np.array(source["default_left"], dtype=bool)[kept]
    condition = np.array(source["split_conditions"], dtype=np.float32)[kept]
    inner = np.array(source["base_weights"], dtype=np.float32)[kept]
    nodes = Nodes(
        feature=np.where(leaf, LEAF, np.array(source["split_indices"])[kept]),
        operator=np.where(grouped, WITHIN, BELOW),
        threshold=condition.astype(np.float64),
        # the categories that are asked for go right
        left=np.where(leaf, LEAF, place[np.where(grouped, right, left)]),
        right=np.where(leaf, LEAF, place[np.where(grouped, left, right)]),
        missing_left=first ^ grouped,
        value=np.where(leaf, condition, inner) * np.float32(factor),
        weight=np.array(source["sum_hessian"], dtype=np.float64)[kept],
    )
    codes = source.get("categories", [])
    for node, start, size in zip(
        *(source.get(f"categories_{each}", []) for each in ("nodes", "segments", "sizes")), strict=True
    ):
        if place[node] != LEAF:
            nodes.threshold[place[node]] = nodes.within(codes[start : start + size])
    return nodes.tree(names, single=True, before=before, meaning=meaning)
