"""`SpaceOptions`: hints for reading a frame as a space."""

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError, SpaceError
from datamorphic.morphisms.subject import build_subject
from datamorphic.space.options import SpaceOptions

FRAME = pd.DataFrame({"n": range(21), "c": ["a", "b", "c"] * 7})
HINTS = {"kinds": {"n": "continuous"}, "steps": {"n": 2}, "bounds": {"n": (0, None)}, "orders": {"c": ["c", "b", "a"]}}


def test_hints_are_those_of_from_frame():
    assert SpaceOptions(**HINTS).infer_space(FRAME) == dm.Space.from_frame(FRAME, **HINTS)


def test_only_hints_that_were_given_are_listed():
    assert SpaceOptions(steps={"n": 2}, kinds={}).to_dict() == {"steps": {"n": 2}}
    assert SpaceOptions(steps={"n": 2})
    assert not SpaceOptions(kinds={}, orders=None)


@pytest.mark.parametrize("hints", [{"kinds": ["n"]}, {"steps": 3}, {"kinds": {"n": "real"}}])
def test_malformed_hints_are_rejected_before_there_is_data(hints):
    with pytest.raises(SpaceError, match="must be"):
        SpaceOptions(**hints)


def test_subject_reads_its_space_with_the_hints():
    subject = build_subject(
        lambda frame: frame.n > 3, FRAME, space_options=SpaceOptions(**HINTS), rng=np.random.default_rng(0)
    )
    assert subject.seeds.space == dm.Space.from_frame(FRAME, **HINTS)


@pytest.mark.parametrize("source", ["argument", "data", "points", "test system"])
def test_hints_beside_a_space_are_rejected(source):
    space = dm.Space.from_frame(FRAME, kinds={"n": "integer"})
    model = dm.subjects["Box 1"] if source == "test system" else lambda frame: frame.n > 3
    data = {"argument": FRAME, "data": space, "points": space.points(FRAME), "test system": None}[source]
    with pytest.raises(ArgumentError, match=r"plan was given a space and hints for its columns \(steps\)"):
        build_subject(
            model,
            data,
            space=space if source == "argument" else None,
            space_options=SpaceOptions(steps={"n": 2}),
            rng=np.random.default_rng(0),
            owner="plan",
        )
