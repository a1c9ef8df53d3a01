"""Check whether answers depend on how the system is queried: repetition, order, batches, types."""

from __future__ import annotations

import copy
import functools

import numpy as np

from ..._text import pluralise
from ...core.result import Finding, count_rows, format_share
from ...relations.algebra.base import UNDEFINED, VIOLATED, Relation
from ...relations.catalogue.predictor import MAX_SINGLE_CASES, PREDICTOR_RELATIONS, ROW_ORDER_COUNT, Batches, RowOrder
from ...relations.check.runner import run_relation_check
from ...systems.base import Executor
from ...systems.estimator import Estimator
from ..case_text import build_group_example
from ..check import Check, CheckBudget, CheckFindings, get_facts, make_check
from ..context import CheckContext

MAX_BATCH_ROWS = 200
SLOW_BATCH_ROWS = 2  # of a system whose time is better spent on other checks

#: Libraries whose models read columns by position, as is known of them: a caller has to keep the order.
POSITIONAL_LIBRARIES = ("lightgbm",)


def _find_library(system: Executor) -> str:
    """Return the name of the package that the model of an estimator comes from; empty if there is none."""
    return type(system.model).__module__.partition(".")[0] if isinstance(system, Estimator) else ""


def _check_relation(name: str, context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Check one of the relations that every predictor should satisfy."""
    relation: Relation = PREDICTOR_RELATIONS[name]
    limit = min(SLOW_BATCH_ROWS if context.is_slow else MAX_BATCH_ROWS, context.sut.batch_rows)
    order_count = 1 if context.is_slow else ROW_ORDER_COUNT
    queries_per_case = {"row order": order_count + 1, "batches": 3}.get(name, 2)
    if name == "row order" and context.is_slow:
        relation = RowOrder(order_count)
    if name == "batches":  # one call per case, which is expensive
        single_cases = context.count_affordable(budget.remaining(0.3), MAX_SINGLE_CASES, calls=0, calls_per_case=1)
        relation, limit = Batches(single_cases), min(limit, 7 * single_cases)
    if context.tolerance is not None:
        relation = copy.copy(relation)
        relation.tolerance = context.tolerance
    inputs = context.sample_inputs(
        context.count_affordable(
            budget.remaining(0.5),
            limit,
            runs_per_case=queries_per_case,
            calls=queries_per_case,
            minimum=min(SLOW_BATCH_ROWS if context.is_slow else 1, limit),
        )
    )
    result = run_relation_check(
        relation,
        context.sut,
        inputs,
        seed=context.seed,
        counter=budget.counter,
        budget=budget.remaining(),
        **context.drive_options,
    )
    groups = result.groups
    violating_cases = len(np.unique(groups.rows[groups.verdicts == VIOLATED]))
    judged_cases = len(np.unique(groups.rows[groups.verdicts <= VIOLATED]))
    basis = f"{pluralise(judged_cases, 'case')}, {pluralise(groups.judged_count, 'comparison')}"
    if violating_cases and relation.whole:
        context.query_dependent = True
        context.unstable |= name == "repeats"
    if not judged_cases:
        refused = len(groups) and groups.count(UNDEFINED) == 0
        if refused:
            return CheckFindings(basis="the model rejects frames with columns in another order, which is safe")
        return CheckFindings(basis="no case could be judged", conclusive=False, skip_reason="inapplicable")
    if not violating_cases:
        return CheckFindings(basis=basis)
    facts, known_text = get_facts(name), ""
    if name == "column order" and _find_library(context.sut) in POSITIONAL_LIBRARIES:
        facts["level"], known_text = "advice", " That is known of this kind of model."
    smallest = result.smallest if result.smallest is not None and len(result.smallest) else groups.violations
    batch_rows = 0 if smallest.batch is None else len(smallest.batch)
    batch_text = f" in a batch of {pluralise(batch_rows, 'row')}"
    phrases = {
        "repeats": (" at first", "and when queried again"),
        "row order": (batch_text, "and with its rows in another order"),
        "batches": (batch_text, "and in a smaller one"),
    }.get(name, ("", "and in the other form"))
    finding = Finding(
        **facts,
        detail=f"Expected: {relation.statement}. This fails for {format_share(violating_cases, judged_cases, 'row')}."
        + known_text,
        **count_rows(violating_cases, judged_cases),
        examples=(build_group_example(smallest, phrases=phrases),),
    )
    return CheckFindings(basis=basis, findings=[finding])


def _build_check(name: str) -> Check:
    def find_skip_reason(context: CheckContext) -> str:
        if name != "repeats" and context.unstable:
            return "answers do not repeat, so differences between queries mean nothing"
        if name in ("row order", "batches") and getattr(context.sut, "scalar", False):
            return "the function takes one case at a time"
        return PREDICTOR_RELATIONS[name].find_obstacle(context.sut, context.inputs)

    return make_check(name, functools.partial(_check_relation, name), find_skip_reason)


REPEATS = _build_check("repeats")
BATCHES = tuple(map(_build_check, ("row order", "batches", "column order", "row labels", "number types")))
