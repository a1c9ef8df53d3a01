"""Is it healthy: the same answer twice, whatever is asked beside and however it is written?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._text import pluralize
from ...relations.base import UNDEFINED, VIOLATED, Relation
from ...relations.check.runner import run_relation_check
from ...relations.predictor import MAX_SINGLE_CASES, PREDICTOR_RELATIONS, ROW_ORDER_COUNT, Batches
from ..case_text import build_example, format_share
from ..check import Check, CheckBudget, CheckFindings
from ..context import CheckContext
from ..finding import Finding, Level

MAX_BATCH_ROWS = 200  # rows of the batch whose order is changed

#: level, title and remedy of a violation of each relation
FINDING_TEXTS: dict[str, tuple[Level, str, str]] = {
    "repeats": (
        "fault",
        "The same case gets different answers",
        "Fix the seeds of everything random in prediction (dropout, sampling, Monte Carlo), and let no call change "
        "the state of the model. Until then every other result here is partly chance.",
    ),
    "row order": (
        "fault",
        "The answer depends on where a case stands in the batch",
        "Look for state that is carried from row to row, for ranks, sorting or alignment inside a batch, and for an "
        "index that is joined by position.",
    ),
    "batches": (
        "fault",
        "A case gets another answer alone than among others",
        "Look for statistics that are taken from the batch at prediction time (a mean, a scaler that is fitted again, "
        "batch normalisation in training mode). They belong into training.",
    ),
    "column order": (
        "concern",
        "Columns are read by their place, not by their name",
        "Select the columns by name before the model is asked, or refuse a frame whose columns stand in another order.",
    ),
    "row labels": (
        "fault",
        "The answer depends on the labels of the rows",
        "Somewhere a result is aligned by the index of the frame. Reset the index first, or compute with arrays.",
    ),
    "number types": (
        "concern",
        "Whole numbers written as floats get another answer",
        "Convert the columns to one type before the model is asked: a missing value or a join turns ints into floats.",
    ),
}


def _check_relation(name: str, context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Put one of the relations that every model keeps to the system."""
    relation: Relation = PREDICTOR_RELATIONS[name]
    limit, queries_per_case = (
        min(MAX_BATCH_ROWS, context.sut.batch_rows),
        {"row order": ROW_ORDER_COUNT + 1, "batches": 3}.get(name, 2),
    )
    if name == "batches":  # a call a case: the most expensive of them all
        single_cases = int(
            context.count_affordable(
                budget.remaining(0.3),
                MAX_SINGLE_CASES,
                runs_per_case=1 + context.pace.seconds_per_call / max(context.pace.seconds_per_row, 1e-9),
            )
        )
        relation, limit = Batches(single_cases), min(limit, 7 * single_cases)
    inputs = context.sample_inputs(
        context.count_affordable(
            budget.remaining(0.5), limit, runs_per_case=queries_per_case, calls=queries_per_case
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
    basis = f"{pluralize(judged_cases, 'case')}, {pluralize(groups.judged_count, 'comparison')}"
    if violating_cases and relation.whole:
        context.query_dependent = True
        context.unstable |= name == "repeats"
    if not judged_cases:
        refused = len(groups) and groups.count(UNDEFINED) == 0
        return CheckFindings(
            "it refuses such frames, which is safe" if refused else "no case could be judged",
            conclusive=bool(refused),
        )
    if not violating_cases:
        return CheckFindings(basis)
    level, title, remedy = FINDING_TEXTS[name]
    smallest = result.smallest if result.smallest is not None and len(result.smallest) else groups.violations
    batch_rows = 0 if smallest.batch is None else len(smallest.batch)
    batch_text = f" in a batch of {pluralize(batch_rows, 'row')}"
    phrases = {
        "repeats": (" when it is first asked", "and when it is asked again"),
        "row order": (batch_text, "and when its rows stand in another order"),
        "batches": (batch_text, "and when it is asked in a smaller one"),
    }.get(name, ("", "and written in the other way"))
    finding = Finding(
        check=name,
        about="",
        title=title,
        level=level,
        sure=1.0,
        detail=f"The promise: {relation.says}. {format_share(violating_cases, judged_cases)} break it.",
        remedy=remedy,
        cases=violating_cases,
        of=judged_cases,
        examples=(build_example(smallest, 0, phrases),),
    )
    return CheckFindings(basis, [finding])


def _build_check(name: str, question: str, weight: float) -> Check:
    def find_skip_reason(context: CheckContext) -> str:
        if name != "repeats" and context.unstable:
            return "answers do not repeat, so nothing can be told from asking in another way"
        if name in ("row order", "batches") and getattr(context.sut, "scalar", False):
            return "the function takes one case at a time"
        return PREDICTOR_RELATIONS[name].why_not(context.sut, context.inputs)

    return Check(
        name=name,
        question=question,
        weight=weight,
        find_skip_reason=find_skip_reason,
        run=lambda context, budget: _check_relation(name, context, budget),
        about_querying=True,
    )


REPEATS = _build_check("repeats", "Does the same case get the same answer when it is asked again?", 1)
BATCHES: Sequence[Check] = (
    _build_check("row order", "Does a case get the same answer wherever it stands in a batch?", 1),
    _build_check("batches", "Does a case get the same answer alone as among others?", 2),
    _build_check("column order", "Are columns read by their names?", 0.5),
    _build_check("row labels", "Are the labels of rows left alone?", 0.5),
    _build_check("number types", "Are whole numbers the same numbers as floats?", 0.5),
)
