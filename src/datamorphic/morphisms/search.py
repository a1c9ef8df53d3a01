"""Hypothesis strategies for the points of a space.

Numbers are drawn from a decimal grid a good deal finer than the step: a counter-example then reads
``34 and 12.5``, and never hangs on the last bit of a float.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..space.features import Codes, Feature

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..space.space import Space

POOL = 256  # valid points to choose from where constraints rule out drawing feature by feature


def code_of(feature: Feature) -> SearchStrategy[float]:
    """Return a strategy for one feature's codes; it shrinks towards values that are easy to read."""
    from hypothesis import strategies as st

    low, high = feature.low, feature.high
    if feature.kind == "continuous":
        codes = _decimals(low, high, feature.step)
    else:
        least = int(max(low, -1000 * feature.step if math.isinf(low) else low))
        most = int(min(high, least + 2000 * feature.step if math.isinf(high) else high))
        if math.isinf(low) and math.isfinite(high):
            least = int(high - 2000 * feature.step)
        codes = st.integers(least, most).map(float)
    if feature.nullable:
        codes = codes | st.just(math.nan)
    return codes


def _decimals(low: float, high: float, step: float) -> SearchStrategy[float]:
    from hypothesis import strategies as st

    if low == high:
        return st.just(low)
    digits = max(0, 2 - math.floor(math.log10(step)))
    reach = 1000 * step
    if math.isinf(low):
        low = high - reach if math.isfinite(high) else -reach
    if math.isinf(high):
        high = low + reach if low != -reach else reach
    unit = 10.0**digits
    least, most = math.ceil(low * unit), math.floor(high * unit)
    if most - least < 100:  # a range far narrower than its step
        return st.floats(low, high)
    return st.integers(least, most).map(lambda m: min(max(m / unit, low), high)) | st.sampled_from([low, high])


def points(space: Space, count: int = 3) -> SearchStrategy[Codes]:
    """Return a strategy for `count` points, as a matrix; later ones share most features with earlier ones.

    Sharing matters: laws break where points differ in one feature, or in none, and a counter-example
    reads best when everything that does not count is the same.
    """
    from hypothesis import strategies as st

    if space.keeps_constraints:
        pool = space.sample(POOL, seed=0, points=True).codes
        rows = st.lists(st.integers(0, POOL - 1), min_size=count, max_size=count)
        return rows.map(lambda chosen: pool[chosen])
    each = [code_of(feature) for feature in space.features]

    @st.composite
    def draw_points(draw: Any) -> Codes:
        first = [draw(code) for code in each]
        rows = [first]
        for _ in range(count - 1):
            base = rows[draw(st.integers(0, len(rows) - 1))]
            rows.append([draw(code) if draw(st.booleans()) else base[j] for j, code in enumerate(each)])
        return np.array(rows, dtype=np.float64)

    return draw_points()
