"""Find leaves and kills in compiled code, with the results of `descent` and `kills` (needs numba).

The one idea: no mutant is evaluated. A mutant changes the comparison of one node, so it can only send rows of this node
to the other side. A row is *telling* for a node if it gets a different answer on the other side. The telling rows of all
nodes are listed once. Then one comparison per mutant and telling row of its node decides whether the mutant turns the
row to the other side, which kills the mutant.

The data layout:

- ``values[row, column]`` are the rows of the data, `Routes` is the tree: arrays with one element per node.
- A value above the limit of a node leads to its second child: ``children[2 * node + (value > limit[node])]``. A leaf
  leads to itself, so a row that has arrived may take further steps. `Tree.routing` writes <, > and >= in this form.
- Lists of different lengths lie one after the other in one array: ``rows[start[i] : end[i]]`` is the list of node i, and
  ``rows[start[i] : start[i + 1]]`` where the lists have no gaps.

tests/reference/test_tree_mutants.py compares these kernels with plain Python code, row by row and mutant by mutant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from .mutants import Mutants
from .tree import EQUAL, LEVELS_PER_ARRIVAL_CHECK, WITHIN, Floats, Nodes, Tree, convert_to_limits

ROWS_ABREAST = 16  # while the processor waits for the memory of one row, it works on the others

Array = npt.NDArray[Any]


class Routes(NamedTuple):
    """The decisions of a tree: `tree.Routing` with small node numbers, and without None."""

    feature: Array
    limit: Array
    children: Array
    missing_second: Array
    is_leaf: Array
    special: Array  # whether a node compares by ==, in or not in
    operator: Array
    members: Array
    plain: bool  # no node is special and no value is missing


def find_leaves_compiled(tree: Tree, values: Array) -> Nodes:
    """Find the leaf that each row reaches; see `descent.find_leaves`."""
    return _find_leaves(_build_routes(tree, values), values)


def find_kills_compiled(
    tree: Tree, values: Array, mutants: Mutants, answer: Floats, tolerance: float
) -> tuple[Nodes, Nodes]:
    """Return the start and rows of `kills.RowKills`."""
    routes = _build_routes(tree, values)
    leaves = _find_leaves(routes, values)
    visits = int(tree.depth[leaves].sum())
    _, swapped = convert_to_limits(tree.operator, tree.threshold)
    count, rows, compared_values, holds, start, end = _list_telling_rows(
        routes, values, swapped, visits, answer[leaves], answer, tolerance
    )
    rows, compared_values, holds = rows[:count], compared_values[:count], holds[:count]
    start, end = start[mutants.node], end[mutants.node]
    limit, swapped = convert_to_limits(mutants.operator, mutants.threshold)
    turned = np.empty(int((end - start).sum()), dtype=np.bool_)
    counts = _find_turned(turned, compared_values, holds, start, end, mutants.operator, limit, swapped, routes.members)
    row_starts = np.concatenate([[0], np.cumsum(counts)])
    return row_starts, _collect_turned_rows(rows, turned, start, end, row_starts)


def _build_routes(tree: Tree, values: Array) -> Routes:
    routing = tree.routing
    return Routes(
        feature=routing.feature.astype(np.int32),
        limit=routing.limit,
        children=routing.children.astype(np.int32),
        missing_second=routing.missing_second,
        is_leaf=routing.is_leaf,
        special=np.zeros(len(tree), dtype=bool) if routing.special is None else routing.special,
        operator=tree.operator,
        members=tree.members if len(tree.sets) else np.zeros((1, 2), dtype=bool),
        plain=routing.special is None and not np.isnan(values).any(),
    )


def compile_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function on its first call, cached on disk, without the GIL."""
    kernel: Callable[..., Any] = njit(cache=True, nogil=True)(function)
    return kernel


# -- from a node to a leaf ---------------------------------------------------------------------------------------------


@compile_kernel
def _is_match(value: float, operator: int, threshold: float, members: Array) -> Any:
    """Return whether a value equals a number, or is (not) in a set; see `Tree.members`."""
    if operator == EQUAL:
        return value == threshold
    inside = False
    if value >= 0 and value == np.floor(value):
        inside = members[int(threshold), int(min(value, members.shape[1] - 1))]
    return inside == (operator == WITHIN)


@compile_kernel
def _is_second(value: float, limit: float, missing_second: bool, special: bool, operator: int, members: Array) -> Any:
    """Return whether a value leads to the second child of a node."""
    if np.isnan(value):
        return missing_second
    if special:
        return not _is_match(value, operator, limit, members)
    return value > limit


@compile_kernel
def _find_leaves(routes: Routes, values: Array) -> Any:
    """Find the leaf that each row reaches."""
    feature, limit, children, missing_second, is_leaf, special, operator, members, plain = routes
    if plain:
        return _find_leaves_abreast(values, feature, limit, children, is_leaf)
    leaves = np.empty(len(values), dtype=np.intp)
    for row in range(len(values)):
        node = 0
        while not is_leaf[node]:
            value = values[row, feature[node]]
            second = _is_second(value, limit[node], missing_second[node], special[node], operator[node], members)
            node = children[2 * node + second]
        leaves[row] = node
    return leaves


