"""What the nodes of a PMML tree ask of a row."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import ModelError
from ..model import ABOVE, BELOW, EQUAL, FROM, UP_TO, WITHIN
from .document import Field, as_number, kind, within
from .understood import PREDICATES

COMPARISONS = {
    "lessOrEqual": UP_TO,
    "lessThan": BELOW,
    "greaterThan": ABOVE,
    "greaterOrEqual": FROM,
    "equal": EQUAL,
}
# asks both ways about the same limit: where one does not hold the other does
OPPOSITES = {UP_TO: ABOVE, ABOVE: UP_TO, BELOW: FROM, FROM: BELOW}


class Ask(NamedTuple):
    """A predicate: a comparison that must hold, or with `negated` must not; of missing values what `missing` says.

    Its limit is a number, or codes where the operator is "in". What always holds has no column.
    """

    column: int = -1
    operator: int = UP_TO
    limit: Any = math.inf
    negated: bool = False
    missing: bool = False

    @property
    def about_missing(self) -> bool:
        """Whether it asks but whether there is a value."""
        return self.column >= 0 and self.operator == UP_TO and self.limit == math.inf

    def denies(self, other: Ask) -> bool:
        """Tell whether this holds for every value for which the other does not."""
        if self.column != other.column:
            return False
        if self.limit == other.limit and self.operator == other.operator:
            return self.negated != other.negated
        turned = OPPOSITES.get(self.operator) == other.operator
        return turned and self.limit == other.limit and self.negated == other.negated


ALWAYS = Ask()


@dataclass
class Columns:
    """The columns of a document, and what its trees may answer.

    `codes` has those of categories, by column; `open` the columns that may hold other categories as well.
    """

    fields: list[Field]
    place: dict[str, int]
    codes: dict[int, dict[Any, int]]
    labels: list[Any] | None
    target: Field | None
    single: bool
    takes_missing: bool = True
    probable: bool = False
    open: set[int] = field(default_factory=set)

    def rounded(self, number: float) -> float:
        """Return a number in the precision in which trees compare."""
        return float(np.float32(number)) if self.single else float(number)

    def column(self, name: str) -> int:
        """Return the place of a column."""
        if name not in self.place:
            raise ModelError(
                f"A tree looks at {name!r}, which is no active field of the model. If it is derived from others by a "
                "transformation: these are not read. Apply it to the data before, and to the model's input."
            )
        return self.place[name]

    def among(self, column: int, texts: list[str], negated: bool) -> Ask:
        """Return the question whether a value is one of some; those that are not valid never occur."""
        codes, value = self.codes[column], self.fields[column].value
        return Ask(column, WITHIN, frozenset(codes[each] for each in map(value, texts) if each in codes), negated)


def ask_of(element: Element, columns: Columns) -> Ask | None:
    """Return what a predicate asks; None if it never holds."""
    while kind(element) == "CompoundPredicate":
        how, parts = element.get("booleanOperator"), within(element, *PREDICATES)
        if how != "surrogate" or not parts:
            raise ModelError(
                f"A CompoundPredicate with {how!r} is not read: trees here ask about one column at a time. Only "
                "'surrogate' is, of which the first part counts."
            )
        element = parts[0]
        if len(parts) > 1:
            columns.takes_missing = False  # the other parts would decide
    name = kind(element)
    if name in ("True", "False"):
        return ALWAYS if name == "True" else None
    column = columns.column(element.get("field", ""))
    operator = element.get("operator", element.get("booleanOperator", ""))
    codes = columns.codes.get(column)
    if name == "SimpleSetPredicate" and operator in ("isIn", "isNotIn") and codes is not None:
        return columns.among(column, array_of(element), operator == "isNotIn")
    if operator in ("isMissing", "isNotMissing"):
        return Ask(column, UP_TO, math.inf, operator == "isMissing", operator == "isMissing")
    plain = "equal" if operator == "notEqual" else operator
    if plain not in COMPARISONS:
        raise ModelError(f"The operator {operator!r} of a {name} is not known.")
    text = element.get("value")
    if text is None:
        raise ModelError(f"A predicate of the PMML file on {element.get('field')!r} has no value to compare with.")
    if codes is not None:
        one = columns.among(column, [text], operator == "notEqual")
        return one._replace(operator=EQUAL, limit=float(min(one.limit))) if one.limit else one
    return Ask(column, COMPARISONS[plain], columns.rounded(as_number(text)), operator == "notEqual")


def array_of(element: Element) -> list[str]:
    """Return the values of the array in an element: words, or in quotes where they hold spaces."""
    text = "".join(each.text or "" for each in within(element, "Array"))
    found = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', text)
    return [plain or re.sub(r"\\(.)", r"\1", quoted) for quoted, plain in found]
