"""Clusterers keep what the table says they must, and planted faults are found."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture

import datamorphic as dm
from support.cases import LONG

SETS = 200 if LONG else 6
FAULT_SETS = 50


class DependsOnOrder(AgglomerativeClustering):
    """The first row gets the cluster of the second one."""

    def fit_predict(self, X, y=None):
        labels = super().fit_predict(X)
        return np.concatenate([labels[1:2], labels[1:]])


class IgnoresFeature(AgglomerativeClustering):
    """The last feature is ignored."""

    def fit_predict(self, X, y=None):
        return super().fit_predict(X[:, :-1])


class CountsDuplicatesWrongly(AgglomerativeClustering):
    """Rows that occurred before are noise."""

    def fit_predict(self, X, y=None):
        first = np.unique(X, axis=0, return_index=True)[1]
        return np.where(np.isin(np.arange(len(X)), first), super().fit_predict(X), -1)


class DependsOnScale(AgglomerativeClustering):
    """Numbers are rounded."""

    def fit_predict(self, X, y=None):
        return super().fit_predict(np.round(X))


class LosesLastRow(AgglomerativeClustering):
    """The last row is noise."""

    def fit_predict(self, X, y=None):
        return np.append(super().fit_predict(X[:-1]), -1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [KMeans(3), AgglomerativeClustering(3), DBSCAN(), GaussianMixture(3), HDBSCAN()],
    ids=lambda learner: type(learner).__name__,
)
def test_clusterers_keep_what_they_must(learner):
    report = dm.check(learner, relations="necessary", inputs=SETS, shrink=False, progress=False)
    assert not report.faults, report.describe()
    assert {entry.undefined for entry in report.entries} == {0}
    without_cases = {"one place", "sparse rows"}  # for a given number of clusters, and for dense matrices alone
    judged = {entry.relation: entry.judged for entry in report.entries}
    assert all(count >= 0.9 * SETS for relation, count in judged.items() if relation not in without_cases), judged


@pytest.mark.slow
@pytest.mark.parametrize(
    ("faulty", "relation"),
    [
        (DependsOnOrder, "rows reordered"),
        (IgnoresFeature, "features reordered"),
        (CountsDuplicatesWrongly, "rows doubled"),
        (DependsOnScale, "all features scaled"),
        (LosesLastRow, "rows reordered"),
    ],
)
def test_planted_faults_are_found(faulty, relation):
    like = AgglomerativeClustering(3)
    report = dm.check(faulty(3), like=like, relations=[relation], inputs=FAULT_SETS, shrink=False, progress=False)
    assert relation in [entry.relation for entry in report.faults]
