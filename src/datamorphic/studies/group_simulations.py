"""Generators and selectors on simulated regions: Tables 6 and 9 of Ying (2024), and proposals it did not run."""

from __future__ import annotations

import math
from dataclasses import replace

from ..hunting.scenarios import SCENARIOS
from .group_spreads import InputTiming
from .group_trials import (
    CLASSIC,
    LEARNING,
    MAX_PAIRS_PER_TRIAL,
    MIN_TRIALS,
    ONE,
    THREE,
    TWO,
    Hunting,
    Selecting,
    SelectingSimulated,
    Simulating,
    compute_effect,
    compute_ratio,
    describe_censored,
    limit_budget,
    limit_trials,
)
from .groups import MIN_REAL_TRIALS
from .intervals import average_figures
from .published import Kind, published
from .rows import Row, iterate_figures, make_row
from .stand_in_mutants import KINDS, compute_rate, parse_relations
from .workload import Scale, Workbench

RATES = {"0.01": 0.01, "0.00": 0.005, "0.002": 0.002, "0.001": 0.001}  # as printed, and as they are
RATE, DIMENSION, BOXES = 0.005, 2, 50
RANDOM_GENERATOR = "MT-RT"
PROPOSED_GENERATORS = ("MT-RPART", "SFIDMT-BART")  # by Ying (2024), not run there
PUBLISHED_GENERATORS = (RANDOM_GENERATOR, "SFIDMT-ART", "MT-ART-Min", "MT-ART-Max", "MT-ART-Avg", "MT-BART", "MT-IPART")
QUASI_RANDOM_GENERATORS = ("Sobol", "Halton")
GROUP_GENERATORS = (*PUBLISHED_GENERATORS, *PROPOSED_GENERATORS, *QUASI_RANDOM_GENERATORS)
ALL_GENERATORS = (*PUBLISHED_GENERATORS, *PROPOSED_GENERATORS, *CLASSIC, "RRT", *QUASI_RANDOM_GENERATORS)
SELECTORS = (
    *("random", "MRGS-ART", "MRGS-ART-fair", "MRGS-ART+", "MRGS-IPART", "MRGS-IPART-fair", "MRGS-RPART"),
    *("MRGS-distance", "near-miss", "feedback"),
)
K = 3
MAX_TRIALS = 10_000  # trials, as in print
TRIAL_FACTOR = 2  # times the trials where single figures are compared
MUTANTS = (("emu10", "Table 5: mutant 3"), ("branch3.1", "Table 5: mutant 4"))

INPUT_COUNT_NOTE = "How many inputs the printed seconds are for is not stated; compare the generators with each other."
F_RATIO_NOTE = "The F-ratio is to 1 / rate, which random testing needs on average."
KNOWN_MUTANTS_NOTE = "Both mutants are known: emu = 10/epu, and |x| < 3.1 for the series."
FOLLOW_UP_DOMAIN_NOTE = (
    "With x2 = 3x the follow-up domain is three times as wide as that of the sources, and MT-ART-Min keeps both in one pool:"
    " see the picture of the page for where its sources lie."
)
PROPOSALS_NOTE = (
    "Ying (2024) proposes MT-RPART, SFIDMT-BART, MRGS-ART+, MRGS-IPART and MRGS-RPART, without running them."
)
NO_FEEDBACK_NOTE = "Selectors that learn are left out: simulated regions give them no feedback."
THREE_RELATIONS_NOTE = (
    "Three relations, 1-1, 1-2 and 1-3, each violated in turn on a hundredth of the domain: the mean."
)


def _make_simulating_job(
    scale: Scale, generator: str, region: str = "block", rate: float = RATE, scenario: str = "", share: float = 1.0
) -> Simulating:
    """Return a simulation with `share` times the default number of trials."""
    trials = limit_trials(replace(scale, groups=round(share * scale.groups)), rate, generator)
    budget = limit_budget(scale, generator)
    return Simulating(generator, region, rate, DIMENSION, trials, budget, scenario)


def _make_row(bench: Workbench, job: Simulating | SelectingSimulated, place: str, column: str, *notes: str) -> Row:
    """Return an unpublished F-ratio."""
    return bench.estimate(job, "F-ratio %").to_row(place, column, " ".join((*notes, *describe_censored(bench, job))))


# -- Table 9 ---------------------------------------------------------------------------------------------------


