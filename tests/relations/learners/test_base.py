"""Changes of training data and expectations about labels and clusters, composed by ``>>``."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.cluster import DBSCAN
from sklearn.neighbors import KNeighborsClassifier

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.relations.algebra.change import Change
from datamorphic.relations.algebra.one_way import OneWay
from datamorphic.relations.learners.base import (
    ClusterRelation,
    LearnerRelation,
    SameClusters,
    SameLabel,
    SameLabels,
    TrainingChange,
)
from datamorphic.relations.learners.sklearn import LEARNER_RELATIONS


class EqualRow(TrainingChange):
    """A row is added that is far from all others."""

    clause = "one more row, far from the others, with the label of the first"
    needs = ("all attributes are numbers",)

    def find_obstacle(self, learner, data):
        return "" if len(data.numeric) == data.x.shape[1] else "some attributes are not numbers"

    def follow_up(self, data, labels, rng):
        far_row = data.rows([0])
        return data.appended(far_row.x + 1e6, far_row.y)


class OneMoreCluster(SameClusters):
    clause = "the same clusters, and the row is noise"

    def expected(self, partition, data, made):
        return [*partition.labels, -1]


def test_a_change_of_training_data_composes_with_expectations_about_labels_and_about_clusters():
    labels, clusters = EqualRow() >> SameLabels(), EqualRow() >> OneMoreCluster()
    assert isinstance(labels, LearnerRelation)
    assert not isinstance(labels, ClusterRelation)
    assert isinstance(clusters, ClusterRelation)
    assert (labels.scores, clusters.scores, clusters.labelled, clusters.seeded) == (True, False, False, True)
    assert labels.statement == "one more row, far from the others, with the label of the first: the same labels"
    assert labels.needs == ("all attributes are numbers",)
    assert repr(clusters.named("far row")) == "ClusterRelation('far row')"
    assert clusters.named("far row", statement="far: alone").statement == "far: alone"
    table = dm.check(KNeighborsClassifier(1), "random", labels.named("far row"), inputs=20).table
    assert table[["relation", "violated"]].values.tolist() == [["far row", 0]]
    assert table["inapplicable"].sum() < 20
    assert dm.check(DBSCAN(), relations=clusters.named("far row"), inputs=10).table["violated"].tolist() == [0]
    with pytest.raises(dm.errors.TestSystemError, match=r"The relation 'far' expects clusters of \d+ rows"):
        dm.check(DBSCAN(), relations=(EqualRow() >> SameClusters()).named("far"), inputs=10)


def test_a_relation_gives_its_change_to_another_expectation():
    permuted = LEARNER_RELATIONS["MR-1.2"] >> SameLabel()
    assert (permuted.scores, LEARNER_RELATIONS["MR-1.2"].scores) == (False, True)
    assert permuted.statement == "the attributes in another order: the same label"
    data_change = LEARNER_RELATIONS["MR-1.2"].data_change
    report = dm.check(DBSCAN(), relations=(data_change >> SameClusters()).named("permuted"), inputs=10)
    assert report.table["violated"].tolist() == [0]


def test_the_old_name_of_an_obstacle_leads_to_that_of_the_change():
    relation = EqualRow() >> SameLabels()
    data = SimpleNamespace(numeric=(), x=np.zeros((2, 1)))
    with pytest.warns(DeprecationWarning, match="find_obstacle"):
        assert relation.why_not(None, data) == "some attributes are not numbers"


def test_a_change_of_training_data_needs_an_expectation_about_learners():
    with pytest.raises(ArgumentError, match="must be an expectation about labels or clusters"):
        EqualRow() >> dm.patterns["Equality"].output()


@pytest.mark.parametrize(
    ("compose", "message"),
    [
        (lambda: TrainingChange() >> 3, r"The right side of >> must be an expectation about labels .* Got 3 instead\."),
        (lambda: Change(column="a", factor=2) >> 3, r"The right side of >> must be an output pattern, as in .* Got 3"),
        (lambda: OneWay(direction="up") & 3, r"The right side of & must be an output pattern, as in .* Got 3"),
    ],
)
def test_what_does_not_compose_is_refused_in_one_sentence(compose, message):
    with pytest.raises(ArgumentError, match=message):
        compose()
