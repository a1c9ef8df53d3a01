"""The check "response"."""

from __future__ import annotations

from dataclasses import replace

from ...._text import pluralise
from ....core.result import Finding
from ....errors import BudgetSpent
from ...check import CheckBudget, CheckFindings, make_check
from ...context import CheckContext
from ...responses import encode_truth, measure_responses
from .cuts import find_cuts
from .findings import build_cut_finding, build_reversal_finding, build_turn_finding, build_value_finding
from .reversals import find_reversals, find_unit_factor
from .single_values import SIGNIFICANCE_OF_VALUE, find_single_values, judge_single_value
from .trials import MIN_ROWS_TO_JUDGE, judge_trials, try_cuts
from .turns import find_turns


def check_response(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Look for shared cuts, islands, turns and single values along every number."""
    responses = measure_responses(context, budget)
    numbers = [response for response in responses if response.kind != "categorical"]
    truth = encode_truth(context, responses)
    findings: list[Finding] = []
    basis = f"{pluralise(len(responses.inputs), 'row')} along {pluralise(len(numbers), 'number')}"
    out_of_budget = not responses.complete
    try:
        cuts = find_cuts(context, budget, responses)
        trials = [] if truth is None or not cuts else try_cuts(context, budget, responses, cuts, truth)
        refuted_trials = judge_trials(trials)
        for trial in refuted_trials:
            findings.append(build_cut_finding(context, responses, trial))
        known_features = {trial.cut.feature for trial in refuted_trials}
        # what depends on the month or the hour jumps back with the calendar
        dates = {column.name for column in context.date_columns}
        for reversal in find_reversals([cut for cut in cuts if cut.feature not in dates]):
            if reversal.cut.feature in known_features:
                continue
            factor = find_unit_factor(context, budget, responses, reversal)
            supported = any(
                trial.cut is reversal.cut and trial.p_value_against < SIGNIFICANCE_OF_VALUE for trial in trials
            )
            if factor is not None or not supported:
                findings.append(build_reversal_finding(context, responses, replace(reversal, factor=factor)))
                known_features.add(reversal.cut.feature)
        for turn_trial in [] if truth is None else find_turns(context, budget, responses, truth):
            if turn_trial.turn.response.feature not in known_features:
                findings.append(build_turn_finding(context, responses, turn_trial))
        for single in find_single_values(context, budget, responses):
            level, evidence = judge_single_value(context, budget, responses, single, truth)
            if level is not None:
                findings.append(build_value_finding(context, responses, single, level, evidence))
    except BudgetSpent:
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
    if all(not feature.numeric for feature in context.space.features):
        return "no feature is a number"
    if len(context.inputs) < MIN_ROWS_TO_JUDGE:
        return "too few rows are given"
    return "the same case gets different answers" if context.unstable else ""


RESPONSE = make_check("response", check_response, _find_skip_reason)
