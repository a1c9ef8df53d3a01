"""The tables of the ten coded classifiers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from .causes import Change, Estimates, estimate_both
from .explorations import Exploration
from .intervals import average_figures
from .published import Kind, published
from .rows import DISPLAY_NAMES, OurFigure, Row, compute_mean, describe_part, iterate_figures, make_row
from .workload import Scale, Workbench

SUBJECT_COUNT = 10
MACHINE_NOTE = "Published: one case at a time in Java on a Xeon E3-1230 v5, 3.4 GHz. Ours: all walks in lock-step, on this machine."
NATIVE_MOVES_NOTE = (
    "Ours takes the space's own moves; the same subjects as test systems, with moves on frames, are slower."
)


class WalkReading(NamedTuple):
    """How the explorations of a table are read."""

    strategy: str
    pool: str = "fixed"

    def job(self, subject: str, walks: int, seeds: int = 200) -> Exploration:
        """Return the exploration. A directed walk starts from every seed once."""
        directed = self.strategy == "directed_walk"
        return Exploration(self.strategy, subject, "", walks, walks if directed else seeds, self.pool)

    def choose_counts(self, scale: Scale) -> tuple[int, ...]:
        """Return the numbers of walks."""
        return scale.growing if self.pool == "growing" else scale.walks


GROWING_DOCUMENT = "001"  # whose pools grow


def _choose_reading(table: str, strategy: str) -> WalkReading:
    growing = strategy == "random_walk" and table.startswith(GROWING_DOCUMENT)
    return WalkReading(strategy, "growing" if growing else "fixed")


SEEDS_VARY = ("001-3", "000-11")


def build_walks_table(table: str, bench: Workbench) -> list[Row]:
    """Build a table with a row per subject and number of walks (or seeds), and their means."""
    frame = published(table)
    scale = bench.scale
    varies = "seeds" if table in SEEDS_VARY else "walks"
    rows: list[Row] = []
    reading = _choose_reading(table, frame["strategy"].iloc[0])
    counts = scale.seeds if varies == "seeds" else reading.choose_counts(scale)
    for subject in scale.subjects:
        pairs: list[tuple[Any, Estimates]] = []
        for figure in iterate_figures(frame):
            if figure.subject != subject or (count := getattr(figure, varies)) not in counts:
                continue
            job = reading.job(subject, int(figure.walks), int(figure.seeds) if varies == "seeds" else 200)
            estimates = estimate_both(figure, table, bench, partial(_estimate_changed, bench, [job], figure.measure))
            pairs.append((figure, estimates))
            rows.append(make_row(figure, table, subject, f"{count:,} {varies}", **estimates))
        rows += _build_mean_rows(table, pairs, varies)
    return rows


def _estimate_changed(bench: Workbench, jobs: list[Exploration], measure: str, change: Change) -> OurFigure:
    """Return the mean of a measure over changed jobs."""
    return average_figures(bench.estimate(change(job), measure) for job in jobs)


def _build_mean_rows(table: str, pairs: list[tuple[Any, Estimates]], varies: str) -> Iterator[Row]:
    """Yield the means of a subject's rows; the published ones are computed from the printed figures."""
    for measure in dict.fromkeys(figure.measure for figure, _ in pairs):
        both = [(figure, estimates) for figure, estimates in pairs if figure.measure == measure]
        if measure == "runs" or len(both) < 2:
            continue
        first = both[0][0]._replace(published=compute_mean(figure.published for figure, _ in both), walks=math.nan)
        causes = both[0][1]["with_cause"]
        yield make_row(
            first,
            table,
            first.subject,
            f"mean over {varies}",
            ours=average_figures(estimates["ours"] for _, estimates in both),
            with_cause={
                cause: average_figures(estimates["with_cause"][cause] for _, estimates in both) for cause in causes
            },
        )


def build_summary_table(table: str, bench: Workbench) -> list[Row]:
    """Build a table of means over numbers of walks, per subject and strategy, and over all subjects."""
    rows: list[Row] = []
    for figure, subjects in _iterate_subjects(table, bench):
        reading = _choose_reading(table, figure.strategy)
        counts = reading.choose_counts(bench.scale)
        jobs = [reading.job(subject, walks) for subject in subjects for walks in counts]
        estimates = estimate_both(figure, table, bench, partial(_estimate_changed, bench, jobs, figure.measure))
        parts = [describe_part(counts, 6, "numbers of walks"), _describe_subjects(figure, subjects)]
        rows.append(make_row(figure, table, figure.subject, figure.strategy, notes=parts, part=any(parts), **estimates))
    return rows


def build_speed_table(table: str, bench: Workbench) -> list[Row]:
    """Build the table of pairs per second, per subject and strategy, with averages."""
    rows: list[Row] = []
    for figure, subjects in _iterate_subjects(table, bench):
        strategies = (figure.strategy,) if figure.strategy else ("directed_walk", "random_target", "random_walk")
        ours = average_figures(
            bench.estimate(WalkReading(strategy).job(subject, 1000), "pairs per second")
            for subject in subjects
            for strategy in strategies
        )
        column, notes = DISPLAY_NAMES.get(figure.strategy, "average"), [MACHINE_NOTE, NATIVE_MOVES_NOTE]
        notes.append(_describe_subjects(figure, subjects))
        row = make_row(figure, table, figure.subject, ours=ours, column=column, notes=notes, kinds=[Kind.MACHINE])
        rows.append(row)
    return rows


def _iterate_subjects(table: str, bench: Workbench) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield the figures within the scale, each with the subjects that it is about."""
    for figure in iterate_figures(published(table)):
        subjects = bench.scale.subjects if figure.subject == "all" else (figure.subject,)
        if set(subjects) <= set(bench.scale.subjects):
            yield figure, subjects


def _describe_subjects(figure: Any, subjects: tuple[str, ...]) -> str:
    return describe_part(subjects, SUBJECT_COUNT, "subjects") if figure.subject == "all" else ""
