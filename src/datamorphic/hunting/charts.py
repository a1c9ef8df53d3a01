"""Charts of figures: how F-measures are spread, and how sure F-ratios are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._text import pluralize
from ..reporting.document import Drawing, Shape, TextLabel
from ..reporting.panel import STRIP_HEIGHT_PX, STRIP_WIDTH_PX, Panel, PanelItem
from ..reporting.text import cut
from .measures import FMeasures, IntervalEstimate, estimate

MAX_BARS = 25
NAME_WIDTH_PX, ROW_HEIGHT_PX, FIGURE_WIDTH_PX = 170.0, 26.0, 190.0  # widths of names and figures, height of a row


def draw_f_measure_chart(measures: FMeasures) -> Drawing:
    """Return how many trials needed how many groups, as bars; trials that found nothing are not among them.

    Examples
    --------
    >>> f_measure_chart(FMeasures([1, 2, 2, 50])).alt
    'The groups until the first violation of 4 trials: from 1 to 50, the mean is 13.75.'
    """
    f_measures = measures.counts[~measures.censored]
    greatest = int(f_measures.max())
    edges = np.linspace(0.5, greatest + 0.5, min(MAX_BARS, greatest) + 1)
    counts = np.histogram(f_measures, edges)[0]
    height = 3 * STRIP_HEIGHT_PX
    panel = Panel(
        54, 24, STRIP_WIDTH_PX - 74, height, (float(edges[0]), float(edges[-1])), (0.0, float(counts.max()))
    )
    mean = estimate(f_measures) if len(f_measures) > 1 else IntervalEstimate(float(f_measures[0]), np.nan, np.nan)
    mean_x = float(panel.to_x(mean.value))
    items: list[PanelItem] = panel.draw_bars(edges, counts.astype(float), "bar", "trials", "{:.0f}")
    items.append(
        Shape(f"M{mean_x:.1f} {panel.bottom:.1f}V{panel.top - 6:.1f}", "absent", f"the mean: {mean.value:.1f}")
    )
    is_label_left = mean_x > STRIP_WIDTH_PX / 2
    items.append(
        TextLabel(
            mean_x + (-6 if is_label_left else 6),
            panel.top,
            f"mean {mean.value:,.1f}",
            "end small" if is_label_left else "small",
        )
    )
    marks = ((0.0, "0"), (float(counts.max()), f"{counts.max():,}"))
    items += panel.draw_frame("groups until the first violation", y_marks=marks)
    alt = (
        f"The groups until the first violation of {pluralize(len(f_measures), 'trial')}: from {f_measures.min():,} to {greatest:,}, "
        f"the mean is {mean.value:g}."
    )
    return Drawing(
        width=STRIP_WIDTH_PX,
        height=panel.bottom + 48,
        shapes=items,
        alt=alt,
        caption="How many trials needed how many groups",
    )


def draw_ratio_chart(ratios: Sequence[tuple[str, IntervalEstimate]]) -> Drawing:
    """Return F-ratios with their intervals, a row each, beside the line of random testing.

    Examples
    --------
    >>> ratio_chart([("IPART", Estimate(0.61, 0.6, 0.62))]).alt
    'F-ratios to random testing, which is 100 %. IPART: 61.0 % (60.0 to 62.0 %).'
    """
    greatest = 1.05 * max(1.0, *(max(ratio.value, *_get_ends(ratio)) for _, ratio in ratios))
    top = 24.0
    panel = Panel(
        NAME_WIDTH_PX,
        top,
        STRIP_WIDTH_PX - NAME_WIDTH_PX - FIGURE_WIDTH_PX,
        ROW_HEIGHT_PX * len(ratios),
        (0.0, 100 * greatest),
        (0.0, 1.0),
    )
    random_x = float(panel.to_x(100.0))
    items: list[PanelItem] = [
        Shape(f"M{random_x:.1f} {panel.bottom:.1f}V{top:.1f}", "absent", "random testing"),
        TextLabel(random_x, top - 8, "random testing", "mid small"),
    ]
    for place, (name, ratio) in enumerate(ratios):
        y = top + ROW_HEIGHT_PX * (place + 0.5)
        low, high = (float(panel.to_x(100 * end)) for end in _get_ends(ratio))
        x = float(panel.to_x(100 * ratio.value))
        figures = f"{100 * ratio.value:.1f} % ({100 * ratio.low:.1f} to {100 * ratio.high:.1f} %)"
        items.append(
            Shape(f"M{low:.1f} {y:.1f}H{high:.1f}M{low:.1f} {y - 5:.1f}v10M{high:.1f} {y - 5:.1f}v10", "axis")
        )
        items.append(Shape(f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8z", "bar", f"{name}: {figures}"))
        items.append(TextLabel(NAME_WIDTH_PX - 12, y + 4, cut(name, 28), "end"))
        items.append(TextLabel(STRIP_WIDTH_PX - FIGURE_WIDTH_PX + 10, y + 4, figures, "small"))
    items += panel.draw_frame("F-ratio in %", y_marks=())
    figures = "; ".join(
        f"{name}: {100 * ratio.value:.1f} % ({100 * ratio.low:.1f} to {100 * ratio.high:.1f} %)"
        for name, ratio in ratios
    )
    alt = f"F-ratios to random testing, which is 100 %. {figures}."
    return Drawing(
        width=STRIP_WIDTH_PX,
        height=panel.bottom + 48,
        shapes=items,
        alt=alt,
        caption="F-ratios with their 95 % intervals: less is sooner",
    )


def _get_ends(ratio: IntervalEstimate) -> tuple[float, float]:
    """Return the ends of an interval; the value itself where there is none."""
    return tuple(ratio.value if np.isnan(end) else end for end in (ratio.low, ratio.high))  # type: ignore[return-value]
