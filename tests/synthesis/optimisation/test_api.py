"""`dm.optimise`: what it starts from, wrong use, exports, and runs in a store."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError, StoreError, SystemFailed, TestSystemError
from datamorphic.morphisms.cases import TestSet
from datamorphic.synthesis.stored_tests import load_stored_tests
from support.cases import in_one_test

BOX = dm.subjects["Box 2"]
IRIS = dm.data.load("iris")
INPUTS = IRIS.drop(columns="target")
TREE = DecisionTreeClassifier(random_state=0).fit(INPUTS, IRIS["target"])


def optimise(**options):
    return dm.optimise(BOX, "GAOptimizeWeakestRemoval", **{"seeds": 20, "max_cycles": 3, **options})


# -- what it starts from -------------------------------------------------------------------------------------------


def test_the_seed_maker_makes_the_first_set():
    assert len(dm.optimise(BOX, max_cycles=1).start) == 200
    assert len(optimise().start) == 20
    assert set(optimise().start.made_by_names) == {"random_values"}


def test_a_frame_or_a_test_set_can_be_improved():
    frame = BOX.known_space().sample(15, seed=1)
    result = optimise(tests=frame.assign(colour="red"), seeds=None, target="colour")
    assert result.start.input.equals(frame)
    tests = TestSet.of_seeds(BOX.known_space().points(frame), "mine", first_id=100)
    again = optimise(tests=tests, seeds=None)
    assert again.start.ids.tolist() == list(range(100, 115))
    assert again.tests.input.equals(result.tests.input)
    assert set(again.tests.ids[again.tests.made_by_names != "mine"] >= 115) <= {True}


def test_a_test_set_of_another_space_is_moved_to_that_of_the_system():
    frame = BOX.known_space().sample(15, seed=1) / 3
    narrow = TestSet.of_seeds(dm.Space.from_frame(frame).points(frame), first_id=7)
    result = optimise(tests=narrow, seeds=None, max_cycles=15)
    assert result.tests.space.features == BOX.known_space().features
    assert result.start.ids.tolist() == narrow.ids.tolist()
    assert result.tests.input["x"].max() > frame["x"].max()  # the bounds are those of the system


@pytest.mark.slow
def test_a_model_gets_the_moves_of_its_space():
    result = dm.optimise(
        TREE,
        "GAOptimizeWeakestRemoval",
        metric=["leaf_coverage", "mutation_score"],
        tests=IRIS.sample(15, random_state=1),
        target="target",
        max_cycles=8,
    )
    assert result.system == "DecisionTreeClassifier"
    assert result.executions == 0
    for name in result.metrics:
        assert result.fitness[name] >= result.start_fitness[name]
    assert result.gain["leaf_coverage"] > 0
    assert dm.cover(TREE, result.tests.input).share == result.fitness["leaf_coverage"]


def test_the_tree_can_be_another_model():
    def predict(frame):
        return np.where(frame["petal length (cm)"] > 2.5, "long", "short")

    tests = INPUTS.sample(15, random_state=1)
    result = dm.optimise(predict, metric="leaf_coverage", tests=tests, tree=TREE, max_cycles=2)
    assert result.start_fitness["leaf_coverage"] == dm.cover(TREE, tests).share


def test_a_test_system_without_a_system_under_test():
    class Bare:
        space = dm.Space([dm.Continuous("x", 0, 1, step=0.1)])

        @dm.datamorphism
        def shifted(self, p, rng):
            return p.assign(x=rng.random(len(p)))

    result = dm.optimise(Bare, seeds=10, max_cycles=5)
    assert result.gain["mean_nearest_distance"] > 0


@in_one_test(
    ("options", "error", "message"),
    [
        ({"strategy": "GAOptimizeAll"}, ArgumentError, "no strategy 'GAOptimizeAll'"),
        ({"seeds": 1}, ArgumentError, "seeds"),
        ({"max_cycles": 0}, ArgumentError, "max_cycles"),
        ({"patience": 0}, ArgumentError, "patience"),
        ({"mutant_ratio": 0}, ArgumentError, "mutant_ratio"),
        ({"mutant_ratio": 11}, ArgumentError, "at most 10"),
        ({"remove_ratio": 1.5}, ArgumentError, "remove_ratio"),
        ({"change_rate": 1}, ArgumentError, "change_rate"),
        ({"timeout": -1}, ArgumentError, "timeout"),
        ({"batch": 0}, ArgumentError, "batch"),
        ({"budget": "soon"}, ArgumentError, "The budget 'soon' is not understood"),
        ({"filters": ["thin"]}, ArgumentError, "Filters are applied by GAOptimizeFilter"),
        ({"strategy": "GAOptimizeFilter", "filters": "thin"}, TestSystemError, "no set_filter named 'thin'"),
        ({"datamorphisms": ["sideward"]}, TestSystemError, "no datamorphism named 'sideward'"),
        ({"tests": INPUTS}, ArgumentError, "Give only one"),
        ({"tests": 50, "seeds": None}, ArgumentError, "seeds=50"),
        ({"tests": pd.DataFrame({"x": [1.0], "y": [0.0]}), "seeds": None}, DataError, "at least 2 cases"),
        ({"metric": "leaf_coverage"}, ArgumentError, "Box 2.classify has none"),
        ({"metric": "border_coverage", "budget": 10}, ArgumentError, "too small to execute the 20 cases"),
        ({"resume": 3}, ArgumentError, "Add store"),
    ],
)
def test_wrong_use_says_what_to_do(options, error, message):
    with pytest.raises(error, match=message):
        dm.optimise(BOX, **{"strategy": "GAOptimizeWeakestRemoval", "seeds": 20, "max_cycles": 3, **options})


# -- what it returns -----------------------------------------------------------------------------------------------


def test_a_system_without_answers_is_not_taken_for_one_with_a_single_label():
    def fail(frame):
        raise RuntimeError("down")

    frame = BOX.known_space().sample(2, seed=1)
    with pytest.raises(SystemFailed, match="No answer to any of the 2 cases to start from: RuntimeError: down"):
        dm.optimise(fail, metric="label_balance", tests=frame)


def test_the_history_is_a_frame():
    result = optimise(metric="border_coverage")
    assert list(result.history) == ["cycle", "size", "border_coverage", "executions", "improved", "sets"]
    assert result.history["cycle"].tolist() == [0, 1, 2, 3]
    assert result.history["executions"].is_monotonic_increasing
    assert result.history["executions"].iloc[0] == 20
    assert result.executions >= result.calls > 20


def test_exports():
    result = optimise(metric=["mean_nearest_distance", "label_balance"])
    document = json.loads(result.to_json())
    assert document["metrics"] == ["mean_nearest_distance", "label_balance"]
    assert len(document["history"]) == 4
    assert document["fitness"] == pytest.approx(result.fitness)
    assert "mean_nearest_distance" in result.describe()
    assert "label_balance" in repr(result)
    html = result.to_html()
    assert html.count("<svg") >= 3  # two histories and the test set
    assert "Several metrics at once" in html
    assert "GAOptimizeWeakestRemoval" in result.to_markdown()
    assert result.to_junit().count("<testcase") == 2
    assert "&lt;svg" in result._repr_html_()


def test_a_metric_that_began_at_zero_has_no_percentage():
    result = dm.optimise(BOX, "GAOptimizeWeakestRemoval", metric="border_coverage", seeds=40, max_cycles=12)
    assert result.start_fitness["border_coverage"] == 0
    assert result.gain["border_coverage"] == np.inf
    assert "border_coverage from 0 to 0.0" in result.describe()
    assert "inf" not in result.describe()
    json.loads(result.to_json())


# -- stores --------------------------------------------------------------------------------------------------------


def test_a_run_is_kept_with_its_test_set(tmp_path):
    with dm.Store.open(tmp_path / "runs.sqlite") as store:
        result = optimise(metric="label_balance", store=store)
        (run,) = store.runs()
        assert (run.verb, run.system, run.state) == ("optimise", "Box 2", "finished")
        assert run.summary["headline"].startswith("label_balance")
        assert load_stored_tests(store, run.id).frame().equals(result.tests.frame())


def test_an_interrupted_run_resumes_to_the_same_result(tmp_path):
    calls, stop_at = [], None

    def classify(frame):
        if len(calls) == stop_at:
            raise KeyboardInterrupt
        calls.append(len(frame))
        return BOX.sut.execute(frame).values

    def improve(**options):
        tests, space = BOX.known_space().sample(20, seed=1), BOX.known_space()
        options |= {"metric": "border_coverage", "tests": tests, "space": space, "max_cycles": 6}
        return dm.optimise(classify, "GAOptimizeWeakestRemoval", **options)

    whole = improve()
    call_count = len(calls)
    calls.clear()
    stop_at = call_count // 2
    url = tmp_path / "runs.sqlite"
    first = improve(store=url)
    assert first.interrupted
    assert 0 < first.cycles[-1].cycle < 6
    assert "The search was interrupted" in first.describe()
    stop_at = None
    resumed = improve(store=url, resume=1)
    assert resumed.stopped == "steps"
    assert resumed.tests.frame().equals(whole.tests.frame())
    assert len(calls) < 1.5 * call_count  # most answers are read from the store
    with pytest.raises(StoreError, match="finished"):
        improve(store=url, resume=1)


def test_a_run_without_executions_starts_again(tmp_path):
    url = tmp_path / "runs.sqlite"
    spent = optimise(store=url, budget="0.0001s")
    assert spent.stopped == "budget"
    with dm.Store.open(url) as store:
        assert store.run(1).state == "finished"


@pytest.mark.parametrize(
    ("plain", "published"),
    [
        ("filter", "GAOptimizeFilter"),
        ("weakest_removal", "GAOptimizeWeakestRemoval"),
        ("strongest_mutant", "GAOptimizeStrongestMutant"),
        ("random_removal", "GAOptimizeRandomRemoval"),
    ],
)
def test_strategies_have_plain_names(plain, published):
    first, second = (dm.optimise(BOX, name, seeds=20, max_cycles=2) for name in (plain, published))
    assert first.strategy == second.strategy == published
    assert first.fitness == second.fitness


def test_former_names_warn():
    with pytest.warns(DeprecationWarning, match="'steps' of optimise is now called 'max_cycles'"):
        result = dm.optimise(BOX, seeds=20, steps=2)
    assert result.settings["steps"] == result.cycles[-1].cycle == 2
    with pytest.warns(DeprecationWarning, match="'test_system' of optimise is now called 'model'"):
        dm.optimise(test_system=BOX, seeds=20, max_cycles=2)
