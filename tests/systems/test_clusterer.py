"""Clusterers as systems, and partitions of rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from datamorphic.errors import ArgumentError
from datamorphic.systems.clusterer import (
    Clusterer,
    RowPartition,
    find_cluster_count,
    find_length,
    find_seeds,
    is_clusterer,
)
from datamorphic.systems.training import Training

ROWS = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.2]])


class FitOnly:
    """A clusterer without conventions."""

    n_clusters = 2
    like = KMeans(2)

    def fit(self, x):
        self.labels_ = (np.asarray(x)[:, 0] * self.n_clusters / 10).astype(int)


def make_training(labels=None, seed_shift=0):
    return Training(ROWS, np.zeros(len(ROWS)), ROWS[:1], labels, seed_shift=seed_shift)


def test_partitions_ignore_the_numbers_of_clusters_but_not_noise():
    assert RowPartition([3, 3, 1]) == RowPartition(np.array([0, 0, 7]))
    assert len({RowPartition([3, 3, 1]), RowPartition([0, 0, 7])}) == 1
    assert RowPartition([0, 0, -1]) != RowPartition([0, 0, 1])
    assert not RowPartition([0, 0, -1]).agrees(RowPartition([0, 0, 1]))
    assert not RowPartition([0, 0]).agrees(RowPartition([0, 0, 1]))


def test_partitions_agree_up_to_one_percent():
    labels = np.repeat([0, 1], 500)
    nearly = labels.copy()
    nearly[:2] = 1
    assert RowPartition(labels) != RowPartition(nearly)
    assert RowPartition(labels).agrees(RowPartition(nearly))
    nearly[:20] = 1
    assert not RowPartition(labels).agrees(RowPartition(nearly))


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ([0], "1 cluster of 1 row"),
        ([0, 1, 1, 2], "3 clusters of 2, 1 and 1 rows"),
        ([-1, -1], "0 clusters, 2 rows of noise"),
        (range(8), "8 clusters of 1, 1, 1, 1, 1, 1, ... rows"),
    ],
)
def test_partitions_are_described_briefly(labels, text):
    assert str(RowPartition(list(labels))) == text


def test_changed_rows_are_found_by_the_best_match_of_clusters():
    before, after = RowPartition([0, 0, 0, 1, 1, -1]), RowPartition([5, 0, 0, 1, 1, 2])
    assert after.number_like(before).tolist() == [2, 0, 0, 1, 1, 3]
    assert after.find_changed_rows(before).tolist() == [0, 5]


@pytest.mark.parametrize(
    ("learner", "expected"),
    [
        (KMeans(), True),
        (DBSCAN(), True),
        (GaussianMixture(), True),
        (make_pipeline(StandardScaler(), KMeans()), True),
        (FitOnly(), True),
        (IsolationForest(), False),
        (KNeighborsClassifier(), False),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), False),
        (LinearRegression(), False),
        (PCA(), False),
        (3, False),
    ],
)
def test_clusterers_are_recognised(learner, expected):
    assert is_clusterer(learner) is expected


def test_parameters_are_found_in_the_last_step():
    pipeline = make_pipeline(PCA(1), GaussianMixture(4))
    assert find_cluster_count(pipeline) == ("gaussianmixture__n_components", 4)
    assert find_cluster_count(DBSCAN()) is None
    assert find_length(DBSCAN(eps=0.7)) == 0.7
    assert find_length(KMeans()) is None
    assert find_seeds(KMeans(random_state=3)) == {"random_state": 3}
    assert find_seeds(DBSCAN()) == {}


@pytest.mark.parametrize(
    "learner", [KMeans(2), GaussianMixture(2), FitOnly(), make_pipeline(StandardScaler(), KMeans(2))]
)
def test_declared_labels_set_the_number_of_clusters(learner):
    assert len(Clusterer(learner).execute(make_training()).values[0].sizes) == 2
    assert Clusterer(learner).execute(make_training(tuple("abc"))).values[0] == RowPartition([0, 0, 1, 1, 2, 2])


def test_the_seed_is_shifted():
    class Seeded(KMeans):
        def fit_predict(self, x, y=None):
            return np.arange(len(x)) < self.random_state

    answers = [Clusterer(Seeded(random_state=1)).execute(make_training(seed_shift=shift)).values[0] for shift in (0, 2)]
    assert [answer.sizes[0] for answer in answers] == [1, 3]


def test_failures_and_wrong_answers_are_messages():
    class Short(KMeans):
        def fit_predict(self, x, y=None):
            return np.zeros(len(x) - 1)

    for learner, message in ((KMeans(9), "n_samples=6"), (Short(), r"shape \(5,\) for 6 rows")):
        outputs = Clusterer(learner).execute(make_training())
        assert not outputs.ok.any()
        with pytest.raises(AssertionError, match=message):
            raise AssertionError(outputs.messages[0])


def test_something_without_fit_is_rejected():
    with pytest.raises(ArgumentError, match="an object with fit"):
        Clusterer(KMeans)
