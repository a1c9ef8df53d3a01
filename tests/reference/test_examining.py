"""Relations are examined in batches and waves as a plain loop does it: fit, change the data, fit again, compare."""

from __future__ import annotations

import copy
import zlib
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from datamorphic.data.knn import KNN
from datamorphic.data.naive_bayes import NaiveBayes
from datamorphic.relations.algebra.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, split_statement
from datamorphic.relations.check.learner_session import LearnerSession, prepare_outcomes
from datamorphic.relations.learners import waves as examining
from datamorphic.relations.learners.necessity import find_requirement
from datamorphic.relations.learners.sampling import draw_random_training
from datamorphic.relations.learners.sklearn import LEARNER_RELATIONS
from datamorphic.relations.learners.waves import TrainingSource
from datamorphic.runs.driver import Driver
from datamorphic.systems.training import Training

SEED = 3
EVERY = tuple(LEARNER_RELATIONS)


class Moody(KNN):
    """Refuses some training sets."""

    def fit(self, X, y):
        if len(y) % 5 == 0:
            raise RuntimeError("not today")
        return super().fit(X, y)


def whole_numbers(rng, cases):
    """Few different values: distances, and splits of votes, tie all the time."""
    rows = int(rng.integers(3, 12))
    values = rng.integers(0, 3, (rows + cases, 3)).astype(float)
    return Training(values[:rows], np.array(["a", "b", "c"])[rng.integers(3, size=rows)], values[rows:])


def framed(rng, cases):
    return draw_random_training(rng, cases, max_rows=20, framed=True)


def arrays(rng, cases):
    return draw_random_training(rng, cases, max_rows=20)


def tiny(rng, cases):
    """So few rows that smoothing tells: not even a necessary relation need hold on all of them."""
    return draw_random_training(rng, cases, max_rows=5)


# -- the plain way ---------------------------------------------------------------------------------------------


def random(use, number):
    return np.random.default_rng([SEED, zlib.crc32(use.encode()), number])


def fitted(learner, data):
    weights = {} if data.weights is None else {"sample_weight": data.weights}
    return copy.deepcopy(learner).fit(data.x, data.y, **weights)


def scores(model, data):
    """The scores of each case, by label."""
    rows = model.predict_proba(data.t).tolist()
    return [dict(zip(model.classes_.tolist(), row, strict=True)) for row in rows]


def too_little(learner, data):
    k = getattr(learner, "k", getattr(learner, "n_neighbors", 0))
    rows = data.x.toarray() if hasattr(data.x, "toarray") else np.asarray(data.x)
    return len(set(data.y.tolist())) < 2 or k > len(data.y) or len({tuple(row) for row in rows}) < 2


def shared(relation, labels):
    """The cases of each follow-up."""
    keys = {"all": lambda i: 0, "label": lambda i: labels[i], "case": lambda i: i}[relation.shares]
    groups = {}
    for i in range(len(labels)):
        groups.setdefault(keys(i), []).append(i)
    return list(groups.values())


def compared(learner, relation, data, number, strictness, necessary):
    """The verdict on each case, and its labels: before, expected, after."""
    nothing, crash = (None, None, None), "RuntimeError: not today"
    if (too_little(learner, data) and not relation.any_data) or relation.find_obstacle(learner, data):
        return [(INAPPLICABLE, *nothing)] * len(data)
    data = relation.source(data, random(relation.name + " source", number))
    try:
        model = fitted(learner, data)
        before = model.predict(data.t).astype(object)
    except RuntimeError:
        if necessary and (relation.any_data or (relation.changes_source and not relation.same_numbers)):
            return [(VIOLATED, crash, split_statement(relation.statement)[1], crash)] * len(data)
        return [(UNDEFINED, *nothing)] * len(data)
    verdicts, rng = {}, random(relation.name, number)
    for cases in shared(relation, before.tolist()):
        part = data.cases(cases)
        follow_up = relation.follow_up(part, before[cases], rng)
        expected = relation.expected(before[cases], part, follow_up)
        if too_little(learner, follow_up) and not relation.any_data:
            verdicts |= {i: (INAPPLICABLE, before[i], expected[k], None) for k, i in enumerate(cases)}
            continue
        try:
            again = fitted(learner, follow_up)
            after = again.predict(follow_up.t)
        except RuntimeError:
            failed = (VIOLATED, crash) if necessary else (UNDEFINED, None)
            verdicts |= {i: (failed[0], before[i], expected[k], failed[1]) for k, i in enumerate(cases)}
            continue
        for k, i in enumerate(cases):
            holds = relation.any_answer or after[k] == expected[k]
            if holds and relation.scores and strictness == "score_exact":
                holds = same_scores(relation, model, again, part, follow_up, before[i], k)
            verdicts[i] = (HOLDS if holds else VIOLATED, before[i], expected[k], after[k])
    return [verdicts[i] for i in range(len(data))]


