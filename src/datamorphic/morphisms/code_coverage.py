"""The share of the lines or branches of a system's code that a test set executes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._typing import CodeLike
from ..errors import ModelError
from ..runs.driver import drive
from ..runs.flow import ask
from ..systems.base import Executor
from ..systems.code_recorder import CodeRecorder
from .cases import TestSet


def make_recorder(metric: str, system: Executor | None, owner: str, code: CodeLike | None = None) -> CodeRecorder:
    """Return what measures a metric of a system; raise `ModelError` if there is no system."""
    if system is None:
        raise ModelError(
            f"{metric} is about the code of a system, but {owner} has none. Mark the function that queries it with @executor."
        )
    return CodeRecorder(system, code)


def measure_code_coverage(
    metric: str,
    system: Executor | None,
    tests: TestSet,
    *,
    owner: str,
    code: CodeLike | None = None,
    drive: Callable[..., Any] = drive,
    **details: Any,
) -> float:
    """Return the share of the lines or branches that some case executes; `details` are options of `drive`."""
    recorder = make_recorder(metric, system, owner, code)
    count = recorder.count_items(metric)
    if not len(tests):
        return 0.0
    record = drive(ask(tests.inputs, scores=True), recorder, **details).scores
    return 0.0 if record is None else float((record[:, recorder.columns[metric]] > 0).any(axis=0).sum() / count)
