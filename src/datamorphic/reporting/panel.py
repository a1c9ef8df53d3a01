"""`Panel`: a frame with two axes, and the shapes that can be drawn in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from .._text import format_percent, format_short
from .document import Shape, TextLabel
from .svg import choose_ticks

STRIP_WIDTH_PX = 700.0
STRIP_HEIGHT_PX = 46.0
PLANE_SIDE_PX = 220.0
PLANE_GAP_PX = 60.0
OUTLINE_CELLS_PER_SIDE = 100
HUE_COUNT = 6  # colours of the style sheet: c0 to c5
REGION_SAMPLE_POINTS = 2_000

PanelItem = Shape | TextLabel
AxisMarks = Sequence[tuple[float, str]]  # values and what is written there
Floats = npt.NDArray[np.float64]
Coordinate = TypeVar("Coordinate", float, Floats)


def choose_line_style(number: int) -> str:
    """Return the style of one line among several; when all colours are used, lines are dashed.

    Examples
    --------
    >>> choose_line_style(1), choose_line_style(7)
    ('trend c1', 'trend c1 second')
    """
    return f"trend c{number % HUE_COUNT}{' second' if number >= HUE_COUNT else ''}"


class SupportsContains(Protocol):
    """A region of inputs."""

    def contains(self, points: Floats, /) -> npt.NDArray[np.bool_]:
        """Return which points (n, d) lie in the region."""
        ...


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A frame of a drawing: its place in pixels, and the ranges of its axes."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    @property
    def bottom(self) -> float:
        """The place of the lower edge."""
        return self.top + self.height

    def to_x(self, value: Coordinate) -> Coordinate:
        """Return the horizontal place of values of the first axis."""
        return self.left + (value - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0) * self.width

    def to_y(self, value: Coordinate) -> Coordinate:
        """Return the vertical place of values of the second axis."""
        return self.bottom - (value - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0) * self.height

    def draw_frame(
        self, x_label: str, y_label: str = "", y_marks: AxisMarks | None = None, x_marks: AxisMarks | None = None
    ) -> list[PanelItem]:
        """Return the two axes with their labels, and with ticks at marks or else at round numbers."""
        items: list[PanelItem] = [Shape(f"M{self.left:.1f} {self.top:.1f}V{self.bottom:.1f}h{self.width:.1f}", "axis")]
        if x_marks is None:
            ticks = choose_ticks(*self.x, 5) if self.x[1] > self.x[0] else [self.x[0]]
            x_marks = [(value, format_short(value)) for value in ticks]
        for value, label in x_marks:
            items.append(Shape(f"M{self.to_x(value):.1f} {self.bottom:.1f}v4", "axis"))
            items.append(TextLabel(float(self.to_x(value)), self.bottom + 18, label, "mid small"))
        if y_marks is None:
            y_ticks = choose_ticks(*self.y, 5) if self.y[1] > self.y[0] else ()
            y_marks = [(value, format_short(value)) for value in y_ticks]
        for value, label in y_marks:
            items.append(Shape(f"M{self.left:.1f} {self.to_y(value):.1f}h-4", "axis"))
            items.append(TextLabel(self.left - 8, float(self.to_y(value)) + 4, label, "end small"))
        if x_label:
            items.append(TextLabel(self.left + self.width / 2, self.bottom + 36, x_label, "mid"))
        if y_label:
            items.append(TextLabel(self.left - 8, self.top - 12, y_label, "end"))
        return items

    def draw_dots(self, points: Floats, kind: str) -> list[PanelItem]:
        """Return points as one path: small squares for the kind "killable", dots for others."""
        if not len(points):
            return []
        places = zip(self.to_x(points[:, 0]).tolist(), self.to_y(points[:, 1]).tolist(), strict=True)
        offset, dot = (2, "h4v4h-4z") if kind == "killable" else (0, "h0")
        return [Shape("".join(f"M{x - offset:.1f} {y - offset:.1f}{dot}" for x, y in places), kind)]

    def draw_bars(
        self, edges: Floats, values: Floats, kind: str, label: str, value_format: str = ""
    ) -> list[PanelItem]:
        """Return a bar with a tooltip for each value above 0; without a format, values are shares."""
        places, base = self.to_x(edges).tolist(), float(self.to_y(0.0))
        limits = [format_short(edge) for edge in edges.tolist()]
        texts = [value_format.format(value) if value_format else format_percent(value) for value in values.tolist()]
        return [
            Shape(
                f"M{places[i]:.1f} {base:.1f}V{self.to_y(value):.1f}H{places[i + 1]:.1f}V{base:.1f}z",
                kind,
                f"{limits[i]} to {limits[i + 1]}: {texts[i]} {label}",
            )
            for i, value in enumerate(values.tolist())
            if value > 0
        ]

    def draw_stretches(self, region: SupportsContains) -> list[PanelItem]:
        """Return the stretches of a region of one input as outlined boxes."""
        edges = np.linspace(*self.x, REGION_SAMPLE_POINTS + 1)
        inside = np.pad(region.contains(((edges[:-1] + edges[1:]) / 2)[:, None]), 1)
        starts = edges[np.flatnonzero(~inside[:-1] & inside[1:])]
        ends = edges[np.flatnonzero(inside[:-1] & ~inside[1:])]
        return [
            Shape(
                f"M{self.to_x(start):.1f} {self.bottom:.1f}v-{self.height:.1f}H{self.to_x(end):.1f}v{self.height:.1f}z",
                "absent",
                f"violated from {format_short(start)} to {format_short(end)}",
            )
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
        ]

    def draw_outline(self, region: SupportsContains) -> Shape:
        """Return the outline of a region of two inputs."""
        side = OUTLINE_CELLS_PER_SIDE
        xs, ys = (low + (high - low) * (np.arange(side) + 0.5) / side for low, high in (self.x, self.y))
        inside = region.contains(np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2))
        cells = np.pad(inside.reshape(side, side), 1)
        x = self.left + self.width * np.arange(side + 1) / side
        y = self.bottom - self.height * np.arange(side + 1) / side
        vertical = "".join(
            f"M{x[i]:.1f} {y[j]:.1f}V{y[j + 1]:.1f}"
            for i, j in np.argwhere(cells[1:, 1:-1] != cells[:-1, 1:-1]).tolist()
        )
        horizontal = "".join(
            f"M{x[i]:.1f} {y[j]:.1f}H{x[i + 1]:.1f}"
            for i, j in np.argwhere(cells[1:-1, 1:] != cells[1:-1, :-1]).tolist()
        )
        return Shape(vertical + horizontal, "absent", "where the relation is violated")
