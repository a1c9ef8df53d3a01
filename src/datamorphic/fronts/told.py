"""A front in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .._checks import plural, short
from .reading import answers, changes, told_value

if TYPE_CHECKING:
    from .front import Front


def lines(front: Front) -> list[str]:
    """Return what was found, what it cost and what is odd, a line each."""
    low, high = front.capability_interval()
    told = [
        f"{front.subject}: {plural(len(front), 'border pair')} from {plural(front.walks, 'walk')} "
        f"({front.strategy.replace('_', ' ')})",
        f"capability {front.capability:.1%} of walks (95 % interval {low:.1%} to {high:.1%})",
    ]
    if len(front):
        least, most = front.cost_interval()
        told.append(
            f"cost {front.cost:.2f} runs a border point ({least:.2f} to {_number(most)}); {plural(front.runs, 'run')}, "
            f"{plural(front.calls, 'call')} of the system{_time(front)}"
        )
        counts = front.border_counts
        told.append("borders: " + ", ".join(f"{kind} ({count:,})" for kind, count in counts.head(6).items()))
        told.append(_features(front))
    else:
        told.append(
            f"no border was found with {plural(front.runs, 'run')}, {plural(front.calls, 'call')} of the system"
            f"{_time(front)}"
        )
    return told + remarks(front)


def _features(front: Front) -> str:
    """Say which features decide, where the system was asked, else in which the two cases of a pair differ."""
    top = front.deciding().head(3)
    if top["decides"].isna().all():
        shares = ", ".join(f"{row.feature} ({row.share:.0%})" for row in top.itertuples())
        return f"features that differ most at the border: {shares} of the distance"
    decides = ", ".join(f"{row.feature} ({row.decides:.0%})" for row in top.itertuples() if row.decides > 0)
    return f"deciding features, and at what share of the pairs each decides alone: {decides or 'none'}"


def remarks(front: Front) -> list[str]:
    """Return what a reader should know before believing the figures."""
    told = list(front.notes)
    if front.exhausted:
        ended = "The search was interrupted" if front.tally.interrupted else "The budget ended the search"
        told.append(f"{ended}; what was found until then is kept.")
    workers, batches = front.tally.workers, front.tally.most_batches
    if workers > batches > 0:
        told.append(
            f"{workers} workers had at most {plural(batches, 'batch', 'batches')} to share at a time: a smaller batch=, or "
            "more walks, would give all of them something to do."
        )
    if front.tally.tried is not None:
        still, mended = front.tally.tried
        told.append(
            f"{plural(still + mended, 'case')} that failed in earlier runs went first: {still:,} still fail, "
            f"{mended:,} do not."
        )
    if front.lost:
        told.append(f"{plural(front.lost, 'walk')} ended where the system gave no answer.")
    unstable = front.tally.health.unstable
    if unstable:
        case = ", ".join(f"{name} {told_value(value)}" for name, value in list(unstable[0]["case"].items())[:6])
        both = " and ".join(answers([unstable[0]["first"], unstable[0]["second"]]))
        told.append(
            f"Asked twice, the system gave two answers to {len(unstable):,} of the cases tried: to {case} it said {both}. "
            "Pairs may be noise."
        )
    if len(front.measured) < len(front):
        told.append(
            f"How far a pair is from a real input was measured for {len(front.measured):,} of them, evenly chosen."
        )
    if front.slopes:
        told.append(f"{plural(front.slopes, 'steep slope')} looked like a jump from afar and was none.")
    return told


def example(front: Front) -> str:
    """Return the most plausible pair in words."""
    if not len(front):
        return ""
    row = int(np.nanargmin(front.plausibility))
    a, b = front.a.take(slice(row, row + 1)), front.b.take(slice(row, row + 1))
    becomes = f"{short(front.a_output[row])} becomes {short(front.b_output[row])}"
    return f"{becomes} with {changes(a, b, 3)[0]}"


def _time(front: Front) -> str:
    return "" if math.isnan(front.seconds) else f", {front.seconds:.2g} s"


def _number(value: float) -> str:
    return "infinity" if math.isinf(value) else f"{value:.2f}"
