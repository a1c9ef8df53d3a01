"""The German credit data as a loan book: ordered categories as levels, and what a lender expects of its columns.

The codes are those of the Statlog data set (Hofmann 1994): A61 to A64 are rising savings, A65 means that they are unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from ..._lazy import pd
from ..._tables import read_rows
from ...errors import DataError
from ...relations.algebra.change import Change, ChangeRelation, compose
from ..sets import load

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
    """What a lender expects of a column, all else equal, and the change that must not raise the probability of a bad loan."""

    column: str
    promise: Literal["raises", "lowers", "protected", ""] = ""  # of the probability of a bad loan
    reason: str
    factor: float | None = None
    amount: int | None = None
    low: int = 0
    high: int = 0
    may_be_unknown: bool = False  # whether the column has the level that means "unknown"

    @property
    def change(self) -> Change | None:
        """The change, if a direction is expected."""
        if self.factor is None and self.amount is None:
            return None
        return Change(
            column=self.column,
            factor=self.factor,
            amount=self.amount,
            low=self.low,
            high=self.high,
            sentinels=(UNKNOWN_LEVEL,) if self.may_be_unknown else (),
        )


@cache
def read_expectations() -> tuple[ColumnExpectation, ...]:
    """Return the expectations of all columns."""
    return read_rows(__package__, "german_credit.csv", ColumnExpectation)


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
        for expectation in read_expectations()
        if expectation.change is not None
    }
    relations["german.safer"] = compose(*relations.values(), name="german.safer")
    return relations
