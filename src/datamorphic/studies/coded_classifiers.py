"""The tables of the ten coded classifiers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from .explorations import Exploration
from .published import published
from .rows import DISPLAY_NAMES, Row, compute_mean, describe_part, iterate_figures, make_row
from .workload import Workbench

SUBJECTS = 10
MACHINE = "Published: one case at a time in Java on a Xeon E3-1230 v5, 3.4 GHz. Ours: all walks in lock-step, on this machine."
NATIVE = "Ours takes the space's own moves; the same subjects as test systems, with moves on frames, are slower."


class Variant(NamedTuple):
    """One way to compute our figures, where a table can be read in several ways."""

    strategy: str
    label: str = ""
    note: str = ""
    pool: str = "fixed"
    first: bool = False
    measures: tuple[str, ...] = ()  # the measures it covers; empty for all

    def job(self, subject: str, walks: int, seeds: int = 200) -> Exploration:
        """Return the exploration. A directed walk starts from every seed once."""
        directed = self.strategy == "directed_walk"
        return Exploration(self.strategy, subject, "", walks, walks if directed else seeds, self.pool, self.first)

    def column(self, measure: str) -> str:
        """Return the name of a column."""
        return f"{measure}, {self.label}" if self.label else measure


FIXED = Variant("random_walk")
GROWING = Variant("random_walk", pool="growing")
TARGET = Variant("random_target")
WRITTEN = Variant("directed_walk", "as written", "Ours is the algorithm as written: a walk has twenty steps.")
FIRST = Variant(
    "directed_walk",
    "first step only",
    "Ours are walks that can succeed at their first step only, and count twenty runs if they fail.",
    first=True,
    measures=("runs", "mutants", "cost"),
)
AS_TARGET = Variant("random_target", "random target", "Ours is random target, which these figures are of.")

#: the variants per table and strategy
VARIANTS = {
    ("001-1", "directed_walk"): (FIRST, WRITTEN),
    ("001-2", "random_walk"): (GROWING,),
    ("001-3", "random_walk"): (GROWING,),
    ("001-4", "random_target"): (TARGET,),
    ("001-5", "directed_walk"): (FIRST, WRITTEN),
    ("001-5", "random_walk"): (GROWING,),
    ("001-5", "random_target"): (TARGET,),
    ("000-1", "directed_walk"): (FIRST, AS_TARGET._replace(measures=("capability",)), WRITTEN),
    ("000-1", "random_walk"): (FIXED,),
    ("000-1", "random_target"): (TARGET,),
    ("000-9", "directed_walk"): (AS_TARGET, WRITTEN),
    ("000-10", "random_walk"): (FIXED,),
    ("000-11", "random_walk"): (FIXED,),
    ("000-12", "random_target"): (TARGET,),
}
SEEDS_VARY = ("001-3", "000-11")


def build_walks_table(table: str, bench: Workbench) -> list[Row]:
    """Build a table with a row per subject and number of walks (or seeds), and their means."""
    frame = published(table)
    scale = bench.scale
    varies = "seeds" if table in SEEDS_VARY else "walks"
    rows: list[Row] = []
    for variant in VARIANTS[table, frame["strategy"].iloc[0]]:
        counts = scale.growing if variant.pool == "growing" else scale.walks
        counts = scale.seeds if varies == "seeds" else counts
        for subject in scale.subjects:
            subject_figures = [
                f for f in iterate_figures(frame) if f.subject == subject and _covers_measure(variant, f.measure)
            ]
            table_figures = [f for f in subject_figures if getattr(f, varies) in counts]
            pairs = []
            for figure in table_figures:
                seeds = int(figure.seeds) if varies == "seeds" else 200
                ours = bench.figure(variant.job(subject, int(figure.walks), seeds), figure.measure)
                place = f"{getattr(figure, varies):,} {varies}"
                pairs.append((figure, ours))
                rows.append(
                    make_row(
                        figure,
                        table,
                        subject,
                        place,
                        ours=ours,
                        column=variant.column(figure.measure),
                        notes=[variant.note],
                    )
                )
            rows += _build_mean_rows(table, variant, subject, pairs, varies)
    return rows


def _build_mean_rows(
    table: str, variant: Variant, subject: str, pairs: list[tuple[Any, float]], varies: str
) -> Iterator[Row]:
    """Yield the means of a subject's rows; the published ones are computed from the printed figures."""
    for measure in dict.fromkeys(figure.measure for figure, _ in pairs):
        both = [(figure, ours) for figure, ours in pairs if figure.measure == measure]
        if measure == "runs" or len(both) < 2:
            continue
        first = both[0][0]._replace(published=compute_mean(figure.published for figure, _ in both), walks=math.nan)
        yield make_row(
            first,
            table,
            subject,
            f"mean over {varies}",
            ours=compute_mean(ours for _, ours in both),
            column=variant.column(measure),
            notes=[variant.note],
        )


def build_summary_table(table: str, bench: Workbench) -> list[Row]:
    """Build a table of means over numbers of walks, per subject and strategy, and over all subjects."""
    scale = bench.scale
    rows: list[Row] = []
    for figure in iterate_figures(published(table)):
        subjects = scale.subjects if figure.subject == "all" else (figure.subject,)
        if figure.subject != "all" and figure.subject not in scale.subjects:
            continue
        for variant in VARIANTS[table, figure.strategy]:
            if not _covers_measure(variant, figure.measure):
                continue
            counts = scale.growing if variant.pool == "growing" else scale.walks
            ours = compute_mean(
                compute_mean(bench.figure(variant.job(subject, walks), figure.measure) for walks in counts)
                for subject in subjects
            )
            notes = [variant.note, describe_part(counts, 6, "numbers of walks")]
            if figure.subject == "all":
                notes.append(describe_part(subjects, SUBJECTS, "subjects"))
            rows.append(
                make_row(
                    figure,
                    table,
                    figure.subject,
                    figure.strategy,
                    ours=ours,
                    column=variant.column(figure.measure),
                    notes=notes,
                )
            )
    return rows


def build_speed_table(table: str, bench: Workbench) -> list[Row]:
    """Build the table of pairs per second, per subject and strategy, with averages."""
    strategies = ("directed_walk", "random_target", "random_walk")

    def rate(subject: str, strategy: str) -> float:
        job = Variant(strategy).job(subject, 1000)
        return bench.figure(job, "pairs per second")

    rows: list[Row] = []
    for figure in iterate_figures(published(table)):
        if figure.subject != "all" and figure.subject not in bench.scale.subjects:
            continue
        subjects = bench.scale.subjects if figure.subject == "all" else (figure.subject,)
        ways = (figure.strategy,) if figure.strategy else strategies
        rows.append(
            make_row(
                figure,
                table,
                figure.subject,
                ours=compute_mean(rate(s, way) for s in subjects for way in ways),
                column=DISPLAY_NAMES.get(figure.strategy, "average"),
                notes=[
                    MACHINE,
                    NATIVE,
                    describe_part(subjects, SUBJECTS, "subjects") if figure.subject == "all" else "",
                ],
            )
        )
    return rows


def _covers_measure(variant: Variant, measure: str) -> bool:
    return not variant.measures or measure in variant.measures
