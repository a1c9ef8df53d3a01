"""The options of ``dm.check``."""

import pandas as pd
import pytest
from sklearn.decomposition import PCA

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.relations.check.options import CheckOptions
from support.cases import in_one_test


@in_one_test(
    "options",
    [
        {"inputs": 0},
        {"rows": 0},
        {"ties": "maybe"},
        {"timeout": -1},
        {"seed": -1},
        {"like": PCA()},
        {"strictness": {"MR-0": "very"}},
        {"expected_failures": ["MR-0"]},
        {"budget": "soon"},
    ],
)
def test_invalid_options_are_rejected(options):
    with pytest.raises(ArgumentError):
        CheckOptions(model=min, **options)


def test_hints_and_a_space_exclude_each_other():
    space = dm.Space([dm.Integer("x", 0, 9)])
    with pytest.raises(ArgumentError, match="only one of the two"):
        CheckOptions(model=min, space=space, kinds={"x": "integer"})


def test_hints_reach_the_space_of_a_model():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    report = dm.check(
        lambda rows: rows.x > 2, frame, dm.invariant("x"), kinds={"x": "integer"}, bounds={"x": (0, 9)}, progress=False
    )
    (session,) = report._sessions.values()
    assert session.subject.seeds.space["x"].kind == "integer"
    assert session.subject.seeds.space["x"].high == 9
