"""The fifteen attributes of a mortgage, their possible values, and the values that mean "unavailable".

They are the attributes of Freddie Mac's single-family loan-level data set that Ying 2024 (section 8.3.2) uses.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..._lazy import pd
from ..._text import suggest_name
from ..._validation import check_types
from ...errors import DataError
from ...relations.credit import CREDIT_RANGES, CREDIT_SENTINELS

OUTCOME_COLUMN = "default"
DEFAULT_LABEL, PAID_LABEL = "default", "paid"

_STATE_TEXT = (
    "AK AL AR AS AZ CA CO CT DC DE FL GA GU HI IA ID IL IN KS KY LA MA MD ME MI MN MO MP MS MT NC ND NE NH NJ NM NV NY "
    "OH OK OR PA PR RI SC SD TN TX UT VA VI VT WA WI WV WY"
)
STATES = tuple(_STATE_TEXT.split())  # 50 states, the capital and five territories


@dataclass(frozen=True, kw_only=True)
class LoanAttribute:
    """One attribute of a loan: a number in a range, or one of some codes."""

    name: str
    title: str
    low: float | None = None
    high: float | None = None
    whole: bool = True  # whether the number is an integer
    codes: tuple[str, ...] = ()
    sentinel: float | str | None = None  # the value that means "unavailable"

    @property
    def numeric(self) -> bool:
        """Whether the attribute is a number."""
        return not self.codes


ATTRIBUTES = (
    LoanAttribute(
        name="credit_score",
        title="credit score",
        low=CREDIT_RANGES["credit_score"][0],
        high=CREDIT_RANGES["credit_score"][1],
        sentinel=CREDIT_SENTINELS["credit_score"],
    ),
    LoanAttribute(
        name="ltv",
        title="loan-to-value ratio in percent",
        low=CREDIT_RANGES["ltv"][0],
        high=CREDIT_RANGES["ltv"][1],
        sentinel=CREDIT_SENTINELS["ltv"],
    ),
    LoanAttribute(
        name="dti",
        title="debt-to-income ratio in percent",
        low=CREDIT_RANGES["dti"][0],
        high=CREDIT_RANGES["dti"][1],
        sentinel=CREDIT_SENTINELS["dti"],
    ),
    LoanAttribute(name="loan_term", title="original loan term in months", low=1, high=480),
    LoanAttribute(name="borrowers", title="number of borrowers", low=1, high=10, sentinel=99),
    LoanAttribute(name="interest_rate", title="original interest rate in percent", low=2.5, high=6, whole=False),
    LoanAttribute(name="upb", title="original unpaid principal balance in dollars", low=1_000, high=2_000_000),
    LoanAttribute(
        name="mortgage_insurance", title="mortgage insurance in percent, 0 without", low=0, high=55, sentinel=999
    ),
    LoanAttribute(name="units", title="number of units", low=1, high=4, sentinel=99),
    LoanAttribute(name="first_time_buyer", title="first-time home-buyer", codes=("N", "Y"), sentinel="9"),
    LoanAttribute(name="occupancy", title="occupancy status", codes=("P", "I", "S"), sentinel="9"),
    LoanAttribute(name="channel", title="channel", codes=("R", "B", "C"), sentinel="9"),
    LoanAttribute(name="state", title="property state", codes=STATES),
    LoanAttribute(name="property_type", title="property type", codes=("SF", "PU", "CO", "MH", "CP"), sentinel="99"),
    LoanAttribute(name="purpose", title="loan purpose", codes=("P", "C", "N", "R"), sentinel="9"),
)
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
