"""Pictures drawn by ourselves as inline SVG: for print, for readers without scripts, and until plotly has drawn."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from .pictures import described, groups_of, hues_of, runs_of, steps_of, wrapped
from .summary import Axis, Drawing, Line, Mark, Picture, Scatter, Words
from .texts import clean, cut

WIDTH = 640
LETTER = 6.6  # how wide a letter of a tick label is, about
FEW = 200  # points of a line that are drawn one by one


def picture_svg(picture: Picture) -> str:
    """Return a picture as SVG; colours are those of the page's style sheet."""
    drawn = _line(picture) if isinstance(picture, Line) else _scatter(picture)
    height, inner = drawn
    name = html.escape(cut(picture.alt or described(picture), 1_500), quote=True)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" aria-label="{name}" '
        f'xmlns="http://www.w3.org/2000/svg">{inner}</svg>'
    )


def symbol_svg(hue: int, symbol: str) -> str:
    """Return one point as a small picture of its own, for a legend."""
    return f'<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">{_points([(8, 8)], hue, symbol)}</svg>'


# -- drawings of marks and words ---------------------------------------------------------------------------------------


def drawing_svg(drawing: Drawing, style: str = "") -> str:
    """Return a drawing as SVG, with a style sheet and a ground of its own if it is to stand alone."""
    size = f'width="{drawing.width:g}" height="{drawing.height:g}"'
    ground = f'<style>{style}</style><path class="ground" d="M0 0h{drawing.width:g}v{drawing.height:g}H0z"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="shapes" viewBox="0 0 {drawing.width:g} {drawing.height:g}" '
        f'{size} role="img" aria-label="{_escaped(cut(drawing.alt, 1_500))}">{ground if style else ""}'
        f"{''.join(map(_shown, drawing.shown))}</svg>"
    )


def _shown(each: Mark | Words) -> str:
    if isinstance(each, Mark):
        note = f"<title>{_escaped(each.note)}</title>" if each.note else ""
        return f'<path class="{_escaped(each.kind)}" d="{_escaped(each.path)}">{note}</path>'
    return f'<text class="{_escaped(each.kind)}" x="{each.x:.1f}" y="{each.y:.1f}">{_escaped(each.text)}</text>'


def _escaped(text: str) -> str:
    return html.escape(clean(text), quote=True)


# -- the frame -----------------------------------------------------------------------------------------------------


def ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Return round numbers between two.

    Examples
    --------
    >>> ticks(0.3, 9.7), ticks(-1, 1, 4)
    ([2.0, 4.0, 6.0, 8.0], [-1.0, -0.5, 0.0, 0.5, 1.0])
    """
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 5, 10) if power * nice >= 0.999 * rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


class _Scale:
    """Where the values of one axis lie on the paper."""

    def __init__(self, axis: Axis, *columns: Sequence[float]):
        self.axis = axis
        known = [value for column in columns for value in column if math.isfinite(value)]
        if axis.names:
            self.low, self.high = -0.6, len(axis.names) - 0.4
            each = max(1, math.ceil(len(axis.names) / 16))
            self.marks = [(float(i), cut(axis.names[i], 24)) for i in range(0, len(axis.names), each)]
        else:
            low, high = (min(known), max(known)) if known else (0.0, 1.0)
            pad = 0.04 * (high - low) or abs(low) * 0.05 or 0.5
            self.low, self.high = low - pad, high + pad
            self.marks = [(value, _number(value)) for value in ticks(self.low, self.high)]
        self.start, self.end = 0.0, 1.0

    def lie(self, start: float, end: float) -> None:
        """Say where on the paper the axis begins and ends."""
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def _number(value: float) -> str:
    size = abs(value)
    return f"{value:.4g}" if size >= 1e6 or 0 < size < 1e-4 else f"{value:,.6g}"


def _frame(x: _Scale, y: _Scale, height: int) -> str:
    """Lay out the two axes and return their lines and words."""
    below, beside = wrapped(x.axis.label, 80), wrapped(y.axis.label, 48)
    widest = max((len(name) for _, name in y.marks), default=1)
    left = min(190.0, 14 + LETTER * widest) + 16 * len(beside)
    bottom = height - 26 - 16 * len(below)
    x.lie(left, WIDTH - 14)
    y.lie(bottom, 12)
    parts = []
    room = int((WIDTH - 14 - left) / max(1, len(x.marks)) / LETTER)
    for value, name in x.marks:
        at = x(value)
        words = html.escape(cut(name, max(4, room)))
        parts.append(
            f'<path class="grid" d="M{at} 12V{bottom}"/><text x="{at}" y="{bottom + 16}" class="mid">{words}</text>'
        )
    for value, name in y.marks:
        at = y(value)
        words = html.escape(name)
        parts.append(f'<path class="grid" d="M{left:g} {at}H{WIDTH - 14}"/>')
        parts.append(f'<text x="{left - 6:g}" y="{at + 4:g}" class="end">{words}</text>')
    middle = (left + WIDTH - 14) / 2
    for i, words in enumerate(below):
        parts.append(
            f'<text x="{middle:.0f}" y="{bottom + 36 + 16 * i:.0f}" class="mid">{html.escape(words)}</text>'
        )
    for i, words in enumerate(beside):
        at, up = 12 + 16 * i, (bottom + 12) / 2
        parts.append(
            f'<text transform="translate({at} {up:.0f}) rotate(-90)" class="mid">{html.escape(words)}</text>'
        )
    return "".join(parts)


# -- points and lines ----------------------------------------------------------------------------------------------


def _points(places: Sequence[tuple[float, float]], hue: int, symbol: str) -> str:
    """Return points as one path: a few bytes each."""
    colour = f"c{hue}" if hue >= 0 else "rest"
    if symbol == "circle":
        return f'<path class="dot {colour}" d="{"".join(f"M{x:g} {y:g}h0" for x, y in places)}"/>'
    if symbol == "cross":
        d = "".join(f"M{x - 4:g} {y:g}h8m-4-4v8" for x, y in places)
        return f'<path class="plus {colour}" d="{d}"/>'
    shape = {
        "diamond": (0, -5, "l5 5-5 5-5-5z"),
        "square": (-3.5, -3.5, "h7v7h-7z"),
        "triangle-up": (0, -5, "l5 9h-10z"),
    }
    dx, dy, path = shape[symbol]
    return f'<path class="area {colour}" d="{"".join(f"M{x + dx:g} {y + dy:g}{path}" for x, y in places)}"/>'


def _scatter(scatter: Scatter) -> tuple[int, str]:
    height = 440
    x, y = (
        _Scale(scatter.x_axis, scatter.x, scatter.behind[0]),
        _Scale(scatter.y_axis, scatter.y, scatter.behind[1]),
    )
    parts = [_frame(x, y, height)]

    def placed(across: Sequence[float], up: Sequence[float]) -> list[tuple[float, float]]:
        both = zip(across, up, strict=True)
        return [(x(a), y(b)) for a, b in both if math.isfinite(a + b)]

    real = placed(*scatter.behind)
    if real:
        parts.append(f'<path class="real" d="{"".join(f"M{a:g} {b:g}h0" for a, b in real)}"/>')
    for group in groups_of(scatter):
        some = placed([scatter.x[row] for row in group.rows], [scatter.y[row] for row in group.rows])
        parts.append(_points(some, group.hue, group.symbol))
    if not len(scatter.groups):
        parts.append(f'<text x="{WIDTH / 2:.0f}" y="200" class="mid">no border was found</text>')
    return height, "".join(parts)


def _line(line: Line) -> tuple[int, str]:
    height = 320
    steps = steps_of(line)
    x, y = _Scale(Axis(line.x_label), steps), _Scale(Axis(line.y_label), line.values)
    parts = [_frame(x, y, height)]
    top, bottom = y.end, y.start
    hues = hues_of(line)
    for label, start, stop in runs_of(line):
        left = x(x.low if start == 0 else (steps[start - 1] + steps[start]) / 2)
        right = x(x.high if stop == len(line.values) else (steps[stop - 1] + steps[stop]) / 2)
        parts.append(f'<path class="band c{hues[label]}" d="M{left} {top:g}H{right}V{bottom:g}H{left}z"/>')
        room = int((right - left) / LETTER)
        if room >= min(len(label), 6):
            words = html.escape(cut(label, room))
            parts.append(
                f'<text x="{(left + right) / 2:.0f}" y="{top + 14:.0f}" class="mid strong">{words}</text>'
            )
    places = [
        (x(step), y(value)) if math.isfinite(value) else None
        for step, value in zip(steps, line.values, strict=True)
    ]
    d, pen = [], "M"
    for place in places:
        if place is not None:
            d.append(f"{pen}{place[0]:g} {place[1]:g}")
        pen = "L" if place is not None else "M"
    parts.append(f'<path class="line" d="{"".join(d)}"/>')
    if len(places) <= FEW or not runs_of(line):
        for label, hue in hues.items():
            some = [p for p, band in zip(places, line.bands, strict=True) if band == label and p is not None]
            parts.append(_points(some, hue, "circle"))
    return height, "".join(parts)
