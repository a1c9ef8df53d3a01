"""Check one relation on a learner, on many training sets at once, as a flow."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ..._lazy import pd
from ..._text import pluralise
from ...errors import TestSystemError, format_error_line
from ...runs.flow import Flow, Query
from ...space.labels import to_object_array
from ...space.outputs import Outputs, Status
from ...systems.base import Executor
from ...systems.clusterer import find_seeds
from ...systems.learner import LEARNER_ERRORS, align_scores
from ...systems.training import Array, Places, Training, TrainingBatch
from ..algebra.base import HOLDS, UNDEFINED, VIOLATED, Mask, split_statement
from .base import LearnerRelation, compute_widths
from .necessity import Requirement, find_requirement
from .result import FailedAnswer, JudgingOptions, LearnerSubject, LearnerVerdicts

Result = TypeVar("Result")
# no answer, although the learner did not refuse the data
CRASHES = (Status.ERROR, Status.DIED, Status.MALFORMED, Status.MISSING)
# by which scores may differ, and numeric answers as a share of the range of the targets: sums have another order
SCORE_TOLERANCE = 1e-6
RESIDUE_TOLERANCE = 1e-12  # of the greatest number, that is left where numbers cancel out
# of the middle half of a column; much less would create ties in single precision, which trees use
PERTURBATION_SHARE = 1e-3
TIE_REASON = "the violation depends on a tie: it disappears when all numbers change slightly"
NO_FOLLOW_UP_REASON = "the relation does not apply to this answer"
RANDOM_START_REASON = "the clusters depend on the random start"
RANDOM_STATE_REASON = "the answer depends on the random state"
OTHER_SEEDS = 5  # with which the answers must be the same, else they depend on the random start
PERTURBED_COPIES = 3  # most of them must show a violation again, else it depends on a tie


def check_relation(
    relation: LearnerRelation,
    subject: LearnerSubject,
    data: TrainingBatch,
    numbers: Sequence[int],
    judging: JudgingOptions,
    *,
    source_outputs: Outputs | None = None,
    requirement: Requirement | None = None,
    done: float | None = None,
) -> Flow[LearnerVerdicts]:
    """Fit a learner on source and follow-up data, and judge its labels.

    `numbers` has a number per training set, which together with the seed determines the randomness of the follow-up.
    `source_outputs` are the answers to the source data, if they are known already; `done` is the progress to report.

    Cases for which the learner raises are UNDEFINED. Violations that disappear in most slightly perturbed copies of the
    data depend on a tie. They are set aside as INAPPLICABLE, unless ``judging.ties`` is "count", values are missing, or the
    definition of the learner leaves no choice open in which ties decide. So are violations on data
    on which the learner need not satisfy the relation, although by its `requirement` it must on most data.
    """
    check = _LearnerCheck(relation, subject, judging, requirement is not None and requirement.necessary)
    result = yield from check.judge(data, numbers, source_outputs, done)
    if relation.seeded and find_seeds(subject.learner):
        yield from check.set_random_starts_aside(result)
    # a comparison of distributions needs all cases, so none that differs may be left out
    sets_aside = relation.firm and judging.ties == "aside" and not judging.statistical
    if sets_aside and (requirement is None or not requirement.necessary or requirement.ties):
        yield from check.set_ties_aside(result, numbers)
    if (
        requirement is not None
        and requirement.necessary
        and find_requirement(relation.name, subject.reference_learner).necessary
    ):
        for row in result.violations:
            case = result.data.trainings[result.data.training_index[row]].cases(result.data.case_index[row : row + 1])
            data_requirement = find_requirement(relation.name, subject.find_reference(case), case)
            if not data_requirement.necessary:
                result.set_aside([row], data_requirement.reason)
    return result


@dataclass(frozen=True, eq=False)
class _LearnerCheck:
    relation: LearnerRelation
    subject: LearnerSubject
    judging: JudgingOptions
    judges_crashes: bool  # whether a crash is a violation, as it is of a relation that must hold

    def judge(
        self,
        drawn_data: TrainingBatch,
        numbers: Sequence[int],
        source_outputs: Outputs | None = None,
        done: float | None = None,
    ) -> Flow[LearnerVerdicts]:
        relation, needs_scores = self.relation, self.judging.needs_scores
        obstacles = [
            self.subject.find_data_obstacle(relation, data) or self.call("find_obstacle", self.subject.learner, data)
            for data in drawn_data.trainings
        ]
        applies = ~np.array([bool(obstacle) for obstacle in obstacles], dtype=bool)[drawn_data.training_index]
        data = drawn_data
        if relation.changes_source:
            source_outputs = None
            data = TrainingBatch(
                [
                    training
                    if obstacle
                    else self.call("source", training, self.make_rng(relation.name + " source", number))
                    for training, obstacle, number in zip(drawn_data.trainings, obstacles, numbers, strict=True)
                ]
            )
        if source_outputs is None:
            rows = np.flatnonzero(applies)
            answers = Outputs.empty()
            if len(rows):
                answers = yield Query(data.take(rows), needs_scores, note=relation.name)
            source_outputs = _expand_outputs(answers, rows, len(data), data.width)
        scores = source_outputs.scores if needs_scores else None
        result = LearnerVerdicts(
            relation=relation.name,
            data=data,
            verdicts=np.full(len(data), UNDEFINED, dtype=np.int8),
            before=source_outputs.values,
            after=to_object_array([None] * len(data)),
            expected=to_object_array([None] * len(data)),
            tied=np.zeros(len(data), dtype=bool),
            follow_up_index=np.full(len(data), -1, dtype=np.intp),
            scores_before=scores,
            scores_after=None if scores is None else np.full(scores.shape, np.nan),
        )
        for row in np.flatnonzero(~applies).tolist():
            result.set_aside([row], obstacles[drawn_data.training_index[row]])
        for failed_row, text in source_outputs.messages.items():
            if applies[failed_row]:
                result.add_failure(failed_row, f"the learner failed on the source data: {text}")
        if self.judges_crashes and (relation.any_data or (relation.changes_source and not relation.same_numbers)):
            self.judge_crashes(result, source_outputs, applies)
        groups = self.make_follow_ups(result, np.flatnonzero(source_outputs.ok & applies), numbers)
        if groups:
            follow_up_data = TrainingBatch(result.follow_ups)
            rows = np.flatnonzero(np.isin(follow_up_data.training_index, [g for g, _ in groups]))
            answers = yield Query(follow_up_data.take(rows), needs_scores, progress=done, note=relation.name)
            after = _expand_outputs(answers, rows, len(follow_up_data), follow_up_data.width)
            self.compare(result, groups, after)
        return result

    def judge_crashes(self, result: LearnerVerdicts, outputs: Outputs, applies: Mask) -> None:
        """Record that the learner crashes on its training data, which is a violation; a refusal is none."""
        for row in np.flatnonzero(~outputs.ok & applies).tolist():
            text = outputs.messages.get(row, Status(outputs.status[row]).name)
            if outputs.status[row] == Status.REFUSED:
                result.set_aside([row], f"the learner refuses the data: {text}")
                continue
            result.verdicts[row], result.follow_up_index[row] = VIOLATED, len(result.follow_ups)
            result.before[row] = result.after[row] = FailedAnswer(text)
            result.expected[row] = split_statement(self.relation.statement)[1]
            data = result.data.trainings[result.data.training_index[row]]
            result.follow_ups.append(data.cases(result.data.case_index[row : row + 1]))

    def make_follow_ups(
        self, result: LearnerVerdicts, answered_rows: Places, numbers: Sequence[int]
    ) -> list[tuple[int, Places]]:
        """Make the follow-ups of all labelled cases; return the cases of each."""
        data, groups = result.data, []
        if not len(answered_rows):
            return []
        starts = np.flatnonzero(np.diff(data.training_index[answered_rows], prepend=-1))
        for rows in np.split(answered_rows, starts[1:]):
            k = int(data.training_index[rows[0]])
            rng = self.make_rng(self.relation.name, numbers[k])
            for places in self.relation.groups(result.before[rows]):
                case_rows = rows[places]
                part = data.trainings[k]
                if len(case_rows) != len(part):
                    part = part.cases(data.case_index[case_rows])
                answer = self.relation.read_answers(result.before[case_rows])
                follow_up = self.call("follow_up", part, answer, rng)
                if follow_up is None and not self.relation.labelled:
                    result.set_aside(case_rows, NO_FOLLOW_UP_REASON)
                    continue
                if not isinstance(follow_up, Training):
                    raise TestSystemError(
                        f"follow_up() of the relation {self.relation.name!r} must return training data, such as "
                        f"data.rows(...). Got {type(follow_up).__name__}."
                    )
                expected = self.call("expected", answer, part, follow_up)
                expected = self.relation.read_expected(expected, follow_up)
                if (len(follow_up), expected.shape) != (len(case_rows), case_rows.shape):
                    raise TestSystemError(
                        f"The relation {self.relation.name!r} gave {pluralise(len(follow_up), 'test case')} and labels of "
                        f"shape {expected.shape} for {pluralise(len(case_rows), 'test case')}. It must give one for each, "
                        "in the same order."
                    )
                result.follow_up_index[case_rows], result.expected[case_rows] = len(result.follow_ups), expected
                if obstacle := self.subject.find_data_obstacle(self.relation, follow_up):
                    result.set_aside(case_rows, f"in the follow-up data, {obstacle}")
                else:
                    groups.append((len(result.follow_ups), case_rows))
                result.follow_ups.append(follow_up)
        return groups

    def compare(self, result: LearnerVerdicts, groups: list[tuple[int, Places]], after: Outputs) -> None:
        """Record the answers to the follow-ups, and judge them."""
        sizes = np.array([len(training) for training in result.follow_ups])
        starts = np.cumsum(sizes) - sizes
        rows = np.concatenate([case_rows for _, case_rows in groups])
        places = np.concatenate([starts[g] + np.arange(len(case_rows)) for g, case_rows in groups])
        result.after[rows] = after.values[places]
        as_expected = self.call("are_as_expected", result.after[rows], result.expected[rows])
        if self.subject.traits.kind == "transformer":
            magnitudes = [_find_magnitude(result.data.trainings[k]) for k in result.data.training_index[rows]]
            as_expected = _are_rows_near(result.after[rows], result.expected[rows], magnitudes)
        elif self.relation.labelled and any(
            self.subject.has_numeric_target(training) for training in result.data.trainings
        ):
            labels = [result.data.trainings[k].y for k in result.data.training_index[rows]]
            as_expected = _are_numbers_near(result.after[rows], result.expected[rows], labels)
        if self.relation.any_answer:
            as_expected = np.ones(len(rows), dtype=bool)
        result.verdicts[rows] = np.where(after.ok[places], np.where(as_expected, HOLDS, VIOLATED), UNDEFINED)
        for row, place in zip(rows.tolist(), places.tolist(), strict=True):
            text = after.messages.get(place, "")
            if after.status[place] == Status.REFUSED and not (self.judges_crashes and self.relation.same_data):
                result.set_aside([row], f"the learner refuses the follow-up data: {text}")
            elif self.judges_crashes and after.status[place] in (*CRASHES, Status.REFUSED):
                failure = FailedAnswer(text or Status(after.status[place]).name)
                result.verdicts[row], result.after[row] = VIOLATED, failure
            elif text:
                result.add_failure(row, f"the learner failed on the follow-up data: {text}")
        if result.scores_before is None or result.scores_after is None or after.scores is None:
            return
        for g, case_rows in groups:
            data, follow_up = result.data.trainings[result.data.training_index[case_rows[0]]], result.follow_ups[g]
            classes = data.declared
            names = self.call("renamed", to_object_array(classes), data, follow_up).tolist()
            new = align_scores(after.scores[starts[g] + np.arange(len(case_rows))], follow_up.declared, names)
            result.scores_after[case_rows, : len(classes)] = new
            if self.judging.strictness != "score_exact" or not self.relation.scores:
                continue
            scores = result.scores_before[case_rows, : len(classes)]
            old = self.relation.expected_scores(scores, classes, result.before[case_rows])
            if np.isnan(old).all() or np.isnan(new).all():
                if self.relation.about_scores:  # without scores such a relation cannot be judged
                    result.set_aside(case_rows, "the learner gave no scores to compare", UNDEFINED)
                continue
            close = np.isclose(old, new, rtol=SCORE_TOLERANCE, atol=SCORE_TOLERANCE, equal_nan=True).all(axis=1)
            result.verdicts[case_rows[(result.verdicts[case_rows] == HOLDS) & ~close]] = VIOLATED

    def set_random_starts_aside(self, result: LearnerVerdicts) -> Flow[None]:
        """Set violations aside in which the answers, before or after the change, are others with another seed."""
        rows, data = result.violations, result.data
        rows = rows[[not isinstance(answer, FailedAnswer) for answer in result.after[rows]]]
        if not len(rows):
            return
        with_scores = self.judging.strictness == "score_exact" and result.scores_before is not None
        sides = (result.before, result.scores_before), (result.after, result.scores_after)
        answers_by_side = [
            (row, answers[row], scores[row] if with_scores and scores is not None else None, training)
            for row in rows.tolist()
            for (answers, scores), training in zip(
                sides,
                (data.trainings[data.training_index[row]], result.follow_ups[result.follow_up_index[row]]),
                strict=True,
            )
        ]
        shifts = range(1, OTHER_SEEDS + 1)
        reseeded = [self.reseed(training, shift) for _, _, _, training in answers_by_side for shift in shifts]
        outputs = yield Query(TrainingBatch(reseeded), with_scores, note=self.relation.name)
        reason = RANDOM_STATE_REASON if self.relation.labelled else RANDOM_START_REASON
        for place, (row, answer, scores, _) in enumerate(answers_by_side):
            others = outputs.take(slice(place * OTHER_SEEDS, (place + 1) * OTHER_SEEDS))
            if self.relation.labelled:  # a learner without that parameter does not answer
                others = others.take(np.flatnonzero(others.ok))
            same = self.relation.are_as_expected(others.values, to_object_array([answer] * len(others))).all()
            if same and scores is not None and others.scores is not None:
                same = np.isclose(
                    others.scores, scores, rtol=SCORE_TOLERANCE, atol=SCORE_TOLERANCE, equal_nan=True
                ).all()
            if not same:
                result.set_aside([row], reason)

    def reseed(self, data: Training, shift: int) -> Training:
        """Return data on which the learner is trained with another seed."""
        if not self.relation.labelled:
            return replace(data, seed_shift=shift)
        seeds = [(name, seed + shift) for name, seed in find_seeds(self.subject.learner).items()]
        return replace(data, parameters=(*data.parameters, *seeds))

    def set_ties_aside(self, result: LearnerVerdicts, numbers: Sequence[int]) -> Flow[None]:
        """Set violations aside that disappear when all numbers change slightly; not where values are missing."""
        training_sets = result.data.trainings
        sets = np.array(
            [
                k
                for k in np.unique(result.data.training_index[result.violations]).tolist()
                if not training_sets[k].has_missing_values
            ],
            dtype=np.intp,
        )
        if not len(sets):
            return
        set_numbers = [numbers[k] for k in sets]
        copies = [  # the text seeds the generator
            _perturb(result.data.trainings[k], self.make_rng(f"{self.relation.name} moved {copy}", number))
            for copy in range(PERTURBED_COPIES)
            for k, number in zip(sets, set_numbers, strict=True)
        ]
        recheck = yield from self.judge(TrainingBatch(copies), set_numbers * PERTURBED_COPIES)
        case_keys = zip(recheck.data.training_index.tolist(), recheck.data.case_index.tolist(), strict=True)
        holds_by_case = dict(zip(case_keys, recheck.verdicts == HOLDS, strict=True))
        for row in result.violations[np.isin(result.data.training_index[result.violations], sets)]:
            k, case = np.searchsorted(sets, result.data.training_index[row]), result.data.case_index[row]
            hold_count = sum(holds_by_case[copy * len(sets) + k, case] for copy in range(PERTURBED_COPIES))
            if 2 * hold_count > PERTURBED_COPIES:
                result.tied[row] = True
                result.set_aside([row], TIE_REASON)

    def make_rng(self, use: str, number: int) -> np.random.Generator:
        """Return the generator of one training set for one use."""
        return np.random.default_rng([self.judging.seed, zlib.crc32(use.encode()), number])

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method of the relation; its errors name the relation."""
        try:
            return getattr(self.relation, method)(*arguments)
        except LEARNER_ERRORS as error:
            if isinstance(error, NotImplementedError | TestSystemError):
                raise
            message = f"{method}() of the relation {self.relation.name!r} failed: {format_error_line(error)}"
            raise TestSystemError(message) from error


