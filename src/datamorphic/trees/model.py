"""One neutral tree, as arrays, how rows fall through it, and the trees of scikit-learn's models as such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .._checks import reject
from ..errors import ModelError
from .steps import Before, columns_of, taken_apart

LEAF = -1
ROWS_AT_ONCE = 16_384  # few enough to stay in the processor's cache from level to level
LEVELS_AT_ONCE = 4  # between two looks at who has arrived: looking costs as much as a level

Nodes = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree of nodes numbered from the root, 0; a row goes left where its value is at most the threshold.

    Attributes
    ----------
    feature : array of int
        The column a node looks at; -1 at a leaf.
    threshold : array of float
        What the value is compared with.
    left, right : array of int
        The children; -1 at a leaf.
    missing_left : array of bool
        Whether a missing value goes left.
    answer : array
        What a row is told at each node if it were a leaf: a number, or the place of a label in `labels`.
    weight : array of float
        The share of the training rows that came by.
    names : tuple of str
        The columns.
    labels : tuple or None
        What is answered, where that is no number.
    meaning : str
        What an answer is where it is only part of the model's: "added to the score of 'a'".
    told : array of float or None
        The thresholds in the user's units, where the tree gets its columns in others.
    single : bool
        Whether values are rounded to single precision before they are compared.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from datamorphic.trees.rules import rule
    >>> X, y = load_iris(return_X_y=True)
    >>> [tree] = trees_of(DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y))
    >>> [(int(leaf), rule(tree, leaf), tree.answer_at(leaf)) for leaf in tree.leaves]
    [(1, 'x3 <= 0.8', 0), (3, '0.8 < x3 <= 1.75', 1), (4, 'x3 > 1.75', 2)]
    >>> leaf_of(tree, X)[[0, 50, 149]].tolist()
    [1, 3, 4]
    """

    feature: npt.NDArray[np.int32]
    threshold: Floats
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    missing_left: npt.NDArray[np.bool_]
    answer: npt.NDArray[Any]
    weight: Floats
    names: tuple[str, ...]
    labels: tuple[Any, ...] | None = None
    meaning: str = ""
    told: Floats | None = None
    single: bool = True

    def __len__(self) -> int:
        return len(self.feature)

    def __repr__(self) -> str:
        return f"Tree({len(self):,} nodes, {len(self.leaves):,} leaves, {len(self.names)} columns)"

    @cached_property
    def leaves(self) -> Nodes:
        """The numbers of the leaves, ascending."""
        return np.flatnonzero(self.left == LEAF)

    @cached_property
    def parent(self) -> npt.NDArray[np.int32]:
        """The parent of each node, -1 above the root."""
        parent = np.full(len(self), -1, dtype=np.int32)
        inner = np.flatnonzero(self.left != LEAF)
        parent[self.left[inner]] = inner
        parent[self.right[inner]] = inner
        return parent

    @cached_property
    def depth(self) -> npt.NDArray[np.int32]:
        """How many decisions lead to each node."""
        depth = np.zeros(len(self), dtype=np.int32)
        level = np.zeros(1, dtype=np.intp)
        while True:
            level = level[self.left[level] != LEAF]
            if not level.size:
                return depth
            below = depth[level] + 1
            depth[self.left[level]] = below
            depth[self.right[level]] = below
            level = np.concatenate([self.left[level], self.right[level]])

    def answer_at(self, node: int) -> Any:
        """Return what a row is told at a node: a label, or a number."""
        answer = self.answer[node]
        return self.labels[int(answer)] if self.labels is not None else answer.item()

    def answers_at(self, nodes: Nodes) -> npt.NDArray[Any]:
        """Return what rows are told at some nodes."""
        if self.labels is None:
            return self.answer[nodes]
        labels: npt.NDArray[Any]
        if any(isinstance(label, tuple) for label in self.labels):
            labels = np.empty(len(self.labels), dtype=object)
            labels[:] = self.labels
        else:
            labels = np.asarray(self.labels)
        return labels[self.answer[nodes]]

    def named(self, names: Sequence[str]) -> Tree:
        """Return the same tree with other names of its columns."""
        return self if tuple(names) == self.names else replace(self, names=tuple(names))

    def path(self, node: int) -> list[tuple[int, bool]]:
        """Return the decisions that lead to a node, the root's first: each a node and whether one goes left."""
        steps: list[tuple[int, bool]] = []
        while (above := int(self.parent[node])) >= 0:
            steps.append((above, int(self.left[above]) == node))
            node = above
        return steps[::-1]


