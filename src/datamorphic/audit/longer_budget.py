"""What a longer budget would buy: the note on checks of a slow system that could not be tried."""

from __future__ import annotations

from collections.abc import Sequence

from .._text import join_names
from .context import CheckContext
from .outcome import UNFINISHED_REASONS, Outcome

BUDGETS = {"30s": 30, "1m": 60, "2m": 120, "5m": 300, "10m": 600, "20m": 1_200, "30m": 1_800, "1h": 3_600}
RESERVE_FACTOR = 2.5  # a check gets only a part of what is left, and the other checks get more cases, too


def describe_untried(context: CheckContext, outcomes: Sequence[Outcome]) -> list[str]:
    """Return a note that names the budget with which checks that were not tried could be; none for a fast system."""
    untried = [
        outcome
        for outcome in outcomes
        if outcome.state == "not run" and outcome.skip_reason in UNFINISHED_REASONS and outcome.min_seconds
    ]
    if not context.is_slow or not untried or context.clock.budget.seconds is None:
        return []
    untried.sort(key=lambda outcome: outcome.min_seconds)
    wanted_seconds = context.clock.seconds
    needs_by_budget: dict[str, list[str]] = {}  # ascending; "" for what takes longer than the largest budget
    for outcome in untried:
        wanted_seconds += RESERVE_FACTOR * outcome.min_seconds
        budget = next((text for text, seconds in BUDGETS.items() if seconds >= wanted_seconds), "")
        needs_by_budget.setdefault(budget, []).append(f"{outcome.check} (about {format_seconds(outcome.min_seconds)})")
    pace_text = f"at {_format_pace(context.pace.seconds_per_row)} per row"
    notes = []
    too_long = needs_by_budget.pop("", [])
    if needs_by_budget:
        (budget, names), *others = needs_by_budget.items()
        verb = "this check" if len(names) == 1 else "these checks"
        more = "".join(f"; with budget={budget!r} also {join_names(names)}" for budget, names in others)
        notes.append(f"With budget={budget!r}, {verb} could be tried: {join_names(names)}{more}, {pace_text}.")
    if too_long:
        notes.append(f"Too slow for a budget of an hour, {pace_text}: {join_names(too_long)}.")
    return notes


def _format_pace(seconds: float) -> str:
    return f"{float(f'{1000 * seconds:.2g}'):g} ms" if seconds < 1 else f"{seconds:.2g} s"


def format_seconds(seconds: float) -> str:
    """Return a duration in its largest unit, with two digits.

    Examples
    --------
    >>> [format_seconds(seconds) for seconds in (0.4, 18, 258, 9_000)]
    ['1 s', '18 s', '4.3 min', '2.5 h']
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.2g} min" if seconds < 90 * 60 else f"{seconds / 3600:.2g} h"
