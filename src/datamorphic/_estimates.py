"""Estimates of time and memory, to refuse requests that are too large before most of the work is done.

Where work is repeated, the first part of it is timed (`WorkPace`). What is allocated at once is multiplied out (`refuse_too_large`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sized
from contextlib import suppress
from functools import cache
from pathlib import Path

from ._clock import read_clock
from .errors import ArgumentError

MAX_SECONDS = 7 * 86_400  # of a request without a limit of time; what takes longer is refused
MIN_TIMED_SECONDS = 1.0  # of work, before the rest is estimated from it
MAX_TIMED_SECONDS = 3600.0  # after which nothing is refused, since much work would be lost
CHECK_GROWTH = 1.1  # of the time between two estimates
ASSUMED_MEMORY_BYTES = 1e12  # where the system does not report it (Windows)
CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
LIMIT_TIME = "limit the time with budget='1h'"  # where a budget of time can be given


def refuse_too_large(
    owner: str, numbers: Mapping[str, int], *, seconds: float = 0.0, memory: float = 0.0, remedy: str | None = None
) -> None:
    """Raise `ArgumentError` if a request takes more than a week, or more memory than this computer has.

    Parameters
    ----------
    owner : str
        The name of the function.
    numbers : dict
        The parameters that make the request large, and their values. Those that are 1 are not named: they cannot be reduced.
    seconds, memory : float
        The estimated time, and the estimated memory in bytes.
    remedy : str, optional
        What to do instead of reducing the numbers.

    Examples
    --------
    >>> refuse_too_large("simulate", {"trials": 10**6}, seconds=4e3)
    >>> refuse_too_large("explore", {"walks": 10**12}, seconds=1e7, remedy=LIMIT_TIME)
    Traceback (most recent call last):
    datamorphic.errors.ArgumentError: explore with walks=1,000,000,000,000 would take about 116 days. Reduce walks, or limit \
the time with budget='1h'.
    """
    if memory and memory > (total := (reported := measure_memory()) or ASSUMED_MEMORY_BYTES):
        cost = f"need about {memory / 1e9:,.0f} GB of memory, and this computer "
        cost += "has" if reported else "does not report how much it has; assumed are"
        cost += f" {total / 1e9:,.0f} GB"
    elif seconds > MAX_SECONDS:
        days = seconds / 86_400
        cost = f"take about {days:,.0f} days" if days < 1000 else f"take about {days / 365:,.0f} years"
    else:
        return
    numbers = {name: number for name, number in numbers.items() if number != 1} or numbers
    request = " and ".join(f"{name}={number:,}" for name, number in numbers.items())
    advice = f"Reduce {' or '.join(numbers)}" + (f", or {remedy}." if remedy else ".")
    raise ArgumentError(f"{owner} with {request} would {cost}. {advice}")


def refuse_many_rows(owner: str, name: str, rows: int, width: int = 1) -> None:
    """Raise `ArgumentError` if a table of numbers of so many rows and columns does not fit into memory."""
    refuse_too_large(owner, {name: rows}, memory=8.0 * min(rows, sys.maxsize) * width)


def measure_memory() -> float | None:
    """Return the memory of this computer, or of the container that this process runs in, in bytes; None if unknown."""
    limits = []
    with suppress(AttributeError, ValueError, OSError):
        limits.append(float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")))
    for file in CONTAINER_LIMITS:
        with suppress(ValueError, OSError):  # "max" is no limit
            limits.append(float(Path(file).read_text()))
    return min(limits, default=None)


class WorkPace:
    """Times the first part of a request, and refuses the request if all of it would take too long.

    The time starts with the first call of `note`: what is compiled and loaded before does not count.

    Parameters
    ----------
    owner, numbers, remedy
        As for `refuse_too_large`.
    measure : callable, optional
        Returns the share of the work that is begun, where those who call `note` do not know it.
    count_all_rows : callable, optional
        Returns the number of different rows to query, if `drive` calls `add_answers`. It is called once, after a second at the
        earliest.

    Examples
    --------
    >>> pace = WorkPace("simulate", {"trials": 100})
    >>> for trial in range(100):
    ...     pace.note(trial / 100)
    """

    def __init__(
        self,
        owner: str,
        numbers: Mapping[str, int],
        *,
        remedy: str | None = None,
        measure: Callable[[], float] | None = None,
        count_all_rows: Callable[[], int] | None = None,
    ) -> None:
        self._owner, self._numbers, self._remedy = owner, numbers, remedy
        self._measure, self._answered_rows = measure, 0
        self._count_all_rows = None if count_all_rows is None else cache(count_all_rows)
        self._started_at: float | None = None
        self._next_seconds = MIN_TIMED_SECONDS  # after which the rest is estimated

    def note(self, share: float = 0.0) -> None:
        """Take the share of the work that is done; raise `ArgumentError` if the rest cannot be done."""
        if self._started_at is None:
            self._started_at = read_clock()
            return
        elapsed = read_clock() - self._started_at
        if not self._next_seconds <= elapsed <= MAX_TIMED_SECONDS:
            return
        if self._measure is not None:
            share = max(share, self._measure())
        if self._count_all_rows is not None:
            share = max(share, min(self._answered_rows / self._count_all_rows(), 1.0))
        if share:
            refuse_too_large(self._owner, self._numbers, seconds=elapsed / share, remedy=self._remedy)
            self._next_seconds = CHECK_GROWTH * elapsed

    def add_answers(self, piece: int, answers: Sized) -> None:
        """Count the rows of an answered piece of a query; `drive` calls it as `on_piece`."""
        self._answered_rows += len(answers)
