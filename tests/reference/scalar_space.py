"""The geometry of a space for one case at a time, in plain Python, straight from the definitions."""

from __future__ import annotations

import math


def missing(code):
    return math.isnan(code)


def distance(space, x, y, scaled=False):
    squares, total = 0.0, 0.0
    for feature, a, b in zip(space.features, x, y, strict=True):
        if missing(a) or missing(b):
            total += missing(a) != missing(b)
        elif feature.kind == "categorical":
            total += a != b
        else:
            gap = abs(a - b)
            if scaled:
                gap *= feature.scale
            if feature.kind == "integer":
                total += gap
            else:
                squares += gap * gap
    return total + math.sqrt(squares)


def midpoint(space, x, y):
    middle = []
    turn_of_x = True
    for feature, a, b in zip(space.features, x, y, strict=True):
        if missing(a) and missing(b):
            middle.append(a)
        elif missing(a) or missing(b) or (feature.kind == "categorical" and a != b):
            middle.append(a if turn_of_x else b)
            turn_of_x = not turn_of_x
        elif feature.kind == "categorical":
            middle.append(a)
        elif feature.kind == "continuous":
            middle.append((a + b) / 2)
        elif (b - a) % 2 == 0:
            middle.append((a + b) // 2)
        else:
            near_a = a + (1 if b > a else -1) * (abs(b - a) // 2)
            near_b = b + (1 if a > b else -1) * (abs(b - a) // 2)
            middle.append(near_a if turn_of_x else near_b)
            turn_of_x = not turn_of_x
    return middle


def move(space, x, j, kind):
    feature = space.features[j]
    code = x[j]
    if kind == "clear":
        code = math.nan if feature.nullable else code
    elif kind == "fill":
        code = feature.default if missing(code) else code
    elif not missing(code):
        code += feature.step if kind == "up" else -feature.step
        if feature.kind != "continuous" or space.moves == "clip":
            code = min(max(code, feature.low), feature.high)
    return [*x[:j], code, *x[j + 1 :]]
