"""The true risk in the synthetic loan book: the probability of default as a function of the attributes.

The log-odds of default are a sum of terms. Each term of the credit score falls, and each term of the debt-to-income and
the loan-to-value ratio rises, so the probability is monotone in all three, whatever the other attributes are. The sizes
follow what mortgage lenders know: 43 points of credit score about halve the odds of default, the effect flattens above
760 points; the loan-to-value ratio matters most above 80 %; a debt-to-income ratio above 43 % weighs twice; a second
borrower cuts the odds by two fifths; a low score on a thin equity weighs more than the sum of both (risk layering).
The sizes are a choice of ours, not an estimate from data of a lender.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..._lazy import pd
from ..._validation import check_types, reject
from .attributes import ATTRIBUTES, LOAN_BOOK_FACTS, validate_columns

Floats = npt.NDArray[np.float64]

VINTAGES = (2016, 2018)

#: log-odds of default of the reference loan: score 700, dti 35, ltv 80, one borrower, purchase of a home to live in
REFERENCE_LOG_ODDS = {2016: -2.97, 2018: -2.93}
#: the rate at which the market lends to the reference loan, in percent
MARKET_RATES = {2016: 3.75, 2018: 4.65}
#: how strongly the attributes weigh: the loans of 2018 ran into the lay-offs of 2020, which hit weak loans hardest
STRENGTHS = {2016: 1.0, 2018: 1.1}
#: the value that stands in the formula for an unavailable one
REFERENCE_VALUES = {"credit_score": 680.0, "dti": 40.0, "ltv": 80.0, "borrowers": 1.0, "units": 1.0}


@check_types
def default_probability(loans: pd.DataFrame, *, vintage: int = 2016) -> Floats:
    """Return the true probability that each loan of the synthetic book defaults within three years.

    All else equal, it never rises with the credit score, and never falls with the debt-to-income or the loan-to-value ratio.

    Parameters
    ----------
    loans : DataFrame
        Loans with the columns of `make_loan_book`; the column ``default`` is not needed.
    vintage : {2016, 2018}
        The year in which the loans were made.

    Returns
    -------
    ndarray
        One probability per loan.

    Examples
    --------
    >>> import datamorphic as dm
    >>> loans = dm.data.make_loan_book(1000, seed=0)
    >>> before = dm.data.default_probability(loans)
    >>> after = dm.data.default_probability(loans.assign(credit_score=loans.credit_score.clip(upper=830) + 20))
    >>> bool((after < before)[loans.credit_score < 830].all())
    True
    """
    validate_vintage(vintage, "default_probability")
    return 1 / (1 + np.exp(-compute_log_odds(loans, vintage)))


def validate_vintage(vintage: object, function: str) -> None:
    """Raise `ArgumentError` unless a vintage is one of the known years."""
    if not isinstance(vintage, int) or vintage not in VINTAGES:
        reject("vintage", function, " or ".join(map(str, VINTAGES)), vintage)


def compute_log_odds(loans: pd.DataFrame, vintage: int) -> Floats:
    """Return the log-odds of default of each loan."""
    names = tuple(attribute.name for attribute in ATTRIBUTES if attribute.name != "mortgage_insurance")
    validate_columns(loans, names, "default_probability")
    score, dti, ltv, borrowers, units = (_fill(loans, name) for name in REFERENCE_VALUES)
    rate = loans["interest_rate"].to_numpy(np.float64) - MARKET_RATES[vintage]
    term = loans["loan_term"].to_numpy(np.float64)
    upb = loans["upb"].to_numpy(np.float64)
    strength = STRENGTHS[vintage]
    # they fall more slowly above a score of 760, and rise faster above a dti of 43 % and an ltv of 60 % and 80 %
    score_odds = -0.016 * (np.minimum(score, 760) - 700) - 0.009 * np.maximum(score - 760, 0)
    dti_odds = 0.025 * (np.minimum(dti, 43) - 35) + 0.05 * np.maximum(dti - 43, 0)
    low_ltv_odds = 0.010 * (np.minimum(ltv, 60) - 60) + 0.016 * (np.clip(ltv, 60, 80) - 80)
    ltv_odds = low_ltv_odds + 0.028 * np.maximum(ltv - 80, 0)
    log_odds = (
        REFERENCE_LOG_ODDS[vintage]
        + strength * (score_odds + dti_odds + ltv_odds)
        + strength * 0.0006 * np.maximum(700 - score, 0) * np.maximum(ltv - 80, 0) / 10
        + np.where(borrowers >= 2, -0.50, 0.0)
        + 0.15 * (units - 1)
        + 0.30 * rate
        + np.where(term <= 180, -0.35, 0.0)
        - 0.10 * np.log(upb / 200_000)
        + np.where(loans["first_time_buyer"].to_numpy() == "Y", -0.05, 0.0)
    )
    for name, by_code in LOAN_BOOK_FACTS.log_odds.items():
        log_odds = log_odds + loans[name].map(by_code).fillna(0.0).to_numpy(np.float64)  # 0 for codes without any
    return log_odds


def _fill(loans: pd.DataFrame, name: str) -> Floats:
    """Return a column of numbers with the reference value where the value is unavailable."""
    values = loans[name].to_numpy(np.float64, na_value=np.nan)
    sentinel = next(attribute.sentinel for attribute in ATTRIBUTES if attribute.name == name)
    return np.where(np.isnan(values) | (values == sentinel), REFERENCE_VALUES[name], values)
