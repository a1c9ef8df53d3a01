"""`check(a, against=b)`: the same inputs for two systems, which relations hold in one only, and where answers differ.

The answers of the first system are recorded by the content of their inputs. The second system gets the same inputs, and the same
follow-ups wherever its answers to the sources are the same, so that answers to equal inputs can be compared. Those that differ
are judged like a relation: "trained by the other: the same answers". So ties, random states and the last bits of scores are
told apart, and a difference is shrunk, as for every other relation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...core.execute import Execution
from ...errors import Interrupted, OutOfBudget
from ...runs.driver import FlowDriver
from ...runs.flow import UNLIMITED, Budget, Flow, Query
from ...space.labels import to_object_array
from ...space.outputs import Outputs
from ...space.points import Batch, Points
from ...systems.base import Executor
from ...systems.pairs import ModelPair
from ...systems.training import Floats, Training, TrainingBatch
from ..algebra.base import HOLDS, VIOLATED, JudgedGroups, SystemRelation, are_same_answers
from ..algebra.shrink import shrink_violation
from ..learners.base import LearnerRelation, Rng, SameClusters, SameLabels, TrainingChange
from ..learners.requirement import Strictness, may_fail
from ..learners.runner import RANDOM_STATE_REASON, SCORE_TOLERANCE, TIE_REASON
from ..learners.waves import TrainingSource
from .learner_session import LearnerSession, prepare_outcomes
from .options import CheckSubject
from .result import Against, AnswerComparison, RelationResult
from .runner import DRIVE_OPTIONS
from .session import CheckSession
from .violation import LearnerViolation, ModelViolation

MAX_EXAMINED_SETS = 200  # of the training sets with different answers; the others are counted like these
FIRST_BUDGET_SHARE, OTHER_BUDGET_SHARE = 0.45, 0.8  # of what is left; the rest is for the answers that differ
SAME_ANSWERS = "the same answers"
SET_ASIDE_TEXTS = {TIE_REASON: "a tie decides", RANDOM_STATE_REASON: "the random state decides"}
LAST_BITS = "they differ in the last bits only"


class _OtherLearner(TrainingChange):
    """The other learner is trained on the same data."""

    clause = "the other learner is trained on the same data"
    regressors = True
    transformers = True
    any_data = True

    def follow_up(self, data: Training, labels: Any, rng: Rng) -> Training:
        return replace(data, for_second=True)


class _SameAnswers(SameLabels):
    clause = SAME_ANSWERS
    seeded = True


class _ModelsAgree(SystemRelation):
    """Both answers of a `ModelPair` are the same."""

    name = SAME_ANSWERS
    statement = f"the other model gets the same case: {SAME_ANSWERS}"
    necessary = False

    def __init__(self, draws_inputs: bool) -> None:
        self.draws_inputs = draws_inputs

    def check(self, inputs: Points, rng: np.random.Generator) -> Flow[JudgedGroups]:
        outputs = yield Query(inputs, note=self.name)
        rows = np.flatnonzero(outputs.ok)
        before, after = (_to_plain([pair[place] for pair in outputs.values[rows]]) for place in (0, 1))
        verdicts = np.where(are_same_answers(before, after), HOLDS, VIOLATED).astype(np.int8)
        cases = inputs.take(rows)
        return JudgedGroups(
            rows=rows,
            source=cases,
            follow_up=cases,
            before=Outputs.of(before),
            after=Outputs.of(after),
            verdicts=verdicts,
        )


def _to_plain(values: Sequence[Any]) -> Any:
    """Return answers as an array: of floats, if all are."""
    if values and all(isinstance(value, float) for value in values):
        return np.array(values, dtype=np.float64)
    return to_object_array(values)


# -- recording ------------------------------------------------------------------------------------------------------


@dataclass
class AnswerRecord:
    """The answers of one system by the content of their inputs, and how those of another system compare."""

    answer_count: int = 0
    score_count: int = 0
    rounding_count: int = 0  # answers that differ in the last bits only
    one_sided: dict[str, int] = field(default_factory=dict)  # cases that only one answers, by which one and why not
    different_answers: list[Batch | Training] = field(default_factory=list)
    different_scores: list[Batch | Training] = field(default_factory=list)  # of the same answers
    _answers: dict[bytes, Outputs] = field(default_factory=dict)

    MAX_MESSAGES: ClassVar[int] = 6

    @contextmanager
    def listen(self, subject: CheckSubject, is_second: bool = False) -> Iterator[None]:
        """Record, or compare, the answers to all queries of the sessions in the block."""
        drives = [session.drive for session in subject.sessions]
        note = self.compare if is_second else self.record
        for session in subject.sessions:
            session.drive = _listen(session.drive, note)
        try:
            yield
        finally:
            for session, drive in zip(subject.sessions, drives, strict=True):
                session.drive = drive

    def record(self, system: Executor, batch: Batch, outputs: Outputs) -> None:
        """Keep the answers of the first system."""
        for key, _, rows in _list_parts(system, batch):
            self._answers.setdefault(key, outputs.take(rows))

    def compare(self, system: Executor, batch: Batch, outputs: Outputs) -> None:
        """Compare the answers of the second system to inputs that the first has answered, once each."""
        for key, part, rows in _list_parts(system, batch):
            first = self._answers.pop(key, None)
            if first is not None:
                self._compare(part, first, outputs.take(rows))

    def _compare(self, part: Batch | Training, first: Outputs, second: Outputs) -> None:
        both = first.ok & second.ok
        for ok, missing, text in ((first, second, "the other"), (second, first, "this one")):
            for row in np.flatnonzero(ok.ok & ~missing.ok).tolist():
                reason = f"{text} gives no answer: {missing.messages.get(row, '')}".rstrip(": ")
                if reason in self.one_sided or len(self.one_sided) < self.MAX_MESSAGES:
                    self.one_sided[reason] = self.one_sided.get(reason, 0) + 1
        first, second = first.take(both), second.take(both)
        pair = [replace(outputs, values=_to_plain(outputs.values.tolist())) for outputs in (first, second)]
        same = pair[0].same(pair[1], SCORE_TOLERANCE)
        self.answer_count += len(same)
        self.rounding_count += int((same & ~pair[0].same(pair[1])).sum())
        rows = np.flatnonzero(both)
        if not same.all():
            self.different_answers.append(_take_cases(part, rows[~same]))
        scores = _get_scores(first, second)
        if scores is not None:
            has_scores = ~np.isnan(scores).all(axis=2).any(axis=0)
            close = np.isclose(scores[0], scores[1], rtol=SCORE_TOLERANCE, atol=SCORE_TOLERANCE, equal_nan=True).all(
                axis=1
            )
            self.score_count += int(has_scores.sum())
            if (scores_differ := same & has_scores & ~close).any():
                self.different_scores.append(_take_cases(part, rows[scores_differ]))


def _list_parts(system: Executor, batch: Batch) -> Iterator[tuple[bytes, Batch | Training, Any]]:
    """Yield the key, the cases and the rows of each part of a batch that is compared as one."""
    if isinstance(batch, TrainingBatch):
        for training, rows in batch.parts():
            yield _hash(b"".join(TrainingBatch([training]).iter_bytes())), training, rows
    elif isinstance(batch, Points):
        names = repr((type(system).__name__, batch.space.names)).encode()
        yield _hash(names + batch.codes.tobytes()), batch, slice(None)


def _hash(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _take_cases(part: Batch | Training, rows: Any) -> Batch | Training:
    return part.cases(rows) if isinstance(part, Training) else part.take(rows)


def _get_scores(first: Outputs, second: Outputs) -> Floats | None:
    """Return the scores of both systems, as far as both have columns; None if one has none."""
    if first.scores is None or second.scores is None:
        return None
    width = min(first.scores.shape[1], second.scores.shape[1])
    return np.stack([first.scores[:, :width], second.scores[:, :width]])


def _listen(drive: FlowDriver, note: Callable[[Executor, Batch, Outputs], None]) -> Any:
    """Return a drive that also passes on all queries and their answers."""

    def listening_drive(flow: Flow[Any], system: Executor, /, **details: Any) -> Any:
        return drive(_watch(flow, system, note), system, **details)

    return listening_drive


def _watch(flow: Flow[Any], system: Executor, note: Callable[[Executor, Batch, Outputs], None]) -> Flow[Any]:
    try:
        query = next(flow)
        while True:
            try:
                outputs = yield query
            except OutOfBudget as error:
                query = flow.throw(error)
                continue
            note(system, query.batch if isinstance(query, Query) else query, outputs)
            query = flow.send(outputs)
    except StopIteration as stop:
        return stop.value


# -- comparing ------------------------------------------------------------------------------------------------------


def query_scores(sessions: Sequence[CheckSession[Any, Any]]) -> None:
    """Query scores of learners even where they are not judged, so that they can be compared."""
    for session in sessions:
        if isinstance(session, LearnerSession):
            for outcome in session.outcomes:
                outcome.judging = replace(outcome.judging, with_scores=True)


def run_sessions(subject: CheckSubject, limits: Budget = UNLIMITED) -> None:
    """Check the relations on a subject, as far as the budget allows; `limits` are those of training."""
    for session in subject.sessions:
        if isinstance(session, LearnerSession):
            session.run(limits=limits)
        else:
            session.run()


def check_other(
    execution: Execution[CheckSubject], record: AnswerRecord, notes: list[str], obstacle: str, *, shrink: bool
) -> Against:
    """Check the relations on the second system, and return how it compares.

    An `obstacle` says why answers cannot be compared. Nothing is asked after Ctrl-C.
    """
    subject = execution.subject
    other = subject.other
    assert other is not None
    if other.learner is not None and subject.learner is not None:
        other.learner.inputs = subject.learner.inputs  # the same, also where the other accepts more
        if not execution.counter.interrupted and not other.learner.is_repeatable(execution.remaining_budget):
            notes.append(f"{other.name}: {other.learner.accept_unrepeatable()}")
            obstacle = obstacle or f"{other.name} gives different answers when it is fitted again"
    if not execution.counter.interrupted:
        with record.listen(other, is_second=True):
            run_sessions(other, execution.remaining_budget.scale(OTHER_BUDGET_SHARE))
    return _build_against(execution, subject, other, record, shrink=shrink, obstacle=obstacle)


def _build_against(
    execution: Execution[CheckSubject],
    subject: CheckSubject,
    other: CheckSubject,
    record: AnswerRecord,
    *,
    shrink: bool,
    obstacle: str,
) -> Against:
    comparisons: list[AnswerComparison] = []

    def drive(flow: Flow[Any], system: Executor, /, **details: Any) -> Any:
        if execution.counter.interrupted:  # a resumed run would ask otherwise, so nothing more is stored
            raise Interrupted("interrupted")
        return execution.drive(flow, system, **details)

    if not obstacle:
        nouns = [
            ("answers", record.different_answers, record.answer_count),
            ("scores", record.different_scores, record.score_count),
        ]
        for noun, parts, compared in nouns[: 1 + bool(record.score_count)]:
            trainings = [part for part in parts if isinstance(part, Training)]
            points = [part for part in parts if isinstance(part, Points)]
            candidates = sum(len(part) for part in parts)
            comparison = AnswerComparison(noun=noun, compared=compared, candidates=candidates, complete=not candidates)
            with suppress(OutOfBudget):
                if trainings:
                    comparison = _judge_trainings(subject, other, comparison, trainings, drive, shrink)
                elif points:
                    comparison = _judge_points(subject, other, comparison, points, drive, shrink)
            if noun == "answers" and record.rounding_count:
                set_aside = {
                    **comparison.set_aside,
                    LAST_BITS: comparison.set_aside.get(LAST_BITS, 0) + record.rounding_count,
                }
                comparison = replace(comparison, set_aside=set_aside)
            comparisons.append(comparison)
    outcomes = [outcome for session in other.sessions for outcome in session.outcomes]
    return Against(
        subject=other.name,
        entries=[RelationResult.from_outcome(outcome, 0) for outcome in outcomes],
        only_with_missing_values=_list_relations_about_missing_values(
            [one.learner for one in (subject, other) if one.learner is not None]
        ),
        comparisons=comparisons,
        one_sided=dict(record.one_sided) if not obstacle else {},
        obstacle=obstacle,
    )


def _list_relations_about_missing_values(sessions: Sequence[LearnerSession]) -> list[str]:
    """Return the relations that learners violate where values are missing, and nowhere else."""
    inputs_by_relation: dict[str, set[int]] = {}
    for session in sessions:
        for outcome in session.outcomes:
            inputs_by_relation.setdefault(outcome.name, set()).update(case.input for case in outcome.violations)
    inputs = sessions[0].inputs if sessions else None
    numbers = set().union(*inputs_by_relation.values())
    incomplete = {
        number for number in numbers if inputs is not None and inputs.draw_training(number).has_missing_values
    }
    return [name for name, numbers in inputs_by_relation.items() if numbers and numbers <= incomplete]


def _judge_trainings(
    subject: CheckSubject,
    other: CheckSubject,
    comparison: AnswerComparison,
    trainings: list[Training],
    drive: FlowDriver,
    shrink: bool,
) -> AnswerComparison:
    """Judge the training sets with different answers as a relation of both learners.

    A learner that chooses among attributes at random has no choice if there is only one. So a difference that the random state
    may explain counts if it also occurs with one of the attributes alone.
    """
    trainings = sorted(trainings, key=lambda training: training.x.shape[0] * training.x.shape[1])
    if len(trainings) > MAX_EXAMINED_SETS:  # some of all sizes
        places = np.unique(np.linspace(0, len(trainings) - 1, MAX_EXAMINED_SETS).round().astype(int))
        trainings = [trainings[place] for place in places]
    judge = partial(_judge, subject, other, comparison.noun, drive)
    session = judge(trainings)
    (outcome,) = outcomes = list(session.outcomes)
    confirmed = {(case.input, case.case) for case in outcome.violations}
    set_aside = {SET_ASIDE_TEXTS.get(text, text): count for text, count in outcome.messages.items()}
    if holding := int(outcome.counts[HOLDS]):
        set_aside[LAST_BITS] = holding
    sets = [trainings[number] for number, _ in confirmed]
    if random_count := outcome.messages.get(RANDOM_STATE_REASON, 0):
        numbers = sorted(set(range(len(trainings))) - {number for number, _ in confirmed})
        single = [
            (number, trainings[number].attributes([place]))
            for number in numbers
            if trainings[number].x.shape[1] > 1
            for place in range(trainings[number].x.shape[1])
        ]
        if single:
            single_session = judge([training for _, training in single])
            (single_outcome,) = single_session.outcomes
            outcomes.append(single_outcome)
            causes = {(single[case.input][0], case.case): single[case.input][1] for case in single_outcome.violations}
            confirmed |= set(causes)
            sets += causes.values()
            set_aside[SET_ASIDE_TEXTS[RANDOM_STATE_REASON]] = max(0, random_count - len(causes))
            if not outcome.violations:
                session, outcome = single_session, single_outcome
    example: LearnerViolation | None = None
    if shrink and outcome.violations:
        with suppress(OutOfBudget):
            example = session.shrink(outcome, outcome.violations[0])
    if comparison.noun == "scores" and example is not None and example.before != example.after:
        example = None  # smaller data have another difference
    return replace(
        comparison,
        examined=int(outcomes[0].counts.sum()),
        confirmed=len(confirmed),
        with_missing_values=sum(training.has_missing_values for training in sets),
        set_aside=set_aside,
        example=example,
        complete=all(outcome.complete for outcome in outcomes),
    )


def _judge(
    subject: CheckSubject, other: CheckSubject, noun: str, drive: FlowDriver, trainings: Sequence[Training]
) -> LearnerSession:
    """Return a session that has judged whether both learners give the same answers, or scores, on training sets."""
    assert subject.learner is not None
    assert other.learner is not None
    relation: LearnerRelation = _OtherLearner() >> (SameClusters() if subject.learner.is_clusterer else _SameAnswers())
    relation = relation.named(f"the same {noun}")
    strictness: Strictness = "score_exact" if noun == "scores" else "class_exact"
    requirement = replace(may_fail(f"{subject.name} and {other.name} need not agree"), strictness=strictness)
    seed = subject.learner.inputs.seed
    session = LearnerSession(
        learner=subject.learner.learner,
        other=other.learner.learner,
        outcomes=prepare_outcomes([relation], {relation.name: requirement}, seed),
        inputs=_TrainingList(_refuse_drawing, sum(map(len, trainings)), 1, seed, trainings),
        drive=drive,
        like=subject.learner.like,
    )
    session.run()
    return session


def _refuse_drawing(rng: np.random.Generator, cases: int) -> Training:
    raise NotImplementedError


@dataclass(frozen=True)
class _TrainingList(TrainingSource):
    """Training sets that are known."""

    trainings: Sequence[Training] = ()

    def draw_training(self, number: int) -> Training:
        return self.trainings[number]


def _judge_points(
    subject: CheckSubject,
    other: CheckSubject,
    comparison: AnswerComparison,
    parts: list[Points],
    drive: FlowDriver,
    shrink: bool,
) -> AnswerComparison:
    """Judge the cases with different answers as a relation of both models."""
    assert subject.model is not None
    assert other.model is not None
    points, example = parts[0], None
    relation = _ModelsAgree(draws_inputs=any(outcome.relation.draws_inputs for outcome in subject.model.outcomes))
    system = ModelPair(subject.model.subject.sut, other.model.subject.sut)
    with suppress(OutOfBudget):
        groups = drive(relation.check(points, np.random.default_rng(0)), system, **DRIVE_OPTIONS)
        if shrink and groups.count(VIOLATED):
            flow = shrink_violation(relation, points, groups, subject.model.seed)
            groups = drive(flow, system, **DRIVE_OPTIONS)
            example = ModelViolation(relation.name, relation.statement, groups.take(slice(0, 1)))
    count = comparison.candidates
    return replace(comparison, examined=count, confirmed=count, example=example, complete=True)
