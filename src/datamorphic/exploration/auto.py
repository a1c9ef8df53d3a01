"""`AutoExplorer`: all three strategies, with more walks for those that find more new border per run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import OutOfBudget
from ..runs.flow import Flow
from ..space.projection import Archive
from .borders import Border
from .brackets import Brackets, ExplorationRecord, SeedPool
from .explorers import Explorer

#: The share of the walks in the first round. The second has twice and the third three times as many: a few to learn from, and few
#: rounds, since each takes some hundred queries.
FIRST_ROUND_SHARE = 1 / 6
MIN_ROUND_SHARE = 0.05  # of the walks of a round for every strategy, since it may find more later
RECORD_DECAY = 0.5  # weight of earlier rounds, per round


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
