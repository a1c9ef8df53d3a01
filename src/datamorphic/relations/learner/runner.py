"""Check one relation on a learner, on many training sets at once, as a flow."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ..._text import pluralize
from ..._typing import SupportsFit
from ...errors import TestSystemError, format_error_line
from ...runs.flow import Flow, Query
from ...space.outputs import Outputs
from ...systems.base import Executor
from ...systems.learner import LEARNER_ERRORS, Learner, align_scores
from ...systems.training import Array, Places, Training, TrainingBatch
from ..base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, Mask
from .base import LearnerRelation, compute_widths, to_object_array
from .necessity import Stance, find_stance
from .result import JudgingOptions, LearnerSubject, LearnerVerdicts

Result = TypeVar("Result")
SCORE_TOLERANCE = (
    1e-6  # of their range, by which scores and numeric answers may differ: sums are taken in another order
)
PERTURBATION_SHARE = (
    1e-3  # of the middle half of a column; much less would create ties in single precision, which trees use
)
PERTURBED_COPIES = 3  # most of them must show a violation again, else it depends on a tie


def check_relation(
    relation: LearnerRelation,
    subject: LearnerSubject,
    data: TrainingBatch,
    numbers: Sequence[int],
    judging: JudgingOptions,
    *,
    source_outputs: Outputs | None = None,
    stance: Stance | None = None,
    done: float | None = None,
) -> Flow[LearnerVerdicts]:
    """Fit a learner on source and follow-up data, and judge its labels.

    Cases for which the learner raises are UNDEFINED. Violations that disappear in most slightly perturbed copies of the
    data depend on a tie. They are set aside as INAPPLICABLE, unless ``judging.ties`` is "count".

    Parameters
    ----------
    relation, subject
        The relation, and the learner.
    data : TrainingBatch
        The source data, with all their cases.
    numbers : sequence of int
        A number per training set. Together with the seed it determines the randomness of the follow-up.
    judging : JudgingOptions
        How to judge.
    source_outputs : Outputs, optional
        The answers to the source data, if they are known already.
    stance : Stance, optional
        Whether the learner must keep the relation. If it must on most data but not on some, violations on these are
        set aside as INAPPLICABLE.
    done : float, optional
        The progress to report, from 0 to 1.
    """
    result = yield from _judge(relation, subject, data, numbers, judging, source_outputs, done)
    # a comparison of distributions needs all cases, so none that differs may be left out
    if relation.firm and judging.ties == "aside" and not judging.statistical and len(result.violations):
        yield from _set_ties_aside(relation, subject, result, numbers, judging)
    if stance is not None and stance.necessary and find_stance(relation.name, subject.reference_learner).necessary:
        for row in result.violations:
            case = result.data.trainings[result.data.training_index[row]].cases(result.data.case_index[row : row + 1])
            data_stance = find_stance(relation.name, subject.reference_learner, case)
            if not data_stance.necessary:
                result.verdicts[row] = INAPPLICABLE
                result.messages[int(row)] = data_stance.reason
    return result


def _set_ties_aside(
    relation: LearnerRelation,
    subject: LearnerSubject,
    result: LearnerVerdicts,
    numbers: Sequence[int],
    judging: JudgingOptions,
) -> Flow[None]:
    """Set violations aside that disappear when all numbers change slightly."""
    suspect_rows = result.violations
    sets = np.unique(result.data.training_index[suspect_rows])
    set_numbers = [numbers[k] for k in sets]
    copies = [
        _perturb(
            result.data.trainings[k], _make_rng(judging, f"{relation.name} moved {copy}", number)
        )  # the text seeds the generator
        for copy in range(PERTURBED_COPIES)
        for k, number in zip(sets, set_numbers, strict=True)
    ]
    recheck = yield from _judge(
        relation, subject, TrainingBatch(copies), set_numbers * PERTURBED_COPIES, judging, None, None
    )
    place = {
        (int(k), int(c)): row
        for row, (k, c) in enumerate(zip(recheck.data.training_index, recheck.data.case_index, strict=True))
    }
    position = {int(k): i for i, k in enumerate(sets)}
    for row in suspect_rows:
        k, case = position[int(result.data.training_index[row])], int(result.data.case_index[row])
        hold_count = sum(
            recheck.verdicts[place[copy * len(sets) + k, case]] == HOLDS for copy in range(PERTURBED_COPIES)
        )
        if 2 * hold_count > PERTURBED_COPIES:
            result.tied[row], result.verdicts[row] = True, INAPPLICABLE
            result.messages[int(row)] = "the violation depends on a tie: it disappears when all numbers change slightly"


def _judge(
    relation: LearnerRelation,
    subject: LearnerSubject,
    drawn_data: TrainingBatch,
    numbers: Sequence[int],
    judging: JudgingOptions,
    source_outputs: Outputs | None,
    done: float | None,
) -> Flow[LearnerVerdicts]:
    has_own_source = type(relation).source is not LearnerRelation.source
    messages: dict[int, str] = {}
    verdicts = np.full(len(drawn_data), UNDEFINED, dtype=np.int8)
    obstacles = [
        subject.find_data_obstacle(relation, training) or _call_relation(relation, "why_not", subject.learner, training)
        for training in drawn_data.trainings
    ]
    for row in np.flatnonzero(np.array([bool(obstacle) for obstacle in obstacles])[drawn_data.training_index]):
        verdicts[row], messages[int(row)] = INAPPLICABLE, obstacles[drawn_data.training_index[row]]
    data = drawn_data
    if has_own_source:
        sources = [
            training
            if obstacle
            else _call_relation(relation, "source", training, _make_rng(judging, relation.name + " source", number))
            for training, obstacle, number in zip(drawn_data.trainings, obstacles, numbers, strict=True)
        ]
        data = TrainingBatch(sources)
    if has_own_source or source_outputs is None:
        applicable_rows = np.flatnonzero(verdicts != INAPPLICABLE)
        answers = (
            (yield Query(data.take(applicable_rows), judging.needs_scores, note=relation.name))
            if len(applicable_rows)
            else Outputs.empty()
        )
        source_outputs = _expand_outputs(answers, applicable_rows, len(data), data.width)
    scores = source_outputs.scores if judging.needs_scores else None
    result = LearnerVerdicts(
        relation=relation.name,
        data=data,
        verdicts=verdicts,
        before=source_outputs.values,
        after=to_object_array([None] * len(data)),
        expected=to_object_array([None] * len(data)),
        tied=np.zeros(len(data), dtype=bool),
        follow_up_index=np.full(len(data), -1, dtype=np.intp),
        scores_before=scores,
        scores_after=None if scores is None else np.full(scores.shape, np.nan),
        messages=messages,
    )
    for failed_row, text in source_outputs.messages.items():
        if verdicts[failed_row] != INAPPLICABLE:
            result.add_failure(failed_row, f"fit on the source data failed: {text}")
    groups = _make_follow_ups(
        relation, subject, result, np.flatnonzero(source_outputs.ok & (verdicts != INAPPLICABLE)), numbers, judging
    )
    if result.follow_ups and groups:
        follow_up_data = TrainingBatch(result.follow_ups)
        used_rows = np.flatnonzero(np.isin(follow_up_data.training_index, [g for g, _ in groups]))
        after = yield Query(follow_up_data.take(used_rows), judging.needs_scores, progress=done, note=relation.name)
        _compare(
            relation,
            subject,
            result,
            groups,
            _expand_outputs(after, used_rows, len(follow_up_data), follow_up_data.width),
            judging,
        )
    return result


def _make_follow_ups(
    relation: LearnerRelation,
    subject: LearnerSubject,
    result: LearnerVerdicts,
    answered_rows: Places,
    numbers: Sequence[int],
    judging: JudgingOptions,
) -> list[tuple[int, Places]]:
    """Make the follow-ups of all labelled cases; return the cases of each."""
    data, groups = result.data, []
    if not len(answered_rows):
        return []
    starts = np.flatnonzero(np.diff(data.training_index[answered_rows], prepend=-1))
    for rows in np.split(answered_rows, starts[1:]):
        k = int(data.training_index[rows[0]])
        rng = _make_rng(judging, relation.name, numbers[k])
        for places in relation.groups(result.before[rows]):
            case_rows = rows[places]
            part = (
                data.trainings[k]
                if len(case_rows) == len(data.trainings[k])
                else data.trainings[k].cases(data.case_index[case_rows])
            )
            labels = result.before[case_rows]
            follow_up = _call_relation(relation, "follow_up", part, labels, rng)
            if not isinstance(follow_up, Training):
                raise TestSystemError(
                    f"follow_up() of the relation {relation.name!r} must return training data, such as data.rows(...). "
                    f"Got {type(follow_up).__name__}."
                )
            expected = np.asarray(_call_relation(relation, "expected", labels, part, follow_up))
            if (len(follow_up), expected.shape) != (len(case_rows), case_rows.shape):
                raise TestSystemError(
                    f"The relation {relation.name!r} gave {pluralize(len(follow_up), 'test case')} and labels of shape "
                    f"{expected.shape} for {pluralize(len(case_rows), 'test case')}. It must give one for "
                    "each, in the same order."
                )
            result.follow_up_index[case_rows], result.expected[case_rows] = len(result.follow_ups), expected
            result.follow_ups.append(follow_up)
            if obstacle := subject.find_data_obstacle(relation, follow_up):
                result.verdicts[case_rows] = INAPPLICABLE
                result.messages.update(dict.fromkeys(case_rows.tolist(), f"in the follow-up data, {obstacle}"))
            else:
                groups.append((len(result.follow_ups) - 1, case_rows))
    return groups


def _compare(
    relation: LearnerRelation,
    subject: LearnerSubject,
    result: LearnerVerdicts,
    groups: list[tuple[int, Places]],
    after: Outputs,
    judging: JudgingOptions,
) -> None:
    """Enter the answers to the follow-ups, and judge them."""
    sizes = np.array([len(training) for training in result.follow_ups])
    starts = np.cumsum(sizes) - sizes
    rows = np.concatenate([case_rows for _, case_rows in groups])
    places = np.concatenate([starts[g] + np.arange(len(case_rows)) for g, case_rows in groups])
    result.after[rows] = after.values[places]
    ok = after.ok[places]
    as_expected = _is_same(result.after[rows], result.expected[rows])
    if any(subject.has_numeric_target(training) for training in result.data.trainings):
        as_expected = _is_near(
            result.after[rows],
            result.expected[rows],
            [result.data.trainings[k].y for k in result.data.training_index[rows]],
        )
    result.verdicts[rows] = np.where(ok, np.where(as_expected, HOLDS, VIOLATED), UNDEFINED)
    for row, place in zip(rows, places, strict=True):
        if place in after.messages:
            result.add_failure(int(row), f"fit on the follow-up data failed: {after.messages[place]}")
    if result.scores_before is None or result.scores_after is None or after.scores is None:
        return
    for g, case_rows in groups:
        data, follow_up = result.data.trainings[result.data.training_index[case_rows[0]]], result.follow_ups[g]
        classes = data.declared
        names = _call_relation(relation, "renamed", to_object_array(classes), data, follow_up).tolist()
        new = align_scores(after.scores[starts[g] + np.arange(len(case_rows))], follow_up.declared, names)
        result.scores_after[case_rows, : len(classes)] = new
        if judging.strictness == "score_exact" and relation.scores:
            old = relation.expected_scores(
                result.scores_before[case_rows, : len(classes)], classes, result.before[case_rows]
            )
            if np.isnan(old).all() or np.isnan(new).all():
                if relation.about_scores:  # without scores such a relation cannot be judged
                    result.verdicts[case_rows] = UNDEFINED
                    result.messages.update(dict.fromkeys(case_rows.tolist(), "the learner gave no scores to compare"))
                continue
            close = np.isclose(old, new, rtol=SCORE_TOLERANCE, atol=SCORE_TOLERANCE, equal_nan=True).all(axis=1)
            result.verdicts[case_rows[(result.verdicts[case_rows] == HOLDS) & ~close]] = VIOLATED


# -- outside a run ---------------------------------------------------------------------------------------------


def answer_flow(flow: Flow[Result], system: Executor) -> Result:
    """Answer a flow directly by a system, without guards, and return its result."""
    try:
        question = next(flow)
        while True:
            query = question if isinstance(question, Query) else Query(question)
            question = flow.send(system.execute(query.batch, scores=query.scores))
    except StopIteration as stop:
        result: Result = stop.value
        return result


def check_learner(
    learner: SupportsFit,
    relation: LearnerRelation,
    data: Training,
    rng: np.random.Generator,
    *,
    strictness: str = "class_exact",
    ties: str = "aside",
) -> LearnerVerdicts:
    """Check a relation on a learner and one training set, outside a run.

    Examples
    --------
    >>> from datamorphic.relations.learner.sklearn import LEARNER_RELATIONS
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> x = np.array([[1.0, 3.0], [2.0, 1.0], [8.0, 7.0]])
    >>> data, rng = Training(x, np.array(["low", "low", "high"]), x + 0.4), np.random.default_rng(0)
    >>> check_learner(KNeighborsClassifier(1), LEARNER_RELATIONS["MR-1.2"], data, rng).after
    array(['low', 'low', 'high'], dtype=object)
    """
    seed, number = (int(value) for value in rng.integers(2**31, size=2))
    system = Learner(learner, seed=seed)
    flow = check_relation(
        relation, LearnerSubject(learner), TrainingBatch([data]), [number], JudgingOptions(strictness, ties, seed)
    )
    return answer_flow(flow, system)


# -- helpers ---------------------------------------------------------------------------------------------------


def _make_rng(judging: JudgingOptions, use: str, number: int) -> np.random.Generator:
    """Return the generator of one training set for one use."""
    return np.random.default_rng([judging.seed, zlib.crc32(use.encode()), number])


def _call_relation(relation: LearnerRelation, method: str, *arguments: Any) -> Any:
    try:
        return getattr(relation, method)(*arguments)
    except LEARNER_ERRORS as error:
        if isinstance(error, NotImplementedError | TestSystemError):
            raise
        raise TestSystemError(
            f"{method}() of the relation {relation.name!r} failed: {format_error_line(error)}"
        ) from error


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
    shifts = (
        PERTURBATION_SHARE
        * np.where(half_widths > 0, half_widths, full_widths)
        * rng.uniform(-1, 1, data.numbers.shape)
    )
    return data.with_numbers(data.numbers + shifts)


def _is_same(after: Array, expected: Array) -> Mask:
    return np.asarray(after == expected, dtype=bool)


def _is_near(after: Array, expected: Array, training_labels: list[Array]) -> Mask:
    """Return which numbers are as expected, up to rounding."""
    import pandas as pd

    numbers, expected_numbers = (
        pd.to_numeric(pd.Series(column), errors="coerce").to_numpy(np.float64) for column in (after, expected)
    )
    slack = np.array(
        [
            SCORE_TOLERANCE * (np.ptp(y) + SCORE_TOLERANCE * np.abs(y).max())
            for y in (np.asarray(y, float) for y in training_labels)
        ]
    )
    return np.asarray(np.abs(numbers - expected_numbers) <= slack)
