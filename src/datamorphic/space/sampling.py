"""Uniform draws from a space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._checks import plural
from ..errors import SpaceError
from .features import Codes

if TYPE_CHECKING:
    from .space import Space

MOST_TRIES = 1000


def draw(space: Space, n: int, rng: np.random.Generator) -> Codes:
    """Return `n` rows of codes, uniform over the bounds and keeping the constraints."""
    for feature in space.features:
        if not (np.isfinite(feature.low) and np.isfinite(feature.high)):
            side = "lower" if np.isinf(feature.low) else "upper"
            raise SpaceError(
                f"Feature {feature.name!r} has no {side} bound, so it cannot be sampled uniformly. "
                "Give it bounds, or start from rows of data."
            )
    codes = _draw_freely(space, n, rng)
    if not space.keeps_constraints:
        return codes
    bad = np.flatnonzero(~space.satisfied(codes))
    for _ in range(MOST_TRIES):
        if not bad.size:
            return codes
        codes[bad] = fresh = _draw_freely(space, bad.size, rng)
        bad = bad[~space.satisfied(fresh)]
    raise SpaceError(
        f"{MOST_TRIES:,} draws found no valid point for {plural(bad.size, 'row')}: the constraints leave too little "
        "of the space. Start from rows of data instead."
    )


def _draw_freely(space: Space, n: int, rng: np.random.Generator) -> Codes:
    codes = np.empty((n, len(space)), order="F")
    for j, feature in enumerate(space.features):
        if feature.kind == "continuous":
            codes[:, j] = rng.uniform(feature.low, feature.high, n)
        else:
            codes[:, j] = rng.integers(int(feature.low), int(feature.high), n, endpoint=True)
        if feature.nullable:
            codes[rng.random(n) < 0.1, j] = np.nan
    if space.keeps_constraints:
        for constraint in space.constraints:
            constraint.settle(space, codes, rng)
    return codes
