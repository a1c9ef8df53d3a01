"""Check whether answers that are numbers are possible: their range, repeated values, steps, large ones, values beyond the data.

Honest models are left alone: a linear model that goes a little below zero, trees that answer in steps, forests that shrink
extreme values. What is reported as a concern is far outside the labels, or clearly worse than a quick model on the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ..._stats import compute_wilson_interval
from ..._text import format_rounded, format_short, join_names, pluralise
from ...core.result import Example, Finding, Level, count_rows, format_share
from ...errors import BudgetSpent, DataError, ModelError, SystemFailed
from ...runs.flow import ask
from ...space.outputs import Outputs
from ...space.points import Points
from ...systems.estimator import Estimator
from ...trees.read import read_forest
from ..case_text import extract_case, format_answer, format_case, format_label, to_plain, to_plain_answer
from ..check import CheckBudget, CheckFindings, find_label_obstacle, get_facts, make_check, run_flow
from ..context import CheckContext
from ..judged_rows import JudgedRows
from ..responses import AnswerCodes
from ..rivals import Rivals, collect_rivals

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

MIN_ROWS = 50  # with an answer and a label
CONFIDENCE = 0.99  # of the intervals of shares
SIGNIFICANCE = 0.001  # of mean errors, one-sided

FAR_DEVIATIONS = 1.0  # standard deviations of the labels: answers farther outside their range are impossible
MIN_FAR_SHARE = 0.02  # of the answers, at the lower end of the interval
NEAR_DEVIATIONS = 0.05  # answers nearer to the range of the labels are inside
MIN_OUTSIDE_SHARE = 0.5  # of the answers outside the range of all labels, however little
MIN_NEGATIVE_SHARE = 0.005  # of the answers, at the lower end of the interval, where no label is negative

MIN_WRONG_NEGATIVE_SHARE = 0.05  # the same, for a concern
MIN_NEGATIVE_LOSS = 0.25  # mean error beyond the quick model's, in standard deviations of the labels, at the lower end

MIN_REPEATED_ROWS = 10  # with the same answer
MIN_REPEATED_SHARE = 0.005
MAX_REPEATED_SHARE = 0.8  # a model that answers the same for nearly all rows has learned nothing
MIN_REPEATED_RATIO = 3.0  # of the most frequent answer to the next one: trees repeat all of theirs
MIN_REPEATED_LOSS = 0.25  # mean error beyond the quick model's, in standard deviations of the labels, at the lower end
MAX_QUICK_RATIO = 0.5  # of the quick model's mean error, or mean residual, to the model's on these rows
MIN_DEFAULT_RATIO = 10.0  # the same three for an answer that is neither the smallest nor the largest
MIN_DEFAULT_LOSS = 0.1
MAX_DEFAULT_RATIO = 0.75
MIN_BOUND_RESIDUAL = 0.15  # standard deviations by which labels exceed a bound on average, at the lower end

MIN_STEPS, MAX_STEPS = 4, 500  # distinct answers that may be rounded
GRID_TOLERANCE = 1e-6  # of a step
MIN_STEP = 0.1  # of the standard deviation of the labels: finer rounding does not matter
MIN_ROUNDING_SHARE = 0.1  # of the mean squared error, for a concern
MAX_FEW_ANSWERS = 20
MIN_LABELS_PER_ANSWER = 5  # distinct ones: labels are finer than the answers

LARGE_SHARE = 0.1  # of the rows: those with the largest predictions of the quick model
MIN_LARGE_RESIDUAL = 0.5  # standard deviations of the labels, at the lower end
MAX_QUICK_RESIDUAL_RATIO = 1 / 3

RUNAWAY_STEP_SHARE = 0.1  # of the range of a feature, beyond its bounds: new data are soon there
RUNAWAY_ROWS = 30
MAX_RUNAWAY_FEATURES = 30
RUNAWAY_RANGES = 3.0  # of the labels, outside them
RUNAWAY_PROBES = 6  # within the range of a feature
MAX_CUBIC_RATIO = 1.5  # of the distance beyond the data to that of a cubic polynomial that moves as far within them
MAX_EXPONENTIAL_RATIO = 3.0  # the same of logarithms, to that of an exponential
MIN_RUNAWAY_SHARE = 0.2  # of the rows
MAX_NAMED_FEATURES = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class _LabelledAnswers:
    """Answers and labels of the rows that have both."""

    answers: Floats
    labels: Floats
    answer_rows: Rows  # their positions among the answers
    low: float  # the smallest label
    high: float
    deviation: float  # the standard deviation of the labels


def check_numbers(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Compare the answers with the range of the labels, and with a quick model."""
    numbers = _collect_numbers(context)
    if numbers is None:
        reason = f"fewer than {MIN_ROWS} rows have an answer and a label that is a number, or all labels are equal"
        return CheckFindings(basis=reason, conclusive=False, skip_reason="inapplicable")
    basis, out_of_budget = pluralise(len(numbers.answers), "answer"), False
    findings = _find_impossible(context, numbers)
    impossible = any(finding.level == "concern" for finding in findings)
    try:
        rivals = collect_rivals(context, budget)
        if rivals is not None and not rivals.classes:
            findings = [_judge_negative(context, budget, numbers, rivals, finding) for finding in findings]
            impossible = any(finding.level == "concern" for finding in findings)
            repeated = [] if impossible else _find_repeated(context, numbers, rivals)
            findings += repeated
            findings += _find_steps(context, numbers, rivals.data)
            if not repeated and not impossible:
                findings += _find_low_large_answers(context, numbers, rivals)
        findings += _find_runaway(context, budget, numbers)
    except (BudgetSpent, SystemFailed):
        basis, out_of_budget = f"{basis}; there was no time for more", True
    return CheckFindings(
        basis=basis,
        findings=findings,
        conclusive=not out_of_budget or bool(findings),
        skip_reason="budget spent" if out_of_budget else "",
    )


