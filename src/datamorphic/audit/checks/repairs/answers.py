"""Changes of the answers: classes renamed, a threshold moved, answers of other rows, another scale of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ...._text import format_short
from ...conditions import RowCondition
from ...context import CheckContext
from ...judged_rows import JudgedRows
from .changes import (
    FITTED,
    NO_CHANGE,
    PLAIN,
    UNUSUAL,
    USUAL,
    ColumnChange,
    RowNumbers,
    format_shift,
    make_product,
    make_sum,
    read_units,
)
from .judge import LabelJudge

Floats = npt.NDArray[np.float64]

THRESHOLDS = tuple(round(0.05 * step, 2) for step in range(1, 20))
ROW_SHIFTS = (1, -1, 2, -2)
MAX_SWAPPED_CLASSES = 6
MIN_USUAL_THRESHOLD_SHARE = 0.99  # of the answers that are the more probable class: then no threshold was moved
MIN_FITTED_FACTOR_CHANGE = 0.05
MIN_GROUP_ROWS = 30  # for a factor that is fitted to a group


def _make_change(text: str, implausibility: int = USUAL) -> ColumnChange:
    return replace(NO_CHANGE, text=text, implausibility=implausibility)


def list_answer_losses(
    context: CheckContext, data: JudgedRows, judge: LabelJudge, search_rows: RowNumbers, conditions: list[RowCondition]
) -> dict[ColumnChange, Floats]:
    """Return changes of the answers, with the losses of all judged rows after each of them."""
    assert context.answers is not None
    answers = judge.codes.encode(context.answers.values, context.answers.ok)
    own = answers[data.answer_rows]
    losses = dict(_shift_rows(context, data, judge, answers))
    if judge.numeric:
        losses |= dict(_change_numbers(own, judge.truth, search_rows, conditions))
    else:
        losses |= dict(_rename_classes(own, judge, search_rows))
        losses |= dict(_move_threshold(context, data, judge, own))
    return losses


def _shift_rows(
    context: CheckContext, data: JudgedRows, judge: LabelJudge, answers: Floats
) -> Iterator[tuple[ColumnChange, Floats]]:
    """Yield the answers of rows before and after, if all rows were queried."""
    count = len(context.inputs)
    if context.query_rows is None or len(context.query_rows) != count:
        return
    by_row = np.empty(count)
    by_row[context.query_rows] = answers
    for step in ROW_SHIFTS:
        shifted = by_row[(data.rows + step) % count]
        losses = np.abs(shifted - judge.truth) if judge.numeric else (shifted != judge.truth).astype(np.float64)
        rows = "row" if abs(step) == 1 else f"{abs(step)} rows"
        yield _make_change(f"the answer of the {rows} {'after' if step > 0 else 'before'} it", PLAIN), losses


def _rename_classes(own: Floats, judge: LabelJudge, search_rows: RowNumbers) -> Iterator[tuple[ColumnChange, Floats]]:
    """Yield classes that are swapped, and the renaming of all classes that fits the labels best."""
    from scipy.optimize import linear_sum_assignment

    labels = judge.codes.labels
    size = len(labels)
    if size < 2 or len(np.unique(own[~np.isnan(own)])) < 2:
        return
    known = search_rows[~np.isnan(own[search_rows]) & ~np.isnan(judge.truth[search_rows])]
    counts = np.zeros((size, size))
    np.add.at(counts, (own[known].astype(int), judge.truth[known].astype(int)), 1)

    def rename(order: npt.NDArray[np.intp]) -> Floats:
        places = np.where(np.isnan(own), 0, own).astype(int)
        renamed = np.where(np.isnan(own), np.nan, order[places])
        return np.asarray(renamed != judge.truth, dtype=np.float64)

    frequent = np.argsort(-counts.sum(axis=1), kind="stable")[:MAX_SWAPPED_CLASSES].tolist()
    usual = counts.argmax(axis=1)  # the most frequent label of the rows with each answer
    for first, second in combinations(range(size), 2):
        is_renaming = usual[first] == second and usual[second] == first
        if is_renaming or {first, second} <= set(frequent):
            order = np.arange(size)
            order[[first, second]] = second, first
            change = _make_change(f"the answers {labels[first]} and {labels[second]} swapped", PLAIN)
            yield replace(change, is_renaming=is_renaming), rename(order)
    order = linear_sum_assignment(counts, maximize=True)[1]
    moved = np.flatnonzero(order != np.arange(size))
    if len(moved) > 2:
        pairs = ", ".join(f"{labels[place]} as {labels[order[place]]}" for place in moved.tolist())
        is_renaming = bool((usual[moved] == order[moved]).all())
        yield replace(_make_change(f"the classes renamed ({pairs})"), is_renaming=is_renaming), rename(order)


def _move_threshold(
    context: CheckContext, data: JudgedRows, judge: LabelJudge, own_answers: Floats
) -> Iterator[tuple[ColumnChange, Floats]]:
    """Yield the answers of two classes by other thresholds of the probability, unless the more probable class is answered."""
    classes = context.sut.labels
    if context.probabilities is None or context.score_rows is None or classes is None or len(classes) != 2:
        return
    if context.probabilities.shape[1] != 2:
        return
    probabilities = np.full(len(context.inputs), np.nan)
    probabilities[context.score_rows] = context.probabilities[:, 1]
    own = probabilities[data.rows]
    if np.isnan(own).any():
        return
    first, second = judge.codes.encode(list(classes))
    if np.mean(np.where(own >= 0.5, second, first) == own_answers) >= MIN_USUAL_THRESHOLD_SHARE:
        return
    for threshold in THRESHOLDS:
        answers = np.where(own >= threshold, second, first)
        text = f"{judge.codes.labels[int(second)]} answered from a probability of {threshold:g} on"
        implausibility = PLAIN if threshold == 0.5 else FITTED
        yield _make_change(text, implausibility), np.asarray(answers != judge.truth, dtype=np.float64)


def _change_numbers(
    own: Floats, truth: Floats, search_rows: RowNumbers, conditions: list[RowCondition]
) -> Iterator[tuple[ColumnChange, Floats]]:
    """Yield answers in other units, shifted, turned round, or on another scale."""
    if np.isnan(own).any():
        return

    def build(
        text: str, function: Callable[[Floats], Floats], implausibility: int
    ) -> Iterator[tuple[ColumnChange, Floats]]:
        with np.errstate(all="ignore"):
            losses = np.abs(function(own) - truth)
        if np.isfinite(losses).all():
            yield _make_change(text, implausibility), losses

    for unit in read_units():
        for verb, factor in (("multiplied", unit.factor), ("divided", 1 / unit.factor)):
            text = f"the answer {verb} by {format_short(unit.factor)} ({unit.text})"
            yield from build(text, make_product(factor), PLAIN)
    yield from build("the answer multiplied by -1", np.negative, PLAIN)
    yield from build("the exponential of the answer", np.exp, USUAL)
    yield from build("exp(answer) - 1", np.expm1, USUAL)
    yield from build("10 to the power of the answer", lambda x: 10**x, UNUSUAL)
    yield from build("the logarithm of the answer", np.log, USUAL)
    yield from build("log(1 + answer)", np.log1p, USUAL)
    yield from build("the square of the answer", np.square, UNUSUAL)
    everywhere = np.ones(len(own), dtype=bool)
    masks = [everywhere, *(condition.inside for condition in conditions)]
    factors, shifts = set(), set()
    for inside in masks:
        rows = search_rows[inside[search_rows]]
        if len(rows) < MIN_GROUP_ROWS:
            continue
        middle = float(np.median(own[rows]))
        if middle != 0:
            factors.add(float(f"{np.median(truth[rows]) / middle:.2g}"))
        shifts.add(float(f"{np.median(truth[rows] - own[rows]):.2g}"))
    for factor in sorted(factors):
        if abs(factor - 1) > MIN_FITTED_FACTOR_CHANGE and factor > 0:
            yield from build(f"the answer multiplied by about {format_short(factor)}", make_product(factor), FITTED)
    for shift in sorted(shifts):
        if shift:
            yield from build(f"the answer {format_shift(shift)}, about", make_sum(shift), FITTED)
