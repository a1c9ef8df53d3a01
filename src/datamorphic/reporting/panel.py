"""`Panel`: one frame of a drawing, with its two axes, and what can be drawn in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._text import format_short
from ..relations.box import Floats
from .document import Shape, TextLabel
from .svg import choose_ticks

STRIP_WIDTH_PX, PLANE_SIDE_PX, STRIP_HEIGHT_PX = (
    700.0,
    220.0,
    46.0,
)  # the width of a strip, the side of a plane, the height of a strip
PLANE_GAP_PX = 60.0  # between planes
OUTLINE_CELLS_PER_SIDE = 100  # cells a side when a region is outlined
REGION_SAMPLE_POINTS = 2_000  # places at which a region of one input is looked at

PanelItem = Shape | TextLabel


@dataclass(frozen=True)
class Panel:
    """A frame on the paper, and between which numbers its axes run."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    @property
    def bottom(self) -> float:
        """Where its lower edge is."""
        return self.top + self.height

    def to_x(self, value: Any) -> Any:
        """Return where on the paper values of the first axis lie."""
        return self.left + (value - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0) * self.width

    def to_y(self, value: Any) -> Any:
        """Return where on the paper values of the second axis lie."""
        return self.bottom - (value - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0) * self.height

    def draw_frame(
        self,
        x_label: str,
        y_label: str = "",
        y_marks: Sequence[tuple[float, str]] | None = None,
        x_marks: bool = True,
    ) -> list[PanelItem]:
        """Return the two axes with their numbers and names."""
        items: list[PanelItem] = [
            Shape(f"M{self.left:.1f} {self.top:.1f}V{self.bottom:.1f}h{self.width:.1f}", "axis")
        ]
        for value in (choose_ticks(*self.x, 5) if self.x[1] > self.x[0] else [self.x[0]]) if x_marks else []:
            items.append(Shape(f"M{self.to_x(value):.1f} {self.bottom:.1f}v4", "axis"))
            items.append(TextLabel(float(self.to_x(value)), self.bottom + 18, format_short(value), "mid small"))
        if y_marks is None:
            y_marks = (
                [(value, format_short(value)) for value in choose_ticks(*self.y, 5)]
                if self.y[1] > self.y[0]
                else []
            )
        for value, label in y_marks:
            items.append(Shape(f"M{self.left:.1f} {self.to_y(value):.1f}h-4", "axis"))
            items.append(TextLabel(self.left - 8, float(self.to_y(value)) + 4, label, "end small"))
        if x_label:
            items.append(TextLabel(self.left + self.width / 2, self.bottom + 36, x_label, "mid"))
        if y_label:
            items.append(TextLabel(self.left - 8, self.top - 12, y_label, "end"))
        return items

    def draw_dots(self, points: Floats, kind: str) -> list[PanelItem]:
        """Return points as one path: areas are small squares, lines are dots."""
        if not len(points):
            return []
        places = zip(self.to_x(points[:, 0]).tolist(), self.to_y(points[:, 1]).tolist(), strict=True)
        square = kind == "killable"
        return [
            Shape(
                "".join(
                    f"M{a - 2:.1f} {b - 2:.1f}h4v4h-4z" if square else f"M{a:.1f} {b:.1f}h0" for a, b in places
                ),
                kind,
            )
        ]

    def draw_bars(
        self, edges: Floats, values: Floats, kind: str, label: str, value_format: str = "{:.1%}"
    ) -> list[PanelItem]:
        """Return a bar for each value above 0, with a note."""
        places, base = self.to_x(edges), float(self.to_y(0.0))
        return [
            Shape(
                f"M{a:.1f} {base:.1f}V{self.to_y(value):.1f}H{b:.1f}V{base:.1f}z",
                kind,
                f"{format_short(low)} to {format_short(high)}: {value_format.format(value)} {label}",
            )
            for a, b, low, high, value in zip(
                places[:-1].tolist(),
                places[1:].tolist(),
                edges[:-1].tolist(),
                edges[1:].tolist(),
                values.tolist(),
                strict=True,
            )
            if value > 0
        ]

    def draw_stretches(self, region: Any) -> list[PanelItem]:
        """Return where a region of one input lies, as outlined boxes."""
        edges = np.linspace(*self.x, REGION_SAMPLE_POINTS + 1)
        inside = np.pad(region.contains(((edges[:-1] + edges[1:]) / 2)[:, None]), 1)
        starts = np.flatnonzero(~inside[:-1] & inside[1:])
        ends = np.flatnonzero(inside[:-1] & ~inside[1:])
        return [
            Shape(
                f"M{self.to_x(edges[a]):.1f} {self.bottom:.1f}v-{self.height:.1f}H{self.to_x(edges[b]):.1f}"
                f"v{self.height:.1f}z",
                "absent",
                f"violated from {format_short(float(edges[a]))} to {format_short(float(edges[b]))}",
            )
            for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
        ]

    def draw_outline(self, region: Any) -> Shape:
        """Return the outline of a region of two inputs."""
        xs, ys = (
            low + (high - low) * (np.arange(OUTLINE_CELLS_PER_SIDE) + 0.5) / OUTLINE_CELLS_PER_SIDE
            for low, high in (self.x, self.y)
        )
        inside = region.contains(np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2))
        cells = np.pad(inside.reshape(OUTLINE_CELLS_PER_SIDE, OUTLINE_CELLS_PER_SIDE), 1)
        x, y = (
            start + size * np.arange(OUTLINE_CELLS_PER_SIDE + 1) / OUTLINE_CELLS_PER_SIDE
            for start, size in self._get_sides()
        )
        vertical = "".join(
            f"M{x[i]:.1f} {y[j]:.1f}V{y[j + 1]:.1f}"
            for i, j in np.argwhere(cells[1:, 1:-1] != cells[:-1, 1:-1]).tolist()
        )
        horizontal = "".join(
            f"M{x[i]:.1f} {y[j]:.1f}H{x[i + 1]:.1f}"
            for i, j in np.argwhere(cells[1:-1, 1:] != cells[1:-1, :-1]).tolist()
        )
        return Shape(vertical + horizontal, "absent", "where the relation is violated")

    def _get_sides(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (self.left, self.width), (self.bottom, -self.height)
