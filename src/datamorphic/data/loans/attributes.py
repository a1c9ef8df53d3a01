"""The fifteen attributes of a mortgage, their possible values, and the values that mean "unavailable".

They are the attributes of Freddie Mac's single-family loan-level data set that Ying 2024 (section 8.3.2) uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..._lazy import pd
from ..._tables import read_document
from ..._text import suggest_name
from ..._validation import check_types
from ...errors import DataError
from ...relations.catalogue.credit import CREDIT_RANGES, CREDIT_SENTINELS

OUTCOME_COLUMN = "default"
DEFAULT_LABEL, PAID_LABEL = "default", "paid"


@dataclass(frozen=True, kw_only=True)
class LoanAttribute:
    """One attribute of a loan: a number in a range, or one of some codes."""

    name: str
    title: str
    low: float | None = None
    high: float | None = None
    whole: bool = True  # whether the number is an integer
    codes: tuple[str, ...] = ()
    sentinel: Any = None  # a number or a code: the value that means "unavailable"

    @property
    def numeric(self) -> bool:
        """Whether the attribute is a number."""
        return not self.codes


@dataclass(frozen=True, kw_only=True)
class _LoanBookFacts:
    """What loan_book.toml says."""

    attributes: tuple[LoanAttribute, ...]
    high_cost_states: tuple[str, ...]
    state_shares: Mapping[str, float]
    log_odds: Mapping[str, Mapping[str, float]]


LOAN_BOOK_FACTS = read_document(__package__, "loan_book.toml", _LoanBookFacts)


def _add_credit_range(attribute: LoanAttribute) -> LoanAttribute:
    if attribute.name not in CREDIT_RANGES:
        return attribute
    low, high = CREDIT_RANGES[attribute.name]
    return replace(attribute, low=low, high=high, sentinel=CREDIT_SENTINELS[attribute.name])


ATTRIBUTES = tuple(map(_add_credit_range, LOAN_BOOK_FACTS.attributes))
ATTRIBUTE_NAMES = tuple(attribute.name for attribute in ATTRIBUTES)


@check_types
def replace_sentinels(loans: pd.DataFrame) -> pd.DataFrame:
    """Return a loan book with missing values where a value means "unavailable".

    A model that is trained on the sentinels takes a credit score of 9999 for a very good one.

    Examples
    --------
    >>> import datamorphic as dm
    >>> loans = dm.data.make_loan_book(2000, seed=1)
    >>> (loans.credit_score == 9999).any(), (dm.data.replace_sentinels(loans).credit_score == 9999).any()
    (np.True_, np.False_)
    """
    replaced = loans.copy()
    for attribute in ATTRIBUTES:
        if attribute.sentinel is not None and attribute.name in loans.columns:
            unavailable = loans[attribute.name] == attribute.sentinel
            replaced[attribute.name] = loans[attribute.name].mask(unavailable)
    return replaced


def validate_columns(loans: pd.DataFrame, names: tuple[str, ...], function: str) -> None:
    """Raise `DataError` if a frame lacks columns of a loan book."""
    missing = [name for name in names if name not in loans.columns]
    if missing:
        raise DataError(
            f"{function} needs the column {missing[0]!r}, which the frame does not have. "
            f"{suggest_name(missing[0], [str(name) for name in loans.columns])}"
        )
