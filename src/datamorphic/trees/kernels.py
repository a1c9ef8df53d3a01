"""The kills of all mutants of a tree in compiled code: the same as in `kills`, row by row.

Needs numba, the extra "fast".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from .model import ABOVE, BELOW, EQUAL, FROM, LEVELS_AT_ONCE, WITHIN, Floats, Nodes, Tree
from .mutants import Mutants

ABREAST = 16  # rows


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have a function compiled when it is first called; what came out is kept, and lets other threads run."""
    made: Callable[..., Any] = njit(cache=True, nogil=True)(function)
    return made


def compiled_kills(
    tree: Tree, values: npt.NDArray[Any], mutants: Mutants, answer: Floats, tolerance: float
) -> tuple[Nodes, Nodes]:
    """Return where the rows that kill each mutant start, and these rows; see `kills.Kills`."""
    common = _prepared(tree, values)
    leaves = _leaves(*common)
    swapped = (tree.operator == ABOVE) | (tree.operator == FROM)
    visits = int(tree.depth[leaves].sum())
    teller, seen, held, start, end = _telling(*common, swapped, visits, answer[leaves], answer, tolerance)
    # as in `Tree.routing`: all but == and sets ask whether a value is at most a limit, or whether it is not
    strict = (mutants.operator == BELOW) | (mutants.operator == FROM)
    limit = np.where(strict, np.nextafter(mutants.threshold, -np.inf), mutants.threshold)
    turn = (mutants.operator == ABOVE) | (mutants.operator == FROM)
    start, end, members = start[mutants.node], end[mutants.node], common[-2]
    begin, turned, to = _turned(seen, held, start, end, mutants.operator, limit, turn, members)
    return to, _collected(teller, start, begin, turned, to)


def compiled_leaves(tree: Tree, values: npt.NDArray[Any]) -> Nodes:
    """Return the leaf each row comes to; see `model.leaf_of`. Other threads may run meanwhile."""
    return _leaves(*_prepared(tree, values))


def _prepared(tree: Tree, values: npt.NDArray[Any]) -> tuple[Any, ...]:
    """Return what kernels need to follow a tree; `plain` if all values are there and all comparisons of one kind."""
    routing = tree.routing
    return (
        values,
        routing.feature.astype(np.int32),
        routing.limit,
        routing.children.astype(np.int32),
        routing.missing_second,
        routing.arrived,
        np.zeros(len(tree), dtype=bool) if routing.special is None else routing.special,
        tree.operator,
        tree.members if len(tree.sets) else np.zeros((1, 2), dtype=bool),
        routing.special is None and not np.isnan(values).any(),
    )


@compiled
def _is(value: Any, operator: Any, threshold: Any, members: Any) -> Any:
    """Tell whether a value equals a number, or is in a set or not."""
    if operator == EQUAL:
        return value == threshold
    inside = False
    if value >= 0 and value == np.floor(value):
        inside = members[int(threshold), int(min(value, members.shape[1] - 1))]
    return inside == (operator == WITHIN)


@compiled
def _second(value: Any, limit: Any, missing: Any, special: Any, operator: Any, members: Any) -> Any:
    """Tell whether a value, which may be missing, leads to the second child of a node, which may compare otherwise."""
    if np.isnan(value):
        return missing
    if special:
        return not _is(value, operator, limit, members)
    return value > limit


@compiled
def _abreast(values: Any, feature: Any, limit: Any, children: Any, arrived: Any) -> Any:
    """Return the leaf each row comes to: some rows abreast, as a processor waits for the next node of one otherwise."""
    found = np.empty(len(values), dtype=np.intp)
    nodes = np.zeros(ABREAST, dtype=np.int32)
    for start in range(0, len(values), ABREAST):
        many = min(ABREAST, len(values) - start)
        nodes[:] = 0
        under_way = True
        while under_way:
            for _ in range(LEVELS_AT_ONCE):  # who has arrived waits in a leaf that leads to itself
                for k in range(many):
                    node = nodes[k]
                    nodes[k] = children[2 * node + (values[start + k, feature[node]] > limit[node])]
            under_way = False
            for k in range(many):
                under_way |= not arrived[nodes[k]]
        for k in range(many):
            found[start + k] = nodes[k]
    return found


