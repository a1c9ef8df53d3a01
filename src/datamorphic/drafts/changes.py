"""What might be done to the rows of some data, by the columns they have: as functions and as code."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..space.features import Categorical, Feature, Integer
from ..space.space import Space
from .code import literal, slug, told, unique

if TYPE_CHECKING:
    import pandas as pd

HAIR = 10_000  # hairs make a step
FEW = 20  # whole numbers up to here have no tenth part
MOST_MORE = 3  # numbers that are made larger
MOST_ROUNDED = 10  # numbers that are rounded
MOST_NEXT = 12  # columns whose neighbouring values are tried


@dataclass(frozen=True)
class Change:
    """A datamorphism.

    Attributes
    ----------
    kind : {"more", "hair", "rounded", "next", "again"}
        What promises can be made about it.
    name : str
        Of the function.
    words : str
        What it does, as the subject of a sentence; names in it are literals.
    doc : str
        What it does, for the docstring; no names in it.
    code : tuple of str
        The lines of the function, which is given ``frame``.
    make : callable
        The same as a function of a frame, which it may change.
    """

    kind: Literal["more", "hair", "rounded", "next", "again"]
    name: str
    words: str
    doc: str
    code: tuple[str, ...]
    make: Callable[[pd.DataFrame], pd.DataFrame] = field(repr=False)


def changes_of(space: Space, deciding: npt.NDArray[np.float64]) -> Iterator[Change]:
    """Return what might be done to a row; `deciding` says how much each feature does."""
    taken: set[str] = set()
    numeric = [j for j, f in enumerate(space.features) if not isinstance(f, Categorical) and f.high > f.low]
    for j in sorted(numeric, key=lambda j: -deciding[j])[:MOST_MORE]:
        yield from _more(space.features[j], taken)
    real = [space.features[j] for j in numeric if space.features[j].kind == "continuous"]
    if real:
        yield _hair(space)
        some = sorted(real, key=lambda feature: -deciding[space.position(feature.name)])[:MOST_ROUNDED]
        for name, part in (("rounded", 1.0), ("rounded_finely", 0.1)):
            yield _rounded(space, {feature.name: _digits(part * feature.step) for feature in some}, name)
    discrete = [j for j, f in enumerate(space.features) if f.kind != "continuous" and f.high > f.low]
    for j in sorted(discrete, key=lambda j: deciding[j])[:MOST_NEXT]:
        yield _next(space, space.features[j], taken)
    yield Change("again", "asked_again", "asking again", "The same row once more.", ("return frame",), lambda f: f)


def _more(feature: Feature, taken: set[str]) -> Iterator[Change]:
    """Return two changes that make a number larger: a little, and a lot."""
    if feature.low >= 0 and not (isinstance(feature, Integer) and feature.high < FEW):
        yield _larger(feature, "more", "ten percent more", "* 1.1", lambda x: x * 1.1, taken)
        yield _larger(feature, "much_more", "half as much again", "* 1.5", lambda x: x * 1.5, taken)
    else:
        step = feature.step
        yield _larger(feature, "more", "one step more", "+ feature.step", lambda x: x + step, taken)
        yield _larger(feature, "much_more", "five steps more", "+ 5 * feature.step", lambda x: x + 5 * step, taken)


def _larger(
    feature: Feature, verb: str, much: str, code: str, larger: Callable[[Any], Any], taken: set[str]
) -> Change:
    name, whole = feature.name, isinstance(feature, Integer)

    def make(frame: pd.DataFrame) -> pd.DataFrame:
        column = larger(frame[name])
        frame[name] = (column.round() if whole else column).clip(upper=feature.high)
        return frame

    lines = (
        f"feature = self.space[{literal(name)}]",
        f"larger = (frame[feature.name] {code}).round()" if whole else f"larger = frame[feature.name] {code}",
        "frame[feature.name] = larger.clip(upper=feature.high)",
        "return frame",
    )
    doc = f"{much.capitalize()} of one column, as far as the space allows."
    return Change("more", unique(f"{verb}_{slug(name)}", taken), f"{much} of {told(name)}", doc, lines, make)


def _hair(space: Space) -> Change:
    def make(frame: pd.DataFrame) -> pd.DataFrame:
        for feature in space:
            if feature.kind == "continuous":
                larger = frame[feature.name] + feature.step / HAIR
                frame[feature.name] = larger.clip(upper=feature.high)
        return frame

    lines = (
        "for feature in self.space:",
        '    if feature.kind == "continuous":',
        f"        larger = frame[feature.name] + feature.step / {HAIR:_}",
        "        frame[feature.name] = larger.clip(upper=feature.high)",
        "return frame",
    )
    doc = "Every real number larger by a hair."
    return Change("hair", "measured_again", "a hair more in every real number", doc, lines, make)


def _digits(unit: float) -> int:
    """Return how many digits after the point tell units apart; below 0 for digits before it."""
    return -math.floor(math.log10(unit))


def _rounded(space: Space, digits: dict[str, int], name: str) -> Change:
    def make(frame: pd.DataFrame) -> pd.DataFrame:
        for column, count in digits.items():
            frame[column] = frame[column].round(count).clip(space[column].low, space[column].high)
        return frame

    lines = (
        "digits = {",
        *(f"    {literal(column)}: {count}," for column, count in digits.items()),
        "}",
        "for name, count in digits.items():",
        "    feature = self.space[name]",
        "    frame[name] = frame[name].round(count).clip(feature.low, feature.high)",
        "return frame",
    )
    doc = "Numbers with fewer digits after the point; -1 rounds to whole tens."
    return Change("rounded", name, "rounding", doc, lines, make)


def _next(space: Space, feature: Feature, taken: set[str]) -> Change:
    what = "the next category" if isinstance(feature, Categorical) else "one step more"
    return Change(
        "next",
        unique(f"next_{slug(feature.name)}", taken),
        f"{what} of {told(feature.name)}",
        f"{what.capitalize()} of one column, where there is one.",
        (f"return self.space.up(frame, {literal(feature.name)})",),
        lambda frame: space.up(frame, feature.name),
    )
