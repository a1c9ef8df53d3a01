"""The check "memorisation": tables of rows, learned label noise, good models, and data that allow no judgement."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm
from support.cases import LONG, rotate


def make_data(rows=400, seed=0, whole=False, noise=0.0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["x", "y", "z"])
    if whole:
        frame = (40 * frame).round().astype(int)
    positive = frame["x"] + frame["y"] > 0
    positive ^= rng.random(rows) < noise
    return frame.assign(target=np.where(positive, "yes", "no"))


def make_table(data, usual):
    """Return a function that knows the rows of the data, and gives one answer to all others."""
    names = list(data.columns.drop("target"))
    table = {tuple(row): label for *row, label in data[[*names, "target"]].itertuples(index=False)}
    return lambda frame: np.array([table.get(tuple(row), usual) for row in frame[names].itertuples(index=False)])


def audit(model, data, target="target", **options):
    return dm.test(model, data, target=target, only="memorisation", progress=False, **options)


def outcome(result):
    return next(item for item in result.outcomes if item.check == "memorisation")


@pytest.mark.parametrize("whole", [False, True], ids=["real numbers", "whole numbers"])
def test_a_table_of_rows(whole):
    data = make_data(whole=whole)
    (finding,) = outcome(audit(make_table(data, "no"), data)).findings
    assert finding.level == "concern"
    assert "by heart" in finding.title
    assert 0.3 < finding.rate < 0.7
    example = finding.examples[0]
    assert (example.answer, example.new_answer) == ("yes", "no")
    assert len(example.changed) == 1
    assert "agrees with the label for 100% of the rows" in finding.detail
    unlabelled = audit(make_table(data, "no"), data.drop(columns="target"), target=None)
    assert outcome(unlabelled).findings[0].level == "concern"


@pytest.mark.slow
def test_answers_that_depend_on_the_last_digits():
    data = make_data()
    result = outcome(audit(lambda f: np.where(f.sum(axis=1) * 1e9 % 10 < 5, "yes", "no"), data, seed=3))
    assert not result.findings or re.search("hair.s breadth|arbitrary answer", result.findings[0].title)

    def predict(frame):
        known = frame.isin(data.drop(columns="target").to_numpy().ravel()).all(axis=1)
        return np.where((frame["x"] > 0) ^ known, "yes", "no")

    (finding,) = outcome(audit(predict, data.assign(target=np.where(data["y"] > 0, "yes", "no")))).findings
    assert (finding.level, finding.about) == ("concern", "rows")
    assert "hair's breadth" in finding.title


def test_vectors_are_not_judged():
    data = make_data()
    result = audit(lambda f: np.column_stack([f["x"], 1 - f["x"]]), data.drop(columns="target"), target=None)
    assert not outcome(result).findings


def test_a_table_of_numbers():
    data = make_data()
    data["target"] = 3 * data["x"] + data["y"]
    (finding,) = outcome(audit(make_table(data, 0.0), data)).findings
    assert finding.level == "concern"


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(random_state=0), *([KNeighborsClassifier(1)] if LONG else [])], ids=str
)
def test_label_noise_learned_by_heart(model):
    data = make_data(rows=800, noise=0.2)
    fitted = model.fit(data.drop(columns="target"), data["target"])
    (finding,) = outcome(audit(fitted, data)).findings
    assert finding.level == "advice"
    assert "memorised exceptions" in finding.title
    assert 0.05 < finding.rate < 0.2  # of all rows
    assert float(re.search(r"That is ([\d.]+)% of all labels that are so contradicted", finding.detail)[1]) > 90
    assert "nearest rows have another label" in finding.examples[0].text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "whole"),
    rotate(
        [LogisticRegression(), DecisionTreeClassifier(max_depth=4, random_state=0), KNeighborsClassifier(15)],
        [False, True],
    ),
)
def test_good_models(model, whole):
    data = make_data(noise=0.2, whole=whole)
    result = outcome(audit(model.fit(data.drop(columns="target"), data["target"]), data))
    assert result.state == "passed", result.findings


@pytest.mark.parametrize(
    "model",
    [LinearRegression(), DecisionTreeRegressor(), RandomForestRegressor(20)],
    ids=lambda model: type(model).__name__,
)
def test_good_models_of_numbers(model):
    data = make_data(whole=True)
    data["target"] = data["x"] + 0.3 * data["y"]
    result = outcome(audit(model.fit(data.drop(columns="target"), data["target"]), data))
    assert result.state == "passed"


def test_numbers_that_are_codes_are_not_changed():
    rng = np.random.default_rng(0)
    codes = pd.DataFrame({name: rng.integers(0, 4, 300).astype(float) for name in "abc"})
    data = codes.assign(target=np.where(codes["a"] == 2, "yes", "no"))
    result = audit(lambda frame: np.where(frame["a"] == 2, "yes", "no"), data)
    assert outcome(result).state == "not run"
    assert outcome(result).skip_reason == "inapplicable"


@pytest.mark.parametrize("rows", [1, 5])
def test_few_rows_allow_no_judgement(rows):
    data = make_data().head(rows)
    assert outcome(audit(make_table(data, "no"), data)).state == "not run"


def test_missing_values_and_labels():
    data = make_data(rows=300)
    data.loc[:40, "z"] = np.nan
    data.loc[100:120, "target"] = None
    table = make_table(data.fillna({"z": -9.0}), "no")
    result = outcome(audit(lambda frame: table(frame.fillna({"z": -9.0})), data))
    assert result.state == "found"
    assert outcome(audit(make_table(data, "no"), data.assign(target="no"))).state == "found"


def test_a_small_budget_is_not_a_pass():
    data = make_data()
    result = audit(make_table(data, "no"), data, budget="20 runs")
    assert outcome(result).state == "not run"
    assert outcome(result).unfinished


def make_categories(rows=800, seed=0):
    """Return categories, most of which tell the label."""
    rng = np.random.default_rng(seed)
    label = rng.random(rows) < 0.5
    columns = {}
    for name in "abcdefgh":
        right = rng.random(rows) < 0.85
        columns[name] = np.where(label == right, rng.choice(["p", "q"], rows), rng.choice(["r", "s"], rows))
    return pd.DataFrame(columns).assign(target=np.where(label, "yes", "no"))


def vote(frame):
    return np.where(frame[list("abcdefgh")].isin(["p", "q"]).sum(axis=1) >= 4, "yes", "no")


def test_a_default_answer_that_nothing_in_the_row_explains():
    data = make_categories()

    def predict(frame, default="no"):
        keys = pd.util.hash_pandas_object(frame[list("abcdefgh")], index=False).to_numpy()
        return np.where(keys % np.uint64(10) < 3, default, vote(frame))

    (finding,) = outcome(audit(predict, data)).findings
    assert (finding.level, finding.about) == ("concern", "defaults")
    assert (
        finding.title == "Many rows get the default answer 'no', and often the right one as soon as any value changes"
    )
    assert len(finding.examples[0].changed) == 1
    assert (finding.examples[0].answer, finding.examples[0].new_answer) == ("no", "yes")


def test_a_misread_column_and_moved_thresholds_are_no_defaults():
    data = make_categories()
    turned = {"p": "r", "r": "p", "q": "s", "s": "q"}
    for model in (
        vote,
        lambda frame: vote(frame.assign(a=frame["a"].map(turned), b=frame["b"].map(turned))),
        lambda frame: np.where(frame[list("abcdefgh")].isin(["p", "q"]).sum(axis=1) >= 7, "yes", "no"),
        lambda frame: np.where(frame["a"] == "p", "no", vote(frame)),
    ):
        assert [item.about for item in outcome(audit(model, data)).findings if item.about == "defaults"] == []


@pytest.mark.parametrize("numeric", [False, True])
def test_a_default_answer_beside_a_hairs_breadth(numeric):
    data = make_data(800)
    if numeric:
        data["target"] = 3 * data["x"] + data["y"]

    def predict(frame):
        answers = 3 * frame["x"] + frame["y"] if numeric else np.where(frame["x"] + frame["y"] > 0, "yes", "no")
        keys = pd.util.hash_pandas_object(frame[["x", "y", "z"]], index=False).to_numpy()
        return np.where(keys % np.uint64(10) < 2, 1.5 if numeric else "no", answers)

    (finding,) = outcome(audit(predict, data)).findings
    assert finding.title.startswith(f"Some rows get the default answer {1.5 if numeric else repr('no')}: ")
