"""skops files: models without pickle."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

import datamorphic as dm
from datamorphic.testing import check_executor

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


def test_unknown_types_are_refused_by_name(tmp_path):
    io.dump(Mine().fit(np.zeros((2, 1)), [0, 1]), tmp_path / "mine.skops")
    with pytest.raises(dm.errors.UntrustedError, match=r"Mine.*skops.io.load"):
        dm.wrap(tmp_path / "mine.skops")
