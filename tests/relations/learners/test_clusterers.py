"""Relations of clusterers: follow-ups, expected clusters, requirements, random data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, Birch, KMeans, MeanShift, SpectralClustering
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import datamorphic as dm
from datamorphic.errors import ArgumentError, DataError, ModelError, TestSystemError
from datamorphic.relations.learners.base import ClusterRelation
from datamorphic.relations.learners.cluster_sampling import make_cluster_sampler, make_rows_sampler, make_training
from datamorphic.relations.learners.clusterers import CLUSTER_RELATIONS
from datamorphic.relations.learners.necessity import find_requirement, is_known_learner
from datamorphic.relations.learners.table import build_requirements, read_learners
from datamorphic.relations.learners.waves import TrainingSource
from datamorphic.space.partition import RowPartition
from datamorphic.systems.clusterer import Clusterer

ROWS = np.array([[0.0, 1.0], [0.5, 1.0], [8.0, 3.0], [8.0, 3.5], [4.0, 9.0]])
CLUSTERERS = [name for name, row in read_learners().items() if row.kind == "clusterer" and " " not in name]
OF_ALL_CLUSTERERS = {
    "fitted to other rows",
    "rows in frames",
    "sparse rows",
    "equal rows",
    "one place",
    "rows answered",
}
CLUSTERS = RowPartition([0, 0, 1, 1, -1])


class FirstRowMoved(AgglomerativeClustering):
    """A planted fault: the first row gets the cluster of the last one."""

    def fit_predict(self, X, y=None):
        labels = super().fit_predict(X)
        return np.concatenate([labels[-1:], labels[1:]])


class Unrepeatable(AgglomerativeClustering):
    """A clusterer that groups at random."""

    def fit_predict(self, X, y=None):
        return np.random.default_rng().integers(3, size=len(X))


class RandomStart(KMeans):
    """A clusterer whose clusters depend on its seed only."""

    def fit_predict(self, X, y=None):
        return np.random.default_rng([self.random_state, len(X), int(1e6 * abs(X[0, 0]))]).integers(3, size=len(X))


def follow(name, learner=None):
    data = make_training(learner or DBSCAN(), ROWS)
    relation = CLUSTER_RELATIONS[name]
    follow_up = relation.follow_up(data, CLUSTERS, np.random.default_rng(0))
    return data, follow_up, relation.expected(CLUSTERS, data, follow_up), relation.change(data, follow_up)


def check(learner, **options):
    return dm.check(learner, **{"inputs": 5, "progress": False, "shrink": False, **options})


def test_rows_keep_their_clusters_in_another_order():
    data, follow_up, expected, _ = follow("rows reordered", KMeans(2))
    places = [int(np.flatnonzero((data.x == row).all(axis=1))[0]) for row in follow_up.x]
    assert sorted(places) == [0, 1, 2, 3, 4] != places
    assert expected == RowPartition(CLUSTERS.array[places])
    assert follow_up.labels == (0, 1)


def test_doubled_rows_are_with_their_copies():
    _, follow_up, expected, _ = follow("rows doubled")
    assert follow_up.x.tolist() == [*ROWS.tolist(), *ROWS.tolist()]
    assert expected == RowPartition([0, 0, 1, 1, -1] * 2)


def test_numbers_are_scaled_and_shifted_alike():
    _, follow_up, _, text = follow("all features scaled")
    factors = follow_up.x[ROWS > 0] / ROWS[ROWS > 0]
    assert np.unique(factors).size == 1
    assert np.log2(factors[0]) % 1 == 0
    assert text == f"all numbers multiplied by {factors[0]:g}"
    _, follow_up, _, _ = follow("all features shifted")
    assert np.allclose(np.ptp(follow_up.x - ROWS, axis=0), 0)
    assert (follow_up.x != ROWS).all()


def test_a_row_moves_onto_the_mean_of_its_cluster():
    _, follow_up, expected, text = follow("row on its centre")
    (row,) = np.flatnonzero((follow_up.x != ROWS).any(axis=1))
    assert follow_up.x[row].tolist() == ROWS[CLUSTERS.array == CLUSTERS.labels[row]].mean(axis=0).tolist()
    assert (expected, text) == (CLUSTERS, f"row {row} moved onto the mean of its cluster")


def test_a_far_copy_is_one_more_cluster():
    _, follow_up, expected, _ = follow("far cluster", KMeans(2))
    assert expected == RowPartition([0, 0, 1, 1, -1, 2, 2])
    assert follow_up.labels == (0, 1, 2)
    assert (np.abs(follow_up.x[5:, None] - ROWS) > 3 * np.ptp(ROWS, axis=0)).all()


@pytest.mark.parametrize("name", ["row on its centre", "far cluster"])
def test_relations_that_need_a_cluster_do_not_apply_to_noise(name):
    data = make_training(DBSCAN(), ROWS)
    assert CLUSTER_RELATIONS[name].follow_up(data, RowPartition([-1] * 5), np.random.default_rng(0)) is None
    entry = check(DBSCAN(eps=0.5, min_samples=500), relations=name).entries[0]
    assert entry.inapplicable == 5
    assert "does not apply to this answer" in next(iter(entry.messages))


def test_every_relation_has_a_place_in_the_table():
    for name in CLUSTERERS:
        requirements = build_requirements(read_learners()[name], _make(name), "")
        assert set(CLUSTER_RELATIONS) <= set(requirements), name
        assert requirements["fitted again"].necessary


def _make(name):
    from sklearn import cluster, mixture

    return getattr(cluster, name, None)() if hasattr(cluster, name) else getattr(mixture, name)()


@pytest.mark.parametrize(
    ("learner", "relation", "necessary"),
    [
        (AgglomerativeClustering(3), "all features scaled", True),
        (AgglomerativeClustering(None, distance_threshold=1), "all features scaled", False),
        (AgglomerativeClustering(None, distance_threshold=1), "rows doubled", False),
        (AgglomerativeClustering(None, distance_threshold=1, linkage="single"), "rows doubled", True),
        (DBSCAN(), "rows reordered", True),
        (DBSCAN(), "all features scaled", False),
        (make_pipeline(StandardScaler(), DBSCAN()), "all features scaled", True),
        (make_pipeline(StandardScaler(), DBSCAN()), "far cluster", False),
        (DBSCAN(metric="cosine"), "all features shifted", False),
        (HDBSCAN(), "all features scaled", True),
        (HDBSCAN(cluster_selection_epsilon=1.0), "all features scaled", False),
        (KMeans(3, init=np.zeros((3, 2))), "all features shifted", False),
        (GaussianMixture(3), "rows doubled", True),
        (GaussianMixture(2, means_init=[[0], [1]]), "rows doubled", False),
        (BayesianGaussianMixture(n_components=3), "rows doubled", False),
        (MeanShift(), "all features scaled", True),
        (MeanShift(bandwidth=1), "all features scaled", False),
        (SpectralClustering(), "all features scaled", False),
        (Birch(), "rows reordered", False),
    ],
)
def test_the_table_depends_on_parameters(learner, relation, necessary):
    assert find_requirement(relation, learner).necessary is necessary
    assert is_known_learner(learner)


def test_rows_at_the_border_of_two_clusters_exempt_from_the_order_of_rows():
    sides = np.array([[0.0], [0.1], [0.2], [1.0], [1.8], [1.9], [2.0]])
    learner = DBSCAN(eps=0.81, min_samples=4)
    requirement = find_requirement("rows reordered", learner, make_training(learner, sides))
    assert not requirement.necessary
    assert "border of two clusters" in requirement.reason
    assert find_requirement("rows reordered", learner, make_training(learner, sides[:3])).necessary
    assert "eps is greater" in find_requirement("far cluster", DBSCAN(eps=9), make_training(learner, sides)).reason
    assert "precision" in find_requirement("rows doubled", KMeans(), make_training(KMeans(), sides + 1e9)).reason


@pytest.mark.parametrize(("learner", "groups"), [(KMeans(4), 4), (KMeans(8), 8), (DBSCAN(eps=0.01), 3)])
def test_random_groups_are_found(learner, groups):
    draw = make_cluster_sampler(learner)
    sizes = []
    for seed in range(10):
        data = draw(np.random.default_rng(seed), 1)
        assert 20 <= len(data.y) <= 53
        assert 2 <= data.x.shape[1] <= 4
        sizes.append(len(Clusterer(learner).execute(data).values[0].sizes))
    assert sorted(sizes)[5] == groups


def test_rows_of_a_frame_need_no_target():
    frame = pd.DataFrame({"a": np.arange(200.0), "b": 1.0, "kind": "x"})
    data = make_rows_sampler(KMeans(2), frame, "kind", 30)(np.random.default_rng(0), 1)
    assert (list(data.x.columns), len(data.y), data.labels) == (["a", "b"], 100, (0, 1))
    assert TrainingSource.of(frame, None, 30, 300, 0, KMeans(2)).count == 15
    with pytest.raises(DataError, match="The data have 1 row"):
        make_rows_sampler(KMeans(2), frame[:1], None)
    with pytest.raises(ArgumentError, match="needs a frame"):
        make_rows_sampler(KMeans(2), [1, 2], None)


@pytest.mark.slow
def test_clusterers_are_checked_on_a_frame_with_and_without_target():
    iris = dm.data.load("iris")
    report = check(make_pipeline(StandardScaler(), AgglomerativeClustering(3)), data=iris, target="target", inputs=40)
    assert report.passed
    judged_counts = {entry.relation: entry.judged for entry in report.entries if entry.necessary}
    # the scaler refuses sparse rows, frames are given, and so is the number of clusters
    assert [judged_counts.pop(name) for name in ("sparse rows", "rows in frames", "one place")] == [0, 0, 0]
    assert set(judged_counts.values()) == {2}
    assert "parts of them" in report.data
    assert check(AgglomerativeClustering(3), data=iris.drop(columns="target"), relations="rows doubled").passed


@pytest.mark.slow
def test_violations_show_which_rows_changed_and_are_replayed(tmp_path):
    options = {"like": AgglomerativeClustering(3), "relations": "rows reordered", "shrink": True}
    options["inputs"] = 2
    report = check(FirstRowMoved(3), store=f"sqlite:///{tmp_path / 'runs.db'}", **options)
    assert not report.passed
    violation = report.shrunk(0)
    assert len(violation.example.case) == violation.follow_up.x.shape[1]
    assert violation.example.answer == violation.before
    assert violation.shrunk
    assert violation.size[0] < 8
    assert violation.changed_rows
    lines = violation.describe().split("\n")
    assert any("expected cluster" in line for line in lines)
    assert lines[-1].startswith(f"moved    {len(violation.changed_rows)} of {violation.size[0]} rows")
    document = report.document()
    assert document["examples"]["rows reordered"]["changed_rows"] == violation.changed_rows
    assert "clusters of" in document["violations"][0]["before"]
    assert "Rows in another cluster" in report.to_html()
    again = check(FirstRowMoved(3), store=f"sqlite:///{tmp_path / 'runs.db'}", **options)
    assert again.entries[0].replayed == 1


@pytest.mark.slow
def test_clusters_that_depend_on_the_random_start_are_set_aside():
    report = check(RandomStart(3), like=KMeans(3), relations=["fitted again", "rows reordered"])
    again, order = report.entries
    assert (again.holds, again.violated) == (5, 0)
    assert order.messages == {"the clusters depend on the random start": 5}


def test_clusterers_that_are_not_repeatable_are_judged_by_one_relation():
    report = check(Unrepeatable(3), like=AgglomerativeClustering(3))
    assert [entry.relation for entry in report.faults] == ["fitted again"]
    assert {entry.verdict for entry in report.entries[1:]} == {"not judged"}
    assert "No other relation can be judged" in report.notes[0]


@pytest.mark.slow
def test_own_relations_are_judged_by_the_labels_they_expect():
    class Backwards(ClusterRelation):
        name = "rows backwards"
        statement = "the rows in reverse order: the same clusters"

        def follow_up(self, data, partition, rng):
            return data.rows(slice(None, None, -1))

        def expected(self, partition, data, made):
            return partition.labels[::-1]

    assert "In the domain of clusterers" in str(Backwards())
    entry = check(DBSCAN(), relations=Backwards).entries[0]
    assert (entry.judged, entry.violated, entry.reason) == (5, 0, "a relation of your own")

    class Short(Backwards):
        def expected(self, partition, data, made):
            return partition.labels[1:]

    with pytest.raises(TestSystemError, match="must return a label for each"):
        check(DBSCAN(), relations=Short)
    with pytest.raises(NotImplementedError, match="must implement follow_up"):
        check(DBSCAN(), relations=type("Empty", (ClusterRelation,), {"name": "empty"}))


def test_wrong_requests_are_rejected():
    with pytest.raises(ModelError, match="is about clusterers, but KNeighborsClassifier is not one"):
        check(KNeighborsClassifier(), relations="rows doubled")
    with pytest.raises(ArgumentError, match="one after the other"):
        check(KMeans(), relations=["rows doubled", "MR-0"])
    with pytest.raises(ArgumentError, match="clusters have no scores"):
        check(KMeans(), strictness={"rows doubled": "score_exact"})


@dm.parametrize_with_relations([AgglomerativeClustering(3)])
def test_relations_of_a_clusterer_become_tests(learner, relation):
    relation(learner, cases=3)


def test_the_table_of_the_guide_is_that_of_the_code():
    guide = (Path(__file__).parents[3] / "docs" / "guides" / "promises-of-learners.md").read_text(encoding="utf-8")
    for name in CLUSTERERS:
        table = build_requirements(read_learners()[name], _make(name), "")
        requirements = [table[relation] for relation in CLUSTER_RELATIONS if relation not in OF_ALL_CLUSTERERS]
        signs = ["●" if s.necessary else "○" if s.strictness == "expected_failure" else "·" for s in requirements]
        assert f"| `{name}` | {' | '.join(signs)} |" in guide
