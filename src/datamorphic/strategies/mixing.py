"""`Mixed`: all three strategies, with more walks for those that find more new border for what they ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import OutOfBudget
from .archive import Archive
from .borders import Border
from .brackets import Brackets, Found, Pool
from .exploration import Explorer
from .flow import Flow

ROUNDS = 6  # in which the walks are handed out
AT_LEAST = 0.05  # of a round for every strategy: what finds nothing today may tomorrow
MEMORY = 0.5  # how much of its record a strategy keeps from round to round


@dataclass
class Mixed:
    """Explorers that share a pool; every round each gets walks by what it found for its cases so far.

    What counts is new border: cells of a grid, for each two classes, that no pair fell into before. The best
    record gets most; every strategy keeps a twentieth. The decisions are in ``Found.choices``.
    """

    explorers: Sequence[Explorer]
    archive: Archive
    walks: int

    def explore(self, pool: Pool, rng: np.random.Generator) -> Flow[Found]:
        """Make all walks in rounds and return what they found together."""
        able = [each for each in self.explorers if len(pool) >= each.least]
        found = Found(self.explorers[0].ground.space)
        own = [Found(found.space) for _ in able]
        for part in own:
            part.notes = found.notes
        new, runs = np.zeros(len(able)), np.zeros(len(able))
        shares = np.full(len(able), 1 / max(1, len(able)))
        number = 0
        try:
            if able:
                yield from able[0].peek(pool)
            while able and (left := self.walks - found.begun) > 0:
                number += 1
                affordable = min(each.affordable(found.runs) for each in able)
                hand_out = _whole(shares, min(left, max(1, self.walks // ROUNDS), affordable))
                spent, fresh = np.zeros(len(able)), np.zeros(len(able))
                for i, explorer in enumerate(able):
                    if hand_out[i]:
                        yield from self._round(explorer, pool, rng, found, own[i], int(hand_out[i]), number)
                        spent[i], fresh[i] = found.choices[-1]["runs"], found.choices[-1]["new"]
                new, runs = MEMORY * new + fresh, MEMORY * runs + spent
                # as if each had found half a cell more: one that has found none is poor, not hopeless
                rate = (new + 0.5) / np.maximum(runs, 1)
                shares = AT_LEAST + (1 - AT_LEAST * len(able)) * rate / rate.sum()
        except OutOfBudget:
            found.exhausted = True
        return found

    def _round(
        self,
        explorer: Explorer,
        pool: Pool,
        rng: np.random.Generator,
        found: Found,
        own: Found,
        walks: int,
        number: int,
    ) -> Flow[None]:
        """Let one strategy walk, and put what it finds, even half-way, with the rest."""
        before = replace(own)
        spent, waves = own.runs, len(own.brackets)
        brackets: Brackets | None = None
        try:
            brackets = yield from explorer.wave(pool, rng, own, walks, found.begun)
        finally:
            found.brackets += own.brackets[waves:]
            found.walk_runs += own.walk_runs[waves:]
            found.strategy += own.strategy[waves:]
            for count in ("seeds_used", "lost", "slopes", "unfinished"):
                setattr(found, count, getattr(found, count) + getattr(own, count) - getattr(before, count))
            met = brackets or own.brackets[-1]
            found.choices.append(
                {
                    "round": number,
                    "strategy": explorer.name,
                    "walks": walks,
                    "pairs": len(met),
                    "new": self.archive.add(met.x, kinds_of(explorer.border_now, met)),
                    "runs": own.runs - spent,
                }
            )


def kinds_of(border: Border, brackets: Brackets) -> list[str]:
    """Return the two sides of every border as one name, whichever comes first."""
    if border.name in ("labels", "hierarchy"):  # few different pairs of labels: name each once
        labels = len(border.book.labels)
        both = (brackets.x_state * labels + brackets.y_state).astype(np.intp)
        different, place = np.unique(both, return_inverse=True)
        sides = border.sides(*np.divmod(different.astype(np.float64), labels), different)
        names = np.array([" | ".join(sorted(two)) for two in zip(*sides, strict=True)], dtype=object)
        return names[place].tolist()
    sides = border.sides(brackets.x_state, brackets.y_state, brackets.part)
    return [" | ".join(sorted(two)) for two in zip(*sides, strict=True)]


def _whole(shares: np.ndarray, total: int) -> np.ndarray:
    """Hand out a whole number by shares, the largest remainders first."""
    exact = shares * total
    given = np.floor(exact).astype(int)
    rest = total - int(given.sum())
    given[np.argsort(given - exact, kind="stable")[:rest]] += 1
    return given
