"""Statistical tests of test sets that trees choose, as in section 5.3 of Silveira et al. (2025)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._lazy import pd
from .tree_trials import CRITERIA, SCORES, TEST_METHODS

MIN_PAIRED_SETS = 6  # with five pairs the two-sided test of Wilcoxon never falls below 5%
MIN_NORMALITY_VALUES = 3
#: the pairs of test sets that are compared, and the test: against cross-validation, and the criteria among each other
COMPARED = (
    *((way, "CV", "Wilcoxon") for way in CRITERIA),
    ("DTC", "DTMT", "paired t"),
    ("BVA", "DTMT", "paired t"),
    ("BVA", "DTC", "Wilcoxon"),
)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Scores such as "DTC recall": one value per data set, and one per fold of all data sets."""

    by_file: dict[str, list[float]]
    by_fold: dict[str, list[float]]


def compare_test_sets(scores: Scores) -> tuple[str, pd.DataFrame, pd.DataFrame]:
    """Return what was paired ("data sets" or "folds"), the comparisons of test sets, and the tests of normality."""
    sizes = {len(values) for values in scores.by_file.values()}
    pairing = "data sets" if min(sizes) >= MIN_PAIRED_SETS else "folds"
    values = scores.by_file if pairing == "data sets" else scores.by_fold
    comparisons = []
    for score in SCORES:
        for first, second, test in COMPARED:
            a, b = values[f"{first} {score}"], values[f"{second} {score}"]
            statistic, p = compare_pairs(a, b, test)
            comparisons.append(
                {
                    "score": score,
                    "tests": first,
                    "against": second,
                    "difference": float(np.mean(np.subtract(a, b))) if a and len(a) == len(b) else math.nan,
                    "test": test,
                    "statistic": statistic,
                    "p": p,
                    "pairs": len(a),
                }
            )
    normality = [
        {"score": score, "tests": way, "W": statistic, "p": p}
        for way in TEST_METHODS
        for score in SCORES
        for statistic, p in [measure_normality(values[f"{way} {score}"])]
    ]
    return pairing, pd.DataFrame(comparisons), pd.DataFrame(normality)


def compare_pairs(first: Sequence[float], second: Sequence[float], test: str) -> tuple[float, float]:
    """Return the statistic and the two-sided p-value of a test of pairs; NaN if there are too few, or all equal.

    Examples
    --------
    >>> compare_pairs([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12], "Wilcoxon")
    (0.0, 0.03125)
    >>> compare_pairs([1, 2], [1, 2], "Wilcoxon")
    (nan, nan)
    """
    from scipy import stats

    if len(first) != len(second):  # a part was not measured
        return math.nan, math.nan
    differences = np.round(np.subtract(first, second), 12)  # equal scores may differ in the last digit
    if len(differences) < 2 or not differences.any() or (test == "paired t" and np.ptp(differences) == 0):
        return math.nan, math.nan
    outcome: Any = stats.wilcoxon(differences) if test == "Wilcoxon" else stats.ttest_1samp(differences, 0.0)
    return float(outcome.statistic), float(outcome.pvalue)


def measure_normality(values: Sequence[float]) -> tuple[float, float]:
    """Return W and p of the test of Shapiro and Wilk; NaN for fewer than three values, or equal ones."""
    from scipy import stats

    if len(values) < MIN_NORMALITY_VALUES or np.ptp(values) < 1e-12:
        return math.nan, math.nan
    outcome = stats.shapiro(values)
    return float(outcome.statistic), float(outcome.pvalue)
