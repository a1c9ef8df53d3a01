"""The three strategies that look for borders: random target, directed walk and random walk.

All walks of a wave advance together, one question a step. What a walk draws at random depends on nothing but
its number and the seed, so one walk after the other, each on its own, would draw the same and find the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._checks import whole_number
from ..errors import OutOfBudget
from ..space.features import Codes
from ..space.points import Points
from .borders import Border, Undecided
from .brackets import Brackets, Found, Pool, Rows
from .flow import Flow, Question
from .refine import Refinement
from .terrain import Terrain

WAVE = 100_000  # walks that advance together; bounds the memory
GROWTH = 20  # with a growing pool, a wave is this part of it: later walks soon start from what earlier ones found


@dataclass(frozen=True)
class Wave:
    """Walks that advance together: where from, what they draw, and where to put what they find and spend.

    Attributes
    ----------
    first : int
        The number of the first of them.
    done : float
        The share of all walks that lies behind.
    """

    pool: Pool
    rng: np.random.Generator
    found: Found
    brackets: Brackets
    walk_runs: Rows
    first: int
    done: float


@dataclass
class Explorer:
    """Walks from the cases of a pool and narrows every border it meets.

    Subclasses draw where each walk starts (and what else it needs) and walk until they meet a border.

    Attributes
    ----------
    ground : Terrain
        What to walk on.
    border : Border
        What to look for.
    refine : Refinement
        How to narrow what was met.
    walks : int
        How many walks, or how many pairs of cases for random target.
    distance : int
        How many steps a walk has at most.
    growing : bool
        Whether pairs that were found join the pool, so that later walks may start from them.
    """

    ground: Terrain
    border: Border
    refine: Refinement
    walks: int = 1000
    distance: int = 20
    growing: bool = False

    name = ""
    least = 1  # cases a pool must have

    def __post_init__(self) -> None:
        whole_number("walks", "explore", self.walks)
        whole_number("walk_distance", "explore", self.distance, low=1)

    def explore(self, pool: Pool, rng: np.random.Generator, found: Found | None = None) -> Flow[Found]:
        """Make all walks and return what they found; with a spent budget, what was found until then."""
        found = found if found is not None else Found(self.ground.space)
        if len(pool) < self.least:
            found.note(f"{self.name} needs {self.least} cases to start from; there are {len(pool)}.")
            return found
        try:
            while found.walks < self.walks:
                wave = max(1, len(pool) // GROWTH) if self.growing else WAVE
                yield from self.wave(pool, rng, found, min(wave, self.walks - found.walks))
        except OutOfBudget:
            found.exhausted = True
        return found

    def wave(self, pool: Pool, rng: np.random.Generator, found: Found, walks: int) -> Flow[Brackets]:
        """Make some walks together."""
        done = found.walks / self.walks if self.walks else 1.0
        first = found.walks
        wave = Wave(pool, rng, found, *found.open(walks, self.name), first, done)
        yield from self._walk(wave)
        yield from self.refine(self.border_now, wave.brackets, wave.walk_runs, found, done)
        if self.growing:
            pool.join(wave.brackets)
        return wave.brackets

    def _walk(self, wave: Wave) -> Flow[None]:
        raise NotImplementedError
        yield  # a flow, even where nothing is asked

    @property
    def border_now(self) -> Border:
        """The border, or what it turned out to be."""
        chosen = self.border.chosen if isinstance(self.border, Undecided) else None
        return chosen or self.border

    def _seeds(self, wave: Wave, rows: Rows, fresh: bool = False) -> Flow[None]:
        """Execute the cases of the pool that are used for the first time; walks may come back to them."""
        pool = wave.pool
        new = np.zeros(len(pool), dtype=bool)
        new[rows] = True
        asked = np.flatnonzero(new & ~pool.asked)
        if not asked.size:
            return
        outputs = yield Question(pool.points.take(asked), done=wave.done, note="reading seeds", fresh=fresh)
        pool.states[asked] = self.border.read(outputs)
        pool.asked[asked] = True
        wave.found.seeds_used += len(asked)

    def _meet(
        self, brackets: Brackets, x: Codes, y: Codes, x_state: Codes, y_state: Codes, walk: Rows
    ) -> npt.NDArray[np.bool_]:
        """Keep the rows between whose ends a border lies, and tell which these are."""
        rows, part = self.border_now.parts(x_state, y_state)
        if rows.size:
            brackets.add(x[rows], y[rows], x_state[rows], y_state[rows], part, walk[rows])
        met = np.zeros(len(walk), dtype=bool)
        met[rows] = True
        return met


class RandomTarget(Explorer):
    """Two different cases of the pool at random; if their answers differ, there is a border between them."""

    name = "random_target"
    least = 2

    def _walk(self, wave: Wave) -> Flow[None]:
        pool, walks = wave.pool, len(wave.walk_runs)
        x = wave.rng.integers(len(pool), size=walks)
        y = wave.rng.integers(len(pool) - 1, size=walks)
        y += y >= x
        yield from self._seeds(wave, np.concatenate([x, y]), fresh=self.ground.continuous)
        wave.found.lost += int((np.isnan(pool.states[x]) | np.isnan(pool.states[y])).sum())
        codes = pool.points.codes
        self._meet(wave.brackets, codes[x], codes[y], pool.states[x], pool.states[y], np.arange(walks))


class _Walk(Explorer):
    """From a case of the pool, step by step, until the answer changes or the walk is long enough."""

    waits = True  # whether a step that leads nowhere is a step all the same

    def _starts(self, pool: Pool, rng: np.random.Generator, walks: int, first: int) -> Rows:
        raise NotImplementedError

    def _moves(self, rng: np.random.Generator, walks: int, first: int) -> Rows:
        raise NotImplementedError

    def _walk(self, wave: Wave) -> Flow[None]:
        pool, rng, walks = wave.pool, wave.rng, len(wave.walk_runs)
        start = self._starts(pool, rng, walks, wave.first)
        yield from self._seeds(wave, start)
        walk = np.flatnonzero(~np.isnan(pool.states[start]))
        wave.found.lost += walks - len(walk)
        here, state = pool.points.codes[start[walk]], pool.states[start[walk]]
        for step in range(self.distance):
            if not walk.size:
                return
            chosen = self._moves(rng, walks, wave.first)[walk]
            there = self.ground.move(here, chosen, rng)
            moved = ~Points(self.ground.space, here).same(Points(self.ground.space, there))
            if not self.waits and not moved.all():
                walk, here, there, state = walk[moved], here[moved], there[moved], state[moved]
                moved = np.ones(len(walk), dtype=bool)
            asked = np.flatnonzero(moved)
            new_state = state.copy()
            share = wave.done + walks / self.walks * step / (self.distance + self.refine.steps)
            # a case that stayed where it was has its answer, and counts all the same
            question = Question(
                Points(self.ground.space, there[asked]), done=share, note="walking", runs=len(walk)
            )
            new_state[asked] = self.border.read((yield question))
            wave.walk_runs[walk] += 1
            met = self._meet(wave.brackets, here, there, state, new_state, walk)
            lost = np.isnan(new_state)
            wave.found.lost += int(lost.sum())
            on = ~met & ~lost
            walk, here, state = walk[on], there[on], new_state[on]


class DirectedWalk(_Walk):
    """Always the same move; several moves are taken in turn, each from the same starts.

    Every case of the pool is a start once, in random order, before one is a start again. A move that leads
    nowhere (the end of a range) ends the walk: it would stand there for ever.
    """

    name = "directed_walk"
    waits = False

    def _starts(self, pool: Pool, rng: np.random.Generator, walks: int, first: int) -> Rows:
        moves = len(self.ground.moves)
        if first == 0 or self._order.size != len(pool):
            self._order = rng.permutation(len(pool))
        return self._order[(np.arange(first, first + walks) // moves) % len(pool)]

    _order: Rows = np.empty(0, dtype=np.intp)

    def _moves(self, rng: np.random.Generator, walks: int, first: int) -> Rows:
        return np.arange(first, first + walks) % len(self.ground.moves)


class RandomWalk(_Walk):
    """A move drawn at random at each step."""

    name = "random_walk"

    def _starts(self, pool: Pool, rng: np.random.Generator, walks: int, first: int) -> Rows:
        return rng.integers(len(pool), size=walks)

    def _moves(self, rng: np.random.Generator, walks: int, first: int) -> Rows:
        return rng.integers(len(self.ground.moves), size=walks)


EXPLORERS: dict[str, type[Explorer]] = {each.name: each for each in (RandomTarget, DirectedWalk, RandomWalk)}
