"""Labels that stand one row beside their place: in a run of rows, they fit the answers to the neighbouring rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._text import format_percent, format_short
from ....core.result import Finding
from ...context import CheckContext
from ...labels import find_missing_labels
from ...responses import AnswerCodes
from ...rivals import mark_explained_rows
from .profile import TableProfile
from .report import build_finding

Floats = npt.NDArray[np.float64]

MIN_ROWS = 100  # with an answer and a label
MIN_RUN_ROWS = 20  # whose labels are moved, and as many others
SIGNIFICANCE = 1e-3  # of all runs of rows together
#: The error with the labels moved back, in errors of the other rows: the rows are then as right as elsewhere.
MAX_ERROR_RATIO = 1.5
MAX_CLASS_ERROR_EXCESS = 0.05  # beyond that ratio, for models that are hardly ever wrong


@dataclass(frozen=True, eq=False, kw_only=True)
class MovedLabels:
    """A run of rows whose labels fit the answers to other rows."""

    start: int
    stop: int
    step: int  # from a row to that whose answer fits its label
    own_error: float  # in the run
    moved_error: float  # in the run, of the answers that fit
    error_elsewhere: float


def find_moved_labels(context: CheckContext, table: TableProfile) -> Iterator[Finding]:
    """Yield a run of rows whose labels belong to the row before or after each."""
    codes = _encode(context, len(table))
    label = table.label
    moved = None if codes is None else search_moved_labels(*codes, numeric=context.has_numeric_answers)
    if moved is None or label is None:
        return
    rows = np.zeros(len(table), dtype=bool)
    rows[moved.start : moved.stop] = True
    mark_explained_rows(context, np.flatnonzero(rows))
    first, last = int(table.rows[moved.start]), int(table.rows[moved.stop - 1])
    side = "before" if moved.step < 0 else "after"
    texts = [moved.own_error, moved.moved_error, moved.error_elsewhere]
    if context.has_numeric_answers:
        own, other, elsewhere = (f"a median error of {format_short(float(f'{value:.3g}'))}" for value in texts)
    else:
        own, other, elsewhere = (f"{format_percent(value)} wrong answers" for value in texts)
    yield build_finding(
        "moved labels",
        table,
        [label],
        rows,
        about="labels",
        example_columns=[*table.columns[:3], label],
        title=f"The labels of rows {first:,} to {last:,} are those of the row {side}",
        detail=f"Compared with the label of its own row, the model has {own} in these {moved.stop - moved.start:,} rows. Compared with "
        f"the label of the row {'after' if side == 'before' else 'before'}, it has {other}, about as in the other rows ({elsewhere}). "
        "The first and the last of these rows are known only to within a few rows. A "
        "measure of quality on data with these rows is too pessimistic.",
    )


def _encode(context: CheckContext, count: int) -> tuple[Floats, Floats] | None:
    """Return the answers and the labels of rows as codes or numbers, NaN where there is none; None if they cannot be compared."""
    if context.answers is None or context.query_rows is None or context.truth is None or context.has_unmatched_labels:
        return None
    codes = AnswerCodes(context.has_numeric_answers, context.sut.labels)
    answers = np.full(len(context.inputs), np.nan)
    answers[context.query_rows] = codes.encode(context.answers.values, context.answers.ok)
    return answers[:count], codes.encode(context.truth, ~find_missing_labels(context.truth))[:count]


def search_moved_labels(answers: Floats, labels: Floats, *, numeric: bool) -> MovedLabels | None:
    """Return the run of rows whose labels clearly fit the answers to the rows before or after; None if there is none.

    All other rows must fit their own answers, or the model answers late: in a series, the label of a row may be most like the
    answer to the next one.
    """
    from scipy.stats import binomtest

    for step in (-1, 1):
        neighbours = np.full(len(answers), np.nan)
        neighbours[max(0, -step) : len(answers) - max(0, step)] = answers[max(0, step) : len(answers) - max(0, -step)]
        known = np.isfinite(answers) & np.isfinite(neighbours) & np.isfinite(labels)
        if known.sum() < MIN_ROWS:
            continue
        own, moved = (
            np.where(known, np.abs(values - labels) if numeric else values != labels, 0.0)
            for values in (answers, neighbours)
        )
        gains = np.sign(own - moved)
        start, stop = find_best_run(gains)
        inside = known & (np.arange(len(gains)) >= start) & (np.arange(len(gains)) < stop)
        outside = known & ~inside
        if min(inside.sum(), outside.sum()) < MIN_RUN_ROWS:
            continue
        wins = [(int((gains[rows] > 0).sum()), int((gains[rows] != 0).sum())) for rows in (inside, outside)]
        (better, differing), (better_outside, differing_outside) = wins
        runs = len(gains) ** 2  # of both steps
        if not differing or binomtest(better, differing, alternative="greater").pvalue * runs > SIGNIFICANCE:
            continue
        if (
            not differing_outside
            or binomtest(better_outside, differing_outside, alternative="less").pvalue > SIGNIFICANCE
        ):
            continue
        own_error, moved_error, elsewhere = (
            _average(errors[rows], numeric) for errors, rows in ((own, inside), (moved, inside), (own, outside))
        )
        if moved_error <= MAX_ERROR_RATIO * elsewhere + (0.0 if numeric else MAX_CLASS_ERROR_EXCESS):
            return MovedLabels(
                start=start,
                stop=stop,
                step=step,
                own_error=own_error,
                moved_error=moved_error,
                error_elsewhere=elsewhere,
            )
    return None


def find_best_run(gains: Floats) -> tuple[int, int]:
    """Return where the run of values with the largest sum starts and stops.

    Examples
    --------
    >>> find_best_run(np.array([-1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0]))
    (1, 6)
    """
    sums = np.concatenate([[0.0], np.cumsum(gains)])
    rises = sums - np.minimum.accumulate(sums)
    stop = int(rises.argmax())
    start = stop - int(sums[: stop + 1][::-1].argmin())  # the last of the lowest sums
    return start, stop


def _average(errors: Floats, numeric: bool) -> float:
    """Return the share of wrong classes, or the median error of numbers, which a few large ones do not change."""
    return float(np.median(errors) if numeric else errors.mean())
