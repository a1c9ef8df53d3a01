"""The tables of the three case studies: sixteen models each of wines, mushrooms and customers."""

from __future__ import annotations

import math
import statistics
from typing import Any

from ..data.learners import REFERENCE_MODELS
from .coded_classifiers import MACHINE
from .explorations import Exploration, Training
from .published import published
from .rows import WORDS, Row, figures, finite, mean, part_of, row_of
from .workload import Bench

#: directions: Tables 17, 21 and 25 count a directed walk for each row and direction, the others for each row
WAYS = {"red_wine": 22, "mushroom": 44, "bank_churners": 38}
MODELS = len(REFERENCE_MODELS)
#: which tables hold cost and capability of a data set's models
PAIRS_OF_TABLES = {
    "red_wine": ("000-16", "000-17"),
    "mushroom": ("000-20", "000-21"),
    "bank_churners": ("000-24", "000-25"),
}
FAULT_MODELS = ("KNN", "SVM", "DT", "LR", "NB")


def _counts(bench: Bench, strategy: str) -> tuple[int, ...]:
    return bench.scale.rows if strategy == "directed_walk" else bench.scale.targets


def _over(bench: Bench, strategy: str, data: str, subject: str, measure: str) -> list[float]:
    """Return a measure of a model for every number of walks."""
    jobs = (Exploration(strategy, subject, data, walks) for walks in _counts(bench, strategy))
    return [bench.figure(job, measure) for job in jobs]


def _stat(values: list[float], kind: str) -> float:
    if kind == "total":
        return math.fsum(values)
    kept = finite(values)
    if not kept:  # no pair at all, or nothing known yet
        return math.inf if values and math.isinf(values[0]) else math.nan
    if kind == "stdev":
        return statistics.stdev(kept) if len(kept) > 1 else math.nan
    if kind == "mean":
        return mean(kept)
    return max(kept) if kind == "max" else min(kept)


def by_model(table: str, bench: Bench) -> list[Row]:
    """Return a table with a row for each strategy, model and number of walks, and their totals or means."""
    rows = [_cell(table, figure, bench) for figure in figures(published(table))]
    return [row for row in rows if row is not None]


def means(data: str, bench: Bench) -> list[Row]:
    """Return the mean cost and capability of each model; where theirs is cut off, the mean of what is printed."""
    rows: list[Row] = []
    for table in PAIRS_OF_TABLES[data]:
        frame = published(table)
        for (_, subject), group in frame.groupby(["strategy", "subject"], sort=False):
            if subject not in bench.scale.models:
                continue
            printed = [f for f in figures(group) if f.measure.endswith(" mean")]
            if printed:
                made = _cell(table, printed[0], bench)
            else:
                first = figures(group)[0]
                whole = first._replace(
                    walks=math.nan, measure=f"{first.measure} mean", published=mean(group["published"])
                )
                made = _cell(table, whole, bench)
                cut = f"Theirs is the mean of the {len(group)} legible figures: the table's own is cut off."
                made = made and made._replace(note=f"{made.note} {cut}".strip())
            if made is not None:
                rows.append(made)
    return rows


def _cell(table: str, figure: Any, bench: Bench) -> Row | None:
    """Return a figure of a model beside ours, or nothing where the scale leaves it out."""
    if figure.subject not in bench.scale.models:
        return None
    counts = _counts(bench, figure.strategy)
    measure, _, kind = figure.measure.partition(" ")
    if kind:  # over the numbers of walks
        whole = len(counts) == 10
        if (kind == "total" and not whole) or (kind == "stdev" and len(counts) < 2):
            return None
        ours = _stat(_over(bench, figure.strategy, figure.data, figure.subject, measure), kind)
        noun = "numbers of rows" if figure.strategy == "directed_walk" else "numbers of walks"
        return row_of(
            figure, table, figure.strategy, figure.subject, kind, ours=ours, column=measure,
            notes=[part_of(counts, 10, noun)],
        )  # fmt: skip
    walks = int(figure.walks)
    if figure.strategy == "directed_walk" and measure == "capability":
        walks = round(walks / WAYS[figure.data] / 100) * 100  # Table 21 prints 4000 for 44 x 100
    if walks not in counts:
        return None
    noun = "rows, every way" if figure.strategy == "directed_walk" else "walks"
    job = Exploration(figure.strategy, figure.subject, figure.data, walks)
    return row_of(
        figure, table, figure.strategy, figure.subject, f"{walks:,} {noun}", ours=bench.figure(job, measure)
    )


