"""Find leaves and kills in compiled code, as `descent` and `kills` do.

Needs numba, the extra "fast".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from .mutants import Mutants
from .tree import ABOVE, BELOW, EQUAL, FROM, LEVELS_PER_ARRIVAL_CHECK, WITHIN, Floats, Nodes, Tree

ROWS_ABREAST = 16

Array = npt.NDArray[Any]


def compile_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function on its first call, cached on disk, without the GIL."""
    kernel: Callable[..., Any] = njit(cache=True, nogil=True)(function)
    return kernel


def find_kills_compiled(
    tree: Tree, values: npt.NDArray[Any], mutants: Mutants, answer: Floats, tolerance: float
) -> tuple[Nodes, Nodes]:
    """Return the start and rows of `kills.RowKills`."""
    routing_arrays = _prepare_routing(tree, values)
    leaves = _find_leaves(*routing_arrays)
    swapped = (tree.operator == ABOVE) | (tree.operator == FROM)
    visits = int(tree.depth[leaves].sum())
    killer_rows, compared_values, holds, start, end = _find_telling_rows(
        *routing_arrays, swapped, visits, answer[leaves], answer, tolerance
    )
    # as in `Tree.routing`, all comparisons but == and sets become "at most" or its negation
    strict = (mutants.operator == BELOW) | (mutants.operator == FROM)
    limit = np.where(strict, np.nextafter(mutants.threshold, -np.inf), mutants.threshold)
    is_swapped = (mutants.operator == ABOVE) | (mutants.operator == FROM)
    start, end, members = start[mutants.node], end[mutants.node], routing_arrays[-2]
    begin, turned, row_starts = _find_turned_rows(
        compared_values, holds, start, end, mutants.operator, limit, is_swapped, members
    )
    return row_starts, _collect_rows(killer_rows, start, begin, turned, row_starts)


def find_leaves_compiled(tree: Tree, values: npt.NDArray[Any]) -> Nodes:
    """Find the leaf that each row reaches; see `descent.find_leaves`."""
    return _find_leaves(*_prepare_routing(tree, values))


def _prepare_routing(tree: Tree, values: npt.NDArray[Any]) -> tuple[Any, ...]:
    """Return the arrays that kernels need; the last is whether all is plain."""
    routing = tree.routing
    return (
        values,
        routing.feature.astype(np.int32),
        routing.limit,
        routing.children.astype(np.int32),
        routing.missing_second,
        routing.is_leaf,
        np.zeros(len(tree), dtype=bool) if routing.special is None else routing.special,
        tree.operator,
        tree.members if len(tree.sets) else np.zeros((1, 2), dtype=bool),
        routing.special is None and not np.isnan(values).any(),
    )


@compile_kernel
def _is_match(value: float, operator: int, threshold: float, members: Array) -> Any:
    """Return whether a value equals a number, or is (not) in a set."""
    if operator == EQUAL:
        return value == threshold
    inside = False
    if value >= 0 and value == np.floor(value):
        inside = members[int(threshold), int(min(value, members.shape[1] - 1))]
    return inside == (operator == WITHIN)


@compile_kernel
def _is_second(value: float, limit: float, missing: bool, special: bool, operator: int, members: Array) -> Any:
    """Return whether a value leads to the second child of a node."""
    if np.isnan(value):
        return missing
    if special:
        return not _is_match(value, operator, limit, members)
    return value > limit


@compile_kernel
def _find_leaves_abreast(values: Array, feature: Array, limit: Array, children: Array, is_leaf: Array) -> Any:
    """Find the leaf of each row, several rows at once to hide the latency of memory."""
    leaves = np.empty(len(values), dtype=np.intp)
    nodes = np.zeros(ROWS_ABREAST, dtype=np.int32)
    for start in range(0, len(values), ROWS_ABREAST):
        size = min(ROWS_ABREAST, len(values) - start)
        nodes[:] = 0
        under_way = True
        while under_way:
            for _ in range(LEVELS_PER_ARRIVAL_CHECK):  # a leaf leads to itself
                for k in range(size):
                    node = nodes[k]
                    nodes[k] = children[2 * node + (values[start + k, feature[node]] > limit[node])]
            under_way = False
            for k in range(size):
                under_way |= not is_leaf[nodes[k]]
        for k in range(size):
            leaves[start + k] = nodes[k]
    return leaves


@compile_kernel
def _find_leaves(
    values: Array,
    feature: Array,
    limit: Array,
    children: Array,
    missing: Array,
    is_leaf: Array,
    special: Array,
    operator: Array,
    members: Array,
    plain: bool,
) -> Any:
    if plain:
        return _find_leaves_abreast(values, feature, limit, children, is_leaf)
    leaves = np.empty(len(values), dtype=np.intp)
    for row in range(len(values)):
        node = 0
        while not is_leaf[node]:
            value = values[row, feature[node]]
            second = _is_second(value, limit[node], missing[node], special[node], operator[node], members)
            node = children[2 * node + second]
        leaves[row] = node
    return leaves


