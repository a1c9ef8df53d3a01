"""Find single values, such as -999 for a missing one, that are answered unlike the values around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._text import format_percent, pluralise
from ....core.result import Level
from ....space.features import Codes, Mask
from ....space.points import Points
from ...check import CheckBudget
from ...context import CheckContext
from ...responses import Numbers, Response, Responses, query_answers, replace_feature
from .cuts import find_jumps
from .trials import MAX_ROWS_PER_SIDE, MIN_GAIN, MIN_NUMBER_GAIN, MIN_ROWS_TO_JUDGE, compare_answers

SIGNIFICANCE_OF_VALUE = 0.05  # of the labels against a single value; that the value stands alone is evidence too
SENTINELS = (-9999.0, -999.0, -99.0, -9.0, -1.0, 0.0, 9.0, 99.0, 999.0, 9999.0, 99999.0)
MAX_FREQUENT_VALUES = 3
MIN_FREQUENT_ROWS = 5
MIN_LEARNABLE_ROWS = 5  # with one value: from fewer, no learner learns a rule for it
NEIGHBOUR_SHARE = 1e-3  # of the range: the distance of neighbours from a single value
MAX_SCREEN_ROWS = 60  # that look for single values, drawn evenly from the answers
MIN_VALUE_ROWS = 3
MIN_VALUE_SHARE = 0.05  # of the rows that a single value changes
MAX_RESTLESS_SHARE = 0.25  # of as many rows, the answers to both neighbours may differ
SEED = 731  # of the draw of rows


@dataclass(frozen=True, eq=False, kw_only=True)
class SingleValue:
    """A value that is answered unlike both of its close neighbours, which agree with each other."""

    response: Response
    neighbours: tuple[float, float]
    value: float
    answers: Numbers  # rows of the sample by (lower neighbour, value, upper neighbour)
    alone: Mask  # rows of the sample for which only the value differs
    data_rows: npt.NDArray[np.intp]  # among all inputs, that have the value

    @property
    def feature(self) -> str:
        """The name of the feature."""
        return self.response.feature


def _list_special_values(context: CheckContext, response: Response) -> Codes:
    """Return values that may have a rule of their own; none of a date, whose days differ by week and season."""
    if any(column.name == response.feature for column in context.date_columns):
        return np.empty(0)
    own_values = context.inputs.codes[:, response.column]
    values, counts = np.unique(own_values[~np.isnan(own_values)], return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MAX_FREQUENT_VALUES]
    frequent = values[order][counts[order] >= MIN_FREQUENT_ROWS]
    return np.unique(np.concatenate([SENTINELS, frequent]))


def _find_distance(response: Response) -> float:
    """Return the distance of the neighbours of a single value."""
    return 1.0 if response.kind == "integer" else NEIGHBOUR_SHARE * (float(np.ptp(response.values)) or 1.0)


def _draw_evenly(responses: Responses, limit: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return rows of the sample with all answers equally often, as far as possible."""
    rows = rng.permutation(len(responses.inputs))
    if responses.numeric:
        return rows[:limit]
    answers = responses.own_answers[rows]
    ranks = np.zeros(len(rows), dtype=np.intp)
    for answer in np.unique(answers[~np.isnan(answers)]):
        members = np.flatnonzero(answers == answer)
        ranks[members] = np.arange(len(members))
    return rows[np.argsort(ranks, kind="stable")[:limit]]


def find_single_values(context: CheckContext, budget: CheckBudget, responses: Responses) -> list[SingleValue]:
    """Return the values, among usual sentinels and frequent ones, that are answered unlike their close neighbours."""
    numbers = [response for response in responses if response.kind != "categorical"]
    if not numbers:
        return []
    values = [_list_special_values(context, response) for response in numbers]
    width = 2 * sum(map(len, values))
    limit = context.count_affordable(
        budget.remaining(0.4), MAX_SCREEN_ROWS, runs_per_case=width, minimum=MIN_ROWS_TO_JUDGE
    )
    rows = _draw_evenly(responses, limit, np.random.default_rng([context.seed, SEED]))
    inputs = responses.inputs.take(rows)
    parts = []
    for response, special in zip(numbers, values, strict=True):
        pairs = np.column_stack([special, special + _find_distance(response)]).ravel()
        parts.append(replace_feature(inputs, response.column, pairs))
    answers, _ = query_answers(context, budget, responses.codes, Points.concat(parts))
    candidates: list[tuple[Response, float]] = []
    start = 0
    for response, special, part in zip(numbers, values, parts, strict=True):
        grid = answers[start : start + len(part)].reshape(len(inputs), len(special), 2)
        start += len(part)
        counts = find_jumps(response, grid[:, :, 0], grid[:, :, 1], None).sum(axis=0)
        candidates += [
            (response, float(value))
            for value, count in zip(special.tolist(), counts.tolist(), strict=True)
            if count >= max(MIN_VALUE_ROWS, MIN_VALUE_SHARE * len(inputs))
        ]
    return _confirm_single_values(context, budget, responses, candidates)


