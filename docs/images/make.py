"""Draws the pictures of the documentation: python docs/images/make.py, or only some: make.py patterns"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from drawing import Map, save, words
from method import datamorphisms, monotone, oracle, relation, walk
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.relations.patterns.drawing import draw_tree
from datamorphic.reporting.html import render_drawing

WIDTH, HEIGHT = 189, 60  # pixels a map
LEFT, TOP, GAP_X, GAP_Y = 10, 26, 16, 40


def in_rows(name, columns, label, maps):
    """Write a picture of many small maps, each with its name above it."""
    parts = []
    for place, (title, drawn) in enumerate(maps.items()):
        x, y = LEFT + place % columns * (WIDTH + GAP_X), TOP + place // columns * (HEIGHT + GAP_Y)
        parts.append(f'{words(x, y - 8, title)}<g transform="translate({x} {y})">{drawn}</g>')
    rows = -(-len(maps) // columns)
    width = 2 * LEFT + columns * WIDTH + (columns - 1) * GAP_X
    save(name, width, TOP + rows * HEIGHT + (rows - 1) * GAP_Y + 14, label, parts)


def path_over(name, start, target):
    """A subject with a path between two points over it, and a dot where the answer changes."""
    subject = dm.subjects[name]
    way = subject.space.path(start, target).walk()
    labels = subject.sut.execute(way).values
    ground = Map(subject.sut, WIDTH, HEIGHT)
    frame = way.frame
    x, y = ground.place(frame["x"], frame["y"])
    dots = "".join(
        f'<circle cx="{(x[i] + x[i + 1]) / 2:.1f}" cy="{(y[i] + y[i + 1]) / 2:.1f}" r="2.6" fill="#fff" stroke="#111"/>'
        for i in np.flatnonzero(labels[1:] != labels[:-1])
    )
    return ground.svg + ground.trail(frame["x"], frame["y"]) + dots


def subjects():
    """Draw all ten, each with the same path laid over it."""
    names = sorted(dm.subjects, key=lambda name: (name[-1], name))
    drawn = {name: path_over(name, {"x": 0.5, "y": 0.85}, {"x": 5.4, "y": -0.8}) for name in names}
    label = "The ten coded classifiers; white lines are paths, dots mark where the answer changes"
    in_rows("subjects.svg", 5, label, drawn)


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
    drawn = {}
    for name, sut in systems.items():
        front = dm.explore(sut, subject.space, "auto", walks=1500, seeds=500).a.frame
        ground = Map(sut, WIDTH, HEIGHT)
        drawn[name] = ground.svg + ground.draw_dots(front["x"], front["y"])
    label = "The borders of Box 2 and of five models trained on 5,000 points of it; white dots are border pairs"
    in_rows("borders.svg", 3, label, drawn)


def patterns():
    """Draw the two trees of relation patterns."""
    for root in ("Symmetry", "Sets"):
        drawing = render_drawing(draw_tree(dm.patterns, root))
        (Path(__file__).parent / f"patterns-{root.lower()}.svg").write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    for draw in (subjects, gallery, oracle, walk, relation, monotone, datamorphisms, patterns):
        if not sys.argv[1:] or draw.__name__ in sys.argv[1:]:
            draw()
