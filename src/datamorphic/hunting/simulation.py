"""Simulate how soon a generator or a selector hits a violation region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._clock import read_clock
from .._estimates import WorkPace
from .._text import pluralise
from .._validation import reject, validate_integer
from ..core.capability import capability
from ..core.execute import Execution
from ..core.result import Measure, Result
from ..errors import ArgumentError, OutOfBudget
from ..relations.algebra.base import Mask
from ..relations.algebra.box import Affine, Box, Floats
from ..relations.algebra.domain import RangeDomain
from ..relations.algebra.function import FunctionRelation
from ..reporting.junit import JUnitCase
from ..runs.engines import make_engine
from ..runs.flow import Flow, Query
from ..space.features import Integer
from ..space.outputs import Outputs
from ..space.points import Batch, Points
from ..space.space import Space
from ..systems.base import Executor, ScoreRequest
from .generator_base import Generator, GeneratorLike
from .generators import find_generator, make_generator
from .measures import FMeasures, cohens_d, f_ratio, welch_p
from .options import SimulateOptions, to_list
from .regions import Region, draw_region
from .result import Hunt
from .scenarios import draw_scenario
from .selector_base import Picks, Selector, SelectorLike
from .selectors import make_selector
from .source_domain import SourceDomain
from .violation_regions import (
    MeasuredRegion,
    ViolationRegion,
    classify_region,
    find_own_relation,
    is_predicate,
    measure_predicate,
)

SELECTOR_BUDGET_GROUPS = 1_000_000
#: how follow-ups of mixed relations are made from sources: rotation of their numbers, factor and shift
CHANGES = ((0, -1.0, 1.0), (1, 0.5, 0.0), (0, 2.0, 0.5), (1, -0.5, 0.5), (2, -3.0, 1.0))
DOMAIN_SAMPLE_SIZE = 20_000  # sources from which shares of a domain that is not a box are measured
MAX_REGION_DRAWS = 1000  # until one lies in such a domain
MAX_REGIONS_MEASURED = 1000  # of the trials
TRIALS_PER_TASK = 25  # of one worker
TRIALS_PER_QUERY = 1000  # between two updates of the progress display
TRIAL_NUMBERS = Space([Integer("trial", 0, 2**50)])
DEFAULT_SELECTOR = "MRGS-ART-fair"
FIRST_BATCH_GROUPS = 32
MAX_BATCH_GROUPS = 1_000_000  # limits the memory
BATCH_GROWTH_DIVISOR = 3  # a batch has a third of the groups so far: few are proposed in vain


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulationSetting:
    """What is simulated: the options, and what follows from them."""

    proposer: Generator | Selector
    options: SimulateOptions
    budget: int  # the maximal number of groups per trial
    seed: int

    @property
    def relation_count(self) -> int:
        """The number of relations to choose from."""
        return len(self.proposer.relations) if isinstance(self.proposer, Selector) else 1

    @property
    def relation(self) -> FunctionRelation | Box:
        """The violated relation, or the domain of single inputs."""
        if isinstance(self.proposer, Selector):
            return self.proposer.relations[self.options.violating]
        return self.proposer.relation

    @cached_property
    def source_domain(self) -> SourceDomain:
        """The source domain, all sources side by side."""
        return SourceDomain.of(self.relation)

    @cached_property
    def domain_sample(self) -> Floats:
        """Random sources, if the domain is not a box."""
        rng = np.random.default_rng(self.seed)
        parts = [box.sample(DOMAIN_SAMPLE_SIZE, rng) for box in self.source_domain.domains]
        return np.concatenate(parts, axis=1)

    @cached_property
    def domain_share(self) -> float:
        """The share of the box around the domain that the domain takes up."""
        if self.source_domain.is_box:
            return 1.0
        rng = np.random.default_rng(self.seed)
        rows = np.concatenate([box.sample(DOMAIN_SAMPLE_SIZE, rng) for box in self.source_domain.boxes], axis=1)
        return max(float(self.source_domain.place(rows, rng)[1].mean()), 1 / DOMAIN_SAMPLE_SIZE)

    @property
    def domain(self) -> tuple[Floats, Floats]:
        """The corners of the source domain, all sources side by side."""
        boxes = self.relation.domain if isinstance(self.relation, FunctionRelation) else (self.relation,)
        return np.concatenate([box.low for box in boxes]), np.concatenate([box.high for box in boxes])

    @property
    def region_kind(self) -> str:
        """The kind of the region."""
        region = self.options.region
        return region.kind if isinstance(region, Region) else str(region)

    @property
    def measured_rate(self) -> Measure:
        """The share of the source domain that violates, with its interval if it is estimated."""
        if isinstance(self.options.region, Region):
            return self.options.region.measure_share(*self.domain)
        rate = float(self.options.rate)
        return Measure(rate, rate, rate)

    @property
    def rate(self) -> float:
        """The share of the source domain that violates."""
        return self.measured_rate.value

    @property
    def measured_chance(self) -> Measure:
        """The share of random groups that violate, with its interval if it is estimated.

        If a random selector chooses among relations, only groups of the violated relation can violate. In a domain that is no
        box, regions have different shares of it; random testing needs the mean of their inverses.
        """
        share, count = self.mean_share, self.relation_count
        return Measure(share.value / count, share.low / count, share.high / count, share.cases)

    @property
    def chance(self) -> float:
        """The share of random groups that violate."""
        return self.measured_chance.value

    @cached_property
    def mean_share(self) -> Measure:
        """The share of the source domain that violates: the harmonic mean over the trials, if their regions differ in it."""
        if self.source_domain.is_box or isinstance(self.options.region, MeasuredRegion):
            return self.measured_rate
        regions = (
            self.draw(make_trial_rng(self.seed, number))
            for number in range(min(self.options.trials, MAX_REGIONS_MEASURED))
        )
        mean = 1 / float(np.mean([1 / region.contains(self.domain_sample).mean() for region in regions]))
        return Measure(mean, mean, mean)

    def draw(self, rng: np.random.Generator) -> Region:
        """Return the violation region of a trial; in a domain that is not a box, one that covers more than half the requested rate."""
        min_share = 0.0 if isinstance(self.options.region, Region) else self.rate / 2
        for _ in range(MAX_REGION_DRAWS):
            region = self._draw_in_box(rng)
            if self.source_domain.is_box or region.contains(self.domain_sample).mean() > min_share:
                return region
        raise ArgumentError(
            f"Of {MAX_REGION_DRAWS:,} violation regions, none covers enough of the domain {self.source_domain.domains[0]}. Give a "
            "larger rate, or constraints that leave more of the box."
        )

    def _draw_in_box(self, rng: np.random.Generator) -> Region:
        options = self.options
        if isinstance(options.region, Region):
            return options.region
        low, high = self.domain
        if options.scenario is None:
            rate = self.rate * self.domain_share  # of the box
            return draw_region(self.region_kind, rate, low, high, rng, boxes=options.boxes)
        assert isinstance(self.relation, FunctionRelation)
        follow_domain = self.relation.follow_domains()[0]
        follow_ends = (follow_domain.low, follow_domain.high)
        return draw_scenario(options.scenario, self.rate, (low, high), follow_ends, rng, boxes=options.boxes)

    def run_trial(self, number: int, show_groups: Callable[[int], None] | None = None) -> tuple[int, bool]:
        """Return the F-measure of a trial, and whether the budget ended it; `show_groups` gets the number of groups so far."""
        rng = make_trial_rng(self.seed, number)
        region = self.draw(rng)
        proposer = self.proposer.clone(rng)
        if isinstance(proposer, Selector):
            width = len(self.domain[0])  # other relations may have more sources

            def find_hits(picks: Picks) -> Mask:
                return (picks.relation == self.options.violating) & region.contains(picks.sources[:, :width])

            return count_until_hit(proposer, find_hits, self.budget, show_groups=show_groups)
        return count_until_hit(
            proposer, lambda groups: region.contains(groups.sources), self.budget, show_groups=show_groups
        )


@dataclass(frozen=True, eq=False)
class Simulation(Result):
    """The result of a simulation.

    Attributes
    ----------
    name : str
        The name of the generator or selector.
    setting : SimulationSetting
        What was simulated.
    found : FMeasures
        The F-measures of the trials; those that the budget ended are censored.
    seconds : float
        The duration of all trials.
    failed : int
        The number of trials without a result: the function of a relation failed, or hung.
    interrupted : bool
        Whether the user ended the simulation. It then holds the trials up to then.
    unfinished : tuple of str
        What a budget of time did not reach.
    others : tuple of Simulation
        The same of other generators or selectors that were compared with this one.
    """

    _SUMMARY = ("trials",)
    _PAGE: ClassVar[str] = "hunting.page:build_simulation_page"

    name: str
    setting: SimulationSetting
    found: FMeasures
    seconds: float
    failed: int = 0
    interrupted: bool = False
    unfinished: tuple[str, ...] = ()
    others: tuple[Simulation, ...] = ()

    @property
    def compared(self) -> tuple[Simulation, ...]:
        """This simulation and the others."""
        return self, *self.others

    @property
    def complete(self) -> bool:
        """Whether all trials of all generators were made."""
        return not any(simulation.unfinished for simulation in self.compared)

    @property
    def headline(self) -> str:
        """The outcome in one line."""
        return ", ".join(f"{simulation.name} F-ratio {simulation.f_ratio:.3f}" for simulation in self.compared)

    @property
    def chance(self) -> float:
        """The share of random groups that violate."""
        return self.setting.chance

    @property
    def f_measures(self) -> npt.NDArray[np.int64]:
        """The F-measure of each trial."""
        return self.found.counts

    @property
    def f_measure(self) -> float:
        """The mean number of groups until the first violation, or a lower bound."""
        return self.found.mean

    @property
    def ratio(self) -> Measure:
        """The F-ratio to random testing, with its 95% interval."""
        return f_ratio(self.found, self.setting.measured_chance)

    @property
    def f_ratio(self) -> float:
        """The F-measure divided by that of random testing, which is 1 divided by the rate of the region."""
        return self.ratio.value

    @property
    def cohens_d(self) -> float:
        """The advantage over random testing in standard deviations; NaN if censored."""
        return cohens_d(self.found, self.setting.measured_chance)

    @property
    def p_value(self) -> float:
        """The probability of such a difference from random testing by chance."""
        return welch_p(self.found, self.setting.measured_chance)

    @property
    def censored(self) -> float:
        """The share of trials that the budget ended."""
        return self.found.censored_share

    def __repr__(self) -> str:
        return f"Simulation({self.name}, F-ratio {self.f_ratio:.3f}, {len(self.found):,} trials)"

    def document(self) -> dict[str, Any]:
        """Return the figures as a JSON-serialisable dict; of several generators, those of each."""
        if self.others:
            documents = [simulation._collect_figures() for simulation in self.compared]
            unfinished = [text for simulation in self.compared for text in simulation.unfinished]
            return {
                "simulations": documents,
                "trials": len(self.found),
                "complete": self.complete,
                "unfinished": unfinished,
            }
        return self._collect_figures()

    def _collect_figures(self) -> dict[str, Any]:
        setting = self.setting
        return self._collect(
            *("f_measure", "cohens_d", "p_value", "censored", "seconds", "failed", "unfinished"),
            **self.ratio.to_columns("f_ratio"),
            generator=self.name,
            region=setting.region_kind,
            rate=setting.rate,
            dimension=len(setting.domain[0]),
            scenario=setting.options.scenario,
            trials=len(self.found),
            budget=setting.budget,
            complete=not self.unfinished,
            seed=setting.seed,
        )

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one test case per generator, which always passes."""
        return [
            JUnitCase(name=part.name, output=replace(part, others=()).describe(), seconds=part.seconds)
            for part in self.compared
        ]

    def _export_name(self) -> str:
        return self.name


