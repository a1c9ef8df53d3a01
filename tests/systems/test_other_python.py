"""Learners and functions of another Python, tried with the interpreter that runs the tests."""

from __future__ import annotations

import os
import pickle
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import datamorphic as dm
from datamorphic.errors import ModelError, SystemDied
from datamorphic.relations.learners.necessity import find_requirement
from datamorphic.space.outputs import Status
from datamorphic.systems.files import load_model
from datamorphic.systems.learner import Learner
from datamorphic.systems.other_python import OtherPythonLearner, find_python
from datamorphic.systems.training import Training, TrainingBatch
from datamorphic.systems.traits import is_transformer, read_traits

MODULE = '''
import os, sys, time
import numpy as np

CALLS = []

class Majority:
    """Answers the label that occurs most often."""
    def __init__(self, behaviour="good", random_state=None):
        self.behaviour, self.random_state = behaviour, random_state
    def get_params(self, deep=True):
        return {"behaviour": self.behaviour, "random_state": self.random_state}
    def set_params(self, **values):
        self.__dict__.update(values)
        return self
    def fit(self, X, y, sample_weight=None, classes=None):
        print("noise on stdout", flush=True)
        os.write(1, b"more noise")
        if self.behaviour == "raise":
            raise ValueError("rows are not wanted")
        if self.behaviour == "stumble":
            [][0]
        if len(y) == 3 and self.behaviour == "die":
            os.kill(os.getpid(), 9)
        if len(y) == 3 and self.behaviour == "hang":
            time.sleep(60)
        labels, counts = np.unique(y, return_counts=True)
        self.classes_ = np.array(classes) if classes is not None else labels
        self.answer_ = labels[np.argmax(counts)]
        self.columns_ = list(getattr(X, "columns", []))
        self.kinds_ = [str(kind) for kind in getattr(X, "dtypes", [])]
        X[:] = X[::-1]
        return self
    def predict(self, X):
        if self.behaviour == "nan":
            return np.full(len(X), np.nan)
        return np.array([self.answer_] * len(X))
    def predict_proba(self, X):
        return np.tile((self.classes_ == self.answer_).astype(float), (len(X), 1))

class Teller:
    def fit(self, X, y):
        self.text = "%s %s" % (list(X.columns), [str(kind) for kind in X.dtypes])
        return self
    def predict(self, X):
        return [self.text + " " + repr([list(row) for row in X.values.tolist()])] * len(X)

class Shifter:
    def fit(self, X, y=None):
        self.shift_ = X.min(axis=0)
        return self
    def transform(self, X):
        return X - self.shift_

def area(width, height=1.0):
    return width * height

def broken(x):
    raise KeyError("no area")

limit = 5
'''
DATA = Training(np.arange(8.0).reshape(4, 2), np.array(["a", "b", "b", "b"]), np.array([[1.0, 2.0]]))


