"""Progress of a run on stderr: nothing for two seconds, nothing at all where nobody looks.

After that, what is going on, how much of it is done, and about how long it will still take.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import Any, ClassVar, Self

PATIENCE = 2.0  # seconds before anything is shown
LULL = 10.0  # seconds between lines on a terminal that only takes lines
SETTLED = 1.0  # seconds of watching before a guess at the rest is worth anything


def plain_terminal() -> bool:
    """Tell whether escape codes are unwelcome: $NO_COLOR is set, or the terminal is said to be dumb."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def told_time(seconds: float) -> str:
    """Return a time in words, no more precise than a guess is.

    Examples
    --------
    >>> told_time(0.3), told_time(42.4), told_time(100), told_time(5000)
    ('1 s', '42 s', '1 min 40 s', '1 h 23 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


class Progress:
    """A bar where it is known how far the work is, a spinner where it is not; lines where neither can be drawn.

    One at a time: what is part of something that is shown already is not shown beside it.
    """

    _shown: ClassVar[Progress | None] = None

    def __init__(self, name: str, wanted: bool | None = None) -> None:
        self._name = name
        self._wanted = sys.stderr is not None and sys.stderr.isatty() if wanted is None else wanted
        self._began = time.monotonic()
        self._first: tuple[float, float] | None = (
            None  # when the share that is done was first known, and the share
        )
        self._said = -LULL
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def show(self, text: str, done: float | None = None) -> None:
        """Show what is going on, and the share of the work that is done if that is known."""
        now = time.monotonic()
        if done is not None and self._first is None:
            self._first = now, done
        if not self._wanted or now - self._began < PATIENCE or Progress._shown not in (None, self):
            return
        Progress._shown = self
        left = self._left(now, done)
        description = f"{self._name}: {text}" if text else self._name
        if plain_terminal():
            if now - self._said >= LULL:
                self._said = now
                share = "" if done is None else f", {done:.0%} done"
                sys.stderr.write(f"{description}{share}{left and f', {left}'}\n")
            return
        if self._bar is None:
            self._start()
        total = None if done is None else 1.0
        self._bar.update(
            self._task, completed=done or 0.0, total=total, description=description, left=left, refresh=True
        )

    def _left(self, now: float, done: float | None) -> str:
        """Return how long it will still take, judged by what was done since that is known; nothing if it is not."""
        if done is None or self._first is None:
            return ""
        since, before = self._first
        if now - since < SETTLED or done <= before:
            return ""
        return f"about {told_time((now - since) * max(0.0, 1 - done) / (done - before))} left"

    def _start(self) -> None:
        self._bar, self._task = _bar(self._name, self._wanted)
        self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if Progress._shown is self:
            Progress._shown = None
        if self._bar is not None:
            self._bar.stop()


class Clock:
    """Progress of something that does not tell how far it is, but takes about as long every time.

    Parameters
    ----------
    name : str
        What is going on.
    usually : float, optional
        How many seconds it takes.
    """

    def __init__(self, name: str, usually: float | None = None) -> None:
        self._shown = Progress(name)
        self._usually = usually
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def _tick(self) -> None:
        began = time.monotonic()
        while not self._over.wait(0.5):
            share = None if self._usually is None else (time.monotonic() - began) / self._usually
            self._shown.show("", share if share is not None and share < 1 else None)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._shown.__exit__(kind, error, trace)


def _bar(name: str, wanted: bool) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    left = TextColumn("{task.fields[left]}", markup=False)
    bar = Bar(*columns, left, console=Console(stderr=True, force_terminal=wanted), transient=True)
    return bar, bar.add_task(name, total=None, left="")
