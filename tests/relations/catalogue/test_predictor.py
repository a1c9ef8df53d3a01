"""Relations of what predicts: found where planted, not where not, and shrunk."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError, TestSystemError
from datamorphic.relations.algebra.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, Relation
from datamorphic.relations.algebra.shrink import find_usual_values
from datamorphic.relations.catalogue.predictor import PREDICTOR_RELATIONS
from datamorphic.relations.check.runner import run_relation_check
from support.cases import in_one_test

SPACE = dm.Space([dm.Continuous("x", 0, 10), dm.Integer("n", 0, 9), dm.Categorical("c", ["a", "b"])])
POINTS = SPACE.sample(60, seed=1, points=True)


def plain(frame):
    return np.where(frame["x"] > 5, "high", "low")


def first_row_is_special(frame):
    answers = plain(frame).astype(object)
    answers[0] = "first"
    return answers


def centred(frame):
    return np.where(frame["x"] > frame["x"].mean(), "high", "low")


def by_place(frame):
    return np.where(pd.to_numeric(frame.iloc[:, 0], errors="coerce").fillna(0) > 5, "high", "low")


def by_index(frame):
    return np.where(frame["x"].reindex(range(len(frame))).fillna(0) > 5, "high", "low")


def by_type(frame):
    return np.where(frame["n"].map(lambda n: len(str(n))) > 1, "long", "short")


class Moody:
    def __init__(self):
        self.calls = 0

    def __call__(self, frame):
        self.calls += 1
        return np.where(frame["x"] > 5 + self.calls % 2, "high", "low")


def put(name, system):
    sut = dm.wrap(system, space=SPACE, name="system")
    return run_relation_check(PREDICTOR_RELATIONS[name], sut, POINTS)


@in_one_test("name", PREDICTOR_RELATIONS)
def test_a_sound_function_keeps_all_relations(name):
    groups = put(name, plain).groups
    assert groups.judged_count == len(groups) > 0
    assert groups.count(VIOLATED) == 0


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("repeats", Moody()),
        ("row order", first_row_is_special),
        ("batches", first_row_is_special),
        ("batches", centred),
        ("column order", by_place),
        ("row labels", by_index),
        ("number types", by_type),
    ],
)
def test_planted_faults_are_found_and_shrunk(name, system):
    result = put(name, system)
    assert result.groups.count(VIOLATED) > 0
    smallest = result.smallest
    assert smallest is not None
    assert (smallest.verdicts == VIOLATED).all()
    if PREDICTOR_RELATIONS[name].whole:
        assert len(smallest.batch) <= (1 if name == "repeats" else 2)


def test_the_smallest_batch_violates_the_relation_alone():
    result = put("row order", first_row_is_special)
    again = run_relation_check(
        PREDICTOR_RELATIONS["row order"], dm.wrap(first_row_is_special, space=SPACE), result.smallest.batch
    )
    assert again.groups.count(VIOLATED)
    assert len(result.smallest.batch) == 2  # one row has one order


def test_rejecting_another_column_order_is_no_violation():
    from sklearn.naive_bayes import GaussianNB

    frame = POINTS.frame[["x", "n"]]
    model = GaussianNB().fit(frame, plain(frame))
    space = dm.Space.from_frame(frame)
    result = run_relation_check(PREDICTOR_RELATIONS["column order"], dm.wrap(model, space=space), space.points(frame))
    assert (result.groups.verdicts == INAPPLICABLE).all()
    without_names = GaussianNB().fit(frame.to_numpy(), plain(frame))
    why = PREDICTOR_RELATIONS["column order"].find_obstacle(dm.wrap(without_names, space=space), space.points(frame))
    assert "fitted on arrays" in why


def test_a_user_defined_relation():
    class Richer(Relation):
        name = "richer"

        def follow_up(self, frame, rng):
            return frame.assign(x=(frame["x"] + 2).clip(upper=10))

        def expects(self, before, after):
            return ~((before == "high") & (after == "low"))

    sut = dm.wrap(plain, space=SPACE)
    assert run_relation_check(Richer(), sut, POINTS).groups.count(HOLDS) == len(POINTS)

    def strange(frame):
        return np.where(frame["x"].between(5, 6), "high", "low")

    outcome = run_relation_check(Richer(), dm.wrap(strange, space=SPACE), POINTS)
    assert outcome.groups.count(VIOLATED) == int(POINTS.frame["x"].between(5, 6).sum()) > 0
    case, ordinary = outcome.smallest.source.codes[0], find_usual_values(POINTS)
    assert (case[1:] == ordinary[1:]).all()  # what does not matter has its usual value


def test_follow_ups_outside_the_space_are_queried():
    class Beyond(Relation):
        name = "beyond"

        def follow_up(self, frame, rng):
            return frame.assign(c="unheard of")

    assert run_relation_check(Beyond(), dm.wrap(plain, space=SPACE), POINTS).groups.count(HOLDS) == len(POINTS)


def test_relations_of_the_wrong_shape_are_named():
    class Short(Relation):
        name = "short"

        def follow_up(self, frame, rng):
            return frame.iloc[:3]

    class Wordy(Relation):
        name = "wordy"

        def follow_up(self, frame, rng):
            return frame

        def expects(self, before, after):
            return "yes"

    sut = dm.wrap(plain, space=SPACE)
    with pytest.raises(TestSystemError, match="'short' returned 3 rows for 60 source cases"):
        run_relation_check(Short(), sut, POINTS)
    with pytest.raises(TestSystemError, match="expects of the relation 'wordy' must return True or False"):
        run_relation_check(Wordy(), sut, POINTS)
    with pytest.raises(NotImplementedError, match="follow_up"):
        run_relation_check(Relation(), sut, POINTS)


def test_cases_without_an_answer_are_undefined():
    def silent(frame):
        return np.where(frame["x"] > 8, None, plain(frame))

    groups = put("repeats", silent).groups
    assert groups.count(UNDEFINED) == int((POINTS.codes[:, 0] > 8).sum()) > 0
    assert groups.count(VIOLATED) == 0


def test_real_answers_may_differ_by_rounding():
    class Wobbly:
        calls = 0

        def __call__(self, frame):
            self.calls += 1
            return frame["x"] * (1 + 1e-9 * self.calls)

    assert put("repeats", Wobbly()).groups.count(VIOLATED) == 0
    assert put("repeats", Moody()).groups.count(VIOLATED) > 0


def test_invalid_directions_and_classes_are_rejected():
    with pytest.raises(ArgumentError, match="direction"):
        dm.monotone("x", "sideways")
    sut = dm.wrap(plain, space=SPACE, labels=["low", "high"])
    with pytest.raises(ArgumentError, match="The model has no class"):
        dm.monotone("x", outcome="best").find_obstacle(sut, POINTS)
    assert dm.monotone("x", outcome="high").find_obstacle(sut, POINTS) == ""
    three = dm.wrap(plain, space=SPACE, labels=["low", "high", "other"])
    assert "say which one" in dm.monotone("x").find_obstacle(three, POINTS)
    with pytest.raises(ArgumentError, match="outcome="):
        run_relation_check(dm.monotone("x"), dm.wrap(plain, space=SPACE), POINTS)


def test_the_former_name_of_the_outcome_warns():
    with pytest.warns(DeprecationWarning, match="Use 'outcome'"):
        relation = dm.monotone("x", towards="high")
    with pytest.warns(DeprecationWarning, match="Use outcome"):
        assert relation.towards == relation.outcome == "high"