def _collect_numbers(context: CheckContext) -> _LabelledAnswers | None:
    assert context.answers is not None
    assert context.query_rows is not None
    assert context.truth is not None
    codes = AnswerCodes(True)
    answers = codes.encode(context.answers.values, context.answers.ok)
    truth = context.truth[context.query_rows]
    labels = codes.encode(truth, ~np.array([value is None or value != value for value in truth.tolist()], dtype=bool))
    rows = np.flatnonzero(np.isfinite(answers) & np.isfinite(labels))
    if len(rows) < MIN_ROWS:
        return None
    with np.errstate(over="ignore"):
        deviation = float(labels[rows].std())
    if not 0 < deviation < math.inf:
        return None
    return _LabelledAnswers(
        answers=answers[rows],
        labels=labels[rows],
        answer_rows=rows,
        low=float(labels[rows].min()),
        high=float(labels[rows].max()),
        deviation=deviation,
    )


# -- the range of the labels -------------------------------------------------------------------------------------------


def _find_impossible(context: CheckContext, numbers: _LabelledAnswers) -> list[Finding]:
    """Return a concern about answers far outside the labels, or advice about negative answers."""
    answers, total = numbers.answers, len(numbers.answers)
    margin = FAR_DEVIATIONS * numbers.deviation
    far = (answers < numbers.low - margin) | (answers > numbers.high + margin)
    near_margin = NEAR_DEVIATIONS * numbers.deviation
    outside = (answers < numbers.low - near_margin) | (answers > numbers.high + near_margin)
    labels_text = f"The labels lie between {format_short(numbers.low)} and {format_short(numbers.high)}."
    is_far = _get_low(far) >= MIN_FAR_SHARE
    if is_far or _get_low(outside) >= MIN_OUTSIDE_SHARE:
        rows = outside
        negative = numbers.low >= 0 and answers[rows].max() < 0
        title = (
            "Answers are negative, although no label is"
            if negative
            else "Answers lie far outside the range of the labels"
        )
        count = int(rows.sum())
        typical = _round(np.median(answers[rows]))
        far_text = (
            f" {format_share(int(far.sum()), total, 'answer')} are outside by more than one standard deviation of the labels."
            if is_far
            else ""
        )
        return [
            Finding(
                **get_facts("numbers.impossible"),
                title=f"{title}: typically {typical}",
                detail=f"{labels_text} {format_share(count, total, 'answer')} are outside this range.{far_text} The median of "
                f"these answers is {typical}, and that of the labels of their rows {_round(float(np.median(numbers.labels[rows])))}.",
                **count_rows(count, total),
                examples=_build_examples(context, numbers, np.flatnonzero(rows)),
            )
        ]
    negative_rows = answers < -GRID_TOLERANCE * numbers.deviation
    if numbers.low < 0 or _get_low(negative_rows) < MIN_NEGATIVE_SHARE:
        return []
    count, lowest = int(negative_rows.sum()), _round(answers.min())
    return [
        Finding(
            **get_facts("numbers.negative"),
            detail=f"{labels_text} {format_share(count, total, 'answer')} are negative, the lowest is {lowest}.",
            **count_rows(count, total),
            examples=_build_examples(context, numbers, np.array([int(answers.argmin())])),
        )
    ]


