"""The findings as Markdown for a pull request; words of others arrive as words, whatever signs are in them."""

from __future__ import annotations

import re

from ..reporting.text import cut, to_one_line
from .finding import LEVEL_MEANINGS, Finding
from .finding_text import (
    format_certainty,
    format_command,
    format_effort,
    format_frequency,
    format_percent,
    format_state,
    tabulate_example,
)
from .result import AuditResult

MAX_CHARACTERS = 60_000  # characters: comments on pull requests may have some 65,000
SIZE_LIMITS = (
    (50, 600),
    (30, 300),
    (15, 150),
    (6, 80),
    (2, 40),
)  # findings in the table, letters of a text: the first that fits
_MARKUP_PATTERN = re.compile(r"([\\`*_\[\]|{}^~$])")
#: what platforms make links of though no Markdown says so: mentions, issues, labels, addresses
_LINK_PATTERN = re.compile(
    r"(?<![&\w])(GH-)(?=\d)|([@#!~%$])(?=\w)|(:)(?=//)|(\bwww)(?=\.)|(\b(?:mailto|xmpp):)", re.IGNORECASE
)
_BLOCK_START_PATTERN = re.compile(r"^([-+=#]|\d+(?=[.)](?:\s|$)))")
ZERO_WIDTH_SPACE = "&#8203;"  # a space of no width
LEVEL_LABELS = {"fault": "🔴 fault", "concern": "🟠 concern", "advice": "🔵 advice"}


def format_markdown(result: AuditResult) -> str:
    """Return the findings as Markdown: the verdict, a table, and the details folded."""
    document = ""
    for finding_limit, text_limit in SIZE_LIMITS:
        document = _format_document(result, finding_limit, text_limit)
        if len(document) <= MAX_CHARACTERS:
            break
    return document


def _format_document(result: AuditResult, finding_limit: int, text_limit: int) -> str:
    findings = result.findings
    sign = "✅" if result.passed else "❌"
    kind, data, cost = (
        escape_text(value, text_limit) for value in (result.kind, result.data, format_effort(result))
    )
    lines = [
        f"### {sign} {escape_text(result.subject, min(200, text_limit))}: {escape_text(result.headline, text_limit)}",
        "",
        f"{kind}, with {data}; seed {result.seed}; {cost}.",
        "",
    ]
    if findings:
        lines += ["| | finding | check | cases | how sure |", "| --- | --- | --- | --- | --- |"]
        lines += [_format_row(finding, text_limit) for finding in findings[:finding_limit]]
        lines.append("")
        if len(findings) > finding_limit:
            lines += [f"{len(findings) - finding_limit:,} more findings are in the report.", ""]
        levels = dict.fromkeys(finding.level for finding in findings)
        lines += ["; ".join(f"**{level}**: {LEVEL_MEANINGS[level]}" for level in levels) + ".", ""]
    tail = [
        *_format_checks(result, 4 * finding_limit, text_limit),
        *_format_notes(result, finding_limit, text_limit),
    ]
    characters_left = MAX_CHARACTERS - sum(len(line) + 1 for line in lines + tail)
    for number, finding in enumerate(findings):
        details = _format_details(result, finding, text_limit)
        characters_left -= sum(len(line) + 1 for line in details)
        if characters_left < 100:
            lines += [
                f"The details of {len(findings) - number:,} findings are left out: they are in the report.",
                "",
            ]
            break
        lines += details
    return "\n".join(lines + tail).rstrip() + "\n"


def escape_text(text: str, limit: int = 600) -> str:
    """Return words as Markdown that shows exactly these words.

    Examples
    --------
    >>> escape_text("a|b <b>*bold*</b>")
    'a\\\\|b &lt;b&gt;\\\\*bold\\\\*&lt;/b&gt;'
    """
    safe = (
        _MARKUP_PATTERN.sub(r"\\\1", _break_links(text, limit).replace("&", "&amp;"))
        .replace("<", "&lt;")
        .replace(">", "&gt;")
    )
    return _BLOCK_START_PATTERN.sub(_escape_start, safe).replace("\0", ZERO_WIDTH_SPACE)


