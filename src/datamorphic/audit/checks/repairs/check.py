"""Check whether a simple change of the inputs, or of the answers, makes the answers fit the labels clearly better."""

from __future__ import annotations

import numpy as np

from ...._text import format_percent, format_rounded, pluralise
from ....core.result import Example, Finding, count_rows
from ....errors import BudgetSpent
from ....reporting.document import Section, Table
from ....runs.flow import ask
from ....space.points import Rows
from ...case_text import extract_row, format_answer, format_change, format_label, to_plain_answer
from ...check import CheckBudget, CheckFindings, find_label_obstacle, get_facts, make_check, run_flow
from ...context import CheckContext
from ...judged_rows import JudgedRows, collect_judged_rows
from ...outcome import SkipReason
from ...reference_model import MIN_REFERENCE_ROWS
from ...rivals import mark_explained_rows
from .answers import list_answer_losses
from .changes import PLAIN, SUBSTITUTED, USUAL, ColumnChange, list_changes
from .codings import AssignmentFinder
from .judge import LabelJudge
from .search import Repair, RepairSearch, ThresholdRepair

MIN_ROWS = 60  # fewer do not confirm a change
MAX_LISTED_COLUMNS = 3
MAX_CHANGES = 1_200  # beyond it, units are tried only in columns of which a similar factor helps
#: The smallest ratios of the loss of the model to that of the quick one at which a first and a second change are searched for.
MIN_LOSS_RATIOS = (0.6, 1.2)


