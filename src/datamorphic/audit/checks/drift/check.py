"""The check "drift": compare the data with the reference, and look for drift that costs accuracy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...._text import format_percent, format_rounded, join_names, pluralise
from ....core.result import Finding, count_rows
from ....errors import BudgetSpent, SystemFailed
from ....reporting.document import Section, Table
from ...check import MISSING_RESULT, CheckBudget, CheckFindings, get_facts, make_check
from ...context import CheckContext
from ...judged_rows import JudgedRows, build_judged_example, collect_judged_rows
from ...labels import find_missing_labels
from ...reference_model import ReferenceModel
from ...responses import AnswerCodes
from ...rivals import mark_explained_rows
from .class_shares import find_changed_shares
from .columns import MIN_DISTANCE, Drift, measure_column_drifts, measure_label_drift
from .emptied_columns import build_emptied_finding, find_emptied_columns
from .groups import CostlyGroup, Mask, find_costly_group, find_grown_groups
from .moved_columns import build_moved_finding, find_moved_column
from .reference_rows import ReferenceRows, query_reference, read_reference_rows
from .relation import (
    ChangedRelation,
    ContradictedGroup,
    encode_reference_labels,
    find_changed_relation,
    find_contradicted_group,
)

Floats = npt.NDArray[np.float64]

MIN_ROWS = 30  # of the data and of the reference
RARE_SHARE = 0.05  # of the reference
MAX_NAMED_COLUMNS = 4  # in the title of the advice


def check_drift(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Measure the drift of columns, answers and labels, and compare the errors among the rows that drifted."""
    reference = read_reference_rows(context)
    if reference is None or len(reference.codes) < MIN_ROWS:
        reason = "the columns of the reference cannot be compared with the data, or it has too few rows"
        return CheckFindings(basis=reason, conclusive=False, skip_reason="inapplicable")
    drifts = measure_column_drifts(context.inputs, reference)
    basis = (
        f"{pluralise(len(drifts), 'column')} of {pluralise(len(context.inputs), 'row')} compared with "
        f"{pluralise(len(reference.codes), 'row')} of the reference"
    )
    findings: list[Finding] = []
    has_errors = out_of_budget = False
    try:
        query_reference(context, budget, reference)
        drifts += _measure_answer_drift(context, reference)
        emptied = find_emptied_columns(context, budget, reference)
        findings += [build_emptied_finding(context, column) for column in emptied]
        shares = find_changed_shares(context, reference)
        findings += [] if shares is None else [shares]
        quick = context.fit_reference_model(budget.remaining())
        data = None if quick is None else collect_judged_rows(context, quick)
        if quick is not None and data is not None:
            names = [column.name for column in emptied]
            others = [drift for drift in drifts if drift.name not in names]
            finding, error_text = _find_cost(context, budget, quick, data, reference, others, shares is not None)
            # the error of rows without a value is that of the emptied column
            findings += [] if finding is None or set(finding.columns).intersection(names) else [finding]
            basis += error_text
            has_errors = True
    except (BudgetSpent, SystemFailed):
        basis, out_of_budget = f"{basis}; there was no time to compare errors", True
    changed = sorted((drift for drift in drifts if drift.is_material), key=lambda drift: -drift.low)
    section = _build_section(drifts)
    if findings:
        findings[0] = replace(findings[0], sections=(section,))
    elif changed:
        findings = [_build_advice(changed, section, has_errors)]
    return CheckFindings(
        basis=basis,
        findings=findings,
        conclusive=not out_of_budget or bool(findings),
        skip_reason="budget spent" if out_of_budget else "",
    )


# -- answers and labels ------------------------------------------------------------------------------------------------


def _measure_answer_drift(context: CheckContext, reference: ReferenceRows) -> list[Drift]:
    """Return the drift of the answers and of the labels, as far as both sides have them."""
    numeric = context.has_numeric_answers
    drifts: list[Drift | None] = []
    if reference.answers is not None and context.answers is not None:
        codes = AnswerCodes(numeric, context.sut.labels)
        new = codes.encode(context.answers.values, context.answers.ok)
        old = codes.encode(reference.answers.values, reference.answers.ok)
        drifts.append(measure_label_drift("answers", old, new, codes.labels, numeric))
    if reference.labels is not None and context.truth is not None and not context.label_note:
        codes = AnswerCodes(numeric, context.sut.labels)
        known = [~find_missing_labels(labels) for labels in (reference.labels, context.truth)]
        old, new = codes.encode(reference.labels, known[0]), codes.encode(context.truth, known[1])
        drifts.append(measure_label_drift("labels", old, new, codes.labels, numeric))
    return [drift for drift in drifts if drift is not None]


def _find_most_drifted(drifts: list[Drift]) -> Drift | None:
    """Return the column whose distribution differs most; None if none differs clearly."""
    columns = [drift for drift in drifts if drift.is_column and drift.low >= MIN_DISTANCE]
    return max(columns, key=lambda drift: drift.low, default=None)


# -- drift that costs accuracy -----------------------------------------------------------------------------------------


