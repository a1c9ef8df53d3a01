"""The four strategies of optimisation: how a cycle chooses cases from the old set and the new cases.

Every strategy gets the set of the cycle and the new cases, and returns a candidate of the same size. It does not decide
whether the candidate is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from ..._text import suggest_name
from ...errors import ArgumentError
from ...morphisms.cases import TestSet
from ...morphisms.morphism import normalise_name
from ...space.features import Mask
from .diversity import thin_out_to
from .metrics import REMOVAL_ROUNDS, FitnessMetric, Numbers, RowNumbers, remove_in_rounds

SetFilter = Callable[[TestSet], TestSet]
DEFAULT_REPLACED_SHARE = 0.2  # of the set, by the strongest new cases


class CaseJudge:
    """Says what single cases contribute, to one metric or to several with weights."""

    def __init__(self, metrics: Sequence[FitnessMetric], weights: Numbers) -> None:
        self._metrics, self._weights = metrics, weights

    @property
    def has_cheap_scores(self) -> bool:
        """Whether scores may be computed often."""
        return all(metric.has_cheap_scores for metric in self._metrics)

    def score_cases(self, tests: TestSet) -> Numbers:
        """Return the contribution of each case; for several metrics, the weighted mean of its ranks."""
        if len(self._metrics) == 1:
            return self._metrics[0].score_cases(tests)
        ranks = [np.argsort(np.argsort(metric.score_cases(tests), kind="stable")) for metric in self._metrics]
        return np.asarray(self._weights @ np.array(ranks, dtype=np.float64))

    def find_needed(self, tests: TestSet) -> Mask:
        """Return cases that together cover all that the whole set covers."""
        return np.any([metric.find_needed(tests) for metric in self._metrics], axis=0)

    def choose_weakest(self, tests: TestSet, count: int, removable: Mask, rng: np.random.Generator) -> RowNumbers:
        """Return `count` of the removable rows that contribute least."""
        if not count:
            return np.empty(0, dtype=np.intp)
        if len(self._metrics) == 1:
            return self._metrics[0].choose_weakest(tests, count, removable, rng)
        rounds = REMOVAL_ROUNDS if self.has_cheap_scores else 1
        return remove_in_rounds(self.score_cases, tests, count, removable, rng, rounds=rounds)


class OptimisationStrategy:
    """A way to choose the cases of the next set.

    `size` is the number of cases to choose, `remove_ratio` the share of cases that are removed by the rule of the strategy,
    None for as many as it takes. `filters` are the filters that the test system declares for test sets.
    """

    name: ClassVar[str]
    uses_scores: ClassVar[bool] = False  # whether parents are drawn by their contributions

    def __init__(self, size: int, remove_ratio: float | None = None, filters: Sequence[SetFilter] = ()) -> None:
        self.size, self.remove_ratio, self.filters = size, remove_ratio, filters

    def select(self, tests: TestSet, mutants: TestSet, judge: CaseJudge, rng: np.random.Generator) -> TestSet:
        """Return the candidate: `size` cases of the set and the new cases."""
        raise NotImplementedError

    def _remove_weakest(self, tests: TestSet, count: int, judge: CaseJudge, rng: np.random.Generator) -> TestSet:
        return _leave_out(tests, judge.choose_weakest(tests, count, np.ones(len(tests), dtype=bool), rng))

    def _remove_at_random(self, tests: TestSet, rng: np.random.Generator) -> TestSet:
        excess = max(0, len(tests) - self.size)
        return _leave_out(tests, rng.choice(len(tests), size=excess, replace=False))


class FilterStrategy(OptimisationStrategy):
    """Add new cases, then apply the declared filters, or thin out: one of the two nearest cases goes, again and again.

    Thinning spares cases that a coverage would miss, because two near cases may show a border.
    """

    name = "GAOptimizeFilter"

    def select(self, tests: TestSet, mutants: TestSet, judge: CaseJudge, rng: np.random.Generator) -> TestSet:
        """Return the filtered set, without its weakest cases if the filters leave too many."""
        union = TestSet.concat([tests, mutants])
        if not self.filters:
            union = thin_out_to(union, self.size, ~judge.find_needed(union))
        for set_filter in self.filters:
            union = set_filter(union)
        return self._remove_weakest(union, max(0, len(union) - self.size), judge, rng)


class WeakestRemovalStrategy(OptimisationStrategy):
    """Add new cases, then remove those that contribute least."""

    name = "GAOptimizeWeakestRemoval"
    uses_scores = True

    def select(self, tests: TestSet, mutants: TestSet, judge: CaseJudge, rng: np.random.Generator) -> TestSet:
        """Return the set without its weakest cases; what `remove_ratio` leaves too many is removed at random."""
        union = TestSet.concat([tests, mutants])
        excess = max(0, len(union) - self.size)
        count = excess if self.remove_ratio is None else min(excess, round(self.remove_ratio * len(union)))
        return self._remove_at_random(self._remove_weakest(union, count, judge, rng), rng)


class StrongestMutantStrategy(OptimisationStrategy):
    """Let the new cases that contribute most replace the old cases that contribute least."""

    name = "GAOptimizeStrongestMutant"
    uses_scores = True

    def select(self, tests: TestSet, mutants: TestSet, judge: CaseJudge, rng: np.random.Generator) -> TestSet:
        """Return the set with a share `remove_ratio` of its cases replaced."""
        share = DEFAULT_REPLACED_SHARE if self.remove_ratio is None else self.remove_ratio
        count = min(len(mutants), max(1, round(share * len(tests))))
        scores = judge.score_cases(TestSet.concat([tests, mutants]))[len(tests) :]
        strongest = np.lexsort((rng.random(len(mutants)), -scores))[:count]
        union = TestSet.concat([tests, mutants.take(np.sort(strongest))])
        removable = np.arange(len(union)) < len(tests)
        return _leave_out(union, judge.choose_weakest(union, max(0, len(union) - self.size), removable, rng))


class RandomRemovalStrategy(OptimisationStrategy):
    """Add new cases, then remove cases at random."""

    name = "GAOptimizeRandomRemoval"

    def select(self, tests: TestSet, mutants: TestSet, judge: CaseJudge, rng: np.random.Generator) -> TestSet:
        """Return a random choice of old and new cases."""
        return self._remove_at_random(TestSet.concat([tests, mutants]), rng)


STRATEGIES: dict[str, type[OptimisationStrategy]] = {
    strategy.name: strategy
    for strategy in (FilterStrategy, WeakestRemovalStrategy, StrongestMutantStrategy, RandomRemovalStrategy)
}


#: the plain names of the strategies
PLAIN_NAMES: dict[str, type[OptimisationStrategy]] = {
    "filter": FilterStrategy,
    "weakest_removal": WeakestRemovalStrategy,
    "strongest_mutant": StrongestMutantStrategy,
    "random_removal": RandomRemovalStrategy,
}


def find_strategy(name: str) -> type[OptimisationStrategy]:
    """Return a strategy by its plain or its published name, in any style of writing."""
    known = PLAIN_NAMES | STRATEGIES | {name.removeprefix("GA"): strategy for name, strategy in STRATEGIES.items()}
    for known_name, strategy in known.items():
        if normalise_name(name) == normalise_name(known_name):
            return strategy
    raise ArgumentError(f"optimise has no strategy {name!r}. {suggest_name(name, [*PLAIN_NAMES, *STRATEGIES])}")


def _leave_out(tests: TestSet, rows: RowNumbers) -> TestSet:
    keep = np.ones(len(tests), dtype=bool)
    keep[rows] = False
    return tests.take(keep)
