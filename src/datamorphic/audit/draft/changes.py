"""Changes of rows that fit the columns of the data: as functions to try, and as code to write."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ...reporting.python_code import to_slug
from ...space.features import Categorical, Feature, Integer
from ...space.space import Space
from .code import format_comment_literal, format_literal, make_unique

NOISE_DIVISOR = 10_000  # noise is a step divided by this
MIN_INTEGER_FOR_PERCENT = 20  # ten percent of smaller integers are less than one
MAX_INCREASED_FEATURES = 3
MAX_ROUNDED_FEATURES = 10
MAX_NEXT_FEATURES = 12


@dataclass(frozen=True, kw_only=True)
class RowChange:
    """A datamorphism that a draft may contain."""

    kind: Literal["more", "hair", "rounded", "next", "again"]  # decides what relations can be expected
    name: str  # of the function
    phrase: str  # the change as the subject of a sentence; column names in it are literals
    doc: str  # the docstring of the function, without column names
    code: tuple[str, ...]  # the lines of the function, whose argument is ``frame``
    make: Callable[[pd.DataFrame], pd.DataFrame] = field(repr=False)  # the same function; may change its argument


def propose_changes(
    space: Space, influence: npt.NDArray[np.float64], identifiers: Collection[str] = ()
) -> Iterator[RowChange]:
    """Return changes that fit a space; `influence` is how much each feature affects the answers.

    No change is about one of `identifiers`: what a model makes of them should not become a promise.
    """
    used_names: set[str] = set()
    influence_of = dict(zip(space.names, influence.tolist(), strict=True))
    varying = [feature for feature in space.features if feature.high > feature.low and feature.name not in identifiers]
    most_influential = sorted(varying, key=lambda feature: -influence_of[feature.name])
    numeric = [feature for feature in most_influential if feature.numeric]
    for feature in numeric[:MAX_INCREASED_FEATURES]:
        yield from _build_increases(feature, used_names)
    continuous = [feature for feature in numeric if feature.kind == "continuous"]
    if continuous:
        yield _build_noise(space)
        for name, part in (("rounded", 1.0), ("rounded_finely", 0.1)):
            units = {feature.name: part * feature.step for feature in continuous[:MAX_ROUNDED_FEATURES]}
            yield _build_rounding(
                space, {column: -math.floor(math.log10(unit)) for column, unit in units.items()}, name
            )
    discrete = [feature for feature in varying if feature.kind not in ("continuous", "text")]
    for feature in sorted(discrete, key=lambda feature: influence_of[feature.name])[:MAX_NEXT_FEATURES]:
        yield _build_next_value(space, feature, used_names)
    yield RowChange(
        kind="again",
        name="asked_again",
        phrase="a repeated query",
        doc="The same row again.",
        code=("return frame",),
        make=lambda frame: frame,
    )


def _build_increases(feature: Feature, used_names: set[str]) -> Iterator[RowChange]:
    """Return a small and a large increase of a number."""
    if feature.low >= 0 and not (isinstance(feature, Integer) and feature.high < MIN_INTEGER_FOR_PERCENT):
        yield _build_increase(feature, "more", "10 percent more", "* 1.1", lambda x: x * 1.1, used_names)
        yield _build_increase(feature, "much_more", "50 percent more", "* 1.5", lambda x: x * 1.5, used_names)
    else:
        step = feature.step
        yield _build_increase(feature, "more", "one step more", "+ feature.step", lambda x: x + step, used_names)
        yield _build_increase(
            feature, "much_more", "five steps more", "+ 5 * feature.step", lambda x: x + 5 * step, used_names
        )


def _build_increase(
    feature: Feature, prefix: str, amount: str, code: str, increase: Callable[[Any], Any], used_names: set[str]
) -> RowChange:
    name, whole = feature.name, isinstance(feature, Integer)

    def make(frame: pd.DataFrame) -> pd.DataFrame:
        column = increase(frame[name])
        frame[name] = (column.round() if whole else column).clip(upper=feature.high)
        return frame

    lines = (
        f"feature = self.space[{format_literal(name)}]",
        f"larger = (frame[feature.name] {code}).round()" if whole else f"larger = frame[feature.name] {code}",
        "frame[feature.name] = larger.clip(upper=feature.high)",
        "return frame",
    )
    doc = f"{amount.capitalize()} of one column, as far as the space allows."
    return RowChange(
        kind="more",
        name=make_unique(f"{prefix}_{to_slug(name)}", used_names),
        phrase=f"{amount} of {format_comment_literal(name)}",
        doc=doc,
        code=lines,
        make=make,
    )


def _build_noise(space: Space) -> RowChange:
    def make(frame: pd.DataFrame) -> pd.DataFrame:
        for feature in space:
            if feature.kind == "continuous":
                larger = frame[feature.name] + feature.step / NOISE_DIVISOR
                frame[feature.name] = larger.clip(upper=feature.high)
        return frame

    lines = (
        "for feature in self.space:",
        '    if feature.kind == "continuous":',
        f"        larger = frame[feature.name] + feature.step / {NOISE_DIVISOR:_}",
        "        frame[feature.name] = larger.clip(upper=feature.high)",
        "return frame",
    )
    doc = "Every real number larger by far less than a step."
    return RowChange(
        kind="hair", name="measured_again", phrase="tiny noise in every real number", doc=doc, code=lines, make=make
    )


def _build_rounding(space: Space, digits: dict[str, int], name: str) -> RowChange:
    """Return the rounding of columns to digits after the point; negative for digits before the point."""

    def make(frame: pd.DataFrame) -> pd.DataFrame:
        for column, count in digits.items():
            frame[column] = frame[column].round(count).clip(space[column].low, space[column].high)
        return frame

    lines = (
        "digits = {",
        *(f"    {format_literal(column)}: {count}," for column, count in digits.items()),
        "}",
        "for name, count in digits.items():",
        "    feature = self.space[name]",
        "    frame[name] = frame[name].round(count).clip(feature.low, feature.high)",
        "return frame",
    )
    doc = "Numbers with fewer digits after the point; -1 rounds to whole tens."
    return RowChange(kind="rounded", name=name, phrase="rounding", doc=doc, code=lines, make=make)


def _build_next_value(space: Space, feature: Feature, used_names: set[str]) -> RowChange:
    phrase = "the next category" if isinstance(feature, Categorical) else "one step more"
    return RowChange(
        kind="next",
        name=make_unique(f"next_{to_slug(feature.name)}", used_names),
        phrase=f"{phrase} of {format_comment_literal(feature.name)}",
        doc=f"{phrase.capitalize()} of one column, where there is one.",
        code=(f"return self.space.up(frame, {format_literal(feature.name)})",),
        make=lambda frame: space.up(frame, feature.name),
    )
