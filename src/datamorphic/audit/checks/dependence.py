"""Check which features the answers depend on: on one alone, not at all, or not on the categories of a column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._stats import compute_wilson_interval
from ..._text import format_percent, format_short, pluralise
from ...core.result import Example, Finding, count_rows, format_share
from ...errors import BudgetSpent
from ...reporting.document import Section, Table
from ...space.features import Mask
from ...space.points import Points
from ..case_text import extract_case, format_case
from ..check import CheckBudget, CheckFindings, get_facts, make_check
from ..context import CheckContext
from ..responses import Numbers, Response, Responses, encode_truth, get_real_answers, measure_responses, query_answers
from .curves.check import get_costly_features

MIN_ROWS = 10
MAX_REAL_ROWS = 2_000  # whose answers are compared with their labels
MAX_PAIRS = 200  # of rows with different answers, of which one takes over a feature of the other
MIN_DECISIVE_SHARE = 0.9  # of these pairs, at least, that the feature alone decides
MIN_CHANGED_SHARE = 0.5  # of the rows that the most effective feature changes, before it is tried on pairs
MAX_SINGLE_FINDINGS = 3  # about features without effect; more are reported together
SIGNIFICANCE = 0.01  # of all comparisons with labels together
MIN_ASSOCIATION = 0.2  # Cramér's V, or Spearman's correlation, of a column with the labels: small effects start at 0.1
BINS = 5  # of a number, to compare it with labels
MIN_WRONG_SHARE = (
    0.5  # of the rows with one category and one answer: a model that looks at the category would turn it round
)
MIN_RESIDUAL = 0.5  # of the mean error of a category, in standard deviations of the labels
MIN_LEVEL_SHARE = 0.01  # of the rows that have a category, to say that it is treated like another one
SEED = 732  # of the draw of pairs
MIN_SATURATED_SHARE = 0.25  # of the real rows, with values beyond which nothing changes
MIN_MOVING_STEP_SHARE = (
    0.5  # of the steps before these values, that change the score of a typical row: a single tree has fewer
)
MAX_SATURATED_FEATURES = 2


def check_dependence(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Look for features that decide everything or nothing."""
    responses = measure_responses(context, budget)
    truth = encode_truth(context, responses)
    rows = len(responses.inputs)
    findings: list[Finding] = []
    skipped = not responses.complete
    try:
        findings += _find_decisive_feature(context, budget, responses)
        # If one feature decides, the others are one piece of advice.
        limit = 0 if findings else MAX_SINGLE_FINDINGS
        findings += _find_inert_features(context, budget, responses, truth, limit)
        findings += _find_like_categories(context, responses)
        findings += _find_saturated_features(context, responses, truth)
    except BudgetSpent:
        skipped = True
    basis = f"{pluralise(rows, 'row')}, {pluralise(len(responses), 'feature')}"
    return CheckFindings(
        basis=basis + ("; there was no time for more" if skipped else ""),
        findings=findings,
        sections=[_tabulate_effects(responses)],
        conclusive=not skipped or bool(findings),
        skip_reason="budget spent" if skipped else "",
    )


# -- features without effect -------------------------------------------------------------------------


def _find_inert_features(
    context: CheckContext, budget: CheckBudget, responses: Responses, truth: Numbers | None, single_limit: int
) -> list[Finding]:
    """Return findings about features that change no answer and no score; more than `single_limit` are put together."""
    inert = [
        response
        for response in responses
        if not response.score_changed.any()
        and response.feature not in get_costly_features(context)
        and len(np.unique(context.inputs.codes[:, response.column])) > 1
        and response.answered.mean() > 0.5
    ]
    if not inert or len(inert) == len(responses):
        return []  # a model without any effect is a matter of the check "classes"
    associations = {
        response.feature: 0.0 if truth is None else measure_association(context, response, truth, responses.numeric)
        for response in inert
    }
    findings: list[Finding] = []
    unexplained: list[Response] = []
    for response in inert:
        evidence = ""
        if response.kind == "categorical" and truth is not None:
            evidence = _find_errors_by_category(context, budget, responses, response, truth, len(inert))
        if evidence:
            findings.append(_build_category_finding(context, responses, response, evidence))
        else:
            unexplained.append(response)
    telling = [response for response in unexplained if associations[response.feature] >= MIN_ASSOCIATION]
    if len(telling) <= single_limit:
        findings += [_build_inert_finding(context, responses, [response], associations) for response in telling]
        unexplained = [response for response in unexplained if response not in telling]
    if unexplained:
        findings.append(_build_inert_finding(context, responses, unexplained, associations))
    return findings


