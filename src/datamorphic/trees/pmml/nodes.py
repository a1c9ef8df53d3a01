"""Read the nodes of a PMML tree: make splits binary, and route missing values."""

from __future__ import annotations

import math
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import ModelError
from ..readers._build import NodeBuilder, sum_upwards
from ..tree import ABOVE, BELOW, EQUAL, FROM, LEAF, UP_TO, WITHIN, Tree
from .document import find_children, parse_number
from .predicates import ALWAYS_TRUE, PmmlColumns, Predicate, read_predicate
from .unsupported import PREDICATES


class TreeModelReader:
    """Reads one TreeModel."""

    def __init__(self, model: Element, columns: PmmlColumns) -> None:
        self.model, self.columns, self.nodes = model, columns, NodeBuilder()
        self.strategy = model.get("missingValueStrategy", "none")
        self.returns_last = model.get("noTrueChildStrategy") == "returnLastPrediction"
        self.answer: list[int] = []

    def read_tree(self, names: tuple[str, ...], meaning: str) -> Tree:
        """Read the tree."""
        roots = find_children(self.model, "Node")
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
                for child in find_children(element, "Node")
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
        answers: dict[str, Any] = (
            {} if labels is None else {"labels": tuple(labels), "answer": np.array(self.answer, dtype=np.int32)}
        )
        return nodes.build_tree(names, single=self.columns.single, meaning=meaning, **answers)

    def _read_predicate(self, element: Element) -> Predicate | None:
        """Return the predicate of a node; None if it never holds."""
        predicates = find_children(element, *PREDICATES)
        if not predicates:
            raise ModelError(f"The node {element.get('id', '')!r} of a tree in the PMML file has no predicate.")
        return read_predicate(predicates[0], self.columns)

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
                f"The children of the node {element.get('id', '')!r} of a tree in the PMML file do not take "
                "all rows, so some "
                "rows have no answer. Add a child with <True/>, or set noTrueChildStrategy='returnLastPrediction'."
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
            missing_goes = missing is not None and missing == place
            self._set_decision(node, predicate, missing_goes)
            yes, no = self._add_node(child), self._add_node(element)
            self.nodes.weight[no] = 0.0
            self.nodes.left[node], self.nodes.right[node] = (no, yes) if predicate.negated else (yes, no)
            numbered_children.append((child, yes))
            node = no
        return numbered_children

    def _set_decision(self, node: int, predicate: Predicate, missing_goes: bool) -> None:
        limit = self.nodes.add_code_set(predicate.limit) if predicate.operator == WITHIN else predicate.limit
        replacement = self.columns.fields[predicate.column].replacement
        if replacement is not None:
            missing_goes = self._is_taken(predicate, replacement)
        self.nodes.split(node, predicate.column, predicate.operator, limit, missing_goes != predicate.negated)

    def _is_taken(self, predicate: Predicate, text: str) -> bool:
        """Return whether a predicate holds for the replacement of a missing value."""
        codes = self.columns.codes.get(predicate.column)
        replacement = self.columns.fields[predicate.column].parse_value(text)
        value = float(codes.get(replacement, -1)) if codes is not None else self.columns.round_to_precision(replacement)
        compare = {UP_TO: value.__le__, BELOW: value.__lt__, ABOVE: value.__gt__, FROM: value.__ge__}
        if predicate.operator == WITHIN:
            return (value in predicate.limit) != predicate.negated
        return (
            compare[predicate.operator](predicate.limit) if predicate.operator in compare else value == predicate.limit
        ) != predicate.negated

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
        open_codes = set(known_codes)
        for predicate in predicates:
            named_codes = (
                {int(predicate.limit)}
                if predicate.operator == EQUAL
                else set(predicate.limit if predicate.operator == WITHIN else ())
            )
            open_codes -= known_codes - named_codes if predicate.negated else named_codes
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
        return element.get("score") is not None or bool(find_children(element, "ScoreDistribution"))

    def _add_node(self, element: Element) -> int:
        node = self.nodes.add_leaf(None, 0.0)
        self.answer.append(0)
        self._set_answer(node, element)
        return node

    def _set_answer(self, node: int, element: Element) -> None:
        """Set the answer and the number of training rows of a node."""
        shares = {
            distribution.get("value", ""): parse_number(distribution.get("recordCount"))
            for distribution in find_children(element, "ScoreDistribution")
        }
        self.nodes.weight[node] = parse_number(element.get("recordCount", str(sum(shares.values()))))
        labels, target, score = self.columns.labels, self.columns.target, element.get("score")
        if labels is None:
            self.nodes.value[node] = 0.0 if score is None else parse_number(score)
            return
        value = np.zeros(len(labels))
        if score is None and shares:
            score = max(shares, key=lambda label: shares[label])
        if score is not None:
            self.answer[node] = labels.index(target.parse_value(score) if target is not None else score)
            value[self.answer[node]] = 1.0
        if self.columns.has_probabilities and shares:
            value[:] = 0.0
            for distribution in find_children(element, "ScoreDistribution"):
                place = labels.index(
                    target.parse_value(distribution.get("value", ""))
                    if target is not None
                    else distribution.get("value")
                )
                total = sum(shares.values()) or 1.0
                probability = distribution.get("probability")
                value[place] = (
                    parse_number(probability)
                    if probability is not None
                    else shares[distribution.get("value", "")] / total
                )
        self.nodes.value[node] = value
