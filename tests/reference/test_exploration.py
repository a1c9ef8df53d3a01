"""The lock-step strategies find exactly the pairs, with exactly the runs, of one walk after the other."""

from __future__ import annotations

import numpy as np
import pytest
import scalar_exploration as plain
from hypothesis import given
from hypothesis import strategies as st

import datamorphic as dm
from datamorphic.exploration import explorers as exploration
from datamorphic.space.outputs import Outputs
from datamorphic.systems.base import Executor
from support.cases import FEW_EXAMPLES
from support.space_strategies import spaces

WALKS, DISTANCE, STEPS = 20, 6, 9


class Stripes(Executor):
    """Answers by a weighted sum of the codes, in stripes: borders of every kind, wherever one looks."""

    name = "stripes"

    def __init__(self, space, seed):
        rng = np.random.default_rng(seed)
        self.space = space
        self.weights = rng.normal(size=len(space)) * [feature.scale for feature in space.features]
        self.shift = rng.random()

    def label(self, codes):
        return int(np.floor(4 * (np.nan_to_num(codes, nan=0.3) * self.weights).sum() + self.shift)) % 3

    def answer(self, batch, scores):
        return Outputs.of(np.array([self.label(row) for row in batch.codes]))


def log_of(strategy, sut, seeds, seed, delta):
    rng = np.random.default_rng(seed)
    cases = seeds.codes.tolist()
    if strategy == "random_target":
        return plain.random_target(sut.space, sut.label, cases, rng, WALKS, STEPS, delta)
    walk = {"directed_walk": plain.directed_walk, "random_walk": plain.random_walk}[strategy]
    return walk(sut.space, sut.label, cases, rng, WALKS, DISTANCE, STEPS, delta)


def assert_equal(front, log):
    assert front.runs == len(log.seeds_used) + sum(log.runs_of_walk)
    assert front.walk_runs.tolist() == log.runs_of_walk
    assert front.walk.tolist() == [walk for walk, _, _ in log.pairs]
    for points, side in ((front.a, 1), (front.b, 2)):
        expected = np.array([pair[side] for pair in log.pairs]).reshape(len(log.pairs), len(front.space))
        np.testing.assert_array_equal(points.codes, expected)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["random_target", "directed_walk", "random_walk"])
@FEW_EXAMPLES
@given(space=spaces(most=6, bounded=True), seed=st.integers(0, 2**32 - 1), delta=st.sampled_from([None, 0.1, 3.0]))
def test_lock_step_equals_one_walk_after_the_other(strategy, space, seed, delta):
    sut = Stripes(space, seed)
    seeds = space.sample(12, seed=seed, points=True)
    front = dm.explore(sut, seeds, strategy, WALKS, STEPS, DISTANCE, delta, refine="bisect", seed=seed, progress=False)
    log = log_of(strategy, sut, seeds, seed, delta)
    assert_equal(front, log)
    assert all(sut.label(a) == out for a, out in zip(front.a.codes, front.a_output, strict=True))
    assert all(sut.label(b) == out for b, out in zip(front.b.codes, front.b_output, strict=True))


def test_the_comparison_sees_borders():
    """The property above would hold of strategies that find nothing; they do find."""
    space = dm.Space([dm.Continuous("x", 0, 1), dm.Integer("n", 0, 40), dm.Categorical("c", list("abcd"))])
    sut = Stripes(space, 3)
    for strategy in ("random_target", "directed_walk", "random_walk"):
        assert len(dm.explore(sut, space, strategy, WALKS, STEPS, DISTANCE, seeds=12)) > 5


def test_directed_walks_in_waves_are_the_same_walks(monkeypatch):
    """They draw nothing but an order of starts, once: waves bound the memory and change nothing."""
    box = dm.subjects["Box 2"]
    whole = dm.explore(box, strategy="directed_walk", walks=100, seeds=50)
    monkeypatch.setattr(exploration, "MAX_WALKS_PER_WAVE", 30)
    parts = dm.explore(box, strategy="directed_walk", walks=100, seeds=50)
    assert parts.pairs.equals(whole.pairs)


@pytest.mark.slow
@FEW_EXAMPLES
@given(space=spaces(most=6, bounded=True), seed=st.integers(0, 2**32 - 1), delta=st.sampled_from([None, 0.1, 3.0]))
def test_multisection_ends_where_bisection_does(space, seed, delta):
    sut = Stripes(space, seed)
    seeds = space.sample(12, seed=seed, points=True)

    def narrowed(refine):
        return dm.explore(sut, seeds, "random_target", WALKS, STEPS, delta=delta, refine=refine, seed=seed)

    plainly, at_once = narrowed("bisect"), narrowed("multisection")
    np.testing.assert_array_equal(at_once.a.codes, plainly.a.codes)
    np.testing.assert_array_equal(at_once.b.codes, plainly.b.codes)
    assert at_once.runs >= plainly.runs
