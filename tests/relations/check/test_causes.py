"""Known causes are named where an experiment confirms them, and nowhere else: planted learners."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import datamorphic as dm
from datamorphic.relations.check.causes import has_equal_steps, place_along_attribute, read_causes
from datamorphic.relations.learners.repairs import REPAIRS, RepairedLearner, TiesByRows
from datamorphic.relations.learners.sklearn import LEARNER_RELATIONS
from datamorphic.systems.training import Training
from datamorphic.systems.weka import Weka, explain_missing_weka


class Bayes(BaseEstimator):
    """Naive Bayes with one planted mistake."""

    like = GaussianNB()

    def __init__(self, mistake=""):
        self.mistake = mistake

    def fit(self, X, y):
        x = np.asarray(X, dtype=float)
        self.step_ = np.ptp(x, axis=0) / 8 + 1e-12
        x = self.round(x)
        self.classes_, self.counts_ = np.unique(y, return_counts=True)
        groups = [x[np.asarray(y) == label] for label in self.classes_]
        self.means_ = np.array([group.mean(axis=0) for group in groups])
        smoothing = 1e-9 * x.var(axis=0).max() + 1e-300
        self.variances_ = np.array([group.var(axis=0) for group in groups]) + smoothing
        return self

    def round(self, x):
        if self.mistake == "grid":
            return np.rint(x / self.step_) * self.step_
        return np.round(x) if self.mistake == "whole numbers" else x

    def predict_proba(self, X):
        x = self.round(np.asarray(X, dtype=float))[:, None]
        if self.mistake == "fixed limit":
            x = np.where(x > 6, 6, x)
        shares = self.counts_ + {"one row more": 1.0, "half a row more": 0.5}.get(self.mistake, 0.0)
        likelihoods = -(np.log(self.variances_) + (x - self.means_) ** 2 / self.variances_).sum(axis=2) / 2
        scores = np.log(shares) + likelihoods
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Unseen(BaseEstimator):
    """The nearest neighbour; declared labels without rows have the greatest score."""

    like = KNeighborsClassifier(1)

    def fit(self, X, y, classes=None):
        self.model_ = KNeighborsClassifier(1).fit(X, y)
        self.classes_ = np.array(sorted(set(y)) if classes is None else classes)
        return self

    def predict_proba(self, X):
        table = np.full((len(X), len(self.classes_)), 2.0)
        table[:, np.isin(self.classes_, self.model_.classes_)] = self.model_.predict_proba(X)
        return table / table.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class FirstLabel(KNeighborsClassifier):
    """Answers the first label for a third of the cases, whatever their neighbours say: no tie."""

    def predict(self, X):
        labels = super().predict(X)
        return np.where(np.asarray(X)[:, 0] % 3 < 1, self.classes_[0], labels)


def find_causes(learner, relations, inputs):
    report = dm.check(learner, "random", relations, inputs=inputs)
    violated = {entry.relation for entry in report.entries if entry.violated}
    return violated, {name: cause.name for name, cause in report.causes.items()}


@pytest.mark.parametrize(
    ("learner", "relation", "inputs", "name"),
    [
        (KNeighborsClassifier(3), "MR-1.1", 40, "no tie rule"),
        (Bayes("one row more"), "MR-3.2 odds", 20, "Laplace correction"),
        (Unseen(), "MR-5.1", 20, "labels without rows"),
        (Bayes("grid"), "MR-0", 100, "rounding to a grid of the data"),
        (Bayes("whole numbers"), "MR-0", 100, "rounding of numbers"),
    ],
    ids=str,
)
def test_causes_are_named(learner, relation, inputs, name):
    violated, causes = find_causes(learner, [relation, "refit"], inputs)
    assert relation in violated
    assert causes == {relation: name}


@pytest.mark.parametrize(
    ("learner", "relation", "inputs"),
    [
        (Bayes("half a row more"), "MR-3.2 odds", 20),
        (Bayes("fixed limit"), "MR-0", 40),
        (FirstLabel(1), "MR-1.1", 20),
        (KNeighborsClassifier(3), "MR-4.1", 40),  # ties are not all: copies replace neighbours
        (KNeighborsClassifier(1, metric="cosine"), "MR-0", 40),
    ],
    ids=str,
)
def test_no_cause_is_named_where_the_pattern_does_not_fit(learner, relation, inputs):
    violated, causes = find_causes(learner, [relation, "refit"], inputs)
    assert relation in violated
    assert causes == {}


def test_correct_learners_have_no_causes():
    assert find_causes(Bayes(), ["MR-0", "MR-3.2 odds", "refit"], inputs=20) == (set(), {})


def test_a_cause_is_shown_on_the_page_the_terminal_and_in_json():
    report = dm.check(KNeighborsClassifier(3), "random", ["MR-1.1"], inputs=30)
    cause = report.causes["MR-1.1"]
    assert cause.violated_after == 0
    assert cause.violated_before >= 3
    words = " ".join(report.describe().split())
    assert "Cause: no tie rule." in words
    assert "Repair: Decide ties by something" in words
    assert f"violated in 0 instead of {cause.violated_before} of {cause.cases} cases" in words
    assert json.loads(report.to_json())["causes"]["MR-1.1"]["name"] == "no tie rule"
    assert "no tie rule" in report.to_html()
    assert "Cause: no tie rule" in report.to_junit()
    assert not dm.check(KNeighborsClassifier(3), "random", ["MR-1.1"], inputs=30, shrink=False).causes


def test_the_table_names_repairs_and_relations_that_exist():
    causes = read_causes()
    assert {cause.repair for cause in causes} == set(REPAIRS)
    assert {name for cause in causes for name in (*cause.relations, *cause.holding)} <= set(LEARNER_RELATIONS)


def test_ties_by_rows_take_the_label_of_the_earliest_row():
    repair = TiesByRows()
    repair.learn(None, np.array(["b", "a", "b", "c"]))
    scores = np.array([[0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.3, 0.3, 0.4]])
    assert repair.choose(scores, ["a", "b", "c"]).tolist() == [1, 0, 2]


def test_equal_steps_are_told_from_votes_and_from_smooth_scores():
    places = np.linspace(0.003, 8.003, 401)[:, None]
    assert has_equal_steps(np.round(places))
    assert not has_equal_steps(np.sin(places))
    assert not has_equal_steps(np.searchsorted([0.3, 1.1, 1.4, 2.9, 4.2, 4.4, 6.0, 7.9], places).astype(float))
    assert not has_equal_steps(np.zeros((401, 2)))


def test_a_case_moves_along_the_first_attribute_that_varies():
    x = np.array([[1.0, 5.0], [1.0, 9.0]])
    moved = place_along_attribute(Training(x, np.array(["a", "b"]), np.array([[1.0, 6.0]])))
    assert moved.t[[0, -1]].tolist() == [[1.0, 5.0], [1.0, 9.0]]
    assert np.array_equal(moved.x, x)
    assert place_along_attribute(Training(x[:, :1], np.array(["a", "b"]), np.array([[1.0]]))) is None


@pytest.mark.parametrize("repair", ["shares as counted", "labels with rows"])
def test_corrected_scores_are_probabilities(repair):
    learner = RepairedLearner(KNeighborsClassifier(3), repair)
    x, y = np.arange(8.0)[:, None], np.array(list("aabbbbcc"))
    scores = learner.fit(x, y).predict_proba(x)
    assert scores.sum(axis=1) == pytest.approx(np.ones(8))
    assert learner.set_params(n_neighbors=1).learner.n_neighbors == 1


@pytest.mark.integration
@pytest.mark.skipif(bool(explain_missing_weka()), reason=explain_missing_weka())
def test_the_published_faults_of_weka_have_their_published_causes():
    violated, causes = find_causes(Weka("NaiveBayes"), ["MR-0", "MR-3.2 odds"], inputs=120)
    assert violated == {"MR-0", "MR-3.2 odds"}
    assert causes == {"MR-0": "rounding to a grid of the data", "MR-3.2 odds": "Laplace correction"}
    assert find_causes(Weka("IBk -K 3"), ["MR-1.1"], inputs=40)[1] == {"MR-1.1": "no tie rule"}
