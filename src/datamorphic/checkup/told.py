"""Findings in words and figures, as every way to tell them needs them."""

from __future__ import annotations

from typing import Any

from .._checks import discreet, plural
from ..reports.texts import NOTHING, cell
from .finding import Example, Finding, Outcome
from .result import Result

MOST_CHANGED = 12  # features of an example that are shown
MOST_UNCHANGED = 8


def percent(share: float) -> str:
    """Return a share as a person would say it; never "0 %" or "100 %" of what is a little more or less.

    Examples
    --------
    >>> percent(0.04), percent(0.12345), percent(0.0), percent(0.99996), percent(1 / 30_000)
    ('4 %', '12.3 %', '0 %', '>99.9 %', '<0.01 %')
    """
    if 0 < share < 1e-4:
        return "<0.01 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    return f"{100 * share:.3g} %"


def how_often(finding: Finding, unless_told: bool = False) -> str:
    """Return how many cases show a finding, with the interval the share lies in.

    Nothing where nothing was counted or, if so asked, where the detail says it already.
    """
    told = f"{finding.cases:,} of {finding.of:,}" in finding.detail and "%" in finding.detail
    if not finding.of or (unless_told and told):
        return ""
    low, high = finding.interval
    return (
        f"{finding.cases:,} of {plural(finding.of, 'case')} tried: {percent(finding.rate)} "
        f"(95 % interval: {percent(low)} to {percent(high)})"
    )


def how_sure(finding: Finding) -> str:
    """Return in words how sure a finding is."""
    if finding.sure >= 0.995:
        return "certain: an example shows it" if finding.examples else "certain"
    words = [(0.9, "nearly certain"), (0.7, "likely"), (0.4, "possible")]
    told = next((text for least, text in words if finding.sure >= least), "a suspicion")
    return f"{told} ({percent(finding.sure)})"


def again(result: Result, finding: Finding | None = None) -> str:
    """Return the command that shows a finding again, without passwords."""
    return " ".join(discreet(result.command(finding)).split("\n"))


def effort(result: Result) -> str:
    """Return what a check-up cost."""
    budget = f" (budget: {result.budget})" if result.budget else ""
    return f"{seconds(result.seconds)} and {plural(result.calls, 'row')} computed by the model{budget}"


def seconds(value: float) -> str:
    """Return a duration."""
    if value < 0.095:
        return "under 0.1 s" if value else "0 s"
    return f"{value:.1f} s" if value < 100 else f"{value:,.0f} s"


def state(outcome: Outcome) -> str:
    """Return what became of a check."""
    return plural(len(outcome.findings), "finding") if outcome.state == "found" else outcome.state


def rows(example: Example) -> tuple[list[str], list[list[str]], str]:
    """Return an example as a table: its columns, its rows, and what was left out.

    The features that change come first, or some of the case if none does, and the answers last.
    """
    if not example.changed:
        shown = dict(list(example.case.items())[:MOST_UNCHANGED])
        table = [[str(name), _told(value)] for name, value in shown.items()]
        left = len(example.case) - len(shown)
        note = f"{plural(left, 'more feature')} not shown." if left else ""
        if example.answer is None and example.becomes is None:
            return ["feature", "value"], table, note
        if _same(example):
            return ["feature", "value"], [*table, ["the answer", _told(example.answer)]], note
        then = [["the answer", _told(example.answer)], ["and then", _told(example.becomes)]]
        return ["feature", "value"], table + then, note
    changed = list(example.changed.items())
    table = [[str(name), _told(example.case.get(name)), _told(value)] for name, value in changed[:MOST_CHANGED]]
    notes = []
    if len(changed) > MOST_CHANGED:
        notes.append(f"{plural(len(changed) - MOST_CHANGED, 'more changed feature')} not shown.")
    others = sum(name not in example.changed for name in example.case)
    if others:
        notes.append(
            f"{'The other feature is' if others == 1 else f'The other {others:,} features are'} the same in both."
        )
    if example.answer is not None or example.becomes is not None:
        table.append(_answers(example))
    return ["feature", "before", "after"], table, " ".join(notes)


def _same(example: Example) -> bool:
    return example.becomes is None or str(example.answer) == str(example.becomes)


def _answers(example: Example) -> list[str]:
    return ["the answer", _told(example.answer), _told(example.becomes)]


def _told(value: Any) -> str:
    return NOTHING if value is None else str(cell(value))
