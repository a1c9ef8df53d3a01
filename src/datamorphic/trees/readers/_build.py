"""Build trees from lists of nodes, for all readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import ModelError
from ..pipeline import Preprocessing
from ..tree import LEAF, UP_TO, Floats, Tree


@dataclass(kw_only=True)
class NodeBuilder:
    """The nodes of a tree that is being read; see `Tree` for their meaning."""

    feature: Any = field(default_factory=list)
    operator: Any = field(default_factory=list)
    threshold: Any = field(default_factory=list)
    left: Any = field(default_factory=list)
    right: Any = field(default_factory=list)
    missing_left: Any = field(default_factory=list)
    value: Any = field(default_factory=list)
    weight: Any = field(default_factory=list)
    sets: list[frozenset[int]] = field(default_factory=list)

    def add_leaf(self, value: object, weight: float) -> int:
        """Add a leaf, and return its number."""
        lists = (self.feature, self.operator, self.threshold, self.left, self.right, self.missing_left)
        for items, item in zip(lists, (LEAF, UP_TO, np.nan, LEAF, LEAF, False), strict=True):
            items.append(item)
        self.value.append(value)
        self.weight.append(weight)
        return len(self.feature) - 1

    def split(self, node: int, feature: int, operator: int, threshold: float, missing_left: bool) -> None:
        """Turn a node into a decision; its children are set later."""
        self.feature[node], self.operator[node] = feature, operator
        self.threshold[node], self.missing_left[node] = threshold, missing_left

    def add_code_set(self, codes: Sequence[int] | frozenset[int]) -> int:
        """Add a set of codes, and return its index."""
        self.sets.append(frozenset(int(code) for code in codes))
        return len(self.sets) - 1

    def build_tree(
        self, names: tuple[str, ...], *, single: bool, preprocessing: Preprocessing | None = None, **answer_fields: Any
    ) -> Tree:
        """Build the tree; `answer_fields` are labels, meaning, and answers if these are not its values."""
        feature = np.asarray(self.feature, dtype=np.int32)
        inner = feature != LEAF
        threshold = np.where(inner, np.asarray(self.threshold, dtype=np.float64), np.nan)
        value = np.asarray(self.value, dtype=np.float64).reshape(len(feature), -1)
        weight = np.asarray(self.weight, dtype=np.float64)
        data_thresholds = None
        if preprocessing is not None and preprocessing.scalers:
            data_thresholds = preprocessing.to_data_thresholds(feature, threshold)
        return Tree(
            feature=feature,
            operator=np.asarray(self.operator, dtype=np.int8),
            threshold=threshold,
            left=np.asarray(self.left, dtype=np.int32),
            right=np.asarray(self.right, dtype=np.int32),
            missing_left=np.asarray(self.missing_left, dtype=bool) & inner,
            value=value,
            weight=weight / (weight[0] if weight[0] > 0 else 1.0),
            names=names,
            data_thresholds=data_thresholds,
            single=single,
            sets=tuple(self.sets),
            **({"answer": value[:, 0].copy()} | answer_fields),
        )


def find_reachable(left: Sequence[int] | npt.NDArray[Any], right: Sequence[int] | npt.NDArray[Any]) -> list[int]:
    """Return the nodes below the root, parents before children: some libraries keep pruned nodes."""
    nodes, pending = [], [0]
    while pending:
        node = pending.pop()
        nodes.append(node)
        if left[node] != LEAF:
            pending += [int(left[node]), int(right[node])]
    return nodes


def sum_upwards(left: Sequence[int], right: Sequence[int], amounts: npt.NDArray[Any]) -> Floats:
    """Fill in the amounts of inner nodes: the sum of those of their children."""
    total = np.array(amounts, dtype=np.float64)
    for node in reversed(find_reachable(left, right)):
        if left[node] != LEAF:
            total[node] = total[left[node]] + total[right[node]]
    return total


def decode_bits(bit_words: Sequence[int]) -> list[int]:
    """Return the positions of the bits that are set in 32-bit words."""
    return [32 * i + bit for i, word in enumerate(bit_words) for bit in range(32) if int(word) >> bit & 1]


def name_columns(columns: Sequence[str] | None, width: int) -> tuple[str, ...]:
    """Return column names, x0, x1, ... if there are none."""
    return tuple(columns) if columns is not None else tuple(f"x{j}" for j in range(width))


def describe_meanings(labels: Sequence[Any] | None, scores: int, link: str = "") -> list[str]:
    """Return what leaves add to, as one text per score."""
    if labels is not None:
        scored_labels = labels[1:] if scores == 1 else labels
        return [f"added to the score of {label!r}" for label in scored_labels]
    if scores > 1:
        return [f"added to answer {place + 1}" for place in range(scores)]
    return ["added to " + {"": "the answer", "exp": "the logarithm of the answer"}.get(link, "the score")]


def build_no_trees_error(kind: str) -> ModelError:
    """Build the error for a model without readable trees."""
    return ModelError(
        f"{kind} is not a readable decision tree or ensemble of trees. Supported are decision trees, random forests, "
        "extra trees, gradient boosting (the histogram kind too), AdaBoost and bagging of scikit-learn, and models of "
        "XGBoost, LightGBM and CatBoost. For any other model, fit a tree to its answers: surrogate=True (--surrogate on "
        "the command line)."
    )
