"""Diversity: what cases contribute, and which are removed first."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.morphisms.cases import TestSet
from datamorphic.morphisms.stock import mean_nearest_distance
from datamorphic.synthesis.optimisation.diversity import MeanNearestDistance, thin_out_to

SPACES = {
    "continuous": dm.Space([dm.Continuous("x", 0, 1), dm.Continuous("y", 0, 1)]),
    "mixed": dm.Space([dm.Continuous("x", 0, 1), dm.Integer("n", 0, 9), dm.Categorical("c", ["a", "b", "c"])]),
}


def sample(kind, n, seed=0):
    return TestSet.of_seeds(SPACES[kind].sample(n, seed=seed, points=True))


@pytest.mark.parametrize("kind", SPACES)
def test_the_contribution_of_a_case_is_what_the_sum_of_distances_loses_without_it(kind):
    tests = sample(kind, 25)
    scores = MeanNearestDistance().score_cases(tests)
    total = mean_nearest_distance(tests) * len(tests)
    for row in range(len(tests)):
        rest = tests.take(np.arange(len(tests)) != row)
        assert scores[row] == pytest.approx(total - mean_nearest_distance(rest) * len(rest), abs=1e-12)


def choose_weakest_plainly(tests, count):
    """Remove the case without which the mean distance is largest, again and again."""
    remaining = list(range(len(tests)))
    for _ in range(count):
        means = [mean_nearest_distance(tests.take([r for r in remaining if r != row])) for row in remaining]
        del remaining[int(np.argmax(means))]
    return remaining


def test_the_weakest_are_those_that_plain_code_removes_one_by_one():
    tests = sample("continuous", 30)
    weakest = MeanNearestDistance().choose_weakest(tests, 8, np.ones(30, dtype=bool), np.random.default_rng(0))
    assert sorted(set(range(30)) - set(weakest.tolist())) == choose_weakest_plainly(tests, 8)


def test_only_removable_cases_are_removed():
    tests = sample("continuous", 30)
    removable = np.arange(30) < 10
    weakest = MeanNearestDistance().choose_weakest(tests, 10, removable, np.random.default_rng(0))
    assert sorted(weakest.tolist()) == list(range(10))


def test_thinning_removes_one_of_two_equal_cases():
    values = [0.1, 0.5, 0.5, 0.9, 0.1, 0.9]
    points = SPACES["continuous"].points(pd.DataFrame({"x": values, "y": values}))
    tests = thin_out_to(TestSet.of_seeds(points), 3)
    assert sorted(tests.input["x"]) == [0.1, 0.5, 0.9]
    assert thin_out_to(tests, 5) is tests


def test_many_cases_are_removed_several_at_a_time(monkeypatch):
    monkeypatch.setattr("datamorphic.synthesis.optimisation.diversity.MAX_SINGLE_REMOVALS", 10)
    tests = sample("continuous", 300)
    thinned = thin_out_to(tests, 150)
    assert len(thinned) == 150
    assert mean_nearest_distance(thinned) > 1.3 * mean_nearest_distance(tests.take(slice(0, 150)))
