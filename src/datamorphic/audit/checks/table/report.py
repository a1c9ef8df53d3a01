"""Findings about a table: their rows as examples, and their counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._text import format_short, join_names
from ....core.result import Example, Finding
from ...check import get_facts
from .profile import ColumnProfile, Mask, TableProfile

MAX_EXAMPLES = 5  # of rows, per finding
MAX_NAMES = 6  # of columns or values in one sentence


def build_finding(
    kind: str,
    table: TableProfile,
    columns: Sequence[ColumnProfile],
    rows: Mask | None = None,
    *,
    example_columns: Sequence[ColumnProfile] = (),
    **details: Any,
) -> Finding:
    """Return a finding of a kind, with examples of the rows that show it; `example_columns` are what the examples show."""
    facts = get_facts(f"table.{kind}") | details
    counts: dict[str, Any] = {"noun": "row", "rows": 0}
    if rows is not None:
        count = int(rows.sum())
        counts = {
            "cases": count,
            "cases_tried": len(table),
            "affected_rows": count,
            "rows": len(table),
            "noun": "row",
            "sampled": False,
            "examples": build_row_examples(rows, example_columns or columns),
        }
    facts.setdefault("about", ", ".join(column.name for column in columns[:MAX_NAMES]))
    names = tuple(column.name for column in columns if not column.is_label)
    return Finding(**(counts | {"inputs": "given", "columns": names} | facts))


def build_row_examples(rows: Mask | npt.NDArray[np.intp], columns: Sequence[ColumnProfile]) -> tuple[Example, ...]:
    """Return the first rows of a choice as examples that show the values of some columns."""
    positions = np.flatnonzero(rows) if rows.dtype == bool else rows
    return tuple(
        Example(
            text=", ".join(f"{column.name} is {format_value(column, position)}" for column in columns[:MAX_NAMES]),
            row=position,  # among the inputs: `locate_examples` knows the row of the data
        )
        for position in positions[:MAX_EXAMPLES].tolist()
    )


def format_value(column: ColumnProfile, position: int) -> str:
    """Return the value of a column in a row."""
    code = int(column.codes[position])
    return "missing" if code < 0 else format_short(column.values[code])


def format_names(names: Sequence[str]) -> str:
    """Return names in a sentence, the first of many."""
    first_names = list(names[:MAX_NAMES])
    rest = len(names) - len(first_names)
    return join_names(first_names) if not rest else f"{', '.join(first_names)} and {rest:,} more"


def format_count(count: int, total: int) -> str:
    """Return a count of rows and its share: ``12 of 400 rows (3%)``."""
    share = 100 * count / total if total else 0.0
    return f"{count:,} of {total:,} rows ({share:.2g}%)" if share < 99.5 else f"{count:,} of {total:,} rows"