def same_scores(relation, model, again, part, follow_up, label, k):
    classes, old, new = part.declared, scores(model, part)[k], scores(again, follow_up)[k]
    row = np.array([[old.get(case_class, np.nan) for case_class in classes]])
    wanted = relation.expected_scores(row, classes, np.array([label], dtype=object))[0]
    names = relation.expected(np.array(classes, dtype=object), part, follow_up)
    for want, name in zip(wanted, names, strict=True):
        got = new.get(name, np.nan)
        if np.isnan(want) != np.isnan(got) or abs(want - got) > 1e-6 + 1e-6 * abs(got):
            return False
    return True


def moved(data, rng):
    """All numbers moved by a thousandth of the middle half of their column."""
    numbers = np.concatenate([np.asarray(data.x), np.asarray(data.t)])
    low, high = np.quantile(numbers, [0.25, 0.75], axis=0)
    width = np.where(high > low, high - low, np.ptp(numbers, axis=0))
    return data.with_numbers(numbers + 1e-3 * width * rng.uniform(-1, 1, numbers.shape))


def plainly(learner, relation, view, data, number, ties):
    """What `compared` says, without violations that hang on ties and those on data where nobody promises anything."""
    strictness = prepare_outcomes([relation], {relation.name: view}, SEED)[0].judging.strictness
    verdicts = compared(learner, relation, data, number, strictness, view.necessary)
    for i, (verdict, *labels) in enumerate(verdicts):
        if verdict == VIOLATED and relation.firm and ties == "aside" and (not view.necessary or view.ties):
            copies = [moved(data, random(f"{relation.name} moved {copy}", number)) for copy in range(3)]
            violations = [
                compared(learner, relation, item, number, strictness, view.necessary)[i][0] != HOLDS for item in copies
            ]
            verdict = VIOLATED if sum(violations) >= 2 else INAPPLICABLE
        if verdict == VIOLATED and view.necessary and not find_requirement(relation.name, learner, data).necessary:
            verdict = INAPPLICABLE
        verdicts[i] = (verdict, *labels)
    return verdicts


# -- the same --------------------------------------------------------------------------------------------------


@dataclass
class Recorded(examining.LearnerRelationOutcome):
    """Keeps every verdict, by number of the training set and of the case."""

    seen: dict = field(default_factory=dict)

    def add_wave(self, result, numbers):
        super().add_wave(result, numbers)
        for row, verdict in enumerate(result.verdicts.tolist()):
            key = numbers[result.data.training_index[row]], int(result.data.case_index[row])
            self.seen[key] = judged(verdict, result.before[row], result.expected[row], result.after[row])


def judged(verdict, *labels):
    """Labels count where there is something to judge."""
    return (verdict, *labels) if verdict in (HOLDS, VIOLATED) else (verdict,)


