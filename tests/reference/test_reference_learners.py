"""The textbook learners give the answers of scikit-learn's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from datamorphic.data import knn, naive_bayes
from datamorphic.data.knn import KNN
from datamorphic.data.naive_bayes import NaiveBayes

LEARNERS = {**knn.learners(), "k = 8": KNN(8), **naive_bayes.learners(), "smoothed": NaiveBayes(smoothing=0.1)}
LABELS = [["L0", "L1", "L2"], [7, -1, 3], [True, False], [2.0, 5.0]]


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_labels_and_probabilities_are_those_of_scikit_learn(name):
    rng, model = np.random.default_rng(0), LEARNERS[name]
    for turn in range(20):
        n = int(rng.integers(8, 51))
        x, t = rng.uniform(1, 20, (n, 4)), rng.uniform(1, 20, (5, 4))
        y = rng.choice(LABELS[turn % len(LABELS)], n)
        theirs = model.like.fit(x, y)
        np.testing.assert_array_equal(model.fit(x, y).predict(t), theirs.predict(t))
        assert model.predict(t).dtype == theirs.predict(t).dtype
        np.testing.assert_array_equal(model.classes_, theirs.classes_)
        np.testing.assert_allclose(model.predict_proba(t), theirs.predict_proba(t), rtol=0, atol=1e-12)
        if isinstance(model, NaiveBayes):
            joint = theirs.predict_joint_log_proba(t)
            np.testing.assert_allclose(model.predict_joint_log_proba(t), joint, rtol=1e-12)


def test_classes_of_one_sample_are_those_of_scikit_learn():
    """Then the smoothing is all the variance there is."""
    rng = np.random.default_rng(1)
    for n in (2, 3, 4):
        x, y, t = rng.uniform(1, 20, (n, 4)), np.arange(n) // 2, rng.uniform(1, 20, (20, 4))
        model = NaiveBayes().fit(x, y)
        np.testing.assert_array_equal(model.predict(t), model.like.fit(x, y).predict(t))
        np.testing.assert_allclose(model.predict_proba(t), model.like.fit(x, y).predict_proba(t), rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_of_equal_distances_the_earlier_sample_counts_and_of_equal_votes_the_first_label(k):
    rng = np.random.default_rng(k)
    for _ in range(40):
        x, t, y = rng.integers(0, 3, (20, 2)), rng.integers(0, 3, (1, 2)), rng.integers(0, 3, 20)
        nearest = np.argsort(((x - t) ** 2).sum(axis=1), kind="stable")[:k]
        votes = np.bincount(y[nearest], minlength=3)
        model = KNN(k).fit(x, y)
        present = np.unique(y)
        assert model.predict(t).tolist() == [present[votes[present].argmax()]]
        np.testing.assert_array_equal(model.predict_proba(t), [votes[present] / k])


@pytest.mark.parametrize("model", LEARNERS.values(), ids=LEARNERS)
def test_frames_and_no_cases_at_all(model):
    rng = np.random.default_rng(2)
    x, y = pd.DataFrame(rng.uniform(1, 20, (12, 3)), columns=list("abc")), rng.choice(["u", "v"], 12)
    by_frame, by_array = model.fit(x, pd.Series(y)).predict(x), model.fit(x.to_numpy(), y).predict(x.to_numpy())
    assert by_frame.tolist() == by_array.tolist()
    assert model.predict(x[:0]).shape == (0,)
    assert model.predict_proba(x[:0]).shape == (0, 2)


def test_too_few_samples():
    x, y = [[1.0], [2.0]], ["a", "b"]
    with pytest.raises(ValueError, match="3 neighbours need as many training samples, but there are 2"):
        KNN(3).fit(x, y).predict(x)
    with pytest.raises(ValueError, match="n_neighbors"):
        KNN(3).like.fit(x, y).predict(x)
    with pytest.raises(ValueError, match="No attribute of the training samples varies"):
        NaiveBayes().fit([[1.0], [1.0]], y)
