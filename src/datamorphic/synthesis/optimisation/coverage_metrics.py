"""Metrics that count what a test set covers: cells of the border, leaves of trees, mutants of trees.

What can be covered is an *item*. A *witness* is a group of cases that covers an item together: one case that reaches a
leaf or kills a mutant, two cases between which a border runs. An item is covered as long as one of its witnesses has all
its cases.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..._typing import ModelLike
from ...errors import ArgumentError, DataError, UsageError
from ...exploration.borders import InferredBorder, Threshold
from ...exploration.changes import measure_changes
from ...morphisms.cases import TestSet
from ...space.features import Codes, Mask
from ...space.neighbours import find_nearest
from ...space.outputs import Outputs
from ...space.projection import BINS_PER_AXIS, Archive
from ...systems.base import Executor
from ...systems.estimator import Estimator
from ...trees.coverage.mutation import find_kills_by_tree
from ...trees.coverage.run import resolve_kill_rule
from ...trees.descent import find_leaves
from ...trees.forest import Forest
from ...trees.inputs import TreeInputs, TreeMatrix, read_data
from ...trees.mutants import generate_mutants
from ...trees.read import read_forest
from .metrics import FitnessMetric, Numbers, RowNumbers, remove_in_rounds

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BORDER_REACH = 1 / 64  # of the ranges of continuous features: so near are two cases that show a border
MAX_FLAT_FEATURES = 2  # of a space that is drawn as it is
MAX_NEIGHBOURS_ACROSS = 3  # cases with another answer that are compared with each case
MAX_GREEDY_CELLS = 20_000_000  # cases x items x removals; beyond, cases are removed in rounds
POTENTIAL_WEIGHT = 1e-3  # of being near to covering something new, which decides between cases that nobody would miss
RARITY_WEIGHT = 1e-6  # of a share of what is covered, which decides between cases of equal potential


@dataclass(frozen=True, kw_only=True)
class Witnesses:
    """Which cases cover which items.

    `cases` has one row per witness with the row numbers of its cases, `items` the number of the item. `potential`, between
    0 and 1, says how near each case is to covering something; it decides between cases that are otherwise equal.
    """

    cases: RowNumbers
    items: RowNumbers
    case_count: int
    potential: Numbers

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many witnesses each covered item has, in the order of `np.unique(items)`."""
        return np.bincount(self._columns, minlength=0)

    @cached_property
    def _columns(self) -> RowNumbers:
        return np.unique(self.items, return_inverse=True)[1].astype(np.intp)

    @cached_property
    def counts_by_case(self) -> csr_array:
        """In how many witnesses of each covered item each case takes part: a sparse matrix, one row per case."""
        from scipy.sparse import coo_array

        width = self.cases.shape[1]
        ones = np.ones(self.cases.size)
        matrix = coo_array(
            (ones, (self.cases.ravel(), np.repeat(self._columns, width))), shape=(self.case_count, len(self.counts))
        )
        return matrix.tocsr()

    def compute_shares(self) -> Numbers:
        """Return the sum over all items of a case's share of the witnesses."""
        if not len(self.counts):
            return np.zeros(self.case_count)
        shares = self.counts_by_case @ (1.0 / (self.counts * self.cases.shape[1]))
        return np.asarray(shares, dtype=np.float64)


class CoverageMetric(FitnessMetric):
    """The share of all items that a test set covers."""

    item_count: int

    def find_witnesses(self, tests: TestSet) -> Witnesses:
        """Return which cases cover what."""
        raise NotImplementedError

    def measure(self, tests: TestSet) -> float:
        """Return the share of items that are covered."""
        return len(self.find_witnesses(tests).counts) / max(1, self.item_count)

    def score_cases(self, tests: TestSet) -> Numbers:
        """Return the share of each case in what is covered."""
        witnesses = self.find_witnesses(tests)
        return witnesses.compute_shares() + POTENTIAL_WEIGHT * witnesses.potential

    def find_needed(self, tests: TestSet) -> Mask:
        """Return the cases of one witness of every item."""
        witnesses = self.find_witnesses(tests)
        needed = np.zeros(len(tests), dtype=bool)
        needed[witnesses.cases[np.unique(witnesses.items, return_index=True)[1]]] = True
        return needed

    def choose_weakest(self, tests: TestSet, count: int, removable: Mask, rng: np.random.Generator) -> RowNumbers:
        """Return rows without which as few items as possible are lost, chosen one after the other."""
        witnesses = self.find_witnesses(tests)
        if len(tests) * len(witnesses.counts) * count > MAX_GREEDY_CELLS:
            return remove_in_rounds(self.score_cases, tests, count, removable, rng)
        return _remove_greedily(witnesses, count, removable, rng)


