"""Write a page as Markdown, for pull requests and chat."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .document import Facts, Page, Section, Table
from .text import cut, to_one_line

MAX_TEXT_CHARACTERS = 2_000
MAX_CELL_CHARACTERS = 200
MAX_TABLE_ROWS = 50
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~-])")


def format_page(page: Page) -> str:
    """Return a page as Markdown; pictures are replaced by their description in words."""
    lines = [f"# {escape_markdown(page.title)}", ""]
    if page.verdict:
        lines += [f"**{escape_markdown(page.verdict)}**", ""]
    if page.lead:
        lines += [escape_markdown(page.lead), ""]
    lines += _format_facts(page.facts)
    for section in page.sections:
        lines += _format_section(section, level=2)
    return "\n".join(lines).rstrip() + "\n"


def escape_markdown(text: str, limit: int = MAX_TEXT_CHARACTERS) -> str:
    """Return a text of one line in which nothing is taken for markup."""
    return _MARKUP.sub(r"\\\1", cut(to_one_line(text), limit))


def _format_section(section: Section, level: int) -> Iterator[str]:
    badge = f"{section.badge}: " if section.badge else ""
    yield f"{'#' * min(level, 6)} {escape_markdown(badge + section.heading)}"
    yield ""
    for line in section.text.split("\n"):
        if line.startswith("• "):
            yield f"- {escape_markdown(line.removeprefix('• '))}"
        elif line.strip():
            yield escape_markdown(line)
            yield ""
    if section.text:
        yield ""
    yield from _format_facts(section.facts)
    if section.table is not None:
        yield from _format_table(section.table)
    if section.again:
        yield from ("```", *cut(section.again, MAX_TEXT_CHARACTERS).replace("```", "'''").split("\n"), "```", "")
    for part in section.parts:
        yield from _format_section(part, level + 1)


def _format_facts(facts: Facts) -> Iterator[str]:
    pairs = list(facts)
    for term, meaning in pairs:
        yield f"- {escape_markdown(term)}: {escape_markdown(meaning)}"
    if pairs:
        yield ""


def _format_table(table: Table) -> Iterator[str]:
    if table.caption:
        yield from (escape_markdown(table.caption), "")
    yield "| " + " | ".join(escape_markdown(str(name), MAX_CELL_CHARACTERS) for name in table.columns) + " |"
    yield "|" + " --- |" * len(table.columns)
    for row in table.rows[:MAX_TABLE_ROWS]:
        yield "| " + " | ".join(escape_markdown(str(cell), MAX_CELL_CHARACTERS) for cell in row) + " |"
    yield ""
    if len(table.rows) > MAX_TABLE_ROWS:
        yield from (f"{len(table.rows) - MAX_TABLE_ROWS:,} more rows are not listed.", "")
    if table.note:
        yield from (escape_markdown(table.note), "")
