"""Are the given data good enough as a test set: do they reach every decision of the model?"""

from __future__ import annotations

import time

import numpy as np

from .._checks import plural, short
from ..adequacy.coverage import Coverage, measure
from ..adequacy.mutation import measure_kills
from ..adequacy.surrogate import surrogate
from ..errors import UsageError
from ..fronts.reading import said
from ..outputs import Outputs
from ..reports.summary import Section, Table
from ..runs.drive import Tally, drive
from ..space.points import Points
from ..strategies.flow import ask
from ..sut.estimator import Estimator
from ..trees.forest import Forest
from ..trees.inputs import read
from ..trees.reading import forest_of
from .checks import Check, Found, Turn
from .finding import Example, Finding
from .given import Given
from .words import plain, told_case

MOST_ROWS = 20_000
MADE = 2_000  # inputs that are made, for a tree that stands for a model that is none
MOST_LEAVES = 32
ENOUGH = 0.8  # of the leaves
FEWEST = 20  # inputs that something can be said of
SHOWN = 8
TRIED = 1_000  # inputs that are sent through trees to see how long it takes


def adequacy(given: Given, turn: Turn) -> Found:
    """Measure how many leaves of the model's trees, or of a tree that stands for the model, the given inputs reach."""
    inputs = given.inputs
    own = _own_trees(given, turn)
    if own is not None:
        found, what = own
        kind = "its trees" if len(found.trees) > 1 else "the tree"
        if found.rows < len(inputs):  # more of them would reach more
            return Found(
                f"{found.share:.1%} of the leaves of {kind} are reached by the first {plural(found.rows, 'input')}"
            )
    else:
        found, what = _made(given, turn)
        kind = "a tree that stands for the model"
    leaves = plural(found.leaves, "leaf", "leaves")
    rests = f"{leaves} of {kind}, {found.share:.1%} reached by {plural(len(inputs), 'input')}"
    if found.share >= ENOUGH:
        return Found(rests + what)
    missing = found.uncovered(SHOWN)
    rows = [[row.rule, short(row.answer)] for row in missing.itertuples()]
    section = Section(
        "Decisions that no given input reaches",
        f"{rests}{what}. The first of those that no input reaches: an input that does would test them.",
        table=Table(["where", "answer there"], rows),
    )
    finding = Finding(
        "adequacy", "", f"The given inputs reach {found.share:.0%} of the decisions of {kind}", "advice", 0.8,
        f"{found.leaves - int(found.covered.sum()):,} of {leaves} are reached by none{what}.",
        "Add inputs like the example to the test set: what is not reached is not tested.",
        found.leaves - int(found.covered.sum()), found.leaves, _example(found, missing),
    )  # fmt: skip
    return Found(rests + what, [finding], [section])


def _own_trees(given: Given, turn: Turn) -> tuple[Coverage, str] | None:
    """Return the coverage of the trees that the model is made of, by as many inputs as there is time for.

    And in words how many mutants of it they kill, where it is one tree that answers labels.
    """
    if not isinstance(given.sut, Estimator):
        return None
    model, inputs = given.sut.model, given.inputs
    try:
        forest = forest_of(model, inputs.take(slice(0, MOST_ROWS)).frame)
        columns, _, notes = read(forest, inputs.take(slice(0, 1)).frame, space=given.space)
    except UsageError:
        return None
    named = [tree.named(columns.names) for tree in forest.trees]

    def covered(rows: int) -> Coverage:
        return measure(
            named, read(forest, inputs.take(slice(0, rows)).frame, space=given.space)[1], columns, notes
        )

    began = time.monotonic()
    found = covered(TRIED)
    took, left = time.monotonic() - began, turn.left(0.7).seconds
    most = len(inputs) if left is None else int(TRIED * left / max(took, 1e-6))
    if len(inputs) > TRIED and most > TRIED:
        found = covered(min(most, len(inputs)))
    return found, _killed(forest, found)


def _killed(forest: Forest, found: Coverage) -> str:
    [tree, *others] = forest.trees
    if others or tree.labels is None or len(tree) == 1:
        return ""
    score = measure_kills(forest, found, progress=False)
    return f"; they kill {int(score.killed.sum()):,} of {plural(len(score.counts), 'mutant')} of it ({score.score:.1%})"


def _made(given: Given, turn: Turn) -> tuple[Coverage, str]:
    """Return the coverage of a tree that was fitted to the system's answers, and how well it stands for it."""
    assert given.answers is not None
    known, answers = given.asked, given.answers
    assert known is not None
    mixed = _mixed(given, given.afford(turn.left(0.5), MADE))
    tally = Tally()
    outputs = drive(ask(mixed, note="adequacy"), given.sut, tally=tally, budget=turn.left(), **given.quiet())
    turn.add(tally)
    known, answers = known.take(slice(0, MOST_ROWS)), answers.take(slice(0, MOST_ROWS))
    tree = surrogate(
        said(Outputs.concat([answers, outputs])), Points.concat([known, mixed]),
        numbers=given.subject.numbers, seed=given.seed,
        max_leaves=min(MOST_LEAVES, max(2, len(known) // 10)),
    )  # fmt: skip
    low, high = tree.interval
    told = f"; it answers as the model does in {tree.fidelity:.0%} of {tree.held_out:,} cases ({low:.0%} to {high:.0%})"
    return tree.cover(given.inputs.take(slice(0, MOST_ROWS)).frame), told


def _mixed(given: Given, count: int) -> Points:
    """Return inputs with some values of one given input and the others of another: not too far from real ones."""
    rng = np.random.default_rng([given.seed, 3])
    codes = given.inputs.codes
    one, other = (codes[rng.integers(len(codes), size=count)] for _ in range(2))
    made = np.where(rng.random(one.shape) < 0.5, one, other)
    return Points(given.space, made[given.space.satisfied(made)] if given.space.keeps_constraints else made)


def _example(found: Coverage, missing: object) -> tuple[Example, ...]:
    import pandas as pd

    assert isinstance(missing, pd.DataFrame)
    for leaf in missing.index[:3]:
        try:
            row = found.example(int(leaf))
        except UsageError:
            continue  # no input can reach it
        case = {str(name): plain(value) for name, value in row.iloc[0].items()}
        return (Example(f"{told_case(case)}: reaches {missing.loc[leaf, 'rule']}", case),)
    return ()


def _why_not(given: Given) -> str:
    if given.answers is None or given.asked is None:
        return "the system was not asked"
    if not given.data_given:
        return "no data are given whose adequacy could be measured"
    return "" if int(given.answers.ok.sum()) >= FEWEST else f"fewer than {FEWEST} inputs are given"


ADEQUACY = Check(
    "adequacy", "Do the given inputs reach every decision of the model?", 3, _why_not, adequacy, needs=("answers",)
)
