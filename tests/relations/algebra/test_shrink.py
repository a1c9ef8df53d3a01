"""The one shrinker: which elements of a violation are dropped."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import datamorphic as dm
from datamorphic.relations.algebra.shrink import drop_elements


def drop(count, violates, remaining=0):
    """Drop elements 0 to count - 1; return those that are left and the candidates that were tried, round by round."""
    rounds = []

    def attempt(candidates):
        rounds.append([tuple(candidate.tolist()) for candidate in candidates])
        yield
        for place, candidate in enumerate(candidates):
            if violates(frozenset(range(count)) - frozenset(candidate.tolist())):
                return place
        return None

    flow = drop_elements(np.arange(count), attempt, remaining)
    try:
        while True:
            next(flow)
    except StopIteration as stop:
        left = frozenset(range(count)) - frozenset(stop.value.tolist())
    return left, rounds


@pytest.mark.parametrize("count", [1, 2, 3, 7, 12])
def test_exactly_the_needed_elements_are_left(count):
    for size in range(min(count, 3) + 1):
        for needed in combinations(range(count), size):
            left, rounds = drop(count, frozenset(needed).issubset)
            assert left == frozenset(needed)
            assert len(rounds) <= 1 + np.ceil(np.log2(count)) + 2 * count


def test_all_elements_are_tried_at_once_first_and_a_number_of_them_may_have_to_stay():
    assert drop(8, lambda left: True) == (frozenset(), [[tuple(range(8))]])
    left, rounds = drop(8, lambda left: True, remaining=1)
    assert len(left) == 1
    assert rounds[0] == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert drop(0, lambda left: True) == (frozenset(), [])
    assert drop(1, lambda left: True, remaining=1) == (frozenset({0}), [])


def test_what_is_left_violates():
    rng = np.random.default_rng(0)
    for _ in range(50):
        pairs = [frozenset(rng.choice(10, 2, replace=False).tolist()) for _ in range(3)]
        left, _ = drop(10, lambda left, pairs=pairs: any(pair <= left for pair in pairs))
        assert any(pair <= left for pair in pairs)


class FirstRow(ClassifierMixin, BaseEstimator):
    """Learns badly: the label of the first row."""

    def fit(self, X, y):
        self.label = np.asarray(y)[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


def test_systems_and_learners_have_the_smallest_examples():
    table = pd.DataFrame({"a": [0.5, 1.5, 2.5] * 10, "b": np.arange(30.0), "c": list("xyz") * 10})
    report = dm.check(lambda frame: frame["a"] > 1, table, dm.invariant("a"))
    example = report.shrunk(0).example
    assert (example.case["b"], example.case["c"]) == (14.0, "x")
    assert (example.case["a"] > 1, example.changed["a"] > 1) == (example.answer, example.new_answer)
    assert example.text == f"another a alone does not change the answer: {example.answer} becomes {example.new_answer}"
    batch = dm.check(lambda frame: np.arange(len(frame)) > 3, table, "row order").shrunk(0).groups.batch
    assert len(batch) == 5
    smallest = dm.check(FirstRow(), "random", "sample order", inputs=10).shrunk(0)
    assert smallest.size == (2, 1)
    assert (smallest.source.numbers % 1 == 0).all()
    assert list(smallest.example.case) == ["a0"]
    assert (smallest.example.answer, smallest.example.new_answer) == (smallest.before, smallest.after)
    assert smallest.example.text.startswith("the training rows in another order: ")
