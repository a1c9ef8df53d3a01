"""Distance, midpoint, moves and paths on matrices of codes.

The midpoint corrects the published definition (Zhu & Bayley) for discrete features: differences that cannot be halved
(categories, missing values, odd integer gaps) go alternately to the first and the second end, in feature order. Features
that a constraint ties together (a one-hot group, a table of valid combinations) count as one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .constraints import FeatureSpace, find_limits
from .features import Codes, Feature, Mask
from .text_feature import Text

MAX_REPAIR_ROUNDS = 3  # the repair of one constraint may break another one
MAX_MOVES_PER_FEATURE = 10_000  # on one path; midpoints go the rest of the way

Counts = npt.NDArray[np.int64]


def differ(feature: Feature, x: Codes, y: Codes) -> Mask:
    """Return in which rows two columns differ; missing equals missing."""
    if not feature.nullable:
        return x != y
    return (x != y) & ~(np.isnan(x) & np.isnan(y))


def distance(space: FeatureSpace, a: Codes, b: Codes, scaled: bool = False) -> Codes:
    """Return the distance of every row of `a` to the same row of `b`.

    The Euclidean distance over the continuous features, plus the sum of absolute differences of the integers, plus the
    number of categories that differ, plus the number of edits between texts, plus one for every value that is missing on one
    side only.
    """
    rows = len(b) if len(a) == 1 else len(a)
    squares, total = np.zeros(rows), np.zeros(rows)
    for j, feature in enumerate(space.features):
        x, y = a[:, j], b[:, j]
        if feature.kind == "categorical":
            total += differ(feature, x, y)
            continue
        if isinstance(feature, Text):
            total += feature.measure_gaps(x, y) * (feature.scale if scaled else 1.0)
            continue
        gap = np.abs(x - y)
        if scaled:
            gap *= feature.scale
        if feature.nullable:
            total += np.isnan(x) != np.isnan(y)
            gap[np.isnan(gap)] = 0.0  # missing on one side is counted above; missing on both sides is equal
        if feature.kind == "integer":
            total += gap
        else:
            squares += np.square(gap, out=gap)
    return total + np.sqrt(squares, out=squares)


def discrete_distance(space: FeatureSpace, a: Codes, b: Codes) -> Codes:
    """Return the distance without its Euclidean part, a whole number."""
    total = np.zeros(len(b) if len(a) == 1 else len(a))
    for j, feature in enumerate(space.features):
        if feature.kind != "continuous":
            total += _measure_discrete_gap(feature, a[:, j], b[:, j])
        elif feature.nullable:
            total += np.isnan(a[:, j]) != np.isnan(b[:, j])
    return total


def _measure_discrete_gap(feature: Feature, x: Codes, y: Codes) -> Any:
    if isinstance(feature, Text):
        return feature.measure_gaps(x, y)
    if feature.kind != "integer":
        return differ(feature, x, y)
    gap = np.abs(x - y)
    return np.where(np.isnan(gap), differ(feature, x, y), gap)


def unit_distance(space: FeatureSpace, a: Codes, b: Codes) -> Codes:
    """Return the discrete distance, with tied features counted as one."""
    total = discrete_distance(space, a, b)
    for unit in space.units:
        if len(unit) > 1:
            gaps = [_measure_discrete_gap(space.features[j], a[:, j], b[:, j]) for j in unit]
            total += np.any(gaps, axis=0) - np.sum(gaps, axis=0)
    return total


def midpoint(space: FeatureSpace, a: Codes, b: Codes) -> Codes:
    """Return the midpoint of every row of `a` and the same row of `b`.

    It satisfies the constraints. If the midpoint of two valid points is invalid, differences that cannot be halved go to the
    other ends instead. If that is invalid too, the constraints repair it between the two points. If they cannot, the midpoint
    is the first end.
    """
    if len(a) != len(b):
        a, b = np.broadcast_arrays(a, b)
    between = _halve(space, a, b, np.ones(len(a), dtype=bool))
    if space.keeps_constraints:
        bad = np.flatnonzero(~space.satisfied(between) & space.satisfied(a) & space.satisfied(b))
        if bad.size:
            alternative = _halve(space, a[bad], b[bad], np.zeros(bad.size, dtype=bool))
            valid = space.satisfied(alternative)
            between[bad[valid]] = alternative[valid]
            bad = bad[~valid]
        if bad.size:
            repaired = _repair_between(space, between[bad], a[bad], b[bad])
            between[bad] = np.where(space.satisfied(repaired)[:, None], repaired, a[bad])
    return between


def repair(space: FeatureSpace, codes: Codes, origins: Codes) -> Codes:
    """Return changed rows with more features changed, where that makes them satisfy the constraints.

    `origins` are the rows before the change: what was changed stays. Rows that cannot be repaired stay as they are.
    """
    if not space.keeps_constraints:
        return codes
    bad = np.flatnonzero(~space.satisfied(codes))
    if not bad.size:
        return codes
    repaired = np.array(codes, order="F")
    rows, origins = np.array(codes[bad], order="F"), origins[bad]
    changed = (rows != origins) & ~(np.isnan(rows) & np.isnan(origins))
    lows, highs = find_limits(space, rows.shape)
    good = np.zeros(len(rows), dtype=bool)
    for _ in range(MAX_REPAIR_ROUNDS):
        for constraint in space.constraints:
            constraint.repair(space, rows, changed, lows, highs)
        good = space.satisfied(rows)
        if good.all():
            break
    repaired[bad[good]] = rows[good]
    return repaired


def _repair_between(space: FeatureSpace, codes: Codes, a: Codes, b: Codes) -> Codes:
    """Return midpoints that the constraints have repaired, within the box between the two ends."""
    rows, lows, highs = np.array(codes, order="F"), np.fmin(a, b), np.fmax(a, b)
    nothing_changed = np.zeros(rows.shape, dtype=bool)
    for constraint in space.constraints:
        constraint.repair(space, rows, nothing_changed, lows, highs)
    return rows


def _halve(space: FeatureSpace, a: Codes, b: Codes, to_first: Mask) -> Codes:
    """Halve every difference; `to_first`: the next indivisible one goes to `a`."""
    if space.smooth:
        return np.multiply(a + b, 0.5)
    out = np.empty(a.shape, order="F")
    for unit in space.units:
        if len(unit) > 1:
            apart = np.zeros(len(a), dtype=bool)
            for j in unit:
                apart |= differ(space.features[j], a[:, j], b[:, j])
                out[:, j] = np.where(to_first, a[:, j], b[:, j])
            to_first = to_first ^ apart
            continue
        j = unit[0]
        feature, x, y = space.features[j], a[:, j], b[:, j]
        if feature.kind == "categorical":
            out[:, j] = np.where(to_first, x, y)
            to_first = to_first ^ differ(feature, x, y)
            continue
        if isinstance(feature, Text):
            out[:, j], odd_gap = feature.halve(x, y, to_first)
            to_first = to_first ^ odd_gap
            continue
        if feature.kind == "continuous":
            between = (x + y) / 2
            odd: Any = False
        else:
            half = np.trunc((y - x) / 2)
            between = np.where(to_first, x + half, y - half)
            odd = (x + half) != (y - half)
        if feature.nullable:
            one_sided = np.isnan(x) != np.isnan(y)
            between = np.where(one_sided, np.where(to_first, x, y), between)
            odd = np.where(np.isnan(half), one_sided, odd) if feature.kind == "integer" else one_sided
        out[:, j] = between
        if odd is not False:
            to_first = to_first ^ odd
    return out


def move(space: FeatureSpace, codes: Codes, position: int, kind: str) -> Codes:
    """Return the rows after one move (up, down, clear or fill) of one feature.

    A row whose move would break a constraint stays as it is, like a move at the end of a feature's range.
    """
    feature, column = space.features[position], codes[:, position]
    if kind == "clear":
        new_column = np.full(len(codes), np.nan) if feature.nullable else column
    elif kind == "fill":
        new_column = np.where(np.isnan(column), feature.default, column)
    else:
        new_column = feature.moved(column, 1 if kind == "up" else -1, clip=space.moves == "clip")
    new_codes = np.array(codes, order="F")
    new_codes[:, position] = new_column
    if space.keeps_constraints:
        for constraint in space.constraints:
            constraint.mend(space, new_codes, position)
        bad = ~space.satisfied(new_codes) & space.satisfied(codes)
        new_codes[bad] = codes[bad]
    return new_codes


def plan_paths(space: FeatureSpace, a: Codes, b: Codes, delta: float) -> tuple[Codes, Counts, Counts]:
    """Plan a path from every row of `a` to the same row of `b`.

    Returns the ends of the paths, the signed number of moves per feature (+3 for three moves up), and the number of
    midpoints with `b` that follow. If constraints must be satisfied, a path consists of midpoints only.
    """
    current = np.array(a, order="F")
    counts = np.zeros(a.shape, dtype=np.int64)
    if not space.keeps_constraints:
        for j, feature in enumerate(space.features):
            if feature.nullable:
                current[np.isnan(b[:, j]), j] = np.nan
                fill = np.isnan(current[:, j]) & ~np.isnan(b[:, j])
                current[fill, j] = feature.default
            if isinstance(feature, Text):
                continue  # midpoints lead from one text to another
            with np.errstate(over="ignore"):
                # slightly more, since 0.6 / 0.2 is 2.9999999999999996
                steps = np.trunc(np.nan_to_num(b[:, j] - current[:, j]) / feature.step * (1 + 1e-12))
            steps[current[:, j] + feature.step == current[:, j]] = 0  # the step is lost in rounding
            counts[:, j] = np.clip(steps, -MAX_MOVES_PER_FEATURE, MAX_MOVES_PER_FEATURE).astype(np.int64)
            current[:, j] = _repeat_moves(feature, current[:, j], counts[:, j], clip=space.moves == "clip")
    midpoints = np.zeros(len(a), dtype=np.int64)
    under_way = np.ones(len(a), dtype=bool)
    while True:
        far = (distance(space, current, b) > delta) | (discrete_distance(space, current, b) > 0)
        rows = np.flatnonzero(far & under_way)
        if not rows.size:
            return current, counts, midpoints
        # With the target first, the first indivisible difference goes to the target, so that every midpoint is nearer.
        halfway = midpoint(space, b[rows], current[rows])
        moved = distance(space, halfway, current[rows]) > 0
        under_way[rows[~moved]] = False  # no float64 lies between
        current[rows] = halfway
        midpoints[rows[moved]] += 1


def _repeat_moves(feature: Feature, column: Codes, counts: Counts, clip: bool) -> Codes:
    """Move every row step by step, with the rounding of a walk on the path."""
    current = column.copy()
    for move_number in range(int(np.abs(counts).max(initial=0))):
        rows = np.flatnonzero(np.abs(counts) > move_number)
        for direction in (1, -1):
            moving = rows[np.sign(counts[rows]) == direction]
            current[moving] = feature.moved(current[moving], direction, clip)
    return current
