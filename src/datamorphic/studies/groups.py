"""Generators of groups on mutants: Tables 5, 7 and 11 to 13 of Ying (2024)."""

from __future__ import annotations

import math
from functools import partial

from .._stats import Z_95
from .._text import pluralise
from .causes import Change, estimate_both
from .group_spreads import Spreading, Timing
from .group_trials import (
    SLOW,
    Hunting,
    compute_effect,
    compute_p_value,
    compute_ratio,
    describe_censored,
    limit_budget,
    limit_trials,
)
from .intervals import estimate_share
from .published import Kind, published
from .rows import OurFigure, Row, iterate_figures, make_row
from .stand_in_mutants import (
    KINDS,
    NO_STAND_IN_NOTE,
    RELATIONS,
    StandIn,
    choose_stand_ins_for_table,
    find_region_kinds,
    parse_subject,
)
from .workload import Scale, Workbench

CENSORED_NOTE = "Where trials were ended, the effect is not computed, as published: see the share of ended trials."
BUDGET_NOTE = (
    "In print trials were ended after 100,000 groups; ours of MT-ART-Max and MT-ART-Avg, which are fewer, after {:,}: "
    "5,000 groups take about 20 s, and 100,000 would take hours, because the time grows with the square."
)
CELLS_NOTE = "Over 1,000 equal cells of the domain, to which the figures in print correspond."
SETS_NOTE = "Ours is the mean of {} of {:,} groups."
SECONDS_NOTE = "Seconds for 10,000 groups on this machine; without the time to compile, if numba is installed."
REGION_KIND_NOTE = (
    "Table 11 names no kinds of regions: where MT-IPART beats MT-RT by more than 0.1, a block is assumed."
)
RANDOM_GENERATOR = "MT-RT"
TIMED_GROUPS, FEWER_TIMED_GROUPS = 10_000, 500  # as published, and where that would take too long
TIMED_GENERATORS = ("SFIDMT-ART", "MT-ART-Min", *SLOW)
TABLE_12_NOTE = "The published value is that of Table 12; those of Figure 13 are only in its image."
EXTRAPOLATED_NOTE = "Ours is from {:,} groups, and the time grows with the square of their number."
MIN_REAL_TRIALS = 50  # trials: fewer are only a quick try
QUICK_PROGRAMS = ("Sin", "tanh")  # programs of a quick try


def choose_programs(scale: Scale) -> tuple[str, ...]:
    """Return the programs of a scale: two for a quick try."""
    return QUICK_PROGRAMS if scale.trials < MIN_REAL_TRIALS else tuple(program for program, _ in RELATIONS.values())


def _make_hunting_job(scale: Scale, stand_in: StandIn, name: str, generator: str) -> Hunting:
    program, relation = RELATIONS[name]
    trials, budget = limit_trials(scale, stand_in.rate, generator, program), limit_budget(scale, generator, program)
    return Hunting(program, stand_in.mutant, relation, generator, trials, budget, stand_in.rate)


