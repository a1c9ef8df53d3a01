"""Domains cut into equal cells, ever finer, and which cells are still open: the mechanics of BART and IPART.

By bisection all cells are halved along one column after the other, and a cell is open while it is empty. By iteration
every column is cut into p parts, then into p + 1, and a cell is open while it and all its neighbours are empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..relations.boxes import Floats
from .compiling import compiled
from .layout import Ints, Layout, settled

BISECTION, ITERATION, WRAPPED = range(3)


class Cells(NamedTuple):
    """The cells of each slot.

    Attributes
    ----------
    points, count : ndarray
        What was executed: slot, number, column; how many of each slot.
    parts : ndarray
        Into how many parts each column is cut.
    axis : ndarray
        The column that is halved next, a slot.
    total, open : ndarray
        How many cells there are, and how many of them are open, a slot.
    listed, place : ndarray
        The open cells of each slot, in no order, and where each cell stands among them; -1 where it is closed. A cell
        that is closed leaves its place to the last one.
    head, after : ndarray
        The first input of each cell, and the next after each input; of no length where nobody asks.
    """

    points: Floats
    count: Ints
    parts: Ints
    axis: Ints
    total: Ints
    open: Ints
    listed: Any
    place: Any
    head: Ints
    after: Ints


def make_cells(layout: Layout, capacity: int, cells: int, filed: bool = False) -> Cells:
    """Return one cell for each slot, and room for some inputs and cells; `filed` if inputs are looked up by cell."""
    slots = layout.slots
    return Cells(
        np.zeros((slots, capacity, int(np.diff(layout.start).max()))),
        np.zeros(slots, dtype=np.int64),
        np.ones(int(layout.start[-1]), dtype=np.int64),
        np.zeros(slots, dtype=np.int64),
        np.ones(slots, dtype=np.int64),
        np.ones(slots, dtype=np.int64),
        np.zeros((slots, cells), dtype=np.int32),
        np.zeros((slots, cells), dtype=np.int32),
        np.full((slots, cells if filed else 0), -1, dtype=np.int64),
        np.full((slots, capacity if filed else 0), -1, dtype=np.int64),
    )


def grown_cells(cells: Cells, capacity: int, room: int) -> Cells:
    """Return the same with room for more inputs and cells."""

    def wider(array: Any, size: int, fill: float) -> Any:
        if not array.shape[1] or size <= array.shape[1]:
            return array
        made = np.full((array.shape[0], size, *array.shape[2:]), fill, dtype=array.dtype)
        made[:, : array.shape[1]] = array
        return made

    return cells._replace(
        points=wider(cells.points, capacity, 0.0),
        listed=wider(cells.listed, room, 0),
        place=wider(cells.place, room, 0),
        head=wider(cells.head, room, -1),
        after=wider(cells.after, capacity, -1),
    )


@compiled
def part_of(layout: Layout, cells: Cells, column: int, value: float) -> Any:
    """Return in which part of a column a value lies; in the first or the last where it lies outside."""
    low, high, parts = layout.low[column], layout.high[column], cells.parts[column]
    if not high > low:
        return 0
    return int(min(max((value - low) / (high - low) * parts, 0.0), parts - 1.0))


@compiled
def cell_of(layout: Layout, cells: Cells, slot: int, row: Any) -> Any:
    """Return the cell an input lies in."""
    cell = 0
    for column in range(layout.start[slot], layout.start[slot + 1]):
        cell = cell * cells.parts[column] + part_of(layout, cells, column, row[column])
    return cell


@compiled
def _close(cells: Cells, slot: int, cell: int) -> None:
    place = cells.place[slot, cell]
    if place >= 0:
        cells.open[slot] -= 1
        last = cells.listed[slot, cells.open[slot]]
        cells.listed[slot, place] = last
        cells.place[slot, last] = place
        cells.place[slot, cell] = -1


@compiled
def _mark(layout: Layout, cells: Cells, how: int, slot: int, place: int) -> None:
    """Close the cells that an input closes."""
    first, last = layout.start[slot], layout.start[slot + 1]
    dimension = last - first
    here = np.empty(dimension, dtype=np.int64)
    cell = 0
    for j in range(dimension):
        here[j] = part_of(layout, cells, first + j, cells.points[slot, place, j])
        cell = cell * cells.parts[first + j] + here[j]
    if cells.head.shape[1]:
        cells.after[slot, place] = cells.head[slot, cell]
        cells.head[slot, cell] = place
    if how == BISECTION:
        _close(cells, slot, cell)
        return
    beside = np.empty((dimension, 3), dtype=np.int64)  # the parts before, at and after it; -1 beyond the edge
    for j in range(dimension):
        parts = cells.parts[first + j]
        beside[j, 1] = here[j]
        beside[j, 0] = here[j] - 1 if here[j] > 0 or how != WRAPPED else parts - 1
        after = here[j] + 1
        if after == parts:
            after = 0 if how == WRAPPED else -1
        beside[j, 2] = after
    if dimension == 2:  # the same as below, and the most usual case
        for a in range(3):
            for b in range(3):
                if beside[0, a] >= 0 and beside[1, b] >= 0:
                    _close(cells, slot, beside[0, a] * cells.parts[first + 1] + beside[1, b])
        return
    step = np.zeros(dimension, dtype=np.int64)
    while True:
        cell = 0
        inside = True
        for j in range(dimension):
            at = beside[j, step[j]]
            if at < 0:
                inside = False
            cell = cell * cells.parts[first + j] + at
        if inside:
            _close(cells, slot, cell)
        j = dimension - 1
        while j >= 0:
            if step[j] < 2:
                step[j] += 1
                break
            step[j] = 0
            j -= 1
        if j < 0:
            return


@compiled
def refined(layout: Layout, cells: Cells, how: int, slot: int) -> Any:
    """Cut a domain finer while no cell is open, or there are as many inputs as cells; False if there is no room."""
    first, last = layout.start[slot], layout.start[slot + 1]
    extent = 0
    for column in range(first, last):
        if layout.high[column] > layout.low[column]:
            extent += 1
    while extent and (cells.open[slot] == 0 or cells.count[slot] >= cells.total[slot]):
        total = 1
        chosen = -1
        if how == BISECTION:
            chosen = first + cells.axis[slot]
            while not layout.high[chosen] > layout.low[chosen]:
                chosen = first + (chosen + 1 - first) % (last - first)
            total = 2 * cells.total[slot]
        else:
            for column in range(first, last):
                if layout.high[column] > layout.low[column]:
                    total *= cells.parts[column] + 1
        if total > cells.place.shape[1]:
            return False
        if how == BISECTION:
            cells.parts[chosen] *= 2
            cells.axis[slot] = (chosen + 1 - first) % (last - first)
        else:
            for column in range(first, last):
                if layout.high[column] > layout.low[column]:
                    cells.parts[column] += 1
        cells.total[slot] = total
        cells.open[slot] = total
        for cell in range(total):
            cells.listed[slot, cell] = cell
            cells.place[slot, cell] = cell
        if cells.head.shape[1]:
            cells.head[slot, :total] = -1
        for place in range(cells.count[slot]):
            _mark(layout, cells, how, slot, place)
    return True


@compiled
def all_refined(layout: Layout, cells: Cells, how: int) -> Any:
    """Cut the domains of all slots finer where that is due; False if there is no room."""
    ready = True
    for slot in range(len(layout.start) - 1):
        ready = ready and refined(layout, cells, how, slot)
    return ready


@compiled
def is_open(layout: Layout, cells: Cells, slot: int, row: Any) -> Any:
    """Tell whether an input lies in an open cell."""
    return cells.place[slot, cell_of(layout, cells, slot, row)] >= 0


@compiled
def add_to_cells(layout: Layout, cells: Cells, how: int, slot: int, row: Any) -> None:
    """Count the input of a slot as executed."""
    first = layout.start[slot]
    place = cells.count[slot]
    for j in range(layout.start[slot + 1] - first):
        cells.points[slot, place, j] = row[first + j]
    cells.count[slot] += 1
    _mark(layout, cells, how, slot, place)


@compiled
def draw_open(rng: Any, cells: Cells, slot: int) -> Any:
    """Draw an open cell; any cell where none is open: one random number."""
    drawn = rng.random()
    if cells.open[slot] == 0:
        return int(drawn * cells.total[slot])
    return cells.listed[slot, int(drawn * cells.open[slot])]


@compiled
def draw_in_cell(rng: Any, layout: Layout, cells: Cells, slot: int, cell: int, row: Any) -> None:
    """Draw an input in a cell: one random number a column."""
    first, last = layout.start[slot], layout.start[slot + 1]
    rest = cell
    for j in range(last - first - 1, -1, -1):
        parts = cells.parts[first + j]
        row[first + j] = rest % parts
        rest = rest // parts
    for column in range(first, last):
        low, parts = layout.low[column], cells.parts[column]
        value = low + (layout.high[column] - low) * ((row[column] + rng.random()) / parts)
        row[column] = settled(layout, column, value)


@compiled
def nearby(layout: Layout, cells: Cells, slot: int, row: Any) -> Any:
    """Return the distance to the nearest executed input in the cell of an input or beside it; infinite for none."""
    first, last = layout.start[slot], layout.start[slot + 1]
    dimension = last - first
    here = np.empty(dimension, dtype=np.int64)
    for j in range(dimension):
        here[j] = part_of(layout, cells, first + j, row[first + j])
    step = np.full(dimension, -1, dtype=np.int64)
    best = np.inf
    while True:
        cell = 0
        inside = True
        for j in range(dimension):
            at = here[j] + step[j]
            if at < 0 or at >= cells.parts[first + j]:
                inside = False
            cell = cell * cells.parts[first + j] + at
        if inside:
            place = cells.head[slot, cell]
            while place >= 0:
                squares = 0.0
                for j in range(dimension):
                    apart = (row[first + j] - cells.points[slot, place, j]) * layout.scale[first + j]
                    squares += apart * apart
                best = min(best, squares)
                place = cells.after[slot, place]
        j = dimension - 1
        while j >= 0:
            if step[j] < 1:
                step[j] += 1
                break
            step[j] = -1
            j -= 1
        if j < 0:
            return np.sqrt(best)
