"""What is optimised: a test system, and the test set to start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._estimates import refuse_many_rows
from ..._lazy import pd
from ..._typing import DataLike
from ..._validation import is_number
from ...errors import ArgumentError, DataError
from ...morphisms.cases import TestSet
from ...morphisms.subject import SubjectUnderTest
from ...morphisms.system import TestSystem
from ...space.space import Space
from ...systems.base import Executor
from .metrics import FitnessMetric
from .search import MIN_CASES

DEFAULT_SEED_CASES = 200
GIVEN_MAKER = "given"  # what a case comes from that the user gave


@dataclass(frozen=True, kw_only=True)
class OptimisationSubject:
    """What is optimised: a test system, its system under test if it has one, the first test set, and the metrics."""

    name: str
    system: TestSystem
    sut: Executor | None
    tests: TestSet
    has_numeric_answers: bool = False
    notes: tuple[str, ...] = ()
    metrics: Sequence[FitnessMetric] = ()

    def __post_init__(self) -> None:
        if len(self.tests) < MIN_CASES:
            raise DataError(
                f"An optimisation needs at least {MIN_CASES} cases to start from. Got {len(self.tests)}: give more tests, or "
                "a larger number of seeds."
            )

    @classmethod
    def of_model(cls, subject: SubjectUnderTest, tests: TestSet | DataLike | None) -> OptimisationSubject:
        """Return a model with the moves of its space; its seed cases are the first test set, unless that is given."""
        return cls(
            name=subject.name,
            system=subject.system,
            sut=subject.sut,
            tests=tests if isinstance(tests, TestSet) else TestSet.of_seeds(subject.seeds, GIVEN_MAKER),
            has_numeric_answers=subject.has_numeric_answers,
            notes=tuple(subject.notes),
        )

    @classmethod
    def of_system(
        cls,
        system: TestSystem,
        tests: TestSet | DataLike | None,
        seeds: int | None,
        rng: np.random.Generator,
        *,
        space: Space | None = None,
        target: str | None = None,
    ) -> OptimisationSubject:
        """Return a test system with the tests that are given, or that it makes."""
        start = _build_tests(system, tests, seeds, space, target, rng)
        return cls(name=system.name, system=system, sut=system.sut, tests=start)


def _build_tests(
    system: TestSystem, tests: Any, seeds: int | None, space: Space | None, target: str | None, rng: np.random.Generator
) -> TestSet:
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
    refuse_many_rows("optimise", "seeds", seeds or 1, len(space or system.space or [0]))
    if system.seed_makers:
        made_tests = system.make_seeds(n=seeds, seed=rng)
        return made_tests if seeds is None else made_tests.take(slice(0, seeds))
    points = (space or system.known_space()).sample(seeds or DEFAULT_SEED_CASES, seed=rng, points=True)
    return TestSet.of_seeds(points)
