"""`Panel`: one frame of a drawing, with its two axes, and what can be drawn in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import short
from ..relations.boxes import Floats
from ..reports.summary import Mark, Words
from ..reports.svg import ticks

WIDE, SQUARE, STRIP = 700.0, 220.0, 46.0  # the width of a strip, the side of a plane, the height of a strip
GAP = 60.0  # between planes
GRID = 100  # cells a side when a region is outlined
FINE = 2_000  # places at which a region of one input is looked at

Shown = Mark | Words


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

    def across(self, value: Any) -> Any:
        """Return where on the paper values of the first axis lie."""
        return self.left + (value - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0) * self.width

    def up(self, value: Any) -> Any:
        """Return where on the paper values of the second axis lie."""
        return self.bottom - (value - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0) * self.height

    def frame(
        self,
        x_label: str,
        y_label: str = "",
        y_marks: Sequence[tuple[float, str]] | None = None,
        x_marks: bool = True,
    ) -> list[Shown]:
        """Return the two axes with their numbers and names."""
        shown: list[Shown] = [Mark(f"M{self.left:.1f} {self.top:.1f}V{self.bottom:.1f}h{self.width:.1f}", "axis")]
        for value in (ticks(*self.x, 5) if self.x[1] > self.x[0] else [self.x[0]]) if x_marks else []:
            shown.append(Mark(f"M{self.across(value):.1f} {self.bottom:.1f}v4", "axis"))
            shown.append(Words(float(self.across(value)), self.bottom + 18, short(value), "mid small"))
        if y_marks is None:
            y_marks = [(value, short(value)) for value in ticks(*self.y, 5)] if self.y[1] > self.y[0] else []
        for value, told in y_marks:
            shown.append(Mark(f"M{self.left:.1f} {self.up(value):.1f}h-4", "axis"))
            shown.append(Words(self.left - 8, float(self.up(value)) + 4, told, "end small"))
        if x_label:
            shown.append(Words(self.left + self.width / 2, self.bottom + 36, x_label, "mid"))
        if y_label:
            shown.append(Words(self.left - 8, self.top - 12, y_label, "end"))
        return shown

    def dots(self, points: Floats, kind: str) -> list[Shown]:
        """Return points as one path: areas are small squares, lines are dots."""
        if not len(points):
            return []
        places = zip(self.across(points[:, 0]).tolist(), self.up(points[:, 1]).tolist(), strict=True)
        square = kind == "killable"
        return [
            Mark(
                "".join(
                    f"M{a - 2:.1f} {b - 2:.1f}h4v4h-4z" if square else f"M{a:.1f} {b:.1f}h0" for a, b in places
                ),
                kind,
            )
        ]

    def bars(self, edges: Floats, values: Floats, kind: str, says: str, form: str = "{:.1%}") -> list[Shown]:
        """Return a bar for each value above 0, with a note."""
        places, base = self.across(edges), float(self.up(0.0))
        return [
            Mark(
                f"M{a:.1f} {base:.1f}V{self.up(value):.1f}H{b:.1f}V{base:.1f}z",
                kind,
                f"{short(low)} to {short(high)}: {form.format(value)} {says}",
            )
            for a, b, low, high, value in zip(
                places[:-1].tolist(), places[1:].tolist(), edges[:-1].tolist(), edges[1:].tolist(), values.tolist(),
                strict=True,
            )
            if value > 0
        ]  # fmt: skip

    def stretches(self, region: Any) -> list[Shown]:
        """Return where a region of one input lies, as outlined boxes."""
        edges = np.linspace(*self.x, FINE + 1)
        inside = np.pad(region.contains(((edges[:-1] + edges[1:]) / 2)[:, None]), 1)
        starts = np.flatnonzero(~inside[:-1] & inside[1:])
        ends = np.flatnonzero(inside[:-1] & ~inside[1:])
        return [
            Mark(
                f"M{self.across(edges[a]):.1f} {self.bottom:.1f}v-{self.height:.1f}H{self.across(edges[b]):.1f}"
                f"v{self.height:.1f}z",
                "absent",
                f"violated from {short(float(edges[a]))} to {short(float(edges[b]))}",
            )
            for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
        ]

    def outline(self, region: Any) -> Mark:
        """Return the outline of a region of two inputs."""
        xs, ys = (low + (high - low) * (np.arange(GRID) + 0.5) / GRID for low, high in (self.x, self.y))
        inside = region.contains(np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2))
        cells = np.pad(inside.reshape(GRID, GRID), 1)
        x, y = (start + size * np.arange(GRID + 1) / GRID for start, size in self._sides())
        upright = "".join(
            f"M{x[i]:.1f} {y[j]:.1f}V{y[j + 1]:.1f}"
            for i, j in np.argwhere(cells[1:, 1:-1] != cells[:-1, 1:-1]).tolist()
        )
        lying = "".join(
            f"M{x[i]:.1f} {y[j]:.1f}H{x[i + 1]:.1f}"
            for i, j in np.argwhere(cells[1:-1, 1:] != cells[1:-1, :-1]).tolist()
        )
        return Mark(upright + lying, "absent", "where the relation is violated")

    def _sides(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (self.left, self.width), (self.bottom, -self.height)
