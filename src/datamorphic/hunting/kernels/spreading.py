"""Kernels of generators by distances: FSCS-ART, RRT, SFIDMT-ART.

Three steps make a group: `propose_spread` draws the sources of candidates, `choose_spread` returns the one farthest
from executed groups, `add_spread` counts it as executed. `advance_spread` makes many groups with affine follow-ups.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...relations.box import CATEGORY, Floats
from .compiling import COMPILED, compile_kernel
from .layout import Layout, compute_distance, draw_uniform, pick_greatest, write_follow_ups
from .nearest import PointIndex, add_point, find_nearest_distance, grow_point_index, make_point_index, measure_distances
from .shells import Shells, add_share, compute_share, draw_in_shell, grow_shells, make_shells


class SpreadSettings(NamedTuple):
    """How candidates are drawn and compared.

    With `from_shells`, candidates come from empty shells. With `joint`, the nearest executed group counts as a whole.
    With `tries`, inputs are drawn until one lies outside all exclusion zones, which cover `ratio` of the domain.
    """

    from_shells: bool
    joint: bool
    tries: int
    ratio: float


class SpreadMemory(NamedTuple):
    """The executed groups."""

    point_index: PointIndex
    shells: Shells


def make_spread(layout: Layout, capacity: int) -> SpreadMemory:
    """Return an empty memory."""
    point_index = make_point_index(layout.slots, layout.columns, capacity)
    return SpreadMemory(point_index, make_shells(layout.sources, capacity))


def grow_spread(spread: SpreadMemory, capacity: int) -> SpreadMemory:
    """Return the memory with room for more groups."""
    return SpreadMemory(grow_point_index(spread.point_index, capacity), grow_shells(spread.shells, capacity))


@compile_kernel
def propose_spread(
    rng: np.random.Generator, layout: Layout, settings: SpreadSettings, spread: SpreadMemory, rows: Floats
) -> None:
    """Draw the sources of candidates, source by source, candidate after candidate."""
    for slot in range(layout.sources):
        for i in range(rows.shape[0]):
            if settings.tries:
                _draw_outside(rng, layout, settings, spread, slot, rows[i])
            elif settings.from_shells:
                draw_in_shell(rng, layout, spread.shells, spread.point_index.size[0] + 1, slot, rows[i])
            else:
                draw_uniform(rng, layout, slot, rows[i])


@compile_kernel
def _draw_outside(
    rng: np.random.Generator, layout: Layout, settings: SpreadSettings, spread: SpreadMemory, slot: int, row: Floats
) -> None:
    """Draw inputs until one is outside all zones; else use the farthest of `tries`."""
    first, last = layout.start[slot], layout.start[slot + 1]
    count = spread.point_index.size[slot]
    volume = 1.0
    dimension = 0
    for column in range(first, last):
        if layout.kind[column] != CATEGORY and layout.high[column] > layout.low[column]:
            volume *= (layout.high[column] - layout.low[column]) * layout.scale[column]
            dimension += 1
    radius = 0.0
    if count and dimension:
        unit = math.pi ** (dimension / 2) / math.gamma(dimension / 2 + 1)
        radius = (settings.ratio * volume / (count * unit)) ** (1.0 / dimension)
    best = np.empty(last - first)
    farthest = -1.0
    for _ in range(settings.tries):
        draw_uniform(rng, layout, slot, row)
        if count == 0:
            return
        distance = find_nearest_distance(layout, spread.point_index, slot, row)
        if distance > radius:
            return
        if distance > farthest:
            farthest = distance
            best[:] = row[first:last]
    row[first:last] = best


@compile_kernel
def choose_spread(layout: Layout, settings: SpreadSettings, spread: SpreadMemory, rows: Floats, tie: float) -> Any:
    """Return the candidate farthest from executed groups; `tie` decides among equals."""
    scores = np.zeros(rows.shape[0])
    if rows.shape[0] > 1 and spread.point_index.size[0] > 0:
        for i in range(rows.shape[0]):
            if settings.joint:
                scores[i] = _find_nearest_group(layout, spread.point_index, rows[i])
            else:
                for slot in range(len(layout.start) - 1):
                    scores[i] += find_nearest_distance(layout, spread.point_index, slot, rows[i])
    return pick_greatest(scores, tie)


@compile_kernel
def _scan_groups(layout: Layout, point_index: PointIndex, row: Floats) -> Any:
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


@compile_kernel
def add_spread(layout: Layout, settings: SpreadSettings, spread: SpreadMemory, row: Floats) -> None:
    """Count a group as executed."""
    for slot in range(len(layout.start) - 1):
        add_point(layout, spread.point_index, slot, row)
        if settings.from_shells and slot < layout.sources:
            add_share(spread.shells, slot, compute_share(layout, slot, row))


@compile_kernel
def advance_spread(
    rng: np.random.Generator, layout: Layout, settings: SpreadSettings, spread: SpreadMemory, rows: Floats, out: Floats
) -> Any:
    """Write groups to `out`; `rows` has room for the candidates."""
    for i in range(out.shape[0]):
        propose_spread(rng, layout, settings, spread, rows)
        write_follow_ups(layout, rows)
        best = choose_spread(layout, settings, spread, rows, rng.random())
        add_spread(layout, settings, spread, rows[best])
        out[i] = rows[best]
    return out.shape[0]
