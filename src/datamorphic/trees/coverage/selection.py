"""Test sets that reach the leaves of trees, or kill their mutants."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._text import pluralise
from ...core.execute import Execution
from ..boundaries import Boundaries, Limit
from ..descent import find_leaves
from ..forest import Forest
from ..inputs import TreeMatrix
from ..kills import RowKills
from ..set_cover import find_smallest_cover
from ..tree import Nodes, Tree
from .coverage import Coverage, stack_frames
from .mutation import MutationScore, measure_kills
from .options import ANY_ROWS, SelectOptions
from .result import AdequacyResult

Answers = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection(AdequacyResult):
    """A test set that meets a criterion of a tree or forest as far as the data allow.

    Attributes
    ----------
    rows : DataFrame
        The test set. Rows that were made, for "BVA", have the index of the rows they were made from. Their target, if
        there is one, is the answer of the model.
    places, answers : array
        The positions in the data of the rows, or of the rows they were made from, and the answer of the model to each row.
    leaves, mutation : Coverage, MutationScore or None
        The leaves that all the data reach, and for "DTMT" the mutants that they kill.
    limits : tuple of tuple of Limit
        For "BVA", the values of each row that lie at a limit, and on which side.
    smallest : bool or None
        Whether no smaller set meets the criterion; None if the smallest set was not searched for.
    """

    _PAGE: ClassVar[str] = "trees.coverage.page:build_selection_page"

    rows: pd.DataFrame
    places: Nodes
    answers: Answers
    leaves: Coverage
    mutation: MutationScore | None = None
    limits: tuple[tuple[Limit, ...], ...] = ()
    smallest: bool | None = None

    def __repr__(self) -> str:
        return f"Selection({self.criterion}, {pluralise(len(self.rows), 'row')} of {self.leaves.rows:,})"

    def __len__(self) -> int:
        return len(self.rows)

    def headline(self, subject: str = "all the data") -> str:
        """Return how many rows were selected, and what all the data cover."""
        origin = "made at the limits of leaves" if self.criterion == "BVA" else "chosen"
        data = self.data_result.headline(subject)
        return f"{pluralise(len(self), 'row')} {origin} out of {self.leaves.rows:,}; {data}"

    def document(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict with at most 100 leaves and 100 mutants."""
        return self._collect(
            *("criterion", "score", "smallest", "places", "answers", "limits", "notes", "complete", "unfinished"),
            headline=self.headline(),
            rows=len(self),
            of=self.leaves.rows,
            chosen=self.rows,
            data=self.data_result.document(),
        )

    def _get_share(self) -> float:
        return self.score

    def _export_name(self) -> str:
        return self.leaves.inputs.owner

    @property
    def data_result(self) -> Coverage | MutationScore:
        """What all the data cover by the criterion."""
        return self.leaves if self.mutation is None else self.mutation

    @property
    def nodes(self) -> int:
        """The number of nodes of all trees."""
        return sum(len(tree) for tree in self.leaves.trees)

    @property
    def decision_nodes(self) -> int:
        """The number of nodes that are decisions."""
        return sum(len(tree.inner) for tree in self.leaves.trees)

    @property
    def mutants(self) -> pd.DataFrame:
        """All mutants, see `MutationScore.mutants`; empty unless the criterion is "DTMT"."""
        if self.mutation is None:
            return pd.DataFrame({name: [] for name in ("tree", "node", "operator", "kind", "killed", "equivalent")})
        return self.mutation.mutants

    @property
    def score(self) -> float:
        """The share of requirements that are met.

        For "DTC" the leaves that the data reach, for "DTMT" the mutants that they kill, for "BVA" the leaves that got
        a row.
        """
        if self.criterion == "BVA":
            return len(self.rows) / self.leaves.leaves
        return self.leaves.share if self.mutation is None else self.mutation.score


@dataclass
class RowChooser:
    """Chooses rows that meet requirements, tree by tree."""

    order: Nodes  # random: of several rows that meet a requirement, the first is taken
    minimal: bool  # whether to collect all requirements, and to search for the smallest set at the end
    rows: list[Nodes] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)

    @cached_property
    def rank(self) -> Nodes:
        """The position of each row in the random order."""
        return np.argsort(self.order)

    def choose_for_leaves(self, leaf_by_row: Nodes) -> None:
        """Choose one row per leaf of a tree, given the leaf of each row."""
        if self.minimal:
            from scipy.sparse import csr_array

            reached, place = np.unique(leaf_by_row, return_inverse=True)
            rows = np.arange(len(leaf_by_row))
            self.parts.append(
                csr_array((np.ones(len(rows), dtype=bool), (place, rows)), shape=(len(reached), len(rows)))
            )
            return
        self.rows.append(self.order[np.unique(leaf_by_row[self.order], return_index=True)[1]])

    def choose_for_kills(self, kills: RowKills) -> None:
        """Choose one row per mutant that some row kills."""
        if self.minimal:
            self.parts.append(kills.to_matrix())
            return
        killed = np.flatnonzero(kills.killed)
        if killed.size:
            # the random order is the same for all mutants, so that one row kills many of them
            first = np.minimum.reduceat(self.rank[kills.rows], kills.start[killed])
            self.rows.append(self.order[first])

    def collect_rows(self) -> tuple[Nodes, bool | None]:
        """Return the chosen rows, ascending, and whether no smaller set would do."""
        if self.minimal:
            from scipy.sparse import vstack

            return find_smallest_cover(vstack(self.parts).tocsr())
        return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *self.rows])), None


