"""Kernels of generators with grids of cells, such as BART and MT-IPART."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.box import Floats
from .cells import (
    CellGrid,
    add_to_cells,
    count_closed,
    draw_in_cell,
    draw_open_cell,
    find_nearby_distance,
    refine_all_slots,
)
from .compiling import compile_kernel
from .layout import Layout, pick_greatest, write_follow_ups


class CutSettings(NamedTuple):
    """How grids are refined, and whether candidates are compared by distances."""

    scheme: int
    by_distance: bool


@compile_kernel
def propose_cut(rng: np.random.Generator, layout: Layout, settings: CutSettings, cells: CellGrid, rows: Floats) -> Any:
    """Draw candidates in one open cell per source; return False without room."""
    if not refine_all_slots(layout, cells, settings.scheme):
        return False
    open_cells = np.empty(layout.sources, dtype=np.int64)
    for slot in range(layout.sources):
        open_cells[slot] = draw_open_cell(rng, cells, slot)
    for slot in range(layout.sources):
        draw_in_cell(rng, layout, cells, slot, open_cells[slot], rows)
    return True


@compile_kernel
def choose_cut(layout: Layout, settings: CutSettings, cells: CellGrid, rows: Floats, tie: float) -> Any:
    """Return a candidate whose follow-ups all lie in open cells.

    `tie` decides among several, or if there is none.

    By distances, return the candidate with the most inputs without executed neighbours, among equals the one farthest
    from executed inputs nearby.
    """
    count = rows.shape[0]
    scores = np.zeros(count)
    if not settings.by_distance:
        closed_counts = np.zeros(count)
        count_closed(layout, cells, layout.sources, len(layout.start) - 1, rows, closed_counts)
        for i in range(count):
            scores[i] = 1.0 if closed_counts[i] == 0.0 else 0.0
        return pick_greatest(scores, tie)
    isolated_inputs = np.zeros(count)
    for i in range(count):
        for slot in range(len(layout.start) - 1):
            distance = find_nearby_distance(layout, cells, slot, rows[i])
            if distance == np.inf:
                isolated_inputs[i] += 1.0
            else:
                scores[i] += distance
    greatest = isolated_inputs.max()
    for i in range(count):
        if isolated_inputs[i] < greatest:
            scores[i] = -1.0
        elif greatest == len(layout.start) - 1:
            scores[i] = 0.0
    return pick_greatest(scores, tie)


@compile_kernel
def add_cut(layout: Layout, settings: CutSettings, cells: CellGrid, row: Floats) -> None:
    """Count a group as executed."""
    for slot in range(len(layout.start) - 1):
        add_to_cells(layout, cells, settings.scheme, slot, row)


@compile_kernel
def advance_cut(
    rng: np.random.Generator, layout: Layout, settings: CutSettings, cells: CellGrid, rows: Floats, out: Floats
) -> Any:
    """Write groups to `out` while there is room to refine; return how many."""
    for i in range(out.shape[0]):
        if not propose_cut(rng, layout, settings, cells, rows):
            return i
        write_follow_ups(layout, rows)
        best = choose_cut(layout, settings, cells, rows, rng.random())
        add_cut(layout, settings, cells, rows[best])
        out[i] = rows[best]
    return out.shape[0]
