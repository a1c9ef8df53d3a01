"""Kernels of MT-ART: sources and follow-ups of all executed groups in one pool."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentError
from .compiling import compiled
from .layout import Ints, Layout, distance, follow
from .nearest import Near, add_point, grown_near, make_near, nearest
from .shells import Shells, add_share, draw_in_shell, grown_shells, make_shells, share_of

MIN, AVG, MAX = range(3)
TIE = 1e-6


class Criterion(NamedTuple):
    """Which distances count, and whether those to the pool come first (strategy 1) or those within a group (2)."""

    which: int
    strategy: int


class Pool(NamedTuple):
    """All inputs that were executed; `pool` is their layout, a single slot that holds all domains."""

    near: Near
    shells: Shells
    pool: Layout
    size: Ints


def make_pool(layout: Layout, capacity: int) -> Pool:
    """Return an empty pool with room for the inputs of some groups."""
    widths = np.diff(layout.start)
    if (widths != widths[0]).any():
        raise ArgumentError(
            "MT-ART keeps sources and follow-ups in one pool, and here they have different numbers of columns: "
            f"{widths.tolist()}. Take SFIDMT-ART, which keeps them apart."
        )
    columns = int(widths[0])
    low = layout.low.reshape(-1, columns).min(axis=0)
    high = layout.high.reshape(-1, columns).max(axis=0)
    pool = Layout(
        1, np.array([0, columns]), low, high, layout.kind[:columns], layout.scale[:columns], np.zeros((0, 1)), np.zeros(0),
        layout.jaccard,
    )  # fmt: skip
    room = capacity * layout.slots
    return Pool(
        make_near(1, columns, room), make_shells(layout.sources, max(room, 16)), pool, np.zeros(1, np.int64)
    )


def grown_pool(pool: Pool, capacity: int) -> Pool:
    """Return the same with room for more inputs."""
    return pool._replace(near=grown_near(pool.near, capacity), shells=grown_shells(pool.shells, capacity))


@compiled
def propose_pool(rng: Any, layout: Layout, way: Criterion, pool: Pool, rows: Any) -> None:
    """Draw the sources of candidates from empty shells: one more than there are inputs in the pool."""
    for slot in range(layout.sources):
        for i in range(rows.shape[0]):
            draw_in_shell(rng, layout, pool.shells, pool.size[0] + 1, slot, rows[i])


@compiled
def _to_pool(pool: Pool, which: int, point: Any) -> Any:
    """Return the nearest, the mean or the farthest distance of an input to those of the pool."""
    if which == MIN:
        return nearest(pool.pool, pool.near, 0, point)
    total = 0.0
    farthest = 0.0
    for i in range(pool.size[0]):
        apart = distance(pool.pool, 0, point, pool.near.points[0, i])
        total += apart
        farthest = max(farthest, apart)
    return farthest if which == MAX else total / pool.size[0]


@compiled
def _together(total: float, count: int, least: float, greatest: float, which: int) -> Any:
    if which == MIN:
        return least
    return greatest if which == MAX else total / count


@compiled
def _apart(layout: Layout, way: Criterion, pool: Pool, row: Any) -> Any:
    """Return how far a group is from the pool: its sources (d1) and its follow-ups (d3), taken together."""
    columns = layout.start[1]
    both = np.empty(2)
    parts = 0
    for part in range(2):
        first, last = (0, layout.sources) if part == 0 else (layout.sources, len(layout.start) - 1)
        if first == last:
            continue
        total, least, greatest = 0.0, np.inf, 0.0
        for slot in range(first, last):
            apart = _to_pool(pool, way.which, row[slot * columns : (slot + 1) * columns])
            total += apart
            least, greatest = min(least, apart), max(greatest, apart)
        both[parts] = _together(total, last - first, least, greatest, way.which)
        parts += 1
    if parts == 1:
        return both[0]
    return _together(both[0] + both[1], 2, min(both[0], both[1]), max(both[0], both[1]), way.which)


@compiled
def _within(layout: Layout, way: Criterion, pool: Pool, row: Any) -> Any:
    """Return how far the inputs of a group are from one another (d2)."""
    columns = layout.start[1]
    slots = len(layout.start) - 1
    total, least, greatest, pairs = 0.0, np.inf, 0.0, 0
    for a in range(slots):
        for b in range(a + 1, slots):
            apart = distance(
                pool.pool, 0, row[a * columns : (a + 1) * columns], row[b * columns : (b + 1) * columns]
            )
            total += apart
            least, greatest = min(least, apart), max(greatest, apart)
            pairs += 1
    return _together(total, pairs, least, greatest, way.which) if pairs else 0.0


@compiled
def choose_pool(layout: Layout, way: Criterion, pool: Pool, rows: Any, tie: float) -> Any:
    """Return the candidate with the greatest distance of the first kind, among equals of the second, then by chance."""
    count = rows.shape[0]
    first, second = np.zeros(count), np.zeros(count)
    for i in range(count):
        apart = _apart(layout, way, pool, rows[i]) if pool.size[0] else 0.0
        within = _within(layout, way, pool, rows[i]) if pool.size[0] else 0.0
        first[i], second[i] = (apart, within) if way.strategy == 1 else (within, apart)
    best = first.max()
    runner_up = -np.inf
    for i in range(count):
        if first[i] >= best - TIE:
            runner_up = max(runner_up, second[i])
    equal = 0
    for i in range(count):
        if first[i] >= best - TIE and second[i] >= runner_up:
            equal += 1
    left = min(int(tie * equal), equal - 1)
    for i in range(count):
        if first[i] >= best - TIE and second[i] >= runner_up:
            if left == 0:
                return i
            left -= 1
    return 0


@compiled
def add_pool(layout: Layout, way: Criterion, pool: Pool, row: Any) -> None:
    """Put the inputs of a group into the pool; they are in a shell of a source if they lie in its domain."""
    columns = layout.start[1]
    lifted = np.empty(layout.start[-1])
    for slot in range(len(layout.start) - 1):
        point = row[slot * columns : (slot + 1) * columns]
        add_point(pool.pool, pool.near, 0, point)
        pool.size[0] += 1
        for source in range(layout.sources):
            first = layout.start[source]
            inside = True
            for j in range(columns):
                lifted[first + j] = point[j]
                if not layout.low[first + j] <= point[j] <= layout.high[first + j]:
                    inside = False
            if inside:
                add_share(pool.shells, source, share_of(layout, source, lifted))


@compiled
def advance_pool(rng: Any, layout: Layout, way: Criterion, pool: Pool, rows: Any, made: Any) -> Any:
    """Make groups; `rows` has room for the candidates."""
    for i in range(made.shape[0]):
        propose_pool(rng, layout, way, pool, rows)
        follow(layout, rows)
        chosen = choose_pool(layout, way, pool, rows, rng.random())
        add_pool(layout, way, pool, rows[chosen])
        made[i] = rows[chosen]
    return made.shape[0]
