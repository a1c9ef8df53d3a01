"""A chart of published figures and ours."""

from __future__ import annotations

import numpy as np

from .._lazy import pd
from .._text import pluralise
from ..reporting.document import Drawing, Shape
from ..reporting.panel import Floats, Panel, PanelItem
from .rows import format_number

MIN_FIGURES = 4  # with fewer, the table says all
MAX_FIGURES = 800
LOGARITHMIC_RATIO = 50.0  # of the greatest to the least figure, from which on the axes are logarithmic
SIDE_PX, LEFT_PX, TOP_PX = 360.0, 70.0, 30.0


def draw_comparison_chart(rows: pd.DataFrame) -> Drawing | None:
    """Draw our figures over the published ones, with the line on which both are equal; None if there are too few.

    Examples
    --------
    >>> import pandas as pd
    >>> figures = {"row": list("abcd"), "column": "runs", "published": [1, 2, 3, 4], "ours": [1, 2, 3, 5]}
    >>> draw_comparison_chart(pd.DataFrame(figures)).alt
    'Our figures over the published ones: 4 figures, from 1.00 to 5.00. Half of ours are within 0% of the published ones.'
    """
    both = rows[np.isfinite(rows["published"]) & np.isfinite(rows["ours"])].head(MAX_FIGURES)
    if len(both) < MIN_FIGURES:
        return None
    published, ours = (both[name].to_numpy(dtype=np.float64) for name in ("published", "ours"))
    values = np.concatenate([published, ours])
    is_logarithmic = bool(values.min() > 0 and values.max() / values.min() > LOGARITHMIC_RATIO)
    places: Floats = np.log10(np.stack([published, ours])) if is_logarithmic else np.stack([published, ours])
    margin = 0.04 * (float(np.ptp(places)) or 1.0)
    limits = (float(places.min()) - margin, float(places.max()) + margin)
    panel = Panel(left=LEFT_PX, top=TOP_PX, width=SIDE_PX, height=SIDE_PX, x=limits, y=limits)
    ends = [(float(panel.to_x(limit)), float(panel.to_y(limit))) for limit in limits]
    items: list[PanelItem] = [
        Shape(f"M{ends[0][0]:.1f} {ends[0][1]:.1f}L{ends[1][0]:.1f} {ends[1][1]:.1f}", "absent", "both are equal")
    ]
    for x, y, (row, column, theirs, mine) in zip(
        panel.to_x(places[0]).tolist(),
        panel.to_y(places[1]).tolist(),
        both[["row", "column", "published", "ours"]].itertuples(index=False, name=None),
        strict=True,
    ):
        note = f"{row}, {column}: published {format_number(theirs)}, ours {format_number(mine)}"
        items.append(Shape(f"M{x - 3:.1f} {y - 3:.1f}h6v6h-6z", "bar", note))
    items += _draw_logarithmic_frame(panel) if is_logarithmic else panel.draw_frame("published", "ours")
    scale = np.where(published == 0, 1.0, np.abs(published))
    difference = float(np.median(np.abs(ours - published) / scale))
    return Drawing(
        width=LEFT_PX + SIDE_PX + 40,
        height=panel.bottom + 48,
        shapes=items,
        alt=f"Our figures over the published ones: {pluralise(len(both), 'figure')}, from {format_number(values.min())} to "
        f"{format_number(values.max())}. Half of ours are within {100 * difference:.3g}% of the published ones.",
        caption=f"Half of {pluralise(len(both), 'figure')} are within {100 * difference:.3g}% of the published ones"
        + (" (logarithmic axes)" if is_logarithmic else ""),
    )


def _draw_logarithmic_frame(panel: Panel) -> list[PanelItem]:
    """Return axes with powers of ten."""
    powers = range(int(np.ceil(panel.x[0])), int(np.floor(panel.x[1])) + 1)
    marks = [(float(power), f"{10.0**power:g}") for power in powers]
    return panel.draw_frame("published", "ours", marks, marks)