def _judge_negative(
    context: CheckContext, budget: CheckBudget, numbers: _LabelledAnswers, rivals: Rivals, finding: Finding
) -> Finding:
    """Return advice about negative answers as a concern if they are far more wrong than those of other models.

    A linear model of skewed labels also has negative answers. A plain linear model is as far off there.
    """
    rows = rivals.answers < 0
    if finding.level == "concern" or _get_low(rows) < MIN_WRONG_NEGATIVE_SHARE:
        return finding
    errors, quick_errors = rivals.data.errors[rows], rivals.data.reference_errors[rows]
    limit = MAX_QUICK_RATIO * errors.mean()
    if (
        _get_low_mean(errors - quick_errors) < MIN_NEGATIVE_LOSS * numbers.deviation
        or quick_errors.mean() > limit
        or any(
            rivals.measure_mean_error(model, rows) > limit
            for model in rivals.find_similar_models(context, budget, ~rows)
        )
    ):
        return finding
    return replace(
        finding,
        level="concern",
        title="Answers are negative, although no label is",
        detail=f"{finding.detail} Their mean error is {_round(errors.mean())}. A quick model fitted to other rows has "
        f"{_round(quick_errors.mean())} there, and no plain model that otherwise answers like this one is as far off.",
    )


def _get_low(inside: Mask) -> float:
    """Return the lower end of the interval of a share."""
    return compute_wilson_interval(int(inside.sum()), len(inside), CONFIDENCE)[0]


# -- one answer for many rows ------------------------------------------------------------------------------------------


