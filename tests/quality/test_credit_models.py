"""Claims about credit models on the synthetic loan book, whose true risk is known to be monotone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

import datamorphic as dm
from datamorphic.risk.credit.ladder import HistogramBoostingFamily, LogisticFamily
from support.cases import LONG

pytestmark = [pytest.mark.quality, pytest.mark.slow]

SIZES = (10, 50, 100, 200, 400) if LONG else (10, 50, 200)
#: the attributes that weigh most; fewer columns than in print, so that the test takes seconds
COLUMNS = ["credit_score", "ltv", "dti", "borrowers", "interest_rate", "upb", "default"]
SEEDS = range(3 if LONG else 1)


@pytest.fixture(scope="module")
def books():
    return [dm.data.make_loan_book(12_000 if LONG else 6_000, seed=seed)[COLUMNS] for seed in SEEDS]


def test_logistic_regression_with_the_right_signs_violates_nothing(books):
    for seed, loans in zip(SEEDS, books, strict=True):
        report = dm.credit(data=loans, ladder=[LogisticFamily()], repetitions=1, seed=seed)
        (model,) = report.models
        assert model.count_wrong_signs(report.directions) == {"credit_score": 0, "dti": 0, "ltv": 0}
        assert model.violation_free == (1, 1)


def test_violations_of_boosting_grow_with_trees_and_vanish_under_constraints(books):
    totals = []
    for seed, loans in zip(SEEDS, books, strict=True):
        report = dm.credit(
            data=loans,
            ladder=[HistogramBoostingFamily(sizes=SIZES)],
            constraints=seed == 0,
            repetitions=1,
            test_share=0.1,
            seed=seed,
        )
        models = [report[f"gradient boosting, {size:,} trees"] for size in SIZES]
        totals.append([sum(share.strong.value for share in model.shares.values()) for model in models])
        if seed == 0:
            held = [model for model in report.models if model.rung.constrained]
            assert len(held) == len(SIZES)
            assert all(model.violation_free == (1, 1) for model in held)
            assert all(mitigation.strong_before.value > 0 for mitigation in report.mitigations[1:])
            assert all(np.isfinite([m.auc_price.low, m.auc_price.high]).all() for m in report.mitigations)
    mean = np.mean(totals, axis=0)
    assert spearmanr(SIZES, mean).statistic > 0.8
    assert mean[-1] > 5 * mean[0]
