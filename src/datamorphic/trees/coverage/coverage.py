"""Leaf coverage: the leaves of trees that rows reach, and rows for the others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._text import format_percent, pluralise
from ..._typing import DataLike
from ..._validation import to_generator, validate_integer
from ...errors import DataError
from ...runs.progress import Progress
from ...space.features import Categorical
from ...space.table_forms import accept_tables
from ..boundaries import STEP, Boundaries, Limit, Offset
from ..descent import find_leaves
from ..inputs import TreeInputs
from ..rules import format_rule
from ..tree import Tree
from .result import MAX_DOCUMENT_ITEMS, DrawableResult

MAX_FIX_ROWS = 1_000
MIN_THREADED_CELLS = 1_000_000  # rows times trees
MIN_COMPILED_CELLS = 10_000_000  # rows times trees; below that, loading the compiler costs more than it saves


@dataclass(frozen=True, eq=False, kw_only=True)
class Coverage(DrawableResult):
    """The leaves of a tree, or of all trees of a forest, that rows reach.

    Leaves are numbered over all trees: first those of the first tree in the order of its nodes, then those of the
    second.

    Attributes
    ----------
    trees, frame, inputs : tuple of Tree, DataFrame, TreeInputs
        The trees, the rows, and what converts rows to the numbers that the trees compare.
    counts : array of int
        How many rows reach each leaf.
    missing : frozenset of str
        The columns in which a tree gets missing values.
    offset : str or float
        For "BVA", how near to a limit a value must lie.
    """

    _PAGE: ClassVar[str] = "trees.coverage.page:build_coverage_page"

    trees: tuple[Tree, ...]
    frame: pd.DataFrame = field(repr=False)
    inputs: TreeInputs = field(repr=False)
    missing: frozenset[str] = frozenset()
    offset: Offset = STEP

    def __repr__(self) -> str:
        return f"Coverage({self.summary})"

    @property
    def summary(self) -> str:
        """The figures in one line."""
        trees = f" of {len(self.trees):,} trees" if len(self.trees) > 1 else ""
        where = " at their limits" if self.criterion == "BVA" else ""
        return f"{self._counts_text}{trees} reached{where}, {format_percent(self.share)}"

    @property
    def _counts_text(self) -> str:
        return f"{int(self.covered.sum()):,} of {pluralise(self.leaves, 'leaf', 'leaves')}"

    def headline(self, subject: str = "The tests") -> str:
        """Return the number of reached leaves as a sentence about a plural subject."""
        where = " at their limits" if self.criterion == "BVA" else ""
        return f"{subject} reach {self._counts_text}{where} ({format_percent(self.share)})"

    def document(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict with at most 100 leaves and 100 mutants."""
        return self._collect(
            *("criterion", "rows", "leaves", "share", "shares", "notes", "complete", "unfinished"),
            headline=self.headline(),
            trees=len(self.trees),
            nodes=sum(map(len, self.trees)),
            decision_nodes=sum(len(tree.inner) for tree in self.trees),
            covered=self.covered.sum(),
            uncovered=self.uncovered(MAX_DOCUMENT_ITEMS).reset_index(),
        )

    def _export_name(self) -> str:
        return self.inputs.owner

    def _get_drawn(self) -> tuple[Any, ...]:
        return (self,)

    # -- figures ---------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.frame)

    @property
    def leaves(self) -> int:
        """The number of leaves in all trees."""
        return len(self.counts)

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of leaves that are reached, per tree."""
        return np.add.reduceat(self.covered, self._starts[:-1], dtype=np.float64) / np.diff(self._starts)

    def _count_by_tree(self) -> list[int]:
        return [len(tree.leaves) for tree in self.trees]

    def place(self, leaf: int) -> tuple[int, int]:
        """Return the tree that holds a leaf, and the node of that tree."""
        tree, number = self._locate("leaf", leaf)
        return tree, int(self.trees[tree].leaves[number])

    def rule(self, leaf: int) -> str:
        """Return the conditions that rows meet to reach a leaf, as text."""
        tree, node = self.place(leaf)
        return format_rule(self.trees[tree], node, missing=self.missing, categories=self.categories)

    @cached_property
    def categories(self) -> dict[str, Sequence[Any]]:
        """The values that codes stand for, by categorical column."""
        if not self.inputs.coded or self.inputs.space is None:
            return {self.inputs.names[column]: values for column, values in self.inputs.categories.items()}
        return {
            feature.name: feature.values for feature in self.inputs.space.features if isinstance(feature, Categorical)
        }

    # -- what is missing -------------------------------------------------------------------------------

    def uncovered(self, n: int | None = 10) -> pd.DataFrame:
        """Return at most `n` leaves that no row reaches.

        Leaves that many training rows reached come first, since such inputs are to be expected. Among equals, those
        with the shortest path come first.

        Returns
        -------
        DataFrame
            Indexed by the number of the leaf: ``tree``, ``node``, ``answer``, ``training`` (the share of the tree's
            training rows that reached the leaf) and ``rule`` (the conditions to reach it).
        """
        uncovered = np.flatnonzero(~self.covered)
        n = len(uncovered) if n is None else min(validate_integer("n", "Coverage.uncovered", n), len(uncovered))
        chosen = pd.Index(self._rank_leaves(uncovered, n), name="leaf")
        trees, nodes = np.array([self.place(int(leaf)) for leaf in chosen], dtype=np.intp).reshape(-1, 2).T
        sources = [(self.trees[tree], node) for tree, node in zip(trees, nodes, strict=True)]
        answers = [tree.answer_at(node) for tree, node in sources]
        return pd.DataFrame(
            {
                "tree": trees,
                "node": nodes,
                "answer": pd.Series(answers, index=chosen, dtype=None if answers else object),
                "training": np.array([tree.weight[node] for tree, node in sources], dtype=np.float64),
                "rule": pd.Series([self.rule(int(leaf)) for leaf in chosen], index=chosen, dtype=object),
            },
            index=chosen,
        )

    def _rank_leaves(self, leaves: npt.NDArray[np.intp], n: int) -> npt.NDArray[np.intp]:
        """Return the `n` leaves to report first; `leaves` are ascending numbers."""
        if not n:
            return leaves[:0]
        weight = self._get_node_values(leaves, "weight")
        is_heavy_enough = weight >= np.partition(weight, -n)[-n]  # leaves only few of a large forest to sort
        leaves, weight = leaves[is_heavy_enough], weight[is_heavy_enough]
        return leaves[np.lexsort((leaves, self._get_node_values(leaves, "depth"), -weight))][:n]

    def _get_node_values(self, leaves: npt.NDArray[np.intp], attribute: str) -> npt.NDArray[np.float64]:
        """Return an attribute of the trees' nodes for leaves given as ascending numbers."""
        values = np.empty(len(leaves))
        cuts = np.searchsorted(leaves, self._starts)
        for tree, start, first, last in zip(self.trees, self._starts, cuts, cuts[1:], strict=False):
            if first < last:
                values[first:last] = getattr(tree, attribute)[tree.leaves[leaves[first:last] - start]]
        return values

    @accept_tables
    def example(self, leaf: int, near: DataLike | None = None) -> pd.DataFrame:
        """Return a row that reaches a leaf, as similar as possible to a real row.

        Only columns on the path to the leaf are changed, each to a round number just inside the limits of the leaf,
        or to an integer or a category where the column holds these. With a space, values stay within its bounds and
        the row meets its constraints. The row has been sent through the tree: it does reach the leaf.

        Parameters
        ----------
        leaf : int
            The number of the leaf, as in the index of `uncovered`.
        near : DataFrame, dict, or row of a frame, optional
            The row to start from; by default the row of the data that needs the smallest changes.

        Raises
        ------
        DataError
            If no allowed row reaches the leaf.
        """
        from ..examples import find_example

        (tree, node), goal = self.place(leaf), f"leaf {leaf} ({self.rule(leaf)})"
        return find_example(self.trees[tree], node, self.frame, self.inputs, near, goal=goal)

    def fix(self, n: int = MAX_FIX_ROWS, *, seed: int = 0) -> pd.DataFrame:
        """Return at most `n` rows that cover uncovered leaves.

        For "BVA" the rows lie at the limits of the leaves. Leaves that many training rows reached come first. Leaves
        for which no row was found are left out.
        """
        validate_integer("n", "Coverage.fix", n)
        rng = to_generator("seed", "Coverage.fix", seed)
        rows: list[pd.DataFrame] = []
        is_open = ~self.covered
        ranked_leaves = self._rank_leaves(np.flatnonzero(is_open), int(is_open.sum()))
        with Progress("rows for uncovered leaves") as progress:
            for place, leaf in enumerate(ranked_leaves.tolist()):
                if len(rows) == n:
                    break
                progress.show(f"{len(rows):,} made", place / len(ranked_leaves))
                row = self._make_row(leaf, rng) if is_open[leaf] else None
                if row is not None:
                    rows.append(row)
                    if self.criterion == "DTC":  # for "BVA" each leaf gets a row of its own
                        matrix = self.inputs.to_tree_matrix(row)
                        places = [np.searchsorted(tree.leaves, find_leaves(tree, matrix)[0]) for tree in self.trees]
                        is_open[self._starts[:-1] + np.array(places, dtype=np.intp)] = False
        return stack_frames(rows, self.frame)

    def _make_row(self, leaf: int, rng: np.random.Generator) -> pd.DataFrame | None:
        """Return a row that covers a leaf by the criterion, or None if none was found."""
        try:
            row = self.example(leaf)
        except DataError:
            return None
        if self.criterion == "DTC":
            return row
        boundary_row = make_boundary_row(self, leaf, row, rng)
        return None if boundary_row is None else boundary_row[0]

    def with_tree(self, number: int, tree: Tree) -> Coverage:
        """Return the coverage of the same rows with one tree replaced by another of the same nodes, such as a mutant."""
        counts = self.counts.copy()
        reached = find_leaves(tree, self.inputs.to_tree_matrix(self.frame))
        first, last = self._starts[number : number + 2]
        counts[first:last] = np.bincount(reached, minlength=len(tree))[tree.leaves]
        trees = (*self.trees[:number], tree, *self.trees[number + 1 :])
        return replace(self, trees=trees, counts=counts, criterion="DTC")

    def frame_with(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows followed by additional ones."""
        return stack_frames([self.frame, rows], self.frame)

    def with_rows(self, rows: pd.DataFrame) -> Coverage:
        """Return the coverage of the rows and additional ones."""
        return measure_coverage(self.trees, self.frame_with(rows), self.inputs, self.notes, self.criterion, self.offset)


def make_boundary_row(
    coverage: Coverage, leaf: int, row: pd.DataFrame, rng: np.random.Generator
) -> tuple[pd.DataFrame, list[Limit]] | None:
    """Move a row to the limits of the leaf that it reaches; see `Boundaries.make_row`."""
    tree, node = coverage.place(leaf)
    boundaries = Boundaries(coverage.trees[tree], coverage.frame_with(row), coverage.inputs, coverage.offset)
    return boundaries.make_row(node, coverage.rows, rng)


def measure_coverage(
    trees: Sequence[Tree],
    frame: pd.DataFrame,
    inputs: TreeInputs,
    notes: Sequence[str] = (),
    criterion: str = "DTC",
    offset: Offset = STEP,
) -> Coverage:
    """Measure which leaves the rows of a frame reach."""
    matrix = inputs.to_tree_matrix(frame)
    compiled = len(trees) * len(frame) > MIN_COMPILED_CELLS and find_spec("numba") is not None

    def count_rows(tree: Tree) -> npt.NDArray[np.int64]:
        leaves = find_leaves(tree, matrix, compiled=compiled and criterion == "DTC")
        if criterion == "BVA":
            leaves = leaves[Boundaries(tree, frame, inputs, offset).find_rows_at_limits(leaves)]
        return np.bincount(leaves, minlength=len(tree))[tree.leaves].astype(np.int64)

    if len(trees) > 1 and len(trees) * len(frame) > MIN_THREADED_CELLS:  # NumPy mostly releases the lock
        with ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as threads:
            counts = list(threads.map(count_rows, trees))
    else:
        counts = list(map(count_rows, trees))
    notes = list(notes)
    if all(len(tree.leaves) == 1 for tree in trees):
        notes.append("The model makes no decision: every input gets the same answer, so coverage says nothing.")
    missing = frozenset(inputs.names[column] for column in np.flatnonzero(np.isnan(matrix).any(axis=0)))
    return Coverage(
        trees=tuple(trees),
        counts=np.concatenate(counts),
        frame=frame,
        inputs=inputs,
        missing=missing,
        criterion=criterion,
        notes=tuple(notes),
        offset=offset,
    )


def stack_frames(frames: Sequence[pd.DataFrame], template: pd.DataFrame) -> pd.DataFrame:
    """Stack frames, or return an empty frame like `template` if there are none."""
    return pd.concat(frames, ignore_index=True) if frames else template.iloc[:0]
