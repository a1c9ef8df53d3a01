"""Relations, shares and cases in the words of a lender."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ..._text import format_percent, format_short, pluralise
from ...core.result import Measure
from ...relations.algebra.change import Change, ChangeRelation
from ...reporting.document import SectionState
from .evidence import LoanShortage, is_share_undecided
from .judging import WorstCase
from .model_result import ModelResult, ViolationShare

#: what lenders call the columns of a loan book
COLUMN_WORDS = {
    "credit_score": "credit score",
    "dti": "debt-to-income ratio",
    "ltv": "loan-to-value ratio",
    "upb": "loan amount",
    "loan_term": "loan term",
    "interest_rate": "interest rate",
    "mortgage_insurance": "mortgage insurance",
    "first_time_buyer": "first-time buyer",
    "property_type": "property type",
}
DIRECTION_PROMISES = {
    "down": "the risk must not rise",
    "up": "the risk must not fall",
    "same": "the risk must stay the same",
}
MAX_LISTED_VALUES = 4  # of an applicant in a sentence

VerdictWord = Literal["KEPT", "ALMOST KEPT", "WITHIN LIMIT", "BROKEN", "TOO FEW LOANS", "NOT TESTED"]
VERDICT_STATES: dict[VerdictWord, SectionState] = {
    "KEPT": "good",
    "ALMOST KEPT": "good",
    "WITHIN LIMIT": "warn",
    "BROKEN": "bad",
    "TOO FEW LOANS": "warn",
    "NOT TESTED": "note",
}


class RelationVerdict(NamedTuple):
    """Whether a model keeps a relation, in one word and in a sentence."""

    word: VerdictWord
    detail: str


def name_column(column: str) -> str:
    """Return the name of a column as words.

    Examples
    --------
    >>> name_column("dti"), name_column("savings_status")
    ('debt-to-income ratio', 'savings status')
    """
    return COLUMN_WORDS.get(column, column.replace("_", " "))


def describe_change(change: Change) -> str:
    """Return a change as words.

    Examples
    --------
    >>> describe_change(Change(column="credit_score", factor=1.1)), describe_change(Change(column="dti", amount=-4))
    ('credit score 10% higher', 'debt-to-income ratio 4 lower')
    """
    name = name_column(change.column)
    if change.factor is not None:
        return f"{name} {format_percent(abs(change.factor - 1))} {'higher' if change.factor > 1 else 'lower'}"
    if change.amount is not None:
        return f"{name} {format_short(abs(change.amount))} {'higher' if change.amount > 0 else 'lower'}"
    return f"{name} {format_short(change.value)} instead"


def describe_changes(relation: ChangeRelation) -> str:
    """Return the changes of a relation as words, starting with a capital letter."""
    changes = [describe_change(change) for change in relation.changes]
    text = changes[0] if len(changes) == 1 else f"{', '.join(changes[:-1])} and {changes[-1]}"
    return f"{text[0].upper()}{text[1:]}"


def describe_relation(relation: ChangeRelation) -> str:
    """Return a relation as a promise, starting with a capital letter.

    Examples
    --------
    >>> from datamorphic.relations.catalogue.credit import credit_relations
    >>> describe_relation(credit_relations()["credit.HMR4"])
    'Credit score 10% higher and loan-to-value ratio 10% lower: the risk must not rise'
    """
    return f"{describe_changes(relation)}: {DIRECTION_PROMISES[relation.direction]}"


def format_per_thousand(share: float, exact: bool = False) -> str:
    """Return a share as a number of 1,000, whole unless it is below 10.

    Examples
    --------
    >>> [format_per_thousand(share) for share in (0.0, 0.00001, 0.0042, 0.0304)]
    ['0', 'fewer than 0.1', '4.2', '30']
    """
    thousandths = 1000 * share
    if 0 < thousandths < 0.05 and not exact:
        return "fewer than 0.1"
    return f"{thousandths:.0f}" if thousandths >= 9.95 or thousandths == 0 else f"{thousandths:.1f}"


def judge_share(share: ViolationShare, threshold: float, strong: float, *, is_given: bool = False) -> RelationVerdict:
    """Return the verdict on a relation that a model breaks for some share of applicants.

    On a model that was given, there is none if the loans are too few to tell the share from the threshold.
    """
    if not share.cases:
        return RelationVerdict("NOT TESTED", "no applicant could be changed in this way")
    if is_given and is_share_undecided(share, threshold):
        return RelationVerdict("TOO FEW LOANS", f"wrong for {describe_share(share.strong)}")
    if share.strong.value > 0:
        word: VerdictWord = "BROKEN" if share.strong.value > threshold else "WITHIN LIMIT"
        return RelationVerdict(word, f"wrong for {describe_share(share.strong)}")
    if share.weak.value > 0:
        size = format_percentage_points(strong)
        return RelationVerdict("ALMOST KEPT", f"wrong for {describe_share(share.weak)}, by less than {size}")
    return RelationVerdict("KEPT", "")


def describe_shortage(shortage: LoanShortage, threshold: float) -> str:
    """Return why there is no verdict on a model, and how many more loans it needs.

    Examples
    --------
    >>> shortage = LoanShortage(model="m", relation="r", cases=1, violated=0, needed=381)
    >>> describe_shortage(shortage, 0.01).split(". ")[1]
    '380 more loans are needed, if none of them is treated wrongly.'
    """
    loans = pluralise(shortage.cases, "loan")
    start = (
        f"No verdict on {shortage.model}: {loans} {'is' if shortage.cases == 1 else 'are'} too few to tell whether more than "
        f"{format_percent(threshold)} of applicants are treated wrongly."
    )
    if shortage.missing is None:
        return f"{start} The share is {format_percent(threshold)} so far: no number of loans can settle it if it stays there."
    condition = (
        f"if still {format_percent(shortage.violated / shortage.cases)} of them are treated wrongly"
        if shortage.violated
        else "if none of them is treated wrongly"
    )
    more = "more loan is" if shortage.missing == 1 else "more loans are"
    return f"{start} {shortage.missing:,} {more} needed, {condition}."


def describe_share(share: Measure) -> str:
    """Return a share with its interval, as numbers of 1,000."""
    low, high = (format_per_thousand(end, exact=True) for end in (share.low, share.high))
    return f"{format_per_thousand(share.value)} of 1,000 ({low} to {high})"


def format_percentage_points(size: float) -> str:
    """Return a difference of probabilities.

    Examples
    --------
    >>> format_percentage_points(0.01), format_percentage_points(0.025)
    ('1 percentage point', '2.5 percentage points')
    """
    points = f"{100 * size:.3g}"
    return f"{points} percentage point{'' if points == '1' else 's'}"


def format_points(estimate: Measure) -> str:
    """Return a difference of AUC in points of 100, with its interval.

    Examples
    --------
    >>> format_points(Measure(0.0042, -0.001, 0.0094))
    '0.4 points (-0.1 to 0.9)'
    """
    value, low, high = (
        f"{100 * number:.1f}".replace("-0.0", "0.0") for number in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} points ({low} to {high})"


def describe_price(price: Measure, other: str) -> str:
    """Return a difference of AUC to another model in words, and whether chance explains it."""
    if price.value == price.low == price.high == 0:
        return "No other model ranks borrowers better, so it costs nothing."
    gain = price.value < 0
    size = Measure(-price.value, -price.high, -price.low) if gain else price
    comparison = f"Its ranking power is {format_points(size)} {'higher' if gain else 'lower'} than {other}"
    return (
        f"{comparison}: too little to be distinguished from chance."
        if price.low <= 0 <= price.high
        else f"{comparison}."
    )


def describe_case(case: WorstCase) -> str:
    """Return a worst case as a sentence about one applicant."""
    before = " and ".join(f"{name_column(name)} {format_short(pair[0])}" for name, pair in case.changes.items())
    after = " and ".join(f"{name_column(name)} {format_short(pair[1])}" for name, pair in case.changes.items())
    others = _list_values(
        {name: value for name, value in case.applicant.items() if name not in case.changes and _is_number(value)}
    )
    profile = f" ({others})" if others else ""
    return (
        f"An applicant with {before}{profile} was given a risk of {_format_risk(case.before)}. The same applicant with {after} "
        f"would be given {_format_risk(case.after)}."
    )


def _format_risk(risk: float) -> str:
    return f"{100 * risk:.1f}%" if 0 <= risk <= 1 else format_short(risk)


def _list_values(values: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name_column(name)} {format_short(value)}" for name, value in list(values.items())[:MAX_LISTED_VALUES]
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def count_kept(model: ModelResult) -> tuple[int, int]:
    """Return how many relations a model keeps without a strong violation, and how many were tested."""
    shares = [share for share in model.shares.values() if share.cases]
    return sum(share.strong.value == 0 for share in shares), len(shares)
