"""The faulty test system of the red-wine study: its midpoint mixes two features, so many pairs are never refined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._lazy import pd
from ..data.learners import WINE_STEPS
from ..morphisms.decorators import datamorphism, executor
from ..space.features import Continuous
from ..space.space import Space

#: low, high and step; the bounds are those of the data set
WINE = {
    name: (*bounds, WINE_STEPS[name])
    for name, bounds in {
        "fixed acidity": (4.6, 15.9),
        "volatile acidity": (0.12, 1.58),
        "citric acid": (0.0, 1.0),
        "residual sugar": (0.9, 15.5),
        "chlorides": (0.012, 0.611),
        "free sulfur dioxide": (1.0, 72.0),
        "total sulfur dioxide": (6.0, 289.0),
        "density": (0.99007, 1.00369),
        "pH": (2.74, 4.01),
        "sulphates": (0.33, 2.0),
        "alcohol": (8.4, 14.9),
    }.items()
}


def _make_move(name: str, direction: int) -> Callable[[Any, pd.DataFrame], pd.DataFrame]:
    def move(self: Any, p: pd.DataFrame) -> pd.DataFrame:
        return p.assign(**{name: p[name] + direction * WINE_STEPS[name]})

    return move


class WineMidpoint:
    """Correct moves, and a midpoint that mixes two features."""

    space = Space([Continuous(name, low, high, step=step) for name, (low, high, step) in WINE.items()], moves="open")

    @datamorphism
    def mid(self, a: pd.DataFrame, b: pd.DataFrame) -> pd.DataFrame:
        """Return the midpoint, but with the free instead of the total sulfur dioxide of the second wine."""
        middle = (a + b) / 2
        middle["total sulfur dioxide"] = (a["total sulfur dioxide"] + b["free sulfur dioxide"]) / 2
        return middle


for _name in WINE:
    for _word, _direction in (("up", 1), ("down", -1)):
        setattr(WineMidpoint, f"{_word}_{_name}", datamorphism(feature=_name)(_make_move(_name, _direction)))


class FaultyWine(WineMidpoint):
    """The faulty test system with a model to explore."""

    def __init__(self, model: Any) -> None:
        self.model = model

    @executor
    def predict(self, p: pd.DataFrame) -> Any:
        """Return the model's answers."""
        return self.model.predict(p)
