"""Check whether the given inputs are an adequate test set: do they reach every decision of the model?"""

from __future__ import annotations

import numpy as np

from ..._lazy import pd
from ..._text import format_percent, format_short, pluralise
from ...core.result import Example, Finding
from ...errors import BudgetSpent, UsageError
from ...reporting.document import Section, Table
from ...runs.flow import ask
from ...space import geometry
from ...space.outputs import Outputs
from ...space.points import Points
from ...systems.estimator import Estimator
from ...trees.coverage.coverage import Coverage, measure_coverage
from ...trees.coverage.mutation import measure_kills
from ...trees.coverage.surrogate import fit_surrogate
from ...trees.forest import Forest
from ...trees.inputs import read_data
from ...trees.read import read_forest
from ..case_text import extract_row, format_case
from ..check import MISSING_RESULT, CheckBudget, CheckFindings, get_facts, make_check, run_flow
from ..context import CheckContext

MAX_ROWS = 20_000
MAX_MIXED_INPUTS = 2_000  # generated inputs on which a surrogate tree is fitted
MAX_SURROGATE_LEAVES = 32
MIN_COVERED_SHARE = 0.8  # of the leaves
MIN_INPUTS = 20  # fewer do not allow a judgement
MAX_LEAVES_LISTED = 8
MAX_LEAVES_TRIED = 3  # for an example
TIMING_ROWS = 100  # sent through the trees first, to estimate the time per input
MAX_ROW_GROWTH = 10  # from one estimate to the next: the time per input is not constant
KILLS_BUDGET_PART = 0.5  # of what is left, for counting mutants
EXAMPLE_BUDGET_PART = 0.5  # of what is left, for an input that reaches a leaf


def measure_adequacy(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Measure how many leaves the given inputs reach, in the model's own trees or in a surrogate tree."""
    inputs = context.inputs
    own = _cover_own_trees(context, budget)
    if own is not None:
        coverage, remark = own
        kind = "its trees" if len(coverage.trees) > 1 else "the tree"
        if coverage.rows < len(inputs):  # more inputs would reach more leaves
            first_inputs = pluralise(coverage.rows, "input")
            basis = f"{format_percent(coverage.share)} of the leaves of {kind} are reached by the first {first_inputs}"
            return CheckFindings(basis=basis)
    else:
        coverage, remark = _cover_surrogate(context, budget)
        kind = "a tree that imitates the model"
    leaves = pluralise(coverage.leaves, "leaf", "leaves")
    basis = f"{leaves} of {kind}, {format_percent(coverage.share)} reached by {pluralise(len(inputs), 'input')}"
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
        **get_facts("adequacy"),
        title=f"The given rows test only {coverage.share:.0%} of the decisions of {kind}",
        detail=f"{missed_count:,} of {leaves} (ways through the tree that end in an answer) are not reached by any given "
        f"row{remark}.",
        cases=missed_count,
        cases_tried=coverage.leaves,
        examples=_find_example(budget, coverage, missing),
        sections=(section,),
    )
    return CheckFindings(basis=basis + remark, findings=[finding])


