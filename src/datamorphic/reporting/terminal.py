"""Render a page as text for a terminal: the verdict, the facts, the sections; pictures and drawings are left out."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence

from .document import Facts, Page, Section, Table
from .text import cut, find_numeric_columns, format_cell, split_blocks, to_one_line, to_printable

LINE_CHARACTERS = 100
MIN_LINE_CHARACTERS = 40
MIN_COLUMN_CHARACTERS = 20  # of a column whose cells are wrapped
MAX_TEXT_CHARACTERS = 2_000
INDENT = "  "
COLUMN_GAP = "  "


def format_page(page: Page, width: int | None = None) -> str:
    """Return a page as text, wrapped to a width: by default 100 characters, or that of a narrower terminal.

    The headline, commands and tables with many columns may be wider.

    Examples
    --------
    >>> table = Table(columns=["law", "outcome"], rows=[["symmetry", "HOLDS"], ["identity", "BROKEN"]])
    >>> section = Section(heading="All laws", text="", table=table)
    >>> page = Page(
    ...     title="Laws of Box 1", subject="Box 1", lead="", verdict="1 law is broken", facts=[("Seed", "0")], sections=[section]
    ... )
    >>> print(format_page(page))
    Box 1: 1 law is broken
    Seed: 0
    <BLANKLINE>
    All laws
      law       outcome
      symmetry  HOLDS
      identity  BROKEN
    """
    width = _find_width() if width is None else width
    headline = f"{page.subject}: {page.verdict}" if page.subject else page.verdict or page.title
    facts = [fact for fact in page.facts if fact[1] != page.subject]
    lines = [_clean(headline), *_format_facts(facts, "", width)]
    for section in page.sections:
        lines += ["", *_format_section(section, "", width)]
    return "\n".join(lines)


def _find_width() -> int:
    if not (sys.stdout and sys.stdout.isatty()):
        return LINE_CHARACTERS
    return max(MIN_LINE_CHARACTERS, min(LINE_CHARACTERS, shutil.get_terminal_size().columns))


def _format_section(section: Section, indent: str, width: int) -> Iterator[str]:
    badge = f"{section.badge.upper()}: " if section.badge else ""
    if section.heading or badge:
        yield from _wrap(f"{badge}{section.heading}", indent, width, hanging=INDENT)
        indent += INDENT
    yield from _format_text(section.text, indent, width)
    yield from _format_facts([*((meter.label, meter.text) for meter in section.meters), *section.facts], indent, width)
    if section.table is not None:
        yield from _format_table(section.table, indent, width)
    if section.again:
        yield f"{indent}Repeat: {_clean(section.again)}"
    for part in (*section.beside, *section.parts):
        yield ""
        yield from _format_section(part, indent, width)


def _clean(text: str) -> str:
    """Return a text on one line, so that a name with a line break cannot look like another finding."""
    return to_printable(to_one_line(cut(text, MAX_TEXT_CHARACTERS)))


def _wrap(text: str, indent: str, width: int, hanging: str = "") -> list[str]:
    """Return the lines of a text; all but the first are indented by `hanging`, too."""
    return textwrap.wrap(
        _clean(text),
        max(width, len(indent) + MIN_COLUMN_CHARACTERS),
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _format_text(text: str, indent: str, width: int) -> Iterator[str]:
    for kind, lines in split_blocks(text):
        for line in lines:
            if kind == "ul":
                yield from _wrap(f"- {line}", indent, width, hanging="  ")
            else:
                yield from _wrap(line, indent, width)


def _format_facts(facts: Facts, indent: str, width: int) -> Iterator[str]:
    """Return terms and their values, one below the other."""
    terms = [f"{_clean(term)}:" for term, value in facts]
    column = max(map(len, terms), default=0) + 1
    for term, (_, value) in zip(terms, facts, strict=True):
        value_indent = indent + " " * column
        lines = list(_format_text(value, value_indent, width)) or [indent]
        yield f"{indent}{term.ljust(column)}{lines[0][len(value_indent) :]}".rstrip()
        yield from lines[1:]


def _format_table(table: Table, indent: str, width: int) -> Iterator[str]:
    """Return the main columns and rows of a table; cells of long text are wrapped."""
    if table.caption:
        yield from _wrap(table.caption, indent, width)
    columns = [j for j, name in enumerate(table.columns) if not table.main_columns or name in table.main_columns]
    rows = [[_clean(format_cell(row[j])) for j in columns] for row in table.rows[: table.main_rows]]
    numeric = find_numeric_columns(rows, len(columns))
    lines = [[_clean(str(table.columns[j])) for j in columns], *rows]
    widths = _choose_widths(lines, width - len(indent))
    for cells in lines:
        wrapped = [
            textwrap.wrap(cell, size, break_long_words=False, break_on_hyphens=False) or [""]
            for cell, size in zip(cells, widths, strict=True)
        ]
        for number in range(max(map(len, wrapped))):
            pieces = [piece[number] if number < len(piece) else "" for piece in wrapped]
            aligned = [
                piece.rjust(size) if is_number else piece.ljust(size)
                for piece, size, is_number in zip(pieces, widths, numeric, strict=True)
            ]
            yield f"{indent}{COLUMN_GAP.join(aligned)}".rstrip()
    if len(table.rows) > len(rows):
        yield f"{indent}and {len(table.rows) - len(rows):,} more"
    if table.note:
        yield from _wrap(table.note, indent, width)


def _choose_widths(lines: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of columns. Where lines are too long, headings are wrapped first, then the longest texts."""
    columns = list(zip(*lines, strict=True))
    words = [max((len(word) for cell in column for word in cell.split()), default=0) for column in columns]
    widths = [max(map(len, column)) for column in columns]
    bodies = [max(map(len, column[1:]), default=0) for column in columns]
    limits = [
        [max(word, body) for word, body in zip(words, bodies, strict=True)],
        [max(word, min(MIN_COLUMN_CHARACTERS, size)) for word, size in zip(words, widths, strict=True)],
    ]
    excess = sum(widths) + len(COLUMN_GAP) * (len(widths) - 1) - width
    for least in limits:
        while excess > 0 and (wide := [j for j, size in enumerate(widths) if size > least[j]]):
            widest = max(wide, key=lambda j: widths[j])
            widths[widest] -= 1
            excess -= 1
    return widths
