"""How a test system is written down: values, names and features as Python code, put into the template beside this.

Whatever comes from a user's files, names of columns, categories, file names, is written as a literal, in code and in
comments alike. So it stays data: no name can end a string or a line.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ..._text import format_short
from ...errors import DataError
from ...space.features import Categorical, Continuous, Feature, Integer
from ...space.space import Space

if TYPE_CHECKING:
    import pandas as pd

    from .relations import DraftRelation

MAX_LINE_CHARACTERS = 88  # of a line
MIN_DISTINCT_INTEGERS = 10  # different whole numbers: they may be codes of categories
MAX_LISTED_CATEGORIES = 30  # categories, which are read from the data instead of being written down
RESERVED_NAMES = ("HERE", "MODEL", "Path", "ROWS", "SYSTEM", "TOLERANCE")  # other names in the file


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A test system that was drafted.

    Attributes
    ----------
    text : str
        The file.
    module, name : str
        What the file and the class in it are called, as in ``datamorphic laws module:name``.
    space : Space
        The space that is written in it.
    rows : int
        How many rows the data have.
    promises : list of Promise
        What was tried; those that hold today are in force, the others are comments.
    notes : list of str
        What was decided on the way.
    """

    text: str = field(repr=False)
    module: str
    name: str
    space: Space
    rows: int
    promises: list[DraftRelation]
    notes: list[str]


# -- values and names ------------------------------------------------------------------------------------------


def format_literal(value: Any) -> str:
    """Return a value as Python code that says it and nothing else.

    Examples
    --------
    >>> print(format_literal('"; import os #'), format_literal("two\\nlines"), format_literal(("a", 1.5, True)))
    '"; import os #' "two\\nlines" ("a", 1.5, True)
    """
    if type(value) is str:
        code = repr(value)
        if code[0] == "'" and "'" not in value and '"' not in value:
            code = f'"{code[1:-1]}"'
        assert ast.literal_eval(code) == value
        return code
    if type(value) is tuple:
        return f"({', '.join(map(format_literal, value))}{',' * (len(value) == 1)})"
    if type(value) is float and not math.isfinite(value):
        return f'float("{value}")'
    if type(value) in (int, float, bool):
        return repr(value)
    raise DataError(
        f"The value {format_short(value)!r} is of type {type(value).__name__}, which cannot be written into a file of code. "
        "Turn the column into strings, numbers or booleans."
    )


def format_comment_literal(value: Any) -> str:
    """Return a value for a comment: a literal, cut short."""
    return format_literal(f"{value[:50]}..." if type(value) is str and len(value) > 53 else value)


def to_slug(value: Any) -> str:
    """Return the part of a Python name that a column or a label gives: small letters, digits and underscores.

    Examples
    --------
    >>> to_slug("Total SO2 (mg/l)"), to_slug("класс")
    ('total_so2_mg_l', 'it')
    """
    name = re.sub(r"[^a-z0-9]+", "_", str(value).lower()).strip("_")
    return name[:40].rstrip("_") or "it"


def to_class_name(text: str) -> str:
    """Return a name for the class, from the name of the data or of the model.

    Examples
    --------
    >>> to_class_name("red_wine"), to_class_name("2019 sales"), to_class_name("test-data"), to_class_name("class")
    ('RedWine', 'My2019Sales', 'MyTestData', 'Class')
    """
    name = "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", text))[:60]
    # pytest would take a class for a test if its name began with "Test"
    valid = name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("Test")
    return name if valid and name not in RESERVED_NAMES else f"My{name or 'System'}"


def make_unique(name: str, used_names: set[str]) -> str:
    """Return a name that is not taken yet, and take it."""
    number, candidate = 1, name
    while candidate in used_names:
        number += 1
        candidate = f"{name}_{number}"
    used_names.add(candidate)
    return candidate


