"""Kernels of selectors: which relation to put to which candidate, where every relation keeps what was executed of it.

All relations are one layout: slot after slot, each relation's own copies of the sources, then its follow-ups.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.boxes import Floats
from .cells import Cells, add_to_cells, all_refined, count_closed, part_of, to_next
from .compiling import compiled
from .layout import Ints, Layout, settled
from .nearest import Near, add_point, nearest
from .splitting import Boxes, leaf_of, split

BY_CELLS, BY_NEIGHBOURS, BY_VOLUME, BY_DISTANCE = range(4)
BEHIND = 0.9  # of the mean number of groups: a relation with fewer is well behind


class Packed(NamedTuple):
    """All relations side by side: the first slot of each, and how a shared candidate becomes all their inputs."""

    layout: Layout
    shared: Layout  # of what is drawn for all of them: the sources of the one that has most
    first: Ints  # (relations + 1,)
    offset: Floats  # (columns,): what is added
    begin: Ints  # (columns + 1,): where the factors of each column begin
    value: Floats  # factors that are not 0
    used: Ints  # the number of the candidate each is multiplied with


class Rule(NamedTuple):
    """What candidates are compared by, how cells are cut, and whether scores are shares, not sums."""

    by: int
    how: int
    share: bool


class Executed(NamedTuple):
    """What was executed of each relation; only what the rule needs has any room."""

    cells: Cells
    boxes: Boxes
    near: Near
    done: Ints  # (relations,): groups


@compiled
def draw_candidates(rng: Any, packed: Packed, shared: Any) -> None:
    """Draw candidates for all relations: one random number a column, row by row."""
    for i in range(shared.shape[0]):
        for column in range(shared.shape[1]):
            low = packed.shared.low[column]
            drawn = low + (packed.shared.high[column] - low) * rng.random()
            shared[i, column] = settled(
                packed.shared.kind[column], packed.shared.low[column], packed.shared.high[column], drawn
            )


@compiled
def expand(packed: Packed, shared: Any, rows: Any) -> None:
    """Write what each candidate is to each relation: its sources, and their follow-ups."""
    for i in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            made = packed.offset[column]
            for j in range(packed.begin[column], packed.begin[column + 1]):
                made += packed.value[j] * shared[i, packed.used[j]]
            rows[i, column] = made


@compiled
def is_ready(packed: Packed, rule: Rule, executed: Executed) -> Any:
    """Cut domains finer where that is due; False if there is no room."""
    if rule.by == BY_CELLS or rule.by == BY_NEIGHBOURS:
        return all_refined(packed.layout, executed.cells, rule.how)
    return True


@compiled
def _beside(layout: Layout, cells: Cells, slot: int, row: Any) -> Any:
    """Return how many neighbouring cells are occupied, and the distance to the nearest of them (infinite for none)."""
    first, last = layout.start[slot], layout.start[slot + 1]
    dimension = last - first
    here = np.empty(dimension, dtype=np.int64)
    for j in range(dimension):
        here[j] = part_of(layout, cells, first + j, row[first + j])
    step = np.full(dimension, -1, dtype=np.int64)
    occupied = 0
    best = np.inf
    while True:
        cell = 0
        inside, own = True, True
        squares = 0.0
        for j in range(dimension):
            parts = cells.parts[first + j]
            at = here[j] + step[j]
            if at < 0 or at >= parts:
                inside = False
            if step[j] != 0:
                own = False
                unit = (layout.high[first + j] - layout.low[first + j]) / parts
                edge = layout.low[first + j] + (here[j] + (1 if step[j] > 0 else 0)) * unit
                apart = (row[first + j] - edge) * layout.scale[first + j]
                squares += apart * apart
            cell = cell * parts + at
        if inside and not own and cells.place[slot, cell] < 0:
            occupied += 1
            best = min(best, squares)
        if not to_next(step):
            return occupied, np.sqrt(best)


@compiled
def score(packed: Packed, rule: Rule, executed: Executed, rows: Any, scores: Any) -> None:
    """Write three scores of each relation and candidate, to be compared one after the other; more is better.

    The first is the share (or number) of inputs in open cells, the volume of the boxes that are hit, or the distance to
    what was executed. By neighbours the second is how few neighbouring cells are occupied, in all or an input, the third
    the mean distance to the nearest of them.
    """
    layout = packed.layout
    closed = np.zeros(rows.shape[0])
    for relation in range(len(packed.first) - 1):
        first, last = packed.first[relation], packed.first[relation + 1]
        scores[relation] = 0.0
        if rule.by == BY_CELLS or rule.by == BY_NEIGHBOURS:
            count_closed(layout, executed.cells, first, last, rows, closed)
            scores[relation, :, 0] = (last - first) - closed
        else:
            for slot in range(first, last):
                for i in range(rows.shape[0]):
                    if rule.by == BY_VOLUME:
                        leaf = leaf_of(layout, executed.boxes, slot, rows[i])
                        scores[relation, i, 0] += executed.boxes.volume[slot, leaf]
                    else:
                        scores[relation, i, 0] += nearest(layout, executed.near, slot, rows[i])
        if rule.by == BY_NEIGHBOURS:
            for i in range(rows.shape[0]):
                total, near, away = 0, 0, 0.0
                for slot in range(first, last):
                    occupied, apart = _beside(layout, executed.cells, slot, rows[i])
                    total += occupied
                    if occupied:
                        near += 1
                        away += apart
                scores[relation, i, 1] = -total
                if scores[relation, i, 0] > 0 and near:
                    scores[relation, i, 2] = away / near
        if rule.share:
            scores[relation, :, :2] /= last - first


@compiled
def _better(a: Any, b: Any) -> Any:
    """Return 1, 0 or -1 as one row of scores is greater than another, the same, or less."""
    for j in range(a.shape[0]):
        if a[j] > b[j]:
            return 1
        if a[j] < b[j]:
            return -1
    return 0


@compiled
def best_row(scores: Any, tie: float) -> Any:
    """Return the best of some rows of scores, among equals the one a number in [0, 1) points at."""
    best, equal = 0, 1
    for i in range(1, scores.shape[0]):
        order = _better(scores[i], scores[best])
        if order > 0:
            best, equal = i, 1
        elif order == 0:
            equal += 1
    left = min(int(tie * equal), equal - 1)
    for i in range(best, scores.shape[0]):
        if _better(scores[i], scores[best]) == 0:
            if left == 0:
                return i
            left -= 1
    return best


@compiled
def choose(rng: Any, rule: Rule, executed: Executed, scores: Any) -> Any:
    """Return the best relation and its best candidate: one random number for each relation, one for all.

    By shares, a relation with many follow-ups seldom has all of them in empty cells, and would fall behind. So among equally
    good ones the least executed is taken, and one that is well behind the others comes next in any case.
    """
    relations, kinds = scores.shape[0], scores.shape[2]
    chosen = np.empty(relations, dtype=np.int64)
    bests = np.zeros((relations, kinds + 1))
    for relation in range(relations):
        chosen[relation] = best_row(scores[relation], rng.random())
        bests[relation, :kinds] = scores[relation, chosen[relation]]
        if rule.share:
            bests[relation, kinds] = -executed.done[relation]
    relation = best_row(bests, rng.random())
    if rule.share:
        last = int(np.argmin(executed.done))
        if executed.done[last] < BEHIND * executed.done.mean() - 1.0:
            relation = last
    return relation, chosen[relation]


@compiled
def add(packed: Packed, rule: Rule, executed: Executed, relation: int, row: Any) -> None:
    """Count a group of a relation as executed."""
    executed.done[relation] += 1
    for slot in range(packed.first[relation], packed.first[relation + 1]):
        if rule.by == BY_VOLUME:
            split(packed.layout, executed.boxes, slot, row)
        elif rule.by == BY_DISTANCE:
            add_point(packed.layout, executed.near, slot, row)
        else:
            add_to_cells(packed.layout, executed.cells, rule.how, slot, row)


@compiled
def advance(
    rng: Any,
    packed: Packed,
    rule: Rule,
    executed: Executed,
    shared: Any,
    rows: Any,
    scores: Any,
    which: Any,
    made: Any,
) -> Any:
    """Choose pairs of relation and group, as long as there is room to cut finer; return how many."""
    for i in range(made.shape[0]):
        if not is_ready(packed, rule, executed):
            return i
        draw_candidates(rng, packed, shared)
        expand(packed, shared, rows)
        score(packed, rule, executed, rows, scores)
        which[i], chosen = choose(rng, rule, executed, scores)
        add(packed, rule, executed, which[i], rows[chosen])
        made[i] = shared[chosen]
    return made.shape[0]
