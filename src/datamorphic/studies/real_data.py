"""The tables of the three case studies: sixteen models each of wines, mushrooms and customers."""

from __future__ import annotations

import math
import statistics
from functools import partial
from typing import Any

from ..data.learners import REFERENCE_MODELS, reference_space
from ..data.sets import TARGET, load
from ..space.features import Categorical, Continuous, Integer
from .causes import Change, estimate_both, leave_unchanged
from .coded_classifiers import MACHINE_NOTE
from .explorations import Exploration, ModelTraining
from .intervals import average_figures
from .published import Kind, published
from .rows import DISPLAY_NAMES, OurFigure, Row, compute_mean, describe_part, iterate_figures, make_row
from .workload import Workbench

CLASSES_NOTE = "The grades of the wines in the file go from 3 to 8: six classes."
#: directions per data set: Tables 17, 21 and 25 count directed walks per row and direction, the others per row
DIRECTION_COUNTS = {"red_wine": 22, "mushroom": 44, "bank_churners": 38}
MODEL_COUNT = len(REFERENCE_MODELS)
#: which tables hold cost and capability of a data set's models
PAIRS_OF_TABLES = {
    "red_wine": ("000-16", "000-17"),
    "mushroom": ("000-20", "000-21"),
    "bank_churners": ("000-24", "000-25"),
}
FAULT_MODELS = ("KNN", "SVM", "DT", "LR", "NB")


def _choose_counts(bench: Workbench, strategy: str) -> tuple[int, ...]:
    return bench.scale.rows if strategy == "directed_walk" else bench.scale.targets


def _measure_all_counts(
    bench: Workbench, strategy: str, data: str, subject: str, measure: str, change: Change = leave_unchanged
) -> list[OurFigure]:
    """Return a measure of a model for every number of walks."""
    jobs = (Exploration(strategy, subject, data, walks) for walks in _choose_counts(bench, strategy))
    return [bench.estimate(change(job), measure) for job in jobs]


def compute_statistic(figures: list[OurFigure], kind: str) -> OurFigure:
    """Return a statistic with its interval; extremes have that of one of the figures."""
    mean = average_figures(figures)
    if kind == "total":
        return mean.times(len(figures))._replace(value=math.fsum(figure.value for figure in figures))
    if kind == "mean" or not math.isfinite(mean.value):  # no pair at all, or not measured yet
        return mean
    finite_figures = [figure for figure in figures if math.isfinite(figure.value)]
    if kind == "stdev":
        return _compute_deviation(finite_figures)
    return max(finite_figures) if kind == "max" else min(finite_figures)


def _compute_deviation(figures: list[OurFigure]) -> OurFigure:
    """Return the standard deviation of figures, with its interval by the delta method."""
    if len(figures) < 2:
        return OurFigure(math.nan)
    values = [figure.value for figure in figures]
    mean, deviation = statistics.fmean(values), statistics.stdev(values)
    slopes = [(value - mean) / ((len(values) - 1) * deviation) if deviation else 0.0 for value in values]
    margin, printed_margin = (
        math.hypot(*(slope * width for slope, width in zip(slopes, widths, strict=True)))
        for widths in zip(*((figure.margin, figure.printed_margin) for figure in figures), strict=True)
    )
    return OurFigure(deviation, margin, math.fsum(figure.trials for figure in figures), printed_margin)


def build_model_table(table: str, bench: Workbench) -> list[Row]:
    """Build a table with a row per strategy, model and number of walks, and their totals or means."""
    rows = [_build_cell(table, figure, bench) for figure in iterate_figures(published(table))]
    return [row for row in rows if row is not None]


