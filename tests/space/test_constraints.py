"""Constraints are kept by moves, midpoints and draws, or the case is marked."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.space.serialisation import space_from_dict, space_to_dict

SULFUR = [dm.Continuous("free", 0, 70), dm.Continuous("total", 0, 300)]
HOT = [
    dm.Integer("red", 0, 1),
    dm.Categorical("green", [False, True]),
    dm.Integer("blue", 0, 1),
    dm.Continuous("x", 0, 1),
]


def exercised(space, rows=300):
    """Points after every move and after midpoints between random points."""
    points = space.sample(rows, seed=1, points=True)
    parts = [points, space.midpoint(points, points.take(slice(None, None, -1)))]
    parts += [space.move(points, kind, name) for kind, name in space.move_names]
    return dm.Points.concat(parts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "space",
    [
        dm.Space(SULFUR, constraints=["free <= total"]),
        dm.Space([dm.Integer("total", 0, 9), dm.Integer("free", 0, 9)], constraints="free <= total"),
        dm.Space(SULFUR, constraints=[lambda f: f["free"] + f["total"] < 200]),
        dm.Space([dm.Integer(side, 1, 9) for side in "abc"], constraints=["a + b > c", "b + c > a", "a + c > b"]),
        dm.Space(HOT, constraints=[dm.OneHot(["red", "green", "blue"])]),
        dm.Space(
            [
                dm.Categorical("city", ["Rome", "Oslo", "Bergen"]),
                dm.Integer("n", 0, 5),
                dm.Categorical("land", ["I", "N"]),
            ],
            constraints=[
                dm.AllowedCombinations(pd.DataFrame({"city": ["Rome", "Oslo", "Bergen"], "land": ["I", "N", "N"]}))
            ],
        ),
    ],
    ids=["compare", "whole numbers", "function", "sums", "one hot", "combinations"],
)
def test_moves_midpoints_and_samples_satisfy_the_constraints(space):
    points = exercised(space)
    assert space.valid(points).all()
    start, target = (space.sample(20, seed=seed, points=True) for seed in (2, 3))
    for path in space.path(start, target):
        assert path.gap <= 1e-3
        assert space.valid(path.walk()).all()


def test_invalid_points_are_allowed_on_request():
    free = dm.Space(SULFUR, constraints=["free <= total"], invalid="allow")
    case = {"free": 10.0, "total": 10.0}
    assert free.up(case, "free") == {"free": 13.5, "total": 10.0}
    assert free.valid(pd.DataFrame([case, free.up(case, "free")])).tolist() == [True, False]
    strict = dm.Space(SULFUR, constraints=["free <= total"])
    assert strict.up(case, "free") == case


def test_a_one_hot_group_moves_as_one_feature():
    space = dm.Space(HOT, constraints=[dm.OneHot(["red", "green", "blue"])])
    case = {"red": 1, "green": False, "blue": 0, "x": 0.5}
    assert space.up(case, "blue") == {"red": 0, "green": False, "blue": 1, "x": 0.5}
    assert space.down(case, "red") == case
    other = {"red": 0, "green": True, "blue": 0, "x": 0.0}
    assert space.midpoint(case, other) == {"red": 1, "green": False, "blue": 0, "x": 0.25}
    assert space.path(case, other | {"x": 0.5}).gap == 0


def test_an_integer_midpoint_takes_the_other_ends_where_the_first_are_invalid():
    space = dm.Space([dm.Integer("total", 0, 9), dm.Integer("free", 0, 9)], constraints=["free <= total"])
    # by turns, total would go to 0 and free to 1
    assert space.midpoint((0, 0), (1, 1)) == (1, 0)


def test_a_missing_value_satisfies_a_comparison():
    space = dm.Space([dm.Integer("a", 0, 9, nullable=True), dm.Integer("b", 0, 9)], constraints=["a < b", "b != 3"])
    frame = pd.DataFrame({"a": pd.array([None, 5, 1], dtype="Int64"), "b": [2, 4, 3]})
    assert space.valid(frame).tolist() == [True, False, False]


def test_constraints_survive_json_unless_they_are_functions():
    table = pd.DataFrame({"red": [1, 0], "green": [False, True]})
    space = dm.Space(HOT, constraints=["x <= 0.5", dm.AllowedCombinations(table)])
    again = space_from_dict(json.loads(json.dumps(space_to_dict(space))))
    points = dm.Space(HOT).sample(200, seed=0)
    np.testing.assert_array_equal(space.valid(points), again.valid(points))
    with pytest.warns(dm.errors.DatamorphicWarning, match="is a function, which files do not hold"):
        space_from_dict(space_to_dict(dm.Space(HOT, constraints=[lambda f: f["x"] > 0])))


def test_sums_of_features_are_compared():
    sides = [dm.Integer(side, 1, 9, nullable=side == "a") for side in "abc"]
    space = dm.Space(sides, constraints=["a + b > c", "2 * a - b <= 5"])
    frame = pd.DataFrame({"a": pd.array([3, 3, 1, 6, None], dtype="Int64"), "b": [4, 4, 2, 5, 1], "c": [6, 7, 3, 1, 9]})
    assert space.valid(frame).tolist() == [True, False, False, False, True]
    again = space_from_dict(json.loads(json.dumps(space_to_dict(space))))
    assert again.valid(frame).tolist() == space.valid(frame).tolist()
    assert [constraint.describe() for constraint in again.constraints] == ["a + b > c", "2 × a - b ≤ 5"]


def test_a_sum_of_something_else_than_numbers_is_refused():
    features = [dm.Integer("a", 0, 9), dm.Categorical("b", ["x", "y"])]
    with pytest.raises(dm.errors.SpaceError, match=r"adds 'b', which is categorical\. Add numbers"):
        dm.Space(features, constraints=["a + b > 3"])
    with pytest.raises(dm.errors.SpaceError, match="There is no feature 'c'"):
        dm.Space(features, constraints=["a + c > 3"])


def test_sampling_gives_up_when_hardly_any_point_is_valid():
    space = dm.Space(SULFUR, constraints=[lambda f: f["free"] > 1e9])
    with pytest.raises(dm.errors.SpaceError, match="only 0 satisfy the constraints"):
        space.sample(5)
