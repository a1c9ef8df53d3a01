"""Read the predicates of the nodes of a PMML tree."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import ModelError
from ..tree import ABOVE, BELOW, EQUAL, FROM, UP_TO, WITHIN
from .document import PmmlField, find_children, get_tag, parse_number
from .unsupported import PREDICATES

COMPARISONS = {"lessOrEqual": UP_TO, "lessThan": BELOW, "greaterThan": ABOVE, "greaterOrEqual": FROM, "equal": EQUAL}
# for the same limit, one holds where the other does not
OPPOSITE_OPERATORS = {UP_TO: ABOVE, ABOVE: UP_TO, BELOW: FROM, FROM: BELOW}


class Predicate(NamedTuple):
    """A comparison that must hold, or must not hold if `negated`.

    The limit is a number, or a set of codes if the operator is "in". The predicate that always holds has no column.
    """

    column: int = -1
    operator: int = UP_TO
    limit: Any = math.inf
    negated: bool = False
    missing: bool = False

    @property
    def about_missing(self) -> bool:
        """Whether the predicate only checks whether the value is missing."""
        return self.column >= 0 and self.operator == UP_TO and self.limit == math.inf

    def is_complement_of(self, other: Predicate) -> bool:
        """Return whether this holds for every value for which the other does not."""
        if self.column != other.column:
            return False
        if self.limit == other.limit and self.operator == other.operator:
            return self.negated != other.negated
        is_opposite = OPPOSITE_OPERATORS.get(self.operator) == other.operator
        return is_opposite and self.limit == other.limit and self.negated == other.negated


ALWAYS_TRUE = Predicate()


@dataclass(kw_only=True)
class PmmlColumns:
    """The columns of a document, and the labels of its trees.

    `codes` holds the codes of categories by column. `open_columns` are columns that may hold other categories as
    well.
    """

    fields: list[PmmlField]
    place: dict[str, int]
    codes: dict[int, dict[Any, int]]
    labels: list[Any] | None
    target: PmmlField | None
    single: bool
    takes_missing: bool = True
    has_probabilities: bool = False
    open_columns: set[int] = field(default_factory=set)

    def round_to_precision(self, number: float) -> float:
        """Return a number in the precision in which trees compare."""
        return float(np.float32(number)) if self.single else float(number)

    def get_column(self, name: str) -> int:
        """Return the index of a column."""
        if name not in self.place:
            raise ModelError(
                f"A tree uses {name!r}, which is not an active field of the model. If it is derived by a "
                "transformation: these "
                "are not supported. Apply the transformation to the data before, and export the model without it."
            )
        return self.place[name]

    def build_set_predicate(self, column: int, texts: list[str], negated: bool) -> Predicate:
        """Return the predicate that a value is one of some; invalid values never occur."""
        codes, parse_value = self.codes[column], self.fields[column].parse_value
        return Predicate(
            column, WITHIN, frozenset(codes[value] for value in map(parse_value, texts) if value in codes), negated
        )


def read_predicate(element: Element, columns: PmmlColumns) -> Predicate | None:
    """Read a predicate; None if it never holds."""
    while get_tag(element) == "CompoundPredicate":
        operator_name, parts = element.get("booleanOperator"), find_children(element, *PREDICATES)
        if operator_name != "surrogate" or not parts:
            raise ModelError(
                f"A CompoundPredicate with {operator_name!r} is not supported, since decisions compare one column at a "
                "time. Only 'surrogate' is, of which the first part is used."
            )
        element = parts[0]
        if len(parts) > 1:
            columns.takes_missing = False  # for missing values the other parts would decide
    name = get_tag(element)
    if name in ("True", "False"):
        return ALWAYS_TRUE if name == "True" else None
    column = columns.get_column(element.get("field", ""))
    operator = element.get("operator", element.get("booleanOperator", ""))
    codes = columns.codes.get(column)
    if name == "SimpleSetPredicate" and operator in ("isIn", "isNotIn") and codes is not None:
        return columns.build_set_predicate(column, read_array(element), operator == "isNotIn")
    if operator in ("isMissing", "isNotMissing"):
        return Predicate(column, UP_TO, math.inf, operator == "isMissing", operator == "isMissing")
    plain = "equal" if operator == "notEqual" else operator
    if plain not in COMPARISONS:
        raise ModelError(f"The operator {operator!r} of a {name} is unknown.")
    text = element.get("value")
    if text is None:
        raise ModelError(f"A predicate of the PMML file on {element.get('field')!r} has no value to compare with.")
    if codes is not None:
        predicate = columns.build_set_predicate(column, [text], operator == "notEqual")
        return predicate._replace(operator=EQUAL, limit=float(min(predicate.limit))) if predicate.limit else predicate
    return Predicate(column, COMPARISONS[plain], columns.round_to_precision(parse_number(text)), operator == "notEqual")


def read_array(element: Element) -> list[str]:
    """Return the values of the array in an element; values with spaces are quoted."""
    text = "".join(array.text or "" for array in find_children(element, "Array"))
    matches = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', text)
    return [plain or re.sub(r"\\(.)", r"\1", quoted) for quoted, plain in matches]
