"""`Terrain`: the moves, the midpoint and the distance that exploration uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..space import geometry
from ..space.features import Codes
from ..space.points import Points
from ..space.space import Space

Step = Callable[[Points, np.random.Generator], Points]


@dataclass(frozen=True, kw_only=True)
class Terrain:
    """Moves, a midpoint and a distance on batches, declared or derived from a space.

    It is `straight` if the midpoint is that of the space. Then any point between two points that differ only in continuous
    features can be computed directly.
    """

    space: Space
    moves: Mapping[str, Step]  # by name; each returns one new point per row
    midpoint: Callable[[Points, Points], Points]  # row by row
    distance: Callable[[Points, Points], Codes]  # row by row
    straight: bool = False

    @property
    def continuous(self) -> bool:
        """Whether there are continuous features."""
        return self.space.kinds["continuous"] > 0

    @property
    def mixed(self) -> bool:
        """Whether there are both continuous and discrete features."""
        return self.continuous and not self.space.smooth

    def move(self, codes: Codes, move_numbers: np.ndarray, rng: np.random.Generator) -> Codes:
        """Return every row after its move, given by its position in `moves`."""
        new_codes = np.empty(codes.shape, order="F")
        for number, step in enumerate(self.moves.values()):
            rows = np.flatnonzero(move_numbers == number)
            if rows.size == len(codes):
                return step(Points(self.space, codes), rng).codes
            if rows.size:
                new_codes[rows] = step(Points(self.space, codes[rows]), rng).codes
        return new_codes

    def compute_midpoints(self, a: Codes, b: Codes) -> Codes:
        """Return the midpoints of two matrices of codes."""
        return self.midpoint(Points(self.space, a), Points(self.space, b)).codes

    def compute_distances(self, a: Codes, b: Codes) -> Codes:
        """Return the distances of two matrices of codes."""
        return self.distance(Points(self.space, a), Points(self.space, b))


def build_native_terrain(space: Space) -> Terrain:
    """Return the terrain of a space: all its moves, its midpoint and its distance."""

    def make_step(kind: str, position: int) -> Step:
        return lambda p, rng: Points(p.space, geometry.move(p.space, p.codes, position, kind))

    return Terrain(
        space=space,
        moves={f"{kind}_{name}": make_step(kind, space.position(name)) for kind, name in space.move_names},
        midpoint=lambda a, b: Points(space, geometry.midpoint(space, a.codes, b.codes)),
        distance=lambda a, b: geometry.distance(space, a.codes, b.codes),
        straight=True,
    )
