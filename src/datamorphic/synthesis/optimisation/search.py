"""The genetic search: cycles of new cases and selection, as a flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ..._lazy import pd
from ..._text import pluralise
from ...errors import ArgumentError, DataError, Interrupted, OutOfBudget, SystemFailed
from ...morphisms.cases import TestSet
from ...runs.flow import Budget, Flow, Query
from .breeding import Breeder
from .metrics import FitnessMetric, Numbers
from .sorting import choose_compromise, choose_survivors
from .strategies import CaseJudge, OptimisationStrategy

MIN_CASES = 2  # of a test set that is optimised
MAX_SETS = 12  # none of which dominates another, kept for several metrics
SINGLE_METRIC_SHARE = 0.5  # of the cycles, if there are several metrics

StopReason = Literal["converged", "steps", "budget", "interrupted"]


@dataclass(frozen=True, kw_only=True)
class CycleRecord:
    """One cycle of the search: the best fitness so far, per metric, and what it cost."""

    cycle: int
    size: int
    fitness: Numbers
    executions: int  # cases executed so far
    improved: bool  # whether a set was found that is better in some metric
    sets: int = 1  # sets that are kept


@dataclass(kw_only=True)
class SearchRecord:
    """What a search found."""

    sets: list[TestSet]  # none dominates another; a single one for a single metric
    fitness: Numbers  # one row per set, one column per metric
    best: int  # the number of the set to use
    start_fitness: Numbers
    cycles: list[CycleRecord]
    pool: list[TestSet]  # all cases that were given or made, each once
    stopped: StopReason
    notes: list[str] = field(default_factory=list)


class GeneticSearch:
    """A search for a better test set.

    It ends after `max_cycles` cycles, or earlier if no metric has grown by a share of `change_rate` within `patience` cycles and
    none is 0. The best sets so far are the parents of the next cycle, so the fitness never falls.
    """

    def __init__(
        self,
        *,
        metrics: Sequence[FitnessMetric],
        strategy: OptimisationStrategy,
        breeder: Breeder,
        max_cycles: int,
        mutants_per_cycle: int,
        change_rate: float,
        patience: int,
        budget: Budget,
        executes: bool,  # whether cases are executed
    ) -> None:
        self.metrics, self.strategy, self.breeder = metrics, strategy, breeder
        self.max_cycles, self.mutants_per_cycle = max_cycles, mutants_per_cycle
        self.change_rate, self.patience = change_rate, patience
        self.budget, self.executes = budget, executes
        self.has_recorder = any(metric.recorder is not None for metric in metrics)

    def run(self, start: TestSet, rng: np.random.Generator) -> Flow[SearchRecord]:
        """Search from a test set; when the budget is spent, return the best sets so far."""
        executions = 0
        if self.executes:
            try:
                outputs = yield Query(start.inputs, self.has_recorder, progress=0.0, note="executing the first set")
            except OutOfBudget as error:
                if isinstance(error, Interrupted):
                    raise
                raise ArgumentError(
                    f"The budget is too small to execute the {pluralise(len(start), 'case')} to start from. Give a larger "
                    "budget, or start from fewer cases."
                ) from None
            if not outputs.ok.any():
                message = next(iter(outputs.messages.values()), "no reason is known")
                raise SystemFailed(f"No answer to any of the {pluralise(len(start), 'case')} to start from: {message}.")
            start = start.with_outputs(outputs)
            executions = len(start)
        pool: list[TestSet] = [start]
        remarks: list[str] = []
        start = self._apply_filters(start, remarks)
        for metric in self.metrics:
            metric.prepare(start)
        fitness = self._measure(start)
        self._validate_start(fitness)
        record = SearchRecord(
            sets=[start],
            fitness=fitness[None],
            best=0,
            start_fitness=fitness,
            cycles=[CycleRecord(cycle=0, size=len(start), fitness=fitness, executions=executions, improved=False)],
            pool=pool,
            stopped="steps",
            notes=remarks,
        )
        for cycle in range(1, self.max_cycles + 1):
            parent, partner, judge = self._choose_parents(record, rng)
            count = self._limit_count(executions)
            if count < 1:
                record.stopped = "budget"
                break
            draws_by_score = self.strategy.uses_scores and judge.has_cheap_scores
            scores = judge.score_cases(parent) if draws_by_score else None
            mutants = self.breeder.breed(parent, count, scores, rng)
            try:
                # without executions the query is empty: the loop looks at the clock and at Ctrl-C
                batch = mutants.inputs if self.executes else mutants.inputs.take(slice(0, 0))
                outputs = yield Query(
                    batch,
                    self.has_recorder,
                    progress=cycle / self.max_cycles,
                    note=f"cycle {cycle} of {self.max_cycles}",
                )
            except OutOfBudget as error:
                record.stopped = "interrupted" if isinstance(error, Interrupted) else "budget"
                break
            if self.executes:
                mutants = mutants.with_outputs(outputs)
                executions += len(mutants)
            improved = False
            if len(mutants):
                pool.append(mutants)
                new_cases = mutants if partner is None else _join_new(parent, mutants, partner)
                improved = self._add(record, self.strategy.select(parent, new_cases, judge, rng))
            record.cycles.append(
                CycleRecord(
                    cycle=cycle,
                    size=self.strategy.size,
                    fitness=record.fitness.max(axis=0),
                    executions=executions,
                    improved=improved,
                    sets=len(record.sets),
                )
            )
            if self._has_converged(record.cycles):
                record.stopped = "converged"
                break
        record.best = choose_compromise(record.fitness, record.start_fitness)
        return record

    def _choose_parents(
        self, record: SearchRecord, rng: np.random.Generator
    ) -> tuple[TestSet, TestSet | None, CaseJudge]:
        """Return the set to start a cycle from, another one to mix with it, and what judges their cases.

        With several metrics, half of the cycles improve the best set of a single metric. The others mix two sets, and judge
        their cases by all metrics.
        """
        if len(self.metrics) == 1:
            return record.sets[0], None, CaseJudge(self.metrics, np.ones(1))
        if rng.random() < SINGLE_METRIC_SHARE:
            number = int(rng.integers(len(self.metrics)))
            best = int(record.fitness[:, number].argmax())
            return record.sets[best], None, CaseJudge([self.metrics[number]], np.ones(1))
        first, second = rng.integers(len(record.sets), size=2).tolist()
        judge = CaseJudge(self.metrics, rng.dirichlet(np.ones(len(self.metrics))))
        return record.sets[first], record.sets[second] if first != second else None, judge

    def _apply_filters(self, start: TestSet, remarks: list[str]) -> TestSet:
        """Return the first set as the declared filters leave it: sets of this size are compared."""
        tests = start
        for set_filter in self.strategy.filters:
            tests = set_filter(tests)
        if len(tests) < MIN_CASES:
            raise DataError(
                f"The filters leave {pluralise(len(tests), 'case')} of {len(start):,}. An optimisation needs at least "
                f"{MIN_CASES}: start from more cases, or use other filters."
            )
        if len(tests) != len(start):
            remarks.append(
                f"The filters left {len(tests):,} of the {pluralise(len(start), 'case')} to start from. Sets of "
                f"{pluralise(len(tests), 'case')} are compared."
            )
        self.strategy.size = len(tests)
        return tests

    def _measure(self, tests: TestSet) -> Numbers:
        return np.array([metric.measure(tests) for metric in self.metrics], dtype=np.float64)

    def _validate_start(self, fitness: Numbers) -> None:
        for metric, value in zip(self.metrics, fitness.tolist(), strict=True):
            if not np.isfinite(value):
                raise DataError(
                    f"The metric {metric.name} is {value} for the test set to start from. It must be a finite number."
                )

    def _limit_count(self, executions: int) -> int:
        """Return how many new cases a cycle may have, so that a budget of executions is not exceeded."""
        if self.budget.runs is None or not self.executes:
            return self.mutants_per_cycle
        return min(self.mutants_per_cycle, self.budget.runs - executions)

    def _add(self, record: SearchRecord, candidate: TestSet) -> bool:
        """Add a candidate if no set is better, and return whether it is better in some metric."""
        if len(candidate) != self.strategy.size:
            return False  # filters left too few; smaller sets cannot be compared
        fitness = self._measure(candidate)
        if not np.isfinite(fitness).all():
            return False
        is_new = not (record.fitness >= fitness).all(axis=1).any()
        union, sets = np.vstack([record.fitness, fitness]), [*record.sets, candidate]
        survivors = choose_survivors(union, MAX_SETS, record.start_fitness)
        record.fitness, record.sets = union[survivors], [sets[row] for row in survivors]
        return is_new

    def _has_converged(self, cycles: Sequence[CycleRecord]) -> bool:
        if len(cycles) <= self.patience:
            return False
        earlier, latest = cycles[-1 - self.patience].fitness, cycles[-1].fitness
        if (latest == 0).any():
            return False  # nothing is covered yet: the search may still come near to it
        growth = (latest - earlier) / np.maximum(np.abs(earlier), np.finfo(float).tiny)
        if len(self.metrics) > 1 and any(cycle.improved for cycle in cycles[-self.patience :]):
            return False
        return bool((growth < self.change_rate).all())


def _join_new(parent: TestSet, mutants: TestSet, partner: TestSet) -> TestSet:
    """Return new cases and those of another set, without cases whose input is in the first set or occurs twice."""
    others = TestSet.concat([partner.take(~np.isin(partner.ids, parent.ids)), mutants])
    codes = np.concatenate([parent.inputs.codes, others.inputs.codes])
    return others.filter(~pd.DataFrame(codes).duplicated().to_numpy()[len(parent) :])
