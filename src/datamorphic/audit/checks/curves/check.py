"""The check "curves"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...._text import format_percent, format_rounded, format_short, join_names, pluralise
from ....core.result import Finding, count_rows
from ....errors import BudgetSpent
from ....reporting.document import Section, Table
from ....space.points import Points
from ...case_text import format_label, to_plain
from ...check import CheckBudget, CheckFindings, find_label_obstacle, get_facts, make_check
from ...context import CheckContext
from ...judged_rows import build_judged_example
from ...labels import to_label_texts
from ...reference_model import MIN_REFERENCE_ROWS
from ...responses import Response, Responses, measure_responses
from ...rivals import Rivals, collect_rivals, mark_explained_rows
from .bins import Bins, Means, average, build_bins, compute_dependence_p_value
from .costs import Cost, fit_blind_model, measure_cost, measure_importances
from .drawing import draw_curves
from .shapes import describe_difference
from .unknown import find_unknown_categories

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

SHARED_COSTLY_FEATURES = "costly features"  # the key of the context's shared measurements
SIGNIFICANCE = 0.01  # of all features together, on each half of the rows
MIN_ROWS_TO_JUDGE = 150
MAX_TRIED_BLIND_SPOTS = 3  # features for which a quick model is fitted without what the tested model does not see
MIN_IMPORTANCE_RATIO = 0.25  # of an unused feature, to the most important one that the model uses
MIN_CATEGORY_ROWS = 30  # of each of two categories that are treated alike
MIN_RESIDUAL_DIFFERENCE = 0.15  # of two such categories: of shares, or in standard deviations of the labels
MIN_FLAT_END_ROWS = 50  # beyond a value
MIN_FLAT_END_SHARE = 0.05
MIN_MOVING_STEP_SHARE = 0.3  # elsewhere, of the steps that change the score of a typical row: a single tree has fewer
MIN_LARGE_FLAT_END_SHARE = (
    0.3  # of the rows beyond a value, where the labels go on changing significantly in each half: no tree stops there
)
MIN_SMOOTH_STEP_SHARE = 0.95  # the same of a smooth model: it is flat only where something cuts the values off
MIN_VALUES_TO_STEP = 15  # different values of a number, of which few make a difference
MAX_ROUNDING_STEPS = 6  # values at which scores change, along a number that is rounded
MIN_MOVING_STEP_SHARE_OF_OTHERS = 0.8  # of the steps along half of the other numbers, some row changes
MAX_P_VALUE_OF_HALF = 0.2  # of each half of the rows, if both together are significant
SCORE_DIGITS = 9
MAX_TABLE_ROWS = 40
MAX_DRAWN_FEATURES = 3  # that no finding is about
MIN_DRAWN_SPREAD = (
    0.05  # of the means of what is left of the labels, to draw a feature: of shares, or in standard deviations
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Residuals:
    """What the answers leave of the labels: per row and class, or one column for numbers in standard deviations."""

    values: Floats  # rows by classes
    labels: Floats  # the same of the labels: shares or numbers
    answers: Floats  # the same of the answers: probabilities if there are any, otherwise 0 and 1, or numbers
    names: tuple[str, ...]  # of the classes
    has_probabilities: bool
    scale: float  # 1 for classes, the standard deviation of the labels for numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class Blindness:
    """Something that changes no answer, and rows in which the labels depend on it."""

    kind: str  # of finding: "unused", "alike", "cut" or "steps"
    response: Response
    codes: Floats  # of the judged rows, without what the model does not see
    rows: Mask  # of the judged rows: those concerned
    title: str
    fact: str  # what changes no answer
    p_value: float
    is_plain: bool = False  # whether no honest model would have this flat part
    is_in_both_halves: bool = True  # whether the labels depend on it in each half of the rows


def check_curves(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Look for features, categories and values that change no answer, although the labels depend on them."""
    rivals = collect_rivals(context, budget)
    if rivals is None or len(rivals.labels) < MIN_ROWS_TO_JUDGE:
        reason = f"fewer than {max(MIN_ROWS_TO_JUDGE, MIN_REFERENCE_ROWS)} rows have an answer and a label that can be compared"
        return CheckFindings(basis=reason, conclusive=False, skip_reason="inapplicable")
    residuals = compute_residuals(context, rivals)
    all_bins = [bins for column in context.columns if (bins := build_bins(rivals.data.points, column)) is not None]
    section = _build_section(rivals, residuals, all_bins)
    findings: list[Finding] = []
    out_of_time = False
    try:
        responses = measure_responses(context, budget)
        if not rivals.is_coarse:
            findings = [*find_unknown_categories(context, budget, rivals, responses)]
            findings += _find_blindness(context, budget, rivals, residuals, responses)
    except BudgetSpent:
        out_of_time = True
    basis = f"{pluralise(len(all_bins), 'feature')} in {pluralise(len(rivals.labels), 'row')}"
    return CheckFindings(
        basis=basis + ("; there was no time for more" if out_of_time else ""),
        findings=findings,
        sections=[section],
        conclusive=not out_of_time or bool(findings),
        skip_reason="budget spent" if out_of_time else "",
    )