def check_repairs(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Look for changes after which the answers fit the labels better, on one half of the rows, and confirm them on the other."""
    reference = context.fit_reference_model(budget.remaining(0.5))
    data = None if reference is None else collect_judged_rows(context, reference)
    if data is None or len(data.rows) < MIN_ROWS:
        reason = f"fewer than {max(MIN_ROWS, MIN_REFERENCE_ROWS)} rows have an answer and a label that can be compared"
        had_no_time = context.query_rows is not None and len(context.query_rows) < min(MIN_ROWS, len(context.inputs))
        skip_reason: SkipReason = "budget spent" if had_no_time else "inapplicable"
        return CheckFindings(basis=reason, conclusive=False, skip_reason=skip_reason)
    search = RepairSearch(context=context, budget=budget, data=data, judge=LabelJudge.from_rows(context, data))
    losses = list_answer_losses(context, data, search.judge, search.search_rows, search.conditions)
    answer_repair = search.find_answer_repair(losses)
    findings: list[Finding] = []
    skipped = False
    try:
        findings = _repair_inputs(search, answer_repair)
    except BudgetSpent:
        skipped = True
    if answer_repair is not None and not findings:
        findings = [_build_answer_finding(search, answer_repair)]
        _mark_rows(search, answer_repair)
    basis = f"{pluralise(search.tried, 'change')} tried on {pluralise(len(search.search_rows), 'row')}"
    return CheckFindings(
        basis=f"{basis}; there was no time for more" if skipped else basis,
        findings=findings,
        conclusive=not skipped or bool(findings),
        skip_reason="budget spent" if skipped else "",
    )


def _repair_inputs(search: RepairSearch, answer_repair: Repair | None) -> list[Finding]:
    """Return findings about changes of the inputs: the best, then the best beside it; none if one of the answers explains more."""
    findings: list[Finding] = []
    context = search.context
    changes = _put_influential_first(context, list_changes(context.inputs, context.reference, context.date_columns))
    # a model such as a support vector machine answers all values far from its data alike: the column seems to have no effect, and
    # only the very factor helps
    units = [change for family in reversed(changes) for change in family.similar if change.implausibility == PLAIN]
    changes += units[: max(0, MAX_CHANGES - len(changes))]
    try:
        while len(findings) < len(MIN_LOSS_RATIOS) and search.is_worth_a_search(MIN_LOSS_RATIOS[len(findings)]):
            repair = search.find_repair(changes, AssignmentFinder())
            if repair is None and not findings and answer_repair is None and search.partial is not None:
                return _repair_two_columns(search, search.partial, changes)
            if repair is None or (not findings and is_better_explanation(answer_repair, repair)):
                break
            threshold = search.find_threshold(repair)
            findings.append(_build_finding(search, repair, threshold))
            _mark_rows(search, repair)
            if threshold is not None:
                break
            search.accept(repair)
            changes = _leave_out(changes, repair)
    except BudgetSpent:
        if not findings:
            raise
    return findings


def _repair_two_columns(search: RepairSearch, first: Repair, changes: list[ColumnChange]) -> list[Finding]:
    """Return two findings if a change that explains too little alone is one of two causes."""
    beside = search.copy_with(first)
    second = beside.find_repair(_leave_out(changes, first), AssignmentFinder())
    if second is None:
        return []
    for part, repair in ((search, first), (beside, second)):
        _mark_rows(part, repair)
    return [_build_finding(search, first), _build_finding(beside, second)]


def _leave_out(changes: list[ColumnChange], repair: Repair) -> list[ColumnChange]:
    return [change for change in changes if not set(change.columns) & set(repair.columns)]


def _mark_rows(search: RepairSearch, repair: Repair) -> None:
    """Remember the rows whose errors a repair explains, so that no other check reports them once more."""
    mark_explained_rows(search.context, search.data.rows[search.losses > repair.losses])


def _put_influential_first(context: CheckContext, changes: list[ColumnChange]) -> list[ColumnChange]:
    """Return changes by the influence of their columns, for slow systems; a column that is misread may have none."""
    influence = context.influence
    if influence is None:
        return changes
    shares = {
        name: influence.compute_share(name) + 0.01 * float(influence.score_changed[name].mean())
        for name in influence.changed
    }
    return sorted(changes, key=lambda change: -max(shares.get(name, 1.0) for name in change.columns))


def is_better_explanation(repair: Repair | None, other: Repair) -> bool:
    """Tell whether a repair of the answers explains more than one of the inputs: clearly more, unless it is plain itself.

    It is plain if it is about all rows, or about the same group as the repair of the inputs.
    """
    if repair is None:
        return False
    is_plain = repair.condition in (None, other.condition) and repair.change.implausibility <= USUAL
    reduction = other.gain.reduction
    return repair.gain.reduction.value >= (reduction.value if is_plain else reduction.high)


# -- findings ----------------------------------------------------------------------------------------------------------


def _build_finding(search: RepairSearch, repair: Repair, threshold: ThresholdRepair | None = None) -> Finding:
    names = _list_names(repair.columns)
    what = _describe_repair(repair)
    # one category that does better as another one: not a code that is mixed up, but rows that are treated wrongly
    where = (
        "Rows are answered wrongly because of"
        if repair.change.implausibility == SUBSTITUTED
        else "Serving looks wrong for"
    )
    title = f"{where} {names}: with {what}, {_describe_gain(search.judge, repair)}"
    remedy = ""
    if threshold is not None:
        title = (
            f"Either {names} is misread, or the threshold is wrong: with {what}, {_describe_gain(search.judge, repair)}, and with "
            f"{format_label(threshold.label)} from a probability of {threshold.threshold:.2g} on, to {format_percent(threshold.after)}"
        )
        remedy = (
            "Find out first whether the threshold, or the weights of the classes in training, were chosen on purpose. "
        )
    return Finding(
        **get_facts("repairs.inputs"),
        about=", ".join(repair.columns[:MAX_LISTED_COLUMNS]),
        columns=repair.columns,
        title=title,
        detail=_describe_evidence(search, repair),
        remedy=f"{remedy}Compare how {names} is prepared where the model was trained and where it answers: units, codes, signs, order of "
        "columns, filling of gaps. If the data at hand are at fault and not the serving code, correct them.",
        **count_rows(repair.gain.fixed, len(search.test_rows)),
        sections=_build_sections(search, repair),
        examples=_build_examples(search, repair),
    )


def _build_answer_finding(search: RepairSearch, repair: Repair) -> Finding:
    what = _describe_repair(repair)
    return Finding(
        **get_facts("repairs.answers"),
        about="answers",
        title=f"The answers look wrong on the way out: with {what}, {_describe_gain(search.judge, repair)}",
        detail=_describe_evidence(search, repair),
        remedy="Compare what the model answers with what leaves the service: names and order of classes, the threshold, units, "
        "inverse transformations, and the rows that answers are joined to.",
        **count_rows(repair.gain.fixed, len(search.test_rows)),
        columns=() if repair.condition is None else (search.data.points.space.names[repair.condition.feature],),
        sections=_build_sections(search, repair),
    )


def _describe_repair(repair: Repair) -> str:
    return repair.change.text if repair.condition is None else f"{repair.change.text} where {repair.condition.text}"


def _describe_gain(judge: LabelJudge, repair: Repair) -> str:
    before, after = repair.gain.before, repair.gain.after
    if judge.numeric:
        return f"the mean error falls from {_format_error(before)} to {_format_error(after)}"
    return f"errors fall from {format_percent(before)} to {format_percent(after)}"


def _format_error(error: float) -> str:
    return format_rounded(error)


def _describe_evidence(search: RepairSearch, repair: Repair) -> str:
    gain, data = repair.gain, search.data
    low, high = format_percent(gain.reduction.low), format_percent(min(1.0, gain.reduction.high))
    reduction = f"{format_percent(gain.reduction.value)} ({low} to {high})"
    tested = f"On {pluralise(gain.reduction.cases or 0, 'row')} that were not used to find this change"
    effect = (
        f"{tested}, it makes the error of {gain.fixed:,} rows smaller and that of {gain.broken:,} larger: the mean error falls by "
        f"{reduction}."
        if data.numeric
        else f"{tested}, {pluralise(gain.fixed, 'wrong answer')} would be right with it, and {pluralise(gain.broken, 'right answer')} "
        f"wrong: the number of wrong answers falls by {reduction}."
    )
    quick = float(data.reference_errors.mean())
    quick_text = (
        f"has a mean error of {_format_error(quick)}"
        if data.numeric
        else f"is wrong for {format_percent(quick)} of the rows"
    )
    return (
        f"{effect} It is one of {search.tried:,} changes that were tried on other rows. For comparison, a quick model that this test "
        f"fitted to other rows {quick_text}."
    )


def _list_names(names: tuple[str, ...]) -> str:
    if len(names) > MAX_LISTED_COLUMNS:
        return pluralise(len(names), "column")
    return " and ".join(names)


def _build_sections(search: RepairSearch, repair: Repair) -> tuple[Section, ...]:
    if not repair.runners_up:
        return ()

    def format_loss(loss: float) -> str:
        return _format_error(loss) if search.judge.numeric else format_percent(loss)

    rows = [
        [text, format_loss(gain.before), format_loss(gain.after)]
        for text, gain in ((_describe_repair(repair), repair.gain), *repair.runners_up)
    ]
    name = "mean error" if search.judge.numeric else "errors"
    return (
        Section(
            heading="Changes after which the answers fit the labels better",
            text="All of them were confirmed on rows that were not used to find them. The first one is the plainest of those that "
            "explain about as much as the best.",
            table=Table(columns=["with", f"{name} before", f"{name} after"], rows=rows, sortable=False),
        ),
    )


def _build_examples(search: RepairSearch, repair: Repair) -> tuple[Example, ...]:
    """Return the row whose error shrinks most, as it is and changed, with both answers."""
    data: JudgedRows = search.data
    shrinkage = search.losses - repair.losses
    row = int(search.test_rows[shrinkage[search.test_rows].argmax()])
    frame = search.frame.iloc[[row]]
    changed = search.change_rows(repair.change, np.array([row]))
    if changed is None or search.context.answers is None:
        return ()
    outputs = run_flow(search.context, search.budget, ask(Rows(changed), note="repairs", fresh=True))
    before, after = extract_row(frame, 0), extract_row(changed, 0)
    values = {name: after[name] for name in repair.columns if after[name] != before[name]}
    old, new = format_answer(search.context.answers, int(data.answer_rows[row])), format_answer(outputs, 0)
    text = ", ".join(format_change(name, before[name], value) for name, value in values.items())
    return (
        Example(
            text=f"{text}: {old} becomes {new}",
            case=before,
            answer=to_plain_answer(search.context.answers, int(data.answer_rows[row])),
            changed=values,
            new_answer=to_plain_answer(outputs, 0),
            row=int(data.rows[row]),
        ),
    )


def _find_skip_reason(context: CheckContext) -> str:
    return find_label_obstacle(context) or ("the same case gets different answers" if context.unstable else "")


REPAIRS = make_check("repairs", check_repairs, _find_skip_reason)
