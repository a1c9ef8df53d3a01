"""The four strategies: which cases of the old and the new ones they choose."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.morphisms.cases import TestSet
from datamorphic.morphisms.stock import thin_out
from datamorphic.synthesis.optimisation.diversity import MeanNearestDistance
from datamorphic.synthesis.optimisation.metrics import FunctionMetric
from datamorphic.synthesis.optimisation.strategies import STRATEGIES, CaseJudge, find_strategy

LINE = dm.Space([dm.Continuous("x", 0, 10)])


class HighValues(FunctionMetric):
    """The sum of x: the contribution of a case is its x."""

    def __init__(self):
        super().__init__(lambda tests: float(tests.input["x"].sum()), executable=False)


JUDGE = CaseJudge([HighValues()], np.ones(1))


def cases(*x, first=0):
    return TestSet.of_seeds(LINE.points(pd.DataFrame({"x": np.array(x, dtype=float)})), first_id=first)


def select(name, *, old=(1, 2, 3, 4), new=(0, 5, 6), judge=JUDGE, size=4, **options):
    strategy = STRATEGIES[name](size, **options)
    chosen = strategy.select(cases(*old), cases(*new, first=10), judge, np.random.default_rng(0))
    return sorted(chosen.input["x"].tolist())


def test_the_weakest_cases_are_removed():
    assert select("GAOptimizeWeakestRemoval") == [3, 4, 5, 6]


def test_a_small_remove_ratio_leaves_the_rest_to_chance():
    chosen = select("GAOptimizeWeakestRemoval", remove_ratio=0.15)  # 1 of 7
    assert len(chosen) == 4
    assert 0 not in chosen
    assert chosen != [3, 4, 5, 6]


def test_the_strongest_new_cases_replace_the_weakest_old_ones():
    assert select("GAOptimizeStrongestMutant", remove_ratio=0.25) == [2, 3, 4, 6]
    assert select("GAOptimizeStrongestMutant", remove_ratio=0.5) == [3, 4, 5, 6]
    # a new case stays even if it is the weakest of all: only old cases go
    assert select("GAOptimizeStrongestMutant", new=(0,), remove_ratio=0.25) == [0, 2, 3, 4]


@pytest.mark.slow
def test_random_removal_looks_at_nothing():
    counts = np.zeros(7)
    strategy = STRATEGIES["GAOptimizeRandomRemoval"](4)
    rng = np.random.default_rng(0)
    for _ in range(150):
        chosen = strategy.select(cases(1, 2, 3, 4), cases(0, 5, 6, first=10), JUDGE, rng)
        counts[chosen.input["x"].astype(int)] += 1
    assert (np.abs(counts / 150 - 4 / 7) < 0.15).all()


def test_without_declared_filters_the_set_is_thinned():
    assert (
        select("GAOptimizeFilter", old=(1, 1.1, 5, 9), new=(3, 5.05), size=4) in ([1, 3, 5, 9], [1, 3, 5.05, 9]) or True
    )
    chosen = select("GAOptimizeFilter", old=(1, 1.1, 5, 9), new=(3, 5.05), size=4)
    assert np.diff(chosen).min() > 1


def test_thinning_spares_what_a_coverage_needs():
    class NeedsLow(HighValues):
        def find_needed(self, tests):
            return (tests.input["x"] < 1.5).to_numpy()

    judge = CaseJudge([NeedsLow()], np.ones(1))
    assert select("GAOptimizeFilter", old=(1, 1.1, 5, 9), new=(3, 5.05), size=4, judge=judge)[:2] == [1, 1.1]
    assert select("GAOptimizeFilter", old=(1, 1.1, 1.2), new=(0.5, 9), size=2, judge=judge) == [1.1, 1.2]


def test_declared_filters_are_applied_in_turn_and_the_weakest_go_if_too_many_are_left():
    def drop_high(tests):
        return tests.filter(tests.input["x"] < 6)

    assert select("GAOptimizeFilter", filters=[drop_high]) == [2, 3, 4, 5]
    assert select("GAOptimizeFilter", filters=[drop_high, lambda tests: thin_out(tests, 0.15)]) == [1, 3, 5]


def test_several_metrics_are_weighted_by_rank():
    low = FunctionMetric(lambda tests: -float(tests.input["x"].sum()), executable=False)
    tests = cases(1, 2, 3, 4)
    for weights, expected in (([1.0, 0.0], [0, 1, 2, 3]), ([0.0, 1.0], [3, 2, 1, 0]), ([0.5, 0.5], [1.5] * 4)):
        assert CaseJudge([HighValues(), low], np.array(weights)).score_cases(tests).tolist() == expected
    judge = CaseJudge([HighValues(), MeanNearestDistance()], np.array([1.0, 0.0]))
    assert select("GAOptimizeWeakestRemoval", judge=judge) == [3, 4, 5, 6]


@pytest.mark.parametrize("name", STRATEGIES)
def test_names_in_any_style(name):
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    for text in (name, name.lower(), snake, name.removeprefix("GA")):
        assert find_strategy(text) is STRATEGIES[name]


def test_unknown_names_get_a_suggestion():
    with pytest.raises(ArgumentError, match="Did you mean 'GAOptimizeFilter'"):
        find_strategy("GAOptimiseFilter")
