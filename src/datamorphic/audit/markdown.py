"""Format an audit as Markdown that fits into a comment on a pull request."""

from __future__ import annotations

from .._text import format_percent
from ..core.result import LEVEL_MEANINGS, Finding
from ..reporting.markdown import escape_markdown, escape_summary, format_code_block, format_table
from .result import AuditResult
from .text import (
    format_certainty,
    format_command,
    format_effort,
    format_evidence,
    format_frequency,
    format_impact,
    format_state,
    tabulate_example,
)

MAX_CHARACTERS = 60_000  # platforms take some 65,000 per comment
#: The number of findings in the table and the characters of one text: the first pair that fits is used.
SIZE_LIMITS = ((50, 600), (30, 300), (15, 150), (6, 80), (2, 40))
MAX_EXAMPLE_CHARACTERS = 80
LEVEL_LABELS = {"fault": "🔴 fault", "concern": "🟠 concern", "advice": "🔵 advice"}


def format_markdown(result: AuditResult) -> str:
    """Return the verdict, a table of findings, and folded details."""
    document = ""
    for finding_limit, text_limit in SIZE_LIMITS:
        document = _format_document(result, finding_limit, text_limit)
        if len(document) <= MAX_CHARACTERS:
            break
    return document


def _format_document(result: AuditResult, finding_limit: int, text_limit: int) -> str:
    findings = result.findings
    sign = "✅" if result.passed else "⚠️" if result.unfinished and not result.at_least("concern") else "❌"
    subject = escape_markdown(result.subject, min(200, text_limit))
    kind, data, cost = (
        escape_markdown(value, text_limit) for value in (result.kind, result.data, format_effort(result))
    )
    lines = [
        f"### {sign} {subject}: {escape_markdown(result.headline, text_limit)}",
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
    tail = [*_format_checks(result, 4 * finding_limit, text_limit), *_format_notes(result, finding_limit, text_limit)]
    characters_left = MAX_CHARACTERS - sum(len(line) + 1 for line in lines + tail)
    for number, finding in enumerate(findings):
        details = _format_details(result, finding, text_limit)
        characters_left -= sum(len(line) + 1 for line in details)
        if characters_left < 100:
            lines += [f"The details of {len(findings) - number:,} findings are only in the report.", ""]
            break
        lines += details
    return "\n".join(lines + tail).rstrip() + "\n"


def _format_row(finding: Finding, text_limit: int) -> str:
    cells = [
        LEVEL_LABELS[finding.level],
        escape_markdown(finding.title, min(200, text_limit)),
        escape_markdown(finding.check, min(60, text_limit)),
        f"{finding.cases:,} of {finding.cases_tried:,}" if finding.cases_tried else "–",
        format_percent(finding.confidence),
    ]
    return f"| {' | '.join(cells)} |"


def _format_details(result: AuditResult, finding: Finding, text_limit: int) -> list[str]:
    facts = {
        "What to do": finding.remedy,
        "How often": format_frequency(finding, skip_if_in_detail=True),
        "Impact": format_impact(finding),
        "How sure": format_certainty(finding),
        "More evidence": format_evidence(finding),
    }
    lines = [escape_markdown(finding.detail, text_limit), ""]
    lines += [f"- **{term}:** {escape_markdown(value, text_limit)}" for term, value in facts.items() if value]
    lines.append("")
    for example in finding.examples[:1]:
        columns, rows, note = tabulate_example(example)
        text = f"**Example:** {escape_markdown(example.text, text_limit)}" if example.text else "**Example**"
        lines += [text, ""]
        if rows:
            lines += [*format_table(columns, rows, MAX_EXAMPLE_CHARACTERS), ""]
        if note:
            lines += [escape_markdown(note), ""]
    command = format_code_block(format_command(result, finding), 4 * text_limit)
    heading = f"{LEVEL_LABELS[finding.level]}: {escape_summary(finding.title)}"
    return _fold(heading, [*lines, "To reproduce it:", "", *command])


def _format_checks(result: AuditResult, limit: int, text_limit: int) -> list[str]:
    lines = ["| check | outcome | |", "| --- | --- | --- |"]
    for outcome in result.outcomes[:limit]:
        cells = [
            escape_markdown(outcome.check, min(60, text_limit)),
            escape_markdown(format_state(outcome)),
            escape_markdown(outcome.why or outcome.asks, text_limit),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    if len(result.outcomes) > limit:
        lines += ["", f"{len(result.outcomes) - limit:,} more checks are in the report."]
    return _fold(f"All {len(result.outcomes)} checks", lines)


def _format_notes(result: AuditResult, limit: int, text_limit: int) -> list[str]:
    if not result.notes:
        return []
    notes = [f"- {escape_markdown(note, text_limit)}" for note in result.notes[:limit]]
    if len(result.notes) > limit:
        notes.append(f"- {len(result.notes) - limit:,} more notes are in the report.")
    return _fold("Notes", notes)


def _fold(heading: str, lines: list[str]) -> list[str]:
    return [f"<details><summary>{heading}</summary>", "", *lines, "", "</details>", ""]
