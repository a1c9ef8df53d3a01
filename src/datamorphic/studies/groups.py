"""Generators of groups on mutants: how soon they find violations, how evenly they lie, how long they take.

Tables 5, 7 and 11 to 13 of document 002.
"""

from __future__ import annotations

import math
from typing import Any

from .._text import pluralize
from .group_spreads import Spreading, Timing
from .group_trials import SLOW, Hunting, budget_of, effect, p_value, ratio, trials_of
from .published import published
from .rows import Row, figures, row_of
from .stand_in_mutants import KINDS, NONE, RELATIONS, StandIn, kinds_of, place_of, with_relation
from .workload import Bench, Scale

ENDED = "Where trials were ended, the effect is not computed, as published: see the share of ended trials."
CAP = "In print trials were ended after 100,000 groups; ours of MT-ART-Max and MT-ART-Avg, which are fewer, after {:,}."
CELLS = "Over 1,000 equal cells of the domain, to which the figures in print correspond."
SETS = "Ours is the mean of {} of {:,} groups."
SECONDS = "Seconds for 10,000 groups on this machine; compiled before, if numba is there."
BY_EFFECT = "Table 11 names no kinds of regions: where MT-IPART beats MT-RT by more than 0.1, a block is taken."
BASE = "MT-RT"
FEW = 50  # trials: with less it is a mere try
TINY = ("Sin", "tanh")  # programs of one


def subjects_of(scale: Scale) -> tuple[str, ...]:
    """Return the programs to compute with: for a mere try two."""
    return TINY if scale.trials < FEW else tuple(program for program, _ in RELATIONS.values())


def _hunting(scale: Scale, stand: StandIn, name: str, generator: str) -> Hunting:
    program, relation = RELATIONS[name]
    trials, budget = trials_of(scale, stand.rate, generator, program), budget_of(scale, generator, program)
    return Hunting(program, stand.mutant, relation, generator, trials, budget, stand.rate)


def effects(table: str, bench: Bench) -> list[Row]:
    """Return Table 5 or 11: effects of one generator against another, with what else there is to know of ours."""
    stands, rows, last = with_relation(table), [], ""
    frame = published(table)
    for figure in figures(frame):
        program, _ = place_of(figure.subject)
        if figure.measure in KINDS or program not in subjects_of(bench.scale):
            continue
        stand = stands[figure.subject]
        label = _label(figure, table, stand)
        if figure.subject != last:
            rows += _beside(bench, figure.data, label, stand, ways(table))
            last = figure.subject
        if stand is None:
            rows.append(row_of(figure, table, label, column=_column(figure), ours=math.nan, notes=[NONE]))
            continue
        pair = [_hunting(bench.scale, stand, figure.data, each) for each in figure.strategy.split(" vs ")]
        ours = (p_value if figure.measure == "p-value" else effect)(bench, *pair)
        notes = [stand.note, ENDED if table == "002-5" else BY_EFFECT, _cap(bench.scale, figure.strategy)]
        rows.append(row_of(figure, table, label, column=_column(figure), ours=ours, notes=notes))
    return rows


def ways(table: str) -> list[str]:
    """Return the generators that a table of effects compares."""
    pairs = [each.split(" vs ") for each in published(table)["strategy"].unique() if each]
    return list(dict.fromkeys(name for pair in pairs for name in pair))


def _cap(scale: Scale, pair: str) -> str:
    slow = [name for name in SLOW if name in pair]
    return CAP.format(budget_of(scale, slow[0])) if slow else ""


def _label(figure: Any, table: str, stand: StandIn | None) -> str:
    said = (figure.subject, kinds_of(table).get(figure.subject), f"ours {stand.mutant if stand else 'none'}")
    return ", ".join(each for each in said if each)


def _column(figure: Any) -> str:
    return f"{figure.strategy}, {'d' if figure.measure == 'effect size' else 'p'}"


def _beside(bench: Bench, name: str, label: str, stand: StandIn | None, generators: list[str]) -> list[Row]:
    """Return what is not in print: the rate of our mutant, F-ratios to random testing, shares of ended trials."""
    if stand is None:
        return []
    jobs = {each: _hunting(bench.scale, stand, name, each) for each in generators}
    rows = [
        Row(label, "our rate, %", math.nan, 100 * stand.rate),
        Row(label, "our trials", math.nan, jobs[BASE].trials),
    ]
    for each, job in jobs.items():
        if each != BASE:
            rows.append(Row(label, f"{each}, F-ratio %", math.nan, ratio(bench, job, jobs[BASE])))
        if each in SLOW:
            rows.append(Row(label, f"{each}, ended %", math.nan, bench.figure(job, "censored")))
    return rows


def spreads(table: str, bench: Bench) -> list[Row]:
    """Return Table 7 or 13: dispersion and discrepancy."""
    rows, groups = [], 1000 if bench.scale.trials >= FEW else 100
    for figure in figures(published(table)):
        program, relation = RELATIONS[figure.subject]
        if program in subjects_of(bench.scale):
            job = Spreading(
                program, relation, figure.strategy, spread_trials(bench.scale, figure.strategy), groups
            )
            notes = [SETS.format(pluralize(job.trials, "set"), groups)]
            notes += [CELLS] if figure.measure.startswith("discrepancy") else []
            ours = bench.figure(job, figure.measure)
            rows.append(row_of(figure, table, figure.subject, figure.strategy, ours=ours, notes=notes))
    return rows


def spread_trials(scale: Scale, generator: str) -> int:
    """Return how often 1,000 groups are made."""
    return min(scale.trials, max(1, scale.trials // (250 if generator in SLOW else 50)))


def times(table: str, bench: Bench) -> list[Row]:
    """Return Table 12: seconds to make 10,000 groups."""
    rows = []
    for figure in figures(published(table)):
        program, relation = RELATIONS[figure.subject]
        if program in subjects_of(bench.scale):
            groups = 10_000 if bench.scale.trials >= FEW else 500
            ours = bench.figure(Timing(program, relation, figure.strategy, groups), "generation")
            column = f"{figure.strategy}, s"
            rows.append(row_of(figure, table, figure.subject, column=column, ours=ours, notes=[SECONDS]))
    return rows