def measure_association(context: CheckContext, response: Response, truth: Numbers, numeric: bool) -> float:
    """Return how strongly a column goes with the labels, between 0 and 1; 0 if that may be chance."""
    from scipy import stats  # takes a second

    values = context.inputs.codes[:, response.column]
    known = ~np.isnan(values) & ~np.isnan(truth)
    values, labels = values[known], truth[known]
    if len(values) < MIN_ROWS or len(np.unique(values)) < 2 or len(np.unique(labels)) < 2:
        return 0.0
    significance = SIGNIFICANCE / len(context.columns)
    if numeric and response.kind != "categorical":
        test = stats.spearmanr(values, labels)
        return abs(float(test.statistic)) if test.pvalue < significance else 0.0
    if numeric:
        groups = [labels[values == value] for value in np.unique(values)]
        groups = [group for group in groups if len(group) > 1]
        if len(groups) < 2 or stats.kruskal(*groups).pvalue >= significance:
            return 0.0
        return float(
            np.sqrt(sum(len(g) * (g.mean() - labels.mean()) ** 2 for g in groups) / len(labels) / labels.var())
        )
    if response.kind != "categorical":
        edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
        values = np.searchsorted(edges, values, side="right").astype(np.float64)
    table = _count_pairs(values, labels)
    if min(table.shape) < 2 or stats.chi2_contingency(table, correction=False).pvalue >= significance:
        return 0.0
    return float(stats.contingency.association(table, method="cramer"))


