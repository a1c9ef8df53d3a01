"""Examples 4 to 6 of Zhu & Bayley (2022): one exploration of Sin 2 per strategy, as written and as it was made."""

from __future__ import annotations

from .explorations import Exploration
from .rows import Row
from .workload import Workbench

SUBJECT, WALKS, FEW_SEEDS = "Sin 2", 1000, 300
FIRST_STEP_NOTE = (
    "The published number needs walks that can succeed at their first step only; the algorithm has twenty."
)
GROWING_NOTE = "The published number needs a pool that grows: later walks start from the mutants of earlier ones."

#: per row: its label, the published number of pairs, the exploration, and why they differ
EXAMPLES: tuple[tuple[str, int, Exploration, str], ...] = (
    ("Example 4, random target", 641, Exploration("random_target", SUBJECT, walks=WALKS, seeds=FEW_SEEDS), ""),
    (
        "Example 5, directed walk as written",
        161,
        Exploration("directed_walk", SUBJECT, walks=WALKS, seeds=WALKS),
        FIRST_STEP_NOTE,
    ),
    (
        "Example 5, directed walk, walk distance 1",
        161,
        Exploration("directed_walk", SUBJECT, walks=WALKS, seeds=WALKS, first=True),
        "",
    ),
    (
        "Example 6, random walk as written",
        805,
        Exploration("random_walk", SUBJECT, walks=WALKS, seeds=FEW_SEEDS),
        GROWING_NOTE,
    ),
    (
        "Example 6, random walk, growing pool",
        805,
        Exploration("random_walk", SUBJECT, walks=WALKS, seeds=FEW_SEEDS, pool="growing"),
        "",
    ),
)


def build_example_table(bench: Workbench) -> list[Row]:
    """Build the comparison of the examples: pairs from a thousand walks."""
    rows = []
    for label, published, job, note in EXAMPLES:
        mutants = bench.estimate(job, "mutants")  # two per pair
        rows.append(Row(label, "pairs", published, mutants.value / 2, note, mutants.margin / 2, mutants.trials))
    return rows
