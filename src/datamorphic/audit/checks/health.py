"""Check whether answers depend on how the system is queried: repetition, order, batches, types."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from ..._text import pluralize
from ...core.result import Finding, Level, count_rows, format_share
from ...relations.base import UNDEFINED, VIOLATED, Relation
from ...relations.check.runner import run_relation_check
from ...relations.predictor import MAX_SINGLE_CASES, PREDICTOR_RELATIONS, ROW_ORDER_COUNT, Batches
from ...systems.base import Executor
from ...systems.estimator import Estimator
from ..case_text import build_group_example
from ..check import Check, CheckBudget, CheckFindings
from ..context import CheckContext

MAX_BATCH_ROWS = 200

#: Level, title and remedy of a violation of each relation.
FINDING_TEXTS: dict[str, tuple[Level, str, str]] = {
    "repeats": (
        "fault",
        "The same case gets different answers",
        "Fix the seeds of everything random in prediction (dropout, sampling, Monte Carlo), and do not change the state "
        "of the model in a call. Until then, all other results here partly depend on chance.",
    ),
    "row order": (
        "fault",
        "The answer depends on the position of a case in the batch",
        "Look for state carried from row to row, for ranks, sorting or alignment inside a batch, and for an index joined "
        "by position.",
    ),
    "batches": (
        "fault",
        "A case gets a different answer alone than in a batch",
        "Look for statistics computed from the batch at prediction time (a mean, a refitted scaler, batch normalisation "
        "in training mode). They should be computed in training.",
    ),
    "column order": (
        "concern",
        "Columns are read by position, not by name",
        "Select the columns by name before they reach the model, or reject frames with another column order.",
    ),
    "row labels": (
        "fault",
        "The answer depends on the row index",
        "A result is aligned by the index of the frame somewhere. Reset the index first, or compute with arrays.",
    ),
    "number types": (
        "concern",
        "Whole numbers given as floats get a different answer",
        "Convert the columns to one type before they reach the model. A missing value or a join turns ints into floats.",
    ),
}


#: Libraries whose models read columns by position, as is known of them: a caller has to keep the order.
POSITIONAL_LIBRARIES = ("lightgbm",)


def _find_library(system: Executor) -> str:
    """Return the name of the package that the model of an estimator comes from; empty if there is none."""
    return type(system.model).__module__.partition(".")[0] if isinstance(system, Estimator) else ""


def _check_relation(name: str, context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Check one of the relations that every predictor should satisfy."""
    relation: Relation = PREDICTOR_RELATIONS[name]
    limit = min(MAX_BATCH_ROWS, context.sut.batch_rows)
    queries_per_case = {"row order": ROW_ORDER_COUNT + 1, "batches": 3}.get(name, 2)
    if name == "batches":  # one call per case, which is expensive
        single_cases = context.count_affordable(budget.remaining(0.3), MAX_SINGLE_CASES, calls=0, calls_per_case=1)
        relation, limit = Batches(single_cases), min(limit, 7 * single_cases)
    if context.tolerance is not None:
        relation = copy.copy(relation)
        relation.tolerance = context.tolerance
    inputs = context.sample_inputs(
        context.count_affordable(budget.remaining(0.5), limit, runs_per_case=queries_per_case, calls=queries_per_case)
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
    basis = f"{pluralize(judged_cases, 'case')}, {pluralize(groups.judged_count, 'comparison')}"
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
    level, title, remedy = FINDING_TEXTS[name]
    known_text = ""
    if name == "column order" and _find_library(context.sut) in POSITIONAL_LIBRARIES:
        level, known_text = "advice", " That is known of this kind of model."
    smallest = result.smallest if result.smallest is not None and len(result.smallest) else groups.violations
    batch_rows = 0 if smallest.batch is None else len(smallest.batch)
    batch_text = f" in a batch of {pluralize(batch_rows, 'row')}"
    phrases = {
        "repeats": (" at first", "and when queried again"),
        "row order": (batch_text, "and with its rows in another order"),
        "batches": (batch_text, "and in a smaller one"),
    }.get(name, ("", "and in the other form"))
    finding = Finding(
        check=name,
        about="",
        title=title,
        level=level,
        confidence=1.0,
        detail=f"Expected: {relation.statement}. This fails for {format_share(violating_cases, judged_cases, 'row')}."
        + known_text,
        remedy=remedy,
        **count_rows(violating_cases, judged_cases),
        examples=(build_group_example(smallest, phrases=phrases),),
        answer_changes=True,
        inputs="given",
    )
    return CheckFindings(basis=basis, findings=[finding])


def _build_check(name: str, question: str, weight: float) -> Check:
    def find_skip_reason(context: CheckContext) -> str:
        if name != "repeats" and context.unstable:
            return "answers do not repeat, so differences between queries mean nothing"
        if name in ("row order", "batches") and getattr(context.sut, "scalar", False):
            return "the function takes one case at a time"
        return PREDICTOR_RELATIONS[name].find_obstacle(context.sut, context.inputs)

    return Check(
        name=name,
        question=question,
        weight=weight,
        find_skip_reason=find_skip_reason,
        run=lambda context, budget: _check_relation(name, context, budget),
        about_querying=True,
    )


REPEATS = _build_check("repeats", "Does the same case get the same answer when queried again?", 1)
BATCHES: Sequence[Check] = (
    _build_check("row order", "Does a case get the same answer at any position in a batch?", 1),
    _build_check("batches", "Does a case get the same answer alone as in a batch?", 2),
    _build_check("column order", "Are columns read by name?", 0.5),
    _build_check("row labels", "Is the row index ignored?", 0.5),
    _build_check("number types", "Do whole numbers get the same answer as ints and as floats?", 0.5),
)
