"""Fast measures of credit models equal their definitions."""

from __future__ import annotations

import numpy as np
import plain_credit
import pytest

import datamorphic as dm
from datamorphic.relations.catalogue.credit import credit_relations
from datamorphic.risk.credit.judging import ApplicantQuery
from datamorphic.risk.credit.measures import compute_ks, measure_auc, measure_auc_difference


@pytest.fixture(params=["distinct", "ties"])
def scored(request):
    rng = np.random.default_rng(3)
    defaulted = rng.random(60) < 0.3
    scores = rng.random((2, 60)) + 0.3 * defaulted
    return (scores if request.param == "distinct" else scores.round(1)), defaulted


def test_auc_and_its_variance_are_delongs(scored):
    scores, defaulted = scored
    aucs, covariance = plain_credit.compute_auc_covariance(*scores, defaulted)
    for place in range(2):
        auc = measure_auc(scores[place], defaulted)
        assert auc.value == pytest.approx(aucs[place])
        assert auc.variance == pytest.approx(covariance[place, place])
    difference = measure_auc_difference(*scores, defaulted)
    assert difference.value == pytest.approx(aucs[0] - aucs[1])
    assert difference.variance == pytest.approx(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])


def test_ks_is_the_largest_difference(scored):
    scores, defaulted = scored
    assert compute_ks(scores[0], defaulted) == pytest.approx(plain_credit.compute_ks(scores[0], defaulted))


@pytest.mark.slow
def test_violations_are_counted_as_one_by_one():
    loans = dm.data.make_loan_book(40, seed=5).drop(columns="default")
    loans.loc[3, "credit_score"] = 9999

    def rate(frame):  # rises and falls with the score, in waves
        score, ltv = frame.credit_score.to_numpy(float), frame.ltv.to_numpy(float)
        return 0.3 + 0.05 * np.sin(score / 15) + 0.002 * ltv - 0.0003 * frame.dti.to_numpy(float)

    relations = list(credit_relations().values())
    applicant_query = ApplicantQuery.build(loans, relations)
    tallies = applicant_query.judge(rate(applicant_query.frame), 0.01)
    assert any(tally.strong for tally in tallies)
    assert any(tally.weak for tally in tallies)
    for relation, tally in zip(relations, tallies, strict=True):
        plain = plain_credit.tally_violations(lambda row: rate(row)[0], relation, loans, 0.01)
        assert {name: getattr(tally, name) for name in plain} == plain
        assert sum(tally.histogram) == tally.violations
