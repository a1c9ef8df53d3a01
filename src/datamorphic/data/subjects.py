"""The ten coded classifiers of Zhu & Bayley 2022: test systems whose borders are known.

The domain is x in [0, 2 pi], y in [-1, 1]. Moves change a coordinate by 0.2 and may leave the domain: the classifiers
are defined on the whole plane.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .._registry import CaseInsensitiveMapping
from ..morphisms.decorators import datamorphism, executor, seed_maker
from ..morphisms.morphism import normalise_name
from ..morphisms.system import TestSystem
from ..space.features import Continuous
from ..space.points import Points
from ..space.space import Space

Numbers = npt.NDArray[np.float64]
Labels = npt.NDArray[np.str_]
Booleans = npt.NDArray[np.bool_]
STEP = 0.2
PLANE = Space([Continuous("x", 0, 2 * np.pi, step=STEP), Continuous("y", -1, 1, step=STEP)], moves="open")


class CodedClassifier:
    """A classifier of points of the plane, as a test system."""

    space = PLANE

    def __init__(self, name: str, rule: Callable[[Numbers, Numbers], Labels]) -> None:
        self.name = name
        self.rule = rule

    @seed_maker
    def random_values(self, rng: np.random.Generator, n: int = 200) -> Points:
        """Return points drawn uniformly from the domain."""
        return self.space.sample(n, seed=rng, points=True)

    @datamorphism(feature="x", step=STEP, points=True)
    def leftward(self, p: Points) -> Points:
        """Move one step to the left."""
        return _move_points(p, -STEP, 0)

    @datamorphism(feature="x", step=STEP, points=True)
    def rightward(self, p: Points) -> Points:
        """Move one step to the right."""
        return _move_points(p, STEP, 0)

    @datamorphism(feature="y", step=STEP, points=True)
    def upward(self, p: Points) -> Points:
        """Move one step up."""
        return _move_points(p, 0, STEP)

    @datamorphism(feature="y", step=STEP, points=True)
    def downward(self, p: Points) -> Points:
        """Move one step down."""
        return _move_points(p, 0, -STEP)

    @datamorphism(points=True)
    def mid(self, a: Points, b: Points) -> Points:
        """Return the midpoint."""
        return Points(a.space, (a.codes + b.codes) / 2)

    @executor(points=True)
    def classify(self, p: Points) -> Labels:
        """Return the colour of every point."""
        return self.rule(*(p.codes[:, p.space.position(name)] for name in ("x", "y")))


def _move_points(points: Points, right: float, up: float) -> Points:
    return Points(points.space, points.codes + np.array([right, up]))


def _is_in_box(x: Numbers, y: Numbers) -> Booleans:
    return (x >= 1) & (x <= 2) & (y >= -0.5) & (y <= 0.4)


def _is_in_circle(x: Numbers, y: Numbers) -> Booleans:
    return np.hypot(x - 2, y - 0.2) < 0.7


def _is_in_triangle(x: Numbers, y: Numbers) -> Booleans:
    return (y <= x - 1) & (y >= -x + 1) & (y >= 3 * x - 5)


def _is_above_log(x: Numbers, y: Numbers) -> Booleans:
    """Return whether y >= log10 x; False where x <= 0, which has no logarithm."""
    return y >= np.log10(x, out=np.full(np.shape(x), np.nan), where=x > 0)


def _colour_red_or_blue(is_red: Booleans) -> Labels:
    return np.where(is_red, "red", "blue")


def _colour_inside_black(is_inside: Booleans, is_blue: Booleans) -> Labels:
    return np.where(is_inside, "black", np.where(is_blue, "blue", "red"))


RULES: dict[str, Callable[[Numbers, Numbers], Labels]] = {
    "Box 1": lambda x, y: _colour_red_or_blue(_is_in_box(x, y)),
    "Box 2": lambda x, y: _colour_inside_black(_is_in_box(x, y), _is_above_log(x, y)),
    "Circle 1": lambda x, y: _colour_red_or_blue(_is_in_circle(x, y)),
    "Circle 2": lambda x, y: _colour_inside_black(_is_in_circle(x, y), y >= 0.3 * x - 0.4),
    "Line 1": lambda x, y: _colour_red_or_blue(0.3 * x - 0.8 < y),
    "Line 2": lambda x, y: np.where(0.3 * x - 1.0 >= y, "red", np.where(y > 0.3 * x - 0.8, "blue", "black")),
    "Sin 1": lambda x, y: _colour_red_or_blue(np.sin(x) < y),
    "Sin 2": lambda x, y: np.where(np.abs(np.sin(x) - y) < 0.2, "black", _colour_red_or_blue(np.sin(x) > y)),
    "Triangle 1": lambda x, y: _colour_red_or_blue(_is_in_triangle(x, y)),
    "Triangle 2": lambda x, y: _colour_inside_black(_is_in_triangle(x, y), _is_above_log(x, y)),
}


class Subjects(CaseInsensitiveMapping[TestSystem]):
    """The subjects by name. Case, spaces and underscores do not matter: ``subjects["box_1"]`` is "Box 1"."""

    def __init__(self) -> None:
        super().__init__("subject", RULES, normalise=normalise_name)

    def __getitem__(self, name: str) -> TestSystem:
        full_name = self.find_name(name)
        system = TestSystem.collect(CodedClassifier(full_name, RULES[full_name]))
        system.hashed_code = CodedClassifier
        return system


subjects = Subjects()
