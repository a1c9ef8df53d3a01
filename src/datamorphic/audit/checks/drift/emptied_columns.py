"""Columns that were nearly complete in the reference, are mostly missing now, and matter to the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._text import format_percent, format_short
from ....core.result import Finding, count_rows
from ....runs.flow import ask
from ....space.points import Points
from ...check import CheckBudget, get_facts, run_flow
from ...context import CheckContext
from ...responses import AnswerCodes
from .reference_rows import ReferenceRows

MIN_MISSING_SHARE = 0.5  # of the rows of the data
MAX_REFERENCE_SHARE = 0.25  # of the rows of the reference
MAX_QUERIED_ROWS = 300  # of the reference, without the value
MIN_QUERIED_ROWS = 30
MAX_COLUMNS = 4
#: Of the answers to rows of the reference, those that change without the value; of numbers, the mean change in standard deviations.
MIN_EFFECT = 0.05


@dataclass(frozen=True, kw_only=True)
class EmptiedColumn:
    """A column that is mostly missing now."""

    name: str
    count: int
    share: float
    reference_share: float
    effect: float  # of leaving the value out, on rows of the reference
    rows: int  # that were queried


def find_emptied_columns(context: CheckContext, budget: CheckBudget, reference: ReferenceRows) -> list[EmptiedColumn]:
    """Return the columns that are mostly missing now, and without which the model answers otherwise."""
    missing, missing_before = np.isnan(context.inputs.codes), np.isnan(reference.codes)
    shares, shares_before = missing.mean(axis=0), missing_before.mean(axis=0)
    columns = [
        column
        for column in context.space.scalars
        if shares[column] >= MIN_MISSING_SHARE and shares_before[column] <= MAX_REFERENCE_SHARE
    ]
    emptied = []
    for column in columns[:MAX_COLUMNS]:
        measured = _measure_effect(context, budget, reference, column)
        if measured is not None and measured[0] >= MIN_EFFECT:
            emptied.append(
                EmptiedColumn(
                    name=context.space.names[column],
                    count=int(missing[:, column].sum()),
                    share=float(shares[column]),
                    reference_share=float(shares_before[column]),
                    effect=measured[0],
                    rows=measured[1],
                )
            )
    return emptied


def _measure_effect(
    context: CheckContext, budget: CheckBudget, reference: ReferenceRows, column: int
) -> tuple[float, int] | None:
    """Return how much the answers to rows of the reference change without a value, and how many rows were queried."""
    if reference.answers is None:
        return None
    codes = reference.codes[reference.answer_rows]
    usable = np.flatnonzero(reference.answers.ok & ~np.isnan(codes[:, column]))[:MAX_QUERIED_ROWS]
    if len(usable) < MIN_QUERIED_ROWS:
        return None
    codes = np.asfortranarray(codes[usable])
    codes[:, column] = np.nan
    outputs = run_flow(context, budget, ask(Points(context.space, codes)), part=0.3)
    answers = AnswerCodes(context.has_numeric_answers, context.sut.labels)
    own = answers.encode(reference.answers.values[usable])[outputs.ok]
    other = answers.encode(outputs.values, outputs.ok)[outputs.ok]
    if len(own) < MIN_QUERIED_ROWS:
        return None
    if context.has_numeric_answers:
        return float(np.abs(own - other).mean() / max(float(own.std()), 1e-12)), len(own)
    return float((own != other).mean()), len(own)


def build_emptied_finding(context: CheckContext, column: EmptiedColumn) -> Finding:
    """Return the finding about a column that is mostly missing now."""
    effect = f"{format_percent(column.effect)} of them get another answer"
    if context.has_numeric_answers:
        effect = f"the answer changes by {format_short(float(f'{column.effect:.2g}'))} standard deviations on average"
    return Finding(
        **get_facts("drift.emptied"),
        about=column.name,
        title=f"{column.name} is missing in {format_percent(column.share)} of the rows, in the reference data in "
        f"{format_percent(column.reference_share)}, and the model depends on it",
        detail=f"{column.rows:,} rows of the reference were queried without {column.name}: {effect}.",
        columns=(column.name,),
        **count_rows(column.count, len(context.inputs)),
    )
