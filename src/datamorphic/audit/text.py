"""The findings of a check-up for others: people at a terminal, pull requests, CI servers, code scanning."""

from __future__ import annotations

from ..reporting.text import cut, to_printable
from .finding import Finding
from .finding_text import format_certainty, format_command, format_effort, format_frequency, format_state
from .junit import format_junit
from .markdown import format_markdown
from .result import AuditResult
from .sarif import format_sarif

__all__ = ["format_junit", "format_markdown", "format_sarif", "format_text"]

MAX_LINE_CHARACTERS = 2_000  # letters of one text
MAX_FINDINGS = 100


def format_text(result: AuditResult) -> str:
    """Return the findings as text for a terminal; nothing in it can drive one."""
    lines = [
        f"{result.subject}: {result.headline}",
        f"{result.kind}, with {result.data}; seed {result.seed}; {format_effort(result)}",
    ]
    findings = result.findings
    for number, finding in enumerate(findings[:MAX_FINDINGS], start=1):
        lines += ["", *_format_finding(result, finding, number)]
    if len(findings) > MAX_FINDINGS:
        lines += [
            "",
            f"{len(findings) - MAX_FINDINGS:,} more findings: write a report to see them all (--html, --json).",
        ]
    lines += ["", "Checks:"]
    width = max((len(cut(outcome.check, 24)) for outcome in result.outcomes), default=0)
    for outcome in result.outcomes:
        remark = outcome.why if outcome.state in ("not run", "broke") or outcome.why else outcome.asks
        lines.append(f"  {format_state(outcome):<10} {cut(outcome.check, 24):<{width}}  {remark}".rstrip())
    if result.notes:
        lines += ["", "Notes:", *(f"  - {note}" for note in result.notes)]
    return "\n".join(_to_line(line) for line in lines)


def _format_finding(result: AuditResult, finding: Finding, number: int) -> list[str]:
    frequency = format_frequency(finding, skip_if_in_detail=True)
    lines = [
        finding.detail,
        "; ".join(filter(None, (frequency, format_certainty(finding)))),
        *(f"Example: {example.words}" for example in finding.examples[:1] if example.words),
        f"What to do: {finding.remedy}" if finding.remedy else "",
        f"Again: {format_command(result, finding)}",
    ]
    about = f", {finding.about}" if finding.about else ""
    heading = f"{number}. {finding.level.upper()}: {finding.title} [{finding.check}{about}]"
    return [heading, *(f"   {line}" for line in lines if line)]


def _to_line(text: str) -> str:
    """Return one line: an end of line within it would let a name look like a finding of its own."""
    return to_printable(cut(text, MAX_LINE_CHARACTERS)).replace("\n", " ")