def build_effect_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 5 or 11: effect sizes between generators, with further figures of ours."""
    stand_ins, rows, last = choose_stand_ins_for_table(table), [], ""
    for figure in iterate_figures(published(table)):
        program, _ = parse_subject(figure.subject)
        if figure.measure in KINDS or program not in choose_programs(bench.scale):
            continue
        stand_in = stand_ins[figure.subject]
        texts = (
            figure.subject,
            find_region_kinds(table).get(figure.subject),
            f"ours {stand_in.mutant if stand_in else 'none'}",
        )
        label = ", ".join(filter(None, texts))
        column = f"{figure.strategy}, {'d' if figure.measure == 'effect size' else 'p'}"
        if figure.subject != last:
            rows += _build_extra_rows(bench, figure.data, label, stand_in, find_compared_generators(table))
            last = figure.subject
        if stand_in is None:
            rows.append(make_row(figure, table, label, column=column, ours=math.nan, notes=[NO_STAND_IN_NOTE]))
            continue
        pair = [
            _make_hunting_job(bench.scale, stand_in, figure.data, generator)
            for generator in figure.strategy.split(" vs ")
        ]
        ours = (compute_p_value if figure.measure == "p-value" else compute_effect)(bench, *pair)
        notes = [
            stand_in.note,
            *describe_censored(bench, *pair),
            CENSORED_NOTE if table == "002-5" else REGION_KIND_NOTE,
        ]
        notes += [BUDGET_NOTE.format(limit_budget(bench.scale, name)) for name in SLOW if name in figure.strategy][:1]
        rows.append(make_row(figure, table, label, column=column, ours=ours, notes=notes, kinds=stand_in.kinds))
    return rows


def find_compared_generators(table: str) -> list[str]:
    """Return the generators that a table of effects compares."""
    pairs = [pair.split(" vs ") for pair in published(table)["strategy"].unique() if pair]
    return list(dict.fromkeys(name for pair in pairs for name in pair))


def _build_extra_rows(
    bench: Workbench, name: str, label: str, stand_in: StandIn | None, generators: list[str]
) -> list[Row]:
    """Return unpublished figures: the rate of our mutant, F-measures and their ratios to random testing, ended trials."""
    if stand_in is None:
        return []
    jobs = {generator: _make_hunting_job(bench.scale, stand_in, name, generator) for generator in generators}
    rows = [Row(label, "our rate, %", math.nan, 100 * stand_in.rate)]
    for generator, job in jobs.items():
        rows.append(_estimate_f_measure(bench, job).to_row(label, f"{generator}, F"))
        if generator != RANDOM_GENERATOR:
            rows.append(compute_ratio(bench, job, jobs[RANDOM_GENERATOR]).to_row(label, f"{generator}, F-ratio %"))
        if generator in SLOW:
            ended = estimate_share(bench.figure(job, "censored") * job.trials / 100, job.trials)
            rows.append(ended.to_row(label, f"{generator}, ended %"))
    return rows


def _estimate_f_measure(bench: Workbench, job: Hunting) -> OurFigure:
    """Return the mean number of groups until a violation."""
    mean, sd, trials = (bench.figure(job, measure) for measure in ("mean", "sd", "trials"))
    return OurFigure(mean, Z_95 * sd / math.sqrt(trials), trials)


def build_spread_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 7 or 13: dispersion and discrepancy."""
    rows, groups = [], 1000 if bench.scale.trials >= MIN_REAL_TRIALS else 100
    for figure in iterate_figures(published(table)):
        program, relation = RELATIONS[figure.subject]
        if program in choose_programs(bench.scale):
            trials = count_spread_trials(bench.scale, figure.strategy)
            job = Spreading(program, relation, figure.strategy, trials, groups)
            notes = [SETS_NOTE.format(pluralise(job.trials, "set"), groups)]
            notes += [CELLS_NOTE] if figure.measure.startswith("discrepancy") else []
            estimates = estimate_both(figure, table, bench, partial(_estimate_spread, bench, job, figure.measure))
            rows.append(make_row(figure, table, figure.subject, figure.strategy, notes=notes, **estimates))
    return rows


def _estimate_spread(bench: Workbench, job: Spreading, measure: str, change: Change) -> OurFigure:
    return bench.estimate(change(job), measure)


def count_spread_trials(scale: Scale, generator: str) -> int:
    """Return the number of sets of 1,000 groups."""
    return min(scale.trials, max(1, scale.trials // (250 if generator in SLOW else 50)))


def build_time_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 12: seconds to generate 10,000 groups."""
    rows = []
    for figure in iterate_figures(published(table)):
        program, relation = RELATIONS[figure.subject]
        if program in choose_programs(bench.scale):
            groups = _count_timed_groups(bench.scale, figure.strategy)
            ours = bench.figure(Timing(program, relation, figure.strategy, groups), "generation")
            column, kinds = f"{figure.strategy}, s", [Kind.MACHINE]
            row = make_row(figure, table, figure.subject, column=column, ours=ours, notes=[SECONDS_NOTE], kinds=kinds)
            rows.append(row)
    return rows


def build_generation_table(bench: Workbench) -> list[Row]:
    """Build the table of Figure 13: seconds to generate 10,000 groups by MT-ART and SFIDMT-ART, per relation of Table 5."""
    printed = {(f.strategy, RELATIONS[f.subject]): f.published for f in iterate_figures(published("002-12"))}
    rows = []
    for name in published("002-5")["data"].unique():
        program, relation = RELATIONS[name]
        if program not in choose_programs(bench.scale):
            continue
        for generator in TIMED_GENERATORS:
            groups = _count_timed_groups(bench.scale, generator)
            seconds = bench.figure(Timing(program, relation, generator, groups), "generation")
            if generator in SLOW:
                seconds *= (TIMED_GROUPS / groups) ** 2
            theirs = printed.get((generator, (program, relation)), math.nan)
            notes = [SECONDS_NOTE, "" if math.isnan(theirs) else TABLE_12_NOTE]
            notes += [EXTRAPOLATED_NOTE.format(groups)] if generator in SLOW and groups < TIMED_GROUPS else []
            note = " ".join(filter(None, notes))
            rows.append(OurFigure(seconds).to_row(name, f"{generator}, s", note, theirs, [Kind.MACHINE]))
    return rows


def _count_timed_groups(scale: Scale, generator: str) -> int:
    """Return how many groups are generated while the time is taken."""
    if scale.trials < MIN_REAL_TRIALS:
        return FEWER_TIMED_GROUPS // (10 if generator in SLOW else 1)
    return FEWER_TIMED_GROUPS if generator in SLOW and scale.mutants is not None else TIMED_GROUPS