def leaf_of(tree: Tree, matrix: Any) -> Nodes:
    """Return the leaf each row of a matrix comes to; missing values are NaN.

    All rows of a block go down together, a level at a time; who has arrived waits in a leaf that leads to itself.
    """
    wanted = np.float32 if tree.single else np.float64
    with np.errstate(over="ignore"):
        values = np.ascontiguousarray(matrix, dtype=wanted)
    if values.ndim != 2 or values.shape[1] != len(tree.names):
        reject("matrix", "leaf_of", f"a matrix of {len(tree.names)} columns", np.shape(matrix))
    arrived = tree.left == LEAF
    own = np.arange(len(tree))
    feature = np.where(arrived, 0, tree.feature).astype(np.intp)
    children = np.stack([np.where(arrived, own, tree.left), np.where(arrived, own, tree.right)], axis=1).ravel()
    found = np.zeros(len(values), dtype=np.intp)
    if arrived[0]:
        return found
    for start in range(0, len(values), ROWS_AT_ONCE):
        block = values[start : start + ROWS_AT_ONCE]
        missing_right = ~tree.missing_left if np.isnan(block).any() else None
        flat = block.ravel()
        rows = np.arange(len(block))
        origin = rows * block.shape[1]
        out = found[start : start + ROWS_AT_ONCE]
        node = np.zeros(len(block), dtype=np.intp)
        while node.size:
            for _ in range(LEVELS_AT_ONCE):
                # "clip" spares the check of indices that are right
                seen = flat.take(origin + feature.take(node, mode="clip"), mode="clip")
                right = ~(seen <= tree.threshold.take(node, mode="clip"))
                if missing_right is not None:
                    right = np.where(np.isnan(seen), missing_right.take(node, mode="clip"), right)
                node = children.take(2 * node + right, mode="clip")
            out[rows] = node
            left = np.flatnonzero(~arrived.take(node, mode="clip"))
            if left.size < 0.8 * node.size:  # fewer rows to carry along pay for copying them
                node, origin, rows = node.take(left), origin.take(left), rows.take(left)
    return found


def trees_of(model: Any) -> list[Tree]:
    """Return the trees of a fitted model of scikit-learn; where it knows no names of columns they are x0, x1, ...

    Parameters
    ----------
    model : estimator
        A decision tree, or an ensemble of them: random forests, extra trees, gradient boosting, AdaBoost, bagging; or
        a pipeline that ends in one and keeps the columns until then (scalers and imputers do).

    Raises
    ------
    ModelError
        If it is not fitted, or has no trees.
    """
    from sklearn.tree import BaseDecisionTree

    last, before = taken_apart(model)
    names = columns_of(model)
    columns = tuple(names if names is not None else (f"x{j}" for j in range(getattr(last, "n_features_in_", 0))))
    if isinstance(last, BaseDecisionTree):
        return [_read(last, columns, _classes(last), before)]
    members = _members(last)
    subsets = getattr(last, "estimators_features_", [None] * len(members))
    return [
        _read(member, columns, _classes_within(last, member), before, subset, meaning)
        for (member, meaning), subset in zip(members, subsets, strict=True)
    ]


