"""What a model may answer, seen from `dm.test`: scores in float32, booleans, names of classes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.normal(size=200), "debt": rng.normal(size=200)})
    return frame.assign(target=(frame["income"] - frame["debt"] + 0.3 * rng.normal(size=200) > 0).astype(int))


@pytest.fixture(scope="module")
def model(data):
    return LogisticRegression().fit(data[["income", "debt"]], data["target"])


@pytest.mark.slow
def test_probabilities_in_float32_are_no_fault(data, model):
    def predict(frame):
        return model.predict_proba(frame[["income", "debt"]]).astype(np.float32)

    only = ["repeats", "answers", "row order", "batches", "scores", "monotone", "calibration"]
    result = dm.test(predict, data, target="target", budget="10s", expect={"monotone": {"income": "up"}}, only=only)
    assert not result.at_least("concern")
    assert "agrees with the label" in result.notes[-1]
    assert result.kind == "a function of 2 classes"
    named = dm.test(
        predict,
        data,
        classes=["no", "yes"],
        expect={"monotone": {"income": "up"}, "outcome": "yes"},
        budget="10s",
        only=["repeats", "answers", "classes", "monotone"],
    )
    assert not named.at_least("concern")
    assert "classes=['no', 'yes']" in named.code()


def test_numbers_in_float32_that_differ_by_rounding_are_no_fault(data):
    weights = np.random.default_rng(1).normal(size=(2, 300)).astype(np.float32)

    def predict(frame):
        hidden = np.tanh(frame.to_numpy(dtype=np.float32) @ weights)
        return hidden.sum(axis=1) if len(frame) % 2 else hidden[:, ::-1].sum(axis=1)  # the order depends on the batch

    features = data[["income", "debt"]]
    assert (predict(features) != np.concatenate([predict(features.iloc[[i]]) for i in range(200)])).any()
    result = dm.test(predict, features, budget="10s", only=["repeats", "row order", "batches"])
    assert not result.findings


@pytest.mark.slow
def test_boolean_answers_agree_with_0_and_1(data, model):
    result = dm.test(
        lambda frame: model.predict(frame[["income", "debt"]]) == 1,
        data,
        target="target",
        budget="10s",
        only=["answers", "classes", "slices", "leaks", "dependence"],
    )
    assert not result.at_least("concern")
    (note,) = (note for note in result.notes if "agrees" in note)
    share = (model.predict(data[["income", "debt"]]) == data["target"]).mean()
    assert f"{100 * share:.3g}%" in note


@pytest.mark.parametrize(
    ("answer", "numeric"),
    [
        (lambda frame: (frame["income"] > 0).astype(np.float64), False),  # classes as floats
        (lambda frame: frame["income"].to_numpy(), True),
        (lambda frame: np.round(100 * frame["income"].to_numpy()), True),  # too many for classes
        (lambda frame: np.where(frame["income"] > 0, "yes", "no"), False),
    ],
)
def test_floats_are_numbers_unless_they_are_a_few_whole_ones(data, answer, numeric):
    result = dm.test(answer, data[["income", "debt"]], budget="5s", only=["answers", "classes"])
    whys = {outcome.check: outcome.why for outcome in result.outcomes}
    assert (whys["classes"] == "the answers are numbers") is numeric


def test_labels_in_other_words_are_matched(data, model):
    result = dm.test(model, data, target="target", classes=["no", "yes"], budget="5s", only=["answers", "classes"])
    assert not result.findings
    assert "not classes of the model. The answers allow only one matching: 0 is no, 1 is yes." in result.notes[-2]


def test_the_note_says_how_to_name_classes(data, model):
    words = data.assign(target=np.where(data["target"], "yes", "no"))
    result = dm.test(lambda f: model.predict_proba(f), words, target="target", budget="5s", only=["answers"])
    assert "classes=['no', 'yes']" in result.notes[0]


MODULE = """
import numpy as np

def predict(array):
    positive = 1 / (1 + np.exp(array[:, 1] - array[:, 0]))
    return np.column_stack([1 - positive, positive]).astype(np.float32)
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", ["test", "explore", "check"])
def test_classes_on_the_command_line(data, tmp_path, monkeypatch, command):
    (tmp_path / f"scores_for_{command}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    words = data.assign(target=np.where(data["target"], "yes", "no"))
    words.to_csv(tmp_path / "data.csv", index=False)
    arguments = [command, f"scores_for_{command}:predict", "data.csv", "--classes", "no,yes", "--target", "target"]
    arguments += {"test": ["--only", "answers"], "explore": ["--walks", "50"], "check": ["--inputs", "20"]}[command]
    outcome = CliRunner().invoke(app, [*arguments, "--json", "--store", "none"])
    assert outcome.exit_code == 0, outcome.output
    document = json.loads(outcome.stdout)
    if command == "test":
        assert "agrees with the label" in " ".join(document["notes"])
    if command == "explore":
        assert "yes" in outcome.stdout
    outcome = CliRunner().invoke(app, [*arguments[:4], "no", *arguments[5:], "--store", "none"])
    assert outcome.exit_code == 2
    assert "--classes takes the names of at least two classes" in outcome.stderr


@pytest.mark.slow
def test_the_pytest_file_asks_the_same_way(data, tmp_path, monkeypatch):
    (tmp_path / "array_scores.py").write_text(MODULE)
    data.to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = [
        "test",
        "array_scores:predict",
        "data.csv",
        "--classes",
        "no,yes",
        "--monotone",
        "debt=up",
        "--only",
        "monotone",
    ]
    outcome = CliRunner().invoke(app, [*arguments, "--outcome", "yes", "--pytest", "test_it.py", "--store", "none"])
    assert outcome.exit_code == 1, outcome.output
    text = (tmp_path / "test_it.py").read_text()
    assert 'classes=["no", "yes"]' in text
    assert "data=rows" in text
