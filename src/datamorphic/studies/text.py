"""A study as text: one grid per table, with footnotes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .rows import split_sentences

if TYPE_CHECKING:
    from .result import Study
    from .rows import Row


CELLS_TEXT = (
    "Cells: published / ours ± half the width of its 95% interval; in brackets, the trials or repetitions behind ours."
)


@dataclass(frozen=True)
class Grid:
    """A table to print; its cells are as in `CELLS_TEXT`."""

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
    shared, trials = {}, {}
    for column in columns:  # what every cell has, a note or the number of trials, is said of the column
        column_rows = [row for row in rows if row.column == column]
        shared[column] = set.intersection(*(set(split_sentences(row.note)) for row in column_rows))
        counts = {row.trials for row in column_rows if not math.isnan(row.ours)}
        trials[column] = counts.pop() if len(counts) == 1 else math.nan

    def mark(sentences: list[str]) -> str:
        return "".join(f"[{notes.setdefault(sentence, len(notes) + 1)}]" for sentence in sentences)

    def cell(row: Row | None) -> str:
        if row is None:
            return ""
        own = [sentence for sentence in split_sentences(row.note) if sentence not in shared[row.column]]
        count = "" if row.trials == trials[row.column] else _format_trials(row.trials)
        parts = [f"{format_number(row.published)} / {format_number(row.ours)}", _format_margin(row), count, mark(own)]
        return " ".join(filter(None, parts))

    headings = [
        " ".join(filter(None, [column, _format_trials(trials[column]), mark(sorted(shared[column]))]))
        for column in columns
    ]
    labels = dict.fromkeys(row.row for row in rows)
    return Grid(
        heading, headings, [(label, [cell(cells.get((label, column))) for column in columns]) for label in labels]
    )


def format_study(study: Study) -> str:
    """Return a study as plain text."""
    tables, notes = build_grids(study)
    lines = [study.heading, CELLS_TEXT]
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


def _format_margin(row: Row) -> str:
    """Return the margin with as many decimals as ours, or more if it is smaller."""
    if math.isnan(row.margin):
        return ""
    decimals = len(format_number(row.ours).partition(".")[2])
    text = f"{row.margin:,.{decimals}f}"
    return f"±{text if float(text.replace(',', '')) or not row.margin else format_number(row.margin)}"


def _format_trials(trials: float) -> str:
    return "" if math.isnan(trials) else f"({trials:,.0f})"