def build_mean_table(data: str, bench: Workbench) -> list[Row]:
    """Build the table of mean cost and capability per model; where the print is cut off, of the legible figures."""
    rows: list[Row | None] = []
    for table in PAIRS_OF_TABLES[data]:
        for _, group in published(table).groupby(["strategy", "subject"], sort=False):
            figures = iterate_figures(group)
            printed = [figure for figure in figures if figure.measure.endswith(" mean")]
            if printed:
                rows.append(_build_cell(table, printed[0], bench))
                continue
            mean, measure = compute_mean(group["published"]), f"{figures[0].measure} mean"
            row = _build_cell(table, figures[0]._replace(walks=math.nan, measure=measure, published=mean), bench)
            cut = f"The published value is the mean of the {len(group)} legible figures, because the mean in the table is cut off."
            rows.append(row and row._replace(note=f"{row.note} {cut}".strip()))
    return [row for row in rows if row is not None]


def _build_cell(table: str, figure: Any, bench: Workbench) -> Row | None:
    """Return a published figure of a model beside ours, or None if the scale leaves it out."""
    if figure.subject not in bench.scale.models:
        return None
    counts = _choose_counts(bench, figure.strategy)
    measure, _, kind = figure.measure.partition(" ")
    if kind:  # over the numbers of walks
        if (kind == "total" and len(counts) != 10) or (kind == "stdev" and len(counts) < 2):
            return None
        note = describe_part(counts, 10, f"numbers of {'rows' if figure.strategy == 'directed_walk' else 'walks'}")

        def estimate_statistic(change: Change) -> OurFigure:
            values = _measure_all_counts(bench, figure.strategy, figure.data, figure.subject, measure, change)
            return compute_statistic(values, kind)

        estimates = estimate_both(figure, table, bench, estimate_statistic)
        place = (figure.strategy, figure.subject, kind)
        return make_row(figure, table, *place, column=measure, notes=[note], part=bool(note), **estimates)
    walks = int(figure.walks)
    if figure.strategy == "directed_walk" and measure == "capability":
        walks = round(walks / DIRECTION_COUNTS[figure.data] / 100) * 100  # Table 21 prints 4000 for 44 x 100
    if walks not in counts:
        return None
    noun = "rows, every way" if figure.strategy == "directed_walk" else "walks"
    job = Exploration(figure.strategy, figure.subject, figure.data, walks)
    estimates = estimate_both(figure, table, bench, lambda change: bench.estimate(change(job), measure))
    return make_row(figure, table, figure.strategy, figure.subject, f"{walks:,} {noun}", **estimates)


def build_overall_table(table: str, bench: Workbench, data: str = "") -> list[Row]:
    """Build Table 4: extremes and means of the models' means, and the mean of their deviations."""
    rows: list[Row] = []
    models = bench.scale.models
    for figure in iterate_figures(published(table)):
        if data and figure.data != data:
            continue
        kind = figure.measure.partition(" ")[2]
        counts = _choose_counts(bench, figure.strategy)
        if kind == "stdev" and len(counts) < 2:
            continue
        estimate = partial(_estimate_overall, bench, figure)
        notes = [describe_part(models, MODEL_COUNT, "models"), describe_part(counts, 10, "numbers of walks")]
        estimates = estimate_both(figure, table, bench, estimate)
        rows.append(make_row(figure, table, figure.data, figure.strategy, notes=notes, part=any(notes), **estimates))
    return rows


def _estimate_overall(bench: Workbench, figure: Any, change: Change) -> OurFigure:
    """Return a statistic over models of their means, or the mean of their deviations."""
    measure, _, kind = figure.measure.partition(" ")
    inner, outer = ("stdev", "mean") if kind == "stdev" else ("mean", kind)
    return compute_statistic(
        [
            compute_statistic(_measure_all_counts(bench, figure.strategy, figure.data, model, measure, change), inner)
            for model in bench.scale.models
        ],
        outer,
    )


