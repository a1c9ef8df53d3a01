"""A study as text: one grid per table, with footnotes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .result import Study
    from .rows import Row


@dataclass(frozen=True)
class Grid:
    """A table to print. Cells read published / ours."""

    heading: str
    columns: list[str]
    rows: list[tuple[str, list[str]]]


def build_grids(study: Study) -> tuple[list[Grid], list[str]]:
    """Return the grids of a study and its notes, which cells and columns cite as ``[1]``."""
    parts: dict[str, list[Row]] = {}
    for row in study.rows.itertuples(index=False):
        heading, colon, label = row.row.partition(": ")
        parts.setdefault(heading if colon else "", []).append(row._replace(row=label if colon else row.row))
    notes: dict[str, int] = {}
    return [_build_grid(_format_heading(name), rows, notes) for name, rows in parts.items()], list(notes)


def _format_heading(part: str) -> str:
    """Return the heading of a part; most are tables."""
    return f"Table {part}" if part[:3].isdigit() else part[:1].upper() + part[1:]


def _build_grid(heading: str, rows: list[Row], notes: dict[str, int]) -> Grid:
    columns = list(dict.fromkeys(row.column for row in rows))
    cells = {(row.row, row.column): row for row in rows}
    shared = {}
    for column in columns:  # a note on every cell becomes a note on the column
        sentence_sets = [set(_split_sentences(row.note)) for row in rows if row.column == column]
        shared[column] = set.intersection(*sentence_sets)

    def mark(sentences: list[str]) -> str:
        return "".join(f"[{notes.setdefault(sentence, len(notes) + 1)}]" for sentence in sentences)

    def cell(row: Row | None) -> str:
        if row is None:
            return ""
        own = [sentence for sentence in _split_sentences(row.note) if sentence not in shared[row.column]]
        return f"{format_number(row.published)} / {format_number(row.ours)} {mark(own)}".rstrip()

    headings = [f"{column} {mark(sorted(shared[column]))}".rstrip() for column in columns]
    labels = dict.fromkeys(row.row for row in rows)
    return Grid(
        heading, headings, [(label, [cell(cells.get((label, column))) for column in columns]) for label in labels]
    )


def format_study(study: Study) -> str:
    """Return a study as plain text."""
    tables, notes = build_grids(study)
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


def format_number(value: float) -> str:
    """Return a figure with about three significant digits."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite"
    if 0 < abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def _split_sentences(note: str) -> list[str]:
    """Return the sentences of a note; each becomes a footnote."""
    return [f"{sentence.rstrip('.')}." for sentence in note.split(". ")] if note else []
