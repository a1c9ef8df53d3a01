"""Kernels of generators that cut domains into equal cells: BART, IPART, MT-BART, MT-IPART, SFIDMT-BART."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .cells import Cells, add_to_cells, all_refined, count_closed, draw_in_cell, draw_open, nearby
from .compiling import compiled
from .layout import Layout, follow, pick


class Cut(NamedTuple):
    """How domains are cut, and whether candidates are compared by distances to what lies in neighbouring cells."""

    how: int
    distances: bool


@compiled
def propose_cut(rng: Any, layout: Layout, way: Cut, cells: Cells, rows: Any) -> Any:
    """Draw an open cell for each source, then the candidates in these cells; False if there is no room to cut finer."""
    if not all_refined(layout, cells, way.how):
        return False
    chosen = np.empty(layout.sources, dtype=np.int64)
    for slot in range(layout.sources):
        chosen[slot] = draw_open(rng, cells, slot)
    for slot in range(layout.sources):
        draw_in_cell(rng, layout, cells, slot, chosen[slot], rows)
    return True


@compiled
def choose_cut(layout: Layout, way: Cut, cells: Cells, rows: Any, tie: float) -> Any:
    """Return a candidate whose follow-ups all lie in open cells, by chance if there are several or none.

    By distances: the one with the most inputs that have no executed neighbours, among equals the farthest from what is
    executed nearby.
    """
    count = rows.shape[0]
    scores = np.zeros(count)
    if not way.distances:
        closed = np.zeros(count)
        count_closed(layout, cells, layout.sources, len(layout.start) - 1, rows, closed)
        for i in range(count):
            scores[i] = 1.0 if closed[i] == 0.0 else 0.0
        return pick(scores, tie)
    lonely = np.zeros(count)
    for i in range(count):
        for slot in range(len(layout.start) - 1):
            apart = nearby(layout, cells, slot, rows[i])
            if apart == np.inf:
                lonely[i] += 1.0
            else:
                scores[i] += apart
    most = lonely.max()
    for i in range(count):
        if lonely[i] < most:
            scores[i] = -1.0
        elif most == len(layout.start) - 1:
            scores[i] = 0.0
    return pick(scores, tie)


@compiled
def add_cut(layout: Layout, way: Cut, cells: Cells, row: Any) -> None:
    """Count a group as executed."""
    for slot in range(len(layout.start) - 1):
        add_to_cells(layout, cells, way.how, slot, row)


@compiled
def advance_cut(rng: Any, layout: Layout, way: Cut, cells: Cells, rows: Any, made: Any) -> Any:
    """Make groups, as long as there is room to cut finer; return how many."""
    for i in range(made.shape[0]):
        if not propose_cut(rng, layout, way, cells, rows):
            return i
        follow(layout, rows)
        chosen = choose_cut(layout, way, cells, rows, rng.random())
        add_cut(layout, way, cells, rows[chosen])
        made[i] = rows[chosen]
    return made.shape[0]
