"""Uniform random draws from a space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import SpaceError
from .constraints import FeatureSpace
from .features import Codes
from .text_feature import Text

MAX_ROWS_PER_DRAW = 1_000_000
MIN_VALID_SHARE = 1e-5  # drawing is given up if a smaller share of the points satisfies the constraints
MISSING_SHARE = 0.1  # of the values of a nullable feature
#: draws a number of rows, whether or not they satisfy the constraints
ColumnDrawer = Callable[[int, np.random.Generator], Codes]


def draw(space: FeatureSpace, n: int, rng: np.random.Generator, draw_columns: ColumnDrawer | None = None) -> Codes:
    """Return the codes of `n` rows that satisfy the constraints, uniform unless `draw_columns` draws the features."""
    for feature in space.features:
        if isinstance(feature, Text) and not feature.examples:
            raise SpaceError(
                f"Feature {feature.name!r} has no examples, so no texts can be drawn. Declare some: "
                f'Text({feature.name!r}, examples=["...", "..."]), or start from rows of data.'
            )
        if not (np.isfinite(feature.low) and np.isfinite(feature.high)):
            side = "lower" if np.isinf(feature.low) else "upper"
            raise SpaceError(
                f"Feature {feature.name!r} has no {side} bound, so it cannot be sampled uniformly. "
                "Give it bounds, or start from rows of data."
            )
    codes = _draw_unconstrained(space, n, rng, draw_columns)
    if not space.keeps_constraints:
        return codes
    valid, draw_count = codes[space.satisfied(codes)], n
    while len(valid) < n:
        if draw_count > 1 / MIN_VALID_SHARE and len(valid) < MIN_VALID_SHARE * draw_count:
            raise SpaceError(
                f"Of {draw_count:,} points drawn, only {len(valid):,} satisfy the constraints: too few to continue. "
                + (
                    "Start from rows of data instead."
                    if draw_columns is None
                    else "Give closer limits, or other constraints."
                )
            )
        expected = (n - len(valid)) * draw_count / max(len(valid), 1)
        batch_size = min(int(1.1 * expected) + 100, MAX_ROWS_PER_DRAW)
        new_codes = _draw_unconstrained(space, batch_size, rng, draw_columns)
        valid = np.concatenate([valid, new_codes[space.satisfied(new_codes)]])
        draw_count += batch_size
    return np.asfortranarray(valid[:n])


def _draw_unconstrained(
    space: FeatureSpace, n: int, rng: np.random.Generator, draw_columns: ColumnDrawer | None
) -> Codes:
    codes = _draw_uniform(space, n, rng) if draw_columns is None else draw_columns(n, rng)
    if space.keeps_constraints:
        for constraint in space.constraints:
            constraint.settle(space, codes, rng)
    return codes


def _draw_uniform(space: FeatureSpace, n: int, rng: np.random.Generator) -> Codes:
    codes = np.empty((n, len(space.features)), order="F")
    for j, feature in enumerate(space.features):
        if isinstance(feature, Text):
            codes[:, j] = feature.encode_texts(feature.examples)[rng.integers(len(feature.examples), size=n)]
        elif feature.kind == "continuous":
            codes[:, j] = rng.uniform(feature.low, feature.high, n)
        else:
            codes[:, j] = rng.integers(int(feature.low), int(feature.high), n, endpoint=True)
        if feature.nullable:
            codes[rng.random(n) < MISSING_SHARE, j] = np.nan
    return codes
