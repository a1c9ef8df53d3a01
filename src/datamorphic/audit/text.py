"""Format an audit as text for a terminal."""

from __future__ import annotations

from ..reporting.text import cut, to_printable
from .finding import Finding
from .finding_text import format_certainty, format_command, format_effort, format_frequency, format_state
from .result import AuditResult

MAX_LINE_CHARACTERS = 2_000
MAX_CHECK_NAME_CHARACTERS = 24
MAX_FINDINGS = 100


def format_text(result: AuditResult) -> str:
    """Return the findings as text without control characters."""
    lines = [
        f"{result.subject}: {result.headline}",
        f"{result.kind}, with {result.data}; seed {result.seed}; {format_effort(result)}",
    ]
    findings = result.findings
    for number, finding in enumerate(findings[:MAX_FINDINGS], start=1):
        lines += ["", *_format_finding(result, finding, number)]
    if len(findings) > MAX_FINDINGS:
        omitted_count = len(findings) - MAX_FINDINGS
        lines += ["", f"{omitted_count:,} more findings: write a report to see them all (--html, --json)."]
    lines += ["", "Checks:"]
    names = [cut(outcome.check, MAX_CHECK_NAME_CHARACTERS) for outcome in result.outcomes]
    width = max(map(len, names), default=0)
    for name, outcome in zip(names, result.outcomes, strict=True):
        runs = outcome.state in ("passed", "found")
        remark = outcome.why or (outcome.asks if runs else "")
        lines.append(f"  {format_state(outcome):<10} {name:<{width}}  {remark}".rstrip())
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
        f"Reproduce: {format_command(result, finding)}",
    ]
    about = f", {finding.about}" if finding.about else ""
    heading = f"{number}. {finding.level.upper()}: {finding.title} [{finding.check}{about}]"
    return [heading, *(f"   {line}" for line in lines if line)]


def _to_line(text: str) -> str:
    """Return a text on one line, so that a name with a line break cannot look like another finding."""
    return to_printable(cut(text, MAX_LINE_CHARACTERS)).replace("\n", " ")
