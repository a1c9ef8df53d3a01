"""Check the scores of a classifier: against its own answers, as probabilities, and against the labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._text import format_percent, format_short, pluralise
from ...core.result import Example, Finding, Level, count_rows, format_share
from ...reporting.document import Section, Table
from ...runs.flow import ask
from ...space.labels import to_object_array
from ...space.outputs import Outputs
from ...space.points import Points
from ...systems.base import Executor
from ...systems.estimator import Estimator
from ..case_text import extract_case, format_answer, format_case, format_label, to_plain_answer
from ..check import CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext
from ..labels import UNMATCHED_LABELS, align_labels, find_missing_labels
from ..rivals import get_explained_rows

FloatMatrix = npt.NDArray[np.float64]

MAX_SCORE_ROWS = 2_000
MAX_DECISION_ROWS = 500
ROUNDING = 1e-5  # float32 probabilities may leave [0, 1] by less
MAX_SUM_ERROR = 0.01  # probabilities rounded to two digits keep it, for two classes
NEAR_TIE = 0.02  # two probabilities that differ by less may be ranked either way, for example after rounding
NEAR_ZERO = 1e-3  # a decision value this small, relative to the usual ones, may have either sign
MIN_CONTRADICTION_SHARE = 0.01  # of the rows; fewer are advice
MIN_EXPLAINED_SHARE = 0.95  # of the answers, by another order of the columns or another threshold
#: Models whose labels and probabilities are computed by two different rules, as their documentation says.
TWO_RULE_MODELS = {
    "SVC": "its probabilities come from a second fit by cross-validation",
    "NuSVC": "its probabilities come from a second fit by cross-validation",
    "FixedThresholdClassifier": "it decides at a threshold of its own",
    "TunedThresholdClassifierCV": "it decides at a threshold of its own",
}

MAX_EXPLAINED_SHARE = (
    0.05  # of the rows, whose errors another finding explains; with more, probabilities cannot be right
)
MIN_CALIBRATION_ROWS = 100
CALIBRATION_BINS = 10
CALIBRATION_SIGNIFICANCE = 0.001
MIN_CALIBRATION_ERROR = 0.05  # a smaller difference between said and true shares hardly changes a decision
EXTREME_CALIBRATION_ERROR = 0.15  # together with the factor below, it is no longer a matter of taste
MIN_ERROR_RATIO = 3.0  # to the calibration error of the reference model, which has not seen the rows
SMALLEST_REFERENCE_ERROR = 0.02  # a calibration error that any sample of some thousand rows has
LEAST_DOUBT = 0.005  # a probability of 0 or 1 counts as this far from it, so that one wrong row is not infinitely bad


def check_scores(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Compare the answers with the probabilities and decision values, and check that probabilities are probabilities."""
    rows = context.count_affordable(budget.remaining(0.6), MAX_SCORE_ROWS, runs_per_case=2, calls=4)
    inputs = context.sample_inputs(rows)
    findings: list[Finding] = []
    basis = []
    system = _find_scored_system(context.sut, "probability")
    has_answers = context.answers is not None and bool(context.answers.ok.any())
    if system is not None:
        name = "predict_proba" if isinstance(system, Estimator) else "the probabilities"
        first = run_flow(context, budget, ask(inputs.take(slice(0, 1)), scores=True), system)
        if isinstance(system, Estimator) and not first.ok.all() and has_answers:
            findings.append(_build_failure_finding(inputs, first))
        else:
            outputs = run_flow(context, budget, ask(inputs, scores=True), system)
            basis.append(f"{name} of {pluralise(len(outputs), 'row')}")
            findings += _judge_probabilities(context, inputs, outputs, name)
            if not any(finding.level == "fault" or finding.about == "columns" for finding in findings):
                context.score_rows, context.probabilities = context.sample_rows(rows), outputs.scores
    system = _find_scored_system(context.sut, "decision")
    if system is not None and isinstance(system, Estimator) and hasattr(system.model, "decision_function"):
        some_inputs = inputs.take(slice(0, MAX_DECISION_ROWS))
        outputs = run_flow(context, budget, ask(some_inputs, scores=True), system)
        basis.append(f"decision_function of {pluralise(len(outputs), 'row')}")
        findings += _compare_decisions(context, some_inputs, outputs)
    if context.has_data:
        findings = _name_rows(findings, context.sample_rows(rows))
    if not basis and not findings:
        return CheckFindings(basis="no scores were given", conclusive=False, skip_reason="inapplicable")
    return CheckFindings(basis=", ".join(basis), findings=findings)


