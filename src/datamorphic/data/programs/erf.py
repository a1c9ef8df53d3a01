"""The error function, by two series, a continued fraction and an asymptotic form."""

from __future__ import annotations

from typing import Any

import numpy as np

ROOT_OF_PI = 1.7724538509055160
NEAR = 0.5
MIDDLE = 2.0
TAIL = 6.0
FAR = 27.0


def erf(x: np.ndarray) -> Any:
    """Return the error function, with an error below 1e-15.

    Examples
    --------
    >>> erf(np.array([-1.0, 0.0, 0.3, 2.5, 30.0])).round(6).tolist()
    [-0.842701, 0.0, 0.328627, 0.999593, 1.0]
    """
    x = np.asarray(x, dtype=float)
    size = np.abs(x)
    near = size < NEAR
    tail = (size > TAIL) & (size <= FAR)
    middle = (size > MIDDLE) & (size <= TAIL)
    before = (size >= NEAR) & (size <= MIDDLE)
    answer = np.ones(x.shape)
    with np.errstate(all="ignore"):
        answer[near] = alternating(size[near])
        answer[before] = rising(size[before])
        answer[middle] = 1.0 - fraction(size[middle])
        answer[tail] = 1.0 - leading(size[tail])
        answer[np.isnan(x)] = np.nan
        return np.where(x < 0.0, -answer, answer)


def alternating(x: np.ndarray) -> Any:
    """Return the series with alternating signs, which converges fast near zero."""
    s = x * x
    total = np.zeros_like(x)
    term = 1.0 + total
    for n in range(14):
        total = total + term / (2.0 * n + 1.0)
        term = -term * s / (n + 1.0)
    return 2.0 / ROOT_OF_PI * x * total


def rising(x: np.ndarray) -> Any:
    """Return the series of positive terms, without cancellation."""
    s = x * x
    term = 2.0 / ROOT_OF_PI * x * np.exp(-s)
    total = np.zeros_like(x)
    for n in range(40):
        total = total + term
        term = term * 2.0 * s / (2.0 * n + 3.0)
    return total


def fraction(x: np.ndarray) -> Any:
    """Return the complement to one, by a continued fraction."""
    inner = x
    for n in range(60, 0, -1):
        inner = x + n / 2.0 / inner
    return np.exp(-x * x) / (ROOT_OF_PI * inner)


def leading(x: np.ndarray) -> Any:
    """Return the complement to one for large numbers, by the asymptotic series."""
    size = np.exp(-x * x) / (x * ROOT_OF_PI)
    return size * (1.0 - 0.5 / (x * x))
