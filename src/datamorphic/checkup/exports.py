"""The findings of a check-up for others: people at a terminal, pull requests, CI servers, code scanning."""

from __future__ import annotations

from ..reports.texts import cut, printable
from .finding import Finding
from .junit import junit
from .markdown import markdown
from .result import Result
from .sarif import sarif
from .told import again, effort, how_often, how_sure, state

__all__ = ["junit", "markdown", "plain_text", "sarif"]

LONGEST = 2_000  # letters of one text
MOST_FINDINGS = 100


def plain_text(result: Result) -> str:
    """Return the findings as text for a terminal; nothing in it can drive one."""
    lines = [
        f"{result.subject}: {result.headline}",
        f"{result.kind}, with {result.data}; seed {result.seed}; {effort(result)}",
    ]
    found = result.findings
    for number, finding in enumerate(found[:MOST_FINDINGS], start=1):
        lines += ["", *_finding(result, finding, number)]
    if len(found) > MOST_FINDINGS:
        lines += [
            "",
            f"{len(found) - MOST_FINDINGS:,} more findings: write a report to see them all (--html, --json).",
        ]
    lines += ["", "Checks:"]
    wide = max((len(cut(each.check, 24)) for each in result.outcomes), default=0)
    for outcome in result.outcomes:
        told = outcome.why if outcome.state in ("not run", "broke") or outcome.why else outcome.asks
        lines.append(f"  {state(outcome):<10} {cut(outcome.check, 24):<{wide}}  {told}".rstrip())
    if result.notes:
        lines += ["", "Notes:", *(f"  - {note}" for note in result.notes)]
    return "\n".join(_line(line) for line in lines)


def _finding(result: Result, finding: Finding, number: int) -> list[str]:
    often = how_often(finding, unless_told=True)
    told = [
        finding.detail,
        "; ".join(filter(None, (often, how_sure(finding)))),
        *(f"Example: {each.words}" for each in finding.examples[:1] if each.words),
        f"What to do: {finding.remedy}" if finding.remedy else "",
        f"Again: {again(result, finding)}",
    ]
    about = f", {finding.about}" if finding.about else ""
    head = f"{number}. {finding.level.upper()}: {finding.title} [{finding.check}{about}]"
    return [head, *(f"   {line}" for line in told if line)]


def _line(text: str) -> str:
    """Return one line: an end of line within it would let a name look like a finding of its own."""
    return printable(cut(text, LONGEST)).replace("\n", " ")
