"""The area of a triangle with given sides, by Heron's or Kahan's formula."""

from __future__ import annotations

from typing import Any

import numpy as np

NEEDLE = 0.05


def trisquare(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    """Return the area of triangles with sides x, y and z (relative error 1e-12).

    Three numbers that are not the sides of a triangle have the area 0. This applies to half of all numbers drawn
    between the same limits.

    Examples
    --------
    >>> trisquare(np.array([3.0, 1.0, 1.0]), np.array([4.0, 1.0, 1.0]), np.array([5.0, 1.99999, 3.0])).round(6).tolist()
    [6.0, 0.003162, 0.0]
    """
    x, y, z = np.broadcast_arrays(*(np.asarray(side, dtype=float) for side in (x, y, z)))
    with np.errstate(all="ignore"):
        positive = (x > 0.0) & (y > 0.0) & (z > 0.0)
        closes = (x + y > z) & (y + z > x) & (x + z > y)
        excess = np.minimum(np.minimum(x + y - z, y + z - x), x + z - y)
        longest = np.maximum(np.maximum(x, y), z)
        area = np.where(excess < NEEDLE * longest, needle(x, y, z), heron(x, y, z))
        return np.where(positive & closes, area, 0.0)


def heron(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    """Return the area by Heron's formula."""
    s = (x + y + z) / 2.0
    return np.sqrt(np.abs(s * (s - x) * (s - y) * (s - z)))


def needle(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    """Return the area by Kahan's formula, which is accurate for thin triangles."""
    a = np.maximum(np.maximum(x, y), z)
    c = np.minimum(np.minimum(x, y), z)
    b = np.maximum(np.minimum(x, y), np.minimum(np.maximum(x, y), z))
    product = (a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c))
    return np.sqrt(np.abs(product)) / 4.0
