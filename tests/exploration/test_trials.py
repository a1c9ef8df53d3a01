"""Trial walks: the curve of a long walk is that of all shorter ones, and clearly worse strategies stop early."""

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.exploration.trials import StrategyTrial, TrialCurve, choose_trial, race


def make_trial(strategy, *, distance=12, seeds_per_walk=0.5, subject="Box 2"):
    def run(walks):
        front = dm.explore(
            dm.subjects[subject], strategy=strategy, walks=walks, walk_distance=distance, max_halvings=8, seed=walks
        )
        return front, 0.1

    return StrategyTrial(strategy=strategy, step_factor=1.0, run=run, seeds_per_walk=seeds_per_walk)


def measure_plainly(fronts, distance, seeds_per_walk):
    """Return capability, runs and pairs per walk of walks that end after `distance` steps, walk by walk."""
    walks = successes = runs = pairs = 0
    for front in fronts:
        for walk in range(front.walks):
            own = np.flatnonzero(front.walk == walk)
            narrowing = front.pair_runs[own].sum()
            steps = front.walk_runs[walk] - narrowing
            walks += 1
            runs += min(steps, distance)
            if len(own) and steps <= distance:
                successes, pairs, runs = successes + 1, pairs + len(own), runs + narrowing
    return successes / walks, seeds_per_walk + runs / walks, pairs / walks


@pytest.mark.parametrize("strategy", ["random_walk", "directed_walk", "random_target"])
def test_the_curve_equals_walks_cut_off_one_by_one(strategy):
    trial = make_trial(strategy)
    trial.make_walks(40)
    trial.make_walks(30)
    curve = trial.measure_curve()
    assert curve.distances.tolist() == ([0] if strategy == "random_target" else list(range(1, 13)))
    for place, distance in enumerate(curve.distances):
        expected = measure_plainly(trial.fronts, distance, trial.seeds_per_walk)
        assert (curve.capability[place], curve.runs[place], curve.pairs[place]) == pytest.approx(expected)


def test_a_clearly_worse_strategy_makes_fewer_walks():
    good = make_trial("random_target", seeds_per_walk=0.1)
    bad = make_trial("directed_walk", distance=2)
    walking = make_trial("random_walk", distance=2)
    race([good, bad, walking], 200)
    assert (good.walks, bad.walks, walking.walks) == (200, 50, 200)  # random walks are compared among themselves, too
    assert choose_trial([good, bad, walking]) == (good, 0)


def test_a_cheap_choice_with_little_capability_is_not_made():
    cheap = make_trial("random_target", subject="Triangle 1")
    capable = make_trial("directed_walk", distance=20, subject="Box 2")
    cheap.make_walks(100)
    capable.make_walks(100)
    curve = cheap.measure_curve()
    capable.seeds_per_walk = 1e6  # so costly that only its capability speaks for it
    assert curve.balance[0] > capable.measure_curve().balance.max() > 0
    assert curve.capability[0] < capable.measure_curve().capability.max() / 2
    assert choose_trial([cheap, capable])[0] is capable


def test_without_any_pair_all_go_on():
    trials = [make_trial(name, distance=1) for name in ("random_walk", "directed_walk")]
    constant, space = (lambda row: "same"), dm.Space([dm.Continuous("x", 0, 1)])
    for trial in trials:
        trial.run = lambda walks: (dm.explore(constant, space, strategy="random_walk", walks=walks, seeds=5), 0.1)
    race(trials, 40)
    assert [trial.walks for trial in trials] == [40, 40]
    assert choose_trial(trials)[0] is trials[0]


class KnownTrial:
    """A trial whose capability and balance are known from the start."""

    def __init__(self, strategy, capability, runs):
        self.strategy, self.fronts = strategy, []
        self.curve = TrialCurve(
            distances=np.array([1]),
            capability=np.array([capability]),
            runs=np.array([runs]),
            pairs=np.array([capability]),
        )

    def make_walks(self, count):
        self.fronts.append(count)

    @property
    def walks(self):
        return sum(self.fronts)

    def measure_curve(self):
        return self.curve


@pytest.mark.parametrize(("share", "extra"), [(0.7, 0), (0.5, 6), (0.4, 0)])
def test_a_choice_that_depends_on_half_of_the_capability_gets_more_walks(share, extra):
    cheap, capable = KnownTrial("random_target", share * 0.4, 1.0), KnownTrial("random_walk", 0.4, 20.0)
    race([cheap, capable], 400)
    assert cheap.walks == 400 + extra * 200
    assert choose_trial([cheap, capable])[0] is (cheap if share > 0.6 else capable)
