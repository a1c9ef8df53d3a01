"""Learners in the order of the necessary relations that they violate."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.errors import ArgumentError
from datamorphic.relations.check.ranking import measure_accuracy, rank_learners
from datamorphic.systems.weka import explain_missing_weka

MODULE = """
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsClassifier


class Forgetful(BaseEstimator):
    "The nearest neighbour, without the first attribute."

    like = KNeighborsClassifier(1)

    def fit(self, X, y):
        self.model_ = KNeighborsClassifier(1).fit(np.asarray(X)[:, 1:], y)
        return self

    def predict(self, X):
        return self.model_.predict(np.asarray(X)[:, 1:])
"""
RELATIONS = ["MR-1.2", "MR-3.1", "refit"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    return frame.assign(y=np.where(frame.a + frame.b > 0, "yes", "no"))


@pytest.fixture(scope="module")
def forgetful():
    names = {}
    exec(MODULE, names)
    return names["Forgetful"]()


def test_the_learner_that_violates_least_comes_first_then_the_more_accurate_one(rows, forgetful):
    learners = {"forgetful": forgetful, "mean": DummyClassifier(), "nearest": KNeighborsClassifier(1)}
    ranking = rank_learners(learners, rows, "y", relations=RELATIONS, inputs=40)
    assert ranking.table["learner"].tolist() == ["nearest", "mean", "forgetful"]
    assert ranking.best == "nearest"
    assert ranking["forgetful"].violated == ["MR-1.2"]
    assert ranking["nearest"].accuracy.value > ranking["mean"].accuracy.value
    assert ranking.table["violated"].tolist() == [0, 0, 1]
    share = ranking["forgetful"].share
    assert 0 < share.low < share.value < share.high
    text = ranking.describe()
    assert text.startswith("nearest violates 0 necessary relations of ")
    assert "MR-1.2" in text
    document = json.loads(ranking.to_json())
    assert [learner["learner"] for learner in document["learners"]] == ["nearest", "mean", "forgetful"]
    assert document["learners"][2]["check"]["passed"] is False
    assert "<table" in ranking.to_html()
    outcomes = {case.name: case.outcome for case in ranking.test_cases()}
    assert outcomes["forgetful: MR-1.2"] == "failed"
    assert outcomes["nearest: MR-1.2"] == "passed"


def test_accuracy_is_that_of_cross_validation(rows):
    shuffled = rows.iloc[np.argsort(np.random.default_rng(3).permutation(len(rows)) % 4, kind="stable")]
    expected = cross_val_score(GaussianNB(), shuffled[list("abc")], shuffled["y"], cv=KFold(4)).mean()
    assert measure_accuracy(GaussianNB(), rows, "y", 4, 3).value == pytest.approx(expected)
    assert measure_accuracy(LinearRegression(), rows.assign(y=rows.a), "y", 4, 3) is None


def test_equal_learners_get_numbers_and_none_are_refused(rows):
    ranking = rank_learners([DummyClassifier(), DummyClassifier()], rows, "y", relations=["refit"], inputs=5)
    assert sorted(learner.name for learner in ranking.learners) == ["DummyClassifier()", "DummyClassifier(), 2"]
    assert dm.relations.rank_learners is rank_learners
    with pytest.raises(ArgumentError, match="at least one learner"):
        rank_learners([], rows, "y")


def test_the_command_orders_learners_and_fails_if_all_violate(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "ranked.py").write_text(MODULE)
    rows.to_csv("rows.csv", index=False)
    words = [
        "--data",
        "rows.csv",
        "--target",
        "y",
        "--inputs",
        "20",
        *(w for r in RELATIONS for w in ("--relation", r)),
    ]
    nearest = "sklearn.neighbors:KNeighborsClassifier"

    def run(*arguments):
        return CliRunner().invoke(app, ["rank", *arguments], prog_name="datamorphic")

    result = run("ranked:Forgetful", nearest, *words, "--html", "ranking.html")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{nearest} violates 0 necessary relations of ")
    assert "Written: ranking.html" in result.stdout
    failed = run("ranked:Forgetful", *words, "--json")
    assert failed.exit_code == 1
    assert json.loads(failed.stdout)["learners"][0]["violated"] == ["MR-1.2"]
    assert run(nearest).exit_code == 2


@pytest.mark.integration
@pytest.mark.skipif(bool(explain_missing_weka()), reason=explain_missing_weka())
def test_learners_of_weka_are_ranked_by_their_names():
    wine = dm.data.load("wine")[["alcohol", "flavanoids", "target"]]
    ranking = rank_learners([GaussianNB(), "weka:NaiveBayes"], wine, "target", relations=["MR-1.2", "refit"], inputs=2)
    assert {learner.name for learner in ranking.learners} == {"GaussianNB()", "weka:NaiveBayes"}
    assert all(learner.accuracy.value > 0.7 for learner in ranking.learners)
