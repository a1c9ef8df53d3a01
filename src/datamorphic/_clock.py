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


_active_clock: Clock = MonotonicClock()
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
