"""Read the nodes of a PMML tree: their predicates, binary splits, and where missing values go."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import ModelError
from ..readers._build import NodeBuilder, sum_upwards
from ..tree import ABOVE, BELOW, EQUAL, FROM, LEAF, UP_TO, WITHIN, Tree
from .document import PREDICATES, PmmlField, parse_number

COMPARISONS = {"lessOrEqual": UP_TO, "lessThan": BELOW, "greaterThan": ABOVE, "greaterOrEqual": FROM, "equal": EQUAL}
# for the same limit, one holds where the other does not
OPPOSITE_OPERATORS = {UP_TO: ABOVE, ABOVE: UP_TO, BELOW: FROM, FROM: BELOW}
COMPARE = {UP_TO: operator.le, BELOW: operator.lt, ABOVE: operator.gt, FROM: operator.ge, EQUAL: operator.eq}


class Predicate(NamedTuple):
    """A comparison that must hold, or must not hold if `negated`."""

    column: int = -1  # none for the predicate that always holds
    operator: int = UP_TO
    limit: Any = math.inf  # a number, or a set of codes if the operator is "in"
    negated: bool = False
    missing: bool = False

    @property
    def about_missing(self) -> bool:
        """Whether the predicate only checks whether the value is missing."""
        return self.column >= 0 and self.operator == UP_TO and self.limit == math.inf

    def is_complement_of(self, other: Predicate) -> bool:
        """Return whether this holds for every value for which the other does not."""
        if self.column != other.column or self.limit != other.limit:
            return False
        if self.operator == other.operator:
            return self.negated != other.negated
        return OPPOSITE_OPERATORS.get(self.operator) == other.operator and self.negated == other.negated


ALWAYS_TRUE = Predicate()


@dataclass(kw_only=True)
class PmmlColumns:
    """The columns of a document, and the labels of its trees."""

    fields: list[PmmlField]
    place: dict[str, int]
    codes: dict[int, dict[Any, int]]  # of categories, by column
    labels: list[Any] | None
    target: PmmlField | None
    single: bool
    takes_missing: bool = True
    has_probabilities: bool = False
    open_columns: set[int] = field(default_factory=set)  # those that may hold other categories as well

    def round_to_precision(self, number: float) -> float:
        """Return a number in the precision in which trees compare."""
        return float(np.float32(number)) if self.single else float(number)

    def build_set_predicate(self, column: int, texts: list[str], negated: bool) -> Predicate:
        """Return the predicate that a value is one of some; invalid values never occur."""
        codes, values = self.codes[column], map(self.fields[column].parse_value, texts)
        return Predicate(column, WITHIN, frozenset(codes[value] for value in values if value in codes), negated)


def read_predicate(element: Element, columns: PmmlColumns) -> Predicate | None:
    """Read a predicate; None if it never holds."""
    while element.tag == "CompoundPredicate":
        operator_name = element.get("booleanOperator")
        parts = [part for part in element if part.tag in PREDICATES]
        if operator_name != "surrogate" or not parts:
            raise ModelError(
                f"A CompoundPredicate with {operator_name!r} is not supported, since decisions compare one column at a "
                "time. Only 'surrogate' is, of which the first part is used."
            )
        element = parts[0]
        if len(parts) > 1:
            columns.takes_missing = False  # for missing values the other parts would decide
    name = element.tag
    if name in ("True", "False"):
        return ALWAYS_TRUE if name == "True" else None
    field_name = element.get("field", "")
    if field_name not in columns.place:
        raise ModelError(
            f"A tree uses {field_name!r}, which is not an active field of the model. If it is derived by a transformation: "
            "these are not supported. Apply the transformation to the data before, and export the model without it."
        )
    column = columns.place[field_name]
    comparison = element.get("operator", element.get("booleanOperator", ""))
    codes = columns.codes.get(column)
    if name == "SimpleSetPredicate" and comparison in ("isIn", "isNotIn") and codes is not None:
        return columns.build_set_predicate(column, read_array(element), comparison == "isNotIn")
    if comparison in ("isMissing", "isNotMissing"):
        return Predicate(column, UP_TO, math.inf, comparison == "isMissing", comparison == "isMissing")
    plain = "equal" if comparison == "notEqual" else comparison
    if plain not in COMPARISONS:
        raise ModelError(f"The operator {comparison!r} of a {name} is unknown.")
    text = element.get("value")
    if text is None:
        raise ModelError(f"A predicate of the PMML file on {field_name!r} has no value to compare with.")
    if codes is not None:
        predicate = columns.build_set_predicate(column, [text], comparison == "notEqual")
        return predicate._replace(operator=EQUAL, limit=float(min(predicate.limit))) if predicate.limit else predicate
    limit = columns.round_to_precision(parse_number(text))
    return Predicate(column, COMPARISONS[plain], limit, comparison == "notEqual")


def read_array(element: Element) -> list[str]:
    """Return the values of the array in an element; values with spaces are quoted."""
    text = "".join(array.text or "" for array in element.findall("Array"))
    matches = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', text)
    return [plain or re.sub(r"\\(.)", r"\1", quoted) for quoted, plain in matches]


class TreeModelReader:
    """Reads one TreeModel."""

    def __init__(self, model: Element, columns: PmmlColumns) -> None:
        self.model, self.columns, self.nodes = model, columns, NodeBuilder()
        self.strategy = model.get("missingValueStrategy", "none")
        self.returns_last = model.get("noTrueChildStrategy") == "returnLastPrediction"
        self.answer: list[int] = []

    def read_tree(self, names: tuple[str, ...], meaning: str) -> Tree:
        """Read the tree."""
        roots = self.model.findall("Node")
        if not roots:
            raise ModelError("A TreeModel of the PMML file has no Node, so there is no tree to read.")
        if self._read_predicate(roots[0]) != ALWAYS_TRUE:
            raise ModelError(
                "The root of a tree in the PMML file takes only some rows. It must take all of them: <True/>."
            )
        self._add_node(roots[0])
        pending = [(roots[0], 0)]
        while pending:
            element, node = pending.pop()
            children = [
                (predicate, child)
                for child in element.findall("Node")
                if (predicate := self._read_predicate(child)) is not None
            ]
            if children:
                pending += self._split_node(element, node, children)
            elif not self._has_answer(element):
                raise ModelError(f"The leaf {element.get('id', '')!r} of a tree in the PMML file has no score.")
        nodes = self.nodes
        leaf = np.array(nodes.left) == LEAF
        record_counts = np.array(nodes.weight, dtype=np.float64)
        weight = np.where(leaf, record_counts if (record_counts[leaf] > 0).any() else 1.0, 0.0)
        nodes.weight = sum_upwards(nodes.left, nodes.right, weight)
        labels = self.columns.labels
        answers: dict[str, Any] = {}
        if labels is not None:
            answers = {"labels": tuple(labels), "answer": np.array(self.answer, dtype=np.int32)}
        return nodes.build_tree(names, single=self.columns.single, meaning=meaning, **answers)

    def _read_predicate(self, element: Element) -> Predicate | None:
        """Return the predicate of a node; None if it never holds."""
        predicate = next((part for part in element if part.tag in PREDICATES), None)
        if predicate is None:
            raise ModelError(f"The node {element.get('id', '')!r} of a tree in the PMML file has no predicate.")
        return read_predicate(predicate, self.columns)

    def _split_node(
        self, element: Element, node: int, children: list[tuple[Predicate, Element]]
    ) -> list[tuple[Element, int]]:
        """Split a node into its children, and return them with their numbers."""
        predicates = [predicate for predicate, _ in children]
        if ALWAYS_TRUE in predicates:
            children = children[: predicates.index(ALWAYS_TRUE) + 1]
        missing = self._find_missing_child(element, children)
        is_covered = self._is_covering([predicate for predicate, _ in children])
        if not is_covered and not self.returns_last:
            raise ModelError(
                f"The children of the node {element.get('id', '')!r} of a tree in the PMML file do not take all rows, so "
                "some rows have no answer. Add a child with <True/>, or set noTrueChildStrategy='returnLastPrediction'."
            )
        columns = {predicate.column for predicate, _ in children if predicate.column >= 0}
        is_open = any(self.columns.fields[column].replacement is None for column in columns)
        if len(columns) > 1 and is_open and self.strategy != "none":
            self.columns.takes_missing = False  # the answer would depend on which column is missing
        elif missing is None and (is_covered or self.strategy != "none"):
            node = self._separate_missing(element, node, children)
        numbered_children = []
        for place, (predicate, child) in enumerate(children):
            if is_covered and place == len(children) - 1:
                self._set_answer(node, child)
                numbered_children.append((child, node))
                break
            self._set_decision(node, predicate, missing == place)
            yes, no = self._add_node(child), self._add_node(element)
            self.nodes.weight[no] = 0.0
            self.nodes.left[node], self.nodes.right[node] = (no, yes) if predicate.negated else (yes, no)
            numbered_children.append((child, yes))
            node = no
        return numbered_children

    def _set_decision(self, node: int, predicate: Predicate, missing_goes: bool) -> None:
        limit = self.nodes.add_code_set(predicate.limit) if predicate.operator == WITHIN else predicate.limit
        replacement = self.columns.fields[predicate.column].replacement
        if replacement is not None:  # then the predicate decides
            value: Any = self.columns.fields[predicate.column].parse_value(replacement)
            codes = self.columns.codes.get(predicate.column)
            value = float(codes.get(value, -1)) if codes is not None else self.columns.round_to_precision(value)
            is_set = predicate.operator == WITHIN
            holds = value in predicate.limit if is_set else COMPARE[predicate.operator](value, predicate.limit)
            missing_goes = holds != predicate.negated
        self.nodes.split(node, predicate.column, predicate.operator, limit, missing_goes != predicate.negated)

    def _find_missing_child(self, element: Element, children: list[tuple[Predicate, Element]]) -> int | None:
        """Return the index of the child that takes missing values; None if none does."""
        for place, (predicate, _) in enumerate(children):
            if predicate.missing or predicate == ALWAYS_TRUE:
                return place
            if not predicate.about_missing and self.strategy != "none":  # it is unknown whether the predicate holds
                break
        if self.strategy != "defaultChild":
            return None
        default = element.get("defaultChild")
        return next((i for i, (_, child) in enumerate(children) if child.get("id") == default is not None), None)

    def _is_covering(self, predicates: list[Predicate]) -> bool:
        """Return whether the last child takes all rows that the others do not."""
        last = predicates[-1]
        if last == ALWAYS_TRUE or any(last.is_complement_of(predicate) for predicate in predicates[:-1]):
            return True
        codes = self.columns.codes.get(last.column)
        if codes is None or len({predicate.column for predicate in predicates}) > 1:
            return False
        known_codes = set(range(len(codes) + (last.column in self.columns.open_columns)))
        open_codes = known_codes
        for predicate in predicates:
            named_codes = set(predicate.limit) if predicate.operator == WITHIN else set()
            if predicate.operator == EQUAL:
                named_codes = {int(predicate.limit)}
            open_codes = open_codes - (known_codes - named_codes if predicate.negated else named_codes)
        return not open_codes

    def _separate_missing(self, element: Element, node: int, children: list[tuple[Predicate, Element]]) -> int:
        """Separate missing values if need be; return the node for other values."""
        has_last_prediction = self.strategy == "lastPrediction" or (self.strategy == "none" and self.returns_last)
        columns = {predicate.column for predicate, _ in children if predicate.column >= 0}
        is_filled = all(self.columns.fields[column].replacement is not None for column in columns)
        if is_filled or not columns:
            return node
        if not has_last_prediction or not self._has_answer(element) or len(columns) > 1:
            self.columns.takes_missing = False
            return node
        self.nodes.split(node, columns.pop(), UP_TO, math.inf, False)
        other_node, missing_node = self._add_node(element), self._add_node(element)
        self.nodes.weight[missing_node] = 0.0
        self.nodes.left[node], self.nodes.right[node] = other_node, missing_node
        return other_node

    def _has_answer(self, element: Element) -> bool:
        return element.get("score") is not None or bool(element.findall("ScoreDistribution"))

    def _add_node(self, element: Element) -> int:
        node = self.nodes.add_leaf(None, 0.0)
        self.answer.append(0)
        self._set_answer(node, element)
        return node

    def _set_answer(self, node: int, element: Element) -> None:
        """Set the answer and the number of training rows of a node."""
        distributions = {part.get("value", ""): part for part in element.findall("ScoreDistribution")}
        shares = {label: parse_number(part.get("recordCount")) for label, part in distributions.items()}
        self.nodes.weight[node] = parse_number(element.get("recordCount", str(sum(shares.values()))))
        labels, target, score = self.columns.labels, self.columns.target, element.get("score")
        if labels is None:
            self.nodes.value[node] = 0.0 if score is None else parse_number(score)
            return
        parse_label = target.parse_value if target is not None else str
        value = np.zeros(len(labels))
        if score is None and shares:
            score = max(shares, key=lambda label: shares[label])
        if score is not None:
            self.answer[node] = labels.index(parse_label(score))
            value[self.answer[node]] = 1.0
        if self.columns.has_probabilities and shares:
            value[:] = 0.0
            for label, part in distributions.items():
                probability = part.get("probability")
                share = shares[label] / (sum(shares.values()) or 1.0)
                value[labels.index(parse_label(label))] = share if probability is None else parse_number(probability)
        self.nodes.value[node] = value
