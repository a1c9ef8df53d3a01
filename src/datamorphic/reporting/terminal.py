"""Render a page as text for a terminal: the verdict, the facts, the sections; pictures and drawings are left out."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .document import Facts, Page, Section, Table
from .text import cut, find_numeric_columns, format_cell, split_blocks, to_one_line, to_printable

LINE_CHARACTERS = 100
MIN_LINE_CHARACTERS = 40
MIN_COLUMN_CHARACTERS = 20  # of a column whose cells are wrapped
MAX_TEXT_CHARACTERS = 2_000
INDENT = "  "
COLUMN_GAP = "  "


def format_page(page: Page, width: int | None = None, translate: Callable[[str], str] = str) -> str:
    """Return a page as text, wrapped to a width: by default 100 characters, or that of a narrower terminal.

    The headline, commands and tables with many columns may be wider. `translate` changes the words of every text before it is
    wrapped.

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
    writer = _TerminalWriter(_find_width() if width is None else width, translate)
    headline = f"{page.subject}: {page.verdict}" if page.subject else page.verdict or page.title
    facts = [fact for fact in page.facts if fact[1] != page.subject]
    lines = [writer.clean(headline), *writer.format_facts(facts, "")]
    for section in page.sections:
        lines += ["", *writer.format_section(section, "")]
    return "\n".join(lines)


def format_section(section: Section) -> str:
    """Return one section as text, wrapped to 100 characters."""
    return "\n".join(_TerminalWriter(LINE_CHARACTERS, str).format_section(section, ""))


def _find_width() -> int:
    if not (sys.stdout and sys.stdout.isatty()):
        return LINE_CHARACTERS
    return max(MIN_LINE_CHARACTERS, min(LINE_CHARACTERS, shutil.get_terminal_size().columns))


@dataclass(frozen=True)
class _TerminalWriter:
    """Writes the parts of a page as lines of a width, in the words that `translate` returns."""

    width: int
    translate: Callable[[str], str]

    def format_section(self, section: Section, indent: str) -> Iterator[str]:
        badge = f"{section.badge.upper()}: " if section.badge else ""
        if section.heading or badge:
            yield from self._wrap(f"{badge}{section.heading}", indent, hanging=INDENT)
            indent += INDENT
        yield from self._format_text(section.text, indent)
        yield from self.format_facts(section.all_facts, indent)
        if section.table is not None:
            yield from self._format_table(section.table, indent)
        if section.again:
            yield f"{indent}Repeat: {self.clean(section.again)}"
        for snippet in section.snippets:
            yield f"{indent}{self.clean(snippet.label)}:"
            yield from (f"{indent}{INDENT}{line}" for line in to_printable(snippet.text).split("\n"))
        for part in (*section.beside, *section.parts):
            yield ""
            yield from self.format_section(part, indent)

    def clean(self, text: str) -> str:
        """Return a text on one line, so that a name with a line break cannot look like another finding."""
        return to_printable(to_one_line(cut(self.translate(text), MAX_TEXT_CHARACTERS)))

    def _wrap(self, text: str, indent: str, hanging: str = "") -> list[str]:
        """Return the lines of a text; all but the first are indented by `hanging`, too."""
        return textwrap.wrap(
            self.clean(text),
            max(self.width, len(indent) + MIN_COLUMN_CHARACTERS),
            initial_indent=indent,
            subsequent_indent=indent + hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )

    def _format_text(self, text: str, indent: str) -> Iterator[str]:
        for kind, lines in split_blocks(text):
            for line in lines:
                if kind == "ul":
                    yield from self._wrap(f"- {line}", indent, hanging="  ")
                else:
                    yield from self._wrap(line, indent)

    def format_facts(self, facts: Facts, indent: str) -> Iterator[str]:
        """Return terms and their values, one below the other."""
        terms = [f"{self.clean(term)}:" for term, value in facts]
        column = max(map(len, terms), default=0) + 1
        for term, (_, value) in zip(terms, facts, strict=True):
            value_indent = indent + " " * column
            lines = list(self._format_text(value, value_indent)) or [indent]
            yield f"{indent}{term.ljust(column)}{lines[0][len(value_indent) :]}".rstrip()
            yield from lines[1:]

    def _format_table(self, table: Table, indent: str) -> Iterator[str]:
        """Return the main columns and rows of a table; cells of long text are wrapped."""
        if table.caption:
            yield from self._wrap(table.caption, indent)
        columns = [j for j, name in enumerate(table.columns) if not table.main_columns or name in table.main_columns]
        rows = [[self.clean(format_cell(row[j])) for j in columns] for row in table.rows[: table.main_rows]]
        numeric = find_numeric_columns(rows, len(columns))
        lines = [[self.clean(str(table.columns[j])) for j in columns], *rows]
        widths = _choose_widths(lines, self.width - len(indent))
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
            yield from self._wrap(table.note, indent)


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
