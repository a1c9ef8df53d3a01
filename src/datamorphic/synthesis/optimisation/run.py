"""`dm.optimise`: improve a test set by a genetic algorithm."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral

import numpy as np

from ..._estimates import LIMIT_TIME, WorkPace
from ..._text import pluralise
from ..._typing import SeedLike
from ...core.capability import capability
from ...core.execute import Execution
from ...errors import SystemFailed
from ...morphisms.cases import TestSet
from ...morphisms.morphism import Morphism
from ...morphisms.system import TestSystem
from ...runs.driver import CallCounter, FlowDriver
from ...space.outputs import Status
from ...systems.base import Function
from .breeding import Breeder
from .diversity import MeanNearestDistance
from .options import OptimiseOptions, SearchOptions
from .result import Optimisation
from .search import GeneticSearch
from .strategies import FilterStrategy, SetFilter, WeakestRemovalStrategy, find_strategy
from .subject import OptimisationSubject


@capability(OptimiseOptions)
def optimise(options: OptimiseOptions, execution: Execution[OptimisationSubject]) -> Optimisation:
    """Improve a test set by a genetic algorithm, and return the best set found.

    The genes are test cases. Each cycle makes new cases with the datamorphisms of the test system, unary ones (mutation) and
    binary ones (crossover), and chooses as many cases from the old and the new ones as there were before. A candidate that is
    worse than the best set so far is discarded, so the metric never falls.

    Returns
    -------
    Optimisation
        With ``.tests``, ``.fitness``, ``.gain``, ``.history``, ``.pool``, and for several metrics ``.sets`` and
        ``.trade_offs``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> better = dm.optimise(dm.subjects["Box 2"], "weakest_removal", seeds=50, max_cycles=20)
    >>> len(better.tests), better.gain["mean_nearest_distance"] > 0.25
    (50, True)
    """
    subject = execution.subject
    has_answers = _needs_execution(subject, _find_filters(subject.system, options))
    # without answers, a resumed run starts again
    drive = execution.drive if has_answers else partial(execution.drive, journal=None)
    return run_optimisation(subject, execution.rng, options, drive, seed=execution.seed)


def run_optimisation(
    subject: OptimisationSubject,
    rng: np.random.Generator,
    options: SearchOptions,
    drive: FlowDriver,
    *,
    seed: SeedLike = None,
) -> Optimisation:
    """Optimise the test set of a subject; `seed` is what `rng` was made from, and `drive` queries the system."""
    filters, metrics = _find_filters(subject.system, options), subject.metrics
    set_filters: list[SetFilter] = [partial(_apply_filter, morphism) for morphism in filters]
    breeder = Breeder(subject.system, options.datamorphisms, subject.tests)
    search = GeneticSearch(
        metrics=metrics,
        strategy=find_strategy(options.strategy)(len(subject.tests), options.remove_ratio, set_filters),
        breeder=breeder,
        max_cycles=options.max_cycles,
        mutants_per_cycle=max(1, round(options.mutant_ratio * len(subject.tests))),
        change_rate=options.change_rate,
        patience=options.patience,
        budget=options.limits,
        executes=_needs_execution(subject, filters),
    )
    counter = CallCounter()
    recorder = next((metric.recorder for metric in metrics if metric.recorder is not None), None)
    record = drive(
        search.run(subject.tests, rng),
        recorder or subject.sut or Function(_refuse_execution, subject.tests.space, name=subject.name),
        tally=counter,
        limits=options.limits,
        pace=WorkPace(options.OWNER, {"max_cycles": options.max_cycles}, remedy=LIMIT_TIME),
    )
    _raise_if_all_failed(subject.name, counter)
    if recorder is not None:
        record.sets, record.pool = list(map(_drop_scores, record.sets)), list(map(_drop_scores, record.pool))
    settings = options.to_settings() | {
        "datamorphisms": [morphism.name for morphism in breeder.datamorphisms],
        "filters": [morphism.name for morphism in filters],
        "seed": int(seed) if isinstance(seed, Integral) else None,
    }
    remarks = [metric.remark for metric in metrics if metric.remark]
    other_metrics = [metric.name for metric in metrics if not isinstance(metric, MeanNearestDistance)]
    if options.strategy == FilterStrategy.name and not filters and other_metrics:
        remarks.append(
            f"{FilterStrategy.name} thinned the set by distance, since no set filter is used. For {other_metrics[0]}, "
            f"{WeakestRemovalStrategy.name} usually gains more."
        )
    return Optimisation(
        system=subject.name,
        strategy=options.strategy,
        tests=record.sets[record.best],
        metrics=tuple(metric.name for metric in metrics),
        sets=tuple(record.sets),
        set_fitness=record.fitness,
        best=record.best,
        start=record.pool[0],
        start_values=record.start_fitness,
        cycles=tuple(record.cycles),
        pool_parts=tuple(record.pool),
        stopped=record.stopped,
        settings=settings,
        notes=[*subject.notes, *record.notes, *remarks],
        tally=counter,
        measures=metrics,
    )


def _needs_execution(subject: OptimisationSubject, filters: list[Morphism]) -> bool:
    """Return whether cases are executed: if a metric looks at outputs, or a filter, which may do so."""
    looks_at_outputs = any(metric.needs_outputs for metric in subject.metrics)
    return subject.sut is not None and (looks_at_outputs or bool(filters))


def _find_filters(system: TestSystem, options: SearchOptions) -> list[Morphism]:
    """Return the set filters that are named, or all that the system declares."""
    if find_strategy(options.strategy) is not FilterStrategy:
        return []
    if options.filters is None:
        return list(system.set_filters.values())
    return [system.find("set_filter", name) for name in options.filters]


def _apply_filter(morphism: Morphism, tests: TestSet) -> TestSet:
    filtered: TestSet = morphism.evaluate_set(tests)
    return filtered


def _drop_scores(tests: TestSet) -> TestSet:
    """Return a test set without what its metrics alone need to know."""
    return tests if tests.outputs is None else tests.with_outputs(replace(tests.outputs, scores=None))


def _refuse_execution(frame: object) -> None:
    raise AssertionError("nothing is executed without a system under test")


def _raise_if_all_failed(name: str, counter: CallCounter) -> None:
    status_counts = counter.health.status_counts
    failed_count = sum(count for status, count in status_counts.items() if status != Status.NEW_LABEL)
    if counter.calls and failed_count >= counter.calls:
        message = counter.incidents["message"].iloc[0]
        raise SystemFailed(f"{name} gave no answer to any of {pluralise(counter.calls, 'row')}: {message}.")
