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


def try_cuts(
    context: CheckContext, budget: CheckBudget, responses: Responses, cuts: Sequence[Cut], truth: Numbers
) -> list[CutTrial]:
    """Answer the real rows beside every cut with the value just on the other side of it, too."""
    row_numbers, answers = get_real_answers(context, budget, responses, MAX_REAL_ROWS)
    own_answers = np.full(len(context.inputs), np.nan)
    own_answers[row_numbers] = answers
    usable_rows = ~np.isnan(own_answers) & ~np.isnan(truth)
    limit = context.count_affordable(budget.remaining(0.5), MAX_ROWS_PER_SIDE, runs_per_case=2 * len(cuts))
    plans: list[tuple[Cut, Side, Cut | None, npt.NDArray[np.intp], npt.NDArray[np.intp], float]] = []
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
            if len(rows) < MIN_ROWS_TO_JUDGE:
                continue
            nearest = rows[np.argsort(np.abs(own_values[rows] - value), kind="stable")[:limit]]
            plans.append((cut, side, end, nearest, rows, value))
    if not plans:
        return []
    parts = [
        replace_feature(context.inputs.take(rows), cut.response.column, np.array([value]))
        for cut, _, _, rows, _, value in plans
    ]
    answers, _ = query_answers(context, budget, responses.codes, Points.concat(parts))
    trials, start = [], 0
    for cut, side, end, rows, region_rows, _ in plans:
        own, moved_answers = own_answers[rows], answers[start : start + len(rows)]
        start += len(rows)
        known = ~np.isnan(own) & ~np.isnan(moved_answers)
        trials.append(
            CutTrial(
                cut=cut,
                side=side,
                end=end,
                rows=rows[known],
                own=own[known],
                moved_answers=moved_answers[known],
                truth=truth[rows[known]],
                rows_in_region=len(region_rows),
                wrong_in_region=int((own_answers[region_rows] != truth[region_rows]).sum()),
                numeric=responses.numeric,
            )
        )
    return trials


def judge_trials(responses: Responses, trials: Sequence[CutTrial]) -> list[CutTrial]:
    """Return the trials in which the labels speak against the cut, at most one per feature and region."""
    min_gain = MIN_NUMBER_GAIN if responses.numeric else MIN_GAIN
    refuted_trials = [
        trial for trial in trials if trial.gain >= min_gain and trial.p_value < SIGNIFICANCE / max(len(trials), 1)
    ]
    best: dict[str, CutTrial] = {}
    for trial in refuted_trials:
        other = best.get(trial.cut.feature)
        if other is None or trial.p_value < other.p_value:
            best[trial.cut.feature] = trial
    return list(best.values())