def build_classic_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 9: F-ratios of four generators of single inputs on blocks, with our intervals."""
    rows = []
    for figure in iterate_figures(published(table)):
        rate = RATES[figure.subject]
        fitting = round(6 * TRIAL_FACTOR * bench.scale.groups * rate)
        trials = max(MIN_TRIALS, min(MAX_TRIALS, TRIAL_FACTOR * bench.scale.trials, fitting))
        job = Simulating(figure.strategy, "block", rate, DIMENSION, trials, limit_budget(bench.scale, figure.strategy))
        place, column = f"block, rate {rate:g}", f"{figure.strategy}, F-ratio %"
        notes = [F_RATIO_NOTE, *describe_censored(bench, job)]
        rows.append(make_row(figure, table, place, column=column, ours=bench.estimate(job, "F-ratio %"), notes=notes))
    return rows


def build_classic_time_table(table: str, bench: Workbench) -> list[Row]:
    """Build Table 8: seconds of four generators of single inputs."""
    inputs = 10_000 if bench.scale.trials >= MIN_REAL_TRIALS else 1_000
    return [
        make_row(
            figure,
            table,
            f"{inputs:,} inputs in two dimensions",
            column=f"{figure.strategy}, s",
            ours=bench.figure(InputTiming(figure.strategy, inputs), "generation"),
            notes=[INPUT_COUNT_NOTE],
            kinds=[Kind.MACHINE],
        )
        for figure in iterate_figures(published(table))
    ]


def build_region_kind_table(bench: Workbench) -> list[Row]:
    """Build the table of all generators on all kinds of regions; at full scale for all rates."""
    full = bench.scale.trials >= MAX_TRIALS
    rows = []
    for generator in ALL_GENERATORS:
        for region in KINDS:
            for rate in RATES.values() if full else (RATE,):
                job = _make_simulating_job(bench.scale, generator, region, rate, share=2 * TRIAL_FACTOR)
                rows.append(_make_row(bench, job, generator, f"{region}, rate {rate:g}, F-ratio %"))
    return rows


# -- Table 6, and the two mutants of tanh -------------------------------------------------------------------------


def build_scenario_table(bench: Workbench) -> list[Row]:
    """Build the table of the thirteen scenarios of Table 6, which the thesis did not simulate."""
    rows = []
    for name in SCENARIOS if bench.scale.trials >= MIN_REAL_TRIALS else ("A2", "B1"):
        for generator in GROUP_GENERATORS:
            job = _make_simulating_job(bench.scale, generator, scenario=name, share=1.2)
            rows.append(_make_row(bench, job, name, f"{generator}, F-ratio %"))
    return rows


def build_known_mutant_table(bench: Workbench) -> list[Row]:
    """Build the table of generators on the two known mutants, with effect sizes beside those of Table 5."""
    effects = {
        (figure.subject, figure.strategy): figure
        for figure in iterate_figures(published("002-5"))
        if figure.measure == "effect size"
    }
    rows = []
    for mutant, place in MUTANTS:
        number = place.rpartition(" ")[2]
        jobs = {name: make_tanh_job(bench.scale, mutant, name) for name in GROUP_GENERATORS}
        label = f"{mutant} ({place.replace(': ', ', ')})"
        for name, job in jobs.items():
            notes = (
                KNOWN_MUTANTS_NOTE,
                FOLLOW_UP_DOMAIN_NOTE if name == "MT-ART-Min" else "",
                *describe_censored(bench, job, jobs[RANDOM_GENERATOR]),
            )
            if name != RANDOM_GENERATOR:
                ours = compute_ratio(bench, job, jobs[RANDOM_GENERATOR])
                rows.append(ours.to_row(label, f"{name}, F-ratio %", " ".join(filter(None, notes))))
        for name, job in jobs.items():
            figure = effects.get((f"tanh mutant {number}", f"SFIDMT-ART vs {name}"))
            ours, column = compute_effect(bench, jobs["SFIDMT-ART"], job), f"SFIDMT-ART vs {name}, d"
            if figure is not None:
                rows.append(make_row(figure, "002-5", label, column=column, ours=ours, notes=[KNOWN_MUTANTS_NOTE]))
            elif name not in (RANDOM_GENERATOR, "SFIDMT-ART"):
                rows.append(ours.to_row(label, column, KNOWN_MUTANTS_NOTE))
    return rows


def make_tanh_job(scale: Scale, mutant: str, generator: str) -> Hunting:
    """Return the job of a generator on a mutant of tanh, with more trials than where there are many mutants."""
    rate = compute_rate("tanh", mutant, ("tripling",))
    trials = limit_trials(replace(scale, groups=4 * TRIAL_FACTOR * scale.groups), rate, generator)
    return Hunting("tanh", mutant, "tripling", generator, trials, limit_budget(scale, generator), rate)


# -- what was proposed and never run, and what is new --------------------------------------------------------------

MIXED_RELATIONS = (ONE, TWO, THREE)
PROGRAM_RELATIONS = (("Sin", "Sin1-Sin7"), ("sncndn", "sncndn1-sncndn5"), ("TriSquarePlus", "TriPlus1-TriPlus7"))


def _choose_dimensions(scale: Scale) -> tuple[int, ...]:
    return (1, 2, 3) if scale.trials >= MIN_REAL_TRIALS else (DIMENSION,)


def build_new_generator_table(bench: Workbench) -> list[Row]:
    """Build the table of all generators of groups on blocks in one to three dimensions."""
    rows = []
    for dimension in _choose_dimensions(bench.scale):
        for name in GROUP_GENERATORS:
            job = _make_simulating_job(bench.scale, name)
            if dimension != DIMENSION:
                job = Simulating(name, "block", RATE, dimension, max(MIN_TRIALS, job.trials // 2), job.budget)
            rows.append(_make_row(bench, job, name, f"block, {dimension}-D, F-ratio %", PROPOSALS_NOTE, F_RATIO_NOTE))
    return rows


def build_new_selector_table(bench: Workbench) -> list[Row]:
    """Build the table of all selectors: one of three relations violated in one to three dimensions, and mutants."""
    scale, rows = bench.scale, []
    for name in [selector for selector in SELECTORS if selector not in LEARNING]:
        for dimension in _choose_dimensions(scale):
            jobs = [
                _make_selecting_job(scale, name, MIXED_RELATIONS, violating, dimension)
                for violating in range(len(MIXED_RELATIONS))
            ]
            ours = average_figures(bench.estimate(job, "F-ratio %") for job in jobs)
            notes = (PROPOSALS_NOTE, THREE_RELATIONS_NOTE, NO_FEEDBACK_NOTE, *describe_censored(bench, *jobs))
            rows.append(ours.to_row(name, f"block, {dimension}-D, F-ratio %", " ".join(notes)))
    for program, names in PROGRAM_RELATIONS if scale.trials >= MIN_REAL_TRIALS else PROGRAM_RELATIONS[:1]:
        relations = parse_relations(names)
        mutant = choose_moderate_mutant(program, relations)
        budget = limit_budget(scale, "", max_groups=MAX_PAIRS_PER_TRIAL)
        jobs_by_name = {
            name: Selecting(program, mutant, relations, name, K, scale.trials, budget, scale.groups)
            for name in SELECTORS
        }
        column = f"{program} {mutant}, {names}, F-ratio %"
        for name, job in jobs_by_name.items():
            note = " ".join((PROPOSALS_NOTE, *describe_censored(bench, job)))
            rows.append(compute_ratio(bench, job, jobs_by_name["random"]).to_row(name, column, note))
    return rows


def choose_moderate_mutant(program: str, relations: tuple[str, ...]) -> str:
    """Return the mutant whose mean violation rate is nearest to the default rate."""
    from ..data.programs import programs

    rates = {mutant: compute_rate(program, mutant, relations) for mutant in programs[program].mutants}
    return min((mutant for mutant in rates if rates[mutant]), key=lambda mutant: abs(math.log(rates[mutant] / RATE)))


def _make_selecting_job(
    scale: Scale, name: str, relations: tuple[str, ...], violating: int, dimension: int
) -> SelectingSimulated:
    """Return the simulation of a selector with as many groups as that of a generator."""
    rate, budget = 2 * RATE, limit_budget(scale, "", max_groups=MAX_PAIRS_PER_TRIAL)
    trials = limit_trials(scale, rate / len(relations))
    return SelectingSimulated(name, relations, violating, "block", rate, dimension, K, trials, budget)


STARVATION_NOTE = (
    "One violated relation with one follow-up beside two with three: by the raw count, as published, those with more"
    " follow-ups are taken first; by the share of inputs in empty cells (MRGS-ART-fair) they are not."
)


def build_starvation_table(bench: Workbench) -> list[Row]:
    """Build the table that shows how the raw count starves a relation with few follow-ups."""
    rows = []
    for dimension in _choose_dimensions(bench.scale):
        for name in ("MRGS-ART", "MRGS-ART-fair"):
            more = replace(bench.scale, groups=8 * bench.scale.groups)
            job = _make_selecting_job(more, name, (ONE, THREE, THREE), 0, dimension)
            rows.append(_make_row(bench, job, name, f"block, {dimension}-D, F-ratio %", STARVATION_NOTE))
    return rows
