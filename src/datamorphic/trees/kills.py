"""Find the rows that kill each mutant without evaluating any mutant.

A mutant differs from its tree at one node, so only rows that reach this node can kill it: those that it sends to the
other side. The leaf on the other side is found once per row and node; then a mutant is a single comparison.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .descent import ROWS_PER_BLOCK, descend, evaluate_comparisons, find_leaves, to_tree_precision
from .forest import LINKS, Forest
from .mutants import Mutants
from .tree import Floats, Nodes, Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SCORE_MARGIN = 1e-9  # relative; closer to a decision, sums are computed again in the order of the trees
SCORE_MARGIN_SINGLE = 1e-3
CELLS_PER_BLOCK = 20_000  # pairs of mutant and row
MIN_COMPILED_CELLS = 1_000_000_000  # rows times mutants; below that, loading the compiler costs more than it saves
ROWS_PER_COUNT = 200_000


@dataclass(frozen=True, eq=False)
class RowKills:
    """The rows that kill mutant m: ``rows[start[m]:start[m + 1]]``, ascending, of `width` rows."""

    start: Nodes
    rows: Nodes
    width: int

    def __len__(self) -> int:
        return len(self.start) - 1

    def get_rows(self, mutant: int) -> Nodes:
        """Return the rows that kill a mutant."""
        return self.rows[self.start[mutant] : self.start[mutant + 1]]

    @cached_property
    def counts(self) -> Nodes:
        """The number of rows that kill each mutant."""
        return np.diff(self.start)

    @property
    def killed(self) -> npt.NDArray[np.bool_]:
        """Whether each mutant is killed."""
        return self.counts > 0

    def to_matrix(self) -> csr_array:
        """Return a sparse matrix with one row per mutant and one column per row."""
        from scipy.sparse import csr_array

        return csr_array((np.ones(len(self.rows), dtype=bool), self.rows, self.start), shape=(len(self), self.width))


def find_kills(
    tree: Tree, matrix: npt.ArrayLike, mutants: Mutants, *, tolerance: float = 0.0, compiled: bool | None = None
) -> RowKills:
    """Find the rows that kill each mutant; by default, compiled code is used if it is installed and pays."""
    values = to_tree_precision(tree, matrix)
    if compiled is None:
        compiled = len(values) * len(mutants) > MIN_COMPILED_CELLS and find_spec("numba") is not None
    if compiled:
        from .kernels import find_kills_compiled

        start, rows = find_kills_compiled(tree, values, mutants, tree.answer.astype(np.float64), tolerance)
        return RowKills(start, rows, len(values))
    number, rows, _ = list_kills(tree, values, mutants, tree.answer, tolerance)
    return collect_kills(number, rows, len(mutants), len(values))


def count_killers(tree: Tree, matrix: npt.ArrayLike, mutants: Mutants, *, tolerance: float = 0.0) -> Nodes:
    """Count the rows that kill each mutant, with less memory than `find_kills`."""
    values = to_tree_precision(tree, matrix)
    counts = np.zeros(len(mutants), dtype=np.intp)
    for start in range(0, len(values), ROWS_PER_COUNT):
        counts += find_kills(tree, values[start : start + ROWS_PER_COUNT], mutants, tolerance=tolerance).counts
    return counts


def collect_kills(number: Nodes, rows: Nodes, mutants: int, width: int) -> RowKills:
    """Group kills, given as pairs of mutant and row, by mutant."""
    start = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=mutants))])
    return RowKills(start.astype(np.intp), rows[np.argsort(number, kind="stable")], width)


def list_kills(
    tree: Tree, values: npt.NDArray[Any], mutants: Mutants, answer: npt.NDArray[Any], tolerance: float = 0.0
) -> tuple[Nodes, Nodes, Nodes]:
    """List the mutant, the row, and the leaf in the mutant of each kill: where answers differ by more than a tolerance."""
    blocks = [(np.zeros(0, dtype=np.intp),) * 3]
    for start in range(0, len(values), ROWS_PER_BLOCK):
        block = values[start : start + ROWS_PER_BLOCK]
        number, rows, leaves = _list_block_kills(tree, block, mutants, answer, tolerance)
        blocks.append((number, rows + start, leaves))
    number, rows, leaves = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return number, rows, leaves


def _list_block_kills(
    tree: Tree, values: npt.NDArray[Any], mutants: Mutants, answer: npt.NDArray[Any], tolerance: float
) -> tuple[Nodes, Nodes, Nodes]:
    own_leaves = find_leaves(tree, values)
    rows, nodes = _list_visits(tree, own_leaves)
    compared_values = values[rows, tree.feature[nodes]]
    left = evaluate_comparisons(compared_values, tree.operator[nodes], tree.threshold[nodes], tree.members)
    is_known = ~np.isnan(compared_values)  # a mutant sends missing values to the same side
    rows, nodes, compared_values, left = rows[is_known], nodes[is_known], compared_values[is_known], left[is_known]
    other_leaves = descend(tree, values, rows, np.where(left, tree.right[nodes], tree.left[nodes]).astype(np.intp))
    telling = np.flatnonzero(np.abs(answer[other_leaves] - answer[own_leaves[rows]]) > tolerance)
    telling = telling[np.argsort(nodes[telling], kind="stable")]
    arrays: list[Any] = [rows, nodes, compared_values, left, other_leaves]
    rows, nodes, compared_values, left, other_leaves = (array[telling] for array in arrays)
    first = np.searchsorted(nodes, mutants.node)
    visit_counts = np.searchsorted(nodes, mutants.node, side="right") - first
    number = np.repeat(np.arange(len(mutants)), visit_counts)
    visits = np.arange(len(number)) + np.repeat(first - np.cumsum(visit_counts) + visit_counts, visit_counts)
    holds = evaluate_comparisons(
        compared_values[visits], mutants.operator[number], mutants.threshold[number], tree.members
    )
    turned = np.flatnonzero(holds != left[visits])
    return number[turned], rows[visits[turned]], other_leaves[visits[turned]]


def _list_visits(tree: Tree, leaves: Nodes) -> tuple[Nodes, Nodes]:
    """Return the pairs of row and node on all paths, sorted by node and row."""
    rows, nodes = np.arange(len(leaves)), tree.parent[leaves].astype(np.intp)
    levels = [(rows[:0], nodes[:0])]
    while (has_parent := nodes >= 0).any():
        rows, nodes = rows[has_parent], nodes[has_parent]
        levels.append((rows, nodes))
        nodes = tree.parent[nodes].astype(np.intp)
    rows, nodes = (np.concatenate(parts) for parts in zip(*levels, strict=True))
    order = np.lexsort((rows, nodes))
    return rows[order], nodes[order]


# -- by the answer of a forest -------------------------------------------------------------------------------------------


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
        blocks = [slice(start, start + CELLS_PER_BLOCK) for start in range(0, len(rows), CELLS_PER_BLOCK)]
        changed = [self.find_changed_answers(number, rows[block], leaves[block]) for block in blocks]
        places = np.flatnonzero(np.concatenate(changed)) if changed else np.zeros(0, dtype=np.intp)
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
        margin = SCORE_MARGIN_SINGLE if joining.single else SCORE_MARGIN
        margin *= max(1.0, float(np.abs(self.scores).max(initial=0)))
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
