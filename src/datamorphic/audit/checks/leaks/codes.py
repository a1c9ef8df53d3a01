"""Codes with few rows per value: does the model decide by them, although they do not help on these rows?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...._stats import Z_95, compute_wilson_interval
from ....core.result import Measure
from ....runs.flow import ask
from ....space.features import Categorical
from ....space.outputs import Outputs
from ....space.points import Points
from ...check import CheckBudget, run_flow
from ...columns import read_words, split_name
from ...context import CheckContext
from ...influence import find_material_changes
from ...labels import align_labels
from .rows import Floats, LabelledRows

MIN_DISTINCT_CODES = 30
MIN_DISTINCT_SHARE = 0.2  # of the rows: at most five rows per code on average
MAX_ROWS = 600  # queried for each code
MAX_CODES = 3
MIN_CHANGED_SHARE = 0.05  # of the answers that change with a code, at the lower end of the interval
RANDOM_STREAM = 174


@dataclass(frozen=True, eq=False, kw_only=True)
class CodeTrial:
    """What happened to the answers when codes were shuffled among rows."""

    name: str
    distinct: int
    code_rows: int  # that have a code
    points: Points
    shuffled: Points
    answers: Outputs
    outputs: Outputs
    changed: npt.NDArray[np.bool_]
    benefit: Measure  # the share of right answers with the own code minus that with another one

    @property
    def is_decisive(self) -> bool:
        """Whether many answers change with the code."""
        return compute_wilson_interval(int(self.changed.sum()), len(self.changed))[0] >= MIN_CHANGED_SHARE

    @property
    def is_useless(self) -> bool:
        """Whether the own codes hardly make answers better: by less than half of what would be possible."""
        return self.benefit.high < 0.5 * float(self.changed.mean())


def find_codes(context: CheckContext, rows: LabelledRows) -> list[int]:
    """Return the columns of codes with few rows for each: texts with many values, and numbers named like codes."""
    words = {*read_words().identifier_words, "zip", "zipcode", "postcode", "postal", "plz"}
    columns = []
    for column in context.columns:
        feature = context.space.features[column]
        values = rows.codes[:, column]
        known = values[~np.isnan(values)]
        distinct = len(np.unique(known))
        if distinct < max(MIN_DISTINCT_CODES, MIN_DISTINCT_SHARE * len(known)) or feature.name in context.identifiers:
            continue
        if isinstance(feature, Categorical) or (
            feature.kind == "integer" and words.intersection(split_name(feature.name))
        ):
            columns.append(column)
    return columns[:MAX_CODES]


def try_codes(context: CheckContext, budget: CheckBudget, rows: LabelledRows, column: int) -> CodeTrial | None:
    """Give rows the code of another row; None if their answers cannot be compared with the labels."""
    limit = min(MAX_ROWS, len(rows.positions))
    count = context.count_affordable(budget.remaining(0.5), limit, runs_per_case=2, calls=2)
    points = context.inputs.take(rows.positions[:count])
    codes = points.codes.copy()
    donors = np.random.default_rng([context.seed, RANDOM_STREAM]).permutation(len(rows.positions))[:count]
    codes[:, column] = rows.codes[donors, column]
    shuffled = Points(points.space, codes)
    answers = run_flow(context, budget, ask(points, note="leaks"))
    outputs = run_flow(context, budget, ask(shuffled, note="leaks"))
    both = answers.ok & outputs.ok
    if both.sum() < MIN_DISTINCT_CODES:
        return None
    points, shuffled, answers, outputs = (
        points.take(both),
        shuffled.take(both),
        answers.take(both),
        outputs.take(both),
    )
    benefits = _compare_with_labels(context, rows, both, answers, outputs)
    if benefits is None:
        return None
    known = rows.codes[~np.isnan(rows.codes[:, column]), column]
    error = Z_95 * float(benefits.std()) / math.sqrt(len(benefits))
    mean = float(benefits.mean())
    return CodeTrial(
        name=context.space.names[column],
        distinct=len(np.unique(known)),
        code_rows=len(known),
        points=points,
        shuffled=shuffled,
        answers=answers,
        outputs=outputs,
        changed=find_material_changes(answers, outputs, rows.numbers),
        benefit=Measure(mean, mean - error, mean + error, len(benefits)),
    )


def _compare_with_labels(
    context: CheckContext, rows: LabelledRows, both: npt.NDArray[np.bool_], answers: Outputs, outputs: Outputs
) -> Floats | None:
    """Return for each row 1 if only the own code leads to the right answer, -1 if only the other one does, and else 0."""
    if rows.numbers:
        return None
    assert context.truth is not None
    labels = context.truth[rows.positions[: len(both)][both]]
    declared = tuple(context.sut.labels or ())
    texts = align_labels(np.concatenate([labels, labels]), np.concatenate([answers.values, outputs.values]), declared)
    if texts is None:
        return None
    right = (texts[0] == texts[1]).astype(np.float64)
    return np.asarray(right[: len(labels)] - right[len(labels) :])
