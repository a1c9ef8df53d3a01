"""Coverage of borders, leaves and mutants: values, and which cases can be spared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError, ModelError
from datamorphic.morphisms.cases import TestSet
from datamorphic.space.outputs import Outputs
from datamorphic.synthesis.optimisation.coverage_metrics import (
    BorderCoverage,
    LeafCoverage,
    TreeMutationScore,
    find_forest,
)
from datamorphic.trees.read import read_forest

SQUARE = dm.Space([dm.Continuous("x", 0, 1), dm.Continuous("y", 0, 1)])


def execute(space, frame, rule):
    points = space.points(pd.DataFrame(frame))
    return TestSet.of_seeds(points).with_outputs(Outputs.of(np.asarray(rule(points.frame))))


def prepare_border(tests):
    metric = BorderCoverage()
    metric.prepare(tests)
    return metric


def is_right(frame):
    return np.where(frame["x"] > 0.5, "right", "left")


def test_two_near_cases_with_different_answers_show_a_border():
    tests = execute(SQUARE, {"x": [0.49, 0.501, 0.1, 0.9], "y": [0.3, 0.3, 0.3, 0.3]}, is_right)
    assert prepare_border(tests).measure(tests) == 1 / 256
    apart = execute(SQUARE, {"x": [0.45, 0.55], "y": [0.3, 0.3]}, is_right)
    assert prepare_border(apart).measure(apart) == 0.0


def test_a_cell_counts_once_however_many_pairs_it_holds():
    x, y = np.array([0.499, 0.501] * 6), np.repeat([0.03, 0.031, 0.032, 0.45, 0.451, 0.97], 2)
    tests = execute(SQUARE, {"x": x, "y": y}, is_right)
    assert prepare_border(tests).measure(tests) == 3 / 256
    assert prepare_border(tests).measure(tests.take(np.arange(12)[::-1])) == 3 / 256


def test_one_other_feature_may_differ_by_one_step():
    space = dm.Space([dm.Integer("n", 0, 20), dm.Categorical("c", ["a", "b"])])
    metric = prepare_border(execute(space, {"n": [0, 20], "c": ["a", "b"]}, lambda frame: frame["n"] > 10))

    def measure(n, c, rule):
        return 256 * metric.measure(execute(space, {"n": n, "c": c}, rule))

    assert measure([10, 11], ["a", "a"], lambda frame: frame["n"] > 10) == 1
    assert measure([10, 12], ["a", "a"], lambda frame: frame["n"] > 10) == 0
    assert measure([10, 10], ["a", "b"], lambda frame: frame["c"] == "b") == 1
    assert measure([10, 11], ["a", "b"], lambda frame: frame["c"] == "b") == 0


def test_numbers_have_a_border_at_the_median():
    tests = execute(SQUARE, {"x": np.linspace(0, 1, 101), "y": np.full(101, 0.5)}, lambda frame: frame["x"] * 1.37)
    metric = prepare_border(tests)
    assert metric.measure(tests) == 1 / 256
    assert "median" in metric.remark


def test_cases_without_an_answer_show_no_border():
    tests = execute(SQUARE, {"x": [0.499, 0.501], "y": [0.3, 0.3]}, is_right)
    failed = tests.with_outputs(Outputs(tests.outputs.values, np.array([0, 2], dtype=np.int8)))
    assert prepare_border(tests).measure(failed) == 0.0
    with pytest.raises(DataError, match="Execute"):
        prepare_border(tests).measure(TestSet.of_seeds(tests.inputs))


@pytest.mark.parametrize("seed", range(3))
def test_the_weakest_cases_cost_no_coverage_while_others_can_be_spared(seed):
    rng = np.random.default_rng(seed)
    frame = SQUARE.sample(400, seed=seed)
    tests = execute(SQUARE, frame.assign(x=0.45 + 0.1 * frame.x), is_right)
    metric = prepare_border(tests)
    covered = metric.measure(tests)
    assert covered > 5 / 256
    needed = 2 * round(256 * covered)
    keep = np.ones(400, dtype=bool)
    keep[metric.choose_weakest(tests, 400 - needed, keep.copy(), rng)] = False
    assert metric.measure(tests.take(keep)) == covered


def test_needed_cases_cover_all_that_the_set_covers():
    frame = SQUARE.sample(400, seed=0)
    tests = execute(SQUARE, frame.assign(x=0.45 + 0.1 * frame.x), is_right)
    metric = prepare_border(tests)
    needed = metric.find_needed(tests)
    assert metric.measure(tests.take(needed)) == metric.measure(tests)
    assert needed.sum() <= 2 * 256 * metric.measure(tests) < 100


def test_large_sets_are_thinned_in_rounds(monkeypatch):
    tests = execute(SQUARE, SQUARE.sample(300, seed=1), is_right)
    metric = prepare_border(tests)
    monkeypatch.setattr("datamorphic.synthesis.optimisation.coverage_metrics.MAX_GREEDY_CELLS", 0)
    removable = np.arange(300) % 2 == 0
    weakest = metric.choose_weakest(tests, 100, removable, np.random.default_rng(0))
    assert len(set(weakest.tolist())) == 100
    assert removable[weakest].all()


# -- trees ---------------------------------------------------------------------------------------------------------

IRIS = dm.data.load("iris")
INPUTS = IRIS.drop(columns="target")
TREE = DecisionTreeClassifier(random_state=0).fit(INPUTS, IRIS["target"])


def prepare_tree_metric(kind, tests):
    metric = kind(read_forest(TREE))
    metric.prepare(tests)
    return metric


@pytest.mark.parametrize(("kind", "criterion"), [(LeafCoverage, "DTC"), (TreeMutationScore, "DTMT")])
def test_trees_are_covered_as_dm_cover_says(kind, criterion):
    rows = INPUTS.sample(15, random_state=3)
    tests = TestSet.of_seeds(dm.Space.from_frame(INPUTS).points(rows))
    result = dm.cover(TREE, rows, criterion=criterion)
    expected = result.share if criterion == "DTC" else np.mean(result.killed)
    assert prepare_tree_metric(kind, tests).measure(tests) == pytest.approx(expected)


@pytest.mark.parametrize("kind", [LeafCoverage, TreeMutationScore])
def test_cases_that_alone_reach_something_are_kept(kind):
    tests = TestSet.of_seeds(dm.Space.from_frame(INPUTS).points(INPUTS))
    metric = prepare_tree_metric(kind, tests)
    keep = np.ones(len(tests), dtype=bool)
    keep[metric.choose_weakest(tests, 120, keep.copy(), np.random.default_rng(0))] = False
    assert metric.measure(tests.take(keep)) == metric.measure(tests)
    assert metric.score_cases(tests).sum() == pytest.approx(round(metric.measure(tests) * metric.item_count), abs=1)


def test_metrics_of_trees_need_a_tree_with_a_decision():
    with pytest.raises(ArgumentError, match=r"the test system has none\. Pass a fitted one: tree=model"):
        find_forest(None, None, "leaf_coverage")
    with pytest.raises(ArgumentError, match="mutation_score needs a decision tree"):
        find_forest(LogisticRegression().fit(INPUTS[:2], ["a", "b"]), None, "mutation_score")
    stump = DecisionTreeClassifier().fit(INPUTS, np.zeros(len(INPUTS)))
    metric = TreeMutationScore(read_forest(stump))
    with pytest.raises(ArgumentError, match="makes no decision"):
        metric.prepare(TestSet.of_seeds(dm.Space.from_frame(INPUTS).points(INPUTS)))
    regressor = DecisionTreeRegressor(max_depth=2).fit(INPUTS, INPUTS.iloc[:, 0])
    with pytest.raises(ModelError, match="tolerance"):
        TreeMutationScore(read_forest(regressor))
    assert TreeMutationScore(read_forest(regressor), 0.1).item_count > 0


def test_other_features_than_those_of_the_tree_are_ignored():
    frame = pd.concat([INPUTS, INPUTS.iloc[:, :1].set_axis(["extra"], axis=1)], axis=1)
    tests = TestSet.of_seeds(dm.Space.from_frame(frame).points(frame))
    assert prepare_tree_metric(LeafCoverage, tests).measure(tests) == 1.0