def _cover_own_trees(context: CheckContext, budget: CheckBudget) -> tuple[Coverage, str] | None:
    """Return the coverage of the model's own trees by as many inputs as the budget allows, and a remark.

    The remark gives the mutants that the inputs kill, if the model is a single tree that predicts labels. None is
    returned if the model has no trees.
    """
    if not isinstance(context.sut, Estimator):
        return None
    model, inputs = context.sut.model, context.inputs
    try:
        forest = read_forest(model, inputs.take(slice(0, MAX_ROWS)).frame)
        columns, _, notes = read_data(forest, inputs.take(slice(0, 1)).frame, space=context.plausible_space)
    except UsageError:
        return None
    named_trees = [tree.with_names(columns.names) for tree in forest.trees]

    def cover_rows(rows: int) -> tuple[Coverage, float]:
        """Return the coverage by the first inputs, and the seconds that it took."""
        start_seconds = context.clock.seconds
        test_set = read_data(forest, inputs.take(slice(0, rows)).frame, space=context.space)[1]
        return measure_coverage(named_trees, test_set, columns, notes), context.clock.seconds - start_seconds

    coverage, seconds = cover_rows(TIMING_ROWS)
    seconds_per_row = seconds / coverage.rows  # at first all of it is taken to grow with the inputs
    while coverage.rows < len(inputs):
        rows, seconds_left = MAX_ROW_GROWTH * coverage.rows, budget.remaining(0.5).seconds
        if seconds_left is not None:
            rows = min(rows, coverage.rows + int((seconds_left - seconds) / max(seconds_per_row, 1e-9)))
        if rows <= coverage.rows:
            break
        first_rows, first_seconds = coverage.rows, seconds
        coverage, seconds = cover_rows(min(rows, len(inputs)))
        seconds_per_row = max(0.0, seconds - first_seconds) / (coverage.rows - first_rows)
    try:
        with budget.limit(KILLS_BUDGET_PART):
            return coverage, _format_kills(forest, coverage)
    except BudgetSpent:
        return coverage, ""


def _format_kills(forest: Forest, coverage: Coverage) -> str:
    [tree, *others] = forest.trees
    if others or tree.labels is None or len(tree) == 1:
        return ""
    score = measure_kills(forest, coverage, progress=False)
    killed = int(score.killed.sum())
    mutants = pluralise(len(score.counts), "small error")
    return f"; of {mutants} planted in it one by one, they would reveal {killed:,} ({format_percent(score.score)})"


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
        numbers=context.has_numeric_answers,
        seed=context.seed,
        max_leaves=min(MAX_SURROGATE_LEAVES, max(2, len(queries) // 10)),
    )
    low, high = tree.interval
    interval = f"{low:.0%} to {high:.0%}"
    fidelity_text = f"; the tree agrees with the model for {tree.fidelity:.0%} of other rows ({interval})"
    return tree.cover(context.inputs.take(slice(0, MAX_ROWS)).frame), fidelity_text


def _mix_inputs(context: CheckContext, count: int) -> Points:
    """Return random mixtures of two given inputs each, which stay close to real inputs and keep their relations."""
    rng = np.random.default_rng([context.seed, 3])
    codes = context.inputs.codes
    first, second = (codes[rng.integers(len(codes), size=count)] for _ in range(2))
    mixed = np.where(rng.random(first.shape) < 0.5, first, second)
    space = context.plausible_space
    mixed = geometry.repair(space, mixed, first)
    return Points(context.space, mixed[space.satisfied(mixed)] if space.keeps_constraints else mixed)


def _find_example(budget: CheckBudget, coverage: Coverage, missing: pd.DataFrame) -> tuple[Example, ...]:
    """Return an input that reaches one of the missing leaves, if one of the first can be reached in time."""
    for leaf in missing.index[:MAX_LEAVES_TRIED]:
        try:
            with budget.limit(EXAMPLE_BUDGET_PART):
                row = coverage.example(int(leaf))
        except UsageError:
            continue  # no input reaches this leaf
        except BudgetSpent:
            break
        case = extract_row(row, 0)
        return (Example(text=f"{format_case(case)}: reaches {missing.loc[leaf, 'rule']}", case=case),)
    return ()


def _find_skip_reason(context: CheckContext) -> str:
    if not context.has_data:
        return "no data are given, so there is no test set to judge"
    if context.answers is None or context.queries is None:
        return MISSING_RESULT
    if context.space.kinds["text"]:
        return "an input is text, on whose words no tree of the inputs can decide"
    return "" if int(context.answers.ok.sum()) >= MIN_INPUTS else f"fewer than {MIN_INPUTS} inputs are given"


ADEQUACY = make_check("adequacy", measure_adequacy, _find_skip_reason)
