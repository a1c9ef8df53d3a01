"""`Path`: the moves that lead from one point to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import geometry
from .geometry import Counts
from .points import Points

if TYPE_CHECKING:
    from .space import Space


@dataclass(frozen=True, eq=False)
class Path:
    """A way from `start` to `target`: single moves, feature by feature, then midpoints with the target.

    Iterating gives the moves in words, `walk` the points they lead through.
    """

    space: Space
    start: Points
    target: Points
    end: Points
    counts: Counts
    midpoints: int

    def steps(self) -> Iterator[tuple[str, int]]:
        """Yield (kind of move, feature number), the midpoints as ("midpoint", -1)."""
        missing = np.isnan(self.start.codes[0]), np.isnan(self.target.codes[0])
        for j, count in enumerate(self.counts):
            if not self.space.keeps_constraints and missing[0][j] != missing[1][j]:
                yield ("fill" if missing[0][j] else "clear"), j
            for _ in range(abs(int(count))):
                yield ("up" if count > 0 else "down"), j
        for _ in range(self.midpoints):
            yield "midpoint", -1

    @property
    def moves(self) -> list[str]:
        """The moves in words: "up age", "down card", "midpoint"."""
        return [kind if j < 0 else f"{kind} {self.space.names[j]}" for kind, j in self.steps()]

    def __iter__(self) -> Iterator[str]:
        return iter(self.moves)

    def __len__(self) -> int:
        return sum(1 for _ in self.steps())

    def walk(self) -> Points:
        """Return every point on the way, the start first, by making the moves one at a time."""
        current = self.start.codes
        codes = [current]
        for kind, j in self.steps():
            if kind == "midpoint":
                current = geometry.midpoint(self.space, self.target.codes, current)
            else:
                current = geometry.move(self.space, current, j, kind)
            codes.append(current)
        return Points(self.space, np.concatenate(codes))

    @property
    def gap(self) -> float:
        """How far the end is from the target."""
        return float(geometry.distance(self.space, self.end.codes, self.target.codes)[0])
