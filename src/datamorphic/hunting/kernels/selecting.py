"""Kernels of selectors, which choose a relation and a candidate.

All relations share one layout: slot after slot, each relation's own copies of the sources, then its follow-ups.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.algebra.box import Floats
from .cells import CellGrid, add_to_cells, count_closed, move_to_next_neighbour, refine_all_slots
from .compiling import compile_helper, compile_kernel
from .layout import Ints, Layout, RandomNumbers, draw_number, find_part, lacks_numbers, round_to_kind
from .nearest import PointIndex, add_point, find_nearest_distance
from .splitting import SplitBoxes, find_leaf, split_leaf

BY_CELLS, BY_NEIGHBOURS, BY_VOLUME, BY_DISTANCE = range(4)
MIN_SHARE_OF_MEAN_GROUPS = 0.9  # a relation with fewer comes next


class RelationTable(NamedTuple):
    """All relations side by side, and how candidates become their inputs.

    Column j of the inputs is ``offset[j]`` plus the factors of column j times columns of the candidate.
    """

    layout: Layout
    shared_layout: Layout  # of candidates: the sources of the relation that has most
    first_slot: Ints  # (relations + 1,)
    offset: Floats  # (columns,)
    factor_start: Ints  # (columns + 1,): the first factor of each column
    factor: Floats  # the factors that are not 0
    factor_column: Ints  # the column of the candidate that each factor multiplies


class SelectionRule(NamedTuple):
    """The criterion, how grids are refined, and whether scores are shares or sums."""

    criterion: int
    scheme: int
    by_share: bool


class SelectionMemory(NamedTuple):
    """The executed groups of each relation; only what the rule needs has room."""

    cells: CellGrid
    boxes: SplitBoxes
    point_index: PointIndex
    group_counts: Ints  # (relations,)
    best_candidates: Ints  # (relations,): saves making an array
    best_scores: Floats  # (relations, 4): as well


@compile_helper
def _draw_candidates(numbers: RandomNumbers, table: RelationTable, candidates: Floats) -> None:
    """Draw candidates for all relations, by one random number per column, row by row."""
    layout = table.shared_layout
    for i in range(candidates.shape[0]):
        for column in range(candidates.shape[1]):
            low, high = layout.low[column], layout.high[column]
            candidates[i, column] = round_to_kind(
                layout.kind[column], low, high, low + (high - low) * draw_number(numbers)
            )


@compile_kernel
def expand_candidates(table: RelationTable, candidates: Floats, rows: Floats) -> None:
    """Write the sources and follow-ups that each relation makes from each candidate."""
    for i in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            value = table.offset[column]
            for j in range(table.factor_start[column], table.factor_start[column + 1]):
                value += table.factor[j] * candidates[i, table.factor_column[j]]
            rows[i, column] = value


@compile_kernel
def ensure_open_cells(table: RelationTable, rule: SelectionRule, memory: SelectionMemory) -> Any:
    """Refine grids that need it; return False if there is no room."""
    if rule.criterion == BY_CELLS or rule.criterion == BY_NEIGHBOURS:
        return refine_all_slots(table.layout, memory.cells, None, rule.scheme)
    return True


@compile_helper
def _measure_neighbours(layout: Layout, cells: CellGrid, slot: int, row: Floats) -> Any:
    """Return the number of occupied neighbours and the distance to the nearest."""
    first, last = layout.start[slot], layout.start[slot + 1]
    dimension = last - first
    own_parts, step = cells.scratch[0], cells.scratch[1, :dimension]
    for j in range(dimension):
        own_parts[j] = find_part(layout, first + j, cells.parts[first + j], row[first + j])
        step[j] = -1
    occupied_count = 0
    best = np.inf
    while True:
        cell = 0
        inside, own = True, True
        squares = 0.0
        for j in range(dimension):
            parts = cells.parts[first + j]
            part = own_parts[j] + step[j]
            if part < 0 or part >= parts:
                inside = False
            if step[j] != 0:
                own = False
                unit = (layout.high[first + j] - layout.low[first + j]) / parts
                edge = layout.low[first + j] + (own_parts[j] + (1 if step[j] > 0 else 0)) * unit
                difference = (row[first + j] - edge) * layout.scale[first + j]
                squares += difference * difference
            cell = cell * parts + part
        if inside and not own and cells.open_position[slot, cell] < 0:
            occupied_count += 1
            best = min(best, squares)
        if not move_to_next_neighbour(step):
            return occupied_count, np.sqrt(best)


@compile_kernel
def score_candidates(
    table: RelationTable, rule: SelectionRule, memory: SelectionMemory, rows: Floats, scores: Floats
) -> None:
    """Write three scores per relation and candidate; more is better.

    The first score is the share (or number) of inputs in open cells, the volume of the boxes that are hit, or the
    distance to executed inputs. By neighbours, the second is the negative number of occupied neighbouring cells, in all
    or per input, and the third the mean distance to the nearest of them.
    """
    layout = table.layout
    for relation in range(len(table.first_slot) - 1):
        first, last = table.first_slot[relation], table.first_slot[relation + 1]
        scores[relation] = 0.0
        if rule.criterion == BY_CELLS or rule.criterion == BY_NEIGHBOURS:
            count_closed(layout, memory.cells, first, last, rows, scores[relation, :, 0])
            for i in range(rows.shape[0]):
                scores[relation, i, 0] = (last - first) - scores[relation, i, 0]
        else:
            for slot in range(first, last):
                for i in range(rows.shape[0]):
                    if rule.criterion == BY_VOLUME:
                        leaf = find_leaf(layout, memory.boxes, slot, rows[i])
                        scores[relation, i, 0] += memory.boxes.volume[slot, leaf]
                    else:
                        scores[relation, i, 0] += find_nearest_distance(layout, memory.point_index, slot, rows[i])
        if rule.criterion == BY_NEIGHBOURS:
            for i in range(rows.shape[0]):
                total, occupied_inputs, total_distance = 0, 0, 0.0
                for slot in range(first, last):
                    occupied_count, distance = _measure_neighbours(layout, memory.cells, slot, rows[i])
                    total += occupied_count
                    if occupied_count:
                        occupied_inputs += 1
                        total_distance += distance
                scores[relation, i, 1] = -total
                if scores[relation, i, 0] > 0 and occupied_inputs:
                    scores[relation, i, 2] = total_distance / occupied_inputs
        if rule.by_share:
            for i in range(rows.shape[0]):
                scores[relation, i, 0] /= last - first
                scores[relation, i, 1] /= last - first


@compile_helper
def _compare_scores(a: Floats, b: Floats) -> Any:
    """Return 1, 0 or -1 if the scores `a` are greater than, equal to or less than `b`."""
    for j in range(a.shape[0]):
        if a[j] > b[j]:
            return 1
        if a[j] < b[j]:
            return -1
    return 0


@compile_kernel
def find_best_row(scores: Floats, tie: float) -> Any:
    """Return the row with the best scores; `tie` in [0, 1) decides among equals."""
    best, equal = 0, 1
    for i in range(1, scores.shape[0]):
        order = _compare_scores(scores[i], scores[best])
        if order > 0:
            best, equal = i, 1
        elif order == 0:
            equal += 1
    remaining = min(int(tie * equal), equal - 1)
    for i in range(best, scores.shape[0]):
        if _compare_scores(scores[i], scores[best]) == 0:
            if remaining == 0:
                return i
            remaining -= 1
    return best


@compile_kernel
def choose_pair(numbers: RandomNumbers, rule: SelectionRule, memory: SelectionMemory, scores: Floats) -> Any:
    """Return the best relation and its best candidate.

    This draws one random number per relation and one for all.

    By shares, a relation with many follow-ups seldom has all of them in empty cells and would fall behind. So among
    equally good relations the least executed is chosen, and one that is well behind the others comes next in any case.
    """
    relations, kinds = scores.shape[0], scores.shape[2]
    best_candidates, best_scores = memory.best_candidates, memory.best_scores
    least_executed, total = 0, 0
    for relation in range(relations):
        best_candidates[relation] = find_best_row(scores[relation], draw_number(numbers))
        for j in range(kinds):
            best_scores[relation, j] = scores[relation, best_candidates[relation], j]
        best_scores[relation, kinds] = -memory.group_counts[relation] if rule.by_share else 0.0
        total += memory.group_counts[relation]
        if memory.group_counts[relation] < memory.group_counts[least_executed]:
            least_executed = relation
    relation = find_best_row(best_scores, draw_number(numbers))
    enough = MIN_SHARE_OF_MEAN_GROUPS * (total / relations) - 1.0
    if rule.by_share and memory.group_counts[least_executed] < enough:
        relation = least_executed
    return relation, best_candidates[relation]


@compile_kernel
def add_group(table: RelationTable, rule: SelectionRule, memory: SelectionMemory, relation: int, row: Floats) -> None:
    """Count a group of a relation as executed."""
    memory.group_counts[relation] += 1
    for slot in range(table.first_slot[relation], table.first_slot[relation + 1]):
        if rule.criterion == BY_VOLUME:
            split_leaf(table.layout, memory.boxes, slot, row)
        elif rule.criterion == BY_DISTANCE:
            add_point(table.layout, memory.point_index, slot, row)
        else:
            add_to_cells(table.layout, memory.cells, None, rule.scheme, slot, row)


@compile_kernel
def advance_pairs(
    numbers: RandomNumbers,
    table: RelationTable,
    rule: SelectionRule,
    memory: SelectionMemory,
    candidates: Floats,
    rows: Floats,
    scores: Floats,
    relation_numbers: Ints,
    out: Floats,
) -> Any:
    """Write pairs of relation and group while there is room; return how many."""
    for i in range(out.shape[0]):
        begin = numbers.position[0]
        if not ensure_open_cells(table, rule, memory):
            return i
        _draw_candidates(numbers, table, candidates)
        expand_candidates(table, candidates, rows)
        score_candidates(table, rule, memory, rows, scores)
        relation_numbers[i], best = choose_pair(numbers, rule, memory, scores)
        if lacks_numbers(numbers, begin):
            return i
        add_group(table, rule, memory, relation_numbers[i], rows[best])
        for j in range(out.shape[1]):
            out[i, j] = candidates[best, j]
    return out.shape[0]