def examined(learner, names, draw, count, cases, ties="aside", **driving):
    """Verdicts by relation, training set and case; and what they cost."""
    relations = [LEARNER_RELATIONS[name] for name in names]
    views = {name: find_requirement(name, learner) for name in names}
    tested = [
        Recorded(relation=outcome.relation, requirement=outcome.requirement, judging=outcome.judging)
        for outcome in prepare_outcomes(relations, views, SEED, ties)
    ]
    driver = Driver({"progress": False, **driving})
    exam = LearnerSession(
        learner=learner, outcomes=tested, inputs=TrainingSource(draw, count, cases, SEED), drive=driver.drive
    )
    exam.run()
    return {item.relation.name: item.seen for item in tested}, tested, driver.counter.runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "names", "draw", "count", "cases", "ties"),
    [
        (KNN(1), EVERY, arrays, 5, 1, "aside"),
        (KNN(3), EVERY, whole_numbers, 14, 4, "aside"),
        (KNN(3), EVERY, whole_numbers, 6, 1, "count"),
        (NaiveBayes(), EVERY, arrays, 5, 4, "aside"),
        (NaiveBayes(), EVERY, framed, 3, 1, "aside"),
        (NaiveBayes(), ("MR-0 subset",), tiny, 40, 1, "aside"),
        (Moody(1), ("MR-1.2", "MR-2.2", "MR-3.1", "MR-5.1", "refit"), framed, 20, 3, "aside"),
        (GaussianNB(), ("weights", "MR-3.2 odds"), arrays, 8, 4, "aside"),
        (KNeighborsClassifier(3), ("sparse", "MR-1.1"), framed, 8, 4, "count"),
    ],
    ids=lambda value: (
        getattr(value, "__name__", None) or (str(value) if isinstance(value, str | int) else type(value).__name__)
    ),
)
def test_verdict_by_verdict(learner, names, draw, count, cases, ties):
    seen, tested, _ = examined(learner, names, draw, count, cases, ties)
    assert [len(item) for item in seen.values()] == [count] * len(names)
    for item in tested:
        number, left = 0, count
        while left > 0:
            data = draw(np.random.default_rng([SEED, number]), cases).cases(slice(0, left))
            plain = plainly(learner, item.relation, item.requirement, data, number, ties)
            for case, expected in enumerate(plain):
                assert seen[item.relation.name][number, case] == judged(*expected), (item.relation.name, number, case)
            number, left = number + 1, left - len(data)


@pytest.mark.slow
def test_all_verdicts_were_among_them():
    """Or the comparison above would prove little."""
    seen, tested, _ = examined(KNN(3), EVERY, whole_numbers, 30, 4)
    counts = sum(item.counts for item in tested)
    assert (counts[[HOLDS, VIOLATED, INAPPLICABLE]] > 20).all()
    assert sum(item.tied for item in tested) > 5
    assert {verdict for item in seen.values() for verdict, *_ in item.values()} == {HOLDS, VIOLATED, INAPPLICABLE}
    seen, (refused,), _ = examined(Moody(1), ["MR-3.1"], framed, 30, 1)
    assert "the learner failed on the source data: RuntimeError: not today" in refused.messages
    assert "RuntimeError: not today" in [verdict[-1] for verdict in seen["MR-3.1"].values()]
    _, (scaled,), _ = examined(NaiveBayes(), ["MR-0 subset"], tiny, 40, 1)
    assert any("smoothing" in text for text in scaled.messages)


@pytest.mark.slow
def test_whoever_computes_and_in_whatever_portions(monkeypatch):
    how = (NaiveBayes(), ("MR-1.1", "MR-3.2 odds", "MR-4.2", "MR-NBC", "label renaming"), arrays, 13, 3)
    plain, tested, runs = examined(*how)
    assert sum(item.changed_count for item in tested)
    for driving in ({"batch": 1}, {"batch": 50}, {"engine": "processes:2", "batch": 4}):
        seen, _, cost = examined(*how, **driving)
        assert (seen, cost) == (plain, runs), driving
    for wave in (1, 7):
        monkeypatch.setattr(examining, "MAX_WAVE_CASES", wave)
        seen, again, cost = examined(*how)
        assert (seen, cost) == (plain, runs), wave
        assert [item.violations for item in again] == [item.violations for item in tested]


def test_fewer_inputs_are_the_first_of_more():
    names = ("MR-1.1", "MR-4.1", "MR-5.2")
    few, more = (examined(KNN(3), names, arrays, count, 1)[0] for count in (12, 30))
    for name in names:
        assert few[name] == {key: verdict for key, verdict in more[name].items() if key[0] < 12}


@pytest.mark.slow
def test_frames_and_arrays_of_the_same_numbers():
    names = [name for name in EVERY if name not in ("sparse", "accepts sparse", "frames")]
    as_arrays, as_frames = (examined(KNN(3), names, draw, 8, 2)[0] for draw in (arrays, framed))
    assert as_arrays == as_frames
    one = framed(np.random.default_rng(0), 2)
    assert isinstance(one.x, pd.DataFrame)
    np.testing.assert_array_equal(one.x, arrays(np.random.default_rng(0), 2).x)
