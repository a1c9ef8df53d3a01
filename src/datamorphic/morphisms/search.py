"""Hypothesis strategies for the points of a space.

Points are put together from a pool of rows: a row, or an earlier point, with a few features taken from
other rows. That costs the same for 3 features and for 300, hits the places where laws break (points that
differ in one feature, or in none), and shrinks to the first row, which is the simplest, with nothing
changed that does not matter. Numbers lie on a decimal grid a good deal finer than the step: a
counter-example then reads ``34 and 12.5``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..space.features import Codes, Feature

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..space.space import Space

POOL = 256
MOST_CHANGES = 4


def simplest(feature: Feature) -> float:
    """Return the code that is easiest to read: 0, or the bound nearest to it."""
    return float(min(max(0.0, feature.low), feature.high))


def pool_of(space: Space, rows: int = POOL, seed: int = 0) -> Codes:
    """Return rows to build points from: the simplest one, the ends of every range, and random ones."""
    rng = np.random.default_rng(seed)
    if space.keeps_constraints:
        return space.sample(rows, seed=rng, points=True).codes
    pool = np.empty((rows, len(space)))
    for j, feature in enumerate(space.features):
        low, high = _reach(feature)
        if feature.kind == "continuous":
            digits = max(0, 2 - math.floor(math.log10(feature.step)))
            column = np.clip(np.round(rng.uniform(low, high, rows), min(digits, 300)), low, high)
        else:
            column = rng.integers(int(low), int(high), rows, endpoint=True).astype(np.float64)
        ends = rng.random(rows)
        column[ends < 0.05] = low
        column[ends > 0.95] = high
        if feature.nullable:
            column[rng.random(rows) < 0.1] = np.nan
        column[0] = simplest(feature)
        pool[:, j] = column
    return pool


def _reach(feature: Feature) -> tuple[float, float]:
    """The range to draw from: the bounds, or a thousand steps where there is none."""
    far = 1000 * feature.step
    low, high = feature.low, feature.high
    if math.isinf(low):
        low = high - far if math.isfinite(high) else -far
    if math.isinf(high):
        high = low + far if math.isfinite(feature.low) else far
    return low, high


def points(space: Space, count: int = 3, pool: Codes | None = None) -> SearchStrategy[Codes]:
    """Return a strategy for `count` points, as a matrix."""
    from hypothesis import strategies as st

    rows = pool_of(space) if pool is None else pool
    if space.keeps_constraints:  # mixing rows would break them
        chosen = st.lists(st.integers(0, len(rows) - 1), min_size=count, max_size=count)
        return chosen.map(lambda numbers: rows[numbers])
    row = st.integers(0, len(rows) - 1)
    change = st.tuples(st.integers(0, len(space) - 1), row)
    changes = st.lists(change, max_size=MOST_CHANGES)

    @st.composite
    def draw_points(draw: Any) -> Codes:
        made: list[Codes] = []
        for _ in range(count):
            earlier = draw(st.integers(0, len(made)))  # which earlier point to start from, the last for none
            base = made[earlier] if earlier < len(made) else rows[draw(row)]
            point = base.copy()
            for feature, other in draw(changes):
                point[feature] = rows[other, feature]
            made.append(point)
        return np.array(made)

    return draw_points()