def answer_flow(flow: Flow[Result], system: Executor) -> Result:
    """Answer a flow directly by a system, without guards, and return its result."""
    try:
        question = next(flow)
        while True:
            query = question if isinstance(question, Query) else Query(question)
            question = flow.send(system.execute(query.batch, scores=query.scores))
    except StopIteration as stop:
        return stop.value


def _expand_outputs(outputs: Outputs, rows: Places, row_count: int, width: int) -> Outputs:
    """Return outputs of some rows as outputs of all; the other rows have no answer."""
    if len(rows) == row_count:
        return outputs
    values, status = to_object_array([None] * row_count), np.full(row_count, 1, dtype=np.int8)
    values[rows], status[rows] = outputs.values, outputs.status
    scores = None
    if outputs.scores is not None:
        scores = np.full((row_count, width), np.nan)
        scores[rows] = outputs.scores
    return Outputs(values, status, scores, {int(rows[row]): text for row, text in outputs.messages.items()})


def _perturb(data: Training, rng: np.random.Generator) -> Training:
    """Return data without ties: every number is changed slightly."""
    half_widths, full_widths = compute_widths(data, 0.25, 0.75), compute_widths(data)
    widths = np.where(half_widths > 0, half_widths, full_widths)
    return data.with_numbers(data.numbers + PERTURBATION_SHARE * widths * rng.uniform(-1, 1, data.numbers.shape))


