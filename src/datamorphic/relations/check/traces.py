"""How much the executions of source and follow-up differ: the lines of a program that each of them executes."""

from __future__ import annotations

import inspect
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._validation import reject, validate_integer, validate_seed
from ...errors import ArgumentError
from ...runs.driver import drive
from ...runs.flow import Flow
from ...space.outputs import Outputs
from ...space.points import Batch
from ...systems.base import Executor, ScoreRequest, Wrapper
from ...systems.guard import GuardedSystem
from ..algebra.base import SystemRelation
from ..algebra.function import FunctionRelation
from ..catalogue.registry import RelationsLike, resolve_relations
from .model_session import build_fitted_subject

DEFAULT_INPUTS = 30  # counting lines is slow


def compare_traces(
    function: Callable[..., Any], relations: RelationsLike | None = None, *, inputs: int = DEFAULT_INPUTS, seed: int = 0
) -> pd.DataFrame:
    """Return how much the executions of a function differ between source and follow-ups, relation by relation.

    Relations whose executions differ more tend to find more faults (Cao et al. 2013), so that they should be checked first. Lines are
    those of the file that defines the function.

    Parameters
    ----------
    function : callable
        A Python function of numbers, called with one array per input.
    relations : FunctionRelation, or several
        The relations to compare; by default those of a program of `dm.programs`.
    inputs : int
        The number of groups that are executed per relation.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    DataFrame
        One row per relation, the greatest difference first: `traces`, the share of the executions of lines that source and
        follow-up do not have in common; `lines`, the share of executed lines that only one of them executes; and `groups`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> def size(x):
    ...     return [-value if value < 0 else value for value in x]
    >>> mirrored = dm.FunctionRelation(name="mirrored", domain=(-1, 1), follow_up=lambda x: -x)
    >>> compare_traces(size, mirrored)["relation"].tolist()
    ['mirrored']
    """
    if not callable(function):
        reject("function", "compare_traces", "a Python function", function)
    validate_integer("inputs", "compare_traces", inputs, 1)
    validate_seed("seed", "compare_traces", seed)
    own_relations = getattr(function, "relations", None)
    chosen = resolve_relations(
        own_relations if relations is None else relations, "relations", "compare_traces", "", own_relations
    )
    for relation in chosen:
        if not isinstance(relation, FunctionRelation):
            raise ArgumentError(
                f"compare_traces is about functions of numbers, but {relation.name!r} is no FunctionRelation. dm.mutate compares the "
                "traces of learners."
            )
    file = _find_file(function)
    rows = []
    for relation in chosen:
        assert isinstance(relation, SystemRelation)
        subject = build_fitted_subject(
            function, [relation], None, None, count=inputs, seed=seed, owner="compare_traces"
        )
        traced_system = TracedSystem(GuardedSystem(relation.system(subject.sut), recheck=0, alive=True), file)
        rng = np.random.default_rng(seed)
        drawn = relation.draw_inputs(subject.seeds, rng)
        fitted_relation = relation.fitted_to(subject.sut, subject.seeds)
        checks = (fitted_relation.check(drawn.take(slice(i, i + 1)), rng) for i in range(len(drawn)))
        differences = measure_traces(traced_system, checks)
        means = np.mean(differences, axis=0) if differences else (np.nan, np.nan)
        rows.append((relation.name, float(means[0]), float(means[1]), len(differences)))
    frame = pd.DataFrame(rows, columns=["relation", "traces", "lines", "groups"])
    return frame.sort_values("traces", ascending=False, kind="stable", ignore_index=True)


def measure_traces(system: TracedSystem, checks: Iterable[Flow[Any]]) -> list[tuple[float, float]]:
    """Return how much the executions of source and follow-up differ, and the lines they execute, check by check."""
    return drive(
        system.measure_differences(checks),
        system,
        batch=sys.maxsize,  # one trace per query
        cache=None,
        recheck=0,
        alive=True,
        progress=False,
    )


def _find_file(function: Callable[..., Any]) -> str:
    function = getattr(function, "function", function)  # of a program
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        raise ArgumentError(
            f"The lines of {getattr(function, '__name__', function)!r} cannot be counted: it is no Python function. Give one."
        )
    return str(code.co_filename)


class TracedSystem(Wrapper):
    """Counts the lines of a file that are executed per query."""

    def __init__(self, inner: Executor, file: str) -> None:
        super().__init__(inner)
        self._file = file
        self._traces: list[Counter[int]] = []
        self.lines: set[int] = set()
        self._is_warm = False

    def answer(self, batch: Batch, scores: ScoreRequest) -> Outputs:
        """Answer a query, and keep its trace."""
        if not self._is_warm:  # how a function is called is tried with its first call
            self.inner.execute(batch, scores=scores)
            self._is_warm = True
        with count_lines(self._file) as counts:
            outputs = self.inner.execute(batch, scores=scores)
        self._traces.append(counts)
        self.lines.update(counts)
        return outputs

    def measure_differences(self, checks: Iterable[Flow[Any]]) -> Flow[list[tuple[float, float]]]:
        """Run checks, and compare the executions of source and follow-ups in those that query both.

        A pair is the share of line executions that are not in both, and the share of lines that only one of them executes.
        """
        differences = []
        for check in checks:
            self._traces.clear()
            yield from check
            if len(self._traces) == 2:
                first, second = self._traces
                total, lines = (first | second).total(), len(first | second)
                shares = ((first & second).total() / total, len(first & second) / lines) if total else (1.0, 1.0)
                differences.append((1 - shares[0], 1 - shares[1]))
        return differences


@contextmanager
def count_lines(file: str) -> Iterator[Counter[int]]:
    """Count how often each line of a file is executed within the ``with`` block."""
    counts: Counter[int] = Counter()

    def trace_call(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        counts[frame.f_lineno] += 1
        return trace_line

    def trace_line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            counts[frame.f_lineno] += 1
        return trace_line

    before, before_in_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(trace_call)
    sys.settrace(trace_call)
    try:
        yield counts
    finally:
        sys.settrace(before)
        threading.settrace(before_in_threads)
