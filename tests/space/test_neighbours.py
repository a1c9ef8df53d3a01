"""Nearest neighbours: whichever search finds them, their distances are those of the space, to the last bit."""

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.space import geometry, neighbours


@pytest.mark.parametrize("dimension", [1, 2, 3, 9])
def test_all_searches_give_the_distances_of_the_space(dimension, monkeypatch):
    space = dm.Space([dm.Continuous(f"x{j}", -3, 10 ** (j - 1)) for j in range(dimension)])
    rng = np.random.default_rng(dimension)
    cases, candidates = (rng.normal(size=(rows, dimension)) for rows in (150, 200))
    expected = [geometry.distance(space, case[None], candidates, scaled=True).min() for case in cases]
    np.testing.assert_array_equal(neighbours.measure_nearest(space, cases, candidates), expected)
    monkeypatch.setattr(neighbours, "MAX_PLAIN_DISTANCES", 0)
    np.testing.assert_array_equal(neighbours.measure_nearest(space, cases, candidates), expected)


def test_the_tree_gives_the_distances_of_the_space_for_all_neighbours():
    space = dm.Space([dm.Continuous(f"x{j}", 0, 1 + j) for j in range(6)])
    rng = np.random.default_rng(0)
    cases, candidates = rng.random((40, 6)), rng.random((3, 6))
    for scaled in (False, True):
        distances, places = neighbours.find_nearest(space, cases, candidates, 4, scaled=scaled)
        assert np.isinf(distances[:, 3]).all()
        for rank in range(3):
            expected = geometry.distance(space, cases, candidates[places[:, rank]], scaled)
            np.testing.assert_array_equal(distances[:, rank], expected)


def test_there_may_be_no_cases_and_no_candidates():
    space = dm.Space([dm.Continuous("x")])
    rows = np.zeros((2, 1))
    assert neighbours.measure_nearest(space, rows[:0], rows).shape == (0,)
    assert np.isinf(neighbours.measure_nearest(space, rows, rows[:0])).all()
