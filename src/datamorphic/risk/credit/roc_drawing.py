"""Draw the ROC curves of some models in one square."""

from __future__ import annotations

from collections.abc import Sequence

from ...reporting.document import Chart, Drawing, Shape, TextLabel
from ...reporting.panel import Panel, PanelItem, choose_line_style
from ...reporting.text import cut
from .roc import RocCurve

SIDE_PX = 300.0
LEFT_PX, TOP_PX, RIGHT_PX, BOTTOM_PX = 60.0, 32.0, 20.0, 50.0
ALT_RATES = (0.1, 0.2, 0.5)  # of refused payers, for which the alternative text gives the share of defaulters
MAX_NAME_CHARACTERS = 90


def draw_roc(curves: Sequence[tuple[str, RocCurve]]) -> Chart:
    """Return the curves with their names, and the diagonal, which is chance."""
    panel = Panel(left=LEFT_PX, top=TOP_PX, width=SIDE_PX, height=SIDE_PX, x=(0.0, 1.0), y=(0.0, 1.0))
    items: list[PanelItem] = panel.draw_frame("refused, of those who paid")
    items.append(TextLabel(4, 16, "refused, of those who defaulted", "small"))
    items.append(_draw_curve(panel, [(0.0, 0.0), (1.0, 1.0)], "trend rest second", "chance: AUC 0.5"))
    texts = []
    for number, (name, curve) in enumerate(curves):
        points = list(zip(curve.false_positive_rates.tolist(), curve.true_positive_rates.tolist(), strict=True))
        items.append(_draw_curve(panel, points, choose_line_style(number), name))
        readings = ", ".join(f"{100 * curve.read(rate):.0f}% at {100 * rate:.0f}%" for rate in ALT_RATES)
        texts.append(f"{name}: {readings}")
    drawing = Drawing(
        width=LEFT_PX + SIDE_PX + RIGHT_PX,
        height=TOP_PX + SIDE_PX + BOTTOM_PX,
        shapes=items,
        alt=f"ROC curves: the share of defaulters refused at a share of payers refused. {'; '.join(texts)}.",
    )
    legend = [
        (_draw_symbol(choose_line_style(number)), cut(name, MAX_NAME_CHARACTERS))
        for number, (name, _) in enumerate(curves)
    ]
    return Chart(panels=[drawing], legend=[*legend, (_draw_symbol("trend rest second"), "chance")])


def _draw_curve(panel: Panel, points: Sequence[tuple[float, float]], kind: str, note: str) -> Shape:
    places = "L".join(f"{panel.to_x(x):.1f} {panel.to_y(y):.1f}" for x, y in points)
    return Shape(f"M{places}", kind, note)


def _draw_symbol(kind: str) -> Drawing:
    return Drawing(width=24, height=16, shapes=[Shape("M0 8h24", kind)], alt="")
