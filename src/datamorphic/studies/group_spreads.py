"""Jobs on evenness of groups, generation time, and violation regions of mutants."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

from ..data.programs import programs
from ..hunting.generation import generate
from ..hunting.generators import make_generator
from ..hunting.measures import InputSpread, measure_spread
from ..hunting.selectors import find_selector
from ..hunting.violation_regions import GroupSample
from ..relations.algebra.base import VIOLATED
from ..relations.algebra.box import Box, Floats
from ..relations.algebra.function import FunctionRelation
from .group_trials import GroupJob, find_relation
from .intervals import estimate_mean, estimate_share, label_figure


def _average(measurements: list[dict[str, float]]) -> dict[str, float]:
    return {
        key: math.fsum(measurement[key] for measurement in measurements) / len(measurements) for key in measurements[0]
    }


def _label_spread(spread: InputSpread, cases: str) -> dict[str, float]:
    """Return dispersion and discrepancy by their names in the tables, which end in min, max and max-min."""
    return {
        f"{measure} {cases} {end}": value
        for measure in ("dispersion", "discrepancy")
        for end, value in zip(("min", "max", "max-min"), getattr(spread, measure), strict=True)
    }


def _measure_group_evenness(relation: FunctionRelation, sources: Floats) -> dict[str, float]:
    """Return the evenness of sources and of follow-ups, averaged over several follow-ups."""
    spreads = measure_spread(relation, sources)
    follow_ups = [_label_spread(spread, "FTC") for spread in spreads[relation.sources :]]
    return {**_label_spread(spreads[0], "STC"), **_average(follow_ups)}


@dataclass(frozen=True)
class Spreading(GroupJob):
    """Dispersion and discrepancy of groups of a generator."""

    program: str
    relation: str
    generator: str
    trials: int
    groups: int = 1000
    limits: tuple[float, float] | None = field(default=None, repr=False)  # of every input, other than the relation's

    def _compute_figures(self, seed: int) -> dict[str, float]:
        relation = find_relation(self.program, self.relation)
        if self.limits is not None:
            relation = relation.over([self.limits] * programs[self.program].dimension)
        samples = [generate(relation, self.generator, self.groups, seed=seed + k).sources for k in range(self.trials)]
        measurements = [_measure_group_evenness(relation, sources) for sources in samples]
        figures: dict[str, float] = {}
        for key in measurements[0]:
            figures |= label_figure(key, estimate_mean(measurement[key] for measurement in measurements))
        return figures


@dataclass(frozen=True)
class Timing(GroupJob):
    """Seconds to make groups, kernels being compiled."""

    program: str
    relation: str
    generator: str
    groups: int = 10_000

    def _compute_figures(self, seed: int) -> dict[str, float]:
        relation = find_relation(self.program, self.relation)
        generate(relation, self.generator, 100, seed=seed)
        start_time = time.perf_counter()
        generate(relation, self.generator, self.groups, seed=seed)
        return {"generation": time.perf_counter() - start_time}


@dataclass(frozen=True)
class InputTiming(GroupJob):
    """Seconds to make single inputs in the unit square, kernels being compiled."""

    generator: str
    inputs: int

    def _compute_figures(self, seed: int) -> dict[str, float]:
        generator = make_generator(self.generator, Box.of([(0, 1), (0, 1)]))
        generator.clone(seed).propose(100)
        start_time = time.perf_counter()
        generator.clone(seed).propose(self.inputs)
        return {"generation": time.perf_counter() - start_time}


@dataclass(frozen=True)
class Pairing(GroupJob):
    """Seconds to choose pairs of relation and group, and how these lie: the mean over relations, sources and follow-ups."""

    program: str
    relations: tuple[str, ...]
    selector: str
    k: int
    pairs: int = 10_000

    def _compute_figures(self, seed: int) -> dict[str, float]:
        shared = programs[self.program].shared()
        selector = find_selector(self.selector)([shared[name] for name in self.relations], k=self.k)
        selector.clone(seed).propose(100)
        start_time = time.perf_counter()
        picks = selector.clone(seed).propose(self.pairs)
        seconds = time.perf_counter() - start_time
        evenness = []
        for number, relation in enumerate(selector.relations):
            sources = picks.sources[picks.relation == number]
            if len(sources) > 1:
                evenness.append(_measure_group_evenness(relation, sources))
        figures = _average(evenness)
        means = {
            measure: (figures[f"{measure} STC max-min"] + figures[f"{measure} FTC max-min"]) / 2
            for measure in ("dispersion", "discrepancy")
        }
        return {"generation": seconds, **means}


@dataclass(frozen=True)
class Breaking(GroupJob):
    """How often each mutant of a program breaks each of its relations, all of one source domain."""

    program: str
    inputs: int

    def _compute_figures(self, seed: int) -> dict[str, float]:
        subject = programs[self.program]
        figures: dict[str, float] = {}
        for name, relation in subject.shared().items():
            trial = GroupSample.draw(relation, self.inputs, seed)
            for id, mutant in subject.mutants.items():
                violated = trial.judge(mutant) == VIOLATED
                share = estimate_share(int(violated.sum()), len(violated), factor=1.0)
                figures |= label_figure(f"{id} {name}", share)
                kind = trial.classify(violated, mutant).kind
                figures |= {
                    f"{id} {name} {region_kind}": float(kind == region_kind)
                    for region_kind in ("block", "point", "strip")
                }
        return figures
