"""Write Markdown in which text from users stays text, for pull requests and chat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from .._text import quote_formula
from .document import Facts, Page, Section, Table
from .text import cut, format_cell, to_one_line

MAX_TEXT_CHARACTERS = 2_000
MAX_CODE_CHARACTERS = 4_000
MAX_CELL_CHARACTERS = 200
MAX_SUMMARY_CHARACTERS = 200
MAX_TABLE_ROWS = 50
ZERO_WIDTH_SPACE = "&#8203;"
_MARKUP = re.compile(r"([\\`*_\[\]|{}^~$])")
#: What platforms turn into links beyond what Markdown says: mentions, issues, labels, addresses.
_LINK = re.compile(
    r"(?<![&\w])(GH-)(?=\d)|([@#!~%$])(?=\w)|(:)(?=//)|(\bwww)(?=\.)|(\b(?:mailto|xmpp):)", re.IGNORECASE
)
_BLOCK_START = re.compile(r"^([-+=#]|\d+(?=[.)](?:\s|$)))")


def format_page(page: Page) -> str:
    """Return a page as Markdown; pictures and drawings are left out."""
    lines = [f"# {escape_markdown(page.title)}", ""]
    if page.verdict:
        lines += [f"**{escape_markdown(page.verdict)}**", ""]
    lines += _format_text(page.lead)
    lines += _format_facts(page.facts)
    for section in page.sections:
        lines += _format_section(section, level=2)
    return "\n".join(lines).rstrip() + "\n"


def escape_markdown(text: str, limit: int = MAX_TEXT_CHARACTERS) -> str:
    """Return a text on one line as Markdown that shows exactly this text.

    Examples
    --------
    >>> escape_markdown("a|b <b>*bold*</b>")
    'a\\\\|b &lt;b&gt;\\\\*bold\\\\*&lt;/b&gt;'
    """
    escaped = _MARKUP.sub(r"\\\1", _break_links(text, limit).replace("&", "&amp;"))
    escaped = escaped.replace("<", "&lt;").replace(">", "&gt;")
    if start := _BLOCK_START.match(escaped):  # of a list or a heading
        place = start.end() if start[1][0].isdigit() else 0
        escaped = f"{escaped[:place]}\\{escaped[place:]}"
    return escaped.replace("\0", ZERO_WIDTH_SPACE)


def escape_summary(text: str) -> str:
    """Return a text for a line of HTML, in which platforms may or may not read Markdown."""
    characters = (
        character if character.isalnum() or character in " ,;–'\0" else f"&#{ord(character)};"
        for character in _break_links(text, MAX_SUMMARY_CHARACTERS)
    )
    return "".join(characters).replace("\0", ZERO_WIDTH_SPACE)


def format_code_block(text: str, limit: int = MAX_CODE_CHARACTERS) -> list[str]:
    """Return the lines of a code block that the text cannot end."""
    line = cut(to_one_line(text), limit)
    ticks = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, ticks + 1)
    return [fence, line, fence]


def format_table(columns: Sequence[str], rows: Iterable[Sequence[str]], limit: int = MAX_CELL_CHARACTERS) -> list[str]:
    """Return the lines of a table whose cells hold at most `limit` characters."""
    return [
        f"| {' | '.join(escape_markdown(quote_formula(name), limit) for name in columns)} |",
        f"|{' --- |' * len(columns)}",
        *(f"| {' | '.join(escape_markdown(quote_formula(cell), limit) for cell in row)} |" for row in rows),
    ]


def _break_links(text: str, limit: int) -> str:
    """Return a text on one line, with a NUL inside everything that a platform would turn into a link."""
    return _LINK.sub(lambda match: f"{match[0]}\0", cut(to_one_line(text[: 4 * limit]), limit))


def _format_section(section: Section, level: int) -> Iterator[str]:
    badge = f"{section.badge}: " if section.badge else ""
    yield f"{'#' * min(level, 6)} {escape_markdown(badge + section.heading)}"
    yield ""
    yield from _format_text(section.text)
    yield from _format_facts([*((meter.label, meter.text) for meter in section.meters), *section.facts])
    if section.table is not None:
        yield from _format_report_table(section.table)
    if section.again:
        yield from (*format_code_block(section.again), "")
    for part in (*section.beside, *section.parts):
        yield from _format_section(part, level + 1)


def _format_text(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if line.startswith("• "):
            yield f"- {escape_markdown(line.removeprefix('• '))}"
        elif line.strip():
            yield escape_markdown(line)
            yield ""
    if text:
        yield ""


def _format_facts(facts: Facts) -> Iterator[str]:
    for term, meaning in facts:
        yield f"- {escape_markdown(term)}: {escape_markdown(meaning)}"
    if facts:
        yield ""


def _format_report_table(table: Table) -> Iterator[str]:
    if table.caption:
        yield from (escape_markdown(table.caption), "")
    rows = [[format_cell(cell) for cell in row] for row in table.rows[:MAX_TABLE_ROWS]]
    yield from (*format_table([str(name) for name in table.columns], rows), "")
    if len(table.rows) > MAX_TABLE_ROWS:
        yield from (f"{len(table.rows) - MAX_TABLE_ROWS:,} more rows are not listed.", "")
    if table.note:
        yield from (escape_markdown(table.note), "")