def _remove_greedily(witnesses: Witnesses, count: int, removable: Mask, rng: np.random.Generator) -> RowNumbers:
    """Return rows that are removed one after the other, each time the one whose loss costs the fewest items."""
    parts = witnesses.counts_by_case.toarray()
    totals = witnesses.counts.astype(np.float64)
    is_available = removable.copy()
    tie_break = POTENTIAL_WEIGHT * witnesses.potential + 1e-9 * rng.random(witnesses.case_count)
    cases, columns = witnesses.cases, witnesses._columns
    witness_alive = np.ones(len(cases), dtype=bool)
    rows = np.empty(count, dtype=np.intp)
    for place in range(count):
        shares = parts / np.maximum(totals, 1.0)
        losses = (shares >= 1.0).sum(axis=1)  # items all of whose witnesses need the case
        scores = losses + RARITY_WEIGHT * shares.sum(axis=1) / max(1, len(totals)) + tie_break
        row = int(np.where(is_available, scores, np.inf).argmin())
        rows[place] = row
        is_available[row] = False
        if parts[row].any():
            lost = witness_alive & (cases == row).any(axis=1)
            witness_alive &= ~lost
            np.subtract.at(parts, (cases[lost].ravel(), np.repeat(columns[lost], cases.shape[1])), 1.0)
            totals -= np.bincount(columns[lost], minlength=len(totals))
    return rows


class BorderCoverage(CoverageMetric):
    """The share of cells of a grid in which the test set shows a border.

    Two cases show a border if they have different answers and nearly the same input: their continuous features are at most
    1/64 of the ranges apart, and at most one other feature differs, an integer by at most one step. The grid has 16 x 16
    cells. It spans two features, or the two principal components of the test set to start from. A cell counts once for every
    two answers that meet there.
    """

    name = "border_coverage"
    needs_outputs = True
    item_count = BINS_PER_AXIS**2

    def __init__(self, labels: tuple[object, ...] | None = None, *, numeric: bool = False) -> None:
        self._border = InferredBorder(labels, numbers=numeric)

    def prepare(self, start: TestSet) -> None:
        """Lay the grid over the test set, and see what kind of answers there are."""
        self._archive = Archive(start.space, _find_grid_corners(start))
        self._border.read(_get_outputs(start, self.name))
        self.remark = self._border.remark

    def find_witnesses(self, tests: TestSet) -> Witnesses:
        """Return the pairs of cases that show a border, and the cells they are in."""
        codes = tests.inputs.codes
        sides = self._number_sides(self._border.read(_get_outputs(tests, self.name)))
        first_rows, second_rows = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
        gaps = np.full(len(tests), np.inf)
        for side in np.unique(sides[sides >= 0]):
            here, there = np.flatnonzero(sides == side), np.flatnonzero((sides >= 0) & (sides != side))
            if not there.size:
                break
            distances, places = find_nearest(tests.space, codes[here], codes[there], MAX_NEIGHBOURS_ACROSS)
            gaps[here] = distances[:, 0]
            is_pair = places >= 0
            first_rows.append(np.repeat(here, is_pair.sum(axis=1)))
            second_rows.append(there[places[is_pair]])
        first, second = np.concatenate(first_rows), np.concatenate(second_rows)
        near = self._are_near(tests, codes[first], codes[second])
        pairs = np.unique(np.sort(np.column_stack([first[near], second[near]]), axis=1), axis=0)
        low, high = np.sort(sides[pairs], axis=1).T
        cells = self._archive.locate_cells(codes)
        # the lower one of two neighbouring cells, so that the order of the cases does not matter
        items = (low * (sides.max(initial=0) + 1) + high) * self.item_count + cells[pairs].min(axis=1)
        potential = _compute_potential(cells, gaps)
        return Witnesses(cases=pairs, items=items, case_count=len(tests), potential=potential)

    def _number_sides(self, states: Codes) -> RowNumbers:
        """Return a number per answer, -1 where there is none."""
        border = self._border.inferred_border
        with np.errstate(invalid="ignore"):
            numbers = (states > border.value).astype(np.float64) if isinstance(border, Threshold) else states
        return np.where(np.isnan(states), -1.0, numbers).astype(np.intp)

    @staticmethod
    def _are_near(tests: TestSet, first: Codes, second: Codes) -> Mask:
        space = tests.space
        changes = measure_changes(space, first, second)
        continuous = np.array([feature.kind == "continuous" for feature in space.features])
        one_step = np.array([feature.step * feature.scale for feature in space.features])
        one_step[[feature.kind == "categorical" for feature in space.features]] = 1.0
        distance = np.sqrt((changes[:, continuous] ** 2).sum(axis=1))
        others = changes[:, ~continuous]
        is_one_step = (others <= one_step[~continuous] * (1 + 1e-9)).all(axis=1) & ((others > 0).sum(axis=1) <= 1)
        return (distance <= BORDER_REACH) & is_one_step


