"""What learners are given, in batches, and learners as systems that answer them."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from datamorphic.data.knn import KNN
from datamorphic.errors import ArgumentError, DataError, ModelError
from datamorphic.relations.check.violation import training_from_json, training_to_json
from datamorphic.space.outputs import Status
from datamorphic.systems import learner as learner_module
from datamorphic.systems.learner import Learner, format_learner
from datamorphic.systems.training import Training, TrainingBatch
from support.cases import in_one_test

X, T = np.array([[1.0, 5.0], [2.0, 6.0], [9.0, 7.0]]), np.array([[1.5, 5.5], [8.0, 7.5]])
Y = np.array(["a", "b", "a"])


def frame(values):
    return pd.DataFrame(values, columns=["p", "q"])


ARRAYS = Training(X, Y, T)
FRAMES = Training(frame(X), Y, frame(T))
MIXED = Training(
    pd.DataFrame({"n": [1, 2, 3], "c": ["u", "v", "u"], "flag": [True, False, True], "x": [0.5, np.nan, 2.0]}),
    np.array([1, 0, 1]),
    pd.DataFrame({"n": [4], "c": ["w"], "flag": [False], "x": [1.0]}),
)


# -- one training set ------------------------------------------------------------------------------------------


@in_one_test("data", [ARRAYS, FRAMES])
@in_one_test(
    ("change", "x", "y", "t"),
    [
        (lambda d: d.rows([2, 0, 0]), X[[2, 0, 0]], "aaa", T),
        (lambda d: d.rows(np.array([False, True, True])), X[1:], "ba", T),
        (lambda d: d.cases([1]), X, "aba", T[1:]),
        (lambda d: d.attributes([1, 0]), X[:, ::-1], "aba", T[:, ::-1]),
        (lambda d: d.with_attribute(7.0), np.c_[X, [7, 7, 7]], "aba", np.c_[T, [7, 7]]),
        (lambda d: d.with_attribute([1.0, 2.0, 3.0], 4.0, first=True), np.c_[[1, 2, 3], X], "aba", np.c_[[4, 4], T]),
        (lambda d: d.appended(d.t, np.array(["longer", "b"])), np.r_[X, T], ["a", "b", "a", "longer", "b"], T),
        (lambda d: d.labelled(["z", "b", "z"]), X, "zbz", T),
        (lambda d: d.with_numbers(-d.numbers), -X, "aba", -T),
    ],
)
def test_changed_copies(data, change, x, y, t):
    copy = change(data)
    np.testing.assert_array_equal(copy.x, x)
    np.testing.assert_array_equal(copy.t, t)
    assert copy.y.tolist() == list(y)
    assert copy.framed == data.framed
    assert len(copy) == len(t)
    np.testing.assert_array_equal(data.x, X)  # the original stays
    assert data.y.tolist() == ["a", "b", "a"]
    if copy.framed:
        assert list(copy.x) == list(copy.t)
        assert copy.x.index.tolist() == list(range(len(copy.y)))


def test_only_numbers_are_numbers():
    assert MIXED.numeric.tolist() == [0, 3]
    np.testing.assert_array_equal(MIXED.numbers, [[1, 0.5], [2, np.nan], [3, 2], [4, 1]])
    copy = MIXED.with_numbers(MIXED.numbers * 2)
    assert copy.x["c"].tolist() == ["u", "v", "u"]
    assert copy.x["n"].tolist() == [2, 4, 6]
    assert copy.t["flag"].tolist() == [False]


def test_appended_rows_keep_the_types_of_the_columns():
    copy = MIXED.appended(MIXED.t, np.array([1]))
    assert copy.x.dtypes.tolist() == MIXED.x.dtypes.tolist()
    assert copy.y.dtype.kind == "i"


def test_a_new_attribute_gets_a_name_of_its_own():
    taken = Training(
        pd.DataFrame([[1.0, 2.0]], columns=["added", "added_"]),
        Y[:1],
        pd.DataFrame([[1.0, 2.0]], columns=["added", "added_"]),
    )
    assert list(taken.with_attribute(1.0).x) == ["added", "added_", "added__"]
    numbered = Training(pd.DataFrame(X), Y, pd.DataFrame(T))
    assert list(numbered.with_attribute(1.0, first=True).x) == [2, 0, 1]


def test_weights_go_with_their_rows():
    data = Training(X, Y, T, weights=np.array([1.0, 2.0, 3.0]))
    assert data.rows([2, 0]).weights.tolist() == [3.0, 1.0]
    assert data.cases([0]).weights.tolist() == [1.0, 2.0, 3.0]


@in_one_test(
    ("labels", "classes"),
    [
        (["b", "a", "b"], ["a", "b"]),
        ([3, 1, 3], [1, 3]),
        ([True, False, True], [False, True]),
        ([1.5, -1.0, 1.5], [-1.0, 1.5]),
        (["b", 1, "b"], ["b", 1]),  # no order: as they come
        ([(1, 2), (0, 1), (1, 2)], [(0, 1), (1, 2)]),
    ],
)
def test_classes(labels, classes):
    y = pd.Series(labels).to_numpy()
    data = Training(X, y, T)
    assert data.classes.tolist() == classes == data.declared
    assert data.classes.shape == (2,)


def test_labels_that_are_declared_stay_declared():
    data = Training(X, Y, T, labels=("c", "b", "a"))
    assert data.declared == ["c", "b", "a"]
    assert data.classes.tolist() == ["a", "b"]
    assert data.rows([0]).declared == ["c", "b", "a"]
    assert data.labelled(["a*", "b", "a*"]).declared == ["c", "b", "a", "a*"]
    assert data.labelled(["x", "y", "x"], labels=()).declared == ["x", "y"]
    assert ARRAYS.labelled(["x", "y", "x"]).labels is None


def test_numbers_and_texts_can_both_be_labels():
    copy = Training(X, np.array([1, 2, 1]), T).appended(T, np.array(["one", "two"]))
    assert copy.y.tolist() == [1, 2, 1, "one", "two"]


def test_as_a_table():
    assert ARRAYS.frame.columns.tolist() == ["a0", "a1", "label"]
    clash = Training(pd.DataFrame({"label": [1.0, 2.0]}), Y[:2], pd.DataFrame({"label": [1.0]}))
    assert clash.frame.columns.tolist() == ["label", "label_"]


@in_one_test(
    ("arguments", "says"),
    [
        ((frame(X), Y, T), "both be frames or both be arrays"),
        ((X, Y[:2], T), "3 training rows need a label each"),
        ((X, np.array([["a"], ["b"], ["a"]]), T), "need a label each"),
        ((X, Y, T[:, :1]), "a column for each attribute"),
        ((X[:, 0], Y, T), "a column for each attribute"),
        ((X[:, :0], Y, T[:, :0]), "a column for each attribute"),
        ((X[:0], Y[:0], T), "at least one training row"),
        ((X, Y, T[:0]), "at least one training row"),
        ((frame(X), Y, frame(T)[["q", "p"]]), "need the columns of the training rows"),
        ((pd.DataFrame(X, columns=["p", "p"]), Y, pd.DataFrame(T, columns=["p", "p"])), "unique names"),
        ((frame(X)[[]], Y, frame(T)[[]]), "need columns"),
    ],
)
def test_what_no_learner_can_be_given(arguments, says):
    with pytest.raises(DataError, match=says):
        Training(*arguments)


# -- many ------------------------------------------------------------------------------------------------------


def sets(sizes=(2, 1, 3)):
    rng = np.random.default_rng(0)
    return [Training(rng.random((4, 2)), np.array(list("abca"[:4])), rng.random((size, 2))) for size in sizes]


def test_a_batch_has_a_row_a_case():
    batch = TrainingBatch(sets())
    assert len(batch) == 6
    assert batch.training_index.tolist() == [0, 0, 1, 2, 2, 2]
    assert batch.case_index.tolist() == [0, 1, 0, 0, 1, 2]
    assert batch.frame.values.tolist() == [[4, 2, 3]] * 6
    assert repr(batch) == "Trainings(3 training sets, 6 cases)"
    assert len(TrainingBatch([])) == 0


@pytest.mark.parametrize("rows", [[5, 0, 1, 3], [2], [4, 4], slice(1, 5), []])
def test_parts_hold_what_is_wanted_and_no_more(rows):
    batch = TrainingBatch(sets()).take(rows)
    seen = 0
    for training, places in batch.parts() if len(batch) else ():
        assert len(training) == len(places)
        for place, case in zip(places, training.t, strict=True):
            whole = batch.trainings[batch.training_index[place]]
            assert training.y is whole.y
            np.testing.assert_array_equal(case, whole.t[batch.case_index[place]])
        seen += len(places)
    assert seen == len(batch)


def test_other_processes_get_the_sets_they_need():
    part = pickle.loads(pickle.dumps(TrainingBatch(sets()).take([4, 3, 0])))
    assert len(part.trainings) == 2
    assert part.width == 3
    again = Learner(KNN(1)).execute(part).values.tolist()
    assert again == Learner(KNN(1)).execute(TrainingBatch(sets()).take([4, 3, 0])).values.tolist()


# -- learners as systems ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [KNN(1), KNeighborsClassifier(1), RandomForestClassifier(3)], ids=format_learner)
def test_one_answer_a_row_whatever_is_asked_beside(learner):
    system, batch = Learner(learner), TrainingBatch(sets((3, 2)))
    whole = system.execute(batch, scores=True)
    assert whole.ok.all()
    assert whole.scores.shape == (5, 3)
    for rows in ([4, 3, 2, 1, 0], [0], [1, 3]):
        part = system.execute(batch.take(rows), scores=True)
        assert part.values.tolist() == whole.values[rows].tolist()
        np.testing.assert_array_equal(part.scores, whole.scores[rows])
    assert len(system.execute(batch.take([]))) == 0
    assert system.execute(batch).scores is None
    assert not hasattr(learner, "classes_")  # it is never fitted itself


def test_the_plain_way():
    batch = TrainingBatch(sets())
    expected = [
        label
        for training in batch.trainings
        for label in KNN(1).fit(training.x, training.y).predict(training.t).tolist()
    ]
    assert Learner(KNN(1)).execute(batch).values.tolist() == expected


def test_scores_are_those_of_the_declared_labels():
    data = Training(X, Y, T, labels=("c", "b", "a"))
    scores = Learner(KNN(1)).execute(data, scores=True).scores
    np.testing.assert_array_equal(scores, [[np.nan, 0, 1], [np.nan, 0, 1]])


def test_a_learner_that_takes_classes_is_told_the_declared_ones():
    class Told(KNN):
        def fit(self, X, y, classes=None):
            self.given = classes
            return super().fit(X, y)

        def predict(self, X):
            return [str(self.given)] * len(X)

    assert Learner(Told()).execute(Training(X, Y, T, ("c", "b", "a"))).values[0] == "['c', 'b', 'a']"
    assert Learner(Told()).execute(ARRAYS).values[0] == "None"


def test_nothing_is_left_to_chance_that_can_be_fixed():
    data = sets()[0]
    forest = RandomForestClassifier(3)
    scores = [Learner(forest, seed=seed).execute(data, scores=True).scores for seed in (1, 1, 2)]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert (scores[0] != scores[2]).any()
    assert forest.random_state is None
    own = RandomForestClassifier(3, random_state=9)
    np.testing.assert_array_equal(*(Learner(own, seed=seed).execute(data, scores=True).scores for seed in (1, 2)))


def test_what_it_raises_is_an_answer_without_a_label():
    class Moody(KNN):
        def fit(self, X, y):
            if len(y) == 3:
                raise SystemExit("no threes: postgres://me:secret@host/db")
            return super().fit(X, y)

        def predict(self, X):
            answers = super().predict(X).astype(object)
            answers[X[:, 0] > 7] = None
            return answers

        def predict_proba(self, X):
            raise RuntimeError("no scores")

    outputs = Learner(Moody(1)).execute(TrainingBatch([ARRAYS, ARRAYS.rows([0, 1])]), scores=True)
    assert outputs.status.tolist() == [Status.ERROR, Status.ERROR, Status.OK, Status.MISSING]
    assert "no threes" in outputs.messages[0]
    assert "secret" not in outputs.messages[0]
    assert "not a label" in outputs.messages[3]
    assert np.isnan(outputs.scores).all()


def test_a_wrong_number_of_answers_is_told():
    class Short(KNN):
        def predict(self, X):
            return super().predict(X)[:1]

    outputs = Learner(Short(1)).execute(ARRAYS)
    assert outputs.messages[0] == "it gave 1 answer for 2 rows"


@pytest.mark.parametrize("data", [ARRAYS, FRAMES], ids=["arrays", "frames"])
def test_a_learner_that_writes_on_what_it_is_given_does_no_harm(data):
    class Scribbles(KNN):
        def fit(self, X, y):
            super().fit(X.copy(), y.copy())
            X *= 0
            y[:] = "z"
            return self

        def predict(self, X):
            answers = super().predict(X.copy())
            X *= 0
            return answers

    assert Learner(Scribbles(1)).execute(data).values.tolist() == ["a", "a"]
    np.testing.assert_array_equal(data.x, X)
    np.testing.assert_array_equal(data.t, T)
    assert data.y.tolist() == ["a", "b", "a"]


class Stubborn(ClassifierMixin, BaseEstimator):
    """Cannot be cloned: its constructor changes what it is given."""

    def __init__(self, k=1):
        self.k = [k]

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


def test_a_learner_that_cannot_be_copied_is_an_error():
    class Socket(KNN):
        def __deepcopy__(self, memory):
            raise TypeError("cannot pickle a socket")

    for learner in (Socket(), Stubborn()):
        with pytest.raises(ModelError, match=f"{type(learner).__name__}.* cannot be copied"):
            Learner(learner).execute(ARRAYS)


@pytest.mark.parametrize("value", [KNN, object(), print, None])
def test_what_is_no_learner(value):
    with pytest.raises(ArgumentError, match="fit and predict"):
        Learner(value)


def test_names_are_the_same_in_every_process():
    assert format_learner(KNeighborsClassifier(3)) == "KNeighborsClassifier(n_neighbors=3)"
    assert format_learner(KNN(3)) == "KNN(k=3)"
    many = KNeighborsClassifier(3, algorithm="ball_tree", metric="chebyshev", weights="distance", leaf_size=7, p=3)
    assert format_learner(many) == "KNeighborsClassifier"
    assert Learner(KNN(1), name="ours").name == "ours"
    assert Learner(KNN(1)).fit(X, Y).execute(frame(T)).values.tolist() == ["a", "a"]


# -- kept in files ---------------------------------------------------------------------------------------------


@in_one_test(
    "data",
    [
        ARRAYS,
        FRAMES,
        MIXED,
        Training(X, np.array([1, 2, 1]), T, labels=(3, 2, 1), weights=np.array([1.0, 2.0, 1.0])),
        Training(X, np.array(["1", 1, None], dtype=object), T),
        Training(np.array([[np.nan], [np.inf]]), np.array([True, False]), np.array([[-0.0]])),
    ],
)
def test_there_and_back(data):
    again = training_from_json(json.loads(json.dumps(training_to_json(data))))
    for part in ("x", "t"):
        one, two = getattr(data, part), getattr(again, part)
        if data.framed:
            pd.testing.assert_frame_equal(one, two)
        else:
            np.testing.assert_array_equal(one, two)
    assert (again.y.tolist(), again.labels) == (data.y.tolist(), data.labels)
    assert (again.weights is None) == (data.weights is None)


@in_one_test(
    "case",
    [
        None,
        3,
        {},
        [],
        {"x": 1, "t": 2, "y": 3},
        {"x": [[1]], "t": [[1, 2]], "y": ["a"]},
        {"x": [["u"]], "t": [[1]], "y": ["a"]},
        {"x": [[1]], "t": [[1]], "y": ["a"], "columns": 7},
    ],
)
def test_what_was_meant_for_something_else(case):
    with pytest.raises(DataError):
        training_from_json(case)


def test_values_that_no_file_can_hold():
    odd = pd.DataFrame({"p": [object(), 1]})
    with pytest.raises(DataError):
        training_to_json(Training(odd, np.array(["a", "b"]), odd))


@pytest.mark.parametrize(
    "learner",
    [
        GaussianNB(),
        KNeighborsClassifier(3),
        DecisionTreeClassifier(random_state=0),
        LogisticRegression(max_iter=200),
        SVC(),
        RandomForestClassifier(3, random_state=0),
        LinearDiscriminantAnalysis(),
        make_pipeline(StandardScaler(), make_pipeline("passthrough", LogisticRegression())),
    ],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("kinds", [("f8", "f8"), ("i8", "f8"), ("i4", "f4")], ids="-".join)
def test_arrays_of_numbers_are_answered_as_frames_are(learner, kinds, monkeypatch):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({f"x{i}": (100 * rng.normal(size=60)).astype(kind) for i, kind in enumerate(kinds)})
    data = Training(rows[:40], np.where(rows.x0[:40] > rows.x1[:40], "a", "b"), rows[40:].reset_index(drop=True))
    assert learner_module.takes_arrays(learner)
    fast = Learner(learner).execute(data, scores=True)
    monkeypatch.setattr(learner_module, "takes_arrays", lambda learner: False)
    plain = Learner(learner).execute(data, scores=True)
    assert fast.values.tolist() == plain.values.tolist()
    assert (fast.scores is None) == (plain.scores is None)
    if plain.scores is not None:
        assert np.array_equal(fast.scores, plain.scores, equal_nan=True)


@pytest.mark.parametrize(
    "learner",
    [
        make_pipeline(ColumnTransformer([("x0", "passthrough", ["x0"])]), GaussianNB()),
        make_pipeline(FunctionTransformer(lambda rows: rows[["x0"]]), GaussianNB()),
        Pipeline([GaussianNB()]),
        HistGradientBoostingClassifier(),
        DecisionTreeClassifier(class_weight={"a": 2}),
        BaggingClassifier(GaussianNB()),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_learners_that_may_know_columns_by_name_get_frames(learner):
    assert not learner_module.takes_arrays(learner)


def test_the_bytes_of_a_batch_tell_different_data_apart():
    x, y, t = np.array([[1.0], [2.0], [8.0]]), np.array(["a", "a", "b"]), np.array([[3.0], [7.0]])
    data = Training(x, y, t)
    frame = Training(pd.DataFrame(x), y, pd.DataFrame(t))
    variants = [
        data,
        data.rows([0, 2, 1]),
        data.labelled(["a", "b", "b"]),
        data.cases([0]),
        data.with_numbers(data.numbers + 1),
        replace(data, weights=np.ones(3)),
        replace(data, seed_shift=1),
        frame,
    ]
    contents = [b"".join(TrainingBatch([variant]).iter_bytes()) for variant in variants]
    assert len(set(contents)) == len(variants)
    assert contents[0] == b"".join(TrainingBatch([Training(x.copy(), y.copy(), t.copy())]).iter_bytes())
    both = TrainingBatch([data, frame])
    assert b"".join(both.take(slice(0, 2)).iter_bytes()) == contents[0]  # only the training data in use count
