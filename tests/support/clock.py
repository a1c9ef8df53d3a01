"""A clock that tests set, so that no test depends on how fast or how busy the machine is."""

from __future__ import annotations


class ManualClock:
    """Goes on when it is moved, and by `step` seconds whenever it is read."""

    def __init__(self, step: float = 0.0) -> None:
        self.time, self.step = 1000.0, step

    def read(self) -> float:
        """Return the time in seconds."""
        self.time += self.step
        return self.time

    def move(self, seconds: float) -> None:
        """Go on by some seconds."""
        self.time += seconds
