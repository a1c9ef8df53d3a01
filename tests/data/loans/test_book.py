"""The synthetic loan book and its true risk."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.data.loans.attributes import ATTRIBUTE_NAMES, ATTRIBUTES
from datamorphic.data.loans.book import make_loan_book
from datamorphic.data.loans.true_risk import default_probability
from datamorphic.errors import ArgumentError, DataError
from datamorphic.relations.algebra.base import VIOLATED
from datamorphic.relations.catalogue.credit import credit_relations


@pytest.fixture(scope="module", params=[2016, 2018])
def vintage(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def loans(vintage: int) -> pd.DataFrame:
    return make_loan_book(6000, vintage=vintage, seed=5)


def test_attributes_have_possible_values(loans: pd.DataFrame) -> None:
    assert tuple(loans.columns) == (*ATTRIBUTE_NAMES, "default")
    assert len(ATTRIBUTE_NAMES) == 15
    (state,) = (attribute for attribute in ATTRIBUTES if attribute.name == "state")
    assert len(state.codes) == 56
    for attribute in ATTRIBUTES:
        column = loans[attribute.name]
        available = column[column != attribute.sentinel]
        if attribute.numeric:
            assert available.between(attribute.low, attribute.high).all()
            assert available.nunique() > 1
        else:
            assert set(available) <= set(attribute.codes)
        if attribute.sentinel is not None:
            assert 0 < len(column) - len(available) < 0.005 * len(column)


def test_about_three_percent_default(loans: pd.DataFrame, vintage: int) -> None:
    share = (loans["default"] == "default").mean()
    assert share == pytest.approx(0.0315, abs=0.007)
    assert default_probability(loans, vintage=vintage).mean() == pytest.approx(share, abs=0.006)


def test_insurance_and_rates_depend_on_the_risk(loans: pd.DataFrame) -> None:
    known = dm.data.replace_sentinels(loans)
    assert (known.mortgage_insurance[known.ltv > 80].dropna() > 0).all()
    assert known.interest_rate.corr(known.credit_score) < -0.1
    assert (known.first_time_buyer[known.purpose != "P"].dropna() == "Y").mean() < 0.01


@pytest.mark.slow
def test_the_true_risk_is_monotone_for_every_relation(loans: pd.DataFrame, vintage: int) -> None:
    before = default_probability(loans, vintage=vintage)
    for relation in [*credit_relations().values(), *credit_relations(additive=True).values()]:
        changed = relation.change(loans)
        after = default_probability(changed.frame, vintage=vintage)
        verdicts, _ = relation.judge_levels(before, after, changed.inapplicable)
        assert not (verdicts == VIOLATED).any()
        assert (after <= before)[~changed.inapplicable].all()  # not even by rounding


def test_the_true_risk_is_monotone_on_any_row(vintage: int) -> None:
    """Rows with attributes drawn at random, each with two random values of one of the three columns."""
    rng = np.random.default_rng(1)
    n = 2000
    rows = pd.DataFrame(
        {
            attribute.name: (
                rng.integers(int(attribute.low), int(attribute.high) + 1, n)
                if attribute.numeric
                else rng.choice(list(attribute.codes), n)
            )
            for attribute in ATTRIBUTES
        }
    )
    for name, sign in (("credit_score", -1), ("dti", 1), ("ltv", 1)):
        attribute = next(item for item in ATTRIBUTES if item.name == name)
        ends = np.sort(rng.integers(int(attribute.low), int(attribute.high) + 1, (2, n)), axis=0)
        low, high = (default_probability(rows.assign(**{name: end}), vintage=vintage) for end in ends)
        assert (sign * (high - low) >= 0).all()
        assert (sign * (high - low) > 0)[ends[0] < ends[1]].all()


def test_the_same_seed_gives_the_same_book() -> None:
    pd.testing.assert_frame_equal(make_loan_book(300, seed=1), make_loan_book(300, seed=1))
    assert not make_loan_book(300, seed=1).equals(make_loan_book(300, seed=2))
    assert not make_loan_book(300, seed=1).equals(make_loan_book(300, seed=1, vintage=2018))


def test_wrong_arguments_are_refused(loans: pd.DataFrame) -> None:
    with pytest.raises(ArgumentError, match="'n' parameter of make_loan_book"):
        make_loan_book(0)
    with pytest.raises(ArgumentError, match=r"'vintage' parameter of make_loan_book must be 2016 or 2018. Got 2020"):
        make_loan_book(10, vintage=2020)
    with pytest.raises(ArgumentError, match="'vintage' parameter of default_probability"):
        default_probability(loans, vintage=1999)
    with pytest.raises(DataError, match="needs the column 'credit_score'"):
        default_probability(loans.rename(columns={"credit_score": "creditscore"}))