@pytest.fixture
def name(tmp_path, monkeypatch):
    (tmp_path / "foreign_module.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return f"python:{sys.executable} foreign_module:"


def make_data(rows):
    return Training(np.zeros((rows, 1)), np.array(["a", *["b"] * (rows - 1)]), np.array([[1.0]]))


def test_a_learner_of_another_python_fits_and_predicts_there(name):
    learner = load_model(name + "Majority")
    assert isinstance(learner, OtherPythonLearner)
    learner.fit([[1.0], [2.0], [3.0]], ["a", "b", "b"])
    assert learner.predict([[1.0], [2.0]]).tolist() == ["b", "b"]
    assert learner.predict_proba(np.ones((1, 1))).tolist() == [[0.0, 1.0]]
    assert learner.classes_.tolist() == ["a", "b"]
    assert not hasattr(learner, "transform")
    assert not hasattr(learner, "fit_predict")


def test_its_name_says_the_parameters_the_library_and_the_version(name):
    learner = load_model(f"python:{sys.executable} sklearn.tree:DecisionTreeClassifier max_depth=3 criterion=entropy")
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    import sklearn

    assert (
        repr(learner)
        == (
            f"DecisionTreeClassifier(max_depth=3, criterion='entropy') of scikit-learn {sklearn.__version__}, Python {version}"
        )[:80]
        or repr(learner) == f"DecisionTreeClassifier of scikit-learn {sklearn.__version__}, Python {version}"
    )
    assert learner.max_depth == 3
    assert learner.get_params()["splitter"] == "best"


def test_all_training_sets_of_a_batch_are_one_message(name):
    learner = load_model(name + "Majority")
    requests = []
    ask = learner._process.ask
    learner._process.ask = lambda request: requests.append(request) or ask(request)
    outputs = Learner(learner).execute(TrainingBatch([DATA] * 7), scores=True)
    assert outputs.values.tolist() == ["b"] * 7
    assert outputs.scores.tolist() == [[0.0, 1.0]] * 7
    assert len(requests) == 1
    assert requests[0]["parameters"] == {"random_state": 0}


def test_declared_labels_and_weights_reach_the_fit(name):
    learner = Learner(load_model(name + "Majority"))
    data = Training(DATA.x, DATA.y, DATA.t, labels=("a", "b", "c"), weights=np.ones(4))
    assert learner.execute(TrainingBatch([data]), scores=True).scores.tolist() == [[0.0, 1.0, 0.0]]
    without_classes = Training(np.zeros((2, 1)), np.array(["a", "b"]), np.zeros((1, 1)), labels=("a", "b"))
    shifter = load_model(name + "Shifter")
    assert "classes" not in shifter._build_item(without_classes.x, None, None, ("a", "b"))["options"]


def test_answers_that_are_nan_stay_nan(name):
    outputs = Learner(load_model(name + "Majority behaviour=nan")).execute(DATA)
    assert outputs.status.tolist() == [Status.MISSING]


def test_an_error_has_its_type_and_message_and_whether_it_was_raised_on_purpose(name):
    outputs = Learner(load_model(name + "Majority behaviour=raise")).execute(DATA)
    assert outputs.messages == {0: "ValueError: rows are not wanted"}
    (error,) = load_model(name + "Majority behaviour=raise").train_all([DATA], scores=False)
    (slip,) = load_model(name + "Majority behaviour=stumble").train_all([DATA], scores=False)
    assert (type(error).__name__, error.refusal) == ("ValueError", True)
    assert (type(slip).__name__, slip.refusal) == ("IndexError", False)


def test_a_process_that_dies_is_reported_for_the_rows_at_fault_and_started_again(name):
    learner = Learner(load_model(name + "Majority behaviour=die"))
    with pytest.raises(SystemDied, match=r"ended by SIGKILL: .*noise"):
        learner.execute(TrainingBatch([make_data(3)]))
    system = dm.wrap(learner, guarded=True)
    outputs = system.execute(TrainingBatch([make_data(4), make_data(3), make_data(5)]))
    assert outputs.status.tolist() == [Status.OK, Status.DIED, Status.OK]
    assert "SIGKILL" in outputs.messages[1]


@pytest.mark.slow
def test_a_process_that_hangs_is_ended_after_the_time_limit(name):
    system = dm.wrap(Learner(load_model(name + "Majority behaviour=hang")), timeout=10)
    outputs = system.execute(TrainingBatch([make_data(4), make_data(3)]))
    assert outputs.status.tolist() == [Status.OK, Status.TIMEOUT]


def test_frames_keep_their_names_and_types(name):
    frame = pd.DataFrame(
        {
            "size": [1.5, np.nan],
            "count": [1, 2],
            "flag": [True, False],
            "kind": pd.Categorical(["x", None], categories=["y", "x"]),
            "text": pd.Series(["one", None], dtype=object),
            "day": pd.to_datetime(["2020-01-01", "2020-01-02"]),
            "whole": pd.array([1, None], dtype="Int64"),
        }
    )
    learner = load_model(name + "Teller").fit(frame, ["a", "b"])
    (text, _) = learner.predict(frame)
    assert text.startswith(str([*frame.columns]))
    assert str([str(kind) for kind in frame.dtypes]) in text
    assert "[1.5, 1, True, 'x', 'one', Timestamp('2020-01-01 00:00:00'), 1]" in text
    assert "[nan, 2, False, nan, None, Timestamp('2020-01-02 00:00:00'), <NA>]" in text


def test_transformers_transform(name):
    shifter = load_model(name + "Shifter")
    assert shifter.fit(np.array([[1.0], [3.0]])).transform(np.array([[3.0]])).tolist() == [[2.0]]
    assert not hasattr(shifter, "predict")


def test_clusterers_answer_the_clusters_of_their_rows():
    clusterer = load_model(f"python:{sys.executable} sklearn.cluster:KMeans n_clusters=2 n_init=1")
    rows = np.array([[1.0], [2.0], [8.0], [9.0]])
    report = dm.check(clusterer, relations=["fitted again"], inputs=3)
    assert report.passed
    labels = clusterer.fit_predict(rows)
    assert labels[0] == labels[1] != labels[2] == labels[3]


def test_a_learner_can_be_pickled_and_copied(name):
    learner = load_model(name + "Majority")
    twin = pickle.loads(pickle.dumps(learner))
    assert Learner(twin).execute(DATA).values.tolist() == ["b"]
    assert twin._process is learner._process


def test_a_forgotten_model_is_fitted_again(name):
    learner = load_model(name + "Majority").fit(DATA.x, DATA.y)
    learner._process.close()
    assert learner.predict(DATA.t).tolist() == ["b"]


def test_it_must_satisfy_what_its_class_must_satisfy():
    learner = load_model(f"python:{sys.executable} sklearn.neighbors:KNeighborsClassifier n_neighbors=1")
    many = load_model(f"python:{sys.executable} sklearn.neighbors:KNeighborsClassifier n_neighbors=3")
    for relation in ("MR-0", "MR-3.1", "MR-4.1", "weights", "refit"):
        for other, own in ((learner, KNeighborsClassifier(1)), (many, KNeighborsClassifier(3))):
            assert find_requirement(relation, other) == find_requirement(relation, own)


def test_a_class_that_is_unknown_here_keeps_its_name_and_parameters(name):
    twin = load_model(name + "Majority behaviour=nan").like
    assert type(twin).__name__ == "Majority"
    assert twin.behaviour == "nan"


def test_a_check_gives_the_same_verdicts_as_in_this_python():
    options = {"relations": ["MR-0", "MR-1.1", "refit", "sparse", "weights"], "inputs": 20, "shrink": False}
    there = dm.check(f"python:{sys.executable} sklearn.neighbors:KNeighborsClassifier n_neighbors=3", **options)
    here = dm.check(KNeighborsClassifier(3), **options)
    assert there.table.drop(columns="reason").equals(here.table.drop(columns="reason"))
    assert "of scikit-learn" in there.subject


def test_a_function_of_another_python_takes_whole_arrays(name):
    area = load_model(name + "area")
    assert area(np.array([1.0, 2.0]), height=np.array([3.0, 4.0])).tolist() == [3.0, 8.0]
    assert area(2) == 2.0
    assert "area of foreign_module" in area.__name__
    relation = dm.FunctionRelation(
        name="twice", domain=[(0, 1), (0, 1)], follow_up=lambda x: x * [2, 1], equal=lambda x, y: (y[1], 2 * y[0])
    )
    assert dm.check(name + "area", relations=[relation], inputs=20).passed
    assert load_model(name + "limit") == 5


def test_an_error_of_a_function_has_its_type(name):
    with pytest.raises(Exception, match="no area") as caught:
        load_model(name + "broken")(1.0)
    assert type(caught.value).__name__ == "KeyError"


def test_functions_of_an_object_are_attributes():
    norm = load_model(f"python:{sys.executable} scipy.stats:norm")
    assert norm.cdf(np.zeros(2)).tolist() == [0.5, 0.5]
    assert norm.numargs == 0
    assert not hasattr(norm, "no_such_function")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("python:nowhere", "is not understood. Write the path of a Python"),
        ("python:/no/such/python sklearn.tree:DecisionTreeClassifier", "There is no Python '/no/such/python'"),
        (f"python:{sys.executable} sklearn.tree:NoSuchTree", "AttributeError: .*NoSuchTree"),
        (f"python:{sys.executable} no_such_module:Tree", "ModuleNotFoundError: No module named 'no_such_module'"),
        (f"python:{sys.executable} sklearn.tree:DecisionTreeClassifier depth=3", "unexpected keyword argument 'depth'"),
        (f"python:{sys.executable} sklearn.tree:DecisionTreeClassifier depth", "'depth' in .* is not a parameter"),
        (f"python:{sys.executable} math:sin digits=3", "math:sin is not a learner, so it takes no parameters"),
    ],
)
def test_a_wrong_name_says_what_to_write(text, message):
    with pytest.raises(ModelError, match=message):
        load_model(text)


