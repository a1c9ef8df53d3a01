"""A system in a process of its own, so that it can be stopped when it hangs and missed when it dies."""

from __future__ import annotations

import sys
from concurrent.futures import TimeoutError as NoAnswer
from pickle import PicklingError
from typing import Any

from .._checks import plural, positive
from ..errors import DatamorphicError, ModelError, SystemDied, SystemHung, SystemRaised, told
from ..outputs import Outputs
from ..space.points import Batch
from .base import Executor, Wanted, Wrapper

START_UP = 120.0  # seconds a new process may take to import its libraries and receive the model


class Isolated(Wrapper):
    """Runs the system in a child process and gives up on a batch after `timeout` seconds.

    The child gets the system once and then only batches. A child that hangs is killed; a new one takes its
    place at the next batch. joblib's processes are used since they neither fork (libraries with threads of
    their own hang after a fork) nor import the caller's script a second time.
    """

    def __init__(self, inner: Executor, timeout: float) -> None:
        self._child: Any = None
        super().__init__(inner)
        self.timeout = positive("timeout", "Isolated", timeout)

    def answer(self, batch: Batch, scores: Wanted) -> Outputs:
        """Send the batch to the child and wait for its outputs."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        child = self._ready_child()
        try:
            answer = child.submit(_answer, batch, scores).result(timeout=self.timeout)
        except NoAnswer:
            self.close()
            raise SystemHung(f"it gave no answer to {plural(len(batch), 'row')} in {self.timeout:g} s") from None
        except BrokenProcessPool:
            self.close()
            raise SystemDied(f"its process ended while it was asked {plural(len(batch), 'row')}") from None
        if isinstance(answer, str):
            raise SystemRaised(answer)
        return answer

    def _ready_child(self) -> Any:
        if self._child is None:
            from joblib.externals.loky.backend import get_context
            from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

            self._child = ProcessPoolExecutor(
                max_workers=1, context=get_context("loky"), initializer=_receive, initargs=(self.inner,)
            )
            try:
                self._child.submit(_ping).result(timeout=START_UP)
            except (NoAnswer, BrokenProcessPool, PicklingError, TypeError, AttributeError) as error:
                self.close()
                raise ModelError(
                    f"{self.name} cannot be sent to a process of its own, which a time-out needs: it must be one that "
                    f"can be pickled ({type(error).__name__}). Make it at the top of a module, or leave the time-out out."
                ) from None
        return self._child

    def close(self) -> None:
        """End the child process."""
        if self._child is not None:
            self._child.shutdown(wait=True, kill_workers=True)
            self._child = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_child": None}

    def __del__(self) -> None:
        self.close()


_system: Executor | None = None  # in the child: the system it was started for


def _receive(system: Executor) -> None:
    global _system
    _system = system
    sys.stdout = sys.stderr  # what a system prints must not get between a command and whoever reads its output


def _ping() -> bool:
    return _system is not None


def _answer(batch: Batch, scores: bool) -> Outputs | str:
    """Answer, or say what was raised: many errors do not survive the way between processes."""
    assert _system is not None
    try:
        return _system.answer(batch, scores)
    except DatamorphicError:
        raise
    except (Exception, SystemExit) as error:
        return told(error)
