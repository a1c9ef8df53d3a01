"""A synthetic loan book: mortgages with the fifteen attributes, whose true risk is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._estimates import refuse_many_rows
from ..._lazy import pd
from ..._validation import check_types, validate_integer, validate_seed
from .attributes import ATTRIBUTES, DEFAULT_LABEL, LOAN_BOOK_FACTS, OUTCOME_COLUMN, PAID_LABEL
from .true_risk import MARKET_RATES, default_probability, validate_vintage

Floats = npt.NDArray[np.float64]

UNAVAILABLE_SHARE = 0.002  # of the values of an attribute that has a sentinel

CONFORMING_LIMITS = {2016: 417_000, 2018: 453_000}
HIGH_COST_LIMITS = {2016: 625_000, 2018: 679_000}


@check_types
def make_loan_book(n: int = 10_000, *, vintage: int = 2016, seed: int = 0) -> pd.DataFrame:
    """Return a synthetic book of mortgages whose true probabilities of default are known.

    The attributes are those of Freddie Mac's loan-level data that Ying 2024 uses, with dependencies as in real books:
    insurance depends on the loan-to-value ratio, the interest rate on the risk, first-time buyers buy to live there.
    About 3 % of the loans default, drawn from `default_probability`. About 0.2 % of the values of attributes that
    have a sentinel are unavailable (9999, 999, 99, "9").

    Parameters
    ----------
    n : int
        The number of loans.
    vintage : {2016, 2018}
        The year. In 2018 rates are higher, and defaults depend more strongly on the attributes.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    DataFrame
        One row per loan: fifteen attributes, and ``default`` with the labels "default" and "paid".

    Examples
    --------
    >>> import datamorphic as dm
    >>> loans = dm.data.make_loan_book(1000, seed=0)
    >>> loans.shape, sorted(set(loans["default"]))
    ((1000, 16), ['default', 'paid'])
    """
    refuse_many_rows("make_loan_book", "n", validate_integer("n", "make_loan_book", n, 1), 16)
    validate_vintage(vintage, "make_loan_book")
    validate_seed("seed", "make_loan_book", seed)
    rng = np.random.default_rng([seed, vintage])
    purpose = _draw(rng, n, {"P": 0.50, "C": 0.21, "N": 0.29})
    occupancy = _draw(rng, n, {"P": 0.87, "I": 0.09, "S": 0.04})
    state = _draw(rng, n, LOAN_BOOK_FACTS.state_shares)
    property_type = _draw(rng, n, {"SF": 0.63, "PU": 0.27, "CO": 0.091, "MH": 0.005, "CP": 0.004})
    channel = _draw(rng, n, {"R": 0.56, "C": 0.30, "B": 0.14})
    units = np.where(occupancy == "I", _draw(rng, n, {1: 0.80, 2: 0.13, 3: 0.03, 4: 0.04}), 1)
    borrowers = _draw(rng, n, {1: 0.53, 2: 0.455, 3: 0.01, 4: 0.005})
    first_time_buyer = np.where((purpose == "P") & (occupancy == "P") & (rng.random(n) < 0.42), "Y", "N")
    credit_score = _draw_scores(rng, n, first_time_buyer)
    ltv = _draw_ltv(rng, n, purpose, occupancy, first_time_buyer)
    dti = np.clip(np.rint(rng.normal(35.5, 9.3, n) - 0.02 * (credit_score - 745)), 1, 65)
    dti = np.where(dti > 50, np.clip(50 - (dti - 50) / 3, 45, 65).round(), dti)  # few lenders go beyond 50 %
    loan_term = _draw(rng, n, {360: 0.76, 180: 0.14, 240: 0.06, 300: 0.02, 120: 0.02})
    interest_rate = (
        MARKET_RATES[vintage]
        - 0.0020 * (credit_score - 740)
        + 0.0060 * (ltv - 75)
        + np.where(occupancy == "I", 0.45, 0.0)
        + np.where(purpose == "C", 0.15, 0.0)
        - np.where(loan_term <= 180, 0.65, np.where(loan_term < 360, 0.30, 0.0))
        + rng.normal(0, 0.28, n)
    )
    high_cost = np.isin(state, LOAN_BOOK_FACTS.high_cost_states)
    upb = np.exp(rng.normal(np.where(high_cost, 12.65, 12.15), 0.48, n))
    limit = np.where(high_cost, HIGH_COST_LIMITS[vintage], CONFORMING_LIMITS[vintage])
    insurance = np.select([ltv <= 80, ltv <= 85, ltv <= 90, ltv <= 95], [0, 12, 25, 30], 35)
    loans = pd.DataFrame(
        {
            "credit_score": credit_score.astype(np.int64),
            "ltv": ltv.astype(np.int64),
            "dti": dti.astype(np.int64),
            "loan_term": loan_term.astype(np.int64),
            "borrowers": borrowers.astype(np.int64),
            "interest_rate": np.clip(np.rint(interest_rate * 8) / 8, 2.5, 6.0),
            "upb": (np.clip(upb, 20_000, limit) // 1000 * 1000).astype(np.int64),
            "mortgage_insurance": insurance.astype(np.int64),
            "units": units.astype(np.int64),
            "first_time_buyer": first_time_buyer.astype(object),
            "occupancy": occupancy.astype(object),
            "channel": channel.astype(object),
            "state": state.astype(object),
            "property_type": property_type.astype(object),
            "purpose": purpose.astype(object),
        }
    )
    defaulted = rng.random(n) < default_probability(loans, vintage=vintage)
    for attribute in ATTRIBUTES:
        if attribute.sentinel is not None:
            unavailable = rng.random(n) < UNAVAILABLE_SHARE
            loans.loc[unavailable, attribute.name] = attribute.sentinel
    loans[OUTCOME_COLUMN] = np.where(defaulted, DEFAULT_LABEL, PAID_LABEL).astype(object)
    return loans


def _draw(rng: np.random.Generator, n: int, shares: Mapping[str, float] | Mapping[int, float]) -> npt.NDArray[Any]:
    """Return random values with their shares."""
    weights = np.array(list(shares.values()))
    return rng.choice(np.array(list(shares)), size=n, p=weights / weights.sum())


def _draw_scores(rng: np.random.Generator, n: int, first_time_buyer: npt.NDArray[Any]) -> Floats:
    """Return credit scores: quartiles of about 715, 757 and 787, dense up to 820, with a long tail to the left."""
    shortfall = rng.gamma(2.0, 39.0, n)
    shortfall = np.where(shortfall > 130, 130 + 0.6 * (shortfall - 130), shortfall)  # few loans below 640 are made
    scores = 823 - shortfall - np.where(first_time_buyer == "Y", 6, 0) + rng.normal(0, 4, n)
    return np.clip(np.rint(scores), 560, 839)


def _draw_ltv(
    rng: np.random.Generator,
    n: int,
    purpose: npt.NDArray[Any],
    occupancy: npt.NDArray[Any],
    first_time_buyer: npt.NDArray[Any],
) -> Floats:
    """Return loan-to-value ratios: purchases at the usual limits of 80, 90, 95 and 97 %, refinancing below."""
    spread = np.clip(np.rint(rng.normal(62, 16, n)), 6, 80)
    limits = rng.choice([80.0, 75.0, 85.0, 90.0, 95.0, 97.0], size=n, p=[0.42, 0.08, 0.06, 0.14, 0.22, 0.08])
    at_limit = rng.random(n) < np.where(first_time_buyer == "Y", 0.85, 0.65)
    ltv = np.where((purpose == "P") & at_limit, limits, spread)
    return np.where(occupancy == "P", ltv, np.minimum(ltv, 80))
