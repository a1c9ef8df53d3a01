"""Columns that have moved since the reference although the labels have not: answers fit better if they are moved back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...._text import format_percent, format_rounded
from ....core.result import Finding, count_rows
from ....runs.flow import ask
from ....space.points import Points
from ...check import CheckBudget, get_facts, run_flow
from ...context import SCORE_COST, CheckContext
from ...judged_rows import JudgedRows
from ...labels import find_missing_labels
from ...rivals import mark_explained_rows
from ..repairs.judge import Gain, LabelJudge, Losses
from .columns import MIN_DISTANCE, Drift
from .reference_rows import ReferenceRows

MAX_COLUMNS = 3  # those that differ most
MIN_ROWS = 100  # with an answer and a label
SIGNIFICANCE = 0.01  # of all changes together
MIN_REDUCTION = 0.1  # of the errors
MIN_CERTAIN_REDUCTION = 0.04  # at the lower end of the interval
MIN_SPREAD_SHARE = 0.25  # of the middle half of the reference, by which the median has moved


@dataclass(frozen=True, eq=False, kw_only=True)
class MovedColumn:
    """A column, how it is moved back, and what that does to the errors."""

    drift: Drift
    text: str  # how it is moved back
    gain: Gain
    count: int  # of rows that were compared
    fixed: npt.NDArray[np.intp]  # the rows of the data that are better then


@dataclass(frozen=True, eq=False, kw_only=True)
class _Move:
    """A way to move a column back."""

    drift: Drift
    column: int
    text: str
    factor: float = 1.0
    shift: float = 0.0

    def apply(self, points: Points) -> Points:
        codes = points.codes.copy(order="F")
        values = codes[:, self.column] * self.factor + self.shift
        is_whole = points.space.features[self.column].kind == "integer"
        codes[:, self.column] = np.rint(values) if is_whole else values
        return Points(points.space, codes)


def find_moved_column(
    context: CheckContext, budget: CheckBudget, data: JudgedRows, reference: ReferenceRows, drifts: list[Drift]
) -> MovedColumn | None:
    """Return the column after whose move back to the median of the reference the answers fit the labels best.

    The move is found without the labels, so they are free to confirm it. Rows of the reference must be answered worse after the
    same move: otherwise the model has a bias that any such move corrects.
    """
    moves = list(_list_moves(context, reference, drifts))
    if not moves or len(data.rows) < MIN_ROWS or reference.answers is None or reference.labels is None:
        return None
    judge = LabelJudge.from_rows(context, data)
    labels = reference.labels[reference.answer_rows]
    known = judge.codes.encode(labels, ~find_missing_labels(labels))
    old_places = np.flatnonzero(reference.answers.ok & np.isfinite(known))
    cost = SCORE_COST * (len(moves) + 1)
    count = context.count_affordable(
        budget.remaining(0.6), len(data.rows), runs_per_case=cost, calls=2 * len(moves) + 1
    )
    if min(count, len(old_places)) < MIN_ROWS:
        return None
    rng = np.random.default_rng([context.seed, 47])
    rows = np.sort(rng.permutation(len(data.rows))[:count])
    old_places = np.sort(rng.permutation(old_places)[:count])
    old_judge = replace(judge, truth=known)
    old_points = Points(context.space, np.asfortranarray(reference.codes[reference.answer_rows]))
    unmoved = _measure(context, budget, judge, data.points, rows)
    old_unmoved = old_judge.measure(reference.answers.take(old_places), old_places)
    best: MovedColumn | None = None
    for move in moves:
        moved = _measure(context, budget, judge, move.apply(data.points), rows)
        gain = judge.compare(unmoved, moved, rows)
        is_clear = gain.p_value <= SIGNIFICANCE / len(moves) and not judge.has_less_likely_labels(unmoved, moved, rows)
        is_large = gain.reduction.value >= MIN_REDUCTION and gain.reduction.low >= MIN_CERTAIN_REDUCTION
        if not is_clear or not is_large or (best is not None and gain.after >= best.gain.after):
            continue
        old_moved = _measure(context, budget, old_judge, move.apply(old_points), old_places)
        if old_judge.compare(old_moved, old_unmoved, old_places).p_value <= SIGNIFICANCE:
            fixed = data.rows[rows[moved.errors < unmoved.errors]]
            best = MovedColumn(drift=move.drift, text=move.text, gain=gain, count=count, fixed=fixed)
    return best


def _list_moves(context: CheckContext, reference: ReferenceRows, drifts: list[Drift]) -> Iterator[_Move]:
    """Yield the columns of numbers that differ most, each moved back by a sum and by a factor.

    What another concern is about is left out.
    """
    candidates = [drift for drift in drifts if drift.low >= MIN_DISTANCE and drift.is_column]
    candidates = [drift for drift in candidates if drift.name not in context.suspected_columns]
    for drift in sorted(candidates, key=lambda drift: -drift.low)[:MAX_COLUMNS]:
        column = context.space.position(drift.name)
        if context.space.features[column].kind not in ("continuous", "integer"):
            continue
        old, new = (codes[np.isfinite(codes[:, column]), column] for codes in (reference.codes, context.inputs.codes))
        low, middle, high = np.quantile(old, [0.25, 0.5, 0.75]).tolist()
        shift = float(np.median(new)) - middle
        if abs(shift) < MIN_SPREAD_SHARE * (high - low) or not shift:
            continue
        verb = "subtracted from" if shift > 0 else "added to"
        yield _Move(drift=drift, column=column, text=f"{format_rounded(abs(shift))} {verb} {drift.name}", shift=-shift)
        if (old > 0).all() and (new > 0).all():
            factor = float(np.median(new)) / middle
            text = f"{drift.name} divided by {format_rounded(factor)}"
            yield _Move(drift=drift, column=column, text=text, factor=1 / factor)


def _measure(
    context: CheckContext, budget: CheckBudget, judge: LabelJudge, points: Points, rows: npt.NDArray[np.intp]
) -> Losses:
    return judge.measure(run_flow(context, budget, ask(points.take(rows), scores=True), part=0.7), rows)


def build_moved_finding(context: CheckContext, data: JudgedRows, moved: MovedColumn) -> Finding:
    """Return the finding about a column that moved, and mark the rows that it explains."""
    gain, name = moved.gain, moved.drift.name
    mark_explained_rows(context, moved.fixed)
    format_error = format_rounded if data.numeric else format_percent
    noun = "the mean error falls" if data.numeric else "errors fall"
    return Finding(
        **get_facts("drift.moved"),
        about=name,
        title=f"{name} has moved since the reference data, and the labels have not followed: with {moved.text}, {noun} from "
        f"{format_error(gain.before)} to {format_error(gain.after)}",
        detail=f"{name}: {moved.drift.data_text}; in the reference {moved.drift.reference_text}. If it is moved back to the median of the "
        f"reference, the answers to {gain.fixed:,} rows fit their labels better and those to {gain.broken:,} rows worse.",
        columns=(name,),
        **count_rows(gain.fixed, moved.count),
    )
