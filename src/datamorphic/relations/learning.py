"""A relation put to a learner, on many training sets at once: as a flow, which whoever drives it counts and guards."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from .._checks import plural
from ..errors import TestSystemError, told
from ..outputs import Outputs
from ..strategies.flow import Flow, Question
from ..sut.base import Executor
from ..sut.learner import FAILURES, Learner, aligned
from ..sut.training import Array, Places, Training, Trainings
from .base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, Mask
from .learned import Learned, Manner, Subject
from .learners import LearnerRelation, objects, widths
from .necessity import Stance, stance

Result = TypeVar("Result")
SUMS = 1e-6  # scores and real answers may differ by so much of their range: sums are taken in another order
HAIR = 1e-3  # of a column's middle half; much less makes new ties in single precision, which trees use
COPIES = 3  # with all numbers moved by a hair; most must show a violation again


def check(
    relation: LearnerRelation,
    subject: Subject,
    data: Trainings,
    numbers: Sequence[int],
    manner: Manner,
    *,
    known: Outputs | None = None,
    view: Stance | None = None,
    done: float | None = None,
) -> Flow[Learned]:
    """Fit a learner on data and on their follow-ups, and judge its labels; where it raises: UNDEFINED.

    Parameters
    ----------
    relation, subject
        What is promised, and by whom.
    data : Trainings
        The source data, with all their cases.
    numbers : sequence of int
        For each training set a number of its own: what is random about its follow-up depends on this and the seed.
    manner : Manner
        How it is judged.
    known : Outputs, optional
        The answers to the source data, where they have been asked for already.
    view : Stance, optional
        Whether the learner must keep the relation. If it must on most data but not on some, violations on these are
        set aside as INAPPLICABLE.

    Violations that are gone in most copies of the data with all numbers moved by a hair hang on a tie: they are set
    aside as INAPPLICABLE, unless ``manner.ties`` is "count".
    """
    found = yield from _judged(relation, subject, data, numbers, manner, known, done)
    # cases that are compared as many are all needed: those that differ may not be left out
    if relation.firm and manner.ties == "aside" and not manner.statistical and len(found.violations):
        yield from _without_ties(relation, subject, found, numbers, manner)
    if view is not None and view.necessary and stance(relation.name, subject.known).necessary:
        for row in found.violations:
            case = found.data.each[found.data.which[row]].cases(found.data.case[row : row + 1])
            on_these = stance(relation.name, subject.known, case)
            if not on_these.necessary:
                found.verdicts[row] = INAPPLICABLE
                found.messages[int(row)] = on_these.reason
    return found


def _without_ties(
    relation: LearnerRelation, subject: Subject, found: Learned, numbers: Sequence[int], manner: Manner
) -> Flow[None]:
    """Set violations aside that are gone when all numbers are moved by a hair."""
    doubted = found.violations
    sets = np.unique(found.data.which[doubted])
    asked = [numbers[k] for k in sets]
    copies = [
        _moved(found.data.each[k], _random(manner, f"{relation.name} moved {copy}", number))
        for copy in range(COPIES)
        for k, number in zip(sets, asked, strict=True)
    ]
    again = yield from _judged(relation, subject, Trainings(copies), asked * COPIES, manner, None, None)
    place = {
        (int(k), int(c)): row for row, (k, c) in enumerate(zip(again.data.which, again.data.case, strict=True))
    }
    position = {int(k): i for i, k in enumerate(sets)}
    for row in doubted:
        k, case = position[int(found.data.which[row])], int(found.data.case[row])
        held = sum(again.verdicts[place[copy * len(sets) + k, case]] == HOLDS for copy in range(COPIES))
        if 2 * held > COPIES:
            found.tied[row], found.verdicts[row] = True, INAPPLICABLE
            found.messages[int(row)] = "it hangs on a tie: numbers moved by a hair do not show it"


def _judged(
    relation: LearnerRelation,
    subject: Subject,
    drawn: Trainings,
    numbers: Sequence[int],
    manner: Manner,
    known: Outputs | None,
    done: float | None,
) -> Flow[Learned]:
    own = type(relation).source is not LearnerRelation.source
    messages: dict[int, str] = {}
    verdicts = np.full(len(drawn), UNDEFINED, dtype=np.int8)
    silent = [
        subject.too_little(relation, each) or _called(relation, "why_not", subject.learner, each)
        for each in drawn.each
    ]
    for row in np.flatnonzero(np.array([bool(why) for why in silent])[drawn.which]):
        verdicts[row], messages[int(row)] = INAPPLICABLE, silent[drawn.which[row]]
    data = drawn
    if own:
        sources = [
            each if why else _called(relation, "source", each, _random(manner, relation.name + " source", number))
            for each, why, number in zip(drawn.each, silent, numbers, strict=True)
        ]
        data = Trainings(sources)
    if own or known is None:
        spoken = np.flatnonzero(verdicts != INAPPLICABLE)
        answers = (
            (yield Question(data.take(spoken), manner.scored, note=relation.name))
            if len(spoken)
            else Outputs.empty()
        )
        known = _spread(answers, spoken, len(data), data.width)
    before = known.values
    messages |= {
        row: f"fitted on the source data: {text}"
        for row, text in known.messages.items()
        if verdicts[row] != INAPPLICABLE
    }
    scores = known.scores if manner.scored else None
    found = Learned(
        relation.name, data, verdicts, before, objects([None] * len(data)), objects([None] * len(data)),
        np.zeros(len(data), dtype=bool), np.full(len(data), -1, dtype=np.intp),
        scores_before=scores, scores_after=None if scores is None else np.full(scores.shape, np.nan), messages=messages,
    )  # fmt: skip
    groups = _follow_ups(
        relation, subject, found, np.flatnonzero(known.ok & (verdicts != INAPPLICABLE)), numbers, manner
    )
    if found.made and groups:
        asked = Trainings(found.made)
        used = np.flatnonzero(np.isin(asked.which, [g for g, _ in groups]))
        after = yield Question(asked.take(used), manner.scored, done=done, note=relation.name)
        _compare(relation, subject, found, groups, _spread(after, used, len(asked), asked.width), manner)
    return found


def _follow_ups(
    relation: LearnerRelation,
    subject: Subject,
    found: Learned,
    answered: Places,
    numbers: Sequence[int],
    manner: Manner,
) -> list[tuple[int, Places]]:
    """Make the follow-ups of all cases that have a label; return them by number, each with its cases."""
    data, groups = found.data, []
    starts = np.flatnonzero(np.diff(data.which[answered], prepend=-1)) if len(answered) else answered
    for rows in np.split(answered, starts[1:]) if len(answered) else []:
        k = int(data.which[rows[0]])
        rng = _random(manner, relation.name, numbers[k])
        for places in relation.groups(found.before[rows]):
            own = rows[places]
            part = data.each[k] if len(own) == len(data.each[k]) else data.each[k].cases(data.case[own])
            labels = found.before[own]
            made = _called(relation, "follow_up", part, labels, rng)
            if not isinstance(made, Training):
                raise TestSystemError(
                    f"follow_up() of the relation {relation.name!r} must return training data, as data.rows() and the like "
                    f"give them. Got {type(made).__name__}."
                )
            expected = np.asarray(_called(relation, "expected", labels, part, made))
            if (len(made), expected.shape) != (len(own), own.shape):
                raise TestSystemError(
                    f"The relation {relation.name!r} gave {plural(len(made), 'test case')} and labels of shape "
                    f"{expected.shape} for {plural(len(own), 'test case')}. It must give one for each, in the same order."
                )
            found.follow_up[own], found.expected[own] = len(found.made), expected
            found.made.append(made)
            if why := subject.too_little(relation, made):
                found.verdicts[own] = INAPPLICABLE
                found.messages.update(dict.fromkeys(own.tolist(), f"of the follow-up data, {why}"))
            else:
                groups.append((len(found.made) - 1, own))
    return groups


def _compare(
    relation: LearnerRelation,
    subject: Subject,
    found: Learned,
    groups: list[tuple[int, Places]],
    after: Outputs,
    manner: Manner,
) -> None:
    """Enter the answers to the follow-ups, and the verdicts."""
    sizes = np.array([len(made) for made in found.made])
    starts = np.cumsum(sizes) - sizes
    rows = np.concatenate([own for _, own in groups])
    places = np.concatenate([starts[g] + np.arange(len(own)) for g, own in groups])
    found.after[rows] = after.values[places]
    ok = after.ok[places]
    kept = _same(found.after[rows], found.expected[rows])
    if any(subject.learns_numbers(each) for each in found.data.each):
        kept = _near(
            found.after[rows], found.expected[rows], [found.data.each[k].y for k in found.data.which[rows]]
        )
    found.verdicts[rows] = np.where(ok, np.where(kept, HOLDS, VIOLATED), UNDEFINED)
    for row, place in zip(rows, places, strict=True):
        if place in after.messages:
            found.messages[int(row)] = f"fitted on the follow-up data: {after.messages[place]}"
    if found.scores_before is None or found.scores_after is None or after.scores is None:
        return
    for g, own in groups:
        data, made = found.data.each[found.data.which[own[0]]], found.made[g]
        classes = data.declared
        names = _called(relation, "renamed", objects(classes), data, made).tolist()
        new = aligned(after.scores[starts[g] + np.arange(len(own))], made.declared, names)
        found.scores_after[own, : len(classes)] = new
        if manner.strictness == "score_exact" and relation.scores:
            old = relation.expected_scores(found.scores_before[own, : len(classes)], classes, found.before[own])
            if np.isnan(old).all() or np.isnan(new).all():
                if relation.about_scores:  # labels are answers without scores, but here scores are all
                    found.verdicts[own] = UNDEFINED
                    found.messages.update(dict.fromkeys(own.tolist(), "the learner gave no scores to compare"))
                continue
            close = np.isclose(old, new, rtol=SUMS, atol=SUMS, equal_nan=True).all(axis=1)
            found.verdicts[own[(found.verdicts[own] == HOLDS) & ~close]] = VIOLATED


# -- without a run ---------------------------------------------------------------------------------------------


def answered(flow: Flow[Result], system: Executor) -> Result:
    """Answer a flow with nothing around the system, and return its result."""
    try:
        question = next(flow)
        while True:
            asked = question if isinstance(question, Question) else Question(question)
            question = flow.send(system.execute(asked.batch, scores=asked.scores))
    except StopIteration as stop:
        result: Result = stop.value
        return result


def check_learner(
    learner: Any,
    relation: LearnerRelation,
    data: Training,
    rng: np.random.Generator,
    *,
    strictness: str = "class_exact",
    ties: str = "aside",
) -> Learned:
    """Put a relation to a learner on one training set, here and now.

    Examples
    --------
    >>> from datamorphic.relations.further import LEARNER_RELATIONS
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> x = np.array([[1.0, 3.0], [2.0, 1.0], [8.0, 7.0]])
    >>> data, rng = Training(x, np.array(["low", "low", "high"]), x + 0.4), np.random.default_rng(0)
    >>> check_learner(KNeighborsClassifier(1), LEARNER_RELATIONS["MR-1.2"], data, rng).after
    array(['low', 'low', 'high'], dtype=object)
    """
    seed, number = (int(each) for each in rng.integers(2**31, size=2))
    system = Learner(learner, seed=seed)
    flow = check(relation, Subject(learner), Trainings([data]), [number], Manner(strictness, ties, seed))
    return answered(flow, system)


# -- small things ----------------------------------------------------------------------------------------------


def _random(manner: Manner, use: str, number: int) -> np.random.Generator:
    """Return the random numbers of one training set for one use: the same whatever else is asked, and in which order."""
    return np.random.default_rng([manner.seed, zlib.crc32(use.encode()), number])


def _called(relation: LearnerRelation, method: str, *given: Any) -> Any:
    try:
        return getattr(relation, method)(*given)
    except FAILURES as error:
        if isinstance(error, NotImplementedError | TestSystemError):
            raise
        raise TestSystemError(f"{method}() of the relation {relation.name!r} failed: {told(error)}") from error


def _spread(outputs: Outputs, rows: Places, many: int, width: int) -> Outputs:
    """Return outputs of some rows as outputs of all; the others have no answer."""
    if len(rows) == many:
        return outputs
    values, status = objects([None] * many), np.full(many, 1, dtype=np.int8)
    values[rows], status[rows] = outputs.values, outputs.status
    scores = None
    if outputs.scores is not None:
        scores = np.full((many, width), np.nan)
        scores[rows] = outputs.scores
    return Outputs(values, status, scores, {int(rows[row]): text for row, text in outputs.messages.items()})


def _moved(data: Training, rng: np.random.Generator) -> Training:
    """Return data without ties: every number is moved by a hair."""
    half, whole = widths(data, 0.25, 0.75), widths(data)
    hair = HAIR * np.where(half > 0, half, whole) * rng.uniform(-1, 1, data.numbers.shape)
    return data.with_numbers(data.numbers + hair)


def _same(after: Array, expected: Array) -> Mask:
    return np.asarray(after == expected, dtype=bool)


def _near(after: Array, expected: Array, learnt: list[Array]) -> Mask:
    """Tell which numbers are as expected, but for rounding."""
    import pandas as pd

    answer, wanted = (
        pd.to_numeric(pd.Series(each), errors="coerce").to_numpy(np.float64) for each in (after, expected)
    )
    slack = np.array([SUMS * (np.ptp(y) + SUMS * np.abs(y).max()) for y in (np.asarray(y, float) for y in learnt)])
    return np.asarray(np.abs(answer - wanted) <= slack)
