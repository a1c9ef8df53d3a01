"""Find the nearest of a growing set of points, by a grid or a scan.

Both give the same distance to the last bit. The grid pays in up to three dimensions; with more, nearly all its cells
are neighbours. Points with categories are always scanned.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.box import CATEGORY, Floats
from .compiling import COMPILED, compile_kernel
from .layout import Ints, Layout, compute_distance, find_part, widen

MIN_POINTS_FOR_GRID = 48  # fewer points are scanned
MAX_GRID_DIMENSIONS = 3


class PointIndex(NamedTuple):
    """Points per slot, with a grid: the first point of a cell, the next after a point."""

    points: Floats  # (slots, capacity, columns)
    size: Ints  # (slots,)
    head: Ints  # (slots, 2 * capacity)
    after: Ints  # (slots, capacity)
    side: Ints  # (slots,): cells along each column; 0 without a grid
    scratch: Ints  # (columns,): saves making an array per search


def make_point_index(slots: int, columns: int, capacity: int) -> PointIndex:
    """Return an empty index."""
    return PointIndex(
        points=np.zeros((slots, capacity, columns)),
        size=np.zeros(slots, dtype=np.int64),
        head=np.full((slots, 2 * capacity), -1, dtype=np.int64),
        after=np.full((slots, capacity), -1, dtype=np.int64),
        side=np.zeros(slots, dtype=np.int64),
        scratch=np.zeros(MAX_GRID_DIMENSIONS, dtype=np.int64),
    )


def grow_point_index(point_index: PointIndex, capacity: int) -> PointIndex:
    """Return the index with room for more points."""
    return widen(widen(point_index, capacity, points=0.0, after=-1), 2 * capacity, head=-1)


@compile_kernel
def _file_point(layout: Layout, point_index: PointIndex, slot: int, place: int) -> None:
    first = layout.start[slot]
    side, cell = point_index.side[slot], 0
    for j in range(layout.start[slot + 1] - first):
        cell = cell * side + find_part(layout, first + j, side, point_index.points[slot, place, j])
    point_index.after[slot, place] = point_index.head[slot, cell]
    point_index.head[slot, cell] = place


@compile_kernel
def add_point(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> None:
    """Add the input of a slot; refine the grid at two points per cell."""
    first, last = layout.start[slot], layout.start[slot + 1]
    place = point_index.size[slot]
    for j in range(last - first):
        point_index.points[slot, place, j] = row[first + j]
    point_index.size[slot] += 1
    dimension = last - first
    if dimension > MAX_GRID_DIMENSIONS or place < MIN_POINTS_FOR_GRID or layout.jaccard:
        return
    cells = point_index.side[slot] ** dimension if point_index.side[slot] else 0
    if place + 1 <= 2 * cells:
        _file_point(layout, point_index, slot, place)
        return
    for column in range(first, last):
        if layout.kind[column] == CATEGORY:
            return
    point_index.side[slot] = max(int((place + 1.0) ** (1.0 / dimension)), 2)
    if cells and point_index.side[slot] ** dimension <= cells:  # in spite of rounding, the grid must become finer
        point_index.side[slot] += 1
    point_index.head[slot, : point_index.side[slot] ** dimension] = -1
    for i in range(place + 1):
        _file_point(layout, point_index, slot, i)


@compile_kernel
def find_nearest_distance(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> Any:
    """Return the distance to the nearest point of a slot; infinity if there is none."""
    if point_index.side[slot] == 0:
        return _scan_nearest(layout, point_index, slot, row)
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    side = point_index.side[slot]
    cell = point_index.scratch
    for j in range(dimension):  # as `find_part`, without the cost of a call
        low, high = layout.low[first + j], layout.high[first + j]
        cell[j] = 0
        if high > low:
            cell[j] = int(min(max((row[first + j] - low) / (high - low) * side, 0.0), side - 1.0))
    best = np.inf
    wide, deep = (side if dimension > 1 else 1), (side if dimension > 2 else 1)
    points, head, after = point_index.points[slot], point_index.head[slot], point_index.after[slot]
    for ring in range(side):
        # all cells that are `ring` away along one column and at most as far along the others
        for a in range(max(cell[0] - ring, 0), min(cell[0] + ring, side - 1) + 1):
            outer = abs(a - cell[0]) == ring
            for b in range(max(cell[1] - ring, 0), min(cell[1] + ring, wide - 1) + 1):
                at_end = outer or (dimension > 1 and abs(b - cell[1]) == ring)
                if not at_end and dimension < 3:
                    continue
                step = 1 if at_end or ring == 0 else 2 * ring  # only the two ends of an inner line are new
                for c in range(
                    cell[2] - ring if dimension > 2 else 0, cell[2] + ring + 1 if dimension > 2 else 1, step
                ):
                    if c < 0 or c >= deep:
                        continue
                    point = head[(a * wide + b) * deep + c]
                    while point >= 0:
                        squares = 0.0
                        for j in range(dimension):
                            difference = (row[first + j] - points[point, j]) * layout.scale[first + j]
                            squares += difference * difference
                        best = min(best, squares)
                        point = after[point]
        if best < np.inf:
            clearance = np.inf  # to the nearest side beyond which there are unvisited cells
            for j in range(dimension):
                low, high = layout.low[first + j], layout.high[first + j]
                unit = (high - low) / side
                value, scale = row[first + j], layout.scale[first + j]
                if cell[j] - ring > 0:
                    clearance = min(clearance, (value - low - (cell[j] - ring) * unit) * scale)
                if cell[j] + ring + 1 < side:
                    clearance = min(clearance, (low + (cell[j] + ring + 1) * unit - value) * scale)
            clearance *= 1.0 - 1e-12  # rounding may file a point in the cell next to its own
            if clearance >= 0 and best <= clearance * clearance:
                break
    return np.sqrt(best)


@compile_kernel
def _scan_points(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> Any:
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    plain = not layout.jaccard
    for j in range(dimension):
        if layout.kind[first + j] == CATEGORY:
            plain = False
    best = np.inf
    if not plain:
        for i in range(point_index.size[slot]):
            best = min(best, compute_distance(layout, slot, row, point_index.points[slot, i]))
        return best
    for i in range(point_index.size[slot]):
        squares = 0.0
        for j in range(dimension):
            difference = (row[first + j] - point_index.points[slot, i, j]) * layout.scale[first + j]
            squares += difference * difference
            if squares >= best:
                break
        best = min(best, squares)
    return np.sqrt(best)


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


def _scan_points_vectorized(layout: Layout, point_index: PointIndex, slot: int, row: Floats) -> Any:
    return measure_distances(layout, point_index, slot, row).min(initial=np.inf)


_scan_nearest = _scan_points if COMPILED else _scan_points_vectorized
if not COMPILED:
    find_nearest_distance = _scan_points_vectorized
