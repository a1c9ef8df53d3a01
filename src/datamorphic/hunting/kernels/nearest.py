"""Find the nearest of a growing set of points, by a grid whose only cell at first holds all of them.

The grid gives the same distance as a scan, to the last bit. It pays in up to three dimensions; with more, nearly all its cells
are neighbours. Points with categories are always scanned. Grids are refined by NumPy when there is no room for more points:
compiled code that seldom runs would cost more time to compile than it saves.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...relations.algebra.box import CATEGORY, Floats
from .compiling import compile_helper
from .layout import Ints, Layout, file_in_lists, find_part, widen

MAX_GRID_DIMENSIONS = 3


class PointIndex(NamedTuple):
    """Points per slot, with a grid: the first point of a cell, the next after a point."""

    points: Floats  # (slots, capacity, columns)
    size: Ints  # (slots,)
    head: Ints  # (slots, capacity)
    after: Ints  # (slots, capacity)
    side: Ints  # (slots, 3): cells along each column; 1 if all points are scanned
    own_cell: Ints  # (slots, columns, at least 3): saves making an array per search
    scale: Floats  # (columns of all slots,): the factor of differences; 0 for categories, which differ or not
    mismatch: Floats  # (columns of all slots,): what differing values count, besides


def make_point_index(layout: Layout, capacity: int) -> PointIndex:
    """Return an empty index."""
    slots, columns = layout.slots, layout.columns
    is_category = (layout.kind == CATEGORY) | layout.jaccard
    return PointIndex(
        points=np.zeros((slots, capacity, columns)),
        size=np.zeros(slots, dtype=np.int64),
        head=np.full((slots, capacity), -1, dtype=np.int64),
        after=np.full((slots, capacity), -1, dtype=np.int64),
        side=np.ones((slots, MAX_GRID_DIMENSIONS), dtype=np.int64),
        own_cell=np.zeros((slots, max(columns, MAX_GRID_DIMENSIONS)), dtype=np.int64),
        scale=np.where(is_category, 0.0, layout.scale),
        mismatch=is_category.astype(float),
    )


def grow_point_index(layout: Layout, point_index: PointIndex, capacity: int) -> PointIndex:
    """Return the index with room for more points, in grids with a cell per point."""
    point_index = widen(point_index, capacity, points=0.0, head=-1, after=-1)
    for slot in range(layout.slots):
        first, last = layout.start[slot], layout.start[slot + 1]
        dimension = int(last - first)
        count = int(point_index.size[slot])
        if dimension > MAX_GRID_DIMENSIONS or point_index.mismatch[first:last].any():
            # not only for room: groups may have been undone
            file_in_lists(point_index.head[slot], point_index.after[slot], np.zeros(count, dtype=np.int64))
            continue
        side = max(int(count ** (1.0 / dimension)), 1)
        low, width = layout.low[first:last], layout.high[first:last] - layout.low[first:last]
        share = (point_index.points[slot, :count, :dimension] - low) / np.where(width > 0, width, np.inf)
        parts = np.clip(share * side, 0, side - 1).astype(np.int64)
        cell = np.ravel_multi_index(tuple(parts.T), (side,) * dimension)
        point_index.side[slot, :dimension] = side
        file_in_lists(point_index.head[slot], point_index.after[slot], cell)
    return point_index


@compile_helper
def add_point(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> None:
    """Add the input of a slot."""
    first, last = layout.start[slot], layout.start[slot + 1]
    side = point_index.side[slot, 0]
    place = point_index.size[slot]
    cell = 0
    for column in range(first, last):
        point_index.points[slot, place, column - first] = row[column]
        cell = cell * side + find_part(layout, column, side, row[column])
    point_index.after[slot, place] = point_index.head[slot, cell]
    point_index.head[slot, cell] = place
    point_index.size[slot] = place + 1


def measure_distances(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> Floats:
    """Return the distances to all points of a slot by NumPy: faster without numba."""
    first, last = layout.start[slot], layout.start[slot + 1]
    points = point_index.points[slot, : point_index.size[slot]]
    squares, differing = np.zeros(len(points)), np.zeros(len(points))
    for j, column in enumerate(range(first, last)):
        if layout.kind[column] == CATEGORY or layout.jaccard:
            differing += row[column] != points[:, j]
        else:
            difference = (row[column] - points[:, j]) * layout.scale[column]
            squares += difference * difference
    return 2.0 * differing / (last - first + differing) if layout.jaccard else np.sqrt(squares) + differing


def _find_nearest_distance_vectorised(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> Any:
    """Return the distance to the nearest point of a slot, by NumPy."""
    return measure_distances(layout, point_index, slot, row).min(initial=np.inf)


@partial(compile_helper, vectorised=_find_nearest_distance_vectorised)
def find_nearest_distance(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> Any:
    """Return the distance to the nearest point of a slot; infinity if there is none."""
    first, last = layout.start[slot], layout.start[slot + 1]
    points, head, after = point_index.points[slot], point_index.head[slot], point_index.after[slot]
    side, wide, deep = point_index.side[slot, 0], point_index.side[slot, 1], point_index.side[slot, 2]
    cell = point_index.own_cell[slot]
    for column in range(first, last):
        cell[column - first] = find_part(layout, column, side, row[column])
    best, limit = np.inf, np.inf
    for ring in range(side):
        # all cells that are `ring` away along one column and at most as far along the others
        for a in range(max(cell[0] - ring, 0), min(cell[0] + ring + 1, side)):
            for b in range(max(cell[1] - ring, 0), min(cell[1] + ring + 1, wide)):
                at_end = max(abs(a - cell[0]), abs(b - cell[1])) == ring
                step = 1 if at_end else 2 * ring  # only the two ends of an inner line are new
                for c in range(cell[2] - ring, cell[2] + ring + 1, step):
                    point = head[(a * wide + b) * deep + c] if 0 <= c < deep else -1
                    while point >= 0:
                        squares, differing = 0.0, 0.0
                        for column in range(first, last):
                            difference = row[column] - points[point, column - first]
                            differing += point_index.mismatch[column] * (difference != 0.0)
                            difference *= point_index.scale[column]
                            squares += difference * difference
                        if squares <= limit:
                            best = min(best, np.sqrt(squares) + differing)
                            limit = best * best * (1.0 + 1e-12)  # spares most roots
                        point = after[point]
        clearance = np.inf  # to the nearest side beyond which there are unvisited cells
        for column in range(first, last):
            low, part, scale = layout.low[column], cell[column - first], point_index.scale[column]
            unit = (layout.high[column] - low) / side
            if part - ring > 0:
                clearance = min(clearance, (row[column] - low - (part - ring) * unit) * scale)
            if part + ring + 1 < side:
                clearance = min(clearance, (low + (part + ring + 1) * unit - row[column]) * scale)
        if best <= clearance * (1.0 - 1e-12):  # rounding may file a point in the cell next to its own
            break
    if layout.jaccard and best < np.inf:
        return 2.0 * best / (last - first + best)
    return best