def build_speed_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 6 or 7: pairs per second, or the seconds needed to find none."""
    frame = published(table)
    printed = {(f.strategy, f.data, f.subject) for f in iterate_figures(frame) if f.strategy and f.subject != "all"}
    slow = {model for _, _, model in printed} - set(bench.scale.models)
    timed = table == "000-7" and bench.scale.targets[-1] == 1000  # no rate: as many walks as published
    rows: list[Row] = []
    for figure in iterate_figures(frame):
        wanted = (figure.strategy, figure.data, "" if figure.subject == "all" else figure.subject)
        whole = [
            place for place in printed if all(value in (own, "") for own, value in zip(place, wanted, strict=True))
        ]
        used = sorted(
            (strategy, data, subject)
            for strategy, data, subject in whole
            if subject not in slow or (timed and strategy != "directed_walk")
        )
        if not used:
            continue
        ours = average_figures(
            bench.estimate(
                Exploration(strategy, subject, data, 1000 if timed else _choose_counts(bench, strategy)[-1]),
                figure.measure,
            )
            for strategy, data, subject in used
        )
        notes = [MACHINE_NOTE]
        if figure.strategy == "directed_walk" and not timed and bench.scale.rows[-1] < 1000:
            notes.append(f"Ours is from {bench.scale.rows[-1]} rows, every way, instead of 1,000.")
        if len(used) < len(whole):
            notes.append(f"Ours is over {len(used)} of {len(whole)} figures: without {', '.join(sorted(slow))}.")
        where = ", ".join(DISPLAY_NAMES[word] for word in (figure.data, figure.strategy) if word) or "average"
        row = make_row(figure, table, figure.subject, ours=ours, column=where, notes=notes, kinds=[Kind.MACHINE])
        rows.append(row)
    return rows


def build_data_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 2: the sizes of the data sets, and the kinds of their features as a space has them."""
    rows = []
    for figure in iterate_figures(published(table)):
        notes = [CLASSES_NOTE] if (figure.data, figure.measure) == ("red_wine", "classes") else []
        rows.append(make_row(figure, table, figure.data, ours=_measure_data(figure.data, figure.measure), notes=notes))
    return rows


def _measure_data(data: str, measure: str) -> float:
    frame = load(data)
    if measure == "records":
        return len(frame)
    if measure == "classes":
        return int(frame[TARGET].nunique())
    features = reference_space(data, frame).features
    if measure == "features":
        return len(features)
    kinds = {"discrete features": Categorical, "numeric features": Integer, "continuous features": Continuous}
    return sum(isinstance(feature, kinds[measure]) for feature in features)


def build_accuracy_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 13: the accuracy of the models."""
    rows: list[Row] = []
    for figure in iterate_figures(published(table)):
        if figure.subject in bench.scale.models:
            ours = bench.estimate(ModelTraining(figure.subject, figure.data), figure.measure)
            note, kinds = "", []
            if figure.measure == "seconds":
                kinds = [Kind.MACHINE]
                note = MACHINE_NOTE.replace("one case at a time in Java", "in Python").split(";")[0] + "."
            elif figure.measure == "test accuracy" or figure.subject.endswith("2"):
                note = "Ours is measured in the same way."
            rows.append(make_row(figure, table, figure.data, figure.subject, ours=ours, notes=[note], kinds=kinds))
    return rows


def build_fault_table(table: str, bench: Workbench) -> list[Row]:
    """Build the table of capabilities of random target on wines, with the correct and the faulty midpoint."""
    wanted = [model for model in FAULT_MODELS if model == "KNN" or bench.scale.targets[-1] == 1000]
    walks = bench.scale.targets[-1]
    rows: list[Row] = []
    for figure in iterate_figures(published(table)):
        if (figure.strategy, figure.measure) != ("random_target", "capability mean") or figure.subject not in wanted:
            continue
        right = Exploration("random_target", figure.subject, figure.data, walks)
        faulty = Exploration("random_target", figure.subject, figure.data, walks, faulty=True)
        for column, ours, note in (
            ("capability, right midpoint", bench.estimate(right, "capability"), ""),
            (
                "capability, faulty midpoint",
                bench.estimate(faulty, "new cases").times(50 / walks),
                "Ours counts the cases that refinement made: with the faulty midpoint many pairs leave_unchanged a seed as an end.",
            ),
            (
                "capability, faulty midpoint, new pairs",
                bench.estimate(faulty, "new pairs").times(100 / walks),
                "Ours counts the pairs of which neither end is a seed.",
            ),
        ):
            rows.append(make_row(figure, table, figure.subject, ours=ours, column=column, notes=[note]))
    return rows
