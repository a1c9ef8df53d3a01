"""Non-dominated sorting."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from datamorphic.synthesis.optimisation.sorting import (
    choose_compromise,
    choose_survivors,
    compute_crowding,
    rank_by_dominance,
)

MATRICES = st.integers(1, 3).flatmap(
    lambda columns: st.lists(st.lists(st.integers(0, 5), min_size=columns, max_size=columns), min_size=1, max_size=15)
)


def dominates(a, b):
    return all(x >= y for x, y in zip(a, b, strict=True)) and any(x > y for x, y in zip(a, b, strict=True))


@given(MATRICES)
def test_a_rank_is_the_longest_chain_of_better_rows(rows):
    ranks = rank_by_dominance(np.array(rows, dtype=float))
    for i, row in enumerate(rows):
        better = [ranks[j] for j, other in enumerate(rows) if dominates(other, row)]
        assert ranks[i] == (max(better) + 1 if better else 0)


@given(MATRICES, st.integers(2, 6))
def test_survivors_are_not_dominated_and_no_metric_falls(rows, limit):
    fitness = np.array(rows, dtype=float)
    start = fitness[0]
    survivors = choose_survivors(fitness, limit, start)
    best = fitness[survivors]
    assert 1 <= len(best) <= max(limit, fitness.shape[1] + 1)
    assert len(np.unique(best, axis=0)) == len(best)
    assert (rank_by_dominance(fitness)[survivors] == 0).all()
    assert (best.max(axis=0) == fitness.max(axis=0)).all()
    assert (best[choose_compromise(best, start)] >= start).all()


def test_of_equal_rows_the_newest_survives():
    assert choose_survivors(np.array([[1.0], [1.0], [0.5]]), 5, np.zeros(1)).tolist() == [1]


def test_the_most_crowded_row_goes_first():
    fitness = np.array([[0.0, 1.0], [0.5, 0.5], [0.52, 0.48], [1.0, 0.0]])
    room = compute_crowding(fitness)
    assert np.isinf(room[[0, 3]]).all()
    assert choose_survivors(fitness, 3, np.zeros(2)).tolist() in ([0, 1, 3], [0, 2, 3])


def test_the_compromise_has_the_most_even_gains():
    fitness = np.array([[2.0, 0.0], [1.4, 0.6], [1.2, 1.0]])
    assert choose_compromise(fitness, np.array([1.0, 0.0])) == 1
    assert choose_compromise(np.array([[1.0, 5.0]]), np.array([1.0, 5.0])) == 0
    # a metric that nothing improves does not get worse either
    assert choose_compromise(np.array([[0.9, 9.0], [1.0, 5.0], [1.0, 5.5]]), np.array([1.0, 5.0])) == 2
