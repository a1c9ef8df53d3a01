"""The smallest training set that violates a relation: fewest rows, fewest attributes, plainest numbers.

Candidates are asked many at a time. Where the budget is spent, the smallest found until then is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import OutOfBudget
from ..strategies.flow import Flow
from ..sut.training import Floats, Places, Training
from .base import VIOLATED
from .examining import Tested, again
from .learned import Learned, Subject

MOST_ROUNDS = 60  # in which candidates are asked
MOST_AT_ONCE = 40  # candidates of a round
TURNS, SALT = 4, 1_000_003  # other random numbers that are tried, and what lies between them


@dataclass
class _Best:
    data: Training
    number: int
    found: Learned | None = None
    rounds: int = 0


def smallest(
    each: Tested, subject: Subject, data: Training, number: int, case: int = 0
) -> Flow[tuple[Learned, int] | None]:
    """Return a violation by one test case of data, as small as it gets, and the number it starts from.

    None if it cannot be shown again.

    `number` is that of the training set among the inputs: what is random about its follow-up starts there.
    """
    best = _Best(data, number)

    def better(candidates: list[Training]) -> Flow[list[int]]:
        """Ask candidates; the first that violates becomes the best. Return the places of all that do.

        Where none does, they are asked with other random numbers: smaller data get another follow-up anyway.
        """
        for salts in ([best.number], [best.number + SALT * (1 + turn) for turn in range(TURNS)]):
            best.rounds += 1
            found = yield from again(
                each, subject, candidates * len(salts), [salt for salt in salts for _ in candidates]
            )
            bad = np.unique(found.data.which[found.violations])
            if len(bad):
                turn = int(bad[0]) // len(candidates)
                best.number, best.found = salts[turn], found.only(int(bad[0]))
                places = [int(k) % len(candidates) for k in bad if k // len(candidates) == turn]
                best.data = candidates[places[0]]
                return places
        return []

    try:
        alone = [data.cases([case])] if len(data) > 1 else [data]
        if not (yield from better(alone)) and not (len(data) > 1 and (yield from better([data]))):
            return None
        for axis in (0, 1, 0):  # with fewer attributes fewer rows may do
            yield from _fewer(best, better, axis)
        yield from _plainer(best, better)
        found = yield from again(each, subject, [best.data], [best.number], scores=True)
        best.found = found if found.count(VIOLATED) else best.found
    except OutOfBudget:
        pass
    return None if best.found is None else (best.found, best.number)


Better = Callable[[list[Training]], Flow[list[int]]]


def _fewer(best: _Best, better: Better, axis: int) -> Flow[None]:
    """Take away as many rows (axis 0) or attributes (1) as can be missed: halves first, then smaller parts."""
    pieces = 2
    while best.rounds < MOST_ROUNDS and (many := best.data.x.shape[axis]) > 1:
        whole, start = np.arange(many), best.data
        parts = np.array_split(whole, min(pieces, many))
        without = [_kept(start, np.setdiff1d(whole, part), axis) for part in parts]
        bad = []
        for first in range(0, len(without), MOST_AT_ONCE):
            if bad := [first + place for place in (yield from better(without[first : first + MOST_AT_ONCE]))]:
                break
        if len(bad) > 1:  # each of them can be missed; perhaps all together
            gone = np.concatenate([parts[place] for place in bad])
            if len(gone) < many:
                yield from better([_kept(start, np.setdiff1d(whole, gone), axis)])
        if bad:
            pieces = max(2, min(pieces, best.data.x.shape[axis]))
        elif pieces >= many:
            return
        else:
            pieces *= 2


def _kept(data: Training, places: Places, axis: int) -> Training:
    return data.rows(places) if axis == 0 else data.attributes(places)


def _plainer(best: _Best, better: Better) -> Flow[None]:
    """Give numbers fewer digits and make them smaller, where the violation stays: all at once, then one by one."""
    for decimals in (0, 1, 2):
        if (yield from better(list(_ranked(best.data)) if not decimals else [_rounded(best.data, decimals)])):
            break
        if not decimals and (yield from better([_rounded(best.data, 0)])):
            break
    for decimals in (0, 1, 2):
        start = best.data
        plain = np.round(start.numbers, decimals)
        places = np.argwhere(np.isfinite(plain) & (plain != start.numbers))[:MOST_AT_ONCE]
        if not len(places) or best.rounds >= MOST_ROUNDS:
            continue
        bad = yield from better([_with_plain(start, plain, places[[k]]) for k in range(len(places))])
        if len(bad) > 1:
            halves = [bad, bad[: len(bad) // 2], bad[len(bad) // 2 :]]
            yield from better([_with_plain(start, plain, places[part]) for part in halves])


def _rounded(data: Training, decimals: int) -> Training:
    return data.with_numbers(np.round(data.numbers, decimals))


def _ranked(data: Training) -> Iterator[Training]:
    """Yield data with 1, 2, 3, ... for the numbers of all attributes, and of one after the other."""
    numbers = data.numbers
    if not numbers.size or not np.isfinite(numbers).all():
        return
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] + 1.0 for column in numbers.T])
    yield data.with_numbers(ranks)
    for place in range(numbers.shape[1]):
        yield data.with_numbers(np.where(np.arange(numbers.shape[1]) == place, ranks, numbers))


def _with_plain(data: Training, plain: Floats, places: Places) -> Training:
    """Return data with the plain numbers in some places."""
    numbers = data.numbers.copy()
    rows, columns = places.T
    numbers[rows, columns] = plain[rows, columns]
    return data.with_numbers(numbers)
