"""Generators that cut domains into parts and go where nothing was executed: BART, IPART, RPART and their kin."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..errors import ArgumentError
from ..relations.boxes import Floats
from .base import Generator
from .kernels.cells import BISECTION, ITERATION, WRAPPED, Cells, grown_cells, make_cells
from .kernels.cutting import Cut, add_cut, advance_cut, choose_cut, propose_cut
from .kernels.layout import Layout
from .kernels.splitting import (
    Boxes,
    add_split,
    advance_split,
    choose_split,
    grown_boxes,
    make_boxes,
    propose_split,
)

DEEPEST = 8  # columns: 2^d children a split, 3^d cells beside one another
MOST_CELLS = 2**27


def check_neighbours(name: str, layout: Layout, looks: bool) -> None:
    """Raise `ArgumentError` if somebody looks at neighbouring cells where there are too many of them."""
    columns = int(np.diff(layout.start).max())
    if looks and columns > DEEPEST:
        raise ArgumentError(
            f"{name} looks at the 3^d cells about each input and takes up to {DEEPEST} columns; these have {columns}. "
            "Take MT-BART (or MRGS-ART), which looks at its own cell only, or SFIDMT-ART."
        )


class _Cutting(Generator):
    """Domains cut into parts."""

    candidates = 4

    def _prepare(self) -> None:
        if self.layout.has_categories:
            raise ArgumentError(
                f"{self.name} cuts the range of each input in parts, and some inputs are categories. Take a generator that "
                "goes by distances: SFIDMT-ART or FSCS-ART."
            )
        self._make()

    def _make(self) -> None:
        raise NotImplementedError


class _Cells(_Cutting):
    """Domains cut into equal cells."""

    how: ClassVar[int] = BISECTION
    distances: ClassVar[bool] = False
    _memory: Cells

    def _make(self) -> None:
        check_neighbours(self.name, self.layout, self.how != BISECTION or self.distances)
        self._way = Cut(self.how, self.distances)
        self._cells = 4 * self._room
        self._memory = make_cells(self.layout, self._room, self._cells, filed=self.distances)

    def _grow(self, room: int) -> None:
        self._memory = grown_cells(self._memory, room, self._cells)

    def _more_cells(self) -> None:
        """Make room for the cells of the next cut."""
        memory = self._memory
        needed = self._cells
        for slot in range(self.layout.slots):
            first, last = self.layout.start[slot], self.layout.start[slot + 1]
            wide = (self.layout.high > self.layout.low)[first:last]
            parts = memory.parts[first:last]
            finer = np.prod((parts + wide).astype(float)) if self.how != BISECTION else 2.0 * memory.total[slot]
            needed = max(needed, int(finer) + 1)
        if needed > MOST_CELLS:
            raise ArgumentError(
                f"{self.name} would cut a domain of {self.layout.width} columns into {needed:,} cells after {self.count:,} "
                "groups, which is too many to keep. Take SFIDMT-ART or MT-BART."
            )
        self._cells = min(2 * needed, MOST_CELLS)
        self._memory = grown_cells(memory, self._room, self._cells)

    def _advance(self, made: Floats) -> int:
        done = int(advance_cut(self.rng, self.layout, self._way, self._memory, self._rows, made))
        if done < len(made):
            self._more_cells()
        return done

    def _candidates(self) -> bool:
        if propose_cut(self.rng, self.layout, self._way, self._memory, self._rows):
            return True
        self._more_cells()
        return False

    def _choose(self, tie: float) -> int:
        return int(choose_cut(self.layout, self._way, self._memory, self._rows, tie))

    def _add(self, row: Floats) -> None:
        add_cut(self.layout, self._way, self._memory, row)


class _Boxes(_Cutting):
    """Domains split at what was executed."""

    _memory: Boxes

    def _make(self) -> None:
        if np.diff(self.layout.start).max() > DEEPEST:
            raise ArgumentError(
                f"{self.name} splits a box of d columns into 2^d and takes up to {DEEPEST} columns; these inputs have "
                f"{int(np.diff(self.layout.start).max())}. Take MT-BART, which halves one column at a time."
            )
        self._memory = make_boxes(self.layout, self._room)

    def _grow(self, room: int) -> None:
        self._memory = grown_boxes(self._memory, room)

    def _advance(self, made: Floats) -> int:
        return int(advance_split(self.rng, self.layout, self._memory, self._rows, made))

    def _candidates(self) -> bool:
        propose_split(self.rng, self.layout, self._memory, self._rows)
        return True

    def _choose(self, tie: float) -> int:
        return int(choose_split(self.layout, self._memory, self._rows, tie))

    def _add(self, row: Floats) -> None:
        add_split(self.layout, self._memory, row)


class MTBART(_Cells):
    """MT-BART: all cells of a domain are halved when none is empty; sources, and follow-ups, go to empty ones."""

    name = "MT-BART"
    says = "k groups from an empty cell of the sources; one whose follow-ups lie in empty cells"


class MTIPART(_Cells):
    """MT-IPART: a grid with ever more parts a column; a group goes to cells that have only empty neighbours.

    Neighbours are counted round the edges, so that cells at an edge have as many as others.
    """

    name = "MT-IPART"
    says = "as MT-BART, with cells whose neighbours are empty, too"
    how = WRAPPED


class SFIDMTBART(_Cells):
    """SFIDMT-BART: candidates of MT-BART, compared by distances to what was executed in neighbouring cells."""

    name = "SFIDMT-BART"
    says = "k groups from an empty cell of the sources; the farthest from what is executed in neighbouring cells"
    candidates = 10
    distances = True


class MTRPART(_Boxes):
    """MT-RPART: sources go to the largest box, follow-ups if possible to theirs, and boxes are split where they hit."""

    name = "MT-RPART"
    says = "k groups from the largest box of the sources; one whose follow-ups lie in the largest boxes"


class BART(_Cells):
    """BART: a uniform input in a random empty cell; all cells are halved when none is empty."""

    name = "BART"
    says = "a source from an empty cell"
    candidates = 1
    alone = True


class IPART(_Cells):
    """IPART: a uniform input in a random cell of a grid that is empty, as are its neighbours; edges do not wrap."""

    name = "IPART"
    says = "a source from a cell whose neighbours are empty, too"
    candidates = 1
    alone = True
    how = ITERATION


class RPART(_Boxes):
    """RPART: a uniform input in the largest box, which is then split there."""

    name = "RPART"
    says = "a source from the largest box"
    candidates = 1
    alone = True
