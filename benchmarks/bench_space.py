"""A million rows of 20 mixed features through the geometry of a space."""

from __future__ import annotations

import datamorphic as dm
from benchmarks.timing import line, seconds

ROWS = 1_000_000
FEATURES = (
    [dm.Continuous(f"x{j}", 0, 10) for j in range(7)]
    + [dm.Integer(f"n{j}", 0, 100, nullable=j == 0) for j in range(7)]
    + [dm.Categorical(f"c{j}", [f"value {v}" for v in range(6)], nullable=j == 0) for j in range(6)]
)


def one_by_one(space, a, b, rows=200):
    """What the same costs a case at a time, extrapolated from a few."""
    pairs = [(a.take(slice(i, i + 1)), b.take(slice(i, i + 1))) for i in range(rows)]
    return seconds(lambda: [space.midpoint(x, y) for x, y in pairs]) / rows * ROWS


def main():
    space = dm.Space(FEATURES)
    a, b = (space.sample(ROWS, seed=seed, points=True) for seed in (0, 1))
    took = seconds(lambda: space.midpoint(a, b))
    line("midpoint, points", f"{took:.2f} s", "goal 1 s")
    line("midpoint, one case at a time (extrapolated)", f"{one_by_one(space, a, b) / took:,.0f}x")
    line("distance, points", f"{seconds(lambda: space.distance(a, b)):.2f} s", "goal 1 s")
    line("distance scaled, points", f"{seconds(lambda: space.distance(a, b, scaled=True)):.2f} s")
    line("up, points", f"{seconds(lambda: space.up(a, 'n1')):.2f} s")
    left, right = a.frame, b.frame
    line("midpoint, frames of text and numbers", f"{seconds(lambda: space.midpoint(left, right)):.2f} s", "goal 1 s")
    line("distance, frames of text and numbers", f"{seconds(lambda: space.distance(left, right)):.2f} s", "goal 1 s")
