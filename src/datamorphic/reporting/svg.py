"""Draw pictures and drawings as SVG, with tooltips."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from .document import Axis, Drawing, Line, Picture, Scatter, Shape, TextLabel
from .text import clean, cut
from .thinning import (
    assign_hues,
    choose_tooltip_rows,
    describe_picture,
    find_bands,
    group_points,
    locate_steps,
    wrap_text,
)

PICTURE_WIDTH = 640
NARROW_PICTURE_WIDTH = 400  # beside a text
BAND_NAME_SHARE = 0.06  # of the height of a line chart
TICK_LETTER_WIDTH = 6.6  # an estimate in pixels
MAX_VISIBLE_STEPS = 200  # of a line with bands
TOOLTIP_LINE_CHARACTERS, MAX_TOOLTIP_LINES = 48, 8


def picture_to_svg(picture: Picture, width: int = PICTURE_WIDTH) -> str:
    """Return a picture as SVG with the colours of the style sheet of the page."""
    height, content = _draw_line(picture, width) if isinstance(picture, Line) else _draw_scatter(picture, width)
    name = html.escape(cut(picture.alt or describe_picture(picture), 1_500), quote=True)
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{name}" '
        f'xmlns="http://www.w3.org/2000/svg">{content}</svg>'
    )


# -- drawings ------------------------------------------------------------------------------------------------------

MIN_DRAWING_SCALE = 0.8  # of drawings on narrow pages; letters stay readable


def drawing_to_svg(drawing: Drawing, style: str = "") -> str:
    """Return a drawing as SVG; with `style`, it has its own style sheet and background."""
    size = f'width="{drawing.width:g}" height="{drawing.height:g}"'
    if not style:  # on a page: it shrinks a little before it scrolls
        size += f' style="max-width:100%;height:auto;min-width:{MIN_DRAWING_SCALE * drawing.width:.0f}px"'
    background = f'<style>{style}</style><path class="ground" d="M0 0h{drawing.width:g}v{drawing.height:g}H0z"/>'
    name = f'role="img" aria-label="{_escape(cut(drawing.alt, 1_500))}"' if drawing.alt else 'aria-hidden="true"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="shapes" viewBox="0 0 {drawing.width:g} {drawing.height:g}" '
        f"{size} {name}>{background if style else ''}"
        f"{''.join(map(_shape_to_svg, drawing.shapes))}</svg>"
    )


def _shape_to_svg(shape: Shape | TextLabel) -> str:
    if isinstance(shape, Shape):
        note = f"<title>{_escape(shape.note)}</title>" if shape.note else ""
        return f'<path class="{_escape(shape.kind)}" d="{_escape(shape.path)}">{note}</path>'
    return f'<text class="{_escape(shape.kind)}" x="{shape.x:.1f}" y="{shape.y:.1f}">{_escape(shape.text)}</text>'


def _escape(text: str) -> str:
    return html.escape(clean(text), quote=True)


# -- the frame -----------------------------------------------------------------------------------------------------


def choose_ticks(low: float, high: float, count: int = 6) -> list[float]:
    """Return about `count` round numbers between two numbers."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= 0.999 * rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


class _AxisScale:
    """Maps the values of an axis to pixels."""

    def __init__(self, axis: Axis, *columns: Sequence[float], tick_count: int = 6):
        self.axis = axis
        finite_values = [value for column in columns for value in column if math.isfinite(value)]
        if axis.names:
            self.low, self.high = -0.6, len(axis.names) - 0.4
            stride = max(1, math.ceil(len(axis.names) / 16))
            self.ticks = [(float(i), cut(axis.names[i], 24)) for i in range(0, len(axis.names), stride)]
        else:
            low, high = (min(finite_values), max(finite_values)) if finite_values else (0.0, 1.0)
            pad = 0.04 * (high - low) or abs(low) * 0.05 or 0.5
            self.low, self.high = low - pad, high + pad
            self.ticks = [(value, _format_number(value)) for value in choose_ticks(self.low, self.high, tick_count)]
        self.start, self.end = 0.0, 1.0  # in pixels

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def _format_number(value: float) -> str:
    size = abs(value)
    return f"{value:.4g}" if size >= 1e6 or 0 < size < 1e-4 else f"{value:,.6g}"


