"""Generators and selectors on regions that are drawn: Tables 6 and 9 of document 002, and what it never ran."""

from __future__ import annotations

import math
from dataclasses import replace

from ..hunting.scenarios import SCENARIOS
from .group_trials import (
    CLASSIC,
    FEWEST,
    LEARNING,
    ONE,
    PATIENCE_OF_PAIRS,
    THREE,
    TWO,
    Hunting,
    Selecting,
    SelectingSimulated,
    Simulating,
    budget_of,
    effect,
    ratio,
    trials_of,
)
from .groups import FEW
from .published import published
from .rows import Row, figures, row_of
from .stand_in_mutants import KINDS, rate_of, relations_of
from .workload import Bench, Scale

RATES = {"0.01": 0.01, "0.00": 0.005, "0.002": 0.002, "0.001": 0.001}  # as printed, and as they are
RATE, DIMENSION, BOXES = 0.005, 2, 50
BASE = "MT-RT"
PROPOSED = ("MT-RPART", "SFIDMT-BART")  # in the document, which never ran them
IN_PRINT = (BASE, "SFIDMT-ART", "MT-ART-Min", "MT-ART-Max", "MT-ART-Avg", "MT-BART", "MT-IPART")
RIVALS = ("Sobol", "Halton")
ALL = (*IN_PRINT, *PROPOSED, *CLASSIC, "RRT", *RIVALS)
SELECTORS = (
    "random", "MRGS-ART", "MRGS-ART+", "MRGS-IPART", "MRGS-RPART", "MRGS-distance", "near-miss", "feedback",
)  # fmt: skip
K = 3
MOST = 10_000  # trials, as in print
MORE = 2  # times the trials where single figures are compared
MUTANTS = (("emu10", "Table 5: mutant 3"), ("branch3.1", "Table 5: mutant 4"))

EXACT = "The F-ratio is to 1 / rate, which random testing needs on average."
INTERVAL = "The 95 % interval of ours is this much to either side."
ENDED = "{:.0f} % of the trials of {} were ended after {:,} groups: its F-ratio is a lower bound."
SAME_MUTANT = "Both mutants are known: emu = 10/epu, and |x| < 3.1 for the series."
WIDE = (
    "With x2 = 3x the follow-up domain is three times as wide as that of the sources, and MT-ART-Min keeps both in one pool:"
    " see the picture of the page for where its sources lie."
)
NEVER_RUN = (
    "The document proposes MT-RPART, SFIDMT-BART, MRGS-ART+, MRGS-IPART and MRGS-RPART, and never ran them."
)
NOT_TOLD = "Selectors that learn are left out: regions that are drawn tell them nothing."
IN_TURN = "Three relations, 1-1, 1-2 and 1-3, each violated in turn on a hundredth of the domain: the mean."


def _simulating(
    scale: Scale, generator: str, region: str = "block", rate: float = RATE, scenario: str = "", share: float = 1.0
) -> Simulating:
    """Return a simulation; `share` tells how many of the usual trials it gets."""
    trials = trials_of(replace(scale, groups=round(share * scale.groups)), rate, generator)
    budget = budget_of(scale, generator)
    return Simulating(generator, region, rate, DIMENSION, trials, budget, scenario)


def _row(bench: Bench, job: Simulating | SelectingSimulated, place: str, column: str, *notes: str) -> Row:
    """Return an F-ratio that is not in print."""
    ours, ended = bench.figure(job, "F-ratio %"), bench.figure(job, "censored")
    who = job.generator if isinstance(job, Simulating) else job.selector
    said = [*notes, ENDED.format(ended, who, job.budget) if ended > 0 else ""]
    return Row(place, column, math.nan, ours, " ".join(each for each in said if each))


# -- Table 9 ---------------------------------------------------------------------------------------------------


