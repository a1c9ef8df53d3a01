"""Progress of a run on stderr.

Nothing is shown in the first two seconds, or if stderr is not a terminal. Then a bar shows what is going on, how much is
done, and an estimate of the time left. Long work can write lines instead where there is no terminal, as in CI.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, ClassVar, Self

from .._clock import read_clock
from .events import is_watched, publish

SILENT_SECONDS = 2.0  # before anything is shown
LINE_INTERVAL_SECONDS = 10.0  # without a terminal, or without its escape codes
MIN_ESTIMATE_SECONDS = 1.0  # of observation before the time left is estimated


def is_plain_terminal() -> bool:
    """Return whether to avoid escape codes: $NO_COLOR is set, or the terminal is dumb."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "").lower() in ("dumb", "unknown")


def format_duration(seconds: float) -> str:
    """Return a duration in words, rounded like an estimate.

    Examples
    --------
    >>> format_duration(0.3), format_duration(42.4), format_duration(100), format_duration(5000)
    ('1 s', '42 s', '1 min 40 s', '1 h 23 min')
    """
    total_seconds = max(1, round(seconds))
    if total_seconds < 60:
        return f"{total_seconds} s"
    minutes, rest = divmod(total_seconds, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


class Progress:
    """A progress bar, a spinner if the share done is unknown, or plain lines.

    Only one is shown at a time: progress of a part is not shown beside that of the whole.
    """

    _active: ClassVar[Progress | None] = None

    def __init__(
        self,
        name: str,
        visible: bool | None = None,  # by default if stderr is a terminal
        lines: bool = False,  # whether to write lines if it is none
    ) -> None:
        is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._name = name
        self._visible = is_terminal or (lines and sys.stderr is not None) if visible is None else visible
        self._is_plain = lines and not is_terminal
        self._started_at = read_clock()
        #: when the share that is done was first known, and the share
        self._first_progress: tuple[float, float] | None = None
        self._last_line_time = self._started_at if self._is_plain else -LINE_INTERVAL_SECONDS
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def show(self, text: str, share_done: float | None = None, max_seconds_left: float | None = None) -> None:
        """Show what is going on, the share of the work done if known, and the time left, at most as long as given."""
        now = read_clock()
        if share_done is not None and self._first_progress is None:
            self._first_progress = now, share_done
        if is_watched() and Progress._active in (None, self):
            time_left = self._format_time_left(now, share_done, max_seconds_left)
            publish("progress", name=self._name, text=text, share=share_done, left=time_left)
        if not self._visible or now - self._started_at < SILENT_SECONDS or Progress._active not in (None, self):
            return
        Progress._active = self
        time_left = self._format_time_left(now, share_done, max_seconds_left)
        description = f"{self._name}: {text}" if text else self._name
        if self._is_plain or is_plain_terminal():
            if now - self._last_line_time >= LINE_INTERVAL_SECONDS:
                self._last_line_time = now
                share_text = "" if share_done is None else f", {share_done:.0%} done"
                sys.stderr.write(f"{description}{share_text}{time_left and f', {time_left}'}\n")
            return
        if self._bar is None:
            self._bar, self._task = _make_bar(self._name, self._visible)
            self._bar.start()
        total = None if share_done is None else 1.0
        self._bar.update(
            self._task, completed=share_done or 0.0, total=total, description=description, left=time_left, refresh=True
        )

    def _format_time_left(self, now: float, share_done: float | None, max_seconds_left: float | None) -> str:
        """Return an estimate of the time left; empty if there is none yet."""
        at_most = "" if max_seconds_left is None else f"at most {format_duration(max_seconds_left)} left"
        if share_done is None or self._first_progress is None:
            return at_most
        first_time, first_share = self._first_progress
        if now - first_time < MIN_ESTIMATE_SECONDS or share_done <= first_share:
            return at_most
        seconds = (now - first_time) * max(0.0, 1 - share_done) / (share_done - first_share)
        if max_seconds_left is not None and seconds >= max_seconds_left:
            return at_most
        return f"about {format_duration(seconds)} left"

    def __exit__(self, *_: object) -> None:
        if Progress._active is self:
            Progress._active = None
        if self._bar is not None:
            self._bar.stop()


class TimedProgress:
    """Progress of work that reports none, estimated from the seconds it usually takes."""

    def __init__(self, name: str, expected_seconds: float | None = None) -> None:
        self._progress = Progress(name)
        self._expected_seconds = expected_seconds
        self._stop_event = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def _tick(self) -> None:
        started_at = read_clock()
        while not self._stop_event.wait(0.5):
            share = None if self._expected_seconds is None else (read_clock() - started_at) / self._expected_seconds
            self._progress.show("", share if share is not None and share < 1 else None)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_event.set()
        self._thread.join()
        self._progress.__exit__()


def _make_bar(name: str, visible: bool) -> tuple[Any, Any]:
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    time_left_column = TextColumn("{task.fields[left]}", markup=False)
    bar = Bar(*columns, time_left_column, console=Console(stderr=True, force_terminal=visible), transient=True)
    return bar, bar.add_task(name, total=None, left="")
