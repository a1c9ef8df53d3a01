"""Values that stand for "missing": -999, 9999, 1900-01-01, "unknown", and zeros far from all other values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ...._text import join_names
from ....core.result import Finding
from .profile import ColumnProfile, Mask, TableProfile
from .report import build_finding, format_count, format_names

#: Numbers that programs and people write where a value is absent.
LARGE_CODES = (
    *(sign * (10.0**digits - 1) for digits in range(2, 10) for sign in (1, -1)),
    *(-9.0, -1.0, -32768.0, 65535.0, -2147483648.0, 2147483647.0, 1e10 - 1, 1e30, -1e30),
)
DATE_CODES = {-25567.0: "1900-01-01", 0.0: "1970-01-01", -62091.0: "1800-01-01", -109205.0: "1671-01-01"}
TEXT_CODES = {
    *(
        "unknown",
        "n/a",
        "n.a.",
        "#n/a",
        "na",
        "nan",
        "null",
        "nil",
        "?",
        "??",
        "???",
        "-",
        "--",
        "---",
        ".",
        "",
        "missing",
    ),
    *("undefined", "not available", "not known", "no data", "tbd", "unbekannt", "k.a.", "keine angabe", "inconnu"),
    *("desconocido", "sconosciuto", "unspecified", "not specified", "<na>", "(null)", "(blank)", "nat"),
}
SPREADSHEET_ERRORS = {"#ref!", "#value!", "#div/0!", "#name?", "#num!", "#null!"}

MIN_ROWS = 30
MIN_CODE_ROWS = 3  # with the same code
MIN_CODE_SHARE = 0.001  # of the rows
MAX_CODE_SHARE = 0.9  # of the rows: the rest must show what is usual
MAX_ZERO_SHARE = 0.35  # of the rows: more zeros mean that there is nothing in many rows, rather than that it is unknown
MIN_DISTINCT_VALUES = 10  # of the other values: fewer may be codes of categories
MIN_GAP_TO_RANGE = 1.0  # the distance to the nearest other value, in widths of the range of the others: a concern
MIN_GAP_OF_ADVICE = 0.2  # the same, for advice
MIN_GAP_OF_ZERO = 1.0  # the same for 0, in widths of the middle half of the others
MIN_LOW_TO_MEDIAN = 0.2  # of the others, beside 0: what begins near 0 may as well be 0
MIN_GAP_YEARS = 10.0  # of a date that stands for none
MIN_SPIKE = 5.0  # times the rows that the nearest values have
MIN_SPIKE_BEYOND_GAP = 2.0  # the same for a value apart from the others


def find_missing_codes(table: TableProfile) -> Iterator[Finding]:
    """Yield numbers, dates and texts that stand for a missing value, and note their rows in the profile of the table."""
    if len(table) < MIN_ROWS:
        return
    by_code: dict[tuple[str, str], list[tuple[ColumnProfile, Mask, str]]] = {}
    for column in table.columns:
        for level, text, rows, reason in (*_find_number_codes(column, table), *_find_date_codes(column)):
            table.exclude(column, rows)
            by_code.setdefault((level, text), []).append((column, rows, reason))
    for (level, text), places in by_code.items():
        columns = [column for column, _, _ in places]
        rows = np.logical_or.reduce([mask for _, mask, _ in places])
        names = format_names([column.display_name for column in columns])
        verb = "stands" if level == "concern" else "may stand"
        reasons = " ".join(f"{reason}" for _, _, reason in places[:3])
        yield build_finding(
            "code" if level == "concern" else "possible code",
            table,
            columns,
            rows,
            about=", ".join(column.name for column in columns[:3]) + f" = {text}",
            title=f"{text} {verb} for a missing value in {names}",
            detail=f"{reasons} A model takes {text} for a measurement.",
        )


def _find_number_codes(column: ColumnProfile, table: TableProfile) -> Iterator[tuple[str, str, Mask, str]]:
    """Yield the level, the value, the rows and the reason of each number that stands for a missing value."""
    if not column.is_number:
        return
    numbers = np.where(np.isfinite(column.numbers), column.numbers, np.nan)
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    total = int(counts.sum())
    minimum = max(MIN_CODE_ROWS, MIN_CODE_SHARE * total)
    # several codes may be in use: those further out are looked at first, and left out of the others
    codes = sorted({*LARGE_CODES, 0.0}.intersection(values.tolist()), key=lambda code: -abs(code))
    for code in codes:
        place = int(np.searchsorted(values, code))
        count, others, weights = int(counts[place]), np.delete(values, place), np.delete(counts, place)
        is_outermost = place in (0, len(values) - 1)
        if not is_outermost or not minimum <= count <= MAX_CODE_SHARE * total or len(others) < MIN_DISTINCT_VALUES:
            continue
        if code == 0 and count > MAX_ZERO_SHARE * total:
            continue
        level = _judge_code(code, count, others, weights)
        if level:
            rows = np.asarray(numbers == code)
            reason = (
                f"{column.name} is {code:g} in {format_count(count, len(table))}; all other values are between "
                f"{others[0]:g} and {others[-1]:g}."
            )
            yield level, f"{code:g}" if abs(code) < 1e6 else f"{code:.0f}", rows, reason
            values, counts = others, weights


def _judge_code(code: float, count: int, others: npt.NDArray[np.float64], weights: npt.NDArray[np.intp]) -> str:
    """Return the level of a finding about a number beyond all others; an empty text if it fits them."""
    low, high = float(others[0]), float(others[-1])
    gap = low - code if code < low else code - high
    width = high - low
    nearest = weights[:5] if code < low else weights[-5:]
    spike = count / float(np.median(nearest))
    if code == 0:
        quartiles = _find_quartiles(others, weights)
        is_far = gap > min(MIN_GAP_OF_ZERO * float(quartiles[1] - quartiles[0]), MIN_GAP_OF_ADVICE * width)
        return "advice" if low > MIN_LOW_TO_MEDIAN * float(np.median(others)) and is_far else ""
    if code == -1:
        is_continuous = bool((others % 1 != 0).any())
        if low < 0:
            return ""
        if gap >= max(2.0, MIN_GAP_OF_ADVICE * width) or (is_continuous and spike >= MIN_SPIKE):
            return "concern" if len(others) >= 2 * MIN_DISTINCT_VALUES else "advice"
        return "advice" if spike >= MIN_SPIKE else ""
    if gap >= MIN_GAP_TO_RANGE * width:
        return "concern"
    if code < 0 <= low and spike >= MIN_SPIKE:
        return "concern"
    return "advice" if gap >= MIN_GAP_OF_ADVICE * width and spike >= MIN_SPIKE_BEYOND_GAP else ""


def _find_quartiles(values: npt.NDArray[np.float64], weights: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    positions = np.searchsorted(np.cumsum(weights), np.array([0.25, 0.75]) * weights.sum())
    return values[np.minimum(positions, len(values) - 1)]


def _find_date_codes(column: ColumnProfile) -> Iterator[tuple[str, str, Mask, str]]:
    """Yield dates that programs write where there is none."""
    if column.kind != "date":
        return
    days = np.floor(column.numbers)
    for code, text in DATE_CODES.items():
        rows = np.asarray(days == code)
        others = column.numbers[~rows & ~np.isnan(column.numbers)]
        if rows.sum() < MIN_CODE_ROWS or len(others) < MIN_CODE_ROWS:
            continue
        if np.abs(others - code).min() < MIN_GAP_YEARS * 365:
            continue
        first, last = (str(np.datetime64(0, "D") + int(day)) for day in (others.min(), others.max()))
        reason = f"{column.name} is {text} in {format_count(int(rows.sum()), len(days))}; all other dates are between {first} and {last}."
        yield "concern", text, rows, reason


def find_text_codes(table: TableProfile) -> Iterator[Finding]:
    """Yield columns of texts in which some texts stand for a missing value."""
    places: list[tuple[ColumnProfile, list[str], Mask]] = []
    for column in table.columns:
        if column.kind != "text" or len(column.values) < 2 or column.name in table.mixed_columns:
            continue
        codes = [code for code, text in enumerate(column.texts) if text.strip().casefold() in TEXT_CODES]
        errors = [code for code, text in enumerate(column.texts) if text.strip().casefold() in SPREADSHEET_ERRORS]
        if errors:
            texts = [column.texts[code] for code in errors]
            rows = column.select_rows(errors)
            yield build_finding(
                "spreadsheet error",
                table,
                [column],
                rows,
                title=f"{column.display_name} holds errors of a spreadsheet: {format_names(texts)}",
                detail=f"{format_count(int(rows.sum()), len(table))} have {join_names(texts, 'or')} as the value of {column.name}.",
            )
        if codes and len(codes) < len(column.values):
            places.append((column, [column.texts[code] for code in codes], column.select_rows(codes)))
    if places:
        rows = np.logical_or.reduce([mask for _, _, mask in places])
        texts = [
            f"{column.name} ({join_names([repr(text) for text in codes], 'or')} in {int(mask.sum()):,} rows)"
            for column, codes, mask in places
        ]
        yield build_finding(
            "text code",
            table,
            [column for column, _, _ in places],
            rows,
            title=f"Texts stand for missing values in {format_names([column.display_name for column, _, _ in places])}",
            detail=f"{format_names(texts)}.",
        )