def _members(model: Any) -> list[tuple[Any, str]]:
    """Return the trees of an ensemble, with what their answers mean."""
    from sklearn.base import is_classifier, is_regressor
    from sklearn.ensemble import BaseEnsemble, GradientBoostingClassifier, GradientBoostingRegressor
    from sklearn.tree import BaseDecisionTree

    kind = type(model).__name__
    members = getattr(model, "estimators_", None) if isinstance(model, BaseEnsemble) else None
    if members is None or not (is_classifier(model) or is_regressor(model)):
        raise ModelError(
            f"{kind} is no decision tree and no ensemble of them that can be read. Decision trees, random forests, "
            "extra trees, gradient boosting (not its histogram kind), AdaBoost and bagging of scikit-learn can. For "
            "any other model dm.test fits a surrogate tree to its answers and looks at the coverage of that."
        )
    flat = members.ravel().tolist() if isinstance(members, np.ndarray) else list(members)
    other = next((each for each in flat if not isinstance(each, BaseDecisionTree)), None)
    if other is not None:
        raise ModelError(
            f"This {kind} is an ensemble of {type(other).__name__}, which is no decision tree: there are no leaves to "
            "cover. dm.test fits a surrogate tree to the answers of any model."
        )
    meanings = [""]
    if isinstance(model, GradientBoostingRegressor):
        meanings = ["added to the answer"]
    elif isinstance(model, GradientBoostingClassifier):
        classes = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
        meanings = [f"added to the score of {label!r}" for label in classes.tolist()]
    return [(member, meanings[i % len(meanings)]) for i, member in enumerate(flat)]


def _classes(tree: Any) -> list[npt.NDArray[Any]] | None:
    """Return the labels of a tree, a list of them for each of its outputs; None where it answers numbers."""
    classes = getattr(tree, "classes_", None)
    if classes is None:
        return None
    return list(classes) if isinstance(classes, list) else [classes]


def _classes_within(ensemble: Any, member: Any) -> list[npt.NDArray[Any]] | None:
    """Return the labels of a tree of an ensemble: most ensembles number their labels and show trees the numbers."""
    from sklearn.ensemble import AdaBoostClassifier

    own = _classes(member)
    if own is None or isinstance(ensemble, AdaBoostClassifier):
        return own
    outer = _classes(ensemble)
    assert outer is not None
    return [labels[numbers.astype(np.intp)] for labels, numbers in zip(outer, own, strict=True)]


def _read(
    source: Any,
    names: tuple[str, ...],
    classes: list[npt.NDArray[Any]] | None,
    before: Before | None = None,
    subset: npt.NDArray[Any] | None = None,
    meaning: str = "",
) -> Tree:
    """Return one tree of scikit-learn as ours; `subset` are the columns it gets to see."""
    tree = source.tree_
    feature = np.where(tree.children_left == LEAF, LEAF, tree.feature)
    if subset is not None:
        feature = np.where(feature >= 0, np.asarray(subset)[feature], LEAF)
    threshold = np.where(feature >= 0, tree.threshold, np.nan)
    answer, labels = _answers(tree.value, classes)
    return Tree(
        feature=feature.astype(np.int32),
        threshold=threshold,
        left=tree.children_left.astype(np.int32),
        right=tree.children_right.astype(np.int32),
        missing_left=tree.missing_go_to_left.astype(bool),
        answer=answer,
        weight=tree.weighted_n_node_samples / tree.weighted_n_node_samples[0],
        names=names,
        labels=labels,
        meaning=meaning,
        told=None if before is None or not before.scalers else before.told(feature, threshold),
    )


def _answers(
    value: Floats, classes: list[npt.NDArray[Any]] | None
) -> tuple[npt.NDArray[Any], tuple[Any, ...] | None]:
    """Return the answer of each node and the labels it may point to, from values by node, output and class."""
    if classes is None:
        if value.shape[1] == 1:
            return value[:, 0, 0].copy(), None
        kinds, places = np.unique(value[:, :, 0], axis=0, return_inverse=True)
        return places.ravel().astype(np.int32), tuple(map(tuple, kinds.tolist()))
    best = value.argmax(axis=2).astype(np.int32)
    if len(classes) == 1:
        return best[:, 0], tuple(classes[0].tolist())
    kinds, places = np.unique(best, axis=0, return_inverse=True)
    parts = [labels[kinds[:, output]].tolist() for output, labels in enumerate(classes)]
    return places.ravel().astype(np.int32), tuple(zip(*parts, strict=True))
