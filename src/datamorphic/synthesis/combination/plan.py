"""What is combined: the seed cases, the datamorphisms, and the chains of the strategy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..._estimates import refuse_many_rows
from ..._text import pluralise
from ..._typing import DataLike
from ..._validation import is_number, validate_integer
from ...errors import ArgumentError, TestSystemError
from ...morphisms.cases import TestSet
from ...morphisms.morphism import Morphism
from ...morphisms.subject import DEFAULT_SEED_CASES
from ...morphisms.system import TestSystem
from .chains import RULES, ChainRule

ARGUMENTS = ("seeds", "cases")  # what a datamorphism of several inputs takes besides the case of the chain


@dataclass(frozen=True, eq=False, kw_only=True)
class CombinationPlan:
    """What is combined: seed cases with different inputs, datamorphisms, and the chains of the strategy."""

    system: TestSystem
    seeds: TestSet
    datamorphisms: Sequence[Morphism]
    rule: ChainRule
    arguments: str = "seeds"
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def size(self) -> int:
        """The number of new cases if all chains give different ones and no filter ends one."""
        if self.arguments == "seeds":
            return len(self.seeds) * self.rule.count
        return self.rule.count_compositions(len(self.seeds), [morphism.arity for morphism in self.datamorphisms])

    @classmethod
    def build(
        cls,
        system: TestSystem,
        seed_cases: TestSet,
        strategy: str,
        order: int | None,
        datamorphism_names: Sequence[str] | None,
        arguments: str = "seeds",
    ) -> CombinationPlan:
        """Choose the datamorphisms, leave out equal seed cases, and count the chains."""
        notes: list[str] = []
        datamorphisms = _select_datamorphisms(system, datamorphism_names)
        seeds = seed_cases.drop_duplicates()
        if len(seeds) < len(seed_cases):
            count = len(seed_cases) - len(seeds)
            notes.append(f"{pluralise(count, 'seed case')} left out, because an earlier one has the same input.")
        if not len(seeds):
            raise ArgumentError("There are no seed cases to start from. Give at least one.")
        # the number of ways to apply each datamorphism
        weights = tuple(math.perm(len(seeds) - 1, morphism.arity - 1) for morphism in datamorphisms)
        rule = RULES[strategy](weights, order)
        return cls(system=system, seeds=seeds, datamorphisms=datamorphisms, rule=rule, arguments=arguments, notes=notes)


def _select_datamorphisms(system: TestSystem, chosen_names: Sequence[str] | None) -> list[Morphism]:
    """Return the named datamorphisms, or all, in declared order."""
    if not system.datamorphisms:
        raise TestSystemError(f"{system.name} has no datamorphism to combine. Mark a function with @datamorphism.")
    if chosen_names is None:
        return list(system.datamorphisms.values())
    names = {system.find("datamorphism", name).name for name in chosen_names}
    return [morphism for name, morphism in system.datamorphisms.items() if name in names]


def collect_seeds(
    system: TestSystem, seeds: DataLike | TestSet | int | None, data: DataLike | None, seed: int, owner: str
) -> TestSet:
    """Return the seed cases that are given, or that the test system makes, or that are drawn from `data` or from its space."""
    rng = np.random.default_rng(seed)
    if isinstance(seeds, TestSet):
        if seeds.space.features != system.known_space().features:
            raise ArgumentError(
                f"The seed cases are of another space than that of {system.name}. Give cases of its space."
            )
        return seeds
    space = system.known_space()
    if seeds is None or is_number(seeds):
        count = None if seeds is None else validate_integer("seeds", owner, seeds, 1)
        if data is None or system.seed_makers:
            refuse_many_rows(owner, "seeds", count or 1, len(space))
        if system.seed_makers:
            made_seeds = system.make_seeds(n=count, seed=rng)
            return made_seeds if count is None else made_seeds.take(slice(0, count))
        if data is None:
            return TestSet.of_seeds(space.sample(count or DEFAULT_SEED_CASES, seed=rng, points=True), "sample")
        points = space.points(data)
        if count is not None and count < len(points):
            points = points.take(np.sort(rng.permutation(len(points))[:count]))
        return TestSet.of_seeds(points, "data")
    return TestSet.of_seeds(space.points(seeds), "data")
