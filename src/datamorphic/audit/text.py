"""An audit as text for a terminal, and texts and tables of findings that all reports share."""

from __future__ import annotations

import math

from .._text import format_percent, pluralize, redact_parameter
from ..core.result import Example, Finding
from ..reporting.text import cut, format_cell, to_printable
from .outcome import Outcome
from .result import AuditResult

MAX_LINE_CHARACTERS = 2_000
MAX_CHECK_NAME_CHARACTERS = 24
MAX_FINDINGS = 100
MAX_CHANGED_FEATURES = 12
MAX_UNCHANGED_FEATURES = 8
MAX_BROKEN_RELATIONS = 3
PLURALS = {"leaf": "leaves", "class": "classes"}  # that do not end with a plain s
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
    if result.column_relations:
        lines += ["", "Relations between columns that all given rows keep:"]
        lines += [f"  - {relation}" for relation in result.column_relations]
    if result.notes:
        lines += ["", "Notes:", *(f"  - {note}" for note in result.notes)]
    # on one line each, so that a name with a line break cannot look like another finding
    return "\n".join(to_printable(cut(line, MAX_LINE_CHARACTERS)).replace("\n", " ") for line in lines)


def _format_finding(result: AuditResult, finding: Finding, number: int) -> list[str]:
    frequency, impact = format_frequency(finding, skip_if_in_detail=True), format_impact(finding)
    lines = [
        finding.detail,
        "; ".join(filter(None, (frequency, format_certainty(finding)))),
        f"Impact: {impact}" if impact else "",
        format_evidence(finding),
        *(f"Example: {format_example(example)}" for example in finding.examples[:1] if example.text),
        f"What to do: {finding.remedy}" if finding.remedy else "",
        f"Reproduce: {format_command(result, finding)}",
    ]
    about = f", {finding.about}" if finding.about else ""
    heading = f"{number}. {finding.level.upper()}: {finding.title} [{finding.check}{about}]"
    return [heading, *(f"   {line}" for line in lines if line)]


# -- findings ----------------------------------------------------------------------------------------------------------


def format_frequency(finding: Finding, skip_if_in_detail: bool = False) -> str:
    """Return how many cases show a finding, with the 95% interval of the share if they are a sample.

    The text is empty if nothing was counted or, with `skip_if_in_detail`, if the detail of the finding says it.
    """
    if not finding.cases_tried or (skip_if_in_detail and finding.counted_in_detail):
        return ""
    total = format_total(finding)
    if not finding.sampled:
        return f"{finding.cases:,} of {total}: {format_percent(finding.rate)}"
    low, high = finding.interval
    return (
        f"{finding.cases:,} of {total} tried: {format_percent(finding.rate)} "
        f"(95% interval: {format_percent(low)} to {format_percent(high)})"
    )


def format_total(finding: Finding) -> str:
    """Return the number of what was counted, with its noun."""
    return pluralize(finding.cases_tried, finding.noun, PLURALS.get(finding.noun))


def format_certainty(finding: Finding) -> str:
    """Return the certainty of a finding in words."""
    if finding.confidence >= 0.995:
        return "certain: an example shows it" if finding.examples else "certain"
    name = next((name for minimum, name in CERTAINTY_NAMES if finding.confidence >= minimum), "a suspicion")
    return f"{name} ({format_percent(finding.confidence)})"


def format_impact(finding: Finding) -> str:
    """Return which rows are affected, whether the answer or only its score changes, and by how much.

    The text is empty if nothing of this is known.

    Examples
    --------
    >>> texts = {"check": "", "about": "", "title": "", "level": "fault", "confidence": 1.0, "detail": "", "remedy": ""}
    >>> format_impact(Finding(**texts, rows=200, affected_rows=12, inputs="changed", answer_changes=False, effect=0.0312))
    '12 of 200 given rows, if they are changed; only the score is affected, typically by 0.031'
    """
    parts = []
    if finding.rows:
        condition = ", if they are changed" if finding.inputs == "changed" else ""
        parts.append(f"{finding.affected_rows:,} of {pluralize(finding.rows, 'given row')}{condition}")
    elif finding.inputs == "made":
        parts.append("only generated inputs")
    elif finding.inputs == "changed":
        parts.append("every row that arrives changed like this")
    if finding.answer_changes is not None or finding.effect is not None:
        change = "only the score is affected" if finding.answer_changes is False else "the answer is affected"
        change += "" if finding.effect is None else f", typically by {finding.effect:.2g}"
        other_count = finding.cases - finding.affected_rows
        cases_are_rows = finding.cases_tried == finding.rows  # then the other cases are rows whose answer stays
        if finding.answer_changes and cases_are_rows and other_count > 0:
            change += f", and only the score of {pluralize(other_count, 'other row')}"
        parts.append(change)
    return "; ".join(parts)


