"""Progress of a run on stderr: nothing for two seconds, nothing at all where nobody looks."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

PATIENCE = 2.0  # seconds before anything is shown


class Progress:
    """A bar where it is known how far the work is, a spinner where it is not."""

    def __init__(self, name: str, wanted: bool | None = None) -> None:
        self._name = name
        self._wanted = sys.stderr.isatty() if wanted is None else wanted
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def show(self, text: str, done: float | None = None) -> None:
        """Show what is going on, and the share of the work that is done if that is known."""
        if not self._wanted or time.monotonic() - self._began < PATIENCE:
            return
        if self._bar is None:
            self._start()
        total = None if done is None else 1.0
        description = f"{self._name}: {text}"
        self._bar.update(self._task, completed=done or 0.0, total=total, description=description, refresh=True)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
        console = Console(stderr=True, force_terminal=self._wanted)
        self._bar = Bar(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True)
        self._bar.start()
        self._task = self._bar.add_task(self._name, total=None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
