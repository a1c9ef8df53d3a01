"""Rows of a study: a published figure, ours with its interval, and a note."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from .._lazy import pd
from .published import Kind, find_errata

DISPLAY_NAMES = {
    "random_target": "random target",
    "directed_walk": "directed walk",
    "random_walk": "random walk",
    "red_wine": "red wine",
    "mushroom": "mushroom",
    "bank_churners": "bank churners",
}


_find_errata = cache(find_errata)  # tables are built twice: see `workload`


class Row(NamedTuple):
    """A published figure beside ours."""

    row: str
    column: str
    published: float
    ours: float
    note: str = ""
    margin: float = math.nan  # half the width of the 95% interval of ours
    trials: float = math.nan  # behind ours, or repetitions
    printed_margin: float = (
        math.nan
    )  # half the width of the 95% interval of the published figure, by its own repetitions
    unit: float = 0.0  # of the last printed digit
    kinds: str = ""  # what is known about the published figure: names of `Kind`, with spaces between them
    cause: str = ""  # the switch of the study that makes the difference
    ours_with_cause: float = math.nan
    margin_with_cause: float = math.nan


class OurFigure(NamedTuple):
    """A figure of ours with half the width of its 95% interval and its trials; NaN where there is none.

    A figure that is computed without chance has the margin 0. `printed_margin` is half the width of the interval in which 95%
    of the repetitions of the published experiment lie, if we know how often it was repeated.
    """

    value: float
    margin: float = math.nan
    trials: float = math.nan
    printed_margin: float = math.nan

    def times(self, factor: float) -> OurFigure:
        """Return the figure in another unit."""
        size = abs(factor)
        return OurFigure(factor * self.value, size * self.margin, self.trials, size * self.printed_margin)

    def to_row(
        self, row: str, column: str, note: str = "", published: float = math.nan, kinds: Iterable[Kind] = ()
    ) -> Row:
        """Return a row with this figure."""
        return Row(
            row=row,
            column=column,
            published=published,
            ours=self.value,
            note=note,
            margin=self.margin,
            trials=self.trials,
            printed_margin=self.printed_margin,
            kinds=" ".join(kinds),
        )


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
    figure: Any,
    table: str,
    *place: str,
    ours: float | OurFigure,
    column: str = "",
    notes: Iterable[str] = (),
    kinds: Iterable[Kind] = (),
    part: bool = False,
    with_cause: Mapping[str, OurFigure] | None = None,
) -> Row:
    """Return a published figure beside ours, with its errata.

    `notes` and `kinds` say what else is known about it, and `part` that ours covers less. `with_cause` has our figures with
    causes of differences switched on; that of the first erratum that names one of them is shown. A plain number is computed
    without chance.
    """
    walks = None if pd.isna(figure.walks) else int(figure.walks)
    errata = _find_errata(table, figure.strategy, figure.subject, figure.measure, data=figure.data, walks=walks)
    estimate = ours if isinstance(ours, OurFigure) else OurFigure(ours, 0.0)
    row = estimate.to_row(
        ", ".join(DISPLAY_NAMES.get(word, word) for word in place if word),
        column or figure.measure,
        " ".join(text for text in (*(entry.says for entry in errata), *notes) if text),
        float(figure.published),
    )
    kinds = [*kinds, *([Kind.PART] if part else []), *(entry.kind for entry in errata)]
    known = dict.fromkeys(kind for kind in kinds if kind is not Kind.REMARK)
    row = row._replace(unit=float(figure.unit), kinds=" ".join(known))
    for entry in errata:
        if entry.cause in (with_cause or {}):
            switched = (with_cause or {})[entry.cause]
            return row._replace(cause=entry.cause, ours_with_cause=switched.value, margin_with_cause=switched.margin)
    return row


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
