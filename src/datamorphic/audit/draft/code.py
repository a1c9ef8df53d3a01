"""Write a test system as Python code: values, names, features and the file.

Column names, categories and file names come from users. They are written as literals, in code and in comments, so that
nothing in them can become code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from ..._lazy import pd
from ..._text import format_short
from ...errors import DataError
from ...reporting import python_code
from ...reporting.python_code import to_class_name
from ...space.features import Categorical, Continuous, Feature, Integer
from ...space.space import Space

MAX_LINE_CHARACTERS = 88
MAX_COMMENT_VALUE_CHARACTERS = 50
MAX_CLASS_NAME_CHARACTERS = 60
MIN_DISTINCT_INTEGERS = 10  # fewer may be codes of categories
MAX_LISTED_CATEGORIES = 30  # more are read from the data by the file
STEPS_PER_RANGE = 20
RESERVED_NAMES = ("HERE", "MODEL", "Path", "ROWS", "SYSTEM", "TOLERANCE")  # other names in the file


# -- values and names ------------------------------------------------------------------------------------------


def format_literal(value: object) -> str:
    """Return a string, number, boolean or tuple of these as a Python literal."""
    if type(value) is tuple:
        return f"({', '.join(map(format_literal, value))}{',' if len(value) == 1 else ''})"
    if type(value) not in (str, int, float, bool):
        raise DataError(
            f"The value {format_short(value)!r} is of type {type(value).__name__}, which cannot be written as code. "
            "Convert the column to strings, numbers or booleans."
        )
    return python_code.format_literal(value)


def format_comment_literal(value: object) -> str:
    """Return a value as a shortened literal for a comment."""
    if type(value) is str and len(value) > MAX_COMMENT_VALUE_CHARACTERS + len("..."):
        value = f"{value[:MAX_COMMENT_VALUE_CHARACTERS]}..."
    return format_literal(value)


def to_system_name(text: str) -> str:
    """Return the name of the class of a test system from the name of its data."""
    name = to_class_name(text, "My", MAX_CLASS_NAME_CHARACTERS, RESERVED_NAMES)
    # pytest would collect a class whose name starts with "Test"
    return "MySystem" if name == "My" else f"My{name}" if name.startswith("Test") else name


def make_unique(name: str, used_names: set[str]) -> str:
    """Return a name that is not used yet, and add it to the used names."""
    number, candidate = 1, name
    while candidate in used_names:
        number += 1
        candidate = f"{name}_{number}"
    used_names.add(candidate)
    return candidate


# -- the space -------------------------------------------------------------------------------------------------


def tidy_feature(feature: Feature) -> Feature:
    """Return a feature with its bounds rounded outwards and a round step."""
    if not feature.numeric or feature.high <= feature.low:
        return feature
    width = feature.high - feature.low
    if isinstance(feature, Integer):
        step = max(1, round(width / STEPS_PER_RANGE))
        return Integer(feature.name, feature.low, feature.high, step=step, nullable=feature.nullable)
    grid = Decimal(1).scaleb(math.floor(math.log10(width)) - 3)
    low = float(_round_to_grid(feature.low, grid, ROUND_FLOOR))
    high = float(_round_to_grid(feature.high, grid, ROUND_CEILING))
    return Continuous(feature.name, low, high, step=float(f"{width / STEPS_PER_RANGE:.1e}"), nullable=feature.nullable)


def _round_to_grid(value: float, grid: Decimal, rounding: str) -> Decimal:
    return (Decimal(repr(value)) / grid).to_integral_value(rounding) * grid


def format_feature(feature: Feature, column: pd.Series[Any]) -> list[str]:
    """Return a feature as lines of code, with a comment if the user has to decide something."""
    nullable = ", nullable=True" if feature.nullable else ""
    if feature.kind == "text":
        name = format_literal(feature.name)
        return [f"dm.Text({name}, examples=ROWS[{name}].dropna(){nullable}),"]
    if isinstance(feature, Categorical):
        start, end = f"dm.Categorical({format_literal(feature.name)}, ", f"{nullable}),"
        values = list(column.dropna().unique())
        is_sortable = all(type(value) is str for value in values)  # by the generated code
        if len(feature.values) > MAX_LISTED_CATEGORIES and is_sortable and list(feature.values) == sorted(values):
            return [
                f"# {len(feature.values):,} different values: is this column a name rather than a feature?",
                f"{start}sorted(ROWS[{format_literal(feature.name)}].dropna().unique()){end}",
            ]
        return format_list(f"{start}[", map(format_literal, feature.values), f"]{end}")
    distinct = column.nunique()
    numbers = [feature.low, feature.high, feature.step]
    lines = []
    if isinstance(feature, Integer):
        numbers = [round(number) for number in numbers]
        if distinct < MIN_DISTINCT_INTEGERS:
            lines.append("# few different numbers: if they are codes, use dm.Categorical(name, [...])")
        elif distinct == len(column) > 2 * MIN_DISTINCT_INTEGERS:
            lines.append("# a different number in every row: is this column an identifier?")
    low, high, step = map(format_literal, numbers)
    step_option = f", step={step}" if feature.high > feature.low else ""
    arguments = f"{format_literal(feature.name)}, {low}, {high}{step_option}{nullable}"
    return [*lines, f"dm.{type(feature).__name__}({arguments}),"]


def format_list(start: str, items: Iterable[str], end: str, indent: int = 12) -> list[str]:
    """Return a list as lines of code, on one line if it fits."""
    items = list(items)
    line_characters = MAX_LINE_CHARACTERS - indent
    if len(start) + len(end) + sum(len(item) + 2 for item in items) <= line_characters:
        return [f"{start}{', '.join(items)}{end}"]
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) + 2 > line_characters - 4:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return [start, *(f"    {line}" for line in lines), end]


def has_other_dtypes(space: Space, frame: pd.DataFrame) -> bool:
    """Return whether the space alone would give columns other dtypes than the frame has, which models may require."""
    own = Space(space.features).points(frame).frame
    return any(own[name].dtype != frame[name].dtype for name in space.names)
