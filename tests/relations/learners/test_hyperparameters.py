"""Other values of a learner's parameters, and relations that must hold for them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.relations.check.violation import training_from_json, training_to_json
from datamorphic.relations.learners.hyperparameters import VariedParameters, list_parameter_values
from datamorphic.relations.learners.result import LearnerSubject
from datamorphic.relations.learners.sampling import draw_random_training
from datamorphic.systems.training import Training


class Nearest(ClassifierMixin, BaseEstimator):
    """The nearest row; wrong labels as soon as it is told to be quick."""

    def __init__(self, quick=False, verbose=False):
        self.quick, self.verbose = quick, verbose

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.x, self.y = np.asarray(X), np.asarray(y)
        return self

    def predict(self, X):
        nearest = np.abs(self.x - np.asarray(X)[:, None])[:, :, 1 if self.quick else 0 :].sum(axis=2).argmin(axis=1)
        return self.y[nearest]


def test_documented_choices_and_boundaries_are_other_values():
    values = list_parameter_values(SVC())
    assert {value for name, value in values if name == "kernel"} == {"linear", "poly", "sigmoid"}  # rbf is the default
    assert [value for name, value in values if name == "C"] == [0.001, np.inf]  # the range is open at 0
    assert [value for name, value in values if name == "degree"] == [0, 1]
    assert [value for name, value in values if name == "shrinking"] == [False]
    assert not {"random_state", "verbose", "cache_size"} & {name for name, _ in values}
    tree = list_parameter_values(DecisionTreeClassifier(max_depth=1))
    assert [value for name, value in tree if name == "max_depth"] == [2, None]
    assert [value for name, value in tree if name == "min_weight_fraction_leaf"] == [0.001, 0.5, 0.499]


def test_of_other_learners_only_switches_have_other_values():
    assert list_parameter_values(Nearest()) == (("quick", True),)
    assert list_parameter_values(object()) == ()


def test_half_of_the_training_sets_are_for_another_value():
    def draw(rng, cases):
        return draw_random_training(rng, cases)

    sampler = VariedParameters(draw=draw, values=(("p", 1), ("p", 3), ("weights", "distance")))
    sets = [sampler(np.random.default_rng(number), 1) for number in range(400)]
    varied = [training.parameters for training in sets if training.parameters]
    assert 150 < len(varied) < 250
    assert {pair for (pair,) in varied} == set(sampler.values)
    assert (
        sampler.describe()
        == "50% of the training sets with another value of one parameter (3 other values of 2 parameters)"
    )
    assert "no other value" in VariedParameters(draw=draw, values=()).describe()


def test_what_must_hold_is_looked_up_for_the_value():
    data = Training(np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([[1.0]]), parameters=(("metric", "cosine"),))
    subject = LearnerSubject(KNeighborsClassifier(3))
    assert subject.find_reference(data).metric == "cosine"
    assert subject.find_reference(data.cases([0])).n_neighbors == 3
    assert (
        LearnerSubject(Nearest(), like=LinearRegression()).find_reference(data).get_params()
        == LinearRegression().get_params()
    )


@pytest.mark.slow
def test_a_fault_behind_a_parameter_is_found_and_shown():
    """The planted fault ignores the first attribute, so the order of attributes matters."""
    like = KNeighborsClassifier(1, metric="manhattan")
    options = {"relations": "MR-1.2", "like": like, "inputs": 60, "progress": False}
    assert dm.check(Nearest(), **options).passed
    report = dm.check(Nearest(), vary_parameters=True, **options)
    assert not report.passed
    assert ", with quick=True" in report.shrunk(0).describe()
    assert "1 other value of 1 parameter" in report.data


def test_stored_training_data_keep_the_parameters():
    data = Training(
        np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([[1.0]]), parameters=(("C", np.inf), ("kernel", "poly"))
    )
    assert training_from_json(training_to_json(data)).parameters == data.parameters