def test_what_is_no_python_is_an_error(tmp_path):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho no numpy here >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(SystemDied, match="ended with exit code 3: no numpy here"):
        load_model(f"python:{program} math:sin")


def test_the_folder_of_an_environment_stands_for_its_python(tmp_path):
    (tmp_path / "bin").mkdir()
    os.symlink(sys.executable, tmp_path / "bin" / "python")
    assert find_python(str(tmp_path)) == str(tmp_path / "bin" / "python")


def test_cases_are_queried_as_the_training_data_say(name):
    learner = load_model(f"python:{sys.executable} sklearn.neighbors:KNeighborsClassifier")
    rng = np.random.default_rng(0)
    data = Training(rng.normal(size=(20, 2)), rng.integers(3, size=20), rng.normal(size=(6, 2)))
    for query in ("together", "again", "alone", "backwards"):
        changed = replace(data, query=query, parameters=(("n_neighbors", 1),))
        there, here = (Learner(system).execute(changed).values for system in (learner, KNeighborsClassifier()))
        assert there.tolist() == here.tolist()


def test_its_tags_and_kind_are_those_of_its_class():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.preprocessing import StandardScaler

    for own, module in ((LinearDiscriminantAnalysis(), "discriminant_analysis"), (StandardScaler(), "preprocessing")):
        other = load_model(f"python:{sys.executable} sklearn.{module}:{type(own).__name__}")
        assert read_traits(other) == read_traits(own)
        assert is_transformer(other) == is_transformer(own)
