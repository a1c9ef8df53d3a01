"""A system in a process of its own, so that it can be stopped when it hangs and missed when it dies."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import TimeoutError as NoAnswer
from contextlib import suppress
from functools import lru_cache
from typing import Any

from .._checks import plural, positive
from ..errors import DatamorphicError, ModelError, SystemDied, SystemHung, SystemRaised, told
from ..outputs import Outputs
from ..space.points import Batch
from .base import Answer, Distant, Executor, Known, Wanted
from .child import START_UP, TRIES, Child


class Isolated(Distant):
    """Runs the system in a child process; with a `timeout` in seconds it gives up on a batch that takes longer.

    The child gets the system once and then only batches. A child that hangs is killed; a new one takes its
    place at the next batch.
    """

    def __init__(self, inner: Executor, timeout: float | None = None) -> None:
        self._child: Child | None = None
        self._ended = False
        self._starting: Any = None  # tells when the child is ready, until it is
        super().__init__(inner)
        self.timeout = None if timeout is None else positive("timeout", "Isolated", timeout)
        self.far = timeout is None  # batches that travel together could not be timed one by one

    def answers(self, batches: Sequence[Batch], scores: Wanted) -> list[Answer]:
        """Send batches to the child, together, and wait for what comes of each."""
        from joblib.externals.loky.process_executor import BrokenProcessPool, ShutdownExecutorError

        rows = plural(sum(map(len, batches)), "row")
        try:
            answers, known = self._ready_child().submit(answer_all, batches, scores).result(timeout=self.timeout)
        except NoAnswer:
            self.close()
            lost: DatamorphicError = SystemHung(f"it gave no answer to {rows} in {self.timeout:g} s")
        except (BrokenProcessPool, ShutdownExecutorError):
            self.close()
            lost = SystemDied(f"its process ended while it was asked {rows}")
        else:
            known.tell(self)
            return answers
        return [lost] * len(batches)

    def begin(self) -> None:
        """Start the child and do not wait for it: several can import their libraries at the same time."""
        if self._child is None:
            with suppress(Exception):  # what is wrong is told when an answer is wanted
                self._starting = self._start()

    def _ready_child(self) -> Any:
        from joblib.externals.loky.process_executor import BrokenProcessPool

        if self._ended:
            raise SystemDied("its run is over")
        for tries in range(1, TRIES + 1):
            try:
                if self._child is None:
                    self._starting = self._start()
                if self._starting is not None:
                    self._starting.result(timeout=START_UP)
                    self._starting = None
                break
            except Exception as error:
                self.close()
                if isinstance(error, BrokenProcessPool) and tries < TRIES:
                    continue  # it may have been killed from outside while it started
                raise ModelError(
                    f"{self.name} cannot be sent to a process of its own, which a time-out and workers need: it must be one "
                    f"that can be pickled ({type(error).__name__}). Make it at the top of a module, or do without them."
                ) from None
        return self._child

    def _start(self) -> Any:
        """Start a child; return what tells when it is ready."""
        self._child = child = Child()
        return child.start(_receive, self.inner)

    def close(self) -> None:
        """End the child process."""
        child, self._child, self._starting = self._child, None, None
        if child is not None:
            child.close()

    def end(self) -> None:
        """End the child process and start no other: a thread may still want one."""
        self._ended = True
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_child": None, "_starting": None}

    def __del__(self) -> None:
        self.close()


_system: Executor | None = None  # in the child: the system it was started for


def _receive(system: Executor) -> None:
    import pandas  # noqa: F401  (here, where nobody times it, and not with the first batch)

    global _system
    _system = system
    one_blas_thread()


def one_blas_thread() -> Any:
    """Let linear algebra use one thread from here on: how work is split among threads changes its last digits.

    Return what undoes it.
    """
    return _libraries(len(sys.modules)).limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _libraries(modules: int) -> Any:
    """Return what holds the libraries that are loaded; looked for again when there are more modules."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def answer_all(
    batches: Sequence[Batch], scores: Wanted, system: Executor | None = None
) -> tuple[list[Answer], Known]:
    """Answer batches in another process than the one that asks; say what was raised: many errors do not travel."""
    system = system or _system
    assert system is not None
    answers = system.answers(batches, scores)
    answers = [
        SystemRaised(told(each)) if not isinstance(each, Outputs | DatamorphicError) else each for each in answers
    ]
    return answers, Known.of(system)
