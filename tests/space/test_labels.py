"""Labels and numbers from different places, compared."""

from __future__ import annotations

import numpy as np
import pandas as pd

from datamorphic.space.labels import find_agreement, shorten_label, to_label_keys
from datamorphic.space.outputs import Outputs, find_rounding, to_real_rows
from support.cases import in_one_test


@in_one_test(
    ("answers", "labels", "expected"),
    [
        (np.array([True, False]), np.array([1, 0]), [True, True]),
        (np.array([True, False]), np.array([1.0, np.nan]), [True, False]),
        (np.array([1, 0]), np.array(["True", "False"]), [True, True]),
        (np.array([1, 2]), np.array(["1", "3"]), [True, False]),
        (np.array(["a", "b"]), pd.array(["a", None]), [True, False]),
        (np.array([0.5, 1.0], dtype=np.float32), np.array([0.5, 1]), [True, True]),
        (np.array([True, "x"], dtype=object), np.array([1, "x"], dtype=object), [True, True]),
        (np.empty(0), np.empty(0), []),
    ],
)
def test_agreement(answers, labels, expected):
    assert find_agreement(answers, np.asarray(labels)).tolist() == expected


def test_several_labels_at_once_have_keys():
    values = np.empty(2, dtype=object)
    values[:] = [("a", 1), ("b", 2)]
    assert len(set(to_label_keys(values))) == 2


def test_numbers_are_compared_with_the_tolerance_of_their_type():
    exact = np.array([1.0, 2.0, 1.3, 0.9])
    for dtype, noise in ((np.float16, 2e-3), (np.float32, 2e-6), (np.float64, 1e-12)):
        values = exact.astype(dtype)
        noisy = (values * (1 + noise)).astype(dtype)
        assert Outputs.of(values).same(Outputs.of(noisy), rounding=1e-9).all(), dtype
        assert not Outputs.of(values).same(Outputs.of((values * 1.5).astype(dtype)), rounding=1e-9).any()
    assert not Outputs.of(exact).same(Outputs.of(exact * (1 + 2e-6)), rounding=1e-9).any()  # doubles


def test_doubles_that_were_computed_in_single_precision_are_recognised():
    single = np.random.default_rng(0).normal(size=50).astype(np.float32)
    assert find_rounding(single.astype(np.float64)) == find_rounding(single) > 0
    assert find_rounding(np.random.default_rng(0).normal(size=50)) == 0
    assert find_rounding(np.arange(3)) == 0


def test_several_numbers_per_answer_have_the_tolerance_too():
    rows = np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)
    values, noisy = np.empty(5, dtype=object), np.empty(5, dtype=object)
    values[:] = [tuple(row) for row in rows.tolist()]
    noisy[:] = [tuple(row) for row in (rows * np.float32(1 + 2e-6)).tolist()]
    assert Outputs.of(values).same(Outputs.of(noisy), rounding=1e-9).all()
    assert not Outputs.of(values).same(Outputs.of(noisy)).any()
    noisy[0] = ("a", 1)
    assert to_real_rows(noisy) is None


def test_huge_labels_get_short_texts_of_their_own():
    huge = [10**400, 10**400 + 1, -(10**400), 10**5000, "x" * 10**6, "x" * 10**6 + "y"]
    texts = [shorten_label(label) for label in huge]
    assert len(set(texts)) == len(huge)
    assert max(map(len, texts)) < 100
    assert [shorten_label(label) for label in huge] == texts
    plain = [True, 7, 10**300, 0.5, None, "x" * 1000, ("x" * 10**6,)]
    assert [shorten_label(label) for label in plain] == plain
    assert find_agreement(np.array(texts, dtype=object), np.array(huge, dtype=object)).all()
