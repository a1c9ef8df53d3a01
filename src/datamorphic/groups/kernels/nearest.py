"""The nearest of a growing set of points, by a grid of buckets; brute force where there are many columns or categories.

Both give the same distance to the last bit. The grid pays in up to three dimensions: with more, nearly all its cells
are neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.boxes import CATEGORY, Floats
from .compiling import COMPILED, compiled
from .layout import Ints, Layout, distance

FEW = 48  # points that are looked at one by one all the same
MOST = 3  # dimensions of a grid


class Near(NamedTuple):
    """Points of each slot, and a grid over them: the first point of each cell, and the next after each point."""

    points: Floats  # (slots, capacity, columns)
    size: Ints  # (slots,)
    head: Ints  # (slots, 2 * capacity)
    after: Ints  # (slots, capacity)
    side: Ints  # (slots,): cells along each column; 0 where there is no grid
    scratch: Ints  # (columns,): making an array for each search would take as long as the search


def make_near(slots: int, columns: int, capacity: int) -> Near:
    """Return no points, and room for some."""
    return Near(
        np.zeros((slots, capacity, columns)),
        np.zeros(slots, dtype=np.int64),
        np.full((slots, 2 * capacity), -1, dtype=np.int64),
        np.full((slots, capacity), -1, dtype=np.int64),
        np.zeros(slots, dtype=np.int64),
        np.zeros(MOST, dtype=np.int64),
    )


def grown_near(near: Near, capacity: int) -> Near:
    """Return the same with more room."""
    slots, old, columns = near.points.shape
    made = make_near(slots, columns, capacity)
    made.points[:, :old] = near.points
    made.head[:, : 2 * old] = near.head
    made.after[:, :old] = near.after
    made.size[:] = near.size
    made.side[:] = near.side
    return made


@compiled
def _cell(layout: Layout, column: int, side: int, value: float) -> Any:
    low, high = layout.low[column], layout.high[column]
    if not high > low:
        return 0
    return int(min(max((value - low) / (high - low) * side, 0.0), side - 1.0))


@compiled
def _file(layout: Layout, near: Near, slot: int, place: int) -> None:
    first = layout.start[slot]
    cell = 0
    for j in range(layout.start[slot + 1] - first):
        cell = cell * near.side[slot] + _cell(layout, first + j, near.side[slot], near.points[slot, place, j])
    near.after[slot, place] = near.head[slot, cell]
    near.head[slot, cell] = place


@compiled
def add_point(layout: Layout, near: Near, slot: int, row: Any) -> None:
    """Add the input of a slot; the grid is made anew, finer, whenever there are twice as many points as cells."""
    first, last = layout.start[slot], layout.start[slot + 1]
    place = near.size[slot]
    for j in range(last - first):
        near.points[slot, place, j] = row[first + j]
    near.size[slot] += 1
    dimension = last - first
    if dimension > MOST or place < FEW or layout.jaccard:
        return
    cells = near.side[slot] ** dimension if near.side[slot] else 0
    if place + 1 <= 2 * cells:
        _file(layout, near, slot, place)
        return
    for column in range(first, last):
        if layout.kind[column] == CATEGORY:
            return
    near.side[slot] = max(int((place + 1.0) ** (1.0 / dimension)), 2)
    if cells and near.side[slot] ** dimension <= cells:  # rounding must not keep it as it was
        near.side[slot] += 1
    near.head[slot, : near.side[slot] ** dimension] = -1
    for i in range(place + 1):
        _file(layout, near, slot, i)


@compiled
def nearest(layout: Layout, near: Near, slot: int, row: Any) -> Any:
    """Return the distance to the nearest point of a slot; infinite where there is none."""
    if near.side[slot] == 0:
        return _nearest_of_all(layout, near, slot, row)
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    side = near.side[slot]
    cell = near.scratch
    for j in range(dimension):  # as `_cell`, without the cost of a call
        low, high = layout.low[first + j], layout.high[first + j]
        cell[j] = 0
        if high > low:
            cell[j] = int(min(max((row[first + j] - low) / (high - low) * side, 0.0), side - 1.0))
    best = np.inf
    wide, deep = (side if dimension > 1 else 1), (side if dimension > 2 else 1)
    points, head, after = near.points[slot], near.head[slot], near.after[slot]
    for ring in range(side):
        # every cell that is `ring` away along one column and no more along the others
        for a in range(max(cell[0] - ring, 0), min(cell[0] + ring, side - 1) + 1):
            outer = abs(a - cell[0]) == ring
            for b in range(max(cell[1] - ring, 0), min(cell[1] + ring, wide - 1) + 1):
                at_end = outer or (dimension > 1 and abs(b - cell[1]) == ring)
                if not at_end and dimension < 3:
                    continue
                step = 1 if at_end or ring == 0 else 2 * ring  # inside, only the two ends are new
                for c in range(
                    cell[2] - ring if dimension > 2 else 0, cell[2] + ring + 1 if dimension > 2 else 1, step
                ):
                    if c < 0 or c >= deep:
                        continue
                    point = head[(a * wide + b) * deep + c]
                    while point >= 0:
                        squares = 0.0
                        for j in range(dimension):
                            apart = (row[first + j] - points[point, j]) * layout.scale[first + j]
                            squares += apart * apart
                        best = min(best, squares)
                        point = after[point]
        if best < np.inf:
            room = np.inf  # to the nearest side beyond which there are cells that were not looked at
            for j in range(dimension):
                low, high = layout.low[first + j], layout.high[first + j]
                unit = (high - low) / side
                if cell[j] - ring > 0:
                    room = min(room, (row[first + j] - low - (cell[j] - ring) * unit) * layout.scale[first + j])
                if cell[j] + ring + 1 < side:
                    room = min(
                        room, (low + (cell[j] + ring + 1) * unit - row[first + j]) * layout.scale[first + j]
                    )
            room *= 1.0 - 1e-12  # a point may be filed a rounding error beside its cell
            if room >= 0 and best <= room * room:
                break
    return np.sqrt(best)


@compiled
def _one_by_one(layout: Layout, near: Near, slot: int, row: Any) -> Any:
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    plain = not layout.jaccard
    for j in range(dimension):
        if layout.kind[first + j] == CATEGORY:
            plain = False
    best = np.inf
    if not plain:
        for i in range(near.size[slot]):
            best = min(best, distance(layout, slot, row, near.points[slot, i]))
        return best
    for i in range(near.size[slot]):
        squares = 0.0
        for j in range(dimension):
            apart = (row[first + j] - near.points[slot, i, j]) * layout.scale[first + j]
            squares += apart * apart
            if squares >= best:
                break
        best = min(best, squares)
    return np.sqrt(best)


def _at_once(layout: Layout, near: Near, slot: int, row: Any) -> Any:
    """Return the same without numba: all points at once."""
    first, last = layout.start[slot], layout.start[slot + 1]
    seen = near.points[slot, : near.size[slot]]
    if not len(seen):
        return np.inf
    squares, differing = np.zeros(len(seen)), np.zeros(len(seen))
    for j, column in enumerate(range(first, last)):
        if layout.kind[column] == CATEGORY or layout.jaccard:
            differing += row[column] != seen[:, j]
        else:
            apart = (row[column] - seen[:, j]) * layout.scale[column]
            squares += apart * apart
    if layout.jaccard:
        return (2.0 * differing / (last - first + differing)).min()
    return (np.sqrt(squares) + differing).min()


_nearest_of_all = _one_by_one if COMPILED else _at_once
if not COMPILED:
    nearest = _at_once
