"""The law of completeness: moves and midpoints lead from any point to any other.

It is checked constructively. Every category, and the missing value, must be reachable from every other one by moves of
its feature, which is decided exactly on a graph. A number must have a move in either direction. Midpoints must close the
gaps that moves leave.
"""

from __future__ import annotations

import numpy as np

from .._text import format_short
from ..errors import TestSystemError
from ..space import geometry
from ..space.features import Categorical, Mask
from ..space.points import Points
from .law_context import LawContext, LawViolation, Triples

MAX_MIDPOINTS = 200  # halvings, after which any gap of float64 numbers is closed
MAX_LISTED_FEATURES = 6
MAX_LISTED_MOVES = 4
MAX_MIDPOINT_ROWS = 100


def find_incompleteness(context: LawContext, triples: Triples) -> LawViolation | None:
    """Return the violation of completeness, or None."""
    obstacles = {}
    constraints = context.space.constraints if context.space.keeps_constraints else ()
    for j, feature in enumerate(context.space.features):
        if any(feature.name in constraint.names or not constraint.names for constraint in constraints):
            continue  # a constraint may stop the moves of this feature
        moves = _list_moves(context, triples, j)
        obstacle = _find_unreachable_value(context, triples, j, moves)
        obstacle = obstacle or _find_unreachable_number(context, triples, j, moves)
        if obstacle:
            obstacles[feature.name] = obstacle, moves
    if not obstacles:
        return _find_stalled_midpoint(context, triples)
    obstacle, culprits = next(iter(obstacles.values()))
    if others := list(obstacles)[1:]:
        obstacle += f" (and likewise for {', '.join(others[:MAX_LISTED_FEATURES])})"
    return LawViolation(np.ones(len(triples), dtype=bool), ", ".join(culprits), lambda i: obstacle)


def _list_moves(context: LawContext, triples: Triples, j: int) -> list[str]:
    return [name for name in context.system.moves if context.find_feature(name, triples) == j]


def _find_unreachable_value(context: LawContext, triples: Triples, j: int, moves: list[str]) -> str | None:
    """Explain which category or missing value moves cannot reach, if any."""
    feature = context.space.features[j]
    is_numeric = not isinstance(feature, Categorical)  # for a number, only missing or present counts here
    values = [context.pool[0, j]] if is_numeric else [float(code) for code in range(int(feature.high) + 1)]
    nodes = np.array([*values, np.nan] if feature.nullable else values)
    if is_numeric and np.isnan(nodes[0]):
        nodes[0] = feature.default
    if len(nodes) < 2:
        return None
    starts = np.array(triples.x.codes[np.arange(len(nodes)) % len(triples)], order="F")
    starts[:, j] = nodes
    points = Points(context.space, starts)
    reachable = np.eye(len(nodes), dtype=bool)
    for name in moves:
        moved_points = context.apply(name, points)
        if isinstance(moved_points, Exception):
            continue
        for i, new_code in enumerate(moved_points.codes[:, j]):
            if is_numeric or np.isnan(new_code):
                reachable[i] |= np.isnan(nodes) == np.isnan(new_code)
            else:
                reachable[i] |= nodes == new_code
    for _ in range(len(nodes).bit_length()):  # paths of up to 2, 4, 8, ... moves
        reachable = reachable @ reachable
    if reachable.all():
        return None
    i, k = (int(node) for node in np.argwhere(~reachable)[0])
    start_text, end_text = (
        "a value" if is_numeric and not np.isnan(nodes[node]) else context.format_value(points, node, j)
        for node in (i, k)
    )
    if not moves:
        return f"no move changes {feature.name!r}: {end_text} is never reached from {start_text}"
    return f"no sequence of {_format_moves(moves)} leads from {feature.name} = {start_text} to {end_text}, which is never reached"


