"""The trees of scikit-learn's histogram gradient boosting as ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..forest import Forest, Joining
from ..model import LEAF, UP_TO, WITHIN, Tree
from ..steps import Before
from .building import Nodes, codes_in, meanings, names_of


def read_forest(model: Any, columns: list[str] | None, before: Before | None) -> Forest:
    """Return the trees of a fitted histogram gradient boosting model, and how they make its answer."""
    width = int(model.n_features_in_)
    order, categories = _columns(model, width)
    scores = int(model.n_trees_per_iteration_)
    labels = tuple(model.classes_.tolist()) if hasattr(model, "classes_") else None
    # losses of numbers have no link or the logarithm
    link = "" if labels is not None or type(model._loss.link).__name__ != "LogLink" else "exp"
    told = meanings(labels, scores, link)
    names = names_of(columns, width)
    rate = float(model.learning_rate)
    trees = tuple(
        _read(each, order, names, rate, told[k], before) for row in model._predictors for k, each in enumerate(row)
    )
    decides = "number" if labels is None else "above" if scores == 1 else "most"
    start = tuple(np.ravel(model._baseline_prediction).tolist())
    column = tuple(i % scores for i in range(len(trees)))
    return Forest(
        trees,
        type(model).__name__,
        None if columns is None else tuple(columns),
        width,
        labels,
        Joining("sum", start, column, decides, link),
        categories=categories,
        before=before,
    )


def _columns(model: Any, width: int) -> tuple[Any, dict[int, tuple[Any, ...]]]:
    """Return the column each number in the trees stands for, and the categories of columns that have some.

    The model puts columns of categories before all others, and numbers their values.
    """
    if model.is_categorical_ is None:
        return np.arange(width), {}
    order = np.concatenate([np.flatnonzero(model.is_categorical_), np.flatnonzero(~model.is_categorical_)])
    encoder = model._preprocessor.named_transformers_["encoder"]
    # a missing value is the last of the categories, and no code of the trees
    known = [[each for each in values.tolist() if each == each] for values in encoder.categories_]
    return order, {int(column): tuple(values) for column, values in zip(order, known, strict=False)}


def _read(
    source: Any, order: Any, names: tuple[str, ...], rate: float, meaning: str, before: Before | None
) -> Tree:
    rows = source.nodes
    leaf, grouped = rows["is_leaf"].astype(bool), rows["is_categorical"].astype(bool)
    nodes = Nodes(
        feature=np.where(leaf, LEAF, order[np.where(leaf, 0, rows["feature_idx"])]),
        operator=np.where(grouped, WITHIN, UP_TO),
        threshold=np.where(grouped, rows["bitset_idx"], rows["num_threshold"]),
        left=np.where(leaf, LEAF, rows["left"].astype(np.int64)),
        right=np.where(leaf, LEAF, rows["right"].astype(np.int64)),
        missing_left=rows["missing_go_to_left"].astype(bool),
        # only leaves are shrunk already
        value=np.where(leaf, rows["value"], rate * rows["value"]),
        weight=rows["count"],
        sets=[frozenset(codes_in(bits)) for bits in source.raw_left_cat_bitsets.tolist()],
    )
    return nodes.tree(names, single=False, before=before, meaning=meaning)
