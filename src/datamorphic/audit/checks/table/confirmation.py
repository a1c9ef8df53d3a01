"""Doubts about a column that queries of the model settle: texts that it does not read as numbers, and values in another unit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...._lazy import pd
from ...._text import format_percent, format_rounded
from ....core.result import Finding
from ....errors import OutOfBudget, SystemFailed
from ....runs.flow import ask
from ....space.outputs import Outputs
from ....space.points import Rows
from ...check import CheckBudget, run_flow
from ...context import SCORE_COST, CheckContext
from ...labels import find_missing_labels
from ...responses import RELATIVE_ROUNDING, AnswerCodes
from ...rivals import mark_explained_rows
from ..repairs.judge import LabelJudge
from .profile import Doubt, TableProfile

MAX_TEXT_ROWS = 100  # whose texts are exchanged
MIN_TEXT_ROWS = 10
MIN_CHANGED_SHARE = 0.2  # of the rows with another answer or score, if their texts are given as numbers
MAX_UNIT_ROWS = 1_000
MIN_UNIT_ROWS = 20
SIGNIFICANCE = 0.005  # of the answers that fit the labels better in the usual unit
MIN_REDUCTION = 0.1  # of their errors


def confirm_doubts(
    context: CheckContext, budget: CheckBudget, table: TableProfile, findings: list[Finding]
) -> list[Finding]:
    """Return the findings, with advice as a concern where queries of the model confirm it."""
    confirmed = {id(doubt.finding): finding for doubt in table.doubts for finding in _confirm(context, budget, doubt)}
    return [confirmed.get(id(finding), finding) for finding in findings]


def _confirm(context: CheckContext, budget: CheckBudget, doubt: Doubt) -> Iterator[Finding]:
    """Yield the finding as a concern, if the model confirms it."""
    if doubt.column.name not in context.space.names or budget.spent:
        return
    confirm = _describe_unread_texts if doubt.column.is_text else _describe_better_unit
    evidence = ""
    with suppress(OutOfBudget, SystemFailed):  # it stays advice
        evidence = confirm(context, budget, doubt)
    if evidence:
        mark_explained_rows(context, np.flatnonzero(doubt.rows))
        yield replace(doubt.finding, level="concern", title=doubt.title, detail=f"{doubt.finding.detail} {evidence}")


def _describe_unread_texts(context: CheckContext, budget: CheckBudget, doubt: Doubt) -> str:
    """Return what shows that all texts are the same to the model, and the numbers are not; an empty text if nothing does."""
    name = doubt.column.name
    rows = _choose_rows(context, budget, doubt, MAX_TEXT_ROWS, queries=3)
    if len(rows) < MIN_TEXT_ROWS:
        return ""
    texts = doubt.column.values[doubt.column.codes[rows]]
    own = _query(context, budget, rows)
    others = np.roll(texts, len(texts) // 2)
    if _find_changed(context, own, _query(context, budget, rows, {name: others}))[others != texts].any():
        return ""
    changed = _find_changed(context, own, _query(context, budget, rows, {name: doubt.numbers[rows]}))
    if changed.mean() < MIN_CHANGED_SHARE:
        return ""
    return (
        f"The model does not read them: none of {len(rows):,} rows gets another answer or score with the text of another row, and "
        f"{format_percent(float(changed.mean()))} do with the number instead of the text."
    )


def _describe_better_unit(context: CheckContext, budget: CheckBudget, doubt: Doubt) -> str:
    """Return by how much the answers fit the labels better in the usual unit; an empty text if they do not clearly."""
    if context.truth is None or context.answers is None or context.has_unmatched_labels:
        return ""
    known = doubt.rows & ~find_missing_labels(context.truth)[: len(doubt.rows)]
    rows = _choose_rows(context, budget, replace(doubt, rows=known), MAX_UNIT_ROWS, queries=2)
    if len(rows) < MIN_UNIT_ROWS:
        return ""
    numeric = context.has_numeric_answers
    codes = AnswerCodes(numeric, context.sut.labels)
    has_probabilities = not numeric and context.sut.score_kind == "probability" and context.sut.labels is not None
    judge = LabelJudge(
        codes=codes, truth=codes.encode(context.truth[rows]), numeric=numeric, has_probabilities=has_probabilities
    )
    places = np.arange(len(rows))
    old = judge.measure(_query(context, budget, rows), places)
    new = judge.measure(_query(context, budget, rows, {doubt.column.name: doubt.numbers[rows]}), places)
    gain = judge.compare(old, new, places)
    is_clear = gain.p_value <= SIGNIFICANCE and not judge.has_less_likely_labels(old, new, places)
    if not is_clear or gain.reduction.value < MIN_REDUCTION or gain.reduction.low <= 0:
        return ""
    before, after = (format_rounded(value) if numeric else format_percent(value) for value in (gain.before, gain.after))
    return f"In the unit of the others, the answers to these rows fit their labels better: the error falls from {before} to {after}."


def _choose_rows(
    context: CheckContext, budget: CheckBudget, doubt: Doubt, limit: int, queries: int
) -> npt.NDArray[np.intp]:
    """Return rows of a doubt, as many as some queries of each can be afforded."""
    rows = np.random.default_rng([context.seed, 49]).permutation(np.flatnonzero(doubt.rows))
    if not len(rows):
        return rows
    cost = SCORE_COST * queries
    count = context.count_affordable(budget.remaining(), min(limit, len(rows)), runs_per_case=cost, calls=queries)
    return np.sort(rows[:count])


def _query(
    context: CheckContext,
    budget: CheckBudget,
    rows: npt.NDArray[np.intp],
    changed: dict[str, npt.NDArray[np.generic]] | None = None,
) -> Outputs:
    """Return the answers to some inputs, with other values of a column."""
    frame = context.inputs.take(rows).frame.reset_index(drop=True)
    for name, values in (changed or {}).items():
        frame[name] = pd.Series(list(values))
    return run_flow(context, budget, ask(Rows(frame), scores=True, fresh=True), part=0.5)


def _find_changed(context: CheckContext, own: Outputs, other: Outputs) -> npt.NDArray[np.bool_]:
    """Return which rows have another answer or, beyond rounding, another score; a row without an answer has none."""
    codes = AnswerCodes(context.has_numeric_answers, context.sut.labels)
    before, after = codes.encode(own.values, own.ok), codes.encode(other.values, other.ok)
    changed = np.abs(before - after) > (RELATIVE_ROUNDING * np.nanstd(before) if context.has_numeric_answers else 0)
    if own.scores is not None and other.scores is not None:
        changed |= (np.abs(own.scores - other.scores) > RELATIVE_ROUNDING).any(axis=1)
    return np.asarray(changed & own.ok & other.ok)
