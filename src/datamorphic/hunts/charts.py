"""Charts of figures: how F-measures are spread, and how sure F-ratios are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._checks import plural
from ..groups.measures import Estimate, FMeasures, estimate
from ..reports.summary import Drawing, Mark, Words
from ..reports.texts import cut
from .panels import STRIP, WIDE, Panel, Shown

BARS = 25
NAME, ROW, FIGURE = 170.0, 26.0, 190.0  # widths of names and figures, height of a row


def f_measure_chart(measured: FMeasures) -> Drawing:
    """Return how many trials needed how many groups, as bars; trials that found nothing are not among them.

    Examples
    --------
    >>> f_measure_chart(FMeasures([1, 2, 2, 50])).alt
    'The groups until the first violation of 4 trials: from 1 to 50, the mean is 13.75.'
    """
    found = measured.counts[~measured.censored]
    most = int(found.max())
    edges = np.linspace(0.5, most + 0.5, min(BARS, most) + 1)
    counts = np.histogram(found, edges)[0]
    high = 3 * STRIP
    panel = Panel(54, 24, WIDE - 74, high, (float(edges[0]), float(edges[-1])), (0.0, float(counts.max())))
    mean = estimate(found) if len(found) > 1 else Estimate(float(found[0]), np.nan, np.nan)
    at = float(panel.across(mean.value))
    shown: list[Shown] = panel.bars(edges, counts.astype(float), "bar", "trials", "{:.0f}")
    shown.append(
        Mark(f"M{at:.1f} {panel.bottom:.1f}V{panel.top - 6:.1f}", "absent", f"the mean: {mean.value:.1f}")
    )
    left = at > WIDE / 2
    shown.append(
        Words(at + (-6 if left else 6), panel.top, f"mean {mean.value:,.1f}", "end small" if left else "small")
    )
    marks = ((0.0, "0"), (float(counts.max()), f"{counts.max():,}"))
    shown += panel.frame("groups until the first violation", y_marks=marks)
    alt = (
        f"The groups until the first violation of {plural(len(found), 'trial')}: from {found.min():,} to {most:,}, "
        f"the mean is {mean.value:g}."
    )
    return Drawing(WIDE, panel.bottom + 48, shown, alt, "How many trials needed how many groups")


def ratio_chart(ratios: Sequence[tuple[str, Estimate]]) -> Drawing:
    """Return F-ratios with their intervals, a row each, beside the line of random testing.

    Examples
    --------
    >>> ratio_chart([("IPART", Estimate(0.61, 0.6, 0.62))]).alt
    'F-ratios to random testing, which is 100 %. IPART: 61.0 % (60.0 to 62.0 %).'
    """
    most = 1.05 * max(1.0, *(max(each.value, *_known(each)) for _, each in ratios))
    top = 24.0
    panel = Panel(NAME, top, WIDE - NAME - FIGURE, ROW * len(ratios), (0.0, 100 * most), (0.0, 1.0))
    at = float(panel.across(100.0))
    shown: list[Shown] = [
        Mark(f"M{at:.1f} {panel.bottom:.1f}V{top:.1f}", "absent", "random testing"),
        Words(at, top - 8, "random testing", "mid small"),
    ]
    for place, (name, ratio) in enumerate(ratios):
        y = top + ROW * (place + 0.5)
        low, high = (float(panel.across(100 * each)) for each in _known(ratio))
        x = float(panel.across(100 * ratio.value))
        told = f"{100 * ratio.value:.1f} % ({100 * ratio.low:.1f} to {100 * ratio.high:.1f} %)"
        shown.append(
            Mark(f"M{low:.1f} {y:.1f}H{high:.1f}M{low:.1f} {y - 5:.1f}v10M{high:.1f} {y - 5:.1f}v10", "axis")
        )
        shown.append(Mark(f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8z", "bar", f"{name}: {told}"))
        shown.append(Words(NAME - 12, y + 4, cut(name, 28), "end"))
        shown.append(Words(WIDE - FIGURE + 10, y + 4, told, "small"))
    shown += panel.frame("F-ratio in %", y_marks=())
    told = "; ".join(
        f"{name}: {100 * each.value:.1f} % ({100 * each.low:.1f} to {100 * each.high:.1f} %)"
        for name, each in ratios
    )
    alt = f"F-ratios to random testing, which is 100 %. {told}."
    return Drawing(WIDE, panel.bottom + 48, shown, alt, "F-ratios with their 95 % intervals: less is sooner")


def _known(ratio: Estimate) -> tuple[float, float]:
    """Return the ends of an interval; the value itself where there is none."""
    return tuple(ratio.value if np.isnan(end) else end for end in (ratio.low, ratio.high))  # type: ignore[return-value]