def _count_pairs(first: Numbers, second: Numbers) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return the table of how often each pair of values occurs."""
    first_places = np.unique(first, return_inverse=True)[1]
    second_places = np.unique(second, return_inverse=True)[1]
    table = np.zeros((first_places.max() + 1, second_places.max() + 1), dtype=np.int64)
    np.add.at(table, (first_places, second_places), 1)
    return table


def _find_errors_by_category(
    context: CheckContext, budget: CheckBudget, responses: Responses, response: Response, truth: Numbers, count: int
) -> str:
    """Return in words for which category the answers are wrong for most rows; empty if for none.

    A column that goes with the labels may be left out if others say the same, but then its categories do not show in the
    errors of the model.
    """
    from scipy import stats

    row_numbers, answers = get_real_answers(context, budget, responses, MAX_REAL_ROWS)
    categories = context.inputs.codes[row_numbers, response.column]
    labels = truth[row_numbers]
    known = ~np.isnan(categories) & ~np.isnan(labels) & ~np.isnan(answers)
    categories, labels, answers = categories[known], labels[known], answers[known]
    levels = np.unique(categories)
    if len(levels) < 2:
        return ""
    names = _name_categories(context, response, levels)
    significance = SIGNIFICANCE / (count * len(levels))
    worst, text = 1.0, ""
    for level, name in zip(levels.tolist(), names, strict=True):
        inside = categories == level
        if responses.numeric:
            residuals = (labels - answers)[inside]
            if len(residuals) < MIN_ROWS or abs(residuals.mean()) < MIN_RESIDUAL * labels.std():
                continue
            p_value = float(stats.ttest_1samp(residuals, 0.0).pvalue) if residuals.std() else 0.0
            if p_value < min(worst, significance):
                worst = p_value
                rows_text = pluralise(len(residuals), "real row")
                text = f"The labels of {rows_text} with {name} differ from the answers by {residuals.mean():+.3g} on average."
            continue
        for answer in np.unique(answers[inside]):
            cell = inside & (answers == answer)
            wrong = int((labels[cell] != answer).sum())
            total = int(cell.sum())
            if total < MIN_ROWS or wrong <= MIN_WRONG_SHARE * total:
                continue
            p_value = float(stats.binomtest(wrong, total, MIN_WRONG_SHARE, alternative="greater").pvalue)
            if p_value < min(worst, significance / len(responses.codes.labels)):
                worst = p_value
                label = responses.codes.labels[int(answer)]
                text = f"Of {pluralise(total, 'real row')} with {name} that are answered {label}, {wrong} are labelled otherwise."
    return text


def _name_categories(context: CheckContext, response: Response, codes: Numbers) -> list[str]:
    """Return the categories of some codes as text."""
    rows = np.repeat(context.inputs.codes[:1], len(codes), axis=0)
    rows[:, response.column] = codes
    return [repr(format_short(value)) for value in Points(context.space, rows).frame[response.feature].tolist()]


def _build_example(responses: Responses, response: Response) -> Example:
    """Return a real row whose answer stays the same, however the feature changes."""
    own = responses.inputs.codes[0, response.column]
    other = response.values[-1] if own != response.values[-1] else response.values[0]
    answer = float(responses.own_answers[0])
    row = int(responses.row_numbers[0])
    return responses.build_example(responses.inputs, response.column, float(other), (answer, answer), row)


def _build_category_finding(context: CheckContext, responses: Responses, response: Response, evidence: str) -> Finding:
    count = len(responses.inputs)
    return Finding(
        **get_facts("dependence.like categories"),
        about=response.feature,
        title=f"All categories of {response.feature} are treated alike, although their labels differ",
        detail=f"No answer and no score of {pluralise(count, 'real row')} changed with any of "
        f"{pluralise(len(response.values), 'category', 'categories')} of {response.feature}. {evidence}",
        **count_rows(count, count),
        examples=(_build_example(responses, response),),
    )


def _build_inert_finding(
    context: CheckContext, responses: Responses, inert: Sequence[Response], associations: dict[str, float]
) -> Finding:
    """Return advice about features without effect."""
    names = [response.feature for response in inert]
    count = len(responses.inputs)
    what = "answer" if responses.own_scores is None else "answer and no score"
    if len(names) == 1:
        title = f"{names[0]} has no effect on any answer"
        if inert[0].kind == "categorical":
            title = f"All categories of {names[0]} are treated alike"
        subject = names[0]
    else:
        title = f"{len(names)} features have no effect on any answer: {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}"
        subject = f"these features ({', '.join(names)})"
    telling = [name for name in names if associations[name] >= MIN_ASSOCIATION]
    evidence = ""
    if telling:
        strengths = ", ".join(f"{name} {associations[name]:.2f}" for name in telling[:5])
        evidence = f" In the data, they are associated with the labels (from 0 to 1: {strengths})."
        if len(names) == 1:
            evidence = f" In the data, it is associated with the labels ({associations[names[0]]:.2f} of 1)."
    return Finding(
        **get_facts("dependence.inert"),
        about=names[0] if len(names) == 1 else "",
        title=title,
        confidence=(0.9 if telling else 0.8) if responses.own_scores is not None or responses.numeric else 0.6,
        detail=f"No {what} of {pluralise(count, 'real row')} changed with any value of {subject}.{evidence}",
        **count_rows(count, count),
        examples=(_build_example(responses, inert[0]),),
    )


def _find_like_categories(context: CheckContext, responses: Responses) -> list[Finding]:
    """Return advice about categories that get exactly the same scores in all rows."""
    if responses.own_scores is None:
        return []  # equal answers say little
    groups: list[str] = []
    features: list[str] = []
    for response in responses:
        if response.kind != "categorical" or response.scores is None or not response.score_changed.any():
            continue
        if response.feature in get_costly_features(context):
            continue
        own_values = context.inputs.codes[:, response.column]
        shares = np.array([(own_values == value).mean() for value in response.values])
        columns = response.scores.transpose(1, 0, 2).reshape(len(response.values), -1)
        _, places = np.unique(np.round(columns, 9), axis=0, return_inverse=True)
        for place in np.unique(places):
            members = np.flatnonzero((places.ravel() == place) & (shares >= MIN_LEVEL_SHARE))
            if len(members) > 1:
                names = _name_categories(context, response, response.values[members])
                groups.append(f"{response.feature}: {', '.join(names)}")
                features.append(response.feature)
    if not groups:
        return []
    unique_features = list(dict.fromkeys(features))
    names_text = ", ".join(unique_features[:3]) + (", ..." if len(unique_features) > 3 else "")
    return [
        Finding(
            **get_facts("dependence.merged categories"),
            about=unique_features[0] if len(unique_features) == 1 else "",
            title=f"Some categories are treated exactly alike: {names_text}",
            detail=f"They get the same scores in all of {pluralise(len(responses.inputs), 'real row')}: {'; '.join(groups[:8])}.",
            **count_rows(len(responses.inputs), len(responses.inputs)),
        )
    ]


# -- saturation --------------------------------------------------------------------------------------


def _find_saturated_features(context: CheckContext, responses: Responses, truth: Numbers | None) -> list[Finding]:
    """Return advice about numbers whose values the model cannot tell apart where many real rows lie.

    That alone is no defect: trees are flat beyond their outermost thresholds, and effects do level off. It is advice if the
    labels go on changing with the number in a large share of the rows, and if the response moves in most steps elsewhere. Then
    something on the way probably cuts the number off. A single tree moves in few steps, so it is left alone.
    """
    if truth is None or (responses.own_scores is None and not responses.numeric):
        return []
    findings: list[tuple[float, Finding]] = []
    for response in responses:
        if response.feature in get_costly_features(context):
            continue
        own_values = context.inputs.codes[:, response.column]
        below, above = response.find_flat_ends()
        for place, side in ((below, "below"), (above, "above")):
            if place is None:
                continue
            inside = own_values <= place if side == "below" else own_values >= place
            if inside.mean() < MIN_SATURATED_SHARE or not _moves_elsewhere(response, place, side):
                continue
            association = measure_association(context, response, np.where(inside, truth, np.nan), responses.numeric)
            if association >= MIN_ASSOCIATION:
                finding = _build_saturation_finding(
                    context, response, inside, f"{side} {format_short(place)}", association
                )
                findings.append((-association, finding))
    return [finding for _, finding in sorted(findings, key=lambda item: item[0])[:MAX_SATURATED_FEATURES]]


def _moves_elsewhere(response: Response, place: float, side: str) -> bool:
    """Tell whether the score of a typical row changes in most steps on the other side of a value."""
    steps = response.values[:-1] >= place if side == "below" else response.values[1:] <= place
    return bool(steps.any()) and float(np.median(response.score_steps[:, steps].mean(axis=1))) >= MIN_MOVING_STEP_SHARE


def _build_saturation_finding(
    context: CheckContext, response: Response, inside: Mask, region: str, association: float
) -> Finding:
    name, count, total = response.feature, int(inside.sum()), len(inside)
    row = int(np.flatnonzero(inside)[0])
    case = extract_case(context.inputs.take([row]), 0)
    return Finding(
        **get_facts("dependence.saturated"),
        about=name,
        title=f"The model cannot tell values of {name} {region} apart, although the labels differ there",
        detail=f"{format_share(count, total, 'row')} have {name} {region}, where no answer and no score changes with it. Their "
        f"labels are associated with it ({association:.2f} of 1).",
        remedy=f"Look for a limit of {name} on the way to the model: clipping, a last bin that is too wide, a cap where the data "
        "are collected. If other columns say the same there, or the limit is meant, nothing is wrong.",
        **count_rows(count, total),
        examples=(Example(text=format_case(case), case=case, row=row),),
    )


# -- one feature decides -----------------------------------------------------------------------------


def _find_decisive_feature(context: CheckContext, budget: CheckBudget, responses: Responses) -> list[Finding]:
    """Return advice if the most effective feature decides alone: given to another row, the answer goes with it."""
    if len(responses) < 2:
        return []
    response = max(responses, key=lambda one: float(one.changed.mean()))
    if response.changed.mean() < MIN_CHANGED_SHARE:
        return []
    rng = np.random.default_rng([context.seed, SEED])
    own = responses.own_answers
    first, second = rng.integers(len(own), size=(2, 20 * MAX_PAIRS))
    different = np.abs(own[first] - own[second]) > response.rounding
    first, second = first[different][:MAX_PAIRS], second[different][:MAX_PAIRS]
    if len(first) < MIN_ROWS:
        return []
    codes = responses.inputs.codes[first].copy()
    codes[:, response.column] = responses.inputs.codes[second, response.column]
    answers, _ = query_answers(context, budget, responses.codes, Points(context.space, codes))
    known = ~np.isnan(answers)
    answers, first, second = answers[known], first[known], second[known]
    if len(answers) < MIN_ROWS:
        return []
    if responses.numeric:  # nearer to the row that gave the feature than to the row that took it
        spread = max(float(np.nanvar(own)), 1e-300)
        decided = np.square(answers - own[second]) < (1 - MIN_DECISIVE_SHARE) * spread
    else:
        decided = answers == own[second]
    count, total = int(decided.sum()), len(decided)
    if compute_wilson_interval(count, total)[0] < MIN_DECISIVE_SHARE:
        return []
    name = response.feature
    row = int(np.flatnonzero(decided)[0])
    example = responses.build_example(
        responses.inputs.take([first[row]]),
        response.column,
        float(codes[known][row, response.column]),
        (float(own[first[row]]), float(answers[row])),
    )
    return [
        Finding(
            **get_facts("dependence.decisive"),
            about=name,
            title=f"{name} alone decides nearly every answer",
            detail=f"{format_share(count, total, 'row')} get the answer of another row if {name} alone is replaced by that "
            "of the other row. Rows with different answers were tried.",
            remedy=f"Check that {name} is known when the model is used and does not stand for the label (a leak). If it is "
            "meant, a simple rule may do; if not, look at how the other features are scaled and whether they reach the model.",
            **count_rows(count, total),
            examples=(example,),
        )
    ]


def _tabulate_effects(responses: Responses) -> Section:
    """Return a table of how many rows each feature changes, the most effective first."""
    ranked = sorted(responses, key=lambda one: (-float(one.changed.mean()), -float(one.score_changed.mean())))
    directions = {direction.feature: direction for direction in responses.find_directions()}
    body = []
    for response in ranked:
        direction = directions.get(response.feature)
        way = "" if direction is None else direction.way
        below, above = response.find_flat_ends()
        flat = [f"below {format_short(below)}"] if below is not None else []
        flat += [f"above {format_short(above)}"] if above is not None else []
        body.append(
            [
                response.feature,
                format_percent(response.changed.mean()),
                format_percent(response.score_changed.mean()),
                way,
                " and ".join(flat),
            ]
        )
    towards = next((direction.towards for direction in directions.values()), None)
    quantity = "answer" if towards is None else f"score of {format_short(towards)}"
    return Section(
        heading="How many answers each feature changes",
        text=f"{pluralise(len(responses.inputs), 'real row')}, each with all values of one feature and its own values of "
        f"everything else. A direction is named if the {quantity} moves in it only, for nearly all rows. It "
        "is flat where the feature changes nothing for any row.",
        table=Table(
            columns=["feature", "rows whose answer it changes", "rows whose score it changes", "direction", "flat"],
            rows=body,
        ),
    )


def _find_skip_reason(context: CheckContext) -> str:
    if not context.has_data:
        return "no real rows are given"
    if all(feature.kind == "text" for feature in context.space.features):
        return "the only inputs are texts, which have a check of their own"
    if len(context.inputs) < MIN_ROWS:
        return "too few rows are given"
    return "the same case gets different answers" if context.unstable else ""


DEPENDENCE = make_check("dependence", check_dependence, _find_skip_reason)
