"""Trials of generators and selectors of groups, on mutants and on regions that are drawn."""

from __future__ import annotations

import math
import time
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
from ..hunting.trials import make_trial_rng
from ..relations.base import VIOLATED, Mask
from ..relations.box import Affine, Box, Floats
from ..relations.function import FunctionRelation
from .workload import Bench, Figures, Job, Scale, drawn

SLOW = ("MT-ART-Max", "MT-ART-Avg")  # they look at all that was executed for each candidate
CLASSIC = ("FSCS-ART", "RPART", "BART", "IPART")
FEWEST = 4  # trials
MOST_OF_SLOW = 500  # trials at full scale, too: one takes seconds
USUAL = 0.002  # the rate of violations that is expected where it is not known
SLOWER, MANY_INPUTS = 5, 6  # by how much less is done where it is slow; where a program has more than three inputs
PATIENCE = 100_000  # groups after which a trial ends, as in print
PATIENCE_OF_PAIRS = 1_000_000  # the same for pairs of relation and group
ONE, TWO, THREE = "1-1", "1-2", "1-3"
DOMAINS = {"Erf1": (-500.0, 500.0)}  # Table 4
LEARNING = ("near-miss", "feedback")  # selectors that are told what became of groups

Whole = npt.NDArray[np.int64]


def groups_of(scale: Scale, program: str = "") -> int:
    """Return how many groups are made in all: fewer where there are many inputs, and nearest ones are hard to find."""
    return scale.groups // (MANY_INPUTS if program and programs[program].dimension > 3 else 1)


def trials_of(scale: Scale, rate: float, generator: str = "", program: str = "") -> int:
    """Return how many trials are made: fewer where each takes long."""
    slow = generator in SLOW
    fit = groups_of(scale, program) * rate / (SLOWER if slow else 1)
    return max(FEWEST, min(scale.trials, round(fit), *([MOST_OF_SLOW] if slow else [])))


