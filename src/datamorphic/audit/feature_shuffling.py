"""Measure how much each feature affects the answers, once for all checks that need it."""

from __future__ import annotations

import numpy as np

from ..runs.flow import ask
from ..space.points import Points
from .check import CheckBudget, run_flow
from .context import SCORE_COST, CheckContext
from .influence import Influence, find_material_changes, find_score_changes

MAX_ROWS_PER_FEATURE = 200
MIN_ROWS_PER_FEATURE = 10
MAX_QUERIED_ROWS = 6_000  # for all features together
RANDOM_STREAM = 171  # of the seed, for this measurement


def measure_influence(context: CheckContext, budget: CheckBudget) -> Influence:
    """Return how the answers change when the values of one feature are shuffled among the inputs.

    The result is kept on the context, so that only the first check pays for it. Real values in other real rows are more
    plausible than values drawn from the bounds of a feature.
    """
    if context.influence is not None:
        return context.influence
    columns = context.columns
    names = [context.space.names[column] for column in columns]
    limit = max(MIN_ROWS_PER_FEATURE, min(MAX_ROWS_PER_FEATURE, MAX_QUERIED_ROWS // max(1, len(names))))
    row_cost = 1.0 if context.is_slow and context.sut.score_kind is None else SCORE_COST
    rows = context.count_affordable(
        budget.remaining(0.6),
        min(limit, len(context.inputs)),
        runs_per_case=row_cost * (len(names) + 1),
        calls=4,
        minimum=min(MIN_ROWS_PER_FEATURE, len(context.inputs)),
    )
    rng = np.random.default_rng([context.seed, RANDOM_STREAM])
    order = rng.permutation(len(context.inputs))
    inputs = context.inputs.take(order[:rows])
    donors = context.inputs.codes[rng.permutation(len(context.inputs))[:rows]]
    points_by_feature = []
    for column in columns:
        codes = np.array(inputs.codes, order="F")
        codes[:, column] = donors[:, column]
        points_by_feature.append(Points(context.space, codes))
    answers = run_flow(context, budget, ask(inputs, scores=True, note="influence"))
    outputs = run_flow(context, budget, ask(Points.concat(points_by_feature), scores=True, note="influence"))
    numbers = context.has_numeric_answers
    shuffled, changed, score_changed, tried = {}, {}, {}, {}
    for number, (column, name, points) in enumerate(zip(columns, names, points_by_feature, strict=True)):
        column_outputs = outputs.take(slice(number * rows, (number + 1) * rows))
        before, after = inputs.codes[:, column], points.codes[:, column]
        moved = (before != after) & ~(np.isnan(before) & np.isnan(after))
        if context.space.keeps_constraints:
            moved &= context.space.satisfied(points.codes)
        both = moved & answers.ok & column_outputs.ok
        shuffled[name] = (points, column_outputs)
        changed[name] = find_material_changes(answers, column_outputs, numbers) & both
        score_changed[name] = find_score_changes(answers, column_outputs) & both
        tried[name] = int(both.sum())
    context.influence = Influence(
        inputs=inputs, answers=answers, shuffled=shuffled, changed=changed, score_changed=score_changed, tried=tried
    )
    return context.influence
