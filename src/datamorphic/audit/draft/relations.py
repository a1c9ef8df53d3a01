"""Promises that might fit a model: made up from the columns of its data, and tried on them.

What is done to rows is a `Change`: a function, to try it, and code, to write it into a file. What the code says is
what was tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._text import pluralize
from ...exploration.borders import InferredBorder, Threshold
from ...morphisms.subject import DEFAULT_SEED_CASES
from ...runs.flow import Flow, Query
from ...space.outputs import Outputs
from ...space.points import Points
from .changes import RowChange, propose_changes
from .code import format_comment_literal, format_literal, to_slug

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
MAX_INFLUENCE_ROWS = 6_000  # asked to see which columns decide
MAX_LABELS = 20  # more answers than these are no classes to promise anything about
ACTIVE_RELATION_COUNT = 3  # promises in force


@dataclass(frozen=True, kw_only=True)
class DraftRelation:
    """A metamorphism that was tried.

    Attributes
    ----------
    name : str
        Of the function.
    of : Change
        What is done to a row.
    says : str
        The promise in a sentence; names in it are literals.
    why : str
        Why it is worth making.
    code : str
        What must be true of ``cases.output`` and ``origins.output``.
    broken, judged, silent : int
        How many rows break it today, of how many that it could be judged on; and how many have no answer after the
        change, of those that the tests of the file draw.
    """

    name: str
    of: RowChange
    says: str
    why: str
    code: str
    broken: int
    judged: int
    silent: int

    @property
    def holds(self) -> bool:
        """Whether it was tried and no row breaks it."""
        return self.judged > 0 and self.broken == 0


@dataclass(frozen=True)
class DraftTrial:
    """What came of trying.

    Attributes
    ----------
    answers : Outputs
        What the model says to the rows.
    numbers : bool
        Whether it answers real numbers.
    tolerance : float
        By how much such answers may differ and still count as the same.
    promises : list of Promise
        Those to write down, the ones that hold first.
    """

    answers: Outputs
    numbers: bool
    tolerance: float
    promises: list[DraftRelation]


def try_relations(inputs: Points, rng: np.random.Generator, *, numbers: bool = False) -> Flow[DraftTrial]:
    """Ask for the rows and for what changes make of them, and return the promises that might be made.

    `numbers` says that the system is known to answer real numbers; otherwise its answers show it.
    """
    before = yield Query(inputs, note="asking for the rows", progress=0.0)
    border = InferredBorder(numbers=numbers)
    border.read(before)
    numbers = isinstance(border.inferred_border, Threshold)
    influence = yield from _measure_influence(inputs, before, numbers, rng)
    trials = []
    changes = list(propose_changes(inputs.space, influence))
    for number, change in enumerate(changes):
        follow_up = inputs.space.points(change.make(inputs.frame))
        done = (number + 1) / (len(changes) + 1)
        repeated = change.kind == "again"  # what a cache says proves nothing
        after = yield Query(follow_up, note=f"trying {change.name}", progress=done, fresh=repeated)
        trials.append(_ChangeTrial(change, before, after, ~inputs.same(follow_up), numbers))
    tolerance = trials[-1].tolerance
    return DraftTrial(before, numbers, tolerance, _choose_relations(list(_propose_relations(trials))))


def _measure_influence(inputs: Points, before: Outputs, numbers: bool, rng: np.random.Generator) -> Flow[Numbers]:
    """Return for each feature how much the answers change when its values are dealt out anew."""
    space = inputs.space
    rows = np.arange(len(inputs))[: max(20, MAX_INFLUENCE_ROWS // len(space))]
    shuffled_points = []
    for j in range(len(space)):
        codes = np.array(inputs.codes[rows], order="F")
        codes[:, j] = rng.permutation(codes[:, j])
        shuffled_points.append(Points(space, codes))
    after = yield Query(Points.concat(shuffled_points), note="seeing which columns decide")
    first, shares = before.take(rows), np.zeros(len(space))
    for j in range(len(space)):
        column_outputs = after.take(slice(j * len(rows), (j + 1) * len(rows)))
        ok = first.ok & column_outputs.ok
        if ok.any():
            shares[j] = _measure_difference(first.take(ok), column_outputs.take(ok), numbers).mean()
    return shares


def _measure_difference(a: Outputs, b: Outputs, numbers: bool) -> Numbers:
    """Return how far answers differ: real numbers as they do, labels by 1."""
    if numbers:
        return np.abs(a.values.astype(np.float64) - b.values.astype(np.float64))
    return (~a.same(b)).astype(np.float64)


class _ChangeTrial:
    """A change with the answers before and after it, where there are both."""

    def __init__(
        self, change: RowChange, before: Outputs, after: Outputs, moved_rows: Mask, numbers: bool
    ) -> None:
        ok = before.ok & after.ok
        self.change, self.numbers = change, numbers
        self.before, self.after, self.moved_rows = before.take(ok), after.take(ok), moved_rows[ok]
        self.judged, self.silent = int(ok.sum()), int((~after.ok[:DEFAULT_SEED_CASES]).sum())
        known = before.take(before.ok).values
        self.labels = (
            [] if numbers else sorted({_to_plain(label) for label in known}, key=lambda label: str(label))
        )
        self.tolerance = self.slack = 0.0
        if numbers and len(known):
            values = known.astype(np.float64)
            self.slack = float(f"{1e-9 * max(float(np.abs(values).max()), 1e-6):.0e}")
            self.tolerance = max(self.slack, float(f"{(values.max() - values.min()) / 100:.0e}"))
            self.range = float(values.min()), float(values.max())

    def build_same_answer(self, name: str, says: str, reason: str) -> DraftRelation:
        """Return the promise that the answer stays the same."""
        differs = _measure_difference(self.before, self.after, self.numbers) > self.tolerance
        code = "cases.output == origins.output"
        if self.numbers:
            code = "abs(cases.output - origins.output) <= TOLERANCE"
        return self._draft(name=name, says=says, why=reason, code=code, broken=int(differs.sum()))

    def build_one_way(self) -> DraftRelation | None:
        """Return the promise that answers change in the direction in which they mostly do; None if none change."""
        return self._build_monotone() if self.numbers else self._build_towards_label()

    def _build_monotone(self) -> DraftRelation | None:
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
            why=f"{max(up, down):,} of {pluralize(self.judged, 'row')} get a {right} one today. {ONE_WAY_REASON}",
            code=f"cases.output {sign} origins.output {slack}",
            broken=min(up, down),
        )

    def _build_towards_label(self) -> DraftRelation | None:
        best: tuple[Any, ...] | None = None
        if len(self.labels) <= MAX_LABELS and all(type(label) in (str, int, float, bool) for label in self.labels):
            for label in self.labels:
                was, is_now = self.before.values == label, self.after.values == label
                lost_count, gained_count = int((was & ~is_now).sum()), int((~was & is_now).sum())
                if (
                    was.any()
                    and gained_count > lost_count
                    and (best is None or (lost_count, -gained_count) < best[:2])
                ):
                    best = (lost_count, -gained_count, label)
        if best is None:
            return None
        lost_count, gained_count, label = best
        return self._draft(
            name=f"{self.change.name}_stays_{to_slug(label)}",
            says=f"{self.change.phrase} never takes the answer {format_comment_literal(label)} away",
            why=f"{-gained_count:,} of {pluralize(self.judged, 'row')} come to that answer by it today. {ONE_WAY_REASON}",
            code=_format_label_stays(label),
            broken=lost_count,
        )

    def build_known_answers(self) -> DraftRelation | None:
        """Return the promise that answers stay within what is known."""
        says = f"{self.change.phrase} gives no answer that was never seen"
        reason = "A promise that most models keep, and a broken post-processing step does not."
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
        return self._draft(
            name=f"{self.change.name}_known", says=says, why=reason, code=code, broken=int(out.sum())
        )

    def _draft(self, *, name: str, says: str, why: str, code: str, broken: int) -> DraftRelation:
        return DraftRelation(
            name=name,
            of=self.change,
            says=says,
            why=why,
            code=code,
            broken=broken,
            judged=self.judged,
            silent=self.silent,
        )


def _to_plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _format_label_stays(label: Any) -> str:
    """Return the code that tells whether a label, once there, stays."""
    if type(label) is bool:
        return f"origins.output {'<=' if label else '>='} cases.output"
    return f"(origins.output != {format_literal(label)}) | (cases.output == {format_literal(label)})"


# -- which to make ---------------------------------------------------------------------------------------------


def _propose_relations(trials: list[_ChangeTrial]) -> Iterator[list[DraftRelation]]:
    """Return what might be promised, one kind after the other, the most telling first."""
    trials_by_kind: dict[str, list[_ChangeTrial]] = {}
    for trial in trials:
        trials_by_kind.setdefault(trial.change.kind, []).append(trial)
    yield [promise for trial in trials_by_kind.get("more", []) if (promise := trial.build_one_way()) is not None]
    yield [
        trial.build_same_answer("noise_keeps_the_answer", *NOISE_TEXTS) for trial in trials_by_kind.get("hair", [])
    ]
    next_trials = [trial for trial in trials_by_kind.get("next", []) if trial.moved_rows.any()]
    yield [
        trial.build_same_answer(
            f"{trial.change.name}_keeps_the_answer",
            f"{trial.change.phrase} decides nothing by itself",
            NEXT_VALUE_REASON,
        )
        for trial in next_trials
    ]
    rounding_trials = [trial for trial in trials_by_kind.get("rounded", []) if trial.moved_rows.any()]
    yield [
        trial.build_same_answer(f"{trial.change.name}_keeps_the_answer", *ROUNDING_TEXTS)
        for trial in rounding_trials
    ]
    (repeat_trial,) = trials_by_kind["again"]
    yield [repeat_trial.build_same_answer("the_same_row_gets_the_same_answer", *REPEAT_TEXTS)]
    yield [promise for trial in trials[:1] if (promise := trial.build_known_answers()) is not None]


ONE_WAY_REASON = (
    "If that is how the matter is, hold the model to it: noise in the training data may teach it otherwise."
)
NOISE_TEXTS = (
    "a hair more in every real number keeps the answer",
    "It is far below what anybody measures, so nothing in the world is different. A model that answers otherwise "
    "decides by noise.",
)
NEXT_VALUE_REASON = (
    "The value beside it should not be all that counts. Models that memorise rows break this first."
)
ROUNDING_TEXTS = (
    "rounded numbers keep the answer",
    "Somebody will type the numbers in by hand, or send them through a system that keeps fewer digits.",
)
REPEAT_TEXTS = (
    "the same row asked twice, in any company, gets the same answer",
    "Whoever asks again must not be told something else.",
)


def _choose_relations(kinds: list[list[DraftRelation]]) -> list[DraftRelation]:
    """Return the promises to write down: those that hold, and those that were worth trying and are broken today."""
    *specific, repeats, known = kinds
    active, broken = [], []
    for kind, promises in enumerate(specific):
        holding = [promise for promise in promises if promise.holds]
        active += holding[:1]
        # of the first kind, which is about the column that decides most, what is broken is worth knowing in any case
        broken += [promise for promise in promises if promise.broken and (not holding or kind == 0)][:1]
    spare = [promise for promises in (*specific[2:3], repeats, known) for promise in promises if promise.holds]
    for promise in spare:
        if len(active) < ACTIVE_RELATION_COUNT and promise not in active:
            active.append(promise)
    broken += [promise for promise in repeats if promise.broken]
    return active[:ACTIVE_RELATION_COUNT] + broken
