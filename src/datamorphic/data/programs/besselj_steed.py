"""The Bessel function of the first kind and real order, by Steed's method of two continued fractions."""

from __future__ import annotations

from typing import Any

import numpy as np

TINY = 1e-290
SMALL = 2.0


def besselj_steed(x: np.ndarray, y: np.ndarray) -> Any:
    """Return J_y(x) for y >= 0 and x = 0 or x >= 1, with an error below 3e-12 for both up to 101.

    Examples
    --------
    >>> besselj_steed(np.array([0.0, 1.0, 30.0, 50.0]), np.array([0.0, 1.0, 2.5, 50.0])).round(6).tolist()
    [1.0, 0.440051, 0.141203, 0.121409]
    """
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    at_zero = x == 0.0
    z = np.where(at_zero, 1.0, x)
    with np.errstate(all="ignore"):
        steps = np.floor(np.where(z < SMALL, y + 0.5, np.maximum(0.0, y - z + 1.5)))
        order = y - steps
        value, slope = first_fraction(z, y)
        lower, lower_slope = descend(z, y, steps, value, slope)
        size = np.where(z < SMALL, series(z, order), amplitude(z, order, lower_slope / lower) * np.sign(lower))
        answer = value * size / lower
    return np.where(at_zero, np.where(y == 0.0, 1.0, 0.0), answer)


def first_fraction(x: np.ndarray, order: np.ndarray) -> Any:
    """Return the function with its sign and its slope, both as multiples of the same unknown number."""
    ratio = np.maximum(order / x, TINY)
    sign = np.ones_like(x)
    b = 2.0 * order / x
    c = ratio
    d = np.zeros_like(x)
    for _ in range(160):
        b = b + 2.0 / x
        d = 1.0 / avoid_zero(b - d)
        c = avoid_zero(b - 1.0 / c)
        ratio = ratio * c * d
        sign = np.where(d < 0.0, -sign, sign)
    return sign * TINY, sign * TINY * ratio


def avoid_zero(x: np.ndarray) -> Any:
    """Return numbers that can be divided by."""
    return np.where(np.abs(x) < TINY, TINY, x)


def descend(x: np.ndarray, order: np.ndarray, steps: np.ndarray, value: np.ndarray, slope: np.ndarray) -> Any:
    """Return function and slope so many orders lower, by recurrence."""
    factor = order / x
    for step in range(102):
        active = step < steps
        next_value = factor * value + slope
        next_slope = (factor - 1.0 / x) * next_value - value
        value = np.where(active, next_value, value)
        slope = np.where(active, next_slope, slope)
        factor = factor - 1.0 / x
    return value, slope


def amplitude(x: np.ndarray, order: np.ndarray, ratio: np.ndarray) -> Any:
    """Return the size of the function from its logarithmic slope, by the second fraction and the Wronskian."""
    tail = np.zeros_like(x) * 1j
    for k in range(120, 0, -1):
        tail = ((k - 0.5) ** 2.0 - order * order) / (2.0 * (x + k * 1j) + tail)
    whole = 1j * (1.0 + tail / x) - 0.5 / x
    p = whole.real
    q = whole.imag
    return np.sqrt(2.0 / (np.pi * x) / (q + (p - ratio) ** 2.0 / q))


def series(x: np.ndarray, order: np.ndarray) -> Any:
    """Return the ascending series, for small x and orders from -1/2 to 1/2."""
    s = x * x / 4.0
    term = (x / 2.0) ** order / gamma(order + 1.0)
    total = np.zeros_like(x)
    for n in range(1, 16):
        total = total + term
        term = -term * s / (n * (n + order))
    return total


def gamma(x: np.ndarray) -> Any:
    """Return the gamma function, by Stirling's series at x + 8."""
    product = np.ones_like(x)
    for n in range(8):
        product = product * (x + n)
    z = x + 8.0
    s = z * z
    rest = (1.0 - (1.0 - (2.0 / 7.0 - 3.0 / (14.0 * s)) / s) / (30.0 * s)) / (12.0 * z)
    return np.exp((z - 0.5) * np.log(z) - z + rest) * np.sqrt(2.0 * np.pi) / product
