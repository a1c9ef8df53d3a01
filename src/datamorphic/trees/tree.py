"""A decision tree as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

LEAF = -1
OPERATORS = ("<=", "<", ">", ">=", "==", "in", "not in")
UP_TO, BELOW, ABOVE, FROM, EQUAL, WITHIN, WITHOUT = range(len(OPERATORS))
LEVELS_PER_ARRIVAL_CHECK = 4  # checking which rows have reached a leaf costs as much as one level

Nodes = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Tree:
    """A binary decision tree as arrays, whatever library it comes from.

    Nodes are numbered from the root, 0. A row goes left where the comparison of a node holds. Arrays have one element per
    node.
    """

    feature: npt.NDArray[np.int32]  # the column that a node compares; -1 at a leaf
    operator: npt.NDArray[np.int8]  # the comparison, as an index of `OPERATORS`
    threshold: Floats  # its constant; for "in" and "not in" the index of a set of codes in `sets`
    left: npt.NDArray[np.int32]  # the children; -1 at a leaf
    right: npt.NDArray[np.int32]
    missing_left: npt.NDArray[np.bool_]  # whether a missing value goes left
    answer: npt.NDArray[Any]  # of each node if it were a leaf: a number, or the index of a label
    value: Floats  # what each node adds to the scores of a forest, one column per score
    weight: Floats  # the share of the training rows that reached the node
    names: tuple[str, ...]  # of the columns
    labels: tuple[Any, ...] | None = None  # None if answers are numbers
    meaning: str = ""  # of an answer that is part of the model's answer, such as "added to the score of 'a'"
    data_thresholds: Floats | None = None  # in the units of the data, if the tree gets scaled columns
    single: bool = True  # whether values are rounded to single precision before they are compared
    sets: tuple[frozenset[int], ...] = ()  # of codes, for "in" and "not in"

    def __len__(self) -> int:
        return len(self.feature)

    def __repr__(self) -> str:
        return f"Tree({len(self):,} nodes, {len(self.leaves):,} leaves, {len(self.names)} columns)"

    @cached_property
    def leaves(self) -> Nodes:
        """The numbers of the leaves, ascending."""
        return np.flatnonzero(self.left == LEAF)

    @cached_property
    def inner(self) -> Nodes:
        """The numbers of the decisions in pre-order."""
        order, pending = [], [0]
        left, right = self.left.tolist(), self.right.tolist()
        while pending:
            node = pending.pop()
            if left[node] != LEAF:
                order.append(node)
                pending += [right[node], left[node]]
        return np.array(order, dtype=np.intp)

    @cached_property
    def parent(self) -> npt.NDArray[np.int32]:
        """The parent of each node; -1 for the root."""
        parent = np.full(len(self), -1, dtype=np.int32)
        parent[self.left[self.inner]] = parent[self.right[self.inner]] = self.inner
        return parent

    @cached_property
    def depth(self) -> npt.NDArray[np.int32]:
        """The number of decisions above each node."""
        depth, left, right = [0] * len(self), self.left.tolist(), self.right.tolist()
        for node in self.inner.tolist():  # parents before children
            depth[left[node]] = depth[right[node]] = depth[node] + 1
        return np.array(depth, dtype=np.int32)

    def answer_at(self, node: int) -> Any:
        """Return the answer of a node: a label or a number."""
        answer = self.answer[node]
        return self.labels[int(answer)] if self.labels is not None else answer.item()

    def with_names(self, names: Sequence[str]) -> Tree:
        """Return the same tree with other column names."""
        return self if tuple(names) == self.names else replace(self, names=tuple(names))

    def path(self, node: int) -> list[tuple[int, bool]]:
        """Return the decisions above a node and whether the path goes left there."""
        decisions: list[tuple[int, bool]] = []
        while (parent := int(self.parent[node])) >= 0:
            decisions.append((parent, int(self.left[parent]) == node))
            node = parent
        return decisions[::-1]

    @cached_property
    def routing(self) -> Routing:
        """The decisions in the form that is fastest to evaluate."""
        is_leaf, nodes = self.left == LEAF, np.arange(len(self))
        left, right = np.where(is_leaf, nodes, self.left), np.where(is_leaf, nodes, self.right)
        limit, swapped = convert_to_limits(self.operator, self.threshold)
        return Routing(
            feature=np.where(is_leaf, 0, self.feature).astype(np.intp),
            limit=limit,
            children=np.stack([np.where(swapped, right, left), np.where(swapped, left, right)], axis=1).ravel(),
            missing_second=self.missing_left == swapped,
            is_leaf=is_leaf,
            special=(self.operator >= EQUAL) & ~is_leaf if (self.operator[~is_leaf] >= EQUAL).any() else None,
        )

    @cached_property
    def members(self) -> npt.NDArray[np.bool_]:
        """Which codes each set holds; the last column is for all larger codes."""
        largest = max((code for codes in self.sets for code in codes), default=0)
        table = np.zeros((len(self.sets), largest + 2), dtype=bool)
        for row, codes in zip(table, self.sets, strict=True):
            row[list(codes)] = True
        return table


class Routing(NamedTuple):
    """Decisions that lead to the first child if a value is at most a limit."""

    feature: Nodes
    limit: Floats
    children: Nodes  # those of node n are at 2 n and 2 n + 1; a leaf leads to itself
    missing_second: npt.NDArray[np.bool_]
    is_leaf: npt.NDArray[np.bool_]
    special: npt.NDArray[np.bool_] | None  # nodes with other comparisons, which hold for the first child


def convert_to_limits(operator: npt.NDArray[np.int8], threshold: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Write <=, <, > and >= with one operator: they hold if ``(value <= limit) != swapped``."""
    is_strict = (operator == BELOW) | (operator == FROM)
    limit = np.where(is_strict, np.nextafter(threshold, -np.inf), threshold)
    return limit, (operator == ABOVE) | (operator == FROM)
