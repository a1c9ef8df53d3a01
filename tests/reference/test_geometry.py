"""The fast geometry equals the plain one, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
import scalar_space as plain
from hypothesis import given

import datamorphic as dm
from datamorphic.space import geometry
from datamorphic.space.points import Points
from support.cases import FEW_EXAMPLES
from support.space_strategies import spaces

ROWS = 15


def drawn(space, seed):
    """Rows of a space of any kind, bounded or not; half of the features equal between the two sets."""
    rng = np.random.default_rng(seed)
    sets = []
    for _ in range(2):
        codes = np.empty((ROWS, len(space)))
        for j, feature in enumerate(space.features):
            low = feature.low if np.isfinite(feature.low) else (min(feature.high, 0) - 100)
            high = feature.high if np.isfinite(feature.high) else low + 200
            if feature.kind == "continuous":
                codes[:, j] = rng.uniform(low, high, ROWS)
            else:
                codes[:, j] = rng.integers(int(low), int(high), ROWS, endpoint=True)
            if feature.nullable:
                codes[rng.random(ROWS) < 0.2, j] = np.nan
        sets.append(codes)
    equal = rng.random(sets[0].shape) < 0.4
    sets[1] = np.where(equal, sets[0], sets[1])
    return sets


@pytest.mark.slow
@FEW_EXAMPLES
@given(spaces())
def test_distance_midpoint_and_moves_equal_the_plain_ones(space):
    a, b = drawn(space, 1)
    for scaled in (False, True):
        fast = geometry.distance(space, a, b, scaled)
        slow = [plain.distance(space, x, y, scaled) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        np.testing.assert_allclose(fast, slow, rtol=1e-12, atol=0)
    slow_middle = [plain.midpoint(space, x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(geometry.midpoint(space, a, b), np.array(slow_middle))
    for kind, name in space.move_names:
        j = space.position(name)
        slow_moved = [plain.move(space, x, j, kind) for x in a.tolist()]
        np.testing.assert_array_equal(geometry.move(space, a, j, kind), np.array(slow_moved))


@pytest.mark.parametrize(
    ("x", "y", "middle"),
    [
        ((0, 0), (1, 1), (0, 1)),  # floor((x + y) / 2) would give the end (0, 0)
        ((0, 0), (3, 3), (1, 2)),
        ((3, 3), (0, 0), (2, 1)),
        ((0, 0), (2, 4), (1, 2)),
        ((5, 0), (5, 1), (5, 0)),
        ((-3, 0), (0, 0), (-2, 0)),
    ],
)
def test_integer_midpoints_by_hand(x, y, middle):
    space = dm.Space([dm.Integer("m"), dm.Integer("n")])
    assert space.midpoint(x, y) == middle


def test_a_hybrid_midpoint_by_hand():
    space = dm.Space(
        [
            dm.Categorical("c", ["abc", "d", "e"]),
            dm.Integer("n", nullable=True),
            dm.Continuous("x"),
            dm.Integer("m"),
            dm.Categorical("k", [1, 2]),
        ]
    )
    x, y = ("d", None, 0.0, 0, 1), ("e", 7, 1.0, 5, 2)
    # c to x, n (missing) to y, m (odd gap) rounds to x, k to y
    assert space.midpoint(x, y) == ("d", 7, 0.5, 2, 2)
    assert space.distance(x, y) == 1 + 1 + 1.0 + 5 + 1


def test_one_row_meets_many():
    space = dm.Space([dm.Integer("n", 0, 9), dm.Continuous("x", 0, 1)])
    many = space.sample(7, seed=3)
    one = many.iloc[[0]]
    assert space.distance(one, many).shape == (7,)
    assert space.distance(one, many)[0] == 0
    middle = space.midpoint(one, many)
    assert len(middle) == 7
    assert list(middle.columns) == ["n", "x"]
    backwards = space.midpoint(many, one)
    assert (
        (Points(space, geometry.midpoint(space, space.points(many).codes, space.points(one).codes)).frame == backwards)
        .all()
        .all()
    )
