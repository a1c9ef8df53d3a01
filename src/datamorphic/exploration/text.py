"""A front in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._text import format_short, pluralize
from ._utils import format_answers, format_changes, format_value

if TYPE_CHECKING:
    from .front import Front


def format_front(front: Front) -> list[str]:
    """Return what was found, what it cost and what is odd, a line each."""
    low, high = front.capability_interval()
    sentences = [
        f"{front.subject}: {pluralize(len(front), 'border pair')} from {pluralize(front.walks, 'walk')} "
        f"({front.strategy.replace('_', ' ')})",
        f"capability {front.capability:.1%} of walks (95 % interval {low:.1%} to {high:.1%})",
    ]
    if len(front):
        low_cost, high_cost = front.cost_interval()
        sentences.append(
            f"cost {front.cost:.2f} runs a border point ({low_cost:.2f} to {_format_number(high_cost)}); {pluralize(front.runs, 'run')}, "
            f"{pluralize(front.calls, 'call')} of the system{_format_time(front)}"
        )
        counts = front.border_counts
        sentences.append("borders: " + ", ".join(f"{kind} ({count:,})" for kind, count in counts.head(6).items()))
        sentences.append(_format_features(front))
    else:
        sentences.append(
            f"no border was found with {pluralize(front.runs, 'run')}, {pluralize(front.calls, 'call')} of the system"
            f"{_format_time(front)}"
        )
    return sentences + collect_remarks(front)


def _format_features(front: Front) -> str:
    """Say which features decide, where the system was asked, else in which the two cases of a pair differ."""
    top = front.deciding().head(3)
    if top["decides"].isna().all():
        shares = ", ".join(f"{row.feature} ({row.share:.0%})" for row in top.itertuples())
        return f"features that differ most at the border: {shares} of the distance"
    decides = ", ".join(f"{row.feature} ({row.decides:.0%})" for row in top.itertuples() if row.decides > 0)
    return f"deciding features, and at what share of the pairs each decides alone: {decides or 'none'}"


def collect_remarks(front: Front) -> list[str]:
    """Return what a reader should know before believing the figures."""
    sentences = list(front.notes)
    if front.exhausted:
        reason = "The search was interrupted" if front.tally.interrupted else "The budget ended the search"
        sentences.append(f"{reason}; what was found until then is kept.")
    workers, batches = front.tally.workers, front.tally.max_batches
    if workers > batches > 0:
        sentences.append(
            f"{workers} workers had at most {pluralize(batches, 'batch', 'batches')} to share at a time: a smaller batch=, or "
            "more walks, would give all of them something to do."
        )
    if front.tally.retried_failures is not None:
        still_failing, fixed_count = front.tally.retried_failures
        sentences.append(
            f"{pluralize(still_failing + fixed_count, 'case')} that failed in earlier runs went first: {still_failing:,} still fail, "
            f"{fixed_count:,} do not."
        )
    if front.lost:
        sentences.append(f"{pluralize(front.lost, 'walk')} ended where the system gave no answer.")
    unstable = front.tally.health.unstable_cases
    if unstable:
        case = ", ".join(f"{name} {format_value(value)}" for name, value in list(unstable[0]["case"].items())[:6])
        both_answers = " and ".join(format_answers([unstable[0]["first"], unstable[0]["second"]]))
        sentences.append(
            f"Asked twice, the system gave two answers to {len(unstable):,} of the cases tried: to {case} it said {both_answers}. "
            "Pairs may be noise."
        )
    if len(front.measured) < len(front):
        sentences.append(
            f"How far a pair is from a real input was measured for {len(front.measured):,} of them, evenly chosen."
        )
    if front.slopes:
        sentences.append(f"{pluralize(front.slopes, 'steep slope')} looked like a jump from afar and was none.")
    return sentences


def format_example(front: Front) -> str:
    """Return the most plausible pair in words."""
    if not len(front):
        return ""
    row = int(np.nanargmin(front.plausibility))
    a, b = front.a.take(slice(row, row + 1)), front.b.take(slice(row, row + 1))
    answer_change = f"{format_short(front.a_output[row])} becomes {format_short(front.b_output[row])}"
    return f"{answer_change} with {format_changes(a, b, 3)[0]}"


def _format_time(front: Front) -> str:
    return "" if math.isnan(front.seconds) else f", {front.seconds:.2g} s"


def _format_number(value: float) -> str:
    return "infinity" if math.isinf(value) else f"{value:.2f}"
