"""Check whether the given inputs are an adequate test set: do they reach every decision of the model?"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from ..._text import format_percent, format_short, pluralize
from ...errors import UsageError
from ...reporting.document import Section, Table
from ...runs.flow import ask
from ...space.outputs import Outputs
from ...space.points import Points
from ...systems.estimator import Estimator
from ...trees.coverage.coverage import Coverage, measure_coverage
from ...trees.coverage.mutation import measure_kills
from ...trees.coverage.surrogate import fit_surrogate
from ...trees.forest import Forest
from ...trees.inputs import read_data
from ...trees.read import forest_of
from ..case_text import format_case, to_plain
from ..check import Check, CheckBudget, CheckFindings, run_flow
from ..context import CheckContext
from ..finding import Example, Finding

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 20_000
MAX_MIXED_INPUTS = 2_000  # generated inputs on which a surrogate tree is fitted
MAX_SURROGATE_LEAVES = 32
MIN_COVERED_SHARE = 0.8  # of the leaves
MIN_INPUTS = 20  # fewer do not allow a judgement
MAX_LEAVES_LISTED = 8
MAX_LEAVES_TRIED = 3  # for an example
TIMING_ROWS = 1_000  # sent through the trees first, to estimate the time per input


def measure_adequacy(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Measure how many leaves the given inputs reach, in the model's own trees or in a surrogate tree."""
    inputs = context.inputs
    own = _cover_own_trees(context, budget)
    if own is not None:
        coverage, remark = own
        kind = "its trees" if len(coverage.trees) > 1 else "the tree"
        if coverage.rows < len(inputs):  # more inputs would reach more leaves
            first_inputs = pluralize(coverage.rows, "input")
            basis = f"{format_percent(coverage.share)} of the leaves of {kind} are reached by the first {first_inputs}"
            return CheckFindings(basis=basis)
    else:
        coverage, remark = _cover_surrogate(context, budget)
        kind = "a surrogate tree of the model"
    leaves = pluralize(coverage.leaves, "leaf", "leaves")
    basis = f"{leaves} of {kind}, {format_percent(coverage.share)} reached by {pluralize(len(inputs), 'input')}"
    if coverage.share >= MIN_COVERED_SHARE:
        return CheckFindings(basis=basis + remark)
    missing = coverage.uncovered(MAX_LEAVES_LISTED)
    rows = [[row.rule, format_short(row.answer)] for row in missing.itertuples()]
    section = Section(
        heading="Decisions that no given input reaches",
        text=f"{basis}{remark}. These leaves are not reached. Inputs that reach them would test them.",
        table=Table(columns=["where", "answer there"], rows=rows),
    )
    missed_count = coverage.leaves - int(coverage.covered.sum())
    finding = Finding(
        check="adequacy",
        about="",
        title=f"The given inputs reach {coverage.share:.0%} of the decisions of {kind}",
        level="advice",
        sure=0.8,
        detail=f"{missed_count:,} of {leaves} are not reached by any input{remark}.",
        remedy="Add inputs like the example to the test set. Decisions that no input reaches are not tested.",
        cases=missed_count,
        of=coverage.leaves,
        examples=_find_example(coverage, missing),
        counted_in_detail=True,
    )
    return CheckFindings(basis=basis + remark, findings=[finding], sections=[section])


def _cover_own_trees(context: CheckContext, budget: CheckBudget) -> tuple[Coverage, str] | None:
    """Return the coverage of the model's own trees by as many inputs as the budget allows, and a remark.

    The remark gives the mutants that the inputs kill, if the model is a single tree that predicts labels. None is
    returned if the model has no trees.
    """
    if not isinstance(context.sut, Estimator):
        return None
    model, inputs = context.sut.model, context.inputs
    try:
        forest = forest_of(model, inputs.take(slice(0, MAX_ROWS)).frame)
        columns, _, notes = read_data(forest, inputs.take(slice(0, 1)).frame, space=context.space)
    except UsageError:
        return None
    named_trees = [tree.with_names(columns.names) for tree in forest.trees]

    def cover_rows(rows: int) -> Coverage:
        return measure_coverage(
            named_trees, read_data(forest, inputs.take(slice(0, rows)).frame, space=context.space)[1], columns, notes
        )

    start_time = time.monotonic()
    coverage = cover_rows(TIMING_ROWS)
    elapsed, seconds_left = time.monotonic() - start_time, budget.remaining(0.7).seconds
    row_limit = len(inputs) if seconds_left is None else int(TIMING_ROWS * seconds_left / max(elapsed, 1e-6))
    if len(inputs) > TIMING_ROWS and row_limit > TIMING_ROWS:
        coverage = cover_rows(min(row_limit, len(inputs)))
    return coverage, _format_kills(forest, coverage)


