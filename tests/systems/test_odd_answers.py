"""Systems whose answers and errors are odd: labels as long as a book, exceptions without a text. Nothing breaks on them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import datamorphic as dm
from datamorphic._text import to_text
from datamorphic.errors import DataError, ModelError, SystemFailed, TestSystemError, format_error_line
from datamorphic.space.projection import Projection

rng = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
MAX_REPORT_CHARACTERS = 200_000


class Unreadable(Exception):
    """An exception whose text cannot be read."""

    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class LabelModel(ClassifierMixin, BaseEstimator):
    """A classifier with two given labels; unreadable exceptions for `a` above `limit`."""

    def __init__(self, labels=(0, 1), limit=np.inf):
        self.labels, self.limit = labels, limit

    def fit(self, x, y):
        if self.limit == -np.inf:
            raise Unreadable
        self.classes_ = np.empty(2, dtype=object)
        self.classes_[:] = self.labels
        return self

    def predict(self, x):
        values = x["a"].to_numpy()
        if (values > self.limit).any():
            raise Unreadable
        return self.classes_[(values > 0).astype(int)]


@pytest.mark.parametrize("labels", [(10**400, 1), (10**400, 10**400 + 1), (10**5000, 1), ("x" * 10**6, "y" * 10**6)])
def test_huge_labels_make_short_reports(labels):
    model = LabelModel(labels).fit(FRAME, None)
    data = FRAME.assign(y=pd.Series(model.predict(FRAME), dtype=object))
    front = dm.explore(model, FRAME, walks=20, progress=False)
    assert len(front.pairs)
    result = dm.test(model, data, "y", budget="1000 runs", only=["answers", "classes", "slices", "borders"])
    assert not result.at_least("concern")
    assert result.notes[-1].startswith("The answer agrees with the label for 100% of the given inputs.")
    fairness = dm.fairness(
        model, data.assign(group=np.where(np.arange(60) % 2, "u", "v")), protected=["group"], target="y"
    )
    coverage = dm.cover(model, data, target="y", surrogate=True)
    for report in (front, result, fairness, coverage):
        for text in (report.describe(), report.to_json(), report.to_html()):
            assert len(text) < MAX_REPORT_CHARACTERS


def test_an_exception_without_a_text_is_the_outcome_of_its_rows():
    assert format_error_line(Unreadable()) == "Unreadable: (no readable text)"
    model = LabelModel(limit=0.5).fit(FRAME, None)
    for options in ({}, {"timeout": 60}):  # in this process, and in another one
        front = dm.explore(model, FRAME, walks=20, progress=False, **options)
        assert "walks ended where the system gave no answer" in front.describe()
    result = dm.test(model, FRAME, budget="1000 runs", only=["answers"])
    assert "Unreadable" in result.describe()


def test_every_message_about_user_code_survives_an_exception_without_a_text(tmp_path):
    def fail(*arguments):
        raise Unreadable

    class Broken:
        @property
        def thing(self):
            raise Unreadable

        @dm.seed_maker
        def make(self, n, rng):
            raise Unreadable

        @dm.executor
        def run(self, frame):
            return frame["a"]

    always = LabelModel(limit=-1e9).fit(FRAME, None)
    learner = LabelModel(limit=-np.inf)
    constrained = dm.Space.from_frame(FRAME, constraints=[fail])
    requests = {
        "all rows": (SystemFailed, lambda: dm.explore(always, FRAME, walks=5, progress=False)),
        "training": (ModelError, lambda: dm.test(learner, FRAME.assign(y=0), "y", budget="100 runs")),
        "a constraint": (DataError, lambda: constrained.valid(FRAME)),
        "a test system": (TestSystemError, lambda: dm.explore(Broken(), walks=3)),
    }
    for expected, request in requests.values():
        with pytest.raises(expected, match=r"Unreadable.*\(no readable text\)"):
            request()


def test_values_without_a_readable_text_get_another_text():
    assert to_text(10**5000) == hex(10**5000)
    assert to_text(Unreadable()) == "(no readable text)"
    assert to_text("as it is") == "as it is"


class CountingName(str):
    """A name that counts how often it is hashed."""

    hashes = 0

    def __hash__(self):
        CountingName.hashes += 1
        return super().__hash__()


def test_the_work_does_not_grow_with_the_categories_that_do_not_occur():
    names = [CountingName(f"level {i}") for i in range(100_001)]
    data = FRAME.assign(c=pd.Categorical([f"level {i % 7}" for i in range(60)], categories=list(map(str, names))))
    space = dm.Space.from_frame(data)
    assert len(Projection(space, space.points(data).codes)._mean) == 2 + 7  # columns of the matrix
    feature = dm.Categorical("c", names)
    CountingName.hashes = 0
    assert hash(feature) == hash(dm.Categorical("c", list(map(str, names))))
    assert CountingName.hashes < 10
    assert feature == dm.Categorical("c", names)
    assert dm.Categorical("c", [0, 1]) != dm.Categorical("c", [0, True])
    front = dm.explore(lambda frame: frame["c"].astype(str).str[-1] > "3", data, walks=20, progress=False)
    assert len(front.pairs)
    assert len(front.describe() + front.to_json() + front.to_html()) < MAX_REPORT_CHARACTERS
