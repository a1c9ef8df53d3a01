"""Jobs with trials of generators and selectors, on mutants and on simulated regions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralise
from ..data.programs import programs
from ..hunting.generator_base import Generator, GroupBatch
from ..hunting.generators import find_generator, make_generator
from ..hunting.measures import FMeasures
from ..hunting.run import hunt
from ..hunting.selector_base import Picks, Selector
from ..hunting.selectors import find_selector
from ..hunting.simulation import count_until_hit, make_trial_rng, simulate
from ..hunting.violation_regions import GroupSample
from ..relations.algebra.base import VIOLATED, Mask
from ..relations.algebra.box import Affine, Box, Floats
from ..relations.algebra.function import FunctionRelation
from .intervals import estimate_effect, estimate_mean, estimate_quotient, label_figure
from .rows import OurFigure
from .workload import Job, Scale, Workbench, make_seed_sequence

SLOW = ("MT-ART-Max", "MT-ART-Avg")  # they compare each candidate with all executed groups
CLASSIC = ("FSCS-ART", "RPART", "BART", "IPART")
MIN_TRIALS = 4  # trials
MAX_SLOW_TRIALS = 500  # even at full scale: one takes seconds
EXPECTED_RATE = 0.002  # of violations, where it is not known
PILOT_GROUPS = 10_000  # per relation, to estimate a violation rate before trials
SLOW_FACTOR, MANY_INPUTS_FACTOR = (5, 6)  # divisors for slow generators, and for programs with more than three inputs
MAX_GROUPS_PER_TRIAL = 100_000  # as published
MAX_PAIRS_PER_TRIAL = 1_000_000  # of relation and group
ONE, TWO, THREE = "1-1", "1-2", "1-3"
DOMAINS = {"Erf1": (-500.0, 500.0)}  # Table 4
LEARNING = ("near-miss", "feedback")  # selectors that use verdicts
CENSORED_NOTE = "{} ended after {:,} groups without a violation: its F-measure is a lower bound."


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
    return f"at most {pluralise(scale.trials, 'trial')} of each way"


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


def _summarise_measures(measures: FMeasures) -> dict[str, float]:
    censored = 100 * measures.censored_share
    mean = label_figure("mean", estimate_mean(measures.counts.tolist()))
    return {**mean, "sd": measures.sd, "trials": len(measures), "censored": censored}


def find_violations(
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
    proposer: Generator | Selector, find_hits: Callable[[Any], Mask], trials: int, budget: int, seed: int, rate: float
) -> FMeasures:
    """Return the F-measures of trials, like `hunt` but in larger steps, because nothing learns from verdicts here."""
    counts, ended = np.zeros(trials, dtype=np.int64), np.ones(trials, dtype=bool)
    first = max(16, round(0.3 / rate)) if rate > 0 else 1000
    for trial in range(trials):
        trial_proposer = proposer.clone(make_trial_rng(seed, trial))
        counts[trial], ended[trial] = count_until_hit(trial_proposer, find_hits, budget, first, 2)
    return FMeasures(counts, ended)


def choose_trials(groups: int, trials: int, rate: float) -> int:
    """Return how many trials to run so that they need about `groups` groups in all, at most `trials`.

    The number is fixed before the first trial. To stop as soon as the trials have taken enough groups would overestimate
    F: a long trial is more likely than a short one to be the one that ends the sum.

    Examples
    --------
    >>> choose_trials(groups=48_000, trials=400, rate=0.005)
    240
    """
    return max(MIN_TRIALS, min(trials, round(groups * rate)))


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
            return find_violations(function, [relation], np.zeros(len(groups), dtype=np.int64), groups.sources)

        generator = make_generator(self.generator, relation)
        return _summarise_measures(_measure_trials(generator, violating, self.trials, self.budget, seed, self.rate))


@dataclass(frozen=True)
class Selecting(GroupJob):
    """F-measures of a selector on a mutant, with several relations of one source domain.

    So many trials are run that a random choice would need about `groups` groups. The violation rate is not known
    beforehand, so it is estimated from random groups, which do not count.
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
        trials = choose_trials(self.groups, self.trials, _estimate_rate(function, relations, seed))
        if self.selector in LEARNING:
            hunt_result = hunt(
                function,
                relations,
                selector=self.selector,
                k=self.k,
                budget=self.budget,
                trials=trials,
                seed=seed,
                progress=False,
            )
            return _summarise_measures(hunt_result.measured)

        def violating(picks: Picks) -> Mask:
            return find_violations(function, relations, picks.relation, picks.sources)

        selector = find_selector(self.selector)(relations, k=self.k)
        return _summarise_measures(_measure_trials(selector, violating, trials, self.budget, seed, EXPECTED_RATE))


