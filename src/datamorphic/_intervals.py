"""How sure a share is."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson(count: int, of: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a share.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(0, 100)], [round(end, 3) for end in wilson(5, 10)]
    ([0.0, 0.037], [0.237, 0.763])
    """
    if not of:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = count / of
    centre = share + z * z / (2 * of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low, high = (centre - half) / (1 + z * z / of), (centre + half) / (1 + z * z / of)
    return (0.0 if count == 0 else max(0.0, low)), (1.0 if count == of else min(1.0, high))
