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

from .._checks import plural
from ..morphisms.subject import SEEDS
from ..outputs import Outputs
from ..space.points import Points
from ..strategies.borders import Threshold, Undecided
from ..strategies.flow import Flow, Question
from .changes import Change, changes_of
from .code import literal, slug, told

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
MOST_ROWS = 6_000  # asked to see which columns decide
MOST_LABELS = 20  # more answers than these are no classes to promise anything about
ENOUGH = 3  # promises in force


@dataclass(frozen=True)
class Promise:
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
    of: Change
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
class Tried:
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
    promises: list[Promise]


def trying(inputs: Points, rng: np.random.Generator, *, numbers: bool = False) -> Flow[Tried]:
    """Ask for the rows and for what changes make of them, and return the promises that might be made.

    `numbers` says that the system is known to answer real numbers; otherwise its answers show it.
    """
    before = yield Question(inputs, note="asking for the rows", done=0.0)
    border = Undecided(numbers=numbers)
    border.read(before)
    numbers = isinstance(border.chosen, Threshold)
    deciding = yield from _deciding(inputs, before, numbers, rng)
    tried = []
    changes = list(changes_of(inputs.space, deciding))
    for number, change in enumerate(changes):
        follow = inputs.space.points(change.make(inputs.frame))
        done = (number + 1) / (len(changes) + 1)
        again = change.kind == "again"  # what a cache says proves nothing
        after = yield Question(follow, note=f"trying {change.name}", done=done, fresh=again)
        tried.append(_Tried(change, before, after, ~inputs.same(follow), numbers))
    tolerance = tried[-1].tolerance
    return Tried(before, numbers, tolerance, _chosen(list(_promises(tried))))