def select_rows(
    forest: Forest,
    leaves: Coverage,
    data: pd.DataFrame,
    options: SelectOptions,
    rng: np.random.Generator,
    execution: Execution[Any],
    *,
    joint: bool,
    tolerance: float,
) -> Selection:
    """Select a test set from the rows of a coverage; see `dm.select`."""
    criterion = options.criterion
    chooser, mutation = RowChooser(rng.permutation(leaves.rows), options.minimal), None
    matrix = leaves.inputs.to_tree_matrix(leaves.frame)
    if criterion == "DTMT":
        mutation = measure_kills(
            forest,
            leaves,
            per_node=options.per_node,
            joint=joint,
            tolerance=tolerance,
            on_kills=chooser.choose_for_kills,
            progress=options.progress,
            execution=execution,
        )
    else:
        for tree in leaves.trees:
            chooser.choose_for_leaves(find_leaves(tree, matrix))
    places, is_smallest = chooser.collect_rows()
    if criterion == "BVA":
        return _select_at_limits(forest, leaves, data, places, matrix, options, rng)
    return Selection(
        criterion=criterion,
        rows=data.iloc[places],
        places=places,
        answers=_predict(forest, leaves, leaves.frame.iloc[places]),
        leaves=leaves,
        mutation=mutation,
        smallest=is_smallest,
    )


def _predict(forest: Forest, leaves: Coverage, frame: pd.DataFrame) -> Answers:
    """Return the answers of a forest, or None for each row if they are unknown."""
    if not len(frame):
        return np.zeros(0, dtype=object)
    matrix = leaves.inputs.to_tree_matrix(frame)
    if forest.joining is None:
        return np.full(len(frame), None)
    return forest.predict(matrix)


def _mix_rows(tree: Tree, leaves: Nodes, own: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return other rows with the columns on the path to their leaf from rows that reach it, so that they reach it, too."""
    on_path = np.zeros((len(leaves), len(tree.names)), dtype=bool)
    for place, leaf in enumerate(leaves.tolist()):
        on_path[place, [int(tree.feature[node]) for node, _ in tree.path(leaf)]] = True
    own = own.set_axis(others.index, axis=0)
    return pd.DataFrame(
        {name: others[name].mask(on_path[:, column], own[name]) for column, name in enumerate(others.columns)}
    )


def _select_at_limits(
    forest: Forest,
    leaves: Coverage,
    data: pd.DataFrame,
    places: Nodes,
    matrix: TreeMatrix,
    options: SelectOptions,
    rng: np.random.Generator,
) -> Selection:
    """Make boundary rows from the rows that were chosen for the leaves."""
    frames, limits, origins, lost_count = [], [], [], 0
    for tree in leaves.trees:
        leaf_nodes, first = np.unique(find_leaves(tree, matrix[places]), return_index=True)
        starts, moved, all_rows = places[first], places[first], leaves.frame
        if options.base == ANY_ROWS:
            others = rng.choice(len(all_rows), len(leaf_nodes))
            mixed = _mix_rows(tree, leaf_nodes, all_rows.iloc[starts], all_rows.iloc[others])
            starts, moved = others, len(all_rows) + np.arange(len(mixed))
            all_rows = leaves.frame_with(mixed)
        boundaries = Boundaries(tree, all_rows, leaves.inputs, options.offset)
        boundary_rows = boundaries.make_rows(leaf_nodes.tolist(), moved.tolist(), rng)
        for start, boundary_row in zip(starts.tolist(), boundary_rows, strict=True):
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
        leaf_text = pluralise(lost_count, "leaf", "leaves")
        notes.append(f"For {leaf_text} no row at the limits was found that fits the types of the columns.")
    if () in limits:
        leaf_text = pluralise(limits.count(()), "leaf", "leaves")
        notes.append(f"{leaf_text} compare no numbers, so there are no limits: their rows are unchanged.")
    target = options.target
    if target is not None:
        rows = rows.assign(**{target: list(map(tuple, answers)) if answers.ndim > 1 else answers})
        notes.append(
            f"The column {target!r} of rows that were made holds the answer of the model, as the true label is unknown."
        )
    return Selection(
        criterion="BVA",
        rows=rows,
        places=np.array(origins, dtype=np.intp),
        answers=answers,
        leaves=leaves,
        limits=tuple(limits),
        notes=tuple(notes),
    )
