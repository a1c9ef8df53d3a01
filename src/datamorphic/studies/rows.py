"""Rows of a study: a published figure, ours with its interval, and a note."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from .._lazy import pd
from .published import erratum

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
    margin: float = math.nan  # half the width of the 95% interval of ours
    trials: float = math.nan  # behind ours, or repetitions


class OurFigure(NamedTuple):
    """A figure of ours with half the width of its 95% interval and its trials; NaN where there is none."""

    value: float
    margin: float = math.nan
    trials: float = math.nan

    def times(self, factor: float) -> OurFigure:
        """Return the figure in another unit."""
        return OurFigure(factor * self.value, abs(factor) * self.margin, self.trials)

    def to_row(self, row: str, column: str, note: str = "", published: float = math.nan) -> Row:
        """Return a row with this figure."""
        return Row(row, column, published, self.value, note, self.margin, self.trials)


def format_number(value: float) -> str:
    """Return a figure with about three significant digits."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "infinite"
    if 0 < abs(value) < 0.01:
        return f"{value:.2g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def make_row(
    figure: Any, table: str, *place: str, ours: float | OurFigure, column: str = "", notes: Iterable[str] = ()
) -> Row:
    """Return a published figure beside ours, with its erratum."""
    walks = None if pd.isna(figure.walks) else int(figure.walks)
    wrong = _erratum(table, figure.strategy, figure.subject, figure.measure, data=figure.data, walks=walks)
    estimate = ours if isinstance(ours, OurFigure) else OurFigure(ours)
    return estimate.to_row(
        ", ".join(DISPLAY_NAMES.get(word, word) for word in place if word),
        column or figure.measure,
        " ".join(text for text in (wrong, *notes) if text),
        float(figure.published),
    )


_descriptions: list[str] = []  # openings of sentences, up to the first number that is filled in


def describe_ours(note: str) -> str:
    """Return a note that only describes our figure, and record that it explains no difference from the published one."""
    _descriptions.extend(sentence.partition("{")[0] for sentence in split_sentences(note))
    return note


def list_reasons(note: str) -> list[str]:
    """Return the sentences of a note that explain why our figure differs from the published one."""
    return [sentence for sentence in split_sentences(note) if not sentence.startswith(tuple(_descriptions))]


def split_sentences(note: str) -> list[str]:
    """Return the sentences of a note; each becomes a footnote."""
    return [f"{sentence.rstrip('.')}." for sentence in note.split(". ")] if note else []


def describe_part(used: Sequence[object], whole: int, noun: str) -> str:
    """Describe what our mean covers, if it covers less than the published one."""
    if len(used) >= whole:
        return ""
    return f"Ours is over {len(used)} of {whole} {noun}: {', '.join(map(str, used))}."


def compute_mean(values: Iterable[float]) -> float:
    """Return the mean of the finite values: infinite costs are left out of averages, as published."""
    finite_values = [value for value in values if math.isfinite(value)]
    return math.fsum(finite_values) / len(finite_values) if finite_values else math.nan


def iterate_figures(frame: pd.DataFrame) -> list[Any]:
    """Return the figures of a published table as named tuples."""
    return list(frame.itertuples(index=False))