def _name_rows(findings: Sequence[Finding], positions: npt.NDArray[np.intp]) -> list[Finding]:
    """Return findings whose examples name the rows of the data instead of those of the sample."""
    return [
        replace(
            finding,
            examples=tuple(
                example if example.row is None else replace(example, row=int(positions[example.row]))
                for example in finding.examples
            ),
        )
        for finding in findings
    ]


def _find_scored_system(system: Executor, kind: str) -> Executor | None:
    """Return the system with scores of a kind; None if it has none."""
    if isinstance(system, Estimator):
        return system.with_scores("probability" if kind == "probability" else "decision")
    return system if system.score_kind == kind and system.labels is not None else None


def _to_codes(outputs: Outputs, labels: Sequence[object]) -> npt.NDArray[np.intp]:
    """Return the positions of the answers among the classes; -1 if there is none."""
    codes, values = pd.factorize(outputs.to_objects())
    positions = {label: position for position, label in enumerate(labels)}
    code_positions = np.array([*(positions.get(value, -1) for value in values.tolist()), -1], dtype=np.intp)
    return np.asarray(code_positions[codes])


# -- probabilities -----------------------------------------------------------------------------------------------------


def _build_failure_finding(inputs: Points, outputs: Outputs) -> Finding:
    case, answer = extract_case(inputs, 0), format_answer(outputs, 0)
    return Finding(
        **get_facts("scores.failure"),
        detail="The model offers the function, but the first row got no probabilities from it.",
        **count_rows(1, 1),
        examples=(Example(text=f"{format_case(case)}: {answer}", case=case, row=0),),
    )


def _judge_probabilities(context: CheckContext, inputs: Points, outputs: Outputs, name: str) -> list[Finding]:
    labels = tuple(context.sut.labels or ())
    scores = outputs.scores
    if scores is None or scores.shape[1] != len(labels):
        return [
            Finding(
                **get_facts("scores.columns"),
                title=f"There is not one probability per class: {name}",
                detail=f"The model declares {pluralise(len(labels), 'class', 'classes')}, and the table of probabilities has "
                "another number of columns.",
                affected_rows=len(outputs),
                rows=len(outputs),
            )
        ]
    invalid = _find_invalid_probabilities(inputs, outputs, scores, labels, name)
    return [invalid] if invalid is not None else _compare_probabilities(context, inputs, outputs, scores, labels, name)


