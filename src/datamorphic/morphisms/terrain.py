"""`Terrain`: the ground a strategy walks on, whoever declared its moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..space import geometry
from ..space.features import Codes
from ..space.points import Points
from ..space.space import Space

Step = Callable[[Points, np.random.Generator], Points]


@dataclass(frozen=True)
class Terrain:
    """Moves, a midpoint and a distance, all on batches.

    Attributes
    ----------
    space : Space
        Of the points.
    moves : dict
        The steps a walk may take, by name; each makes a new point of every row.
    midpoint : callable
        Makes the point half-way between each two rows.
    distance : callable
        Of each two rows.
    straight : bool
        Whether the midpoint is the space's own, so that any point between two that differ in continuous
        features only may be computed directly.
    """

    space: Space
    moves: Mapping[str, Step]
    midpoint: Callable[[Points, Points], Points]
    distance: Callable[[Points, Points], Codes]
    straight: bool = False

    @property
    def continuous(self) -> bool:
        """Whether there is always something between two different points."""
        return self.space.kinds["continuous"] > 0

    @property
    def mixed(self) -> bool:
        """Whether some features can be halved for ever and others cannot."""
        return self.continuous and not self.space.smooth

    def move(self, codes: Codes, move_numbers: np.ndarray, rng: np.random.Generator) -> Codes:
        """Return every row after its own chosen move (a position in `moves`)."""
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
    """Return a space as terrain: every move it has, its midpoint and its distance."""

    def make_step(kind: str, position: int) -> Step:
        return lambda p, rng: Points(p.space, geometry.move(p.space, p.codes, position, kind))

    return Terrain(
        space,
        {f"{kind}_{name}": make_step(kind, space.position(name)) for kind, name in space.move_names},
        lambda a, b: Points(space, geometry.midpoint(space, a.codes, b.codes)),
        lambda a, b: geometry.distance(space, a.codes, b.codes),
        straight=True,
    )
