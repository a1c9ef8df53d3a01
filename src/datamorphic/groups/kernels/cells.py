"""Domains cut into equal cells, ever finer, and which cells are still open: the mechanics of BART and IPART.

By bisection all cells are halved along one column after the other, and a cell is open while it is empty. By iteration
every column is cut into p parts, then into p + 1, and a cell is open while it and all its neighbours are empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.boxes import Floats
from .compiling import compiled
from .layout import Ints, Layout, settled

BISECTION, ITERATION, WRAPPED = range(3)


class Cells(NamedTuple):
    """The cells of each slot.

    Attributes
    ----------
    points, size : ndarray
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
    size: Ints
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
def _mark(layout: Layout, cells: Cells, how: int, slot: int, begin: int, end: int) -> None:
    """Close the cells that some inputs close, one input after the other.

    All in one loop: handing all these arrays to a function for each cell would take longer than what it does.
    """
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    points, parts = cells.points[slot], cells.parts[first : first + dimension]
    listed, places = cells.listed[slot], cells.place[slot]
    filed = cells.head.shape[1] > 0
    here = np.empty(dimension, dtype=np.int64)
    # the parts before, at and after it along each column; -1 beyond the edge
    beside = np.empty((dimension, 3), dtype=np.int64)
    step = np.empty(dimension, dtype=np.int64)
    still_open = cells.open[slot]
    for point in range(begin, end):
        cell = 0
        for j in range(dimension):
            low, high = layout.low[first + j], layout.high[first + j]
            here[j] = 0
            if high > low:
                here[j] = int(min(max((points[point, j] - low) / (high - low) * parts[j], 0.0), parts[j] - 1.0))
            cell = cell * parts[j] + here[j]
            beside[j, 1] = here[j]
            beside[j, 0] = here[j] - 1
            beside[j, 2] = here[j] + 1
            if here[j] == 0 and how == WRAPPED:
                beside[j, 0] = parts[j] - 1
            if here[j] + 1 == parts[j]:
                beside[j, 2] = 0 if how == WRAPPED else -1
            step[j] = 1 if how == BISECTION else 0
        if filed:
            cells.after[slot, point] = cells.head[slot, cell]
            cells.head[slot, cell] = point
        while True:
            cell = 0
            for j in range(dimension):
                at = beside[j, step[j]]
                cell = -1 if at < 0 or cell < 0 else cell * parts[j] + at
            if cell >= 0 and places[cell] >= 0:
                still_open -= 1
                last = listed[still_open]
                listed[places[cell]] = last
                places[last] = places[cell]
                places[cell] = -1
            j = dimension - 1 if how != BISECTION else -1  # by bisection only its own cell is closed
            while j >= 0:
                if step[j] < 2:
                    step[j] += 1
                    break
                step[j] = 0
                j -= 1
            if j < 0:
                break
    cells.open[slot] = still_open


@compiled
def refined(layout: Layout, cells: Cells, how: int, slot: int) -> Any:
    """Cut a domain finer while no cell is open, or there are as many inputs as cells; False if there is no room."""
    first, last = layout.start[slot], layout.start[slot + 1]
    extent = 0
    for column in range(first, last):
        if layout.high[column] > layout.low[column]:
            extent += 1
    while extent and (cells.open[slot] == 0 or cells.size[slot] >= cells.total[slot]):
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
        _mark(layout, cells, how, slot, 0, cells.size[slot])
    return True


@compiled
def all_refined(layout: Layout, cells: Cells, how: int) -> Any:
    """Cut the domains of all slots finer where that is due; False if there is no room."""
    ready = True
    for slot in range(len(layout.start) - 1):
        if (
            cells.open[slot] == 0 or cells.size[slot] >= cells.total[slot]
        ):  # or the call would cost more than it does
            ready = ready and refined(layout, cells, how, slot)
    return ready


@compiled
def count_closed(layout: Layout, cells: Cells, begin: int, end: int, rows: Any, closed: Any) -> None:
    """Count for each row how many inputs of some slots lie in closed cells."""
    closed[:] = 0.0
    for slot in range(begin, end):
        first, last = layout.start[slot], layout.start[slot + 1]
        places = cells.place[slot]
        for i in range(rows.shape[0]):
            cell = 0
            for column in range(first, last):
                low, high, parts = layout.low[column], layout.high[column], cells.parts[column]
                part = 0
                if high > low:
                    part = int(min(max((rows[i, column] - low) / (high - low) * parts, 0.0), parts - 1.0))
                cell = cell * parts + part
            if places[cell] < 0:
                closed[i] += 1.0


@compiled
def add_to_cells(layout: Layout, cells: Cells, how: int, slot: int, row: Any) -> None:
    """Count the input of a slot as executed."""
    first = layout.start[slot]
    place = cells.size[slot]
    for j in range(layout.start[slot + 1] - first):
        cells.points[slot, place, j] = row[first + j]
    cells.size[slot] += 1
    _mark(layout, cells, how, slot, place, place + 1)


@compiled
def draw_open(rng: Any, cells: Cells, slot: int) -> Any:
    """Draw an open cell; any cell where none is open: one random number."""
    drawn = rng.random()
    if cells.open[slot] == 0:
        return int(drawn * cells.total[slot])
    return cells.listed[slot, int(drawn * cells.open[slot])]


@compiled
def draw_in_cell(rng: Any, layout: Layout, cells: Cells, slot: int, cell: int, rows: Any) -> None:
    """Draw inputs in a cell: one random number a column, row by row."""
    first, last = layout.start[slot], layout.start[slot + 1]
    corner = np.empty(last - first)
    rest = cell
    for j in range(last - first - 1, -1, -1):
        parts = cells.parts[first + j]
        corner[j] = rest % parts
        rest = rest // parts
    for i in range(rows.shape[0]):
        for j in range(last - first):
            low, parts = layout.low[first + j], cells.parts[first + j]
            value = low + (layout.high[first + j] - low) * ((corner[j] + rng.random()) / parts)
            rows[i, first + j] = settled(
                layout.kind[first + j], layout.low[first + j], layout.high[first + j], value
            )


@compiled
def to_next(step: Any) -> Any:
    """Move on to the next of the cells beside one, -1, 0 or 1 along each column; False after the last."""
    for j in range(len(step) - 1, -1, -1):
        if step[j] < 1:
            step[j] += 1
            return True
        step[j] = -1
    return False


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
        if not to_next(step):
            return np.sqrt(best)
