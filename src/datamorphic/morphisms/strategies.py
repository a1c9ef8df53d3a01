"""Hypothesis strategies for the points of a space.

A point is a row of a pool, or an earlier point, with a few features taken from other rows. The cost does not depend on
the number of features. Laws are often broken by points that differ in one feature or in none, and these are frequent.
Points shrink to the first row of the pool, which is the simplest one. Numbers lie on a decimal grid that is finer than
the step, so that counter-examples have short numbers such as ``12.5``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..space.features import Codes, Feature
from ..space.text_feature import Text

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from ..space.space import Space

POOL_ROWS = 256
MAX_CHANGES_PER_POINT = 4
SIMPLE_TEXTS = ("", "a", "a b", "b a", "The cat sat.", "The cat, not the dog, sat!", "a-b c", "日本語 ok", "👍 fine")


def build_pool(space: Space, rows: int = POOL_ROWS, seed: int = 0) -> Codes:
    """Return rows to combine points from: the simplest row, then random ones."""
    rng = np.random.default_rng(seed)
    if space.keeps_constraints:
        return space.sample(rows, seed=rng, points=True).codes
    pool = np.empty((rows, len(space)))
    for j, feature in enumerate(space.features):
        if isinstance(feature, Text):
            texts = feature.encode_texts(("", *feature.examples) if feature.examples else SIMPLE_TEXTS)
            column = texts[rng.integers(len(texts), size=rows)]
            column[rng.random(rows) < (0.1 if feature.nullable else 0.0)] = np.nan
            column[0] = texts[0]
            pool[:, j] = column
            continue
        low, high = _find_draw_range(feature)
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
        column[0] = min(max(0.0, feature.low), feature.high)  # the simplest: 0, or the bound nearest to 0
        pool[:, j] = column
    return pool


def _find_draw_range(feature: Feature) -> tuple[float, float]:
    """Return the range to draw from; a thousand steps where it is open."""
    open_width = 1000 * feature.step
    low, high = feature.low, feature.high
    if math.isinf(low):
        low = high - open_width if math.isfinite(high) else -open_width
    if math.isinf(high):
        high = low + open_width if math.isfinite(feature.low) else open_width
    return low, high


def build_points_strategy(space: Space, count: int = 3, pool: Codes | None = None) -> SearchStrategy[Codes]:
    """Return a Hypothesis strategy for matrices of `count` points."""
    from hypothesis import strategies as st

    rows = build_pool(space) if pool is None else pool
    if space.keeps_constraints:  # a mixture of rows may break the constraints
        row_numbers = st.lists(st.integers(0, len(rows) - 1), min_size=count, max_size=count)
        return row_numbers.map(lambda numbers: rows[numbers])
    row = st.integers(0, len(rows) - 1)
    change = st.tuples(st.integers(0, len(space) - 1), row)
    changes = st.lists(change, max_size=MAX_CHANGES_PER_POINT)

    @st.composite
    def draw_points(draw: DrawFn) -> Codes:
        points: list[Codes] = []
        for _ in range(count):
            base_number = draw(st.integers(0, len(points)))  # of an earlier point; the largest means a row of the pool
            base = points[base_number] if base_number < len(points) else rows[draw(row)]
            point = base.copy()
            for feature, other_row in draw(changes):
                point[feature] = rows[other_row, feature]
            points.append(point)
        return np.array(points)

    return draw_points()
