"""The German credit data as a loan book: ordered categories as levels, and what a lender expects of its columns.

The codes are those of the Statlog data set (Hofmann 1994): A61 to A64 are rising savings, A65 means that they are unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import DataError
from ...relations.change import Change, ChangeRelation, compose
from ..sets import load

if TYPE_CHECKING:
    import pandas as pd

BAD_LABEL = "bad"
UNKNOWN_LEVEL = -1

#: the codes of ordered categories from the lowest level to the highest
LEVELS: dict[str, tuple[str, ...]] = {
    "checking_status": ("A11", "A12", "A13"),  # overdrawn, below 200 DM, 200 DM and more
    "savings": ("A61", "A62", "A63", "A64"),  # below 100, 500, 1000 DM, 1000 DM and more
    "employment": ("A71", "A72", "A73", "A74", "A75"),  # unemployed, below 1, 4, 7 years, 7 years and more
}
#: the codes that have no place in the order
UNKNOWN_CODES = {"checking_status": "A14", "savings": "A65"}  # no account here; unknown or none


@dataclass(frozen=True, kw_only=True)
class ColumnExpectation:
    """What a lender expects of a column, all else equal."""

    column: str
    promise: str  # "raises", "lowers" (the probability of a bad loan), "protected"; "" without an expectation
    reason: str
    change: Change | None = None  # the change that must not raise the probability of a bad loan


GERMAN_CREDIT_EXPECTATIONS = (
    ColumnExpectation(
        column="duration_months",
        promise="raises",
        reason="a longer loan has more time to fail",
        change=Change(column="duration_months", factor=0.9, low=1, high=120),
    ),
    ColumnExpectation(
        column="credit_amount",
        promise="raises",
        reason="a larger debt is harder to repay from the same income",
        change=Change(column="credit_amount", factor=0.9, low=1, high=1_000_000),
    ),
    ColumnExpectation(
        column="installment_rate",
        promise="raises",
        reason="instalments take a larger share of the income; the levels 1 to 4 rise with the share",
        change=Change(column="installment_rate", amount=-1, low=1, high=4),
    ),
    ColumnExpectation(
        column="savings",
        promise="lowers",
        reason="savings cover missed income",
        change=Change(column="savings", amount=1, low=0, high=3, sentinels=(UNKNOWN_LEVEL,)),
    ),
    ColumnExpectation(
        column="checking_status",
        promise="lowers",
        reason="a fuller account shows that income exceeds expenses",
        change=Change(column="checking_status", amount=1, low=0, high=2, sentinels=(UNKNOWN_LEVEL,)),
    ),
    ColumnExpectation(
        column="employment",
        promise="lowers",
        reason="a longer employment makes a steady income likelier",
        change=Change(column="employment", amount=1, low=0, high=4),
    ),
    ColumnExpectation(column="age", promise="protected", reason="age is protected by law in lending"),
    ColumnExpectation(column="personal_status", promise="protected", reason="it combines gender and marital status"),
    ColumnExpectation(column="foreign_worker", promise="protected", reason="it stands for nationality"),
    ColumnExpectation(
        column="credit_history",
        promise="",
        reason="its codes are not ordered as their names suggest: of loans after 'critical account', fewest are bad",
    ),
    ColumnExpectation(
        column="existing_credits", promise="", reason="more credits at this bank are a burden, and a sign of trust"
    ),
    ColumnExpectation(
        column="other_parties", promise="", reason="a guarantor lowers the risk, but is asked for if it is high"
    ),
    ColumnExpectation(column="purpose", promise="", reason="no order"),
    ColumnExpectation(column="residence_since", promise="", reason="moving is no sign of risk by itself"),
    ColumnExpectation(column="property", promise="", reason="the codes mix kinds of property, not values"),
    ColumnExpectation(column="other_installments", promise="", reason="no order"),
    ColumnExpectation(column="housing", promise="", reason="no order"),
    ColumnExpectation(column="job", promise="", reason="levels of skill, not of income"),
    ColumnExpectation(column="dependents", promise="", reason="a lender may not count children against an applicant"),
    ColumnExpectation(column="telephone", promise="", reason="no expectation"),
)


def load_german_credit() -> pd.DataFrame:
    """Load the German credit data with ordered categories as levels.

    Checking account, savings and employment become whole numbers from 0, the lowest level; -1 means that the level is
    unknown. All other columns are as in ``dm.data.load("german_credit")``, with the label "good" or "bad" in ``target``.

    Returns
    -------
    DataFrame
        1,000 loans.

    Examples
    --------
    >>> import datamorphic as dm
    >>> sorted(dm.data.load_german_credit().savings.unique().tolist())  # doctest: +SKIP
    [-1, 0, 1, 2, 3]
    """
    return to_levels(load("german_credit"))


def to_levels(loans: pd.DataFrame) -> pd.DataFrame:
    """Return German credit data with levels instead of the codes of ordered categories."""
    columns = {}
    for name, codes in LEVELS.items():
        if name not in loans.columns:
            raise DataError(f"The German credit data lack the column {name!r}. Is it another data set?")
        levels = {code: level for level, code in enumerate(codes)}
        if name in UNKNOWN_CODES:
            levels[UNKNOWN_CODES[name]] = UNKNOWN_LEVEL
        texts = loans[name].astype(object)
        unknown = ~texts.isin(levels)
        if unknown.any():
            row = int(unknown.to_numpy().argmax())
            raise DataError(
                f"Row {row} of the German credit data has {name}={texts.iloc[row]!r}, which is not one of its codes. "
                "Is it another data set?"
            )
        columns[name] = texts.map(levels).astype("int64")
    return loans.assign(**columns)


def german_credit_relations(*, outcome: object = BAD_LABEL) -> dict[str, ChangeRelation]:
    """Return the relations that a lender expects of models of the German credit data.

    One relation per column with an expected direction, and "german.safer", which makes all these changes together.

    Parameters
    ----------
    outcome : object
        The class of loans that are not repaid.

    Examples
    --------
    >>> from datamorphic.data.loans.german_credit import german_credit_relations
    >>> relations = german_credit_relations()
    >>> len(relations), relations["german.savings"].statement
    (7, 'savings + 1: the probability of bad does not rise')
    """
    relations = {
        f"german.{expectation.column}": ChangeRelation(
            f"german.{expectation.column}", expectation.change, outcome=outcome
        )
        for expectation in GERMAN_CREDIT_EXPECTATIONS
        if expectation.change is not None
    }
    relations["german.safer"] = compose(*relations.values(), name="german.safer")
    return relations


def format_german_credit_promises() -> str:
    """Return the expectations as the text of a promises file."""
    lines = ["# German credit: what a lender expects, all else equal", f"outcome: {BAD_LABEL}"]
    for expectation in GERMAN_CREDIT_EXPECTATIONS:
        if expectation.promise:
            statement = (
                expectation.promise if expectation.promise == "protected" else f"{expectation.promise} {BAD_LABEL}"
            )
            change = expectation.change
            if change is not None and change.sentinels:
                statement += f", {change.low:g} to {change.high:g}, {change.sentinels[0]} means unavailable"
            lines.append(f"{expectation.column}: {statement}  # {expectation.reason}")
    return "\n".join(lines) + "\n"