# -- labels, answers, and what is left -----------------------------------------------------------------------------------


def compute_residuals(context: CheckContext, rivals: Rivals) -> Residuals:
    """Return the labels, the answers, and the labels less the calibrated answers.

    A model that is too sure everywhere, or prefers a class, has residuals everywhere. So the answers are calibrated first, all
    features alike: the mean label of rows with about the same answer.
    """
    if not rivals.classes:
        scale = float(rivals.labels.std()) or 1.0
        labels, answers = rivals.labels[:, None], rivals.answers[:, None]
        left = rivals.labels - _calibrate(rivals.answers, rivals.labels)
        return Residuals(
            values=left[:, None] / scale,
            labels=labels,
            answers=answers,
            names=("",),
            has_probabilities=False,
            scale=scale,
        )
    codes = np.arange(len(rivals.classes))
    labels = (rivals.labels[:, None] == codes).astype(np.float64)
    probabilities = _collect_probabilities(context, rivals)
    answers = (rivals.answers[:, None] == codes).astype(np.float64) if probabilities is None else probabilities
    left = labels - np.column_stack([_calibrate(answers[:, code], labels[:, code]) for code in codes])
    return Residuals(
        values=left,
        labels=labels,
        answers=answers,
        names=rivals.classes,
        has_probabilities=probabilities is not None,
        scale=1.0,
    )


def _collect_probabilities(context: CheckContext, rivals: Rivals) -> Floats | None:
    """Return the probabilities of the judged rows, in the order of the classes of the rivals; None if some have none."""
    scores, score_rows, labels = context.probabilities, context.score_rows, context.sut.labels
    if scores is None or score_rows is None or labels is None or scores.shape[1] != len(labels):
        return None
    positions = np.full(len(context.inputs), -1, dtype=np.intp)
    positions[score_rows] = np.arange(len(score_rows))
    places = positions[rivals.data.rows]
    texts = to_label_texts(np.array([*labels, None], dtype=object)[:-1]).tolist()
    if (places < 0).any() or not set(rivals.classes) <= set(texts):
        return None
    probabilities = np.asarray(scores[places][:, [texts.index(text) for text in rivals.classes]], dtype=np.float64)
    return probabilities if np.isfinite(probabilities).all() else None


def _calibrate(answers: Floats, labels: Floats, groups: int = 20) -> Floats:
    """Return the mean label of rows with about the same answer."""
    levels = np.unique(answers)
    if len(levels) > groups:
        levels = np.unique(np.quantile(answers, np.linspace(0, 1, groups + 1)[:-1]))
    where = np.searchsorted(levels, answers, side="right") - 1
    counts = np.bincount(where, minlength=len(levels))
    if len(levels) <= 2 or len(levels) < groups // 2:
        means = np.bincount(where, weights=labels, minlength=len(levels)) / np.maximum(counts, 1)
        return np.asarray(means[where])
    # a line within each group, so that many different numbers lose nothing
    calibrated = np.empty(len(answers))
    for group in range(len(levels)):
        rows = where == group
        x, y = answers[rows], labels[rows]
        spread = float(x.var())
        slope = float(((x - x.mean()) * (y - y.mean())).mean() / spread) if spread > 0 and len(x) > 2 else 0.0
        calibrated[rows] = y.mean() + slope * (x - x.mean()) if len(x) else 0.0
    return calibrated


