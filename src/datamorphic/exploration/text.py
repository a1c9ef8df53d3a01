"""Sentences and figures of a front, for its page and for other reports."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np

from .._text import format_percent, format_short, pluralize
from .changes import format_answers, format_changes, format_value, name_feature
from .front import Front
from .front_data import count_borders

MAX_LISTED_BORDERS = 6
MAX_LISTED_FEATURES = 3
MAX_FEATURES_PER_CASE = 6


def list_figures(front: Front) -> list[tuple[str, str]]:
    """Return capability, cost, borders and deciding features as terms and values."""
    low, high = map(format_percent, front.capability_interval())
    capability = ("Capability", f"{format_percent(front.capability)} of walks (95% interval {low} to {high})")
    seconds = "" if math.isnan(front.seconds) else f", {front.seconds:.2g} s"
    calls = f"{pluralize(front.runs, 'run')}, {pluralize(front.calls, 'model call')}{seconds}"
    if not len(front):
        return [capability, ("Cost", calls)]
    low_cost, high_cost = front.cost_interval()
    interval = f"{low_cost:.2f} to {'infinity' if math.isinf(high_cost) else f'{high_cost:.2f}'}"
    borders = ", ".join(
        f"{kind} ({count:,})" for kind, count in islice(count_borders(front).items(), MAX_LISTED_BORDERS)
    )
    return [
        capability,
        ("Cost", f"{front.cost:.2f} runs per border point ({interval}); {calls}"),
        ("Borders", borders),
        _format_features(front),
    ]


def _format_features(front: Front) -> tuple[str, str]:
    """Return the deciding features; without a system, those in which the two cases differ most."""
    top = front.deciding_features[:MAX_LISTED_FEATURES]
    if all(math.isnan(row.decides) for row in top):
        shares = ", ".join(f"{name_feature(front.space, row.feature)} ({row.share:.0%})" for row in top)
        return "Features that differ most", f"{shares} of the distance"
    decides = ", ".join(
        f"{name_feature(front.space, row.feature)} ({row.decides:.0%})" for row in top if row.decides > 0
    )
    return "Deciding features", f"{decides} of pairs, each alone" if decides else "none alone"


def collect_remarks(front: Front, *, about_workers: bool = True) -> list[str]:
    """Return what a reader should know before relying on the figures, and whether workers were idle."""
    remarks = list(front.notes)
    if front.exhausted:
        reason = "The search was interrupted" if front.interrupted else "The budget ended the search"
        remarks.append(f"{reason}. The pairs found until then are kept.")
    workers, batches = front.tally.workers, front.tally.max_batches
    if about_workers and workers > batches > 0:
        remarks.append(
            f"{workers} workers shared at most {pluralize(batches, 'batch', 'batches')} at a time. Use a smaller "
            "batch= or more walks to keep all of them busy."
        )
    if front.tally.retried_failures is not None:
        failing_count, fixed_count = front.tally.retried_failures
        cases = pluralize(failing_count + fixed_count, "case")
        remarks.append(
            f"{cases} that failed in earlier runs went first: {failing_count:,} still fail, {fixed_count:,} do not."
        )
    if front.lost:
        remarks.append(f"{pluralize(front.lost, 'walk')} ended where the system gave no answer.")
    unstable = front.tally.health.unstable_cases
    if unstable:
        values = list(unstable[0]["case"].items())[:MAX_FEATURES_PER_CASE]
        case = ", ".join(f"{name} {format_value(value)}" for name, value in values)
        answers = " and ".join(format_answers([unstable[0]["first"], unstable[0]["second"]]))
        remarks.append(
            f"Asked twice, the system gave two answers to {len(unstable):,} of the cases tried: to {case} it "
            f"answered {answers}. Pairs may be noise."
        )
    if len(front.measured) < len(front):
        remarks.append(
            f"The distance from a real input was measured for {len(front.measured):,} of the pairs, evenly chosen."
        )
    if front.slopes:
        remarks.append(f"{pluralize(front.slopes, 'steep slope')} looked like a jump at first, but had none.")
    return remarks


def format_example(front: Front) -> str:
    """Return the most plausible pair as text."""
    if not len(front):
        return ""
    row = int(np.nanargmin(front.plausibility))
    a, b = front.a.take(slice(row, row + 1)), front.b.take(slice(row, row + 1))
    answer_change = f"{format_short(front.a_output[row])} becomes {format_short(front.b_output[row])}"
    return f"{answer_change} with {format_changes(a, b, MAX_LISTED_FEATURES)[0]}"
