"""The genetic search: elitist, reproducible, ended by convergence or a budget."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import DataError, SystemFailed
from datamorphic.synthesis.optimisation.strategies import STRATEGIES

SQUARE = dm.Space([dm.Continuous("x", 0, 1, step=0.1), dm.Continuous("y", 0, 1, step=0.1)])


class Square:
    """A test system with a filter and a metric of its own."""

    space = SQUARE

    @dm.seed_maker
    def corner(self, rng, n=24):
        return SQUARE.sample(n, seed=rng) * 0.5

    @dm.datamorphism
    def jitter(self, p, rng):
        return (p + rng.normal(0, 0.1, p.shape)).clip(0, 1)

    @dm.datamorphism
    def mid(self, a, b):
        return (a + b) / 2

    @dm.set_metric
    def mean_x(self, tests):
        return tests.input["x"].mean()

    @dm.executor
    def classify(self, p):
        return np.where(p.x > p.y, "below", "above")


class FilteredSquare(Square):
    """The same with a filter."""

    @dm.set_filter
    def low_only(self, tests):
        return tests.filter(tests.input["y"] < 0.4)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fitness_never_falls_and_the_size_stays(strategy):
    result = dm.optimise(Square, strategy, metric="mean_x", max_cycles=4, change_rate=0)
    values = result.history["mean_x"].to_numpy()
    assert (np.diff(values) >= 0).all()
    assert values[-1] > values[0]
    assert result.fitness["mean_x"] == values[-1] == pytest.approx(result.tests.input["x"].mean())
    assert (result.history["size"] == len(result.tests)).all()
    assert len(result.tests) == 24
    assert result.stopped == "steps"


def test_the_best_set_has_no_case_twice_and_every_case_can_be_traced():
    result = dm.optimise(Square, max_cycles=10)
    assert len(np.unique(result.tests.ids)) == len(result.tests)
    pool = result.pool
    assert (pool.rows_of(result.tests.ids) >= 0).all()
    newest = int(result.tests.ids.max())
    ancestors = pool.lineage(newest)
    assert ancestors
    assert set(ancestors) & set(result.start.ids.tolist())


def test_the_same_seed_gives_the_same_set_on_every_engine():
    options = {"metric": "border_coverage", "max_cycles": 4, "seeds": 30}
    first = dm.optimise(dm.subjects["Box 2"], "GAOptimizeWeakestRemoval", seed=3, **options)
    again = dm.optimise(
        dm.subjects["Box 2"], "GAOptimizeWeakestRemoval", seed=3, engine="threads:2", batch=7, **options
    )
    other = dm.optimise(dm.subjects["Box 2"], "GAOptimizeWeakestRemoval", seed=4, **options)
    assert first.tests.frame().equals(again.tests.frame())
    assert not first.tests.input.equals(other.tests.input)


def test_a_search_ends_when_nothing_grows_for_as_long_as_its_patience():
    def size(tests):
        return float(len(tests))

    result = dm.optimise(Square, metric=size, max_cycles=30, patience=4)
    assert (result.stopped, result.cycles[-1].cycle) == ("converged", 4)
    assert "no metric grew by 0.1% within 4 cycles" in result.describe()
    assert dm.optimise(Square, metric=size, max_cycles=9, patience=4, change_rate=0).cycles[-1].cycle == 9


def test_a_metric_that_is_still_zero_does_not_end_the_search():
    def nothing(tests):
        return 0.0

    assert dm.optimise(Square, metric=nothing, max_cycles=7, patience=2).stopped == "steps"


def test_growth_is_measured_against_the_earlier_value():
    def count_calls(tests, calls=[100.0]):  # noqa: B006 - grows by one with each call
        calls[0] += 1.0
        return calls[0]

    # 101 at the start, then 1 more per cycle: 3 % within 3 cycles
    assert dm.optimise(Square, metric=count_calls, max_cycles=12, patience=3, change_rate=0.02).stopped == "steps"


def test_declared_filters_shrink_the_set_and_the_result_says_so():
    result = dm.optimise(FilteredSquare, metric="mean_x", max_cycles=8, seed=1)
    expected = int((result.start.input["y"] < 0.4).sum())
    assert len(result.start) == 24
    assert len(result.tests) == expected < 24
    assert (result.tests.input["y"] < 0.4).all()
    assert f"The filters left {expected} of the 24 cases to start from." in result.describe()
    assert result.gain["mean_x"] > 0
    assert len(dm.optimise(FilteredSquare, metric="mean_x", max_cycles=2, filters=[]).tests) == 24


def test_filters_that_leave_nothing_are_an_error():
    class Empty(Square):
        @dm.set_filter
        def nothing(self, tests):
            return tests.take(slice(0, 1))

    with pytest.raises(DataError, match="The filters leave 1 case of 24"):
        dm.optimise(Empty)


def test_a_budget_of_executions_is_kept():
    result = dm.optimise(Square, metric="label_balance", budget=70, max_cycles=20)
    assert result.stopped == "budget"
    assert 60 <= result.executions <= 70
    assert result.executions == result.history["executions"].iloc[-1]
    assert "The budget ended the search" in result.describe()


def test_a_budget_of_time_is_kept_without_executions():
    result = dm.optimise(Square, max_cycles=100_000, change_rate=0, budget="0.2s")
    assert result.stopped == "budget"
    assert result.executions == 0


def test_a_filter_that_does_not_look_at_the_metric_is_mentioned():
    assert (
        "GAOptimizeWeakestRemoval usually gains more" in dm.optimise(Square, metric="mean_x", max_cycles=1).describe()
    )
    for options in ({"strategy": "GAOptimizeRandomRemoval", "metric": "mean_x"}, {}):
        assert "usually" not in dm.optimise(Square, max_cycles=1, **options).describe()


def test_nothing_is_executed_unless_a_metric_needs_it():
    class Untouchable(Square):
        @dm.executor
        def classify(self, p):
            raise AssertionError

    result = dm.optimise(Untouchable, max_cycles=2)
    assert result.tests.outputs is None
    with pytest.raises(SystemFailed):
        dm.optimise(Untouchable, metric="border_coverage", max_cycles=2)


def test_cases_without_an_answer_do_not_end_the_search():
    class Fragile(Square):
        @dm.executor(scalar=True)
        def classify(self, case):
            if case["x"] > 0.4:
                raise ValueError("too far")
            return case["x"] > 0.2

    result = dm.optimise(Fragile, "GAOptimizeWeakestRemoval", metric="label_balance", max_cycles=5)
    assert result.fitness["label_balance"] >= result.start_fitness["label_balance"]
    assert result.tests.outputs is not None


def test_a_metric_without_a_number_at_the_start_is_an_error():
    def undefined(tests):
        return float("nan")

    with pytest.raises(DataError, match="The metric undefined is nan"):
        dm.optimise(Square, metric=undefined)


def test_several_metrics_keep_sets_of_which_none_is_better():
    def mean_y(tests):
        return float(tests.input["y"].mean())

    def low_y(tests):
        return -mean_y(tests)

    result = dm.optimise(
        Square, "GAOptimizeWeakestRemoval", metric=["mean_nearest_distance", mean_y, low_y], max_cycles=8, change_rate=0
    )
    fitness = result.trade_offs[list(result.metrics)].to_numpy()
    assert len(result.sets) == len(fitness) > 1
    assert result.trade_offs["chosen"].sum() == 1
    assert result.tests is result.sets[result.best]
    for row in fitness:
        assert not ((fitness >= row).all(axis=1) & (fitness > row).any(axis=1)).any()
    for name in result.metrics:
        assert (np.diff(result.history[name]) >= 0).all()
        assert result.fitness[name] >= result.start_fitness[name]  # of a metric and its opposite, neither falls
    for tests in result.sets:
        assert not tests.input.duplicated().any()
        assert len(np.unique(tests.ids)) == len(tests) == 24
    assert result.measure(result.tests) == pytest.approx(result.fitness)
    assert "sets were kept" in result.describe()
