"""Make new cases from a test set: mutation by unary datamorphisms, crossover by binary ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..._lazy import pd
from ..._text import pluralise
from ...errors import TestSystemError
from ...morphisms.cases import TestSet
from ...morphisms.morphism import Morphism
from ...morphisms.system import TestSystem
from ...space.encoding import find_fault
from ...space.features import Codes, Integer, Mask
from ...space.neighbours import find_nearest
from ...space.points import Points
from .metrics import Numbers, RowNumbers

CROSSOVER_SHARE = 0.5  # of new cases, if there are both unary and binary datamorphisms
NEAR_PARTNER_SHARE = 0.5  # of crossovers; the others are with any case
NEAR_PARTNERS = 8  # nearest cases among which such a partner is drawn


class Breeder:
    """Makes new cases, which stay in the ranges of the space or, where it has no bounds, of the first test set."""

    def __init__(self, system: TestSystem, names: Sequence[str] | None, start: TestSet) -> None:
        self._system = system
        self.datamorphisms = find_datamorphisms(system, names)
        self._unary = [morphism for morphism in self.datamorphisms if morphism.arity == 1]
        self._others = [morphism for morphism in self.datamorphisms if morphism.arity > 1]
        self._lows, self._highs = _find_ranges(start)
        self._next_id = start.next_id

    def breed(self, tests: TestSet, count: int, scores: Numbers | None, rng: np.random.Generator) -> TestSet:
        """Return at most `count` new cases that differ from each other and from all cases of the set.

        Parents are drawn at random, with scores the better one of two.
        """
        crossover_share = CROSSOVER_SHARE if self._unary and self._others else float(not self._unary)
        is_crossover = rng.random(count) < crossover_share
        numbers = np.where(
            is_crossover,
            len(self._unary) + rng.integers(max(1, len(self._others)), size=count),
            rng.integers(max(1, len(self._unary)), size=count),
        )
        parents = _draw_parents(len(tests), count, scores, rng)
        parts = []
        for number, morphism in enumerate([*self._unary, *self._others]):
            rows = parents[numbers == number]
            if rows.size:
                columns = [rows, *(self._draw_partners(tests, rows, rng) for _ in range(morphism.arity - 1))]
                parents_in_turn = [tests.take(column) for column in columns]
                mutants = self._system.mutate(morphism.name, *parents_in_turn, seed=rng, lenient=True)
                parts.append(self._number(_drop_outside(morphism, mutants)))
        mutants = TestSet.concat(parts)
        return mutants.filter(self._find_new(tests, mutants))

    def _draw_partners(self, tests: TestSet, rows: RowNumbers, rng: np.random.Generator) -> RowNumbers:
        """Return a partner for each row: one of its nearest cases, or any case."""
        partners = rng.integers(len(tests), size=rows.size)
        near = np.flatnonzero(rng.random(rows.size) < NEAR_PARTNER_SHARE)
        codes = tests.inputs.codes
        neighbours = find_nearest(tests.space, codes[rows[near]], codes, min(len(tests), NEAR_PARTNERS + 1))[1]
        choice = rng.integers(neighbours.shape[1], size=near.size)
        partners[near] = neighbours[np.arange(near.size), choice]
        return partners

    def _find_new(self, tests: TestSet, mutants: TestSet) -> Mask:
        """Return which new cases are in the ranges, satisfy the constraints and have not been there before."""
        codes = mutants.inputs.codes
        with np.errstate(invalid="ignore"):
            inside = ~((codes < self._lows) | (codes > self._highs)).any(axis=1)
        inside &= tests.space.satisfied(codes)
        repeated = pd.DataFrame(np.concatenate([tests.inputs.codes, codes])).duplicated().to_numpy()
        return np.asarray(inside & ~repeated[len(tests) :])

    def _number(self, mutants: TestSet) -> TestSet:
        """Return new cases with ids that no case had before."""
        numbered = mutants.renumbered(self._next_id)
        self._next_id += len(mutants)
        return numbered


def find_datamorphisms(system: TestSystem, names: Sequence[str] | None) -> list[Morphism]:
    """Return the datamorphisms of these names, all by default."""
    if names is None:
        chosen = list(system.datamorphisms.values())
    else:
        chosen = list(
            {morphism.name: morphism for morphism in (system.find("datamorphism", n) for n in names)}.values()
        )
    if not chosen:
        raise TestSystemError(
            f"{system.name} has no datamorphism to make new cases with. Mark a function with @datamorphism."
        )
    return chosen


def _drop_outside(morphism: Morphism, mutants: TestSet) -> TestSet:
    """Return the new cases within the bounds of the space; other invalid values are faults of the datamorphism.

    Datamorphisms are applied again and again, so that most leave the bounds sooner or later.
    """
    if morphism.derived or morphism.mark.points:
        return mutants
    features, open_ends = mutants.space.features, mutants.space.moves == "open"
    codes = np.array(mutants.inputs.codes, order="F")
    inside = np.ones(len(mutants), dtype=bool)
    for j, feature in enumerate(features):
        if isinstance(feature, Integer) and feature.rounds:
            codes[:, j] = np.rint(codes[:, j])
        if isinstance(feature, Integer) or (feature.kind == "continuous" and not open_ends):
            outside = (codes[:, j] < feature.low) | (codes[:, j] > feature.high)
            inside &= ~(outside & np.isfinite(codes[:, j]))  # text instead of numbers is infinite
    cases = replace(mutants, inputs=Points(mutants.space, codes)).filter(inside)
    for j, feature in enumerate(features):
        if (fault := find_fault(feature, cases.inputs.codes[:, j], open_ends)) is not None:
            problem = (
                f"{pluralise(int(fault.rows.sum()), 'value')} of {feature.name!r}: {fault.problem}. {fault.remedy}"
            )
            morphism.fail(f"returned inputs that are not in the space: {problem}".rstrip())
    return cases


def _draw_parents(n: int, count: int, scores: Numbers | None, rng: np.random.Generator) -> RowNumbers:
    first = rng.integers(n, size=count)
    if scores is None:
        return first
    second = rng.integers(n, size=count)
    return np.where(scores[second] > scores[first], second, first)


def _find_ranges(start: TestSet) -> tuple[Codes, Codes]:
    """Return the lowest and the highest value that new cases may have, per feature."""
    codes = start.inputs.codes
    with np.errstate(invalid="ignore"):
        lows = np.nanmin(np.where(np.isnan(codes), np.inf, codes), axis=0)
        highs = np.nanmax(np.where(np.isnan(codes), -np.inf, codes), axis=0)
    for j, feature in enumerate(start.space.features):
        lows[j] = min(lows[j], feature.low) if np.isfinite(feature.low) else lows[j]
        highs[j] = max(highs[j], feature.high) if np.isfinite(feature.high) else highs[j]
    return lows, highs
