"""Rows of a study: a published figure, ours, and what is to be said about the two."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .published import erratum

if TYPE_CHECKING:
    import pandas as pd

WORDS = {
    "random_target": "random target",
    "directed_walk": "directed walk",
    "random_walk": "random walk",
    "red_wine": "red wine",
    "mushroom": "mushroom",
    "bank_churners": "bank churners",
}


_erratum = cache(erratum)  # tables are made twice: see `bench`


class Row(NamedTuple):
    """A figure of a table beside ours."""

    row: str
    column: str
    published: float
    ours: float
    note: str = ""


def row_of(figure: Any, table: str, *place: str, ours: float, column: str = "", notes: Iterable[str] = ()) -> Row:
    """Return a figure, as `published` gives it, beside ours, with its erratum."""
    walks = None if _missing(figure.walks) else int(figure.walks)
    wrong = _erratum(table, figure.strategy, figure.subject, figure.measure, data=figure.data, walks=walks)
    return Row(
        ", ".join(WORDS.get(each, each) for each in place if each),
        column or figure.measure,
        float(figure.published),
        ours,
        " ".join(each for each in (wrong, *notes) if each),
    )


def part_of(used: Sequence[object], all_of: Sequence[object] | int, noun: str) -> str:
    """Say what ours is the mean of, where that is less than what theirs is the mean of."""
    whole = all_of if isinstance(all_of, int) else len(all_of)
    if len(used) >= whole:
        return ""
    return f"Ours is over {len(used)} of {whole} {noun}: {', '.join(map(str, used))}."


def finite(values: Iterable[float]) -> list[float]:
    """Return the values that are numbers: an infinite cost is left out of averages, as published."""
    return [value for value in values if math.isfinite(value)]


def mean(values: Iterable[float], empty: float = math.nan) -> float:
    """Return the mean of the finite values."""
    kept = finite(values)
    return math.fsum(kept) / len(kept) if kept else empty


def figures(frame: pd.DataFrame) -> list[Any]:
    """Return the figures of a published table as named tuples."""
    return list(frame.itertuples(index=False))


def _missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))
