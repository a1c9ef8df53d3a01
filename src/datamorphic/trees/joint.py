"""Which rows kill mutants of a forest's trees as the whole forest answers: exactly as if it were asked each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .forest import LINKS, Forest
from .kills import Kills, cells, collected
from .model import Floats, Nodes, Tree, as_seen, leaf_of
from .mutants import Mutants

CLOSE = 1e-9  # of scores: nearer to where the answer turns, sums are made again, tree by tree
CLOSE_SINGLE = 1e-3
AT_ONCE = 20_000  # cells


def by_value(tree: Tree) -> Tree:
    """Return a tree that answers differently wherever it adds something different to a forest's scores."""
    _, places = np.unique(tree.value, axis=0, return_inverse=True)
    return replace(tree, answer=places.ravel().astype(np.intp), labels=None)


class Together:
    """A forest and rows as its trees see them: what it answers, and what it would if one leaf were another."""

    def __init__(self, forest: Forest, matrix: Any, tolerance: float = 0.0) -> None:
        self.forest, self.tolerance = forest, tolerance
        self.matrix = as_seen(forest.trees[0], matrix)
        self.leaves = [leaf_of(tree, self.matrix) for tree in forest.trees]
        self.scores = forest.joined(self._values(slice(None)))
        self.answers = forest.decide(self.scores)

    def _values(self, rows: Any) -> Iterator[Floats]:
        return (tree.value[leaf[rows]] for tree, leaf in zip(self.forest.trees, self.leaves, strict=True))

    def kills(self, number: int, mutants: Mutants) -> Kills:
        """Return which rows kill which mutants of one tree of the forest."""
        tree = by_value(self.forest.trees[number])
        mutant, rows, leaves = cells(tree, self.matrix, mutants, tree.answer)
        parts = range(0, len(rows), AT_ONCE)
        different = [self.differs(number, rows[i : i + AT_ONCE], leaves[i : i + AT_ONCE]) for i in parts]
        kept = np.flatnonzero(np.concatenate(different)) if different else np.zeros(0, dtype=np.intp)
        return collected(mutant[kept], rows[kept], len(mutants), len(self.matrix))

    def differs(self, number: int, rows: Nodes, leaves: Nodes) -> npt.NDArray[np.bool_]:
        """Tell which rows get another answer if one tree leads them to other leaves."""
        joining, tree = self.forest.joining, self.forest.trees[number]
        assert joining is not None
        if joining.how == "median":
            return self._exactly(number, rows, leaves)
        change = tree.value[leaves] - tree.value[self.leaves[number][rows]]
        first = joining.column[number] if joining.column else 0
        if joining.how == "mean":
            change = change / (self.forest.shared[first] if joining.column else self.forest.shared)
        scores = self.scores[rows].astype(np.float64)
        scores[:, first : first + change.shape[1]] += change
        different = self._other(scores, rows)
        close = np.flatnonzero(self._close(scores, rows))
        if close.size:
            different[close] = self._exactly(number, rows[close], leaves[close])
        return different

    def _exactly(self, number: int, rows: Nodes, leaves: Nodes) -> npt.NDArray[np.bool_]:
        values = list(self._values(rows))
        values[number] = self.forest.trees[number].value[leaves]
        return self._other(self.forest.joined(values), rows)

    def _other(self, scores: Floats, rows: Nodes) -> npt.NDArray[np.bool_]:
        """Tell which scores lead to another answer than rows get."""
        other = np.abs(self.forest.decide(scores) - self.answers[rows]) > self.tolerance
        return other.any(axis=1) if other.ndim > 1 else other

    def _close(self, scores: Floats, rows: Nodes) -> npt.NDArray[np.bool_]:
        """Tell where the sums may have been rounded over the point at which the answer turns."""
        joining = self.forest.joining
        assert joining is not None
        near = (CLOSE_SINGLE if joining.single else CLOSE) * max(1.0, float(np.abs(self.scores).max(initial=0)))
        if joining.decides == "number":
            apart = np.abs(scores - self.scores[rows]).max(axis=1)
            return apart <= self.tolerance + near if joining.link == "" else np.ones(len(rows), dtype=bool)
        if joining.decides == "half":
            linked = LINKS[joining.link](scores * joining.scale)
            return (np.abs(linked[:, 0] - 0.5) <= near) | (np.abs(scores[:, 0]) <= near)
        if joining.decides != "most":
            return np.abs(scores[:, 0]) <= near
        ends = np.cumsum((0, *(joining.parts or (scores.shape[1],))))
        close = np.zeros(len(rows), dtype=bool)
        for first, last in pairwise(ends):
            if last - first > 1:
                best = np.partition(scores[:, first:last], -2, axis=1)[:, -2:]
                close |= best[:, 1] - best[:, 0] <= near
        return close
