"""Random spaces and points for property tests."""

from __future__ import annotations

import math

from hypothesis import strategies as st

import datamorphic as dm
from datamorphic.morphisms.strategies import build_points_strategy
from datamorphic.space.points import Points


@st.composite
def features(draw, name, bounded=False):
    kind = draw(st.sampled_from(["continuous", "integer", "categorical"]))
    nullable = draw(st.booleans())
    if kind == "categorical":
        return dm.Categorical(name, [f"v{i}" for i in range(draw(st.integers(1, 7)))], nullable=nullable)
    low = draw(st.integers(-50, 50)) if bounded or draw(st.booleans()) else None
    width = draw(st.integers(0, 200))
    high = (low or 0) + width if bounded or draw(st.booleans()) else None
    if kind == "integer":
        return dm.Integer(name, low, high, step=draw(st.integers(1, 9)), nullable=nullable)
    step = draw(st.sampled_from([0.05, 0.3, 1.0, 7.5]))
    return dm.Continuous(name, low, high, step=step, nullable=nullable)


@st.composite
def spaces(draw, most=30, bounded=False):
    count = draw(st.integers(1, most))
    moves = draw(st.sampled_from(["clip", "open"]))
    return dm.Space([draw(features(f"f{j}", bounded)) for j in range(count)], moves=moves)


@st.composite
def spaces_with_points(draw, count=3, most=30):
    """A space and `count` single points of it."""
    space = draw(spaces(most))
    codes = draw(build_points_strategy(space, count))
    return space, *(Points(space, codes[i : i + 1]) for i in range(count))


def is_discrete(space):
    return all(feature.kind != "continuous" for feature in space)


def same(a, b):
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))
