"""Compare two sides of a relation per group: whether it holds, with which margin."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import TestSystemError
from .base import Mask
from .box import Floats

EQUAL, AT_MOST, LESS = "equal", "at_most", "less"


class Comparison(NamedTuple):
    """Which groups keep the relation, with which margin, if that is defined."""

    holds: Mask
    margin: Floats
    defined: Mask


def has_answer(output: npt.ArrayLike, count: int) -> Mask:
    """Return which answers are present: neither NaN nor None in any part."""
    values = np.asarray(output).reshape(count, -1)
    if values.dtype.kind in "fc":
        return np.asarray(~np.isnan(values).any(axis=1))
    if values.dtype.kind != "O":
        return np.ones(count, dtype=bool)
    return np.array([all(part is not None and part == part for part in row) for row in values], dtype=bool)


def compare_labels(outputs: list[Any], count: int) -> Comparison:
    """Compare answers that are not numbers: all must be equal."""
    first = np.asarray(outputs[0]).reshape(count, -1)
    holds, defined = np.ones(count, dtype=bool), has_answer(outputs[0], count)
    for output in outputs[1:]:
        holds &= np.asarray(first == np.asarray(output).reshape(count, -1)).astype(bool).all(axis=1)
        defined &= has_answer(output, count)
    return Comparison(holds, np.full(count, np.nan), defined)


def compare_numbers(
    sides: tuple[Any, Any], operator: str, tolerance: float, relative: bool, count: int, name: str
) -> Comparison:
    """Compare two numeric sides."""
    a, b = (_to_numbers(side, count, name, operator) for side in sides)
    difference = a - b
    defined = np.asarray(~np.isnan(difference).any(axis=1))
    if operator == LESS:
        margin = np.where(difference < 0, -difference, np.minimum(-difference, -np.finfo(float).tiny))
        return Comparison((margin >= 0).all(axis=1), margin.min(axis=1), defined)
    magnitude = np.maximum(np.abs(a), np.abs(b)) if relative else np.ones(difference.shape)
    # no tolerance for infinite numbers
    allowance = np.where(np.isfinite(magnitude), tolerance * np.where(np.isfinite(magnitude), magnitude, 0.0), 0.0)
    if operator == AT_MOST:
        margin = allowance - difference
    else:
        gap = np.abs(difference)
        margin = np.where(allowance > 0, (allowance - gap) / np.maximum(allowance, 1e-300), -gap)
    return Comparison((margin >= 0).all(axis=1), margin.min(axis=1), defined)


def _to_numbers(values: npt.ArrayLike, count: int, name: str, operator: str) -> Any:
    side = np.asarray(values)
    try:
        if side.dtype.kind == "c" and operator != EQUAL:
            raise TypeError  # complex numbers have no order
        side = side if side.dtype.kind == "c" else side.astype(float)
    except (TypeError, ValueError):
        raise TestSystemError(
            f"A side of the relation {name!r} cannot be compared as a number: {side.dtype}. Compare such answers with "
            "expects."
        ) from None
    if side.ndim == 0:
        side = np.full(count, side.item())
    if len(side) != count:
        raise TestSystemError(
            f"A side of the relation {name!r} must have one number for each of {count:,} groups. "
            f"Got an array of shape {np.asarray(values).shape}."
        )
    return side.reshape(count, -1)
