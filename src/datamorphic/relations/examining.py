"""Many relations put to one learner, on inputs drawn by number: as a flow, in waves, so that a budget loses little."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import OutOfBudget
from ..strategies.flow import Flow, Question
from ..sut.training import Array, Training, Trainings
from .base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED
from .drawing import Draw
from .learned import Learned, Manner, Subject
from .learners import LearnerRelation
from .learning import check
from .necessity import Stance

# inputs that are asked together, at first and later: a small budget should reach every relation
FIRST, WAVE = 10, 50
CHANCE = 0.001  # how likely chance alone may make two distributions look different
MOST_MESSAGES = 20  # different ones that are kept, each with how often


class Broken(NamedTuple):
    """A case that violates a relation: which input, which case of it, its labels."""

    input: int
    case: int
    before: Any
    expected: Any
    after: Any


@dataclass
class Tested:
    """What became of one relation on all inputs so far.

    Attributes
    ----------
    relation, view, manner
        The promise, whether the learner must keep it, and how it was judged.
    counts : ndarray
        How many cases HOLD, are VIOLATED, INAPPLICABLE and UNDEFINED.
    violations : list of Broken
        The cases that violate it, as they came.
    tied : int
        How many violations were set aside since they hang on a tie.
    messages : dict
        What was said of cases that could not be judged, and how often.
    """

    relation: LearnerRelation
    view: Stance
    manner: Manner
    counts: Array = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    violations: list[Broken] = field(default_factory=list)
    tied: int = 0
    messages: dict[str, int] = field(default_factory=dict)
    _labels: list[tuple[Array, Array]] = field(default_factory=list)
    _scores: list[tuple[Array, Array]] = field(default_factory=list)

    @property
    def statistical(self) -> bool:
        """Whether distributions are compared, and not case by case."""
        return self.manner.statistical

    @property
    def changed(self) -> int:
        """How many cases were not as expected."""
        return int(self.counts[VIOLATED])

    @property
    def judged(self) -> int:
        """How many cases could be judged."""
        return int(self.counts[HOLDS] + self.counts[VIOLATED])

    @property
    def violated(self) -> int:
        """How many violations count: all, or where distributions are compared none unless chance hardly explains them."""
        return self.changed if not self.statistical or self.chance() < CHANCE else 0

    def enter(self, found: Learned, numbers: Sequence[int]) -> None:
        """Add the verdicts of a wave."""
        self.counts += np.bincount(found.verdicts, minlength=4)
        self.tied += int(found.tied.sum())
        data = found.data
        self.violations += [
            Broken(
                numbers[data.which[row]],
                int(data.case[row]),
                found.before[row],
                found.expected[row],
                found.after[row],
            )
            for row in found.violations
        ]
        for row in np.flatnonzero(np.isin(found.verdicts, (INAPPLICABLE, UNDEFINED))):
            text = found.messages.get(int(row), "")
            if text in self.messages or len(self.messages) < MOST_MESSAGES:
                self.messages[text] = self.messages.get(text, 0) + 1
        if self.statistical:
            rows = np.flatnonzero(found.verdicts <= VIOLATED)
            self._labels.append((found.expected[rows], found.after[rows]))
            if found.scores_before is not None and found.scores_after is not None:
                self._scores.append((found.scores_before[rows], found.scores_after[rows]))

    def chance(self) -> float:
        """Return how likely chance alone makes the two distributions differ as much as they do."""
        from scipy import stats

        if self.manner.strictness == "score_stat" and self._scores:
            first, second = (_stacked(each) for each in zip(*self._scores, strict=True))
            tests = [
                stats.ks_2samp(a[~np.isnan(a)], b[~np.isnan(b)]).pvalue
                for a, b in zip(first.T, second.T, strict=True)
                if (~np.isnan(a)).any() and (~np.isnan(b)).any()
            ]
            return min(1.0, min(tests, default=1.0) * len(tests))  # the best of several tests
        if not self._labels:
            return 1.0
        before, after = (np.concatenate(each) for each in zip(*self._labels, strict=True))
        labels = sorted({*before.tolist(), *after.tolist()}, key=str)
        counts = np.array([[np.sum(each == label) for label in labels] for each in (before, after)])
        return float(stats.chi2_contingency(counts).pvalue) if len(labels) > 1 else 1.0


def _stacked(tables: Sequence[Array]) -> Array:
    """Stack tables of scores; waves may know different numbers of classes."""
    width = max(table.shape[1] for table in tables)
    filled = [np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=np.nan) for table in tables]
    return np.concatenate(filled)


@dataclass(frozen=True)
class Inputs:
    """Where training sets come from: the same number gives the same set, whatever was drawn before.

    Attributes
    ----------
    draw : callable
        What draws one from random numbers, with so many cases at most.
    count : int
        How many test cases are wanted in all.
    cases : int
        How many of them a training set has, at most.
    seed : int
        Where randomness starts.
    """

    draw: Draw
    count: int
    cases: int = 1
    seed: int = 0

    def training(self, number: int) -> Training:
        """Return one training set."""
        return self.draw(np.random.default_rng([self.seed, number]), self.cases)

    def waves(self) -> Iterator[tuple[list[int], Trainings]]:
        """Yield the numbers of training sets, and these, a wave at a time."""
        number, left, size = 0, self.count, min(FIRST, WAVE)
        while left > 0:
            numbers: list[int] = []
            sets: list[Training] = []
            while left > 0 and sum(len(each) for each in sets) < size:
                training = self.training(number)
                if len(training) > left:
                    training = training.cases(slice(0, left))
                numbers.append(number)
                sets.append(training)
                number, left = number + 1, left - len(training)
            yield numbers, Trainings(sets)
            size = min(2 * size, WAVE)


def examine(
    tested: Sequence[Tested], subject: Subject, inputs: Inputs, told: Callable[[], None] = lambda: None
) -> Flow[Sequence[Tested]]:
    """Put relations to a learner, wave by wave; what was judged until the budget is spent counts."""
    scored = any(each.manner.scored for each in tested)
    done = 0
    try:
        for numbers, data in inputs.waves():
            known = yield Question(data, scored, done=done / inputs.count, note="source data")
            for place, each in enumerate(tested):
                share = (done + len(data) * (place + 1) / len(tested)) / inputs.count
                found = yield from check(
                    each.relation, subject, data, numbers, each.manner, known=known, view=each.view, done=share
                )
                each.enter(found, numbers)
            done += len(data)
            told()
    except OutOfBudget:
        pass
    return tested


def again(
    each: Tested, subject: Subject, sets: Sequence[Training], numbers: Sequence[int], scores: bool = False
) -> Flow[Learned]:
    """Put one relation to the learner once more, on these training sets."""
    manner = Manner(each.manner.strictness, each.manner.ties, each.manner.seed, scores)
    found: Any = yield from check(each.relation, subject, Trainings(sets), numbers, manner, view=each.view)
    return found
