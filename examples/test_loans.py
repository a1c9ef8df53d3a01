"""A pytest suite for a model of loans. Run it with: pytest examples/test_loans.py"""

from __future__ import annotations

import pytest
from applicants import applicants
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm

ROWS = applicants(300).drop(columns=["gender", "home"])
INPUTS, DECISION = ROWS.drop(columns="decision"), ROWS["decision"]


@pytest.fixture(scope="module")
def model():
    """Return the model under test; a real suite would load it from a file."""
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(INPUTS, DECISION)


@pytest.mark.parametrize("relation", ["repeats", "row order", "batches", "row labels"])
def test_it_is_a_function(model, relation):
    """An answer belongs to its case."""
    dm.assert_holds(model, INPUTS, relation)


def test_more_income_never_speaks_against_a_loan(model):
    """A promise to the customers."""
    dm.assert_holds(model, INPUTS, dm.monotone("income", "up", outcome="approved"))


def test_the_border_has_not_moved(model, tmp_path):
    """A real suite keeps the baseline beside it."""
    baseline = tmp_path / "front.parquet"
    dm.explore(model, INPUTS, walks=100).save(baseline)
    dm.assert_front_unchanged(model, INPUTS, baseline=baseline)


def test_the_data_reach_every_leaf():
    """Test data that miss a leaf say nothing of it."""
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(INPUTS, DECISION)
    dm.assert_covers(tree, INPUTS, criterion="DTC", at_least=0.9)


@dm.parametrize_with_relations([KNeighborsClassifier(1), GaussianNB()])
def test_learners_keep_what_their_algorithms_promise(learner, relation):
    """One test for each learner and relation."""
    relation(learner)