def _estimate_rate(function: Callable[..., Any], relations: Sequence[FunctionRelation], seed: int) -> float:
    """Return the mean violation rate of relations, from random groups that no trial uses; never 0."""
    samples = [GroupSample.draw(relation, PILOT_GROUPS, seed) for relation in relations]
    violations = sum(int((sample.judge(function) == VIOLATED).sum()) for sample in samples)
    return max(1, violations) / (PILOT_GROUPS * len(relations))


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
        return _summarise_simulation(simulation)


def _summarise_simulation(simulation: Any) -> dict[str, float]:
    measures, ratio = simulation.found, simulation.ratio
    margin = math.nan if measures.censored.any() else 50 * (ratio.high - ratio.low)
    return {
        **_summarise_measures(measures),
        **label_figure("F-ratio %", OurFigure(100 * ratio.value, margin, len(measures))),
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
        return _summarise_simulation(simulation)


# -- comparisons of two jobs -------------------------------------------------------------------------------------


def compute_ratio(bench: Workbench, first: Job, second: Job) -> OurFigure:
    """Return the F-measure of the first job in percent of that of the second; without an interval if trials were censored.

    It is NaN if no trial of the second found a violation.
    """
    top, bottom = (bench.estimate(job, "mean") for job in (first, second))
    if bench.figure(second, "censored") == 100:
        return OurFigure(math.nan)
    ratio = estimate_quotient(top, bottom).times(100)
    return ratio._replace(margin=math.nan) if _has_censored_trials(bench, first, second) else ratio


def compute_effect(bench: Workbench, first: Job, second: Job) -> OurFigure:
    """Return Cohen's d, positive where the first is better; NaN if a trial was censored, as published."""
    spread = math.sqrt((bench.figure(first, "sd") ** 2 + bench.figure(second, "sd") ** 2) / 2)
    if _has_censored_trials(bench, first, second) or not spread > 0:
        return OurFigure(math.nan)
    d = (bench.figure(second, "mean") - bench.figure(first, "mean")) / spread
    return estimate_effect(d, *(bench.figure(job, "trials") for job in (first, second)))


def compute_p_value(bench: Workbench, first: Job, second: Job) -> OurFigure:
    """Return the p-value of Welch's test; NaN if a trial was censored, as published."""
    from scipy.stats import ttest_ind_from_stats

    if _has_censored_trials(bench, first, second) or not bench.figure(first, "sd") + bench.figure(second, "sd") > 0:
        return OurFigure(math.nan)
    known = [bench.figure(job, statistic) for job in (first, second) for statistic in ("mean", "sd", "trials")]
    p = float(ttest_ind_from_stats(*known, equal_var=False).pvalue)
    return OurFigure(p, trials=min(bench.figure(first, "trials"), bench.figure(second, "trials")))


def describe_censored(bench: Workbench, *jobs: GroupJob) -> list[str]:
    """Return a note per job whose trials did not all find a violation: how many, and after how many groups they ended."""
    notes = []
    for job in jobs:
        if (ended := bench.figure(job, "censored")) > 0:
            trials, name = bench.figure(job, "trials"), getattr(job, "selector", "") or getattr(job, "generator", "")
            count = f"{round(ended * trials / 100):,} of {trials:,.0f} trials of {name}"
            notes.append(CENSORED_NOTE.format(count, job.budget))  # type: ignore[attr-defined]
    return notes


def _has_censored_trials(bench: Workbench, *jobs: Job) -> bool:
    return not all(bench.figure(job, "censored") == 0 for job in jobs)
