"""Limits on the time of work that looks at no clock of its own, such as the fit of a learner.

Where a limit can look at the clock itself, it should: the signal used here ends the work at any place. It works in the main
thread of systems with `SIGALRM`, and between two steps of Python code. Elsewhere a limit does nothing.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType
from typing import Any, ClassVar, Self, TypeVar

from .._clock import read_clock
from ..errors import BudgetSpent

REPEAT_SECONDS = 0.2  # after which the signal comes again, in case somebody caught everything
MIN_TIMER_SECONDS = 0.001  # 0 would switch the timer off


Function = TypeVar("Function", bound=Callable[..., Any])
_UNINTERRUPTED_CODE: set[CodeType] = set()
#: parts of coverage.py that run inside of traced code, with a lock that nobody would release
_UNINTERRUPTED_MODULES = frozenset({"coverage.collector", "coverage.control", "coverage.inorout"})


def uninterrupted(function: Function) -> Function:
    """Decorate a function that no limit may end, such as the begin or end of a limit: it would stay active for ever."""
    _UNINTERRUPTED_CODE.add(function.__code__)
    return function


class DeadlinePassed(BaseException):
    """Ends the work inside a `TimeLimit`.

    It is not an `Exception`, since models and their guards catch those.
    """

    def __init__(self, limit: object) -> None:
        super().__init__("the time is up")
        self.limit = limit


class TimeLimit:
    """Ends the block that it guards after some seconds, and raises `OutOfBudget` there.

    Limits can be nested. None means no limit, but Ctrl-C can still end the block: see `stop_soon`.

    Examples
    --------
    >>> with TimeLimit(0.05):
    ...     while True:
    ...         pass
    Traceback (most recent call last):
    ...
    datamorphic.errors.BudgetSpent: the time is up
    """

    _active: ClassVar[list[TimeLimit]] = []  # the outermost first
    _stop_time: ClassVar[float] = float("inf")  # when Ctrl-C ends the block
    _previous_handler: ClassVar[Any] = signal.SIG_DFL
    _holds: ClassVar[int] = 0  # blocks that no limit may end

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._end_time = float("inf")
        self._armed = False
        self.passed = False  # whether it ended the block

    @uninterrupted
    def __enter__(self) -> Self:
        if not can_end_work():
            return self
        if self._seconds is not None:
            self._end_time = read_clock() + self._seconds
        if not TimeLimit._active and signal.getsignal(signal.SIGALRM) != _handle_alarm:
            TimeLimit._previous_handler = signal.signal(signal.SIGALRM, _handle_alarm)
        TimeLimit._active.append(self)
        self._armed = True
        _schedule()
        return self

    @uninterrupted
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._armed:
            self._armed = False  # from here on it raises nothing: an exception would leave it active for ever
            del TimeLimit._active[TimeLimit._active.index(self) :]  # also those whose own end was interrupted
            if TimeLimit._active:
                _schedule()
            else:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, TimeLimit._previous_handler)
        own_deadline = isinstance(error, DeadlinePassed) and error.limit is self
        # compiled code may replace the exception: NumPy raises a TypeError if a comparison is interrupted
        self.passed = own_deadline or (self.passed and isinstance(error, Exception))
        if self.passed:
            raise BudgetSpent("the time is up") from None


def stop_soon(seconds: float) -> None:
    """Raise `KeyboardInterrupt` in the block of a `TimeLimit` after some seconds; for handlers of Ctrl-C."""
    TimeLimit._stop_time = read_clock() + seconds
    if TimeLimit._active:
        _schedule()


@contextmanager
def hold_deadlines() -> Iterator[None]:
    """Let no limit end the block, such as a transaction; the limit ends what follows."""
    TimeLimit._holds += 1
    try:
        yield
    finally:
        TimeLimit._holds -= 1


def cancel_stop() -> None:
    """Forget `stop_soon`."""
    TimeLimit._stop_time = float("inf")


def can_end_work() -> bool:
    """Return whether a limit has an effect: in the main thread of a system with timer signals that nobody else uses."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return False
    # Our own handler without an active limit: Ctrl-C came while a limit began or ended.
    return bool(TimeLimit._active) or signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, _handle_alarm)


def _schedule() -> None:
    """Set the timer to the first end."""
    first_end = min([TimeLimit._stop_time, *(limit._end_time for limit in TimeLimit._active)])
    if first_end == float("inf"):
        signal.setitimer(signal.ITIMER_REAL, 0)
    else:
        signal.setitimer(signal.ITIMER_REAL, max(MIN_TIMER_SECONDS, first_end - read_clock()), REPEAT_SECONDS)


def _handle_alarm(number: int, frame: FrameType | None) -> None:
    if TimeLimit._holds or _is_delicate(frame):
        return  # the signal comes again
    now = read_clock()
    if TimeLimit._stop_time <= now and TimeLimit._active:
        raise KeyboardInterrupt
    for limit in TimeLimit._active:
        if limit._armed and limit._end_time <= now:
            limit.passed = True
            raise DeadlinePassed(limit)


def _is_delicate(frame: FrameType | None) -> bool:
    """Return whether a frame must not be ended: half-imported modules may be unusable afterwards."""
    while frame is not None:
        if (
            frame.f_code in _UNINTERRUPTED_CODE
            or frame.f_code.co_filename.startswith("<frozen importlib")
            or frame.f_globals.get("__name__") in _UNINTERRUPTED_MODULES
        ):
            return True
        frame = frame.f_back
    return False
