"""Confidence intervals."""

from __future__ import annotations

import math
from statistics import NormalDist

Z_95 = NormalDist().inv_cdf(
    0.975
)  # standard deviations on either side of a mean that hold 95% of a normal distribution


def compute_wilson_interval(count: float, total: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion; an effective number of cases need not be whole.

    Examples
    --------
    >>> [round(end, 3) for end in compute_wilson_interval(0, 100)], [round(end, 3) for end in compute_wilson_interval(5, 10)]
    ([0.0, 0.037], [0.237, 0.763])
    """
    if not total:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = count / total
    centre = share + z * z / (2 * total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    low, high = (centre - half) / (1 + z * z / total), (centre + half) / (1 + z * z / total)
    return (0.0 if count == 0 else max(0.0, low)), (1.0 if count == total else min(1.0, high))


def count_cases_to_decide(share: float, limit: float, confidence: float = 0.95) -> int | None:
    """Return the least number of cases whose Wilson interval of a share lies on one side of a limit.

    The interval ends at the limit where the score test of the limit is just significant. None if the share is the limit itself.

    Examples
    --------
    >>> count_cases_to_decide(0, 0.01), count_cases_to_decide(0.005, 0.01), count_cases_to_decide(0.01, 0.01)
    (381, 1522, None)
    """
    if share == limit:
        return None
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    return math.ceil(z * z * limit * (1 - limit) / (share - limit) ** 2)
