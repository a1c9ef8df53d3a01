"""Relations that every learner of a known library must satisfy: planted faults are found, and refusals are none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm
from datamorphic.errors import ArgumentError, BadAnswer
from datamorphic.space.outputs import Status
from datamorphic.systems.learner import Learner, check_numbers, to_frames
from datamorphic.systems.other_python_worker import is_refusal
from datamorphic.systems.training import Training


class CrashesOnText(GaussianNB):
    def predict(self, X):
        return (
            self.classes_[(super().predict(X) * 0 == 0).astype(int) - 1]
            if self.classes_.dtype.kind == "U"
            else super().predict(X)
        )


class OverflowsUnsigned(GaussianNB):
    """Labels are compared by differences, which are wrong for unsigned numbers."""

    def predict(self, X):
        labels = super().predict(X)
        is_second = labels - self.classes_[1] >= 0 if labels.dtype.kind in "iu" else labels == self.classes_[1]
        return np.where(is_second, self.classes_[1], labels)


class Remembers(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        self.first_labels_ = getattr(self, "first_labels_", y)
        return super().fit(X, self.first_labels_[: len(y)])


class IgnoresNames(GaussianNB):
    """Columns with names are taken in the order of these names, from the last."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(self._order(X), y, sample_weight)

    def predict(self, X):
        return super().predict(np.asarray(X)) if hasattr(X, "columns") else super().predict(X)

    def _order(self, X):
        return np.asarray(X)[:, ::-1] if hasattr(X, "columns") else X