def _find_unreachable_number(context: LawContext, triples: Triples, j: int, moves: list[str]) -> str | None:
    """Explain from which number no move leads towards another, if any."""
    feature = context.space.features[j]
    if not feature.numeric:  # midpoints lead from one text to another
        return None
    start_codes, target_codes = triples.x.codes[:, j], triples.y.codes[:, j]
    min_gap = feature.step * (1 + 1e-9) if context.declared and feature.step_given else 0.0
    rows = np.flatnonzero(np.abs(target_codes - start_codes) > min_gap)
    approaches = np.zeros(len(rows), dtype=bool)
    for name in moves:
        moved_points = context.apply(name, triples.x)
        if not isinstance(moved_points, Exception):
            steps = moved_points.codes[rows, j] - start_codes[rows]
            approaches |= np.sign(steps) == np.sign(target_codes[rows] - start_codes[rows])
    if approaches.all():
        return None
    i = int(rows[np.argmax(~approaches)])
    start, target = context.format_value(triples.x, i, j), context.format_value(triples.y, i, j)
    if not moves:
        return f"no move changes {feature.name!r}: {target} is never reached from {start}"
    return f"{_format_moves(moves)} lead no nearer from {feature.name} = {start} to {target}, which is never reached"


def _format_moves(moves: list[str]) -> str:
    return " and ".join(moves[:MAX_LISTED_MOVES]) + (" and so on" if len(moves) > MAX_LISTED_MOVES else "")


def _find_stalled_midpoint(context: LawContext, triples: Triples) -> LawViolation | None:
    """Return the violation if repeated midpoints do not lead to the target."""
    if context.system.midpoint is None:
        return None
    target, start = triples.y.take(slice(0, MAX_MIDPOINT_ROWS)), triples.x.take(slice(0, MAX_MIDPOINT_ROWS))
    end = _repeat_midpoint(context, target, start, target_first=True)
    if end is None:
        return None  # reported by the law of closure
    arrived = _find_arrivals(context, triples, end, target)
    if not arrived.all() and (reverse_end := _repeat_midpoint(context, target, start, target_first=False)) is not None:
        arrived |= _find_arrivals(context, triples, reverse_end, target)
    broken_rows = np.zeros(len(triples), dtype=bool)
    broken_rows[: len(start)] = ~arrived

    def explain(i: int) -> str:
        gap = context.distance(end.take(slice(i, i + 1)), target.take(slice(i, i + 1)))[0]
        changes = context.format_changes(target, end, i)
        return f"midpoints with y, over and over, end {format_short(gap)} away from y: {changes}"

    return LawViolation(broken_rows, context.midpoint_name, explain)


def _repeat_midpoint(context: LawContext, target: Points, start: Points, target_first: bool) -> Points | None:
    morphism = context.system.datamorphisms[context.midpoint_name]
    for _ in range(MAX_MIDPOINTS):
        try:
            midpoints = morphism.morph(*((target, start) if target_first else (start, target)), lenient=True)
        except TestSystemError:
            return None
        stalled = midpoints.same(start).all()
        start = midpoints
        if stalled or np.allclose(start.codes, target.codes, rtol=1e-9, atol=1e-9, equal_nan=True):
            break
    return start


def _find_arrivals(context: LawContext, triples: Triples, end: Points, target: Points) -> Mask:
    """Return which rows have reached the target, apart from what moves can change."""
    remaining = end.codes.copy()
    for j, feature in enumerate(context.space.features):
        if isinstance(feature, Categorical) or (feature.kind == "integer" and _has_unit_move(context, triples, j)):
            remaining[:, j] = target.codes[:, j]
    gap = geometry.distance(context.space, remaining, target.codes)
    discrete = geometry.discrete_distance(context.space, remaining, target.codes)
    largest = np.nan_to_num(np.abs(target.codes)).max(axis=1)
    return (discrete == 0) & (gap <= 1e-6 * (1 + largest))


def _has_unit_move(context: LawContext, triples: Triples, j: int) -> bool:
    results = [context.apply(name, triples.x) for name in _list_moves(context, triples, j)]
    codes = [moved_points.codes[:, j] for moved_points in results if isinstance(moved_points, Points)]
    return any((np.abs(column - triples.x.codes[:, j]) == 1).any() for column in codes)
