"""Judge cuts by the labels: are real rows answered better with the value on the other side?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ....space.features import Mask
from ....space.points import Points
from ...check import CheckBudget
from ...context import CheckContext
from ...responses import Numbers, Responses, get_real_answers, query_answers, replace_feature
from .cuts import Cut

MAX_REAL_ROWS = 2_000  # whose own answers are known
MAX_ROWS_PER_SIDE = 150  # real rows nearest to a cut, compared with their labels
MIN_GAIN = 0.1  # of the accuracy: 1 row in 10 is answered wrongly because of the cut
MIN_NUMBER_GAIN = 0.25  # of the mean absolute error, in standard deviations of the labels
SIGNIFICANCE = 0.01  # of all comparisons with labels together
MIN_CLEAR_GAIN = 0.05  # the same two where more rows tell more
CLEAR_SIGNIFICANCE = 1e-5
MIN_GAIN_OF_ERRORS = 0.25  # of the wrong answers that a cut must be the cause of, if it costs less of the accuracy
MAX_DOUBTFUL_P_VALUE = 0.1  # the p-value of trials that are repeated with more rows
MAX_ROWS_IN_DOUBT = 1_000
MIN_ROWS_TO_JUDGE = 10

Side = Literal["above", "below"]


@dataclass(frozen=True, eq=False, kw_only=True)
class CutTrial:
    """Real rows on one side of a cut, answered as they are and with the value just on the other side."""

    cut: Cut
    side: Side
    end: Cut | None  # the next cut, at the far end of the rows
    rows: npt.NDArray[np.intp]  # among all inputs, the nearest to the cut first
    own: Numbers  # the answers to the rows as they are
    moved_answers: Numbers  # with the value on the other side
    truth: Numbers
    rows_in_region: int  # all real rows between the two cuts
    wrong_in_region: int  # of these, the rows that are not answered as they are labelled
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


def compare_answers(
    own: Numbers, moved_answers: Numbers, truth: Numbers, *, numeric: bool
) -> tuple[float, int, int, float, float]:
    """Compare two answers to the same rows with their labels.

    Return how much better the second answers are, for how many rows they are better and worse, and the one-sided p-values
    that they are better and that they are worse (sign test for labels, signed ranks for numbers).
    """
    from scipy import stats  # takes a second

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


@dataclass(frozen=True, eq=False, kw_only=True)
class _Plan:
    """A trial that can be made with any number of rows."""

    cut: Cut
    side: Side
    end: Cut | None
    rows: npt.NDArray[np.intp]  # all between the two cuts, the nearest first
    value: float  # just on the other side


def try_cuts(
    context: CheckContext, budget: CheckBudget, responses: Responses, cuts: Sequence[Cut], truth: Numbers
) -> list[CutTrial]:
    """Answer the real rows beside every cut with the value just on the other side of it, too.

    Trials that are in doubt are repeated with more rows.
    """
    row_numbers, answers = get_real_answers(context, budget, responses, MAX_REAL_ROWS)
    own_answers = np.full(len(context.inputs), np.nan)
    own_answers[row_numbers] = answers
    limit = context.count_affordable(budget.remaining(0.5), MAX_ROWS_PER_SIDE, runs_per_case=2 * len(cuts))
    plans = _plan_trials(context, cuts, ~np.isnan(own_answers) & ~np.isnan(truth))
    trials = _try_plans(context, budget, responses, plans, own_answers, truth, limit)
    doubtful = [
        place
        for place, trial in enumerate(trials)
        if not trial.numeric
        and trial.gain > 0
        and trial.p_value < MAX_DOUBTFUL_P_VALUE
        and len(plans[place].rows) > limit
    ]
    limit = context.count_affordable(budget.remaining(0.5), MAX_ROWS_IN_DOUBT, runs_per_case=max(1, len(doubtful)))
    doubtful_plans = [plans[place] for place in doubtful]
    repeated = _try_plans(context, budget, responses, doubtful_plans, own_answers, truth, limit)
    for place, trial in zip(doubtful, repeated, strict=True):
        if len(trial.rows) > len(trials[place].rows) and not _is_refuted(trials[place], len(trials)):
            trials[place] = trial
    return trials


def _plan_trials(context: CheckContext, cuts: Sequence[Cut], usable_rows: Mask) -> list[_Plan]:
    """Return a trial for each side of each cut that has enough rows."""
    plans = []
    for cut in cuts:
        same = [other for other in cuts if other.response is cut.response]
        own_values = context.inputs.codes[:, cut.response.column]
        usable = ~np.isnan(own_values) & usable_rows
        above = min((other for other in same if other.low > cut.low), key=lambda other: other.low, default=None)
        below = max((other for other in same if other.low < cut.low), key=lambda other: other.low, default=None)
        ceiling, floor = np.inf if above is None else above.low, -np.inf if below is None else below.high
        value_below, value_above = cut.values_beside
        sides: list[tuple[Side, Mask, float, Cut | None]] = [
            ("above", usable & (own_values >= cut.high) & (own_values <= ceiling), value_below, above),
            ("below", usable & (own_values <= cut.low) & (own_values >= floor), value_above, below),
        ]
        for side, inside, value, end in sides:
            rows = np.flatnonzero(inside)
            if len(rows) >= MIN_ROWS_TO_JUDGE:
                nearest = rows[np.argsort(np.abs(own_values[rows] - value), kind="stable")]
                plans.append(_Plan(cut=cut, side=side, end=end, rows=nearest, value=value))
    return plans


def _try_plans(
    context: CheckContext,
    budget: CheckBudget,
    responses: Responses,
    plans: Sequence[_Plan],
    own_answers: Numbers,
    truth: Numbers,
    limit: int,
) -> list[CutTrial]:
    """Return the trials with at most so many rows each."""
    if not plans:
        return []
    parts = [
        replace_feature(context.inputs.take(plan.rows[:limit]), plan.cut.response.column, np.array([plan.value]))
        for plan in plans
    ]
    answers, _ = query_answers(context, budget, responses.codes, Points.concat(parts))
    trials, start = [], 0
    for plan in plans:
        rows = plan.rows[:limit]
        own, moved_answers = own_answers[rows], answers[start : start + len(rows)]
        start += len(rows)
        known = ~np.isnan(own) & ~np.isnan(moved_answers)
        trials.append(
            CutTrial(
                cut=plan.cut,
                side=plan.side,
                end=plan.end,
                rows=rows[known],
                own=own[known],
                moved_answers=moved_answers[known],
                truth=truth[rows[known]],
                rows_in_region=len(plan.rows),
                wrong_in_region=int((own_answers[plan.rows] != truth[plan.rows]).sum()),
                numeric=responses.numeric,
            )
        )
    return trials


def judge_trials(trials: Sequence[CutTrial]) -> list[CutTrial]:
    """Return the trials in which the labels speak against the cut, at most one per feature and region."""
    best: dict[str, CutTrial] = {}
    for trial in trials:
        other = best.get(trial.cut.feature)
        if _is_refuted(trial, len(trials)) and (other is None or trial.p_value < other.p_value):
            best[trial.cut.feature] = trial
    return list(best.values())


def _is_refuted(trial: CutTrial, trial_count: int) -> bool:
    """Tell whether the labels speak against a cut: much of the accuracy, or much of what is wrong, depends on it."""
    p_value = trial.p_value * max(trial_count, 1)
    if trial.numeric:
        return trial.gain >= MIN_NUMBER_GAIN and p_value < SIGNIFICANCE
    wrong_share = float((trial.own != trial.truth).mean()) if len(trial.truth) else 0.0
    is_clear = trial.gain >= max(MIN_CLEAR_GAIN, MIN_GAIN_OF_ERRORS * wrong_share) and p_value < CLEAR_SIGNIFICANCE
    return is_clear or (trial.gain >= MIN_GAIN and p_value < SIGNIFICANCE)