def format_comment(text: str, indent: int = 4) -> str:
    """Return a text as lines of comment."""
    start = " " * indent + "# "
    lines = textwrap.wrap(
        text, MAX_LINE_CHARACTERS, initial_indent=start, subsequent_indent=start, break_on_hyphens=False
    )
    return "\n".join(lines)


# -- the space -------------------------------------------------------------------------------------------------


def tidy_feature(feature: Feature) -> Feature:
    """Return a feature with numbers that a person would write: bounds rounded outwards, a round step."""
    if isinstance(feature, Categorical) or feature.high <= feature.low:
        return feature
    width = feature.high - feature.low
    if isinstance(feature, Integer):
        step = max(1, round(width / 20))
        return Integer(feature.name, feature.low, feature.high, step=step, nullable=feature.nullable)
    grid = Decimal(1).scaleb(math.floor(math.log10(width)) - 3)
    low = float(_round_to_grid(feature.low, grid, ROUND_FLOOR))
    high = float(_round_to_grid(feature.high, grid, ROUND_CEILING))
    return Continuous(feature.name, low, high, step=float(f"{width / 20:.1e}"), nullable=feature.nullable)


def _round_to_grid(value: float, grid: Decimal, rounding: str) -> Decimal:
    return (Decimal(repr(value)) / grid).to_integral_value(rounding) * grid


def format_feature(feature: Feature, column: pd.Series[Any]) -> list[str]:
    """Return a feature as code, with a comment where there is something to decide."""
    nullable = ", nullable=True" if feature.nullable else ""
    if isinstance(feature, Categorical):
        start, end = f"dm.Categorical({format_literal(feature.name)}, ", f"{nullable}),"
        if len(feature.values) > MAX_LISTED_CATEGORIES and list(feature.values) == _sort_values(column):
            return [
                f"# {len(feature.values):,} different values: is it a name, and no feature?",
                f"{start}sorted(ROWS[{format_literal(feature.name)}].dropna().unique()){end}",
            ]
        return format_list(f"{start}[", map(format_literal, feature.values), f"]{end}")
    distinct = column.nunique()
    format_number: Any = format_literal
    lines = []
    if isinstance(feature, Integer):
        format_number = round
        if distinct < MIN_DISTINCT_INTEGERS:
            lines.append("# few different numbers: if they are codes, dm.Categorical(name, [...])")
        elif distinct == len(column) > 2 * MIN_DISTINCT_INTEGERS:
            lines.append("# another number in every row: is it an identifier, and no feature?")
    step = f", step={format_number(feature.step)}" if feature.high > feature.low else ""
    bounds = f"{format_number(feature.low)}, {format_number(feature.high)}"
    return [*lines, f"dm.{type(feature).__name__}({format_literal(feature.name)}, {bounds}{step}{nullable}),"]


def _sort_values(column: pd.Series[Any]) -> list[Any]:
    """Return the values of a column as the code in the file will sort them; nothing if it cannot."""
    values = list(column.dropna().unique())
    return sorted(values) if all(type(value) is str for value in values) else []


def format_list(start: str, items: Iterable[str], end: str, indent: int = 12) -> list[str]:
    """Return a list as code: in one line if it fits, else in several, broken between items only."""
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
    """Tell whether a space by itself would give columns other dtypes than the frame's; models may insist on them."""
    own = Space(space.features).points(frame).frame
    return any(own[name].dtype != frame[name].dtype for name in space.names)


# -- the file --------------------------------------------------------------------------------------------------


def render_draft(**parts: Any) -> str:
    """Return the file; the parts are code already."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined
    )
    environment.filters["remark"] = format_comment
    template = files(__package__).joinpath("system.py.j2").read_text(encoding="utf-8")
    return environment.from_string(template).render(parts)


def comment_out(lines: Sequence[str]) -> list[str]:
    """Return lines of code as a comment, to be put in force by taking the signs away."""
    return [f"# {line}".rstrip() for line in lines]