def format_evidence(finding: Finding) -> str:
    """Return what other checks found about the same cause; empty if there is nothing."""
    if not finding.evidence:
        return ""
    pieces = "; ".join(f"{piece.title} ({piece.check})" for piece in finding.evidence)
    return f"Also found by {pluralize(len(finding.evidence), 'other check')}: {pieces}"


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
    if outcome.state == "not run" and outcome.unfinished:
        return "not tried"
    return pluralize(len(outcome.findings), "finding") if outcome.state == "found" else outcome.state


def format_example(example: Example) -> str:
    """Return an example in words, with the number of its row in the data and the relations that it breaks."""
    text = example.text if example.row is None else f"row {example.row:,} of the data: {example.text}"
    return f"{text}. {format_broken_relations(example)}" if example.breaks else text


def format_broken_relations(example: Example) -> str:
    """Return which relations between columns an example breaks."""
    relations = "; ".join(example.breaks[:MAX_BROKEN_RELATIONS])
    more_count = len(example.breaks) - MAX_BROKEN_RELATIONS
    more = f" and {more_count} more" if more_count > 0 else ""
    row = "The changed row" if example.changed else "The row"
    return f"{row} breaks a relation that all given rows keep: {relations}{more}."


def tabulate_example(example: Example) -> tuple[list[str], list[list[str]], str]:
    """Return the columns and rows of a table that shows an example, and a note on omissions.

    Changed features come first, or some features of the case if none changes. The answers come last.
    """
    columns, rows, note = _tabulate_change(example) if example.changed else _tabulate_case(example)
    return columns, rows, f"{format_broken_relations(example)} {note}".strip() if example.breaks else note


def _tabulate_case(example: Example) -> tuple[list[str], list[list[str]], str]:
    listed = list(example.case.items())[:MAX_UNCHANGED_FEATURES]
    rows = [[str(name), format_cell(value)] for name, value in listed]
    omitted_count = len(example.case) - len(listed)
    note = f"{pluralize(omitted_count, 'more feature')} not shown." if omitted_count else ""
    if example.answer is not None or example.new_answer is not None:
        rows.append(["the answer", format_cell(example.answer)])
        if example.new_answer is not None and str(example.answer) != str(example.new_answer):
            rows.append(["and then", format_cell(example.new_answer)])
    return ["feature", "value"], rows, note


def _tabulate_change(example: Example) -> tuple[list[str], list[list[str]], str]:
    changed = list(example.changed.items())
    rows = [[str(name), *format_pair(example.case.get(name), value)] for name, value in changed[:MAX_CHANGED_FEATURES]]
    notes = []
    if len(changed) > MAX_CHANGED_FEATURES:
        notes.append(f"{pluralize(len(changed) - MAX_CHANGED_FEATURES, 'more changed feature')} not shown.")
    unchanged_count = sum(name not in example.changed for name in example.case)
    if unchanged_count == 1:
        notes.append("The other feature is the same in both.")
    elif unchanged_count:
        notes.append(f"The other {unchanged_count:,} features are the same in both.")
    if example.answer is not None or example.new_answer is not None:
        rows.append(["the answer", *format_pair(example.answer, example.new_answer)])
    return ["feature", "before", "after"], rows, " ".join(notes)


def format_pair(before: object, after: object) -> tuple[str, str]:
    """Return two values as cells, numbers with as few digits as show that they differ, at least six.

    Examples
    --------
    >>> format_pair(0.123456789, 0.223456789), format_pair(1.0000000001, 1.0000000002), format_pair(58_000, None)
    (('0.123457', '0.223457'), ('1.0000000001', '1.0000000002'), ('58000', '–'))
    """
    if isinstance(before, float) and isinstance(after, float) and math.isfinite(before) and math.isfinite(after):
        for digits in range(6, 18):
            texts = f"{before:.{digits}g}", f"{after:.{digits}g}"
            if texts[0] != texts[1] or before == after:
                return texts
    return format_cell(before), format_cell(after)
