"""Write Markdown in which text from users stays text, for pull requests and chat."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from .._text import quote_formula
from .document import Facts, Page, Section, SectionState, Table
from .text import cut, split_blocks, to_one_line
from .trim import PageLimits, fit_page

MAX_BYTES = 60_000  # platforms take some 65,000 characters per comment
MAX_TEXT_CHARACTERS = 2_000
MAX_CODE_CHARACTERS = 4_000
MAX_CELL_CHARACTERS = 200
MAX_SUMMARY_CHARACTERS = 200
LIMITS = PageLimits(rows=50, cell=MAX_CELL_CHARACTERS, text=MAX_TEXT_CHARACTERS)
VERDICT_SIGNS: dict[SectionState, str] = {"good": "✅ ", "warn": "⚠️ ", "bad": "❌ "}
BADGE_SIGNS: dict[SectionState, str] = {"good": "🟢 ", "note": "🔵 ", "warn": "🟠 ", "bad": "🔴 "}
ZERO_WIDTH_SPACE = "&#8203;"
_MARKUP = re.compile(r"([\\`*_\[\]|{}^~$])")
#: What platforms turn into links beyond what Markdown says: mentions, issues, labels, addresses.
_LINK = re.compile(
    r"(?<![&\w])(GH-)(?=\d)|([@#!~%$])(?=\w)|(:)(?=//)|(\bwww)(?=\.)|(\b(?:mailto|xmpp):)", re.IGNORECASE
)
_BLOCK_START = re.compile(r"^([-+=#]|\d+(?=[.)](?:\s|$)))")


def format_page(page: Page) -> str:
    """Return a page as Markdown that fits into a comment; pictures and drawings are left out.

    Sections that readers can fold, and the parts of those that they can search, are folded.
    """
    words = replace(page, tiles=(), sections=[_drop_pictures(section) for section in page.sections])
    _, text = fit_page(words, MAX_BYTES, _format_page, LIMITS, max_characters=10 * MAX_BYTES)
    return text


def _drop_pictures(section: Section) -> Section:
    """Return a section with what Markdown shows of it."""
    return replace(
        section,
        picture=None,
        drawing=None,
        chart=None,
        snippets=(),
        table=None if section.table is None else replace(section.table, sortable=False),
        beside=[_drop_pictures(part) for part in section.beside],
        parts=[_drop_pictures(part) for part in section.parts],
    )


def _format_page(page: Page) -> str:
    lines = [f"# {escape_markdown(page.title)}", ""]
    if page.verdict:
        lines += [f"{VERDICT_SIGNS.get(page.state, '')}**{escape_markdown(page.verdict)}**", ""]
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


def _format_section(section: Section, level: int, folded: bool = False) -> Iterator[str]:
    badge = f"{section.badge}: " if section.badge else ""
    sign = BADGE_SIGNS.get(section.state, "") if badge else ""
    folded = folded or section.folding == "closed"
    if folded:
        yield f"<details><summary>{sign}{escape_summary(badge + section.heading)}</summary>"
    elif section.heading or badge:
        yield f"{'#' * min(level, 6)} {sign}{escape_markdown(badge + section.heading)}"
    yield ""
    yield from _format_text(section.text)
    yield from _format_facts(section.all_facts)
    if section.table is not None:
        yield from _format_report_table(section.table)
    if section.again:
        yield from (*format_code_block(section.again), "")
    for part in section.beside:
        yield from _format_section(part, level + 1)
    for part in section.parts:
        yield from _format_section(part, level + 1, folded=section.searchable)
    if folded:
        yield from ("</details>", "")


def _format_text(text: str) -> Iterator[str]:
    for kind, lines in split_blocks(text):
        for line in lines:
            yield from (f"- {escape_markdown(line)}",) if kind == "ul" else (escape_markdown(line), "")
        if kind == "ul":
            yield ""


def _format_facts(facts: Facts) -> Iterator[str]:
    for term, value in facts:
        blocks = split_blocks(value)
        is_paragraph = bool(blocks) and blocks[0][0] == "p"
        first_lines = blocks.pop(0)[1] if is_paragraph else []
        yield f"- **{escape_markdown(term)}:** {' '.join(map(escape_markdown, first_lines))}".rstrip()
        yield from (f"  - {escape_markdown(line)}" for _, lines in blocks for line in lines)
    if facts:
        yield ""


def _format_report_table(table: Table) -> Iterator[str]:
    if table.caption:
        yield from (escape_markdown(table.caption), "")
    yield from (*format_table(table.columns, table.rows), "")
    if table.note:
        yield from (escape_markdown(table.note), "")
