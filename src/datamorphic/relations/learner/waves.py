"""Many relations put to one learner, on inputs drawn by number: as a flow, in waves, so that a budget loses little."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...errors import OutOfBudget
from ...runs.flow import Flow, Query
from ...systems.training import Array, Training, TrainingBatch
from ..base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED
from .base import LearnerRelation
from .necessity import Stance
from .result import JudgingOptions, LearnerSubject, LearnerVerdicts
from .runner import check_relation
from .sampling import TrainingSampler

# inputs that are asked together, at first and later: a small budget should reach every relation
FIRST_WAVE_CASES, MAX_WAVE_CASES = 10, 50
SIGNIFICANCE_LEVEL = 0.001  # how likely chance alone may make two distributions look different
MAX_MESSAGES = 20  # different ones that are kept, each with how often


class ViolatingCase(NamedTuple):
    """A case that violates a relation: which input, which case of it, its labels."""

    input: int
    case: int
    before: Any
    expected: Any
    after: Any


@dataclass
class LearnerRelationOutcome:
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
    stance: Stance
    judging: JudgingOptions
    counts: Array = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    violations: list[ViolatingCase] = field(default_factory=list)
    tied: int = 0
    messages: dict[str, int] = field(default_factory=dict)
    _labels: list[tuple[Array, Array]] = field(default_factory=list)
    _scores: list[tuple[Array, Array]] = field(default_factory=list)

    @property
    def statistical(self) -> bool:
        """Whether distributions are compared, and not case by case."""
        return self.judging.statistical

    @property
    def changed_count(self) -> int:
        """How many cases were not as expected."""
        return int(self.counts[VIOLATED])

    @property
    def judged_count(self) -> int:
        """How many cases could be judged."""
        return int(self.counts[HOLDS] + self.counts[VIOLATED])

    @property
    def violated_count(self) -> int:
        """How many violations count: all, or where distributions are compared none unless chance hardly explains them."""
        return self.changed_count if not self.statistical or self.compute_chance() < SIGNIFICANCE_LEVEL else 0

    def add_wave(self, result: LearnerVerdicts, numbers: Sequence[int]) -> None:
        """Add the verdicts of a wave."""
        self.counts += np.bincount(result.verdicts, minlength=4)
        self.tied += int(result.tied.sum())
        data = result.data
        self.violations += [
            ViolatingCase(
                numbers[data.training_index[row]],
                int(data.case_index[row]),
                result.before[row],
                result.expected[row],
                result.after[row],
            )
            for row in result.violations
        ]
        for row in np.flatnonzero(np.isin(result.verdicts, (INAPPLICABLE, UNDEFINED))):
            text = result.messages.get(int(row), "")
            if text in self.messages or len(self.messages) < MAX_MESSAGES:
                self.messages[text] = self.messages.get(text, 0) + 1
        if self.statistical:
            rows = np.flatnonzero(result.verdicts <= VIOLATED)
            self._labels.append((result.expected[rows], result.after[rows]))
            if result.scores_before is not None and result.scores_after is not None:
                self._scores.append((result.scores_before[rows], result.scores_after[rows]))

    def compute_chance(self) -> float:
        """Return how likely chance alone makes the two distributions differ as much as they do."""
        from scipy import stats

        if self.judging.strictness == "score_stat" and self._scores:
            first, second = (_stack_scores(tables) for tables in zip(*self._scores, strict=True))
            tests = [
                stats.ks_2samp(a[~np.isnan(a)], b[~np.isnan(b)]).pvalue
                for a, b in zip(first.T, second.T, strict=True)
                if (~np.isnan(a)).any() and (~np.isnan(b)).any()
            ]
            return min(1.0, min(tests, default=1.0) * len(tests))  # the best of several tests
        if not self._labels:
            return 1.0
        before, after = (np.concatenate(columns) for columns in zip(*self._labels, strict=True))
        labels = sorted({*before.tolist(), *after.tolist()}, key=str)
        counts = np.array([[np.sum(column == label) for label in labels] for column in (before, after)])
        return float(stats.chi2_contingency(counts).pvalue) if len(labels) > 1 else 1.0


def _stack_scores(tables: Sequence[Array]) -> Array:
    """Stack tables of scores; waves may know different numbers of classes."""
    width = max(table.shape[1] for table in tables)
    padded_tables = [
        np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=np.nan) for table in tables
    ]
    return np.concatenate(padded_tables)


@dataclass(frozen=True)
class TrainingSource:
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

    draw: TrainingSampler
    count: int
    cases: int = 1
    seed: int = 0

    def draw_training(self, number: int) -> Training:
        """Return one training set."""
        return self.draw(np.random.default_rng([self.seed, number]), self.cases)

    def iter_waves(self) -> Iterator[tuple[list[int], TrainingBatch]]:
        """Yield the numbers of training sets, and these, a wave at a time."""
        number, remaining_cases, size = 0, self.count, min(FIRST_WAVE_CASES, MAX_WAVE_CASES)
        while remaining_cases > 0:
            numbers: list[int] = []
            sets: list[Training] = []
            while remaining_cases > 0 and sum(len(training_set) for training_set in sets) < size:
                training = self.draw_training(number)
                if len(training) > remaining_cases:
                    training = training.cases(slice(0, remaining_cases))
                numbers.append(number)
                sets.append(training)
                number, remaining_cases = number + 1, remaining_cases - len(training)
            yield numbers, TrainingBatch(sets)
            size = min(2 * size, MAX_WAVE_CASES)


def check_in_waves(
    outcomes: Sequence[LearnerRelationOutcome],
    subject: LearnerSubject,
    inputs: TrainingSource,
    on_wave: Callable[[], None] = lambda: None,
) -> Flow[Sequence[LearnerRelationOutcome]]:
    """Put relations to a learner, wave by wave; what was judged until the budget is spent counts."""
    scored = any(outcome.judging.needs_scores for outcome in outcomes)
    done = 0
    try:
        for numbers, data in inputs.iter_waves():
            source_outputs = yield Query(data, scored, progress=done / inputs.count, note="source data")
            for place, outcome in enumerate(outcomes):
                share = (done + len(data) * (place + 1) / len(outcomes)) / inputs.count
                result = yield from check_relation(
                    outcome.relation,
                    subject,
                    data,
                    numbers,
                    outcome.judging,
                    source_outputs=source_outputs,
                    stance=outcome.stance,
                    done=share,
                )
                outcome.add_wave(result, numbers)
            done += len(data)
            on_wave()
    except OutOfBudget:
        pass
    return outcomes


def check_again(
    outcome: LearnerRelationOutcome,
    subject: LearnerSubject,
    sets: Sequence[Training],
    numbers: Sequence[int],
    scores: bool = False,
) -> Flow[LearnerVerdicts]:
    """Put one relation to the learner once more, on these training sets."""
    judging = JudgingOptions(outcome.judging.strictness, outcome.judging.ties, outcome.judging.seed, scores)
    result: Any = yield from check_relation(
        outcome.relation, subject, TrainingBatch(sets), numbers, judging, stance=outcome.stance
    )
    return result