def _choose_class(bins: Bins, residuals: Residuals) -> tuple[int, float]:
    """Return the class whose residuals differ most between the bins, and by how much."""
    spreads = [average(bins, residuals.values[:, code]).measure_spread() for code in range(residuals.values.shape[1])]
    best = int(np.argmax(spreads))
    if len(spreads) == 2:
        best = 1
    return best, spreads[best]


def _describe_quantities(residuals: Residuals, code: int) -> tuple[str, str]:
    """Return what the curves show: for the labels, and for the answers."""
    name = residuals.names[code]
    if not name:
        return "mean label and mean answer", "answers"
    return f"share of {name}", f"{'probabilities' if residuals.has_probabilities else 'answers'} of the model"


def _draw(rivals: Rivals, residuals: Residuals, bins: Bins, note: str = "") -> Section:
    code, _ = _choose_class(bins, residuals)
    labels, answers = average(bins, residuals.labels[:, code]), average(bins, residuals.answers[:, code])
    shape = describe_difference(bins, labels, answers)
    words = (
        f"Compared with the labels, the answers are {shape}." if shape else "Both curves agree within their intervals."
    )
    return draw_curves(bins, labels, answers, *_describe_quantities(residuals, code), note=f"{note} {words}".strip())


def _build_section(rivals: Rivals, residuals: Residuals, all_bins: Sequence[Bins]) -> Section:
    """Return a table of all features, and pictures of those along which labels and answers differ most."""
    ranked: list[tuple[float, Bins, Means, Means]] = []
    for bins in all_bins:
        code, spread = _choose_class(bins, residuals)
        ranked.append(
            (spread, bins, average(bins, residuals.labels[:, code]), average(bins, residuals.answers[:, code]))
        )
    ranked.sort(key=lambda item: -item[0])
    rows = [
        [
            bins.feature,
            f"{labels.measure_spread():.2g}",
            f"{answers.measure_spread():.2g}",
            f"{spread * residuals.scale:.2g}",
            describe_difference(bins, labels, answers) or "like the labels",
        ]
        for spread, bins, labels, answers in ranked[:MAX_TABLE_ROWS]
    ]
    unit = "share of the class that differs most" if residuals.names[0] else "mean number"
    drawn = [bins for spread, bins, _, _ in ranked[:MAX_DRAWN_FEATURES] if spread >= MIN_DRAWN_SPREAD]
    return Section(
        heading="Labels and answers along each feature",
        text=f"How much the {unit} varies along each feature: in the labels, in the answers, and in what the answers leave of the "
        "labels. A simple model leaves more than a flexible one. A curve that the labels have and the answers do not is worth a look.",
        table=Table(
            columns=["feature", "labels vary by", "answers vary by", "left unexplained", "the answers are"],
            rows=rows,
            main_columns=("feature", "labels vary by", "answers vary by", "left unexplained"),
        ),
        parts=[_draw(rivals, residuals, bins) for bins in drawn],
    )


# -- what the model does not see -----------------------------------------------------------------------------------------


