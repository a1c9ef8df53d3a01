"""Optimised test sets are better than the first ones, and than random search with as many executions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import wilcoxon

import datamorphic as dm
from datamorphic.morphisms.cases import TestSet
from datamorphic.morphisms.stock import derive
from datamorphic.synthesis.optimisation.strategies import STRATEGIES
from support.cases import LONG

pytestmark = [pytest.mark.quality, pytest.mark.slow]

SEEDS = range(20)
FEWER_SEEDS = SEEDS if LONG else range(7)  # where every seed gains: p = 1 / 128
POINTS = 200 if LONG else 60
SIGNIFICANT = 0.01
SQUARE = dm.Space([dm.Continuous("x", 0, 1, step=0.1), dm.Continuous("y", 0, 1, step=0.1)])
STEPS = 10  # of 50, the default: the fitness never falls, so more steps gain no less
LEAST_GAIN = {"GAOptimizeFilter": 0.25, "GAOptimizeWeakestRemoval": 0.25, "GAOptimizeStrongestMutant": 0.25}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_makes_points_more_diverse(strategy):
    """Medians of 20 seeds with 200 points and 50 steps: Filter 75 %, WeakestRemoval 80 %, StrongestMutant 63 %, RandomRemoval 4 %."""
    system, gains = derive(SQUARE), []
    for seed in FEWER_SEEDS if strategy in LEAST_GAIN else SEEDS:
        result = dm.optimise(
            system, strategy, tests=SQUARE.sample(POINTS, seed=seed), max_cycles=STEPS, mutant_ratio=0.25, seed=seed
        )
        assert len(result.tests) == POINTS
        gains.append(result.gain["mean_nearest_distance"])
    assert wilcoxon(gains, alternative="greater").pvalue < SIGNIFICANT
    assert min(gains) >= LEAST_GAIN.get(strategy, 0.0)


def test_60_cases_show_more_of_the_border_than_all_cases_of_random_search():
    """Random search may keep every case that it executes, so its set is ten times as large."""
    box, differences = dm.subjects["Box 2"], []
    for seed in FEWER_SEEDS:
        result = dm.optimise(
            box, "GAOptimizeWeakestRemoval", metric="border_coverage", seeds=60, max_cycles=20, seed=seed
        )
        random_points = box.known_space().sample(result.executions, seed=1000 + seed, points=True)
        random_cases = TestSet.of_seeds(random_points).with_outputs(box.sut.execute(random_points))
        assert len(result.tests) == 60
        differences.append(result.fitness["border_coverage"] - result.measure(random_cases)["border_coverage"])
    assert wilcoxon(differences, alternative="greater").pvalue < SIGNIFICANT
    assert np.median(differences) > 8 / 256  # cells of the grid
