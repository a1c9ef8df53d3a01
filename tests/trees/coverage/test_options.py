"""Options of `cover` and `select`: validation, and hints that replace a space."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.errors import ArgumentError, OutOfBudget
from datamorphic.trees.coverage.options import CoverOptions, SelectOptions
from support.cases import in_one_test

ROWS = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "income": [1.0, 2.0, 1.0, 2.0]})
MODEL = DecisionTreeClassifier(random_state=0).fit(ROWS, [0, 0, 1, 1])


def test_hints_bound_the_rows_that_are_made():
    coverage = dm.cover(MODEL, ROWS[:2], bounds={"age": (0, 100)}, kinds={"age": "integer"})
    row = coverage.fix()
    assert len(row) == 1
    assert float(row["age"].iloc[0]).is_integer()
    assert coverage.inputs.space["age"].kind == "integer"
    selection = dm.select(MODEL, ROWS, "BVA", bounds={"age": (0, 100)}, kinds={"age": "integer"})
    assert selection.leaves.inputs.space["age"].high == 100


def test_hints_and_a_space_exclude_each_other():
    space = dm.Space.from_frame(ROWS)
    for function in (dm.cover, dm.select):
        with pytest.raises(ArgumentError, match="only one of the two"):
            function(MODEL, ROWS, space=space, kinds={"age": "integer"})


def test_hints_need_a_frame():
    with pytest.raises(ArgumentError, match="a DataFrame, since hints are given"):
        dm.cover(MODEL, ROWS.to_numpy(), kinds={"age": "integer"})


@in_one_test(
    ("options", "name"),
    [
        ({"criterion": "XYZ"}, "criterion"),
        ({"offset": "beyond"}, "offset"),
        ({"per_node": -1}, "per_node"),
        ({"space": "age"}, "space"),
        ({"target": 3}, "target"),
        ({"tolerance": -0.1}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
    ],
)
def test_invalid_options_are_refused(options, name):
    with pytest.raises(ArgumentError, match=f"'{name}'"):
        CoverOptions(model=MODEL, data=ROWS, **options)


def test_select_takes_values_beyond_limits():
    assert SelectOptions(model=MODEL, data=ROWS, offset="beyond").offset == "beyond"


def test_results_have_all_exports(tmp_path):
    coverage, selection = dm.cover(MODEL, ROWS[:2]), dm.select(MODEL, ROWS)
    for result in (coverage, dm.cover(MODEL, ROWS[:2], criterion="DTMT"), selection):
        assert result.headline() in result.to_markdown(tmp_path / "result.md")
        assert 'tests="1"' in result.to_junit(tmp_path / "result.xml")
        assert result.describe(1)
    assert 'failures="1"' in coverage.to_junit(at_least=0.9)
    assert 'failures="0"' in coverage.to_junit(at_least=0.1)


def test_the_model_may_be_a_file(tmp_path):
    dm.trees.write_pmml(dm.trees.read_forest(MODEL), tmp_path / "tree.pmml")
    assert dm.cover(tmp_path / "tree.pmml", ROWS[:2]).share == dm.cover(MODEL, ROWS[:2]).share == 0.5


def test_seeds_by_position():
    rows = ROWS.loc[[0, 0, 0, 2, 2, 2]].reset_index(drop=True)
    chosen = dm.select(MODEL, rows, "DTC", None, False, 3)
    assert chosen.places.tolist() == dm.select(MODEL, rows, seed=3).places.tolist()


def test_classes_are_for_surrogates():
    with pytest.raises(ArgumentError, match=r"classes= is about the answers of a model, and trees are read"):
        dm.cover(MODEL, ROWS, classes=["no", "yes"])


def test_a_surrogate_is_fitted_to_the_answers_that_a_budget_allows():
    def model(frame):
        return np.where(frame.age > 30, "old", "young")

    rows = pd.concat([ROWS] * 30, ignore_index=True).assign(income=np.arange(120.0))
    coverage = dm.cover(model, rows, surrogate=True, budget="250 runs")
    assert coverage.unfinished == ("the answers to 1,920 of 2,120 inputs that the surrogate is fitted to",)
    with pytest.raises(OutOfBudget, match="Give a larger one"):
        dm.cover(model, rows, surrogate=True, budget="50 runs")
