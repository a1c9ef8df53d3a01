"""Figures of both sides of a comparison, and the rows of the table that they become."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measurement of one side."""

    task: str
    measure: str  # with its unit
    value: float | str  # a text, such as "3 of 10", has no ratio
    higher_is_better: bool = False


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One row of the table: the same measure of the same task, theirs beside ours."""

    task: str
    measure: str
    theirs: float | str
    ours: float | str
    ratio: float | None = None  # above 1 where ours is better


def compare(theirs: Sequence[Figure], ours: Sequence[Figure]) -> list[Comparison]:
    """Return their figures beside ours of the same task and measure.

    A task of theirs may have settings in brackets: "borders (max_iter=10)" is compared with our "borders".
    """
    by_key = {(figure.task, figure.measure): figure for figure in ours}
    rows = []
    for figure in theirs:
        key = (figure.task.partition(" (")[0], figure.measure)
        own = by_key.get((figure.task, figure.measure)) or by_key[key]
        ratio = None
        if not isinstance(figure.value, str) and not isinstance(own.value, str):
            better, worse = (own.value, figure.value) if figure.higher_is_better else (figure.value, own.value)
            ratio = better / worse if worse else None
        rows.append(
            Comparison(task=figure.task, measure=figure.measure, theirs=figure.value, ours=own.value, ratio=ratio)
        )
    return rows


def format_number(value: float | str) -> str:
    """Return a number with two significant digits or more, a whole number or a text as it is."""
    if isinstance(value, str):
        return value
    if math.isnan(value) or value == round(value):
        return f"{value:,.0f}"
    digits = max(0, 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"
