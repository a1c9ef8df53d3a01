"""Handling of Ctrl-C: the first finishes the current query and reports, the second stops."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any, ClassVar

from .deadline import cancel_stop, stop_soon


class Interrupts:
    """Counts Ctrl-C during a run, in the main thread and if nobody else handles it.

    Nested instances share the count of the outermost one, because a run may query its system several times.

    With `grace_seconds`, the block of a `TimeLimit` that still runs so long after the first Ctrl-C is ended; an inner
    instance sets them for the outermost one.
    """

    _outermost: ClassVar[Interrupts | None] = None

    def __init__(self, grace_seconds: float | None = None) -> None:
        self.count = 0
        self._grace_seconds = grace_seconds
        self._previous_handler: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is not threading.main_thread():
            return self
        if Interrupts._outermost is not None:
            if self._grace_seconds is not None:
                Interrupts._outermost._grace_seconds = self._grace_seconds
            return Interrupts._outermost
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._previous_handler = signal.signal(signal.SIGINT, self._handle_interrupt)
            Interrupts._outermost = self
        return self

    def _handle_interrupt(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.count > 1:
            raise KeyboardInterrupt
        if self._grace_seconds is not None:
            stop_soon(self._grace_seconds)
        sys.stderr.write("\nFinishing the current query. Press Ctrl-C again to stop at once.\n")

    def is_stopped(self) -> bool:
        """Return whether to send no further query."""
        return self.count > 0

    def __exit__(self, *_: object) -> None:
        if self._previous_handler is not None:
            Interrupts._outermost = None
            cancel_stop()
            signal.signal(signal.SIGINT, self._previous_handler)
