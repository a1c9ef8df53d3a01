"""The three strategies that search for borders: random target, directed walk and random walk (Zhu & Bayley 2022); and all together.

All walks of a wave advance together, with one query per step. Each walk uses its own random draws, independent of
the outcome of the others: walks made one after the other with the same draws would find the same pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import OutOfBudget
from ..morphisms.terrain import Terrain
from ..runs.flow import Budget, Flow, Query
from ..space.features import Codes, Mask
from ..space.points import Points
from ..space.projection import Archive
from .borders import Border, InferredBorder
from .brackets import Brackets, ExplorationRecord, SeedPool
from .changes import Rows
from .refinement import Refinement

MAX_WALKS_PER_WAVE = 100_000  # limits the memory of walks that advance together
POOL_TO_WAVE_RATIO = 20  # a growing pool is this many times a wave, so that later walks soon start from new pairs
MIN_WALKS_PER_WAVE = 10
MAX_WALKS_PER_TIMED_WAVE = 1_000  # with limited time, small waves lose few walks at the end
PEEK_SEEDS = 32  # seed cases that are queried to infer the kind of answers
MAX_COUNTED_HALVINGS = 60  # halvings per walk that a budget of runs reserves at most
#: The share of the walks in the first round. The second has twice and the third three times as many: a few to learn from, and few
#: rounds, since each takes some hundred queries.
FIRST_ROUND_SHARE = 1 / 6
MIN_ROUND_SHARE = 0.05  # of the walks of a round for every strategy, since it may find more later
RECORD_DECAY = 0.5  # weight of earlier rounds, per round


@dataclass(frozen=True)
class Wave:
    """Walks that advance together."""

    pool: SeedPool
    rng: np.random.Generator  # draws the starts and the moves
    record: ExplorationRecord
    brackets: Brackets  # the pairs that the walks find
    walk_runs: Rows  # the number of cases of each walk
    first_walk: int  # the number of the first walk
    progress: float  # the share of all walks that is done

    @contextmanager
    def count_unfinished(self, walks: int) -> Iterator[None]:
        """Count the current walks as unfinished if the budget ends within the block."""
        try:
            yield
        except OutOfBudget:
            self.record.unfinished += walks
            raise


@dataclass(kw_only=True)
class Explorer:
    """A strategy: walks from the cases of a pool, and narrows every border they meet.

    Subclasses implement `_walk`: draw the start of each walk, and walk until it meets a border.
    """

    terrain: Terrain
    border: Border
    refinement: Refinement
    walks: int = 1000  # for random target, the number of pairs of cases
    walk_distance: int = 20  # the maximum number of steps per walk
    growing: bool = False  # whether pairs join the pool when found, so that later walks may start from them
    budget: Budget = field(default_factory=Budget)  # waves are so small that they can be finished within it

    name = ""
    min_pool_size = 1
    uses_moves = True
    record: ExplorationRecord | None = field(default=None, init=False)  # of the current exploration

    @property
    def share_begun(self) -> float:
        """The share of the walks that are begun."""
        return 0.0 if self.record is None else self.record.walks_begun / max(1, self.walks)

    def explore(self, pool: SeedPool, rng: np.random.Generator) -> Flow[ExplorationRecord]:
        """Make all walks and return the record; when the budget is spent, the record until then."""
        self.record = record = ExplorationRecord(self.terrain.space)
        if len(pool) < self.min_pool_size:
            record.add_note(f"{self.name} needs {self.min_pool_size} cases to start from; there are {len(pool)}.")
            return record
        wave_size = 0
        try:
            yield from self.peek_at_answers(pool)
            while (remaining := self.walks - record.walks_begun) > 0:
                # While nothing is found the pool does not grow, and larger waves give the same result.
                fruitless = bool(record.brackets) and not len(record.brackets[-1])
                growth = max(2 * wave_size if fruitless else MIN_WALKS_PER_WAVE, len(pool) // POOL_TO_WAVE_RATIO)
                wave_size = min(
                    remaining, growth if self.growing else MAX_WALKS_PER_WAVE, self.count_affordable_walks(record.runs)
                )
                yield from self.run_wave(pool, rng, record, wave_size)
        except OutOfBudget:
            record.exhausted = True
        return record

    def peek_at_answers(self, pool: SeedPool) -> Flow[None]:
        """Query a few seed cases first, where the kind of answers is not known."""
        if not isinstance(self.border, InferredBorder) or self.border.inferred_border or self.border.codebook.labels:
            return
        rows = np.unique(np.linspace(0, len(pool) - 1, PEEK_SEEDS).astype(np.intp))
        outputs = yield Query(pool.points.take(rows), note="looking at answers", runs=0)
        pool.states[rows], pool.known[rows] = self.border.read(outputs), True

    def count_affordable_walks(self, spent_runs: int) -> int:
        """Return how many walks of maximum length the rest of the budget allows, at least 1."""
        walks = MAX_WALKS_PER_TIMED_WAVE if self.budget.seconds is not None else MAX_WALKS_PER_WAVE
        if self.budget.runs is not None:
            cases_per_walk = (
                2 + self.walk_distance + min(self.refinement.steps, MAX_COUNTED_HALVINGS)
            )  # with both starts
            walks = min(walks, (self.budget.runs - spent_runs) // cases_per_walk)
        return max(1, walks)

    def run_wave(
        self,
        pool: SeedPool,
        rng: np.random.Generator,
        record: ExplorationRecord,
        walks: int,
        walks_before: int | None = None,
    ) -> Flow[Brackets]:
        """Make one wave of walks; `walks_before` counts all earlier walks where several strategies share the work."""
        first_walk = record.walks_begun
        progress = (first_walk if walks_before is None else walks_before) / max(1, self.walks)
        brackets, walk_runs = record.open_wave(walks, self.name)
        yield from self._walk(Wave(pool, rng, record, brackets, walk_runs, first_walk, progress))
        share = walks / max(1, self.walks)
        walk_share = share * self.walk_distance / (self.walk_distance + self.refinement.steps)
        yield from self.refinement(
            self.current_border, brackets, walk_runs, record, progress + walk_share, share - walk_share
        )
        if self.growing:
            pool.add_pairs(brackets)
        return brackets

    def _walk(self, wave: Wave) -> Flow[None]:
        raise NotImplementedError
        yield  # makes this a generator

    @property
    def current_border(self) -> Border:
        """The border; where it is inferred, the one inferred so far."""
        chosen = self.border.inferred_border if isinstance(self.border, InferredBorder) else None
        return chosen or self.border

    def _execute_seeds(self, wave: Wave, rows: Rows, fresh: bool = False) -> Flow[None]:
        """Execute the cases of the pool that are used for the first time."""
        pool = wave.pool
        requested = np.zeros(len(pool), dtype=bool)
        requested[rows] = True
        used_rows = np.flatnonzero(requested & ~pool.executed)
        if not used_rows.size:
            return
        query_rows = used_rows[~pool.known[used_rows]]
        query = Query(
            pool.points.take(query_rows), progress=wave.progress, note="reading seeds", fresh=fresh, runs=len(used_rows)
        )
        pool.states[query_rows] = self.border.read((yield query))
        pool.executed[used_rows] = pool.known[used_rows] = True
        wave.record.seeds_used += len(used_rows)

    def _add_brackets(self, brackets: Brackets, x: Codes, y: Codes, x_state: Codes, y_state: Codes, walk: Rows) -> Mask:
        """Add brackets for the rows with a border between their ends, and return which rows these are."""
        rows, part = self.current_border.find_borders(x_state, y_state)
        if rows.size:
            brackets.add(x[rows], y[rows], x_state[rows], y_state[rows], part, walk[rows])
        met = np.zeros(len(walk), dtype=bool)
        met[rows] = True
        return met


class RandomTarget(Explorer):
    """Draw two different cases of the pool; if their answers differ, there is a border between them."""

    name = "random_target"
    min_pool_size = 2
    uses_moves = False

    def _walk(self, wave: Wave) -> Flow[None]:
        pool, walks = wave.pool, len(wave.walk_runs)
        x = wave.rng.integers(len(pool), size=walks)
        y = wave.rng.integers(len(pool) - 1, size=walks)
        y += y >= x
        wave.record.walk_starts.append(np.column_stack([x, y]))
        with wave.count_unfinished(walks):
            yield from self._execute_seeds(wave, np.concatenate([x, y]), fresh=self.terrain.continuous)
        wave.record.lost += int((np.isnan(pool.states[x]) | np.isnan(pool.states[y])).sum())
        codes = pool.points.codes
        self._add_brackets(wave.brackets, codes[x], codes[y], pool.states[x], pool.states[y], np.arange(walks))


class _StepwiseExplorer(Explorer):
    """Walk from a case of the pool, step by step, until the answer changes or the walk is long enough."""

    counts_standstill = True  # whether a move that changes nothing counts as a step

    def _draw_starts(self, pool: SeedPool, rng: np.random.Generator, walks: int, first: int) -> Rows:
        raise NotImplementedError

    def _draw_moves(self, rng: np.random.Generator, walks: int, first: int) -> Rows:
        raise NotImplementedError

    def _walk(self, wave: Wave) -> Flow[None]:
        pool, rng, walks = wave.pool, wave.rng, len(wave.walk_runs)
        start = self._draw_starts(pool, rng, walks, wave.first_walk)
        wave.record.walk_starts.append(np.column_stack([start, np.full(walks, -1)]))
        with wave.count_unfinished(walks):
            yield from self._execute_seeds(wave, start)
        walk = np.flatnonzero(~np.isnan(pool.states[start]))
        wave.record.lost += walks - len(walk)
        here, state = pool.points.codes[start[walk]], pool.states[start[walk]]
        for step in range(self.walk_distance):
            if not walk.size:
                return
            move_numbers = self._draw_moves(rng, walks, wave.first_walk)[walk]
            there = self.terrain.move(here, move_numbers, rng)
            moved = ~Points(self.terrain.space, here).same(Points(self.terrain.space, there))
            if not self.counts_standstill and not moved.all():
                walk, here, there, state = walk[moved], here[moved], there[moved], state[moved]
                moved = np.ones(len(walk), dtype=bool)
            query_rows = np.flatnonzero(moved)
            new_state = state.copy()
            progress = wave.progress + walks / self.walks * step / (self.walk_distance + self.refinement.steps)
            # a case that did not move has a known answer, but counts as a run
            query = Query(
                Points(self.terrain.space, there[query_rows]), progress=progress, note="walking", runs=len(walk)
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
    """Repeat the same move; several moves are used in turn, each from the same starts.

    Every case of the pool is a start once, in random order, before any is used again. A move that changes nothing, at
    the end of a range, ends the walk: it would never move again.
    """

    name = "directed_walk"
    counts_standstill = False

    def _draw_starts(self, pool: SeedPool, rng: np.random.Generator, walks: int, first: int) -> Rows:
        moves = len(self.terrain.moves)
        if first == 0 or self._order.size != len(pool):
            self._order = rng.permutation(len(pool))
        return self._order[(np.arange(first, first + walks) // moves) % len(pool)]

    _order: Rows = np.empty(0, dtype=np.intp)

    def _draw_moves(self, rng: np.random.Generator, walks: int, first: int) -> Rows:
        return np.arange(first, first + walks) % len(self.terrain.moves)


class RandomWalk(_StepwiseExplorer):
    """Draw a move at random at each step."""

    name = "random_walk"

    def _draw_starts(self, pool: SeedPool, rng: np.random.Generator, walks: int, first: int) -> Rows:
        return rng.integers(len(pool), size=walks)

    def _draw_moves(self, rng: np.random.Generator, walks: int, first: int) -> Rows:
        return rng.integers(len(self.terrain.moves), size=walks)


EXPLORERS: dict[str, type[Explorer]] = {
    explorer.name: explorer for explorer in (RandomTarget, DirectedWalk, RandomWalk)
}


@dataclass
class AutoExplorer:
    """Explorers that share a pool; in each round, the walks are distributed by their yield per run so far.

    The yield is new border: grid cells, per border, that had no pair before. The best strategy gets the most walks, and
    every strategy gets at least a twentieth. The decisions are in ``ExplorationRecord.choices``.
    """

    explorers: Sequence[Explorer]
    archive: Archive
    walks: int
    own_records: Sequence[ExplorationRecord] = field(default=(), init=False)  # of the explorers

    @property
    def share_begun(self) -> float:
        """The share of the walks that are begun."""
        return sum(record.walks_begun for record in self.own_records) / max(1, self.walks)

    def explore(self, pool: SeedPool, rng: np.random.Generator) -> Flow[ExplorationRecord]:
        """Make all walks in rounds and return their common record."""
        usable_explorers = [candidate for candidate in self.explorers if len(pool) >= candidate.min_pool_size]
        record = ExplorationRecord(self.explorers[0].terrain.space)
        self.own_records = own_records = [ExplorationRecord(record.space, notes=record.notes) for _ in usable_explorers]
        count = len(usable_explorers)
        new_cells, runs, shares = np.zeros(count), np.zeros(count), np.full(count, 1 / max(1, count))
        round_number = 0
        try:
            if usable_explorers:
                yield from usable_explorers[0].peek_at_answers(pool)
            while usable_explorers and (remaining := self.walks - record.walks_begun) > 0:
                round_number += 1
                affordable = min(candidate.count_affordable_walks(record.runs) for candidate in usable_explorers)
                walk_counts = _allot(
                    shares, min(remaining, max(1, round(round_number * FIRST_ROUND_SHARE * self.walks)), affordable)
                )
                round_runs, round_cells = np.zeros(count), np.zeros(count)
                for i, explorer in enumerate(usable_explorers):
                    if walk_counts[i]:
                        yield from self._run_round(
                            explorer, pool, rng, record, own_records[i], int(walk_counts[i]), round_number
                        )
                        round_runs[i], round_cells[i] = record.choices[-1]["runs"], record.choices[-1]["new"]
                new_cells, runs = RECORD_DECAY * new_cells + round_cells, RECORD_DECAY * runs + round_runs
                # half a cell is added to each, so that a strategy without a new cell keeps a chance
                rate = (new_cells + 0.5) / np.maximum(runs, 1)
                shares = MIN_ROUND_SHARE + (1 - MIN_ROUND_SHARE * count) * rate / rate.sum()
        except OutOfBudget:
            record.exhausted = True
        return record

    def _run_round(
        self,
        explorer: Explorer,
        pool: SeedPool,
        rng: np.random.Generator,
        record: ExplorationRecord,
        own_record: ExplorationRecord,
        walks: int,
        round_number: int,
    ) -> Flow[None]:
        """Run a wave of one strategy and add its pairs to the common record, even if the budget ends it."""
        before = replace(own_record)
        runs_before, waves_before = own_record.runs, len(own_record.brackets)
        brackets: Brackets | None = None
        try:
            brackets = yield from explorer.run_wave(pool, rng, own_record, walks, record.walks_begun)
        finally:
            record.brackets += own_record.brackets[waves_before:]
            record.walk_runs += own_record.walk_runs[waves_before:]
            record.walk_starts += own_record.walk_starts[waves_before:]
            record.strategies += own_record.strategies[waves_before:]
            for count in ("seeds_used", "lost", "slopes", "unfinished"):
                setattr(record, count, getattr(record, count) + getattr(own_record, count) - getattr(before, count))
            new_brackets = brackets or own_record.brackets[-1]
            record.choices.append(
                {
                    "round": round_number,
                    "strategy": explorer.name,
                    "walks": walks,
                    "pairs": len(new_brackets),
                    "new": self.archive.add(new_brackets.x, name_border_kinds(explorer.current_border, new_brackets)),
                    "runs": own_record.runs - runs_before,
                }
            )


def name_border_kinds(border: Border, brackets: Brackets) -> list[str]:
    """Return a name for each border, independent of the order of its two sides."""
    if border.name in ("labels", "hierarchy"):  # there are few different pairs of labels: name each of them once
        labels = len(border.codebook.labels)
        label_pairs = (brackets.x_state * labels + brackets.y_state).astype(np.intp)
        distinct_pairs, inverse = np.unique(label_pairs, return_inverse=True)
        sides = border.name_sides(*np.divmod(distinct_pairs.astype(np.float64), labels), distinct_pairs)
        names = np.array([" | ".join(sorted(side_names)) for side_names in zip(*sides, strict=True)], dtype=object)
        return names[inverse].tolist()
    sides = border.name_sides(brackets.x_state, brackets.y_state, brackets.part)
    return [" | ".join(sorted(side_names)) for side_names in zip(*sides, strict=True)]


def _allot(shares: np.ndarray, total: int) -> np.ndarray:
    """Distribute an integer by shares; the largest remainders get the rest."""
    exact = shares * total
    counts = np.floor(exact).astype(int)
    remainder = total - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:remainder]] += 1
    return counts