def _find_blindness(
    context: CheckContext, budget: CheckBudget, rivals: Rivals, residuals: Residuals, responses: Responses
) -> list[Finding]:
    """Return concerns about what changes no answer, although the labels depend on it and a quick model gains by it."""
    half = np.random.default_rng([context.seed, 41]).permutation(len(rivals.labels)) < len(rivals.labels) // 2
    unused = _find_unused(context, responses)
    blind_spots = [
        *_judge_unused(context, rivals, residuals, responses, unused, half),
        *_find_merged_categories(context, rivals, residuals, responses, half),
        *_find_flat_ends(context, rivals, residuals, responses, half),
        *_find_steps(rivals, responses),
    ]
    findings: list[Finding] = []
    used_columns = {response.column for response in responses} - {response.column for response in unused}
    for blindness in sorted(blind_spots, key=lambda item: item.p_value)[:MAX_TRIED_BLIND_SPOTS]:
        if any(finding.about == blindness.response.feature for finding in findings):
            continue
        cost = _measure(context, budget, rivals, blindness, unused)
        is_plain = blindness.kind in ("unused", "steps") or blindness.is_plain
        if cost is None or not (
            cost.matters
            or (is_plain and cost.is_noticeable)
            or (blindness.kind == "cut" and cost.is_local)
            or (blindness.kind == "steps" and cost.is_far_worse)
        ):
            continue
        if blindness.kind == "unused" and not _is_important(context, rivals, blindness.response.column, used_columns):
            continue
        findings.append(_build_finding(context, rivals, residuals, responses, blindness, cost))
        get_costly_features(context).add(blindness.response.feature)
        mark_explained_rows(context, rivals.data.rows[blindness.rows])
    return findings


def get_costly_features(context: CheckContext) -> set[str]:
    """Return the features about which this check has reported a concern, so that others need not give advice."""
    features: set[str] = context.shared.setdefault(SHARED_COSTLY_FEATURES, set())
    return features


def _find_unused(context: CheckContext, responses: Responses) -> list[Response]:
    """Return the features that change no answer and no score, if the model uses more features than it does not."""
    unused = [
        response
        for response in responses
        if not response.score_changed.any()
        and response.answered.mean() > 0.5
        and response.feature not in context.identifiers
    ]
    return unused if len(unused) < len(responses) else []


def _judge_unused(
    context: CheckContext,
    rivals: Rivals,
    residuals: Residuals,
    responses: Responses,
    unused: Sequence[Response],
    half: Mask,
) -> list[Blindness]:
    """Return the unused features along which something is left of the labels, on both halves of the rows."""
    blind_spots: list[Blindness] = []
    what = "answer" if responses.own_scores is None else "answer and no score"
    codes = rivals.data.points.codes.copy()
    for response in unused:
        codes[:, response.column] = codes[0, response.column]
    for response in unused:
        bins = build_bins(rivals.data.points, response.column)
        if bins is None:
            continue
        p_value = _test(bins, residuals, half) * len(unused)
        if max(p_value, _test(bins, residuals, ~half)) > SIGNIFICANCE:
            continue
        title = f"No answer depends on {response.feature}, although the labels do"
        if response.kind == "categorical":
            title = f"All categories of {response.feature} are treated alike, although their labels differ"
        fact = (
            f"No {what} of {pluralise(len(responses.inputs), 'real row')} changed with any value of {response.feature}."
        )
        blind_spots.append(
            Blindness(
                kind="unused",
                response=response,
                codes=codes,
                rows=np.ones(len(codes), dtype=bool),
                title=title,
                fact=fact,
                p_value=p_value,
            )
        )
    return blind_spots


def _test(bins: Bins, residuals: Residuals, rows: Mask) -> float:
    """Return the p-value of residuals of all classes that do not depend on a feature."""
    columns = range(1, 2) if residuals.values.shape[1] == 2 else range(residuals.values.shape[1])
    return min(
        1.0, len(columns) * min(compute_dependence_p_value(bins, residuals.values[:, code], rows) for code in columns)
    )


