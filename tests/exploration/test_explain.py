"""Nearest pairs of cases, and changes that flip their answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError
from support.cases import LONG
from support.fronts import PLANE, credit, explore, step


def flipped(front, answers, model):
    """The cases that a table of explanations proposes, and what the model says to them."""
    to = answers.filter(regex=r"^to\.").rename(columns=lambda name: name.removeprefix("to."))
    return to, model(to)


def test_flips_are_certified_small_and_few_features(wavy):
    rule = wavy(0)
    front = explore(rule, walks=400)
    cases = PLANE.sample(60, seed=3)
    flips = front.nearest(cases)
    to, answers = flipped(front, flips, rule)
    assert (answers == flips["becomes"]).all()
    assert (rule(cases) == flips["answer"]).all()
    assert (flips["answer"] != flips["becomes"]).all()
    assert (flips["flip_distance"] <= flips["distance"] + 1e-3).all()
    assert flips["flip_distance"].mean() < flips["distance"].mean()
    np.testing.assert_allclose(PLANE.distance(cases, to, scaled=True), flips["flip_distance"])
    pd.testing.assert_frame_equal(flips, front.nearest(cases))  # nothing random in it


def test_irrelevant_features_do_not_change():
    space = dm.Space([dm.Continuous(name, 0, 10) for name in "xyzw"])
    front = explore(step(4.0), space)
    flips = front.nearest(space.sample(20, seed=1))
    assert flips["change"].str.fullmatch(r"x [\d.]+ -> [\d.]+").all()
    np.testing.assert_allclose(flips["to.x"], 4.0, atol=2e-3)


def test_k_pairs_and_the_names_of_cases():
    front = explore(step(4.0))
    cases = pd.DataFrame({"x": [1.0, 9.0], "y": [5.0, 5.0]}, index=["ann", "bob"])
    flips = front.nearest(cases, k=3)
    assert flips["case"].tolist() == ["ann"] * 3 + ["bob"] * 3
    assert flips["rank"].tolist() == [1, 2, 3] * 2
    for _, some in flips.groupby("case"):
        assert some["distance"].is_monotonic_increasing
        assert some["pair"].is_unique
    row = front.pairs.iloc[flips["pair"][0]]
    near = min(
        PLANE.distance({"x": 1.0, "y": 5.0}, {"x": row[f"{e}.x"], "y": row[f"{e}.y"]}, scaled=True) for e in "ab"
    )
    assert flips["distance"][0] == pytest.approx(near)
    assert len(front.nearest(PLANE.points(cases), k=10_000)) == 2 * len(front)
    assert front.nearest({"x": 1.0, "y": 5.0})["case"].tolist() == [0]


@pytest.mark.slow
def test_flips_of_mixed_data_are_valid(mixed_front, people):
    flips = mixed_front.nearest(people.head(80), k=2)
    to, _ = flipped(mixed_front, flips, lambda frame: frame)
    assert mixed_front.space.valid(to).all()
    frame = mixed_front.space.points(to).frame
    assert (credit(frame) == flips["becomes"]).all()
    assert (flips["becomes"] != flips["answer"]).all()
    assert (flips["flip_distance"] <= flips["distance"] + 1 + 1e-3).all()  # the other end may be a category away


def test_tied_features_are_restored_together():
    space = dm.Space(
        [*(dm.Integer(name, 0, 1) for name in "abc"), dm.Continuous("x", 0, 1)],
        constraints=[dm.OneHot(["a", "b", "c"])],
    )

    def rule(f):
        return np.where((f["c"] == 1) & (f["x"] > 0.5), "yes", "no")

    front = explore(rule, space, walks=400, strategy="random_target")
    flips = front.nearest(space.sample(30, seed=2))
    to, _ = flipped(front, flips, rule)
    assert space.valid(to).all()
    assert (rule(to) == flips["becomes"]).all()
    assert (flips["answer"] != flips["becomes"]).all()


def test_regressors_flip_over_their_threshold():
    front = explore(lambda f: f["x"] * 1.0 + 0.1 * f["y"], threshold=5.0)
    flips = front.nearest({"x": 1.0, "y": 5.0})
    assert flips["answer"][0] == pytest.approx(1.5)
    assert 5.0 < flips["becomes"][0] < 5.1


def test_without_a_system_the_change_leads_to_the_far_end(tmp_path):
    front = explore(step(4.0))
    front.save(tmp_path / "front.parquet")
    loaded = dm.Front.load(tmp_path / "front.parquet")
    flips = loaded.nearest({"x": 1.0, "y": 5.0})
    assert flips["answer"].isna().all()
    assert flips["becomes"].tolist() == ["high"]
    assert flips["to.x"][0] == pytest.approx(4.0, abs=1e-3)
    assert loaded.attach(step(4.0)).nearest({"x": 1.0, "y": 5.0})["answer"].tolist() == ["low"]


def test_bad_cases_are_rejected_with_a_reason(mixed_front, empty_front, people):
    with pytest.raises(DataError, match="is empty"):
        empty_front.nearest({"x": 1.0, "y": 1.0})
    with pytest.raises(DataError, match="lack 1 column"):
        mixed_front.nearest(people.drop(columns="debt"))
    with pytest.raises(DataError, match="outside the bounds"):
        explore(step(4.0)).nearest({"x": 11.0, "y": 1.0})
    broken = people.head(3).assign(debt=[1.0, 19.0, 1.0], income=[50.0, 18.0, 50.0])
    with pytest.raises(DataError, match="Row 1 breaks the constraint debt <= income"):
        mixed_front.nearest(broken)
    with pytest.raises(ArgumentError, match="'k'"):
        mixed_front.nearest(people.head(1), k=0)


def test_a_system_that_fails_at_the_case_flips_nothing():
    def fails(f):
        if (f["y"] > 9).any():
            raise RuntimeError("too high")
        return np.where(f["x"] > 5, "a", "b")

    flips = explore(fails, walks=50).nearest(pd.DataFrame({"x": [1.0, 1.0], "y": [9.5, 5.0]}))
    assert flips["becomes"].tolist() == [None, "a"]
    assert flips["change"].tolist()[0] == ""
    assert np.isnan(flips["flip_distance"][0])


@pytest.mark.slow
def test_flips_are_no_larger_than_a_single_feature_needs(mixed_front, people):
    cases = people.head(15)
    nearest = mixed_front.nearest(cases)
    own, best = credit(cases), np.full(len(cases), np.inf)
    for name in ("income", "debt", "age"):
        feature = mixed_front.space[name]
        for value in np.linspace(feature.low, feature.high, 73 if LONG else 13):  # the whole ages are among these
            to = cases.assign(**{name: round(value) if name == "age" else value})
            flips = (credit(to) != own) & (to["debt"] <= to["income"]).to_numpy()
            far = mixed_front.space.distance(cases, to, scaled=True)
            best = np.where(flips, np.minimum(best, far), best)
    assert (nearest["flip_distance"] <= 1.1 * best + 1e-3).all()
    assert nearest["flip_distance"].median() < 0.25
    few = mixed_front.nearest(cases, k=3)
    least = few.groupby("case")["flip_distance"].transform("min")
    assert (few["flip_distance"] == least)[few["rank"] == 1].all()
