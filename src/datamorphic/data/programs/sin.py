"""The sine, by reduction to quarter turns and a series."""

from __future__ import annotations

from typing import Any

import numpy as np

# a quarter turn in two parts; the first has so few digits that its multiples are exact
QUARTER = 1.5707963267341256
QUARTER_REST = 6.077100506506192e-11
SMALL = 0.1
TINY = 0.01
FAR = 940.0


def sin(x: np.ndarray) -> Any:
    """Return the sine of angles, with an error below 3e-11 between -5,000 and 5,000.

    Examples
    --------
    >>> sin(np.array([0.0, np.pi / 6, 1000.0])).round(6).tolist()
    [0.0, 0.5, 0.82688]
    """
    x = np.asarray(x, dtype=float)
    with np.errstate(all="ignore"):
        angle = np.where(np.abs(x) > FAR, without_whole_turns(x), x)
        quarters = np.rint(angle / (QUARTER + QUARTER_REST))
        remainder = (angle - quarters * QUARTER) - quarters * QUARTER_REST
        place = np.mod(quarters, 4.0)
        answer = np.where(place == 0.0, near_zero(remainder), cosine(remainder))
        answer = np.where(place == 2.0, -near_zero(remainder), answer)
        answer = np.where(place == 3.0, -cosine(remainder), answer)
        return np.where(np.abs(x) < SMALL, small(x), answer)


def without_whole_turns(x: np.ndarray) -> Any:
    """Return angles without their whole turns."""
    turns = np.floor(np.abs(x) / (4.0 * (QUARTER + QUARTER_REST)))
    rest = (np.abs(x) - 4.0 * turns * QUARTER) - 4.0 * turns * QUARTER_REST
    return np.where(x < 0.0, -rest, rest)


def small(x: np.ndarray) -> Any:
    """Return the sine of a small angle, by three terms without reduction."""
    s = x * x
    return x * (1.0 - s / 6.0 + s * s / 120.0)


def near_zero(x: np.ndarray) -> Any:
    """Return the sine of at most an eighth of a turn."""
    return np.where(np.abs(x) < TINY, tiny(x), series(x))


def tiny(x: np.ndarray) -> Any:
    """Return the sine of a tiny angle, by two terms."""
    return x - x * x * x / 6.0


def series(x: np.ndarray) -> Any:
    """Return the sine by its series."""
    s = x * x
    inner = 1.0 - s / 110.0 * (1.0 - s / 156.0 * (1.0 - s / 210.0))
    outer = 1.0 - s / 20.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * inner))
    return x * (1.0 - s / 6.0 * outer)


def cosine(x: np.ndarray) -> Any:
    """Return the cosine by its series."""
    s = x * x
    inner = 1.0 - s / 90.0 * (1.0 - s / 132.0 * (1.0 - s / 182.0))
    outer = 1.0 - s / 12.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * inner))
    return 1.0 - s / 2.0 * outer
