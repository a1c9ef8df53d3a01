"""The mean label and the mean answer along a feature, in bins."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._stats import Z_95
from ...._text import format_short
from ....space.features import Categorical
from ....space.points import Points
from ....space.text_feature import Text

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.intp]

MAX_NUMBER_BINS = 10
MAX_CATEGORY_BINS = 15  # the most frequent ones; the others are one bin
MIN_BIN_ROWS = 10
MISSING = "missing"
OTHERS = "others"


@dataclass(frozen=True, eq=False, kw_only=True)
class Bins:
    """The rows of each bin of a feature; the last bins may be other categories and missing values."""

    feature: str
    column: int
    is_number: bool
    names: tuple[str, ...]
    places: Floats  # the median of each bin of a number; NaN for missing values and categories
    bin_of_row: Integers  # -1 for rows in no bin


@dataclass(frozen=True, eq=False, kw_only=True)
class Means:
    """The mean of some values in each bin, with the half width of its 95% interval."""

    counts: Integers
    values: Floats
    margins: Floats

    @property
    def total(self) -> float:
        """The mean of all rows."""
        return float(np.average(self.values, weights=self.counts))

    def measure_spread(self) -> float:
        """Return the standard deviation of the means between the bins, without what chance alone gives."""
        deviations = (self.values - self.total) ** 2 - (self.margins / Z_95) ** 2
        return math.sqrt(max(0.0, float(np.average(deviations, weights=self.counts))))


def build_bins(points: Points, column: int) -> Bins | None:
    """Return bins of about equally many rows, or one per category; None if there are fewer than two, or for texts."""
    feature = points.space.features[column]
    if isinstance(feature, Text):
        return None
    codes = points.codes[:, column]
    missing = np.isnan(codes)
    bin_of_row = np.full(len(codes), -1, dtype=np.intp)
    names: list[str] = []
    places: list[float] = []
    levels, counts = np.unique(codes[~missing], return_counts=True)
    is_number = not isinstance(feature, Categorical)
    if isinstance(feature, Categorical):
        order = np.argsort(-counts, kind="stable")
        frequent = np.sort(levels[order][:MAX_CATEGORY_BINS][counts[order][:MAX_CATEGORY_BINS] >= MIN_BIN_ROWS])
        bins = np.searchsorted(frequent, codes[~missing]) if len(frequent) else np.zeros(0, dtype=np.intp)
        known = np.zeros(len(codes), dtype=bool)
        known[~missing] = np.isin(codes[~missing], frequent)
        bin_of_row[known] = bins[known[~missing]] if len(frequent) else -1
        names = [format_short(feature.values[int(code)]) for code in frequent]
        others = ~known & ~missing
        if others.sum() >= MIN_BIN_ROWS:
            bin_of_row[others] = len(names)
            names.append(OTHERS)
        places = [math.nan] * len(names)
    elif len(levels):
        edges = levels[1:]
        if len(levels) > MAX_NUMBER_BINS or counts.min() < MIN_BIN_ROWS:
            count = max(1, min(MAX_NUMBER_BINS, int((~missing).sum()) // (2 * MIN_BIN_ROWS)))
            edges = np.unique(np.quantile(codes[~missing], np.linspace(0, 1, count + 1)[1:-1], method="higher"))
            edges = edges[edges > levels[0]]
        bin_of_row[~missing] = np.searchsorted(edges, codes[~missing], side="right")
        for number in range(len(edges) + 1):
            own = codes[bin_of_row == number]
            low, high = float(own.min()), float(own.max())
            names.append(format_short(low) if low == high else f"{format_short(low)} to {format_short(high)}")
            places.append(float(np.median(own)))
    if missing.sum() >= MIN_BIN_ROWS:
        bin_of_row[missing] = len(names)
        names.append(MISSING)
        places.append(math.nan)
    if len(names) < 2:
        return None
    return Bins(
        feature=feature.name,
        column=column,
        is_number=is_number,
        names=tuple(names),
        places=np.array(places),
        bin_of_row=bin_of_row,
    )


def average(bins: Bins, values: Floats, rows: Mask | None = None) -> Means:
    """Return the mean of values in each bin; in some rows only, empty bins have a mean of 0 without rows."""
    inside = bins.bin_of_row >= 0
    if rows is not None:
        inside &= rows
    where, values = bins.bin_of_row[inside], values[inside]
    counts = np.bincount(where, minlength=len(bins.names))
    sizes = np.maximum(counts, 1)
    means = np.bincount(where, weights=values, minlength=len(bins.names)) / sizes
    squares = np.bincount(where, weights=(values - means[where]) ** 2, minlength=len(bins.names))
    # few rows say little about their spread: they borrow from that of all rows
    overall = float(values.var()) if len(values) else 0.0
    variances = (squares + 2 * overall) / (sizes + 1)
    return Means(counts=counts, values=means, margins=Z_95 * np.sqrt(variances / sizes))


def compute_dependence_p_value(bins: Bins, values: Floats, rows: Mask) -> float:
    """Return the p-value of values whose mean is the same in all bins."""
    from scipy.stats import chi2

    inside = rows & (bins.bin_of_row >= 0)
    own = values[inside]
    if len(own) < 2 * MIN_BIN_ROWS or own.std() == 0:
        return 1.0
    means = average(bins, values, rows)
    used = means.counts > 0
    statistic = float((means.counts * (means.values - own.mean()) ** 2)[used].sum() / own.var())
    return float(chi2.sf(statistic, max(1, int(used.sum()) - 1)))
