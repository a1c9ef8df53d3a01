"""Violations counted by the power of ten of their size, as in Tables 15 to 17 of Ying (2024)."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np


def find_decade(size: float) -> int:
    """Return the largest power of ten that is not above a positive size, as its exponent.

    Examples
    --------
    >>> [find_decade(size) for size in (1, 9, 10, 999, 1000, 0.5)]
    [0, 0, 1, 2, 3, -1]
    """
    exponent = math.floor(math.log10(size))
    # the logarithm of a power of ten may be rounded to the wrong side
    if size >= 10.0 ** (exponent + 1):
        return exponent + 1
    return exponent - 1 if size < 10.0**exponent else exponent


def format_decade(exponent: int) -> str:
    """Return a range of sizes as an interval that includes its first end.

    Examples
    --------
    >>> format_decade(0), format_decade(3), format_decade(-2)
    ('[1, 10)', '[1,000, 10,000)', '[0.01, 0.1)')
    """
    low, high = (f"{10**power:,}" if power >= 0 else f"{10.0**power:g}" for power in (exponent, exponent + 1))
    return f"[{low}, {high})"


def count_by_decade(sizes: Iterable[float]) -> dict[str, int]:
    """Return the number of sizes per power of ten, from the smallest to the largest that occurs.

    Sizes that are not positive and finite are not counted.

    Examples
    --------
    >>> count_by_decade([3, 7, 120])
    {'[1, 10)': 2, '[10, 100)': 0, '[100, 1,000)': 1}
    """
    values = np.array(list(sizes), dtype=float)
    values = values[np.isfinite(values) & (values > 0)]
    if not values.size:
        return {}
    exponents = np.array([find_decade(value) for value in values.tolist()])
    ranges = range(int(exponents.min()), int(exponents.max()) + 1)
    return {format_decade(exponent): int((exponents == exponent).sum()) for exponent in ranges}
