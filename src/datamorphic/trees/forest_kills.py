"""Find rows that kill mutants of single trees by the answer of the forest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .descent import find_leaves, to_tree_precision
from .forest import LINKS, Forest
from .kills import RowKills, collect_kills, list_kills
from .mutants import Mutants
from .tree import Floats, Nodes, Tree

SCORE_MARGIN = 1e-9  # relative; closer to a decision, sums are computed again in the order of the trees
SCORE_MARGIN_SINGLE = 1e-3
CELLS_PER_BLOCK = 20_000  # pairs of mutant and row


def answer_by_value(tree: Tree) -> Tree:
    """Return a tree whose answers differ wherever its values differ."""
    _, places = np.unique(tree.value, axis=0, return_inverse=True)
    return replace(tree, answer=places.ravel().astype(np.intp), labels=None)


class ForestAnswers:
    """The answers of a forest, and how they change if one tree leads elsewhere."""

    def __init__(self, forest: Forest, matrix: npt.ArrayLike, tolerance: float = 0.0) -> None:
        self.forest, self.tolerance = forest, tolerance
        self.matrix = to_tree_precision(forest.trees[0], matrix)
        self.leaves = [find_leaves(tree, self.matrix) for tree in forest.trees]
        self.scores = forest.join_values(self._iterate_values(slice(None)))
        self.answers = forest.decide(self.scores)

    def _iterate_values(self, rows: Nodes | slice) -> Iterator[Floats]:
        return (tree.value[leaf[rows]] for tree, leaf in zip(self.forest.trees, self.leaves, strict=True))

    def find_kills(self, number: int, mutants: Mutants) -> RowKills:
        """Find the rows that kill each mutant of one tree."""
        tree = answer_by_value(self.forest.trees[number])
        mutant, rows, leaves = list_kills(tree, self.matrix, mutants, tree.answer)
        parts = range(0, len(rows), CELLS_PER_BLOCK)
        different = [
            self.find_changed_answers(number, rows[i : i + CELLS_PER_BLOCK], leaves[i : i + CELLS_PER_BLOCK])
            for i in parts
        ]
        places = np.flatnonzero(np.concatenate(different)) if different else np.zeros(0, dtype=np.intp)
        return collect_kills(mutant[places], rows[places], len(mutants), len(self.matrix))

    def find_changed_answers(self, number: int, rows: Nodes, leaves: Nodes) -> npt.NDArray[np.bool_]:
        """Return which rows get another answer if one tree leads them to other leaves."""
        joining, tree = self.forest.joining, self.forest.trees[number]
        assert joining is not None
        if joining.method == "median":
            return self._find_changed_exactly(number, rows, leaves)
        change = tree.value[leaves] - tree.value[self.leaves[number][rows]]
        first = joining.column[number] if joining.column else 0
        if joining.method == "mean":
            change = change / (self.forest.trees_per_score[first] if joining.column else self.forest.trees_per_score)
        scores = self.scores[rows].astype(np.float64)
        scores[:, first : first + change.shape[1]] += change
        different = self._find_changed_scores(scores, rows)
        close = np.flatnonzero(self._find_close_scores(scores, rows))
        if close.size:
            different[close] = self._find_changed_exactly(number, rows[close], leaves[close])
        return different

    def _find_changed_exactly(self, number: int, rows: Nodes, leaves: Nodes) -> npt.NDArray[np.bool_]:
        values = list(self._iterate_values(rows))
        values[number] = self.forest.trees[number].value[leaves]
        return self._find_changed_scores(self.forest.join_values(values), rows)

    def _find_changed_scores(self, scores: Floats, rows: Nodes) -> npt.NDArray[np.bool_]:
        """Return which scores lead to another answer than the rows get."""
        differs = np.abs(self.forest.decide(scores) - self.answers[rows]) > self.tolerance
        return differs.any(axis=1) if differs.ndim > 1 else differs

    def _find_close_scores(self, scores: Floats, rows: Nodes) -> npt.NDArray[np.bool_]:
        """Return where rounded sums may fall on the wrong side of a decision."""
        joining = self.forest.joining
        assert joining is not None
        margin = (SCORE_MARGIN_SINGLE if joining.single else SCORE_MARGIN) * max(
            1.0, float(np.abs(self.scores).max(initial=0))
        )
        if joining.decision == "number":
            distances = np.abs(scores - self.scores[rows]).max(axis=1)
            return distances <= self.tolerance + margin if joining.link == "" else np.ones(len(rows), dtype=bool)
        if joining.decision == "half":
            linked = LINKS[joining.link](scores * joining.scale)
            return (np.abs(linked[:, 0] - 0.5) <= margin) | (np.abs(scores[:, 0]) <= margin)
        if joining.decision != "most":
            return np.abs(scores[:, 0]) <= margin
        ends = np.cumsum((0, *(joining.parts or (scores.shape[1],))))
        close = np.zeros(len(rows), dtype=bool)
        for first, last in pairwise(ends):
            if last - first > 1:
                best = np.partition(scores[:, first:last], -2, axis=1)[:, -2:]
                close |= best[:, 1] - best[:, 0] <= margin
        return close