def _confirm_single_values(
    context: CheckContext, budget: CheckBudget, responses: Responses, candidates: Sequence[tuple[Response, float]]
) -> list[SingleValue]:
    """Return the candidates that both neighbours disagree with, for enough rows of the sample."""
    if not candidates:
        return []
    parts, triples = [], []
    for response, value in candidates:
        distance = _find_distance(response)
        triples.append((value - distance, value, value + distance))
        parts.append(replace_feature(responses.inputs, response.column, np.array(triples[-1])))
    answers, _ = query_answers(context, budget, responses.codes, Points.concat(parts))
    grid = answers.reshape(len(candidates), len(responses.inputs), 3)
    single_values = []
    for i, (response, value) in enumerate(candidates):
        lower, own, upper = grid[i, :, 0], grid[i, :, 1], grid[i, :, 2]
        restless = find_jumps(response, lower, upper, None)
        alone = find_jumps(response, lower, own, None) & find_jumps(response, own, upper, None) & ~restless
        if alone.sum() < max(MIN_VALUE_ROWS, MIN_VALUE_SHARE * len(alone)):
            continue
        if restless.sum() > MAX_RESTLESS_SHARE * alone.sum():
            continue  # the answer changes between any two values
        single_values.append(
            SingleValue(
                response=response,
                neighbours=(triples[i][0], triples[i][2]),
                value=value,
                answers=grid[i],
                alone=alone,
                data_rows=np.flatnonzero(context.inputs.codes[:, response.column] == value),
            )
        )
    return single_values


def judge_single_value(
    context: CheckContext, budget: CheckBudget, responses: Responses, single: SingleValue, truth: Numbers | None
) -> tuple[Level | None, str]:
    """Return the level of a single value, None if the data support it, and what the data say about it."""
    rows = single.data_rows
    if len(rows) < MIN_LEARNABLE_ROWS:
        have = f"only {pluralise(len(rows), 'row')} of the data {'has' if len(rows) == 1 else 'have'}"
        if not len(rows):
            have = "no row of the data has"
        return "concern", f"It cannot have been learned: {have} this value."
    known = rows if truth is None else rows[~np.isnan(truth[rows])]
    if truth is None or len(known) < MIN_LEARNABLE_ROWS:
        return "advice", f"{pluralise(len(rows), 'row')} of the data have this value, without labels to compare with."
    points = context.inputs.take(known[:MAX_ROWS_PER_SIDE])
    codes = points.codes.copy()
    codes[:, single.response.column] = single.neighbours[1]
    answers, _ = query_answers(context, budget, responses.codes, Points.concat([points, Points(points.space, codes)]))
    own, moved_answers = answers[: len(points)], answers[len(points) :]
    gain, _, _, p_value, _ = compare_answers(
        own, moved_answers, truth[known[:MAX_ROWS_PER_SIDE]], numeric=responses.numeric
    )
    if gain < (MIN_NUMBER_GAIN if responses.numeric else MIN_GAIN) or p_value >= SIGNIFICANCE_OF_VALUE:
        return None, ""
    labels = truth[known[:MAX_ROWS_PER_SIDE]]
    instead = "with the next value instead"
    if responses.numeric:
        errors = [float(np.abs(answers - labels).mean()) for answers in (own, moved_answers)]
        text = f"the mean error of those that have it is {errors[0]:.3g}, and would be {errors[1]:.3g} {instead}"
    else:
        shares = [format_percent(float((answers == labels).mean())) for answers in (own, moved_answers)]
        text = (
            f"of those that have it, {shares[0]} are answered as they are labelled, and {shares[1]} would be {instead}"
        )
    return "concern", f"Rows of the data have this value, and the labels speak against it: {text}."
