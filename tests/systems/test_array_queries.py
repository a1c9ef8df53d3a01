"""Models fitted on frames of numbers get arrays, where the answers are the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.systems.array_queries import copy_without_feature_names, is_pure_sklearn, to_array

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(200, 3)), columns=list("abc"))
LABELS = (FRAME.a + FRAME.b * FRAME.c > 0).astype(int)
OPTIONS = {"walks": 60, "strategy": "random_walk", "refine": "bisect"}


class OwnModel(LogisticRegression):
    """A model of the user, of which nothing is known."""


def get_frames(monkeypatch, kind):
    """Return a list that gets, for every call of predict, whether the input is a frame."""
    calls, predict = [], kind.predict

    def spy(self, rows, *arguments, **options):
        calls.append(isinstance(rows, pd.DataFrame))
        return predict(self, rows, *arguments, **options)

    monkeypatch.setattr(kind, "predict", spy)
    return calls


@pytest.mark.parametrize("whole", ["", "c", "abc"])
@pytest.mark.parametrize("make", [LogisticRegression, lambda: make_pipeline(StandardScaler(), LogisticRegression())])
def test_frames_become_arrays_and_answers_stay(monkeypatch, make, whole):
    frame = FRAME.assign(**{name: (FRAME[name] * 10).astype(int) for name in whole})
    by_frame = make().fit(frame, LABELS)
    calls = get_frames(monkeypatch, LogisticRegression)
    front = dm.explore(by_frame, frame, **OPTIONS)
    assert not all(calls[6:])
    assert "is queried with arrays" in front.tally.health.call_note
    assert (by_frame.predict(front.a.frame) == front.a_output).all()
    other = dm.explore(make().fit(frame.to_numpy(), LABELS), frame, **OPTIONS)
    assert (front.a.codes == other.a.codes).all()
    assert (front.b.codes == other.b.codes).all()
    assert hasattr(by_frame, "feature_names_in_")  # the model is as before


@pytest.mark.parametrize("names", ["", "c", "abc"])
def test_arrays_are_those_of_the_frames(names):
    frame = FRAME.assign(**{name: (FRAME[name] * 10).astype(int) for name in names})
    points = dm.Space.from_frame(frame).points(frame)
    points.codes[:9] = -0.0
    array = to_array(points)
    expected = points.frame.to_numpy()
    assert (array.dtype, array.flags.f_contiguous) == (expected.dtype, True)
    assert array.tobytes() == expected.tobytes()
    array[:] = 1
    assert (points.frame.to_numpy() == expected).all()
    for column in (FRAME.a > 0, FRAME.a.astype(np.float32), FRAME.a.where(FRAME.a > -1), FRAME.a.astype(str)):
        other = frame.assign(a=column)
        assert to_array(dm.Space.from_frame(other).points(other)) is None


def test_a_model_that_answers_arrays_in_another_way_gets_frames(monkeypatch):
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(FRAME, LABELS)
    expected = dm.explore(model, FRAME, **OPTIONS)
    predict = DecisionTreeClassifier.predict

    def turn_round(self, rows, *arguments, **options):
        answers = predict(self, rows, *arguments, **options)
        return answers if isinstance(rows, pd.DataFrame) else 1 - answers

    monkeypatch.setattr(DecisionTreeClassifier, "predict", turn_round)
    front = dm.explore(model, FRAME, **OPTIONS)
    assert "queried with frames" in front.tally.health.call_note
    assert (front.a.codes == expected.a.codes).all()
    assert (front.a_output == expected.a_output).all()


def test_only_parts_of_scikit_learn_get_arrays():
    assert is_pure_sklearn(make_pipeline(StandardScaler(), LogisticRegression()))
    assert not is_pure_sklearn(OwnModel())
    assert not is_pure_sklearn(make_pipeline(FunctionTransformer(np.abs), LogisticRegression()))
    assert not is_pure_sklearn(make_pipeline(make_column_transformer((StandardScaler(), ["a"])), LogisticRegression()))
    assert not is_pure_sklearn(len)


@pytest.mark.slow
def test_other_columns_arrive_as_before(monkeypatch):
    for column in (FRAME.a > 0, FRAME.a.astype(np.float32), FRAME.a.where(FRAME.a > -1)):
        frame = FRAME.assign(a=column)
        model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame, LABELS)
        with monkeypatch.context() as patch:
            calls = get_frames(patch, DecisionTreeClassifier)
            front = dm.explore(model, frame, **OPTIONS)
        assert all(calls)
        assert front.tally.health.call_note == ""


def test_a_model_without_names_shares_what_it_learned():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(FRAME, LABELS)
    twin = copy_without_feature_names(model)
    assert (twin.predict(FRAME.to_numpy()) == model.predict(FRAME)).all()  # warnings are errors
    assert twin.steps[1][1].coef_ is model.steps[1][1].coef_
    assert list(model.feature_names_in_) == list("abc")
