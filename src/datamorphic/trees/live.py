"""Why a mutant lives, and a row that kills it: the path conditions of a tree and its mutant, solved together.

A mutant sends some values of one column the other way at one node. A row kills it if it comes by this node, holds such
a value, and gets different answers on the two sides. All these are conditions on single columns, so rows that meet them
are boxes: looking through all pairs of leaves, one of either side, either gives a box to take a row from, or proves that
there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError
from .allowed import Column, column_of
from .examples import precise, row_within, values_of
from .inputs import Inputs
from .model import LEAF, Floats, Tree, leaf_of
from .mutants import Mutants, mutated, told_change
from .rules import Range, box, passing, side

if TYPE_CHECKING:
    import pandas as pd

EFFORT = 20_000  # boxes to look at for one mutant
EXACT_WHOLE = 2**24  # beyond it single precision does not tell all whole numbers apart

Ranges = dict[int, Range]


@dataclass(frozen=True)
class Lives:
    """Why no row kills a mutant.

    Attributes
    ----------
    killable : bool or None
        Whether an input exists that would; None where that is not known.
    why : str
        The reason, in words.
    where : mapping or None
        Ranges, by column, out of which a row kills it.
    """

    killable: bool | None
    why: str
    where: Mapping[int, Range] | None = None


class Solver:
    """Answers why mutants of a tree live, for the columns of some rows."""

    def __init__(self, tree: Tree, frame: pd.DataFrame, inputs: Inputs, tolerance: float = 0.0) -> None:
        self.tree, self.frame, self.inputs, self.tolerance = tree, frame, inputs, tolerance
        self.single = precise(tree)
        self._columns: dict[int, Column] = {}

    @cached_property
    def _values(self) -> Floats:
        return values_of(self.frame, self.inputs)

    @cached_property
    def _extremes(self) -> tuple[Floats, Floats]:
        """The smallest and the largest answer below each node."""
        low, high = self.tree.answer.astype(np.float64), self.tree.answer.astype(np.float64)
        for node in self.tree.inner[::-1]:  # children before parents
            below = [self.tree.left[node], self.tree.right[node]]
            low[node], high[node] = low[below].min(), high[below].max()
        return low, high

    def _column(self, column: int) -> Column:
        if column not in self._columns:
            own = self._values[:, column]
            self._columns[column] = column_of(column, self.single, self.frame, own, self.inputs)
        return self._columns[column]

    def _possible(self, column: int, range_: Range) -> bool:
        return not self._column(column).within(range_).empty

    def lives(self, mutants: Mutants, number: int) -> Lives:
        """Return why a mutant that no row of the data kills lives on."""
        tree, node = self.tree, int(mutants.node[number])
        column = int(tree.feature[node])
        regions = self._turned(mutants, number)
        above = box(tree, node, told=True)
        if not all(self._possible(each, range_) for each, range_ in above.items()):
            return Lives(False if self._exact(node) else None, "no possible input comes there")
        effort, reached = EFFORT, False
        for region in regions:
            range_ = above.get(column, Range()).met(region)
            if not self._possible(column, range_):
                continue
            reached = True
            found, effort = self._differing({**above, column: range_}, node, effort)
            if found is not None:
                return Lives(True, "no row of the data is there", found)
        if effort <= 0:
            return Lives(None, "there are too many cases to look through")
        if not self._exact(node):
            return Lives(None, "no input was found, but for what steps before the tree and rounding may do")
        if not reached:
            return Lives(False, "no possible input makes the two comparisons differ there")
        return Lives(False, "both sides answer the same to every input that could go the other way")

    def row(self, mutants: Mutants, number: int, lives: Lives) -> pd.DataFrame:
        """Return a row that kills a mutant, as near as can be to a real one.

        Raises
        ------
        DataError
            If there is none.
        """
        told = told_change(self.tree, mutants, number)
        if lives.where is None:
            raise DataError(f"No row was found that kills the mutant in which {told}: {lives.why}.")
        changed = mutated(self.tree, mutants, number)

        def kills(made: pd.DataFrame) -> bool:
            seen = self.inputs.seen(made)
            answers = [float(each.answer[leaf_of(each, seen)[0]]) for each in (self.tree, changed)]
            return abs(answers[0] - answers[1]) > self.tolerance

        return row_within(
            lives.where,
            self.single,
            self.frame,
            self.inputs,
            kills,
            told=f"what kills the mutant in which {told}",
            columns=self._column,
            values=self._values,
        )

    def _turned(self, mutants: Mutants, number: int) -> list[Range]:
        """Return the values that go left in the tree and right in the mutant, and those the other way round."""
        tree, node = self.tree, int(mutants.node[number])
        thresholds = tree.told if tree.told is not None else tree.threshold
        limit, operator = float(thresholds[mutants.donor[number]]), int(mutants.operator[number])
        return [
            side(tree, node, goes_left, told=True).met(passing(operator, limit, not goes_left, False, tree.sets))
            for goes_left in (True, False)
        ]

    def _differing(self, ranges: Ranges, node: int, effort: int) -> tuple[Ranges | None, int]:
        """Return ranges whose rows get different answers on the two sides of a node, and the effort that is left."""
        tree, (low, high) = self.tree, self._extremes
        waiting = [(ranges, int(tree.left[node]), int(tree.right[node]))]
        while waiting and effort > 0:
            effort -= 1
            ranges, one, two = waiting.pop()
            if max(high[one] - low[two], high[two] - low[one]) <= self.tolerance:
                continue
            if tree.left[one] == LEAF:
                one, two = two, one
            if tree.left[one] == LEAF:
                return ranges, effort
            column = int(tree.feature[one])
            for goes_left, child in ((True, int(tree.left[one])), (False, int(tree.right[one]))):
                range_ = ranges.get(column, Range()).met(side(tree, one, goes_left, told=True))
                if self._possible(column, range_):
                    waiting.append(({**ranges, column: range_}, child, two))
        return None, effort

    def _exact(self, node: int) -> bool:
        """Tell whether nothing but the trees matters: no steps before, and no whole numbers too large to tell apart."""
        if self.inputs.before is not None:
            return False
        whole = self._column(int(self.tree.feature[node])).whole
        return not (self.single and whole and abs(float(self.tree.threshold[node])) > EXACT_WHOLE)
