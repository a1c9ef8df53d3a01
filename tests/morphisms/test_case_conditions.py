"""Conditions on test cases: what they select, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.morphisms.case_conditions import select_cases
from datamorphic.morphisms.cases import TestSet
from datamorphic.space.outputs import Outputs
from support.cases import in_one_test

SPACE = dm.Space(
    [
        dm.Continuous("x", 0, 10),
        dm.Integer("age", 0, 99, nullable=True),
        dm.Categorical("card", ["Blue", "Silver", "Gold"]),
        dm.Continuous("a>=b", 0, 1),
        dm.Continuous("kind", 0, 1),
    ]
)


@pytest.fixture(scope="module")
def tests():
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 3.0], "age": [30, None, 50], "card": ["Blue", "Gold", "Silver"], "a>=b": [0.0, 0.5, 1.0]}
    ).assign(kind=[0.0, 1.0, 1.0])
    seeds = TestSet.of_seeds(SPACE.points(frame), "rows")
    both = seeds.grow(seeds.inputs.take([0]), "copy", [seeds.ids[:1]])
    status = np.array([0, 0, 0, 1], dtype=np.int8)
    return both.with_outputs(Outputs(np.array(["red", "blue", "red", "x"]), status)).with_correctness([1, 2, 0, 0])


@in_one_test(
    ("conditions", "ids"),
    [
        ([], [0, 1, 2, 3]),
        (["x>=2"], [1, 2]),
        (["x > 1", "x<3"], [1]),
        (["in.x=1.0"], [0, 3]),
        (["age="], [1]),
        (["age!="], [0, 2, 3]),
        (["age<40"], [0, 3]),
        (["card=Gold"], [1]),
        (["card>Blue"], [1, 2]),  # in the order of the feature
        (["a>=b>=0.5"], [1, 2]),  # a name may contain an operator
        (["kind=mutant"], [3]),
        (["in.kind=1"], [1, 2]),  # a feature with the name of a column
        (["morphism!=rows"], [3]),
        (["correctness=not judged"], [2, 3]),
        (["correctness = not_judged", "status=ok"], [2]),
        (["output=red"], [0, 2]),
        (["output!=red"], [1]),
        (["output="], [3]),
        (["id<=1"], [0, 1]),
        (["origin=0"], [3]),
        (["origin="], [0, 1, 2]),
        (["status=error"], [3]),
    ],
)
def test_conditions_select_cases(tests, conditions, ids):
    assert tests.ids[select_cases(tests, conditions)].tolist() == ids


def test_outputs_may_be_numbers(tests):
    numbered = tests.with_outputs(Outputs.of(np.array([1, 2, 3, 4])))
    assert numbered.ids[select_cases(numbered, ["output>2"])].tolist() == [2, 3]
    with pytest.raises(dm.errors.DataError, match="outputs are numbers"):
        select_cases(numbered, ["output=red"])


@in_one_test(
    ("condition", "message"),
    [
        ("x", "is not a name, one of"),
        ("y=3", "about 'y', which is unknown. There are: 'x'"),
        ("kard=Gold", "Did you mean 'card'"),
        ("x=__import__('os').system('id')", "'x' is a number"),
        ("card=Platinum", "'Platinum', the value of 'card', is not one of the categories"),
        ("kind=seed", "'seed' is unknown as kind"),
        ("output<red", "'output' has no order"),
        ("morphism>a", "'morphism' has no order"),
        ("id=first", "'first' is not an id"),
        ("", "is not a name, one of"),
    ],
)
def test_wrong_conditions_are_refused(tests, condition, message):
    with pytest.raises(dm.errors.DataError, match=message):
        select_cases(tests, [condition])


def test_a_condition_on_outputs_needs_outputs():
    with pytest.raises(dm.errors.DataError, match="no outputs to compare"):
        select_cases(TestSet.of_seeds(SPACE.sample(2, points=True)), ["output=red"])
