"""The triangle program, a classic of testing: three planted faults, found without knowing a single right answer.

Run it with: python examples/triangle.py
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import datamorphic as dm

SIDES = ["a", "b", "c"]


def classify(frame, fault=None):
    """Return the kind of every triangle; `fault` plants a mistake that programmers really make."""
    a, b, c = (frame[side].to_numpy() for side in SIDES)
    if fault == "8 bits":  # sides are stored in one byte
        a, b, c = a % 256, b % 256, c % 256
    too_long = (a + b <= c) | (b + c <= a) | (c + a <= b)
    if fault == "side forgotten":  # one of the three comparisons is missing
        too_long = (a + b <= c) | (b + c <= a)
    two_equal = (a == b) | (b == c) | (c == a)
    if fault == "pair forgotten":  # one of the three pairs is missing
        two_equal = (a == b) | (b == c)
    return np.select([too_long, (a == b) & (b == c), two_equal], ["no triangle", "equilateral", "isosceles"], "scalene")


class Triangle:
    """A test system: a few triangles, ways to change them, and what must not depend on these changes."""

    space = dm.Space([dm.Integer(side, 1, 10_000) for side in SIDES])
    fault = None

    def __init__(self, fault=None):
        self.fault, self.name = fault, f"Triangle ({fault or 'correct'})"

    @dm.seed_maker
    def some_triangles(self):
        """Make five triangles that anybody would try."""
        return pd.DataFrame([[3, 4, 5], [5, 5, 8], [7, 7, 7], [60, 50, 40], [2, 3, 9]], columns=SIDES)

    @dm.datamorphism
    def swap(self, triangle):
        """Swap the first two sides."""
        return triangle.assign(a=triangle.b, b=triangle.a)

    @dm.datamorphism
    def rotate(self, triangle):
        """Put the first side last."""
        return triangle.assign(a=triangle.b, b=triangle.c, c=triangle.a)

    @dm.datamorphism
    def double(self, triangle):
        """Make all sides twice as long."""
        return 2 * triangle

    @dm.datamorphism
    def triple(self, triangle):
        """Make all sides three times as long."""
        return 3 * triangle

    @dm.metamorphism(of="swap", message="the order of the sides does not matter")
    def swapping_keeps_the_kind(self, case, origin):
        """Compare the kinds."""
        return case.output == origin.output

    @dm.metamorphism(of="rotate", message="it does not matter which side comes first")
    def rotating_keeps_the_kind(self, case, origin):
        """Compare the kinds."""
        return case.output == origin.output

    @dm.metamorphism(of="double", message="twice the size, same kind")
    def doubling_keeps_the_kind(self, case, origin):
        """Compare the kinds."""
        return case.output == origin.output

    @dm.metamorphism(of="triple", message="three times the size, same kind")
    def tripling_keeps_the_kind(self, case, origin):
        """Compare the kinds."""
        return case.output == origin.output

    @dm.executor
    def kind(self, triangles):
        """Query the program."""
        return classify(triangles, self.fault)


if __name__ == "__main__":
    for fault in (None, "side forgotten", "pair forgotten", "8 bits"):
        combination = dm.combine(Triangle(fault), "permutations")
        print(combination.describe(), end="\n\n")
        assert combination.holds == (fault is None)
        assert combination.violations["shortest"].notna().all()
