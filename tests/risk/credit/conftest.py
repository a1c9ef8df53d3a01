from __future__ import annotations

import pytest

import datamorphic as dm
from datamorphic.risk.credit.ladder import HistogramBoostingFamily, LogisticFamily


@pytest.fixture(scope="session")
def loans():
    return dm.data.make_loan_book(1500, seed=1)


@pytest.fixture(scope="session")
def report(loans):
    """A report on logistic regression and small boosting models, which treat some applicants wrongly."""
    ladder = [LogisticFamily(), HistogramBoostingFamily(sizes=(5, 30, 60))]
    return dm.credit(data=loans, ladder=ladder, repetitions=2, name="a small book")
