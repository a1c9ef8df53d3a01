"""The check "recall": classes that are missed although the data allow to find them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic.audit.plain_models import fit_plain_models, match_decisions
from datamorphic.audit.rivals import has_few_decisions
from datamorphic.space.space import Space


def make_data(rows=900, seed=0):
    rng = np.random.default_rng(seed)
    classes = rng.choice(["oak", "ash", "elm"], rows, p=[0.6, 0.3, 0.1])
    centre = pd.Series(classes).map({"oak": 0.0, "ash": 2.5, "elm": 5.0}).to_numpy()
    return pd.DataFrame(
        {"height": centre + rng.normal(size=rows), "width": rng.normal(size=rows) - centre, "target": classes}
    )


DATA, TRAINING = make_data(), make_data(seed=1)
INPUTS = ["height", "width"]


def fit(model):
    return make_pipeline(StandardScaler(), model).fit(TRAINING[INPUTS], TRAINING["target"])


def lose(name, instead, share=0.7):
    """Return a model that answers another class for a part of the rows of a class."""
    model = fit(RandomForestClassifier(30, min_samples_leaf=3, random_state=0))

    def predict(frame):
        answers = model.predict(frame[INPUTS])
        lost = (answers == name) & (frame["height"] * 1e6 % 10 < 10 * share)
        return np.where(lost, instead, answers)

    return predict


def outcome(model, data=DATA):
    result = dm.test(model, data, target="target", only="recall", progress=False)
    return next(item for item in result.outcomes if item.check == "recall")


def test_a_rare_class_is_lost():
    (finding,) = outcome(lose("elm", "ash")).findings
    assert (finding.level, finding.about) == ("concern", "elm")
    assert "The model misses the class 'elm'" in finding.title
    assert "answered 'ash' instead" in finding.detail
    assert finding.examples[0].case["height"] > 2
    (section,) = finding.sections
    assert [row[0] for row in section.table.rows] == ["'elm'", "'ash'", "'oak'"]


def test_rows_of_all_classes_are_missed():
    model = fit(LogisticRegression())

    def predict(frame):  # what belongs into one column arrives in the other
        swapped = frame[INPUTS].rename(columns={"height": "width", "width": "height"})[INPUTS]
        late = (frame["height"] * 1e6 % 10 < 5).to_numpy()
        return np.where(late, model.predict(swapped), model.predict(frame[INPUTS]))

    (finding,) = outcome(predict).findings
    assert finding.level == "concern"
    assert finding.title == "The model is wrong for many rows that models of every kind get right"


def test_a_part_of_a_frequent_class_gets_a_default_answer():
    (finding,) = outcome(lose("oak", "ash", share=0.25)).findings
    assert (finding.level, finding.about) == ("concern", "oak")


def test_a_class_that_is_preferred_on_purpose_costs_another_one():
    model = fit(LogisticRegression())

    def predict(frame):
        weights = [1.0 if label == "oak" else 20.0 for label in model.classes_]
        return model.classes_[(model.predict_proba(frame[INPUTS]) * weights).argmax(axis=1)]

    assert not [finding for finding in outcome(predict).findings if finding.level != "advice"]


def test_neighbours_give_few_scores_but_not_by_few_decisions():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(600, 6)), columns=list("abcdef"))
    labels = np.where(frame.sum(axis=1) + rng.normal(size=600) > 0, "up", "down")
    for model, is_simple in ((KNeighborsClassifier(9), False), (DecisionTreeClassifier(max_depth=2), True)):
        scores = model.fit(frame[:300], labels[:300]).predict_proba(frame)
        assert has_few_decisions(frame.to_numpy(), scores, seed=0) is is_simple


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), LogisticRegression(class_weight="balanced"), GaussianNB(), RandomForestClassifier(20)],
    ids=["logistic", "balanced", "naive", "forest"],
)
def test_good_models(model):
    result = outcome(fit(model.set_params(random_state=0) if "random_state" in model.get_params() else model))
    assert not [finding for finding in result.findings if finding.level != "advice"]
    assert result.sections or result.findings


def test_a_threshold_of_ones_own_is_no_concern():
    two = DATA.assign(target=np.where(DATA["target"] == "elm", "elm", "other"))
    model = fit(LogisticRegression())

    def predict(frame):
        column = list(model.classes_).index("elm")
        return np.where(model.predict_proba(frame[INPUTS])[:, column] > 0.85, "elm", "other")

    assert not [finding for finding in outcome(predict, two).findings if finding.level != "advice"]


def test_a_simple_model_is_advised():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=900), "y": rng.normal(size=900)})
    data = frame.assign(target=np.where(frame["x"] * frame["y"] > 0, "same", "different"))
    (finding,) = outcome(LogisticRegression().fit(frame, data["target"]), data).findings
    assert finding.level == "advice"
    assert "quick model" in finding.title


@pytest.mark.parametrize(
    "data",
    [
        DATA.head(1),
        DATA.head(40),
        DATA.assign(target=None),
        DATA.assign(target="elm"),
        DATA.assign(height=1e100 * DATA["height"]),
    ],
    ids=["one row", "few rows", "no labels", "one label", "huge numbers"],
)
def test_odd_data(data):
    assert outcome(lambda frame: np.full(len(frame), "elm"), data).state in ("passed", "not run", "found")


def test_matched_decisions():
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([3, 2, 1], 300)
    counts = np.array([50, 100, 150])
    answers = match_decisions(probabilities, counts)
    assert np.abs(np.bincount(answers.astype(int), minlength=3) - counts).max() <= 3
    assert set(match_decisions(probabilities, np.array([300, 0, 0])).tolist()) == {0.0}


def test_plain_models_predict_rows_that_they_have_not_seen():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "c": rng.choice(["a", "b"], 200)})
    noise = rng.integers(0, 2, 200).astype(float)
    models = fit_plain_models(Space.from_frame(frame).points(frame), noise, 2, seed=0)
    assert {model.name for model in models} >= {"a linear model", "naive Bayes", "five neighbours"}
    for model in models:
        assert 0.3 < (model.predictions == noise).mean() < 0.7
    for model in fit_plain_models(Space.from_frame(frame).points(frame), frame["x"].to_numpy(), 0, seed=0):
        assert model.probabilities is None
