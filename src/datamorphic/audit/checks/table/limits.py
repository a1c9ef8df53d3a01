"""Values that cannot be, by the name of their column or by those of its neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...._tables import read_document
from ...._text import format_short
from ....core.result import Finding
from ...columns import read_words
from .profile import ColumnProfile, Mask, TableProfile, measure_difference
from .report import build_finding, format_count, format_value

MIN_ROWS = 20
#: Of the rows with a value: if more break a rule, the name of the column means something else.
MAX_BROKEN_SHARE = 0.2
MAX_BROKEN_SHARE_OF_ORDER = 0.05
#: Between the distributions of negative and of positive values, without their signs: a wrong sign leaves the size as it is.
MIN_TAIL_DIFFERENCE = 0.3
MAX_AGE_YEARS = 130.0
MAX_PERCENT = 100.0
MIN_CLEAR_PERCENT = 120.0  # the median of the values above 100: figures of 103% are usual for what can be exceeded
MIN_PERCENT_SCALE = 1.5  # a column whose largest usual value is smaller holds shares of 1
FIRST_USUAL_DAY = -25567.0  # 1900-01-01, in days since 1970
MAX_STANDARD_MEAN = 0.1  # of standardised columns, with a standard deviation near 1
MIN_SUM_SHARE = 0.95  # of the rows in which parts add up to their total
MAX_ORDER_PAIRS = 200
MAX_PARTS = 8


@dataclass(frozen=True, kw_only=True)
class LimitWords:
    """Words in the names of columns that say which values are possible: words.toml."""

    free_words: tuple[str, ...]
    refund_words: tuple[str, ...]
    positive_words: tuple[str, ...]
    age_words: tuple[str, ...]
    percent_words: tuple[str, ...]
    latitude_words: tuple[str, ...]
    longitude_words: tuple[str, ...]
    past_words: tuple[str, ...]
    future_words: tuple[str, ...]
    history_words: tuple[str, ...]
    source_words: tuple[str, ...]
    orders: tuple[tuple[str, str], ...]


@cache
def read_limit_words() -> LimitWords:
    """Return the words."""
    return read_document(__package__, "words.toml", LimitWords)


@dataclass(frozen=True, kw_only=True)
class _Break:
    """Rows whose values break a rule that the names of columns suggest."""

    columns: Sequence[ColumnProfile]
    rows: Mask
    rule: str  # what was expected, as a sentence
    what: str  # the values, as a title says it
    is_certain: bool = True


def find_impossible_values(table: TableProfile) -> Iterator[Finding]:
    """Yield values outside the limits that names suggest: single columns first, then pairs and totals."""
    if len(table) < MIN_ROWS:
        return
    for broken in (*_find_single(table), *_find_wrong_orders(table), *_find_wrong_totals(table)):
        if table.is_explained(broken.rows):
            continue
        for column in broken.columns if len(broken.columns) == 1 else ():
            table.exclude(column, broken.rows)
        count = int(broken.rows.sum())
        first = int(np.argmax(broken.rows))
        values = " and ".join(f"{column.name} is {format_value(column, first)}" for column in broken.columns[:3])
        yield build_finding(
            "impossible" if broken.is_certain else "unusual",
            table,
            broken.columns,
            broken.rows,
            title=f"{broken.what} in {count:,} {'row' if count == 1 else 'rows'}",
            detail=f"{broken.rule} This does not hold for {format_count(count, len(table))}: in row {int(table.rows[first]):,}, {values}.",
        )


def _find_single(table: TableProfile) -> Iterator[_Break]:
    words = read_limit_words()
    today = datetime.now(UTC).timestamp() / 86_400
    for column in table.columns:
        if column.kind == "date":
            yield from _find_unusual_dates(column, table.clean_numbers(column), today)
        if not column.is_number or column.is_label:
            continue
        numbers = table.clean_numbers(column)
        names = set(column.words)
        if np.isnan(numbers).all() or names.intersection(words.free_words) or _is_standardised(numbers):
            continue
        if names.intersection(words.percent_words) or "%" in column.name:
            yield from _find_wrong_percents(column, numbers)
        elif _is_coordinate(names, words.latitude_words):
            yield from _make_break(
                column, np.abs(numbers) > 90, numbers, "A latitude is between -90 and 90.", "Impossible latitudes"
            )
        elif _is_coordinate(names, words.longitude_words) and (np.nanmin(numbers) < 0 or "longitude" in names):
            rule = "A longitude is between -180 and 180."
            yield from _make_break(column, np.abs(numbers) > 180, numbers, rule, "Impossible longitudes")
        elif names.intersection(words.positive_words):
            rule = f"{column.name} cannot be negative, by its name and the other values."
            for broken in _make_break(column, numbers < 0, numbers, rule, f"{column.name} is negative"):
                yield replace(broken, is_certain=not _is_tail(numbers))
            is_age = names.intersection(words.age_words) and not names.intersection(read_words().ages_of_things)
            if is_age and np.nanmedian(numbers) < MAX_AGE_YEARS:  # of people, in years
                rule, what = (
                    f"Nobody is older than {MAX_AGE_YEARS:g} years.",
                    f"Impossible ages: {column.name} is too high",
                )
                yield from _make_break(column, numbers > MAX_AGE_YEARS, numbers, rule, what)
        elif names.intersection(words.refund_words):
            rule = f"{column.name} is positive in nearly all rows."
            what = f"{column.name} is negative"
            for broken in _make_break(column, numbers < 0, numbers, rule, what):
                yield replace(broken, is_certain=False)


def _is_coordinate(names: set[str], words: Sequence[str]) -> bool:
    return bool(names.intersection(words)) and len(names) <= 2


def _is_standardised(numbers: npt.NDArray[np.float64]) -> bool:
    """Tell whether numbers are centred, so that negative ones are below average."""
    known = numbers[~np.isnan(numbers)]
    is_scaled = abs(float(known.mean())) < MAX_STANDARD_MEAN and 0.5 < float(known.std()) < 2.0
    return bool((known < 0).mean() > 0.2) or (is_scaled and bool((known % 1 != 0).any()))


def _is_tail(numbers: npt.NDArray[np.float64]) -> bool:
    """Tell whether negative numbers are the end of a distribution that reaches beyond 0, rather than numbers of another kind."""
    low = float(np.nanmin(numbers))
    opposite_count = int(((numbers > 0) & (numbers <= -low)).sum())
    sizes, usual = np.sort(-numbers[numbers < 0]), np.sort(numbers[numbers > 0])
    return opposite_count >= len(sizes) and measure_difference(sizes, usual) >= MIN_TAIL_DIFFERENCE


def _make_break(
    column: ColumnProfile, rows: npt.NDArray[np.bool_], numbers: npt.NDArray[np.float64], rule: str, what: str
) -> Iterator[_Break]:
    """Yield the rows that break a rule, unless they are too many for exceptions."""
    if 0 < rows.sum() <= MAX_BROKEN_SHARE * (~np.isnan(numbers)).sum():
        yield _Break(columns=[column], rows=rows, rule=rule, what=what)


def _find_wrong_percents(column: ColumnProfile, numbers: npt.NDArray[np.float64]) -> Iterator[_Break]:
    usual = numbers[(numbers >= 0) & (numbers <= MAX_PERCENT)]
    if not len(usual) or usual.max() <= MIN_PERCENT_SCALE:
        return
    rows = (numbers > MAX_PERCENT) | (numbers < 0)
    for broken in _make_break(
        column, rows, numbers, "A percentage is between 0 and 100.", f"{column.name} is not a valid percentage"
    ):
        is_clear = bool((numbers[rows] < 0).any()) or float(np.median(numbers[rows])) >= MIN_CLEAR_PERCENT
        yield replace(broken, is_certain=is_clear)


def _find_unusual_dates(column: ColumnProfile, days: npt.NDArray[np.float64], today: float) -> Iterator[_Break]:
    words, names = read_limit_words(), set(column.words)
    known = ~np.isnan(days)
    if not known.any():
        return
    future = days > today + 1
    if not names.intersection(words.future_words):
        is_past = bool(names.intersection(words.past_words))
        for broken in _make_break(
            column, future, days, f"{column.name} is in the past in nearly all rows.", f"{column.name} is in the future"
        ):
            yield replace(broken, is_certain=is_past)
    if not names.intersection(words.history_words):
        rule = f"{column.name} is after 1900 in nearly all rows."
        yield from _make_break(column, days < FIRST_USUAL_DAY, days, rule, f"{column.name} is before 1900")


# -- columns that belong together --------------------------------------------------------------------------------------


def _find_wrong_orders(table: TableProfile) -> Iterator[_Break]:
    """Yield pairs such as start and end, or minimum and maximum, whose order is wrong in some rows."""
    words = read_limit_words()
    by_name = {
        (tuple(column.words), "".join(filter(str.isdigit, column.name)), column.kind): column
        for column in table.inputs
        if column.kind == "date" or column.is_number
    }
    pairs: dict[tuple[str, str], tuple[ColumnProfile, ColumnProfile]] = {}
    for (names, digits, kind), low in by_name.items():
        for low_word, high_word in words.orders:
            if low_word not in names:
                continue
            wanted = tuple(high_word if name == low_word else name for name in names)
            high = by_name.get((wanted, digits, kind))
            if high is not None:
                pairs[low.name, high.name] = low, high
    for low, high in list(pairs.values())[:MAX_ORDER_PAIRS]:
        first, second = table.clean_numbers(low), table.clean_numbers(high)
        known = ~np.isnan(first) & ~np.isnan(second)
        rows = first > second
        if known.sum() >= MIN_ROWS and 0 < rows.sum() <= MAX_BROKEN_SHARE_OF_ORDER * known.sum():
            yield _Break(
                columns=[low, high],
                rows=rows,
                rule=f"{low.name} is not above {high.name}, by their names and in nearly all rows.",
                what=f"{low.name} is after {high.name}" if low.kind == "date" else f"{low.name} is above {high.name}",
            )


def _find_wrong_totals(table: TableProfile) -> Iterator[_Break]:
    """Yield totals that are not the sum of their parts in some rows, although they are in nearly all."""
    numbers = [column for column in table.inputs if column.is_number]
    totals = [column for column in numbers if {"total", "sum", "gesamt", "summe"}.intersection(column.words)]
    for total in totals[:MAX_PARTS]:
        stem = set(total.words) - {"total", "sum", "gesamt", "summe"}
        parts = [column for column in numbers if column is not total and (not stem or stem.intersection(column.words))]
        parts = [column for column in parts if not {"total", "sum"}.intersection(column.words)][:MAX_PARTS]
        values, target = {column.name: table.clean_numbers(column) for column in parts}, table.clean_numbers(total)
        sizes = [len(parts)] if len(parts) > 3 else []
        for size in (*sizes, 2, 3):
            for choice in combinations(parts, size) if size <= len(parts) else ():
                summed = np.sum([values[column.name] for column in choice], axis=0)
                several = np.sum([values[column.name] != 0 for column in choice], axis=0) >= 2  # 0 + 0 = 0 says nothing
                known = ~np.isnan(summed) & ~np.isnan(target) & several
                differs = known & ~np.isclose(summed, target, rtol=1e-6, atol=1e-6)
                if known.sum() >= MIN_ROWS and 0 < differs.sum() <= (1 - MIN_SUM_SHARE) * known.sum():
                    names = " + ".join(column.name for column in choice)
                    shares = format_short(round(100 * (1 - float(differs.sum() / known.sum())), 2))
                    yield _Break(
                        columns=[total, *choice],
                        rows=differs,
                        rule=f"{total.name} is {names} in {shares}% of the rows.",
                        what=f"{total.name} is not {names}",
                    )
                    break
