"""Text and tables of findings that all reports share."""

from __future__ import annotations

from .._text import pluralize, redact_parameter
from ..reporting.text import NO_VALUE_TEXT, format_cell
from .finding import Example, Finding, Outcome
from .result import AuditResult

MAX_CHANGED_FEATURES = 12
MAX_UNCHANGED_FEATURES = 8
CERTAINTY_NAMES = ((0.9, "nearly certain"), (0.7, "likely"), (0.4, "possible"))


def format_percent(share: float) -> str:
    """Return a share in percent, rounded but never to "0 %" or "100 %" by rounding.

    Examples
    --------
    >>> [format_percent(share) for share in (0.04, 0.12345, 0.0, 0.99996, 1 / 30_000)]
    ['4 %', '12.3 %', '0 %', '>99.9 %', '<0.01 %']
    """
    if 0 < share < 1e-4:
        return "<0.01 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    return f"{100 * share:.3g} %"


def format_frequency(finding: Finding, skip_if_in_detail: bool = False) -> str:
    """Return how many cases show a finding, with the 95 % interval of the share.

    The text is empty if nothing was counted or, with `skip_if_in_detail`, if the detail of the finding says it.
    """
    if not finding.of or (skip_if_in_detail and finding.counted_in_detail):
        return ""
    low, high = finding.interval
    return (
        f"{finding.cases:,} of {pluralize(finding.of, 'case')} tried: {format_percent(finding.rate)} "
        f"(95 % interval: {format_percent(low)} to {format_percent(high)})"
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
    return f"{format_seconds(result.seconds)} and {pluralize(result.calls, 'row')} computed by the model{budget}"


def format_seconds(value: float) -> str:
    """Return a duration in seconds."""
    if value < 0.095:
        return "under 0.1 s" if value else "0 s"
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"


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
    rows = [[str(name), _format_value(value)] for name, value in listed]
    omitted_count = len(example.case) - len(listed)
    note = f"{pluralize(omitted_count, 'more feature')} not shown." if omitted_count else ""
    if example.answer is not None or example.becomes is not None:
        rows.append(["the answer", _format_value(example.answer)])
        if example.becomes is not None and str(example.answer) != str(example.becomes):
            rows.append(["and then", _format_value(example.becomes)])
    return ["feature", "value"], rows, note


def _tabulate_change(example: Example) -> tuple[list[str], list[list[str]], str]:
    changed = list(example.changed.items())
    rows = [
        [str(name), _format_value(example.case.get(name)), _format_value(value)]
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
        rows.append(["the answer", _format_value(example.answer), _format_value(example.becomes)])
    return ["feature", "before", "after"], rows, " ".join(notes)


def _format_value(value: object) -> str:
    return NO_VALUE_TEXT if value is None else format_cell(value)