def _escape_start(match: re.Match[str]) -> str:
    """Return what would begin a list or a heading so that it does not."""
    return f"{match[1]}\\" if match[1][0].isdigit() else f"\\{match[1]}"


def format_code_block(text: str, limit: int = 4_000) -> list[str]:
    """Return words as a block of code that they cannot end."""
    line = cut(to_one_line(text), limit)
    ticks = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, ticks + 1)
    return [fence, line, fence]


def _format_row(finding: Finding, text_limit: int) -> str:
    cases = f"{finding.cases:,} of {finding.of:,}" if finding.of else "–"
    title, check = (
        escape_text(finding.title, min(200, text_limit)),
        escape_text(finding.check, min(60, text_limit)),
    )
    return f"| {LEVEL_LABELS[finding.level]} | {title} | {check} | {cases} | {format_percent(finding.sure)} |"


def _format_details(result: AuditResult, finding: Finding, text_limit: int) -> list[str]:
    heading = f"{LEVEL_LABELS[finding.level]}: {_escape_html(finding.title)}"
    frequency = format_frequency(finding, skip_if_in_detail=True)
    facts = {"What to do": finding.remedy, "How often": frequency, "How sure": format_certainty(finding)}
    lines = [f"<details><summary>{heading}</summary>", "", escape_text(finding.detail, text_limit), ""]
    lines += [f"- **{term}:** {escape_text(value, text_limit)}" for term, value in facts.items() if value] + [""]
    for example in finding.examples[:1]:
        columns, table, note = tabulate_example(example)
        lines += [f"**Example:** {escape_text(example.words, text_limit)}" if example.words else "**Example**", ""]
        if table:
            lines += [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}"]
            lines += [f"| {' | '.join(escape_text(cell, 80) for cell in row)} |" for row in table] + [""]
        lines += [escape_text(note), ""] if note else []
    return [
        *lines,
        "To see it again:",
        "",
        *format_code_block(format_command(result, finding), 4 * text_limit),
        "",
        "</details>",
        "",
    ]


def _escape_html(text: str) -> str:
    """Return words as they stand within a line of HTML, where signs of Markdown may or may not count."""
    escaped_characters = (
        character if character.isalnum() or character in " ,;–'\0" else f"&#{ord(character)};"
        for character in _break_links(text, 200)
    )
    return "".join(escaped_characters).replace("\0", ZERO_WIDTH_SPACE)


def _break_links(text: str, limit: int) -> str:
    """Return words on one line, with a NUL after each sign from which a platform would make a link."""
    return _LINK_PATTERN.sub(lambda match: f"{match[0]}\0", cut(to_one_line(text[: 4 * limit]), limit))


def _format_checks(result: AuditResult, limit: int, text_limit: int) -> list[str]:
    lines = [f"<details><summary>All {len(result.outcomes)} checks</summary>", ""]
    lines += ["| check | outcome | |", "| --- | --- | --- |"]
    lines += [
        f"| {escape_text(outcome.check, min(60, text_limit))} | {escape_text(format_state(outcome))} | {escape_text(outcome.why or outcome.asks, text_limit)} |"
        for outcome in result.outcomes[:limit]
    ]
    omitted_count = len(result.outcomes) - limit
    return [
        *lines,
        "",
        *([f"{omitted_count:,} more checks are in the report.", ""] if omitted_count > 0 else []),
        "</details>",
        "",
    ]


def _format_notes(result: AuditResult, limit: int, text_limit: int) -> list[str]:
    if not result.notes:
        return []
    notes = [f"- {escape_text(note, text_limit)}" for note in result.notes[:limit]]
    omitted_count = len(result.notes) - limit
    notes += [f"- {omitted_count:,} more notes are in the report."] if omitted_count > 0 else []
    return ["<details><summary>Notes</summary>", "", *notes, "", "</details>", ""]
