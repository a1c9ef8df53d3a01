"""Spaces from frames, and frames in and out."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import datamorphic as dm
from datamorphic.space.points import Points
from datamorphic.space.serialisation import space_from_dict, space_to_dict
from support import faulty_systems as faulty
from support.cases import in_one_test
from support.space_strategies import spaces


def test_hints_for_bank_churners_are_applied(real_data):
    frame = real_data("bank_churners")
    with pytest.warns(dm.errors.AmbiguousData, match="Credit_Limit.*Avg_Open_To_Buy.*rounded"):
        space = dm.Space.from_frame(frame, target="target", **faulty.BANK_HINTS)
    assert space.kinds == {"continuous": 3, "integer": 11, "categorical": 5, "text": 0}
    assert space["Customer_Age"].step == 3
    assert (space["Credit_Limit"].low, space["Credit_Limit"].high) == (1000, 40000)
    assert space["Card_Category"].values == ("Blue", "Silver", "Gold", "Platinum")
    points = space.points(frame)
    assert len(points) == len(frame)
    back = points.frame
    assert list(back.columns) == list(frame.columns.drop("target"))
    assert (back.dtypes == frame.drop(columns="target").dtypes).all()
    same = [name for name in back if name not in ("Credit_Limit", "Avg_Open_To_Buy")]
    pd.testing.assert_frame_equal(back[same], frame[same])


def test_kinds_steps_and_bounds_are_inferred_from_the_values():
    frame = pd.DataFrame(
        {
            "size": [1.0, 3.0, 2.0] * 5,
            "age": range(20, 35),
            "flag": [True, False, True] * 5,
            "word": ["b", "a", None] * 5,
            "grade": pd.Categorical(["low", "high", "mid"] * 5, categories=["low", "mid", "high"]),
            "odd": [1, "a", 2.5] * 5,
        }
    )
    space = dm.Space.from_frame(frame)
    assert [f.kind for f in space] == [
        "continuous",
        "integer",
        "categorical",
        "categorical",
        "categorical",
        "categorical",
    ]
    assert (space["size"].low, space["size"].high, space["size"].step) == (1, 3, 0.1)
    assert (space["age"].low, space["age"].high, space["age"].step) == (20, 34, 1)
    assert space["flag"].values == (False, True)
    assert space["word"].values == ("a", "b")
    assert space["word"].nullable
    assert not space["size"].nullable
    assert space["grade"].values == ("low", "mid", "high")
    assert set(space["odd"].values) == {1, "a", 2.5}
    pd.testing.assert_frame_equal(space.points(frame).frame, frame)


def test_few_distinct_integers_raise_one_warning():
    frame = pd.DataFrame({"doors": [2, 4, 5] * 10, "seats": [2, 5, 7] * 10, "km": range(30)})
    with pytest.warns(dm.errors.AmbiguousData) as caught:
        space = dm.Space.from_frame(frame)
    assert len(caught) == 1
    assert "'doors', 'seats'" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert space["doors"].kind == "integer"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        space = dm.Space.from_frame(frame, kinds={"doors": "categorical"}, bounds={"seats": (1, 9)})
    assert space["doors"].kind == "categorical"
    assert (space["seats"].kind, space["seats"].high) == ("integer", 9)


def test_missing_values_make_a_feature_nullable():
    frame = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": pd.array([1, None, 30], dtype="Int64"), "c": ["x", None, "y"]})
    space = dm.Space.from_frame(frame, kinds={"b": "integer"})
    assert all(f.nullable for f in space)
    pd.testing.assert_frame_equal(space.points(frame).frame, frame)
    assert space.distance(frame.iloc[[0]], frame.iloc[[1]])[0] == 3  # one for each missing value
    assert space.move_names[:4] == [("up", "a"), ("down", "a"), ("clear", "a"), ("fill", "a")]
    assert space.move(frame, "clear", "b")["b"].isna().all()
    assert space.move(frame, "fill", "b")["b"].tolist() == [1, 15, 30]
    assert space.up(frame, "a")["a"].tolist()[0] == pytest.approx(1.1)
    assert math.isnan(space.up(frame, "a")["a"][1])


@in_one_test("dtype", ["int8", "int64", "float32", "float64", "Int64", "Float64", "category", "object", "str", "bool"])
def test_frames_keep_their_dtypes_and_order(dtype):
    values = [True, False, True] if dtype == "bool" else [1, 2, 3]
    column = pd.Series(values).astype("str" if dtype == "str" else dtype)
    frame = pd.DataFrame({"other": [0.5, 0.25, 0.75], "it": column.array}, index=[10, 20, 30])
    space = dm.Space.from_frame(frame, kinds={"it": "categorical"})
    middle = space.midpoint(frame, frame.iloc[::-1])
    assert list(middle.columns) == ["other", "it"]
    assert middle["it"].dtype == frame["it"].dtype
    assert middle.index.tolist() == [10, 20, 30]
    assert middle["it"].tolist() == frame["it"].tolist()  # a lone category goes to the first end
    swapped = frame[["it", "other"]]
    assert list(space.up(swapped, "it").columns) == ["it", "other"]


def test_small_integers_that_outgrow_their_dtype_are_widened():
    frame = pd.DataFrame({"n": np.array([100, 127], dtype=np.int8)})
    space = dm.Space.from_frame(frame, kinds={"n": "integer"}, bounds={"n": (0, 500)}, steps={"n": 100})
    assert space.up(frame, "n")["n"].tolist() == [200, 227]


def test_columns_that_are_not_features_are_ignored(mixed):
    frame = mixed.sample(5).assign(target="yes")
    assert (mixed.distance(frame, frame) == 0).all()
    assert list(mixed.up(frame, "n").columns) == ["x", "n", "c"]


def test_results_have_the_form_of_the_input(mixed):
    case = {"x": 1.0, "n": 3, "c": "b"}
    assert mixed.up(case, "n") == {"x": 1.0, "n": 4, "c": "b"}
    assert mixed.up((1.0, 3, "b"), "c") == (1.0, 3, "c")
    assert mixed.up([1.0, 3, "b"], "c") == [1.0, 3, "c"]
    assert mixed.up(pd.Series(case), "n").tolist() == [1.0, 4, "b"]
    assert isinstance(mixed.up(mixed.points(case), "n"), Points)
    assert mixed.distance(case, case | {"n": 5}) == 2.0
    grid = dm.Space.from_arrays(np.arange(12.0).reshape(4, 3))
    assert grid.names == ("x0", "x1", "x2")
    moved = grid.down(np.array([[3.0, 4.0, 5.0]]), "x1")
    assert isinstance(moved, np.ndarray)
    assert moved.tolist() == [[3.0, 4.0 - 9 / 20, 5.0]]


def test_clipped_and_open_moves():
    features = [dm.Continuous("x", 0, 1, step=0.4), dm.Integer("n", 0, 10, step=4), dm.Integer("natural", 0)]
    clip, free = dm.Space(features), dm.Space(features, moves="open")
    case = {"x": 0.9, "n": 9, "natural": 0}
    assert clip.up(case, "x")["x"] == 1.0
    assert free.up(case, "x")["x"] == pytest.approx(1.3)
    assert free.up(case, "n")["n"] == clip.up(case, "n")["n"] == 10
    assert free.down(case, "natural")["natural"] == 0
    assert free.distance(free.up(case, "x"), case) == pytest.approx(0.4)
    line = dm.Space([dm.Continuous("x")])
    assert line.down({"x": 0.0}, "x") == {"x": -1.0}


def test_scaled_distance_gives_all_ranges_equal_weight():
    space = dm.Space([dm.Integer("limit", 1000, 41000), dm.Continuous("age", 20, 80), dm.Categorical("c", ["a", "b"])])
    a, b = (1000, 20.0, "a"), (41000, 80.0, "b")
    assert space.distance(a, b) == 40000 + 60 + 1
    assert space.distance(a, b, scaled=True) == pytest.approx(3)


def test_sample_is_seeded_and_uniform():
    space = dm.Space([dm.Continuous("x", -1, 1), dm.Integer("n", 3, 6), dm.Categorical("c", ["a", "b"], nullable=True)])
    frame = space.sample(4000, seed=7)
    pd.testing.assert_frame_equal(frame, space.sample(4000, seed=7))
    assert not frame.equals(space.sample(4000, seed=8))
    assert abs(frame["x"].mean()) < 4 * (1 / math.sqrt(3)) / math.sqrt(4000)
    shares = frame["n"].value_counts(normalize=True)
    assert sorted(shares.index) == [3, 4, 5, 6]
    assert (abs(shares - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 4000)).all()
    assert abs(frame["c"].isna().mean() - 0.1) < 4 * math.sqrt(0.09 / 4000)


@given(spaces(8))
def test_a_space_survives_json(space):
    again = space_from_dict(json.loads(json.dumps(space_to_dict(space))))
    assert again == space
    assert hash(again) == hash(space)


def test_the_description_has_one_line_per_feature(mixed):
    assert mixed.describe().splitlines() == [
        "x  real number in [0, 6.28], step 0.2",
        "n  whole number in [0, 10], step 1",
        "c  one of a, b, c",
    ]
    assert repr(mixed) == "Space(1 continuous, 1 integer, 1 categorical, moves='clip')"
