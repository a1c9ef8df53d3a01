"""skops files: models without pickle."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.faces.cli import app
from datamorphic.sut.files import load_model
from datamorphic.testing import check_executor
from datamorphic.verbs.init import draft

io = pytest.importorskip("skops.io", reason="pip install 'datamorphic[skops]'")

SPACE = dm.Space([dm.Continuous("x", 0, 1), dm.Continuous("y", 0, 1)])


class Mine(ClassifierMixin, BaseEstimator):
    """A class skops has never heard of."""

    def fit(self, x, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, x):
        return self.classes_[np.zeros(len(x), dtype=int)]


def test_a_model_from_a_file(tmp_path):
    frame = SPACE.sample(100, seed=0)
    model = LogisticRegression().fit(frame, frame["x"] > frame["y"])
    io.dump(model, tmp_path / "model.skops")
    sut = dm.wrap(tmp_path / "model.skops", space=SPACE)
    check_executor(sut, SPACE.sample(30, seed=1, points=True))
    np.testing.assert_array_equal(sut.execute(frame).values, model.predict(frame))


def test_unknown_types_are_refused_by_name_unless_trusted(tmp_path):
    io.dump(Mine().fit(np.zeros((2, 1)), [0, 1]), tmp_path / "mine.skops")
    with pytest.raises(dm.errors.UntrustedError, match=r"Mine.*trust=True \(--trust"):
        dm.wrap(tmp_path / "mine.skops")
    assert isinstance(load_model(tmp_path / "mine.skops", trust=True), Mine)


def test_a_forest_needs_trust_and_its_draft_has_it(tmp_path, monkeypatch):
    """skops leaves trees out of what it trusts: a forged one reads memory that is not its own."""
    monkeypatch.chdir(tmp_path)
    frame = SPACE.sample(100, seed=0)
    frame["label"] = np.where(frame["x"] > frame["y"], "over", "under")
    model = make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0))
    model.fit(frame[["x", "y"]], frame["label"])
    io.dump(model, "forest.skops")
    frame.to_csv("data.csv", index=False)
    with pytest.raises(dm.errors.UntrustedError, match=r"sklearn\.tree\._tree\.Tree.*trust=True \(--trust"):
        dm.wrap("forest.skops")
    told = dm.wrap("forest.skops", space=SPACE, trust=True).execute(frame[["x", "y"]]).values
    np.testing.assert_array_equal(told, model.predict(frame[["x", "y"]]))

    arguments = ["test", "forest.skops", "data.csv", "--target", "label", "--only", "repeats", "--store", "none"]
    refused = CliRunner().invoke(app, arguments)
    assert (refused.exit_code, "--trust" in refused.stderr) == (2, True)
    trusted = CliRunner().invoke(app, [*arguments, "--trust"])
    assert trusted.exit_code == 0, trusted.output
    text = draft("forest.skops", "data.csv", "label", out="test_forest.py", trust=True)
    assert 'MODEL = dm.wrap(HERE / "forest.skops", trust=True)' in text
    assert "It is a pickle" not in text
