"""The pictures that explain the method."""

from __future__ import annotations

import numpy as np
import pandas as pd
from drawing import COLOURS, Map, arrow, card, save, words
from sklearn.neighbors import KNeighborsClassifier

import datamorphic as dm


def oracle():
    """Draw a test with an oracle above one without."""
    parts = [words(20, 30, "With an oracle", weight=600)]
    parts += [card(20, 46, 150, 56, ["an input"]), arrow(170, 74, 226, 74), card(226, 46, 110, 56, ["the model"])]
    parts += [
        arrow(336, 74, 392, 74),
        card(392, 46, 132, 56, ["its answer"]),
        card(602, 46, 150, 56, ["the right answer"]),
    ]
    parts += [
        words(562, 80, "= ?", "ink", "middle", 18, 600),
        words(677, 124, "somebody must know it", "soft", "middle"),
    ]
    top = 160
    parts += [words(20, top, "Without one", weight=600)]
    for row, (name, answer) in enumerate((("an input", "an answer"), ("the input, changed", "another answer"))):
        y = top + 16 + row * 84
        parts += [card(20, y, 150, 56, [name]), arrow(170, y + 28, 226, y + 28), card(226, y, 110, 56, ["the model"])]
        parts += [arrow(336, y + 28, 392, y + 28), card(392, y, 132, 56, [answer])]
    parts += [arrow(95, top + 72, 95, top + 98), words(104, top + 90, "a known change", "soft")]
    parts += [
        f'<path d="M524 {top + 44} H548 V{top + 128} H524" class="line" stroke-width="1.5"/>',
        words(562, top + 64, "Are the two as they must be", weight=600),
        words(562, top + 82, "to each other?", weight=600),
        words(562, top + 104, "the same; no lower; ...", "soft"),
        words(562, top + 122, "or: different, though the", "soft"),
        words(562, top + 140, "inputs are nearly equal", "soft"),
    ]
    save("oracle.svg", 800, top + 172, "A test with an oracle, and one without", parts)


def walk():
    """Draw a walk, the narrowing of what it found, and the front that many walks find."""
    sut, width, height, top = dm.subjects["Sin 1"].sut, 260, 170, 44
    ground = Map(sut, width, height, x=(0.2, 3.4), y=(-0.35, 1.25), cell=1.25)
    steps = _walk(sut, {"x": 2.6, "y": 1.05}, seed=32)
    x, y = ground.place(steps["x"], steps["y"])
    drawn = [ground.svg, ground.trail(steps["x"], steps["y"], 2)]
    for place, (a, b) in enumerate(zip(x, y, strict=True)):
        large = place >= len(x) - 2
        drawn.append(
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{5 if large else 2.6}" fill="#fff" stroke="#111" '
            f'stroke-width="{1.4 if large else 0.7}"/>'
        )
    drawn.append(words(x[0] + 9, y[0] - 6, "seed", "", size=12).replace("<text", '<text fill="#fff"'))
    parts = [words(20, 28, "1. Walk until the answer changes", weight=600)]
    parts.append(f'<g transform="translate(20 {top})">{"".join(drawn)}</g>')

    left = 312
    parts.append(words(left, 28, "2. Halve what lies between", weight=600))
    parts += _narrowing(sut, steps.iloc[-2], steps.iloc[-1], left, top, width)

    left = 604
    parts.append(words(left, 28, "3. Many walks find the front", weight=600))
    wide = Map(sut, width, height, cell=1.25)
    front = dm.explore(dm.subjects["Sin 1"], strategy="random_walk", walks=1500, seeds=200, pool="growing").a.frame
    drawn = wide.svg + wide.draw_dots(front["x"], front["y"], 1.8, 3.2)
    parts.append(f'<g transform="translate({left} {top})">{drawn}</g>')
    label = "A walk crosses a border; its last two points are narrowed by halving; many walks find the front"
    save("walk.svg", 884, top + height + 20, label, parts)


def _walk(sut, start, seed):
    """A random walk of steps of 0.2 until the answer changes."""
    rng = np.random.default_rng(seed)
    points = [start]
    first = sut.execute(pd.DataFrame([start])).values[0]
    for _ in range(60):
        x, y = points[-1]["x"], points[-1]["y"]
        dx, dy = [(0.2, 0), (-0.2, 0), (0, 0.2), (0, -0.2)][rng.integers(4)]
        points.append({"x": x + dx, "y": y + dy})
        if sut.execute(pd.DataFrame([points[-1]])).values[0] != first:
            break
    return pd.DataFrame(points)