@compiled
def _leaves(
    values: Any,
    feature: Any,
    limit: Any,
    children: Any,
    missing: Any,
    arrived: Any,
    special: Any,
    operator: Any,
    members: Any,
    plain: Any,
) -> Any:
    if plain:
        return _abreast(values, feature, limit, children, arrived)
    found = np.empty(len(values), dtype=np.intp)
    for row in range(len(values)):
        node = 0
        while not arrived[node]:
            value = values[row, feature[node]]
            second = _second(value, limit[node], missing[node], special[node], operator[node], members)
            node = children[2 * node + second]
        found[row] = node
    return found


@compiled
def _telling(
    values: Any,
    feature: Any,
    limit: Any,
    children: Any,
    missing: Any,
    arrived: Any,
    special: Any,
    operator: Any,
    members: Any,
    plain: Any,
    swapped: Any,
    visits: Any,
    own: Any,
    answer: Any,
    tolerance: Any,
) -> Any:
    """Return, node by node, the rows that get another answer on its other side, what it sees of them, and what holds."""
    n, nodes = len(values), len(feature)
    # rows at a node are a slice of this; a node's slice is parted into those of its children, order kept
    order, later = np.arange(n), np.empty(n, dtype=np.intp)
    teller = np.empty(visits, dtype=np.intp)
    seen = np.empty(visits, dtype=values.dtype)
    held = np.empty(visits, dtype=np.bool_)
    start, end = np.zeros(nodes, dtype=np.intp), np.zeros(nodes, dtype=np.intp)
    low, high = np.zeros(nodes, dtype=np.intp), np.zeros(nodes, dtype=np.intp)
    waiting = np.empty(nodes + 1, dtype=np.intp)
    waiting[0], waits = 0, 1
    high[0] = n
    told = 0
    while waits:
        waits -= 1
        node = waiting[waits]
        if arrived[node]:
            continue
        start[node] = told
        middle, aside = low[node], 0
        for at in range(low[node], high[node]):
            row = order[at]
            value = values[row, feature[node]]
            second = value > limit[node]
            if not plain:
                second = _second(value, limit[node], missing[node], special[node], operator[node], members)
            if second:
                later[aside] = row
                aside += 1
            else:
                order[middle] = row
                middle += 1
            if not plain and np.isnan(value):
                continue
            below = children[2 * node + (not second)]
            while not arrived[below]:
                here = values[row, feature[below]]
                turns = here > limit[below]
                if not plain:
                    turns = _second(here, limit[below], missing[below], special[below], operator[below], members)
                below = children[2 * below + turns]
            if abs(answer[below] - own[row]) > tolerance:
                teller[told], seen[told], held[told] = row, value, second == swapped[node]
                told += 1
        order[middle : middle + aside] = later[:aside]
        end[node] = told
        one, two = children[2 * node], children[2 * node + 1]
        low[one], high[one], low[two], high[two] = low[node], middle, middle, high[node]
        waiting[waits], waiting[waits + 1] = two, one
        waits += 2
    return teller[:told], seen[:told], held[:told], start, end


@compiled
def _turned(
    seen: Any, held: Any, start: Any, end: Any, operator: Any, limit: Any, swapped: Any, members: Any
) -> Any:
    """Return which of the rows that tell two sides apart each mutant sends the other way, and how many these are."""
    begin = np.zeros(len(operator) + 1, dtype=np.intp)
    for mutant in range(len(operator)):
        begin[mutant + 1] = begin[mutant] + end[mutant] - start[mutant]
    turned = np.empty(begin[-1], dtype=np.bool_)
    count = np.zeros(len(operator) + 1, dtype=np.intp)
    for mutant in range(len(operator)):
        bound, turn, many = limit[mutant], swapped[mutant], 0
        to = begin[mutant] - start[mutant]
        if operator[mutant] < EQUAL:
            for at in range(start[mutant], end[mutant]):
                other = ((seen[at] <= bound) != turn) != held[at]
                turned[to + at] = other
                many += other
        else:
            for at in range(start[mutant], end[mutant]):
                other = _is(seen[at], operator[mutant], bound, members) != held[at]
                turned[to + at] = other
                many += other
        count[mutant + 1] = many
    return begin, turned, np.cumsum(count)


@compiled
def _collected(teller: Any, start: Any, begin: Any, turned: Any, to: Any) -> Any:
    rows = np.empty(to[-1], dtype=np.intp)
    for mutant in range(len(start)):
        place = to[mutant]
        for at in range(begin[mutant], begin[mutant + 1]):
            # written in any case and kept if the place moves on: no branch to guess wrong
            if place < len(rows):
                rows[place] = teller[start[mutant] + at - begin[mutant]]
            place += turned[at]
    return rows
