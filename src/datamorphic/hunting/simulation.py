"""Simulation: how soon a generator, or a selector, hits a violation region that is drawn anew for each trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import format_short, pluralize
from .._validation import is_number, reject, validate_choice, validate_integer
from ..errors import ArgumentError
from ..relations.base import Mask
from ..relations.box import Affine, Box, Floats
from ..relations.function import FunctionRelation
from .generator_base import Generator
from .generators import find_generator, validate_options
from .measures import FMeasures, IntervalEstimate, cohens_d, f_ratio, welch_p
from .regions import KINDS, Region, draw_region
from .scenarios import SCENARIOS, draw_scenario
from .selector_base import Picks, Selector
from .selectors import make_selector
from .trials import count_until_hit, make_trial_rng


def make_default_relation(dimension: int, scenario: str | None = None) -> FunctionRelation:
    """Return a relation for a simulation that names none.

    Sources lie in the unit cube. Their follow-ups lie there too, mirrored at the centre; for scenarios A they are three
    times the sources, for scenarios C a third of them.
    """
    factor = {"A": 3.0, "C": 1 / 3}.get((scenario or "B")[0].upper(), -1.0)
    shift = 1.0 if factor == -1 else 0.0
    return FunctionRelation(
        name={3.0: "tripled", -1.0: "mirrored"}.get(factor, "a third"),
        domain=[(0.0, 1.0)] * dimension,
        follow_up=Affine.scaled(factor, dimension, shift),
    )


@dataclass(frozen=True, eq=False)
class SimulationSetting:
    """What is simulated: who proposes, where violations lie, how long a trial may last."""

    proposer: Generator | Selector
    region: Any
    rate: float
    scenario: str | None
    violated_relation: int
    budget: int
    boxes: int
    seed: int

    @property
    def relation(self) -> FunctionRelation | Box:
        """The relation that is violated, or the domain of single inputs."""
        if isinstance(self.proposer, Selector):
            return self.proposer.relations[self.violated_relation]
        return self.proposer.relation

    @property
    def domain(self) -> tuple[Floats, Floats]:
        """The corners of the source domain, all sources side by side."""
        relation = self.relation
        boxes = relation.domain if isinstance(relation, FunctionRelation) else (relation,)
        return np.concatenate([box.low for box in boxes]), np.concatenate([box.high for box in boxes])

    @property
    def chance(self) -> float:
        """The share of random groups that violate: of a random selection only those of the relation that is violated."""
        relations = len(self.proposer.relations) if isinstance(self.proposer, Selector) else 1
        return self.rate / relations

    def draw(self, rng: np.random.Generator) -> Region:
        """Return the violation region of a trial."""
        if isinstance(self.region, Region):
            return self.region
        low, high = self.domain
        if self.scenario is None:
            return draw_region(self.region, self.rate, low, high, rng, boxes=self.boxes)
        relation = self.relation
        assert isinstance(relation, FunctionRelation)
        follow_domain = relation.follow_domains()[0]
        return draw_scenario(
            self.scenario, self.rate, (low, high), (follow_domain.low, follow_domain.high), rng, boxes=self.boxes
        )

    def run_trial(self, number: int) -> tuple[int, bool]:
        """Make a trial: return its F-measure, and whether the budget ended it."""
        rng = make_trial_rng(self.seed, number)
        region = self.draw(rng)
        proposer = self.proposer.clone(rng)
        if isinstance(proposer, Selector):
            width = len(self.domain[0])  # others may have more sources

            def find_hits(picks: Picks) -> Mask:
                return (picks.relation == self.violated_relation) & region.contains(picks.sources[:, :width])

            return count_until_hit(proposer, find_hits, self.budget)
        return count_until_hit(proposer, lambda groups: region.contains(groups.sources), self.budget)


@dataclass(frozen=True, eq=False)
class Simulation:
    """What came of a simulation.

    Attributes
    ----------
    name : str
        Who proposed.
    found : FMeasures
        The F-measures of the trials, and which of them the budget ended.
    chance : float
        The share of random groups that violate, to which the F-ratio compares: 1 / chance groups on average.
    seconds : float
        How long all trials took.
    """

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
        """The mean number of groups until the first violation; a lower bound where trials were ended."""
        return self.found.mean

    @property
    def ratio(self) -> IntervalEstimate:
        """The F-ratio to random testing, with its interval."""
        return f_ratio(self.found, self.chance)

    @property
    def f_ratio(self) -> float:
        """The F-measure, divided by that of random testing, which is known exactly."""
        return self.ratio.value

    @property
    def cohens_d(self) -> float:
        """By how many standard deviations it beats random testing; NaN where trials were ended."""
        return cohens_d(self.found, self.chance)

    @property
    def p_value(self) -> float:
        """How likely so great a difference from random testing would be by chance."""
        return welch_p(self.found, self.chance)

    @property
    def censored(self) -> float:
        """The share of trials that the budget ended."""
        return self.found.censored_share

    def __repr__(self) -> str:
        return f"Simulation({self.name}, F-ratio {self.f_ratio:.3f}, {len(self.found):,} trials)"

    def describe(self) -> str:
        """Return the figures in words."""
        setting, ratio = self.setting, self.ratio
        region_name = setting.scenario or (
            setting.region if isinstance(setting.region, str) else setting.region.kind
        )
        low, _ = setting.domain
        relation_text = ""
        if isinstance(setting.proposer, Selector):
            relation_text = f", one of {pluralize(len(setting.proposer.relations), 'relation')} violated"
        lines = [
            f"{self.name} on {region_name} regions of {format_short(setting.rate)} of {pluralize(len(low), 'dimension')}{relation_text}: "
            f"F-measure {'above ' if self.censored else ''}{self.f_measure:.1f} in {pluralize(len(self.found), 'trial')}, "
            f"{self.seconds:.1f} s.",
        ]
        if not self.censored:
            lines.append(
                f"F-ratio to random testing {ratio.value:.1%} (95 % interval {ratio.low:.1%} to {ratio.high:.1%}), "
                f"Cohen's d {self.cohens_d:.3f}."
            )
        if self.censored:
            lines.append(
                f"{self.censored:.1%} of the trials found nothing in {pluralize(setting.budget, 'group')}: the F-ratio is "
                f"above {ratio.value:.1%}."
            )
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        setting, ratio = self.setting, self.ratio
        return {
            "generator": self.name,
            "region": setting.region if isinstance(setting.region, str) else setting.region.kind,
            "rate": setting.rate,
            "dimension": len(setting.domain[0]),
            "scenario": setting.scenario,
            "trials": len(self.found),
            "budget": setting.budget,
            "seed": setting.seed,
            "f_measure": self.f_measure,
            "f_ratio": ratio.value,
            "f_ratio_low": ratio.low,
            "f_ratio_high": ratio.high,
            "cohens_d": self.cohens_d,
            "p_value": self.p_value,
            "censored": self.censored,
            "seconds": self.seconds,
        }


def _measure_volume(proposer: Generator | Selector, violated_relation: int) -> float:
    """Return the volume of the source domain."""
    relation = proposer.relations[violated_relation] if isinstance(proposer, Selector) else proposer.relation
    boxes = relation.domain if isinstance(relation, FunctionRelation) else (relation,)
    return float(np.prod([np.prod(box.high - box.low) for box in boxes]))


def build_setting(
    generator: Any,
    region: Any,
    rate: float,
    dimension: int,
    relation: Any,
    scenario: str | None,
    selector: Any,
    violating: int,
    budget: int | None,
    boxes: int,
    seed: int,
    options: dict[str, Any],
) -> SimulationSetting:
    """Return what is simulated, from what a user says."""
    validate_integer("dimension", "simulate", dimension, 1)
    if not is_number(rate) or not 0 < float(rate) < 1:
        reject("rate", "simulate", "a number between 0 and 1", rate)
    if not isinstance(region, Region):
        validate_choice("region", "simulate", region, KINDS)
    if scenario is not None:
        scenario = validate_choice("scenario", "simulate", str(scenario).upper(), SCENARIOS)
    has_several_relations = isinstance(relation, list | tuple)
    proposer: Generator | Selector
    if selector is not None or has_several_relations:
        relations = (
            list(relation) if has_several_relations else [relation or make_default_relation(dimension, scenario)]
        )
        proposer = make_selector(selector or "MRGS-ART", relations, **options)
        validate_integer("violating", "simulate", violating, 0, len(relations) - 1)
        default_budget = 1_000_000
    else:
        generator_class, implied_options = find_generator(generator)
        if relation is not None and not isinstance(relation, FunctionRelation):
            reject("relation", "simulate", "a FunctionRelation, or several with a selector", relation)
        if relation is None:
            without_follow_ups = generator_class.sources_only and scenario is None
            relation = (
                Box.of([(0.0, 1.0)] * dimension)
                if without_follow_ups
                else make_default_relation(dimension, scenario)
            )
        validate_options(generator_class, options)
        proposer = generator_class(relation, **{**implied_options, **options})
        default_budget = generator_class.default_budget
    if isinstance(region, Region) and scenario is not None:
        raise ArgumentError("A scenario draws regions of its own: give a scenario or a region, not both.")
    if isinstance(region, Region):  # it has a rate of its own
        rate = region.volume / _measure_volume(proposer, violating)
    limit = default_budget if budget is None else validate_integer("budget", "simulate", budget, 1)
    return SimulationSetting(proposer, region, float(rate), scenario, violating, limit, boxes, seed)