def _format_kills(forest: Forest, coverage: Coverage) -> str:
    [tree, *others] = forest.trees
    if others or tree.labels is None or len(tree) == 1:
        return ""
    score = measure_kills(forest, coverage, progress=False)
    killed = int(score.killed.sum())
    return f"; they kill {killed:,} of {pluralize(len(score.counts), 'mutant')} of it ({format_percent(score.score)})"


def _cover_surrogate(context: CheckContext, budget: CheckBudget) -> tuple[Coverage, str]:
    """Return the coverage of a tree fitted to the answers of the system, and a remark on its fidelity."""
    assert context.answers is not None
    queries, answers = context.queries, context.answers
    assert queries is not None
    mixed = _mix_inputs(context, context.count_affordable(budget.remaining(0.5), MAX_MIXED_INPUTS))
    outputs = run_flow(context, budget, ask(mixed, note="adequacy"))
    queries, answers = queries.take(slice(0, MAX_ROWS)), answers.take(slice(0, MAX_ROWS))
    tree = fit_surrogate(
        Outputs.concat([answers, outputs]).to_objects(),
        Points.concat([queries, mixed]),
        numbers=context.subject.has_numeric_answers,
        seed=context.seed,
        max_leaves=min(MAX_SURROGATE_LEAVES, max(2, len(queries) // 10)),
    )
    low, high = tree.interval
    interval = f"{low:.0%} to {high:.0%}"
    fidelity_text = (
        f"; the surrogate agrees with the model in {tree.fidelity:.0%} of {tree.held_out:,} cases ({interval})"
    )
    return tree.cover(context.inputs.take(slice(0, MAX_ROWS)).frame), fidelity_text


def _mix_inputs(context: CheckContext, count: int) -> Points:
    """Return random mixtures of two given inputs each, which stay close to real inputs."""
    rng = np.random.default_rng([context.seed, 3])
    codes = context.inputs.codes
    first, second = (codes[rng.integers(len(codes), size=count)] for _ in range(2))
    mixed = np.where(rng.random(first.shape) < 0.5, first, second)
    return Points(context.space, mixed[context.space.satisfied(mixed)] if context.space.keeps_constraints else mixed)


def _find_example(coverage: Coverage, missing: pd.DataFrame) -> tuple[Example, ...]:
    """Return an input that reaches one of the missing leaves, if one of the first can be reached."""
    for leaf in missing.index[:MAX_LEAVES_TRIED]:
        try:
            row = coverage.example(int(leaf))
        except UsageError:
            continue  # no input reaches this leaf
        case = {str(name): to_plain(value) for name, value in row.iloc[0].items()}
        return (Example(words=f"{format_case(case)}: reaches {missing.loc[leaf, 'rule']}", case=case),)
    return ()


def _find_skip_reason(context: CheckContext) -> str:
    if context.answers is None or context.queries is None:
        return "the system was not queried"
    if not context.has_data:
        return "no data are given, so there is no test set to judge"
    return "" if int(context.answers.ok.sum()) >= MIN_INPUTS else f"fewer than {MIN_INPUTS} inputs are given"


ADEQUACY = Check(
    name="adequacy",
    question="Do the given inputs reach every decision of the model?",
    weight=3,
    find_skip_reason=_find_skip_reason,
    run=measure_adequacy,
    needs=("answers",),
)