def _narrowing(sut, a, b, left, top, width):
    """Rows of brackets: which half still has the border in it."""

    def answer(share):
        return str(sut.execute(pd.DataFrame([a + (b - a) * share])).values[0])

    low, high, parts, reach = 0.0, 1.0, [], width - 70
    shares = np.linspace(0, 1, 400)
    colours = [COLOURS[label] for label in sut.execute(pd.DataFrame([a + (b - a) * s for s in shares])).values]
    border = next(place for place in range(399) if colours[place] != colours[place + 1]) / 399
    for row in range(7):
        y = top + 10 + row * 22
        for start, end in ((low, min(high, border)), (max(low, border), high)):
            parts.append(
                f'<rect x="{left + start * reach:.2f}" y="{y - 5}" width="{(end - start) * reach:.2f}" height="10" '
                f'fill="{COLOURS[answer((start + end) / 2)]}"/>'
            )
        for share in (low, high):
            parts.append(
                f'<circle cx="{left + share * reach:.2f}" cy="{y}" r="4.2" fill="{COLOURS[answer(share)]}" stroke="#fff"/>'
            )
        parts.append(words(left + width, y + 4.5, f"{0.2 * (high - low):.4g} apart", "soft", "end", 11))
        middle = (low + high) / 2
        low, high = (middle, high) if answer(middle) == answer(low) else (low, middle)
    parts.append(words(left, top + 168, "after 20 halvings: 0.0000002 apart", "soft", size=12))
    return parts


def relation():
    """Draw a metamorphic relation with a case of a loan in it."""
    parts = []
    rows = (
        (30, "source case", ["income 30,000", "debts 4,000"], "approved"),
        (150, "follow-up case", ["income 60,000", "debts 4,000"], "refused"),
    )
    for y, name, case, answer in rows:
        parts += [card(20, y, 170, 76, [name, *case]), arrow(190, y + 38, 250, y + 38)]
        parts += [card(250, y + 10, 110, 56, ["the model"]), arrow(360, y + 38, 420, y + 38)]
        parts += [card(420, y + 10, 120, 56, ["answer", answer], "good" if answer == "approved" else "bad")]
    parts += [arrow(105, 106, 105, 150), words(115, 133, "twice the income", "soft")]
    parts += [
        '<path d="M540 68 H566 V188 H540" class="no" stroke-width="1.5"/>',
        words(582, 106, "expected:", "soft"),
        words(582, 126, "twice the income never turns", weight=600),
        words(582, 144, "approved into refused", weight=600),
        words(582, 170, "VIOLATED", "bad", weight=700),
    ]
    label = "A metamorphic relation: a source case, its follow-up, and what is expected of the two answers"
    save("relation.svg", 826, 256, label, parts)


def monotone():
    """Draw the score of one case as one feature rises: a promise that is broken."""
    rng = np.random.default_rng(5)
    income, debts = rng.uniform(10, 90, 150), rng.uniform(0, 40, 150)
    good = income - 1.3 * debts + rng.normal(0, 14, 150) > 18
    model = KNeighborsClassifier(7).fit(np.column_stack([income, debts]), good)
    values = np.linspace(10, 90, 3201)
    scores = model.predict_proba(np.column_stack([values, np.full(3201, 18.0)]))[:, 1]
    turns = np.unique([0, 3200, *(np.flatnonzero(np.diff(scores))[:, None] + [0, 1]).ravel()])  # all a line needs
    left, top, width, height = 70, 40, 560, 170

    def place(value, score):
        return left + (value - 10) / 80 * width, top + (1 - score) * height

    line = " ".join(
        f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in zip(values[turns], scores[turns], strict=True))
    )
    parts = [words(left, 26, "one applicant, every income: what the model makes of it", weight=600)]
    for share in (0, 0.5, 1):
        y = top + (1 - share) * height
        parts.append(f'<line x1="{left}" y1="{y}" x2="{left + width}" y2="{y}" class="thin" stroke-dasharray="2 4"/>')
        parts.append(words(left - 8, y + 4, f"{share:g}", "soft", "end", 12))
    parts.append(f'<polyline points="{line}" class="line" stroke-width="2"/>')
    falls = np.flatnonzero(np.diff(scores) < -1e-9)
    for at in falls:
        (x1, y1), (x2, y2) = place(values[at], scores[at]), place(values[at + 1], scores[at + 1])
        parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="no" stroke-width="4"/>')
    start = 0
    bar = top + height + 14
    answers = scores >= 0.5
    for at in [*(np.flatnonzero(np.diff(answers)) + 1), len(values)]:
        (x1, _), (x2, _) = place(values[start], 0), place(values[min(at, len(values) - 1)], 0)
        parts.append(
            f'<rect x="{x1:.1f}" y="{bar}" width="{x2 - x1:.1f}" height="14" '
            f'fill="{COLOURS["blue"] if answers[start] else COLOURS["red"]}"/>'
        )
        start = at
    parts.append(words(left - 8, bar + 12, "answer", "soft", "end", 12))
    for value in (10, 30, 50, 70, 90):
        parts.append(words(place(value, 0)[0], bar + 34, f"{value},000", "soft", "middle", 12))
    parts.append(words(left + width / 2, bar + 54, "income", "soft", "middle", 12))
    side = left + width + 24
    parts += [words(side, top + 20, "where it falls, the promise", "bad", weight=600)]
    parts += [
        words(side, top + 38, "“a higher income alone never", "bad"),
        words(side, top + 56, "speaks against a loan”", "bad"),
    ]
    parts += [words(side, top + 74, "is broken", "bad")]
    parts += [words(side, bar + 12, "red no, blue yes", "soft", size=12)]
    save("monotone.svg", side + 214, bar + 70, "A model's score as income rises; it falls in some places", parts)