def _find_repeated(context: CheckContext, numbers: _LabelledAnswers, rivals: Rivals) -> list[Finding]:
    """Return a concern if one answer stands for many rows that the quick model predicts far better: a bound or a default."""
    answers, predictions, data = rivals.answers, rivals.predictions, rivals.data
    values, places, counts = np.unique(answers, return_inverse=True, return_counts=True)
    if len(values) <= MAX_FEW_ANSWERS:  # as those of a small tree, or rounded ones
        return []
    order = np.argsort(-counts, kind="stable")
    value, count, next_count = float(values[order[0]]), int(counts[order[0]]), int(counts[order[1]])
    share = count / len(answers)
    if count < MIN_REPEATED_ROWS or not MIN_REPEATED_SHARE <= share <= MAX_REPEATED_SHARE:
        return []
    rows, text = places == order[0], _round(value)
    labels, errors, quick_errors = data.numbers[rows], data.errors[rows], data.reference_errors[rows]
    above = float((labels > value).mean())
    title, quick_loss = "", float(quick_errors.mean())
    for sign, is_end, words in (
        (1, value >= answers.max(), f"No answer is above {text}, although labels are"),
        (-1, value <= answers.min(), f"No answer is below {text}, although labels are"),
    ):
        # Rows that are chosen by their answer have labels on both sides of it, unless a bound moved the answer.
        residuals, quick_residual = sign * (labels - value), float(np.mean(sign * (labels - predictions[rows])))
        is_low = _get_low_mean(residuals) >= MIN_BOUND_RESIDUAL * numbers.deviation
        if is_end and is_low and abs(quick_residual) <= MAX_QUICK_RATIO * float(residuals.mean()):
            title = words
    loss = _get_low_mean(errors - quick_errors) / numbers.deviation
    # a bound among all other answers would be strange, so that less of a loss makes it a default
    is_alone = answers.min() < value < answers.max() and count >= MIN_DEFAULT_RATIO * next_count
    min_loss, max_ratio = (MIN_DEFAULT_LOSS, MAX_DEFAULT_RATIO) if is_alone else (MIN_REPEATED_LOSS, MAX_QUICK_RATIO)
    if not title and loss >= min_loss and quick_loss <= max_ratio * errors.mean():
        title = f"The model answers exactly {text} for many rows with other labels"
    if count < MIN_REPEATED_RATIO * next_count or not title:
        return []
    return [
        Finding(
            **get_facts("numbers.repeated"),
            about=text,
            title=title,
            detail=f"{format_share(count, len(answers), 'row')} get the answer {text}; the next most frequent answer is given "
            f"{pluralise(next_count, 'time')}. Their labels have the median {_round(float(np.median(labels)))}, and {100 * above:.3g}% of "
            f"them are larger. The mean error there is {_round(errors.mean())}. A quick model fitted to other rows has "
            f"{_round(quick_loss)}; its predictions there have the median {_round(float(np.median(predictions[rows])))}.",
            **count_rows(count, len(answers)),
            examples=_build_judged_examples(context, data, rows),
        )
    ]


# -- steps -------------------------------------------------------------------------------------------------------------


def _find_steps(context: CheckContext, numbers: _LabelledAnswers, data: JudgedRows) -> list[Finding]:
    """Return a finding if answers are rounded coarsely, or if there are only a few of them, and labels are finer."""
    values, label_count = np.unique(numbers.answers), len(np.unique(numbers.labels))
    if not 2 <= len(values) <= MAX_STEPS or label_count < MIN_LABELS_PER_ANSWER * len(values):
        return []
    step = _find_step(values)
    if step is not None and step >= MIN_STEP * numbers.deviation:
        squared_error = float(np.mean((numbers.answers - numbers.labels) ** 2))
        share = step**2 / 12 / max(squared_error, 1e-300)  # the variance of rounding errors
        level: Level = "concern" if share >= MIN_ROUNDING_SHARE else "advice"
        return [
            Finding(
                **get_facts("numbers.steps"),
                about="steps",
                title=f"Answers are rounded to steps of {_round(step)}, labels are finer",
                level=level,
                detail=f"{pluralise(len(numbers.answers), 'answer')} have {len(values):,} different values, at equal distances of "
                f"{_round(step)}; the labels have {label_count:,}. A step is {step / numbers.deviation:.2g} standard deviations of the "
                f"labels. Rounding alone makes {100 * min(1.0, share):.3g}% of the mean squared error.",
                **count_rows(len(numbers.answers), len(numbers.answers)),
                examples=_build_examples(context, numbers, np.array([0])),
            )
        ]
    if len(values) > MAX_FEW_ANSWERS or _has_trees(context):
        return []
    distinct_inputs = len(np.unique(context.inputs.codes, axis=0))
    loss = _get_low_mean(data.errors - data.reference_errors)
    if distinct_inputs < MIN_LABELS_PER_ANSWER * len(values) or loss < NEAR_DEVIATIONS * numbers.deviation:
        return []
    return [
        Finding(
            **get_facts("numbers.steps"),
            about="few answers",
            title=f"There are only {len(values)} different answers, although the labels are fine",
            level="advice",
            detail=f"{pluralise(len(numbers.answers), 'answer')} have {len(values)} different values, the labels {label_count:,}. "
            f"The mean error is {_round(data.errors.mean())}, that of a quick model fitted to other rows "
            f"{_round(data.reference_errors.mean())}.",
            **count_rows(len(numbers.answers), len(numbers.answers)),
            examples=_build_examples(context, numbers, np.array([0])),
        )
    ]