def _find_invalid_probabilities(
    inputs: Points, outputs: Outputs, scores: FloatMatrix, labels: Sequence[object], name: str
) -> Finding | None:
    """Return a finding if some rows of probabilities are none."""
    ok = outputs.ok
    sums = scores.sum(axis=1)
    missing = ok & np.isnan(sums)
    outside = ok & ((scores < -ROUNDING) | (scores > 1 + ROUNDING)).any(axis=1)
    wrong_sums = ok & (np.abs(sums - 1) > max(MAX_SUM_ERROR, MAX_SUM_ERROR / 2 * len(labels)))
    invalid = missing | outside | wrong_sums
    if not invalid.any():
        return None
    counts = {"missing": int(missing.sum()), "outside": int(outside.sum()), "sums": int(wrong_sums.sum())}
    title = {
        "missing": "Some probabilities are missing (NaN)",
        "outside": "Probabilities lie outside 0 to 1",
        "sums": "The probabilities of a row do not sum to 1",
    }[max(counts, key=lambda kind: (counts[kind], kind == "sums"))]
    parts = []
    if counts["sums"]:
        low, high = sums[wrong_sums].min(), sums[wrong_sums].max()
        parts.append(
            f"{counts['sums']:,} sum to {low:.4g}"
            if math.isclose(low, high, rel_tol=1e-6)
            else f"{counts['sums']:,} sum to something from {low:.4g} to {high:.4g}"
        )
    if counts["outside"]:
        lowest, highest = float(scores[outside].min()), float(scores[outside].max())
        extremes = [f"down to {lowest:.4g}"] if lowest < 0 else []
        extremes += [f"up to {highest:.4g}"] if highest > 1 else []
        parts.append(f"{counts['outside']:,} have a value below 0 or above 1 ({', '.join(extremes)})")
    if counts["missing"]:
        parts.append(f"{counts['missing']:,} have a value that is not a number")
    row = int(np.flatnonzero(invalid)[0])
    case = extract_case(inputs, row)
    return Finding(
        **get_facts("scores.invalid"),
        title=f"{title} ({name})" if name == "predict_proba" else title,
        detail=f"{format_share(int(invalid.sum()), int(ok.sum()), 'row')} have invalid probabilities: {'; '.join(parts)}.",
        **count_rows(int(invalid.sum()), int(ok.sum())),
        examples=(_build_score_example(case, outputs, row, _format_scores(scores[row], labels)),),
    )


def _format_scores(scores: npt.NDArray[np.float64], labels: Sequence[object], limit: int = 4) -> str:
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[:limit]
    text = ", ".join(f"{scores[i]:.3g} for {format_label(labels[i])}" for i in order)
    return text + (", ..." if len(labels) > limit else "")


def _build_score_example(case: dict[str, object], outputs: Outputs, row: int, score_text: str) -> Example:
    return Example(
        text=f"{format_case(case)}: the answer is {format_answer(outputs, row)}, and the scores are {score_text}",
        case=case,
        answer=to_plain_answer(outputs, row),
        row=row,
    )


def _compare_probabilities(
    context: CheckContext, inputs: Points, outputs: Outputs, scores: FloatMatrix, labels: Sequence[object], name: str
) -> list[Finding]:
    """Return a finding if answers are not the most probable class."""
    codes = _to_codes(outputs, labels)
    known = codes >= 0
    if not known.any() or len(labels) < 2:
        return []
    codes, known_scores, rows = codes[known], scores[known], np.flatnonzero(known)
    gaps = known_scores.max(axis=1) - known_scores[np.arange(len(codes)), codes]
    contradicted = gaps > NEAR_TIE
    count, total = int(contradicted.sum()), len(codes)
    if not count:
        return []
    threshold = _find_threshold(codes, known_scores)
    lost = _find_lost_class(codes, known_scores)
    explanation, about = _explain_disagreement(codes, known_scores, labels)
    known_rule = TWO_RULE_MODELS.get(_find_final_model_name(context.sut), "")
    level: Level = "concern"
    if known_rule or count < max(3, MIN_CONTRADICTION_SHARE * total):
        level = "advice"
    if known_rule:
        explanation = f" That is known of this kind of model: {known_rule}."
    worst = int(gaps.argmax())
    case = extract_case(inputs, int(rows[worst]))
    title = (
        "The columns of predict_proba are in another order than the classes: the probabilities belong to other answers"
    )
    if threshold is not None:
        title = f"predict uses a threshold of about {threshold} for {format_label(labels[1])}, not 0.5: it contradicts predict_proba"
    elif lost is not None:
        place, probability = lost
        title = (
            f"predict never answers {format_label(labels[place])}, even at a probability of {probability}: its threshold is not 0.5, "
            "and it contradicts predict_proba"
        )
    elif about != "columns":
        title = "predict and predict_proba contradict each other: the answer is not the most probable class"
    return [
        Finding(
            **get_facts("scores.contradiction"),
            about=about,
            title=title if name == "predict_proba" else title.replace("predict_proba", "the probabilities"),
            level=level,
            detail=f"{format_share(count, total, 'row')} get an answer that is not the class with the highest probability, by "
            f"more than {NEAR_TIE:g}; the largest difference is {gaps[worst]:.3g}.{explanation}",
            **count_rows(count, total),
            examples=(
                _build_score_example(case, outputs, int(rows[worst]), _format_scores(known_scores[worst], labels)),
            ),
        )
    ]


