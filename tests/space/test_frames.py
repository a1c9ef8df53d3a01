"""Frames as people have them: every dtype, missing values, narrow numbers. Nothing is truncated, wraps or leaks."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.morphisms.cases import TestSet
from datamorphic.space.frames import join_target
from datamorphic.space.points import Points
from support.cases import in_one_test


@in_one_test("dtype", ["int64", "int8", "Int64", "int64[pyarrow]", "object", "category", "float32", "Float64"])
def test_a_real_number_is_never_cast_to_an_integer_dtype(dtype):
    frame = pd.DataFrame({"x": pd.Series([1, 2, 30]).astype(dtype)})
    space = dm.Space([dm.Continuous("x", 0, 40, step=0.25)])
    assert space.up(frame, "x")["x"].astype(float).tolist() == [1.25, 2.25, 30.25]
    assert space.up(space.up(frame, "x"), "x")["x"].astype(float).tolist() == [1.5, 2.5, 30.5]


@in_one_test("dtype", ["int8", "Int8", "UInt8", "int8[pyarrow]", "float16", "float64", "object", "category"])
@in_one_test("missing", [True, False])
def test_whole_numbers_never_wrap_around(dtype, missing):
    missing = missing and dtype != "int8"  # which has no missing values
    values = [1, 5, None] if missing else [1, 5, 9]
    frame = pd.DataFrame({"n": pd.Series(values, dtype="Int64").astype(dtype)})
    space = dm.Space([dm.Integer("n", -1000, 1000, step=100, nullable=missing)])
    twice = space.up(space.up(frame, "n"), "n")["n"]
    assert twice.dropna().astype(int).tolist()[:2] == [201, 205]
    assert twice.isna().sum() == missing
    below = space.down(frame, "n")["n"]
    assert below.dropna().astype(int).tolist()[:2] == [-99, -95]


def test_a_missing_boolean_is_not_false():
    space = dm.Space([dm.Categorical("k", [False, True], nullable=True), dm.Categorical("n", [1, 2], nullable=True)])
    frame = pd.DataFrame({"k": [True, False], "n": [1, 2]})
    cleared = space.move(space.move(frame, "clear", "k"), "clear", "n")
    assert cleared.isna().all().all()
    assert (str(cleared["k"].dtype), str(cleared["n"].dtype)) == ("boolean", "Int64")


def test_text_in_object_columns_stays_object_in_every_batch():
    frame = pd.DataFrame({"c": pd.Series(["a", 1, "b"], dtype=object), "t": pd.Series(["x", "y", "z"], dtype=object)})
    space = dm.Space.from_frame(frame)
    for rows in ([0, 2], [1], [0, 1, 2]):
        back = space.points(frame.iloc[rows]).frame
        assert back.dtypes.tolist() == [object, object]
        assert back["c"].tolist() == frame["c"].iloc[rows].tolist()


def test_zero_and_false_are_different_categories():
    numbers, truths = dm.Categorical("f", [0, 1]), dm.Categorical("f", [False, True])
    assert numbers != truths
    dm.Space([numbers]).sample(1)
    assert dm.Space([truths]).points({"f": True}).codes.tolist() == [[1.0]]
    assert dm.Space([truths]).sample(2)["f"].dtype == bool
    assert dm.Space([numbers]).sample(2)["f"].dtype == "int64"


def test_numbers_written_as_text_count_as_text():
    space = dm.Space([dm.Integer("n", 0, 9)])
    with pytest.raises(dm.errors.DataError, match="'2' is not a number"):
        space.points(pd.DataFrame({"n": ["2"]}))
    with pytest.raises(dm.errors.DataError, match="holds 'a', which is not a number"):
        dm.Space.from_frame(pd.DataFrame({"n": [1, "a"]}), kinds={"n": "integer"})


def test_a_float32_is_snapped_to_bounds_it_cannot_represent():
    space = dm.Space([dm.Continuous("x", 0, 0.1, step=0.1)])
    for dtype in ("float32", "float16", "Float32", "float[pyarrow]"):
        frame = pd.DataFrame({"x": pd.Series([0.0]).astype(dtype)})
        for _ in range(3):
            frame = space.up(frame, "x")
            assert frame["x"].dtype == dtype
        assert space.points(frame).codes[0, 0] == 0.1


def test_integers_beyond_the_precision_of_a_short_float_are_widened():
    space = dm.Space([dm.Integer("n", 0, 10**9, step=10**8 + 1)])
    for dtype in ("float16", "float32", "Float32"):
        frame = pd.DataFrame({"n": pd.Series([1.0]).astype(dtype)})
        assert space.up(frame, "n")["n"].tolist() == [10**8 + 2]


def test_a_system_that_changes_its_frame_does_not_change_the_points():
    space = dm.Space([dm.Continuous("x", 0, 10), dm.Integer("n", 0, 9)])
    points = space.sample(4, points=True)
    before = points.codes.copy()

    def greedy(frame):
        frame.loc[:, "x"] -= 5
        frame["n"] = 0
        return frame["x"] > 0

    dm.wrap(greedy, space=space).execute(points)
    np.testing.assert_array_equal(points.codes, before)


def test_rounding_bounds_and_steps():
    frame = pd.DataFrame({"n": range(1000), "x": np.linspace(0, 100, 1000)})
    space = dm.Space.from_frame(frame.assign(n=frame["n"] // 100), bounds={"n": (0, 40), "x": (0, None)})
    assert space["n"].step == 2  # a twentieth of the bounds, not of the data
    assert space["x"].step == pytest.approx(5)  # of the data, where the bounds are open


def test_a_path_takes_the_right_number_of_steps():
    space = dm.Space([dm.Continuous("x", 0, 1, step=0.2)])
    assert space.path({"x": 0.0}, {"x": 0.6}).moves == ["up x"] * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "start", "target"),
    [
        (1e-7, 1e10, 1e10 + 1e-3),
        (1e-9, 0.0, 5.0),
        (1e-300, 0.0, 1.0),
        (1e-6, 1e10, 1e10 + 1),
        (1.0, 1.0, np.nextafter(1, 2)),
    ],
)
def test_the_end_of_a_path_is_where_its_walk_ends(step, start, target):
    space = dm.Space([dm.Continuous("x", 0, 1e11, step=step)])
    path = space.path({"x": start}, {"x": float(target)}, delta=1e-5)
    walked = path.walk()
    assert len(path) <= 10_100
    assert walked.codes[-1, 0] == path.end.codes[0, 0]
    assert path.gap <= 1e-5


def test_a_path_ends_at_the_nearest_float():
    space = dm.Space([dm.Continuous("x", 0, 2)])
    path = space.path({"x": 1.0}, {"x": float(np.nextafter(1, 2))}, delta=1e-18)
    assert path.gap == pytest.approx(np.spacing(1.0))


def test_any_number_of_rare_valid_points_can_be_drawn():
    space = dm.Space([dm.Continuous("x", 0, 1)], constraints=["x <= 0.01"])
    frame = space.sample(20_000, seed=3)
    assert len(frame) == 20_000
    assert frame["x"].max() <= 0.01
    assert abs(frame["x"].mean() - 0.005) < 4 * 0.01 / np.sqrt(12 * 20_000)


def test_a_wide_table_of_combinations_does_not_overflow():
    names = [f"f{i}" for i in range(70)]
    table = pd.DataFrame([[0] * 70, [1] * 70], columns=names)
    space = dm.Space([dm.Integer(name, 0, 1) for name in names], constraints=[dm.AllowedCombinations(table)])
    assert space.valid(dict.fromkeys(names, 0)).tolist() == [True]
    assert space.valid({**dict.fromkeys(names, 0), "f0": 1}).tolist() == [False]


def test_a_missing_value_satisfies_a_rule():
    space = dm.Space([dm.Integer("n", 0, 9, nullable=True)], constraints=[lambda f: f["n"] > 3])
    frame = space.sample(200)
    assert frame["n"].isna().any()
    assert frame["n"].min() == 4


def test_a_comparison_may_begin_with_a_number():
    space = dm.Space([dm.Integer("n", 0, 9)], constraints=["3 <= n"])
    assert space.sample(50)["n"].min() == 3
    with pytest.raises(dm.errors.SpaceError, match="compares with nan"):
        dm.Space([dm.Integer("n", 0, 9)], constraints=["n < nan"])


def test_spaces_can_be_pickled():
    table = pd.DataFrame({"a": [0, 1], "b": [1, 0]})
    space = dm.Space(
        [dm.Integer("a", 0, 1), dm.Integer("b", 0, 1), dm.Integer("c", 0, 1), dm.Integer("d", 0, 1)],
        constraints=[dm.AllowedCombinations(table), dm.OneHot(["c", "d"]), "a <= c"],
    )
    points = space.sample(5, points=True)
    again = pickle.loads(pickle.dumps(points))
    assert again.space == space
    assert hash(again.space) == hash(space)
    assert len(Points.concat([points, again])) == 10


def test_lists_of_dicts_and_vectors_are_cases():
    space = dm.Space([dm.Integer("n", 0, 9), dm.Categorical("c", ["a", "b"])])
    cases = [{"n": 1, "c": "a"}, {"n": 9, "c": "b"}]
    assert space.up(cases, "n") == [{"n": 2, "c": "a"}, {"n": 9, "c": "b"}]
    line = dm.Space([dm.Continuous("x"), dm.Continuous("y")])
    moved = line.up(np.array([1.0, 2.0]), "x")
    assert isinstance(moved, np.ndarray)
    assert moved.tolist() == [2.0, 2.0]


def test_points_of_an_open_space_are_validated_by_a_clipped_one():
    features = [dm.Continuous("x", 0, 1)]
    far = dm.Space(features, moves="open").points({"x": 7.0})
    with pytest.raises(dm.errors.DataError, match="lies outside the bounds"):
        dm.Space(features).points(far)


def test_lenient_points_show_unknown_categories_as_missing():
    space = dm.Space([dm.Categorical("c", ["a", "b"]), dm.Integer("n", 0, 9)])
    points = space.points(pd.DataFrame({"c": ["zz", "a"], "n": [1, 20]}), lenient=True)
    assert points.frame["c"].isna().tolist() == [True, False]
    assert points.codes[:, 1].tolist() == [1, 20]


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["lo", "hi"], categories=["hi", "lo"], ordered=True),
        pd.array([True, None], dtype="boolean"),
        [("a", 1), ("b", (2, 3))],
        pd.array([1, None], dtype="Int64"),
    ],
)
def test_parquet_keeps_dtypes_and_categories(tmp_path, column):
    frame = pd.DataFrame({"c": pd.Series(column)})
    space = dm.Space.from_frame(frame, kinds={"c": "categorical"})
    TestSet.of_seeds(space.points(frame)).to_parquet(tmp_path / "t.parquet")
    again = TestSet.from_parquet(tmp_path / "t.parquet")
    assert again.space == space
    pd.testing.assert_frame_equal(again.input, frame)


def test_categories_that_no_file_can_hold_are_rejected_before_writing(tmp_path):
    frame = pd.DataFrame({"c": pd.cut(pd.Series([1.0, 5.0, 9.0]), 3)})
    space = dm.Space.from_frame(frame)
    assert space.points(frame).frame["c"].tolist() == frame["c"].tolist()
    with pytest.raises(dm.errors.DataError, match="of type Interval, which cannot be stored in a file"):
        TestSet.of_seeds(space.points(frame)).to_parquet(tmp_path / "t.parquet")
    assert not (tmp_path / "t.parquet").exists()


def test_labels_are_joined_to_texts_in_any_form():
    texts, labels = ["good day", "bad night", "good rain"], ["p", "n", "p"]
    for data in (texts, tuple(texts), np.array(texts, dtype=object), pd.Series(texts, name="review")):
        frame, name = join_target(data, labels)
        assert (list(frame), name) == (["text", "target"], "target")
        assert (frame["text"].tolist(), frame["target"].tolist()) == (texts, labels)


def test_labels_of_texts_and_images_must_fit():
    images = np.zeros((4, 2, 2))
    for data in (["good", "bad", "fine", "poor"], images, list(images)):
        with pytest.raises(dm.errors.DataError, match="There are 3 labels for 4 cases"):
            join_target(data, [0, 1, 0])
    with pytest.raises(dm.errors.DataError, match="neither a frame, nor an array, nor a list of texts or images"):
        join_target(3, [1])
