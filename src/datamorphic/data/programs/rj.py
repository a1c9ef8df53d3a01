"""Carlson's elliptic integral of the third kind, by duplication."""

from __future__ import annotations

from typing import Any

import numpy as np

ALIKE = 0.01


def rj(x: np.ndarray, y: np.ndarray, z: np.ndarray, p: np.ndarray) -> Any:
    """Return R_J(x, y, z, p) for x, y, z >= 0, at most one of them 0, and p > 0.

    Examples
    --------
    >>> rj(np.array([1.0, 2.0]), np.array([1.0, 3.0]), np.array([1.0, 4.0]), np.array([1.0, 5.0])).round(6).tolist()
    [1.0, 0.142976]
    """
    arrays = np.broadcast_arrays(*(np.asarray(number, dtype=float) for number in (x, y, z, p)))
    x, y, z, p = (array.copy() for array in arrays)
    with np.errstate(all="ignore"):
        total = np.zeros_like(x)
        share = np.ones_like(x)
        for _step in range(40):
            rough = spread(x, y, z, p) > ALIKE
            if not rough.any():
                break
            rx, ry, rz, rp = np.sqrt(x), np.sqrt(y), np.sqrt(z), np.sqrt(p)
            product = (rp + rx) * (rp + ry) * (rp + rz)
            delta = (p - x) * (p - y) * (p - z)
            total = np.where(rough, total + 6.0 * share / product * ratio(delta / product**2.0), total)
            lift = rx * ry + ry * rz + rz * rx
            x = np.where(rough, (x + lift) / 4.0, x)
            y = np.where(rough, (y + lift) / 4.0, y)
            z = np.where(rough, (z + lift) / 4.0, z)
            p = np.where(rough, (p + lift) / 4.0, p)
            share = np.where(rough, share / 4.0, share)
        return total + share * alike(x, y, z, p)


def spread(x: np.ndarray, y: np.ndarray, z: np.ndarray, p: np.ndarray) -> Any:
    """Return the range of four numbers, relative to their mean."""
    low = np.minimum(np.minimum(x, y), np.minimum(z, p))
    high = np.maximum(np.maximum(x, y), np.maximum(z, p))
    return 5.0 * (high - low) / (x + y + z + 2.0 * p)


def ratio(e: np.ndarray) -> Any:
    """Return R_C(1, 1 + e): an arc tangent, or hyperbolic, over its argument."""
    root = np.sqrt(np.abs(e))
    bent = np.where(e > 0.0, np.arctan(root) / root, np.arctanh(root) / root)
    return np.where(root < 0.002, 1.0 - e / 3.0 + e * e / 5.0, bent)


def alike(x: np.ndarray, y: np.ndarray, z: np.ndarray, p: np.ndarray) -> Any:
    """Return the integral of nearly equal numbers, by a series around their mean."""
    mean = (x + y + z + 2.0 * p) / 5.0
    dx, dy, dz = 1.0 - x / mean, 1.0 - y / mean, 1.0 - z / mean
    dp = -(dx + dy + dz) / 2.0
    e2 = dx * dy + dy * dz + dz * dx - 3.0 * dp * dp
    e3 = dx * dy * dz + 2.0 * e2 * dp + 4.0 * dp**3.0
    e4 = (2.0 * dx * dy * dz + e2 * dp + 3.0 * dp**3.0) * dp
    e5 = dx * dy * dz * dp * dp
    low = 1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0
    high = -3.0 * e4 / 22.0 - 9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0
    return (low + high) / (mean * np.sqrt(mean))