def budget_of(scale: Scale, generator: str, program: str = "", most: int = PATIENCE) -> int:
    """Return after how many groups a trial ends."""
    if generator in SLOW:
        return min(find_generator(generator)[0].default_budget, max(100, scale.groups // 40))
    return min(most, groups_of(scale, program))


def amount(scale: Scale) -> str:
    """Say how much is done."""
    return f"at most {pluralize(scale.trials, 'trial')} of each way"


@dataclass(frozen=True)
class Measured:
    """Something measured once."""

    @property
    def label(self) -> str:
        """What is shown while it is measured."""
        return " ".join(str(each) for each in vars(self).values() if isinstance(each, str) and each)

    @property
    def kind(self) -> tuple[object, ...]:
        """What jobs share whose times can be compared."""
        return (type(self).__name__, *(value for value in vars(self).values() if isinstance(value, str)))

    @property
    def weight(self) -> int:
        """How long it takes, compared with others of its kind."""
        return int(getattr(self, "trials", 1))

    def repetitions(self, scale: Scale) -> int:
        """Return 1: trials are part of it."""
        return 1

    def measure(self, seed: int, repetition: int, progress: bool | None) -> Figures:
        """Return the figures."""
        began = time.perf_counter()
        figures = self._figures(int(drawn(self, seed, repetition).generate_state(1)[0]))
        return {**figures, "seconds": time.perf_counter() - began}

    def _figures(self, seed: int) -> dict[str, float]:
        raise NotImplementedError


def relation_of(program: str, name: str) -> FunctionRelation:
    """Return a relation as chapters 4 and 5 use it, where that differs from our catalogue."""
    relation = programs[program].relations[name]
    return relation.over(DOMAINS[name]) if name in DOMAINS else relation


# -- trials ------------------------------------------------------------------------------------------------


def _moments(found: FMeasures) -> dict[str, float]:
    """Return what comparisons need to know of F-measures."""
    return {"mean": found.mean, "sd": found.sd, "trials": len(found), "censored": 100 * found.censored_share}


def _violating(
    function: Callable[..., Any], relations: Sequence[FunctionRelation], which: Whole, drawn: Floats
) -> Mask:
    """Return which groups violate their relation; the function is called once for all of them."""
    parts = []
    for number in np.unique(which):
        rows, relation = np.flatnonzero(which == number), relations[number]
        sources = drawn[rows][:, : relation.width]
        inputs = [*relation.source_inputs(sources), *relation.follow_inputs(relation.follow(sources))]
        parts.append((rows, relation, inputs))
    every = [each for _, _, inputs in parts for each in inputs]
    answers = iter(
        np.split(np.asarray(function(*np.concatenate(every).T)), np.cumsum([len(each) for each in every])[:-1])
    )
    violated = np.zeros(len(which), dtype=bool)
    for rows, relation, inputs in parts:
        verdicts, _ = relation.judge(inputs, [next(answers) for _ in inputs])
        violated[rows] = verdicts == VIOLATED
    return violated


def _f_measures(
    proposing: Generator | Selector,
    violating: Callable[[Any], Mask],
    trials: int,
    budget: int,
    seed: int,
    rate: float,
    groups: int = 10**12,
) -> FMeasures:
    """Return the F-measures of trials: as `hunt` does it, in larger steps, since nobody learns from verdicts here.

    No more trials are begun when so many groups have been made in all.
    """
    counts, ended = np.zeros(trials, dtype=np.int64), np.ones(trials, dtype=bool)
    first = max(16, round(0.3 / rate)) if rate > 0 else 1000
    for trial in range(trials):
        turn, made = proposing.clone(make_trial_rng(seed, trial)), 0
        while made < budget:
            count = min(max(first, made // 2), budget - made)
            violated = violating(turn.propose(count))
            if violated.any():
                made, ended[trial] = made + int(violated.argmax()) + 1, False
                break
            made += count
        counts[trial] = made
        if counts.sum() >= groups and trial + 1 >= FEWEST:
            return FMeasures(counts[: trial + 1], ended[: trial + 1])
    return FMeasures(counts, ended)


@dataclass(frozen=True)
class Hunting(Measured):
    """F-measures of a generator on a mutant, with one relation."""

    program: str
    mutant: str
    relation: str
    generator: str
    trials: int
    budget: int
    rate: float  # that is expected

    def _figures(self, seed: int) -> dict[str, float]:
        relation = relation_of(self.program, self.relation)
        function = programs[self.program].mutants[self.mutant]

        def violating(groups: GroupBatch) -> Mask:
            return _violating(function, [relation], np.zeros(len(groups), dtype=np.int64), groups.sources)

        made = make_generator(self.generator, relation)
        return _moments(_f_measures(made, violating, self.trials, self.budget, seed, self.rate))


@dataclass(frozen=True)
class Selecting(Measured):
    """F-measures of a selector on a mutant, with several relations of one source domain.

    How often the mutant violates them there is not known beforehand, so the groups of all trials are limited, too.
    """

    program: str
    mutant: str
    relations: tuple[str, ...]
    selector: str
    k: int
    trials: int
    budget: int
    groups: int
    published: bool

    def _figures(self, seed: int) -> dict[str, float]:
        subject = programs[self.program]
        shared, function = subject.shared(), subject.mutants[self.mutant]
        relations = [shared[name] for name in self.relations]
        if self.selector in LEARNING:
            return _moments(self._told(function, relations, seed))

        def violating(picks: Picks) -> Mask:
            return _violating(function, relations, picks.relation, picks.sources)

        made = find_selector(self.selector)(relations, k=self.k, published=self.published)
        return _moments(_f_measures(made, violating, self.trials, self.budget, seed, USUAL, self.groups))

    def _told(self, function: Any, relations: list[FunctionRelation], seed: int) -> FMeasures:
        """Return the F-measures of a selector that is told verdicts, a few trials at a time."""
        parts: list[FMeasures] = []
        while sum(map(len, parts)) < self.trials and sum(each.counts.sum() for each in parts) < self.groups:
            found = hunt(
                function, relations, selector=self.selector, k=self.k, budget=self.budget, trials=FEWEST,
                seed=seed + len(parts), progress=False,
            )  # fmt: skip
            parts.append(found.measured)
        return FMeasures(*(np.concatenate([getattr(each, of) for each in parts]) for of in ("counts", "censored")))


@dataclass(frozen=True)
class Simulating(Measured):
    """F-measures of a generator on regions that are drawn; the F-ratio is to random testing, which is known exactly."""

    generator: str
    region: str
    rate: float
    dimension: int
    trials: int
    budget: int
    scenario: str = ""

    def _figures(self, seed: int) -> dict[str, float]:
        found = simulate(
            self.generator,
            self.region,
            self.rate,
            self.dimension,
            scaled_relation(self.scenario[0], self.dimension) if self.scenario else None,
            self.scenario or None,
            self.trials,
            seed,
            budget=self.budget,
            progress=False,
        )
        return _simulated(found)


def scaled_relation(case: str, dimension: int) -> FunctionRelation:
    """Return a relation of the document for a case of scenarios: A, three times the inputs; B, mirrored; C, a third."""
    factor = {"A": 3.0, "B": -1.0, "C": 1 / 3}[case]
    change = Affine.scaled(factor, dimension, 1.0 if factor < 0 else 0.0)
    return FunctionRelation(name=case, domain=Box.of([(0.0, 1.0)] * dimension), follow_up=change)


def _simulated(found: Any) -> dict[str, float]:
    ratio = found.ratio
    return {
        **_moments(found.found),
        "F-ratio %": 100 * ratio.value,
        "±, points": 50 * (ratio.high - ratio.low),
        "effect size": found.cohens_d,
    }


#: follow-ups of relations that are simulated, by the number of sources and of follow-ups; all within the unit cube
_CHANGES = {ONE: (-1.0,), TWO: (-1.0, 0.5), THREE: (-1.0, 0.5, 1 / 3)}


def made_relation(name: str, dimension: int) -> FunctionRelation:
    """Return a relation to simulate with: mirrored sources, and smaller ones."""
    changes = [Affine.scaled(factor, dimension, 1.0 if factor < 0 else 0.0) for factor in _CHANGES[name]]
    return FunctionRelation(name=name, domain=Box.of([(0.0, 1.0)] * dimension), follow_up=changes)


@dataclass(frozen=True)
class SelectingSimulated(Measured):
    """F-measures of a selector on regions that are drawn; one of the relations is violated there."""

    selector: str
    relations: tuple[str, ...]
    violating: int
    region: str
    rate: float
    dimension: int
    k: int
    trials: int
    budget: int
    published: bool = False

    def _figures(self, seed: int) -> dict[str, float]:
        made = [made_relation(name, self.dimension) for name in self.relations]
        found = simulate(
            region=self.region, rate=self.rate, relation=made, selector=self.selector, violating=self.violating, k=self.k,
            published=self.published, trials=self.trials, seed=seed, budget=self.budget, progress=False,
        )  # fmt: skip
        return _simulated(found)


# -- comparing two of them -------------------------------------------------------------------------------------


def ratio(bench: Bench, first: Job, second: Job) -> float:
    """Return the F-measure of the first in percent of that of the second."""
    return 100 * bench.figure(first, "mean") / bench.figure(second, "mean")


def margin(bench: Bench, first: Job, second: Job) -> float:
    """Return how far the 95 % interval of that reaches to either side, in points."""
    errors = [
        (bench.figure(job, "sd") / bench.figure(job, "mean")) ** 2 / bench.figure(job, "trials")
        for job in (first, second)
    ]
    return 1.96 * ratio(bench, first, second) * math.sqrt(sum(errors))


def effect(bench: Bench, first: Job, second: Job) -> float:
    """Return Cohen's d, positive where the first is better; NaN where a trial was ended, as published."""
    spread = math.sqrt((bench.figure(first, "sd") ** 2 + bench.figure(second, "sd") ** 2) / 2)
    if _unknown(bench, first, second) or not spread > 0:
        return math.nan
    return (bench.figure(second, "mean") - bench.figure(first, "mean")) / spread


def p_value(bench: Bench, first: Job, second: Job) -> float:
    """Return the p-value of Welch's test; NaN where a trial was ended, as published."""
    from scipy.stats import ttest_ind_from_stats

    if _unknown(bench, first, second) or not bench.figure(first, "sd") + bench.figure(second, "sd") > 0:
        return math.nan
    known = [bench.figure(job, each) for job in (first, second) for each in ("mean", "sd", "trials")]
    return float(ttest_ind_from_stats(*known, equal_var=False).pvalue)


def _unknown(bench: Bench, *jobs: Job) -> bool:
    return not all(bench.figure(job, "censored") == 0 for job in jobs)
