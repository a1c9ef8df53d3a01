"""Draw the mean label and the mean answer along a feature."""

from __future__ import annotations

import math

import numpy as np

from ...._text import format_short
from ....reporting.document import Chart, Drawing, Section, Shape, TextLabel
from ....reporting.panel import Panel, PanelItem
from ....reporting.text import cut
from .bins import Bins, Means

PANEL_WIDTH_PX, PANEL_HEIGHT_PX = 520.0, 300.0
LEFT_PX, RIGHT_PX, TOP_PX, BOTTOM_PX = 62.0, 48.0, 44.0, 52.0
MARK_RADIUS_PX = 3.0
MAX_NAME_CHARACTERS = 60  # of all names below the axis together; with more, every second one is left out
LABELS_STYLE, ANSWERS_STYLE = "c0", "c1"


def draw_curves(bins: Bins, labels: Means, answers: Means, quantity: str, answer_quantity: str, note: str) -> Section:
    """Return a picture of two curves with intervals; bins are evenly spaced, so that none hides another."""
    used = np.flatnonzero(labels.counts > 0)
    ends = [means.values[used] + sign * means.margins[used] for means in (labels, answers) for sign in (-1, 1)]
    low, high = float(np.min(ends)), float(np.max(ends))
    gap = 0.05 * (high - low) or 0.5
    panel = Panel(
        left=LEFT_PX,
        top=TOP_PX,
        width=PANEL_WIDTH_PX - LEFT_PX - RIGHT_PX,
        height=PANEL_HEIGHT_PX - TOP_PX - BOTTOM_PX,
        x=(-0.5, len(used) - 0.5),
        y=(low - gap, high + gap),
    )
    names = [bins.names[number] for number in used]
    every = 1 + sum(map(len, names)) // MAX_NAME_CHARACTERS
    marks = [(float(place), cut(name, 18)) for place, name in enumerate(names) if place % every == 0]
    items: list[PanelItem] = panel.draw_frame(bins.feature, x_marks=marks)
    words: list[str] = []
    # numbers are joined by a line; missing values and categories are not
    joined = [place for place, number in enumerate(used) if math.isfinite(bins.places[number])]
    for means, style, what, offset in (
        (labels, LABELS_STYLE, "labels", -0.06),
        (answers, ANSWERS_STYLE, "answers", 0.06),
    ):
        points = [
            (float(panel.to_x(place + offset)), float(panel.to_y(float(means.values[number]))))
            for place, number in enumerate(used)
        ]
        if len(joined) > 1:
            items.append(
                Shape("M" + "L".join(f"{points[i][0]:.1f} {points[i][1]:.1f}" for i in joined), f"trend {style}")
            )
        for (x, y), number in zip(points, used.tolist(), strict=True):
            value, margin = float(means.values[number]), float(means.margins[number])
            top, bottom = (float(panel.to_y(value + sign * margin)) for sign in (1, -1))
            items.append(Shape(f"M{x - 3:.1f} {bottom:.1f}h6m-3 0V{top:.1f}m-3 0h6", f"interval {style}"))
            text = f"{bins.names[number]}: {what} {format_short(value)} ± {format_short(margin)}, {int(means.counts[number]):,} rows"
            items.append(_draw_mark(x, y, style, text))
        listing = ", ".join(f"{bins.names[number]} {means.values[number]:.3g}" for number in used.tolist())
        words.append(f"{what} {listing}")
    items.append(TextLabel(4, 16, quantity, "small"))
    drawing = Drawing(
        width=PANEL_WIDTH_PX,
        height=PANEL_HEIGHT_PX,
        shapes=items,
        alt=f"{quantity} along {bins.feature}: {'; '.join(words)}.",
        caption=f"Labels and answers along {bins.feature}",
    )
    legend = [(_draw_symbol(LABELS_STYLE), "labels"), (_draw_symbol(ANSWERS_STYLE), answer_quantity)]
    return Section(
        heading=f"Labels and answers along {bins.feature}",
        text=note,
        chart=Chart(
            panels=[drawing], legend=legend, caption="Means with 95% intervals, in bins of about equally many rows."
        ),
    )


def _draw_mark(x: float, y: float, style: str, note: str = "") -> Shape:
    r = MARK_RADIUS_PX
    return Shape(
        f"M{x - r:.1f} {y:.1f}a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 -{2 * r:g} 0z", f"ours {style}", note
    )


def _draw_symbol(style: str) -> Drawing:
    return Drawing(width=24, height=16, shapes=[Shape("M0 8h24", f"trend {style}"), _draw_mark(12, 8, style)], alt="")