def _explain_disagreement(
    codes: npt.NDArray[np.intp], scores: FloatMatrix, labels: Sequence[object]
) -> tuple[str, str]:
    """Return a sentence on the likely cause of answers that are not the most probable class, and its name."""
    from scipy.optimize import linear_sum_assignment

    class_count = len(labels)
    threshold = _find_threshold(codes, scores)
    if threshold is not None:
        text = f" The answers agree with a threshold of about {threshold} for {format_label(labels[1])}, not 0.5."
        return text, "threshold"
    table = np.zeros((class_count, class_count))
    np.add.at(table, (codes, scores.argmax(axis=1)), 1)
    answers, columns = linear_sum_assignment(-table)
    explained = table[answers, columns].sum() / table.sum()
    if explained >= MIN_EXPLAINED_SHARE and (answers != columns).any() and explained > np.trace(table) / table.sum():
        swaps = [
            f"the column of {format_label(labels[column])} holds the probability of {format_label(labels[answer])}"
            for answer, column in zip(answers.tolist(), columns.tolist(), strict=True)
            if answer != column and table[answer, column]
        ]
        return (
            f" With other columns, {format_percent(explained)} of the answers agree: {'; '.join(swaps[:4])}.",
            "columns",
        )
    return "", "predict_proba"


def _find_threshold(codes: npt.NDArray[np.intp], scores: FloatMatrix) -> str | None:
    """Return the probability from which on the second of two classes is the answer, as text; None if there is none."""
    if scores.shape[1] != 2:
        return None
    second = scores[:, 1] - scores[:, 0]
    low, high = second[codes == 1], second[codes == 0]
    if not len(low) or not len(high):
        return None
    ends = (0.0, 1.0) if low.min() >= high.max() else (0.01, 0.99)  # a few answers may come from elsewhere
    threshold = (np.quantile(low, ends[0]) + np.quantile(high, ends[1])) / 2
    if ((second > threshold) == (codes == 1)).mean() < MIN_EXPLAINED_SHARE:
        return None
    return format_short(round(float(threshold + 1) / 2, 2))


def _find_lost_class(codes: npt.NDArray[np.intp], scores: FloatMatrix) -> tuple[int, str] | None:
    """Return the one of two classes that is never answered, and its highest probability as text; None if both are answered."""
    answered = np.unique(codes)
    if scores.shape[1] != 2 or len(answered) != 1:
        return None
    lost = 1 - int(answered[0])
    return lost, format_short(round(float(scores[:, lost].max()), 2))