def _find_grid_corners(start: TestSet) -> Codes:
    """Return the points that the grid spans: the corners of a space that is a rectangle, otherwise the test set."""
    limits = np.array([[feature.low, feature.high] for feature in start.space.features]).T
    if start.space.kinds["text"]:
        return start.inputs.codes
    return limits if len(start.space) <= MAX_FLAT_FEATURES and np.isfinite(limits).all() else start.inputs.codes


def _compute_potential(cells: RowNumbers, gaps: Numbers) -> Numbers:
    """Return how promising each case is: near to another answer, and nearer than other cases of its cell.

    So every part of the space keeps its most promising case, and the search does not gather at the border it found first.
    """
    order = np.lexsort((gaps, cells))
    first = np.concatenate([[True], np.diff(cells[order]) > 0]) if len(cells) else np.empty(0, dtype=bool)
    places = np.arange(len(cells))
    ranks = np.empty(len(cells))
    ranks[order] = places - np.maximum.accumulate(np.where(first, places, 0))
    return 1.0 / ((1.0 + gaps * BINS_PER_AXIS) * (1.0 + ranks))


class _TreeMetric(CoverageMetric):
    """A metric of the trees of a model, which may be the system under test or another model of the same inputs."""

    def __init__(self, forest: Forest) -> None:
        self._forest = forest

    def prepare(self, start: TestSet) -> None:
        """Find the columns of the trees among the features."""
        self._inputs: TreeInputs = read_data(self._forest, start.input, space=start.space)[0]
        if not self.item_count:
            raise ArgumentError(
                f"This {self._forest.owner} makes no decision, so there is nothing to cover. Use another metric."
            )

    def _to_matrix(self, tests: TestSet) -> TreeMatrix:
        return self._inputs.to_tree_matrix(tests.input[list(self._inputs.names)])

    @staticmethod
    def _build_witnesses(cases: RowNumbers, items: RowNumbers, tests: TestSet) -> Witnesses:
        return Witnesses(
            cases=cases.astype(np.intp)[:, None],
            items=items.astype(np.intp),
            case_count=len(tests),
            potential=np.zeros(len(tests)),
        )


class LeafCoverage(_TreeMetric):
    """The share of the leaves of a tree, or of all trees of a forest, that the test set reaches."""

    name = "leaf_coverage"

    def __init__(self, forest: Forest) -> None:
        super().__init__(forest)
        self.item_count = sum(len(tree.leaves) for tree in forest.trees)

    def find_witnesses(self, tests: TestSet) -> Witnesses:
        """Return which case reaches which leaves."""
        matrix, first_node, items = self._to_matrix(tests), 0, []
        for tree in self._forest.trees:
            items.append(find_leaves(tree, matrix) + first_node)
            first_node += len(tree)
        cases = np.tile(np.arange(len(tests)), len(items))
        return self._build_witnesses(cases, np.concatenate(items), tests)


class TreeMutationScore(_TreeMetric):
    """The share of the mutants of a tree's decisions that the test set kills: the answer to a case differs."""

    name = "mutation_score"

    def __init__(self, forest: Forest, tolerance: float | None = None) -> None:
        super().__init__(forest)
        self._mutants = tuple(generate_mutants(tree) for tree in forest.trees)
        self._joint, self._tolerance = resolve_kill_rule(forest, None, tolerance)
        self.item_count = sum(map(len, self._mutants))

    def find_witnesses(self, tests: TestSet) -> Witnesses:
        """Return which case kills which mutants."""
        first_mutant, cases, items = 0, [], []
        kills_by_tree = find_kills_by_tree(
            self._forest, self._to_matrix(tests), self._mutants, self._joint, self._tolerance
        )
        for kills in kills_by_tree:
            cases.append(kills.rows)
            items.append(np.repeat(np.arange(len(kills)), kills.counts) + first_mutant)
            first_mutant += len(kills)
        return self._build_witnesses(np.concatenate(cases), np.concatenate(items), tests)


def find_forest(tree: ModelLike | None, sut: Executor | None, metric: str) -> Forest:
    """Return the trees that a metric is about: those of `tree`, or of the system under test."""
    source: object = tree
    if source is None:
        source = sut.model if isinstance(sut, Estimator) else None
    if isinstance(source, Estimator):
        source = source.model
    if source is None:
        owner = "the test system" if sut is None else sut.name
        raise ArgumentError(
            f"{metric} needs a decision tree or a forest, and {owner} has none. Pass a fitted one: tree=model."
        )
    try:
        return read_forest(source)
    except UsageError as error:
        raise ArgumentError(f"{metric} needs a decision tree or a forest. {error}") from error


def _get_outputs(tests: TestSet, metric: str) -> Outputs:
    if tests.outputs is None:
        raise DataError(f"{metric} needs outputs. Execute the test cases first.")
    return tests.outputs
