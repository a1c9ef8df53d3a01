"""Nearest neighbours: the plain search of a small plane equals that of the tree."""

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.space import neighbours


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_a_plain_search_gives_the_distances_of_the_tree(dimension, monkeypatch):
    space = dm.Space([dm.Continuous(f"x{j}", -3, 10 ** (j - 1)) for j in range(dimension)])
    rng = np.random.default_rng(dimension)
    cases, candidates = (rng.normal(size=(rows, dimension)) for rows in (150, 200))
    plain = neighbours.measure_nearest(space, cases, candidates)
    monkeypatch.setattr(neighbours, "MAX_PLAIN_DISTANCES", 0)
    np.testing.assert_array_equal(plain, neighbours.measure_nearest(space, cases, candidates))


def test_there_may_be_no_cases_and_no_candidates():
    space = dm.Space([dm.Continuous("x")])
    rows = np.zeros((2, 1))
    assert neighbours.measure_nearest(space, rows[:0], rows).shape == (0,)
    assert np.isinf(neighbours.measure_nearest(space, rows, rows[:0])).all()