def _find_merged_categories(
    context: CheckContext, rivals: Rivals, residuals: Residuals, responses: Responses, half: Mask
) -> list[Blindness]:
    """Return pairs of categories with the same scores in all rows, and different residuals in both halves of the rows."""
    if responses.own_scores is None and not responses.numeric:
        return []
    codes = rivals.data.points.codes
    pairs: list[tuple[Response, float, float, Mask]] = []
    for response in responses:
        if response.kind != "categorical" or not response.score_changed.any():
            continue
        scores = response.answers[:, :, None] if response.scores is None else response.scores
        rows = np.round(scores.transpose(1, 0, 2).reshape(len(response.values), -1), SCORE_DIGITS)
        own = codes[:, response.column]
        counts = np.array([int((own == value).sum()) for value in response.values])
        _, groups = np.unique(rows, axis=0, return_inverse=True)
        for group in np.unique(groups):
            members = np.flatnonzero((groups.ravel() == group) & (counts >= MIN_CATEGORY_ROWS))
            members = members[np.argsort(-counts[members], kind="stable")]
            for member in members[1:]:
                first, second = float(response.values[members[0]]), float(response.values[member])
                pairs.append((response, first, second, (own == first) | (own == second)))
    blind_spots: list[Blindness] = []
    for response, first, second, inside in pairs:
        is_second = codes[:, response.column] == second
        best: tuple[float, float] = 1.0, 0.0
        for code in range(residuals.values.shape[1]):
            values = residuals.values[:, code]
            tests = [_compare(values, part & inside & is_second, part & inside & ~is_second) for part in (half, ~half)]
            difference = min((size for size, _ in tests), key=abs)
            if tests[0][0] * tests[1][0] > 0 and abs(difference) >= MIN_RESIDUAL_DIFFERENCE:
                best = min(best, (max(p for _, p in tests) * len(pairs) * residuals.values.shape[1], difference))
        if best[0] > SIGNIFICANCE:
            continue
        if (
            np.abs(residuals.values[inside & is_second].mean(axis=0)).max()
            < np.abs(residuals.values[inside & ~is_second].mean(axis=0)).max()
        ):  # the answers suit the second category, and not the first one
            first, second, is_second = second, first, inside & ~is_second
        names = _name_categories(context, response, [second, first])
        blind_codes = codes.copy()
        blind_codes[is_second, response.column] = first
        blind_spots.append(
            Blindness(
                kind="alike",
                response=response,
                codes=blind_codes,
                rows=inside,
                title=f"{response.feature} {names[0]} is treated exactly like {names[1]}, although it is labelled differently",
                fact=f"In all of {pluralise(len(responses.inputs), 'real row')} both categories get the same scores.",
                p_value=best[0],
            )
        )
    return blind_spots


def _compare(values: Floats, first: Mask, second: Mask) -> tuple[float, float]:
    """Return the difference of the means of two groups of rows, and the p-value of none."""
    from scipy.stats import norm

    one, other = values[first], values[second]
    if min(len(one), len(other)) < MIN_CATEGORY_ROWS // 3:
        return 0.0, 1.0
    # few rows say little about their spread: they borrow from that of both groups
    pooled = float(np.concatenate([one, other]).var())
    deviation = np.sqrt(max(float(one.var()), pooled / 2) / len(one) + max(float(other.var()), pooled / 2) / len(other))
    difference = float(one.mean() - other.mean())
    return difference, float(2 * norm.sf(abs(difference) / deviation)) if deviation > 0 else 1.0


