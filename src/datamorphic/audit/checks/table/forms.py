"""Columns that hold numbers and texts, and numbers that are written as texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from ....core.result import Finding
from .missing_codes import SPREADSHEET_ERRORS, TEXT_CODES
from .profile import LEADING_ZERO, ColumnProfile, Doubt, TableProfile
from .report import build_finding, format_count, format_names

MIN_ROWS = 20
MIN_NUMBER_SHARE = 0.8  # of the rows: the others are the exception
MIN_DISTINCT_NUMBERS = 10  # fewer may be sizes or codes
MAX_OTHER_TEXTS = 5  # different ones: more are codes that contain letters
MIN_FORMATTED_SHARE = 0.95  # of the rows with a value
CODE_WORDS = {
    "code",
    "zip",
    "postcode",
    "plz",
    "id",
    "icd",
    "phone",
    "key",
    "no",
    "nr",
    "sku",
    "isbn",
    "model",
    "version",
}
#: A number with a sign, separators of thousands, a currency before it, and a unit or currency behind it.
FORMATTED_NUMBER = re.compile(
    r"\s*(?P<before>[€$£¥₹]|[A-Z]{3}\s)?\s*[-+]?(?P<digits>\d{1,3}(?:[ ,.'\u00a0]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)\s*"
    r"(?P<after>[€$£¥₹%°]?[A-Za-zµ²³/°]{0,6}\.?)\s*$"
)
MIN_ROWS_PER_FORM = 3
#: Units behind numbers; other letters may be parts of codes, such as 12A.
KNOWN_UNITS = {
    *(
        "kg",
        "g",
        "mg",
        "t",
        "lb",
        "lbs",
        "oz",
        "cm",
        "m",
        "mm",
        "km",
        "mi",
        "mile",
        "miles",
        "ft",
        "in",
        "inch",
        "yd",
        "m²",
        "ft²",
    ),
    *(
        "sqft",
        "sqm",
        "ms",
        "s",
        "sec",
        "min",
        "mins",
        "h",
        "hr",
        "hrs",
        "hours",
        "d",
        "day",
        "days",
        "weeks",
        "months",
        "years",
    ),
    *(
        "l",
        "ml",
        "cl",
        "gal",
        "usd",
        "eur",
        "gbp",
        "chf",
        "jpy",
        "€",
        "$",
        "£",
        "¥",
        "₹",
        "%",
        "°c",
        "°f",
        "°",
        "mph",
        "km/h",
        "m/s",
    ),
    *(
        "b",
        "kb",
        "mb",
        "gb",
        "tb",
        "w",
        "kw",
        "wh",
        "kwh",
        "mwh",
        "hp",
        "v",
        "mv",
        "a",
        "ma",
        "hz",
        "khz",
        "mhz",
        "ghz",
        "pa",
        "hpa",
    ),
    *("bar", "psi", "mmhg", "k", "bn", "mio", "tsd"),
}


def find_forms(table: TableProfile) -> Iterator[Finding]:
    """Yield columns of numbers and texts, and columns of numbers with units or separators."""
    if len(table) < MIN_ROWS:
        return
    stored_as_text: list[ColumnProfile] = []
    for column in table.columns:
        if len(column.values) < 2:
            continue
        if column.kind == "number":
            has_texts = column.is_text and len(column.values) >= MIN_DISTINCT_NUMBERS
            yield from _find_two_types(table, column)
            if has_texts and all(isinstance(value, str) for value in column.values.tolist()):
                stored_as_text.append(column)
        elif column.kind == "text":
            yield from _find_mixed_types(table, column)
            if column.name not in table.mixed_columns:
                yield from _find_formatted_numbers(table, column)
    if stored_as_text:
        names = format_names([column.name for column in stored_as_text])
        yield build_finding(
            "text numbers",
            table,
            stored_as_text,
            title=f"Numbers are stored as texts in {names}",
            detail=f"All values of {names} are texts that are numbers, such as {stored_as_text[0].values[0]!r}.",
        )


def _find_two_types(table: TableProfile, column: ColumnProfile) -> Iterator[Finding]:
    """Yield a column in which a value is a number in some rows, and a text in others."""
    is_text = np.array([isinstance(value, str) for value in column.values.tolist()])
    if is_text.all() or not is_text.any():
        return
    rows = column.select_rows(np.flatnonzero(is_text))
    minority = rows if rows.sum() * 2 <= len(table) else ~rows & ~column.missing
    yield build_finding(
        "types",
        table,
        [column],
        minority,
        title=f"{column.display_name} is a number in some rows and a text in others",
        detail=f"{column.name} is a text in {format_count(int(rows.sum()), len(table))}, such as {column.values[int(is_text.argmax())]!r}, "
        f"and a number in the others, such as {column.values[int((~is_text).argmax())]!r}. The text '1' is not equal to the number 1.",
    )


def _find_mixed_types(table: TableProfile, column: ColumnProfile) -> Iterator[Finding]:
    """Yield a column of numbers in which some rows hold words."""
    numbers = np.array([_is_number(text) for text in column.texts])
    if not numbers.any() or any(LEADING_ZERO.match(text) and "." not in text for text in column.texts):
        return
    counts = column.counts
    share = float(counts[numbers].sum() / counts.sum())
    if share < MIN_NUMBER_SHARE or numbers.sum() < MIN_DISTINCT_NUMBERS or share == 1:
        return
    others = np.flatnonzero(~numbers)
    matches = [FORMATTED_NUMBER.match(column.texts[code]) for code in others.tolist()]
    if all(match is not None and not match["before"] and not match["after"] for match in matches):
        return  # numbers, some of them with separators
    rows = column.select_rows(others)
    table.mixed_columns.add(column.name)
    if table.is_explained(rows):
        return
    texts = [column.texts[code] for code in others.tolist()]
    has_only_codes = all(text.strip().casefold() in TEXT_CODES | SPREADSHEET_ERRORS for text in texts)
    is_code = bool(CODE_WORDS.intersection(column.words)) or len(texts) > MAX_OTHER_TEXTS
    yield build_finding(
        "mixed types",
        table,
        [column],
        rows,
        level="advice" if is_code and not has_only_codes else "concern",
        title=f"{column.display_name} holds numbers and texts: {format_names([repr(text) for text in texts])}",
        detail=f"{100 * share:.3g}% of the values of {column.name} are numbers, and {format_count(int(rows.sum()), len(table))} hold a "
        f"text. The whole column is read as texts, so that {column.texts[int(numbers.argmax())]} is a category, and not a number.",
    )


def _find_formatted_numbers(table: TableProfile, column: ColumnProfile) -> Iterator[Finding]:
    """Yield a column of numbers with units, currencies or separators of thousands."""
    matches = [FORMATTED_NUMBER.match(text) for text in column.texts]
    is_formatted = np.array([match is not None for match in matches])
    total = int(column.counts.sum())
    if not total or column.counts[is_formatted].sum() < MIN_FORMATTED_SHARE * total:
        return
    if is_formatted.sum() < MIN_DISTINCT_NUMBERS or CODE_WORDS.intersection(column.words):
        return
    if any(LEADING_ZERO.match(text) and "." not in text for text in column.texts):
        return
    rows_by_unit: dict[str, int] = {}
    codes_by_unit: dict[str, list[int]] = {}
    has_separator = False
    for code, match in enumerate(matches):
        if match is not None:
            unit = f"{(match['before'] or '').strip()}{match['after']}".strip().rstrip(".").casefold()
            rows_by_unit[unit] = rows_by_unit.get(unit, 0) + int(column.counts[code])
            codes_by_unit.setdefault(unit, []).append(code)
            has_separator |= not _is_number(match["digits"])
    sorted_units = sorted(rows_by_unit.items(), key=lambda item: -item[1])
    units = {unit: count for unit, count in sorted_units if count >= MIN_ROWS_PER_FORM}
    if not any(units) and not has_separator:
        return
    named = [unit for unit in units if unit]
    is_plain = np.array([_is_number(text) for text in column.texts])
    example = int((is_formatted & ~is_plain).argmax())
    if len(named) > MAX_OTHER_TEXTS or not KNOWN_UNITS.issuperset(named):
        return  # house numbers or codes
    rarest = min(units, key=lambda unit: units[unit]) if len(units) > 1 else ""
    rows = column.select_rows(codes_by_unit[rarest]) if len(named) > 1 else ~column.missing
    units_text = ", ".join(f"{unit or 'none'} ({count:,} rows)" for unit, count in units.items())
    title = f"{column.display_name} holds numbers in several units: {', '.join(named)}"
    if len(named) < 2:
        title = f"{column.display_name} holds numbers as texts, such as {column.texts[example]!r}"
    detail = f"All values of {column.name} are numbers with " + (
        f"units: {units_text}."
        if any(units)
        else "separators: they are read as texts, and each is a category of its own."
    )
    finding = build_finding(
        "units" if len(named) > 1 else "formatted numbers", table, [column], rows, title=title, detail=detail
    )
    if len(named) < 2 and not column.is_label:
        written = column.select_rows(np.flatnonzero(~is_plain))
        numbers = np.append([read_number(match["digits"]) if match else np.nan for match in matches], np.nan)
        certain = f"{title}, which the model does not read"
        table.doubts.append(
            Doubt(finding=finding, title=certain, column=column, rows=written, numbers=numbers[column.codes])
        )
    yield finding


def read_number(digits: str) -> float:
    """Return the number that digits with separators stand for; of two different ones, the last is that of the fraction.

    Examples
    --------
    >>> read_number("1,234.5"), read_number("1.234,5"), read_number("12,345"), read_number("0,5"), read_number("1'200")
    (1234.5, 1234.5, 12345.0, 0.5, 1200.0)
    """
    digits = re.sub(r"[ '\u00a0]", "", digits)
    if "," in digits and "." in digits:
        thousands = "," if digits.rfind(",") < digits.rfind(".") else "."
    else:
        thousands = "," if re.fullmatch(r"\d{1,3}(,\d{3})+", digits) else "." if digits.count(".") > 1 else ""
    return float((digits.replace(thousands, "") if thousands else digits).replace(",", "."))


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
