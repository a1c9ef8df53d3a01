"""Find cuts: values of a number at which the answer jumps for many rows at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....space.features import Codes, Mask
from ....space.points import Points
from ...check import CheckBudget
from ...context import SCORE_COST, CheckContext
from ...responses import Numbers, Response, Responses, compute_levels, query_answers, replace_feature

MIN_CUT_SHARE = 0.1  # of the rows that jump at one value; a cut for fewer rows affects few real ones
MIN_LEVEL_JUMP = 0.2  # of a score between 0 and 1: a forest's score wiggles by less
MIN_NUMBER_JUMP = 0.5  # of a number, in standard deviations of the answers
MAX_STEPS_PER_FEATURE = 4  # between swept values, that are searched for a cut
MAX_STEPS = 16
PARTS_PER_ROUND = 16  # a step is divided so often in each of the rounds
NARROWING_ROUNDS = 2
MAX_ROWS_PER_STEP = 30  # that locate the cut
MIN_ROWS_PER_STEP = 5
MIN_AGREEMENT = 0.25  # of the rows of a step that jump in the same one of its parts; by chance one in 16 does
SHARP_STEP_CONTRAST = 3.0  # a jump between neighbouring whole numbers, compared with the usual step between them
MAX_VALUES_TO_NAME = 100  # of a feature in the data, for a cut to be reported as lying between two of them
MIN_SMOOTH_SHARE = 0.9  # of tiny steps that change the score: no tree does that


@dataclass(eq=False, kw_only=True)
class JumpStep:
    """A step between two values of a feature within which the answer jumps for many rows."""

    response: Response
    low: float
    high: float
    rows: npt.NDArray[np.intp]  # of the sample, that jump within it
    smooth: bool = False  # whether the score changes in nearly all tiny parts beside the jump


@dataclass(frozen=True, eq=False, kw_only=True)
class Cut:
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
    neighbours: tuple[float, float] | None = None  # the values of the data beside it, if the feature takes few values

    @property
    def feature(self) -> str:
        """The name of the feature."""
        return self.response.feature

    @property
    def place(self) -> float:
        """The shortest number between the two values."""
        return find_shortest_number(self.low, self.high)

    @property
    def values_beside(self) -> tuple[float, float]:
        """Values just below and just above the cut, of the data or with few digits."""
        if self.neighbours is not None:
            return self.neighbours
        if self.response.kind == "integer":
            return self.low, self.high
        width = 4 * (self.high - self.low)
        below = -find_shortest_number(-self.low, -self.low + width)
        return below, find_shortest_number(self.high, self.high + width)

    @property
    def changed(self) -> int:
        """How many rows of the sample get another answer, not only another score."""
        return int((np.abs(self.before - self.after) > self.response.rounding).sum())


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


def find_jumps(response: Response, before: Numbers, after: Numbers, levels: tuple[Numbers, Numbers] | None) -> Mask:
    """Return which answers jump: another label, a score that moves far, or a number that does."""
    if response.numeric:
        known = response.own_answers[~np.isnan(response.own_answers)]
        spread = float(known.std()) if len(known) else 0.0
        return np.greater(np.abs(before - after), max(MIN_NUMBER_JUMP * spread, response.rounding))
    jumps = np.abs(before - after) > 0
    if levels is not None:
        jumps = jumps | (np.abs(levels[0] - levels[1]).max(axis=-1) >= MIN_LEVEL_JUMP)
    return np.asarray(jumps & ~np.isnan(before) & ~np.isnan(after))


def _find_steps(responses: Responses) -> list[JumpStep]:
    """Return the steps between swept values at which many rows jump, most rows first."""
    steps: list[JumpStep] = []
    for response in responses:
        if response.kind == "categorical" or len(response.values) < 2:
            continue
        levels = response.levels
        jumps = find_jumps(
            response,
            response.answers[:, :-1],
            response.answers[:, 1:],
            None if levels is None else (levels[:, :-1], levels[:, 1:]),
        )
        shares = jumps.mean(axis=0)
        best = np.argsort(-shares, kind="stable")[:MAX_STEPS_PER_FEATURE]
        steps += [
            JumpStep(
                response=response,
                low=float(response.values[j]),
                high=float(response.values[j + 1]),
                rows=np.flatnonzero(jumps[:, j]),
            )
            for j in best.tolist()
            if shares[j] >= MIN_CUT_SHARE
        ]
    return sorted(steps, key=lambda step: -len(step.rows))[:MAX_STEPS]


def _divide(step: JumpStep) -> Codes:
    values = np.linspace(step.low, step.high, PARTS_PER_ROUND + 1)
    return np.unique(np.round(values)) if step.response.kind == "integer" else values


def _narrow(
    context: CheckContext, budget: CheckBudget, responses: Responses, steps: Sequence[JumpStep]
) -> list[JumpStep]:
    """Divide all steps together, and keep the part of each within which most of its rows jump."""
    values = [_divide(step) for step in steps]
    wants_scores = any(step.response.levels is not None for step in steps)
    cost = (SCORE_COST if wants_scores else 1.0) * sum(map(len, values))
    limit = context.count_affordable(
        budget.remaining(0.3), MAX_ROWS_PER_STEP, runs_per_case=cost, minimum=MIN_ROWS_PER_STEP
    )
    rows = [step.rows[:limit] for step in steps]
    parts = [
        replace_feature(responses.inputs.take(row_numbers), step.response.column, step_values)
        for step, row_numbers, step_values in zip(steps, rows, values, strict=True)
    ]
    answers, scores = query_answers(context, budget, responses.codes, Points.concat(parts), wants_scores)
    all_levels = None if scores is None else compute_levels(scores, context.sut.score_kind)
    narrower_steps: list[JumpStep] = []
    start = 0
    for step, row_numbers, step_values in zip(steps, rows, values, strict=True):
        shape = len(row_numbers), len(step_values)
        block = slice(start, start + shape[0] * shape[1])
        start = block.stop
        grid = answers[block].reshape(shape)
        levels = None if all_levels is None else all_levels[block].reshape(*shape, -1)
        pairs = None if levels is None else (levels[:, :-1], levels[:, 1:])
        jumps = find_jumps(step.response, grid[:, :-1], grid[:, 1:], pairs)
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
            JumpStep(
                response=step.response,
                low=float(step_values[best]),
                high=float(step_values[best + 1]),
                rows=row_numbers[jumps[:, best]],
                smooth=smooth,
            )
        )
    return narrower_steps


def find_cuts(context: CheckContext, budget: CheckBudget, responses: Responses) -> list[Cut]:
    """Return the places at which the answer jumps for many rows at once, located to a small part of a step."""
    steps = _find_steps(responses)
    for _ in range(NARROWING_ROUNDS):
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
        jumps = find_jumps(step.response, before, after, ends)
        if jumps.mean() < MIN_CUT_SHARE or not _is_sharp(step, jumps):
            continue
        cuts.append(
            Cut(
                response=step.response,
                low=step.low,
                high=step.high,
                before=before,
                after=after,
                before_levels=None if ends is None else ends[0],
                after_levels=None if ends is None else ends[1],
                jumps=jumps,
                smooth=step.smooth,
                neighbours=_find_neighbours(context.inputs.codes[:, step.response.column], step),
            )
        )
    return sorted(cuts, key=lambda cut: (cut.response.column, cut.low))


def _find_neighbours(values: Codes, step: JumpStep) -> tuple[float, float] | None:
    """Return the values between which a cut lies: of the data, if they are few, or neighbouring whole numbers."""
    distinct_values = np.unique(values[~np.isnan(values)])
    below, above = distinct_values[distinct_values <= step.low], distinct_values[distinct_values >= step.high]
    if len(distinct_values) <= MAX_VALUES_TO_NAME and len(below) and len(above):
        return float(below[-1]), float(above[0])
    return (step.low, step.high) if step.response.kind == "integer" and step.high - step.low <= 1 else None


def _is_sharp(step: JumpStep, jumps: Mask) -> bool:
    """Tell whether the jump is more than the usual step between whole numbers; real numbers were divided finely enough."""
    values = step.response.values
    span = float(np.ptp(values)) or 1.0
    if step.high - step.low <= 0.01 * span:
        return True
    steps = step.response.steps
    usual = float(steps.mean(axis=0).sum()) * (step.high - step.low) / span  # share of rows per whole number
    return float(jumps.mean()) >= SHARP_STEP_CONTRAST * usual


def choose_label(cut: Cut) -> int:
    """Return the label whose score, or frequency, changes most at a cut."""
    if cut.response.numeric:
        return 0
    if cut.before_levels is not None and cut.after_levels is not None:
        return int(np.abs(np.nanmean(cut.after_levels - cut.before_levels, axis=0)).argmax())
    labels = np.unique(cut.after[~np.isnan(cut.after)]).astype(int).tolist()
    return max(labels, key=lambda label: int((cut.after == label).sum()) - int((cut.before == label).sum()))
