"""Find the nearest of a growing set of points, by a grid whose only cell at first holds all of them.

The grid gives the same distance as a scan, to the last bit. It pays in up to three dimensions; with more, nearly all its cells
are neighbours. Points with categories are always scanned.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.box import CATEGORY, Floats
from .compiling import COMPILED, compile_helper
from .layout import Ints, Layout, find_part, widen

MIN_POINTS_FOR_GRID = 48  # fewer points are scanned
MAX_GRID_DIMENSIONS = 3


class PointIndex(NamedTuple):
    """Points per slot, with a grid: the first point of a cell, the next after a point."""

    points: Floats  # (slots, capacity, columns)
    size: Ints  # (slots,)
    head: Ints  # (slots, 2 * capacity)
    after: Ints  # (slots, capacity)
    side: Ints  # (slots,): cells along each column; 1 if all points are scanned
    scratch: Ints  # (columns,): saves making an array per search


def make_point_index(slots: int, columns: int, capacity: int) -> PointIndex:
    """Return an empty index."""
    return PointIndex(
        points=np.zeros((slots, capacity, columns)),
        size=np.zeros(slots, dtype=np.int64),
        head=np.full((slots, 2 * capacity), -1, dtype=np.int64),
        after=np.full((slots, capacity), -1, dtype=np.int64),
        side=np.ones(slots, dtype=np.int64),
        scratch=np.zeros(MAX_GRID_DIMENSIONS, dtype=np.int64),
    )


def grow_point_index(point_index: PointIndex, capacity: int) -> PointIndex:
    """Return the index with room for more points."""
    return widen(widen(point_index, capacity, points=0.0, after=-1), 2 * capacity, head=-1)


@compile_helper
def add_point(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> None:
    """Add the input of a slot; refine the grid at two points per cell."""
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    place = point_index.size[slot]
    for j in range(dimension):
        point_index.points[slot, place, j] = row[first + j]
    point_index.size[slot] += 1
    side = point_index.side[slot]
    cells = side**dimension if side > 1 else 0
    begin = place  # the first point to file
    if place >= MIN_POINTS_FOR_GRID and place + 1 > 2 * cells:
        gridded = dimension <= MAX_GRID_DIMENSIONS and not layout.jaccard
        for j in range(dimension):
            gridded = gridded and layout.kind[first + j] != CATEGORY
        if gridded:
            side = max(int((place + 1.0) ** (1.0 / dimension)), 2)
            if side**dimension <= cells:  # in spite of rounding, the grid must become finer
                side += 1
            point_index.side[slot] = side
            point_index.head[slot, : side**dimension] = -1
            begin = 0
    for point in range(begin, place + 1):
        cell = 0
        if side > 1:
            for j in range(dimension):
                cell = cell * side + find_part(layout, first + j, side, point_index.points[slot, point, j])
        point_index.after[slot, point] = point_index.head[slot, cell]
        point_index.head[slot, cell] = point


@compile_helper
def _find_nearest(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> Any:
    """Return the distance to the nearest point of a slot; infinity if there is none."""
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    side = point_index.side[slot]
    cell = point_index.scratch
    cell[:] = 0
    if side > 1:
        for j in range(dimension):
            cell[j] = find_part(layout, first + j, side, row[first + j])
    best, limit = np.inf, np.inf
    wide, deep = (side if dimension > 1 else 1), (side if dimension > 2 else 1)
    points, head, after = point_index.points[slot], point_index.head[slot], point_index.after[slot]
    kind, scale, jaccard = layout.kind, layout.scale, layout.jaccard
    for ring in range(side):
        # all cells that are `ring` away along one column and at most as far along the others
        for a in range(max(cell[0] - ring, 0), min(cell[0] + ring, side - 1) + 1):
            for b in range(max(cell[1] - ring, 0), min(cell[1] + ring, wide - 1) + 1):
                at_end = abs(a - cell[0]) == ring or abs(b - cell[1]) == ring
                if not at_end and dimension < 3:
                    continue
                step = 1 if at_end else 2 * ring  # only the two ends of an inner line are new
                depth = ring if dimension > 2 else 0
                for c in range(cell[2] - depth, cell[2] + depth + 1, step):
                    point = head[(a * wide + b) * deep + c] if 0 <= c < deep else -1
                    while point >= 0:
                        squares, differing = 0.0, 0.0
                        for j in range(dimension):
                            if jaccard or kind[first + j] == CATEGORY:
                                if row[first + j] != points[point, j]:
                                    differing += 1.0
                            else:
                                difference = (row[first + j] - points[point, j]) * scale[first + j]
                                squares += difference * difference
                        if squares <= limit:
                            if jaccard:
                                best = min(best, 2.0 * differing / (dimension + differing))
                            else:
                                best = min(best, np.sqrt(squares) + differing)
                                limit = best * best * (1.0 + 1e-12)  # spares most roots
                        point = after[point]
        if best < np.inf:
            clearance = np.inf  # to the nearest side beyond which there are unvisited cells
            for j in range(min(dimension, MAX_GRID_DIMENSIONS)):
                low, high = layout.low[first + j], layout.high[first + j]
                unit = (high - low) / side
                if cell[j] - ring > 0:
                    clearance = min(clearance, (row[first + j] - low - (cell[j] - ring) * unit) * scale[first + j])
                if cell[j] + ring + 1 < side:
                    clearance = min(clearance, (low + (cell[j] + ring + 1) * unit - row[first + j]) * scale[first + j])
            if best <= clearance * (1.0 - 1e-12):  # rounding may file a point in the cell next to its own
                break
    return best


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


def _find_nearest_vectorized(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> Any:
    return measure_distances(layout, point_index, slot, row).min(initial=np.inf)


find_nearest_distance = _find_nearest if COMPILED else _find_nearest_vectorized
