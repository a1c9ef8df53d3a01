"""Check the shape of the response along each number: shared cuts, islands and single values that the data do not support.

Trees cut at one value for many rows, and real data rise and fall, so that a cut alone is no defect. A cut is reported
if the labels speak against it: real rows on one side are answered better with the value just on the other side of the
cut (their other values as they are) than with their own value. A learned cut fails this test, because it was learned to
answer those rows better. Without labels there is evidence of two kinds: a single value that is treated unlike all values
around it, although the data have no rows to learn that from, and a smooth model that jumps back against its own trend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from ..._text import format_percent, format_short, pluralize
from ...errors import Interrupted, OutOfBudget
from ...reporting.document import Line, Section, Table
from ...space.features import Codes, Mask
from ...space.points import Points
from ..case_text import extract_case, format_share
from ..check import Check, CheckBudget, CheckFindings
from ..context import CheckContext
from ..finding import Example, Finding, Level
from ..responses import (
    SCORE_COST,
    Numbers,
    Response,
    Responses,
    compute_levels,
    encode_truth,
    get_real_answers,
    measure_responses,
    query_answers,
    replace_feature,
)

MIN_CUT_SHARE = 0.1  # of the rows that jump at one value; a cut for fewer rows affects few real ones
MIN_LEVEL_JUMP = 0.2  # of a score between 0 and 1: a forest's score wiggles by less
MIN_NUMBER_JUMP = 0.5  # of a number, in standard deviations of the answers
MAX_STEPS_PER_FEATURE = 4  # between swept values, that are searched for a cut
MAX_STEPS = 16
PARTS_PER_ROUND = 16  # a step is divided so often in each of the rounds
ROUNDS = 2
MAX_ROWS_PER_STEP = 30  # that locate the cut
MIN_ROWS_PER_STEP = 5
MIN_AGREEMENT = 0.25  # of the rows of a step that jump in the same one of its parts; by chance one in 16 does
SHARP_STEP_CONTRAST = 3.0  # a jump between neighbouring whole numbers, compared with the usual step between them
MAX_REAL_ROWS = 2_000  # whose own answers are known
MAX_ROWS_PER_SIDE = 150  # real rows nearest to a cut, compared with their labels
MIN_GAIN = 0.1  # of the accuracy: 1 row in 10 is answered wrongly because of the cut
MIN_NUMBER_GAIN = 0.25  # of the mean absolute error, in standard deviations of the labels
SIGNIFICANCE = 0.01  # of all comparisons with labels together
SIGNIFICANCE_OF_VALUE = 0.05  # of the labels against a single value; that the value stands alone is evidence too
MIN_REVERSAL = 0.05  # of the mean score; a smooth response moves by far less within so small a step
MIN_ONE_WAY_SHARE = 0.95  # of the rows that a reversal moves in the same direction
MIN_SMOOTH_SHARE = 0.9  # of tiny steps that change the score: no tree does that
#: Factors between units that are often confused, and what they convert.
UNIT_FACTORS = {
    1.8: "degrees",
    2.0: "halves",
    2.205: "kilograms and pounds",
    2.54: "inches and centimetres",
    4.184: "calories and joules",
    10.0: "millimetres and centimetres",
    12.0: "months and years, inches and feet",
    18.0: "mmol/l and mg/dl of glucose",
    24.0: "hours and days",
    28.35: "ounces and grams",
    30.48: "feet and centimetres",
    60.0: "minutes and hours",
    100.0: "percent, cents",
    365.0: "days and years",
    1e3: "thousands",
    1024.0: "kilobytes",
    3600.0: "seconds and hours",
    1e4: "basis points",
    1e6: "millions",
}
SENTINELS = (-9999.0, -999.0, -99.0, -9.0, -1.0, 0.0, 9.0, 99.0, 999.0, 9999.0, 99999.0)
MAX_FREQUENT_VALUES = 3
MIN_FREQUENT_ROWS = 5
MIN_LEARNABLE_ROWS = 5  # with one value: from fewer, no learner learns a rule for it
NEIGHBOUR_SHARE = 1e-3  # of the range: the distance of neighbours from a single value
MAX_SCREEN_ROWS = 60  # that look for single values, drawn evenly from the answers
MIN_VALUE_ROWS = 3
MIN_VALUE_SHARE = 0.05  # of the rows that a single value changes
MIN_ROWS_TO_JUDGE = 10
SEED = 731  # of the draw of rows

Side = Literal["above", "below"]


@dataclass(eq=False, kw_only=True)
class _Step:
    """A step between two values of a feature within which the answer jumps for many rows."""

    response: Response
    low: float
    high: float
    rows: npt.NDArray[np.intp]  # of the sample, that jump within it
    smooth: bool = False  # whether the score changes in nearly all tiny parts beside the jump


@dataclass(frozen=True, eq=False, kw_only=True)
class _Cut:
    """A place at which the answer jumps for many rows, between two nearly equal values."""

    response: Response
    low: float
    high: float
    before: Numbers  # the answers of the sample at `low`
    after: Numbers  # at `high`
    before_levels: Numbers | None
    after_levels: Numbers | None
    jumps: Mask  # rows of the sample that jump
    smooth: bool

    @property
    def feature(self) -> str:
        return self.response.feature

    @property
    def place(self) -> float:
        """The shortest number between the two values."""
        return find_shortest_number(self.low, self.high)

    @property
    def values_beside(self) -> tuple[float, float]:
        """Values just below and just above the cut, with few digits."""
        if self.response.kind == "integer":
            return self.low, self.high
        width = 4 * (self.high - self.low)
        below = -find_shortest_number(-self.low, -self.low + width)
        return below, find_shortest_number(self.high, self.high + width)

    @property
    def changed(self) -> int:
        """How many rows of the sample get another answer, not only another score."""
        return int((np.abs(self.before - self.after) > self.response.rounding).sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class _CutTrial:
    """Real rows on one side of a cut, answered as they are and with the value just on the other side."""

    cut: _Cut
    side: Side
    end: _Cut | None  # the next cut, at the far end of the rows
    rows: npt.NDArray[np.intp]  # among all inputs, the nearest to the cut first
    own: Numbers  # the answers to the rows as they are
    moved_answers: Numbers  # with the value on the other side
    truth: Numbers
    rows_in_region: int  # all real rows between the two cuts
    numeric: bool
    helps: int = field(init=False)
    hurts: int = field(init=False)
    gain: float = field(init=False)  # of the accuracy or, for numbers, of the error in standard deviations
    p_value: float = field(init=False)
    p_value_against: float = field(init=False)  # that the own values are better

    def __post_init__(self) -> None:
        gain, helps, hurts, p_value, p_value_against = compare_answers(
            self.own, self.moved_answers, self.truth, numeric=self.numeric
        )
        for name, value in (
            ("gain", gain),
            ("helps", helps),
            ("hurts", hurts),
            ("p_value", p_value),
            ("p_value_against", p_value_against),
        ):
            object.__setattr__(self, name, value)

    @property
    def changes(self) -> int:
        """How many of the rows get another answer on the other side of the cut."""
        return int((self.own != self.moved_answers).sum())


def compare_answers(
    own: Numbers, moved_answers: Numbers, truth: Numbers, *, numeric: bool
) -> tuple[float, int, int, float, float]:
    """Compare two answers to the same rows with their labels.

    Return how much better the second answers are, for how many rows they are better and worse, and the one-sided p-values
    that they are better and that they are worse (sign test for labels, signed ranks for numbers).
    """
    if not len(truth):
        return 0.0, 0, 0, 1.0, 1.0
    if not numeric:
        helps = int(((own != truth) & (moved_answers == truth)).sum())
        hurts = int(((own == truth) & (moved_answers != truth)).sum())
        if not helps + hurts:
            return 0.0, 0, 0, 1.0, 1.0
        p_values = [
            float(stats.binomtest(count, helps + hurts, 0.5, alternative="greater").pvalue) for count in (helps, hurts)
        ]
        return (helps - hurts) / len(truth), helps, hurts, p_values[0], p_values[1]
    gains = np.abs(own - truth) - np.abs(moved_answers - truth)
    helps, hurts = int((gains > 0).sum()), int((gains < 0).sum())
    spread = float(truth.std()) or 1.0
    if not helps + hurts:
        return 0.0, 0, 0, 1.0, 1.0
    p_values = [float(stats.wilcoxon(gains, alternative=side).pvalue) for side in ("greater", "less")]
    return float(gains.mean()) / spread, helps, hurts, p_values[0], p_values[1]


def find_shortest_number(low: float, high: float) -> float:
    """Return the number with the fewest digits between two numbers; `low` itself may be returned, `high` not.

    Examples
    --------
    >>> find_shortest_number(149.6, 150.7), find_shortest_number(0.7491, 0.7512), find_shortest_number(50, 51)
    (150.0, 0.75, 50.0)
    """
    if not low < high:
        return low
    exponent = int(np.floor(np.log10(max(abs(low), abs(high), high - low)))) + 1
    for power in range(exponent, exponent - 17, -1):
        unit = 10.0**power
        candidate = float(np.ceil(low / unit - 1e-9)) * unit
        if low - 1e-9 * unit <= candidate < high:
            return float(f"{candidate:.12g}") + 0.0
    return low


# -- cuts --------------------------------------------------------------------------------------------


def _find_jumps(response: Response, before: Numbers, after: Numbers, levels: tuple[Numbers, Numbers] | None) -> Mask:
    """Return which answers jump: another label, a score that moves far, or a number that does."""
    if response.numeric:
        known = response.own_answers[~np.isnan(response.own_answers)]
        spread = float(known.std()) if len(known) else 0.0
        return np.greater(np.abs(before - after), max(MIN_NUMBER_JUMP * spread, response.rounding))
    jumps = np.abs(before - after) > 0
    if levels is not None:
        jumps = jumps | (np.abs(levels[0] - levels[1]).max(axis=-1) >= MIN_LEVEL_JUMP)
    return np.asarray(jumps & ~np.isnan(before) & ~np.isnan(after))


def _find_steps(responses: Responses) -> list[_Step]:
    """Return the steps between swept values at which many rows jump, most rows first."""
    steps: list[_Step] = []
    for response in responses:
        if response.kind == "categorical" or len(response.values) < 2:
            continue
        levels = response.levels
        jumps = _find_jumps(
            response,
            response.answers[:, :-1],
            response.answers[:, 1:],
            None if levels is None else (levels[:, :-1], levels[:, 1:]),
        )
        shares = jumps.mean(axis=0)
        best = np.argsort(-shares, kind="stable")[:MAX_STEPS_PER_FEATURE]
        steps += [
            _Step(
                response=response,
                low=float(response.values[j]),
                high=float(response.values[j + 1]),
                rows=np.flatnonzero(jumps[:, j]),
            )
            for j in best.tolist()
            if shares[j] >= MIN_CUT_SHARE
        ]
    return sorted(steps, key=lambda step: -len(step.rows))[:MAX_STEPS]


def _divide(step: _Step) -> Codes:
    values = np.linspace(step.low, step.high, PARTS_PER_ROUND + 1)
    return np.unique(np.round(values)) if step.response.kind == "integer" else values


def _narrow(context: CheckContext, budget: CheckBudget, responses: Responses, steps: Sequence[_Step]) -> list[_Step]:
    """Divide all steps together, and keep the part of each within which most of its rows jump."""
    values = [_divide(step) for step in steps]
    wants_scores = any(step.response.levels is not None for step in steps)
    cost = (SCORE_COST if wants_scores else 1.0) * sum(map(len, values))
    limit = context.count_affordable(budget.remaining(0.3), MAX_ROWS_PER_STEP, runs_per_case=cost)
    if limit < MIN_ROWS_PER_STEP:
        raise OutOfBudget("The budget allows too few rows.")
    rows = [step.rows[:limit] for step in steps]
    parts = [
        replace_feature(responses.inputs.take(row_numbers), step.response.column, step_values)
        for step, row_numbers, step_values in zip(steps, rows, values, strict=True)
    ]
    answers, scores = query_answers(context, budget, responses.codes, Points.concat(parts), wants_scores)
    all_levels = None if scores is None else compute_levels(scores, context.sut.score_kind)
    narrower_steps: list[_Step] = []
    start = 0
    for step, row_numbers, step_values in zip(steps, rows, values, strict=True):
        shape = len(row_numbers), len(step_values)
        block = slice(start, start + shape[0] * shape[1])
        start = block.stop
        grid = answers[block].reshape(shape)
        levels = None if all_levels is None else all_levels[block].reshape(*shape, -1)
        pairs = None if levels is None else (levels[:, :-1], levels[:, 1:])
        jumps = _find_jumps(step.response, grid[:, :-1], grid[:, 1:], pairs)
        counts = jumps.sum(axis=0)
        best = int(counts.argmax())
        if counts[best] < max(MIN_AGREEMENT * len(row_numbers), 2):
            continue  # each row jumps at another value
        others = np.delete(np.arange(len(counts)), best)
        smooth = False
        if levels is not None and len(others) >= 4:
            moves = np.abs(np.diff(levels, axis=1)).max(axis=2)[:, others]
            width = (step_values[-1] - step_values[0]) / len(counts)
            span = float(np.ptp(step.response.values)) or 1.0
            smooth = width <= 0.01 * span and float((moves > 1e-12).mean()) >= MIN_SMOOTH_SHARE
        narrower_steps.append(
            _Step(
                response=step.response,
                low=float(step_values[best]),
                high=float(step_values[best + 1]),
                rows=row_numbers[jumps[:, best]],
                smooth=smooth,
            )
        )
    return narrower_steps


def find_cuts(context: CheckContext, budget: CheckBudget, responses: Responses) -> list[_Cut]:
    """Return the places at which the answer jumps for many rows at once, located to a small part of a step."""
    steps = _find_steps(responses)
    for _ in range(ROUNDS):
        if steps:
            steps = _narrow(context, budget, responses, steps)
    if not steps:
        return []
    inputs = responses.inputs
    parts = [replace_feature(inputs, step.response.column, np.array([step.low, step.high])) for step in steps]
    wants_scores = any(step.response.levels is not None for step in steps)
    answers, scores = query_answers(context, budget, responses.codes, Points.concat(parts), wants_scores)
    levels = None if scores is None else compute_levels(scores, context.sut.score_kind)
    grid = answers.reshape(len(steps), len(inputs), 2)
    level_grid = None if levels is None else levels.reshape(len(steps), len(inputs), 2, -1)
    cuts = []
    for i, step in enumerate(steps):
        before, after = grid[i, :, 0], grid[i, :, 1]
        ends = None if level_grid is None else (level_grid[i, :, 0], level_grid[i, :, 1])
        jumps = _find_jumps(step.response, before, after, ends)
        if jumps.mean() < MIN_CUT_SHARE or not _is_sharp(step, jumps):
            continue
        cuts.append(
            _Cut(
                response=step.response,
                low=step.low,
                high=step.high,
                before=before,
                after=after,
                before_levels=None if ends is None else ends[0],
                after_levels=None if ends is None else ends[1],
                jumps=jumps,
                smooth=step.smooth,
            )
        )
    return sorted(cuts, key=lambda cut: (cut.response.column, cut.low))


def _is_sharp(step: _Step, jumps: Mask) -> bool:
    """Tell whether the jump is more than the usual step between whole numbers; real numbers were divided finely enough."""
    values = step.response.values
    span = float(np.ptp(values)) or 1.0
    if step.high - step.low <= 0.01 * span:
        return True
    steps = step.response.steps
    usual = float(steps.mean(axis=0).sum()) * (step.high - step.low) / span  # share of rows per whole number
    return float(jumps.mean()) >= SHARP_STEP_CONTRAST * usual


# -- cuts against labels -----------------------------------------------------------------------------


def _try_cuts(
    context: CheckContext, budget: CheckBudget, responses: Responses, cuts: Sequence[_Cut], truth: Numbers
) -> list[_CutTrial]:
    """Answer the real rows beside every cut with the value just on the other side of it, too."""
    row_numbers, answers = get_real_answers(context, budget, responses, MAX_REAL_ROWS)
    own_answers = np.full(len(context.inputs), np.nan)
    own_answers[row_numbers] = answers
    usable_rows = ~np.isnan(own_answers) & ~np.isnan(truth)
    limit = context.count_affordable(budget.remaining(0.5), MAX_ROWS_PER_SIDE, runs_per_case=2 * len(cuts))
    plans: list[tuple[_Cut, Side, _Cut | None, npt.NDArray[np.intp], int, float]] = []
    for cut in cuts:
        same = [other for other in cuts if other.response is cut.response]
        own_values = context.inputs.codes[:, cut.response.column]
        usable = ~np.isnan(own_values) & usable_rows
        above = min((other for other in same if other.low > cut.low), key=lambda other: other.low, default=None)
        below = max((other for other in same if other.low < cut.low), key=lambda other: other.low, default=None)
        ceiling, floor = np.inf if above is None else above.low, -np.inf if below is None else below.high
        value_below, value_above = cut.values_beside
        sides: list[tuple[Side, Mask, float, _Cut | None]] = [
            ("above", usable & (own_values >= cut.high) & (own_values <= ceiling), value_below, above),
            ("below", usable & (own_values <= cut.low) & (own_values >= floor), value_above, below),
        ]
        for side, inside, value, end in sides:
            rows = np.flatnonzero(inside)
            if len(rows) < MIN_ROWS_TO_JUDGE:
                continue
            nearest = rows[np.argsort(np.abs(own_values[rows] - value), kind="stable")[:limit]]
            plans.append((cut, side, end, nearest, len(rows), value))
    if not plans:
        return []
    parts = [
        replace_feature(context.inputs.take(rows), cut.response.column, np.array([value]))
        for cut, _, _, rows, _, value in plans
    ]
    answers, _ = query_answers(context, budget, responses.codes, Points.concat(parts))
    trials, start = [], 0
    for cut, side, end, rows, count, _ in plans:
        own, moved_answers = own_answers[rows], answers[start : start + len(rows)]
        start += len(rows)
        known = ~np.isnan(own) & ~np.isnan(moved_answers)
        trials.append(
            _CutTrial(
                cut=cut,
                side=side,
                end=end,
                rows=rows[known],
                own=own[known],
                moved_answers=moved_answers[known],
                truth=truth[rows[known]],
                rows_in_region=count,
                numeric=responses.numeric,
            )
        )
    return trials


def _judge_trials(responses: Responses, trials: Sequence[_CutTrial]) -> list[_CutTrial]:
    """Return the trials in which the labels speak against the cut, at most one per feature and region."""
    min_gain = MIN_NUMBER_GAIN if responses.numeric else MIN_GAIN
    refuted_trials = [
        trial for trial in trials if trial.gain >= min_gain and trial.p_value < SIGNIFICANCE / max(len(trials), 1)
    ]
    best: dict[str, _CutTrial] = {}
    for trial in refuted_trials:
        other = best.get(trial.cut.feature)
        if other is None or trial.p_value < other.p_value:
            best[trial.cut.feature] = trial
    return list(best.values())


# -- smooth models that jump -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class _Reversal:
    """A smooth response that jumps back against its own trend."""

    cut: _Cut
    label: int  # whose score is looked at
    jump: float  # the mean change of the score at the cut
    trend: float  # the mean change of the score over all other values
    factor: float | None = None  # beyond the cut, the value is divided by this


def _choose_label(cut: _Cut) -> int:
    """Return the label whose score, or frequency, changes most at a cut."""
    if cut.response.numeric:
        return 0
    if cut.before_levels is not None and cut.after_levels is not None:
        return int(np.abs(np.nanmean(cut.after_levels - cut.before_levels, axis=0)).argmax())
    labels = np.unique(cut.after[~np.isnan(cut.after)]).astype(int).tolist()
    return max(labels, key=lambda label: int((cut.after == label).sum()) - int((cut.before == label).sum()))


def _find_reversals(cuts: Sequence[_Cut]) -> list[_Reversal]:
    """Return the cuts at which a smooth response jumps against its trend."""
    reversals = []
    for cut in cuts:
        if not cut.smooth or cut.before_levels is None or cut.after_levels is None:
            continue
        label = _choose_label(cut)
        curve = np.nanmean(cut.response.get_curve(label), axis=0)
        jumps = cut.after_levels[:, label] - cut.before_levels[:, label]
        jump = float(np.nanmean(jumps))
        below, above = curve[cut.response.values <= cut.low], curve[cut.response.values >= cut.high]
        start, end = float(np.nanmean(cut.before_levels[:, label])), float(np.nanmean(cut.after_levels[:, label]))
        trend = (start - float(below[0]) if len(below) else 0.0) + (float(above[-1]) - end if len(above) else 0.0)
        one_way = float((jumps[np.abs(jumps) > 1e-6] * jump > 0).mean())
        if min(abs(jump), abs(trend)) >= MIN_REVERSAL and jump * trend < 0 and one_way >= MIN_ONE_WAY_SHARE:
            reversals.append(_Reversal(cut=cut, label=label, jump=jump, trend=trend))
    return reversals


def _find_unit_factor(
    context: CheckContext, budget: CheckBudget, responses: Responses, reversal: _Reversal
) -> float | None:
    """Return by how much values beyond a cut are divided, if a usual factor between units explains the scores there."""
    cut = reversal.cut
    values_above = cut.response.values[cut.response.values > cut.high]
    if not len(values_above) or context.space.features[cut.response.column].kind == "categorical":
        return None
    places = np.array([cut.high, float(np.median(values_above)), float(values_above[-1])])
    factors = np.array([*UNIT_FACTORS, *(1 / factor for factor in UNIT_FACTORS)])
    inputs = responses.inputs.take(slice(0, MAX_ROWS_PER_STEP))
    tried_values = np.concatenate([places, *(places / factor for factor in factors)])
    points = replace_feature(inputs, cut.response.column, tried_values)
    _, scores = query_answers(context, budget, responses.codes, points, scores=True)
    levels = None if scores is None else compute_levels(scores, context.sut.score_kind)
    if levels is None:
        return None
    grid = levels[:, reversal.label].reshape(len(inputs), len(factors) + 1, len(places))
    own, divided_levels = grid[:, :1], grid[:, 1:]
    spans = np.ptp(own, axis=2, keepdims=True)
    moving = spans[:, 0, 0] > 1e-9  # a flat response fits every factor
    if moving.mean() < 0.5:
        return None
    errors = np.median((np.abs(own - divided_levels) / np.maximum(spans, 1e-300)).max(axis=2)[moving], axis=0)
    best = int(errors.argmin())
    # Whole numbers are rounded after the division.
    return float(factors[best]) if errors[best] < (0.1 if cut.response.kind == "integer" else 1e-3) else None


# -- single values -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class _SingleValue:
    """A value that is answered unlike both of its close neighbours, which agree with each other."""

    response: Response
    neighbours: tuple[float, float]
    value: float
    answers: Numbers  # rows of the sample by (lower neighbour, value, upper neighbour)
    alone: Mask  # rows of the sample for which only the value differs
    data_rows: npt.NDArray[np.intp]  # among all inputs, that have the value

    @property
    def feature(self) -> str:
        return self.response.feature


def _list_special_values(context: CheckContext, response: Response) -> Codes:
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


def find_single_values(context: CheckContext, budget: CheckBudget, responses: Responses) -> list[_SingleValue]:
    """Return the values, among usual sentinels and frequent ones, that are answered unlike their close neighbours."""
    numbers = [response for response in responses if response.kind != "categorical"]
    if not numbers:
        return []
    values = [_list_special_values(context, response) for response in numbers]
    width = 2 * sum(map(len, values))
    limit = context.count_affordable(budget.remaining(0.4), MAX_SCREEN_ROWS, runs_per_case=width)
    if limit < MIN_ROWS_TO_JUDGE:
        raise OutOfBudget("The budget allows too few rows.")
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
        counts = _find_jumps(response, grid[:, :, 0], grid[:, :, 1], None).sum(axis=0)
        candidates += [
            (response, float(value))
            for value, count in zip(special.tolist(), counts.tolist(), strict=True)
            if count >= max(MIN_VALUE_ROWS, MIN_VALUE_SHARE * len(inputs))
        ]
    return _confirm_single_values(context, budget, responses, candidates)


def _confirm_single_values(
    context: CheckContext, budget: CheckBudget, responses: Responses, candidates: Sequence[tuple[Response, float]]
) -> list[_SingleValue]:
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
        alone = (
            _find_jumps(response, lower, own, None)
            & _find_jumps(response, own, upper, None)
            & ~_find_jumps(response, lower, upper, None)
        )
        if alone.sum() < max(MIN_VALUE_ROWS, MIN_VALUE_SHARE * len(alone)):
            continue
        single_values.append(
            _SingleValue(
                response=response,
                neighbours=(triples[i][0], triples[i][2]),
                value=value,
                answers=grid[i],
                alone=alone,
                data_rows=np.flatnonzero(context.inputs.codes[:, response.column] == value),
            )
        )
    return single_values


def _judge_single_value(
    context: CheckContext, budget: CheckBudget, responses: Responses, single: _SingleValue, truth: Numbers | None
) -> tuple[Level | None, str]:
    """Return the level of a single value, None if the data support it, and what the data say about it."""
    rows = single.data_rows
    if len(rows) < MIN_LEARNABLE_ROWS:
        have = "no row of the data has" if not len(rows) else f"only {pluralize(len(rows), 'row')} of the data has"
        return (
            "concern",
            f"It cannot have been learned: {have.replace('rows of the data has', 'rows of the data have')} this value.",
        )
    known = rows if truth is None else rows[~np.isnan(truth[rows])]
    if truth is None or len(known) < MIN_LEARNABLE_ROWS:
        return "advice", f"{pluralize(len(rows), 'row')} of the data have it, without labels to compare with."
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
    text = f"{pluralize(len(rows), 'row')} of the data have it, and the labels speak against it"
    if not responses.numeric:
        labels = truth[known[:MAX_ROWS_PER_SIDE]]
        right, right_moved = int((own == labels).sum()), int((moved_answers == labels).sum())
        text += (
            f": {right} of {len(points)} are answered as labelled, and {right_moved} with the value "
            f"{format_short(single.neighbours[1])} instead"
        )
    return "concern", f"{text}."


# -- findings ----------------------------------------------------------------------------------------


def _format_number(value: float) -> str:
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else format_short(value)


def _format_label(responses: Responses, code: float) -> str:
    if responses.numeric:
        return format_short(float(code))
    labels = responses.codes.labels
    return labels[int(code)] if not np.isnan(code) and int(code) < len(labels) else "no answer"


def _build_example(
    context: CheckContext,
    responses: Responses,
    points: Points,
    column: int,
    value: float,
    answers: tuple[float, float],
    row: int | None = None,
) -> Example:
    """Return one row as it is, and with another value of one feature."""
    name = context.space.names[column]
    codes = points.codes[:1].copy()
    codes[0, column] = value
    case, changed_case = extract_case(points, 0), extract_case(Points(points.space, codes), 0)
    before, after = (_format_label(responses, answer) for answer in answers)
    return Example(
        words=f"{name} from {format_short(case[name])} to {format_short(changed_case[name])}: {before} becomes {after}",
        case=case,
        answer=before,
        changed={name: changed_case[name]},
        becomes=after,
        row=row,
    )


def _draw_response(
    responses: Responses,
    response: Response,
    label: int,
    extra: Sequence[tuple[float, Numbers, Numbers | None]],
    note: str,
) -> Section:
    """Return a picture of the mean answer along a feature, with the values beside a cut added."""
    values: list[float] = [*response.values.tolist(), *(value for value, _, _ in extra)]
    columns: list[Numbers] = [*response.answers.T, *(answers for _, answers, _ in extra)]
    means: list[float] = []
    for column, answers in enumerate(columns):
        levels = None
        if response.levels is not None and column < len(response.values):
            levels = response.levels[:, column, label]
        elif column >= len(response.values) and extra[column - len(response.values)][2] is not None:
            levels = extra[column - len(response.values)][2][:, label]  # type: ignore[index]
        if response.numeric:
            levels = answers
        means.append(float(np.nanmean(levels)) if levels is not None else float(np.nanmean(answers == label)))
    order = np.argsort(values, kind="stable").tolist()
    bands = []
    for place in order:
        known = columns[place][~np.isnan(columns[place])]
        usual = "" if response.numeric or not len(known) else np.bincount(known.astype(int)).argmax()
        bands.append("" if usual == "" else _format_label(responses, float(usual)))
    if response.numeric:
        quantity = "mean answer"
    elif response.levels is not None:
        quantity = f"mean score of {_format_label(responses, label)}"
    else:
        quantity = f"share answered {_format_label(responses, label)}"
    return Section(
        heading=f"The answer along {response.feature}",
        text=f"The {quantity} over {pluralize(len(responses.inputs), 'real row')}, each with all these values of "
        f"{response.feature} and its own values of everything else. {note}",
        picture=Line(
            title=f"{quantity} along {response.feature}",
            subtitle=note,
            x_label=response.feature,
            y_label=quantity,
            values=[means[place] for place in order],
            bands=bands,
            notes=[f"{response.feature} {_format_number(values[place])}" for place in order],
            steps=[values[place] for place in order],
        ),
    )


REMEDY = (
    "Look for a rule, a limit or a change of units at this value in the code before and after the model, and in how the "
    "training data were made. If it is meant, document it and declare it as a promise."
)


def _build_cut_finding(context: CheckContext, responses: Responses, trial: _CutTrial) -> tuple[Finding, Section]:
    """Return a finding about a cut, or an island between two, that the labels speak against."""
    cut, feature = trial.cut, trial.cut.feature
    jumps, of = int(cut.jumps.sum()), len(cut.jumps)
    place = _format_number(cut.place)
    beside = cut.values_beside[0 if trial.side == "above" else 1]
    if trial.end is not None:
        ends = sorted([cut.place, trial.end.place])
        region = f"between {_format_number(ends[0])} and {_format_number(ends[1])}"
        title = f"The answer changes {region} of {feature} for {format_percent(jumps / of)} of the rows, and the labels do not"
    else:
        region = f"{trial.side} {place}"
        title = (
            f"The answer jumps at {feature} {place} for {format_percent(jumps / of)} of the rows, and the labels do not"
        )
    if responses.numeric:
        comparison = (
            f"the answers would be closer to the labels for {trial.helps} and further away for {trial.hurts} if "
            f"{feature} were {_format_number(beside)}, just beside the cut"
        )
    else:
        right, right_moved = int((trial.own == trial.truth).sum()), int((trial.moved_answers == trial.truth).sum())
        comparison = (
            f"{right} are answered as labelled; {right_moved} would be if {feature} were {_format_number(beside)}, just "
            "beside the cut"
        )
    nearest = "" if len(trial.rows) == trial.rows_in_region else f" Of the {len(trial.rows)} nearest to it,"
    detail = (
        f"{format_share(jumps, of, 'row')} jump when only {feature} passes {place}. "
        f"{pluralize(trial.rows_in_region, 'real row')} have {feature} {region}:{nearest.lower()} {comparison}."
    )
    helped_rows = np.flatnonzero((trial.own != trial.truth) & (trial.moved_answers == trial.truth))
    first = int(helped_rows[0]) if len(helped_rows) else 0
    example = _build_example(
        context,
        responses,
        context.inputs.take(trial.rows[first : first + 1]),
        cut.response.column,
        beside,
        (float(trial.own[first]), float(trial.moved_answers[first])),
        row=int(trial.rows[first]),
    )
    finding = Finding(
        check="response",
        about=feature,
        title=title,
        level="concern",
        sure=0.95,
        detail=detail,
        remedy=REMEDY,
        cases=trial.changes,
        of=len(trial.rows),
        examples=(example,),
        affected_rows=round(trial.changes / max(len(trial.rows), 1) * trial.rows_in_region),
        rows=len(context.inputs),
        answer_changes=True,
        effect=trial.gain,
        inputs="given",
    )
    return finding, _draw_cut(responses, cut)


def _draw_cut(responses: Responses, cut: _Cut) -> Section:
    extra = [(cut.low, cut.before, cut.before_levels), (cut.high, cut.after, cut.after_levels)]
    return _draw_response(
        responses, cut.response, _choose_label(cut), extra, f"It jumps at {_format_number(cut.place)}."
    )


def _build_reversal_finding(
    context: CheckContext, responses: Responses, reversal: _Reversal
) -> tuple[Finding, Section]:
    """Return a finding about a smooth response that jumps back."""
    cut, feature = reversal.cut, reversal.cut.feature
    place, jumps, of = _format_number(cut.place), int(cut.jumps.sum()), len(cut.jumps)
    label = _format_label(responses, reversal.label)
    detail = (
        f"{format_share(jumps, of, 'row')} jump when only {feature} passes {place}: the score of {label} "
        f"{'falls' if reversal.jump < 0 else 'rises'} by {abs(reversal.jump):.2f} on average, although it "
        f"{'rises' if reversal.trend > 0 else 'falls'} smoothly with {feature} everywhere else. The answer itself changes "
        f"for {cut.changed} of them."
    )
    title = f"The answer jumps back at {feature} {place} for {format_percent(jumps / of)} of the rows"
    if reversal.factor is not None:
        unit = (
            f"divided by {_format_number(reversal.factor)}"
            if reversal.factor > 1
            else f"multiplied by {_format_number(1 / reversal.factor)}"
        )
        title = f"Above {place}, {feature} is read as if it were {unit}"
        detail += f" Above it, the scores are those of the value {unit}."
    changed = np.flatnonzero(np.abs(cut.before - cut.after) > 0)
    row = int(changed[0]) if len(changed) else 0
    codes = responses.inputs.codes[row : row + 1].copy()
    codes[0, cut.response.column] = cut.low
    example = _build_example(
        context,
        responses,
        Points(context.space, codes),
        cut.response.column,
        cut.high,
        (float(cut.before[row]), float(cut.after[row])),
    )
    finding = Finding(
        check="response",
        about=feature,
        title=title,
        level="concern",
        sure=0.95 if reversal.factor is not None else 0.8,
        detail=detail,
        remedy=REMEDY,
        cases=cut.changed,
        of=of,
        examples=(example,),
        answer_changes=cut.changed > 0,
        effect=reversal.jump,
        inputs="changed",
    )
    return finding, _draw_cut(responses, cut)


def _build_value_finding(
    context: CheckContext, responses: Responses, single: _SingleValue, level: Level, evidence: str
) -> tuple[Finding, Section]:
    """Return a finding about a single value."""
    feature, value = single.feature, _format_number(single.value)
    count, of = int(single.alone.sum()), len(single.alone)
    lower, upper = (_format_number(neighbour) for neighbour in single.neighbours)
    row = int(np.flatnonzero(single.alone)[0])
    codes = responses.inputs.codes[row : row + 1].copy()
    codes[0, single.response.column] = single.neighbours[1]
    example = _build_example(
        context,
        responses,
        Points(context.space, codes),
        single.response.column,
        single.value,
        (float(single.answers[row, 2]), float(single.answers[row, 1])),
    )
    finding = Finding(
        check="response",
        about=feature,
        title=f"The value {value} of {feature} is answered unlike the values around it",
        level=level,
        sure=0.9,
        detail=f"{format_share(count, of, 'row')} get one answer at {lower} and at {upper}, and another one at {value}. "
        f"{evidence}",
        remedy=f"If {value} stands for a missing value, pass a missing value and impute it, or add a column that says "
        "that it is missing. If not, look for a special case in the code around the model.",
        cases=count,
        of=of,
        examples=(example,),
        counted_in_detail=True,
        affected_rows=len(single.data_rows),
        rows=len(context.inputs),
        answer_changes=True,
        inputs="given" if len(single.data_rows) else "changed",
    )
    own = single.answers[single.alone, 1]
    label = 0 if responses.numeric else int(np.bincount(own.astype(int)).argmax())
    table = Table(
        columns=[feature, "mean answer" if responses.numeric else f"share answered {_format_label(responses, label)}"],
        rows=[
            [
                _format_number(place),
                f"{np.nanmean(single.answers[:, i]):.4g}"
                if responses.numeric
                else format_percent(float(np.mean(single.answers[:, i] == label))),
            ]
            for i, place in enumerate((single.neighbours[0], single.value, single.neighbours[1]))
        ],
        sortable=False,
    )
    text = f"{pluralize(of, 'real row')}, each with these values of {feature} and its own values of everything else."
    return finding, Section(heading=f"The answer around {feature} {value}", text=text, table=table)


# -- the check ---------------------------------------------------------------------------------------


def check_response(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Look for shared cuts, islands and single values along every number."""
    responses = measure_responses(context, budget)
    numbers = [response for response in responses if response.kind != "categorical"]
    truth = encode_truth(context, responses)
    findings: list[Finding] = []
    basis = f"{pluralize(len(responses.inputs), 'row')} along {pluralize(len(numbers), 'number')}"

    def add(finding_and_section: tuple[Finding, Section]) -> None:
        finding, section = finding_and_section
        findings.append(replace(finding, sections=(section,)))  # its picture stands beside its text

    out_of_budget = not responses.complete
    try:
        cuts = find_cuts(context, budget, responses)
        trials = [] if truth is None or not cuts else _try_cuts(context, budget, responses, cuts, truth)
        refuted_trials = _judge_trials(responses, trials)
        for trial in refuted_trials:
            add(_build_cut_finding(context, responses, trial))
        known_features = {trial.cut.feature for trial in refuted_trials}
        for reversal in _find_reversals(cuts):
            if reversal.cut.feature in known_features:
                continue
            factor = _find_unit_factor(context, budget, responses, reversal)
            supported = any(
                trial.cut is reversal.cut and trial.p_value_against < SIGNIFICANCE_OF_VALUE for trial in trials
            )
            if factor is not None or not supported:
                reversal = _Reversal(
                    cut=reversal.cut, label=reversal.label, jump=reversal.jump, trend=reversal.trend, factor=factor
                )
                add(_build_reversal_finding(context, responses, reversal))
                known_features.add(reversal.cut.feature)
        for single in find_single_values(context, budget, responses):
            level, evidence = _judge_single_value(context, budget, responses, single, truth)
            if level is not None:
                add(_build_value_finding(context, responses, single, level, evidence))
    except Interrupted:
        raise
    except OutOfBudget:
        out_of_budget = True
        basis += "; there was no time for more"
    return CheckFindings(
        basis=basis,
        findings=findings,
        conclusive=not out_of_budget or bool(findings),
        skip_reason="budget spent" if out_of_budget else "",
    )


def _find_skip_reason(context: CheckContext) -> str:
    if not context.has_data:
        return "no real rows are given"
    if all(feature.kind == "categorical" for feature in context.space.features):
        return "no feature is a number"
    if len(context.inputs) < MIN_ROWS_TO_JUDGE:
        return "too few rows are given"
    return "the same case gets different answers" if context.unstable else ""


RESPONSE = Check(
    name="response",
    question="Does the answer jump at a value without support in the data?",
    weight=4,
    find_skip_reason=_find_skip_reason,
    run=check_response,
)
