"""The check "learning": training keeps what its algorithm promises."""

from __future__ import annotations

import datamorphic as dm
from datamorphic.relations.learners.clusterers import CLUSTER_RELATIONS
from datamorphic.relations.learners.sklearn import LEARNER_RELATIONS


def test_a_learner_that_depends_on_the_order_of_its_rows_is_a_fault(monkeypatch):
    from sklearn.naive_bayes import GaussianNB

    fit = GaussianNB.fit
    monkeypatch.setattr(GaussianNB, "fit", lambda self, X, y, sample_weight=None: fit(self, X[:30], y[:30]))
    relations = {name: LEARNER_RELATIONS[name] for name in ("sample order", "MR-0")}
    monkeypatch.setattr("datamorphic.audit.checks.learner.LEARNER_RELATIONS", relations)
    iris = dm.data.load("iris")
    result = dm.test(GaussianNB(), iris, target="target", only="learning", budget="20s", progress=False)
    finding = next(finding for finding in result.findings if finding.about == "sample order")
    assert finding.level == "fault"
    assert finding.title == (
        "Training violates a relation that its algorithm must satisfy: “the training rows in another order: the same labels”"
    )
    assert f"{finding.cases} of {finding.cases_tried} rows" in finding.detail
    assert (finding.affected_rows, finding.rows, finding.inputs) == (finding.cases, finding.cases_tried, "given")


def test_a_relation_that_trains_per_case_uses_at_most_20_cases(monkeypatch):
    from sklearn.naive_bayes import GaussianNB

    fit_sizes, fit = [], GaussianNB.fit

    def count_fits(self, X, y, **options):
        fit_sizes.append(len(X))
        return fit(self, X, y, **options)

    monkeypatch.setattr(GaussianNB, "fit", count_fits)
    monkeypatch.setattr("datamorphic.audit.checks.learner.LEARNER_RELATIONS", {"MR-3.1": LEARNER_RELATIONS["MR-3.1"]})
    result = dm.test(GaussianNB(), dm.data.load("iris"), target="target", only="learning", progress=False)
    (outcome,) = [outcome for outcome in result.outcomes if outcome.check == "learning"]
    assert outcome.state == "passed"
    assert outcome.sections[0].table.rows[0][3] == "20"  # rows judged
    assert len(fit_sizes) <= 20 + 3  # and of the data themselves, with and without scores


def test_hypotheses_are_left_out_to_save_time_unless_they_are_asked_for(monkeypatch):
    from sklearn.naive_bayes import GaussianNB

    monkeypatch.setattr("datamorphic.audit.checks.learner.MIN_HYPOTHESES_SECONDS", 0.0)
    monkeypatch.setattr("datamorphic.audit.checks.learner.MAX_HYPOTHESES_PART", 0.0)
    relations = {name: LEARNER_RELATIONS[name] for name in ("sample order", "MR-0", "overruled")}
    monkeypatch.setattr("datamorphic.audit.checks.learner.LEARNER_RELATIONS", relations)
    iris = dm.data.load("iris")

    def list_untried(**options):
        result = dm.test(GaussianNB(), iris, target="target", progress=False, **options)
        (outcome,) = [outcome for outcome in result.outcomes if outcome.check == "learning"]
        assert outcome.state == "passed"
        rows = outcome.sections[0].table.rows
        return {row[2] for row in rows if row[5].startswith("left out")}, {row[2] for row in rows}

    all_kinds = {"necessary", "hypothesis"}
    assert list_untried(only="learning", budget="30s") == (set(), all_kinds)
    assert list_untried(budget="20000 runs") == (set(), all_kinds)
    assert list_untried(budget="30s") == ({"hypothesis"}, all_kinds)


def test_a_clusterer_that_depends_on_the_order_of_its_rows_is_a_fault(monkeypatch):
    import numpy as np
    from sklearn.cluster import KMeans

    iris = dm.data.load("iris").drop(columns="target")
    model = KMeans(3, random_state=0, n_init=1).fit(iris)
    relations = {name: CLUSTER_RELATIONS[name] for name in ("rows reordered", "all features scaled")}
    monkeypatch.setattr("datamorphic.audit.checks.learner.CLUSTER_RELATIONS", relations)
    options = {"only": "learning", "budget": "30s", "progress": False}
    sound = dm.test(model, iris, **options)
    assert not sound.at_least("fault")
    monkeypatch.setattr(KMeans, "fit_predict", lambda self, X, y=None: np.arange(len(X)) * 3 // len(X))
    (finding,) = dm.test(model, iris, **options).findings
    assert (finding.about, finding.level, finding.cases_tried) == ("rows reordered", "fault", 3)
    assert f"{finding.cases} of 3 parts" in finding.detail
    assert "in another cluster, such as" in finding.examples[0].text
