"""A clock that tests set, so that no test depends on how fast or how busy the machine is."""

from __future__ import annotations

import time
from pathlib import Path

MAX_REAL_SECONDS = (
    900  # after which a clock that a test sets is read no more: whatever waits for it would wait for ever
)


class ManualClock:
    """A clock that advances when it is moved, and by `step` seconds whenever it is read."""

    def __init__(self, step: float = 0.0) -> None:
        self.time, self.step = 1000.0, step
        self._begin = time.monotonic()

    def read(self) -> float:
        """Return the time in seconds."""
        assert time.monotonic() - self._begin < MAX_REAL_SECONDS, "waits for a clock that only the test moves"
        self.time += self.step
        return self.time

    def move(self, seconds: float) -> None:
        """Advance the clock by some seconds."""
        self.time += seconds


class CpuClock:
    """The processor time of this process, so that other work on the machine shortens no check."""

    def read(self) -> float:
        """Return the time in seconds."""
        return time.process_time()


class HangClock(ManualClock):
    """A clock that advances by an hour whenever a file appears, by which a model says that it hangs; other rows take no time.

    The model must write the file, and then hang for ever.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def read(self) -> float:
        """Return the time in seconds."""
        if self.path.exists():
            self.path.unlink()
            self.move(3600)
        return super().read()
