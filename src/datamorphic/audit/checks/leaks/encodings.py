"""Columns that were computed from the labels of these rows: mean labels of categories, later labels, running means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Groups = npt.NDArray[np.intp]

MIN_VALUES = 8  # of an encoded column: a few values agree with mean labels by chance
MIN_GROUPS = 8
MIN_ROWS_PER_GROUP = 2  # a group of one row has a mean of 0 or 1, which many columns have
MIN_EXACT_SHARE = 0.98  # of the rows
MIN_MIXED_SHARE = 0.3  # of the rows are in groups whose labels differ: elsewhere a mean is just the label
MAX_GROUPS_PER_ROW = 0.5
MAX_VALUES_PER_GROUP = 2.2  # one, or two if the label of the row itself is left out
#: Columns are rounded when they are written. The error of rounding is this part of the last of six digits at most.
RELATIVE_ROUNDING = 2e-6
MIN_ROWS_FOR_CLOSENESS = 5  # per group
MIN_GROUPS_FOR_CLOSENESS = 12
MAX_CLOSENESS_Z = -4.0  # standard errors: means of other rows are never so close to those of these rows
WINDOWS = range(2, 31)  # rows of a running mean
MIN_ORDERED_ROWS = 100
MIN_RARE_ROWS = 20  # whose label is not the most frequent one


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """A column that was computed from the labels."""

    column: str
    group: str  # the column of the groups whose labels were averaged; empty if they are the values of the column itself
    kind: str  # "means", "smoothed means", "means of the other rows", "close means"
    groups: int
    agreeing: int  # rows in which the column agrees
    rows: int
    by: str = ""  # what the label is: a class, or empty for numbers


def find_encoding(
    values: Floats, labels: Floats, groupings: Sequence[tuple[str, Groups]], column: str, by: str
) -> Encoding | None:
    """Return how a column was computed from the labels of these rows, by the groups of other columns; None if it was not.

    Labels are numbers, or 1 for rows of a class and 0 for others. A column that was computed from the labels of other
    rows, as it should be, misses the means of these rows by what chance makes of them.
    """
    known = np.isfinite(values)
    if known.sum() < MIN_ORDERED_ROWS or not known.all():
        values, labels = values[known], labels[known]
        groupings = [(name, groups[known]) for name, groups in groupings]
    if len(values) < 2 * MIN_VALUES or labels.std() == 0:
        return None
    distinct, own_groups = np.unique(values, return_inverse=True)
    own_groups = own_groups.reshape(-1)
    if len(distinct) < MIN_VALUES or values.min() < labels.min() - 1e-9 or values.max() > labels.max() + 1e-9:
        return None
    own_counts = np.bincount(own_groups)[own_groups]
    if len(distinct) <= MAX_GROUPS_PER_ROW * len(values):
        encoding = _compare_with_means(values, labels, own_groups, own_counts, column, "", by)
        if encoding is not None:
            return encoding
    for name, groups in groupings:
        counts = np.bincount(groups)[groups]
        group_count = len(np.unique(groups))
        if (
            group_count < MIN_GROUPS
            or len(np.unique(groups * len(distinct) + own_groups)) > MAX_VALUES_PER_GROUP * group_count
        ):
            continue
        encoding = _compare_with_means(values, labels, groups, counts, column, name, by)
        if encoding is not None:
            return encoding
    return None


def _compare_with_means(
    values: Floats,
    labels: Floats,
    groups: Groups,
    counts: npt.NDArray[np.integer[Any]],
    column: str,
    group: str,
    by: str,
) -> Encoding | None:
    sums = np.bincount(groups, weights=labels).astype(np.float64)[groups]
    means = sums / counts
    variances = np.maximum(0.0, np.bincount(groups, weights=labels**2)[groups] / counts - means**2)
    usable = counts >= MIN_ROWS_PER_GROUP
    mixed = usable & (variances > 0)
    group_count = len(np.unique(groups[usable]))
    if group_count < MIN_GROUPS or mixed.sum() < max(2 * MIN_VALUES, MIN_MIXED_SHARE * len(values)):
        return None
    if len(np.unique(np.round(means[mixed], 9))) < MIN_VALUES:
        return None
    rounding = max(_find_rounding(values), RELATIVE_ROUNDING * float(np.abs(values).max()))
    candidates = [("means", means)]
    if group:  # computed from these groups, though not as plain means
        candidates.append(("means of the other rows", (sums - labels) / np.maximum(counts - 1, 1)))
        candidates += [("smoothed means", smoothed) for smoothed in _smooth(values, sums, counts, variances)]
    for kind, predicted in candidates:
        agreeing = np.abs(values - predicted) <= rounding
        least = MIN_EXACT_SHARE * mixed.sum()
        if agreeing[mixed].sum() >= least and len(np.unique(np.round(predicted[mixed & agreeing], 6))) >= MIN_VALUES:
            return Encoding(
                column=column,
                group=group,
                kind=kind,
                groups=group_count,
                agreeing=int(agreeing[usable].sum()),
                rows=int(usable.sum()),
                by=by,
            )
    return _measure_closeness(values, labels, groups, counts, means, variances, column, group, by)


def _smooth(values: Floats, sums: Floats, counts: npt.NDArray[np.integer[Any]], variances: Floats) -> list[Floats]:
    """Return the means drawn towards a common one in the two usual ways, with the parameters that fit the column best.

    With a weight of m rows, a value v is (sum + m p) / (n + m), so that v n - sum = m p - m v. With a weight that depends on the
    variance s of the group, as in scikit-learn, v n - sum = (p - v) s t. Both are linear in their two parameters.
    """
    results = []
    for weights in (np.ones_like(values), variances):
        left = values * counts - sums
        matrix = np.column_stack([weights, -weights * values])
        (offset, weight), *_ = np.linalg.lstsq(matrix, left, rcond=None)
        if weight > 0:
            results.append((sums + offset * weights) / (counts + weight * weights))
    return results


def _measure_closeness(
    values: Floats,
    labels: Floats,
    groups: Groups,
    counts: npt.NDArray[np.integer[Any]],
    means: Floats,
    variances: Floats,
    column: str,
    group: str,
    by: str,
) -> Encoding | None:
    """Return an encoding whose means are closer to the labels than chance allows.

    Means that were computed without these rows would be farther from their labels.
    """
    firsts = np.unique(groups, return_index=True)[1]
    if group:  # otherwise, all rows with one value are a group
        lows, highs = np.full(groups.max() + 1, np.inf), np.full(groups.max() + 1, -np.inf)
        np.minimum.at(lows, groups, values)
        np.maximum.at(highs, groups, values)
        if not (highs[groups[firsts]] - lows[groups[firsts]] <= 1e-12).all():
            return None
    chosen = firsts[(counts[firsts] >= MIN_ROWS_FOR_CLOSENESS)]
    if not set(np.unique(labels).tolist()) <= {0.0, 1.0}:
        return None
    expected, size = values[chosen], counts[chosen].astype(np.float64)
    inner = (expected > 0.05) & (expected < 0.95)
    chosen, expected, size = chosen[inner], expected[inner], size[inner]
    if len(chosen) < MIN_GROUPS_FOR_CLOSENESS or (variances[chosen] > 0).mean() < 0.8:
        return None
    variance = expected * (1 - expected)
    statistics = size * (means[chosen] - expected) ** 2 / variance  # about 1 on average, for means of other rows more
    spreads = 2 + (1 - 6 * variance) / (size * variance)  # the variance of each of them
    z = float((statistics - 1).sum() / np.sqrt(np.maximum(spreads, 0.1).sum()))
    if z > MAX_CLOSENESS_Z:
        return None
    return Encoding(
        column=column,
        group=group,
        kind="close means",
        groups=len(chosen),
        agreeing=int(size.sum()),
        rows=int(size.sum()),
        by=by,
    )


def _find_rounding(values: Floats) -> float:
    """Return half a unit of the last digit that the values have, if they are rounded to at least three digits."""
    sample = values[:200]
    for digits in (3, 4, 5, 6):
        if np.allclose(sample, np.round(sample, digits), rtol=0, atol=1e-12):
            return 0.5 * 10.0**-digits * 1.01
    return 0.0


@dataclass(frozen=True, kw_only=True)
class Sequel:
    """A column that holds later labels of rows in the order of the data."""

    column: str
    kind: str  # "next" label, or "mean" of the last rows with the label of the row itself
    window: int
    rows: int


def find_sequel(values: Floats, labels: Floats, column: str) -> Sequel | None:
    """Return which later labels a column holds, for rows in the order of time; None if it holds none."""
    if len(values) < MIN_ORDERED_ROWS or labels.std() == 0 or values.shape != labels.shape:
        return None
    scale = max(float(np.abs(labels).max()), 1e-300)
    if _agree(values[:-1], labels[1:], scale) and not _agree(values[1:], labels[:-1], scale):
        return Sequel(column=column, kind="next", window=1, rows=len(values) - 1)
    if values.min(initial=np.inf) < labels.min() - 1e-9 or values.max(initial=-np.inf) > labels.max() + 1e-9:
        return None  # no mean of labels
    steps = np.diff(values)
    for window in WINDOWS:
        if len(values) <= 2 * window + MIN_VALUES:
            break
        expected = (labels[window:] - labels[:-window]) / window
        if _agree(steps[window - 1 :], expected, scale / window):
            return Sequel(column=column, kind="mean", window=window, rows=len(expected))
    return None


def _agree(first: Floats, second: Floats, scale: float) -> bool:
    """Tell whether numbers agree, also where the second ones are not the most frequent value."""
    start = slice(0, 2 * MIN_ORDERED_ROWS)  # most columns end here
    with np.errstate(invalid="ignore"):
        misses = np.abs(first[start] - second[start]) > 1e-6 * scale
    if misses.mean() > 5 * (1 - MIN_EXACT_SHARE):
        return False
    known = np.isfinite(first) & np.isfinite(second)
    first, second = first[known], second[known]
    if len(second) < MIN_ORDERED_ROWS / 2:
        return False
    values, counts = np.unique(second, return_counts=True)
    rare = second != values[counts.argmax()]
    close = np.abs(first - second) <= 1e-6 * scale
    return bool(rare.sum() >= MIN_RARE_ROWS and min(close.mean(), close[rare].mean()) >= MIN_EXACT_SHARE)
