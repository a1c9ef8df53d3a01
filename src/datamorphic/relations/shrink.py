"""Shrink a violation by a model: fewer rows, or more usual values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..errors import OutOfBudget
from ..runs.flow import Flow
from ..space.features import Codes
from ..space.points import Points
from ..space.space import Space
from .base import VIOLATED, JudgedGroups, SystemRelation

Places = npt.NDArray[np.intp]
MAX_BATCH_ROUNDS = 40


def find_usual_values(points: Points) -> Codes:
    """Return the median or the most frequent category of each feature."""
    usual_values = np.full(len(points.space), np.nan)
    for column, feature in enumerate(points.space.features):
        codes = points.codes[:, column]
        codes = codes[~np.isnan(codes)]
        if codes.size and not feature.numeric:
            values, counts = np.unique(codes, return_counts=True)
            usual_values[column] = values[counts.argmax()]
        elif codes.size:
            usual_values[column] = np.quantile(codes, 0.5, method="nearest")
    return usual_values


def shrink_violation(
    relation: SystemRelation,
    inputs: Points,
    groups: JudgedGroups,
    seed: int = 0,
    usual_values: Codes | None = None,
    plausible_space: Space | None = None,
) -> Flow[JudgedGroups]:
    """Return one violation, shrunk as far as possible; none if not reproducible.

    `inputs` are the source cases of `groups`, which have at least one violation. `usual_values` are the most usual value of
    each feature, by default among the inputs. A case gets them only where it satisfies the constraints of `plausible_space`, by
    default of the space of the inputs. If the budget is spent, the smallest violation so far is returned.
    """
    violations = groups.violations
    differs = ~violations.before.same(violations.after)
    if differs.any():  # prefer those whose answers visibly differ
        violations = violations.take(np.flatnonzero(differs))
    if relation.whole:
        return (yield from _shrink_batch(relation, inputs, violations, seed))
    if usual_values is None:
        usual_values = find_usual_values(inputs)
    space = inputs.space if plausible_space is None else plausible_space
    return (yield from _shrink_case(relation, inputs, violations, seed, usual_values, space))


def _shrink_case(
    relation: SystemRelation,
    inputs: Points,
    violations: JudgedGroups,
    seed: int,
    usual_values: Codes,
    plausible_space: Space,
) -> Flow[JudgedGroups]:
    """Give one violating case the usual value in as many features as possible."""
    space = inputs.space
    differs = inputs.codes[violations.rows] != usual_values
    row = int(differs.sum(axis=1).argmin())  # the case that has the most usual values already
    best, case = violations.take(slice(row, row + 1)), inputs.codes[violations.rows[row]]
    answer_changes = not bool(best.before.same(best.after)[0])
    fixed_columns = [space.position(name) for name in relation.about if name in space.names]

    free = [j for j in np.flatnonzero(differs[row]) if j not in fixed_columns and not np.isnan(usual_values[j])]
    try:
        parts = [np.array(free, dtype=np.intp)] if free else []
        while parts:
            candidates = np.repeat(case[None, :], len(parts), axis=0)
            for i, part in enumerate(parts):
                candidates[i, part] = usual_values[part]
            valid = np.ones(len(parts), dtype=bool)
            if plausible_space.keeps_constraints:
                valid = plausible_space.satisfied(candidates)
            groups = yield from relation.check(Points(space, candidates[valid]), np.random.default_rng(seed))
            violating = np.flatnonzero(groups.verdicts == VIOLATED)
            if answer_changes:
                violating = violating[~groups.before.take(violating).same(groups.after.take(violating))]
            if violating.size:
                winner = int(np.flatnonzero(valid)[groups.rows[violating[0]]])
                best, case = groups.take(violating[:1]), candidates[winner]
                free = [j for j in free if j not in parts[winner]]
                parts = [part for i, part in enumerate(parts) if i != winner]
                parts = [np.array([j for j in part if j in free], dtype=np.intp) for part in parts]
                parts = [part for part in parts if part.size]
            else:  # no part can become usual as a whole: try halves
                parts = [half for part in parts if len(part) > 1 for half in np.array_split(part, 2)]
    except OutOfBudget:
        pass
    return best


def _shrink_batch(relation: SystemRelation, inputs: Points, violations: JudgedGroups, seed: int) -> Flow[JudgedGroups]:
    """Remove rows of the batch while it still violates the relation."""
    best = replace(violations, batch=inputs)
    rows: Places = np.arange(len(inputs))
    try:
        pieces = 2
        for _ in range(MAX_BATCH_ROUNDS):
            if len(rows) <= 1:
                break
            for part in np.array_split(rows, min(pieces, len(rows))):
                remaining_rows = np.setdiff1d(rows, part) if pieces > 2 else part
                batch = inputs.take(remaining_rows)
                groups = yield from relation.check(batch, np.random.default_rng(seed))
                if (groups.verdicts == VIOLATED).any():
                    rows, best, pieces = remaining_rows, replace(groups.violations, batch=batch), 2
                    break
            else:
                if pieces >= len(rows):
                    break
                pieces = min(2 * pieces, len(rows))
    except OutOfBudget:
        pass
    return best
