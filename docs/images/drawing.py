"""What the pictures share: a frame that suits light and dark pages, maps of systems, boxes and arrows."""

from __future__ import annotations

from html import escape
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
COLOURS = {"red": "#d97757", "blue": "#5b8def", "black": "#3a3f4a"}
# A picture brings its own ground, so that it reads on any page, and follows the reader's choice where it can.
STYLE = """<style>
.ground{fill:#f6f7f9}.card{fill:#fff;stroke:#b9c0ca}.ink{fill:#1c2127}.soft{fill:#59626e}.good{fill:#1a7f4b}.bad{fill:#b3261e}
.line{stroke:#1c2127;fill:none}.thin{stroke:#8b94a1;fill:none}.tip{fill:#1c2127}.no{stroke:#b3261e;fill:none}
@media (prefers-color-scheme:dark){.ground{fill:#23272f}.card{fill:#2d323c;stroke:#525b69}.ink{fill:#eceef1}
.soft{fill:#a9b2be}.good{fill:#63d297}.bad{fill:#ff8a80}.line{stroke:#eceef1}.thin{stroke:#7c8694}.tip{fill:#eceef1}
.no{stroke:#ff8a80}}
</style>"""


def save(name, width, height, label, parts):
    """Write one picture."""
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">',
        STYLE,
        f'<rect width="{width}" height="{height}" rx="8" class="ground"/>',
        '<g font-family="system-ui, sans-serif" font-size="13" class="ink">',
        *parts,
        "</g></svg>\n",
    ]
    (HERE / name).write_text("".join(text), encoding="utf-8")


def words(x, y, text, kind="ink", anchor="start", size=13, weight=400):
    """One line of text."""
    return (
        f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}" font-size="{size}" '
        f'font-weight="{weight}">{escape(text)}</text>'
    )


def card(x, y, width, height, lines, kind="ink"):
    """A box with some lines of text in its middle, the first of them bold."""
    parts = [f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="7" class="card"/>']
    top = y + height / 2 - (len(lines) - 1) * 8.5 + 4.5
    for place, line in enumerate(lines):
        parts.append(
            words(
                x + width / 2, top + place * 17, line, kind if place else "ink", "middle", weight=400 if place else 600
            )
        )
    return "".join(parts)


def arrow(x1, y1, x2, y2, kind="line", dashed=False):
    """A straight arrow with a tip at its end."""
    length = np.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    bx, by = x2 - ux * 8, y2 - uy * 8
    tip = f"{x2:.1f},{y2:.1f} {bx - uy * 4:.1f},{by + ux * 4:.1f} {bx + uy * 4:.1f},{by - ux * 4:.1f}"
    fill = {"line": "tip", "no": "bad"}.get(kind, "soft")
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{bx:.1f}" y2="{by:.1f}" class="{kind}" stroke-width="1.5"{dash}/>'
        f'<polygon points="{tip}" class="{fill}"/>'
    )


class Map:
    """A system over a rectangle of the plane, as rows of coloured rectangles, equal neighbours joined."""

    def __init__(self, sut, width, height, x=(0, 2 * np.pi), y=(-1, 1), cell=1.5):
        self.width, self.height, self._x, self._y = width, height, x, y
        across, down = round(width / cell), round(height / cell)
        grid = pd.DataFrame(
            {
                "x": np.tile(x[0] + (np.arange(across) + 0.5) / across * (x[1] - x[0]), down),
                "y": np.repeat(y[1] - (np.arange(down) + 0.5) / down * (y[1] - y[0]), across),
            }
        )
        labels = sut.execute(grid).values.reshape(down, across)
        dx, dy = width / across, height / down
        parts = []
        for row in range(down):
            start = 0
            for label, run in groupby(labels[row]):
                length = len(list(run))
                parts.append(
                    f'<rect x="{start * dx:g}" y="{row * dy:g}" width="{length * dx + 0.2:g}" height="{dy + 0.2:g}" '
                    f'fill="{COLOURS[str(label)]}"/>'
                )
                start += length
        self.svg = f'<g shape-rendering="crispEdges">{"".join(parts)}</g>'

    def place(self, x, y):
        """Where a point of the plane is in the picture."""
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        return (
            (x - self._x[0]) / (self._x[1] - self._x[0]) * self.width,
            (self._y[1] - y) / (self._y[1] - self._y[0]) * self.height,
        )

    def draw_dots(self, x, y, radius=1.3, gap=1.8):
        """Points as white dots with a dark edge, none on top of another."""
        x, y = self.place(x, y)
        inside = (x > 1) & (x < self.width - 1) & (y > 1) & (y < self.height - 1)
        places = dict.fromkeys(zip((x[inside] / gap).round(), (y[inside] / gap).round(), strict=True))
        dots = "".join(f'<circle cx="{a * gap:.1f}" cy="{b * gap:.1f}" r="{radius}"/>' for a, b in places)
        return f'<g fill="#fff" stroke="#111" stroke-width=".5">{dots}</g>'

    def trail(self, x, y, width=1.4):
        """A way from point to point as a white line."""
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*self.place(x, y), strict=True))
        return f'<polyline points="{line}" fill="none" stroke="#fff" stroke-width="{width}"/>'
