"""Explain why a mutant survives, and find a row that kills it.

A mutant sends some values of one column to the other side of one node. A row kills it if it reaches this node, has
such a value, and gets different answers on the two sides. All these are conditions on single columns, so the rows
that meet them form boxes. Searching all pairs of leaves, one on either side, gives a box to take a row from, or
proves that there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._lazy import pd
from ..errors import DataError
from .column_domain import ColumnDomain, build_column_domain
from .descent import find_leaves
from .examples import find_row_within, is_single_precision, to_user_values
from .inputs import TreeInputs
from .mutants import Mutants, build_mutant, format_change
from .rules import Range, build_range, find_box, find_side
from .tree import LEAF, Floats, Tree

MAX_BOXES_PER_MUTANT = 20_000
MAX_EXACT_INTEGER = 2**24  # beyond, single precision cannot represent all integers

Ranges = dict[int, Range]


@dataclass(frozen=True)
class Survival:
    """Why no row kills a mutant."""

    killable: bool | None  # whether some input kills it; None if unknown
    why: str
    where: Mapping[int, Range] | None = None  # ranges by column from which a row kills it, if known


class MutantSolver:
    """Explains why mutants of a tree survive, and finds rows that kill them."""

    def __init__(self, tree: Tree, frame: pd.DataFrame, inputs: TreeInputs, tolerance: float = 0.0) -> None:
        self.tree, self.frame, self.inputs, self.tolerance = tree, frame, inputs, tolerance
        self.single = is_single_precision(tree)
        self._columns: dict[int, ColumnDomain] = {}

    @cached_property
    def _user_values(self) -> Floats:
        return to_user_values(self.frame, self.inputs)

    @cached_property
    def _answer_bounds(self) -> tuple[Floats, Floats]:
        """The smallest and the largest answer below each node."""
        low, high = self.tree.answer.astype(np.float64), self.tree.answer.astype(np.float64)
        for node in self.tree.inner[::-1]:  # children before parents
            children = [self.tree.left[node], self.tree.right[node]]
            low[node], high[node] = low[children].min(), high[children].max()
        return low, high

    def _get_column(self, column: int) -> ColumnDomain:
        if column not in self._columns:
            column_values = self._user_values[:, column]
            self._columns[column] = build_column_domain(column, self.single, self.frame, column_values, self.inputs)
        return self._columns[column]

    def _is_possible(self, column: int, range_: Range) -> bool:
        return not self._get_column(column).restrict(range_).empty

    def explain_survival(self, mutants: Mutants, number: int) -> Survival:
        """Explain why a mutant survives that no row of the data kills."""
        tree, node = self.tree, int(mutants.node[number])
        column = int(tree.feature[node])
        regions = self._find_turned_ranges(mutants, number)
        path_ranges = find_box(tree, node, in_data_units=True)
        if not all(self._is_possible(path_column, range_) for path_column, range_ in path_ranges.items()):
            return Survival(False if self._is_exact(node) else None, "no possible input reaches the node")
        effort, reached = MAX_BOXES_PER_MUTANT, False
        for region in regions:
            range_ = path_ranges.get(column, Range()).intersect(region)
            if not self._is_possible(column, range_):
                continue
            reached = True
            killing_ranges, effort = self._find_differing_ranges({**path_ranges, column: range_}, node, effort)
            if killing_ranges is not None:
                return Survival(True, "the data have no row that would show it", killing_ranges)
        if effort <= 0:
            return Survival(None, "there are too many cases to search")
        if not self._is_exact(node):
            return Survival(None, "no such input was found, but steps before the tree or rounding may allow one")
        if not reached:
            return Survival(False, "no possible input makes the two comparisons differ")
        return Survival(False, "both sides give the same answer to every input that changes sides")

    def find_killing_row(self, mutants: Mutants, number: int, survival: Survival) -> pd.DataFrame:
        """Find a row that kills a mutant, as similar as possible to a real row, or raise `DataError`."""
        change = format_change(self.tree, mutants, number)
        if survival.where is None:
            raise DataError(f"No row was found that kills the mutant in which {change}: {survival.why}.")
        changed = build_mutant(self.tree, mutants, number)

        def is_killing(candidate: pd.DataFrame) -> bool:
            matrix = self.inputs.to_tree_matrix(candidate)
            answers = [float(variant.answer[find_leaves(variant, matrix)[0]]) for variant in (self.tree, changed)]
            return abs(answers[0] - answers[1]) > self.tolerance

        return find_row_within(
            survival.where,
            self.single,
            self.frame,
            self.inputs,
            is_killing,
            goal=f"what kills the mutant in which {change}",
            get_column=self._get_column,
            values=self._user_values,
        )

    def _find_turned_ranges(self, mutants: Mutants, number: int) -> list[Range]:
        """Return the values that the mutant sends from left to right, and back."""
        tree, node = self.tree, int(mutants.node[number])
        thresholds = tree.data_thresholds if tree.data_thresholds is not None else tree.threshold
        limit, operator = float(thresholds[mutants.donor[number]]), int(mutants.operator[number])
        return [
            find_side(tree, node, goes_left, in_data_units=True).intersect(
                build_range(operator, limit, not goes_left, False, tree.sets)
            )
            for goes_left in (True, False)
        ]

    def _find_differing_ranges(self, ranges: Ranges, node: int, effort: int) -> tuple[Ranges | None, int]:
        """Return ranges with different answers on both sides, and the effort left."""
        tree, (low, high) = self.tree, self._answer_bounds
        pending = [(ranges, int(tree.left[node]), int(tree.right[node]))]
        while pending and effort > 0:
            effort -= 1
            ranges, first, second = pending.pop()
            if max(high[first] - low[second], high[second] - low[first]) <= self.tolerance:
                continue
            if tree.left[first] == LEAF:
                first, second = second, first
            if tree.left[first] == LEAF:
                return ranges, effort
            column = int(tree.feature[first])
            for goes_left, child in ((True, int(tree.left[first])), (False, int(tree.right[first]))):
                range_ = ranges.get(column, Range()).intersect(find_side(tree, first, goes_left, in_data_units=True))
                if self._is_possible(column, range_):
                    pending.append(({**ranges, column: range_}, child, second))
        return None, effort

    def _is_exact(self, node: int) -> bool:
        """Return whether neither preprocessing nor large integers matter."""
        if self.inputs.preprocessing is not None:
            return False
        whole = self._get_column(int(self.tree.feature[node])).whole
        return not (self.single and whole and abs(float(self.tree.threshold[node])) > MAX_EXACT_INTEGER)
