"""Kernels of generators by distances: FSCS-ART, RRT, SFIDMT-ART.

What a generator does not use is None: `zones` and `joint` are such settings, `shells` are such a memory, and `ahead`
holds candidates with follow-ups by a function of the user. The code behind a None is not compiled.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...relations.box import CATEGORY, Floats
from .compiling import COMPILED, compile_helper, compile_kernel
from .layout import (
    Layout,
    RandomNumbers,
    compute_distance,
    copy_follow_ups,
    draw_number,
    draw_uniform,
    lacks_numbers,
    pick_greatest,
    write_follow_ups,
)
from .nearest import PointIndex, add_point, find_nearest_distance, measure_distances
from .shells import Shells, add_to_shells, draw_in_shell


class ExclusionZones(NamedTuple):
    """Zones around executed inputs, which cover `ratio` of the domain together; `tries` draws to find an input outside."""

    tries: int
    ratio: float


@compile_helper
def _draw_outside(
    numbers: RandomNumbers, layout: Layout, zones: ExclusionZones, point_index: PointIndex, slot: int, row: Floats
) -> None:
    """Draw inputs until one is outside all zones; else use the farthest of `tries`."""
    first, last = layout.start[slot], layout.start[slot + 1]
    count = point_index.size[slot]
    volume = 1.0
    dimension = 0
    for column in range(first, last):
        if layout.kind[column] != CATEGORY and layout.high[column] > layout.low[column]:
            volume *= (layout.high[column] - layout.low[column]) * layout.scale[column]
            dimension += 1
    radius = 0.0
    if count and dimension:
        unit = math.pi ** (dimension / 2) / math.gamma(dimension / 2 + 1)
        radius = (zones.ratio * volume / (count * unit)) ** (1.0 / dimension)
    best = point_index.points[slot, count]  # the place of the next point has room for the farthest input
    farthest = -1.0
    for _ in range(zones.tries):
        draw_uniform(numbers, layout, slot, row)
        if count == 0:
            return
        distance = find_nearest_distance(layout, point_index, slot, row)
        if distance > radius:
            return
        if distance > farthest:
            farthest = distance
            for j in range(last - first):
                best[j] = row[first + j]
    for j in range(last - first):
        row[first + j] = best[j]


@compile_helper
def _draw_sources(
    numbers: RandomNumbers,
    layout: Layout,
    zones: ExclusionZones | None,
    point_index: PointIndex,
    shells: Shells | None,
    count: int,
    rows: Floats,
) -> None:
    """Draw the sources of candidates after `count` groups, source by source, candidate after candidate."""
    for slot in range(layout.sources):
        for i in range(rows.shape[0]):
            if zones is not None:
                _draw_outside(numbers, layout, zones, point_index, slot, rows[i])
            elif shells is not None:
                draw_in_shell(numbers, layout, shells, count + 1, slot, rows[i])
            else:
                draw_uniform(numbers, layout, slot, rows[i])


@compile_helper
def _scan_groups(layout: Layout, point_index: PointIndex, row: Floats) -> Any:
    """Return the distance to the nearest executed group as a whole."""
    best = np.inf
    for i in range(point_index.size[0]):
        total = 0.0
        for slot in range(len(layout.start) - 1):
            total += compute_distance(layout, slot, row, point_index.points[slot, i])
            if total >= best:
                break
        best = min(best, total)
    return best


def _scan_groups_vectorized(layout: Layout, point_index: PointIndex, row: Floats) -> Any:
    return np.sum([measure_distances(layout, point_index, slot, row) for slot in range(layout.slots)], axis=0).min()


_find_nearest_group = _scan_groups if COMPILED else _scan_groups_vectorized


@compile_helper
def _add_group(layout: Layout, point_index: PointIndex, shells: Shells | None, row: Floats) -> None:
    for slot in range(len(layout.start) - 1):
        add_point(layout, point_index, slot, row)
        if shells is not None:  # noqa: SIM102, a condition with `and` would be compiled in any case
            if slot < layout.sources:
                add_to_shells(layout, shells, slot, row)


@compile_kernel
def add_spread(
    layout: Layout,
    zones: ExclusionZones | None,
    joint: bool | None,
    point_index: PointIndex,
    shells: Shells | None,
    rows: Floats,
    row: Floats,
) -> None:
    """Count a group as executed."""
    _add_group(layout, point_index, shells, row)


@compile_kernel
def draw_spread(
    numbers: RandomNumbers,
    layout: Layout,
    zones: ExclusionZones | None,
    joint: bool | None,
    point_index: PointIndex,
    shells: Shells | None,
    ahead: Floats,
) -> Any:
    """Draw the candidates of the next groups as if shells stayed empty in between; return of how many groups."""
    for i in range(ahead.shape[0]):
        begin = numbers.position[0]
        _draw_sources(numbers, layout, zones, point_index, shells, point_index.size[0] + i, ahead[i])
        draw_number(numbers)
        if lacks_numbers(numbers, begin):
            return i
    return ahead.shape[0]


@compile_kernel
def advance_spread(
    numbers: RandomNumbers,
    layout: Layout,
    zones: ExclusionZones | None,
    joint: bool | None,
    point_index: PointIndex,
    shells: Shells | None,
    rows: Floats,
    scores: Floats,
    ahead: Floats | None,
    out: Floats,
) -> Any:
    """Write groups to `out`, each the candidate farthest from executed groups; return how many.

    `rows` and `scores` have room for the candidates. There are fewer groups than `out` has room for if random numbers
    run out, or if the next candidates are not those drawn `ahead`.
    """
    for i in range(out.shape[0]):
        begin = numbers.position[0]
        _draw_sources(numbers, layout, zones, point_index, shells, point_index.size[0], rows)
        tie = draw_number(numbers)
        if lacks_numbers(numbers, begin):
            return i
        if ahead is None:
            write_follow_ups(layout, rows)
        elif not copy_follow_ups(layout, ahead[i], rows):
            numbers.position[0] = begin
            return i
        for candidate in range(rows.shape[0]):
            scores[0, candidate] = 0.0
            if rows.shape[0] > 1 and point_index.size[0] > 0:
                if joint is not None:
                    scores[0, candidate] = _find_nearest_group(layout, point_index, rows[candidate])
                else:
                    for slot in range(len(layout.start) - 1):
                        scores[0, candidate] += find_nearest_distance(layout, point_index, slot, rows[candidate])
        best = pick_greatest(scores[0], tie)
        _add_group(layout, point_index, shells, rows[best])
        for j in range(out.shape[1]):
            out[i, j] = rows[best, j]
    return out.shape[0]