def overall(table: str, bench: Bench, data: str = "") -> list[Row]:
    """Return Table 4: the extremes and the means of the models' means, and the mean of their deviations."""
    rows: list[Row] = []
    models = bench.scale.models
    for figure in figures(published(table)):
        if data and figure.data != data:
            continue
        measure, _, kind = figure.measure.partition(" ")
        counts = _counts(bench, figure.strategy)
        if kind == "stdev" and len(counts) < 2:
            continue
        inner = "stdev" if kind == "stdev" else "mean"
        each = [_stat(_over(bench, figure.strategy, figure.data, model, measure), inner) for model in models]
        ours = _stat(each, "mean" if kind == "stdev" else kind)
        notes = [part_of(models, MODELS, "models")]
        rows.append(row_of(figure, table, figure.data, figure.strategy, ours=ours, notes=notes))
    return rows


def speed(table: str, bench: Bench) -> list[Row]:
    """Return Tables 6 and 7: pairs a second, or the seconds that finding none takes."""
    frame = published(table)
    printed = {(f.strategy, f.data, f.subject) for f in figures(frame) if f.strategy and f.subject != "all"}
    slow = set() if "Stack1" in bench.scale.models else {"Stack1", "SV", "HV", "SVM"}
    timed = table == "000-7" and bench.scale.targets[-1] == 1000  # no rate: as many walks as published
    rows: list[Row] = []
    for figure in figures(frame):
        whole = [
            place for place in printed
            if figure.subject in (place[2], "all") and figure.strategy in (place[0], "")
            and figure.data in (place[1], "")
        ]  # fmt: skip
        used = sorted(place for place in whole if not _left_out(place, slow, timed))
        if not used:
            continue
        ours = mean(
            bench.figure(
                Exploration(strategy, subject, data, _timed_walks(bench, strategy, timed)), figure.measure
            )
            for strategy, data, subject in used
        )
        notes = [MACHINE]
        if figure.strategy == "directed_walk" and not timed and bench.scale.rows[-1] < 1000:
            notes.append(f"Ours is from {bench.scale.rows[-1]} rows, every way, instead of 1,000.")
        if len(used) < len(whole):
            notes.append(f"Ours is over {len(used)} of {len(whole)} figures: without {', '.join(sorted(slow))}.")
        where = ", ".join(WORDS[each] for each in (figure.data, figure.strategy) if each) or "average"
        rows.append(row_of(figure, table, figure.subject, ours=ours, column=where, notes=notes))
    return rows


def _left_out(place: tuple[str, str, str], slow: set[str], timed: bool) -> bool:
    strategy, _, subject = place
    return subject in slow and not (timed and strategy != "directed_walk")


def _timed_walks(bench: Bench, strategy: str, timed: bool) -> int:
    return 1000 if timed else _counts(bench, strategy)[-1]


def accuracy(table: str, bench: Bench) -> list[Row]:
    """Return Table 13: how accurate the models are."""
    rows: list[Row] = []
    for figure in figures(published(table)):
        if figure.subject in bench.scale.models:
            ours = bench.figure(Training(figure.subject, figure.data), figure.measure)
            notes = [MACHINE.replace("one case at a time in Java", "in Python").split(";")[0] + "."]
            rows.append(
                row_of(
                    figure, table, figure.data, figure.subject, ours=ours,
                    notes=notes if figure.measure == "seconds" else ["Ours is measured in the same way."]
                    if figure.measure == "test accuracy" or figure.subject.endswith("2") else [],
                )
            )  # fmt: skip
    return rows


def fault(table: str, bench: Bench) -> list[Row]:
    """Return the capability of random target on wines with the midpoint as it should be and as it was."""
    wanted = [model for model in FAULT_MODELS if model == "KNN" or bench.scale.targets[-1] == 1000]
    walks = bench.scale.targets[-1]
    rows: list[Row] = []
    for figure in figures(published(table)):
        if (figure.strategy, figure.measure) != (
            "random_target",
            "capability mean",
        ) or figure.subject not in wanted:
            continue
        right = Exploration("random_target", figure.subject, figure.data, walks)
        faulty = Exploration("random_target", figure.subject, figure.data, walks, faulty=True)
        for column, ours, note in (
            ("capability, right midpoint", bench.figure(right, "capability"), ""),
            (
                "capability, faulty midpoint",
                50 * bench.figure(faulty, "new cases") / walks,
                "Ours counts the cases that refinement made: with the faulty midpoint many pairs keep a seed as an end.",
            ),
            (
                "capability, faulty midpoint, new pairs",
                100 * bench.figure(faulty, "new pairs") / walks,
                "Ours counts the pairs of which neither end is a seed.",
            ),
        ):
            rows.append(row_of(figure, table, figure.subject, ours=ours, column=column, notes=[note]))
    return rows
