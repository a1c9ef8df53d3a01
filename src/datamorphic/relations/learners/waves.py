"""Check many relations on one learner in waves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ...errors import OutOfBudget
from ...runs.flow import Flow, Query
from ...systems.training import Array, Training, TrainingBatch
from ..algebra.base import INAPPLICABLE, UNDEFINED, VIOLATED
from ..algebra.outcome import RelationOutcome, ViolatingCase
from .base import LearnerRelation
from .cluster_sampling import make_cluster_sampler, make_rows_sampler
from .necessity import Requirement
from .result import JudgingOptions, LearnerSubject, LearnerVerdicts
from .runner import check_relation
from .sampling import CASES_PER_TRAINING_SET, TrainingSampler, draw_random_training, is_random, make_data_sampler

FIRST_WAVE_CASES = 10  # few, so that a small budget reaches every relation
MAX_WAVE_CASES = 50
SIGNIFICANCE_LEVEL = 0.001  # below which chance does not explain that two distributions differ
MAX_MESSAGES = 20  # distinct ones per relation


@dataclass(kw_only=True)
class LearnerRelationOutcome(RelationOutcome):
    """The outcome of one relation on a learner so far."""

    relation: LearnerRelation
    requirement: Requirement
    judging: JudgingOptions
    tied: int = 0  # violations that were set aside because they depend on a tie
    fit_failure: str = ""  # the error of the first fit that failed, if any did
    _labels: list[tuple[Array, Array]] = field(default_factory=list)
    _scores: list[tuple[Array, Array]] = field(default_factory=list)

    @property
    def statistical(self) -> bool:
        """Whether distributions are compared, instead of single cases."""
        return self.judging.statistical

    @property
    def violated_count(self) -> int:
        """The number of violations that count: none if chance may explain that two distributions differ."""
        return self.changed_count if not self.statistical or self.compute_chance() < SIGNIFICANCE_LEVEL else 0

    def list_facts(self) -> dict[str, Any]:
        """Return whether the learner must satisfy the relation, how it was judged, and what chance explains."""
        return {
            "about": "learner",
            "necessary": self.requirement.necessary,
            "strictness": self.judging.strictness if self.statistical else self.requirement.strictness,
            "reason": self.requirement.reason,
            "tied": self.tied,
            "chance": self.compute_chance() if self.statistical else None,
        }

    def add_wave(self, result: LearnerVerdicts, numbers: Sequence[int]) -> None:
        """Add the verdicts of a wave."""
        self.counts += np.bincount(result.verdicts, minlength=4)
        self.tied += int(result.tied.sum())
        data = result.data
        for row in result.violations:
            number, case = numbers[data.training_index[row]], int(data.case_index[row])
            labels = (result.before[row], result.expected[row], result.after[row])
            self.violations.append(ViolatingCase(number, case, *labels))
        for row in np.flatnonzero(np.isin(result.verdicts, (INAPPLICABLE, UNDEFINED))):
            text = result.messages.get(int(row), "")
            if text in self.messages or len(self.messages) < MAX_MESSAGES:
                self.messages[text] = self.messages.get(text, 0) + 1
        if result.fit_failures and not self.fit_failure:
            self.fit_failure = result.fit_failures[min(result.fit_failures)]
        if self.statistical:
            rows = np.flatnonzero(result.verdicts <= VIOLATED)
            # the cases of one training set depend on each other, so one of them counts
            rows = rows[np.unique(data.training_index[rows], return_index=True)[1]]
            self._labels.append((result.expected[rows], result.after[rows]))
            if result.scores_before is not None and result.scores_after is not None:
                self._scores.append((result.scores_before[rows], result.scores_after[rows]))

    def compute_chance(self) -> float:
        """Return the p-value of the difference between the two distributions."""
        from scipy import stats

        if self.judging.strictness == "score_stat" and self._scores:
            width = max(table.shape[1] for pair in self._scores for table in pair)  # the numbers of classes may differ
            first, second = (
                np.concatenate([np.pad(t, ((0, 0), (0, width - t.shape[1])), constant_values=np.nan) for t in tables])
                for tables in zip(*self._scores, strict=True)
            )
            tests = [
                stats.ks_2samp(a[~np.isnan(a)], b[~np.isnan(b)]).pvalue
                for a, b in zip(first.T, second.T, strict=True)
                if (~np.isnan(a)).any() and (~np.isnan(b)).any()
            ]
            return min(1.0, min(tests, default=1.0) * len(tests))  # Bonferroni correction
        if not self._labels:
            return 1.0
        before, after = (np.concatenate(columns) for columns in zip(*self._labels, strict=True))
        labels = sorted({*before.tolist(), *after.tolist()}, key=str)
        counts = np.array([[np.sum(column == label) for label in labels] for column in (before, after)])
        return float(stats.chi2_contingency(counts).pvalue) if len(labels) > 1 else 1.0


@dataclass(frozen=True)
class TrainingSource:
    """Draws training sets by number: the same number always gives the same set."""

    draw: TrainingSampler
    count: int  # of test cases in all training sets together
    cases: int = 1  # per training set, at most
    seed: int = 0

    @staticmethod
    def of(data: object, target: str | None, rows: int, count: int, seed: int, clusterer: Any = None) -> TrainingSource:
        """Return the source of random training sets of at most, or of parts of data of at least, `rows` rows.

        For a clusterer they are groups of rows without labels, and a part of data counts as much as the cases of a training set.
        """
        if clusterer is not None and is_random(data):
            return TrainingSource(make_cluster_sampler(clusterer, rows), count, 1, seed)
        if clusterer is not None:
            sampler = make_rows_sampler(clusterer, data, target, rows)
            return TrainingSource(sampler, max(1, count // CASES_PER_TRAINING_SET), 1, seed)
        if is_random(data):
            return TrainingSource(partial(draw_random_training, max_rows=rows), count, 1, seed)
        return TrainingSource(make_data_sampler(data, target, rows), count, CASES_PER_TRAINING_SET, seed)

    def draw_training(self, number: int) -> Training:
        """Return the training set of a number."""
        return self.draw(np.random.default_rng([self.seed, number]), self.cases)

    def iter_waves(self) -> Iterator[tuple[list[int], TrainingBatch]]:
        """Yield the numbers and the training sets of each wave."""
        number, remaining_cases, size = 0, self.count, FIRST_WAVE_CASES
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
    outcomes: Sequence[LearnerRelationOutcome], subject: LearnerSubject, inputs: TrainingSource, progress: float = 1.0
) -> Flow[Sequence[LearnerRelationOutcome]]:
    """Check relations on a learner, wave by wave, as far as the budget allows; `progress` is what is reported at the end."""
    scored = any(outcome.judging.needs_scores for outcome in outcomes)
    done = 0
    try:
        for numbers, data in inputs.iter_waves():
            source_outputs = yield Query(data, scored, progress=progress * done / inputs.count, note="source data")
            for place, outcome in enumerate(outcomes):
                share = progress * (done + len(data) * (place + 1) / len(outcomes)) / inputs.count
                result = yield from check_relation(
                    outcome.relation,
                    subject,
                    data,
                    numbers,
                    outcome.judging,
                    source_outputs=source_outputs,
                    requirement=outcome.requirement,
                    done=share,
                )
                outcome.add_wave(result, numbers)
                outcome.complete = done + len(data) == inputs.count
            done += len(data)
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
    """Check one relation again on given training sets."""
    judging = replace(outcome.judging, with_scores=scores)
    flow = check_relation(
        outcome.relation, subject, TrainingBatch(sets), numbers, judging, requirement=outcome.requirement
    )
    return (yield from flow)