def _find_cost(
    context: CheckContext,
    budget: CheckBudget,
    quick: ReferenceModel,
    data: JudgedRows,
    reference: ReferenceRows,
    drifts: list[Drift],
    has_other_shares: bool,
) -> tuple[Finding | None, str]:
    """Return a finding about drift that costs accuracy, if there is any, and the errors on both sides in words.

    A column that moved is the plainest cause. Then come groups that grew, labels that follow from other inputs everywhere, and
    labels of a group that do. If classes have other shares, this explains them.
    """
    labels = encode_reference_labels(reference, quick)
    judged, errors = _measure_reference_errors(context, quick, reference, labels)
    format_error = (lambda value: f"{value:.3g}") if data.numeric else format_percent
    text = f"; error {format_error(float(data.errors.mean()))}"
    if len(errors):
        text += f", in the reference {format_error(float(errors.mean()))}"
    moved = find_moved_column(context, budget, data, reference, drifts)
    if moved is not None:
        return build_moved_finding(context, data, moved), text
    if has_other_shares:
        return None, text
    grown = find_grown_groups(context, data, reference)
    costly = find_costly_group(data, grown, reference, errors, judged, context.seed)
    if costly is not None:
        return _build_group_finding(context, data, costly), text
    if budget.spent:
        raise BudgetSpent("There was no time to fit a model of the reference.")
    relation = find_changed_relation(context, budget, data, quick, reference, labels)
    if relation is not None and _has_risen(data, errors):
        return _build_relation_finding(context, data, relation, _find_most_drifted(drifts)), text
    group = find_contradicted_group(context, budget, data, quick, reference, labels)
    return None if group is None else _build_contradicted_finding(context, data, group), text


def _measure_reference_errors(
    context: CheckContext, quick: ReferenceModel, reference: ReferenceRows, labels: Floats
) -> tuple[npt.NDArray[np.intp], Floats]:
    """Return the rows of the reference with an answer and a label, and the errors of the model there."""
    answers, rows = reference.answers, reference.answer_rows
    if answers is None:
        return np.empty(0, dtype=np.intp), np.empty(0)
    usable = answers.ok & np.isfinite(labels[rows])
    if not quick.classes:
        codes = AnswerCodes(True).encode(answers.values, answers.ok)
        usable &= np.isfinite(codes)
        return rows[usable], np.abs(codes[usable] - labels[rows[usable]])
    encoder = AnswerCodes(False, quick.classes)
    codes = encoder.encode(answers.values, answers.ok)
    return rows[usable], (codes[usable] != labels[rows[usable]]).astype(np.float64)


def _has_risen(data: JudgedRows, reference_errors: Floats) -> bool:
    """Tell whether the error is higher than in the reference, or unknown there: otherwise the model was as poor before."""
    return not len(reference_errors) or float(data.errors.mean()) > float(reference_errors.mean())


# -- the findings ------------------------------------------------------------------------------------------------------


def _format_error(data: JudgedRows, value: float) -> str:
    return (
        f"a mean error of {format_rounded(value)}" if data.numeric else f"wrong for {format_percent(value)} of the rows"
    )


def _build_group_finding(context: CheckContext, data: JudgedRows, costly: CostlyGroup) -> Finding:
    group, verb = costly.group, "has" if data.numeric else "is"
    frequency = "became more frequent"
    if group.reference_share < RARE_SHARE:
        frequency = "was rare in the reference" if group.reference_share else "the reference does not have"
    count, total = _count_wrong(data, costly.rows)
    reference_text = ""
    if costly.reference_error is not None:
        reference_text = f" For the same group in the reference data, the model {verb} {_format_error(data, costly.reference_error)}."
    low = format_rounded(costly.low) if data.numeric else f"{100 * costly.low:.3g} points"
    return Finding(
        **get_facts("drift.group"),
        about=data.points.space.names[group.column],
        title=f"The model is {'worse' if data.numeric else 'wrong more often'} where {group.text}, which {frequency}",
        detail=f"These are {format_percent(group.share)} of the rows, and {format_percent(group.reference_share)} of the "
        f"reference. There the model {verb} {_format_error(data, costly.error)}, elsewhere "
        f"{_format_figure(data, costly.error_elsewhere)}. A quick model fitted to other rows of the data {verb} "
        f"{_format_error(data, costly.quick_error)} there, so the data allow better: the difference is at least "
        f"{low}.{reference_text} The group was found on half of the rows and tested on the other half.",
        **count_rows(count, total),
        columns=(data.points.space.names[group.column],),
        examples=(build_judged_example(context, data, data.find_clearest_row(costly.rows)),),
    )