def _find_final_model_name(system: Executor) -> str:
    """Return the class name of the model that answers: the last step of a pipeline, the best of a search."""
    model: object = getattr(system, "model", None)
    for _ in range(5):
        steps = getattr(model, "steps", None)
        if isinstance(steps, list) and steps:
            model = steps[-1][1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            break
    return type(model).__name__


# -- decision values ---------------------------------------------------------------------------------------------------


def _compare_decisions(context: CheckContext, inputs: Points, outputs: Outputs) -> list[Finding]:
    """Return a finding if answers are not the class with the highest decision value."""
    labels = tuple(context.sut.labels or ())
    scores = outputs.scores
    if scores is None or scores.shape[1] != len(labels) or len(labels) < 2:
        return []
    codes = _to_codes(outputs, labels)
    known = (codes >= 0) & ~np.isnan(scores).any(axis=1)
    if not known.any():
        return []
    codes, known_scores, rows = codes[known], scores[known], np.flatnonzero(known)
    gaps = known_scores.max(axis=1) - known_scores[np.arange(len(codes)), codes]
    usual_size = float(np.median(known_scores.max(axis=1) - known_scores.min(axis=1)))
    count, total = int((gaps > NEAR_ZERO * usual_size).sum()), len(codes)
    if not count:
        return []
    known_rule = TWO_RULE_MODELS.get(_find_final_model_name(context.sut), "")
    is_rare = count < max(3, MIN_CONTRADICTION_SHARE * total)
    worst = int(gaps.argmax())
    case = extract_case(inputs, int(rows[worst]))
    return [
        Finding(
            **get_facts("scores.decision"),
            level="advice" if known_rule or is_rare else "concern",
            detail=f"{format_share(count, total, 'row')} get an answer that is not the class with the highest decision value."
            + (f" That is known of this kind of model: {known_rule}." if known_rule else ""),
            **count_rows(count, total),
            examples=(
                _build_score_example(case, outputs, int(rows[worst]), _format_scores(known_scores[worst], labels)),
            ),
        )
    ]


def _find_score_skip_reason(context: CheckContext) -> str:
    if context.has_numeric_answers:
        return "the answers are numbers"
    if context.unstable:
        return "answers do not repeat, so that a comparison with scores means nothing"
    if context.sut.score_kind is None or context.sut.labels is None:
        return "the system gives no scores beside its answers"
    return ""


# -- calibration -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class _Calibration:
    """How sure answers were, and how often they were right, in groups of about equally sure rows."""

    confidences: npt.NDArray[np.float64]  # the mean probability of the most probable class, by group
    accuracies: npt.NDArray[np.float64]  # the share of these that are the label
    counts: npt.NDArray[np.intp]
    error: float  # the mean distance of both, above what chance alone gives
    p_value: float  # of such distances, if the probabilities were right


def _measure_calibration(sure: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> _Calibration:
    from scipy.stats import chi2

    sure = np.clip(sure, LEAST_DOUBT, 1 - LEAST_DOUBT)
    edges = np.unique(np.quantile(sure, np.linspace(0, 1, CALIBRATION_BINS + 1)[1:-1]))
    groups = np.unique(np.searchsorted(edges, sure), return_inverse=True)[1]
    counts = np.bincount(groups)
    expected_hits, hits = np.bincount(groups, weights=sure), np.bincount(groups, weights=right.astype(np.float64))
    variances = np.bincount(groups, weights=sure * (1 - sure))
    statistic = float(((hits - expected_hits) ** 2 / variances).sum())
    by_chance = np.sqrt(2 / np.pi * variances).sum() / len(sure)
    return _Calibration(
        confidences=expected_hits / counts,
        accuracies=hits / counts,
        counts=counts,
        error=max(0.0, float(np.abs(hits - expected_hits).sum() / len(sure) - by_chance)),
        p_value=float(chi2.sf(statistic, len(counts))),
    )


def check_calibration(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Compare how sure the probabilities are with how often they are right."""
    assert context.truth is not None
    labels = tuple(context.sut.labels or ())
    rows, scores = context.score_rows, context.probabilities
    if rows is None or scores is None:
        return CheckFindings(basis="there are no valid probabilities", conclusive=False, skip_reason="inapplicable")
    usable = ~np.isnan(scores).any(axis=1) & ~find_missing_labels(context.truth[rows])
    rows, scores = rows[usable], scores[usable]
    if get_explained_rows(context)[rows].sum() > MAX_EXPLAINED_SHARE * len(rows):
        return CheckFindings(
            basis="many errors have a cause that is reported: remove it first",
            conclusive=False,
            skip_reason="inapplicable",
        )
    texts = (
        align_labels(context.truth[rows], to_object_array(labels)[scores.argmax(axis=1)], labels) if len(rows) else None
    )
    if len(rows) < MIN_CALIBRATION_ROWS or texts is None:
        reason = "the labels of the data are not classes of the model" if len(rows) and texts is None else ""
        return CheckFindings(
            basis=reason or f"fewer than {MIN_CALIBRATION_ROWS} rows have labels and probabilities",
            conclusive=False,
            skip_reason="inapplicable",
        )
    right = texts[0] == texts[1]
    sure = scores.max(axis=1)
    calibration = _measure_calibration(sure, right)
    basis = f"{pluralise(len(rows), 'row')}, calibration error {calibration.error:.2g}"
    if calibration.p_value > CALIBRATION_SIGNIFICANCE or calibration.error < MIN_CALIBRATION_ERROR:
        return CheckFindings(basis=basis)
    reference_error, reference_right = _measure_reference(context, budget)
    too_sure = float(sure.mean()) > float(right.mean())
    if not too_sure and (reference_right is None or float(right.mean()) > reference_right + 0.02):
        # A model is right more often on rows it was fitted to than it may claim to be elsewhere.
        return CheckFindings(
            basis=f"{basis}; it is right more often than it says, as models are on the rows they were fitted to"
        )
    return CheckFindings(
        basis=basis, findings=[_build_calibration_finding(scores, sure, right, calibration, reference_error)]
    )


def _measure_reference(context: CheckContext, budget: CheckBudget) -> tuple[float, float | None]:
    """Return the calibration error of the reference model, and how often it is right."""
    reference = context.fit_reference_model(budget.remaining())
    if reference is None or reference.probabilities is None:
        return SMALLEST_REFERENCE_ERROR, None
    right = reference.errors == 0
    error = _measure_calibration(reference.probabilities.max(axis=1), right).error
    return max(error, SMALLEST_REFERENCE_ERROR), float(right.mean())


def _build_calibration_finding(
    scores: FloatMatrix,
    sure: npt.NDArray[np.float64],
    right: npt.NDArray[np.bool_],
    calibration: _Calibration,
    reference_error: float,
) -> Finding:
    gaps = sure - right
    gap, margin = float(gaps.mean()), 1.96 * float(gaps.std()) / math.sqrt(len(gaps))
    only_zero_and_one = bool(np.isin(scores, (0.0, 1.0)).all())  # one neighbour, a full-grown tree: a known property
    is_extreme = (
        calibration.error >= EXTREME_CALIBRATION_ERROR
        and calibration.error >= MIN_ERROR_RATIO * reference_error
        and gap > 0
        and not only_zero_and_one
    )
    worst = int((np.abs(calibration.confidences - calibration.accuracies) * calibration.counts).argmax())
    confidence, accuracy = calibration.confidences[worst], calibration.accuracies[worst]
    direction = "too sure" if gap > 0 else "not sure enough"
    return Finding(
        **get_facts("calibration"),
        title=f"The probabilities are {'far ' if is_extreme else ''}{direction}: they are not calibrated",
        level="concern" if is_extreme else "advice",
        detail=f"On average the model says that it is {format_percent(float(sure.mean()))} sure, {'but' if gap > 0 else 'and only'} "
        f"{format_share(int((~right).sum()), len(right), 'row')} are answered wrongly: it is {direction} by {100 * abs(gap):.3g} "
        f"points ({100 * (abs(gap) - margin):.3g} to {100 * (abs(gap) + margin):.3g}). For example, where it is about "
        f"{format_percent(confidence)} sure, {format_percent(accuracy)} of its answers are right. The probabilities of a quick model that "
        f"has not seen the rows are off by {100 * reference_error:.2g} points, those of this model by {100 * calibration.error:.3g}.",
        **count_rows(int((~right).sum()), len(right)),
        effect=abs(gap),
        sections=(_build_calibration_section(calibration),),
    )


def _build_calibration_section(calibration: _Calibration) -> Section:
    rows = [
        [format_percent(confidence), format_percent(accuracy), f"{count:,}"]
        for confidence, accuracy, count in zip(
            calibration.confidences, calibration.accuracies, calibration.counts.tolist(), strict=True
        )
    ]
    return Section(
        heading="How sure it is, and how often it is right",
        text="Rows in groups of about equally sure answers. In a calibrated model both shares agree.",
        table=Table(columns=["it says", "it is right", "rows"], rows=rows, sortable=False),
    )


def _find_calibration_skip_reason(context: CheckContext) -> str:
    if context.truth is None:
        return "the data have no labels: target="
    return UNMATCHED_LABELS if context.has_unmatched_labels else _find_score_skip_reason(context)


SCORES = make_check("scores", check_scores, _find_score_skip_reason)
CALIBRATION = make_check("calibration", check_calibration, _find_calibration_skip_reason)