@compile_kernel
def _find_telling_rows(
    values: Array,
    feature: Array,
    limit: Array,
    children: Array,
    missing: Array,
    is_leaf: Array,
    special: Array,
    operator: Array,
    members: Array,
    plain: bool,
    swapped: Array,
    visits: int,
    own_answers: Array,
    answer: Array,
    tolerance: float,
) -> Any:
    """Return, by node, the rows whose answer changes on its other side."""
    n, nodes = len(values), len(feature)
    # the rows of a node are a slice of this, which is split stably into those of its children
    order, second_rows = np.arange(n), np.empty(n, dtype=np.intp)
    killer_rows = np.empty(visits, dtype=np.intp)
    compared_values = np.empty(visits, dtype=values.dtype)
    holds = np.empty(visits, dtype=np.bool_)
    start, end = np.zeros(nodes, dtype=np.intp), np.zeros(nodes, dtype=np.intp)
    low, high = np.zeros(nodes, dtype=np.intp), np.zeros(nodes, dtype=np.intp)
    pending = np.empty(nodes + 1, dtype=np.intp)
    pending[0], pending_count = 0, 1
    high[0] = n
    count = 0
    while pending_count:
        pending_count -= 1
        node = pending[pending_count]
        if is_leaf[node]:
            continue
        start[node] = count
        middle, second_count = low[node], 0
        for at in range(low[node], high[node]):
            row = order[at]
            value = values[row, feature[node]]
            second = value > limit[node]
            if not plain:
                second = _is_second(value, limit[node], missing[node], special[node], operator[node], members)
            if second:
                second_rows[second_count] = row
                second_count += 1
            else:
                order[middle] = row
                middle += 1
            if not plain and np.isnan(value):
                continue
            other_node = children[2 * node + (not second)]
            while not is_leaf[other_node]:
                other_value = values[row, feature[other_node]]
                other_second = other_value > limit[other_node]
                if not plain:
                    other_second = _is_second(
                        other_value,
                        limit[other_node],
                        missing[other_node],
                        special[other_node],
                        operator[other_node],
                        members,
                    )
                other_node = children[2 * other_node + other_second]
            if abs(answer[other_node] - own_answers[row]) > tolerance:
                killer_rows[count], compared_values[count], holds[count] = row, value, second == swapped[node]
                count += 1
        order[middle : middle + second_count] = second_rows[:second_count]
        end[node] = count
        first_child, second_child = children[2 * node], children[2 * node + 1]
        low[first_child], high[first_child], low[second_child], high[second_child] = (
            low[node],
            middle,
            middle,
            high[node],
        )
        pending[pending_count], pending[pending_count + 1] = second_child, first_child
        pending_count += 2
    return killer_rows[:count], compared_values[:count], holds[:count], start, end


@compile_kernel
def _find_turned_rows(
    compared_values: Array,
    holds: Array,
    start: Array,
    end: Array,
    operator: Array,
    limit: Array,
    swapped: Array,
    members: Array,
) -> Any:
    """Return which telling rows each mutant sends to the other side, and how many."""
    begin = np.zeros(len(operator) + 1, dtype=np.intp)
    for mutant in range(len(operator)):
        begin[mutant + 1] = begin[mutant] + end[mutant] - start[mutant]
    turned = np.empty(begin[-1], dtype=np.bool_)
    count = np.zeros(len(operator) + 1, dtype=np.intp)
    for mutant in range(len(operator)):
        bound, is_swapped, turned_count = limit[mutant], swapped[mutant], 0
        shift = begin[mutant] - start[mutant]
        if operator[mutant] < EQUAL:
            for at in range(start[mutant], end[mutant]):
                turns = ((compared_values[at] <= bound) != is_swapped) != holds[at]
                turned[shift + at] = turns
                turned_count += turns
        else:
            for at in range(start[mutant], end[mutant]):
                turns = _is_match(compared_values[at], operator[mutant], bound, members) != holds[at]
                turned[shift + at] = turns
                turned_count += turns
        count[mutant + 1] = turned_count
    return begin, turned, np.cumsum(count)


@compile_kernel
def _collect_rows(killer_rows: Array, start: Array, begin: Array, turned: Array, row_starts: Array) -> Any:
    rows = np.empty(row_starts[-1], dtype=np.intp)
    for mutant in range(len(start)):
        place = row_starts[mutant]
        for at in range(begin[mutant], begin[mutant + 1]):
            # write always and advance only if turned, which avoids mispredicted branches
            if place < len(rows):
                rows[place] = killer_rows[start[mutant] + at - begin[mutant]]
            place += turned[at]
    return rows
