"""The tables of the ten coded classifiers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .explorations import Exploration
from .intervals import average_figures
from .published import published
from .rows import DISPLAY_NAMES, OurFigure, Row, compute_mean, describe_part, iterate_figures, make_row
from .workload import Scale, Workbench

SUBJECT_COUNT = 10
MACHINE_NOTE = "Published: one case at a time in Java on a Xeon E3-1230 v5, 3.4 GHz. Ours: all walks in lock-step, on this machine."
NATIVE_MOVES_NOTE = (
    "Ours takes the space's own moves; the same subjects as test systems, with moves on frames, are slower."
)


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

    def covers(self, measure: str) -> bool:
        """Return whether the variant is for a measure."""
        return not self.measures or measure in self.measures

    def choose_counts(self, scale: Scale) -> tuple[int, ...]:
        """Return the numbers of walks."""
        return scale.growing if self.pool == "growing" else scale.walks

    def make_row(self, figure: Any, table: str, *place: str, ours: OurFigure, notes: Iterable[str] = ()) -> Row:
        """Return a published figure beside ours by this variant."""
        column = f"{figure.measure}, {self.label}" if self.label else figure.measure
        return make_row(figure, table, *place, ours=ours, column=column, notes=[self.note, *notes])


FIXED_POOL = Variant("random_walk")
GROWING_POOL = Variant("random_walk", pool="growing")
RANDOM_TARGET = Variant("random_target")
AS_WRITTEN = Variant("directed_walk", "as written", "Ours is the algorithm as written: a walk has twenty steps.")
FIRST_STEP = Variant(
    "directed_walk",
    "first step only",
    "Ours are walks that can succeed at their first step only, and count twenty runs if they fail.",
    first=True,
    measures=("runs", "mutants", "cost"),
)
AS_RANDOM_TARGET = Variant("random_target", "random target", "Ours is random target, to which these figures belong.")

#: the variants per table and strategy
VARIANTS = {
    ("001-1", "directed_walk"): (FIRST_STEP, AS_WRITTEN),
    ("001-2", "random_walk"): (GROWING_POOL,),
    ("001-3", "random_walk"): (GROWING_POOL,),
    ("001-4", "random_target"): (RANDOM_TARGET,),
    ("001-5", "directed_walk"): (FIRST_STEP, AS_WRITTEN),
    ("001-5", "random_walk"): (GROWING_POOL,),
    ("001-5", "random_target"): (RANDOM_TARGET,),
    ("000-1", "directed_walk"): (FIRST_STEP, AS_RANDOM_TARGET._replace(measures=("capability",)), AS_WRITTEN),
    ("000-1", "random_walk"): (FIXED_POOL,),
    ("000-1", "random_target"): (RANDOM_TARGET,),
    ("000-9", "directed_walk"): (AS_RANDOM_TARGET, AS_WRITTEN),
    ("000-10", "random_walk"): (FIXED_POOL,),
    ("000-11", "random_walk"): (FIXED_POOL,),
    ("000-12", "random_target"): (RANDOM_TARGET,),
}
SEEDS_VARY = ("001-3", "000-11")


def build_walks_table(table: str, bench: Workbench) -> list[Row]:
    """Build a table with a row per subject and number of walks (or seeds), and their means."""
    frame = published(table)
    scale = bench.scale
    varies = "seeds" if table in SEEDS_VARY else "walks"
    rows: list[Row] = []
    for variant in VARIANTS[table, frame["strategy"].iloc[0]]:
        counts = scale.seeds if varies == "seeds" else variant.choose_counts(scale)
        for subject in scale.subjects:
            pairs = []
            for figure in iterate_figures(frame):
                if figure.subject != subject or not variant.covers(figure.measure):
                    continue
                if (count := getattr(figure, varies)) not in counts:
                    continue
                seeds = int(figure.seeds) if varies == "seeds" else 200
                ours = bench.estimate(variant.job(subject, int(figure.walks), seeds), figure.measure)
                pairs.append((figure, ours))
                rows.append(variant.make_row(figure, table, subject, f"{count:,} {varies}", ours=ours))
            rows += _build_mean_rows(table, variant, pairs, varies)
    return rows


def _build_mean_rows(table: str, variant: Variant, pairs: list[tuple[Any, OurFigure]], varies: str) -> Iterator[Row]:
    """Yield the means of a subject's rows; the published ones are computed from the printed figures."""
    for measure in dict.fromkeys(figure.measure for figure, _ in pairs):
        both = [(figure, ours) for figure, ours in pairs if figure.measure == measure]
        if measure == "runs" or len(both) < 2:
            continue
        first = both[0][0]._replace(published=compute_mean(figure.published for figure, _ in both), walks=math.nan)
        ours = average_figures(ours for _, ours in both)
        yield variant.make_row(first, table, first.subject, f"mean over {varies}", ours=ours)


def build_summary_table(table: str, bench: Workbench) -> list[Row]:
    """Build a table of means over numbers of walks, per subject and strategy, and over all subjects."""
    rows: list[Row] = []
    for figure, subjects in _iterate_subjects(table, bench):
        for variant in VARIANTS[table, figure.strategy]:
            if not variant.covers(figure.measure):
                continue
            counts = variant.choose_counts(bench.scale)
            ours = average_figures(
                average_figures(bench.estimate(variant.job(subject, walks), figure.measure) for walks in counts)
                for subject in subjects
            )
            notes = [describe_part(counts, 6, "numbers of walks"), _describe_subjects(figure, subjects)]
            rows.append(variant.make_row(figure, table, figure.subject, figure.strategy, ours=ours, notes=notes))
    return rows


def build_speed_table(table: str, bench: Workbench) -> list[Row]:
    """Build the table of pairs per second, per subject and strategy, with averages."""
    rows: list[Row] = []
    for figure, subjects in _iterate_subjects(table, bench):
        strategies = (figure.strategy,) if figure.strategy else ("directed_walk", "random_target", "random_walk")
        ours = average_figures(
            bench.estimate(Variant(strategy).job(subject, 1000), "pairs per second")
            for subject in subjects
            for strategy in strategies
        )
        column, notes = DISPLAY_NAMES.get(figure.strategy, "average"), [MACHINE_NOTE, NATIVE_MOVES_NOTE]
        notes.append(_describe_subjects(figure, subjects))
        rows.append(make_row(figure, table, figure.subject, ours=ours, column=column, notes=notes))
    return rows


def _iterate_subjects(table: str, bench: Workbench) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield the figures within the scale, each with the subjects that it is about."""
    for figure in iterate_figures(published(table)):
        subjects = bench.scale.subjects if figure.subject == "all" else (figure.subject,)
        if set(subjects) <= set(bench.scale.subjects):
            yield figure, subjects


def _describe_subjects(figure: Any, subjects: tuple[str, ...]) -> str:
    return describe_part(subjects, SUBJECT_COUNT, "subjects") if figure.subject == "all" else ""
