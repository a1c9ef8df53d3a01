"""Findings in words and figures, as every way to tell them needs them."""

from __future__ import annotations

from typing import Any

from .._text import pluralize, redact_parameter
from ..reporting.text import NO_VALUE_TEXT, format_cell
from .finding import Example, Finding, Outcome
from .result import AuditResult

MAX_CHANGED_FEATURES = 12  # features of an example that are shown
MAX_UNCHANGED_FEATURES = 8


def format_percent(share: float) -> str:
    """Return a share as a person would say it; never "0 %" or "100 %" of what is a little more or less.

    Examples
    --------
    >>> format_percent(0.04), format_percent(0.12345), format_percent(0.0), format_percent(0.99996), format_percent(1 / 30_000)
    ('4 %', '12.3 %', '0 %', '>99.9 %', '<0.01 %')
    """
    if 0 < share < 1e-4:
        return "<0.01 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    return f"{100 * share:.3g} %"


def format_frequency(finding: Finding, skip_if_in_detail: bool = False) -> str:
    """Return how many cases show a finding, with the interval the share lies in.

    Nothing where nothing was counted or, if so asked, where the detail says it already.
    """
    in_detail = f"{finding.cases:,} of {finding.of:,}" in finding.detail and "%" in finding.detail
    if not finding.of or (skip_if_in_detail and in_detail):
        return ""
    low, high = finding.interval
    return (
        f"{finding.cases:,} of {pluralize(finding.of, 'case')} tried: {format_percent(finding.rate)} "
        f"(95 % interval: {format_percent(low)} to {format_percent(high)})"
    )


def format_certainty(finding: Finding) -> str:
    """Return in words how sure a finding is."""
    if finding.sure >= 0.995:
        return "certain: an example shows it" if finding.examples else "certain"
    degrees = [(0.9, "nearly certain"), (0.7, "likely"), (0.4, "possible")]
    degree = next((text for minimum, text in degrees if finding.sure >= minimum), "a suspicion")
    return f"{degree} ({format_percent(finding.sure)})"


def format_command(result: AuditResult, finding: Finding | None = None) -> str:
    """Return the command that shows a finding again, without passwords."""
    return " ".join(redact_parameter(result.command(finding)).split("\n"))


def format_effort(result: AuditResult) -> str:
    """Return what a check-up cost."""
    budget = f" (budget: {result.budget})" if result.budget else ""
    return f"{format_seconds(result.seconds)} and {pluralize(result.calls, 'row')} computed by the model{budget}"


def format_seconds(value: float) -> str:
    """Return a duration."""
    if value < 0.095:
        return "under 0.1 s" if value else "0 s"
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"


def format_state(outcome: Outcome) -> str:
    """Return what became of a check."""
    return pluralize(len(outcome.findings), "finding") if outcome.state == "found" else outcome.state


def tabulate_example(example: Example) -> tuple[list[str], list[list[str]], str]:
    """Return an example as a table: its columns, its rows, and what was left out.

    The features that change come first, or some of the case if none does, and the answers last.
    """
    if not example.changed:
        listed_features = dict(list(example.case.items())[:MAX_UNCHANGED_FEATURES])
        table = [[str(name), _format_value(value)] for name, value in listed_features.items()]
        omitted_count = len(example.case) - len(listed_features)
        note = f"{pluralize(omitted_count, 'more feature')} not shown." if omitted_count else ""
        if example.answer is None and example.becomes is None:
            return ["feature", "value"], table, note
        if _has_same_answer(example):
            return ["feature", "value"], [*table, ["the answer", _format_value(example.answer)]], note
        answers = [["the answer", _format_value(example.answer)], ["and then", _format_value(example.becomes)]]
        return ["feature", "value"], table + answers, note
    changed = list(example.changed.items())
    table = [
        [str(name), _format_value(example.case.get(name)), _format_value(value)]
        for name, value in changed[:MAX_CHANGED_FEATURES]
    ]
    notes = []
    if len(changed) > MAX_CHANGED_FEATURES:
        notes.append(f"{pluralize(len(changed) - MAX_CHANGED_FEATURES, 'more changed feature')} not shown.")
    others = sum(name not in example.changed for name in example.case)
    if others:
        notes.append(
            f"{'The other feature is' if others == 1 else f'The other {others:,} features are'} the same in both."
        )
    if example.answer is not None or example.becomes is not None:
        table.append(_format_answers(example))
    return ["feature", "before", "after"], table, " ".join(notes)


def _has_same_answer(example: Example) -> bool:
    return example.becomes is None or str(example.answer) == str(example.becomes)


def _format_answers(example: Example) -> list[str]:
    return ["the answer", _format_value(example.answer), _format_value(example.becomes)]


def _format_value(value: Any) -> str:
    return NO_VALUE_TEXT if value is None else str(format_cell(value))
