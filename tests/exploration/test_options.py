"""The options of explore and plan: validated once, and handed on as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.exploration.borders import Jump, MultiLabel, Threshold
from datamorphic.exploration.options import STRATEGIES, ExploreOptions, PlanOptions, WalkOptions
from datamorphic.runs.flow import Budget
from support.cases import in_one_test


@in_one_test(
    ("arguments", "name"),
    [
        ({"strategy": "nowhere"}, "strategy"),
        ({"refine": "guess"}, "refine"),
        ({"pool": "shrinking"}, "pool"),
        ({"walks": -1}, "walks"),
        ({"walk_distance": 0}, "walk_distance"),
        ({"delta": 0}, "delta"),
        ({"max_halvings": 1.5}, "max_halvings"),
        ({"timeout": -1}, "timeout"),
        ({"batch": 0}, "batch"),
        ({"budget": "much"}, "budget"),
        ({"labels": "tree"}, "labels"),
        ({"threshold": 1.0, "jump": 2.0}, "only one of them"),
        ({"strategy": "auto", "pool": "growing"}, "cannot grow"),
    ],
)
def test_invalid_options_are_rejected_when_they_are_made(arguments, name):
    with pytest.raises(ArgumentError, match=name):
        WalkOptions(**arguments)


def test_messages_name_the_public_function():
    with pytest.raises(ArgumentError, match="explore"):
        WalkOptions(walks=-1)
    with pytest.raises(ArgumentError, match="plan"):
        PlanOptions(classify, walks=-1)
    with pytest.raises(ArgumentError, match="trial"):
        PlanOptions(classify, trial=3)


def test_defaults_of_halvings_and_trial_walks():
    assert WalkOptions().halvings == 20
    assert WalkOptions(max_halvings=5, delta=0.1).halvings == 5
    assert WalkOptions(delta=0.1).halvings > 1000
    assert [PlanOptions(classify, walks=walks).trial_walks for walks in (10, 1_000, 100_000)] == [40, 100, 1_000]
    assert PlanOptions(classify, trial=30).trial_walks == 30


def test_a_new_border_is_made_each_time():
    assert WalkOptions().make_border() is None
    assert isinstance(WalkOptions(threshold=2).make_border(), Threshold)
    assert isinstance(WalkOptions(jump=2).make_border(), Jump)
    options = WalkOptions(labels="multi")
    assert isinstance(options.make_border(), MultiLabel)
    assert options.make_border() is not options.make_border()


def test_the_request_of_a_run_has_the_keys_that_older_stores_have():
    request = ExploreOptions(model=classify, budget="90s", moves=("up_x",)).to_request()
    assert set(request) >= {
        *("strategy", "walks", "steps", "walk_distance", "delta", "moves", "refine", "pool"),
        *("timeout", "batch", "budget", "threshold", "jump", "labels", "target"),
    }
    assert request["budget"] == {"seconds": 90.0}
    assert request["moves"] == ["up_x"]
    assert request["steps"] == 20
    assert ExploreOptions(model=classify, budget="90s").limits == Budget(seconds=90.0)
    hinted = ExploreOptions(model=classify, bounds={"x": (0, None)}).to_request()
    assert hinted["space_hints"] == {"bounds": {"x": [0, None]}}


@pytest.mark.slow
def test_all_strategies_can_be_explored():
    for strategy in STRATEGIES:
        front = dm.explore(dm.subjects["Box 1"], strategy=strategy, walks=30, seeds=20, progress=False)
        assert front.strategy == strategy


def classify(frame):
    return np.where(frame["x"] > 5, "high", "low")


@pytest.mark.slow
def test_hints_change_the_space_that_is_inferred():
    frame = pd.DataFrame({"x": range(11), "y": np.linspace(0, 1, 11)})
    plain = dm.explore(classify, frame, walks=20, progress=False)
    assert plain.space["x"].kind == "integer"
    options = {"kinds": {"x": "continuous"}, "column_steps": {"x": 0.5}, "bounds": {"y": (-1, 2)}}
    hinted = dm.explore(classify, frame, walks=20, progress=False, **options)
    assert hinted.space["x"].kind == "continuous"
    assert hinted.space["x"].step == 0.5
    assert (hinted.space["y"].low, hinted.space["y"].high) == (-1, 2)
    assert dm.plan(classify, frame, walks=50, **options).walks == 50


def test_hints_beside_a_space_are_rejected():
    space = dm.Space([dm.Continuous("x", 0, 10)])
    for function in (dm.explore, dm.plan):
        with pytest.raises(ArgumentError, match="hints"):
            function(classify, space=space, kinds={"x": "integer"})