def _draw_frame(x: _AxisScale, y: _AxisScale, width: int, height: int) -> str:
    """Place the two axes, and return their lines and labels."""
    x_label_lines = wrap_text(x.axis.label, 80 * width // PICTURE_WIDTH)
    y_label_lines = wrap_text(y.axis.label, min(48, int((height - 60) / TICK_LETTER_WIDTH)))
    widest = max((len(name) for _, name in y.ticks), default=1)
    tick_width = min(0.3 * width, 14 + TICK_LETTER_WIDTH * widest)
    left = tick_width + 16 * len(y_label_lines)
    bottom = height - 26 - 16 * len(x_label_lines)
    x.start, x.end, y.start, y.end = left, width - 14, bottom, 12
    parts = []
    tick_characters = int((width - 14 - left) / max(1, len(x.ticks)) / TICK_LETTER_WIDTH)
    for value, name in x.ticks:
        at = x(value)
        text = html.escape(cut(name, max(4, tick_characters)))
        parts.append(
            f'<path class="grid" d="M{at} 12V{bottom}"/><text x="{at}" y="{bottom + 16}" class="mid">{text}</text>'
        )
    for value, name in y.ticks:
        at = y(value)
        text = html.escape(cut(name, int((tick_width - 10) / TICK_LETTER_WIDTH)))
        parts.append(f'<path class="grid" d="M{left:g} {at}H{width - 14}"/>')
        parts.append(f'<text x="{left - 6:g}" y="{at + 4:g}" class="end">{text}</text>')
    middle = (left + width - 14) / 2
    for i, text in enumerate(x_label_lines):
        parts.append(f'<text x="{middle:.0f}" y="{bottom + 36 + 16 * i:.0f}" class="mid">{html.escape(text)}</text>')
    for i, text in enumerate(y_label_lines):
        at, up = 12 + 16 * i, (bottom + 12) / 2
        parts.append(f'<text transform="translate({at} {up:.0f}) rotate(-90)" class="mid">{html.escape(text)}</text>')
    return "".join(parts)


# -- points and lines ----------------------------------------------------------------------------------------------


#: The class of each symbol, where its path starts relative to the point, and the path.
SYMBOL_PATHS = {
    "circle": ("dot", 0, 0, "h0"),
    "cross": ("plus", -4, 0, "h8m-4-4v8"),
    "diamond": ("area", 0, -5, "l5 5-5 5-5-5z"),
    "square": ("area", -3.5, -3.5, "h7v7h-7z"),
    "triangle-up": ("area", 0, -5, "l5 9h-10z"),
}


@dataclass(frozen=True)
class _Point:
    """A point of a picture in pixels, with the lines of its tooltip."""

    x: float
    y: float
    tooltip: Sequence[str] = ()


def _draw_points(points: Sequence[_Point], hue: int, symbol: str, group: str = "", kind: str = "") -> str:
    """Return points as SVG; circles without a tooltip are one path, which takes few bytes per point.

    The script of the page shows and hides the points by the name of their `group`. Other symbols keep their size when
    readers zoom only if each is an element of its own.
    """
    symbol_kind, dx, dy, path = SYMBOL_PATHS[symbol]
    paths = [f"M{point.x + dx:g} {point.y + dy:g}{path}" for point in points]
    plain_paths = [path for point, path in zip(points, paths, strict=True) if not point.tooltip]
    if symbol == "circle" and plain_paths:
        plain_paths = ["".join(plain_paths)]
    parts = [f'<path d="{path}"/>' for path in plain_paths]
    parts += [
        f'<path d="{path}">{_format_tooltip(point.tooltip)}</path>'
        for point, path in zip(points, paths, strict=True)
        if point.tooltip
    ]
    colour = f"c{hue}" if hue >= 0 else "rest"
    return f'<g class="{kind or symbol_kind} {colour}"{_format_group(group)}>{"".join(parts)}</g>'


def _draw_background(points: Sequence[_Point], group: str = "") -> str:
    path = "".join(f"M{point.x:g} {point.y:g}h0" for point in points)
    return f'<path class="real"{_format_group(group)} d="{path}"/>'


def _format_group(name: str) -> str:
    return f' data-group="{name}"' if name else ""


def _format_tooltip(lines: Sequence[str]) -> str:
    return f"<title>{_escape(chr(10).join(lines))}</title>"


def _wrap_tooltip(text: str) -> list[str]:
    return wrap_text(text, TOOLTIP_LINE_CHARACTERS, MAX_TOOLTIP_LINES) if text else []


def _draw_scatter(scatter: Scatter, width: int) -> tuple[int, str]:
    height = 440 if width == PICTURE_WIDTH else 340
    x = _AxisScale(scatter.x_axis, scatter.x, scatter.behind[0], tick_count=6 if width == PICTURE_WIDTH else 4)
    y = _AxisScale(scatter.y_axis, scatter.y, scatter.behind[1])
    parts = [_draw_frame(x, y, width, height)]
    background = [
        _Point(x(across), y(up)) for across, up in zip(*scatter.behind, strict=True) if math.isfinite(across + up)
    ]
    if background:
        parts.append(_draw_background(background, "real"))
    tooltip_rows = set(choose_tooltip_rows(scatter))
    for i, group in enumerate(group_points(scatter)):
        points = [
            _Point(
                x(scatter.x[row]), y(scatter.y[row]), _wrap_tooltip(scatter.notes[row]) if row in tooltip_rows else ()
            )
            for row in group.rows
            if math.isfinite(scatter.x[row] + scatter.y[row])
        ]
        parts.append(_draw_points(points, group.hue, group.symbol, str(i)))
    if not len(scatter.groups):
        parts.append(f'<text x="{width / 2:.0f}" y="{height / 2:.0f}" class="mid">no border was found</text>')
    return height, "".join(parts)


def _draw_line(line: Line, width: int) -> tuple[int, str]:
    height = 320 if width == PICTURE_WIDTH else 280
    steps = locate_steps(line)
    x = _AxisScale(Axis(line.x_label), steps, tick_count=6 if width == PICTURE_WIDTH else 4)
    y = _AxisScale(Axis(line.y_label), line.values)
    bands = find_bands(line)
    if bands:
        y.high += BAND_NAME_SHARE * (y.high - y.low)  # so that the line does not cross the names of the bands
    parts = [_draw_frame(x, y, width, height)]
    top, bottom = y.end, y.start
    hues = assign_hues(line)
    for label, start, stop in bands:
        left = x(x.low if start == 0 else (steps[start - 1] + steps[start]) / 2)
        right = x(x.high if stop == len(line.values) else (steps[stop - 1] + steps[stop]) / 2)
        parts.append(
            f'<path class="band c{hues[label]}" d="M{left} {top:g}H{right}V{bottom:g}H{left}z">'
            f"{_format_tooltip(_wrap_tooltip(label))}</path>"
        )
        label_characters = int((right - left) / TICK_LETTER_WIDTH)
        if label_characters >= min(len(label), 6):
            text = html.escape(cut(label, label_characters))
            parts.append(f'<text x="{(left + right) / 2:.0f}" y="{top + 14:.0f}" class="mid strong">{text}</text>')
    # Many points would hide the line: if bands show the answers, points are invisible and only carry tooltips.
    visible = len(line.values) <= MAX_VISIBLE_STEPS or (line.bands and not bands)
    d, pen = [], "M"
    tooltip_rows = set(choose_tooltip_rows(line))
    points: dict[int, list[_Point]] = {hue: [] for hue in hues.values()}  # in the order of the legend
    for row, (step, value) in enumerate(zip(steps, line.values, strict=True)):
        if not math.isfinite(value):
            pen = "M"
            continue
        place = x(step), y(value)
        d.append(f"{pen}{place[0]:g} {place[1]:g}")
        pen = "L"
        tooltip: list[str] = []
        if row in tooltip_rows:
            band = f": {line.bands[row]}" if line.bands else ""
            note = line.notes[row] if row < len(line.notes) else ""
            tooltip = [*_wrap_tooltip(note), f"{value:.4g}{band}"]
        if visible or tooltip:
            hue = hues[line.bands[row]] if line.bands else -1
            points.setdefault(hue, []).append(_Point(*place, tooltip))
    parts.append(f'<path class="line" d="{"".join(d)}"/>')
    kind = "dot" if visible else "dot hidden"
    parts += [_draw_points(band_points, hue, "circle", kind=kind) for hue, band_points in points.items()]
    return height, "".join(parts)


# -- legends -------------------------------------------------------------------------------------------------------


def legend_to_html(picture: Picture) -> str:
    """Return the legend of a picture as a list; readers can show and hide the entries with a group."""
    point = [_Point(8, 8)]
    if isinstance(picture, Line):
        icons = [(label, _draw_points(point, hue, "square"), "") for label, hue in assign_hues(picture).items()]
    else:
        icons = [("real inputs", _draw_background(point), "real")] if len(picture.behind[0]) else []
        icons += [
            (group.name, _draw_points(point, group.hue, group.symbol), str(i))
            for i, group in enumerate(group_points(picture))
        ]
    entries = "".join(
        f'<li{_format_group(group)}><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">{icon}</svg>'
        f"<span>{_escape(name)}</span></li>"
        for name, icon, group in icons
    )
    return f'<ul class="legend">{entries}</ul>' if entries else ""
