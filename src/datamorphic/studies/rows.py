"""Rows of a study: a published figure, ours, and a note."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .published import erratum

if TYPE_CHECKING:
    import pandas as pd

DISPLAY_NAMES = {
    "random_target": "random target",
    "directed_walk": "directed walk",
    "random_walk": "random walk",
    "red_wine": "red wine",
    "mushroom": "mushroom",
    "bank_churners": "bank churners",
}


_erratum = cache(erratum)  # tables are built twice: see `workload`


class Row(NamedTuple):
    """A published figure beside ours."""

    row: str
    column: str
    published: float
    ours: float
    note: str = ""


def make_row(figure: Any, table: str, *place: str, ours: float, column: str = "", notes: Iterable[str] = ()) -> Row:
    """Return a published figure beside ours, with its erratum."""
    import pandas as pd

    walks = None if pd.isna(figure.walks) else int(figure.walks)
    wrong = _erratum(table, figure.strategy, figure.subject, figure.measure, data=figure.data, walks=walks)
    return Row(
        ", ".join(DISPLAY_NAMES.get(word, word) for word in place if word),
        column or figure.measure,
        float(figure.published),
        ours,
        " ".join(text for text in (wrong, *notes) if text),
    )


def describe_part(used: Sequence[object], whole: int, noun: str) -> str:
    """Describe what our mean covers, if it covers less than the published one."""
    if len(used) >= whole:
        return ""
    return f"Ours is over {len(used)} of {whole} {noun}: {', '.join(map(str, used))}."


def select_finite(values: Iterable[float]) -> list[float]:
    """Return the finite values: infinite costs are left out of averages, as published."""
    return [value for value in values if math.isfinite(value)]


def compute_mean(values: Iterable[float]) -> float:
    """Return the mean of the finite values."""
    finite_values = select_finite(values)
    return math.fsum(finite_values) / len(finite_values) if finite_values else math.nan


def iterate_figures(frame: pd.DataFrame) -> list[Any]:
    """Return the figures of a published table as named tuples."""
    return list(frame.itertuples(index=False))
