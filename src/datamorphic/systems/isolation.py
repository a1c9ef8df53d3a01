"""A system in a child process, so that it can be stopped when it hangs."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from contextlib import suppress
from functools import lru_cache
from typing import Any

from .._clock import read_clock
from .._text import pluralise
from .._validation import validate_timeout
from ..errors import DatamorphicError, ModelError, SystemDied, SystemHung, SystemRaised, format_error_line
from ..space.outputs import Outputs
from ..space.points import Batch
from .base import AnswerOrError, Executor, RemoteSystem, ScoreRequest, SystemTraits
from .child_process import MAX_START_ATTEMPTS, STARTUP_TIMEOUT_SECONDS, ChildProcess

MAX_WAIT_SECONDS = 0.2  # after which the clock is read again


class IsolatedSystem(RemoteSystem):
    """Runs a system in a child process, optionally with a time-out per batch.

    The child gets the system once and then only batches. A child that hangs is killed, and a new one is started for the next
    batch. The time-out is in seconds.
    """

    def __init__(self, inner: Executor, timeout: float | None = None) -> None:
        self._child: ChildProcess | None = None
        self._ended = False
        self._starting: Any = None  # the future of the start, until the child is ready
        super().__init__(inner)
        self.timeout = None if timeout is None else validate_timeout("timeout", "wrap", timeout)
        self.far = timeout is None  # batches sent together cannot be timed one by one

    def answers(self, batches: Sequence[Batch], scores: ScoreRequest) -> list[AnswerOrError]:
        """Send batches to the child together and return their outcomes."""
        from joblib.externals.loky.process_executor import BrokenProcessPool, ShutdownExecutorError

        rows = pluralise(sum(map(len, batches)), "row")
        try:
            child = self._ready_child()
            deadline = math.inf if self.timeout is None else read_clock() + self.timeout
            answers, traits = _await_result(child.submit(answer_in_worker, batches, scores), deadline)
        except NoAnswer:
            died = child.exit_code is not None  # which may be noticed late, on a busy machine
            self.close()
            failure: DatamorphicError = (
                SystemDied(f"its process ended while it answered {rows}")
                if died
                else SystemHung(f"it did not answer {rows} within {self.timeout:g} s")
            )
        except (BrokenProcessPool, ShutdownExecutorError):
            self.close()
            failure = SystemDied(f"its process ended while it answered {rows}")
        else:
            traits.apply_to(self)
            return answers
        return [failure] * len(batches)

    def start_early(self) -> None:
        """Start the child without waiting, so that several import libraries in parallel."""
        if self._child is None:
            with suppress(Exception):  # a failed start is reported with the first batch
                self._start()

    def _ready_child(self) -> ChildProcess:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        if self._ended:
            raise SystemDied("its run is over")
        for attempt in range(1, MAX_START_ATTEMPTS + 1):
            try:
                if self._child is None:
                    self._start()
                if self._starting is not None:
                    self._starting.result(timeout=STARTUP_TIMEOUT_SECONDS)
                    self._starting = None
                break
            except Exception as error:
                self.close()
                if isinstance(error, BrokenProcessPool) and attempt < MAX_START_ATTEMPTS:
                    continue  # it may have been killed from outside
                raise ModelError(
                    f"{self.name} cannot be sent to another process, which time-outs and workers need: it must be possible "
                    f"to pickle it ({type(error).__name__}). Define it at the top level of a module, or do without them."
                ) from None
        assert self._child is not None
        return self._child

    def _start(self) -> None:
        self._child = child = ChildProcess()
        self._starting = child.start(_receive_system, self.inner)

    def close(self) -> None:
        """End the child process."""
        child, self._child, self._starting = self._child, None, None
        if child is not None:
            child.close()

    def shut_down(self) -> None:
        """End the child process for good, even if a thread still queries the system."""
        self._ended = True
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_child": None, "_starting": None}

    def __del__(self) -> None:
        self.close()


def _await_result(future: Future[Any], deadline: float) -> Any:
    """Return the result of a future; raise `NoAnswer` when the deadline passes on the clock that tests can replace."""
    while True:
        seconds_left = deadline - read_clock()
        try:
            return future.result(timeout=min(max(0.0, seconds_left), MAX_WAIT_SECONDS))
        except NoAnswer:
            if seconds_left <= 0:
                raise


_system: Executor | None = None  # in the child process: the system it runs


def _receive_system(system: Executor) -> None:
    import pandas  # noqa: F401  (before the first batch, which is timed)

    global _system
    _system = system
    use_one_blas_thread()


def use_one_blas_thread() -> Any:
    """Limit linear algebra to one thread, for the same last digits; return an object that undoes it."""
    return _find_libraries(len(sys.modules)).limit(limits=1, user_api="blas")


def use_one_openmp_thread() -> Any:
    """Limit OpenMP to one thread: threads that wait for each other are slow on a busy machine; return a context manager."""
    return _find_libraries(len(sys.modules)).limit(limits=1, user_api="openmp")


@lru_cache(maxsize=1)
def _find_libraries(module_count: int) -> Any:
    """Return a controller of the loaded libraries; cached until modules are loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def answer_in_worker(
    batches: Sequence[Batch], scores: ScoreRequest, system: Executor | None = None
) -> tuple[list[AnswerOrError], SystemTraits]:
    """Answer batches in another process; errors that may not be picklable become `SystemRaised`."""
    system = system or _system
    assert system is not None
    answers: list[AnswerOrError] = [
        answer if isinstance(answer, Outputs | DatamorphicError) else SystemRaised(format_error_line(answer))
        for answer in system.answers(batches, scores)
    ]
    return answers, SystemTraits.from_system(system)