def _find_step(values: Floats) -> float | None:
    """Return the step of numbers that are all multiples of it, apart from a common offset; None if there is none.

    Examples
    --------
    >>> _find_step(np.array([0.5, 1.5, 2.5, 4.5])), _find_step(np.array([0.5, 1.4, 2.5, 4.5]))
    (1.0, None)
    """
    if len(values) < MIN_STEPS:
        return None
    gaps = np.diff(values)
    step = float(gaps.min())
    if step <= 0 or not math.isfinite(float(gaps.max())):
        return None
    multiples = gaps / step
    return step if (np.abs(multiples - np.rint(multiples)) <= GRID_TOLERANCE * multiples).all() else None


def _has_trees(context: CheckContext) -> bool:
    """Tell whether the model is known to be made of trees, which answer in steps."""
    if not isinstance(context.sut, Estimator):
        return False
    try:
        steps = getattr(context.sut.model, "steps", None)
        read_forest(steps[-1][1] if steps else context.sut.model)
    except (ModelError, DataError, AttributeError, TypeError, ValueError, ImportError):
        return False
    return True


# -- large answers, and values beyond the data -------------------------------------------------------------------------


def _find_low_large_answers(context: CheckContext, numbers: _LabelledAnswers, rivals: Rivals) -> list[Finding]:
    """Return advice if answers are far too low where the quick model predicts its largest values, and is right."""
    data, predictions = rivals.data, rivals.predictions
    rows = predictions >= np.quantile(predictions, 1 - LARGE_SHARE)
    residuals = (data.numbers - rivals.answers)[rows]
    quick_residuals = (data.numbers - predictions)[rows]
    if len(residuals) < MIN_ROWS // 2:
        return []
    low = _get_low_mean(residuals)
    mean, quick_mean = float(residuals.mean()), float(quick_residuals.mean())
    if low < MIN_LARGE_RESIDUAL * numbers.deviation or abs(quick_mean) > MAX_QUICK_RESIDUAL_RATIO * mean:
        return []
    count = int((residuals > 0).sum())
    return [
        Finding(
            **get_facts("numbers.large"),
            detail=f"Among the tenth of the rows for which a quick model predicts most, labels exceed the answers by {_round(mean)} on "
            f"average (at least {_round(low)}), and the predictions of the quick model by {_round(quick_mean)}. "
            f"{format_share(count, len(residuals), 'row')} of them get too low an answer.",
            **count_rows(count, len(residuals)),
            examples=_build_judged_examples(context, data, rows),
        )
    ]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Departure:
    """A value of a feature beyond the data, the same for some rows, with their answers."""

    column: int
    part: float  # of the range of the feature, between the data and the value; negative below the data
    points: Points
    outputs: Outputs
    answers: Floats


