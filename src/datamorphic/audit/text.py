"""An audit as text for a terminal, and texts and tables of findings that all reports share."""

from __future__ import annotations

from .._text import format_percent, pluralize, redact_parameter
from ..reporting.text import cut, format_cell, to_printable
from .finding import Example, Finding, Outcome
from .result import AuditResult

MAX_LINE_CHARACTERS = 2_000
MAX_CHECK_NAME_CHARACTERS = 24
MAX_FINDINGS = 100
MAX_CHANGED_FEATURES = 12
MAX_UNCHANGED_FEATURES = 8
CERTAINTY_NAMES = ((0.9, "nearly certain"), (0.7, "likely"), (0.4, "possible"))


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
    # on one line each, so that a name with a line break cannot look like another finding
    return "\n".join(to_printable(cut(line, MAX_LINE_CHARACTERS)).replace("\n", " ") for line in lines)


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


# -- findings ----------------------------------------------------------------------------------------------------------


def format_frequency(finding: Finding, skip_if_in_detail: bool = False) -> str:
    """Return how many cases show a finding, with the 95% interval of the share.

    The text is empty if nothing was counted or, with `skip_if_in_detail`, if the detail of the finding says it.
    """
    if not finding.of or (skip_if_in_detail and finding.counted_in_detail):
        return ""
    low, high = finding.interval
    return (
        f"{finding.cases:,} of {pluralize(finding.of, 'case')} tried: {format_percent(finding.rate)} "
        f"(95% interval: {format_percent(low)} to {format_percent(high)})"
    )


def format_certainty(finding: Finding) -> str:
    """Return the certainty of a finding in words."""
    if finding.sure >= 0.995:
        return "certain: an example shows it" if finding.examples else "certain"
    name = next((name for minimum, name in CERTAINTY_NAMES if finding.sure >= minimum), "a suspicion")
    return f"{name} ({format_percent(finding.sure)})"


def format_command(result: AuditResult, finding: Finding | None = None) -> str:
    """Return the command that reproduces a result or one finding, without passwords."""
    return " ".join(redact_parameter(result.command(finding)).split("\n"))


def format_effort(result: AuditResult) -> str:
    """Return the time and the model calls of an audit."""
    budget = f" (budget: {result.budget})" if result.budget else ""
    seconds = f"{result.seconds:.1f} s" if result.seconds < 100 else f"{result.seconds:,.0f} s"
    if result.seconds < 0.095:
        seconds = "under 0.1 s" if result.seconds else "0 s"
    return f"{seconds} and {pluralize(result.calls, 'row')} computed by the model{budget}"


def format_state(outcome: Outcome) -> str:
    """Return the state of a check, or its number of findings."""
    return pluralize(len(outcome.findings), "finding") if outcome.state == "found" else outcome.state


def tabulate_example(example: Example) -> tuple[list[str], list[list[str]], str]:
    """Return the columns and rows of a table that shows an example, and a note on omissions.

    Changed features come first, or some features of the case if none changes. The answers come last.
    """
    if example.changed:
        return _tabulate_change(example)
    listed = list(example.case.items())[:MAX_UNCHANGED_FEATURES]
    rows = [[str(name), format_cell(value)] for name, value in listed]
    omitted_count = len(example.case) - len(listed)
    note = f"{pluralize(omitted_count, 'more feature')} not shown." if omitted_count else ""
    if example.answer is not None or example.becomes is not None:
        rows.append(["the answer", format_cell(example.answer)])
        if example.becomes is not None and str(example.answer) != str(example.becomes):
            rows.append(["and then", format_cell(example.becomes)])
    return ["feature", "value"], rows, note


def _tabulate_change(example: Example) -> tuple[list[str], list[list[str]], str]:
    changed = list(example.changed.items())
    rows = [
        [str(name), format_cell(example.case.get(name)), format_cell(value)]
        for name, value in changed[:MAX_CHANGED_FEATURES]
    ]
    notes = []
    if len(changed) > MAX_CHANGED_FEATURES:
        notes.append(f"{pluralize(len(changed) - MAX_CHANGED_FEATURES, 'more changed feature')} not shown.")
    unchanged_count = sum(name not in example.changed for name in example.case)
    if unchanged_count == 1:
        notes.append("The other feature is the same in both.")
    elif unchanged_count:
        notes.append(f"The other {unchanged_count:,} features are the same in both.")
    if example.answer is not None or example.becomes is not None:
        rows.append(["the answer", format_cell(example.answer), format_cell(example.becomes)])
    return ["feature", "before", "after"], rows, " ".join(notes)
