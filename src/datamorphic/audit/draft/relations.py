"""Propose relations that fit the columns of the data, and try them on the model.

A relation follows a `RowChange`, which is both a function and code. So the code in a draft is what was tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._text import pluralise
from ...exploration.borders import InferredBorder, Threshold
from ...morphisms.subject import DEFAULT_SEED_CASES
from ...reporting.python_code import to_slug
from ...runs.flow import Flow, Query
from ...space.outputs import Outputs
from ...space.points import Points
from .changes import RowChange, propose_changes
from .code import format_comment_literal, format_literal

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
MAX_INFLUENCE_ROWS = 6_000  # queried to measure the influence of the columns
MIN_INFLUENCE_ROWS = 20  # per column
MAX_LABELS = 20  # with more different answers, no relation about labels is proposed
ACTIVE_RELATION_COUNT = 3


@dataclass(frozen=True, kw_only=True)
class DraftRelation:
    """A metamorphism that was tried."""

    name: str  # of the function
    change: RowChange
    says: str  # the relation in one sentence; column names in it are literals
    why: str  # the reason that it should hold
    code: str  # the condition on ``cases.output`` and ``origins.output``
    broken: int  # rows that violate it today
    judged: int  # rows on which it could be judged
    silent: int  # rows without an answer after the change, among those that the tests of the file draw

    @property
    def holds(self) -> bool:
        """Whether it could be judged and no row violates it."""
        return self.judged > 0 and self.broken == 0


@dataclass(frozen=True, kw_only=True)
class DraftTrial:
    """The result of trying relations."""

    answers: Outputs  # to the rows
    numbers: bool  # whether the answers are real numbers
    tolerance: float  # the largest difference at which such answers count as equal
    relations: list[DraftRelation]  # to write, those that hold first


def try_relations(
    inputs: Points, rng: np.random.Generator, *, numbers: bool = False, identifiers: Collection[str] = ()
) -> Flow[DraftTrial]:
    """Query the rows and their changes, and return the relations to write.

    `numbers` says that the system is known to return real numbers. Otherwise this is inferred from its answers.
    No relation is about one of `identifiers`.
    """
    before = yield Query(inputs, note="querying the rows", progress=0.0)
    border = InferredBorder(numbers=numbers)
    border.read(before)
    numbers = isinstance(border.inferred_border, Threshold)
    influence = yield from _measure_influence(inputs, before, numbers, rng)
    trials = []
    changes = list(propose_changes(inputs.space, influence, identifiers))
    for number, change in enumerate(changes):
        follow_up = inputs.space.points(change.make(inputs.frame))
        done = (number + 1) / (len(changes) + 1)
        repeated = change.kind == "again"  # a cached answer would prove nothing
        after = yield Query(follow_up, note=f"trying {change.name}", progress=done, fresh=repeated)
        trials.append(_ChangeTrial(change, before, after, ~inputs.same(follow_up), numbers))
    return DraftTrial(
        answers=before,
        numbers=numbers,
        tolerance=trials[-1].tolerance,
        relations=_choose_relations(list(_propose_relations(trials))),
    )


def _measure_influence(inputs: Points, before: Outputs, numbers: bool, rng: np.random.Generator) -> Flow[Numbers]:
    """Return for each feature how much the answers change if its values are shuffled."""
    space = inputs.space
    rows = np.arange(len(inputs))[: max(MIN_INFLUENCE_ROWS, MAX_INFLUENCE_ROWS // len(space))]
    shuffled_points = []
    for j in range(len(space)):
        codes = np.array(inputs.codes[rows], order="F")
        codes[:, j] = rng.permutation(codes[:, j])
        shuffled_points.append(Points(space, codes))
    after = yield Query(Points.concat(shuffled_points), note="measuring the influence of columns")
    first, shares = before.take(rows), np.zeros(len(space))
    for j in range(len(space)):
        column_outputs = after.take(slice(j * len(rows), (j + 1) * len(rows)))
        ok = first.ok & column_outputs.ok
        if ok.any():
            shares[j] = _measure_difference(first.take(ok), column_outputs.take(ok), numbers).mean()
    return shares


def _measure_difference(a: Outputs, b: Outputs, numbers: bool) -> Numbers:
    """Return the difference of answers: of numbers the absolute difference, of labels 0 or 1."""
    if numbers:
        return np.abs(a.values.astype(np.float64) - b.values.astype(np.float64))
    return (~a.same(b)).astype(np.float64)


class _ChangeTrial:
    """A change with the answers before and after it, for rows that have both."""

    def __init__(self, change: RowChange, before: Outputs, after: Outputs, moved_rows: Mask, numbers: bool) -> None:
        ok = before.ok & after.ok
        self.change, self.numbers = change, numbers
        self.before, self.after, self.moved_rows = before.take(ok), after.take(ok), moved_rows[ok]
        self.judged, silent = int(ok.sum()), int((~after.ok[:DEFAULT_SEED_CASES]).sum())
        self._draft = partial(DraftRelation, change=change, judged=self.judged, silent=silent)
        known = before.take(before.ok).values
        self.labels = [] if numbers else sorted({_to_plain(label) for label in known}, key=lambda label: str(label))
        self.tolerance = self.slack = 0.0
        if numbers and len(known):
            values = known.astype(np.float64)
            self.slack = float(f"{1e-9 * max(float(np.abs(values).max()), 1e-6):.0e}")
            self.tolerance = max(self.slack, float(f"{(values.max() - values.min()) / 100:.0e}"))
            self.range = float(values.min()), float(values.max())

    def build_same_answer(self, name: str, says: str, reason: str) -> DraftRelation:
        """Return the relation that the answer stays the same."""
        differs = _measure_difference(self.before, self.after, self.numbers) > self.tolerance
        code = "cases.output == origins.output"
        if self.numbers:
            code = "abs(cases.output - origins.output) <= TOLERANCE"
        return self._draft(name=name, says=says, why=reason, code=code, broken=int(differs.sum()))

    def build_one_way(self) -> DraftRelation | None:
        """Return the relation that answers only change in the direction in which most do; None if none change."""
        if not self.numbers:
            return self._build_towards_label()
        differences = self.after.values.astype(np.float64) - self.before.values.astype(np.float64)
        up, down = int((differences > self.slack).sum()), int((differences < -self.slack).sum())
        if not up + down:
            return None
        rises = up >= down
        verb, sign, slack = ("falls", ">=", f"- {self.slack}") if rises else ("rises", "<=", f"+ {self.slack}")
        right, wrong = ("larger", "smaller") if rises else ("smaller", "larger")
        return self._draft(
            name=f"{self.change.name}_never_{verb}",
            says=f"{self.change.phrase} never makes the answer {wrong}",
            why=f"{max(up, down):,} of {pluralise(self.judged, 'row')} get a {right} one today. {ONE_WAY_REASON}",
            code=f"cases.output {sign} origins.output {slack}",
            broken=min(up, down),
        )

    def _build_towards_label(self) -> DraftRelation | None:
        best: tuple[Any, ...] | None = None
        if len(self.labels) <= MAX_LABELS and all(type(label) in (str, int, float, bool) for label in self.labels):
            for label in self.labels:
                was, is_now = self.before.values == label, self.after.values == label
                lost_count, gained_count = int((was & ~is_now).sum()), int((~was & is_now).sum())
                if was.any() and gained_count > lost_count and (best is None or (lost_count, -gained_count) < best[:2]):
                    best = (lost_count, -gained_count, label)
        if best is None:
            return None
        lost_count, gained_count, label = best
        return self._draft(
            name=f"{self.change.name}_stays_{to_slug(label)}",
            says=f"{self.change.phrase} never changes the answer {format_comment_literal(label)} into another",
            why=f"{-gained_count:,} of {pluralise(self.judged, 'row')} get that answer by it today. {ONE_WAY_REASON}",
            code=_format_label_stays(label),
            broken=lost_count,
        )

    def build_known_answers(self) -> DraftRelation | None:
        """Return the relation that the change leads to known answers only."""
        says = f"{self.change.phrase} gives only answers that are known"
        reason = "Most models satisfy this, but a defect in post-processing may violate it."
        if self.numbers:
            low, high = self.range
            margin = max((high - low) / 2, self.tolerance)
            low, high = float(f"{low - margin:.6g}"), float(f"{high + margin:.6g}")
            values = self.after.values.astype(np.float64)
            code, out = f"({low} <= cases.output) & (cases.output <= {high})", (values < low) | (values > high)
        elif 0 < len(self.labels) <= MAX_LABELS:
            labels = ", ".join(map(format_literal, self.labels))
            code = f"[answer in [{labels}] for answer in cases.output]"
            out = np.array([_to_plain(value) not in self.labels for value in self.after.values], dtype=bool)
        else:
            return None
        return self._draft(name=f"{self.change.name}_known", says=says, why=reason, code=code, broken=int(out.sum()))


def _to_plain(label: object) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _format_label_stays(label: object) -> str:
    """Return the code of the condition that a label, once predicted, stays."""
    if type(label) is bool:
        return f"origins.output {'<=' if label else '>='} cases.output"
    return f"(origins.output != {format_literal(label)}) | (cases.output == {format_literal(label)})"


# -- which relations to write ------------------------------------------------------------------------------------


def _propose_relations(trials: list[_ChangeTrial]) -> Iterator[list[DraftRelation]]:
    """Return the proposed relations by kind, the most specific kind first."""

    def choose(kind: str) -> list[_ChangeTrial]:
        moves = kind in ("next", "rounded")  # only if they change anything
        return [trial for trial in trials if trial.change.kind == kind and (trial.moved_rows.any() or not moves)]

    yield [relation for trial in choose("more") if (relation := trial.build_one_way()) is not None]
    yield [trial.build_same_answer("noise_keeps_the_answer", *NOISE_TEXTS) for trial in choose("hair")]
    yield [
        trial.build_same_answer(
            f"{trial.change.name}_keeps_the_answer",
            f"{trial.change.phrase} alone does not change the answer",
            NEXT_VALUE_REASON,
        )
        for trial in choose("next")
    ]
    yield [
        trial.build_same_answer(f"{trial.change.name}_keeps_the_answer", *ROUNDING_TEXTS) for trial in choose("rounded")
    ]
    (repeat_trial,) = choose("again")
    yield [repeat_trial.build_same_answer("the_same_row_gets_the_same_answer", *REPEAT_TEXTS)]
    yield [relation for trial in trials[:1] if (relation := trial.build_known_answers()) is not None]


ONE_WAY_REASON = "If this holds in reality, the model should satisfy it although training data are noisy."
NOISE_TEXTS = (
    "tiny noise in every real number does not change the answer",
    "It is far below the precision of any measurement. A model that changes its answer decides by noise.",
)
NEXT_VALUE_REASON = "A neighbouring value alone should not decide. Models that memorise rows violate this first."
ROUNDING_TEXTS = (
    "rounded numbers keep the answer",
    "Numbers may be typed in by hand, or pass through a system that keeps fewer digits.",
)
REPEAT_TEXTS = (
    "the same row gets the same answer twice, in any batch",
    "A repeated query must not get a different answer.",
)


def _choose_relations(kinds: list[list[DraftRelation]]) -> list[DraftRelation]:
    """Return the relations to write: those that hold, then violated ones that are worth knowing."""
    *specific, repeats, known = kinds
    active, violated = [], []
    for kind, relations in enumerate(specific):
        holding = [relation for relation in relations if relation.holds]
        active += holding[:1]
        # The first kind is about the most influential columns: its violations are always worth knowing.
        violated += [relation for relation in relations if relation.broken and (not holding or kind == 0)][:1]
    spare = [relation for relations in (*specific[2:3], repeats, known) for relation in relations if relation.holds]
    for relation in spare:
        if len(active) < ACTIVE_RELATION_COUNT and relation not in active:
            active.append(relation)
    violated += [relation for relation in repeats if relation.broken]
    return active[:ACTIVE_RELATION_COUNT] + violated