def _find_runaway(context: CheckContext, budget: CheckBudget, numbers: _LabelledAnswers) -> list[Finding]:
    """Return a concern if answers leave the range of the labels by far when a feature leaves its own range."""
    origins = context.inputs.take(_choose_rows(context, numbers))
    limit = RUNAWAY_RANGES * (numbers.high - numbers.low)
    ranges = dict(list(_list_ranges(context).items())[:MAX_RUNAWAY_FEATURES])
    values = [
        (column, part, (high if part > 0 else low) + part * (high - low))
        for column, (low, high) in ranges.items()
        for part in (RUNAWAY_STEP_SHARE, -RUNAWAY_STEP_SHARE, 1.0, -1.0)
    ]
    values = [item for item in values if item[2] >= 0 or ranges[item[0]][0] < 0]  # amounts cannot be negative
    departures = [
        (departure, away)
        for departure in _ask_values(context, budget, origins, values)
        if (away := _is_away(departure, numbers, limit)).mean() >= MIN_RUNAWAY_SHARE
    ]
    columns = sorted({departure.column for departure, _ in departures})
    probes = [
        (column, 0.0, float(value)) for column in columns for value in np.linspace(*ranges[column], RUNAWAY_PROBES)
    ]
    inner = _ask_values(context, budget, origins, probes)
    departures = [
        (departure, away)
        for departure, is_away in departures
        if inner and (away := is_away & _is_steeper(departure, inner)).mean() >= MIN_RUNAWAY_SHARE
    ]
    if not departures:
        return []
    departures.sort(key=lambda item: (abs(item[0].part), -item[1].mean()))
    names = list(dict.fromkeys(context.space.names[departure.column] for departure, _ in departures))
    return [_build_runaway_finding(numbers, *departures[0], names)]


def _list_ranges(context: CheckContext) -> dict[int, tuple[float, float]]:
    """Return the smallest and the largest value of each number without declared bounds, by its column."""
    ranges = {}
    for column in context.space.scalars:
        feature = context.space.features[column]
        known = context.inputs.codes[:, column]
        known = known[np.isfinite(known)]
        if feature.numeric and feature.name not in context.declared_bounds and 0 < np.ptp(known) < math.inf:
            ranges[column] = (float(known.min()), float(known.max()))
    return ranges


def _ask_values(
    context: CheckContext, budget: CheckBudget, origins: Points, values: Sequence[tuple[int, float, float]]
) -> list[_Departure]:
    """Return the answers to rows with other values of a column each; none if there are too many for the budget."""
    total = len(values) * len(origins)
    if not total or context.count_affordable(budget.remaining(0.5), total) < total:
        return []
    parts = []
    for column, _, value in values:
        changed = origins.codes.copy()
        changed[:, column] = math.ceil(value) if context.space.features[column].kind == "integer" else value
        parts.append(Points(context.space, np.asfortranarray(changed)))
    outputs = run_flow(context, budget, ask(Points.concat(parts)), part=0.7)
    answers = AnswerCodes(True).encode(outputs.values, outputs.ok).reshape(len(values), len(origins))
    return [
        _Departure(
            column=column,
            part=part,
            points=points,
            outputs=outputs.take(slice(place * len(origins), (place + 1) * len(origins))),
            answers=answers[place],
        )
        for place, ((column, part, _), points) in enumerate(zip(values, parts, strict=True))
    ]


def _is_away(departure: _Departure, numbers: _LabelledAnswers, limit: float) -> Mask:
    answers = departure.answers
    return (answers < numbers.low - limit) | (answers > numbers.high + limit) | np.isinf(answers)


