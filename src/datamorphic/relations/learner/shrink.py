"""Shrink a violation by a learner: fewer rows and attributes, plainer numbers.

Candidates are queried many at a time. If the budget is spent, the smallest violation so far is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import OutOfBudget
from ...runs.flow import Flow
from ...systems.training import Floats, Places, Training
from ..base import VIOLATED
from .result import LearnerSubject, LearnerVerdicts
from .waves import LearnerRelationOutcome, check_again

MAX_SHRINK_ROUNDS = 60
MAX_CANDIDATES_PER_ROUND = 40
RESEED_ATTEMPTS, RESEED_STRIDE = 4, 1_000_003  # number of other seeds to try, and the distance between them


@dataclass
class _BestCandidate:
    data: Training
    number: int
    result: LearnerVerdicts | None = None
    rounds: int = 0


def shrink_training_data(
    outcome: LearnerRelationOutcome, subject: LearnerSubject, data: Training, number: int, case: int = 0
) -> Flow[tuple[LearnerVerdicts, int] | None]:
    """Return the smallest violation by one test case, with its seed number.

    `number` is the number of the training set among the inputs, which seeds the randomness of its follow-up.
    """
    best = _BestCandidate(data, number)

    def try_candidates(candidates: list[Training]) -> Flow[list[int]]:
        """Keep the first candidate that violates; return the positions of all that do.

        If none does, try other seeds: smaller data have another follow-up anyway.
        """
        for salts in ([best.number], [best.number + RESEED_STRIDE * (1 + turn) for turn in range(RESEED_ATTEMPTS)]):
            best.rounds += 1
            numbers = [salt for salt in salts for _ in candidates]
            result = yield from check_again(outcome, subject, candidates * len(salts), numbers)
            violating = np.unique(result.data.training_index[result.violations])
            if len(violating):
                turn = int(violating[0]) // len(candidates)
                best.number, best.result = salts[turn], result.select_training_set(int(violating[0]))
                places = [int(k) % len(candidates) for k in violating if k // len(candidates) == turn]
                best.data = candidates[places[0]]
                return places
        return []

    try:
        single_case = [data.cases([case])] if len(data) > 1 else [data]
        if not (yield from try_candidates(single_case)) and not (len(data) > 1 and (yield from try_candidates([data]))):
            return None
        for axis in (0, 1, 0):  # fewer rows may suffice once there are fewer attributes
            yield from _remove_parts(best, try_candidates, axis)
        yield from _simplify_numbers(best, try_candidates)
        result = yield from check_again(outcome, subject, [best.data], [best.number], scores=True)
        best.result = result if result.count(VIOLATED) else best.result
    except OutOfBudget:
        pass
    return None if best.result is None else (best.result, best.number)


TryCandidates = Callable[[list[Training]], Flow[list[int]]]


def _remove_parts(best: _BestCandidate, try_candidates: TryCandidates, axis: int) -> Flow[None]:
    """Remove rows (axis 0) or attributes (axis 1): halves first, then less."""
    pieces = 2
    while best.rounds < MAX_SHRINK_ROUNDS and (length := best.data.x.shape[axis]) > 1:
        positions, start = np.arange(length), best.data
        parts = np.array_split(positions, min(pieces, length))
        candidates = [_select_positions(start, np.setdiff1d(positions, part), axis) for part in parts]
        removable = []
        for first in range(0, len(candidates), MAX_CANDIDATES_PER_ROUND):
            places = yield from try_candidates(candidates[first : first + MAX_CANDIDATES_PER_ROUND])
            if removable := [first + place for place in places]:
                break
        if len(removable) > 1:  # each of these parts can be removed; perhaps all together
            remaining = np.setdiff1d(positions, np.concatenate([parts[place] for place in removable]))
            if len(remaining):
                yield from try_candidates([_select_positions(start, remaining, axis)])
        if removable:
            pieces = max(2, min(pieces, best.data.x.shape[axis]))
        elif pieces >= length:
            return
        else:
            pieces *= 2


def _select_positions(data: Training, places: Places, axis: int) -> Training:
    return data.rows(places) if axis == 0 else data.attributes(places)


def _simplify_numbers(best: _BestCandidate, try_candidates: TryCandidates) -> Flow[None]:
    """Round numbers where the violation remains: all at once, then one by one."""
    if not (yield from try_candidates(list(_iter_ranked(best.data)))):
        for decimals in (0, 1, 2):
            rounded_data = best.data.with_numbers(np.round(best.data.numbers, decimals))
            if (yield from try_candidates([rounded_data])):
                break
    for decimals in (0, 1, 2):
        start = best.data
        rounded_numbers = np.round(start.numbers, decimals)
        places = np.argwhere(np.isfinite(rounded_numbers) & (rounded_numbers != start.numbers))
        places = places[:MAX_CANDIDATES_PER_ROUND]
        if not len(places) or best.rounds >= MAX_SHRINK_ROUNDS:
            continue
        candidates = [_replace_numbers(start, rounded_numbers, place[None]) for place in places]
        simplifiable = yield from try_candidates(candidates)
        if len(simplifiable) > 1:
            halves = [simplifiable, simplifiable[: len(simplifiable) // 2], simplifiable[len(simplifiable) // 2 :]]
            yield from try_candidates([_replace_numbers(start, rounded_numbers, places[part]) for part in halves])


def _iter_ranked(data: Training) -> Iterator[Training]:
    """Yield data with ranks instead of numbers, for all attributes, then for one."""
    numbers = data.numbers
    if not numbers.size or not np.isfinite(numbers).all():
        return
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] + 1.0 for column in numbers.T])
    yield data.with_numbers(ranks)
    for place in range(numbers.shape[1]):
        yield data.with_numbers(np.where(np.arange(numbers.shape[1]) == place, ranks, numbers))


def _replace_numbers(data: Training, new_numbers: Floats, places: Places) -> Training:
    """Return data with new numbers at some positions."""
    numbers = data.numbers.copy()
    rows, columns = places.T
    numbers[rows, columns] = new_numbers[rows, columns]
    return data.with_numbers(numbers)
