"""Progress of a run on stderr: nothing for two seconds, nothing at all where nobody looks."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from ..strategies.flow import Question

PATIENCE = 2.0  # seconds before anything is shown


class Progress:
    """A bar where the flow says how far it is, a spinner where it does not."""

    def __init__(self, name: str, wanted: bool | None = None) -> None:
        self._name = name
        self._wanted = sys.stderr.isatty() if wanted is None else wanted
        self._began = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def update(self, question: Question, runs: int, calls: int) -> None:
        """Show where the run stands after a question."""
        if not self._wanted or time.monotonic() - self._began < PATIENCE:
            return
        if self._bar is None:
            self._start()
        text = f"{self._name}: {question.note or 'asking'}  {runs:,} runs, {calls:,} calls"
        total = None if question.done is None else 1.0
        self._bar.update(self._task, completed=question.done or 0.0, total=total, description=text, refresh=True)

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
