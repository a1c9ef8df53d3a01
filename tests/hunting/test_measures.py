"""F-measures and what is made of them; how evenly points lie."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import datamorphic as dm
from datamorphic.core.result import Measure
from datamorphic.errors import ArgumentError
from datamorphic.hunting.measures import (
    FMeasures,
    cohens_d,
    discrepancy,
    dispersion,
    e_measure,
    estimate,
    f_measures,
    f_ratio,
    measure_spread,
    p_measure,
    welch_p,
)
from datamorphic.hunting.regions import draw_region
from support.cases import in_one_test

RATE = 0.02


@pytest.fixture(scope="module")
def uniform():
    """F-measures of uniform tests on blocks drawn anew for each trial."""
    rng = np.random.default_rng(20)
    verdicts = np.array(
        [draw_region("block", RATE, [0, 0], [1, 1], rng).contains(rng.random((1000, 2))) for _ in range(2000)]
    )
    return verdicts, f_measures(verdicts)


def test_f_measure_of_uniform_tests_is_one_over_the_rate(uniform):
    _, measured = uniform
    assert not measured.censored.any()
    assert abs(measured.mean - 1 / RATE) < 4 * measured.standard_error
    assert measured.sd == pytest.approx(math.sqrt(1 - RATE) / RATE, rel=0.1)
    ratio = f_ratio(measured, RATE)
    assert ratio.low < 1 < ratio.high
    assert abs(cohens_d(measured, RATE)) < 4 / math.sqrt(len(measured))
    assert welch_p(measured, RATE) > 0.001


def test_p_and_e_are_those_of_a_geometric_distribution(uniform):
    verdicts, measured = uniform
    probability = p_measure(measured, 30)
    assert probability == p_measure(verdicts, 30)
    expected = 1 - (1 - RATE) ** 30
    assert abs(probability.value - expected) < 4 * math.sqrt(expected * (1 - expected) / len(measured))
    assert probability.low < probability.value < probability.high
    count = e_measure(verdicts, 30)
    assert abs(count.value - 30 * RATE) < 4 * (count.high - count.low) / 3.92


def test_comparisons_are_those_of_scipy():
    rng = np.random.default_rng(3)
    a, b = FMeasures(rng.geometric(0.1, 60)), FMeasures(rng.geometric(0.05, 40))
    assert welch_p(a, b) == pytest.approx(stats.ttest_ind(a.counts, b.counts, equal_var=False).pvalue)
    assert welch_p(a, 0.05) == pytest.approx(stats.ttest_1samp(a.counts, 20).pvalue)
    d = (b.mean - a.mean) / math.sqrt((a.sd**2 + b.sd**2) / 2)
    assert cohens_d(a, b) == pytest.approx(d)
    assert cohens_d(a, b) > 0 > cohens_d(b, a)
    half = stats.t.ppf(0.975, 59) * a.standard_error
    assert estimate(a.counts)[1:] == pytest.approx((a.mean - half, a.mean + half))


def test_interval_of_f_ratio_has_its_coverage():
    rng = np.random.default_rng(4)
    held = 0
    for _ in range(400):
        ratio = f_ratio(FMeasures(rng.geometric(0.1, 200)), FMeasures(rng.geometric(0.05, 200)))
        held += ratio.low <= 0.5 <= ratio.high
    assert 0.91 < held / 400 < 0.985


def test_censored_trials_are_counted_and_not_compared():
    measured = f_measures([[False, False, False], [False, True, True]])
    assert measured.counts.tolist() == [3, 2]
    assert measured.censored.tolist() == [True, False]
    assert measured.censored_share == 0.5
    assert math.isnan(cohens_d(measured, FMeasures([1, 2])))
    assert math.isnan(cohens_d(FMeasures([1, 2]), measured))
    assert p_measure(measured, 3).value == 0.5
    with pytest.raises(ArgumentError, match="at most 3"):
        p_measure(measured, 4)


def test_comparison_of_constant_figures():
    same, other, one = FMeasures([5, 5]), FMeasures([7, 7]), FMeasures([5])
    assert (cohens_d(same, same), cohens_d(same, other), cohens_d(other, same)) == (0, math.inf, -math.inf)
    assert (welch_p(same, same), welch_p(same, other)) == (1, 0)
    assert math.isnan(welch_p(one, other))
    assert math.isnan(cohens_d(one, other))
    assert math.isnan(estimate([1.0]).low)


@in_one_test(
    ("call", "message"),
    [
        (lambda: FMeasures([]), "at least one integer"),
        (lambda: FMeasures([1.5]), "integer"),
        (lambda: FMeasures([0]), "counted from 1"),
        (lambda: FMeasures([1, 2], [True]), "2 flags"),
        (lambda: f_ratio(FMeasures([1]), 0), "violation rate"),
        (lambda: f_measures([True]), "matrix of bool"),
        (lambda: f_measures([[0.0, math.nan]]), "matrix of bool"),
        (lambda: e_measure([[True]], 2), r"\[1, 1\]"),
        (lambda: p_measure([[True]], 2), r"\[1, 1\]"),
        (lambda: dispersion([[1.0, 2.0]]), "two points"),
        (lambda: discrepancy([[1.0, 2.0]], [0], [1]), r"\(n, 1\)"),
        (lambda: discrepancy([], 0, 1), "at least one point"),
        (lambda: discrepancy([0.5], 0, 1, method="balls"), "'cells'"),
        (lambda: discrepancy([0.5], 0, 1, boxes=0), r"\[1, inf"),
        (lambda: discrepancy([0.5], 1, 1), "empty"),
        (lambda: estimate([]), "at least one"),
    ],
)
def test_invalid_measurements_are_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_discrepancy_of_uniform_points_equals_the_published_one():
    rng = np.random.default_rng(6)
    trials = [rng.uniform(0, 1000, (1000, 1)) for _ in range(200)]
    minimum, maximum, width = (estimate(item) for item in np.transpose([dispersion(trial) for trial in trials]))
    assert minimum.low < 0.0010 < minimum.high
    assert maximum.low < 3.78 < maximum.high
    assert width.value == pytest.approx(maximum.value - minimum.value)
    cells = estimate([discrepancy(trial, 0, 1000, method="cells").maximum for trial in trials])
    assert cells.low < 0.0045 < cells.high


def test_discrepancy_is_the_share_of_points_less_that_of_volume():
    rng = np.random.default_rng(7)
    corner = rng.random((500, 2)) / 2
    # a quarter of the domain has all points
    assert discrepancy(corner, [0, 0], [1, 1], boxes=4, method="cells") == (0.25, 0.75, 0.5)
    boxes = discrepancy(corner, [0, 0], [1, 1], rng=1)
    assert boxes == discrepancy(corner * 10 - 3, [-3, -3], [7, 7], rng=1)
    assert 0.5 < boxes.maximum < 0.75
    even = np.stack(np.meshgrid(*[(np.arange(30) + 0.5) / 30] * 2), axis=-1).reshape(-1, 2)
    assert discrepancy(even, [0, 0], [1, 1], rng=1).maximum < 0.04
    # points outside lie in no part, and those on the upper edge in the last one
    assert discrepancy([[1.0], [2.0]], 0, 1, boxes=2, method="cells") == (0.0, 0.5, 0.5)


def test_many_points_in_many_dimensions_are_measured_in_parts(monkeypatch):
    points = np.random.default_rng(8).random((300, 6))
    whole = discrepancy(points, [0] * 6, [1] * 6, rng=1)
    monkeypatch.setattr("datamorphic.hunting.measures.MAX_COMPARISONS_PER_CHUNK", 7 * 300)
    assert discrepancy(points, [0] * 6, [1] * 6, rng=1) == whole


def test_ratio_to_an_estimated_rate_has_a_wider_interval():
    measures = FMeasures(np.array([20, 30, 40]))
    exact, uncertain = f_ratio(measures, 0.05), f_ratio(measures, Measure(0.05, 0.04, 0.06))
    assert exact.value == uncertain.value == pytest.approx(1.5)
    assert f_ratio(measures, Measure(0.05, 0.05, 0.05)) == exact
    error = math.hypot(measures.standard_error / 30, 0.01 / 1.959963984540054 / 0.05)
    assert uncertain.high == pytest.approx(1.5 + 1.959963984540054 * 1.5 * error)
    many = FMeasures(np.tile([20, 21], 50))
    assert welch_p(many, Measure(0.05, 0.04, 0.06)) > welch_p(many, 0.05)
    assert 0 < welch_p(FMeasures(np.array([19, 19])), Measure(0.05, 0.04, 0.06)) < 1


def test_spread_of_groups_is_that_of_each_input_in_its_domain():
    relation = dm.FunctionRelation(
        name="several",
        domain=[(0, 1), (0, 1)],
        follow_up=[dm.relations.Affine.scaled(2, 2), dm.relations.Affine.of([[1, 0], [0, 0]], [0, 5])],
    )
    groups = dm.generate(relation, "MT-RT", n=50, seed=3, measure=True)
    source, doubled, projected = measure_spread(relation, groups.sources)
    nearest = np.sort(np.hypot(*(groups.sources[:, None] - groups.sources).T), axis=1)[:, 1]
    assert source.dispersion == pytest.approx((nearest.min(), nearest.max(), np.ptp(nearest)))
    assert doubled.dispersion.maximum == pytest.approx(2 * nearest.max())
    assert doubled.discrepancy == source.discrepancy == discrepancy(groups.sources, [0, 0], [1, 1], method="cells")
    assert projected.discrepancy == discrepancy(
        groups.sources[:, :1], 0, 1, method="cells"
    )  # over the input that varies
    assert groups.spread["inputs"].tolist() == ["source", "follow_up1", "follow_up2"]
    assert groups.spread["dispersion max"].tolist() == [
        part.dispersion.maximum for part in (source, doubled, projected)
    ]
    assert groups.document()["spread"][0]["inputs"] == "source"
    assert "How evenly the groups lie" in groups.describe()
    single = dm.generate([(0, 1), (0, 1)], "Halton", n=50)
    assert single.spread["inputs"].tolist() == ["source"]
    assert "spread" not in single.document()
