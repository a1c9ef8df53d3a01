"""Show how far an audit is, and how long it may still take."""

from __future__ import annotations

import threading
from typing import Self

from .._clock import read_clock
from ..runs.events import publish
from ..runs.progress import Progress
from .check import Check, CheckObserver
from .context import BudgetClock
from .outcome import Outcome

TICK_SECONDS = 0.5
MAX_RUNNING_SHARE = 0.95  # of a check that has used its share and still runs


class AuditProgress(CheckObserver):
    """A bar, or without a terminal a line every ten seconds, that moves while a check runs.

    The share that is done is that of the checks, by their weights. The time that is left is at most that of the budget.
    """

    def __init__(self, name: str, clock: BudgetClock, visible: bool | None = None) -> None:
        self._progress = Progress(name, visible, lines=True)
        self._clock = clock
        self._check = ""
        self._done = self._part = 0.0
        self._begin_time = read_clock()
        self._share_seconds: float | None = None
        self._stop_event = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def begin(self, check: Check, done: float, part: float) -> None:
        """Show the check that begins."""
        total_left = self._clock.estimate_seconds_left()
        self._share_seconds = None if total_left is None or done >= 1 else total_left * part / (1 - done)
        self._begin_time = read_clock()
        self._check, self._done, self._part = check.name, max(done, self._done), part  # a check may be tried again

    def end(self, outcome: Outcome) -> None:
        """Publish the outcome of a check, so that whoever watches sees findings as they come."""
        publish(
            "outcome",
            check=outcome.check,
            state=outcome.state,
            findings=[{"level": finding.level, "title": finding.title} for finding in outcome.findings],
        )

    def _tick(self) -> None:
        while not self._stop_event.wait(TICK_SECONDS):
            self._show()

    def _show(self) -> None:
        done = self._done
        if self._share_seconds:
            elapsed_share = (read_clock() - self._begin_time) / self._share_seconds
            done += self._part * min(elapsed_share, MAX_RUNNING_SHARE)
        self._progress.show(self._check, min(done, 1.0), max_seconds_left=self._clock.estimate_seconds_left())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_event.set()
        self._thread.join()
        self._progress.__exit__()
