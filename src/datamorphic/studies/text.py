"""A study told: figures side by side, in one grid a table, with notes at the foot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .rows import Row
    from .study import Study


@dataclass(frozen=True)
class Grid:
    """A table to print: each cell is published / ours."""

    heading: str
    columns: list[str]
    rows: list[tuple[str, list[str]]]


def grids(study: Study) -> tuple[list[Grid], list[str]]:
    """Return the grids of a study and its notes; a cell or a column refers to notes as ``[1]``."""
    parts: dict[str, list[Row]] = {}
    for row in study.rows.itertuples(index=False):
        heading, colon, label = row.row.partition(": ")
        parts.setdefault(heading if colon else "", []).append(row._replace(row=label if colon else row.row))
    notes: dict[str, int] = {}
    return [_grid(_heading(name), rows, notes) for name, rows in parts.items()], list(notes)


def _heading(part: str) -> str:
    """Return what a part of a study is called: most are tables."""
    return f"Table {part}" if part[:3].isdigit() else part[:1].upper() + part[1:]


def _grid(heading: str, rows: list[Row], notes: dict[str, int]) -> Grid:
    columns = list(dict.fromkeys(row.column for row in rows))
    cells = {(row.row, row.column): row for row in rows}
    shared = {}
    for column in columns:  # what is to be said of every cell is said of the column
        said = [set(_sentences(row.note)) for row in rows if row.column == column]
        shared[column] = set.intersection(*said)

    def mark(sentences: list[str]) -> str:
        return "".join(f"[{notes.setdefault(each, len(notes) + 1)}]" for each in sentences)

    def cell(row: Row | None) -> str:
        if row is None:
            return ""
        own = [each for each in _sentences(row.note) if each not in shared[row.column]]
        return f"{number(row.published)} / {number(row.ours)} {mark(own)}".rstrip()

    headings = [f"{column} {mark(sorted(shared[column]))}".rstrip() for column in columns]
    labels = dict.fromkeys(row.row for row in rows)
    return Grid(
        heading, headings, [(label, [cell(cells.get((label, column))) for column in columns]) for label in labels]
    )


def text(study: Study) -> str:
    """Return a study as plain text."""
    tables, notes = grids(study)
    lines = [study.heading, "Cells: published / ours."]
    for grid in tables:
        lines += ["", grid.heading] if grid.heading else [""]
        table = [("", grid.columns), *grid.rows]
        first = max(len(label) for label, _ in table)
        widths = [max(len(cells[j]) for _, cells in table) for j in range(len(grid.columns))]
        lines += [
            "  ".join([label.ljust(first), *(c.rjust(w) for c, w in zip(cells, widths, strict=True))]).rstrip()
            for label, cells in table
        ]
    if notes:
        lines += ["", *(f"[{k}] {note}" for k, note in enumerate(notes, 1))]
    return "\n".join(lines)


def number(value: float) -> str:
    """Return a figure with as many digits as it deserves."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite"
    if 0 < abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def _sentences(note: str) -> list[str]:
    """Return the sentences of a note: each is a footnote of its own."""
    return [f"{each.rstrip('.')}." for each in note.split(". ")] if note else []
