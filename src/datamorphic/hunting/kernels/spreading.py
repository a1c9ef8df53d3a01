"""Kernels of generators by distances: FSCS-ART, RRT, SFIDMT-ART.

What a generator does not use is None: `zones`, `uniform` and `joint` are such settings, `shells` are such a memory, and `ahead` is
for follow-ups by a function of the user. The code behind ``is not None`` is then not compiled; an ``else`` would be in any case.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...relations.algebra.box import CATEGORY, Floats
from .ahead import GroupsAhead, file_ahead, take_ahead, write_follow_ups_ahead
from .compiling import compile_helper, compile_kernel
from .layout import (
    Ints,
    Layout,
    RandomNumbers,
    compute_distance,
    draw_number,
    draw_uniform,
    lacks_numbers,
    pick_greatest,
    write_follow_ups,
)
from .nearest import PointIndex, add_point, find_nearest_distance, measure_distances
from .shells import Shells, add_to_shells, are_shells_empty, begin_ahead, draw_in_shell


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
    uniform: bool | None,
    point_index: PointIndex,
    shells: Shells | None,
    count: int,
    rows: Floats,
    shell: Ints | None,
) -> None:
    """Draw the sources of candidates after `count` groups, source by source, candidate after candidate.

    `shell` is for the shells that they come from.
    """
    for slot in range(layout.sources):
        for i in range(rows.shape[0]):
            if zones is not None:
                _draw_outside(numbers, layout, zones, point_index, slot, rows[i])
            if shells is not None:
                number = draw_in_shell(numbers, layout, shells, count + 1, slot, rows[i])
                if shell is not None:
                    shell[i, slot] = number
            if uniform is not None:
                draw_uniform(numbers, layout, slot, rows[i])


def _find_nearest_group_distance_vectorised(layout: Layout, point_index: PointIndex, row: Floats) -> Any:
    """Return the distance to the nearest executed group as a whole, by NumPy."""
    return np.sum([measure_distances(layout, point_index, slot, row) for slot in range(layout.slots)], axis=0).min()


@partial(compile_helper, vectorised=_find_nearest_group_distance_vectorised)
def _find_nearest_group_distance(layout: Layout, point_index: PointIndex, row: Floats) -> Any:
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
    uniform: bool | None,
    joint: bool | None,
    point_index: PointIndex,
    shells: Shells | None,
    row: Floats,
) -> None:
    """Count a group as executed."""
    _add_group(layout, point_index, shells, row)


@compile_kernel
def advance_spread(
    numbers: RandomNumbers,
    layout: Layout,
    zones: ExclusionZones | None,
    uniform: bool | None,
    joint: bool | None,
    point_index: PointIndex,
    shells: Shells | None,
    candidates: Floats,
    scores: Floats,
    affine: bool | None,
    ahead: GroupsAhead | None,
    follow_ups: Floats | None,
    out: Floats,
) -> Any:
    """Write groups to `out`, each the candidate farthest from executed groups; return how many.

    `candidates` and `scores` have room for the candidates of a group. If `candidates` has room for those of several, they are
    all there afterwards. There are fewer groups than `out` has room for if random numbers run out. With `ahead`, the
    candidates are those drawn at the end of the call before, as if shells stayed empty in between, and groups end before
    the first with a candidate in a shell that was closed.
    """
    count = point_index.size[0]
    taken = np.int64(0)  # helpers would be compiled once more for a plain 0, which numba treats as a type of its own
    while taken < out.shape[0]:
        rows = candidates[taken % candidates.shape[0]]
        tie = 0.0
        if affine is not None:
            begin = numbers.position[0]
            _draw_sources(numbers, layout, zones, uniform, point_index, shells, count + taken, rows, None)
            tie = draw_number(numbers)
            if lacks_numbers(numbers, begin):
                break
            write_follow_ups(layout, rows)
        if ahead is not None:
            if taken == ahead.size[0] or not are_shells_empty(shells, ahead, taken, count + taken + 1):
                break
            tie = take_ahead(numbers, layout, ahead, follow_ups, taken, rows)
        for candidate in range(rows.shape[0]):
            scores[0, candidate] = 0.0
            if rows.shape[0] > 1 and count + taken > 0:
                if joint is not None:
                    scores[0, candidate] = _find_nearest_group_distance(layout, point_index, rows[candidate])
                else:
                    for slot in range(len(layout.start) - 1):
                        scores[0, candidate] += find_nearest_distance(layout, point_index, slot, rows[candidate])
        best = pick_greatest(scores[0], tie)
        _add_group(layout, point_index, shells, rows[best])
        for j in range(out.shape[1]):
            out[taken, j] = rows[best, j]
        if ahead is not None:
            write_follow_ups_ahead(follow_ups, taken * rows.shape[0] + best, out[taken])
        taken += 1
    if ahead is not None:
        begin = numbers.position[0]
        count += taken
        limit = begin_ahead(shells, ahead, count + 1, out.shape[0] - taken)
        while ahead.size[0] < limit:
            group, start = ahead.size[0], numbers.position[0]
            _draw_sources(
                numbers,
                layout,
                zones,
                uniform,
                point_index,
                shells,
                count + group,
                ahead.sources[group],
                ahead.shell[group],
            )
            draw_number(numbers)
            if not file_ahead(numbers, ahead, start):
                break
        numbers.position[0] = begin
    return taken