def _find_flat_ends(
    context: CheckContext, rivals: Rivals, residuals: Residuals, responses: Responses, half: Mask
) -> list[Blindness]:
    """Return numbers that change no score beyond a value, where the labels go on changing in both halves of the rows."""
    if responses.own_scores is None and not responses.numeric:
        return []
    blind_spots: list[Blindness] = []
    codes = rivals.data.points.codes
    for response in responses:
        own = codes[:, response.column]
        for place, side in zip(response.find_flat_ends(), ("below", "above"), strict=True):
            if place is None:
                continue
            inside = own <= place if side == "below" else own >= place
            steps = response.values[:-1] >= place if side == "below" else response.values[1:] <= place
            if inside.sum() < max(MIN_FLAT_END_ROWS, MIN_FLAT_END_SHARE * len(inside)) or not steps.any():
                continue
            moving = float(np.median(response.score_steps[:, steps].mean(axis=1)))
            if moving < MIN_MOVING_STEP_SHARE:
                continue
            bins = build_bins(Points(context.space, np.where(inside[:, None], codes, np.nan)), response.column)
            if bins is None:
                continue
            bins = replace(bins, bin_of_row=np.where(inside, bins.bin_of_row, -1))
            p_value = _test(bins, residuals, inside)
            p_value_of_half = max(_test(bins, residuals, part) for part in (half, ~half))
            is_large = inside.mean() >= MIN_LARGE_FLAT_END_SHARE and p_value_of_half <= SIGNIFICANCE
            blind_codes = codes.copy()
            blind_codes[inside, response.column] = place
            blind_spots.append(
                Blindness(
                    kind="cut",
                    response=response,
                    codes=blind_codes,
                    rows=inside,
                    title=f"{response.feature} is cut off {'at' if side == 'above' else 'below'} {format_short(place)}: the labels go on "
                    f"changing {side} it, the answers do not",
                    fact=f"Values of {response.feature} {side} {format_short(place)} get the same scores in all of "
                    f"{pluralise(len(responses.inputs), 'real row')}, other values do not.",
                    p_value=p_value,
                    is_plain=moving >= MIN_SMOOTH_STEP_SHARE or is_large,
                    is_in_both_halves=p_value_of_half <= MAX_P_VALUE_OF_HALF,
                )
            )
    tests = len(blind_spots)
    return [
        replace(item, p_value=tests * item.p_value)
        for item in blind_spots
        if item.is_in_both_halves and tests * item.p_value <= SIGNIFICANCE
    ]


def _find_steps(rivals: Rivals, responses: Responses) -> list[Blindness]:
    """Return numbers along which all scores change at the same few values only, in a model that is smooth along others."""
    moving_by_feature = {
        response.feature: response.score_steps.any(axis=0)
        for response in responses
        if response.kind != "categorical" and len(response.values) >= MIN_VALUES_TO_STEP
    }
    blind_spots: list[Blindness] = []
    codes = rivals.data.points.codes
    for feature, moving in moving_by_feature.items():
        others = [float(steps.mean()) for name, steps in moving_by_feature.items() if name != feature]
        if (
            not others
            or np.median(others) < MIN_MOVING_STEP_SHARE_OF_OTHERS
            or not 2 <= moving.sum() <= MAX_ROUNDING_STEPS
        ):
            continue
        response = responses[feature]
        if len(np.unique(codes[:, response.column])) < MIN_VALUES_TO_STEP:
            continue
        places = np.flatnonzero(moving)
        bounds = (response.values[places] + response.values[places + 1]) / 2
        own = codes[:, response.column]
        level = np.searchsorted(bounds, own)
        blind_codes = codes.copy()
        for number in np.unique(level[~np.isnan(own)]):
            inside = (level == number) & ~np.isnan(own)
            blind_codes[inside, response.column] = np.median(own[inside])
        blind_spots.append(
            Blindness(
                kind="steps",
                response=response,
                codes=blind_codes,
                rows=np.ones(len(codes), dtype=bool),
                title=f"{feature} seems to be rounded on the way to the model: only {len(bounds) + 1} levels of it get different answers",
                fact=f"Along {feature}, the scores of all {pluralise(len(responses.inputs), 'real row')} change near the same "
                f"{len(bounds)} values only: {join_names([format_short(float(f'{bound:.3g}')) for bound in bounds])}. Along most other "
                "numbers they change nearly everywhere.",
                p_value=1.0,  # after the others
            )
        )
    return blind_spots


def _measure(
    context: CheckContext, budget: CheckBudget, rivals: Rivals, blindness: Blindness, unused: Sequence[Response]
) -> Cost | None:
    """Return what the quick model gains by what the tested one does not see."""
    blind = fit_blind_model(context, budget, rivals, blindness.codes)
    if blind is None:
        return None
    seeing = None
    if blindness.kind == "unused" and len(unused) > 1:  # this feature alone, beside those that the model uses
        codes = blindness.codes.copy()
        codes[:, blindness.response.column] = rivals.data.points.codes[:, blindness.response.column]
        seeing = fit_blind_model(context, budget, rivals, codes)
    return measure_cost(rivals, seeing, blind, blindness.rows)


