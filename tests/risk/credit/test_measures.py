"""Measures of one test set, and their means over repetitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from datamorphic._stats import compute_wilson_interval
from datamorphic.core.result import Measure
from datamorphic.risk.credit.measures import (
    Measurement,
    average_measurements,
    average_shares,
    compute_default_rate,
    compute_ks,
    estimate_ks,
    measure_auc,
    measure_auc_difference,
    to_gini,
)


def draw_scores(n, rng, shift=0.8):
    defaulted = np.arange(n) < n // 5
    return rng.normal(size=n) + shift * defaulted, defaulted


def test_intervals_of_auc_cover_the_truth():
    rng = np.random.default_rng(0)
    truth = 0.7142  # of two normal distributions 0.8 apart
    covered = 0
    for _ in range(200):
        estimate = average_measurements([measure_auc(*draw_scores(150, rng))])
        covered += estimate.low <= truth <= estimate.high
    assert 180 <= covered <= 199


def test_a_model_does_not_differ_from_itself():
    scores, defaulted = draw_scores(50, np.random.default_rng(1))
    assert measure_auc_difference(scores, scores, defaulted) == Measurement(0.0, 0.0)


def test_differences_of_similar_models_are_more_certain_than_their_aucs():
    rng = np.random.default_rng(2)
    scores, defaulted = draw_scores(200, rng)
    other = scores + 0.1 * rng.normal(size=200)
    assert measure_auc_difference(scores, other, defaulted).variance < measure_auc(scores, defaulted).variance / 10


def test_gini_scales_the_interval():
    gini = to_gini(Measure(0.75, 0.7, 0.8))
    assert [gini.value, gini.low, gini.high] == pytest.approx([0.5, 0.4, 0.6])


def test_ks_is_that_of_scipy_and_its_bootstrap_varies_like_new_samples():
    rng = np.random.default_rng(3)
    scores, defaulted = draw_scores(300, rng)
    assert compute_ks(scores, defaulted) == pytest.approx(ks_2samp(scores[defaulted], scores[~defaulted]).statistic)
    samples = [compute_ks(*draw_scores(300, rng)) for _ in range(200)]
    assert math.sqrt(estimate_ks(scores, defaulted, rng).variance) == pytest.approx(np.std(samples), rel=0.4)


def test_default_rate_of_a_perfect_and_of_a_useless_model():
    defaulted = np.arange(100) < 20
    assert compute_default_rate(defaulted.astype(float), defaulted, 0.8) == 0
    assert compute_default_rate(np.zeros(100), defaulted, 0.8) == pytest.approx(0.2)
    assert compute_default_rate(1.0 - defaulted, defaulted, 0.2) == 1


def test_means_over_repetitions_are_not_more_certain_than_the_data_allow():
    one = average_measurements([Measurement(0.7, 0.0004)])
    many = average_measurements([Measurement(0.7, 0.0004)] * 100)
    assert (many.low, many.high) == pytest.approx((one.low, one.high))
    scattered = average_measurements([Measurement(0.6, 0.0004), Measurement(0.8, 0.0004)])
    assert scattered.low < one.low


def test_shares_of_one_repetition_have_wilson_intervals():
    share = average_shares([7], [100])
    assert (share.value, share.low, share.high) == pytest.approx((0.07, *compute_wilson_interval(7, 100)))


def test_shares_that_differ_between_repetitions_have_wide_intervals():
    equal = average_shares([50, 50, 50, 50], [1000] * 4)
    unequal = average_shares([0, 0, 0, 200], [1000] * 4)
    assert equal.value == unequal.value == 0.05
    assert unequal.high - unequal.low > 4 * (equal.high - equal.low)
    assert 0 <= unequal.low < 0.05 < unequal.high <= 1


def test_no_violation_in_any_repetition_counts_as_one_of_them():
    assert average_shares([0] * 5, [1000] * 5) == average_shares([0], [1000])
    assert math.isnan(average_shares([0], [0]).value)
