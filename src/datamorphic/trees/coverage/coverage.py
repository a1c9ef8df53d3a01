"""How many leaves of trees some rows reach, which they do not, and what would."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._text import format_short, pluralize
from ..._validation import to_generator, validate_integer
from ...errors import DataError
from ...runs.progress import Progress
from ...space.features import Categorical
from ..boundaries import STEP, Boundaries, Offset
from ..descent import find_leaves
from ..inputs import TreeInputs, TreeMatrix
from ..rules import format_rule
from ..tree import Tree
from .export import DrawableExport

if TYPE_CHECKING:
    import pandas as pd

MAX_FIX_ROWS = 1_000  # rows to cover what is missing
MIN_THREADED_CELLS = 1_000_000  # rows times trees
MIN_COMPILED_CELLS = 10_000_000  # rows times trees: below, loading the compiler costs more than it saves


@dataclass(frozen=True, eq=False)
class Coverage(DrawableExport):
    """Which leaves of a tree, or of all trees of a forest, are reached by some rows.

    Leaves are numbered over all trees: those of the first tree in the order of its nodes, then those of the second.

    Attributes
    ----------
    trees : sequence of Tree
        The trees.
    counts : array of int
        How many rows reach each leaf.
    frame : DataFrame
        The rows.
    inputs : Inputs
        How these become what the trees see.
    missing : frozenset of str
        The columns in which a tree sees missing values.
    criterion : str
        What has to be covered: "DTC", every leaf; "BVA", every leaf by a row at its limits.
    offset : str or float
        How near these limits, for "BVA".
    notes : sequence of str
        What was decided on the way, and what a reader should know.
    """

    trees: tuple[Tree, ...]
    counts: npt.NDArray[np.int64]
    frame: pd.DataFrame = field(repr=False)
    inputs: TreeInputs = field(repr=False)
    missing: frozenset[str] = frozenset()
    criterion: str = "DTC"
    notes: tuple[str, ...] = ()
    offset: Offset = STEP

    def __repr__(self) -> str:
        return f"Coverage({self._summary})"

    @property
    def _summary(self) -> str:
        reached, leaf_count = int(self.covered.sum()), pluralize(self.leaves, "leaf", "leaves")
        trees = f" of {len(self.trees):,} trees" if len(self.trees) > 1 else ""
        where = " at their limits" if self.criterion == "BVA" else ""
        return f"{reached:,} of {leaf_count}{trees} reached{where}, {100 * self.share:.1f} %"

    # -- figures ---------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """How many rows were given."""
        return len(self.frame)

    @property
    def leaves(self) -> int:
        """How many leaves there are in all trees."""
        return len(self.counts)

    @property
    def covered(self) -> npt.NDArray[np.bool_]:
        """Which leaves are reached."""
        return self.counts > 0

    @property
    def share(self) -> float:
        """The share of all leaves that is reached."""
        return float(self.covered.mean())

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of the leaves that is reached, tree by tree."""
        return np.add.reduceat(self.covered, self._starts[:-1], dtype=np.float64) / np.diff(self._starts)

    @cached_property
    def _starts(self) -> npt.NDArray[np.intp]:
        """The number of the first leaf of each tree, and that of all leaves."""
        return np.concatenate([[0], np.cumsum([len(tree.leaves) for tree in self.trees])]).astype(np.intp)

    def place(self, leaf: int) -> tuple[int, int]:
        """Return in which tree a leaf is, and which node of it."""
        leaf = validate_integer("leaf", "Coverage", leaf, high=self.leaves - 1)
        tree = int(np.searchsorted(self._starts, leaf, side="right")) - 1
        return tree, int(self.trees[tree].leaves[leaf - self._starts[tree]])

    def rule(self, leaf: int) -> str:
        """Return which rows reach a leaf, in words."""
        tree, node = self.place(leaf)
        return format_rule(self.trees[tree], node, missing=self.missing, categories=self.categories)

    @cached_property
    def categories(self) -> dict[str, Sequence[Any]]:
        """What the codes of columns that hold categories stand for."""
        if not self.inputs.coded or self.inputs.space is None:
            return {self.inputs.names[column]: values for column, values in self.inputs.categories.items()}
        return {
            feature.name: feature.values
            for feature in self.inputs.space.features
            if isinstance(feature, Categorical)
        }

    # -- what is missing -------------------------------------------------------------------------------

    def uncovered(self, n: int | None = 10) -> pd.DataFrame:
        """Return leaves that are not reached, at most `n` of them.

        Those come first that most of the training rows came to, since such inputs are to be expected; among equals
        those at the end of the shortest path.

        Returns
        -------
        DataFrame
            Indexed by the number of the leaf: ``tree``, ``node``, ``answer``, ``training`` (the share of the training
            rows of the tree that came here) and ``rule``, which rows would reach it.
        """
        import pandas as pd

        uncovered = np.flatnonzero(~self.covered)
        n = len(uncovered) if n is None else min(validate_integer("n", "Coverage.uncovered", n), len(uncovered))
        chosen = self._rank_leaves(uncovered, n)
        locations = [self.place(int(leaf)) for leaf in chosen]
        answers = [self.trees[tree].answer_at(node) for tree, node in locations]
        return pd.DataFrame(
            {
                "tree": np.array([tree for tree, _ in locations], dtype=np.intp),
                "node": np.array([node for _, node in locations], dtype=np.intp),
                "answer": pd.Series(answers, index=chosen, dtype=None if answers else object),
                "training": np.array(
                    [self.trees[tree].weight[node] for tree, node in locations], dtype=np.float64
                ),
                "rule": pd.Series([self.rule(int(leaf)) for leaf in chosen], index=chosen, dtype=object),
            },
            index=pd.Index(chosen, name="leaf"),
        )

    def _rank_leaves(self, leaves: npt.NDArray[np.intp], n: int) -> npt.NDArray[np.intp]:
        """Return the `n` of some leaves, given by their numbers, ascending, that are to be told of first."""
        if not n:
            return leaves[:0]
        weight = self._get_node_values(leaves, "weight")
        is_heavy_enough = (
            weight >= np.partition(weight, -n)[-n]
        )  # of a large forest few leaves are left to look at
        leaves, weight = leaves[is_heavy_enough], weight[is_heavy_enough]
        return leaves[np.lexsort((leaves, self._get_node_values(leaves, "depth"), -weight))][:n]

    def _get_node_values(self, leaves: npt.NDArray[np.intp], attribute: str) -> npt.NDArray[np.float64]:
        """Return what the trees know of some leaves, given by their numbers, ascending."""
        values = np.empty(len(leaves))
        cuts = np.searchsorted(leaves, self._starts)
        for tree, start, first, last in zip(self.trees, self._starts, cuts, cuts[1:], strict=False):
            if first < last:
                values[first:last] = getattr(tree, attribute)[tree.leaves[leaves[first:last] - start]]
        return values

    def example(self, leaf: int, near: Any = None) -> pd.DataFrame:
        """Return a row that reaches a leaf, as near as can be to a real one.

        Only columns that decide on the way to the leaf are changed, each to a round number just inside what the leaf
        asks for, and to a whole number or a category where the column holds these. With a space the values keep
        within its bounds and the row keeps its constraints. The row was sent through the tree: it does reach the leaf.

        Parameters
        ----------
        leaf : int
            Its number, as in the index of `uncovered`.
        near : DataFrame, dict, or row of a frame, optional
            The row to start from; the row of the data that has to be changed least if it is left out.

        Raises
        ------
        DataError
            If no row that fits reaches the leaf.
        """
        from ..examples import find_example

        tree, node = self.place(leaf)
        return find_example(
            self.trees[tree], node, self.frame, self.inputs, near, goal=f"leaf {leaf}: {self.rule(leaf)}"
        )

    def fix(self, n: int = MAX_FIX_ROWS, *, seed: int = 0) -> pd.DataFrame:
        """Return rows that reach what is not reached, at most `n`; for "BVA" at the limits of leaves.

        Those leaves come first that most of the training rows came to. Leaves that no row was found for are left out.
        """
        validate_integer("n", "Coverage.fix", n)
        rng = to_generator("seed", "Coverage.fix", seed)
        rows: list[pd.DataFrame] = []
        is_open = ~self.covered
        ranked_leaves = self._rank_leaves(np.flatnonzero(is_open), int(is_open.sum()))
        with Progress("rows that reach more") as progress:
            for place, leaf in enumerate(ranked_leaves.tolist()):
                if len(rows) == n:
                    break
                progress.show(f"{len(rows):,} made", place / len(ranked_leaves))
                row = self._make_row(leaf, rng) if is_open[leaf] else None
                if row is not None:
                    rows.append(row)
                    is_open[self._find_reached_leaves(row)] = False
        return stack_frames(rows, self.frame)

    def _make_row(self, leaf: int, rng: np.random.Generator) -> pd.DataFrame | None:
        """Return a row that does for a leaf what the criterion asks; None if there is none."""
        try:
            row = self.example(leaf)
        except DataError:
            return None
        if self.criterion == "DTC":
            return row
        tree, node = self.place(leaf)
        boundaries = Boundaries(self.trees[tree], self.frame_with(row), self.inputs, self.offset)
        boundary_row = boundaries.make_row(node, len(self.frame), rng)
        return None if boundary_row is None else boundary_row[0]

    def _find_reached_leaves(self, row: pd.DataFrame) -> npt.NDArray[np.intp]:
        """Return the numbers of the leaves that a row reaches, tree by tree; for limits none but its own are known."""
        if self.criterion == "BVA":
            return np.zeros(0, dtype=np.intp)  # each leaf gets a row of its own
        matrix = self.inputs.to_tree_matrix(row)
        leaf_places = [np.searchsorted(tree.leaves, find_leaves(tree, matrix)[0]) for tree in self.trees]
        return self._starts[:-1] + np.array(leaf_places, dtype=np.intp)

    def frame_with(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that were given, and some more."""
        return stack_frames([self.frame, rows], self.frame)

    def describe(self, n: int = 5) -> str:
        """Return all that in words, with at most `n` leaves that are not reached."""
        lines = [f"{self._summary}, by {pluralize(self.rows, 'row')} ({self.criterion})."]
        if len(self.trees) > 1:
            shares = 100 * self.shares
            lines.append(f"Tree by tree from {shares.min():.1f} % to {shares.max():.1f} %.")
        uncovered = self.uncovered(n)
        if len(uncovered):
            lines.append("Not reached, first where most training rows were:")
        meanings = [self.trees[tree].meaning for tree in uncovered["tree"]]
        for row, meaning in zip(uncovered.itertuples(), meanings, strict=True):
            where = f"tree {row.tree}, " if len(self.trees) > 1 else ""
            answer_meaning = f" ({meaning})" if meaning else ""
            lines.append(f"  {where}leaf {row.Index}: {row.rule} -> {format_short(row.answer)}{answer_meaning}")
        remaining = int((~self.covered).sum()) - len(uncovered)
        if remaining and len(uncovered):
            lines.append(f"  and {remaining:,} more.")
        return "\n".join([*lines, *self.notes])


def measure_coverage(
    trees: Sequence[Tree],
    frame: pd.DataFrame,
    inputs: TreeInputs,
    notes: Sequence[str] = (),
    criterion: str = "DTC",
    offset: Offset = STEP,
) -> Coverage:
    """Return which leaves the rows of a frame reach."""
    matrix = inputs.to_tree_matrix(frame)
    compiled = len(trees) * len(frame) > MIN_COMPILED_CELLS and find_spec("numba") is not None
    count_rows = partial(_count_rows, matrix, compiled)
    if criterion == "BVA":
        count_rows = partial(_count_rows_at_limits, matrix, frame, inputs, offset)
    if (
        len(trees) > 1 and len(trees) * len(frame) > MIN_THREADED_CELLS
    ):  # NumPy lets go of the lock for the most part
        with ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as threads:
            counts = list(threads.map(count_rows, trees))
    else:
        counts = list(map(count_rows, trees))
    has_missing = np.asarray(np.isnan(matrix).any(axis=0))
    notes = list(notes)
    if all(len(tree.leaves) == 1 for tree in trees):
        notes.append("There is no decision in it: every input gets the same answer, and coverage says nothing.")
    missing = frozenset(name for name, is_missing in zip(inputs.names, has_missing, strict=True) if is_missing)
    return Coverage(tuple(trees), np.concatenate(counts), frame, inputs, missing, criterion, tuple(notes), offset)


def _count_rows(matrix: TreeMatrix, compiled: bool, tree: Tree) -> npt.NDArray[np.int64]:
    """Return how many rows reach each leaf of a tree."""
    return np.bincount(find_leaves(tree, matrix, compiled=compiled), minlength=len(tree))[tree.leaves].astype(
        np.int64
    )


def _count_rows_at_limits(
    matrix: TreeMatrix, frame: pd.DataFrame, inputs: TreeInputs, offset: Offset, tree: Tree
) -> npt.NDArray[np.int64]:
    """Return how many rows reach each leaf of a tree and lie at its limits."""
    leaves = find_leaves(tree, matrix)
    at_limits = Boundaries(tree, frame, inputs, offset).find_rows_at_limits(leaves)
    return np.bincount(leaves[at_limits], minlength=len(tree))[tree.leaves].astype(np.int64)


def stack_frames(frames: Sequence[pd.DataFrame], template: pd.DataFrame) -> pd.DataFrame:
    """Return rows one below the other, with dtypes as in another frame where nothing is lost by that."""
    import pandas as pd

    if not frames:
        return template.iloc[:0]
    return pd.concat(frames, ignore_index=True)
