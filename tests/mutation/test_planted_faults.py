"""Faults planted in the reference learners are found by necessary relations, and their examples are shrunk."""

from __future__ import annotations

import inspect

import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import datamorphic as dm
from datamorphic.data import knn, naive_bayes
from datamorphic.data.knn import KNN
from datamorphic.data.naive_bayes import NaiveBayes
from datamorphic.mutation.forge import load_module
from support.cases import LONG

DISTANCE = "total += difference * difference"
FAULTS = {  # the module, a place in its text, what is planted there, and the learner it is planted in
    "+= turned = in the distance": (knn, DISTANCE, DISTANCE.replace("+=", "="), lambda module: module.KNN(1)),
    "k = 1 turned 2": (knn, "self.k = k\n", "self.k = k + 1\n", lambda module: module.KNN(1)),
    "ties of the vote broken by sample order": (
        knn,
        "            votes = self._votes(case)\n            winner = 0\n",
        "            votes = self._votes(case)\n            winner = max(self._codes, key=votes.__getitem__)\n",
        lambda module: module.KNN(3),
    ),
    "attribute off by one in the distance": (
        knn,
        "sample[attribute] - case[attribute]",
        "sample[attribute] - case[attribute - 1]",
        lambda module: module.KNN(3),
    ),
    "variance of all rows": (
        naive_bayes,
        "variances.append(variance(values) + least)",
        "variances.append(variance([sample[attribute] for sample in samples]) + least)",
        lambda module: module.NaiveBayes(),
    ),
    "attribute off by one in the means": (
        naive_bayes,
        "self._means[code][attribute]",
        "self._means[code][attribute - 1]",
        lambda module: module.NaiveBayes(),
    ),
    "prior dropped": (
        naive_bayes,
        "total = math.log(self._priors[code])",
        "total = 0.0",
        lambda module: module.NaiveBayes(),
    ),
}


@pytest.fixture
def planted(request):
    """The learner with the fault, and the estimator whose algorithm it claims to be."""
    home, place, fault, make_learner = FAULTS[request.param]
    text = inspect.getsource(home)
    assert text.count(place) == 1
    with load_module(text.replace(place, fault), home.__name__) as module:
        learner = make_learner(module)
        yield learner, KNeighborsClassifier(make_learner(knn).k) if home is knn else GaussianNB()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("planted", "relation", "inputs"),
    [
        ("+= turned = in the distance", "MR-1.2", 20),
        ("k = 1 turned 2", "MR-1.1", 20),
        ("ties of the vote broken by sample order", "sample order", 60),
        ("attribute off by one in the distance", "constant column", 20),
        ("variance of all rows", "MR-3.2 odds", 20),
        ("attribute off by one in the means", "MR-2.2 shared", 20),
        ("prior dropped", "MR-3.2 odds", 20),
        *(
            [
                ("+= turned = in the distance", "MR-2.1", 20),
                ("k = 1 turned 2", "MR-4.1", 20),
                ("attribute off by one in the distance", "MR-1.2", 20),
                ("variance of all rows", "MR-5.1", 300),
                ("attribute off by one in the means", "MR-1.2", 60),
            ]
            if LONG
            else []
        ),
    ],
    indirect=["planted"],
)
def test_a_planted_fault_is_found_and_shrunk(planted, relation, inputs):
    learner, like = planted
    report = dm.check(learner, like=like, relations=[relation], inputs=inputs)
    (entry,) = report.faults
    assert (entry.relation, entry.necessary, report.passed) == (relation, True, False)
    smallest = report.shrunk(0)
    assert smallest.shrunk
    rows, attributes = smallest.size
    assert rows <= 6
    assert attributes <= 4

    # and it is one: the learner, fitted by hand on what is shown
    source, follow_up = smallest.source, smallest.follow_up
    before, after = (learner.fit(item.x, item.y).predict(item.t)[0] for item in (source, follow_up))
    assert (before, after) == (smallest.before, smallest.after)
    if relation == "MR-3.2 odds":
        shares = {item: [score(item, data, before) for data in (source, follow_up)] for item in (learner, like)}
        (was, now), (right, as_right) = shares.values()
        assert now != pytest.approx(2 * was / (1 + was), abs=1e-6)
        assert as_right == pytest.approx(2 * right / (1 + right), abs=1e-6)  # twice the odds
    else:
        assert after != smallest.expected


def score(learner, data, label):
    model = learner.fit(data.x, data.y)
    return model.predict_proba(data.t)[0, model.classes_.tolist().index(label)]


@pytest.mark.slow
@pytest.mark.parametrize("planted", ["prior dropped"], indirect=True)
def test_a_dropped_prior_changes_no_label(planted):
    """Labels alone cannot tell: classes without a prior are those of another, right, classifier."""
    learner, like = planted
    report = dm.check(learner, like=like, relations="necessary", inputs=40, shrink=False)
    assert [entry.relation for entry in report.faults] == ["MR-3.2 odds"]
    labels_only = dm.check(
        learner, like=like, relations=["MR-3.2 odds"], inputs=40, strictness={"MR-3.2 odds": "class_exact"}
    )
    assert labels_only.passed


@pytest.mark.slow
@pytest.mark.parametrize("learner", [KNN(1), KNN(3), NaiveBayes()], ids=["KNN(1)", "KNN(3)", "NaiveBayes"])
def test_a_correct_learner_has_no_violations(learner):
    report = dm.check(learner, relations="necessary", inputs=60 if LONG else 20)
    assert report.passed
    assert report.table["necessary"].all()
    assert (report.table["violated"] == 0).all()
    assert (report.table["undefined"] == 0).all()
    judged = report.table["holds"] >= (50 if LONG else 15)
    without_cases = {"weights", "unit weights", "zero weights", "class without weight", "sparse", "accepts sparse"}
    assert judged[~report.table["relation"].isin(without_cases)].all()
