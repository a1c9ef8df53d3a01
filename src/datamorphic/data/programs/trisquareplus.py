"""The area of a triangle with given sides, by the kind of the triangle."""

from __future__ import annotations

from typing import Any

import numpy as np

SAME = 1e-12
RIGHT = 1e-12


def trisquareplus(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    """Return the area of triangles with sides x, y and z (relative error 1e-7).

    Three numbers that are not the sides of a triangle have the area 0. This applies to half of all numbers drawn
    between the same limits.

    Examples
    --------
    >>> trisquareplus(np.array([5.0, 3.0, 1.0]), np.array([5.0, 4.0, 1.0]), np.array([6.0, 5.0, 3.0])).tolist()
    [12.0, 6.0, 0.0]
    """
    x, y, z = np.broadcast_arrays(*(np.asarray(side, dtype=float) for side in (x, y, z)))
    with np.errstate(all="ignore"):
        area = scalene(x, y, z)
        area = np.where(is_right(x, y, z), x * y / 2.0, area)
        area = np.where(is_right(y, z, x), y * z / 2.0, area)
        area = np.where(is_right(z, x, y), z * x / 2.0, area)
        area = np.where(np.abs(x - y) < SAME, isosceles(x, z), area)
        area = np.where(np.abs(y - z) < SAME, isosceles(y, x), area)
        area = np.where(np.abs(z - x) < SAME, isosceles(z, y), area)
        area = np.where((np.abs(x - y) < SAME) & (np.abs(y - z) < SAME), equilateral(x), area)
        return np.where(is_triangle(x, y, z), area, 0.0)


def is_triangle(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    """Return whether each side is positive and shorter than the sum of the others."""
    positive = (x > 0.0) & (y > 0.0) & (z > 0.0)
    return positive & (x + y > z) & (y + z > x) & (z + x > y)


def is_right(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
    """Return whether the angle between a and b is a right angle."""
    return np.abs(a * a + b * b - c * c) < RIGHT * c * c


def scalene(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    """Return the area by the cosine of the angle between x and y."""
    cosine = (x * x + y * y - z * z) / (2.0 * x * y)
    return x * y / 2.0 * np.sqrt(np.abs(1.0 - cosine * cosine))


def isosceles(side: np.ndarray, base: np.ndarray) -> Any:
    """Return half the base times the height."""
    return base / 2.0 * np.sqrt(np.abs(side * side - base * base / 4.0))


def equilateral(side: np.ndarray) -> Any:
    """Return the area of an equilateral triangle."""
    return np.sqrt(3.0) / 4.0 * side * side
