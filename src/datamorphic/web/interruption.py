"""When Stop may interrupt a worker process: during the work, and never between two requests or while a reply is written."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


def ignore_interrupts() -> None:
    """Let a stop that comes too late, or too early, do nothing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def allow_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt in the block when a stop comes; outside of the main thread nothing changes."""
    try:
        previous_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    except ValueError:  # another thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)
