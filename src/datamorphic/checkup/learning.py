"""Does the learner keep what its algorithm promises, when it is trained anew on data changed in a known way?"""

from __future__ import annotations

import time

import numpy as np

from .._checks import plural
from ..relations.base import HOLDS, UNDEFINED, VIOLATED
from ..relations.further import LEARNER_RELATIONS
from ..relations.learned import Learned, Manner, Subject
from ..relations.learning import answered, check
from ..relations.necessity import Stance, stance
from ..reports.summary import Section, Table
from ..sut.isolated import one_blas_thread
from ..sut.learner import Learner
from ..sut.training import Training, Trainings
from .checks import Check, Found, Turn
from .finding import Example, Finding
from .given import Given
from .words import plain, share, told_case

ROWS = 200  # to train on: each relation trains at least twice
CASES = 50  # to label
FITS = 6  # that a relation takes, more or less


def learning(given: Given, turn: Turn) -> Found:
    """Train the learner on some of the data, and on follow-ups of these, relation by relation."""
    assert given.truth is not None
    rng = np.random.default_rng([given.seed, 2])
    order = rng.permutation(len(given.inputs))
    cases = order[: min(CASES, len(order) // 3)]
    rows = order[len(cases) : len(cases) + ROWS]
    data = Training(
        given.inputs.take(rows).frame, given.truth[rows], given.inputs.take(cases).frame.reset_index(drop=True)
    )
    with one_blas_thread():
        return _tried(given, turn, data)


def _tried(given: Given, turn: Turn, data: Training) -> Found:
    """Put every relation to the learner that there is time for."""
    system, subject, source = Learner(given.learner, seed=given.seed), Subject(given.learner), Trainings([data])
    one = _seconds_to_learn(system, source)
    findings, body, late = [], [], 0
    for name, relation in LEARNER_RELATIONS.items():
        left = turn.left().seconds
        if left is not None and left < FITS * one:
            late += 1
            continue
        view = stance(name, given.learner, data)
        why = subject.why_not(relation, data)
        if why:
            body.append([name, relation.says, _told(view), "–", "–", why])
            continue
        manner = Manner(_how(view), seed=given.seed)
        found = answered(check(relation, subject, source, [0], manner, view=view), system)
        violated, judged = found.count(VIOLATED), found.count(VIOLATED) + found.count(HOLDS)
        note = found.message if found.count(UNDEFINED) else view.reason
        body.append([name, relation.says, _told(view), f"{judged:,}", f"{violated:,}", note])
        if violated and view.necessary:
            findings.append(_finding(name, relation.says, view.reason, found, violated, judged))
    table = Table(["relation", "promise", "for this learner", "cases", "violated", "why"], body)
    section = Section(
        "What the learner promises",
        f"Trained anew on {plural(len(data.x), 'row')} and on the same rows changed in a known way, does it label "
        f"{plural(len(data.t), 'case')} as expected? What its algorithm must keep is a fault if it is violated; the rest "
        "teaches how it behaves.",
        table=table,
    )
    if not body:
        return Found("there was no time to train the learner twice", made=False)
    rests = f"{plural(len(body), 'relation')}, trained on {plural(len(data.x), 'row')} at a time"
    return Found(rests + (f"; {late} more had no time" if late else ""), findings, [section])


def _seconds_to_learn(system: Learner, data: Trainings) -> float:
    began = time.monotonic()
    system.execute(data)  # whatever it raises is told where relations are put to it
    return time.monotonic() - began


def _how(view: Stance) -> str:
    return view.strictness if view.strictness in ("class_exact", "score_exact") else "class_exact"


def _told(view: Stance) -> str:
    return "necessary" if view.necessary else "may fail" if view.strictness == "expected_failure" else "hypothesis"


def _finding(name: str, says: str, reason: str, found: Learned, violated: int, judged: int) -> Finding:
    row = int(np.flatnonzero(found.verdicts == VIOLATED)[0])
    case = {str(column): plain(value) for column, value in found.data.each[0].t.iloc[row].items()}
    before, after, expected = (plain(values[row]) for values in (found.before, found.after, found.expected))
    words = f"{told_case(case)}: {before} before, {after} after, {expected} expected"
    return Finding(
        "learning", name, f"The learner breaks a promise of its algorithm: {says}", "fault", 0.9,
        f"{name}: {share(violated, judged)} break it. Necessary because {reason}.",
        "Look at the implementation of the learner, and at steps before it that depend on what should not matter. If "
        "something random is not fixed by a seed, fix it first.",
        violated, judged, (Example(words, case, before, {}, after),),
    )  # fmt: skip


def _why_not(given: Given) -> str:
    if given.learner is None:
        return (
            "nothing that can be trained anew, with labels, is given (an estimator of scikit-learn, and target=)"
        )
    if given.truth is None or len(given.inputs) < 12:
        return "there are too few labelled rows to train on"
    return ""


LEARNING = Check("learning", "Does the learner keep what its algorithm promises?", 4, _why_not, learning)
