"""The three strategies that look for borders: random target, directed walk and random walk.

All walks of a wave advance together, one question a step. They draw their random numbers side by side, each its
own, whatever became of the others: one walk after the other, with the same draws, would find the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .._checks import whole_number
from ..errors import OutOfBudget
from ..space.features import Codes
from ..space.points import Points
from .borders import Border, Undecided
from .brackets import Brackets, Found, Pool, Rows
from .flow import Budget, Flow, Question
from .refine import Refinement
from .terrain import Terrain

WAVE = 100_000  # walks that advance together; bounds the memory
GROWTH = 20  # with a growing pool, a wave is this part of it: later walks soon start from what earlier ones found
SMALLEST = 10  # walks of a wave, whatever the pool
TIMED = 1_000  # walks of a wave if the time is limited: what is cut off is little
PEEK = 32  # seeds that show what kind of answers a system gives, where it does not say


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

    @contextmanager
    def counting(self, walks: int) -> Iterator[None]:
        """Count the walks under way as unfinished if the budget ends them here."""
        try:
            yield
        except OutOfBudget:
            self.found.unfinished += walks
            raise


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
    budget : Budget
        What it may cost; waves are made so small that they can be finished.
    """

    ground: Terrain
    border: Border
    refine: Refinement
    walks: int = 1000
    distance: int = 20
    growing: bool = False
    budget: Budget = field(default_factory=Budget)

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
        wave = 0
        try:
            yield from self.peek(pool)
            while (left := self.walks - found.begun) > 0:
                # As long as nothing is found the pool does not grow, and larger waves make no difference.
                fruitless = bool(found.brackets) and not len(found.brackets[-1])
                growth = max(2 * wave if fruitless else SMALLEST, len(pool) // GROWTH)
                wave = min(left, growth if self.growing else WAVE, self.affordable(found.runs))
                yield from self.wave(pool, rng, found, wave)
        except OutOfBudget:
            found.exhausted = True
        return found

    def peek(self, pool: Pool) -> Flow[None]:
        """Look at a few answers before anything else, where the system does not say of which kind they are."""
        if not isinstance(self.border, Undecided) or self.border.chosen is not None or self.border.book.labels:
            return
        rows = np.unique(np.linspace(0, len(pool) - 1, PEEK).astype(np.intp))
        outputs = yield Question(pool.points.take(rows), note="looking at answers", runs=0)
        pool.states[rows], pool.seen[rows] = self.border.read(outputs), True

    def affordable(self, spent: int) -> int:
        """Return how many walks can be made for what is left of the budget, each as long as a walk can be."""
        walks = TIMED if self.budget.seconds is not None else WAVE
        if self.budget.runs is not None:
            walks = min(walks, (self.budget.runs - spent) // (self.longest + 1))
        return max(1, walks)

    @property
    def longest(self) -> int:
        """How many cases a walk makes at most, its start included."""
        return 1 + self.distance + min(self.refine.steps, 60)

    def wave(
        self, pool: Pool, rng: np.random.Generator, found: Found, walks: int, before: int | None = None
    ) -> Flow[Brackets]:
        """Make some walks together; `before` tells how many there were in all, where others walk too."""
        done = (found.begun if before is None else before) / max(1, self.walks)
        first = found.begun
        wave = Wave(pool, rng, found, *found.open(walks, self.name), first, done)
        yield from self._walk(wave)
        share = walks / max(1, self.walks)
        walked = share * self.distance / (self.distance + self.refine.steps)
        yield from self.refine(
            self.border_now, wave.brackets, wave.walk_runs, found, done + walked, share - walked
        )
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
        used = np.flatnonzero(new & ~pool.asked)
        if not used.size:
            return
        asked = used[~pool.seen[used]]
        question = Question(
            pool.points.take(asked), done=wave.done, note="reading seeds", fresh=fresh, runs=len(used)
        )
        pool.states[asked] = self.border.read((yield question))
        pool.asked[used] = pool.seen[used] = True
        wave.found.seeds_used += len(used)

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
        with wave.counting(walks):
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
        with wave.counting(walks):
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
            with wave.counting(len(walk)):
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