def _is_important(context: CheckContext, rivals: Rivals, column: int, used_columns: set[int]) -> bool:
    """Tell whether an unused feature is no less important than many that the model uses: a simple model uses the best ones."""
    importances = measure_importances(rivals, context, sorted({column} | used_columns))
    used = np.array([importances[used_column] for used_column in sorted(used_columns)])
    own = importances[column]
    return own >= float(np.median(used)) and own >= MIN_IMPORTANCE_RATIO * float(used.max())


# -- the findings --------------------------------------------------------------------------------------------------------

REMEDIES = {
    "unused": "Check that {feature} reaches the model under its name, in its units and with its categories, and is not replaced by a "
    "default on the way. If it is left out on purpose (it is known too late, or must not be used), take it out of the data.",
    "alike": "Compare the spelling of the categories with those that the encoder or the table of codes knows, and look for a default "
    "that stands for unknown categories. If they are merged on purpose, merge them in the data, too.",
    "steps": "Compare the values of {feature} that the model was trained on with those that reach it now: the number of digits, the type, "
    "bins of a form or a report. Give it the values as they were measured.",
    "cut": "Look for a limit on the way to the model: clipping, a last bin that is too wide, a number type that is too small, a cap "
    "where the data are collected, training data that end there. Remove the limit and train again, or document that it is intended.",
}


def _build_finding(
    context: CheckContext, rivals: Rivals, residuals: Residuals, responses: Responses, blindness: Blindness, cost: Cost
) -> Finding:
    response = blindness.response
    bins = build_bins(rivals.data.points, response.column)
    count, total = int(blindness.rows.sum()), len(blindness.rows)
    where = "" if count == total else f"For these {pluralise(count, 'row')}, a"
    loss = "squared error of the probabilities" if rivals.classes else "mean error"
    format_error = format_percent if rivals.classes else format_rounded
    knowing, blind, own = map(format_error, (cost.seeing_error, cost.blind_error, cost.model_error))
    comparison = knowing if knowing == blind else f"{knowing} if it knows {response.feature}, and {blind} if not"
    measure = "error rate" if rivals.classes else "mean error"
    figures = f"has {'an' if rivals.classes else 'a'} {measure} of {comparison}; the model under test has {own}"
    detail = f"{blindness.fact} {where or 'A'} quick model that this test fitted to other rows {figures}."
    if cost.gain.low > 0:
        detail += (
            f" Knowing {response.feature} makes the {loss} of the quick model {format_percent(cost.gain.value)} smaller "
            f"({format_percent(cost.gain.low)} to {format_percent(min(1.0, cost.gain.high))})."
        )
    return Finding(
        **get_facts(f"curves.{blindness.kind}"),
        about=response.feature,
        title=blindness.title,
        detail=detail,
        remedy=REMEDIES[blindness.kind].format(feature=response.feature),
        **count_rows(count, total),
        answer_changes=None,
        examples=(build_judged_example(context, rivals.data, rivals.data.find_clearest_row(blindness.rows)),),
        sections=() if bins is None else (_draw(rivals, residuals, bins),),
    )


def _name_categories(context: CheckContext, response: Response, codes: Sequence[float]) -> list[str]:
    """Return the categories of some codes as text."""
    rows = np.repeat(context.inputs.codes[:1], len(codes), axis=0)
    rows[:, response.column] = codes
    return [format_label(to_plain(value)) for value in Points(context.space, rows).frame[response.feature].tolist()]


def _find_skip_reason(context: CheckContext) -> str:
    if not context.has_data:
        return "no real rows are given"
    return find_label_obstacle(context) or ("the same case gets different answers" if context.unstable else "")


CURVES = make_check("curves", check_curves, _find_skip_reason)
