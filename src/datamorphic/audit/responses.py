"""Responses: the answers to a sample of real rows as one feature after the other takes all its values.

Several checks look at the same sweeps, so that they are measured once and kept in the context::

    responses = measure_responses(context, budget)
    glucose = responses["glucose"]
    glucose.values           # ascending: quantiles and bounds of a number, the codes of all categories
    glucose.answers          # rows by values: codes of labels (names in `responses.labels`), or numbers; NaN: no answer
    glucose.levels           # rows by values by classes: between 0 and 1; None if the system has no scores
    glucose.changed          # rows whose answer some value changes
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._text import format_short
from ..core.result import Example
from ..errors import BudgetSpent, OutOfBudget
from ..runs.flow import Flow, Query
from ..space.features import Codes, FeatureKind, Mask
from ..space.outputs import Outputs
from ..space.points import Points
from .case_text import AnsweredCase, build_example, extract_case
from .check import CheckBudget, run_flow
from .context import SCORE_COST, CheckContext, round_down
from .labels import to_label_texts

MAX_ROWS = 200  # shares of rows are then known to 7 points
MIN_ROWS_FOR_FINE_VALUES = 100  # with fewer affordable rows, each gets fewer values
MIN_ROWS = 10
FIRST_ROWS = 20  # queried first, to see how many more the budget allows
FINE_QUANTILES = 21  # of a number: a twentieth of the rows lies between two of them
COARSE_QUANTILES = 11
EVEN_VALUES = 6  # of a number, evenly spaced between the bounds: long tails have few quantiles
MAX_CATEGORIES = 50
MAX_ROWS_PER_QUERY = 5_000  # the budget is checked between queries
SHARE_OF_BUDGET = 0.6  # of the check that asks first; it needs the rest for its own queries
RELATIVE_ROUNDING = 1e-6  # of the spread of scores and numbers: smaller differences are rounding errors of float32
MIN_DIRECTION_SHARE = 0.99  # of the rows along which the answer moves in one direction only

Numbers = npt.NDArray[np.float64]


class AnswerCodes:
    """Turns answers to numbers that can be compared: labels to codes, numbers to themselves."""

    def __init__(self, numeric: bool, labels: Sequence[Any] | None = None) -> None:
        self.numeric = numeric
        self._code_of_label: dict[str, int] = {}  # the classes of the system first, in their order
        for label in () if numeric or labels is None else labels:
            self.encode([label])

    def encode(self, values: npt.ArrayLike, ok: Mask | None = None) -> Numbers:
        """Return the codes of labels, or the numbers; NaN where `ok` is False.

        Labels are compared as text, since files turn numbers into text; True equals 1, and 1.0 equals 1.
        """
        array = np.asarray(values)
        ok = np.ones(len(array), dtype=bool) if ok is None else ok
        codes = np.full(len(array), np.nan)
        if self.numeric:
            with contextlib.suppress(TypeError, ValueError):  # then nothing can be compared
                codes[ok] = array[ok].astype(np.float64)
            return codes
        known = array[ok].astype(np.int64) if array.dtype.kind == "b" else array[ok]
        places, unique_values = pd.factorize(np.asarray(known, dtype=object), use_na_sentinel=False)
        numbers = [self._find_code(text) for text in to_label_texts(unique_values).tolist()]
        codes[ok] = np.asarray(numbers, dtype=np.float64)[places] if numbers else codes[ok]
        return codes

    @property
    def labels(self) -> list[str]:
        """The labels as text, by code."""
        return list(self._code_of_label)

    def _find_code(self, text: str) -> int:
        if {"0", "1"} & self._code_of_label.keys():
            text = {"True": "1", "False": "0"}.get(text, text)
        return self._code_of_label.setdefault(text, len(self._code_of_label))


@dataclass(frozen=True, eq=False, kw_only=True)
class Direction:
    """A direction in which the answer moves along a feature, for nearly all rows."""

    feature: str
    sign: int  # 1 if the answer, or the score of `towards`, rises with the feature
    towards: Any  # the label whose score moves; None for numbers
    rows: int  # that move in this direction only
    of: int  # rows that move at all
    size: float  # the median difference between the ends: of the number, or of the score between 0 and 1

    @property
    def way(self) -> str:
        """The direction as expectations name it."""
        return "up" if self.sign > 0 else "down"


@dataclass(frozen=True, eq=False, kw_only=True)
class Response:
    """The answers to the sampled rows as one feature takes all its values."""

    feature: str
    column: int  # the position of the feature
    kind: FeatureKind
    values: Codes  # ascending
    answers: Numbers  # rows by values: codes of labels, or numbers; NaN where there is no answer
    scores: Numbers | None  # rows by values by columns of scores, as the system gives them
    levels: Numbers | None  # rows by values by classes, between 0 and 1
    own_answers: Numbers  # of the rows as they are
    own_scores: Numbers | None
    numeric: bool  # whether answers are numbers

    @cached_property
    def answered(self) -> Mask:
        """Which combinations have an answer."""
        return ~np.isnan(self.answers)

    @cached_property
    def rounding(self) -> float:
        """The largest difference of numbers that is a rounding error; 0 for labels."""
        return RELATIVE_ROUNDING * _measure_spread(self.own_answers) if self.numeric else 0.0

    @cached_property
    def differs(self) -> Mask:
        """Rows by values: whether the answer differs from the answer to the row as it is."""
        differences: Numbers = np.abs(self.answers - self.own_answers[:, None])
        return np.greater(differences, self.rounding)  # False for NaN

    @cached_property
    def changed(self) -> Mask:
        """Which rows get another answer for some value of the feature."""
        return np.asarray(self.differs.any(axis=1))

    @cached_property
    def score_changed(self) -> Mask:
        """Which rows get another score, or another answer, for some value of the feature."""
        if self.scores is None or self.own_scores is None:
            return self.changed
        tolerance = RELATIVE_ROUNDING * max(_measure_spread(self.own_scores), 1e-3)
        moved = np.abs(self.scores - self.own_scores[:, None, :]) > tolerance
        return self.changed | moved.any(axis=(1, 2))

    @cached_property
    def steps(self) -> Mask:
        """Rows by steps from one value to the next: whether the answer changes."""
        return np.abs(np.diff(self.answers, axis=1)) > self.rounding

    @cached_property
    def score_steps(self) -> Mask:
        """Rows by steps from one value to the next: whether the score changes or, without scores, the answer."""
        if self.scores is None:
            return self.steps
        moves = np.abs(np.diff(self.scores, axis=1)) > RELATIVE_ROUNDING * _measure_spread(self.scores)
        return np.asarray(moves.any(axis=2))

    def get_curve(self, label: int | None = None) -> Numbers:
        """Return rows by values: the number, or the score of a label, or whether it is the answer if there are no scores."""
        if self.numeric or label is None:
            return self.answers
        if self.levels is not None and label < self.levels.shape[2]:
            return self.levels[:, :, label]
        return np.where(self.answered, self.answers == label, np.nan).astype(np.float64)

    def find_flat_ends(self) -> tuple[float | None, float | None]:
        """Return the values of a number below and above which no score changes for any row; None for none."""
        if self.kind == "categorical" or len(self.values) < 3:
            return None, None
        moving_steps = np.flatnonzero(self.score_steps.any(axis=0))
        if not len(moving_steps):
            return None, None
        first, last = int(moving_steps[0]), int(moving_steps[-1]) + 1
        return (
            float(self.values[first]) if first > 0 else None,
            float(self.values[last]) if last < len(self.values) - 1 else None,
        )

    def find_direction(self, label: int | None = None, towards: Any = None) -> Direction | None:
        """Return the direction in which nearly all rows move along a number, or None.

        Without scores, it is the direction in which the answer changes to the label; at least half of the rows must move.
        """
        if self.kind == "categorical" or len(self.values) < 3:
            return None
        curve = self.get_curve(label)
        tolerance = RELATIVE_ROUNDING * max(_measure_spread(curve), 1e-9)
        moves = np.diff(curve, axis=1)
        known = ~np.isnan(moves).any(axis=1)
        up, down = (moves > tolerance).any(axis=1) & known, (moves < -tolerance).any(axis=1) & known
        moving = int((up | down).sum())
        sign = 1 if (up & ~down).sum() >= (down & ~up).sum() else -1
        agreeing = (up & ~down) if sign > 0 else (down & ~up)
        if moving < max(MIN_ROWS, known.sum() / 2) or agreeing.sum() < MIN_DIRECTION_SHARE * moving:
            return None
        size = float(np.median(np.abs(curve[agreeing, -1] - curve[agreeing, 0])))
        return Direction(
            feature=self.feature, sign=sign, towards=towards, rows=int(agreeing.sum()), of=moving, size=size
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Responses:
    """The responses of a system to all its features, for one sample of real rows."""

    inputs: Points  # the sampled rows
    row_numbers: npt.NDArray[np.intp]  # of the sampled rows among all inputs
    codes: AnswerCodes
    own_answers: Numbers
    own_scores: Numbers | None
    labels: Sequence[Any] | None  # the classes of the scores, in their order; None for numbers or unknown classes
    by_feature: dict[str, Response] = field(default_factory=dict)  # without features for which the budget was too small

    def __getitem__(self, feature: str) -> Response:
        return self.by_feature[feature]

    def __contains__(self, feature: object) -> bool:
        return feature in self.by_feature

    def __iter__(self) -> Iterator[Response]:
        return iter(self.by_feature.values())

    def __len__(self) -> int:
        return len(self.by_feature)

    @property
    def numeric(self) -> bool:
        """Whether answers are numbers."""
        return self.codes.numeric

    @property
    def complete(self) -> bool:
        """Whether every feature was measured, apart from texts."""
        return len(self.by_feature) == sum(feature.kind != "text" for feature in self.inputs.space.features)

    def format_answer(self, code: float) -> str:
        """Return the answer of a code, or the number, as text."""
        if np.isnan(code):
            return "no answer"
        return format_short(float(code)) if self.numeric else self.codes.labels[int(code)]

    def build_example(
        self, points: Points, column: int, value: float, answers: tuple[float, float], row: int | None = None
    ) -> Example:
        """Return the first of some points as it is, and with another value of one feature."""
        codes = points.codes[:1].copy()
        codes[0, column] = value
        cases = (extract_case(batch, 0) for batch in (points, Points(points.space, codes)))
        texts = map(self.format_answer, answers)
        before, after = (AnsweredCase(case, text, text) for case, text in zip(cases, texts, strict=True))
        return build_example(before, after, row=row)

    def find_directions(self) -> list[Direction]:
        """Return the features along which nearly all rows move in one direction, the strongest first.

        For two classes it is the direction of the second one. For more, no direction is sought.
        """
        if not self.numeric and (self.labels is None or len(self.labels) != 2):
            return []
        label, towards = (None, None) if self.numeric or self.labels is None else (1, self.labels[1])
        directions = [response.find_direction(label, towards) for response in self]
        return sorted((item for item in directions if item is not None), key=lambda item: -item.size)


def measure_responses(context: CheckContext, budget: CheckBudget) -> Responses:
    """Return the responses to all features, measured within the budget of the check that asks first.

    Raises `OutOfBudget` if not even a few rows can be afforded; the next check that asks tries again.
    """
    if "responses" not in context.shared:
        context.shared["responses"] = _measure(context, budget)
    responses: Responses = context.shared["responses"]
    return responses


def query_answers(
    context: CheckContext, budget: CheckBudget, codes: AnswerCodes, points: Points, scores: bool = False
) -> tuple[Numbers, Numbers | None]:
    """Return the answers to some cases as codes or numbers, NaN where there is none, and their scores."""
    outputs = run_flow(context, budget, _query_in_parts(points, scores))
    return encode_outputs(context, codes, points, outputs), outputs.scores


def encode_outputs(context: CheckContext, codes: AnswerCodes, points: Points, outputs: Outputs) -> Numbers:
    """Return answers as codes or numbers; NaN where there is none, or a constraint forbids the case."""
    ok = outputs.ok
    if context.space.keeps_constraints:
        ok = ok & context.space.satisfied(points.codes)
    return codes.encode(outputs.values, ok)


def encode_truth(context: CheckContext, responses: Responses) -> Numbers | None:
    """Return the labels of all inputs as codes or numbers, NaN where there is none; None if they are not comparable."""
    if context.truth is None or len(context.truth) != len(context.inputs):
        return None
    known = ~np.asarray(pd.isna(context.truth))
    answers = set(responses.codes.labels)
    truth = responses.codes.encode(context.truth, known)
    if (
        not responses.numeric
        and answers
        and not answers & {responses.codes.labels[int(i)] for i in np.unique(truth[known])}
    ):
        return None  # the labels of the data are not classes of the model
    return None if np.isnan(truth).all() else truth


def get_real_answers(
    context: CheckContext, budget: CheckBudget, responses: Responses, limit: int
) -> tuple[npt.NDArray[np.intp], Numbers]:
    """Return the row numbers of many real inputs and their answers, from the check "answers" if it ran."""
    queries, outputs = context.queries, context.answers
    if queries is not None and outputs is not None:
        for row_numbers in (np.arange(len(context.inputs)), context.sample_rows(len(queries))):
            row_numbers = row_numbers[: len(queries)]
            if np.array_equal(context.inputs.codes[row_numbers], queries.codes, equal_nan=True):
                return row_numbers, encode_outputs(context, responses.codes, queries, outputs)
    cost = context.count_affordable(budget.remaining(0.5), min(limit, len(context.inputs)))
    row_numbers = context.sample_rows(cost)
    return row_numbers, query_answers(context, budget, responses.codes, context.inputs.take(row_numbers))[0]


def _query_in_parts(points: Points, scores: bool) -> Flow[Outputs]:
    parts: list[Outputs] = []
    for start in range(0, len(points), MAX_ROWS_PER_QUERY):
        parts.append((yield Query(points.take(slice(start, start + MAX_ROWS_PER_QUERY)), scores=scores)))
    return Outputs.concat(parts)


def replace_feature(points: Points, column: int, values: Codes) -> Points:
    """Return every row with every value of a feature: all values of the first row, then of the second, ..."""
    codes = np.repeat(points.codes, len(values), axis=0)
    codes[:, column] = np.tile(values, len(points))
    return Points(points.space, codes)


def find_values(context: CheckContext, column: int, quantiles: int = FINE_QUANTILES) -> Codes:
    """Return the values of a feature to try, ascending: quantiles and bounds, or all categories."""
    feature, own_values = context.space.features[column], context.inputs.codes[:, column]
    own_values = own_values[~np.isnan(own_values)]
    if feature.kind == "text":
        return np.empty(0)  # texts have their own check
    if feature.kind == "categorical":
        values = np.arange(feature.low, feature.high + 1)
        if len(values) > MAX_CATEGORIES:  # the most frequent ones
            categories, counts = np.unique(own_values, return_counts=True)
            values = np.sort(categories[np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]])
        return values
    ends = [end for end in (feature.low, feature.high) if np.isfinite(end)]
    if not len(own_values):
        return np.unique(ends)
    shares = np.linspace(0, 1, quantiles)
    even_values = np.linspace(own_values.min(), own_values.max(), EVEN_VALUES)
    if feature.kind == "integer":
        even_values = np.round(even_values)
    return np.unique(np.concatenate([ends, np.quantile(own_values, shares, method="nearest"), even_values]))


def _measure(context: CheckContext, budget: CheckBudget) -> Responses:
    wants_scores = context.sut.score_kind is not None and not context.has_numeric_answers
    values, rows = _choose_values(context, budget, SCORE_COST if wants_scores else 1.0)
    all_row_numbers = context.sample_rows(min(MAX_ROWS, len(context.inputs)))
    # The first rows show how fast the system really is, and how many more the budget allows.
    start_seconds = context.clock.seconds
    first_rows = min(rows, FIRST_ROWS)
    inputs = context.inputs.take(all_row_numbers[:first_rows])
    own_outputs, outputs_by_column = run_flow(context, budget, _sweep_features(inputs, values, wants_scores))
    seconds_per_row = (context.clock.seconds - start_seconds) / first_rows
    remaining = budget.remaining(SHARE_OF_BUDGET)
    if remaining.seconds is not None:
        affordable = first_rows + remaining.seconds / max(seconds_per_row, 1e-9)
        rows = len(all_row_numbers) if affordable >= len(all_row_numbers) else round_down(affordable)
    if remaining.runs is not None:
        rows = min(rows, first_rows + remaining.runs // (1 + sum(map(len, values))))
    if rows > first_rows and len(outputs_by_column) == len(values):
        more_inputs = context.inputs.take(all_row_numbers[first_rows:rows])
        try:
            own_more, more_by_column = run_flow(context, budget, _sweep_features(more_inputs, values, wants_scores))
        except BudgetSpent:
            more_by_column = {}
        if len(more_by_column) == len(values):
            inputs = Points.concat([inputs, more_inputs])
            own_outputs = Outputs.concat([own_outputs, own_more])
            outputs_by_column = {
                column: Outputs.concat([outputs, more_by_column[column]])
                for column, outputs in outputs_by_column.items()
            }
    codes = AnswerCodes(context.has_numeric_answers, context.sut.labels)
    responses = Responses(
        inputs=inputs,
        row_numbers=all_row_numbers[: len(inputs)],
        codes=codes,
        own_answers=encode_outputs(context, codes, inputs, own_outputs),
        own_scores=own_outputs.scores,
        labels=None if codes.numeric else context.sut.labels,
    )
    for column, outputs in outputs_by_column.items():
        if not len(values[column]):
            continue
        points = replace_feature(inputs, column, values[column])
        shape = len(inputs), len(values[column])
        scores = None if outputs.scores is None else outputs.scores.reshape(*shape, -1)
        feature = context.space.features[column]
        responses.by_feature[feature.name] = Response(
            feature=feature.name,
            column=column,
            kind=feature.kind,
            values=values[column],
            answers=encode_outputs(context, codes, points, outputs).reshape(shape),
            scores=scores,
            levels=None if scores is None else compute_levels(scores, context.sut.score_kind),
            own_answers=responses.own_answers,
            own_scores=own_outputs.scores,
            numeric=codes.numeric,
        )
    return responses


def _choose_values(context: CheckContext, budget: CheckBudget, cost: float) -> tuple[list[Codes], int]:
    """Return the values of all features, fewer for a slow system, and how many rows the budget seems to allow."""
    share, limit = budget.remaining(), min(MAX_ROWS, len(context.inputs))
    for quantiles in (FINE_QUANTILES, COARSE_QUANTILES):
        columns = set(context.columns)
        values = [
            find_values(context, column, quantiles) if column in columns else np.empty(0)
            for column in range(len(context.space))
        ]
        width = 1 + sum(map(len, values))
        minimum = min(MIN_ROWS_FOR_FINE_VALUES if quantiles == FINE_QUANTILES else MIN_ROWS, limit)
        with contextlib.suppress(BudgetSpent):
            rows = context.count_affordable(share, limit, runs_per_case=cost * width, calls=cost * 2, minimum=minimum)
            return values, rows
    raise BudgetSpent("The budget allows too few rows.")


def _sweep_features(inputs: Points, values: Sequence[Codes], scores: bool) -> Flow[tuple[Outputs, dict[int, Outputs]]]:
    """Query the rows as they are, then with all values of feature after feature, several features per query."""
    own_outputs = yield Query(inputs, scores=scores, note="responses")
    outputs_by_column: dict[int, Outputs] = {}
    group: list[int] = []
    columns = [column for column in range(len(values)) if len(values[column])]
    for number, column in enumerate(columns):
        group.append(column)
        last = number == len(columns) - 1
        next_width = 0 if last else len(values[columns[number + 1]])
        rows = len(inputs) * (sum(len(values[c]) for c in group) + next_width)
        if not last and rows <= MAX_ROWS_PER_QUERY:
            continue
        parts = [replace_feature(inputs, c, values[c]) for c in group]
        try:
            outputs = yield Query(Points.concat(parts), scores=scores, progress=number / len(columns), note="responses")
        except OutOfBudget:
            if not outputs_by_column:
                raise
            break
        ends = np.cumsum([len(part) for part in parts]).tolist()
        for c, start, end in zip(group, [0, *ends], ends, strict=False):
            outputs_by_column[c] = outputs.take(slice(start, end))
        group = []
    return own_outputs, outputs_by_column


def compute_levels(scores: Numbers, kind: Literal["decision", "probability", "pairwise"] | None) -> Numbers | None:
    """Return scores as levels between 0 and 1 per class: probabilities as they are, decision values squashed."""
    if kind == "probability":
        return scores
    if kind != "decision":
        return None
    scale = 0.5 if scores.shape[-1] == 2 else 1.0  # two decision values are s and -s
    shifted = scale * (scores - scores.max(axis=-1, keepdims=True))
    weights = np.exp(np.maximum(shifted, -700.0))
    return weights / weights.sum(axis=-1, keepdims=True)


def _measure_spread(numbers: Numbers) -> float:
    """Return the standard deviation of the known numbers; 1 if they are all equal or unknown."""
    known = numbers[np.isfinite(numbers)]
    spread = float(known.std()) if known.size else 0.0
    return spread if spread > 0 else 1.0