def _is_steeper(departure: _Departure, probes: Sequence[_Departure]) -> Mask:
    """Tell which answers move farther than lines, cubic polynomials and exponentials do, given probes all along the range.

    Beyond the data by a whole range, a line moves as far again, a cubic polynomial 7 times as far, and the logarithm of an
    exponential as far again.
    """
    part, outer = abs(departure.part), departure.answers
    inner = np.stack([probe.answers for probe in probes if probe.column == departure.column])
    nearest = inner[-1 if departure.part > 0 else 0]
    is_far = np.abs(outer - nearest) > MAX_CUBIC_RATIO * ((1 + part) ** 3 - 1) * np.ptp(inner, axis=0)
    positive = (inner > 0).all(axis=0) & (outer > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        is_steep = np.abs(np.log(outer / nearest)) > MAX_EXPONENTIAL_RATIO * part * np.ptp(np.log(inner), axis=0)
    return np.asarray(is_far & (is_steep | ~positive))


def _choose_rows(context: CheckContext, numbers: _LabelledAnswers) -> Rows:
    """Return rows of the inputs whose answers are within the range of the labels."""
    assert context.query_rows is not None
    usual = (numbers.answers >= numbers.low) & (numbers.answers <= numbers.high)
    rows = context.query_rows[numbers.answer_rows[usual]]
    return np.sort(np.random.default_rng([context.seed, 51]).permutation(rows)[:RUNAWAY_ROWS])


def _build_runaway_finding(numbers: _LabelledAnswers, departure: _Departure, away: Mask, names: list[str]) -> Finding:
    row = int(np.flatnonzero(away)[0])
    case, word = extract_case(departure.points, row), "above" if departure.part > 0 else "below"
    more = f" and {len(names) - MAX_NAMED_FEATURES} more" if len(names) > MAX_NAMED_FEATURES else ""
    named = ", ".join(names[:MAX_NAMED_FEATURES]) + more if more else join_names(names)
    distance = "as far as its range is wide" if abs(departure.part) == 1 else "a tenth of its range"
    return Finding(
        **get_facts("numbers.runaway"),
        about=names[0],
        title=f"Answers run away beyond the data: {named}",
        detail=f"The labels lie between {format_short(numbers.low)} and {format_short(numbers.high)}. With {names[0]} {distance} "
        f"{word} the data, {format_share(int(away.sum()), len(away), 'row')} get an answer that is more than "
        f"{RUNAWAY_RANGES:.0f} such ranges outside. Lines, exponentials and polynomials of degree 3 do not go so far.",
        cases=int(away.sum()),
        cases_tried=len(away),
        counted_in_detail=True,
        noun="row",
        columns=tuple(names),
        examples=(
            Example(
                text=f"{format_case(case)}: {format_answer(departure.outputs, row)}",
                case=case,
                answer=to_plain_answer(departure.outputs, row),
            ),
        ),
    )


# -- common ------------------------------------------------------------------------------------------------------------


def _round(value: float | np.floating) -> str:
    """Return a number with four digits for a sentence."""
    return format_rounded(float(value), digits=4)


def _get_low_mean(values: Floats) -> float:
    """Return the lower end of the interval of a mean."""
    margin = NormalDist().inv_cdf(1 - SIGNIFICANCE)
    return float(values.mean() - margin * values.std() / math.sqrt(max(1, len(values))))


def _build_examples(context: CheckContext, numbers: _LabelledAnswers, rows: Rows) -> tuple[Example, ...]:
    """Return the row with the largest error."""
    assert context.answers is not None
    assert context.query_rows is not None
    row = int(rows[np.abs(numbers.answers - numbers.labels)[rows].argmax()])
    answer_row = int(numbers.answer_rows[row])
    position = int(context.query_rows[answer_row])
    return (_build_example(context, position, answer_row, float(numbers.labels[row])),)


def _build_judged_examples(context: CheckContext, data: JudgedRows, rows: Mask) -> tuple[Example, ...]:
    """Return the row that the quick model predicts better by most."""
    row = data.find_clearest_row(rows)
    return (_build_example(context, int(data.rows[row]), int(data.answer_rows[row]), float(data.numbers[row])),)


def _build_example(context: CheckContext, position: int, answer_row: int, label: float) -> Example:
    assert context.answers is not None
    case = extract_case(context.inputs, position)
    answer, label_text = format_answer(context.answers, answer_row), format_label(to_plain(label))
    return Example(
        text=f"{format_case(case)}: {answer}, its label is {label_text}",
        case=case,
        answer=to_plain_answer(context.answers, answer_row),
        row=position,
    )


def _find_skip_reason(context: CheckContext) -> str:
    return find_label_obstacle(context, numeric=True)


NUMBERS = make_check("numbers", check_numbers, _find_skip_reason)