def _deciding(inputs: Points, before: Outputs, numbers: bool, rng: np.random.Generator) -> Flow[Numbers]:
    """Return for each feature how much the answers change when its values are dealt out anew."""
    space = inputs.space
    rows = np.arange(len(inputs))[: max(20, MOST_ROWS // len(space))]
    dealt = []
    for j in range(len(space)):
        codes = np.array(inputs.codes[rows], order="F")
        codes[:, j] = rng.permutation(codes[:, j])
        dealt.append(Points(space, codes))
    after = yield Question(Points.concat(dealt), note="seeing which columns decide")
    first, shares = before.take(rows), np.zeros(len(space))
    for j in range(len(space)):
        here = after.take(slice(j * len(rows), (j + 1) * len(rows)))
        ok = first.ok & here.ok
        if ok.any():
            shares[j] = _difference(first.take(ok), here.take(ok), numbers).mean()
    return shares


def _difference(a: Outputs, b: Outputs, numbers: bool) -> Numbers:
    """Return how far answers differ: real numbers as they do, labels by 1."""
    if numbers:
        return np.abs(a.values.astype(np.float64) - b.values.astype(np.float64))
    return (~a.same(b)).astype(np.float64)


class _Tried:
    """A change with the answers before and after it, where there are both."""

    def __init__(self, change: Change, before: Outputs, after: Outputs, moved: Mask, numbers: bool) -> None:
        ok = before.ok & after.ok
        self.change, self.numbers = change, numbers
        self.before, self.after, self.moved = before.take(ok), after.take(ok), moved[ok]
        self.counts = int(ok.sum()), int((~after.ok[:SEEDS]).sum())
        known = before.take(before.ok).values
        self.labels = [] if numbers else sorted({_plain(label) for label in known}, key=lambda each: str(each))
        self.tolerance = self.slack = 0.0
        if numbers and len(known):
            values = known.astype(np.float64)
            self.slack = float(f"{1e-9 * max(float(np.abs(values).max()), 1e-6):.0e}")
            self.tolerance = max(self.slack, float(f"{(values.max() - values.min()) / 100:.0e}"))
            self.range = float(values.min()), float(values.max())

    def same(self, name: str, says: str, why: str) -> Promise:
        """Return the promise that the answer stays the same."""
        far = _difference(self.before, self.after, self.numbers) > self.tolerance
        code = "cases.output == origins.output"
        if self.numbers:
            code = "abs(cases.output - origins.output) <= TOLERANCE"
        return Promise(name, self.change, says, why, code, int(far.sum()), *self.counts)

    def one_way(self) -> Promise | None:
        """Return the promise that answers change in the direction in which they mostly do; None if none change."""
        return self._up_or_down() if self.numbers else self._towards()

    def _up_or_down(self) -> Promise | None:
        gone = self.after.values.astype(np.float64) - self.before.values.astype(np.float64)
        up, down = int((gone > self.slack).sum()), int((gone < -self.slack).sum())
        if not up + down:
            return None
        rises = up >= down
        verb, sign, slack = ("falls", ">=", f"- {self.slack}") if rises else ("rises", "<=", f"+ {self.slack}")
        right, wrong = ("larger", "smaller") if rises else ("smaller", "larger")
        return Promise(
            f"{self.change.name}_never_{verb}",
            self.change,
            f"{self.change.words} never makes the answer {wrong}",
            f"{max(up, down):,} of {plural(self.counts[0], 'row')} get a {right} one today. {IF_SO}",
            f"cases.output {sign} origins.output {slack}",
            min(up, down),
            *self.counts,
        )

    def _towards(self) -> Promise | None:
        best: tuple[Any, ...] | None = None
        if len(self.labels) <= MOST_LABELS and all(
            type(label) in (str, int, float, bool) for label in self.labels
        ):
            for label in self.labels:
                was, is_now = self.before.values == label, self.after.values == label
                left, came = int((was & ~is_now).sum()), int((~was & is_now).sum())
                if was.any() and came > left and (best is None or (left, -came) < best[:2]):
                    best = (left, -came, label)
        if best is None:
            return None
        left, came, label = best
        return Promise(
            f"{self.change.name}_stays_{slug(label)}",
            self.change,
            f"{self.change.words} never takes the answer {told(label)} away",
            f"{-came:,} of {plural(self.counts[0], 'row')} come to that answer by it today. {IF_SO}",
            _kept(label),
            left,
            *self.counts,
        )

    def known(self) -> Promise | None:
        """Return the promise that answers stay within what is known."""
        says = f"{self.change.words} gives no answer that was never seen"
        why = "A promise that most models keep, and a broken post-processing step does not."
        if self.numbers:
            low, high = self.range
            room = max((high - low) / 2, self.tolerance)
            low, high = float(f"{low - room:.6g}"), float(f"{high + room:.6g}")
            values = self.after.values.astype(np.float64)
            code, out = f"({low} <= cases.output) & (cases.output <= {high})", (values < low) | (values > high)
        elif 0 < len(self.labels) <= MOST_LABELS:
            known = ", ".join(map(literal, self.labels))
            code = f"[answer in [{known}] for answer in cases.output]"
            out = np.array([_plain(value) not in self.labels for value in self.after.values], dtype=bool)
        else:
            return None
        return Promise(f"{self.change.name}_known", self.change, says, why, code, int(out.sum()), *self.counts)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _kept(label: Any) -> str:
    """Return the code that tells whether a label, once there, stays."""
    if type(label) is bool:
        return f"origins.output {'<=' if label else '>='} cases.output"
    return f"(origins.output != {literal(label)}) | (cases.output == {literal(label)})"


# -- which to make ---------------------------------------------------------------------------------------------


def _promises(tried: list[_Tried]) -> Iterator[list[Promise]]:
    """Return what might be promised, one kind after the other, the most telling first."""
    of: dict[str, list[_Tried]] = {}
    for each in tried:
        of.setdefault(each.change.kind, []).append(each)
    yield [promise for each in of.get("more", []) if (promise := each.one_way()) is not None]
    yield [each.same("noise_keeps_the_answer", *NOISE) for each in of.get("hair", [])]
    nearest = [each for each in of.get("next", []) if each.moved.any()]
    yield [
        each.same(f"{each.change.name}_keeps_the_answer", f"{each.change.words} decides nothing by itself", NEXT)
        for each in nearest
    ]
    rounded = [each for each in of.get("rounded", []) if each.moved.any()]
    yield [each.same(f"{each.change.name}_keeps_the_answer", *ROUNDING) for each in rounded]
    (again,) = of["again"]
    yield [again.same("the_same_row_gets_the_same_answer", *AGAIN)]
    yield [promise for each in tried[:1] if (promise := each.known()) is not None]


IF_SO = "If that is how the matter is, hold the model to it: noise in the training data may teach it otherwise."
NOISE = (
    "a hair more in every real number keeps the answer",
    "It is far below what anybody measures, so nothing in the world is different. A model that answers otherwise "
    "decides by noise.",
)
NEXT = "The value beside it should not be all that counts. Models that memorise rows break this first."
ROUNDING = (
    "rounded numbers keep the answer",
    "Somebody will type the numbers in by hand, or send them through a system that keeps fewer digits.",
)
AGAIN = (
    "the same row asked twice, in any company, gets the same answer",
    "Whoever asks again must not be told something else.",
)


def _chosen(kinds: list[list[Promise]]) -> list[Promise]:
    """Return the promises to write down: those that hold, and those that were worth trying and are broken today."""
    *telling, again, known = kinds
    kept, broken = [], []
    for kind, promises in enumerate(telling):
        good = [promise for promise in promises if promise.holds]
        kept += good[:1]
        # of the first kind, which is about the column that decides most, what is broken is worth knowing in any case
        broken += [promise for promise in promises if promise.broken and (not good or kind == 0)][:1]
    spare = [promise for promises in (*telling[2:3], again, known) for promise in promises if promise.holds]
    for promise in spare:
        if len(kept) < ENOUGH and promise not in kept:
            kept.append(promise)
    broken += [promise for promise in again if promise.broken]
    return kept[:ENOUGH] + broken
