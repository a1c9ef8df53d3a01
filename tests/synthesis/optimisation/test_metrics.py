"""Metrics of test sets by name, and those of users."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError, TestSystemError
from datamorphic.morphisms.cases import TestSet
from datamorphic.morphisms.system import TestSystem
from datamorphic.space.outputs import Outputs
from datamorphic.synthesis.optimisation.metrics import FunctionMetric, LabelBalance, remove_in_rounds
from datamorphic.synthesis.optimisation.options import SearchOptions
from datamorphic.synthesis.optimisation.subject import OptimisationSubject
from support.cases import in_one_test

LINE = dm.Space([dm.Continuous("x", 0, 1, step=0.1)])


def label(labels):
    points = LINE.points(pd.DataFrame({"x": np.linspace(0, 1, len(labels))}))
    return TestSet.of_seeds(points).with_outputs(Outputs.of(np.array(labels, dtype=object)))


def test_balance_counts_the_labels_of_the_first_set():
    tests = label(["a", "b", "c", "a"])
    metric = LabelBalance()
    metric.prepare(tests)
    assert metric.measure(label(["a", "b", "c"])) == pytest.approx(1.0)
    assert metric.measure(label(["a", "b", "a", "b"])) == pytest.approx(np.log(2) / np.log(3))  # c was lost
    assert metric.measure(label(["a", "a"])) == 0.0


def test_cases_of_rare_labels_contribute_most():
    tests = label(["a", "a", "a", "b", "b", "c"])
    metric = LabelBalance(("a", "b", "c"))
    metric.prepare(tests)
    scores = metric.score_cases(tests)
    total = metric.measure(tests)
    for row in range(len(tests)):
        assert scores[row] == pytest.approx(total - metric.measure(tests.take(np.arange(6) != row)))
    assert scores[0] < scores[3] < scores[5]


def test_balance_needs_two_labels():
    with pytest.raises(DataError, match="at least two labels"):
        LabelBalance().prepare(label(["a", "a"]))


def test_removal_in_rounds_looks_again_at_what_is_left():
    tests = label(["a"] * 40)

    def score_by_crowd(rest):  # many cases of the left half: the first round removes only these
        is_left = rest.input["x"].to_numpy() < 0.5
        return np.where(is_left, -is_left.sum(), -(~is_left).sum()).astype(float)

    weakest = remove_in_rounds(score_by_crowd, tests, 20, np.ones(40, dtype=bool), np.random.default_rng(0))
    assert (tests.input["x"].to_numpy()[weakest] < 0.5).sum() == pytest.approx(10, abs=2)


@pytest.mark.parametrize(("n", "calls"), [(50, 51), (400, 65)])
def test_contributions_of_an_unknown_metric_take_few_measurements(n, calls):
    measured_sizes = []

    def sum_x(tests):
        measured_sizes.append(len(tests))
        return float(tests.input["x"].sum())

    tests = label(["a"] * n)
    scores = FunctionMetric(sum_x, executable=False).score_cases(tests)
    assert len(measured_sizes) == calls
    correlation = np.corrcoef(scores, tests.input["x"])[0, 1]
    assert correlation > (0.999 if n == 50 else 0.25)


def test_functions_must_return_numbers():
    assert FunctionMetric(len, executable=False).measure(label(["a", "b"])) == 2.0
    with pytest.raises(TestSystemError, match=r"must return a number\. It returned str"):
        FunctionMetric(repr, executable=False).measure(label(["a"]))


class Rightmost:
    space = LINE

    @dm.datamorphism
    def right(self, p):
        return p.assign(x=(p.x + 0.1).clip(upper=1))

    @dm.set_metric
    def mean_x(self, tests):
        return tests.input["x"].mean()

    @dm.set_metric(name="label balance")
    def own_balance(self, tests):
        return 1.0


def find(names, system=Rightmost, sut=None):
    start = TestSet.of_seeds(LINE.sample(2, seed=0, points=True))
    subject = OptimisationSubject(name="line", system=TestSystem.collect(system), sut=sut, tests=start)
    return [metric.name for metric in SearchOptions(metric=names).add_metrics(subject).metrics]


def test_metrics_are_found_in_any_style_and_own_ones_come_first():
    assert find(["MeanX", "diversity", "label_balance"]) == ["mean_x", "mean_nearest_distance", "label balance"]
    assert find(len) == ["len"]


@in_one_test(
    ("metric", "message"),
    [
        ("mean_y", "There is no metric 'mean_y'. Did you mean 'mean_x'"),
        (["mean_x", "Mean X"], "more than once"),
        ("border_coverage", "looks at the answers of a system, but Rightmost has none"),
        ([], "metric"),
        (3, "metric"),
        ([3], "metric"),
    ],
)
def test_wrong_metrics_are_rejected(metric, message):
    with pytest.raises(ArgumentError, match=message):
        find(metric)
