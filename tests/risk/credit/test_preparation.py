"""Loans as matrices: splits, standardised numbers, categories, unavailable values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from datamorphic.risk.credit.preparation import LoanEncoder, split_loans


def test_a_split_keeps_the_share_of_defaults_and_repeats_those_of_training():
    defaulted = np.arange(1000) < 40
    training, test = split_loans(defaulted, np.random.default_rng(0))
    assert len(test) == 250
    assert defaulted[test].sum() == 10
    assert defaulted[training].sum() == 3 * 30
    assert (~defaulted[training]).sum() == 720
    assert not set(training) & set(test)
    assert set(training) | set(test) == set(range(1000))


def test_sizes_are_those_of_the_published_table():
    defaulted = np.arange(43_232) < 1_360
    training, test = split_loans(defaulted, np.random.default_rng(0))
    assert (len(training), len(test), defaulted[test].sum()) == (34_464, 10_808, 340)


@pytest.fixture
def frame():
    return pd.DataFrame(
        {"score": [600, 700, 9999, 800], "rate": [1.0, 2.0, np.nan, 3.0], "kind": ["a", "b", "a", None]}
    )


def test_numbers_are_standardised_without_unavailable_ones(frame):
    encoder = LoanEncoder.fit(frame, {"score": (9999,), "unknown": (1,)})
    matrix = encoder.transform(frame)
    assert encoder.names == ["score", "rate", "score unavailable", "rate unavailable", "kind=a", "kind=b"]
    deviation = np.std([600, 700, 800])
    assert matrix[:, 0] == pytest.approx([-100 / deviation, 0, 0, 100 / deviation])
    assert matrix[:, 2].tolist() == matrix[:, 3].tolist() == [0, 0, 1, 0]
    assert matrix[:, 4:].tolist() == [[1, 0], [0, 1], [1, 0], [0, 0]]


def test_other_loans_are_standardised_by_the_training_loans(frame):
    encoder = LoanEncoder.fit(frame[:2])
    matrix = encoder.transform(pd.DataFrame({"score": [750], "rate": [1.5], "kind": ["new"]}))
    assert matrix.tolist() == [[2.0, 0.0, 0.0, 0.0]]


def test_constant_and_empty_columns_are_zero():
    loans = pd.DataFrame({"a": [5.0, 5.0], "b": [np.nan, np.nan]})
    assert LoanEncoder.fit(loans).transform(loans).tolist() == [[0, 0, 1], [0, 0, 1]]
