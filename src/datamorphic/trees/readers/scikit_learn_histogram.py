"""Read the trees of histogram gradient boosting models of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..forest import Forest, Joining
from ..pipeline import Preprocessing
from ..tree import LEAF, UP_TO, WITHIN, Tree
from ._build import NodeBuilder, decode_bits, describe_meanings, name_columns

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor


def read_forest(model: BaseEstimator, columns: list[str] | None, preprocessing: Preprocessing | None) -> Forest:
    """Read the trees of a fitted histogram gradient boosting model."""
    width = int(model.n_features_in_)
    order, categories = _read_columns(model, width)
    scores = int(model.n_trees_per_iteration_)
    labels = tuple(model.classes_.tolist()) if hasattr(model, "classes_") else None
    # losses for numbers use the identity or the logarithm
    link = "" if labels is not None or type(model._loss.link).__name__ != "LogLink" else "exp"
    leaf_meanings = describe_meanings(labels, scores, link)
    names = name_columns(columns, width)
    rate = float(model.learning_rate)
    trees = tuple(
        _read_tree(predictor, order, names, rate, leaf_meanings[k], preprocessing)
        for row in model._predictors
        for k, predictor in enumerate(row)
    )
    decision = "number" if labels is None else "above" if scores == 1 else "most"
    start = tuple(np.ravel(model._baseline_prediction).tolist())
    column = tuple(i % scores for i in range(len(trees)))
    return Forest(
        trees=trees,
        owner=type(model).__name__,
        columns=None if columns is None else tuple(columns),
        width=width,
        labels=labels,
        joining=Joining(method="sum", start=start, column=column, decision=decision, link=link),
        categories=categories,
        preprocessing=preprocessing,
    )


def _read_columns(model: BaseEstimator, width: int) -> tuple[Any, dict[int, tuple[Any, ...]]]:
    """Return the column of each index in the trees, where categorical columns come first, and the categories."""
    if model.is_categorical_ is None:
        return np.arange(width), {}
    order = np.concatenate([np.flatnonzero(model.is_categorical_), np.flatnonzero(~model.is_categorical_)])
    encoder = model._preprocessor.named_transformers_["encoder"]
    # NaN is the last of the categories and not a code of the trees
    categories = [[value for value in values.tolist() if value == value] for values in encoder.categories_]
    return order, {int(column): tuple(values) for column, values in zip(order, categories, strict=False)}


def _read_tree(
    source: TreePredictor,
    order: npt.NDArray[Any],
    names: tuple[str, ...],
    rate: float,
    meaning: str,
    preprocessing: Preprocessing | None,
) -> Tree:
    rows = source.nodes
    is_leaf, is_categorical = rows["is_leaf"].astype(bool), rows["is_categorical"].astype(bool)
    nodes = NodeBuilder(
        feature=np.where(is_leaf, LEAF, order[np.where(is_leaf, 0, rows["feature_idx"])]),
        operator=np.where(is_categorical, WITHIN, UP_TO),
        threshold=np.where(is_categorical, rows["bitset_idx"], rows["num_threshold"]),
        left=np.where(is_leaf, LEAF, rows["left"].astype(np.int64)),
        right=np.where(is_leaf, LEAF, rows["right"].astype(np.int64)),
        missing_left=rows["missing_go_to_left"].astype(bool),
        # only the values of leaves include the learning rate
        value=np.where(is_leaf, rows["value"], rate * rows["value"]),
        weight=rows["count"],
        sets=[frozenset(decode_bits(bits)) for bits in source.raw_left_cat_bitsets.tolist()],
    )
    return nodes.build_tree(names, single=False, preprocessing=preprocessing, meaning=meaning)
