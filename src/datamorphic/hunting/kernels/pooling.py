"""Kernels of MT-ART, which keeps all executed inputs in one pool."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from ...relations.box import Floats
from .compiling import compile_kernel
from .layout import Ints, Layout, compute_distance, pick_greatest, write_follow_ups
from .nearest import PointIndex, add_point, find_nearest_distance, grow_point_index, make_point_index
from .shells import Shells, add_share, compute_share, draw_in_shell, grow_shells, make_shells

MIN, AVG, MAX = range(3)
TIE_TOLERANCE = 1e-6


class PoolSettings(NamedTuple):
    """The distance that counts; those to the pool (strategy 1) or in a group (2) first."""

    statistic: int
    strategy: int


class InputPool(NamedTuple):
    """All executed inputs; `layout` is a single slot that contains all domains."""

    point_index: PointIndex
    shells: Shells
    layout: Layout
    size: Ints


def make_pool(layout: Layout, capacity: int) -> InputPool:
    """Return an empty pool with room for the inputs of `capacity` groups."""
    widths = np.diff(layout.start)
    if (widths != widths[0]).any():
        raise ArgumentError(
            "MT-ART keeps sources and follow-ups in one pool, but these have different numbers of columns: "
            f"{widths.tolist()}. Use SFIDMT-ART, which keeps them apart."
        )
    columns = int(widths[0])
    pool_layout = layout._replace(
        sources=1,
        start=np.array([0, columns]),
        low=layout.low.reshape(-1, columns).min(axis=0),
        high=layout.high.reshape(-1, columns).max(axis=0),
        kind=layout.kind[:columns],
        scale=layout.scale[:columns],
        matrix=np.zeros((0, 1)),
        offset=np.zeros(0),
    )
    capacity_inputs = capacity * layout.slots
    return InputPool(
        make_point_index(1, columns, capacity_inputs),
        make_shells(layout.sources, max(capacity_inputs, 16)),
        pool_layout,
        np.zeros(1, np.int64),
    )


def grow_pool(pool: InputPool, capacity: int) -> InputPool:
    """Return the pool with room for more inputs."""
    return pool._replace(
        point_index=grow_point_index(pool.point_index, capacity), shells=grow_shells(pool.shells, capacity)
    )


@compile_kernel
def propose_pool(
    rng: np.random.Generator, layout: Layout, settings: PoolSettings, pool: InputPool, rows: Floats
) -> None:
    """Draw sources from empty shells; there is one more than inputs in the pool."""
    for slot in range(layout.sources):
        for i in range(rows.shape[0]):
            draw_in_shell(rng, layout, pool.shells, pool.size[0] + 1, slot, rows[i])


@compile_kernel
def _measure_to_pool(pool: InputPool, statistic: int, point: Floats) -> Any:
    """Return the least, mean or greatest distance of an input to those of the pool."""
    if statistic == MIN:
        return find_nearest_distance(pool.layout, pool.point_index, 0, point)
    total = 0.0
    farthest = 0.0
    for i in range(pool.size[0]):
        distance = compute_distance(pool.layout, 0, point, pool.point_index.points[0, i])
        total += distance
        farthest = max(farthest, distance)
    return farthest if statistic == MAX else total / pool.size[0]


@compile_kernel
def _combine(total: float, count: int, least: float, greatest: float, statistic: int) -> Any:
    if statistic == MIN:
        return least
    return greatest if statistic == MAX else total / count


@compile_kernel
def _measure_from_pool(layout: Layout, settings: PoolSettings, pool: InputPool, row: Floats) -> Any:
    """Return the distance to the pool of sources (d1) and follow-ups (d3) combined."""
    columns = layout.start[1]
    both = np.empty(2)
    parts = 0
    for part in range(2):
        first, last = (0, layout.sources) if part == 0 else (layout.sources, len(layout.start) - 1)
        if first == last:
            continue
        total, least, greatest = 0.0, np.inf, 0.0
        for slot in range(first, last):
            distance = _measure_to_pool(pool, settings.statistic, row[slot * columns : (slot + 1) * columns])
            total += distance
            least, greatest = min(least, distance), max(greatest, distance)
        both[parts] = _combine(total, last - first, least, greatest, settings.statistic)
        parts += 1
    if parts == 1:
        return both[0]
    return _combine(both[0] + both[1], 2, min(both[0], both[1]), max(both[0], both[1]), settings.statistic)


@compile_kernel
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


@compile_kernel
def choose_pool(layout: Layout, settings: PoolSettings, pool: InputPool, rows: Floats, tie: float) -> Any:
    """Return the candidate with the greatest first, then second distance, then by `tie`."""
    count = rows.shape[0]
    first, second = np.zeros(count), np.zeros(count)
    for i in range(count):
        from_pool = _measure_from_pool(layout, settings, pool, rows[i]) if pool.size[0] else 0.0
        within = _measure_within_group(layout, settings, pool, rows[i]) if pool.size[0] else 0.0
        first[i], second[i] = (from_pool, within) if settings.strategy == 1 else (within, from_pool)
    best = first.max()
    runner_up = -np.inf
    for i in range(count):
        if first[i] >= best - TIE_TOLERANCE:
            runner_up = max(runner_up, second[i])
    is_best = np.zeros(count)
    for i in range(count):
        if first[i] >= best - TIE_TOLERANCE and second[i] >= runner_up:
            is_best[i] = 1.0
    return pick_greatest(is_best, tie)


@compile_kernel
def add_pool(layout: Layout, settings: PoolSettings, pool: InputPool, row: Floats) -> None:
    """Add the inputs of a group to the pool and to the shells of source domains."""
    columns = layout.start[1]
    source_row = np.empty(layout.start[-1])
    for slot in range(len(layout.start) - 1):
        point = row[slot * columns : (slot + 1) * columns]
        add_point(pool.layout, pool.point_index, 0, point)
        pool.size[0] += 1
        for source in range(layout.sources):
            first = layout.start[source]
            inside = True
            for j in range(columns):
                source_row[first + j] = point[j]
                if not layout.low[first + j] <= point[j] <= layout.high[first + j]:
                    inside = False
            if inside:
                add_share(pool.shells, source, compute_share(layout, source, source_row))


@compile_kernel
def advance_pool(
    rng: np.random.Generator, layout: Layout, settings: PoolSettings, pool: InputPool, rows: Floats, out: Floats
) -> Any:
    """Write groups to `out`; `rows` has room for the candidates."""
    for i in range(out.shape[0]):
        propose_pool(rng, layout, settings, pool, rows)
        write_follow_ups(layout, rows)
        best = choose_pool(layout, settings, pool, rows, rng.random())
        add_pool(layout, settings, pool, rows[best])
        out[i] = rows[best]
    return out.shape[0]
