"""How evenly groups lie, how long it takes to make them, and where mutants violate relations."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from ..data.programs import programs
from ..hunting.api import generate
from ..hunting.measures import ValueRange, discrepancy, dispersion
from ..hunting.selectors import find_selector
from ..relations.base import VIOLATED
from ..relations.box import Box, Floats
from ..relations.function import FunctionRelation
from .group_trials import Measured, relation_of
from .program_regions import GroupSample

CELLS = 1000


def _mean(each: list[dict[str, float]]) -> dict[str, float]:
    return {key: math.fsum(one[key] for one in each) / len(each) for key in each[0]}


def _told(what: str, cases: str, spread: ValueRange) -> dict[str, float]:
    return {
        f"{what} {cases} min": spread.least,
        f"{what} {cases} max": spread.most,
        f"{what} {cases} max-min": spread.width,
    }


def evenness(points: Floats, box: Box, cases: str) -> dict[str, float]:
    """Return dispersion and discrepancy of points, by the inputs that vary."""
    free = box.low < box.high
    points = points[:, free]
    cells = discrepancy(points, box.low[free], box.high[free], boxes=CELLS, method="cells")
    return {**_told("dispersion", cases, dispersion(points)), **_told("discrepancy", cases, cells)}


def _both(relation: FunctionRelation, sources: Floats) -> dict[str, float]:
    """Return how sources and follow-ups lie; several follow-ups each in its own domain, on average."""
    follow = relation.follow_inputs(relation.follow(sources))
    parts = [evenness(made, box, "FTC") for made, box in zip(follow, relation.follow_domains(), strict=True)]
    return {**evenness(sources, relation.domain[0], "STC"), **_mean(parts)}


@dataclass(frozen=True)
class Spreading(Measured):
    """Dispersion and discrepancy of groups of a generator."""

    program: str
    relation: str
    generator: str
    trials: int
    groups: int = 1000

    def _figures(self, seed: int) -> dict[str, float]:
        relation = relation_of(self.program, self.relation)
        made = [generate(relation, self.generator, self.groups, seed + k).sources for k in range(self.trials)]
        return _mean([_both(relation, sources) for sources in made])


@dataclass(frozen=True)
class Timing(Measured):
    """Seconds to make groups, kernels being compiled."""

    program: str
    relation: str
    generator: str
    groups: int = 10_000

    def _figures(self, seed: int) -> dict[str, float]:
        relation = relation_of(self.program, self.relation)
        generate(relation, self.generator, 100, seed)
        began = time.perf_counter()
        generate(relation, self.generator, self.groups, seed)
        return {"generation": time.perf_counter() - began}


@dataclass(frozen=True)
class Pairing(Measured):
    """Seconds to choose pairs of relation and group, and how these lie: the mean over relations, sources and follow-ups."""

    program: str
    relations: tuple[str, ...]
    selector: str
    k: int
    pairs: int = 10_000

    def _figures(self, seed: int) -> dict[str, float]:
        shared = programs[self.program].shared()
        made = find_selector(self.selector)([shared[name] for name in self.relations], k=self.k, published=True)
        made.clone(seed).propose(100)
        began = time.perf_counter()
        picks = made.clone(seed).propose(self.pairs)
        seconds = time.perf_counter() - began
        lie = []
        for number, relation in enumerate(made.relations):
            sources = picks.sources[picks.relation == number]
            if len(sources) > 1:
                lie.append(_both(relation, sources))
        found = _mean(lie)
        means = {
            what: (found[f"{what} STC max-min"] + found[f"{what} FTC max-min"]) / 2
            for what in ("dispersion", "discrepancy")
        }
        return {"generation": seconds, **means}


@dataclass(frozen=True)
class Breaking(Measured):
    """How often each mutant of a program breaks each of its relations, all of one source domain."""

    program: str
    inputs: int

    def _figures(self, seed: int) -> dict[str, float]:
        subject = programs[self.program]
        found = {}
        for name, relation in subject.shared().items():
            trial = GroupSample.draw(relation, self.inputs, seed)
            for id, mutant in subject.mutants.items():
                violated = trial.judge(mutant) == VIOLATED
                found[f"{id} {name}"] = float(np.mean(violated))
                kind = trial.classify_region(violated)
                found |= {f"{id} {name} {each}": float(kind == each) for each in ("block", "point", "strip")}
        return found
