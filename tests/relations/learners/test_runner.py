"""Training-time relations: how follow-ups are made, how they are judged, and what learners must keep."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from datamorphic.errors import UsageError
from datamorphic.relations.algebra.base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED
from datamorphic.relations.learners.base import LearnerRelation
from datamorphic.relations.learners.necessity import find_requirement
from datamorphic.relations.learners.result import JudgingOptions, LearnerSubject
from datamorphic.relations.learners.runner import answer_flow, check_relation
from datamorphic.relations.learners.sampling import draw_random_training
from datamorphic.relations.learners.sklearn import LEARNER_RELATIONS
from datamorphic.systems.learner import Learner as LearnerSystem
from datamorphic.systems.training import Training, TrainingBatch
from support.cases import LONG, in_one_test

# -- data ------------------------------------------------------------------------------------------------------


def random_frames(rng, cases=1):
    """The random data model of the published study, as frames."""
    data = draw_random_training(rng, cases, min_rows=2)
    x, t = (pd.DataFrame(item, columns=list("abcd")) for item in (data.x, data.t))
    return Training(x, data.y, t)


def whole_numbers(rng, rows=30, cases=10):
    """Few different values: distances tie all the time."""
    values = pd.DataFrame(rng.integers(0, 4, (rows + cases, 3)), columns=list("abc"))
    return Training(values[:rows], rng.integers(3, size=rows), values[rows:].reset_index(drop=True))


def check_learner(learner, relation, data, rng, strictness="class_exact", ties="aside"):
    """Check a relation on a learner and one training set, outside a run."""
    seed, number = (int(value) for value in rng.integers(2**31, size=2))
    judging = JudgingOptions(strictness, ties, seed)
    flow = check_relation(relation, LearnerSubject(learner), TrainingBatch([data]), [number], judging)
    return answer_flow(flow, LearnerSystem(learner, seed=seed))


def check(learner, name, data, seed=0, **options):
    return check_learner(learner, LEARNER_RELATIONS[name], data, np.random.default_rng(seed), **options)


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Threads that wait for each other take longer than these small fits."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def data():
    return random_frames(np.random.default_rng(4), cases=8)


# -- follow-ups ------------------------------------------------------------------------------------------------


def make_follow_up(name, data, labels=None, seed=1):
    labels = np.repeat(data.y[:1], len(data.t)) if labels is None else labels
    return LEARNER_RELATIONS[name].follow_up(data, labels, np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(5))
def test_one_map_for_all_numbers(data, seed):
    follow = make_follow_up("MR-0", data, seed=seed)
    before, after = data.numbers, follow.numbers
    k, b = np.polyfit(before.ravel(), after.ravel(), 1)
    np.testing.assert_allclose(after, k * before + b)
    assert 0.5 <= k <= 0.8 or 1.25 <= k <= 2
    assert abs(b) > 0.1
    assert follow.y.tolist() == data.y.tolist()


def test_only_numbers_are_mapped_and_narrow_columns_keep_their_digits():
    x = pd.DataFrame(
        {"wide": [0, 10**6, 5], "narrow": [0.1, 0.2, 0.3], "c": ["u", "v", "u"], "flag": [True, False, True]}
    )
    follow = make_follow_up("MR-0", Training(x, np.array([0, 1, 0]), x))
    pd.testing.assert_frame_equal(follow.x[["c", "flag"]], x[["c", "flag"]])
    assert abs(follow.x["narrow"]).max() < 1
    pd.testing.assert_frame_equal(follow.x, follow.t)


@pytest.mark.parametrize("seed", range(5))
def test_labels_are_permuted_one_to_one(data, seed):
    follow = make_follow_up("MR-1.1", data, seed=seed)
    pairs = set(zip(data.y.tolist(), follow.y.tolist(), strict=True))
    assert len(pairs) == len(data.classes) == len({new for _, new in pairs})
    assert any(old != new for old, new in pairs)
    relation = LEARNER_RELATIONS["MR-1.1"]
    labels = np.array([*data.classes, "never seen"], dtype=object)
    assert relation.expected(labels, data, follow).tolist() == [*(dict(pairs)[c] for c in data.classes), "never seen"]


@pytest.mark.parametrize("labels", [[3, 1, 2], ["c", "a", "b"], [True, False, True], [2.0, -1.0, 0.0]])
def test_new_names_sort_as_the_old_ones(labels):
    x = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    follow = make_follow_up("label renaming", Training(x, np.array(labels), x))
    assert not set(labels) & set(follow.y.tolist())
    ranks = [np.unique(y, return_inverse=True)[1].tolist() for y in (labels, follow.y)]
    assert ranks[0] == ranks[1]


def test_many_names_sort_as_the_old_ones():
    x = pd.DataFrame({"a": np.arange(120.0)})
    follow = make_follow_up("label renaming", Training(x, np.arange(120), x))
    assert sorted(follow.y) == follow.y.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_rows_and_columns_in_another_order(data, seed):
    columns = make_follow_up("MR-1.2", data, seed=seed)
    assert list(columns.x) == list(columns.t) != list(data.x)
    pd.testing.assert_frame_equal(columns.x[list(data.x)], data.x)
    rows = make_follow_up("sample order", data, seed=seed)
    assert not rows.x.equals(data.x)
    whole = [item.x.assign(y=item.y).sort_values("a", ignore_index=True) for item in (rows, data)]
    pd.testing.assert_frame_equal(*whole)


@pytest.mark.parametrize("names", [["constant", "constant_"], [0, 1]])
def test_a_constant_attribute_is_added(names):
    x = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], columns=names)
    follow = make_follow_up("MR-2.1", Training(x, np.array([0, 1]), x[:1]))
    pd.testing.assert_frame_equal(follow.x.iloc[:, :2], x)
    values = {*follow.x.iloc[:, 2], *follow.t.iloc[:, 2]}
    assert len(values) == 1
    assert values <= {1.0, 2.0, 3.0, 4.0}
    assert len({type(name) for name in follow.x}) == 1 == check(KNeighborsClassifier(1), "MR-2.1", follow).count(HOLDS)


def test_rows_of_the_predicted_class_are_doubled(data):
    follow = make_follow_up("MR-3.2", data, np.repeat("L1", len(data.t)))
    before, after = (Counter(map(tuple, item.x.assign(y=item.y).to_numpy())) for item in (data, follow))
    assert set(before) == set(after)
    assert all(after[row] == before[row] * (2 if row[-1] == "L1" else 1) for row in before)


@pytest.mark.parametrize("seed", range(5))
def test_numbers_are_mirrored_and_some_attributes_mapped(data, seed):
    before, after = data.numbers, make_follow_up("MR-0 mirrored", data, seed=seed).numbers
    k, b = np.polyfit(before.ravel(), after.ravel(), 1)
    np.testing.assert_allclose(after, k * before + b)
    assert -2 <= k <= -0.5
    after = make_follow_up("MR-0 subset", data, seed=seed).numbers
    changed = (before != after).all(axis=0)
    assert 0 < changed.sum() < 4
    assert (before == after).all(axis=0).tolist() == (~changed).tolist()
    k, b = np.polyfit(before[:, changed].ravel(), after[:, changed].ravel(), 1)
    np.testing.assert_allclose(after[:, changed], k * before[:, changed] + b)


@in_one_test("name", ["MR-2.2", "MR-2.2 shared"])
@in_one_test("seed", range(3))
def test_an_informative_attribute_is_added(data, name, seed):
    follow = make_follow_up(name, data, np.repeat("L1", len(data.t)), seed=seed)
    pd.testing.assert_frame_equal(follow.x.iloc[:, :4], data.x)
    values = dict(zip(follow.y, follow.x.iloc[:, 4], strict=True))
    assert [values[label] for label in follow.y] == follow.x.iloc[:, 4].tolist()
    assert set(follow.t.iloc[:, 4]) == {values["L1"]}
    assert len(set(values.values())) == (2 if name.endswith("shared") else 3)
    apart = [abs(values[label] - values["L1"]) for label in ("L0", "L2")]
    assert min(apart) > 0.15 * np.ptp(data.numbers)


def test_the_case_becomes_a_row(data):
    outcome = check(KNeighborsClassifier(1), "MR-3.1", data)
    for case, follow in enumerate(outcome.follow_ups):
        assert follow.x.iloc[-1].tolist() == data.t.iloc[case].tolist() == follow.t.iloc[0].tolist()
        assert follow.y.tolist() == [*data.y, outcome.before[case]]


def test_odds_are_doubled():
    expected = LEARNER_RELATIONS["MR-3.2 odds"].expected_scores
    scores = expected(np.array([[0.5, 0.3, 0.2], [1.0, 0.0, np.nan]]), ["a", "b", "c"], np.array(["a", "a"]))
    np.testing.assert_allclose(scores, [[1 / 1.5, 0.3 / 1.5, 0.2 / 1.5], [1, 0, np.nan]])


@in_one_test("name", ["MR-4.1", "MR-4.1 subset"])
@in_one_test("seed", range(4))
def test_other_classes_are_copied_with_new_labels(data, name, seed):
    follow = make_follow_up(name, data, np.repeat("L1", len(data.t)), seed=seed)
    n = len(data.y)
    assert follow.y[:n].tolist() == data.y.tolist()
    new = set(follow.y[n:])
    assert new == {"L0*", "L2*"} if name == "MR-4.1" else len(new) > 0 and new <= {"L0*", "L2*"}
    for label in new:
        np.testing.assert_array_equal(follow.x[follow.y == label], data.x[data.y == label[:2]])


def test_new_labels_are_new():
    x = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    follow = make_follow_up("MR-4.1", Training(x, np.array(["B", "B*", "A"]), x[:1]), np.array(["A"]))
    assert len(set(follow.y[3:])) == 2
    assert not set(follow.y[3:]) & {"A", "B", "B*"}
    follow = make_follow_up("MR-4.1", Training(x, np.array([1, 7, 3]), x[:1]), np.array([1]))
    assert sorted(follow.y.tolist()) == [1, 3, 7, 8, 9]
    flags = Training(x, np.array([True, False, True]), x[:1])
    assert "texts and numbers" in check(Learner(), "MR-4.2", flags).message


@pytest.mark.parametrize("seed", range(4))
def test_some_rows_of_others_are_relabelled_or_removed(data, seed):
    labels = np.repeat("L1", len(data.t))
    follow = make_follow_up("MR-4.2", data, labels, seed=seed)
    pd.testing.assert_frame_equal(follow.x, data.x)
    changed = follow.y != data.y
    assert 0 < changed.sum() < (data.y != "L1").sum()
    assert all(new == old + "*" and old != "L1" for new, old in zip(follow.y[changed], data.y[changed], strict=True))
    whole = make_follow_up("MR-5.1", data, labels, seed=seed)
    (gone,) = set(data.y) - set(whole.y)
    assert gone != "L1"
    np.testing.assert_array_equal(whole.x, data.x[data.y != gone])
    part = make_follow_up("MR-5.2", data, labels, seed=seed)
    before, after = (Counter(map(tuple, item.x.assign(y=item.y).to_numpy())) for item in (data, part))
    assert 0 < len(data.y) - len(part.y) < (data.y != "L1").sum()
    assert after <= before
    assert {row[-1] for row in before - after} <= {"L0", "L2"}


@in_one_test("seed", range(4))
@in_one_test("framed", [True, False])
def test_values_are_exchanged_within_a_class(data, seed, framed):
    training = data if framed else Training(data.x.to_numpy(), data.y, data.t.to_numpy())
    follow = make_follow_up("MR-NBC", training, seed=seed)
    changed = np.asarray(follow.x) != np.asarray(training.x)
    assert changed.any(axis=0).sum() == 1
    assert len(set(data.y[changed.any(axis=1)])) == 1
    for label in data.classes:
        rows = [np.sort(np.asarray(item.x)[data.y == label], axis=0) for item in (training, follow)]
        np.testing.assert_array_equal(*rows)


def test_weights_and_sparse_matrices(data):
    rng = np.random.default_rng(0)
    source = LEARNER_RELATIONS["weights"].source(data, rng)
    assert set(source.weights) == {1.0, 2.0}
    follow = make_follow_up("weights", source)
    assert follow.weights is None
    counts = Counter(follow.x["a"])
    assert [counts[value] for value in data.x["a"]] == source.weights.tolist()
    source = LEARNER_RELATIONS["sparse"].source(data, rng)
    follow = make_follow_up("sparse", source)
    for part in ("x", "t"):
        np.testing.assert_array_equal(getattr(follow, part).toarray(), getattr(data, part))
    assert "not accept sample_weight" in check(KNeighborsClassifier(1), "weights", data).message
    assert "sparse" in check(GaussianNB(), "sparse", data).message


def test_test_cases_share_a_follow_up_by_their_label(data):
    outcome = check(KNeighborsClassifier(1), "MR-3.2", data)
    assert len(outcome.follow_ups) == len(set(outcome.before)) > 1
    for case, label in enumerate(outcome.before):
        assert (outcome.follow_ups[outcome.follow_up_index[case]].y == label).sum() == 2 * (data.y == label).sum()
    # all at once or one by one, the verdicts are the same
    for case in range(len(data.t)):
        alone = check(KNeighborsClassifier(1), "MR-3.2", Training(data.x, data.y, data.t[case : case + 1]))
        assert (alone.before[0], alone.after[0]) == (outcome.before[case], outcome.after[case])


# -- judging ---------------------------------------------------------------------------------------------------


class Learner(ClassifierMixin, BaseEstimator):
    """A right kNN with k = 1, plain enough to be made wrong in one place."""

    def fit(self, x, y):
        self.x, self.y, self.classes_ = np.asarray(x, dtype=float), np.asarray(y), np.unique(y)
        return self

    def distances(self, case):
        return ((self.x - case) ** 2).sum(axis=1)

    def predict(self, t):
        return self.y[[self.distances(case).argmin() for case in np.asarray(t, dtype=float)]]


class Random(Learner):
    def fit(self, x, y):
        return super().fit(x, np.random.default_rng().permutation(y))  # whatever anybody seeds


class Seeded(Learner):
    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, x, y):
        return super().fit(x, np.random.default_rng(self.random_state).permutation(y))


@pytest.mark.slow
def test_verdicts_equal_those_of_two_plain_fits(data):
    """With ties counted, a verdict is nothing but a comparison."""
    learner = KNeighborsClassifier(3)
    for seed in range(10 if LONG else 3):
        outcome = check(learner, "MR-1.1", data, seed, ties="count")
        follow = outcome.follow_ups[0]
        renamed = dict(zip(data.y, follow.y, strict=True))
        before = KNeighborsClassifier(3).fit(data.x, data.y).predict(data.t)
        after = KNeighborsClassifier(3).fit(follow.x, follow.y).predict(follow.t)
        assert outcome.before.tolist() == before.tolist()
        assert outcome.after.tolist() == after.tolist()
        assert (outcome.verdicts == VIOLATED).tolist() == [renamed[b] != a for b, a in zip(before, after, strict=True)]


def test_scores_are_of_the_same_class_before_and_after(data):
    outcome = check(GaussianNB(), "MR-1.1", data, strictness="score_exact")
    assert outcome.before.tolist() != outcome.after.tolist()
    np.testing.assert_allclose(outcome.scores_before, outcome.scores_after, atol=1e-9)


@pytest.mark.slow
def test_scores_count_where_they_are_asked_for(data):
    class Unsure(Learner):
        def predict_proba(self, t):
            first = 0.5 + 0.1 * (self.x[0, 0] > self.x[-1, 0])
            return np.tile([first, 1 - first, 0.0], (len(t), 1))

    relation = LEARNER_RELATIONS["sample order"]
    counts = Counter()
    for number in range(20):
        rng = np.random.default_rng(number)
        outcome = check_learner(Unsure(), relation, data, rng, strictness="score_exact")
        changed = not np.allclose(outcome.scores_before, outcome.scores_after)
        counts[changed] += 1
        assert outcome.count(VIOLATED) == changed * len(data.t)
        assert check_learner(Unsure(), relation, data, np.random.default_rng(number)).count(VIOLATED) == 0
    assert len(counts) == 2


def test_random_state_is_fixed_if_the_learner_has_one(data):
    assert check(Seeded(), "refit", data).count(HOLDS) == len(data.t)
    assert check(make_pipeline(StandardScaler(), Seeded()), "refit", data).count(HOLDS) == len(data.t)
    assert sum(check(Random(), "refit", data, seed).count(VIOLATED) for seed in range(5)) > 5
    learner = Seeded()
    check(learner, "refit", data)
    assert learner.random_state is None
    assert not hasattr(learner, "x")


@pytest.mark.slow
def test_same_seed_same_result(data):
    learner = RandomForestClassifier(3)
    first, second = (check(learner, "sample order", data, 5) for _ in range(2))
    assert first.verdicts.tolist() == second.verdicts.tolist()
    assert first.after.tolist() == second.after.tolist()
    pd.testing.assert_frame_equal(first.follow_ups[0].x, second.follow_ups[0].x)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MR-0", "sample order"])
def test_ties_are_set_aside_and_reported(name):
    """Of neighbours at equal distance one is taken by chance: that is no fault of kNN."""
    tied = counted = 0
    for seed in range(4 if LONG else 2):
        data = whole_numbers(np.random.default_rng(seed))
        outcome = check(KNeighborsClassifier(3), name, data, seed)
        strict = check(KNeighborsClassifier(3), name, data, seed, ties="count")
        assert outcome.count(VIOLATED) == 0
        assert (outcome.verdicts[outcome.tied] == INAPPLICABLE).all()
        assert outcome.tied.tolist() == (strict.verdicts == VIOLATED).tolist()
        tied, counted = tied + outcome.tied.sum(), counted + strict.count(VIOLATED)
    assert tied == counted > 0


def test_a_fault_is_not_mistaken_for_a_tie():
    """What is wrong on tied data stays wrong when numbers are moved by a hair."""

    class LastAttribute(Learner):
        def distances(self, case):
            return (self.x[:, -1] - case[-1]) ** 2

    outcomes = [check(LastAttribute(), "MR-1.2", whole_numbers(np.random.default_rng(seed)), seed) for seed in range(5)]
    assert sum(item.count(VIOLATED) for item in outcomes) > 2 * sum(item.tied.sum() for item in outcomes)


def test_answers_by_position_are_not_mistaken_for_ties(data):
    """A copy of the data asks for all test cases, though only some are in doubt."""

    class ByPlace(Learner):
        def predict(self, t):
            return self.y[: len(t)]

    outcome = check(ByPlace(), "sample order", data)
    assert 0 < outcome.count(VIOLATED) == (outcome.before != outcome.after).sum()


@pytest.mark.slow
def test_attributes_of_any_kind_pass_through():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(
        {
            "whole": rng.integers(5, size=20),
            "gaps": pd.array([1, None] * 10, dtype="Int64"),
            "endless": [np.inf, 1.0] * 10,
            "nothing": [np.nan] * 20,
            "kind": pd.Categorical(rng.choice(["u", "v"], 20)),
            "text": rng.choice(["p", "q"], 20),
            "flag": rng.random(20) < 0.5,
            "lapse": pd.to_timedelta(rng.integers(5, size=20), unit="D"),
        }
    )

    class AnyColumns(Learner):
        def fit(self, x, y):
            return super().fit(x[["whole"]], y)

        def predict(self, t):
            return super().predict(t[["whole"]])

    data = Training(x, rng.integers(2, size=20), x[:5])
    assert list(data.x.columns[data.numeric]) == ["whole", "gaps", "endless", "nothing"]
    for name in LEARNER_RELATIONS:
        assert check(AnyColumns(), name, data).count(UNDEFINED) == 0, name
    assert check(AnyColumns(), "MR-0", data).count(HOLDS) == 5


@pytest.mark.slow
def test_regressors_are_compared_within_rounding():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    data = Training(x[:30], 1e6 + rng.normal(size=30), x[30:])
    for name, relation in LEARNER_RELATIONS.items():
        outcome = check(KNeighborsRegressor(3), name, data)
        # kNN takes no weights, and the rows are in a frame already
        applies = relation.regressors and "weights" not in name and name != "frames"
        assert outcome.count(HOLDS if applies else INAPPLICABLE) == 10, name
    assert check(RandomForestRegressor(5), "sample order", data).count(VIOLATED) > 5

    class Nudged(RegressorMixin, Learner):
        def predict(self, t):
            return super().predict(t) + 1e-4 * self.x[0, 0]

    assert check(Nudged(), "sample order", data).count(VIOLATED) == 10
    assert check(Nudged(), "refit", data).count(HOLDS) == 10


# -- robustness ------------------------------------------------------------------------------------------------


class Broken(Learner):
    def __init__(self, where="fit", error=None):
        self.where, self.error = where, error

    def fit(self, x, y):
        warnings.warn("every time", stacklevel=2)
        if self.where == "fit" or (self.where == "names" and str(y[0]).startswith("class")):
            raise self.error
        return super().fit(x, y)

    def predict(self, t):
        if self.where == "predict":
            raise self.error
        if self.where == "short":
            return self.y[:1]
        labels = super().predict(t).astype(object)
        if self.where == "gaps":
            labels[np.asarray(t)[:, 0] == self.error] = None
        return labels

    def predict_proba(self, t):
        raise ValueError("no scores today")


@in_one_test("where", ["fit", "predict"])
@in_one_test("error", [ValueError("too\nbad"), SystemExit(3), MemoryError()])
def test_learners_that_fail_are_undefined(data, where, error):
    outcome = check(Broken(where, error), "MR-0", data)
    assert outcome.count(UNDEFINED) == len(data.t)
    assert outcome.message.startswith(f"the learner failed on the source data: {type(error).__name__}")
    assert "\n" not in outcome.message


def test_cases_with_answers_are_judged_although_others_fail(data):
    outcome = check(Broken("names", KeyError("no such label")), "label renaming", data)
    assert outcome.count(UNDEFINED) == len(data.t)
    assert outcome.message == "the learner failed on the follow-up data: KeyError: 'no such label'"
    refusal = check(Broken("names", ValueError("no such label")), "label renaming", data)
    assert refusal.count(INAPPLICABLE) == len(data.t)
    assert refusal.message == "the learner refuses the follow-up data: ValueError: no such label"
    assert outcome.before.tolist() == Learner().fit(data.x, data.y).predict(data.t).tolist()
    gaps = check(Broken("gaps", data.t.iloc[0, 0]), "refit", data)
    assert gaps.verdicts.tolist() == [UNDEFINED] + [HOLDS] * (len(data.t) - 1)
    assert "None" in gaps.message
    short = check(Broken("short"), "refit", data)
    assert short.count(UNDEFINED) == len(data.t)
    assert "1 answer for 8 rows" in short.message
    fine = check(Broken("nowhere"), "refit", data)
    assert fine.count(HOLDS) == len(data.t)
    assert fine.scores_before is None


def test_any_object_with_fit_and_predict_works(data):
    class Duck:
        def fit(self, x, y):
            x *= np.nan  # a learner may spoil what it is given
            self.most = Counter(y.tolist()).most_common(1)[0][0]

        def predict(self, t):
            return [self.most] * len(t)

    before = data.x.copy()
    assert check(Duck(), "sample order", data).count(HOLDS) == len(data.t)
    pd.testing.assert_frame_equal(data.x, before)


@in_one_test(
    ("name", "learner", "change", "why"),
    [
        ("refit", GaussianNB(), {"y": np.repeat("L0", 6)}, "have the same class"),
        ("refit", GaussianNB(), {"y": np.array(["a", None] * 3, dtype=object)}, "no label"),
        ("MR-3.2", KNeighborsClassifier(7), {}, "looks for 7 neighbours, and there are 6 training rows"),
        ("refit", make_pipeline(StandardScaler(), KNeighborsClassifier(7)), {}, "looks for 7 neighbours"),
        ("refit", GaussianNB(), {"x": pd.DataFrame({"a": [1.0] * 6, "b": [2.0] * 6})}, "no attribute .* varies"),
        ("MR-0", GaussianNB(), {"x": pd.DataFrame({"a": list("uvuvuv"), "b": list("uvuvuv")})}, "no numeric attribute"),
        ("MR-1.1", KNeighborsRegressor(2), {"y": np.arange(6)}, "the relation is about labels"),
        ("MR-1.1", Learner(), {"y": np.arange(6) / 4}, "the relation is about labels"),
        ("label renaming", SVC(class_weight={"L0": 2}), {}, "names the classes"),
        ("label renaming", Learner(), {"y": np.array([1, "a"] * 3, dtype=object)}, "different types"),
    ],
)
def test_unmet_preconditions_are_reported(name, learner, change, why):
    x = pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6.0) ** 2})
    fields = {"x": x, "y": np.array(["L0", "L1"] * 3), **change}
    outcome = check(learner, name, Training(**fields, t=fields["x"][:2]))
    assert outcome.verdicts.tolist() == [INAPPLICABLE] * 2
    assert pd.Series([outcome.message]).str.contains(why).all(), outcome.message


def test_one_attribute_has_no_order():
    x = pd.DataFrame({"a": [1.0, 2.0]})
    assert "one attribute" in check(GaussianNB(), "MR-1.2", Training(x, np.array([0, 1]), x)).message


def test_wrong_use_raises_a_helpful_error(data):
    x = pd.DataFrame({"a": [1.0, 2.0]})
    for bad in (
        lambda: Training(x, np.array([1]), x),
        lambda: Training(x, np.array([1, 2]), x.rename(columns={"a": "b"})),
        lambda: Training(x, np.array([1, 2]), x[:0]),
        lambda: Training(pd.concat([x, x], axis=1), np.array([1, 2]), pd.concat([x, x], axis=1)),
    ):
        with pytest.raises(UsageError, match="Got"):
            bad()
    for learner in (GaussianNB, StandardScaler(), "knn"):
        with pytest.raises(UsageError, match="an object with fit and predict"):
            check(learner, "refit", data)
    with pytest.raises(UsageError, match="one of 'class_exact'"):
        check(GaussianNB(), "refit", data, strictness="exactly")

    class Longer(LearnerRelation):
        name = "longer"

        def follow_up(self, data, labels, rng):
            return Training(data.x, data.y, data.x)

    with pytest.raises(UsageError, match=r"'longer' gave .* must give one for each"):
        check_learner(GaussianNB(), Longer(), data, np.random.default_rng(0))


def test_a_user_defined_relation(data):
    class Weighed(LearnerRelation):
        name = "own copy"
        shares = "case"

        def follow_up(self, data, labels, rng):
            x = pd.concat([data.x, data.t], ignore_index=True)
            return Training(x, np.append(data.y, labels), data.t)

    outcome = check_learner(KNeighborsClassifier(1), Weighed(), data, np.random.default_rng(0))
    assert outcome.count(HOLDS) == len(outcome.follow_ups) == len(data.t)


# -- planted faults --------------------------------------------------------------------------------------------


class ForgetsTheFirst(Learner):
    def fit(self, x, y):
        return super().fit(x[1:], y[1:])


class AssignsForAdds(Learner):
    """``total = d`` where ``total += d`` was meant: only the last attribute counts."""

    def distances(self, case):
        for j in range(self.x.shape[1]):
            total = (self.x[:, j] - case[j]) ** 2
        return total


class NotShifted(Learner):
    """A weight that was meant for a difference is on one side."""

    def distances(self, case):
        return ((self.x - 1.05 * case) ** 2).sum(axis=1)


class FirstLabelWins(Learner):
    def predict(self, t):
        labels = super().predict(t)
        labels[0] = self.classes_[0]
        return labels


class PlainBayes(Learner):
    """A right Gaussian naive Bayes."""

    shift = 0

    def fit(self, x, y):
        super().fit(x, y)
        parts = [self.x[self.y == c] for c in self.classes_]
        self.means, self.priors = np.array([p.mean(0) for p in parts]), np.array([len(p) for p in parts])
        self.variances = np.array([p.var(0) for p in parts]) + 1e-9 * self.x.var(0).max()
        return self

    def joint(self, t):
        t = np.asarray(t, dtype=float)[:, None, :]
        logs = -np.log(self.variances) / 2 - (t - self.means) ** 2 / (2 * self.variances)
        return logs.sum(axis=2) + np.log(self.priors)

    def predict(self, t):
        return self.classes_[self.joint(t).argmax(axis=1)]

    def predict_proba(self, t):
        joint = self.joint(t)
        odds = np.exp(joint - joint.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)


class OffByOne(PlainBayes):
    """The variance of the column before."""

    def fit(self, x, y):
        super().fit(x, y)
        self.variances = np.roll(self.variances, 1, axis=1)
        self.variances[:, 0] = 1.0
        return self


class NoLogOfVariance(PlainBayes):
    def joint(self, t):
        return super().joint(t) + np.log(self.variances).sum(axis=1) / 2 * (np.arange(len(self.classes_)) == 0)


class PriorUpsideDown(PlainBayes):
    def joint(self, t):
        return super().joint(t) - 2 * np.log(self.priors)


class NoPrior(PlainBayes):
    def joint(self, t):
        return super().joint(t) - np.log(self.priors)


RIGHT = {"kNN": (Learner(), KNeighborsClassifier(1)), "naive Bayes": (PlainBayes(), GaussianNB())}
FAULTY = [
    (ForgetsTheFirst(), "kNN", "sample order"),
    (AssignsForAdds(), "kNN", "MR-1.2"),
    (NotShifted(), "kNN", "MR-0"),
    (FirstLabelWins(), "kNN", "MR-1.1"),
    (Random(), "kNN", "refit"),
    (OffByOne(), "naive Bayes", "MR-1.2"),
    (NoLogOfVariance(), "naive Bayes", "MR-1.1"),
    (PriorUpsideDown(), "naive Bayes", "MR-3.2"),
    (NoPrior(), "naive Bayes", "MR-3.2 odds"),
]


def violated(learner, reference, names=LEARNER_RELATIONS, sets=8):
    """The necessary relations that a learner violates, with how often."""
    rng = np.random.default_rng(8)
    counts = Counter()
    for _ in range(sets):
        data = draw_random_training(rng, 10, min_rows=2)
        for name in names:
            held = find_requirement(name, reference, data)
            if held.necessary:
                verdicts = check_learner(learner, LEARNER_RELATIONS[name], data, rng, strictness=held.strictness)
                counts[name] += verdicts.count(VIOLATED)
    return +counts


@pytest.mark.parametrize("kind", RIGHT)
def test_reference_learners_keep_necessary_relations(kind):
    assert violated(*RIGHT[kind], sets=3 if LONG else 1) == {}


@pytest.mark.parametrize(("learner", "kind", "name"), FAULTY, ids=[type(item[0]).__name__ for item in FAULTY])
def test_planted_faults_are_found(learner, kind, name):
    assert violated(learner, RIGHT[kind][1], [name])
