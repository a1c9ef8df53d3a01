"""The position of a point relative to a line segment."""

from __future__ import annotations

from typing import Any

import numpy as np

LEFT = 0
ON_IT = 1
EXTENSION = 2
RIGHT = 3


def pntlinepos(x1: Any, y1: Any, x2: Any, y2: Any, x3: Any, y3: Any) -> Any:
    """Return the position of (x3, y3), seen from (x1, y1) towards (x2, y2).

    0 is left of the line, 1 on the segment, 2 on its extension, 3 right of the line. The result is exact for integers
    below 2^25.

    Examples
    --------
    >>> pntlinepos(0, 0, 2, 2, np.array([0, 1, 3, 1]), np.array([1, 1, 3, 0])).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    x1, y1, x2, y2, x3, y3 = (np.asarray(coordinate, dtype=float) for coordinate in (x1, y1, x2, y2, x3, y3))
    with np.errstate(all="ignore"):
        turn = (x2 - x1) * (y3 - y1) - (x3 - x1) * (y2 - y1)
        within = between(x1, x2, x3) & between(y1, y2, y3)
        on_line = np.where(within, ON_IT, EXTENSION)
        aside = np.where(turn > 0.0, LEFT, on_line)
        aside = np.where(turn < 0.0, RIGHT, aside)
        return aside.astype(float)


def between(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Any:
    """Return whether c lies between a and b."""
    low = np.where(a < b, a, b)
    high = np.where(a < b, b, a)
    return (c >= low) & (c <= high)
