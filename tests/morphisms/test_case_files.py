"""Files of test cases by extension: CSV, tables of inputs, other spaces."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.morphisms.cases import TestSet
from datamorphic.morphisms.text_values import parse_labels, to_text
from support.cases import in_one_test

LINE = dm.Space([dm.Continuous("x", 0, 10)])


def test_a_table_of_inputs_is_read_as_seed_cases(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.5], "c": ["a", "b"]})
    for name in ("rows.csv", "rows.parquet"):
        if name.endswith("csv"):
            frame.to_csv(tmp_path / name, index=False)
        else:
            frame.to_parquet(tmp_path / name)
        tests = TestSet.load(tmp_path / name)
        pd.testing.assert_frame_equal(tests.input, frame, check_dtype=False)
        assert tests.made_by_names.tolist() == ["file", "file"]
        assert TestSet.load(tmp_path / name, LINE).input["x"].tolist() == [1.0, 2.5]


def test_a_stored_set_can_be_moved_to_another_space(tmp_path):
    TestSet.of_seeds(LINE.sample(3, points=True)).save(tmp_path / "tests.parquet")
    wider = dm.Space([dm.Continuous("x", -5, 50)])
    assert TestSet.load(tmp_path / "tests.parquet", wider).space is wider
    assert TestSet.load(tmp_path / "tests.parquet").space == LINE
    with pytest.raises(dm.errors.DataError, match="lack 1 column"):
        TestSet.load(tmp_path / "tests.parquet", dm.Space([dm.Continuous("z", 0, 1)]))


@in_one_test(
    ("old", "new", "message"),
    [
        ("0,1.5", "0,lots", "tests.csv, line 2: 'lots', the value of 'x', is not a number"),
        ("0,1.5", "zero,1.5", "line 2: 'zero', the value of 'id', is not the id of a test case"),
        ("original", "first", "line 2: 'first', the value of 'kind', is unknown. Expected 'original', 'mutant'"),
        ("not judged", "good", "line 2: 'good', the value of 'correctness', is unknown"),
        ("in.x", "in.y", "lacks 1 column of this space: in.x"),
        ("\n1,", "\n0,", "has the id 0 twice"),
    ],
)
def test_errors_in_tables_name_the_line(tmp_path, old, new, message):
    path = tmp_path / "tests.csv"
    TestSet.of_seeds(LINE.points(pd.DataFrame({"x": [1.5, 2.0]}))).save(path)
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(dm.errors.DataError, match=message):
        TestSet.load(path, LINE)


@pytest.mark.parametrize("suffix", ["tcs", "csv", "tsv"])
def test_odd_names_and_values_survive(tmp_path, suffix):
    categories = ["", "null", "a,b", "<c>", " d", 'e"', "f:g;", "[h]", "{", "}", "1.0", "é\u2028", "i\tj"]
    space = dm.Space([dm.Categorical("c, 1", categories, nullable=True), dm.Integer("n:1", -3, 3, nullable=True)])
    frame = pd.DataFrame({"c, 1": [*categories, None], "n:1": [*range(-3, 4), None] + [0] * 6})
    seeds = TestSet.of_seeds(space.points(frame), "made:by, hand")
    tests = seeds.with_outputs(dm.Outputs.of(np.array([*categories[1:], "x", "y"])))
    tests.save(tmp_path / f"tests.{suffix}")
    again = TestSet.load(tmp_path / f"tests.{suffix}", space)
    np.testing.assert_array_equal(again.inputs.codes, tests.inputs.codes)
    assert again.output.tolist() == tests.output.tolist()
    assert again.morphisms == ("made:by, hand",)


@pytest.mark.parametrize("name", ["tests.csv", "tests.tcs"])
def test_a_set_without_cases_needs_a_space(tmp_path, name):
    TestSet.of_seeds(LINE.sample(1, points=True)).take([]).save(tmp_path / name)
    assert len(TestSet.load(tmp_path / name, LINE)) == 0
    with pytest.raises(dm.errors.DataError, match="has no test cases, so its features are not known"):
        TestSet.load(tmp_path / name)


def test_a_carriage_return_is_refused_in_csv_files(tmp_path):
    space = dm.Space([dm.Categorical("c", ["a\rb", "c"])])
    with pytest.raises(dm.errors.DataError, match="carriage return"):
        TestSet.of_seeds(space.points(pd.DataFrame({"c": ["a\rb"]}))).save(tmp_path / "a.csv")


def test_unknown_extensions_are_refused(tmp_path):
    tests = TestSet.of_seeds(LINE.sample(1, points=True))
    with pytest.raises(dm.errors.DataError, match=r"Known extensions: .parquet, .csv, .tcs"):
        tests.save(tmp_path / "tests.xlsx")
    (tmp_path / "tests.xlsx").write_text("PK")
    with pytest.raises(dm.errors.DataError, match=r"tests.xlsx is not a test set"):
        TestSet.load(tmp_path / "tests.xlsx")
    with pytest.raises(dm.errors.DatamorphicError, match="cannot be written"):
        tests.save(tmp_path / "tests.xlsx" / "a.tcs")
    with pytest.raises(dm.errors.DatamorphicError, match="cannot be written"):
        tests.save(tmp_path / "tests.xlsx" / "a.parquet")


@in_one_test("labels", [["red", "blue"], [1, -2], [0.5, 1e-7], [True, False], ["true", "red"], ["1", "1.0.0"]])
def test_labels_are_read_as_they_were_written(labels):
    values, present = parse_labels([*map(to_text, labels), ""])
    assert values[:-1].tolist() == labels
    assert [type(value) for value in values[:-1].tolist()] == list(map(type, labels))
    assert present.tolist() == [True, True, False]
