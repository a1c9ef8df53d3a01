"""The smallest example of a violation: the smallest batch, or the case with fewest values that are not usual."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import OutOfBudget
from ..outputs import Outputs
from ..space.features import Codes
from ..space.points import Points
from ..strategies.flow import Flow
from .base import VIOLATED, Groups, Relation

Places = npt.NDArray[np.intp]
MOST_ROUNDS = 40


def usual(points: Points) -> Codes:
    """Return the most usual value of each feature: the median of numbers, the most frequent category."""
    usual = np.full(len(points.space), np.nan)
    for column, feature in enumerate(points.space.features):
        known = points.codes[:, column]
        known = known[~np.isnan(known)]
        if known.size and feature.kind == "categorical":
            usual[column] = np.bincount(known.astype(np.intp)).argmax()
        elif known.size:
            usual[column] = np.quantile(known, 0.5, method="nearest")
    return usual


def shrunk(
    relation: Relation, inputs: Points, groups: Groups, seed: int = 0, ordinary: Codes | None = None
) -> Flow[Groups]:
    """Return one violation, as small as it gets, and an empty set of groups if none can be shown again.

    `inputs` are those the groups were made of; `groups` has at least one violation. `ordinary` is the most usual value of
    each feature, by default among the inputs. If the budget is spent on the way,
    the smallest found until then is returned.
    """
    found = groups.violations
    differs = ~found.before.same(found.after)
    if differs.any():  # those that anybody sees at once
        found = found.take(np.flatnonzero(differs))
    if relation.whole:
        return (yield from _smallest_batch(relation, inputs, found, seed))
    if ordinary is None:
        ordinary = usual(inputs)
    return (yield from _plainest_case(relation, inputs, found, seed, ordinary))


def _plainest_case(relation: Relation, inputs: Points, found: Groups, seed: int, ordinary: Codes) -> Flow[Groups]:
    """Give one violating case the usual value in as many features as it can have while it still violates."""
    space = inputs.space
    differs = inputs.codes[found.rows] != ordinary
    row = int(differs.sum(axis=1).argmin())  # the one that is nearly usual already
    best, case = found.take(slice(row, row + 1)), inputs.codes[found.rows[row]]
    turns = not bool(best.before.same(best.after)[0])
    kept = [space.position(name) for name in relation.about if name in space.names]

    def violates(candidates: Codes) -> Flow[Groups]:
        groups = yield from relation.check(Points(space, candidates), np.random.default_rng(seed))
        return groups

    free = [j for j in np.flatnonzero(differs[row]) if j not in kept and not np.isnan(ordinary[j])]
    try:
        parts = [np.array(free, dtype=np.intp)] if free else []
        while parts:
            candidates = np.repeat(case[None, :], len(parts), axis=0)
            for i, part in enumerate(parts):
                candidates[i, part] = ordinary[part]
            valid = space.satisfied(candidates) if space.keeps_constraints else np.ones(len(parts), dtype=bool)
            groups = yield from violates(candidates[valid])
            bad = np.flatnonzero(groups.verdicts == VIOLATED)
            if turns:
                bad = bad[~groups.before.take(bad).same(groups.after.take(bad))]
            if bad.size:
                chosen = int(np.flatnonzero(valid)[groups.rows[bad[0]]])
                best, case = groups.take(bad[:1]), candidates[chosen]
                free = [j for j in free if j not in parts[chosen]]
                parts = [part for i, part in enumerate(parts) if i != chosen]
                parts = [np.array([j for j in part if j in free], dtype=np.intp) for part in parts]
                parts = [part for part in parts if part.size]
            else:  # none of them can go as a whole: try their halves
                parts = [half for part in parts if len(part) > 1 for half in np.array_split(part, 2)]
    except OutOfBudget:
        pass
    return best


def _smallest_batch(relation: Relation, inputs: Points, found: Groups, seed: int) -> Flow[Groups]:
    """Leave out rows of the batch while it still violates."""
    best = replace(found, among=inputs)
    rows: Places = np.arange(len(inputs))

    def tried(some: Places) -> Generator[Any, Outputs, Groups]:
        groups = yield from relation.check(inputs.take(some), np.random.default_rng(seed))
        return groups

    try:
        pieces = 2
        for _ in range(MOST_ROUNDS):
            if len(rows) <= 1:
                break
            for part in np.array_split(rows, min(pieces, len(rows))):
                left = np.setdiff1d(rows, part) if pieces > 2 else part
                groups = yield from tried(left)
                if (groups.verdicts == VIOLATED).any():
                    rows, best, pieces = left, replace(groups.violations, among=inputs.take(left)), 2
                    break
            else:
                if pieces >= len(rows):
                    break
                pieces = min(2 * pieces, len(rows))
    except OutOfBudget:
        pass
    return best
