"""Invoke one morphism of any kind on a test set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import CodeLike, EngineLike
from ..errors import DataError, TestSystemError
from ..runs.driver import CallCounter
from ..runs.flow import Budget
from ..systems.code_recorder import CODE_METRICS
from . import stock
from .case_statistics import compute_statistics, list_failures, measure_distances
from .cases import TestSet
from .code_coverage import measure_code_coverage
from .morphism import Morphism, normalise_name
from .system import TestSystem, judge_verdicts

#: functions of every test set, by kind and name, for test systems that do not have their own
STOCK_FUNCTIONS: dict[str, dict[str, Callable[[TestSet], Any]]] = {
    "case_metric": {"nearest_distance": stock.nearest_distance},
    "set_metric": {
        "mean_nearest_distance": stock.mean_nearest_distance,
        "std_nearest_distance": stock.std_nearest_distance,
        "label_balance": stock.label_balance,
    },
    "set_filter": {"drop_duplicates": TestSet.drop_duplicates},
    "analyser": {"statistics": compute_statistics, "failures": list_failures, "distances": measure_distances},
}
STOCK_NAMES = {kind: list(functions) for kind, functions in STOCK_FUNCTIONS.items()}
STOCK_NAMES["set_metric"] += CODE_METRICS  # which query the system


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """The result of a morphism: a test set, and a value for all cases or one per case."""

    name: str
    kind: str
    tests: TestSet | None = None  # the test set afterwards
    changed: bool = False  # whether it differs from the one before
    values: npt.NDArray[Any] | None = None  # of a case metric, or the verdicts of a metamorphism, one per case
    answer: Any = None  # the value of a set metric or an analyser
    tally: CallCounter = field(default_factory=CallCounter)


def invoke(
    system: TestSystem,
    name: str,
    tests: TestSet | None = None,
    *,
    kind: str | None = None,
    n: int | None = None,
    seed: int = 0,
    engine: EngineLike = None,
    budget: Budget | str | float | None = None,
    timeout: float | None = None,
    progress: bool | None = None,
    code: CodeLike | None = None,
) -> Invocation:
    """Invoke a morphism of a test system on a test set.

    A seed maker adds seed cases (`n`, if it takes a number). A datamorphism adds new cases made from all cases; if it takes
    several, the others are cases of the set drawn with `seed`. Filters leave cases out. The executor gives outputs. A
    metamorphism gives the correctness as it alone judges it. Metrics and analysers give a value. `code` is what the metrics
    ``line_coverage`` and ``branch_coverage`` count, as in `optimise`.
    """
    morphism = _find(system, name, kind)
    if isinstance(morphism, Morphism):
        actual_name, actual_kind = morphism.name, morphism.mark.kind
    else:
        actual_name, actual_kind = morphism
    if actual_kind == "seed_maker":
        seeds = system.make_seeds(actual_name, n=n, seed=seed)
        all_cases = seeds if tests is None else TestSet.concat([tests, seeds])
        return Invocation(name=actual_name, kind=actual_kind, tests=all_cases, changed=True)
    if tests is None:
        raise DataError(
            f"The {actual_kind} {actual_name!r} needs test cases. Give a test set, or a file on the command line."
        )
    answer: Any = None
    settings: dict[str, Any] = {"engine": engine, "budget": budget, "timeout": timeout, "progress": progress}
    if actual_name in CODE_METRICS and not isinstance(morphism, Morphism):
        tally = CallCounter()
        answer = measure_code_coverage(
            actual_name, system.sut, tests, owner=system.name, code=code, tally=tally, **settings
        )
        return Invocation(name=actual_name, kind=actual_kind, tests=tests, answer=answer, tally=tally)
    if not isinstance(morphism, Morphism):
        answer = STOCK_FUNCTIONS[actual_kind][actual_name](tests)
    elif actual_kind == "datamorphism":
        new_cases = system.mutate(actual_name, *_draw_arguments(tests, morphism.arity, seed), seed=seed)
        all_cases = TestSet.concat([tests, new_cases])
        return Invocation(name=actual_name, kind=actual_kind, tests=all_cases, changed=len(new_cases) > 0)
    elif actual_kind == "executor":
        tally = CallCounter()
        tests = system.execute(tests, tally=tally, **settings)
        return Invocation(name=actual_name, kind=actual_kind, tests=tests, changed=True, tally=tally)
    elif actual_kind == "metamorphism":
        if tests.outputs is None:
            raise DataError(f"The metamorphism {actual_name!r} compares outputs. Execute the test cases first.")
        verdicts = system.check(tests)[actual_name]
        tests = tests.with_correctness(judge_verdicts({actual_name: verdicts}, len(tests)))
        return Invocation(name=actual_name, kind=actual_kind, tests=tests, changed=True, values=verdicts)
    elif actual_kind in ("case_metric", "case_filter"):
        answer = morphism.evaluate_cases(tests)
    else:
        answer = morphism.evaluate_set(tests)
    if actual_kind == "case_metric":
        return Invocation(name=actual_name, kind=actual_kind, tests=tests, values=answer)
    if actual_kind in ("case_filter", "set_filter"):
        tests = tests.filter(answer) if actual_kind == "case_filter" else answer
        return Invocation(name=actual_name, kind=actual_kind, tests=tests, changed=True)
    return Invocation(name=actual_name, kind=actual_kind, tests=tests, answer=answer)


def _find(system: TestSystem, name: str, kind: str | None) -> Morphism | tuple[str, str]:
    """Return a morphism of the system, or the name and kind of a stock function."""
    try:
        return system.find_by_name(name, kind)
    except TestSystemError as error:
        for stock_kind, functions in STOCK_NAMES.items():
            for stock_name in functions:
                if normalise_name(stock_name) == normalise_name(name) and kind in (None, stock_kind):
                    return stock_name, stock_kind
        stock_names = [
            known for stock_kind, functions in STOCK_NAMES.items() for known in functions if kind in (None, stock_kind)
        ]
        hint = f" Every test set also has {', '.join(stock_names)}." if stock_names else ""
        raise TestSystemError(f"{error}{hint}") from None


def _draw_arguments(tests: TestSet, arity: int, seed: int) -> list[TestSet]:
    """Return the set itself, and for each further argument a set with another case for each case."""
    if arity > 1 and len(tests) < 2:
        raise DataError(f"A datamorphism of {arity} cases needs at least two test cases. Got {len(tests)}.")
    generator = np.random.default_rng(seed)
    arguments = [tests]
    rows = np.arange(len(tests))
    for _ in range(arity - 1):
        shifts = generator.integers(1, len(tests), size=len(tests))
        arguments.append(tests.take((rows + shifts) % len(tests)))
    return arguments
