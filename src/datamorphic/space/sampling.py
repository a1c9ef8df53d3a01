"""Uniform draws from a space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import SpaceError
from .features import Codes

if TYPE_CHECKING:
    from .space import Space

AT_ONCE = 1_000_000  # rows
RAREST = 1e-5  # share of valid points below which drawing is hopeless


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
    valid = codes[space.satisfied(codes)]
    drawn = n
    while len(valid) < n:
        if drawn > 1 / RAREST and len(valid) < RAREST * drawn:
            raise SpaceError(
                f"Of {drawn:,} points drawn only {len(valid):,} are valid: the constraints leave too little of the "
                "space. Start from rows of data instead."
            )
        expected = (n - len(valid)) * drawn / max(len(valid), 1)
        more = min(int(1.1 * expected) + 100, AT_ONCE)
        fresh = _draw_freely(space, more, rng)
        valid = np.concatenate([valid, fresh[space.satisfied(fresh)]])
        drawn += more
    return np.asfortranarray(valid[:n])


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
