"""Completeness: do moves and midpoints lead from any point to any other?

Checked constructively. Categories, and being missing or not, must be reachable from one another by the moves
of their feature: a graph says so exactly, whatever order the moves have. A number must have a move in either
direction. Midpoints must then close what is left, where single steps could not.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .._checks import short
from ..errors import TestSystemError
from ..space import geometry
from ..space.features import Categorical
from ..space.points import Points
from .examination import Examined, Finding, Mask, Triples

MOST_MIDPOINTS = 200  # by then any gap has been halved out of existence


def incomplete(ex: Examined, t: Triples) -> Finding | None:
    """Find what keeps the system from being complete."""
    stuck = {}
    for j, feature in enumerate(ex.space.features):
        if _may_have_to_stop(ex, feature.name):
            continue
        moves = [name for name in ex.system.moves if ex.feature_of(name, t) == j]
        words = _no_way_between_values(ex, t, j, moves) or _no_way_towards(ex, t, j, moves)
        if words:
            stuck[feature.name] = words
    if not stuck:
        return _stalled_midpoint(ex, t)
    (name, words), *others = stuck.items()
    culprits = [each for each in ex.system.moves if ex.space.names[ex.feature_of(each, t)] == name]
    told = f" (and likewise for {', '.join(other for other, _ in others[:6])})" if others else ""
    return Finding(np.ones(len(t), dtype=bool), ", ".join(culprits), lambda i: words + told)


def _may_have_to_stop(ex: Examined, name: str) -> bool:
    """Whether a constraint may rightly keep moves of a feature from going on."""
    if not ex.space.keeps_constraints:
        return False
    return any(name in constraint.names or not constraint.names for constraint in ex.space.constraints)


def _no_way_between_values(ex: Examined, t: Triples, j: int, moves: list[str]) -> str | None:
    """Find a category, or being missing or present, that no sequence of moves leads to."""
    feature = ex.space.features[j]
    number = not isinstance(feature, Categorical)  # of a number all that counts here is whether it is there
    values = [ex.pool[0, j] if number else float(code) for code in range(1 if number else int(feature.high) + 1)]
    nodes = np.array(values + [np.nan] * feature.nullable)
    if number and np.isnan(nodes[0]):
        nodes[0] = feature.default
    if len(nodes) < 2:
        return None
    starts = np.array(t.x.codes[np.arange(len(nodes)) % len(t)], order="F")
    starts[:, j] = nodes
    points = Points(ex.space, starts)
    leads = np.eye(len(nodes), dtype=bool)
    for name in moves:
        made = ex.apply(name, points)
        if isinstance(made, Exception):
            continue
        for i, after in enumerate(made.codes[:, j]):
            leads[i] |= np.isnan(nodes) if np.isnan(after) else (~np.isnan(nodes) if number else nodes == after)
    for _ in range(len(nodes).bit_length()):  # the ways of length 2, 4, 8, ...
        leads = leads @ leads
    if leads.all():
        return None
    i, k = (int(node) for node in np.argwhere(~leads)[0])
    here, there = (
        "a value" if number and not np.isnan(nodes[node]) else ex.value(points, node, j) for node in (i, k)
    )
    if not moves:
        return f"no move changes {feature.name!r}: {there} is never reached from {here}"
    return f"no sequence of {_listed(moves)} leads from {feature.name} = {here} to {there}, which is never reached"


def _no_way_towards(ex: Examined, t: Triples, j: int, moves: list[str]) -> str | None:
    """Find a number from which no move goes in the direction of another."""
    feature = ex.space.features[j]
    if isinstance(feature, Categorical):
        return None
    here, there = t.x.codes[:, j], t.y.codes[:, j]
    least = feature.step * (1 + 1e-9) if ex.declared and feature.step_given else 0.0
    rows = np.flatnonzero(np.abs(there - here) > least)
    towards = np.zeros(len(rows), dtype=bool)
    for name in moves:
        made = ex.apply(name, t.x)
        if not isinstance(made, Exception):
            towards |= np.sign(made.codes[rows, j] - here[rows]) == np.sign(there[rows] - here[rows])
    if towards.all():
        return None
    i = int(rows[np.argmax(~towards)])
    start, target = ex.value(t.x, i, j), ex.value(t.y, i, j)
    if not moves:
        return f"no move changes {feature.name!r}: {target} is never reached from {start}"
    return f"{_listed(moves)} lead no nearer from {feature.name} = {start} to {target}, which is never reached"


def _listed(moves: list[str]) -> str:
    return " and ".join(moves[:4]) + (" and so on" if len(moves) > 4 else "")


def _stalled_midpoint(ex: Examined, t: Triples) -> Finding | None:
    """Find two points between which repeated midpoints, in either order, do not get from one to the other."""
    if ex.system.midpoint is None:
        return None
    target, start = t.y.take(slice(0, 100)), t.x.take(slice(0, 100))
    end = _midpoints(ex, target, start, target_first=True)
    if end is None:
        return None  # told by the law of closure
    arrived = _arrived(ex, t, end, target)
    if not arrived.all() and (other := _midpoints(ex, target, start, target_first=False)) is not None:
        arrived |= _arrived(ex, t, other, target)
    bad = np.zeros(len(t), dtype=bool)
    bad[: len(start)] = ~arrived
    return Finding(bad, ex.midpoint_name, partial(_told_stall, ex, end, target))


def _told_stall(ex: Examined, end: Points, target: Points, i: int) -> str:
    away = short(ex.distance(end.take(slice(i, i + 1)), target.take(slice(i, i + 1)))[0])
    return f"midpoints with y, over and over, end {away} away from y: {ex.changes(target, end, i)}"


def _midpoints(ex: Examined, target: Points, here: Points, target_first: bool) -> Points | None:
    morphism = ex.system.datamorphisms[ex.midpoint_name]
    for _ in range(MOST_MIDPOINTS):
        try:
            nearer = morphism.morph(*((target, here) if target_first else (here, target)), lenient=True)
        except TestSystemError:
            return None
        stands = nearer.same(here).all()
        here = nearer
        if stands or np.allclose(here.codes, target.codes, rtol=1e-9, atol=1e-9, equal_nan=True):
            break
    return here


def _arrived(ex: Examined, t: Triples, end: Points, target: Points) -> Mask:
    """Tell which rows have arrived, leaving aside the features that moves alone bring home."""
    rest = end.codes.copy()
    for j, feature in enumerate(ex.space.features):
        if isinstance(feature, Categorical) or (feature.kind == "integer" and _has_unit_move(ex, t, j)):
            rest[:, j] = target.codes[:, j]
    gap = geometry.distance(ex.space, rest, target.codes)
    discrete = geometry.discrete_distance(ex.space, rest, target.codes)
    largest = np.nan_to_num(np.abs(target.codes)).max(axis=1)
    return (discrete == 0) & (gap <= 1e-6 * (1 + largest))


def _has_unit_move(ex: Examined, t: Triples, j: int) -> bool:
    about_it = (ex.apply(name, t.x) for name in ex.system.moves if ex.feature_of(name, t) == j)
    lengths = (made.codes[:, j] - t.x.codes[:, j] for made in about_it if not isinstance(made, Exception))
    return any((np.abs(length) == 1).any() for length in lengths)
