"""Kernels of generators that keep away from what was executed: FSCS-ART, RRT, SFIDMT-ART.

Three steps make a group: `propose` draws the sources of some candidates, `choose` takes the one that is farthest from
what was executed, `add` counts it as executed. `advance` makes many groups whose follow-ups are affine.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...relations.boxes import CATEGORY
from .compiling import COMPILED, compiled
from .layout import Layout, distance, draw_uniform, follow, pick
from .nearest import Near, add_point, grown_near, make_near, nearest
from .shells import Shells, add_share, draw_in_shell, grown_shells, make_shells, share_of


class Way(NamedTuple):
    """How candidates are drawn and compared.

    `joint` takes the nearest executed group as a whole; with `tries` inputs are drawn until one lies outside all zones,
    which make up `ratio` of the domain together.
    """

    shells: bool
    joint: bool
    tries: int
    ratio: float


class Spread(NamedTuple):
    """What was executed."""

    near: Near
    shells: Shells


def make_spread(layout: Layout, capacity: int) -> Spread:
    """Return that nothing was executed, and room for some."""
    columns = int(np.diff(layout.start).max())
    return Spread(make_near(layout.slots, columns, capacity), make_shells(layout.sources, capacity))


def grown_spread(spread: Spread, capacity: int) -> Spread:
    """Return the same with more room."""
    return Spread(grown_near(spread.near, capacity), grown_shells(spread.shells, capacity))


@compiled
def propose_spread(rng: Any, layout: Layout, way: Way, spread: Spread, rows: Any) -> None:
    """Draw the sources of candidates, source by source, candidate after candidate."""
    for slot in range(layout.sources):
        for i in range(rows.shape[0]):
            if way.tries:
                _draw_outside(rng, layout, way, spread, slot, rows[i])
            elif way.shells:
                draw_in_shell(rng, layout, spread.shells, spread.near.size[0] + 1, slot, rows[i])
            else:
                draw_uniform(rng, layout, slot, rows[i])


@compiled
def _draw_outside(rng: Any, layout: Layout, way: Way, spread: Spread, slot: int, row: Any) -> None:
    """Draw inputs until one is far enough from all executed ones; the farthest of `tries` if none is."""
    first, last = layout.start[slot], layout.start[slot + 1]
    count = spread.near.size[slot]
    volume = 1.0
    dimension = 0
    for column in range(first, last):
        if layout.kind[column] != CATEGORY and layout.high[column] > layout.low[column]:
            volume *= (layout.high[column] - layout.low[column]) * layout.scale[column]
            dimension += 1
    radius = 0.0
    if count and dimension:
        unit = math.pi ** (dimension / 2) / math.gamma(dimension / 2 + 1)
        radius = (way.ratio * volume / (count * unit)) ** (1.0 / dimension)
    best = np.empty(last - first)
    farthest = -1.0
    for _ in range(way.tries):
        draw_uniform(rng, layout, slot, row)
        if count == 0:
            return
        apart = nearest(layout, spread.near, slot, row)
        if apart > radius:
            return
        if apart > farthest:
            farthest = apart
            best[:] = row[first:last]
    row[first:last] = best


@compiled
def choose_spread(layout: Layout, way: Way, spread: Spread, rows: Any, tie: float) -> Any:
    """Return the candidate that is farthest from what was executed."""
    scores = np.zeros(rows.shape[0])
    if rows.shape[0] > 1 and spread.near.size[0] > 0:
        for i in range(rows.shape[0]):
            if way.joint:
                scores[i] = _nearest_group(layout, spread.near, rows[i])
            else:
                for slot in range(len(layout.start) - 1):
                    scores[i] += nearest(layout, spread.near, slot, rows[i])
    return pick(scores, tie)


@compiled
def _group_by_group(layout: Layout, near: Near, row: Any) -> Any:
    best = np.inf
    for i in range(near.size[0]):
        total = 0.0
        for slot in range(len(layout.start) - 1):
            total += distance(layout, slot, row, near.points[slot, i])
            if total >= best:
                break
        best = min(best, total)
    return best


def _groups_at_once(layout: Layout, near: Near, row: Any) -> Any:
    total = np.zeros(near.size[0])
    for slot in range(len(layout.start) - 1):
        squares, differing = np.zeros(len(total)), np.zeros(len(total))
        for j, column in enumerate(range(layout.start[slot], layout.start[slot + 1])):
            if layout.kind[column] == CATEGORY:
                differing += row[column] != near.points[slot, : len(total), j]
            else:
                apart = (row[column] - near.points[slot, : len(total), j]) * layout.scale[column]
                squares += apart * apart
        total += np.sqrt(squares) + differing
    return total.min()


_nearest_group = _group_by_group if COMPILED else _groups_at_once


@compiled
def add_spread(layout: Layout, way: Way, spread: Spread, row: Any) -> None:
    """Count a group as executed."""
    for slot in range(len(layout.start) - 1):
        add_point(layout, spread.near, slot, row)
        if way.shells and slot < layout.sources:
            add_share(spread.shells, slot, share_of(layout, slot, row))


@compiled
def advance_spread(rng: Any, layout: Layout, way: Way, spread: Spread, rows: Any, made: Any) -> Any:
    """Make groups; `rows` has room for the candidates."""
    for i in range(made.shape[0]):
        propose_spread(rng, layout, way, spread, rows)
        follow(layout, rows)
        chosen = choose_spread(layout, way, spread, rows, rng.random())
        add_spread(layout, way, spread, rows[chosen])
        made[i] = rows[chosen]
    return made.shape[0]