def count_until_hit(
    proposer: Generator | Selector,
    find_hits: Callable[[Any], Mask],
    budget: int,
    first_batch: int = FIRST_BATCH_GROUPS,
    growth_divisor: int = BATCH_GROWTH_DIVISOR,
    show_groups: Callable[[int], None] | None = None,
) -> tuple[int, bool]:
    """Return the number of groups up to the first hit, and whether the budget ended it."""
    group_count = 0
    while group_count < budget:
        count = min(max(first_batch, group_count // growth_divisor), MAX_BATCH_GROUPS, budget - group_count)
        hits = find_hits(proposer.propose(count))
        if hits.any():
            return group_count + int(hits.argmax()) + 1, False
        group_count += count
        if show_groups is not None:
            show_groups(group_count)
    return budget, True


def make_trial_rng(seed: int, trial: int) -> np.random.Generator:
    """Return the random numbers of a trial, which do not depend on other trials."""
    return np.random.default_rng([seed, trial])


class TrialSystem(Executor):
    """A simulation as a system: it answers the number of a trial with its F-measure, which is negative if it is censored."""

    batch_rows = TRIALS_PER_TASK

    def __init__(self, setting: SimulationSetting, pace: WorkPace | None) -> None:
        self.name, self.setting, self._pace = setting.proposer.name, setting, pace

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_pace": None}  # only this process refuses what takes too long

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Run the trials with these numbers."""
        assert isinstance(batch, Points)
        pairs = [self._run_trial(int(number)) for number in batch.codes[:, 0]]
        counts = [-count if is_censored else count for count, is_censored in pairs]
        return Outputs(np.array(counts, dtype=np.int64), np.zeros(len(counts), dtype=np.int8))

    def _run_trial(self, number: int) -> tuple[int, bool]:
        # a later trial begins only if the first ones have ended, so that the pace is known
        return self.setting.run_trial(number, partial(self._check_pace, number) if number < TRIALS_PER_TASK else None)

    def _check_pace(self, number: int, groups: int) -> None:
        setting = self.setting
        usual_groups = min(
            setting.budget, 1 / setting.chance
        )  # of random testing; generators need half of them at least
        if self._pace is not None:
            workers = make_engine(setting.options.engine).workers
            self._pace.note(workers * (number + min(groups / usual_groups, 1.0)) / setting.options.trials)


def make_trial_points(first: int, stop: int) -> Points:
    """Return the numbers of trials as points of a space."""
    return Points(TRIAL_NUMBERS, np.arange(first, stop, dtype=np.float64)[:, None])


def run_trials(trials: int) -> Flow[list[Outputs]]:
    """Query the F-measures of all trials but the first ones, and return those that the budget allows."""
    parts: list[Outputs] = []
    with suppress(OutOfBudget):
        for first in range(TRIALS_PER_TASK, trials, TRIALS_PER_QUERY):
            stop = min(first + TRIALS_PER_QUERY, trials)
            query = Query(make_trial_points(first, stop), progress=stop / trials, note="simulating", fresh=True)
            parts.append((yield query))
    return parts


@capability(SimulateOptions)
def simulate(options: SimulateOptions, execution: Execution[None]) -> Simulation:
    """Simulate how many groups a generator needs until the first violation.

    A violation region, drawn again for each trial, stands for a program that is wrong there. Nothing is executed, so
    generators can be compared in seconds. The region of a real program can be given instead.

    Returns
    -------
    Simulation
        The result, with `f_measure`, `f_ratio`, `cohens_d`, `f_measures` and `describe()`; of several generators, that of the
        first, with those of the `others`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> simulation = dm.simulate("IPART", "block", rate=0.01, trials=200, seed=1)
    >>> bool(simulation.f_ratio < 0.8)
    True

    A region may also be that of a real program, which is then executed:

    >>> emu10 = dm.programs["tanh"].mutants["emu10"]
    >>> dm.simulate("MT-RT", emu10, trials=50).setting.region_kind
    'block'
    """
    seed = execution.seed if isinstance(execution.seed, int) else int(execution.rng.integers(2**32))
    options = resolve_region(options, seed)
    settings = [
        build_setting(options, choice, seed)
        for choice in to_list(options.generator if options.selector is None else options.selector)
    ]
    first, *others = [_simulate_setting(setting, execution) for setting in settings]
    return replace(first, others=tuple(others))


def _simulate_setting(setting: SimulationSetting, execution: Execution[None]) -> Simulation:
    """Return the outcome of the trials of one generator or selector."""
    trials, start_time = setting.options.trials, read_clock()
    pace = WorkPace("simulate", {"trials": trials, "budget": setting.budget})
    system = TrialSystem(setting, None if setting.options.limits.seconds is not None else pace)
    details: dict[str, Any] = {"cache": None, "recheck": 0}
    # one thread compiles the kernels, and there is something to report, however small the budget is
    first_trials = make_trial_points(0, min(TRIALS_PER_TASK, trials))
    parts = [execution.query(first_trials, system, budget=None, progress=False, **details)]
    parts += execution.drive(run_trials(trials), system, pace=pace, **details)
    outputs = Outputs.concat(parts)
    counts = outputs.values[outputs.ok].astype(np.int64)
    missing_trials = trials - len(outputs)
    return Simulation(
        name=setting.proposer.name,
        setting=setting,
        found=FMeasures(np.abs(counts), counts < 0),
        seconds=read_clock() - start_time,
        failed=len(outputs) - len(counts),
        interrupted=execution.counter.interrupted,
        unfinished=(f"{missing_trials:,} of {pluralise(trials, 'trial')} of {setting.proposer.name}",)
        if missing_trials
        else (),
    )


def resolve_region(options: SimulateOptions, seed: int) -> SimulateOptions:
    """Return the options with a `Region` object and its relation."""
    region = options.region
    if isinstance(region, Hunt):
        region = _find_hunted_region(region)
    elif callable(region):
        region = _measure_function(options, region, seed)
    if isinstance(region, MeasuredRegion) and not region.rate.value:
        raise ArgumentError(
            f"None of {pluralise(region.rate.cases or 0, 'random group')} lies in the region, so its share is not known, and a "
            "simulation cannot be compared with random testing. Measure it with more: dm.hunting.classify_region(..., n=10_000_000)."
        )
    relation = options.relation
    if relation is None and isinstance(region, ViolationRegion):
        relation = region.relation
    return replace(options, region=region, relation=relation)


def _find_hunted_region(hunt: Hunt) -> ViolationRegion:
    """Return the violation region of the relation that a hunt found violated most often."""
    if hunt.function is None or not hunt.found:
        reject("region", "simulate", "a hunt that found a violation of a function", hunt)
    relation = hunt.relations[int(hunt.table["violated"].argmax())]
    measured_regions = [region for region in hunt.regions if region.relation is relation]
    if measured_regions:
        return measured_regions[0]
    assert isinstance(relation, FunctionRelation)  # of a function
    return classify_region(hunt.function, relation, seed=hunt.seed, name=hunt.name)


def _measure_function(options: SimulateOptions, function: Callable[..., Any], seed: int) -> MeasuredRegion:
    """Return where a program violates its relation, or where a predicate is true."""
    relation = options.relation[options.violating] if isinstance(options.relation, list | tuple) else options.relation
    if hasattr(function, "relations"):
        relation = find_own_relation(function, relation, "simulate")
    if not isinstance(relation, FunctionRelation):
        return measure_predicate(function, Box.of([(0.0, 1.0)] * options.dimension), seed)
    if hasattr(function, "relations") or not is_predicate(function, relation.source_box):
        return classify_region(function, relation, seed=seed)
    return measure_predicate(function, relation.source_box, seed)


def build_setting(options: SimulateOptions, choice: Any, seed: int) -> SimulationSetting:
    """Return what is simulated with a generator or selector: a proposer and a budget."""
    proposer = _make_selector(options, choice) if options.has_selector else _make_generator(options, choice)
    default_budget = proposer.default_budget if isinstance(proposer, Generator) else SELECTOR_BUDGET_GROUPS
    return SimulationSetting(proposer=proposer, options=options, budget=options.groups or default_budget, seed=seed)


def _make_selector(options: SimulateOptions, selector: SelectorLike | None) -> Selector:
    relation = options.relation
    if isinstance(relation, list | tuple):
        relations = list(relation)
    else:
        relations = [relation or make_default_relation(options.dimension, options.scenario)]
    # what is no relation is refused by the selector
    relations = [_make_uniform(item) if isinstance(item, FunctionRelation) else item for item in relations]
    chosen_selector = DEFAULT_SELECTOR if options.selector is None or selector is None else selector
    made_selector = make_selector(chosen_selector, relations, **options.proposer_options)
    validate_integer("violating", "simulate", options.violating, 0, len(relations) - 1)
    return made_selector


def _make_generator(options: SimulateOptions, generator: GeneratorLike) -> Generator:
    relation: FunctionRelation | Box
    if isinstance(options.relation, FunctionRelation):
        relation = _make_uniform(options.relation)
    elif options.relation is not None:
        reject("relation", "simulate", "a FunctionRelation, or several with a selector", options.relation)
    elif find_generator(generator)[0].sources_only and options.scenario is None:
        relation = Box.of([(0.0, 1.0)] * options.dimension)
    else:
        relation = make_default_relation(options.dimension, options.scenario)
    return make_generator(generator, relation, **options.proposer_options)


def _make_uniform(relation: FunctionRelation) -> FunctionRelation:
    """Return a relation whose sources are equally likely in its domain: regions are shares of it."""
    if not SourceDomain.of(relation).warps:
        return relation
    boxes = [box.narrow(box.low, box.high) if isinstance(box, RangeDomain) else box for box in relation.domain]
    return replace(relation, domain=tuple(boxes))


def make_default_relation(dimension: int, scenario: str | None = None) -> FunctionRelation:
    """Return the relation of a simulation for which none is given.

    Sources lie in the unit cube. So do their follow-ups, which are mirrored at the centre; in scenarios A they are
    three times the sources, in scenarios C a third of them.
    """
    name, factor, shift = {"A": ("tripled", 3.0, 0.0), "C": ("a third", 1 / 3, 0.0)}.get(
        (scenario or "B")[0].upper(), ("mirrored", -1.0, 1.0)
    )
    return FunctionRelation(
        name=name, domain=[(0.0, 1.0)] * dimension, follow_up=Affine.scaled(factor, dimension, shift)
    )


def make_mixed_relations(count: int, dimension: int) -> list[FunctionRelation]:
    """Return relations on the unit cube, in turn with one, two and three follow-ups, for comparing selectors.

    Follow-ups are scaled, mirrored, shifted and permuted sources, as in most relations.
    """
    validate_integer("count", "make_mixed_relations", count, 1)
    validate_integer("dimension", "make_mixed_relations", dimension, 1)
    changes = [Affine.of(factor * np.roll(np.eye(dimension), start, axis=1), shift) for start, factor, shift in CHANGES]
    return [
        FunctionRelation(
            name=f"R{i + 1}",
            domain=[(0.0, 1.0)] * dimension,
            follow_up=[changes[(i + j) % len(changes)] for j in range(i % 3 + 1)],
        )
        for i in range(count)
    ]
