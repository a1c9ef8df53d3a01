"""Border pairs of text classifiers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.space.token_edits import count_edits
from support.cases import LONG
from support.reviews import fit_classifier, make_reviews


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(400 if LONG else 150)


@pytest.fixture(scope="module")
def model(reviews):
    return fit_classifier(*reviews)


@pytest.mark.slow
def test_500_pairs_are_one_edit_apart_and_certified(reviews, model):
    front = dm.explore(model, reviews[0], walks=1300 if LONG else 150)
    a, b = front.pairs["a.text"].tolist(), front.pairs["b.text"].tolist()
    assert len(front) >= (500 if LONG else 40)
    assert (count_edits(a, b) == 1).all()
    assert (model.predict(a) == front.pairs["a_output"]).all()
    assert (model.predict(b) == front.pairs["b_output"]).all()
    assert (front.pairs["a_output"] != front.pairs["b_output"]).all()


@pytest.mark.slow
def test_processes_and_a_second_run_find_the_same(reviews, model):
    options = {"walks": 5, "seed": 3}
    front = dm.explore(model, reviews[0], **options)
    _ = dm.Space([dm.Text("other")]).points(["texts that were seen in between", "and more"])
    again = dm.explore(model, pd.Series(reviews[0]), engine="processes:1", **options)
    pd.testing.assert_frame_equal(front.pairs, again.pairs)


@pytest.mark.slow
def test_files_diff_and_counterfactuals(reviews, model, tmp_path):
    front = dm.explore(model, reviews[0], walks=10)
    front.save(tmp_path / "front.parquet")
    loaded = dm.Front.load(tmp_path / "front.parquet")
    pd.testing.assert_frame_equal(loaded.pairs, front.pairs)
    other = dm.explore(fit_classifier(*make_reviews(100, 5)), reviews[0], walks=10)
    assert front.diff(other).describe()
    nearest = front.nearest([reviews[0][0]])
    assert len(nearest) == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda texts: ["good" if "lovely" in text else "bad" for text in texts],
        lambda text: "good" if "lovely" in text else "bad",
        lambda frame: np.where(frame["text"].str.contains("lovely"), "good", "bad"),
    ],
    ids=["list", "one text", "frame"],
)
def test_functions_of_lists_texts_and_frames(function, reviews):
    front = dm.explore(function, reviews[0], walks=6)
    assert len(front)
    assert all(
        ("lovely" in a) != ("lovely" in b) for a, b in zip(front.pairs["a.text"], front.pairs["b.text"], strict=True)
    )


@pytest.mark.slow
def test_the_page_marks_the_difference(reviews):
    texts = [f"{text} <b>{row}</b>" for row, text in enumerate(reviews[0][:80])]
    front = dm.explore(lambda texts: ["good" if "lovely" in text else "bad" for text in texts], texts, walks=20)
    page = front.to_html()
    assert "lovely</ins>" in page or "lovely</del>" in page
    assert "<b>1" not in page
    assert "lovely" in front.to_markdown()


@pytest.mark.slow
def test_a_resumed_run_finds_the_same(reviews, tmp_path):
    class Classifier:
        def __init__(self, limit):
            self.limit, self.calls = limit, 0

        def __call__(self, texts):
            self.calls += 1
            if self.calls > self.limit:
                raise KeyboardInterrupt
            return ["good" if "lovely" in text or "great" in text else "bad" for text in texts]

    options = {"walks": 40, "seed": 1, "strategy": "random_target", "name": "classifier", "progress": False}
    whole = dm.explore(Classifier(10_000), reviews[0], **options)
    store = tmp_path / "runs.sqlite"
    cut = dm.explore(Classifier(4), reviews[0], store=store, **options)
    assert cut.exhausted
    resumed = dm.explore(Classifier(10_000), reviews[0], store=store, resume=1, **options)
    pd.testing.assert_frame_equal(resumed.pairs, whole.pairs)
