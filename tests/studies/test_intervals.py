"""Intervals of our figures hold the true value about as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from datamorphic.studies.intervals import (
    average_figures,
    estimate_effect,
    estimate_mean,
    estimate_median,
    estimate_ratio,
    estimate_share,
    label_figure,
    read_labelled_figure,
)
from datamorphic.studies.real_data import compute_statistic
from datamorphic.studies.rows import OurFigure
from datamorphic.studies.workload import SCALES, Job, Workbench
from support.studies import measure_jobs

SAMPLES = 400


def count_covered(estimate_sample, truth):
    rng = np.random.default_rng(0)
    figures = [estimate_sample(rng) for _ in range(SAMPLES)]
    return sum(abs(figure.value - truth) <= figure.margin for figure in figures) / SAMPLES


def estimate_cost(rng):
    mutants = rng.uniform(50, 150, 10)
    return estimate_ratio((3 * mutants + rng.normal(0, 20, 10)).tolist(), mutants.tolist())


@pytest.mark.parametrize(
    ("estimate_sample", "truth"),
    [
        (lambda rng: estimate_mean(rng.normal(5, 2, 8)), 5),
        (estimate_cost, 3),
        (lambda rng: estimate_share(rng.binomial(40, 0.1), 40), 10),
        (lambda rng: estimate_median(rng.exponential(1, 21).tolist()), math.log(2)),
        (lambda rng: average_figures(estimate_mean(rng.normal(mean, 1, 30)) for mean in (1, 3)), 2),
    ],
    ids=["mean", "ratio", "share", "median", "average"],
)
def test_intervals_hold_the_true_value(estimate_sample, truth):
    assert 0.92 <= count_covered(estimate_sample, truth) <= 0.995  # a standard error is 1.1%


def test_the_interval_of_an_effect_holds_the_true_effect():
    def estimate_sample(rng):
        first, second = rng.normal(0, 1, 50), rng.normal(0.5, 1, 50)
        d = (second.mean() - first.mean()) / math.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2)
        return estimate_effect(d, 50, 50)

    assert 0.92 <= count_covered(estimate_sample, 0.5) <= 0.98


def test_what_is_not_known_has_no_interval():
    assert math.isnan(estimate_mean([3.0]).margin)
    assert estimate_mean([3.0]).trials == 1
    assert math.isnan(estimate_mean([]).value)
    assert estimate_ratio([5.0, 6.0], [0.0, 0.0]).value == math.inf
    assert math.isnan(estimate_median([1.0, 2.0, 3.0]).margin)
    assert math.isnan(estimate_share(0, 0).value)
    assert average_figures([OurFigure(math.inf), OurFigure(2.0, 1.0, 3, 1.5)]) == OurFigure(2.0, 1.0, 3, 1.5)


class Counting(Job):
    """A job whose figures depend on the repetition."""

    printed_repetitions = 12

    def __init__(self, repetition_count):
        self.repetition_count = repetition_count

    def repetitions(self, scale):
        return self.repetition_count

    def measure(self, seed, repetition, progress):
        counts = {"runs": 30.0 + repetition, "mutants": 10.0, "seconds": 1.0}
        return counts | label_figure("walks", OurFigure(20.0, 0.5, 7))


def test_the_workbench_keeps_the_spread():
    bench, many, one = Workbench(SCALES["tiny"]), Counting(3), Counting(1)
    assert math.isnan(bench.estimate(many, "cost").value)
    bench.figure(one, "walks")
    measure_jobs(bench)
    value, margin, trials, printed_margin = bench.estimate(many, "cost")
    assert (value, trials) == (pytest.approx(3.1), 3)
    assert margin == pytest.approx(estimate_mean([3.0, 3.1, 3.2]).margin)
    assert printed_margin == pytest.approx(margin * math.sqrt(1 + 3 / 12))
    assert bench.estimate(one, "walks")[:3] == (20.0, 0.5, 7)
    assert math.isnan(bench.estimate(one, "cost").margin)
    assert read_labelled_figure({"a": 1.0}, "a").value == 1.0


def test_a_mean_of_which_a_part_was_not_measured_is_missing():
    measured, infinite = OurFigure(2.0, 0.5, 10, 0.6), OurFigure(math.inf)
    assert average_figures([measured, infinite]) == measured
    assert math.isnan(average_figures([measured, OurFigure(math.nan)]).value)
    for kind in ("total", "mean", "stdev", "max", "min"):
        assert math.isnan(compute_statistic([measured, OurFigure(math.nan)], kind).value)
    assert math.isinf(compute_statistic([infinite, infinite], "mean").value)
    assert compute_statistic([measured, infinite], "max") == measured
    assert math.isnan(average_figures([]).value)
