"""Shares, means and differences with confidence intervals."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ...core.result import DEFAULT_CONFIDENCE, Measure

Floats = npt.NDArray[np.float64]


def correct_confidence(comparisons: int, confidence: float = DEFAULT_CONFIDENCE) -> float:
    """Return the confidence of each interval if all must hold together (Bonferroni)."""
    return 1 - (1 - confidence) / max(comparisons, 1)


def measure_mean(values: Floats, confidence: float = DEFAULT_CONFIDENCE) -> Measure:
    """Return the mean of independent values with its interval (Student's t)."""
    from scipy.stats import t as student

    known_values = values[~np.isnan(values)]
    total = len(known_values)
    if not total:
        return Measure(math.nan, -math.inf, math.inf, 0, confidence)
    mean = float(known_values.mean())
    if total == 1:
        return Measure(mean, -math.inf, math.inf, 1, confidence)
    half = float(student.ppf(0.5 + confidence / 2, total - 1) * known_values.std(ddof=1) / math.sqrt(total))
    return Measure(mean, mean - half, mean + half, total, confidence)


def measure_stratified_mean(
    values: Floats, strata: npt.NDArray[np.intp], confidence: float = DEFAULT_CONFIDENCE
) -> Measure:
    """Return the mean over strata of their means; negative and very small strata are left out."""
    parts = [values[(strata == stratum) & ~np.isnan(values)] for stratum in np.unique(strata[strata >= 0])]
    parts = [part for part in parts if len(part) > 1]
    if not parts:
        return Measure(0.0, -math.inf, math.inf, 0, confidence)
    mean = float(np.mean([part.mean() for part in parts]))
    error = math.sqrt(sum(part.var(ddof=1) / len(part) for part in parts)) / len(parts)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * error
    return Measure(mean, mean - half, mean + half, sum(map(len, parts)), confidence)


def measure_level(levels: Floats, confidence: float = DEFAULT_CONFIDENCE) -> Measure:
    """Return the mean level of some people with the interval of a share or of a mean."""
    known_levels = levels[~np.isnan(levels)]
    if len(known_levels) and np.isin(known_levels, (0.0, 1.0)).all():
        return Measure.from_counts(int(known_levels.sum()), len(known_levels), confidence)
    return measure_mean(known_levels, confidence)


def measure_gap(first: Floats, second: Floats, confidence: float = DEFAULT_CONFIDENCE) -> Measure:
    """Return the difference between the mean levels of two groups with its interval.

    The interval combines those of the two groups (Newcombe 1998, method 10), which for shares holds with few people, too.
    """
    one, other = measure_level(first, confidence), measure_level(second, confidence)
    difference = one.value - other.value
    low = difference - math.hypot(one.value - one.low, other.high - other.value)
    high = difference + math.hypot(one.high - one.value, other.value - other.low)
    return Measure(difference, low, high, (one.cases or 0) + (other.cases or 0), confidence)


def measure_auc(scores: Floats, positive: npt.NDArray[np.bool_], confidence: float = DEFAULT_CONFIDENCE) -> Measure:
    """Return the probability that a positive has a higher score than a negative (Hanley & McNeil 1982).

    A value of 0.5 is guessing.
    """
    from scipy.stats import rankdata

    count, total = int(positive.sum()), len(positive)
    others = total - count
    if not count or not others:
        return Measure(0.5, 0.0, 1.0, total, confidence)
    auc = (float(rankdata(scores)[positive].sum()) - count * (count + 1) / 2) / (count * others)
    both_positive, both_negative = auc / (2 - auc), 2 * auc * auc / (1 + auc)
    variance = auc * (1 - auc) + (count - 1) * (both_positive - auc**2) + (others - 1) * (both_negative - auc**2)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(max(variance, 0.0) / (count * others))
    return Measure(auc, max(0.0, auc - half), min(1.0, auc + half), total, confidence)
