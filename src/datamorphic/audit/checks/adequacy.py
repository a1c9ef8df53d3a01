"""Are the given data good enough as a test set: do they reach every decision of the model?"""

from __future__ import annotations

import time

import numpy as np

from ..._text import format_short, pluralize
from ...errors import UsageError
from ...exploration._utils import to_answer_objects
from ...reporting.document import Section, Table
from ...runs.driver import CallCounter, drive
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
from ..check import Check, CheckBudget, CheckFindings
from ..context import CheckContext
from ..finding import Example, Finding

MAX_ROWS = 20_000
MAX_MIXED_INPUTS = 2_000  # inputs that are made, for a tree that stands for a model that is none
MAX_SURROGATE_LEAVES = 32
MIN_COVERED_SHARE = 0.8  # of the leaves
MIN_INPUTS = 20  # inputs that something can be said of
MAX_LEAVES_LISTED = 8
TIMING_ROWS = 1_000  # inputs that are sent through trees to see how long it takes


def measure_adequacy(context: CheckContext, budget: CheckBudget) -> CheckFindings:
    """Measure how many leaves of the model's trees, or of a tree that stands for the model, the given inputs reach."""
    inputs = context.inputs
    own = _cover_own_trees(context, budget)
    if own is not None:
        coverage, remark = own
        kind = "its trees" if len(coverage.trees) > 1 else "the tree"
        if coverage.rows < len(inputs):  # more of them would reach more
            return CheckFindings(
                f"{coverage.share:.1%} of the leaves of {kind} are reached by the first {pluralize(coverage.rows, 'input')}"
            )
    else:
        coverage, remark = _cover_surrogate(context, budget)
        kind = "a tree that stands for the model"
    leaves = pluralize(coverage.leaves, "leaf", "leaves")
    basis = f"{leaves} of {kind}, {coverage.share:.1%} reached by {pluralize(len(inputs), 'input')}"
    if coverage.share >= MIN_COVERED_SHARE:
        return CheckFindings(basis + remark)
    missing = coverage.uncovered(MAX_LEAVES_LISTED)
    rows = [[row.rule, format_short(row.answer)] for row in missing.itertuples()]
    section = Section(
        heading="Decisions that no given input reaches",
        text=f"{basis}{remark}. The first of those that no input reaches: an input that does would test them.",
        table=Table(columns=["where", "answer there"], rows=rows),
    )
    finding = Finding(
        check="adequacy",
        about="",
        title=f"The given inputs reach {coverage.share:.0%} of the decisions of {kind}",
        level="advice",
        sure=0.8,
        detail=f"{coverage.leaves - int(coverage.covered.sum()):,} of {leaves} are reached by none{remark}.",
        remedy="Add inputs like the example to the test set: what is not reached is not tested.",
        cases=coverage.leaves - int(coverage.covered.sum()),
        of=coverage.leaves,
        examples=_find_example(coverage, missing),
    )
    return CheckFindings(basis + remark, [finding], [section])


def _cover_own_trees(context: CheckContext, budget: CheckBudget) -> tuple[Coverage, str] | None:
    """Return the coverage of the trees that the model is made of, by as many inputs as there is time for.

    And in words how many mutants of it they kill, where it is one tree that answers labels.
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
            named_trees,
            read_data(forest, inputs.take(slice(0, rows)).frame, space=context.space)[1],
            columns,
            notes,
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
    return f"; they kill {int(score.killed.sum()):,} of {pluralize(len(score.counts), 'mutant')} of it ({score.score:.1%})"


def _cover_surrogate(context: CheckContext, budget: CheckBudget) -> tuple[Coverage, str]:
    """Return the coverage of a tree that was fitted to the system's answers, and how well it stands for it."""
    assert context.answers is not None
    queries, answers = context.queries, context.answers
    assert queries is not None
    mixed = _mix_inputs(context, context.count_affordable(budget.remaining(0.5), MAX_MIXED_INPUTS))
    counter = CallCounter()
    outputs = drive(
        ask(mixed, note="adequacy"),
        context.sut,
        tally=counter,
        budget=budget.remaining(),
        **context.build_quiet_options(),
    )
    budget.add(counter)
    queries, answers = queries.take(slice(0, MAX_ROWS)), answers.take(slice(0, MAX_ROWS))
    tree = fit_surrogate(
        to_answer_objects(Outputs.concat([answers, outputs])),
        Points.concat([queries, mixed]),
        numbers=context.subject.has_numeric_answers,
        seed=context.seed,
        max_leaves=min(MAX_SURROGATE_LEAVES, max(2, len(queries) // 10)),
    )
    low, high = tree.interval
    fidelity_text = f"; it answers as the model does in {tree.fidelity:.0%} of {tree.held_out:,} cases ({low:.0%} to {high:.0%})"
    return tree.cover(context.inputs.take(slice(0, MAX_ROWS)).frame), fidelity_text


def _mix_inputs(context: CheckContext, count: int) -> Points:
    """Return inputs with some values of one given input and the others of another: not too far from real ones."""
    rng = np.random.default_rng([context.seed, 3])
    codes = context.inputs.codes
    first, second = (codes[rng.integers(len(codes), size=count)] for _ in range(2))
    mixed = np.where(rng.random(first.shape) < 0.5, first, second)
    return Points(
        context.space, mixed[context.space.satisfied(mixed)] if context.space.keeps_constraints else mixed
    )


def _find_example(coverage: Coverage, missing: object) -> tuple[Example, ...]:
    import pandas as pd

    assert isinstance(missing, pd.DataFrame)
    for leaf in missing.index[:3]:
        try:
            row = coverage.example(int(leaf))
        except UsageError:
            continue  # no input can reach it
        case = {str(name): to_plain(value) for name, value in row.iloc[0].items()}
        return (Example(words=f"{format_case(case)}: reaches {missing.loc[leaf, 'rule']}", case=case),)
    return ()


def _find_skip_reason(context: CheckContext) -> str:
    if context.answers is None or context.queries is None:
        return "the system was not asked"
    if not context.has_data:
        return "no data are given whose adequacy could be measured"
    return "" if int(context.answers.ok.sum()) >= MIN_INPUTS else f"fewer than {MIN_INPUTS} inputs are given"


ADEQUACY = Check(
    name="adequacy",
    question="Do the given inputs reach every decision of the model?",
    weight=3,
    find_skip_reason=_find_skip_reason,
    run=measure_adequacy,
    needs=("answers",),
)
