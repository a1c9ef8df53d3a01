"""Panels of the figures of a study: lines, dots by category, and boxes, ours beside the published ones.

Ours are filled marks, with 95% intervals where there are any; published figures are hollow marks of the same colour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..reporting.document import Drawing, Shape, TextLabel
from ..reporting.panel import HUE_COUNT, Panel, PanelItem
from ..reporting.svg import choose_ticks
from ..reporting.text import cut
from .rows import format_number

LINE_PANEL_WIDTH_PX, LINE_PANEL_HEIGHT_PX = 380.0, 270.0
LANE_PX, ROW_GAP_PX = 15.0, 7.0
PLOT_TOP_PX, AXIS_HEIGHT_PX, RIGHT_PX = 46.0, 46.0, 18.0
LETTER_PX = 7.2  # an estimate
MAX_TICKS = 7
MARK_RADIUS_PX, PUBLISHED_RADIUS_PX = 2.8, 4.4
MAX_LABEL_CHARACTERS = 20
MAX_POINTS_IN_WORDS = 24
MEAN = "mean"
BOX_KINDS = {"ours": "box", "published": "published-box"}


class ChartPoint(NamedTuple):
    """A figure of ours with half the width of its 95% interval and the published one, NaN where there is none.

    `place` is a number for lines, otherwise a category.
    """

    series: str
    place: str
    ours: float
    published: float
    margin: float = math.nan

    @property
    def note(self) -> str:
        """The point in words."""
        name = ", ".join(filter(None, (self.series, self.place)))
        margin = "" if math.isnan(self.margin) else f" ±{format_number(self.margin)}"
        figures = (("ours", self.ours, margin), ("published", self.published, ""))
        return f"{name}: " + ", ".join(
            f"{side} {format_number(value)}{more}" for side, value, more in figures if not math.isnan(value)
        )


@dataclass(frozen=True, kw_only=True)
class PanelLabels:
    """The texts of a panel: title, and what its axes show with units; `places` are the numbers or categories."""

    title: str
    values: str
    places: str = ""


@dataclass(frozen=True)
class ValueAxis:
    """The range of an axis of figures, in powers of ten if it is logarithmic."""

    limits: tuple[float, float]
    logarithmic: bool = False

    @classmethod
    def fit(cls, points: Sequence[ChartPoint], logarithmic: bool = False) -> ValueAxis:
        """Return an axis with all figures and intervals. It begins at 0 unless the figures are far from it."""
        values = [value for point in points for value in (point.ours, point.published) if math.isfinite(value)]
        ends = [point.ours + sign * point.margin for point in points for sign in (-1, 1)]
        ends = [end for end in ends if math.isfinite(end) and end > 0] + values
        low, high = min(ends), max(ends)
        if logarithmic and min(values) > 0:
            low, high = math.log10(max(low, min(values) / 2)), math.log10(high)
            gap = max(0.05 * (high - low), 0.05)
            return cls((low - gap, high + gap), True)
        gap = 0.06 * (high - low) or abs(high) or 1.0
        return cls((0.0 if 0 <= low < 0.5 * high else low - gap, high + gap))

    def scale(self, value: float) -> float:
        """Return where a value lies within the limits: the lower limit if it is too low, NaN if it is not finite."""
        if not math.isfinite(value):
            return math.nan
        if self.logarithmic:
            value = math.log10(value) if value > 0 else -math.inf
        return max(self.limits[0], value)

    def choose_marks(self) -> list[tuple[float, str]]:
        """Return the ticks."""
        low, high = self.limits
        if not self.logarithmic:
            return [(value, f"{value:,g}") for value in choose_ticks(low, high, 5)]
        factors = (1,) if high - low > 2 else (1, 3) if high - low > 1.2 else (1, 2, 5)
        numbers = [f * 10.0**k for k in range(math.floor(low), math.ceil(high) + 1) for f in factors]
        return [(math.log10(number), f"{number:g}") for number in numbers if low <= math.log10(number) <= high]


def assign_styles(names: Iterable[str]) -> dict[str, str]:
    """Return the style of each series: names that differ in a last digit have one colour, and only the first is solid.

    Examples
    --------
    >>> assign_styles(["Box 1", "Box 2", "Sin 1"])
    {'Box 1': 'c0', 'Box 2': 'c0 second', 'Sin 1': 'c1'}
    >>> assign_styles([""])
    {'': 'c0'}
    """
    hues: dict[str, int] = {}
    styles: dict[str, str] = {}
    for name in names:
        family = name.rstrip("0123456789 ")
        if name not in styles:
            styles[name] = f"c{hues[family]} second" if family in hues else f"c{len(hues) % HUE_COUNT}"
            hues.setdefault(family, len(hues) % HUE_COUNT)
    return styles


def build_legend(styles: Mapping[str, str], points: Sequence[ChartPoint], kind: str) -> list[tuple[Drawing, str]]:
    """Return the entries of a legend: what ours and published figures look like, and the series."""
    symbols = {
        "ours": any(math.isfinite(point.ours) for point in points),
        "published": any(math.isfinite(point.published) for point in points),
    }
    words = {"ours": "ours", "published": "published"}
    if any(math.isfinite(point.margin) for point in points):
        words["ours"] = f"ours, with the 95% interval {'of the mean' if kind == 'boxes' else ''}".rstrip()
    legend = []
    for side in (side for side, is_used in symbols.items() if is_used):
        shape: list[PanelItem]
        if kind == "boxes":
            shape = [Shape("M3 4h18v9h-18z", f"{BOX_KINDS[side]} c0"), Shape("M12 4v9", "trend c0")]
        else:
            shape = [_draw_mark(12, 8, side, "plain")]
            if side == "ours" and "interval" in words[side]:
                shape.insert(0, Shape("M2 8h20", "interval plain"))
        legend.append((_make_symbol(shape), words[side]))
    for name, style in styles.items():
        if name and kind != "boxes":
            shape = [_draw_mark(12, 8, "ours", style)]
            if kind == "lines":
                shape.insert(0, Shape("M0 8h24", f"trend {style}"))
            legend.append((_make_symbol(shape), name))
    return legend


def _make_symbol(shapes: Sequence[PanelItem]) -> Drawing:
    return Drawing(width=24, height=16, shapes=shapes, alt="")


def _draw_mark(x: float, y: float, side: str, style: str, note: str = "") -> Shape:
    """Return a mark: filled for ours, hollow for published figures; a square for the second series of a colour."""
    r = MARK_RADIUS_PX if side == "ours" else PUBLISHED_RADIUS_PX
    if "second" in style:
        path = f"M{x - r:.1f} {y - r:.1f}h{2 * r:g}v{2 * r:g}h-{2 * r:g}z"
    else:
        path = f"M{x - r:.1f} {y:.1f}a{r:g} {r:g} 0 1 0 {2 * r:g} 0a{r:g} {r:g} 0 1 0 -{2 * r:g} 0z"
    return Shape(path, f"{side} {style.split()[0]}", note)


def draw_line_panel(
    labels: PanelLabels, points: Sequence[ChartPoint], styles: Mapping[str, str], logarithmic: bool = False
) -> Drawing:
    """Draw figures over numbers: ours as a line per series, with intervals, and the published ones as hollow marks."""
    axis = ValueAxis.fit(points, logarithmic)
    numbers = [_to_number(point.place) for point in points]
    gap = 0.05 * (max(numbers) - min(numbers)) or 1.0
    marks = axis.choose_marks()
    left = 18 + LETTER_PX * max(len(text) for _, text in marks)
    panel = Panel(
        left=left,
        top=PLOT_TOP_PX,
        width=LINE_PANEL_WIDTH_PX - left - RIGHT_PX,
        height=LINE_PANEL_HEIGHT_PX - PLOT_TOP_PX - AXIS_HEIGHT_PX,
        x=(min(numbers) - gap, max(numbers) + gap),
        y=axis.limits,
    )
    items: list[PanelItem] = [
        Shape(f"M{left:.1f} {panel.to_y(value):.1f}h{panel.width:.1f}", "grid") for value, _ in marks
    ]
    ticks = sorted(set(numbers))
    x_marks = [(number, f"{number:,g}") for number in (ticks if len(ticks) <= MAX_TICKS else ticks[1::2])]
    items += panel.draw_frame(labels.places, y_marks=marks, x_marks=x_marks)
    for series, style in styles.items():
        own = sorted((point for point in points if point.series == series), key=lambda point: _to_number(point.place))
        line, marked = [], []
        for point in own:
            x = panel.to_x(_to_number(point.place))
            if math.isfinite(point.published):
                y = panel.to_y(axis.scale(point.published))
                marked.append(_draw_mark(x, y, "published", style, point.note))
            if math.isfinite(point.ours):
                y = panel.to_y(axis.scale(point.ours))
                line.append(f"{x:.1f} {y:.1f}")
                if math.isfinite(point.margin):
                    low, high = (panel.to_y(axis.scale(point.ours + sign * point.margin)) for sign in (-1, 1))
                    items.append(
                        Shape(f"M{x - 3:.1f} {low:.1f}h6m-3 0V{high:.1f}m-3 0h6", f"interval {style.split()[0]}")
                    )
                marked.append(_draw_mark(x, y, "ours", style, point.note))
        if len(line) > 1:
            items.append(Shape("M" + "L".join(line), f"trend {style}"))
        items += marked
    return _finish_panel(labels, points, items, LINE_PANEL_WIDTH_PX, LINE_PANEL_HEIGHT_PX)


def draw_dot_panel(
    labels: PanelLabels,
    points: Sequence[ChartPoint],
    styles: Mapping[str, str],
    logarithmic: bool = False,
    width: float = LINE_PANEL_WIDTH_PX,
) -> Drawing:
    """Draw figures by category, a row each, with a lane per series: ours with intervals, published ones hollow."""
    axis = ValueAxis.fit(points, logarithmic)
    places = list(dict.fromkeys(point.place for point in points))
    lanes = [series for series in styles if any(point.series == series for point in points)]
    panel, items = _start_rows(labels, axis, places, len(lanes), width)
    for point in points:
        y = _find_lane(panel, places.index(point.place), lanes.index(point.series), len(lanes))
        style = styles[point.series]
        ours, published = (panel.to_x(axis.scale(value)) for value in (point.ours, point.published))
        if math.isfinite(ours + published):
            items.append(Shape(f"M{ours:.1f} {y:.1f}H{published:.1f}", "axis"))
        if math.isfinite(point.margin):
            low, high = (panel.to_x(axis.scale(point.ours + sign * point.margin)) for sign in (-1, 1))
            items.append(Shape(f"M{low:.1f} {y - 3:.1f}v6m0-3H{high:.1f}m0-3v6", f"interval {style.split()[0]}"))
        for side, x in (("published", published), ("ours", ours)):
            if math.isfinite(x):
                items.append(_draw_mark(x, y, side, style, point.note))
    return _finish_panel(labels, points, items, width, panel.bottom + AXIS_HEIGHT_PX)


def draw_box_panel(
    labels: PanelLabels, points: Sequence[ChartPoint], styles: Mapping[str, str], logarithmic: bool = False
) -> Drawing:
    """Draw how figures are distributed over series: per category a box of ours and one of the published figures.

    A box goes from the first to the third quartile, with a line at the median and a dot at the mean, and its whiskers to the
    least and greatest figure. The series "mean" is not in the box: its margin is the interval of our mean.
    """
    axis = ValueAxis.fit(points, logarithmic)
    places = list(dict.fromkeys(point.place for point in points))
    panel, items = _start_rows(labels, axis, places, 2, LINE_PANEL_WIDTH_PX)
    for row, place in enumerate(places):
        own = [point for point in points if point.place == place]
        margin = max((point.margin for point in own if point.series == MEAN), default=math.nan)
        for lane, side in enumerate(BOX_KINDS):
            values = [getattr(point, side) for point in own if point.series != MEAN]
            values = [value for value in values if math.isfinite(value)]
            if not values:
                continue
            y, half = _find_lane(panel, row, lane, 2), LANE_PX / 2 - 2
            five = np.percentile(values, [0, 25, 50, 75, 100]).tolist()
            low, first, middle, third, high = (panel.to_x(axis.scale(value)) for value in five)
            mean = math.fsum(values) / len(values)
            words = ("least", "first quartile", "median", "third quartile", "greatest")
            note = f"{place}, {side}: " + ", ".join(
                f"{word} {format_number(value)}" for word, value in zip(words, five, strict=True)
            )
            items += [
                Shape(f"M{low:.1f} {y:.1f}H{first:.1f}M{third:.1f} {y:.1f}H{high:.1f}", "interval c0"),
                Shape(
                    f"M{first:.1f} {y - half:.1f}H{third:.1f}v{2 * half:g}H{first:.1f}z", f"{BOX_KINDS[side]} c0", note
                ),
                Shape(f"M{middle:.1f} {y - half:.1f}v{2 * half:g}", "trend c0"),
                _draw_mark(panel.to_x(axis.scale(mean)), y, "ours", "plain", f"{note}, mean {format_number(mean)}"),
            ]
            if side == "ours" and math.isfinite(margin):
                ends = [panel.to_x(axis.scale(mean + sign * margin)) for sign in (-1, 1)]
                items.append(Shape(f"M{ends[0]:.1f} {y - 3:.1f}v6m0-3H{ends[1]:.1f}m0-3v6", "interval plain"))
    return _finish_panel(labels, points, items, LINE_PANEL_WIDTH_PX, panel.bottom + AXIS_HEIGHT_PX)


def _to_number(place: str) -> float:
    return float(place.replace(",", ""))


def _start_rows(
    labels: PanelLabels, axis: ValueAxis, places: Sequence[str], lanes: int, width: float
) -> tuple[Panel, list[PanelItem]]:
    """Return a panel with a row per category, and its frame."""
    left = 16 + LETTER_PX * min(MAX_LABEL_CHARACTERS, max(map(len, places)))
    height = len(places) * (LANE_PX * lanes + ROW_GAP_PX)
    panel = Panel(
        left=left,
        top=PLOT_TOP_PX - 16,
        width=width - left - RIGHT_PX,
        height=height,
        x=axis.limits,
        y=(float(len(places)), 0.0),
    )
    items: list[PanelItem] = []
    marks = axis.choose_marks()
    items += [Shape(f"M{panel.to_x(value):.1f} {panel.top:.1f}V{panel.bottom:.1f}", "grid") for value, _ in marks]
    names = [(row + 0.5, cut(place, MAX_LABEL_CHARACTERS)) for row, place in enumerate(places)]
    return panel, items + panel.draw_frame(labels.values, y_marks=names, x_marks=marks)


def _find_lane(panel: Panel, row: int, lane: int, lanes: int) -> float:
    """Return the height of the middle of a lane."""
    return panel.top + row * (LANE_PX * lanes + ROW_GAP_PX) + ROW_GAP_PX / 2 + LANE_PX * (lane + 0.5)


def _finish_panel(
    labels: PanelLabels, points: Sequence[ChartPoint], items: list[PanelItem], width: float, height: float
) -> Drawing:
    """Return the drawing, with its title, and with the figures in words."""
    items.append(TextLabel(4, 16, labels.title, "strong"))
    if labels.places:  # the axis of the figures is the vertical one
        items.append(TextLabel(4, 34, labels.values, "small"))
    alt = f"{labels.title}: {labels.values}. {_describe_points(points)}."
    return Drawing(width=width, height=height, shapes=items, alt=alt, caption=labels.title)


def _describe_points(points: Sequence[ChartPoint]) -> str:
    """Return the figures in words, or their ranges by series if they are many."""
    if len(points) <= MAX_POINTS_IN_WORDS:
        return "; ".join(point.note for point in points)
    texts = []
    for series in dict.fromkeys(point.series for point in points):
        for side in BOX_KINDS:
            values = [getattr(point, side) for point in points if point.series == series]
            values = [value for value in values if math.isfinite(value)]
            if values:
                texts.append(f"{series} {side} {format_number(min(values))} to {format_number(max(values))}".strip())
    return "; ".join(texts)
