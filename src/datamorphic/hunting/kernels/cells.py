"""Grids of equal cells, refined step by step: the mechanics of BART and IPART.

By bisection, all cells are halved along one column after the other, and a cell is open while it is empty. By
iteration, every column is cut into p parts, then into p + 1, and a cell is open while it and all its neighbours are
empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...relations.box import Floats
from .compiling import compile_kernel
from .layout import Ints, Layout, find_part, pick_greatest, round_to_kind, widen, write_follow_ups

BISECTION, ITERATION, WRAPPED = range(3)


class CellGrid(NamedTuple):
    """The grid of each slot. When a cell is closed, the last open cell takes its position."""

    points: Floats  # (slots, capacity, columns): the executed inputs
    point_count: Ints  # (slots,)
    parts: Ints  # (columns of all slots,): the number of parts of each
    next_axis: Ints  # (slots,): the column that is halved next
    cell_count: Ints  # (slots,)
    open_count: Ints  # (slots,)
    open_cells: npt.NDArray[np.int32]  # (slots, cells): in no order
    open_position: npt.NDArray[np.int32]  # (slots, cells): the place of each cell in `open_cells`, -1 for a closed one
    head: Ints  # (slots, cells): the first input of each; no cells if inputs are not looked up by cell
    after: Ints  # (slots, capacity): the next input of the same cell


def make_cells(layout: Layout, capacity: int, cell_capacity: int, with_lookup: bool = False) -> CellGrid:
    """Return a grid of one cell per slot; `with_lookup` if inputs are looked up by cell."""
    slots = layout.slots
    return CellGrid(
        points=np.zeros((slots, capacity, layout.columns)),
        point_count=np.zeros(slots, dtype=np.int64),
        parts=np.ones(int(layout.start[-1]), dtype=np.int64),
        next_axis=np.zeros(slots, dtype=np.int64),
        cell_count=np.ones(slots, dtype=np.int64),
        open_count=np.ones(slots, dtype=np.int64),
        open_cells=np.zeros((slots, cell_capacity), dtype=np.int32),
        open_position=np.zeros((slots, cell_capacity), dtype=np.int32),
        head=np.full((slots, cell_capacity if with_lookup else 0), -1, dtype=np.int64),
        after=np.full((slots, capacity if with_lookup else 0), -1, dtype=np.int64),
    )


def grow_cells(cells: CellGrid, capacity: int, cell_capacity: int) -> CellGrid:
    """Return the grid with room for more inputs and cells."""
    cells = widen(widen(cells, capacity, points=0.0), cell_capacity, open_cells=0, open_position=0)
    if cells.head.shape[1]:
        cells = widen(widen(cells, capacity, after=-1), cell_capacity, head=-1)
    return cells


@compile_kernel
def _close_cells(layout: Layout, cells: CellGrid, scheme: int, slot: int, begin: int, end: int) -> None:
    """Close the cells that the inputs from `begin` to `end` occupy or neighbour.

    This is one loop because passing the arrays to a function per cell would take longer than the work itself.
    """
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    points, parts = cells.points[slot], cells.parts[first : first + dimension]
    open_cells, places = cells.open_cells[slot], cells.open_position[slot]
    with_lookup = cells.head.shape[1] > 0
    own_parts = np.empty(dimension, dtype=np.int64)
    # the parts before, at and after the own one along each column; -1 beyond the edge
    neighbour_parts = np.empty((dimension, 3), dtype=np.int64)
    step = np.empty(dimension, dtype=np.int64)
    still_open = cells.open_count[slot]
    for point in range(begin, end):
        cell = 0
        for j in range(dimension):
            low, high = layout.low[first + j], layout.high[first + j]
            own_parts[j] = 0
            if high > low:
                own_parts[j] = int(min(max((points[point, j] - low) / (high - low) * parts[j], 0.0), parts[j] - 1.0))
            cell = cell * parts[j] + own_parts[j]
            for place in range(3):
                neighbour_parts[j, place] = own_parts[j] + place - 1
            if own_parts[j] == 0 and scheme == WRAPPED:
                neighbour_parts[j, 0] = parts[j] - 1
            if own_parts[j] + 1 == parts[j]:
                neighbour_parts[j, 2] = 0 if scheme == WRAPPED else -1
            step[j] = 1 if scheme == BISECTION else 0
        if with_lookup:
            cells.after[slot, point] = cells.head[slot, cell]
            cells.head[slot, cell] = point
        while True:
            cell = 0
            for j in range(dimension):
                part = neighbour_parts[j, step[j]]
                cell = -1 if part < 0 or cell < 0 else cell * parts[j] + part
            if cell >= 0 and places[cell] >= 0:
                still_open -= 1
                last = open_cells[still_open]
                open_cells[places[cell]] = last
                places[last] = places[cell]
                places[cell] = -1
            j = dimension - 1 if scheme != BISECTION else -1  # by bisection an input closes its own cell only
            while j >= 0:
                if step[j] < 2:
                    step[j] += 1
                    break
                step[j] = 0
                j -= 1
            if j < 0:
                break
    cells.open_count[slot] = still_open


@compile_kernel
def refine_slot(layout: Layout, cells: CellGrid, scheme: int, slot: int) -> Any:
    """Refine a grid until a cell is open and cells outnumber inputs.

    Return False if there is no room.
    """
    first, last = layout.start[slot], layout.start[slot + 1]
    wide_columns = 0
    for column in range(first, last):
        if layout.high[column] > layout.low[column]:
            wide_columns += 1
    while wide_columns and (cells.open_count[slot] == 0 or cells.point_count[slot] >= cells.cell_count[slot]):
        total = 1
        next_column = -1
        if scheme == BISECTION:
            next_column = first + cells.next_axis[slot]
            while not layout.high[next_column] > layout.low[next_column]:
                next_column = first + (next_column + 1 - first) % (last - first)
            total = 2 * cells.cell_count[slot]
        else:
            for column in range(first, last):
                if layout.high[column] > layout.low[column]:
                    total *= cells.parts[column] + 1
        if total > cells.open_position.shape[1]:
            return False
        if scheme == BISECTION:
            cells.parts[next_column] *= 2
            cells.next_axis[slot] = (next_column + 1 - first) % (last - first)
        else:
            for column in range(first, last):
                if layout.high[column] > layout.low[column]:
                    cells.parts[column] += 1
        cells.cell_count[slot] = total
        cells.open_count[slot] = total
        for cell in range(total):
            cells.open_cells[slot, cell] = cell
            cells.open_position[slot, cell] = cell
        if cells.head.shape[1]:
            cells.head[slot, :total] = -1
        _close_cells(layout, cells, scheme, slot, 0, cells.point_count[slot])
    return True


@compile_kernel
def refine_all_slots(layout: Layout, cells: CellGrid, scheme: int) -> Any:
    """Refine the grids of all slots that need it; return False if there is no room."""
    ready = True
    for slot in range(len(layout.start) - 1):
        # without this condition, the call would cost more than it does
        if cells.open_count[slot] == 0 or cells.point_count[slot] >= cells.cell_count[slot]:
            ready = ready and refine_slot(layout, cells, scheme, slot)
    return ready


@compile_kernel
def count_closed(layout: Layout, cells: CellGrid, begin: int, end: int, rows: Floats, closed_counts: Floats) -> None:
    """Count the inputs in closed cells per row, over the slots from `begin` to `end`."""
    closed_counts[:] = 0.0
    for slot in range(begin, end):
        first, last = layout.start[slot], layout.start[slot + 1]
        places = cells.open_position[slot]
        for i in range(rows.shape[0]):
            cell = 0
            for column in range(first, last):
                low, high, parts = layout.low[column], layout.high[column], cells.parts[column]
                part = 0
                if high > low:
                    part = int(min(max((rows[i, column] - low) / (high - low) * parts, 0.0), parts - 1.0))
                cell = cell * parts + part
            if places[cell] < 0:
                closed_counts[i] += 1.0


@compile_kernel
def add_to_cells(layout: Layout, cells: CellGrid, scheme: int, slot: int, row: Floats) -> None:
    """Add the input of a slot to its grid."""
    first = layout.start[slot]
    place = cells.point_count[slot]
    for j in range(layout.start[slot + 1] - first):
        cells.points[slot, place, j] = row[first + j]
    cells.point_count[slot] += 1
    _close_cells(layout, cells, scheme, slot, place, place + 1)


@compile_kernel
def draw_open_cell(rng: np.random.Generator, cells: CellGrid, slot: int) -> Any:
    """Draw an open cell, or any cell if none is open, by one random number."""
    random_value = rng.random()
    if cells.open_count[slot] == 0:
        return int(random_value * cells.cell_count[slot])
    return cells.open_cells[slot, int(random_value * cells.open_count[slot])]


@compile_kernel
def draw_in_cell(rng: np.random.Generator, layout: Layout, cells: CellGrid, slot: int, cell: int, rows: Floats) -> None:
    """Draw inputs in a cell, by one random number per column, row by row."""
    first, last = layout.start[slot], layout.start[slot + 1]
    corner = np.empty(last - first)
    remainder = cell
    for j in range(last - first - 1, -1, -1):
        parts = cells.parts[first + j]
        corner[j] = remainder % parts
        remainder = remainder // parts
    for i in range(rows.shape[0]):
        for j in range(last - first):
            low, high = layout.low[first + j], layout.high[first + j]
            value = low + (high - low) * ((corner[j] + rng.random()) / cells.parts[first + j])
            rows[i, first + j] = round_to_kind(layout.kind[first + j], low, high, value)


@compile_kernel
def move_to_next_neighbour(step: Ints) -> Any:
    """Move to the next step of -1, 0 or 1 per column; return False after the last."""
    for j in range(len(step) - 1, -1, -1):
        if step[j] < 1:
            step[j] += 1
            return True
        step[j] = -1
    return False


@compile_kernel
def find_nearby_distance(layout: Layout, cells: CellGrid, slot: int, row: Floats) -> Any:
    """Return the distance to the nearest input in the same or a neighbouring cell."""
    first, last = layout.start[slot], layout.start[slot + 1]
    dimension = last - first
    own_parts = np.empty(dimension, dtype=np.int64)
    for j in range(dimension):
        own_parts[j] = find_part(layout, first + j, cells.parts[first + j], row[first + j])
    step = np.full(dimension, -1, dtype=np.int64)
    best = np.inf
    while True:
        cell = 0
        inside = True
        for j in range(dimension):
            part = own_parts[j] + step[j]
            if part < 0 or part >= cells.parts[first + j]:
                inside = False
            cell = cell * cells.parts[first + j] + part
        if inside:
            place = cells.head[slot, cell]
            while place >= 0:
                squares = 0.0
                for j in range(dimension):
                    difference = (row[first + j] - cells.points[slot, place, j]) * layout.scale[first + j]
                    squares += difference * difference
                best = min(best, squares)
                place = cells.after[slot, place]
        if not move_to_next_neighbour(step):
            return np.sqrt(best)


class CutSettings(NamedTuple):
    """How grids are refined, and whether candidates are compared by distances."""

    scheme: int
    by_distance: bool


@compile_kernel
def propose_cut(rng: np.random.Generator, layout: Layout, settings: CutSettings, cells: CellGrid, rows: Floats) -> Any:
    """Draw candidates in one open cell per source; return False without room."""
    if not refine_all_slots(layout, cells, settings.scheme):
        return False
    open_cells = np.empty(layout.sources, dtype=np.int64)
    for slot in range(layout.sources):
        open_cells[slot] = draw_open_cell(rng, cells, slot)
    for slot in range(layout.sources):
        draw_in_cell(rng, layout, cells, slot, open_cells[slot], rows)
    return True


@compile_kernel
def choose_cut(layout: Layout, settings: CutSettings, cells: CellGrid, rows: Floats, tie: float) -> Any:
    """Return a candidate whose follow-ups all lie in open cells.

    `tie` decides among several, or if there is none.

    By distances, return the candidate with the most inputs without executed neighbours, among equals the one farthest
    from executed inputs nearby.
    """
    count = rows.shape[0]
    scores = np.zeros(count)
    if not settings.by_distance:
        count_closed(layout, cells, layout.sources, len(layout.start) - 1, rows, scores)
        for i in range(count):
            scores[i] = 1.0 if scores[i] == 0.0 else 0.0
        return pick_greatest(scores, tie)
    isolated_inputs = np.zeros(count)
    for i in range(count):
        for slot in range(len(layout.start) - 1):
            distance = find_nearby_distance(layout, cells, slot, rows[i])
            if distance == np.inf:
                isolated_inputs[i] += 1.0
            else:
                scores[i] += distance
    greatest = isolated_inputs.max()
    for i in range(count):
        if isolated_inputs[i] < greatest:
            scores[i] = -1.0
        elif greatest == len(layout.start) - 1:
            scores[i] = 0.0
    return pick_greatest(scores, tie)


@compile_kernel
def add_cut(layout: Layout, settings: CutSettings, cells: CellGrid, row: Floats) -> None:
    """Count a group as executed."""
    for slot in range(len(layout.start) - 1):
        add_to_cells(layout, cells, settings.scheme, slot, row)


@compile_kernel
def advance_cut(
    rng: np.random.Generator, layout: Layout, settings: CutSettings, cells: CellGrid, rows: Floats, out: Floats
) -> Any:
    """Write groups to `out` while there is room to refine; return how many."""
    for i in range(out.shape[0]):
        if not propose_cut(rng, layout, settings, cells, rows):
            return i
        write_follow_ups(layout, rows)
        best = choose_cut(layout, settings, cells, rows, rng.random())
        add_cut(layout, settings, cells, rows[best])
        out[i] = rows[best]
    return out.shape[0]