def datamorphisms():
    """Draw moves and midpoint on a plane, and the family of cases they make."""
    width, height, top = 300, 190, 44
    sut = dm.subjects["Sin 2"].sut
    ground = Map(sut, width, height, x=(0.6, 2.6), y=(-0.1, 1.17), cell=1.25)
    a, b = (1.1, 0.35), (2.2, 0.85)
    drawn = [ground.svg]
    (ax, ay), (bx, by) = ground.place(*a), ground.place(*b)
    for dx, dy in ((0.2, 0), (-0.2, 0), (0, 0.2), (0, -0.2)):
        x, y = ground.place(a[0] + dx, a[1] + dy)
        drawn.append(f'<line x1="{ax}" y1="{ay}" x2="{x}" y2="{y}" stroke="#fff" stroke-width="1.6"/>')
        drawn.append(f'<circle cx="{x}" cy="{y}" r="3.4" fill="#fff" stroke="#111" stroke-width=".8"/>')
    drawn.append(
        f'<line x1="{ax}" y1="{ay}" x2="{bx}" y2="{by}" stroke="#fff" stroke-width="1.6" stroke-dasharray="3 4"/>'
    )
    for x, y, name in ((ax, ay, "a"), (bx, by, "b"), ((ax + bx) / 2, (ay + by) / 2, "mid(a, b)")):
        size = 5.5 if len(name) == 1 else 4
        drawn.append(f'<circle cx="{x}" cy="{y}" r="{size}" fill="#fff" stroke="#111" stroke-width="1.2"/>')
        drawn.append(f'<text x="{x + 9}" y="{y + 16}" fill="#fff" font-weight="600">{name}</text>')
    x, y = ground.place(a[0], a[1] + 0.2)
    drawn.append(f'<text x="{x - 8}" y="{y - 6}" text-anchor="end" fill="#fff">upward(a)</text>')
    parts = [words(20, 28, "Datamorphisms make cases from cases", weight=600)]
    parts.append(f'<g transform="translate(20 {top})">{"".join(drawn)}</g>')
    left = 366
    parts.append(words(left, 28, "and every case knows where it comes from", weight=600))
    parts += [card(left, 52, 100, 48, ["seed a"]), card(left, 170, 100, 48, ["seed b"])]
    parts += [card(left + 180, 40, 140, 48, ["upward(a)"]), card(left + 180, 150, 140, 48, ["mid(a, b)"])]
    parts += [
        arrow(left + 100, 70, left + 180, 64),
        arrow(left + 100, 84, left + 180, 162),
        arrow(left + 100, 194, left + 180, 182),
    ]
    parts += [
        words(left + 250, 106, "mutants", "soft", "middle", 12),
        words(left + 50, 140, "seeds", "soft", "middle", 12),
    ]
    label = "Moves and midpoint make new cases; each case remembers its origins"
    save("datamorphisms.svg", left + 340, top + height + 20, label, parts)
