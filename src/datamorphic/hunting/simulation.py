"""Simulate how soon a generator or a selector hits a violation region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .._clock import read_clock
from .._estimates import WorkPace
from .._validation import reject, validate_integer
from ..core.result import Measure, Result
from ..relations.base import Mask
from ..relations.box import Affine, Box, Floats
from ..relations.function import FunctionRelation
from ..reporting.junit import JUnitCase
from ..runs.progress import Progress
from .generator_base import Generator
from .generators import find_generator, make_generator
from .measures import FMeasures, cohens_d, f_ratio, welch_p
from .options import SimulateOptions
from .regions import Region, draw_region
from .scenarios import draw_scenario
from .selector_base import Picks, Selector
from .selectors import make_selector

#: the F-measures of some trials, and whether the budget ended them
Outcomes = tuple[npt.NDArray[np.int64], Mask]
SELECTOR_BUDGET_GROUPS = 1_000_000
#: how follow-ups of mixed relations are made from sources: rotation of their numbers, factor and shift
CHANGES = ((0, -1.0, 1.0), (1, 0.5, 0.0), (0, 2.0, 0.5), (1, -0.5, 0.5), (2, -3.0, 1.0))
TRIALS_PER_TASK = 50  # between two updates of the progress display
TASKS_AT_ONCE = 1000  # that wait for a worker, which limits the memory
FIRST_BATCH_GROUPS = 32
MAX_BATCH_GROUPS = 1_000_000  # limits the memory
BATCH_GROWTH_DIVISOR = 3  # a batch has a third of the groups so far: few are proposed in vain


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulationSetting:
    """What is simulated: the options, and what follows from them."""

    proposer: Generator | Selector
    options: SimulateOptions
    budget: int  # the maximal number of groups per trial

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

    @property
    def domain(self) -> tuple[Floats, Floats]:
        """The corners of the source domain, all sources side by side."""
        boxes = self.relation.domain if isinstance(self.relation, FunctionRelation) else (self.relation,)
        return np.concatenate([box.low for box in boxes]), np.concatenate([box.high for box in boxes])

    @property
    def region_kind(self) -> str:
        """The kind of the region."""
        region = self.options.region
        return region if isinstance(region, str) else region.kind

    @property
    def rate(self) -> float:
        """The share of the source domain that violates."""
        if isinstance(self.options.region, Region):
            low, high = self.domain
            return self.options.region.volume / float(np.prod(high - low))
        return float(self.options.rate)

    @property
    def chance(self) -> float:
        """The share of random groups that violate.

        If a random selector chooses among relations, only groups of the violated relation can violate.
        """
        return self.rate / self.relation_count

    def draw(self, rng: np.random.Generator) -> Region:
        """Return the violation region of a trial."""
        options = self.options
        if isinstance(options.region, Region):
            return options.region
        low, high = self.domain
        if options.scenario is None:
            return draw_region(options.region, self.rate, low, high, rng, boxes=options.boxes)
        assert isinstance(self.relation, FunctionRelation)
        follow_domain = self.relation.follow_domains()[0]
        follow_ends = (follow_domain.low, follow_domain.high)
        return draw_scenario(options.scenario, self.rate, (low, high), follow_ends, rng, boxes=options.boxes)

    def run_trial(self, number: int, show_groups: Callable[[int], None] | None = None) -> tuple[int, bool]:
        """Return the F-measure of a trial, and whether the budget ended it; `show_groups` gets the number of groups so far."""
        rng = make_trial_rng(self.options.seed, number)
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
    """

    _PAGE: ClassVar[str] = "hunting.page:build_simulation_page"

    name: str
    setting: SimulationSetting
    found: FMeasures
    seconds: float

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
        return f_ratio(self.found, self.chance)

    @property
    def f_ratio(self) -> float:
        """The F-measure divided by that of random testing, which is known exactly."""
        return self.ratio.value

    @property
    def cohens_d(self) -> float:
        """The advantage over random testing in standard deviations; NaN if censored."""
        return cohens_d(self.found, self.chance)

    @property
    def p_value(self) -> float:
        """The probability of such a difference from random testing by chance."""
        return welch_p(self.found, self.chance)

    @property
    def censored(self) -> float:
        """The share of trials that the budget ended."""
        return self.found.censored_share

    def __repr__(self) -> str:
        return f"Simulation({self.name}, F-ratio {self.f_ratio:.3f}, {len(self.found):,} trials)"

    def document(self) -> dict[str, Any]:
        """Return the figures as a JSON-serialisable dict."""
        setting = self.setting
        return self._collect(
            *("f_measure", "cohens_d", "p_value", "censored", "seconds"),
            **self.ratio.to_columns("f_ratio"),
            generator=self.name,
            region=setting.region_kind,
            rate=setting.rate,
            dimension=len(setting.domain[0]),
            scenario=setting.options.scenario,
            trials=len(self.found),
            budget=setting.budget,
            seed=setting.options.seed,
        )

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return the simulation as one test case, which always passes."""
        return [JUnitCase(name=self.name, output=self.describe(), seconds=self.seconds)]


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


def run_simulation(options: SimulateOptions) -> Simulation:
    """Return the result of all trials."""
    setting = build_setting(options)
    trials = options.trials
    outcomes: list[Outcomes] = []

    pace = WorkPace("simulate", {"trials": trials, "budget": setting.budget})
    usual_groups = min(setting.budget, 1 / setting.chance)  # of random testing; generators need half of them at least

    def check_pace(number: int, groups: int) -> None:
        pace.note(options.worker_count * (number + min(groups / usual_groups, 1.0)) / trials)

    def run_trials(first: int, alone: bool = False) -> Outcomes:
        numbers = range(first, min(first + TRIALS_PER_TASK, trials))
        pairs = [setting.run_trial(number, partial(check_pace, number) if alone else None) for number in numbers]
        counts, censored = zip(*pairs, strict=True)
        return np.array(counts, dtype=np.int64), np.array(censored, dtype=bool)

    start_time = read_clock()
    starts = range(0, trials, TRIALS_PER_TASK)
    outcomes.append(run_trials(0, alone=True))  # one thread compiles the kernels
    with Progress(f"simulating {setting.proposer.name}", options.progress) as display:
        pool = ThreadPoolExecutor(options.worker_count)
        try:
            for first in range(1, len(starts), TASKS_AT_ONCE):
                tasks = pool.map(run_trials, starts[first : first + TASKS_AT_ONCE])
                for tasks_done, outcome in enumerate(tasks, first + 1):
                    outcomes.append(outcome)
                    pace.note(tasks_done / len(starts))
                    display.show(f"{min(tasks_done * TRIALS_PER_TASK, trials):,} trials", tasks_done / len(starts))
        finally:
            pool.shutdown(cancel_futures=True)  # without this, Ctrl-C would wait for all trials
    seconds = read_clock() - start_time
    counts, censored = (np.concatenate(parts) for parts in zip(*outcomes, strict=True))
    return Simulation(setting.proposer.name, setting, FMeasures(counts, censored), seconds)


def build_setting(options: SimulateOptions) -> SimulationSetting:
    """Return what is simulated, with a proposer and a budget."""
    proposer = _make_selector(options) if options.has_selector else _make_generator(options)
    default_budget = proposer.default_budget if isinstance(proposer, Generator) else SELECTOR_BUDGET_GROUPS
    budget = default_budget if options.budget is None else options.budget
    return SimulationSetting(proposer=proposer, options=options, budget=budget)


def _make_selector(options: SimulateOptions) -> Selector:
    relation = options.relation
    if isinstance(relation, list | tuple):
        relations = list(relation)
    else:
        relations = [relation or make_default_relation(options.dimension, options.scenario)]
    selector = make_selector(
        "MRGS-ART-fair" if options.selector is None else options.selector, relations, **options.proposer_options
    )
    validate_integer("violating", "simulate", options.violating, 0, len(relations) - 1)
    return selector


def _make_generator(options: SimulateOptions) -> Generator:
    relation: FunctionRelation | Box
    if isinstance(options.relation, FunctionRelation):
        relation = options.relation
    elif options.relation is not None:
        reject("relation", "simulate", "a FunctionRelation, or several with a selector", options.relation)
    elif find_generator(options.generator)[0].sources_only and options.scenario is None:
        relation = Box.of([(0.0, 1.0)] * options.dimension)
    else:
        relation = make_default_relation(options.dimension, options.scenario)
    return make_generator(options.generator, relation, **options.proposer_options)


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