def classic(table: str, bench: Bench) -> list[Row]:
    """Return Table 9: F-ratios of four generators of single inputs on blocks, with intervals of ours."""
    rows = []
    for figure in figures(published(table)):
        rate = RATES[figure.subject]
        trials = max(FEWEST, min(MOST, MORE * bench.scale.trials, round(6 * MORE * bench.scale.groups * rate)))
        job = Simulating(
            figure.strategy, "block", rate, DIMENSION, trials, budget_of(bench.scale, figure.strategy)
        )
        place, column = f"block, rate {rate:g}", f"{figure.strategy}, F-ratio %"
        rows.append(
            row_of(figure, table, place, column=column, ours=bench.figure(job, "F-ratio %"), notes=[EXACT])
        )
        rows.append(Row(place, f"{figure.strategy}, ±", math.nan, bench.figure(job, "±, points"), INTERVAL))
    return rows


def kinds_of_regions(bench: Bench) -> list[Row]:
    """Return F-ratios of all generators on all kinds of regions; at full scale at all rates."""
    full = bench.scale.trials >= MOST
    rows = []
    for generator in ALL:
        for region in KINDS:
            for rate in RATES.values() if full else (RATE,):
                job = _simulating(bench.scale, generator, region, rate, share=2 * MORE)
                rows.append(_row(bench, job, generator, f"{region}, rate {rate:g}, F-ratio %"))
    return rows


# -- Table 6, and the two mutants of tanh -------------------------------------------------------------------------


def scenarios(bench: Bench) -> list[Row]:
    """Return F-ratios in the thirteen scenarios of Table 6; the document simulated none."""
    generators = (*IN_PRINT, *PROPOSED, *RIVALS)
    return [
        _row(bench, _simulating(bench.scale, generator, scenario=name, share=1.2), name, f"{generator}, F-ratio %")
        for name in (SCENARIOS if bench.scale.trials >= FEW else ("A2", "B1"))
        for generator in generators
    ]


def known_mutants(bench: Bench) -> list[Row]:
    """Return what generators do on the two mutants that are known, with effects beside those of Table 5."""
    effects = {
        (figure.subject, figure.strategy): figure
        for figure in figures(published("002-5"))
        if figure.measure == "effect size"
    }
    rows = []
    for mutant, place in MUTANTS:
        number = place.rpartition(" ")[2]
        jobs = {name: tanh_hunting(bench.scale, mutant, name) for name in (*IN_PRINT, *PROPOSED, *RIVALS)}
        label = f"{mutant} ({place.replace(': ', ', ')})"
        for name, job in jobs.items():
            ended = bench.figure(job, "censored")
            told = ENDED.format(ended, name, job.budget) if ended > 0 else ""
            if name != BASE:
                note = " ".join(each for each in (SAME_MUTANT, WIDE if name == "MT-ART-Min" else "", told) if each)
                rows.append(Row(label, f"{name}, F-ratio %", math.nan, ratio(bench, job, jobs[BASE]), note))
        for name, job in jobs.items():
            figure = effects.get((f"tanh mutant {number}", f"SFIDMT-ART vs {name}"))
            if figure is not None:
                ours = effect(bench, jobs["SFIDMT-ART"], job)
                column = f"SFIDMT-ART vs {name}, d"
                rows.append(row_of(figure, "002-5", label, column=column, ours=ours, notes=[SAME_MUTANT]))
            elif name not in (BASE, "SFIDMT-ART"):
                ours = effect(bench, jobs["SFIDMT-ART"], job)
                rows.append(Row(label, f"SFIDMT-ART vs {name}, d", math.nan, ours, SAME_MUTANT))
    return rows


def tanh_hunting(scale: Scale, mutant: str, generator: str) -> Hunting:
    """Return trials of a generator on a mutant of tanh: more of them than where there are many mutants."""
    rate = rate_of("tanh", mutant, ("tripling",))
    trials = trials_of(replace(scale, groups=4 * MORE * scale.groups), rate, generator)
    return Hunting("tanh", mutant, "tripling", generator, trials, budget_of(scale, generator), rate)


# -- what was proposed and never run, and what is new --------------------------------------------------------------

