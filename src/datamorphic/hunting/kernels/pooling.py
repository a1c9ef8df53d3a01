"""Kernels of MT-ART, which keeps all executed inputs in one pool."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...relations.algebra.box import Floats
from .ahead import GroupsAhead, file_ahead, take_ahead, write_follow_ups_ahead
from .compiling import compile_helper, compile_kernel
from .layout import (
    Ints,
    Layout,
    RandomNumbers,
    compute_distance,
    draw_number,
    lacks_numbers,
    pick_greatest,
    write_follow_ups,
)
from .nearest import PointIndex, add_point, find_nearest_distance
from .shells import Shells, add_to_shells, are_shells_empty, begin_ahead, draw_in_shell

MIN, AVG, MAX = range(3)
TIE_TOLERANCE = 1e-6


class PoolSettings(NamedTuple):
    """The distance that counts; those to the pool (strategy 1) or in a group (2) first."""

    statistic: int
    strategy: int


class InputPool(NamedTuple):
    """All executed inputs; `layout` is a single slot that contains all domains."""

    point_index: PointIndex
    layout: Layout
    source_row: Floats  # room for the sources of a group


def build_pool_layout(layout: Layout) -> Layout:
    """Return the layout of the inputs of a pool."""
    widths = np.diff(layout.start)
    if (widths != widths[0]).any():
        raise ArgumentError(
            "MT-ART keeps sources and follow-ups in one pool, but these have different numbers of columns: "
            f"{widths.tolist()}. Use SFIDMT-ART, which keeps them apart."
        )
    columns = int(widths[0])
    return layout._replace(
        sources=1,
        start=np.array([0, columns]),
        low=layout.low.reshape(-1, columns).min(axis=0),
        high=layout.high.reshape(-1, columns).max(axis=0),
        kind=layout.kind[:columns],
        scale=layout.scale[:columns],
        matrix=np.zeros((0, 1)),
        offset=np.zeros(0),
    )


@compile_helper
def _draw_sources(
    numbers: RandomNumbers, layout: Layout, shells: Shells, number: int, rows: Floats, shell: Ints | None
) -> None:
    """Draw sources from empty shells, with `number` shells; write the shell of each to `shell` unless it is None."""
    for slot in range(layout.sources):
        for i in range(rows.shape[0]):
            place = draw_in_shell(numbers, layout, shells, number, slot, rows[i])
            if shell is not None:
                shell[i, slot] = place


@compile_helper
def _measure_to_pool(pool: InputPool, statistic: int, point: Floats) -> Any:
    """Return the least, mean or greatest distance of an input to those of the pool."""
    if statistic == MIN:
        return find_nearest_distance(pool.layout, pool.point_index, 0, point)
    total = 0.0
    farthest = 0.0
    for i in range(pool.point_index.size[0]):
        distance = compute_distance(pool.layout, 0, point, pool.point_index.points[0, i])
        total += distance
        farthest = max(farthest, distance)
    return farthest if statistic == MAX else total / pool.point_index.size[0]


@compile_helper
def _combine(total: float, count: int, least: float, greatest: float, statistic: int) -> Any:
    if statistic == MIN:
        return least
    return greatest if statistic == MAX else total / count


@compile_helper
def _measure_from_pool(layout: Layout, settings: PoolSettings, pool: InputPool, row: Floats) -> Any:
    """Return the distance to the pool of sources (d1) and follow-ups (d3) combined."""
    columns = layout.start[1]
    first_part, second_part, parts = 0.0, 0.0, 0
    for part in range(2):
        first, last = (0, layout.sources) if part == 0 else (layout.sources, len(layout.start) - 1)
        if first == last:
            continue
        total, least, greatest = 0.0, np.inf, 0.0
        for slot in range(first, last):
            distance = _measure_to_pool(pool, settings.statistic, row[slot * columns : (slot + 1) * columns])
            total += distance
            least, greatest = min(least, distance), max(greatest, distance)
        first_part, second_part = second_part, _combine(total, last - first, least, greatest, settings.statistic)
        parts += 1
    if parts == 1:
        return second_part
    least, greatest = min(first_part, second_part), max(first_part, second_part)
    return _combine(first_part + second_part, 2, least, greatest, settings.statistic)


@compile_helper
def _measure_within_group(layout: Layout, settings: PoolSettings, pool: InputPool, row: Floats) -> Any:
    """Return the distance of the inputs of a group to each other (d2)."""
    columns = layout.start[1]
    slots = len(layout.start) - 1
    total, least, greatest, pairs = 0.0, np.inf, 0.0, 0
    for a in range(slots):
        for b in range(a + 1, slots):
            distance = compute_distance(
                pool.layout, 0, row[a * columns : (a + 1) * columns], row[b * columns : (b + 1) * columns]
            )
            total += distance
            least, greatest = min(least, distance), max(greatest, distance)
            pairs += 1
    return _combine(total, pairs, least, greatest, settings.statistic) if pairs else 0.0


@compile_helper
def _choose(layout: Layout, settings: PoolSettings, pool: InputPool, rows: Floats, scores: Floats, tie: float) -> Any:
    """Return the candidate with the greatest first, then second distance, then by `tie`."""
    first, second, is_best = scores[0], scores[1], scores[2]
    best, runner_up = -np.inf, -np.inf
    for i in range(rows.shape[0]):
        first[i], second[i] = 0.0, 0.0
        if pool.point_index.size[0]:
            from_pool = _measure_from_pool(layout, settings, pool, rows[i])
            within = _measure_within_group(layout, settings, pool, rows[i])
            first[i], second[i] = (from_pool, within) if settings.strategy == 1 else (within, from_pool)
        best = max(best, first[i])
    for i in range(rows.shape[0]):
        if first[i] >= best - TIE_TOLERANCE:
            runner_up = max(runner_up, second[i])
    for i in range(rows.shape[0]):
        is_best[i] = 1.0 if first[i] >= best - TIE_TOLERANCE and second[i] >= runner_up else 0.0
    return pick_greatest(is_best, tie)


@compile_helper
def _add_group(layout: Layout, pool: InputPool, shells: Shells, row: Floats) -> None:
    """Add the inputs of a group to the pool and to the shells of source domains."""
    columns = layout.start[1]
    for slot in range(len(layout.start) - 1):
        point = row[slot * columns : (slot + 1) * columns]
        add_point(pool.layout, pool.point_index, 0, point)
        for source in range(layout.sources):
            first = layout.start[source]
            inside = True
            for j in range(columns):
                pool.source_row[first + j] = point[j]
                if not layout.low[first + j] <= point[j] <= layout.high[first + j]:
                    inside = False
            if inside:
                add_to_shells(layout, shells, source, pool.source_row)


@compile_kernel
def add_pool(layout: Layout, settings: PoolSettings, pool: InputPool, shells: Shells, row: Floats) -> None:
    """Count a group as executed."""
    _add_group(layout, pool, shells, row)


@compile_kernel
def advance_pool(
    numbers: RandomNumbers,
    layout: Layout,
    settings: PoolSettings,
    pool: InputPool,
    shells: Shells,
    candidates: Floats,
    scores: Floats,
    affine: bool | None,
    ahead: GroupsAhead | None,
    follow_ups: Floats | None,
    out: Floats,
) -> Any:
    """Write groups to `out`, as `advance_spread` does; return how many."""
    slots = len(layout.start) - 1
    number = pool.point_index.size[0] + 1  # of shells: one more than inputs in the pool
    taken = np.int64(0)  # see `advance_spread`
    while taken < out.shape[0]:
        rows = candidates[taken % candidates.shape[0]]
        tie = 0.0
        if affine is not None:
            begin = numbers.position[0]
            _draw_sources(numbers, layout, shells, number, rows, None)
            tie = draw_number(numbers)
            if lacks_numbers(numbers, begin):
                break
            write_follow_ups(layout, rows)
        if ahead is not None:
            if taken == ahead.size[0] or not are_shells_empty(shells, ahead, taken, number):
                break
            tie = take_ahead(numbers, layout, ahead, follow_ups, taken, rows)
        best = _choose(layout, settings, pool, rows, scores, tie)
        for j in range(out.shape[1]):
            out[taken, j] = rows[best, j]
        _add_group(layout, pool, shells, out[taken])
        if ahead is not None:
            write_follow_ups_ahead(follow_ups, taken * rows.shape[0] + best, out[taken])
        number += slots
        taken += 1
    if ahead is not None:
        begin = numbers.position[0]
        limit = begin_ahead(shells, ahead, number, out.shape[0] - taken)
        while ahead.size[0] < limit:
            group, start = ahead.size[0], numbers.position[0]
            _draw_sources(numbers, layout, shells, number + group * slots, ahead.sources[group], ahead.shell[group])
            draw_number(numbers)
            if not file_ahead(numbers, ahead, start):
                break
        numbers.position[0] = begin
    return taken
