"""Run an optimisation: build metrics, strategy and breeder, drive the search, and build the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from ..._estimates import LIMIT_TIME, WorkPace, refuse_many_rows
from ..._text import pluralize
from ..._typing import DataLike, ModelLike, SeedLike
from ..._validation import is_number, validate_integer
from ...errors import ArgumentError, DataError, SystemFailed
from ...morphisms.cases import TestSet
from ...morphisms.morphism import Morphism
from ...morphisms.subject import build_subject
from ...morphisms.system import TestSystem, has_morphisms
from ...runs.driver import CallCounter, drive
from ...runs.engine_base import Engine
from ...space.outputs import Status
from ...space.points import Points
from ...space.space import Space
from ...systems.base import Executor, Function
from .breeding import Breeder
from .diversity import MeanNearestDistance
from .metrics import FitnessMetric
from .options import OptimiseOptions
from .result import Optimisation
from .search import MIN_CASES, GeneticSearch
from .strategies import FilterStrategy, SetFilter, WeakestRemovalStrategy, find_strategy

if TYPE_CHECKING:
    from ...runs.session import Session

DEFAULT_SEED_CASES = 200
GIVEN_MAKER = "given"  # what a case comes from that the user gave


@dataclass(frozen=True, kw_only=True)
class OptimisationSubject:
    """What is optimised: a test system, its system under test if it has one, and the first test set."""

    name: str
    system: TestSystem
    sut: Executor | None
    tests: TestSet
    has_numeric_answers: bool = False
    notes: tuple[str, ...] = ()


def build_optimisation_subject(
    model: ModelLike,
    tests: TestSet | DataLike | None,
    seeds: int | None,
    rng: np.random.Generator,
    *,
    target: str | None = None,
    space: Space | None = None,
    **wrap_options: object,
) -> OptimisationSubject:
    """Return a test system, or a model with the moves of its space, with the test set to start from."""
    if tests is not None and seeds is not None:
        raise ArgumentError("tests are the cases to start from, and seeds the number of cases to make. Give only one.")
    if seeds is not None:
        validate_integer("seeds", "optimise", seeds, low=MIN_CASES)
    if hasattr(model, "fit") or not has_morphisms(model):
        subject = _build_model_subject(model, tests, seeds, rng, target, space, wrap_options)
    else:
        system = TestSystem.collect(model)
        start = _build_tests(system, tests, seeds, space, target, rng)
        subject = OptimisationSubject(name=system.name, system=system, sut=system.sut, tests=start)
    if len(subject.tests) < MIN_CASES:
        raise DataError(
            f"An optimisation needs at least {MIN_CASES} cases to start from. Got {len(subject.tests)}: give more tests, or "
            "a larger number of seeds."
        )
    return subject


def _build_model_subject(
    model: ModelLike,
    tests: TestSet | DataLike | None,
    seeds: int | None,
    rng: np.random.Generator,
    target: str | None,
    space: Space | None,
    wrap_options: dict[str, object],
) -> OptimisationSubject:
    data = tests.inputs if isinstance(tests, TestSet) else tests
    subject = build_subject(
        model,
        data,
        target=target,
        space=space,
        seeds=seeds,
        rng=rng,
        owner="optimise",
        **wrap_options,  # type: ignore[arg-type]  # as `build_subject` takes them
    )
    start = tests if isinstance(tests, TestSet) else TestSet.of_seeds(subject.seeds, GIVEN_MAKER)
    return OptimisationSubject(
        name=subject.name,
        system=subject.system,
        sut=subject.sut,
        tests=start,
        has_numeric_answers=subject.has_numeric_answers,
        notes=tuple(subject.notes),
    )


def _build_tests(
    system: TestSystem,
    tests: TestSet | DataLike | None,
    seeds: int | None,
    space: Space | None,
    target: str | None,
    rng: np.random.Generator,
) -> TestSet:
    """Return the tests that are given, or those that a test system makes."""
    import pandas as pd

    if isinstance(tests, TestSet):
        known_space = space or system.space
        if known_space is None or known_space.features == tests.space.features:
            return tests
        return replace(tests, inputs=known_space.points(tests.input))  # read from a file, with other bounds
    if is_number(tests):
        raise ArgumentError(f"tests must be a TestSet or a frame. For a number of cases to make: seeds={tests!r}.")
    if tests is not None:
        known_space = space or system.known_space()
        frame = tests.drop(columns=[target]) if isinstance(tests, pd.DataFrame) and target in tests else tests
        if isinstance(frame, pd.DataFrame) and set(known_space.names) <= set(frame.columns):
            frame = frame[list(known_space.names)]  # other columns are not inputs
        return TestSet.of_seeds(known_space.points(frame), GIVEN_MAKER)
    refuse_many_rows(OptimiseOptions.OWNER, "seeds", seeds or 1, len(space or system.space or [0]))
    if system.seed_makers:
        made_tests = system.make_seeds(n=seeds, seed=rng)
        return made_tests if seeds is None else made_tests.take(slice(0, seeds))
    points: Points = (space or system.known_space()).sample(seeds or DEFAULT_SEED_CASES, seed=rng, points=True)
    return TestSet.of_seeds(points)


def run_optimisation(
    subject: OptimisationSubject,
    metrics: list[FitnessMetric],
    rng: np.random.Generator,
    options: OptimiseOptions,
    *,
    seed: SeedLike = None,
    engine: Engine | None = None,
    progress: bool | None = None,
    session: Session | None = None,
) -> Optimisation:
    """Optimise the test set of a subject; `seed` is what `rng` was made from, and a `session` records the run."""
    filters = _find_filters(subject.system, options)
    set_filters: list[SetFilter] = [partial(_apply_filter, morphism) for morphism in filters]
    breeder = Breeder(subject.system, options.datamorphisms, subject.tests)
    search = GeneticSearch(
        metrics=metrics,
        strategy=find_strategy(options.strategy)(len(subject.tests), options.remove_ratio, set_filters),
        breeder=breeder,
        steps=options.steps,
        mutants_per_cycle=max(1, round(options.mutant_ratio * len(subject.tests))),
        change_rate=options.change_rate,
        patience=options.patience,
        budget=options.limits,
        executes=needs_execution(subject, metrics, options),
    )
    counter = CallCounter()
    record = drive(
        search.run(subject.tests, rng),
        subject.sut or Function(_refuse_execution, subject.tests.space, name=subject.name),
        budget=options.budget,
        tally=counter,
        progress=progress,
        timeout=options.timeout,
        engine=engine,
        batch=options.batch,
        journal=session.journal if session is not None else None,
        pace=WorkPace(options.OWNER, {"steps": options.steps}, remedy=LIMIT_TIME),
    )
    _raise_if_all_failed(subject.name, counter)
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


def needs_execution(subject: OptimisationSubject, metrics: Sequence[FitnessMetric], options: OptimiseOptions) -> bool:
    """Return whether cases are executed: if a metric looks at outputs, or a filter, which may do so."""
    looks_at_outputs = any(metric.needs_outputs for metric in metrics)
    return subject.sut is not None and (looks_at_outputs or bool(_find_filters(subject.system, options)))


def _find_filters(system: TestSystem, options: OptimiseOptions) -> list[Morphism]:
    """Return the set filters that are named, or all that the system declares."""
    if find_strategy(options.strategy) is not FilterStrategy:
        return []
    if options.filters is None:
        return list(system.set_filters.values())
    return [system.find("set_filter", name) for name in options.filters]


def _apply_filter(morphism: Morphism, tests: TestSet) -> TestSet:
    filtered: TestSet = morphism.evaluate_set(tests)
    return filtered


def _refuse_execution(frame: object) -> None:
    raise AssertionError("nothing is executed without a system under test")


def _raise_if_all_failed(name: str, counter: CallCounter) -> None:
    status_counts = counter.health.status_counts
    failed_count = sum(count for status, count in status_counts.items() if status != Status.NEW_LABEL)
    if counter.calls and failed_count >= counter.calls:
        message = counter.incidents["message"].iloc[0]
        raise SystemFailed(f"{name} gave no answer to any of {pluralize(counter.calls, 'row')}: {message}.")
