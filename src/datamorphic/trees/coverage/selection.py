"""Rows chosen, or made, so that they meet a criterion of a tree: reach its leaves, lie at their limits, kill its mutants."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._text import pluralize
from ..boundaries import STEP, Boundaries, Limit, Offset
from ..descent import find_leaves
from ..forest import Forest
from ..kills import RowKills
from ..mutants import NEIGHBOURS, PerNode
from ..set_cover import find_smallest_cover
from ..tree import Nodes
from .coverage import Coverage, stack_frames
from .export import AdequacyExport
from .mutation import MutationScore, measure_kills

if TYPE_CHECKING:
    import pandas as pd

Answers = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Selection(AdequacyExport):
    """A test set that meets a criterion of a tree, or of the trees of a forest, as far as the data allow.

    Attributes
    ----------
    criterion : {"DTC", "BVA", "DTMT"}
        What it was chosen for.
    rows : DataFrame
        The test set. Rows that were made, for "BVA", have the index of those they were made of; their target, where
        there is one, is what the tree answers.
    places : array of int
        Where the rows, or those that they were made of, stand in the data.
    answers : array
        What the model answers to each row.
    leaves : Coverage
        Which leaves of the trees all the data reach.
    mutation : MutationScore or None
        Which mutants all the data kill, for "DTMT".
    limits : tuple of tuple of Limit
        For rows that were made: which of their values lie at a limit, and on which side of it.
    smallest : bool or None
        Whether no smaller set would do; None if none was looked for.
    notes : tuple of str
        What a reader should know.
    """

    criterion: str
    rows: pd.DataFrame
    places: Nodes
    answers: Answers
    leaves: Coverage
    mutation: MutationScore | None = None
    limits: tuple[tuple[Limit, ...], ...] = ()
    smallest: bool | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Selection({self.criterion}, {pluralize(len(self.rows), 'row')} of {self.leaves.rows:,})"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nodes(self) -> int:
        """How many nodes the trees have."""
        return sum(len(tree) for tree in self.leaves.trees)

    @property
    def decision_nodes(self) -> int:
        """How many of these decide."""
        return sum(len(tree.inner) for tree in self.leaves.trees)

    @property
    def mutants(self) -> pd.DataFrame:
        """The mutants, one a row: see `MutationScore.mutants`. Without any unless the criterion is "DTMT"."""
        if self.mutation is None:
            import pandas as pd

            return pd.DataFrame(
                {name: [] for name in ("tree", "node", "operator", "kind", "killed", "equivalent")}
            )
        return self.mutation.mutants

    @property
    def score(self) -> float:
        """The share of the requirements that the data meet: mutants killed, or leaves reached; for "BVA" at their limits."""
        if self.criterion == "BVA":
            return len(self.rows) / self.leaves.leaves
        return self.leaves.share if self.mutation is None else self.mutation.score

    def describe(self, n: int = 5) -> str:
        """Return all that in words."""
        row_count = f"{pluralize(len(self.rows), 'row')} of {self.leaves.rows:,}"
        purpose = {
            "DTC": "chosen to reach leaves",
            "BVA": "made at the limits of leaves",
            "DTMT": "chosen to kill mutants",
        }
        minimality_text = {True: "; no smaller set does", False: "; a smaller set may do", None: ""}[self.smallest]
        data_result = self.leaves if self.mutation is None else self.mutation
        lines = [
            f"{row_count} {purpose[self.criterion]} ({self.criterion}){minimality_text}.",
            "All the data: " + data_result.describe(n),
        ]
        return "\n".join([*lines, *self.notes])


@dataclass
class RowChooser:
    """Collects rows that meet requirements, tree by tree: of several the one that comes first in a random order."""

    order: Nodes
    minimal: bool
    rows: list[Nodes] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)

    @cached_property
    def rank(self) -> Nodes:
        """The place of each row in the order."""
        return np.argsort(self.order)

    def choose_for_leaves(self, leaf_by_row: Nodes) -> None:
        """Take one row for each leaf of a tree, given the leaf of each row: a random one, or leave that for later."""
        if self.minimal:
            from scipy.sparse import csr_array

            reached, place = np.unique(leaf_by_row, return_inverse=True)
            ones = np.ones(len(leaf_by_row), dtype=bool)
            self.parts.append(
                csr_array((ones, (place, np.arange(len(leaf_by_row)))), shape=(len(reached), len(leaf_by_row)))
            )
            return
        self.rows.append(self.order[np.unique(leaf_by_row[self.order], return_index=True)[1]])

    def choose_for_kills(self, choose_for_kills: RowKills) -> None:
        """Take one row for each mutant that some row kills."""
        if self.minimal:
            self.parts.append(choose_for_kills.to_matrix())
            return
        killed = np.flatnonzero(choose_for_kills.killed)
        if killed.size:
            # the first that kills it of the rows in a random order, the same for all: one row then kills many
            first = np.minimum.reduceat(self.rank[choose_for_kills.rows], choose_for_kills.start[killed])
            self.rows.append(self.order[first])

    def collect_rows(self) -> tuple[Nodes, bool | None]:
        """Return the rows, each once, ascending, and whether no smaller set would do."""
        if self.minimal:
            from scipy.sparse import vstack

            return find_smallest_cover(vstack(self.parts).tocsr())
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *self.rows])), None


def select_rows(
    forest: Forest,
    leaves: Coverage,
    data: pd.DataFrame,
    criterion: str,
    rng: np.random.Generator,
    *,
    target: str | None = None,
    minimal: bool = False,
    offset: Offset = STEP,
    per_node: PerNode = NEIGHBOURS,
    joint: bool = False,
    tolerance: float = 0.0,
) -> Selection:
    """Return a test set out of the data whose coverage is given; see `dm.select`."""
    chooser, mutation = RowChooser(rng.permutation(leaves.rows), minimal), None
    matrix = leaves.inputs.to_tree_matrix(leaves.frame)
    if criterion == "DTMT":
        mutation = measure_kills(
            forest, leaves, per_node=per_node, joint=joint, tolerance=tolerance, on_kills=chooser.choose_for_kills
        )
    else:
        for tree in leaves.trees:
            chooser.choose_for_leaves(find_leaves(tree, matrix))
    places, is_smallest = chooser.collect_rows()
    if criterion == "BVA":
        return _select_at_limits(forest, leaves, data, places, rng, target, offset, matrix)
    rows = data.iloc[places]
    answers = _predict(forest, leaves, leaves.frame.iloc[places])
    return Selection(criterion, rows, places, answers, leaves, mutation, smallest=is_smallest)


def _predict(forest: Forest, leaves: Coverage, frame: pd.DataFrame) -> Answers:
    if not len(frame):
        return np.zeros(0, dtype=object)
    matrix = leaves.inputs.to_tree_matrix(frame)
    if forest.joining is None:
        return np.full(len(frame), None)
    return forest.predict(matrix)


def _select_at_limits(
    forest: Forest,
    leaves: Coverage,
    data: pd.DataFrame,
    places: Nodes,
    rng: np.random.Generator,
    target: str | None,
    offset: Offset,
    matrix: Any,
) -> Selection:
    """Return boundary rows made of those chosen for the leaves."""
    frames, limits, origins, lost_count = [], [], [], 0
    for tree in leaves.trees:
        boundaries = Boundaries(tree, leaves.frame, leaves.inputs, offset)
        reached_leaves = find_leaves(tree, matrix[places])
        leaf_nodes, first = np.unique(reached_leaves, return_index=True)
        starts = places[first].tolist()
        for start, boundary_row in zip(
            starts, boundaries.make_rows(leaf_nodes.tolist(), starts, rng), strict=True
        ):
            if boundary_row is None:
                lost_count += 1
                continue
            frames.append(boundary_row[0])
            limits.append(tuple(boundary_row[1]))
            origins.append(start)
    frame = stack_frames(frames, leaves.frame)
    answers = _predict(forest, leaves, frame)
    rows = frame.set_axis(data.index[origins], axis=0)
    notes = []
    if lost_count:
        lost_leaves = pluralize(lost_count, "leaf", "leaves")
        notes.append(f"For {lost_leaves} no row at the limits was found that keeps to the columns' kinds.")
    unlimited_count = sum(not row_limits for row_limits in limits)
    if unlimited_count:
        unlimited_leaves = pluralize(unlimited_count, "leaf", "leaves")
        notes.append(f"{unlimited_leaves} ask for no numbers: there are no limits, and the rows are as they were.")
    if target is not None:
        rows = rows.assign(**{target: list(map(tuple, answers)) if answers.ndim > 1 else answers})
        notes.append(f"The {target!r} of rows that were made is what the model answers: nobody knows better.")
    return Selection(
        "BVA", rows, np.array(origins, dtype=np.intp), answers, leaves, limits=tuple(limits), notes=tuple(notes)
    )
