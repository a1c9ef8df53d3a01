"""A system in a process of its own, so that it can be stopped when it hangs and missed when it dies."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import TimeoutError as NoAnswer
from contextlib import suppress
from functools import lru_cache
from typing import Any

from .._text import pluralize
from .._validation import validate_positive
from ..errors import DatamorphicError, ModelError, SystemDied, SystemHung, SystemRaised, format_error_line
from ..space.outputs import Outputs
from ..space.points import Batch
from .base import AnswerOrError, Executor, RemoteSystem, ScoreRequest, SystemTraits
from .child_process import MAX_START_ATTEMPTS, STARTUP_TIMEOUT_SECONDS, ChildProcess


class IsolatedSystem(RemoteSystem):
    """Runs the system in a child process; with a `timeout` in seconds it gives up on a batch that takes longer.

    The child gets the system once and then only batches. A child that hangs is killed; a new one takes its
    place at the next batch.
    """

    def __init__(self, inner: Executor, timeout: float | None = None) -> None:
        self._child: ChildProcess | None = None
        self._ended = False
        self._starting: Any = None  # tells when the child is ready, until it is
        super().__init__(inner)
        self.timeout = None if timeout is None else validate_positive("timeout", "Isolated", timeout)
        self.far = timeout is None  # batches that travel together could not be timed one by one

    def answers(self, batches: Sequence[Batch], scores: ScoreRequest) -> list[AnswerOrError]:
        """Send batches to the child, together, and wait for what comes of each."""
        from joblib.externals.loky.process_executor import BrokenProcessPool, ShutdownExecutorError

        rows = pluralize(sum(map(len, batches)), "row")
        try:
            answers, traits = (
                self._ready_child().submit(answer_in_worker, batches, scores).result(timeout=self.timeout)
            )
        except NoAnswer:
            self.close()
            failure: DatamorphicError = SystemHung(f"it gave no answer to {rows} in {self.timeout:g} s")
        except (BrokenProcessPool, ShutdownExecutorError):
            self.close()
            failure = SystemDied(f"its process ended while it was asked {rows}")
        else:
            traits.apply_to(self)
            return answers
        return [failure] * len(batches)

    def start_early(self) -> None:
        """Start the child and do not wait for it: several can import their libraries at the same time."""
        if self._child is None:
            with suppress(Exception):  # what is wrong is told when an answer is wanted
                self._starting = self._start()

    def _ready_child(self) -> Any:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        if self._ended:
            raise SystemDied("its run is over")
        for attempt in range(1, MAX_START_ATTEMPTS + 1):
            try:
                if self._child is None:
                    self._starting = self._start()
                if self._starting is not None:
                    self._starting.result(timeout=STARTUP_TIMEOUT_SECONDS)
                    self._starting = None
                break
            except Exception as error:
                self.close()
                if isinstance(error, BrokenProcessPool) and attempt < MAX_START_ATTEMPTS:
                    continue  # it may have been killed from outside while it started
                raise ModelError(
                    f"{self.name} cannot be sent to a process of its own, which a time-out and workers need: it must be one "
                    f"that can be pickled ({type(error).__name__}). Make it at the top of a module, or do without them."
                ) from None
        return self._child

    def _start(self) -> Any:
        """Start a child; return what tells when it is ready."""
        self._child = child = ChildProcess()
        return child.start(_receive_system, self.inner)

    def close(self) -> None:
        """End the child process."""
        child, self._child, self._starting = self._child, None, None
        if child is not None:
            child.close()

    def shut_down(self) -> None:
        """End the child process and start no other: a thread may still want one."""
        self._ended = True
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_child": None, "_starting": None}

    def __del__(self) -> None:
        self.close()


_system: Executor | None = None  # in the child: the system it was started for


def _receive_system(system: Executor) -> None:
    import pandas  # noqa: F401  (here, where nobody times it, and not with the first batch)

    global _system
    _system = system
    use_one_blas_thread()


def use_one_blas_thread() -> Any:
    """Let linear algebra use one thread from here on: how work is split among threads changes its last digits.

    Return what undoes it.
    """
    return _find_libraries(len(sys.modules)).limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _find_libraries(module_count: int) -> Any:
    """Return what holds the libraries that are loaded; looked for again when there are more modules."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def answer_in_worker(
    batches: Sequence[Batch], scores: ScoreRequest, system: Executor | None = None
) -> tuple[list[AnswerOrError], SystemTraits]:
    """Answer batches in another process than the one that asks; say what was raised: many errors do not travel."""
    system = system or _system
    assert system is not None
    answers = system.answers(batches, scores)
    answers = [
        SystemRaised(format_error_line(answer)) if not isinstance(answer, Outputs | DatamorphicError) else answer
        for answer in answers
    ]
    return answers, SystemTraits.from_system(system)
