"""Draws the pictures of the documentation: python docs/pictures/make.py"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

import datamorphic as dm

HERE = Path(__file__).parent
COLOURS = {"red": "#d97757", "blue": "#5b8def", "black": "#3a3f4a"}
ACROSS, DOWN = 126, 40  # cells a map
WIDTH, HEIGHT = 189, 60  # pixels a map
LEFT, TOP, GAP_X, GAP_Y = 10, 26, 16, 40


def colour_map(name):
    """One subject as rows of coloured rectangles, equal neighbours joined."""
    subject = dm.subjects[name]
    x = (np.arange(ACROSS) + 0.5) / ACROSS * 2 * np.pi
    y = 1 - (np.arange(DOWN) + 0.5) / DOWN * 2
    grid = pd.DataFrame({"x": np.tile(x, DOWN), "y": np.repeat(y, ACROSS)})
    labels = subject.sut.execute(grid).values.reshape(DOWN, ACROSS)
    dx, dy = WIDTH / ACROSS, HEIGHT / DOWN
    parts = []
    for row in range(DOWN):
        start = 0
        for label, run in groupby(labels[row]):
            length = len(list(run))
            parts.append(
                f'<rect x="{start * dx:g}" y="{row * dy:g}" width="{length * dx + 0.2:g}" height="{dy + 0.2:g}" '
                f'fill="{COLOURS[str(label)]}"/>'
            )
            start += length
    return "".join(parts)


def path_over(name, start, target):
    """A path between two points as a line, with a dot where the answer changes."""
    subject = dm.subjects[name]
    walk = subject.space.path(start, target).walk()
    labels = subject.sut.execute(walk).values
    frame = walk.frame
    x, y = frame["x"] / (2 * np.pi) * WIDTH, (1 - frame["y"]) / 2 * HEIGHT
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    dots = "".join(
        f'<circle cx="{(x[i] + x[i + 1]) / 2:.1f}" cy="{(y[i] + y[i + 1]) / 2:.1f}" r="2.6" fill="#fff" stroke="#111"/>'
        for i in np.flatnonzero(labels[1:] != labels[:-1])
    )
    return f'<polyline points="{line}" fill="none" stroke="#fff" stroke-width="1.4"/>{dots}'


def subjects():
    """Draw all ten, each with the same path laid over it."""
    total_width = 2 * LEFT + 5 * WIDTH + 4 * GAP_X
    total_height = TOP + 2 * HEIGHT + GAP_Y + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total_width} {total_height}" role="img" '
        'aria-label="The ten coded classifiers; white lines are paths, dots mark where the answer changes">',
        f'<rect width="{total_width}" height="{total_height}" rx="8" fill="#f6f7f9"/>',
        '<g font-family="system-ui, sans-serif" font-size="13" fill="#1c2127">',
    ]
    for place, name in enumerate(sorted(dm.subjects, key=lambda each: (each[-1], each))):
        x = LEFT + place % 5 * (WIDTH + GAP_X)
        y = TOP + place // 5 * (HEIGHT + GAP_Y)
        path = path_over(name, {"x": 0.5, "y": 0.85}, {"x": 5.4, "y": -0.8})
        coloured = f'<g shape-rendering="crispEdges">{colour_map(name)}</g>{path}'
        parts.append(f'<text x="{x}" y="{y - 8}">{name}</text><g transform="translate({x} {y})">{coloured}</g>')
    (HERE / "subjects.svg").write_text("".join([*parts, "</g></svg>\n"]), encoding="utf-8")


if __name__ == "__main__":
    subjects()
