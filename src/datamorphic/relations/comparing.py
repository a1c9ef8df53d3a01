"""Two sides of a promise compared, group by group: kept or not, how much room is left, and whether that is defined."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import TestSystemError
from .base import Mask
from .boxes import Floats

EQUAL, AT_MOST, LESS = "equal", "at_most", "less"


class Compared(NamedTuple):
    """Which groups keep the promise, how far they are from failing, and which can be told at all."""

    kept: Mask
    room: Floats
    defined: Mask


def known(output: Any, count: int) -> Mask:
    """Tell which answers are there: neither NaN nor None, in any of their parts."""
    values = np.asarray(output).reshape(count, -1)
    if values.dtype.kind in "fc":
        return np.asarray(~np.isnan(values).any(axis=1))
    if values.dtype.kind != "O":
        return np.ones(count, dtype=bool)
    return np.array([all(each is not None and each == each for each in row) for row in values], dtype=bool)


def same_labels(outputs: list[Any], count: int) -> Compared:
    """Compare answers that are no numbers: all must be the same."""
    first = np.asarray(outputs[0]).reshape(count, -1)
    kept, defined = np.ones(count, dtype=bool), known(outputs[0], count)
    for other in outputs[1:]:
        kept &= np.asarray(first == np.asarray(other).reshape(count, -1)).astype(bool).all(axis=1)
        defined &= known(other, count)
    return Compared(kept, np.full(count, np.nan), defined)


def compared(
    sides: tuple[Any, Any], how: str, tolerance: float, relative: bool, count: int, name: str
) -> Compared:
    """Compare two sides that are numbers."""
    a, b = (_side(each, count, name, how) for each in sides)
    apart = a - b
    defined = np.asarray(~np.isnan(apart).any(axis=1))
    if how == LESS:
        room = np.where(apart < 0, -apart, np.minimum(-apart, -np.finfo(float).tiny))
        return Compared((room >= 0).all(axis=1), room.min(axis=1), defined)
    greater = np.maximum(np.abs(a), np.abs(b)) if relative else np.ones(apart.shape)
    # nothing is near infinity: no part of it is allowed
    allowed = np.where(np.isfinite(greater), tolerance * np.where(np.isfinite(greater), greater, 0.0), 0.0)
    if how == AT_MOST:
        room = allowed - apart
    else:
        room = np.where(allowed > 0, (allowed - np.abs(apart)) / np.maximum(allowed, 1e-300), -np.abs(apart))
    return Compared((room >= 0).all(axis=1), room.min(axis=1), defined)


def _side(given: Any, count: int, name: str, how: str) -> Any:
    side = np.asarray(given)
    try:
        if side.dtype.kind == "c" and how != EQUAL:
            raise TypeError  # complex numbers can be the same, but none is less
        side = side if side.dtype.kind == "c" else side.astype(float)
    except (TypeError, ValueError):
        raise TestSystemError(
            f"A side of the relation {name!r} is no number that can be compared: {side.dtype}. Compare other answers with "
            "expects."
        ) from None
    if side.ndim == 0:
        side = np.full(count, side.item())
    if len(side) != count:
        raise TestSystemError(
            f"A side of the relation {name!r} must have a number for each of {count:,} groups. "
            f"Got an array of shape {np.asarray(given).shape}."
        )
    return side.reshape(count, -1)
