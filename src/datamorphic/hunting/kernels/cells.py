"""Grids of equal cells, refined step by step: the mechanics of BART and IPART.

By bisection, all cells are halved along one column after the other, and a cell is open while it is empty. By
iteration, every column is cut into p parts, then into p + 1, and a cell is open while it and all its neighbours are
empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...relations.algebra.box import Floats
from .ahead import GroupsAhead, file_ahead, take_ahead, write_follow_ups_ahead
from .compiling import compile_helper, compile_kernel
from .layout import (
    Ints,
    Layout,
    RandomNumbers,
    draw_number,
    find_part,
    lacks_numbers,
    pick_greatest,
    round_to_kind,
    widen,
    write_follow_ups,
)

Cells = npt.NDArray[np.int32]
BISECTION, ITERATION, WRAPPED = range(3)
MAX_LINE_PARTS = 2**40  # for inputs so near to each other that no cell fits between


class CellGrid(NamedTuple):
    """The grid of each slot. When a cell is closed, the last open cell takes its position."""

    points: Floats  # (slots, capacity, columns): the executed inputs
    point_count: Ints  # (slots,)
    parts: Ints  # (columns of all slots,): the number of parts of each
    next_axis: Ints  # (slots,): the column that is halved next
    cell_count: Ints  # (slots,)
    open_count: Ints  # (slots,)
    open_cells: Cells  # (slots, cells): in no order
    open_position: Cells  # (slots, cells): the place of each cell in `open_cells`, -1 for a closed one
    head: Ints  # (slots, cells): the first input of each; no cells if inputs are not looked up by cell
    after: Ints  # (slots, capacity): the next input of the same cell
    scratch: Ints  # (4, columns): saves making arrays
    drawn: Ints  # (slots,): the cell from which candidates are drawn


class CellLines(NamedTuple):
    """The inputs of domains with one column as a ring, to find the next number of parts with an open cell.

    After the greatest input comes the least, as cells at opposite edges are neighbours.
    """

    place: Floats  # (slots, capacity): where each input lies in the domain, from 0 to 1
    order: Ints  # (slots, capacity): the inputs in ascending order
    following: Ints  # (slots, capacity): the next greater input after each
    next_parts: Ints  # (slots, 2 * capacity): a tree of minima; leaves are the least numbers of parts with an open cell
    # between an input and the following one


def make_cells(layout: Layout, capacity: int, cell_capacity: int, with_lookup: bool = False) -> CellGrid:
    """Return a grid of one cell per slot; `with_lookup` if inputs are looked up by cell."""
    slots = layout.slots
    open_position = np.full((slots, cell_capacity), -1, dtype=np.int32)
    open_position[:, 0] = 0
    return CellGrid(
        points=np.zeros((slots, capacity, layout.columns)),
        point_count=np.zeros(slots, dtype=np.int64),
        parts=np.ones(int(layout.start[-1]), dtype=np.int64),
        next_axis=np.zeros(slots, dtype=np.int64),
        cell_count=np.ones(slots, dtype=np.int64),
        open_count=np.ones(slots, dtype=np.int64),
        open_cells=np.zeros((slots, cell_capacity), dtype=np.int32),
        open_position=open_position,
        scratch=np.zeros((4, layout.columns), dtype=np.int64),
        drawn=np.zeros(slots, dtype=np.int64),
        head=np.full((slots, cell_capacity if with_lookup else 0), -1, dtype=np.int64),
        after=np.full((slots, capacity if with_lookup else 0), -1, dtype=np.int64),
    )


def make_lines(layout: Layout, capacity: int) -> CellLines:
    """Return no inputs; the capacity is a power of two."""
    shape = (layout.slots, capacity)
    order, following = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    return CellLines(np.zeros(shape), order, following, np.full((layout.slots, 2 * capacity), MAX_LINE_PARTS))


def grow_lines(lines: CellLines, capacity: int) -> CellLines:
    """Return the lines with room for more inputs; the capacity is a power of two."""
    size = lines.place.shape[1]
    if capacity <= size:
        return lines
    leaves = lines.next_parts[:, size:]
    lines = widen(lines, capacity, place=0.0, order=0, following=0)
    tree = np.full((len(leaves), 2 * capacity), MAX_LINE_PARTS)
    tree[:, capacity : capacity + size] = leaves
    while capacity > 1:
        capacity //= 2
        below = tree[:, 2 * capacity : 4 * capacity]
        tree[:, capacity : 2 * capacity] = np.minimum(below[:, ::2], below[:, 1::2])
    return lines._replace(next_parts=tree)


def grow_cells(cells: CellGrid, capacity: int, cell_capacity: int) -> CellGrid:
    """Return the grid with room for more inputs and cells."""
    cells = widen(widen(cells, capacity, points=0.0), cell_capacity, open_cells=0, open_position=-1)
    if cells.head.shape[1]:
        cells = widen(widen(cells, capacity, after=-1), cell_capacity, head=-1)
    return cells


@compile_helper
def _close_cell(open_cells: Cells, places: Cells, open_count: int, cell: int) -> Any:
    """Close a cell if it is open; return how many are open then."""
    place = places[cell]
    if place < 0:
        return open_count
    last = open_cells[open_count - 1]
    open_cells[place] = last
    places[last] = place
    places[cell] = -1
    return open_count - 1


@compile_helper
def _close_cells(layout: Layout, cells: CellGrid, scheme: int, slot: int, begin: int, end: int) -> None:
    """Close the cells that the inputs from `begin` to `end` occupy or neighbour."""
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    points, parts = cells.points[slot], cells.parts[first : first + dimension]
    open_cells, places = cells.open_cells[slot], cells.open_position[slot]
    with_lookup = cells.head.shape[1] > 0
    # the parts before, at and after the own one along each column; -1 beyond the edge
    neighbour_parts, step = cells.scratch[:3], cells.scratch[3]
    still_open = cells.open_count[slot]
    for point in range(begin, end):
        cell = 0
        for j in range(dimension):
            own_part = find_part(layout, first + j, parts[j], points[point, j])
            cell = cell * parts[j] + own_part
            for place in range(3):
                neighbour_parts[place, j] = own_part + place - 1
            if own_part == 0 and scheme == WRAPPED:
                neighbour_parts[0, j] = parts[j] - 1
            if own_part + 1 == parts[j]:
                neighbour_parts[2, j] = 0 if scheme == WRAPPED else -1
            step[j] = 1 if scheme == BISECTION else 0
        if with_lookup:
            cells.after[slot, point] = cells.head[slot, cell]
            cells.head[slot, cell] = point
        while True:
            cell = 0
            for j in range(dimension):
                part = neighbour_parts[step[j], j]
                cell = -1 if part < 0 or cell < 0 else cell * parts[j] + part
            if cell >= 0:
                still_open = _close_cell(open_cells, places, still_open, cell)
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


@compile_helper
def _find_part_of_line(place: float, parts: int) -> Any:
    return int(min(max(place * parts, 0.0), parts - 1.0))


@compile_helper
def _set_next_parts(lines: CellLines, slot: int, point: int, parts: int) -> None:
    """Set the least number of parts with an open cell after an input."""
    tree = lines.next_parts[slot]
    node = len(tree) // 2 + point
    tree[node] = parts
    while node > 1:
        node //= 2
        tree[node] = min(tree[2 * node], tree[2 * node + 1])


@compile_helper
def _update_next_parts(lines: CellLines, slot: int, least: int) -> Any:
    """Find the least number of parts, at least `least`, for the input with the least; return this input.

    A cell is open between two inputs if at least three cells are.
    """
    tree = lines.next_parts[slot]
    node = 1
    while node < len(tree) // 2:
        node = 2 * node if tree[2 * node] == tree[node] else 2 * node + 1
    point = node - len(tree) // 2
    begin, end = lines.place[slot, point], lines.place[slot, lines.following[slot, point]]
    around = 1 if lines.following[slot, point] == lines.order[slot, 0] else 0
    gap = min(max(end, 0.0), 1.0) - min(max(begin, 0.0), 1.0) + around
    parts = MAX_LINE_PARTS
    if gap * MAX_LINE_PARTS > 3.0:
        parts = max(least, int(3.0 / gap))
        while _find_part_of_line(end, parts) + around * parts - _find_part_of_line(begin, parts) < 4:
            parts += 1
    _set_next_parts(lines, slot, point, parts)
    return point


@compile_helper
def _refine_line(layout: Layout, cells: CellGrid, lines: CellLines, slot: int) -> Any:
    """Cut the only column into the next number of parts that leaves a cell open; return False without room.

    This gives the cells of `refine_slot`, without a look at all inputs per number.
    """
    tree = lines.next_parts[slot]
    least = max(cells.parts[layout.start[slot]], cells.point_count[slot]) + 1
    while tree[1] < least:
        _update_next_parts(lines, slot, least)
    parts = tree[1]
    if parts > cells.open_position.shape[1]:
        return False
    open_cells, places = cells.open_cells[slot], cells.open_position[slot]
    for i in range(cells.open_count[slot]):
        places[open_cells[i]] = -1
    cells.parts[layout.start[slot]], cells.cell_count[slot] = parts, parts
    still_open = 0
    while tree[1] == parts:
        point = _update_next_parts(lines, slot, parts + 1)
        following = lines.following[slot, point]
        end = _find_part_of_line(lines.place[slot, following], parts)
        if following == lines.order[slot, 0]:
            end += parts
        for part in range(_find_part_of_line(lines.place[slot, point], parts) + 2, end - 1):
            open_cells[still_open] = part % parts
            places[part % parts] = still_open
            still_open += 1
    cells.open_count[slot] = still_open
    # the order of open cells is that of closing the others, input after input; where none is drawn, any order will do
    if still_open > 1 and slot < layout.sources:
        _open_all(cells, slot)
        for point in range(cells.point_count[slot]):
            part = _find_part_of_line(lines.place[slot, point], parts)
            for cell in (part - 1 if part > 0 else parts - 1, part, part + 1 if part + 1 < parts else 0):
                cells.open_count[slot] = _close_cell(open_cells, places, cells.open_count[slot], cell)
    return True


@compile_helper
def _add_to_line(lines: CellLines, slot: int, point: int, place: float) -> None:
    """Add an input, after equal ones."""
    order, following = lines.order[slot], lines.following[slot]
    lines.place[slot, point] = place
    low, high = 0, point  # its rank is between these
    while low < high:
        middle = (low + high) // 2
        if lines.place[slot, order[middle]] > place:
            high = middle
        else:
            low = middle + 1
    for rank in range(point, low, -1):
        order[rank] = order[rank - 1]
    order[low] = point
    before = order[low - 1] if low > 0 else order[point]
    following[point] = order[low + 1] if low < point else order[0]
    following[before] = point
    _set_next_parts(lines, slot, before, 0)
    _set_next_parts(lines, slot, point, 0)


@compile_helper
def _open_all(cells: CellGrid, slot: int) -> None:
    cells.open_count[slot] = cells.cell_count[slot]
    for cell in range(cells.cell_count[slot]):
        cells.open_cells[slot, cell] = cell
        cells.open_position[slot, cell] = cell


@compile_helper
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
        _open_all(cells, slot)
        if cells.head.shape[1]:
            cells.head[slot, :total] = -1
        _close_cells(layout, cells, scheme, slot, 0, cells.point_count[slot])
    return True


@compile_helper
def refine_all_slots(layout: Layout, cells: CellGrid, lines: CellLines | None, scheme: int) -> Any:
    """Refine the grids of all slots that need it; return False if there is no room."""
    ready = True
    for slot in range(len(layout.start) - 1):
        if cells.open_count[slot] == 0 or cells.point_count[slot] >= cells.cell_count[slot]:
            if lines is not None:
                ready = _refine_line(layout, cells, lines, slot) and ready
            else:
                ready = refine_slot(layout, cells, scheme, slot) and ready
    return ready


@compile_helper
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


@compile_helper
def add_to_cells(layout: Layout, cells: CellGrid, lines: CellLines | None, scheme: int, slot: int, row: Floats) -> None:
    """Add the input of a slot to its grid."""
    first = layout.start[slot]
    count = cells.point_count[slot]
    for j in range(layout.start[slot + 1] - first):
        cells.points[slot, count, j] = row[first + j]
    cells.point_count[slot] += 1
    if lines is not None:
        share = (row[first] - layout.low[first]) / (layout.high[first] - layout.low[first])
        _add_to_line(lines, slot, count, share)
    _close_cells(layout, cells, scheme, slot, count, count + 1)


@compile_helper
def _draw_candidates(numbers: RandomNumbers, layout: Layout, cells: CellGrid, rows: Floats) -> None:
    """Draw candidates in an open cell per source, or in any cell if none is open.

    The random numbers are: one per source for its cell, then, source by source, one per column of each candidate.
    """
    for slot in range(layout.sources):
        number = draw_number(numbers)
        if cells.open_count[slot] == 0:
            cells.drawn[slot] = int(number * cells.cell_count[slot])
        else:
            cells.drawn[slot] = cells.open_cells[slot, int(number * cells.open_count[slot])]
    corner = cells.scratch[0]
    for slot in range(layout.sources):
        first, last = layout.start[slot], layout.start[slot + 1]
        remainder = cells.drawn[slot]
        for j in range(last - first - 1, -1, -1):
            parts = cells.parts[first + j]
            corner[j] = remainder % parts
            remainder = remainder // parts
        for i in range(rows.shape[0]):
            for j in range(last - first):
                low, high = layout.low[first + j], layout.high[first + j]
                value = low + (high - low) * ((corner[j] + draw_number(numbers)) / cells.parts[first + j])
                rows[i, first + j] = round_to_kind(layout.kind[first + j], low, high, value)


@compile_helper
def move_to_next_neighbour(step: Ints) -> Any:
    """Move to the next step of -1, 0 or 1 per column; return False after the last."""
    for j in range(len(step) - 1, -1, -1):
        if step[j] < 1:
            step[j] += 1
            return True
        step[j] = -1
    return False


@compile_helper
def find_nearby_distance(layout: Layout, cells: CellGrid, slot: int, row: Floats) -> Any:
    """Return the distance to the nearest input in the same or a neighbouring cell."""
    first, last = layout.start[slot], layout.start[slot + 1]
    dimension = last - first
    own_parts, step = cells.scratch[0], cells.scratch[1, :dimension]
    for j in range(dimension):
        own_parts[j] = find_part(layout, first + j, cells.parts[first + j], row[first + j])
        step[j] = -1
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


@compile_helper
def _score_by_distance(layout: Layout, cells: CellGrid, rows: Floats, scores: Floats) -> None:
    """Score the candidates with the most inputs without executed neighbours by the distance to inputs nearby."""
    distances, isolated_inputs = scores[0], scores[1]
    greatest = 0.0
    for i in range(rows.shape[0]):
        distances[i], isolated_inputs[i] = 0.0, 0.0
        for slot in range(len(layout.start) - 1):
            distance = find_nearby_distance(layout, cells, slot, rows[i])
            if distance == np.inf:
                isolated_inputs[i] += 1.0
            else:
                distances[i] += distance
        greatest = max(greatest, isolated_inputs[i])
    for i in range(rows.shape[0]):
        if isolated_inputs[i] < greatest:
            distances[i] = -1.0
        elif greatest == len(layout.start) - 1:
            distances[i] = 0.0


@compile_kernel
def add_cut(
    layout: Layout, scheme: int, by_distance: bool | None, cells: CellGrid, lines: CellLines | None, row: Floats
) -> None:
    """Count a group as executed."""
    for slot in range(len(layout.start) - 1):
        add_to_cells(layout, cells, lines, scheme, slot, row)


@compile_kernel
def advance_cut(
    numbers: RandomNumbers,
    layout: Layout,
    scheme: int,
    by_distance: bool | None,
    cells: CellGrid,
    lines: CellLines | None,
    rows: Floats,
    scores: Floats,
    affine: bool | None,
    ahead: GroupsAhead | None,
    follow_ups: Floats | None,
    out: Floats,
) -> Any:
    """Write groups to `out` while there is room to refine; return how many.

    Each is a candidate whose follow-ups all lie in open cells; by distances, the one with the most inputs without executed
    neighbours, among equals the one farthest from executed inputs nearby. With `ahead`, these are the groups whose
    candidates were drawn at the end of the call before.
    """
    taken = np.int64(0)  # see `advance_spread`
    while taken < out.shape[0]:
        tie = 0.0
        if affine is not None:
            if not refine_all_slots(layout, cells, lines, scheme):
                break
            begin = numbers.position[0]
            _draw_candidates(numbers, layout, cells, rows)
            tie = draw_number(numbers)
            if lacks_numbers(numbers, begin):
                break
            write_follow_ups(layout, rows)
        if ahead is not None:
            if taken == ahead.size[0]:
                break
            tie = take_ahead(numbers, layout, ahead, follow_ups, taken, rows)
        if by_distance is not None:
            _score_by_distance(layout, cells, rows, scores)
        else:
            count_closed(layout, cells, layout.sources, len(layout.start) - 1, rows, scores[0])
            for candidate in range(rows.shape[0]):
                scores[0, candidate] = 1.0 if scores[0, candidate] == 0.0 else 0.0
        best = pick_greatest(scores[0], tie)
        for slot in range(len(layout.start) - 1):
            add_to_cells(layout, cells, lines, scheme, slot, rows[best])
        for j in range(out.shape[1]):
            out[taken, j] = rows[best, j]
        if ahead is not None:
            write_follow_ups_ahead(follow_ups, taken * rows.shape[0] + best, out[taken])
        taken += 1
    if ahead is not None:
        begin = numbers.position[0]
        ahead.size[0] = 0
        if taken < out.shape[0] and refine_all_slots(layout, cells, lines, scheme):
            _draw_candidates(numbers, layout, cells, ahead.sources[0])
            draw_number(numbers)
            file_ahead(numbers, ahead, begin)
        numbers.position[0] = begin
    return taken
