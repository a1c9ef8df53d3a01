"""Monotone and Invariant judge as a plain loop over cases and values does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.relations.algebra.base import HOLDS, VIOLATED
from datamorphic.relations.algebra.feature import Invariant, Monotone
from datamorphic.relations.algebra.sweep import sweep
from datamorphic.runs.driver import drive

SPACE = dm.Space(
    [dm.Continuous("x", 0, 10), dm.Integer("n", 0, 6, nullable=True), dm.Categorical("c", ["a", "b", "d"])]
)


def wavy(x, n, c):
    """Rises with x but for a dip; hangs on n for some; on c for large x only."""
    value = x - 3 * (4 < x < 5) + (0 if n is None or pd.isna(n) else 0.1 * n)
    return float(value + (2 if c == "b" and x > 7 else 0))


def label(x, n, c):
    return "high" if wavy(x, n, c) > 4 else "low"


def run_check_and_sweep(function, relation, points):
    sut = dm.wrap(function, space=SPACE, scalar=True)
    swept = drive(sweep(points, relation.feature), sut, progress=False)
    return drive(relation.check(points, np.random.default_rng(0)), sut, progress=False), swept


def values_of(swept, row):
    """The values that are tried on one case, in the user's own terms."""
    width = swept.shape[1]
    return swept.points(np.full(width, row), np.arange(width)).frame.to_dict("records")


def away(feature, a, b):
    """How far two values of a feature are from each other."""
    places = ["a", "b", "d"] if feature == "c" else None
    return abs(places.index(a["c"]) - places.index(b["c"])) if places else abs(a[feature] - b[feature])


@pytest.mark.slow
@pytest.mark.parametrize("feature", ["x", "n", "c"])
@pytest.mark.parametrize("function", [wavy, label])
def test_invariance_is_a_loop_over_cases_and_values(feature, function):
    points = SPACE.sample(20, seed=3, points=True)
    groups, swept = run_check_and_sweep(function, Invariant(feature), points)
    own = swept.inputs.frame.to_dict("records")
    assert len(groups) == len(own)
    for row, case in enumerate(own):
        tried = values_of(swept, row)
        changed = [item for item in tried if function(**item) != function(**case)]
        assert groups.verdicts[row] == (VIOLATED if changed else HOLDS)
        if changed:  # the nearest value that changes the answer
            other = groups.follow_up.frame.iloc[row].to_dict()
            assert function(**other) != function(**case)
            assert away(feature, case, other) == pytest.approx(min(away(feature, case, item) for item in changed))


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("feature", ["x", "n", "c"])
def test_monotony_is_a_loop_over_cases_and_values(feature, direction):
    points = SPACE.sample(20, seed=4, points=True)
    groups, swept = run_check_and_sweep(wavy, Monotone(feature, direction), points)
    sign = 1 if direction == "up" else -1
    for row in range(len(groups)):
        levels = [sign * wavy(**item) for item in values_of(swept, row)]
        falls = [a - b for a, b in pairwise(levels)]
        assert groups.verdicts[row] == (VIOLATED if max(falls) > 1e-5 else HOLDS)
        if max(falls) > 1e-5:
            before, after = groups.before.values[row], groups.after.values[row]
            assert abs(before - after) == pytest.approx(max(falls))
            assert after < before  # the way that was promised never to lower the answer lowers it


def test_a_class_that_is_left_is_a_fall():
    def leaves(x, n, c):
        return "high" if x > 3 and not 6 < x < 8 else "low"

    relation = Monotone("x", "up", outcome="high")
    groups, _ = run_check_and_sweep(leaves, relation, SPACE.sample(40, seed=5, points=True))
    assert (groups.verdicts == VIOLATED).all()
    assert set(groups.before.values) == {"high"}
    assert set(groups.after.values) == {"low"}
    assert (groups.source.codes[:, 0] < groups.follow_up.codes[:, 0]).all()


def test_missing_values_and_missing_answers_are_left_out():
    def gaps(x, n, c):
        return float("nan") if 3 < x < 6 else -x if x > 8 else x

    points = SPACE.sample(50, seed=6, points=True)
    points.codes[:10, 1] = np.nan
    groups, _ = run_check_and_sweep(wavy, Invariant("n"), points)
    assert len(groups) == np.isfinite(points.codes[:, 1]).sum()
    groups, _ = run_check_and_sweep(gaps, Monotone("x"), points)
    assert (groups.verdicts == VIOLATED).all()  # over the gap: what lies before is compared with what lies behind


def test_scores_are_compared_by_what_they_mean():
    """Of a naive Bayes model the joint likelihood of a class may fall although the class gains."""
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.r_[rng.normal(0, 1, 200), rng.normal(2, 1, 200)], "z": rng.normal(size=400)})
    labels = np.repeat(["no", "yes"], 200)
    model = GaussianNB().fit(frame, labels)
    model.var_[:, 0] = 1.0  # equal variances: the odds of yes rise with x everywhere
    space = dm.Space.from_frame(frame)
    sut, points = dm.wrap(model, space=space), space.points(frame)
    relation = dm.monotone("x", outcome="yes").fitted_to(sut, points)
    groups = drive(relation.check(points, rng), sut, progress=False)
    assert (groups.verdicts == HOLDS).all()
    joint = model.predict_joint_log_proba(frame.assign(x=np.linspace(0, 6, 400), z=0.0))[:, 1]
    assert (np.diff(joint) < 0).any()  # what a naive reading of scores would have taken for a violation
