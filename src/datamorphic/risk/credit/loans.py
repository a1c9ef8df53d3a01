"""The data of a credit report: applicants, who of them defaulted, and the relations that their columns allow."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._lazy import pd
from ..._text import pluralise, suggest_name
from ..._typing import DataLike, FilePath
from ..._validation import reject
from ...data.loans.attributes import ATTRIBUTES, OUTCOME_COLUMN
from ...data.loans.book import make_loan_book
from ...data.sets import TARGET
from ...errors import ArgumentError, DataError
from ...relations.algebra.change import Change, ChangeRelation
from ...relations.catalogue.credit import CREDIT_COLUMNS, CREDIT_RELATIONS, DEFAULT_OUTCOMES, credit_relations
from ...relations.catalogue.promises import ColumnPromise, Promises, read_promises
from ...space.inference import validate_frame
from ...space.labels import to_label_key
from ...space.space import Space
from .measures import Flags

SYNTHETIC_NAME = "synthetic loan book"
SYNTHETIC_LOANS = 10_000
SMALL_CHANGE = 0.1  # of a column with a promised direction, as in the published relations
MIN_CLASS_LOANS = 8  # defaults, and repaid loans, that a split needs


@dataclass(frozen=True, eq=False, kw_only=True)
class LoanData:
    """Applicants, and whether each of them defaulted, if that is known."""

    name: str
    applicants: pd.DataFrame
    defaulted: Flags | None
    outcome: Any = None  # the label that means default
    target: str | None = None

    def __len__(self) -> int:
        return len(self.applicants)

    @property
    def default_rate(self) -> float | None:
        """The share of loans that defaulted."""
        return None if self.defaulted is None else float(self.defaulted.mean())

    @property
    def sentinels(self) -> dict[str, tuple[float, ...]]:
        """The numbers that mean "unavailable" by column, if these are the fifteen attributes of a loan book."""
        if not {attribute.name for attribute in ATTRIBUTES} <= set(self.applicants.columns):
            return {}
        return {
            attribute.name: (float(attribute.sentinel),)
            for attribute in ATTRIBUTES
            if isinstance(attribute.sentinel, int | float)
        }


def load_loans(
    data: DataLike | None, target: str | None, outcome: object, *, required: bool, name: str | None, seed: int
) -> LoanData:
    """Return the loans of a frame, or a synthetic book; `required` if outcomes must be known."""
    if data is None:
        data, name = make_loan_book(SYNTHETIC_LOANS, seed=seed), name or SYNTHETIC_NAME
    frame = validate_frame(data)
    if target is None:
        target = next((column for column in (OUTCOME_COLUMN, TARGET) if column in frame.columns), None)
        if target is None and required:
            raise ArgumentError(
                "Models can only be trained and compared if it is known who defaulted. Name that column: target=NAME (--target NAME "
                "on the command line)."
            )
    if target is None:
        return LoanData(name=name or "loans", applicants=frame, defaulted=None)
    if target not in frame.columns:
        raise DataError(f"The data have no column {target!r}. {suggest_name(target, frame.columns)}")
    labels = frame[target]
    if labels.isna().any():
        row = int(labels.isna().to_numpy().argmax())
        raise DataError(
            f"It is not known whether the loan in row {row} defaulted: {target!r} is missing. Remove the row."
        )
    label = find_outcome(labels.unique().tolist(), outcome)
    defaulted = np.asarray(labels == label, dtype=bool)
    if required and min(defaulted.sum(), (~defaulted).sum()) < MIN_CLASS_LOANS:
        raise DataError(
            f"There are {pluralise(int(defaulted.sum()), 'default')} among {pluralise(len(frame), 'loan')}. Training needs at "
            f"least {MIN_CLASS_LOANS} defaults and {MIN_CLASS_LOANS} repaid loans."
        )
    return LoanData(
        name=name or "loans", applicants=frame.drop(columns=[target]), defaulted=defaulted, outcome=label, target=target
    )


def find_outcome(labels: Sequence[Any], outcome: object) -> Any:
    """Return the label that means default."""
    for guess in DEFAULT_OUTCOMES if outcome is None else (outcome,):
        for label in labels:
            if to_label_key(label) == to_label_key(guess):
                return label
    examples = ", ".join(map(repr, labels[:6]))
    if outcome is not None:
        raise ArgumentError(f"No loan has the outcome {outcome!r}. The outcomes are: {examples}.")
    raise ArgumentError(
        f"It is unclear which outcome means default: {examples}. Name it: outcome=VALUE (--outcome VALUE on the command line)."
    )


def choose_relations(
    loans: LoanData,
    *,
    relations: object,
    promises: FilePath | None,
    columns: Mapping[str, str] | None,
    outcome: object,
    additive: bool,
) -> tuple[list[ChangeRelation], list[str]]:
    """Return the requested relations, or the credit relations that the columns allow, with remarks."""
    notes: list[str] = []
    if promises is not None:
        chosen_relations, notes = _build_promised_relations(read_promises(promises), loans)
    elif relations is not None:
        chosen_relations = _read_relations(relations)
    else:
        names = dict(columns or {})
        known = credit_relations(names, outcome=outcome, additive=additive)
        missing = {
            names.get(key, key): key
            for keys in CREDIT_COLUMNS.values()
            for key in keys
            if names.get(key, key) not in loans.applicants.columns
        }
        for column, key in missing.items():
            if key in names:
                raise DataError(f"The data have no column {column!r}. {suggest_name(column, loans.applicants.columns)}")
        chosen_relations = [relation for relation in known.values() if not missing.keys() & set(relation.about)]
        if not chosen_relations:
            raise ArgumentError(
                f"The data have none of the columns {', '.join(map(repr, missing))} that the relations of credit risk models "
                'change. Name yours, as in columns={"credit_score": "fico"}, or give promises=FILE or relations=...'
            )
        if missing:
            left_out = [name for name, relation in known.items() if relation not in chosen_relations]
            notes.append(
                f"Not checked: {', '.join(left_out)}, since the data have no column {', '.join(map(repr, missing))}."
            )
    return [_fit_relation(relation, loans.applicants) for relation in chosen_relations], notes


def _build_promised_relations(promises: Promises, loans: LoanData) -> tuple[list[ChangeRelation], list[str]]:
    """Return the named changes of a file, and a small change for other columns with a direction."""
    applicants = loans.applicants
    labels = None if loans.outcome is None else [loans.outcome]
    kinds = {name: "integer" for name, dtype in applicants.dtypes.items() if getattr(dtype, "kind", "") in "iu"}
    promises.validate(Space.from_frame(applicants, kinds=kinds), labels, ())
    relations = list(promises.build_relations(loans.outcome).values())
    changed_alone = {relation.about[0] for relation in relations if len(relation.changes) == 1}
    for column, direction in promises.monotone.items():
        if column not in changed_alone:
            change = _choose_small_change(promises.columns[column], direction, applicants[column])
            relations.append(ChangeRelation(column, change, outcome=loans.outcome, outcome_guesses=DEFAULT_OUTCOMES))
    aside = [*promises.invariant, *promises.protected]
    notes = []
    if aside:
        notes.append(
            f"Not checked here: {', '.join(aside)}, which must not matter. datamorphic test --promises checks that."
        )
    if not relations:
        raise ArgumentError(
            f"{promises.file} promises no direction for any column. Add a line such as 'credit_score: lowers default'."
        )
    return relations, notes


def _choose_small_change(promise: ColumnPromise, direction: str, column: pd.Series[Any]) -> Change:
    """Return a change that makes an applicant safer: a tenth, or where a tenth is nothing, one step."""
    low = -math.inf if promise.low is None else promise.low
    high = math.inf if promise.high is None else promise.high
    sign = 1 if direction == "down" else -1
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    numbers = numbers[~np.isnan(numbers) & ~np.isin(numbers, promise.unavailable)]
    change = Change(
        column=promise.column, factor=1 + sign * SMALL_CHANGE, low=low, high=high, sentinels=promise.unavailable
    )
    has_integers = _has_whole_numbers(column)
    if numbers.size and (numbers.min() < 0 or (has_integers and np.median(np.abs(numbers)) < 1 / (2 * SMALL_CHANGE))):
        spread = float(np.std(numbers)) / 2
        amount = max(1.0, float(np.rint(spread))) if has_integers else spread or 1.0
        change = replace(change, factor=None, amount=sign * amount)
    return change


def _read_relations(request: object) -> list[ChangeRelation]:
    if isinstance(request, Mapping):
        request = list(request.values())
    items = [request] if isinstance(request, str | ChangeRelation) else request
    if not isinstance(items, Sequence) or not items:
        reject("relations", "credit", "relations about changes, or their names", request)
    relations = []
    for item in items:
        if isinstance(item, str) and item not in CREDIT_RELATIONS:
            raise ArgumentError(f"There is no relation {item!r}. {suggest_name(item, CREDIT_RELATIONS)}")
        relation = CREDIT_RELATIONS[item] if isinstance(item, str) else item
        if not isinstance(relation, ChangeRelation):
            reject("relations", "credit", "relations about changes, or their names", relation)
        relations.append(relation)
    return relations


def _fit_relation(relation: ChangeRelation, applicants: pd.DataFrame) -> ChangeRelation:
    """Return the relation with rounding for columns of whole numbers."""
    for column in relation.about:
        if column not in applicants.columns:
            raise DataError(
                f"The relation {relation.name!r} changes {column!r}, which is not a column of the data. "
                f"{suggest_name(column, applicants.columns)}"
            )
    fitted_relation = copy.copy(relation)
    fitted_relation.changes = tuple(
        replace(change, whole=_has_whole_numbers(applicants[change.column])) if change.whole is None else change
        for change in relation.changes
    )
    return fitted_relation


def _has_whole_numbers(column: pd.Series[Any]) -> bool:
    """Return whether all known values are whole numbers, also if a missing value made them floats."""
    if not pd.api.types.is_numeric_dtype(column):
        return False
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return bool((np.isnan(numbers) | (numbers == np.rint(numbers))).all())
