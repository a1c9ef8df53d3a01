"""Wrappers of learners: what they hide is noted, and what they are like is not tested for truth."""

import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import datamorphic as dm
from datamorphic.relations.check.wrappers import find_hidden_parameters
from datamorphic.relations.learners.result import LearnerSubject


class Wrapper(ClassifierMixin, BaseEstimator):
    """A wrapper that passes nothing on."""

    def __init__(self):
        self.model = self.make()

    def make(self):
        return RandomForestClassifier(3)

    def fit(self, X, y):
        self.model.fit(X, y)
        self.classes_ = self.model.classes_
        return self

    def predict(self, X):
        return self.model.predict(X)


class OpenWrapper(Wrapper):
    def __init__(self, random_state=None):
        self.random_state = random_state
        self.model = RandomForestClassifier(3, random_state=random_state)


class PlainWrapper(Wrapper):
    def make(self):
        return LogisticRegression()


class ClusterWrapper(ClusterMixin, BaseEstimator):
    like = KMeans(3)

    def fit_predict(self, X, y=None):
        return KMeans(3, random_state=0).fit_predict(X)

    def fit(self, X, y=None):
        self.labels_ = self.fit_predict(X)
        return self


def test_a_hidden_random_state_is_noted():
    (note,) = find_hidden_parameters(Wrapper())
    assert note.startswith("Wrapper hides the random_state of its model: ")
    report = dm.check(Wrapper(), relations="refit", inputs=3, shrink=False)
    assert note in report.notes
    assert "hides the random_state" in report.describe()


@pytest.mark.parametrize("learner", [OpenWrapper(), PlainWrapper(), RandomForestClassifier(3), KNeighborsClassifier()])
def test_nothing_hidden_is_not_noted(learner):
    assert find_hidden_parameters(learner) == []


def test_a_hidden_number_of_clusters_is_noted():
    (note,) = find_hidden_parameters(ClusterWrapper())
    assert note.startswith("ClusterWrapper hides n_clusters: ")
    assert find_hidden_parameters(KMeans(3)) == []


def test_an_ensemble_that_is_not_fitted_can_be_what_a_learner_is_like():
    class Forest(OpenWrapper):
        like = RandomForestClassifier(3)  # its length is unknown, so it is neither true nor false

    with pytest.raises(AttributeError):
        len(Forest.like)
    assert LearnerSubject(Forest()).neighbours == 0
    assert LearnerSubject(KNeighborsClassifier(3), RandomForestClassifier(3)).neighbours == 0
    report = dm.check(Forest(0), relations="refit", inputs=3, shrink=False)
    assert report.known
