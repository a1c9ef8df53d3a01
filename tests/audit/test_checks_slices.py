"""The check "slices": groups that are wrong although the data allow better, hard groups, and good models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import datamorphic as dm
from support.cases import LONG


def make_data(rows=1_000, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": rng.normal(50, 15, rows),
            "age": rng.integers(18, 80, rows),
            "region": rng.choice(["north", "south", "west"], rows),
        }
    )
    score = frame["income"] - 50 + 0.2 * (frame["age"] - 50) + 5 * rng.normal(size=rows)
    return frame.assign(target=np.where(score > 0, "yes", "no"))


DATA = make_data()
NUMBERS = ["income", "age"]


def fit(data=DATA):
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(data[NUMBERS], data["target"])


def make_wrong(inside, model=None):
    """Return a function that is mostly wrong inside a group."""
    model = model or fit()

    def predict(frame):
        answers = model.predict(frame[NUMBERS])
        wrong = inside(frame) & (frame["income"] * 1e6 % 10 < 8)
        return np.where(wrong, np.where(answers == "yes", "no", "yes"), answers)

    return predict


def audit(model, data=DATA, target="target", **options):
    return dm.test(model, data, target=target, only="slices", progress=False, **options)


def outcome(result):
    return next(item for item in result.outcomes if item.check == "slices")


@pytest.mark.slow
def test_a_category():
    result = outcome(audit(make_wrong(lambda f: f["region"] == "south")))
    (finding,) = result.findings
    assert finding.level == "concern"
    assert finding.title == "The model is mostly wrong where region is 'south'"
    assert finding.interval[0] > 0.5
    assert finding.examples[0].case["region"] == "south"
    assert "although its label is" in finding.examples[0].text
    assert finding.sections[0].table.rows
    assert DATA["region"][finding.examples[0].row] == "south"


def test_two_features():
    (finding,) = outcome(audit(make_wrong(lambda f: (f["region"] == "north") & (f["age"] < 45)))).findings
    assert finding.level == "concern"
    assert set(finding.about.split(", ")) == {"region", "age"}


@pytest.mark.slow
def test_two_groups():
    findings = outcome(audit(make_wrong(lambda f: (f["region"] == "north") | (f["age"] > 70)))).findings
    assert len(findings) == 2
    assert {name for finding in findings for name in finding.about.split(", ")} >= {"region", "age"}


@pytest.mark.slow
def test_a_hard_group_is_advice():
    rng = np.random.default_rng(1)
    noise = (DATA["region"] == "west") & (rng.random(len(DATA)) < 0.4)
    data = DATA.assign(target=np.where(noise, np.where(DATA["target"] == "yes", "no", "yes"), DATA["target"]))
    model = fit()
    (finding,) = outcome(audit(lambda f: model.predict(f[NUMBERS]), data)).findings
    assert finding.level == "advice"
    assert "region is 'west'" in finding.title


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3 if LONG else 1))
def test_good_models(seed):
    model = fit(make_data(seed=seed))
    result = outcome(audit(lambda f: model.predict(f[NUMBERS]), make_data(seed=seed + 10), seed=seed))
    assert not [finding for finding in result.findings if finding.level != "advice"]


def test_a_poor_model_is_not_blamed_for_a_group():
    answers = np.array(["no", "yes"])
    result = outcome(audit(lambda f: answers[(f["income"] * 1e6 % 10 < 5).astype(int)]))
    assert not result.findings


def make_numbers():
    rng = np.random.default_rng(5)
    return DATA.assign(target=2 * DATA["income"] + DATA["age"] + rng.normal(size=len(DATA)))


@pytest.mark.slow
def test_numbers():
    data = make_numbers()
    model = LinearRegression().fit(data[NUMBERS], data["target"])
    assert outcome(audit(lambda f: model.predict(f[NUMBERS]), data)).state == "passed"

    def predict(frame):
        return model.predict(frame[NUMBERS]) + np.where(frame["region"] == "south", 100.0, 0.0)

    (finding,) = outcome(audit(predict, data)).findings
    assert finding.level == "concern"
    assert finding.title == "The model's errors are far larger where region is 'south'"
    forest = RandomForestRegressor(5, random_state=0).fit(data[NUMBERS], data["target"])
    good = outcome(audit(forest, data))
    assert not [item for item in good.findings if item.level != "advice"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        DATA.head(1),
        DATA.head(30),
        DATA.assign(target="neither"),
        DATA.assign(target=None),
        DATA.assign(target=DATA["income"]),
    ],
    ids=["one row", "few rows", "another label", "no labels", "numbers as labels"],
)
def test_data_that_allow_no_judgement(data):
    result = outcome(audit(make_wrong(lambda f: f["region"] == "south"), data))
    assert (result.state, result.skip_reason) == ("not run", "inapplicable")


@pytest.mark.slow
def test_one_feature_and_labels_that_are_numbers_or_truth_values():
    data = DATA[["income"]].assign(target=DATA["target"] == "yes")
    result = audit(lambda f: ((f["income"] > 50) ^ (f["income"] > 60)).astype(int), data)
    findings = outcome(result).findings
    assert {(finding.about, finding.level) for finding in findings} == {("income", "concern")}


def test_without_labels():
    result = outcome(audit(make_wrong(lambda f: f["age"] > 50), DATA.drop(columns="target"), target=None))
    assert result.why == "the data have no labels: target="


def test_a_short_budget_is_not_a_pass():
    result = outcome(audit(make_wrong(lambda f: f["region"] == "south"), budget="1s"))
    assert result.state == "not run"
    assert result.unfinished
