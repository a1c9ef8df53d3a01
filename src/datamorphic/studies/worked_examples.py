"""Examples 4 to 6 of Zhu & Bayley (2022): one exploration of Sin 2 per strategy, as written and with its cause."""

from __future__ import annotations

from .causes import SWITCHES
from .explorations import Exploration
from .rows import Row
from .workload import Workbench

WALKS, POOL_SEEDS = 1000, 300


def _make_example(strategy: str, seeds: int) -> Exploration:
    """Return an exploration that was made once."""
    return Exploration(strategy, "Sin 2", walks=WALKS, seeds=seeds, printed_repetitions=1)


#: per row: its label, the published number of pairs, the exploration, and the cause of a difference
EXAMPLES: tuple[tuple[str, int, Exploration, str], ...] = (
    ("Example 4, random target", 641, _make_example("random_target", POOL_SEEDS), ""),
    ("Example 5, directed walk", 161, _make_example("directed_walk", WALKS), "first_step"),
    ("Example 6, random walk", 805, _make_example("random_walk", POOL_SEEDS), "growing_pool"),
)


def build_example_table(bench: Workbench) -> list[Row]:
    """Build the comparison of the examples: pairs from a thousand walks."""
    rows = []
    for label, published, job, cause in EXAMPLES:
        pairs = bench.estimate(job, "mutants").times(0.5)  # two mutants per pair
        row = pairs.to_row(label, "pairs", published=published)._replace(unit=1.0)
        if cause:
            with_cause = bench.estimate(SWITCHES[cause].change(job), "mutants").times(0.5)
            row = row._replace(cause=cause, ours_with_cause=with_cause.value, margin_with_cause=with_cause.margin)
        rows.append(row)
    return rows
