"""Draws the pictures of the documentation: python docs/pictures/make.py"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm

HERE = Path(__file__).parent
COLOURS = {"red": "#d97757", "blue": "#5b8def", "black": "#3a3f4a"}
ACROSS, DOWN = 126, 40  # cells a map
WIDTH, HEIGHT = 189, 60  # pixels a map
LEFT, TOP, GAP_X, GAP_Y = 10, 26, 16, 40


def colour_map(sut):
    """One system as rows of coloured rectangles, equal neighbours joined."""
    x = (np.arange(ACROSS) + 0.5) / ACROSS * 2 * np.pi
    y = 1 - (np.arange(DOWN) + 0.5) / DOWN * 2
    grid = pd.DataFrame({"x": np.tile(x, DOWN), "y": np.repeat(y, ACROSS)})
    labels = sut.execute(grid).values.reshape(DOWN, ACROSS)
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
        coloured = f'<g shape-rendering="crispEdges">{colour_map(dm.subjects[name].sut)}</g>{path}'
        parts.append(f'<text x="{x}" y="{y - 8}">{name}</text><g transform="translate({x} {y})">{coloured}</g>')
    (HERE / "subjects.svg").write_text("".join([*parts, "</g></svg>\n"]), encoding="utf-8")


def front_over(front):
    """The pairs of a front as white dots with a dark edge, none on top of another."""
    frame = front.a.frame
    x, y = frame["x"] / (2 * np.pi) * WIDTH, (1 - frame["y"]) / 2 * HEIGHT
    inside = (x > 1) & (x < WIDTH - 1) & (y > 1) & (y < HEIGHT - 1)
    places = dict.fromkeys(zip((x[inside] / 1.8).round(), (y[inside] / 1.8).round(), strict=True))
    dots = "".join(f'<circle cx="{a * 1.8:.1f}" cy="{b * 1.8:.1f}" r="1.3"/>' for a, b in places)
    return f'<g fill="#fff" stroke="#111" stroke-width=".5">{dots}</g>'


def gallery():
    """Draw Box 2 and five models that learned it from 5,000 points, with the border each of them really has."""
    subject = dm.subjects["Box 2"]
    sample = subject.make_seeds(n=5000, seed=1)
    inputs = sample.inputs.frame
    labels = subject.sut.execute(sample.inputs).values
    learners = {
        "logistic regression": LogisticRegression(),
        "decision tree": DecisionTreeClassifier(random_state=0),
        "nearest neighbours": KNeighborsClassifier(5),
        "support vectors": SVC(C=10),
        "neural network": make_pipeline(StandardScaler(), MLPClassifier(random_state=0, max_iter=5000)),
    }
    systems = {"Box 2, as coded": subject.sut}
    systems |= {name: dm.wrap(model.fit(inputs, labels), space=subject.space) for name, model in learners.items()}
    width, height = LEFT * 2 + 3 * WIDTH + 2 * GAP_X, TOP + 2 * HEIGHT + GAP_Y + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="The borders '
        'of Box 2 and of five models trained on 5,000 points of it; white dots are border pairs">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#f6f7f9"/>',
        '<g font-family="system-ui, sans-serif" font-size="13" fill="#1c2127">',
    ]
    for place, (name, sut) in enumerate(systems.items()):
        x, y = LEFT + place % 3 * (WIDTH + GAP_X), TOP + place // 3 * (HEIGHT + GAP_Y)
        front = dm.explore(sut, subject.space, "auto", walks=1500, seeds=500)
        drawn = f'<g shape-rendering="crispEdges">{colour_map(sut)}</g>{front_over(front)}'
        parts.append(f'<text x="{x}" y="{y - 8}">{name}</text><g transform="translate({x} {y})">{drawn}</g>')
    (HERE / "borders.svg").write_text("".join([*parts, "</g></svg>\n"]), encoding="utf-8")


if __name__ == "__main__":
    subjects()
    gallery()
