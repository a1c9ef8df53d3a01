"""Intervals of shares, means, gaps and areas under curves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from datamorphic.core.result import Measure
from datamorphic.risk.fairness.intervals import (
    correct_confidence,
    measure_auc,
    measure_gap,
    measure_level,
    measure_mean,
    measure_stratified_mean,
)


def test_shares_and_means():
    assert Measure.from_counts(0, 0).cases == 0
    assert Measure.from_counts(5, 100).value == 0.05
    mean = measure_mean(np.array([1.0, 2.0, 3.0, np.nan]))
    assert (mean.value, mean.cases) == (2.0, 3)
    assert mean.high == pytest.approx(2 + 4.302653 / math.sqrt(3), abs=1e-5)
    assert math.isinf(measure_mean(np.array([1.0])).high)
    assert measure_mean(np.array([np.nan])).cases == 0
    assert measure_level(np.array([0.0, 1.0, 1.0])) == Measure.from_counts(2, 3)
    assert not measure_mean(np.zeros(9)).excludes_zero


def test_strata_have_equal_weights():
    values, strata = np.array([1.0, 3.0, 10.0, 10.0, 10.0, 10.0, 7.0]), np.array([0, 0, 1, 1, 1, 1, -1])
    mean = measure_stratified_mean(values, strata)
    assert (mean.value, mean.cases) == (6.0, 6)
    assert mean.high - mean.value == pytest.approx(1.959964 * math.sqrt(2 / 2) / 2, abs=1e-5)
    assert math.isinf(measure_stratified_mean(values[:1], strata[:1]).high)


def test_gaps_agree_with_the_published_example():
    """56 of 70 against 48 of 80: Newcombe 1998, table II, example (a), method 10."""
    gap = measure_gap(np.repeat([1.0, 0.0], [56, 14]), np.repeat([1.0, 0.0], [48, 32]))
    assert (round(gap.low, 4), round(gap.high, 4)) == (0.0524, 0.3339)


def test_areas_under_curves():
    scores, positive = np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True])
    assert measure_auc(scores, positive).value == 0.75
    assert measure_auc(scores, np.zeros(4, dtype=bool)).value == 0.5
    assert measure_auc(np.zeros(4), positive).value == 0.5


def test_several_intervals_together():
    assert correct_confidence(5) == pytest.approx(0.99)
    assert correct_confidence(0) == 0.95