MIXED = (ONE, TWO, THREE)
REAL = (
    ("Sin", "Sin1-Sin7"),
    ("sncndn", "sncndn1-sncndn5"),
    ("TriSquarePlus", "TriPlus1-TriPlus7"),
)  # fmt: skip


def _dimensions(scale: Scale) -> tuple[int, ...]:
    return (1, 2, 3) if scale.trials >= FEW else (DIMENSION,)


def new_generators(bench: Bench) -> list[Row]:
    """Return all generators of groups in one table: blocks in one to three dimensions."""
    rows = []
    for dimension in _dimensions(bench.scale):
        for name in (*IN_PRINT, *PROPOSED, *RIVALS):
            job = _simulating(bench.scale, name)
            if dimension != DIMENSION:
                job = Simulating(name, "block", RATE, dimension, max(FEWEST, job.trials // 2), job.budget)
            rows.append(_row(bench, job, name, f"block, {dimension}-D, F-ratio %", NEVER_RUN, EXACT))
    return rows


def new_selectors(bench: Bench) -> list[Row]:
    """Return all selectors in one table: one of three relations violated, in one to three dimensions; and mutants."""
    scale, rows = bench.scale, []
    for name in [each for each in SELECTORS if each not in LEARNING]:
        for dimension in _dimensions(scale):
            jobs = [_selecting(scale, name, MIXED, each, dimension) for each in range(len(MIXED))]
            ours = math.fsum(bench.figure(job, "F-ratio %") for job in jobs) / len(jobs)
            said = f"{NEVER_RUN} {IN_TURN} {NOT_TOLD}"
            rows.append(Row(name, f"block, {dimension}-D, F-ratio %", math.nan, ours, said))
    for program, names in REAL if scale.trials >= FEW else REAL[:1]:
        relations = relations_of(names)
        mutant = _moderate(program, relations)
        budget = budget_of(scale, "", most=PATIENCE_OF_PAIRS)
        made = {
            name: Selecting(program, mutant, relations, name, K, scale.trials, budget, scale.groups, False)
            for name in SELECTORS
        }
        column = f"{program} {mutant}, {names}, F-ratio %"
        rows += [
            Row(name, column, math.nan, ratio(bench, each, made["random"]), NEVER_RUN)
            for name, each in made.items()
        ]
    return rows


def _moderate(program: str, relations: tuple[str, ...]) -> str:
    """Return the mutant whose mean violation rate is nearest to the usual one."""
    from ..data.programs import programs

    rates = {mutant: rate_of(program, mutant, relations) for mutant in programs[program].mutants}
    return min((each for each in rates if rates[each]), key=lambda each: abs(math.log(rates[each] / RATE)))


def _selecting(
    scale: Scale, name: str, relations: tuple[str, ...], violating: int, dimension: int, *, counting: bool = False
) -> SelectingSimulated:
    """Return a simulation of a selector; its trials take as many groups as those of a generator."""
    rate, budget = 2 * RATE, budget_of(scale, "", most=PATIENCE_OF_PAIRS)
    trials = trials_of(scale, rate / len(relations))
    return SelectingSimulated(
        name, relations, violating, "block", rate, dimension, K, trials, budget, published=counting
    )


STARVED = (
    "One violated relation with one follow-up beside two with three: by the raw count, as published, those with more"
    " follow-ups are taken first; the fraction of inputs in empty cells, ours by default, is fair."
)


def starving(bench: Bench) -> list[Row]:
    """Return what the raw count does to a relation with few follow-ups."""
    rows = []
    for dimension in _dimensions(bench.scale):
        for counting, said in ((True, "raw count, as published"), (False, "fraction, by default")):
            more = replace(bench.scale, groups=8 * bench.scale.groups)
            job = _selecting(more, "MRGS-ART", (ONE, THREE, THREE), 0, dimension, counting=counting)
            rows.append(_row(bench, job, said, f"block, {dimension}-D, F-ratio %", STARVED))
    return rows
