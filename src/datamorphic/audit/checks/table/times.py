"""Columns of dates: their order, gaps between them, and dates that occur twice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ....core.result import Finding
from .profile import ColumnProfile, TableProfile
from .report import build_finding, format_count

MIN_DATES = 30
MIN_SORTED_SHARE = 0.9  # of successive rows, in a column that is sorted with exceptions
MIN_REGULAR_SHARE = 0.8  # of the steps between different dates that have the usual size
MIN_GAP_STEPS = 3.0  # usual steps without a date
MIN_DATES_BESIDE_GAP = 10
MIN_GAP_RATIO = 3.0  # times the second widest gap, in dates at any distance
MIN_GAP_WIDTH = 0.05  # of the time from the first to the last date
MAX_CHANCE_OF_GAP = 0.01  # gaps of this size that are expected by chance
MIN_UNIQUE_SHARE = 0.9  # of the dates, in a column in which dates hardly ever repeat
MAX_GAPS_SHOWN = 3


def find_time_defects(table: TableProfile) -> Iterator[Finding]:
    """Yield dates out of order, gaps in regular dates, and dates that repeat although hardly any do."""
    for column in table.inputs:
        days = table.clean_numbers(column)
        known = ~np.isnan(days)
        if column.kind != "date" or known.sum() < MIN_DATES:
            continue
        steps = np.diff(days[known])
        is_sorted = max((steps >= 0).mean(), (steps <= 0).mean()) >= MIN_SORTED_SHARE
        yield from _find_gaps(table, column, days[known])
        if is_sorted:
            yield from _find_disorder(table, column, days)
            yield from _find_repeats(table, column)


def _find_disorder(table: TableProfile, column: ColumnProfile, days: npt.NDArray[np.float64]) -> Iterator[Finding]:
    rows = np.flatnonzero(~np.isnan(days))
    steps = np.diff(days[rows])
    moves = steps[steps != 0]
    if not len(moves):
        return
    direction = 1 if (moves > 0).mean() >= 0.5 else -1
    backward = direction * steps < 0
    if not backward.any() or backward.sum() > (1 - MIN_SORTED_SHARE) * len(moves):
        return
    mask = np.zeros(len(days), dtype=bool)
    mask[rows[1:][backward]] = True
    place = int(rows[1:][backward][0])
    order = "ascending" if direction > 0 else "descending"
    yield build_finding(
        "order",
        table,
        [column],
        mask,
        about=f"order of {column.name}",
        title=f"The rows are sorted by {column.name}, except for {int(mask.sum()):,}",
        detail=f"{column.name} is {order} in nearly all rows, and goes back in {format_count(int(mask.sum()), len(days))}, first "
        f"in row {int(table.rows[place]):,}.",
    )


def _find_gaps(table: TableProfile, column: ColumnProfile, days: npt.NDArray[np.float64]) -> Iterator[Finding]:
    dates = np.unique(days)
    if len(dates) < MIN_DATES:
        return
    steps = np.diff(dates)
    widest_place, width = int(np.argmax(steps)), float(dates[-1] - dates[0])
    other_steps = np.delete(steps, widest_place)
    is_wide = steps[widest_place] > max(MIN_GAP_RATIO * float(other_steps.max()), MIN_GAP_WIDTH * width)
    if is_wide and min(widest_place, len(steps) - 1 - widest_place) >= MIN_DATES_BESIDE_GAP:
        text = f"{_format_day(dates[widest_place])} to {_format_day(dates[widest_place + 1])}"
        yield build_finding(
            "gaps",
            table,
            [column],
            about=f"gaps of {column.name}",
            title=f"{column.name} has a gap: {text}",
            detail=f"There is no row from {text}: {_format_duration(float(steps[widest_place]))}. Elsewhere, the longest "
            f"gap is {_format_duration(float(other_steps.max()))}.",
        )
        return
    usual = float(np.median(steps))
    # months have 28 to 31 days
    is_usual = np.abs(steps - usual) <= 0.1 * usual
    # days may be absent by chance, as in samples, and more of them where the table begins and ends
    by_chance = len(steps) * (1 - is_usual.mean()) ** np.maximum(0, steps / usual - 1)
    places = np.arange(len(steps))
    is_inside = (places >= MIN_DATES_BESIDE_GAP) & (places < len(steps) - MIN_DATES_BESIDE_GAP)
    gaps = np.flatnonzero((steps > (MIN_GAP_STEPS + 0.5) * usual) & (by_chance < MAX_CHANCE_OF_GAP) & is_inside)
    if is_usual.mean() < MIN_REGULAR_SHARE or not len(gaps) or len(gaps) > (1 - MIN_REGULAR_SHARE) / 2 * len(steps):
        return
    widest = gaps[np.argsort(-steps[gaps], kind="stable")][:MAX_GAPS_SHOWN]
    texts = [f"{_format_day(dates[place])} to {_format_day(dates[place + 1])}" for place in np.sort(widest).tolist()]
    yield build_finding(
        "gaps",
        table,
        [column],
        about=f"gaps of {column.name}",
        title=f"{column.name} has {'a gap' if len(gaps) == 1 else f'{len(gaps):,} gaps'}: {texts[0]}",
        detail=f"Most dates are {_format_duration(usual)} apart. There are no dates from {'; '.join(texts)}.",
    )


def _find_repeats(table: TableProfile, column: ColumnProfile) -> Iterator[Finding]:
    known = int((~column.missing).sum())
    repeated = np.flatnonzero(column.counts > 1)
    if not len(repeated) or len(column.values) < MIN_UNIQUE_SHARE * known:
        return
    rows = column.select_rows(repeated)
    noun = "date" if len(repeated) == 1 else "dates"
    count = format_count(int(rows.sum()), len(table))
    yield build_finding(
        "repeated dates",
        table,
        [column],
        rows,
        about=f"repeats of {column.name}",
        title=f"{column.name} has {len(repeated):,} {noun} more than once, such as {column.texts[repeated[0]]}",
        detail=f"{len(column.values):,} of {known:,} dates are different; {count} share theirs with another row.",
    )


def _format_day(day: float) -> str:
    moment = np.datetime64(round(day * 86_400), "s")
    return str(moment.astype("datetime64[D]")) if day % 1 == 0 else str(moment).replace("T", " ")


def _format_duration(days: float) -> str:
    if days >= 1:
        return f"{days:.3g} days" if days != 1 else "1 day"
    if days >= 1 / 24:
        return f"{days * 24:.3g} hours"
    minutes = days * 1440
    return f"{minutes:.4g} minutes" if minutes >= 1 else f"{minutes * 60:.4g} seconds"
