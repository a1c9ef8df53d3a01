"""Leaf coverage: the leaves of trees that rows reach, and rows for the others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..._text import format_percent, pluralize
from ..._typing import DataLike
from ..._validation import to_generator, validate_integer
from ...errors import DataError
from ...runs.progress import Progress
from ...space.features import Categorical
from ..boundaries import STEP, Boundaries, Offset
from ..descent import find_leaves
from ..inputs import TreeInputs, TreeMatrix
from ..rules import format_rule
from ..tree import Tree
from .result import MAX_DOCUMENT_ITEMS, DrawableResult

if TYPE_CHECKING:
    import pandas as pd

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
    trees : sequence of Tree
        The trees.
    counts : array of int
        How many rows reach each leaf.
    frame : DataFrame
        The rows.
    inputs : TreeInputs
        Converts the rows to the numbers that the trees compare.
    missing : frozenset of str
        The columns in which a tree gets missing values.
    criterion : str
        What has to be covered: "DTC", every leaf; "BVA", every leaf by a row at its limits.
    offset : str or float
        For "BVA", how near to a limit a value must lie.
    notes : sequence of str
        Remarks for the reader, such as columns that were ignored.
    """

    _PAGE: ClassVar[str] = "trees.coverage.page:build_coverage_page"
    _TEXT: ClassVar[str] = "trees.coverage.text:format_coverage"

    trees: tuple[Tree, ...]
    counts: npt.NDArray[np.int64]
    frame: pd.DataFrame = field(repr=False)
    inputs: TreeInputs = field(repr=False)
    missing: frozenset[str] = frozenset()
    criterion: str = "DTC"
    notes: tuple[str, ...] = ()
    offset: Offset = STEP

    def __repr__(self) -> str:
        return f"Coverage({self.summary})"

    @property
    def summary(self) -> str:
        """The figures in one line."""
        reached, leaf_count = int(self.covered.sum()), pluralize(self.leaves, "leaf", "leaves")
        trees = f" of {len(self.trees):,} trees" if len(self.trees) > 1 else ""
        where = " at their limits" if self.criterion == "BVA" else ""
        return f"{reached:,} of {leaf_count}{trees} reached{where}, {format_percent(self.share)}"

    def headline(self, subject: str = "The tests") -> str:
        """Return the number of reached leaves as a sentence about a plural subject."""
        limits = " at their limits" if self.criterion == "BVA" else ""
        reached = f"{int(self.covered.sum()):,} of {pluralize(self.leaves, 'leaf', 'leaves')}{limits}"
        return f"{subject} reach {reached} ({format_percent(self.share)})"

    def _to_dict(self) -> dict[str, Any]:
        return {
            "criterion": self.criterion,
            "headline": self.headline(),
            "rows": self.rows,
            "trees": len(self.trees),
            "nodes": sum(map(len, self.trees)),
            "decision_nodes": sum(len(tree.inner) for tree in self.trees),
            "leaves": self.leaves,
            "covered": int(self.covered.sum()),
            "share": self.share,
            "shares": self.shares.tolist(),
            "uncovered": self.uncovered(MAX_DOCUMENT_ITEMS).reset_index().to_dict("records"),
            "notes": list(self.notes),
        }

    def _get_share(self) -> float:
        return self.share

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
    def covered(self) -> npt.NDArray[np.bool_]:
        """Whether each leaf is reached."""
        return self.counts > 0

    @property
    def share(self) -> float:
        """The share of all leaves that are reached."""
        return float(self.covered.mean())

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of leaves that are reached, per tree."""
        return np.add.reduceat(self.covered, self._starts[:-1], dtype=np.float64) / np.diff(self._starts)

    @cached_property
    def _starts(self) -> npt.NDArray[np.intp]:
        """The number of the first leaf of each tree, and the number of leaves at the end."""
        return np.concatenate([[0], np.cumsum([len(tree.leaves) for tree in self.trees])]).astype(np.intp)

    def place(self, leaf: int) -> tuple[int, int]:
        """Return the tree that holds a leaf, and the node of that tree."""
        leaf = validate_integer("leaf", "Coverage", leaf, high=self.leaves - 1)
        tree = int(np.searchsorted(self._starts, leaf, side="right")) - 1
        return tree, int(self.trees[tree].leaves[leaf - self._starts[tree]])

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
                "training": np.array([self.trees[tree].weight[node] for tree, node in locations], dtype=np.float64),
                "rule": pd.Series([self.rule(int(leaf)) for leaf in chosen], index=chosen, dtype=object),
            },
            index=pd.Index(chosen, name="leaf"),
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

        tree, node = self.place(leaf)
        return find_example(
            self.trees[tree], node, self.frame, self.inputs, near, goal=f"leaf {leaf} ({self.rule(leaf)})"
        )

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
                    is_open[self._find_reached_leaves(row)] = False
        return stack_frames(rows, self.frame)

    def _make_row(self, leaf: int, rng: np.random.Generator) -> pd.DataFrame | None:
        """Return a row that covers a leaf by the criterion, or None if none was found."""
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
        """Return the leaves that a row reaches, one per tree; none for "BVA"."""
        if self.criterion == "BVA":
            return np.zeros(0, dtype=np.intp)  # each leaf gets a row of its own
        matrix = self.inputs.to_tree_matrix(row)
        leaf_places = [np.searchsorted(tree.leaves, find_leaves(tree, matrix)[0]) for tree in self.trees]
        return self._starts[:-1] + np.array(leaf_places, dtype=np.intp)

    def frame_with(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows followed by additional ones."""
        return stack_frames([self.frame, rows], self.frame)


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
    count_rows = partial(_count_rows, matrix, compiled)
    if criterion == "BVA":
        count_rows = partial(_count_rows_at_limits, matrix, frame, inputs, offset)
    if len(trees) > 1 and len(trees) * len(frame) > MIN_THREADED_CELLS:  # NumPy mostly releases the lock
        with ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as threads:
            counts = list(threads.map(count_rows, trees))
    else:
        counts = list(map(count_rows, trees))
    has_missing = np.asarray(np.isnan(matrix).any(axis=0))
    notes = list(notes)
    if all(len(tree.leaves) == 1 for tree in trees):
        notes.append("The model makes no decision: every input gets the same answer, so coverage says nothing.")
    missing = frozenset(name for name, is_missing in zip(inputs.names, has_missing, strict=True) if is_missing)
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


def _count_rows(matrix: TreeMatrix, compiled: bool, tree: Tree) -> npt.NDArray[np.int64]:
    """Count the rows that reach each leaf of a tree."""
    return np.bincount(find_leaves(tree, matrix, compiled=compiled), minlength=len(tree))[tree.leaves].astype(np.int64)


def _count_rows_at_limits(
    matrix: TreeMatrix, frame: pd.DataFrame, inputs: TreeInputs, offset: Offset, tree: Tree
) -> npt.NDArray[np.int64]:
    """Count the rows that reach each leaf of a tree and lie at its limits."""
    leaves = find_leaves(tree, matrix)
    at_limits = Boundaries(tree, frame, inputs, offset).find_rows_at_limits(leaves)
    return np.bincount(leaves[at_limits], minlength=len(tree))[tree.leaves].astype(np.int64)


def stack_frames(frames: Sequence[pd.DataFrame], template: pd.DataFrame) -> pd.DataFrame:
    """Stack frames, or return an empty frame like `template` if there are none."""
    import pandas as pd

    if not frames:
        return template.iloc[:0]
    return pd.concat(frames, ignore_index=True)
