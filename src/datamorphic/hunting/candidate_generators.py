"""Generators by distances that keep no index of executed groups: by a test profile, and by evolution.

They compare all candidates with all executed groups, by arrays, so that a group takes the longer the more were executed.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._validation import validate_integer
from ..relations.algebra.box import CATEGORY, Floats
from ..relations.algebra.function import FunctionRelation
from .generator_base import DomainLike, Generator
from .kernels.layout import round_columns

MAX_GENERATIONS = 10_000


class _CandidateGenerator(Generator):
    """Proposes one of k candidates, scored by the distances of their inputs to the executed ones of their own domains."""

    default_budget: ClassVar[int] = 5_000  # groups; each candidate is compared with all of them

    def _prepare(self) -> None:
        self._memory = (np.zeros((self._capacity, int(self.layout.start[-1]))),)

    def _grow(self, capacity: int) -> None:
        (rows,) = self._memory
        self._memory = (np.concatenate([rows, np.zeros((capacity - len(rows), rows.shape[1]))]),)

    def _add(self, row: Floats) -> None:
        self._memory[0][self._executed] = row

    def _advance(self, out: Floats) -> int:
        """Write one group: its numbers are drawn source by source, then the one that decides among candidates."""
        rows, follow_ups = self._choose_group(self._draw_sources())
        chosen = self._choose(self._score(rows))
        self._add(rows[chosen])
        out[0, : self.layout.width], out[0, self.layout.width :] = rows[chosen, : self.layout.width], follow_ups[chosen]
        return 1

    def _choose_group(self, sources: Floats) -> tuple[Floats, Floats]:
        """Return the candidates to choose from as rows, and their follow-ups as they are."""
        return self._complete(sources)

    def _choose(self, scores: Floats) -> int:
        raise NotImplementedError

    def _draw_sources(self) -> Floats:
        starts = self.layout.start[: self.layout.sources + 1]
        shares = [self.rng.random((self.k, int(width))) for width in np.diff(starts)]
        return self._place_shares(np.concatenate(shares, axis=1))

    def _place_shares(self, shares: Floats) -> Floats:
        low, high = self.layout.low[: self.layout.width], self.layout.high[: self.layout.width]
        return round_columns(self.layout, low + (high - low) * shares)

    def _complete(self, sources: Floats) -> tuple[Floats, Floats]:
        """Return candidates as rows, what is no number at the lower limit of its column; and their follow-ups as they are."""
        if not isinstance(self.relation, FunctionRelation):
            return sources, sources[:, :0]
        follow_ups = self._make_follow_ups(sources)
        known = np.where(np.isfinite(follow_ups), follow_ups, self.layout.low[self.layout.width :])
        return np.concatenate([sources, known], axis=1), follow_ups

    def _score(self, rows: Floats) -> Floats:
        """Return the sum, over the inputs of each group, of the distance to the nearest executed one."""
        scores = np.zeros(len(rows))
        executed = self._memory[0][: self._executed]
        if not len(executed):
            return scores
        layout = self.layout
        for slot in range(layout.slots):
            squares, differing = np.zeros((2, len(rows), len(executed)))
            for column in range(layout.start[slot], layout.start[slot + 1]):
                if layout.kind[column] == CATEGORY:
                    differing += rows[:, None, column] != executed[None, :, column]
                else:
                    gaps = (rows[:, None, column] - executed[None, :, column]) * layout.scale[column]
                    squares += gaps * gaps
            scores += (np.sqrt(squares) + differing).min(axis=1)
        return scores


class TestProfile(_CandidateGenerator):
    """TP-ART: a random group, likelier the farther its inputs are from the executed ones; Liu et al. (2011).

    The test profile is the density of the next group. It is 0 at executed groups, and grows with the distance to them. One of k
    uniform groups is drawn by it.
    """

    __test__ = False  # no class of tests

    name = "TP-ART"
    summary = "one of k groups, drawn by a profile that grows with the distance to executed inputs"

    def _choose(self, scores: Floats) -> int:
        number = self.rng.random()
        heights = np.cumsum(scores)
        if not heights[-1] > 0:
            return int(number * len(scores))
        return min(int(np.searchsorted(heights, number * heights[-1], side="right")), len(scores) - 1)


class SearchBased(_CandidateGenerator):
    """SB-ART: candidates evolve towards the greatest distance from executed inputs; Tappenden and Miller (2009).

    In each generation, children inherit every number from one of two parents, which won tournaments of two, or get a new one. The best
    candidate of the generation before takes the place of the worst child.
    """

    name = "SB-ART"
    summary = "the best of k groups that evolve towards the greatest distance from executed inputs"

    def __init__(self, relation: FunctionRelation | DomainLike, *, generations: int = 5, **options: Any) -> None:
        self.generations = validate_integer("generations", self.name, generations, 1, MAX_GENERATIONS)
        super().__init__(relation, **options)

    def _choose(self, scores: Floats) -> int:
        best = np.flatnonzero(scores == scores.max())
        return int(best[int(self.rng.random() * len(best))])

    def _choose_group(self, sources: Floats) -> tuple[Floats, Floats]:
        rows, follow_ups = self._complete(sources)
        for _ in range(self.generations if self._executed else 0):
            scores = self._score(rows)
            children, child_follow_ups = self._complete(self._breed(rows[:, : self.layout.width], scores))
            best, worst = int(scores.argmax()), int(self._score(children).argmin())
            children[worst], child_follow_ups[worst] = rows[best], follow_ups[best]
            rows, follow_ups = children, child_follow_ups
        return rows, follow_ups

    def _breed(self, sources: Floats, scores: Floats) -> Floats:
        """Return children: numbers are drawn for the tournaments, then for inheritance, for mutation, and for new values."""
        first, second = (self._hold_tournament(scores) for _ in range(2))
        inherits_first = self.rng.random(sources.shape) < 0.5
        mutates = self.rng.random(sources.shape) < 1 / sources.shape[1]
        fresh = self._place_shares(self.rng.random(sources.shape))
        return np.where(mutates, fresh, np.where(inherits_first, sources[first], sources[second]))

    def _hold_tournament(self, scores: Floats) -> npt.NDArray[np.int64]:
        rivals = (self.rng.random((len(scores), 2)) * len(scores)).astype(np.int64)
        return np.where(scores[rivals[:, 0]] >= scores[rivals[:, 1]], rivals[:, 0], rivals[:, 1])
