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

from .._validation import validate_integer
from ..errors import OutOfBudget
from ..morphisms.terrain import Terrain
from ..runs.flow import Budget, Flow, Query
from ..space.features import Codes
from ..space.points import Points
from .borders import Border, InferredBorder
from .brackets import Brackets, ExplorationRecord, Rows, SeedPool
from .refinement import Refinement

MAX_WALKS_PER_WAVE = 100_000  # walks that advance together; bounds the memory
POOL_TO_WAVE_RATIO = (
    20  # with a growing pool, a wave is this part of it: later walks soon start from what earlier ones found
)
MIN_WALKS_PER_WAVE = 10  # walks of a wave, whatever the pool
MAX_WALKS_PER_TIMED_WAVE = 1_000  # walks of a wave if the time is limited: what is cut off is little
PEEK_SEEDS = 32  # seeds that show what kind of answers a system gives, where it does not say


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

    pool: SeedPool
    rng: np.random.Generator
    record: ExplorationRecord
    brackets: Brackets
    walk_runs: Rows
    first_walk: int
    progress: float

    @contextmanager
    def count_unfinished(self, walks: int) -> Iterator[None]:
        """Count the walks under way as unfinished if the budget ends them here."""
        try:
            yield
        except OutOfBudget:
            self.record.unfinished += walks
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
    refinement: Refinement
    walks: int = 1000
    walk_distance: int = 20
    growing: bool = False
    budget: Budget = field(default_factory=Budget)

    name = ""
    min_pool_size = 1  # cases a pool must have

    def __post_init__(self) -> None:
        validate_integer("walks", "explore", self.walks)
        validate_integer("walk_distance", "explore", self.walk_distance, low=1)

    def explore(
        self, pool: SeedPool, rng: np.random.Generator, record: ExplorationRecord | None = None
    ) -> Flow[ExplorationRecord]:
        """Make all walks and return what they found; with a spent budget, what was found until then."""
        record = record if record is not None else ExplorationRecord(self.ground.space)
        if len(pool) < self.min_pool_size:
            record.add_note(f"{self.name} needs {self.min_pool_size} cases to start from; there are {len(pool)}.")
            return record
        wave_size = 0
        try:
            yield from self.peek_at_answers(pool)
            while (remaining := self.walks - record.walks_begun) > 0:
                # As long as nothing is found the pool does not grow, and larger waves make no difference.
                fruitless = bool(record.brackets) and not len(record.brackets[-1])
                growth = max(2 * wave_size if fruitless else MIN_WALKS_PER_WAVE, len(pool) // POOL_TO_WAVE_RATIO)
                wave_size = min(
                    remaining,
                    growth if self.growing else MAX_WALKS_PER_WAVE,
                    self.count_affordable_walks(record.runs),
                )
                yield from self.run_wave(pool, rng, record, wave_size)
        except OutOfBudget:
            record.exhausted = True
        return record

    def peek_at_answers(self, pool: SeedPool) -> Flow[None]:
        """Look at a few answers before anything else, where the system does not say of which kind they are."""
        if (
            not isinstance(self.border, InferredBorder)
            or self.border.inferred_border is not None
            or self.border.codebook.labels
        ):
            return
        rows = np.unique(np.linspace(0, len(pool) - 1, PEEK_SEEDS).astype(np.intp))
        outputs = yield Query(pool.points.take(rows), note="looking at answers", runs=0)
        pool.states[rows], pool.known[rows] = self.border.read(outputs), True

    def count_affordable_walks(self, spent_runs: int) -> int:
        """Return how many walks can be made for what is left of the budget, each as long as a walk can be."""
        walks = MAX_WALKS_PER_TIMED_WAVE if self.budget.seconds is not None else MAX_WALKS_PER_WAVE
        if self.budget.runs is not None:
            walks = min(walks, (self.budget.runs - spent_runs) // (self.max_cases_per_walk + 1))
        return max(1, walks)

    @property
    def max_cases_per_walk(self) -> int:
        """How many cases a walk makes at most, its start included."""
        return 1 + self.walk_distance + min(self.refinement.steps, 60)

    def run_wave(
        self,
        pool: SeedPool,
        rng: np.random.Generator,
        record: ExplorationRecord,
        walks: int,
        walks_before: int | None = None,
    ) -> Flow[Brackets]:
        """Make some walks together; `before` tells how many there were in all, where others walk too."""
        progress = (record.walks_begun if walks_before is None else walks_before) / max(1, self.walks)
        first_walk = record.walks_begun
        wave = Wave(pool, rng, record, *record.open_wave(walks, self.name), first_walk, progress)
        yield from self._walk(wave)
        share = walks / max(1, self.walks)
        walk_share = share * self.walk_distance / (self.walk_distance + self.refinement.steps)
        yield from self.refinement(
            self.current_border, wave.brackets, wave.walk_runs, record, progress + walk_share, share - walk_share
        )
        if self.growing:
            pool.add_pairs(wave.brackets)
        return wave.brackets

    def _walk(self, wave: Wave) -> Flow[None]:
        raise NotImplementedError
        yield  # a flow, even where nothing is asked

    @property
    def current_border(self) -> Border:
        """The border, or what it turned out to be."""
        chosen = self.border.inferred_border if isinstance(self.border, InferredBorder) else None
        return chosen or self.border

    def _execute_seeds(self, wave: Wave, rows: Rows, fresh: bool = False) -> Flow[None]:
        """Execute the cases of the pool that are used for the first time; walks may come back to them."""
        pool = wave.pool
        requested = np.zeros(len(pool), dtype=bool)
        requested[rows] = True
        used_rows = np.flatnonzero(requested & ~pool.executed)
        if not used_rows.size:
            return
        query_rows = used_rows[~pool.known[used_rows]]
        query = Query(
            pool.points.take(query_rows),
            progress=wave.progress,
            note="reading seeds",
            fresh=fresh,
            runs=len(used_rows),
        )
        pool.states[query_rows] = self.border.read((yield query))
        pool.executed[used_rows] = pool.known[used_rows] = True
        wave.record.seeds_used += len(used_rows)

    def _add_brackets(
        self, brackets: Brackets, x: Codes, y: Codes, x_state: Codes, y_state: Codes, walk: Rows
    ) -> npt.NDArray[np.bool_]:
        """Keep the rows between whose ends a border lies, and tell which these are."""
        rows, part = self.current_border.find_borders(x_state, y_state)
        if rows.size:
            brackets.add(x[rows], y[rows], x_state[rows], y_state[rows], part, walk[rows])
        met = np.zeros(len(walk), dtype=bool)
        met[rows] = True
        return met


class RandomTarget(Explorer):
    """Two different cases of the pool at random; if their answers differ, there is a border between them."""

    name = "random_target"
    min_pool_size = 2

    def _walk(self, wave: Wave) -> Flow[None]:
        pool, walks = wave.pool, len(wave.walk_runs)
        x = wave.rng.integers(len(pool), size=walks)
        y = wave.rng.integers(len(pool) - 1, size=walks)
        y += y >= x
        with wave.count_unfinished(walks):
            yield from self._execute_seeds(wave, np.concatenate([x, y]), fresh=self.ground.continuous)
        wave.record.lost += int((np.isnan(pool.states[x]) | np.isnan(pool.states[y])).sum())
        codes = pool.points.codes
        self._add_brackets(wave.brackets, codes[x], codes[y], pool.states[x], pool.states[y], np.arange(walks))


class _StepwiseExplorer(Explorer):
    """From a case of the pool, step by step, until the answer changes or the walk is long enough."""

    counts_standstill = True  # whether a step that leads nowhere is a step all the same

    def _draw_starts(self, pool: SeedPool, rng: np.random.Generator, walks: int, first: int) -> Rows:
        raise NotImplementedError

    def _draw_moves(self, rng: np.random.Generator, walks: int, first: int) -> Rows:
        raise NotImplementedError

    def _walk(self, wave: Wave) -> Flow[None]:
        pool, rng, walks = wave.pool, wave.rng, len(wave.walk_runs)
        start = self._draw_starts(pool, rng, walks, wave.first_walk)
        with wave.count_unfinished(walks):
            yield from self._execute_seeds(wave, start)
        walk = np.flatnonzero(~np.isnan(pool.states[start]))
        wave.record.lost += walks - len(walk)
        here, state = pool.points.codes[start[walk]], pool.states[start[walk]]
        for step in range(self.walk_distance):
            if not walk.size:
                return
            move_numbers = self._draw_moves(rng, walks, wave.first_walk)[walk]
            there = self.ground.move(here, move_numbers, rng)
            moved = ~Points(self.ground.space, here).same(Points(self.ground.space, there))
            if not self.counts_standstill and not moved.all():
                walk, here, there, state = walk[moved], here[moved], there[moved], state[moved]
                moved = np.ones(len(walk), dtype=bool)
            query_rows = np.flatnonzero(moved)
            new_state = state.copy()
            progress = wave.progress + walks / self.walks * step / (self.walk_distance + self.refinement.steps)
            # a case that stayed where it was has its answer, and counts all the same
            query = Query(
                Points(self.ground.space, there[query_rows]), progress=progress, note="walking", runs=len(walk)
            )
            with wave.count_unfinished(len(walk)):
                new_state[query_rows] = self.border.read((yield query))
            wave.walk_runs[walk] += 1
            met = self._add_brackets(wave.brackets, here, there, state, new_state, walk)
            lost = np.isnan(new_state)
            wave.record.lost += int(lost.sum())
            unfinished = ~met & ~lost
            walk, here, state = walk[unfinished], there[unfinished], new_state[unfinished]


class DirectedWalk(_StepwiseExplorer):
    """Always the same move; several moves are taken in turn, each from the same starts.

    Every case of the pool is a start once, in random order, before one is a start again. A move that leads
    nowhere (the end of a range) ends the walk: it would stand there for ever.
    """

    name = "directed_walk"
    counts_standstill = False

    def _draw_starts(self, pool: SeedPool, rng: np.random.Generator, walks: int, first: int) -> Rows:
        moves = len(self.ground.moves)
        if first == 0 or self._order.size != len(pool):
            self._order = rng.permutation(len(pool))
        return self._order[(np.arange(first, first + walks) // moves) % len(pool)]

    _order: Rows = np.empty(0, dtype=np.intp)

    def _draw_moves(self, rng: np.random.Generator, walks: int, first: int) -> Rows:
        return np.arange(first, first + walks) % len(self.ground.moves)


class RandomWalk(_StepwiseExplorer):
    """A move drawn at random at each step."""

    name = "random_walk"

    def _draw_starts(self, pool: SeedPool, rng: np.random.Generator, walks: int, first: int) -> Rows:
        return rng.integers(len(pool), size=walks)

    def _draw_moves(self, rng: np.random.Generator, walks: int, first: int) -> Rows:
        return rng.integers(len(self.ground.moves), size=walks)


EXPLORERS: dict[str, type[Explorer]] = {
    explorer.name: explorer for explorer in (RandomTarget, DirectedWalk, RandomWalk)
}
