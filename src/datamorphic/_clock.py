"""The clock of budgets, deadlines, time-outs, paces and durations, in one place so that tests can replace it.

It never jumps: setting the date and time of the computer does not change it. Dates in stores and reports come from
`time.time` instead.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

SLOWDOWN_CPU_SECONDS = 0.02  # of computing, to see how busy the machine is
MIN_BUSY_SLOWDOWN = 1.5  # of computing, from which a machine is busy
MAX_STRETCH = 4.0  # of a time limit on a busy machine


class Clock(Protocol):
    """A source of the time in seconds."""

    def read(self) -> float:
        """Return the seconds since a fixed moment in the past; they never decrease."""
        ...


class MonotonicClock:
    """The clock of this computer."""

    def read(self) -> float:
        """Return the seconds since a moment that the operating system chooses."""
        return time.perf_counter()  # on Windows, time.monotonic advances in steps of 16 ms


class ProcessorClock:
    """The processor time of this process, for work that shares a busy machine with other work.

    It is never ahead of the clock of the computer, nor slower than this clock by more than `stretch`: work that waits for
    a service uses no processor.
    """

    def __init__(self, stretch: float) -> None:
        self.stretch = min(stretch, MAX_STRETCH)
        self._start_time, self._start_cpu_time, self._last_time = read_clock(), time.process_time(), 0.0

    def read(self) -> float:
        """Return the seconds since it was started, on top of the clock that was in use before."""
        seconds = _computer_clock.read() - self._start_time
        counted = min(seconds, max(time.process_time() - self._start_cpu_time, seconds / self.stretch))
        self._last_time = max(self._last_time, counted)
        return self._start_time + self._last_time


_computer_clock: Clock = MonotonicClock()
_active_clock: Clock = _computer_clock
AnyClock = TypeVar("AnyClock", bound=Clock)


def read_clock() -> float:
    """Return the seconds on the clock in use.

    Examples
    --------
    >>> start_time = read_clock()
    >>> read_clock() >= start_time
    True
    """
    return _active_clock.read()


def measure_slowdown() -> float:
    """Return how much longer computing takes than on a machine that does nothing else, at least 1."""
    start_time, cpu_time = read_clock(), time.thread_time()
    while (cpu_seconds := time.thread_time() - cpu_time) < SLOWDOWN_CPU_SECONDS:
        pass
    return max(1.0, (read_clock() - start_time) / cpu_seconds)


@contextmanager
def use_clock(clock: AnyClock) -> Iterator[AnyClock]:
    """Use another clock in this process while the context lasts."""
    global _active_clock
    previous_clock, _active_clock = _active_clock, clock
    try:
        yield clock
    finally:
        _active_clock = previous_clock
