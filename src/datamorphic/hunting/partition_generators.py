"""Generators that choose empty parts of domains: BART, IPART, RPART and variants."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..errors import ArgumentError
from .generator_base import Generator, GeneratorKernels
from .kernels import cells
from .kernels.cells import BISECTION, ITERATION, WRAPPED
from .kernels.layout import Layout
from .kernels.splitting import add_split, advance_split, grow_boxes, make_boxes

MAX_COLUMNS = 8  # a split makes 2^d boxes, a cell has 3^d - 1 neighbours
MAX_CELLS = 2**27


def validate_neighbour_columns(name: str, layout: Layout, looks_at_neighbours: bool) -> None:
    """Raise `ArgumentError` if there are too many neighbouring cells to compare."""
    if looks_at_neighbours and layout.columns > MAX_COLUMNS:
        raise ArgumentError(
            f"{name} compares the 3^d cells around each input and takes up to {MAX_COLUMNS} columns, but these inputs have "
            f"{layout.columns}. Use MT-BART (or MRGS-ART), which compares single cells, or SFIDMT-ART."
        )


def validate_split_columns(name: str, layout: Layout) -> None:
    """Raise `ArgumentError` if splitting a box would make too many boxes."""
    if layout.columns > MAX_COLUMNS:
        raise ArgumentError(
            f"{name} splits a box of d columns into 2^d and takes up to {MAX_COLUMNS} columns; these inputs have "
            f"{layout.columns}. Use MT-BART (or MRGS-ART), which halves one column at a time."
        )


class _PartitionGenerator(Generator):
    """Proposes groups in parts of the domains."""

    default_candidates = 4

    def _prepare(self) -> None:
        if self.layout.has_categories:
            raise ArgumentError(
                f"{self.name} cuts the range of each input into parts, but some inputs are categories. Use a generator "
                "that compares distances: SFIDMT-ART or FSCS-ART."
            )


class _CellGenerator(_PartitionGenerator):
    """Proposes groups in equal cells."""

    kernels = GeneratorKernels(add=cells.add_cut, advance=cells.advance_cut)
    scheme: ClassVar[int] = BISECTION
    by_distance: ClassVar[bool] = False

    def _prepare(self) -> None:
        super()._prepare()
        validate_neighbour_columns(self.name, self.layout, self.scheme != BISECTION or self.by_distance)
        self._settings = (self.scheme, True if self.by_distance else None)
        self._cell_capacity = 4 * self._capacity
        grid = cells.make_cells(self.layout, self._capacity, self._cell_capacity, with_lookup=self.by_distance)
        in_lines = self.scheme == WRAPPED and self.layout.columns == 1 and (self.layout.high > self.layout.low).all()
        self._memory = (grid, cells.make_lines(self.layout, self._capacity) if in_lines else None)

    def _grow(self, capacity: int) -> None:
        grid, lines = self._memory
        grid = cells.grow_cells(grid, capacity, self._cell_capacity)
        self._memory = (grid, lines and cells.grow_lines(lines, capacity))

    def _make_room(self) -> None:
        """Make room for the cells of the next refinement."""
        grid, _ = self._memory
        cells_needed = self._cell_capacity
        for slot in range(self.layout.slots):
            columns = slice(self.layout.start[slot], self.layout.start[slot + 1])
            if self.scheme == BISECTION:
                finer = 2.0 * grid.cell_count[slot]
            else:
                is_wide = (self.layout.high > self.layout.low)[columns]
                finer = np.prod((grid.parts[columns] + is_wide).astype(float))
            cells_needed = max(cells_needed, int(finer) + 1)
        if cells_needed > MAX_CELLS:
            raise ArgumentError(
                f"{self.name} would cut a domain of {self.layout.width} columns into {cells_needed:,} cells after "
                f"{self._executed:,} groups; the limit is {MAX_CELLS:,}. Use SFIDMT-ART or MT-BART."
            )
        self._cell_capacity = min(2 * cells_needed, MAX_CELLS)
        self._grow(self._capacity)


class _BoxGenerator(_PartitionGenerator):
    """Proposes groups in boxes that are split at executed inputs."""

    kernels = GeneratorKernels(add=add_split, advance=advance_split)

    def _prepare(self) -> None:
        super()._prepare()
        validate_split_columns(self.name, self.layout)
        self._memory = (make_boxes(self.layout, self._capacity),)

    def _grow(self, capacity: int) -> None:
        self._memory = (grow_boxes(self._memory[0], capacity),)


class MTBART(_CellGenerator):
    """MT-BART: groups in empty cells; all cells are halved when none is empty."""

    name = "MT-BART"
    summary = "k groups from an empty cell of the sources; one whose follow-ups lie in empty cells"


class MTIPART(_CellGenerator):
    """MT-IPART: groups in cells of a grid whose neighbours are empty, too.

    Neighbours are counted across the edges, so that cells at an edge have as many as others.
    """

    name = "MT-IPART"
    summary = "as MT-BART, with cells whose neighbours are empty, too"
    scheme = WRAPPED


class SFIDMTBART(_CellGenerator):
    """SFIDMT-BART: candidates of MT-BART, compared by distances."""

    name = "SFIDMT-BART"
    summary = "k groups from an empty cell of the sources; the one farthest from executed inputs in neighbouring cells"
    default_candidates = 10
    by_distance = True


class MTRPART(_BoxGenerator):
    """MT-RPART: groups in the largest boxes, which are split there."""

    name = "MT-RPART"
    summary = "k groups from the largest box of the sources; one whose follow-ups lie in the largest boxes"


class BART(_CellGenerator):
    """BART: an input in an empty cell; all cells are halved when none is empty."""

    name = "BART"
    summary = "a source from an empty cell"
    default_candidates = 1
    sources_only = True


class IPART(_CellGenerator):
    """IPART: an input in a cell of a grid that is empty with all its neighbours."""

    name = "IPART"
    summary = "a source from a cell whose neighbours are empty, too"
    default_candidates = 1
    sources_only = True
    scheme = ITERATION


class RPART(_BoxGenerator):
    """RPART: a uniform input in the largest box, which is then split there."""

    name = "RPART"
    summary = "a source from the largest box"
    default_candidates = 1
    sources_only = True