def _find_magnitude(data: Training) -> float:
    """Return the size of the greatest number, at least 1."""
    finite = np.abs(data.numbers[np.isfinite(data.numbers)])
    return max(1.0, float(finite.max(initial=0)))


def _are_rows_near(after: Array, expected: Array, magnitudes: list[float]) -> Mask:
    """Return which rows of numbers are as expected, up to rounding; other values must be equal.

    Numbers near zero may be what is left of greater ones, so that the magnitudes of the data count as well.
    """
    near = np.zeros(len(after), dtype=bool)
    for place, (row, expected_row, magnitude) in enumerate(zip(after, expected, magnitudes, strict=True)):
        if row is None or expected_row is None or len(row) != len(expected_row):
            continue
        try:
            numbers, expected_numbers = np.array(row, dtype=np.float64), np.array(expected_row, dtype=np.float64)
        except (TypeError, ValueError):  # categories
            near[place] = row == expected_row
            continue
        finite = expected_numbers[np.isfinite(expected_numbers)]
        slack = max(SCORE_TOLERANCE * np.abs(finite).max(initial=0), RESIDUE_TOLERANCE * magnitude)
        near[place] = np.isclose(numbers, expected_numbers, rtol=0, atol=slack, equal_nan=True).all()
    return near


def _are_numbers_near(after: Array, expected: Array, training_labels: list[Array]) -> Mask:
    """Return which numbers are as expected, up to rounding."""
    numbers, expected_numbers = (
        pd.to_numeric(pd.Series(column), errors="coerce").to_numpy(np.float64) for column in (after, expected)
    )
    labels = [np.asarray(y, float) for y in training_labels]
    slack = [SCORE_TOLERANCE * (np.ptp(y) + SCORE_TOLERANCE * np.abs(y).max()) for y in labels]
    rounding = RESIDUE_TOLERANCE * np.abs(expected_numbers)  # answers may be far from the targets
    return np.asarray(np.abs(numbers - expected_numbers) <= np.maximum(slack, rounding))
