"""Jobs with trials of generators and selectors, on mutants and on simulated regions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralize
from ..data.programs import programs
from ..hunting.api import hunt, simulate
from ..hunting.generator_base import Generator, GroupBatch
from ..hunting.generators import find_generator, make_generator
from ..hunting.measures import FMeasures
from ..hunting.selector_base import Picks, Selector
from ..hunting.selectors import find_selector
from ..hunting.simulation import count_until_hit, make_trial_rng
from ..relations.base import VIOLATED, Mask
from ..relations.box import Affine, Box, Floats
from ..relations.function import FunctionRelation
from .workload import Job, Scale, Workbench, make_seed_sequence

SLOW = ("MT-ART-Max", "MT-ART-Avg")  # they compare each candidate with all executed groups
CLASSIC = ("FSCS-ART", "RPART", "BART", "IPART")
MIN_TRIALS = 4  # trials
MAX_SLOW_TRIALS = 500  # even at full scale: one takes seconds
EXPECTED_RATE = 0.002  # of violations, where it is not known
SLOW_FACTOR, MANY_INPUTS_FACTOR = (5, 6)  # divisors for slow generators, and for programs with more than three inputs
MAX_GROUPS_PER_TRIAL = 100_000  # as published
MAX_PAIRS_PER_TRIAL = 1_000_000  # of relation and group
ONE, TWO, THREE = "1-1", "1-2", "1-3"
DOMAINS = {"Erf1": (-500.0, 500.0)}  # Table 4
LEARNING = ("near-miss", "feedback")  # selectors that use verdicts


def limit_groups(scale: Scale, program: str = "") -> int:
    """Return the number of groups in all trials: fewer for many inputs, where nearest neighbours are expensive."""
    return scale.groups // (MANY_INPUTS_FACTOR if program and programs[program].dimension > 3 else 1)


def limit_trials(scale: Scale, rate: float, generator: str = "", program: str = "") -> int:
    """Return the number of trials: fewer where each takes long."""
    slow = generator in SLOW
    fit = limit_groups(scale, program) * rate / (SLOW_FACTOR if slow else 1)
    return max(MIN_TRIALS, min(scale.trials, round(fit), *([MAX_SLOW_TRIALS] if slow else [])))


def limit_budget(scale: Scale, generator: str, program: str = "", max_groups: int = MAX_GROUPS_PER_TRIAL) -> int:
    """Return the number of groups after which a trial ends."""
    if generator in SLOW:
        return min(find_generator(generator)[0].default_budget, max(100, scale.groups // 40))
    return min(max_groups, limit_groups(scale, program))


def format_amount(scale: Scale) -> str:
    """Describe how much is measured."""
    return f"at most {pluralize(scale.trials, 'trial')} of each way"


class GroupJob(Job):
    """A job that is measured once, with its trials inside."""

    @property
    def weight(self) -> int:
        """The number of trials."""
        return int(getattr(self, "trials", 1))

    def _derive_seed(self, seed: int, repetition: int) -> int:
        return int(make_seed_sequence(self, seed, repetition).generate_state(1)[0])


def find_relation(program: str, name: str) -> FunctionRelation:
    """Return a relation with the domain of chapters 4 and 5 of Ying (2024)."""
    relation = programs[program].relations[name]
    return relation.over(DOMAINS[name]) if name in DOMAINS else relation


# -- trials ------------------------------------------------------------------------------------------------


def _summarize_measures(measures: FMeasures) -> dict[str, float]:
    censored = 100 * measures.censored_share
    return {"mean": measures.mean, "sd": measures.sd, "trials": len(measures), "censored": censored}


def _find_violations(
    function: Callable[..., Any],
    relations: Sequence[FunctionRelation],
    relation_numbers: npt.NDArray[np.int64],
    drawn: Floats,
) -> Mask:
    """Return which groups violate their relation, with one call of the function for all of them."""
    parts = []
    for number in np.unique(relation_numbers):
        rows, relation = np.flatnonzero(relation_numbers == number), relations[number]
        sources = drawn[rows][:, : relation.width]
        inputs = [*relation.source_inputs(sources), *relation.follow_inputs(relation.follow(sources))]
        parts.append((rows, relation, inputs))
    all_inputs = [batch for _, _, inputs in parts for batch in inputs]
    answers = iter(
        np.split(
            np.asarray(function(*np.concatenate(all_inputs).T)), np.cumsum([len(batch) for batch in all_inputs])[:-1]
        )
    )
    violated = np.zeros(len(relation_numbers), dtype=bool)
    for rows, relation, inputs in parts:
        verdicts, _ = relation.judge(inputs, [next(answers) for _ in inputs])
        violated[rows] = verdicts == VIOLATED
    return violated


def _measure_trials(
    proposer: Generator | Selector,
    find_hits: Callable[[Any], Mask],
    job: Hunting | Selecting,
    seed: int,
    rate: float,
    groups: int = 10**12,
) -> dict[str, float]:
    """Return the figures of trials, like `hunt` but in larger steps, because nothing learns from verdicts here.

    No trial starts after `groups` groups in all.
    """
    counts, ended = np.zeros(job.trials, dtype=np.int64), np.ones(job.trials, dtype=bool)
    first = max(16, round(0.3 / rate)) if rate > 0 else 1000
    for trial in range(job.trials):
        trial_proposer = proposer.clone(make_trial_rng(seed, trial))
        counts[trial], ended[trial] = count_until_hit(trial_proposer, find_hits, job.budget, first, 2)
        if counts.sum() >= groups and trial + 1 >= MIN_TRIALS:
            return _summarize_measures(FMeasures(counts[: trial + 1], ended[: trial + 1]))
    return _summarize_measures(FMeasures(counts, ended))


@dataclass(frozen=True)
class Hunting(GroupJob):
    """F-measures of a generator on a mutant, with one relation."""

    program: str
    mutant: str
    relation: str
    generator: str
    trials: int
    budget: int
    rate: float  # expected

    def _compute_figures(self, seed: int) -> dict[str, float]:
        relation = find_relation(self.program, self.relation)
        function = programs[self.program].mutants[self.mutant]

        def violating(groups: GroupBatch) -> Mask:
            return _find_violations(function, [relation], np.zeros(len(groups), dtype=np.int64), groups.sources)

        return _measure_trials(make_generator(self.generator, relation), violating, self, seed, self.rate)


@dataclass(frozen=True)
class Selecting(GroupJob):
    """F-measures of a selector on a mutant, with several relations of one source domain.

    The violation rate is not known beforehand, so the groups of all trials are limited, too.
    """

    program: str
    mutant: str
    relations: tuple[str, ...]
    selector: str
    k: int
    trials: int
    budget: int
    groups: int

    def _compute_figures(self, seed: int) -> dict[str, float]:
        subject = programs[self.program]
        shared, function = subject.shared(), subject.mutants[self.mutant]
        relations = [shared[name] for name in self.relations]
        if self.selector in LEARNING:
            return _summarize_measures(self._hunt_with_feedback(function, relations, seed))

        def violating(picks: Picks) -> Mask:
            return _find_violations(function, relations, picks.relation, picks.sources)

        selector = find_selector(self.selector)(relations, k=self.k)
        return _measure_trials(selector, violating, self, seed, EXPECTED_RATE, self.groups)

    def _hunt_with_feedback(self, function: Any, relations: list[FunctionRelation], seed: int) -> FMeasures:
        """Return the F-measures of a selector that uses verdicts, a few trials at a time."""
        parts: list[FMeasures] = []
        while sum(map(len, parts)) < self.trials and sum(part.counts.sum() for part in parts) < self.groups:
            result = hunt(
                function,
                relations,
                selector=self.selector,
                k=self.k,
                budget=self.budget,
                trials=MIN_TRIALS,
                seed=seed + len(parts),
                progress=False,
            )
            parts.append(result.measured)
        return FMeasures(*(np.concatenate([getattr(part, of) for part in parts]) for of in ("counts", "censored")))


@dataclass(frozen=True)
class Simulating(GroupJob):
    """F-measures of a generator on simulated regions. The F-ratio is to random testing, whose mean is known exactly."""

    generator: str
    region: str
    rate: float
    dimension: int
    trials: int
    budget: int
    scenario: str = ""

    def _compute_figures(self, seed: int) -> dict[str, float]:
        simulation = simulate(
            self.generator,
            self.region,
            self.rate,
            self.dimension,
            scenario=self.scenario or None,
            trials=self.trials,
            seed=seed,
            budget=self.budget,
            progress=False,
        )
        return _summarize_simulation(simulation)


def _summarize_simulation(simulation: Any) -> dict[str, float]:
    ratio = simulation.ratio
    return {
        **_summarize_measures(simulation.found),
        "F-ratio %": 100 * ratio.value,
        "±, points": 50 * (ratio.high - ratio.low),
        "effect size": simulation.cohens_d,
    }


#: factors of simulated relations, by numbers of sources and follow-ups; all follow-ups are within the unit cube
_FACTORS = {ONE: (-1.0,), TWO: (-1.0, 0.5), THREE: (-1.0, 0.5, 1 / 3)}


def make_simulated_relation(name: str, dimension: int) -> FunctionRelation:
    """Return a relation for simulations, with mirrored and scaled follow-ups."""
    changes = [Affine.scaled(factor, dimension, 1.0 if factor < 0 else 0.0) for factor in _FACTORS[name]]
    return FunctionRelation(name=name, domain=Box.of([(0.0, 1.0)] * dimension), follow_up=changes)


@dataclass(frozen=True)
class SelectingSimulated(GroupJob):
    """F-measures of a selector on simulated regions, where one of the relations is violated."""

    selector: str
    relations: tuple[str, ...]
    violating: int
    region: str
    rate: float
    dimension: int
    k: int
    trials: int
    budget: int

    def _compute_figures(self, seed: int) -> dict[str, float]:
        relations = [make_simulated_relation(name, self.dimension) for name in self.relations]
        simulation = simulate(
            region=self.region,
            rate=self.rate,
            relation=relations,
            selector=self.selector,
            violating=self.violating,
            k=self.k,
            trials=self.trials,
            seed=seed,
            budget=self.budget,
            progress=False,
        )
        return _summarize_simulation(simulation)


# -- comparisons of two jobs -------------------------------------------------------------------------------------


def compute_ratio(bench: Workbench, first: Job, second: Job) -> float:
    """Return the F-measure of the first job in percent of that of the second."""
    return 100 * bench.figure(first, "mean") / bench.figure(second, "mean")


def compute_margin(bench: Workbench, first: Job, second: Job) -> float:
    """Return the half-width of the 95% interval of that ratio, in points."""
    errors = [
        (bench.figure(job, "sd") / bench.figure(job, "mean")) ** 2 / bench.figure(job, "trials")
        for job in (first, second)
    ]
    return 1.96 * compute_ratio(bench, first, second) * math.sqrt(sum(errors))


def compute_effect(bench: Workbench, first: Job, second: Job) -> float:
    """Return Cohen's d, positive where the first is better; NaN if a trial was censored, as published."""
    spread = math.sqrt((bench.figure(first, "sd") ** 2 + bench.figure(second, "sd") ** 2) / 2)
    if _has_censored_trials(bench, first, second) or not spread > 0:
        return math.nan
    return (bench.figure(second, "mean") - bench.figure(first, "mean")) / spread


def compute_p_value(bench: Workbench, first: Job, second: Job) -> float:
    """Return the p-value of Welch's test; NaN if a trial was censored, as published."""
    from scipy.stats import ttest_ind_from_stats

    if _has_censored_trials(bench, first, second) or not bench.figure(first, "sd") + bench.figure(second, "sd") > 0:
        return math.nan
    known = [bench.figure(job, statistic) for job in (first, second) for statistic in ("mean", "sd", "trials")]
    return float(ttest_ind_from_stats(*known, equal_var=False).pvalue)


def _has_censored_trials(bench: Workbench, *jobs: Job) -> bool:
    return not all(bench.figure(job, "censored") == 0 for job in jobs)