@compile_kernel
def _find_leaves_abreast(values: Array, feature: Array, limit: Array, children: Array, is_leaf: Array) -> Any:
    """Find the leaves for plain decisions, several rows at once to hide the latency of memory."""
    leaves = np.empty(len(values), dtype=np.intp)
    nodes = np.zeros(ROWS_ABREAST, dtype=np.int32)
    for start in range(0, len(values), ROWS_ABREAST):
        size = min(ROWS_ABREAST, len(values) - start)
        for k in range(size):
            nodes[k] = 0
        under_way = True
        while under_way:
            for _ in range(LEVELS_PER_ARRIVAL_CHECK):
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
def _list_telling_rows(
    routes: Routes, values: Array, swapped: Array, visits: int, own_answers: Array, answer: Array, tolerance: float
) -> Any:
    """List the telling rows by node, with the compared value and whether the comparison holds.

    `visits` is the number of pairs of row and decision on all paths. All loops are in this one function: calling a
    function with all arrays of `routes` once per row would take longer than the steps from node to node.
    """
    feature, limit, children, missing_second, is_leaf, special, operator, members, plain = routes
    n, nodes = len(values), len(feature)
    telling_rows, compared_values = np.empty(visits, dtype=np.intp), np.empty(visits, dtype=values.dtype)
    holds, count = np.empty(visits, dtype=np.bool_), 0
    start, end = np.zeros(nodes, dtype=np.intp), np.zeros(nodes, dtype=np.intp)
    # the rows of a node are order[low[node] : high[node]], ascending: its decision splits this part between its children
    order, second_rows = np.arange(n), np.empty(n, dtype=np.intp)
    low, high = np.zeros(nodes, dtype=np.intp), np.zeros(nodes, dtype=np.intp)
    high[0] = n
    pending, pending_count = np.zeros(nodes + 1, dtype=np.intp), 1  # a stack of nodes, first the root
    while pending_count:
        pending_count -= 1
        node = pending[pending_count]
        if is_leaf[node]:
            continue
        start[node] = count
        middle, second_count = low[node], 0
        for place in range(low[node], high[node]):
            row = order[place]
            value = values[row, feature[node]]
            second = value > limit[node]
            if not plain:
                second = _is_second(value, limit[node], missing_second[node], special[node], operator[node], members)
            if second:
                second_rows[second_count] = row
                second_count += 1
            else:
                order[middle] = row
                middle += 1
            if not plain and np.isnan(value):
                continue  # a mutant sends missing values to the same side
            other = children[2 * node + (not second)]
            while not is_leaf[other]:
                value_there = values[row, feature[other]]
                second_there = value_there > limit[other]
                if not plain:
                    second_there = _is_second(
                        value_there, limit[other], missing_second[other], special[other], operator[other], members
                    )
                other = children[2 * other + second_there]
            if abs(answer[other] - own_answers[row]) > tolerance:
                telling_rows[count], compared_values[count], holds[count] = row, value, second == swapped[node]
                count += 1
        for place in range(second_count):
            order[middle + place] = second_rows[place]
        end[node] = count
        first_child, second_child = children[2 * node], children[2 * node + 1]
        low[first_child], high[first_child] = low[node], middle
        low[second_child], high[second_child] = middle, high[node]
        pending[pending_count], pending[pending_count + 1] = second_child, first_child
        pending_count += 2
    return count, telling_rows, compared_values, holds, start, end


@compile_kernel
def _find_turned(
    turned: Array,
    compared_values: Array,
    holds: Array,
    start: Array,
    end: Array,
    operator: Array,
    limit: Array,
    swapped: Array,
    members: Array,
) -> Any:
    """Write whether each mutant turns each telling row of its node, mutant by mutant; return how many it turns."""
    counts = np.zeros(len(operator), dtype=np.intp)
    first = 0
    for mutant in range(len(operator)):
        shift = first - start[mutant]
        bound, is_swapped, count = limit[mutant], swapped[mutant], 0
        if operator[mutant] < EQUAL:  # a loop of its own, which the compiler can vectorise
            for place in range(start[mutant], end[mutant]):
                turns = ((compared_values[place] <= bound) != is_swapped) != holds[place]
                turned[shift + place] = turns
                count += turns
        else:
            for place in range(start[mutant], end[mutant]):
                turns = _is_match(compared_values[place], operator[mutant], bound, members) != holds[place]
                turned[shift + place] = turns
                count += turns
        counts[mutant] = count
        first += end[mutant] - start[mutant]
    return counts


@compile_kernel
def _collect_turned_rows(telling_rows: Array, turned: Array, start: Array, end: Array, row_starts: Array) -> Any:
    """Return the rows that each mutant turns, mutant by mutant."""
    rows = np.empty(row_starts[-1], dtype=np.intp)
    first = 0
    for mutant in range(len(start)):
        target, size = row_starts[mutant], end[mutant] - start[mutant]
        shift = start[mutant] - first
        for place in range(first, first + size):
            # write always and advance only if turned, which avoids mispredicted branches
            if target < len(rows):
                rows[target] = telling_rows[shift + place]
            target += turned[place]
        first += size
    return rows
