"""Columns of which a part of the rows is in another unit than in the reference: their values are a mixture of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._lazy import pd
from ...._text import format_percent
from ....core.result import Finding
from ...context import CheckContext
from ..drift.columns import MIN_DISTANCE, compare_numbers
from .profile import Mask, TableProfile
from .report import build_finding, format_count
from .scales import FACTORS

Numbers = npt.NDArray[np.float64]

MIN_ROWS = 100  # of the data and of the reference
MIN_DISTINCT_VALUES = 20
MAX_BINS = 80  # of equally many values, in either unit
MIN_VALUES_PER_BIN = 20
MIN_OUTSIDE_SHARE = 0.05  # of the rows beyond the range of the reference: some are worth a look at factors
EM_ROUNDS = 60
MIN_SHARE, MAX_SHARE = 0.02, 0.9  # of the rows in the other unit
#: The distance of Kolmogorov and Smirnov between the data and the mixture, in units of its standard deviation: chance explains it.
MAX_DISTANCE = 1.36
MAX_MEAN_DISTANCE = 0.3  # the same for the distance of Cramér and von Mises
MAX_UNCLEAR_SHARE = 0.25  # of the rows: those that may be in either unit
CLEAR_PROBABILITY = 0.9  # of one of the units


@dataclass(frozen=True, eq=False, kw_only=True)
class UnitMixture:
    """Values of which some are those of the reference times a factor."""

    factor: float
    share: float  # of the values in the other unit
    rows: Mask  # that are clearly, or rather, in the other unit
    distance: float  # of Kolmogorov and Smirnov between the values and the mixture
    mean_distance: float  # that of Cramér and von Mises, which tells similar factors apart
    unclear_share: float


def find_reference_scales(context: CheckContext, table: TableProfile) -> Iterator[Finding]:
    """Yield columns whose values are those of the reference in some rows, and those of the reference in another unit in others."""
    reference = context.reference
    if reference is None:
        return
    for column in table.inputs:
        if not column.is_number or len(column.values) < MIN_DISTINCT_VALUES or column.name not in reference:
            continue
        values = table.clean_numbers(column)
        old = pd.to_numeric(reference[column.name], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
        known, old = np.isfinite(values), old[np.isfinite(old)]
        mixture = search_unit_mixture(old, values[known])
        if mixture is None:
            continue
        rows = np.zeros(len(table), dtype=bool)
        rows[np.flatnonzero(known)[mixture.rows]] = True
        factor = max(mixture.factor, 1 / mixture.factor)
        verb = "too large" if mixture.factor > 1 else "too small"
        yield build_finding(
            "scales",
            table,
            [column],
            rows,
            title=f"{column.name} is in two units: {int(rows.sum()):,} rows are about {FACTORS[factor].partition(' (')[0]} times {verb}",
            detail=f"{format_count(int(rows.sum()), len(table))} have values of the reference data times a factor of "
            f"{FACTORS[factor]}, and the others have its values. With {format_percent(mixture.share)} of the rows in the other unit, the "
            "distribution of the column is that of the reference, apart from chance.",
        )


def search_unit_mixture(old: Numbers, new: Numbers) -> UnitMixture | None:
    """Return the factor and the share that make the new values those of the old ones in two units; None if there are none."""
    if min(len(old), len(new)) < MIN_ROWS:
        return None
    outside = float(((new < old.min()) | (new > old.max())).mean())
    if outside < MIN_OUTSIDE_SHARE and compare_numbers(old, new, 1)[1] < MIN_DISTANCE:
        return None
    limit = MAX_DISTANCE * np.sqrt(1 / len(old) + 1 / len(new))
    if measure_distance(new, _move_quartiles(old, new))[0] <= limit:
        return None  # a column that moved, or became wider, is no mixture
    mean_limit = MAX_MEAN_DISTANCE * (1 / len(old) + 1 / len(new))
    mixtures = [fit_unit_mixture(old, new, factor**sign) for factor in FACTORS for sign in (1, -1)]
    fitting = [
        mixture
        for mixture in mixtures
        if mixture.distance <= limit
        and mixture.mean_distance <= mean_limit
        and MIN_SHARE <= mixture.share <= MAX_SHARE
        and mixture.unclear_share <= MAX_UNCLEAR_SHARE
    ]
    return min(fitting, key=lambda mixture: mixture.mean_distance, default=None)


def fit_unit_mixture(old: Numbers, new: Numbers, factor: float) -> UnitMixture:
    """Return the share of new values that fit the old ones times a factor best, by the frequencies of bins (EM)."""
    scaled = old * factor
    bins = min(MAX_BINS, (len(old) + len(new)) // MIN_VALUES_PER_BIN)
    edges = np.unique(np.quantile(np.concatenate([old, scaled]), np.linspace(0, 1, bins + 1)[1:-1]))
    places = [np.searchsorted(edges, values, side="right") for values in (old, scaled, new)]
    counts = [np.bincount(place, minlength=len(edges) + 1) for place in places]
    usual, other = ((count + 0.5) / (count + 0.5).sum() for count in counts[:2])
    actual, share = counts[2] / len(new), 0.5
    for _ in range(EM_ROUNDS):
        probability = share * other / (share * other + (1 - share) * usual)
        share = float(actual @ probability)
    by_row = probability[places[2]]
    distance, mean_distance = measure_distance(new, old, scaled, share)
    return UnitMixture(
        factor=factor,
        share=share,
        rows=by_row > 0.5,
        distance=distance,
        mean_distance=mean_distance,
        unclear_share=float((np.maximum(by_row, 1 - by_row) < CLEAR_PROBABILITY).mean()),
    )


def measure_distance(
    values: Numbers, usual: Numbers, others: Numbers | None = None, share: float = 0.0
) -> tuple[float, float]:
    """Return the largest and the mean squared difference between the shares of values, and of a mixture, below each value."""
    ordered = np.sort(values)
    parts = [(values, 1.0), (usual, share - 1), (usual if others is None else others, -share)]
    difference = sum(
        weight * np.searchsorted(np.sort(part), ordered, side="right") / len(part) for part, weight in parts
    )
    return float(np.abs(difference).max()), float(np.square(difference).mean())


def _move_quartiles(old: Numbers, new: Numbers) -> Numbers:
    """Return values moved and stretched so that their quartiles are those of others."""
    (low, middle, high), (new_low, new_middle, new_high) = (
        np.quantile(values, [0.25, 0.5, 0.75]).tolist() for values in (old, new)
    )
    return new_middle + (old - middle) * (new_high - new_low) / max(high - low, 1e-300)
