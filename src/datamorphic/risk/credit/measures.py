"""How well a model tells borrowers who default from those who pay: AUC, Gini, KS, and defaults among approved loans.

Variances of AUC and of paired differences are those of DeLong, DeLong & Clarke-Pearson (1988), by ranks, as Sun & Xu (2014)
compute them. KS has a bootstrap interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..._stats import Z_95, compute_wilson_interval
from ...core.result import Measure

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

KS_RESAMPLES = 200
DEFAULT_APPROVAL_RATE = 0.8  # of applicants, where defaults among approved loans are reported


class Measurement(NamedTuple):
    """A figure of one test set, and the variance that sampling another test set would give it."""

    value: float
    variance: float


# -- AUC and Gini ------------------------------------------------------------------------------------------------------


def compute_placements(scores: Floats, defaulted: Flags) -> tuple[Floats, Floats]:
    """Return the placements of defaulters among payers, and of payers among defaulters.

    The placement of a defaulter is the share of payers with a lower score, that of a payer the share of defaulters with a
    higher one. Ties count half. The mean of either is the AUC.
    """
    default_scores, paid_scores = scores[defaulted], scores[~defaulted]
    default_count, paid_count = len(default_scores), len(paid_scores)
    ranks = compute_midranks(np.concatenate([default_scores, paid_scores]))
    default_placements = (ranks[:default_count] - compute_midranks(default_scores)) / paid_count
    paid_placements = 1 - (ranks[default_count:] - compute_midranks(paid_scores)) / default_count
    return default_placements, paid_placements


def compute_midranks(values: Floats) -> Floats:
    """Return ranks from 1, the mean rank for ties."""
    ordered = np.sort(values)
    below, upto = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    return (below + upto + 1) / 2


def measure_auc(scores: Floats, defaulted: Flags) -> Measurement:
    """Return the AUC with its variance.

    It is the probability that a random defaulter has a higher score than a random payer.

    Examples
    --------
    >>> measure_auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True])).value
    0.75
    """
    placements = compute_placements(scores, defaulted)
    return Measurement(float(placements[0].mean()), sum(map(_compute_variance_of_mean, placements)))


def measure_auc_difference(scores: Floats, other_scores: Floats, defaulted: Flags) -> Measurement:
    """Return the AUC of `scores` minus that of `other_scores`, with its variance; the borrowers are the same."""
    pairs = zip(compute_placements(scores, defaulted), compute_placements(other_scores, defaulted), strict=True)
    differences = [first - second for first, second in pairs]
    return Measurement(float(differences[0].mean()), sum(map(_compute_variance_of_mean, differences)))


def _compute_variance_of_mean(placements: Floats) -> float:
    return float(placements.var(ddof=1)) / len(placements) if len(placements) > 1 else math.nan


def to_gini(auc: Measure) -> Measure:
    """Return the Gini coefficient, 2 AUC - 1."""
    return Measure(2 * auc.value - 1, 2 * auc.low - 1, 2 * auc.high - 1)


# -- KS ----------------------------------------------------------------------------------------------------------------


def compute_ks(scores: Floats, defaulted: Flags) -> float:
    """Return the Kolmogorov-Smirnov statistic of the scores.

    It is the largest distance between the score distributions of the two classes.

    Examples
    --------
    >>> compute_ks(np.array([0.1, 0.2, 0.3, 0.4]), np.array([False, False, True, True]))
    1.0
    """
    levels, codes = np.unique(scores, return_inverse=True)
    shares = [
        np.cumsum(np.bincount(codes[mask], minlength=len(levels))) / mask.sum() for mask in (defaulted, ~defaulted)
    ]
    return float(np.abs(shares[0] - shares[1]).max())


def estimate_ks(
    scores: Floats, defaulted: Flags, rng: np.random.Generator, resamples: int = KS_RESAMPLES
) -> Measurement:
    """Return KS with its variance, from resamples of the defaulters and of the payers."""
    levels, codes = np.unique(scores, return_inverse=True)
    shares = []
    for mask in (defaulted, ~defaulted):
        own_codes = codes[mask]
        draws = own_codes[rng.integers(len(own_codes), size=(resamples, len(own_codes)))]
        draws += np.arange(resamples)[:, None] * len(levels)
        counts = np.bincount(draws.ravel(), minlength=resamples * len(levels)).reshape(resamples, len(levels))
        shares.append(counts.cumsum(axis=1) / len(own_codes))
    resampled_ks = np.abs(shares[0] - shares[1]).max(axis=1)
    return Measurement(compute_ks(scores, defaulted), float(resampled_ks.var(ddof=1)))


# -- defaults among approved loans -------------------------------------------------------------------------------------


def compute_default_rate(scores: Floats, defaulted: Flags, approval_rate: float = DEFAULT_APPROVAL_RATE) -> float:
    """Return the share of defaults among the approved loans.

    The applicants with the lowest scores are approved. Of applicants with the same score at the limit, each is approved with
    the same probability.

    Examples
    --------
    >>> compute_default_rate(np.array([0.1, 0.2, 0.9, 0.9]), np.array([False, False, False, True]), 0.75)
    0.16666666666666666
    """
    levels, codes = np.unique(scores, return_inverse=True)
    counts = np.bincount(codes, minlength=len(levels)).astype(np.float64)
    defaults = np.bincount(codes[defaulted], minlength=len(levels))
    approved_count = approval_rate * len(scores)
    before = np.cumsum(counts) - counts
    shares = np.clip((approved_count - before) / counts, 0, 1)
    return float((shares * defaults).sum() / approved_count)


# -- over repetitions --------------------------------------------------------------------------------------------------


def average_measurements(measurements: Sequence[Measurement], test_to_training: float = 1 / 3) -> Measure:
    """Return the mean over repetitions with an interval.

    The test sets of the repetitions are drawn from the same data, so the mean of many is hardly more certain than one test
    set. The variance is the mean of the variances of one test set, or, if larger, the variance between repetitions with the
    correction of Nadeau & Bengio (2003) for overlapping training sets.
    """
    values = np.array([measurement.value for measurement in measurements])
    variance = float(np.mean([measurement.variance for measurement in measurements]))
    if len(values) > 1:
        between = float(values.var(ddof=1)) * (1 / len(values) + test_to_training)
        variance = between if math.isnan(variance) else max(variance, between)
    mean, half = float(values.mean()), Z_95 * math.sqrt(variance)
    return Measure(mean, mean - half, mean + half)


def average_shares(counts: Sequence[int], totals: Sequence[int]) -> Measure:
    """Return the share of cases over all repetitions, with a Wilson interval.

    The cases of one repetition have a model in common. Where repetitions differ by more than chance, the interval is as wide
    as if there were fewer cases. If all shares are 0 or all are 1, that cannot be known, and the cases of one repetition count.

    Examples
    --------
    >>> share = average_shares([0, 0], [1000, 1000])
    >>> share.value, share.low, round(share.high, 4)
    (0.0, 0.0, 0.0038)
    """
    total, count = sum(totals), sum(counts)
    if not total:
        return Measure(math.nan, 0.0, 1.0)
    share, repetitions = count / total, len(totals)
    effective_total = float(total)
    if count in (0, total):
        effective_total = total / repetitions
    elif repetitions > 1:
        from scipy.stats import t as student

        shares = np.divide(counts, totals, where=np.array(totals) > 0, out=np.full(repetitions, share))
        binomial = share * (1 - share) / total
        quantile = float(student.ppf(0.975, repetitions - 1))
        between = float(shares.var(ddof=1)) / repetitions * (quantile / Z_95) ** 2
        effective_total = total * min(1.0, binomial / between) if between > 0 else effective_total
    return Measure(share, *compute_wilson_interval(share * effective_total, effective_total))
