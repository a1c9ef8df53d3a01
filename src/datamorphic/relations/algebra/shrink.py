"""Shrink a violation: drop what it does not need.

A violation has elements that can be dropped one by one: the unusual values of a case, which become usual; the rows of a batch;
the rows, the attributes and the decimals of training data. `drop_elements` decides which of them to drop next, for all kinds of
relations. If the budget is spent, the smallest violation so far is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...errors import OutOfBudget
from ...runs.flow import Flow
from ...space.features import Codes
from ...space.points import Points
from ...space.space import Space
from ...systems.training import Training
from ..learners.result import LearnerSubject, LearnerVerdicts
from ..learners.waves import LearnerRelationOutcome, check_again
from .base import VIOLATED, JudgedGroups, SystemRelation

Places = npt.NDArray[np.intp]
#: Takes what to drop in each of several candidates, keeps the first that violates the relation, and returns its position.
Attempt = Callable[[list[Places]], Flow[int | None]]
MAX_BATCH_ROUNDS = 40
DIGITS = (1, 2, 3, 4)  # to which numbers that were drawn are rounded, if the violation allows it
MAX_TRAINING_ROUNDS = 60
STRIDES = (1, 2)  # of the rows that are removed together, as long as some can be removed
MAX_TRAINING_CANDIDATES = 40  # that are queried at once
RESEED_ATTEMPTS, RESEED_STRIDE = 4, 1_000_003  # number of other seeds to try, and the distance between them


def drop_elements(elements: Places, attempt: Attempt, remaining: int = 0) -> Flow[Places]:
    """Drop all elements at once, else halves, quarters, ..., single ones; return those that were dropped.

    At least `remaining` elements stay.
    """
    dropped = np.array([], dtype=np.intp)
    parts = [elements] if len(elements) else []
    while parts:
        places = [place for place, part in enumerate(parts) if len(elements) - len(dropped) - len(part) >= remaining]
        candidates = [np.union1d(dropped, parts[place]) for place in places]
        winner = (yield from attempt(candidates)) if candidates else None
        if winner is None:
            parts = [half for part in parts if len(part) > 1 for half in np.array_split(part, 2)]
        else:  # go on with the parts that have not been tried since
            dropped, place = candidates[winner], places[winner]
            parts = [*parts[place + 1 :], *parts[:place]]
    return dropped


# -- violations by a system ----------------------------------------------------------------------------------------


def find_usual_values(points: Points) -> Codes:
    """Return the median or the most frequent category of each feature."""
    usual_values = np.full(len(points.space), np.nan)
    numeric = np.array([feature.numeric for feature in points.space.features], dtype=bool)
    complete = numeric & ~np.isnan(points.codes).any(axis=0)  # all at once: a sound has thousands
    if len(points):
        usual_values[complete] = np.quantile(points.codes[:, complete], 0.5, axis=0, method="nearest")
    for column in np.flatnonzero(~complete).tolist():
        feature, codes = points.space.features[column], points.codes[:, column]
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
    default of the space of the inputs.
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
    names = set(space.names)
    fixed_columns = [space.position(name) for name in relation.about if name in names]
    goal = usual_values  # the values that a case gets

    def attempt(columns: list[Places]) -> Flow[int | None]:
        nonlocal best
        candidates = np.repeat(case[None, :], len(columns), axis=0)
        for candidate, usual_columns in zip(candidates, columns, strict=True):
            candidate[usual_columns] = goal[usual_columns]
        valid = np.ones(len(columns), dtype=bool)
        if plausible_space.keeps_constraints:
            valid = plausible_space.satisfied(candidates)
        groups = yield from relation.check(Points(space, candidates[valid]), np.random.default_rng(seed))
        violating = np.flatnonzero(groups.verdicts == VIOLATED)
        if answer_changes:
            violating = violating[~groups.before.take(violating).same(groups.after.take(violating))]
        if not violating.size:
            return None
        best = groups.take(violating[:1])
        return int(np.flatnonzero(valid)[best.rows[0]])

    free = np.setdiff1d(np.flatnonzero(differs[row] & ~np.isnan(usual_values)), fixed_columns)
    with suppress(OutOfBudget):
        case = _replace(case, goal, (yield from drop_elements(free, attempt)))
        for digits in DIGITS if relation.draws_inputs else ():  # then its numbers are not those of anybody's data
            goal = _round_numbers(case, digits, space)
            rounded = yield from drop_elements(np.flatnonzero((goal != case) & ~np.isnan(case)), attempt)
            case = _replace(case, goal, rounded)
    return best


def _replace(case: Codes, values: Codes, columns: Places) -> Codes:
    """Return a case with other values in some columns."""
    case = case.copy()
    case[columns] = values[columns]
    return case


def _round_numbers(case: Codes, digits: int, space: Space) -> Codes:
    """Return the values of a case with fewer digits, within the limits of its features."""
    rounded = case.copy()
    for j, feature in enumerate(space.features):
        if feature.kind in ("continuous", "integer") and np.isfinite(case[j]):
            rounded[j] = min(max(float(f"{case[j]:.{digits}g}"), feature.low), feature.high)
    return rounded


def _shrink_batch(relation: SystemRelation, inputs: Points, violations: JudgedGroups, seed: int) -> Flow[JudgedGroups]:
    """Remove rows of the batch while it still violates the relation."""
    best, rounds = replace(violations, batch=inputs), 0

    def attempt(removed_rows: list[Places]) -> Flow[int | None]:
        nonlocal best, rounds
        rounds += 1
        if rounds > MAX_BATCH_ROUNDS:
            return None
        for place, rows in enumerate(removed_rows):
            batch = inputs.take(np.setdiff1d(np.arange(len(inputs)), rows))
            groups = yield from relation.check(batch, np.random.default_rng(seed))
            if groups.count(VIOLATED):
                best = replace(groups.violations, batch=batch)
                return place
        return None

    with suppress(OutOfBudget):
        yield from drop_elements(np.arange(len(inputs)), attempt, remaining=1)
    return best


# -- violations by a learner ---------------------------------------------------------------------------------------


def shrink_training_data(
    outcome: LearnerRelationOutcome, subject: LearnerSubject, data: Training, number: int, case: int = 0
) -> Flow[tuple[LearnerVerdicts, int] | None]:
    """Return the smallest violation by one test case, with its seed number: fewer rows and attributes, plainer numbers.

    `number` is the number of the training set among the inputs, which seeds the randomness of its follow-up.
    """
    shrinker = _TrainingShrinker(outcome, subject, data, number)
    with suppress(OutOfBudget):
        yield from shrinker.run(case)
    return None if shrinker.result is None else (shrinker.result, shrinker.number)


@dataclass
class _TrainingShrinker:
    """The smallest violation by a learner so far."""

    outcome: LearnerRelationOutcome
    subject: LearnerSubject
    data: Training
    number: int
    result: LearnerVerdicts | None = None
    rounds: int = 0

    def run(self, case: int) -> Flow[None]:
        """Shrink the data as far as possible."""
        data = self.data
        first_candidates = [[data.cases([case])], [data]] if len(data) > 1 else [[data]]
        for candidates in first_candidates:
            if (yield from self.attempt(candidates)) is not None:
                break
        else:
            return
        futile_sweeps = 0
        while futile_sweeps < len(STRIDES):  # fewer rows may suffice once there are fewer attributes
            shape = self.data.x.shape
            for axis in (0, 1):
                yield from self.remove_positions(axis, STRIDES[futile_sweeps])
            futile_sweeps = futile_sweeps + 1 if self.data.x.shape == shape else 0
        yield from self.attempt(list(_iter_ranked(self.data)))
        for decimals in (0, 1, 2):
            yield from self.round_numbers(decimals)
        result = yield from check_again(self.outcome, self.subject, [self.data], [self.number], scores=True)
        self.result = result if result.count(VIOLATED) else self.result

    def remove_positions(self, axis: int, stride: int) -> Flow[None]:
        """Remove rows (axis 0) or attributes (axis 1), those that are `stride` apart together."""
        data, positions = self.data, np.arange(self.data.x.shape[axis])
        order = np.concatenate([positions[start::stride] for start in range(stride)])

        def remove(places: Places) -> Training:
            remaining = np.setdiff1d(positions, places)
            return data.rows(remaining) if axis == 0 else data.attributes(remaining)

        yield from drop_elements(order, lambda drops: self.attempt([remove(places) for places in drops]), 1)

    def round_numbers(self, decimals: int) -> Flow[None]:
        """Round numbers."""
        data, numbers = self.data, self.data.numbers
        rounded_numbers = np.round(numbers, decimals)
        cells = np.flatnonzero(np.isfinite(rounded_numbers) & (rounded_numbers != numbers))

        def round_cells(places: Places) -> Training:
            rounded = np.isin(np.arange(numbers.size), places).reshape(numbers.shape)
            return data.with_numbers(np.where(rounded, rounded_numbers, numbers))

        yield from drop_elements(cells, lambda drops: self.attempt([round_cells(places) for places in drops]))

    def attempt(self, candidates: list[Training]) -> Flow[int | None]:
        """Keep the first candidate that violates the relation, and return its position.

        If none does, try other seeds: smaller data have another follow-up anyway.
        """
        for start in range(0, len(candidates), MAX_TRAINING_CANDIDATES):
            part = candidates[start : start + MAX_TRAINING_CANDIDATES]
            for salts in ([self.number], [self.number + RESEED_STRIDE * (1 + turn) for turn in range(RESEED_ATTEMPTS)]):
                if self.rounds == MAX_TRAINING_ROUNDS:
                    return None
                self.rounds += 1
                numbers = [salt for salt in salts for _ in part]
                result = yield from check_again(self.outcome, self.subject, part * len(salts), numbers)
                violating = result.data.training_index[result.violations]
                if len(violating):
                    turn, place = divmod(int(violating.min()), len(part))
                    self.number, self.data = salts[turn], part[place]
                    self.result = result.select_training_set(int(violating.min()))
                    return start + place
        return None


def _iter_ranked(data: Training) -> Iterator[Training]:
    """Yield data with ranks instead of numbers, for all attributes, then for one."""
    numbers = data.numbers
    if not numbers.size or not np.isfinite(numbers).all():
        return
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] + 1.0 for column in numbers.T])
    yield data.with_numbers(ranks)
    for place in range(numbers.shape[1]):
        yield data.with_numbers(np.where(np.arange(numbers.shape[1]) == place, ranks, numbers))