class IgnoresWeights(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


class NaNScores(GaussianNB):
    def predict_proba(self, X):
        table = super().predict_proba(X)
        table[np.asarray(X)[:, 0] > 10] = np.nan
        return table


class CrashesOnOneColumn(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        X[0][1]
        return super().fit(X, y, sample_weight)


class RefusesOneColumn(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        if X.shape[1] == 1:
            raise ValueError("at least two columns are needed")
        return super().fit(X, y, sample_weight)


def check(learner, relation, like=None, **options):
    report = dm.check(learner, relations=[relation], like=like or GaussianNB(), inputs=100, progress=False, **options)
    (entry,) = report.entries
    assert entry.necessary
    return report, entry


@pytest.mark.parametrize(
    ("learner", "relation"),
    [
        (CrashesOnText(), "label type"),
        (OverflowsUnsigned(), "label type"),
        (Remembers(), "fitted before"),
        (IgnoresNames(), "frames"),
        (IgnoresWeights(), "weights"),
        (IgnoresWeights(), "zero weights"),
        (IgnoresWeights(), "class without weight"),
        (NaNScores(), "answers"),
        (CrashesOnOneColumn(), "answers"),
    ],
)
def test_a_planted_fault_is_found(learner, relation):
    report, entry = check(learner, relation)
    assert entry.violated
    assert [fault.relation for fault in report.faults] == [relation]
    assert report.shrunk(0).describe()


@pytest.mark.parametrize(
    "relation", ["label type", "fitted before", "frames", "unit weights", "zero weights", "class without weight"]
)
@pytest.mark.parametrize("learner", [GaussianNB(), DecisionTreeClassifier()])
def test_good_learners_are_silent(learner, relation):
    report, entry = check(learner, relation, like=learner)
    assert not report.faults, report.shrunk(0).describe()
    assert entry.judged > 20


def test_a_crash_is_a_violation_and_a_refusal_is_none():
    report, entry = check(CrashesOnOneColumn(), "answers")
    assert "IndexError" in str(report.shrunk(0).after)
    assert report.shrunk(0).size[1] == 1
    report, entry = check(RefusesOneColumn(), "answers")
    assert not report.faults or "nan" in str(report.shrunk(0).after)  # naive Bayes has no scores after a single row
    assert any("refuses the data: ValueError: at least two columns" in text for text in entry.messages)


@pytest.mark.parametrize(
    "learner", [LinearRegression(), DecisionTreeRegressor(), DecisionTreeRegressor(criterion="absolute_error")]
)
def test_regressors_satisfy_what_they_must(learner):
    report = dm.check(learner, relations="necessary", inputs=100, progress=False)
    judged = {entry.relation: entry.judged for entry in report.entries}
    assert report.passed, report.shrunk(0).describe()
    assert judged["sample order"] > 10
    assert judged["weights"] > 10


def test_a_regressor_that_ignores_weights_is_found():
    class Unweighted(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, y)

    report = dm.check(
        Unweighted(), relations=["weights", "zero weights"], like=LinearRegression(), inputs=100, progress=False
    )
    assert [entry.relation for entry in report.faults] == ["weights", "zero weights"]


class TestClusterers:
    def test_equal_rows_in_different_clusters_are_found(self):
        class FirstApart(KMeans):
            def fit_predict(self, X, y=None, sample_weight=None):
                labels = super().fit_predict(X)
                return np.concatenate([[labels.max() + 1], labels[1:]])

        report = dm.check(FirstApart(3), relations=["equal rows"], like=KMeans(3), inputs=40, progress=False)
        assert report.faults
        assert "rows that are equal" in report.shrunk(0).describe()
        assert dm.check(KMeans(3), relations=["equal rows"], inputs=40, progress=False).passed

    def test_a_crash_on_a_single_feature_is_found(self):
        class NeedsTwo(KMeans):
            def fit_predict(self, X, y=None, sample_weight=None):
                X[:, 1]
                return super().fit_predict(X)

        report = dm.check(NeedsTwo(3), relations=["rows answered"], like=KMeans(3), inputs=40, progress=False)
        assert report.faults
        assert "IndexError" in report.shrunk(0).describe()
        assert dm.check(KMeans(3), relations=["rows answered"], inputs=40, progress=False).passed


def test_transformers_give_finite_numbers():
    class Divides(StandardScaler):
        home_module = "sklearn.preprocessing"  # so that it must satisfy what scikit-learn's own transformers do

        def transform(self, X, copy=None):
            with np.errstate(all="ignore"):
                return (np.asarray(X) - self.mean_) / np.sqrt(self.var_)

    report = dm.check(Divides(), relations=["answers"], inputs=100, progress=False)
    assert "the answer to a case is nan" in report.shrunk(0).describe()
    assert dm.check(StandardScaler(), relations=["answers"], inputs=100, progress=False).passed


def test_refusals_and_crashes():
    def catch(function):
        try:
            function()
        except Exception as error:
            return error
        raise AssertionError("no error")

    def refuse():
        raise ValueError("no")

    def give_up():
        raise ZeroDivisionError("no step")

    def fail_below():
        raise ValueError("[12:00:00] objective.cu:119: Check failed: is_valid: base_score must be in (0,1)")

    assert is_refusal(catch(refuse))
    assert is_refusal(catch(give_up))
    assert not is_refusal(catch(fail_below))  # an assertion of native code
    assert not is_refusal(catch(lambda: np.average([1.0], weights=[0.0])))  # NumPy does not know what it was asked for
    assert not is_refusal(catch(lambda: int("x")))  # no `raise` statement
    assert not is_refusal(catch(lambda: np.linalg.inv(np.zeros((2, 2)))))


def test_methods_that_only_a_fitted_learner_has():
    stacked = StackingClassifier([("trees", DecisionTreeClassifier())])
    assert not hasattr(stacked, "predict")
    assert dm.check(stacked, relations=["answers"], inputs=10, progress=False).passed
    with pytest.raises(ArgumentError, match="LocalOutlierFactor has neither predict nor transform"):
        dm.check(LocalOutlierFactor(), relations="necessary", inputs=10, progress=False)
    assert dm.check(LocalOutlierFactor(novelty=True), relations=["answers"], inputs=10, progress=False).passed


def test_statuses_of_refusals_and_invalid_numbers():
    data = Training(np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([[1.5]]))
    assert Learner(RefusesOneColumn()).execute(data).status.tolist() == [Status.REFUSED]
    with pytest.raises(BadAnswer, match="the score to a case is nan"):
        check_numbers(np.array([1.0]), np.array([[np.nan, 1.0]]))
    with pytest.raises(BadAnswer, match="the answer to a case is inf"):
        check_numbers(np.array([np.inf]))
    check_numbers(np.array(["a"]), np.array([[-np.inf, 1.0]]))


def test_other_labels_have_another_number_of_classes():
    rows = np.arange(4.0)[:, None]
    two = Training(rows, np.array(["a", "b", "a", "b"]), rows)
    assert two.other_labels.tolist() == ["a", "b", "a", "b too"]
    assert Training(rows, np.array([0, 1, 2, 2]), rows).other_labels.tolist() == [0, 1, 1, 1]
    assert Training(rows, np.array([0, 1, 0, 1]), rows).other_labels.tolist() == [0, 1, 0, 2]
    assert Training(rows, np.array([0.5, 1, 2, 3]), rows).other_labels.tolist() == [6, 4, 2, 1]


def test_to_frames_keeps_the_numbers():
    rows = np.array([[1.0, np.nan]])
    frames = to_frames(Training(rows, np.array([0]), rows))
    pd.testing.assert_frame_equal(frames.x, pd.DataFrame(rows, columns=["a0", "a1"]))
