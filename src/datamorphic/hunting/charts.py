"""Charts of F-measures and F-ratios."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._text import format_percent, pluralize
from ..core.result import Measure
from ..reporting.document import Drawing, Shape, TextLabel
from ..reporting.panel import STRIP_HEIGHT_PX, STRIP_WIDTH_PX, Panel, PanelItem
from ..reporting.text import cut
from .measures import FMeasures, estimate

MAX_BARS = 25
MAX_NAME_CHARACTERS = 28
NAME_WIDTH_PX = 170.0
FIGURE_WIDTH_PX = 190.0
ROW_HEIGHT_PX = 26.0


def draw_f_measure_chart(measures: FMeasures) -> Drawing:
    """Draw a histogram of F-measures, without censored trials."""
    f_measures = measures.counts[~measures.censored]
    greatest = int(f_measures.max())
    edges = np.linspace(0.5, greatest + 0.5, min(MAX_BARS, greatest) + 1)
    counts = np.histogram(f_measures, edges)[0]
    panel = Panel(
        left=54,
        top=24,
        width=STRIP_WIDTH_PX - 74,
        height=3 * STRIP_HEIGHT_PX,
        x=(float(edges[0]), float(edges[-1])),
        y=(0.0, float(counts.max())),
    )
    mean = estimate(f_measures).value
    mean_x = panel.to_x(mean)
    items: list[PanelItem] = panel.draw_bars(edges, counts.astype(float), "bar", "trials", "{:.0f}")
    items.append(Shape(f"M{mean_x:.1f} {panel.bottom:.1f}V{panel.top - 6:.1f}", "absent", f"the mean: {mean:.1f}"))
    gap, style = (-6, "end small") if mean_x > STRIP_WIDTH_PX / 2 else (6, "small")
    items.append(TextLabel(mean_x + gap, panel.top, f"mean {mean:,.1f}", style))
    marks = ((0.0, "0"), (float(counts.max()), f"{counts.max():,}"))
    items += panel.draw_frame("groups until the first violation", y_marks=marks)
    trials = pluralize(len(f_measures), "trial")
    return Drawing(
        width=STRIP_WIDTH_PX,
        height=panel.bottom + 48,
        shapes=items,
        alt=f"The groups until the first violation of {trials}: from {f_measures.min():,} to {greatest:,}, the mean is "
        f"{mean:g}.",
        caption="How many trials needed how many groups",
    )


def draw_ratio_chart(ratios: Sequence[tuple[str, Measure]]) -> Drawing:
    """Draw F-ratios with their intervals, one row each, and a line for random testing."""
    greatest = 1.05 * max(1.0, *(max(ratio.value, *_get_ends(ratio)) for _, ratio in ratios))
    panel = Panel(
        left=NAME_WIDTH_PX,
        top=24.0,
        width=STRIP_WIDTH_PX - NAME_WIDTH_PX - FIGURE_WIDTH_PX,
        height=ROW_HEIGHT_PX * len(ratios),
        x=(0.0, 100 * greatest),
        y=(0.0, 1.0),
    )
    random_x = panel.to_x(100.0)
    items: list[PanelItem] = [
        Shape(f"M{random_x:.1f} {panel.bottom:.1f}V{panel.top:.1f}", "absent", "random testing"),
        TextLabel(random_x, panel.top - 8, "random testing", "mid small"),
    ]
    for place, (name, ratio) in enumerate(ratios):
        y = panel.top + ROW_HEIGHT_PX * (place + 0.5)
        low, high = (panel.to_x(100 * end) for end in _get_ends(ratio))
        x = panel.to_x(100 * ratio.value)
        interval_path = f"M{low:.1f} {y:.1f}H{high:.1f}M{low:.1f} {y - 5:.1f}v10M{high:.1f} {y - 5:.1f}v10"
        items += [
            Shape(interval_path, "axis"),
            Shape(f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8z", "bar", f"{name}: {_format_ratio(ratio)}"),
            TextLabel(NAME_WIDTH_PX - 12, y + 4, cut(name, MAX_NAME_CHARACTERS), "end"),
            TextLabel(STRIP_WIDTH_PX - FIGURE_WIDTH_PX + 10, y + 4, _format_ratio(ratio), "small"),
        ]
    items += panel.draw_frame("F-ratio in %", y_marks=())
    figures = "; ".join(f"{name}: {_format_ratio(ratio)}" for name, ratio in ratios)
    return Drawing(
        width=STRIP_WIDTH_PX,
        height=panel.bottom + 48,
        shapes=items,
        alt=f"F-ratios to random testing, which is 100%. {figures}.",
        caption="F-ratios with their 95% intervals: less is sooner",
    )


def _format_ratio(ratio: Measure) -> str:
    return f"{format_percent(ratio.value)} ({format_percent(ratio.low)} to {format_percent(ratio.high)})"


def _get_ends(ratio: Measure) -> tuple[float, float]:
    """Return the ends of the interval; if they are not known, the value itself."""
    return (ratio.value if np.isnan(ratio.low) else ratio.low, ratio.value if np.isnan(ratio.high) else ratio.high)