def _build_relation_finding(
    context: CheckContext, data: JudgedRows, relation: ChangedRelation, most_drifted: Drift | None
) -> Finding:
    where = f"where {relation.group}" if relation.group else ""
    verb, verb_of_error = ("has", "has") if data.numeric else ("is", "is wrong")
    place_of_error = "on the given data" if data.numeric else "of the given data"
    count, total = _count_wrong(data, relation.inside)
    place = f" The difference is largest {where}." if where else ""
    title = "The labels follow from other inputs than in the reference data: what was learned there no longer holds"
    columns = relation.columns
    if most_drifted is not None:
        place += f" {most_drifted.name} differs most: {most_drifted.data_text}; in the reference {most_drifted.reference_text}."
        if not where:
            title = f"What was learned from the reference data no longer holds, and {most_drifted.name} differs from it"
            columns = (most_drifted.name,)
    if where:
        title = f"What was learned from the reference data no longer holds {where}"
    return Finding(
        **get_facts("drift.relation"),
        about=", ".join(columns),
        title=title,
        detail=f"A quick model fitted to the reference data {verb} {_format_error(data, relation.reference_error)} {place_of_error}. One "
        f"fitted to as many other rows of the given data {verb_of_error} {_format_figure(data, relation.data_error)}, and the model "
        f"under test {_format_figure(data, relation.error)}.{place} Both quick models were tested on rows that they were not fitted to.",
        **count_rows(count, total),
        columns=columns,
        examples=(build_judged_example(context, data, data.find_clearest_row(relation.inside)),),
    )


def _build_contradicted_finding(context: CheckContext, data: JudgedRows, group: ContradictedGroup) -> Finding:
    name, verb = data.points.space.names[group.column], "has" if data.numeric else "is"
    place_of_error = "on the data" if data.numeric else "of the data"
    mark_explained_rows(context, data.rows[group.inside])
    count, total = _count_wrong(data, group.inside)
    return Finding(
        **get_facts("drift.relation"),
        about=name,
        title=f"What was learned from the reference data no longer holds where {group.text}",
        detail=f"There, a quick model fitted to the reference data {verb} {_format_error(data, group.data_error)} {place_of_error}, "
        f"and the model under test {_format_figure(data, group.error)}. On rows of the same group of the reference that it was not fitted "
        f"to, the quick model {verb} {_format_error(data, group.reference_error)}. So the labels of this group follow another rule "
        "than in the reference, or are wrong. The group was found on half of the rows and tested on the other half.",
        **count_rows(count, total),
        columns=(name,),
        examples=(build_judged_example(context, data, data.find_clearest_row(group.inside)),),
    )


def _format_figure(data: JudgedRows, value: float) -> str:
    return format_rounded(value) if data.numeric else f"for {format_percent(value)}"


def _count_wrong(data: JudgedRows, rows: Mask) -> tuple[int, int]:
    """Return how many rows are wrong, and how many there are; numbers are wrong if the error is one of the largest tenth."""
    errors = data.errors[rows]
    wrong = errors > np.quantile(data.errors, 0.9) if data.numeric else errors > 0
    return int(wrong.sum()), len(errors)


def _build_advice(changed: list[Drift], section: Section, has_errors: bool) -> Finding:
    names = [drift.name for drift in changed]
    named = join_names(names[:MAX_NAMED_COLUMNS])
    if len(names) > MAX_NAMED_COLUMNS:
        named = f"{', '.join(names[:MAX_NAMED_COLUMNS])} and {len(names) - MAX_NAMED_COLUMNS:,} more"
    texts = []
    for drift in changed[:MAX_NAMED_COLUMNS]:
        parts = list(drift.remarks)
        if drift.low > 0:
            parts.insert(0, f"{drift.data_text}; in the reference {drift.reference_text}")
        texts.append(f"{drift.name}: {'; '.join(parts)}.")
    effect = "Whether this costs accuracy was not measured."
    if has_errors:
        effect = "Nowhere among these rows is the model clearly worse than a quick model that was fitted to the data."
    return Finding(
        **get_facts("drift.columns"),
        title=f"The data differ from the reference in {named}",
        detail=f"{' '.join(texts)} {effect}",
        columns=tuple(drift.name for drift in changed if drift.is_column),
        sections=(section,),
    )


def _build_section(drifts: list[Drift]) -> Section:
    rows = [
        [
            drift.name if drift.is_column else f"({drift.name})",
            format_percent(drift.distance),
            format_percent(drift.low),
            drift.data_text,
            drift.reference_text,
            "; ".join(drift.remarks),
        ]
        for drift in sorted(drifts, key=lambda drift: (-drift.low, -drift.distance))
    ]
    return Section(
        heading="The data and the reference",
        text="The distance is the share of rows that would have to change to make both alike. For numbers, it is the largest "
        "difference between the shares of rows below a value. “At least” is the lower end of its interval.",
        table=Table(
            columns=["column", "distance", "at least", "data", "reference", "remarks"],
            rows=rows,
            main_columns=["column", "distance", "at least"],
            sortable=False,
        ),
    )


def _find_skip_reason(context: CheckContext) -> str:
    if context.reference is None:
        return "no training data are given: reference=frame (--reference FILE)"
    if not context.has_data:
        return "no data are given"
    if context.space.blocks:
        return "it is about columns, which images and sequences do not have"
    if context.answers is None or context.query_rows is None:
        return MISSING_RESULT
    few = len(context.inputs) < MIN_ROWS
    return f"fewer than {MIN_ROWS} rows are given" if few else ""


DRIFT = make_check("drift", check_drift, _find_skip_reason)
