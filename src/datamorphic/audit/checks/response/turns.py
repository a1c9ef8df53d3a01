"""Find turns: values of a number beyond which answers go one way and the labels of the rows there the other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...check import CheckBudget
from ...context import CheckContext
from ...responses import Numbers, Response, Responses, get_real_answers, query_answers, replace_feature
from .cuts import MIN_LEVEL_JUMP, MIN_NUMBER_JUMP
from .trials import MAX_REAL_ROWS, MAX_ROWS_PER_SIDE, MIN_GAIN, MIN_NUMBER_GAIN, SIGNIFICANCE, compare_answers

MIN_ROWS_BEYOND = 30  # that show which way the labels go
MAX_TURNS = 12  # that are tried, the largest ones
MAX_LABELS = 5  # whose scores are looked at


@dataclass(frozen=True, eq=False, kw_only=True)
class Turn:
    """A value at which the mean answer along a feature turns back."""

    response: Response
    label: int | None  # whose score, or frequency, turns; None for numbers
    value: float
    side: Literal["above", "below"]  # of the value, where the answers turn back
    sign: int  # 1 if answers fall towards that end, -1 if they rise
    size: float  # by how much


@dataclass(frozen=True, eq=False, kw_only=True)
class TurnTrial:
    """Real rows beyond a turn, answered as they are and with the value at the turn."""

    turn: Turn
    rows: npt.NDArray[np.intp]  # among all inputs
    own: Numbers
    moved_answers: Numbers
    truth: Numbers


def find_turns(context: CheckContext, budget: CheckBudget, responses: Responses, truth: Numbers) -> list[TurnTrial]:
    """Return the turns that the labels speak against, at most one for each feature.

    Beyond the turn the labels go the other way, and the answers would be better if the value stayed at the turn.
    """
    turns = [turn for response in responses if response.kind != "categorical" for turn in _list_turns(response)]
    turns = sorted(turns, key=lambda turn: -turn.size)[:MAX_TURNS]
    if not turns:
        return []
    row_numbers, answers = get_real_answers(context, budget, responses, MAX_REAL_ROWS)
    known = ~np.isnan(answers) & ~np.isnan(truth[row_numbers])
    row_numbers, answers = row_numbers[known], answers[known]
    limit = context.count_affordable(budget.remaining(0.5), MAX_ROWS_PER_SIDE, runs_per_case=len(turns))
    rng = np.random.default_rng([context.seed, 733])
    trials: list[TurnTrial] = []
    for turn in turns:
        values = context.inputs.codes[row_numbers, turn.response.column]
        beyond = np.flatnonzero(values > turn.value if turn.side == "above" else values < turn.value)
        own, labels = (_select(numbers, turn.label) for numbers in (answers[beyond], truth[row_numbers[beyond]]))
        way = turn.sign if turn.side == "above" else -turn.sign  # 1 if answers fall as the value rises
        if len(beyond) < MIN_ROWS_BEYOND or not (
            _is_monotone(values[beyond], own, -way, len(turns))
            and _is_monotone(values[beyond], labels, way, len(turns))
        ):
            continue
        chosen = rng.permutation(beyond)[:limit]
        points = context.inputs.take(row_numbers[chosen])
        moved = replace_feature(points, turn.response.column, np.array([turn.value]))
        moved_answers, _ = query_answers(context, budget, responses.codes, moved)
        trial = TurnTrial(
            turn=turn,
            rows=row_numbers[chosen],
            own=answers[chosen],
            moved_answers=moved_answers,
            truth=truth[row_numbers[chosen]],
        )
        if _is_refuted(trial, len(turns)) and turn.response.feature not in {
            other.turn.response.feature for other in trials
        }:
            trials.append(trial)
    return trials


def _list_turns(response: Response) -> list[Turn]:
    """Return the values at which the mean answer, or the mean score of a label, is largest or smallest within a range."""
    turns = []
    label_count = 0 if response.levels is None else response.levels.shape[2]
    labels: Sequence[int | None] = [None] if response.numeric else range(min(label_count, MAX_LABELS))
    for label in labels:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a value without any answer
            curve = np.nanmean(response.get_curve(label), axis=0)
        if len(curve) < 3 or np.isnan(curve).any():
            continue
        least = MIN_NUMBER_JUMP * float(np.nanstd(response.own_answers)) if response.numeric else MIN_LEVEL_JUMP
        for sign in (1, -1):
            top = int((sign * curve).argmax())
            for side, end in (("below", 0), ("above", len(curve) - 1)):
                size = sign * float(curve[top] - curve[end])
                if 0 < top < len(curve) - 1 and size >= least > 0:
                    turns.append(
                        Turn(
                            response=response,
                            label=label,
                            value=float(response.values[top]),
                            side="below" if side == "below" else "above",
                            sign=sign,
                            size=size / least,
                        )
                    )
    return turns


def _select(numbers: Numbers, label: int | None) -> Numbers:
    return numbers if label is None else (numbers == label).astype(np.float64)


def _is_monotone(values: Numbers, numbers: Numbers, sign: int, trial_count: int) -> bool:
    """Tell whether numbers rise (1) or fall (-1) with the values, by their ranks."""
    from scipy import stats

    if np.ptp(values) == 0 or np.ptp(numbers) == 0:
        return False
    correlation, p_value = stats.spearmanr(values, numbers)
    return bool(correlation * sign > 0 and p_value < SIGNIFICANCE / trial_count)


def _is_refuted(trial: TurnTrial, trial_count: int) -> bool:
    numeric = trial.turn.response.numeric
    known = ~np.isnan(trial.moved_answers)
    gain, _, _, p_value, _ = compare_answers(
        trial.own[known], trial.moved_answers[known], trial.truth[known], numeric=numeric
    )
    return gain >= (MIN_NUMBER_GAIN if numeric else MIN_GAIN) and p_value < SIGNIFICANCE / trial_count
