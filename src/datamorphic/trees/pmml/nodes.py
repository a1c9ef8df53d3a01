"""The nodes of a PMML tree as ours: splits of any kind made binary, and where missing values go."""

from __future__ import annotations

import math
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from ...errors import ModelError
from ..model import ABOVE, BELOW, EQUAL, FROM, LEAF, UP_TO, WITHIN, Tree
from ..sources.building import Nodes, summed_upwards
from .document import as_number, within
from .predicates import ALWAYS, Ask, Columns, ask_of
from .understood import PREDICATES


class TreeReader:
    """Reads one TreeModel."""

    def __init__(self, model: Element, columns: Columns) -> None:
        self.model, self.columns, self.nodes = model, columns, Nodes()
        self.strategy = model.get("missingValueStrategy", "none")
        self.returns_last = model.get("noTrueChildStrategy") == "returnLastPrediction"
        self.answer: list[int] = []

    def read(self, names: tuple[str, ...], meaning: str) -> Tree:
        """Return the tree."""
        roots = within(self.model, "Node")
        if not roots:
            raise ModelError("A TreeModel of the PMML file has no Node: there is no tree to read.")
        if self._asks(roots[0]) != ALWAYS:
            raise ModelError(
                "The root of a tree in the PMML file takes only some rows. It must take all: <True/>."
            )
        self._add(roots[0])
        waiting = [(roots[0], 0)]
        while waiting:
            element, node = waiting.pop()
            children = [(ask, each) for each in within(element, "Node") if (ask := self._asks(each)) is not None]
            if children:
                waiting += self._split(element, node, children)
            elif not self._has_answer(element):
                raise ModelError(f"The leaf {element.get('id', '')!r} of a tree in the PMML file has no score.")
        nodes = self.nodes
        leaf = np.array(nodes.left) == LEAF
        told = np.array(nodes.weight, dtype=np.float64)
        weight = np.where(leaf, told if (told[leaf] > 0).any() else 1.0, 0.0)
        nodes.weight = summed_upwards(nodes.left, nodes.right, weight)
        labels = self.columns.labels
        answers: dict[str, Any] = (
            {} if labels is None else {"labels": tuple(labels), "answer": np.array(self.answer, dtype=np.int32)}
        )
        return nodes.tree(names, single=self.columns.single, meaning=meaning, **answers)

    def _asks(self, element: Element) -> Ask | None:
        predicates = within(element, *PREDICATES)
        if not predicates:
            raise ModelError(f"The node {element.get('id', '')!r} of a tree in the PMML file has no predicate.")
        return ask_of(predicates[0], self.columns)

    def _split(
        self, element: Element, node: int, children: list[tuple[Ask, Element]]
    ) -> list[tuple[Element, int]]:
        """Make a node decide between its children, one after the other; return them with their numbers."""
        asks = [ask for ask, _ in children]
        if ALWAYS in asks:
            children = children[: asks.index(ALWAYS) + 1]
        missing = self._missing_child(element, children)
        covered = self._covers([ask for ask, _ in children])
        if not covered and not self.returns_last:
            raise ModelError(
                f"A row may come to the node {element.get('id', '')!r} of a tree in the PMML file and find no child that "
                "takes it, and then there is no answer. Give it a child with <True/>, or noTrueChildStrategy="
                "'returnLastPrediction'."
            )
        asked = {ask.column for ask, _ in children if ask.column >= 0}
        open_ = any(self.columns.fields[each].replacement is None for each in asked)
        if len(asked) > 1 and open_ and self.strategy != "none":
            self.columns.takes_missing = False  # which column is missing would decide
        elif missing is None and (covered or self.strategy != "none"):
            node = self._apart(element, node, children)
        found = []
        for place, (ask, child) in enumerate(children):
            if covered and place == len(children) - 1:
                self._set(node, child)
                found.append((child, node))
                break
            goes = missing is not None and missing == place
            self._decide(node, ask, goes)
            yes, no = self._add(child), self._add(element)
            self.nodes.weight[no] = 0.0
            self.nodes.left[node], self.nodes.right[node] = (no, yes) if ask.negated else (yes, no)
            found.append((child, yes))
            node = no
        return found

    def _decide(self, node: int, ask: Ask, missing_goes: bool) -> None:
        limit = self.nodes.within(ask.limit) if ask.operator == WITHIN else ask.limit
        replacement = self.columns.fields[ask.column].replacement
        if replacement is not None:
            missing_goes = self._takes(ask, replacement)
        self.nodes.split(node, ask.column, ask.operator, limit, missing_goes != ask.negated)

    def _takes(self, ask: Ask, text: str) -> bool:
        """Tell whether a predicate holds for what stands in for a missing value."""
        codes = self.columns.codes.get(ask.column)
        given = self.columns.fields[ask.column].value(text)
        value = float(codes.get(given, -1)) if codes is not None else self.columns.rounded(given)
        compare = {UP_TO: value.__le__, BELOW: value.__lt__, ABOVE: value.__gt__, FROM: value.__ge__}
        if ask.operator == WITHIN:
            return (value in ask.limit) != ask.negated
        return (compare[ask.operator](ask.limit) if ask.operator in compare else value == ask.limit) != ask.negated

    def _missing_child(self, element: Element, children: list[tuple[Ask, Element]]) -> int | None:
        """Return which child a missing value goes to; None if it goes to none."""
        for place, (ask, _) in enumerate(children):
            if ask.missing or ask == ALWAYS:
                return place
            if not ask.about_missing and self.strategy != "none":  # it cannot be told whether it holds
                break
        if self.strategy != "defaultChild":
            return None
        default = element.get("defaultChild")
        return next((i for i, (_, child) in enumerate(children) if child.get("id") == default is not None), None)

    def _covers(self, asks: list[Ask]) -> bool:
        """Tell whether the last child takes all that those before do not."""
        last = asks[-1]
        if last == ALWAYS or any(last.denies(each) for each in asks[:-1]):
            return True
        codes = self.columns.codes.get(last.column)
        if codes is None or len({each.column for each in asks}) > 1:
            return False
        known = set(range(len(codes) + (last.column in self.columns.open)))
        left = set(known)
        for each in asks:
            named = (
                {int(each.limit)} if each.operator == EQUAL else set(each.limit if each.operator == WITHIN else ())
            )
            left -= known - named if each.negated else named
        return not left

    def _apart(self, element: Element, node: int, children: list[tuple[Ask, Element]]) -> int:
        """Send missing values to an answer of their own, where there is one; return where all others go on."""
        keeps = self.strategy == "lastPrediction" or (self.strategy == "none" and self.returns_last)
        columns = {ask.column for ask, _ in children if ask.column >= 0}
        filled = all(self.columns.fields[each].replacement is not None for each in columns)
        if filled or not columns:
            return node
        if not keeps or not self._has_answer(element) or len(columns) > 1:
            self.columns.takes_missing = False
            return node
        self.nodes.split(node, columns.pop(), UP_TO, math.inf, False)
        others, stays = self._add(element), self._add(element)
        self.nodes.weight[stays] = 0.0
        self.nodes.left[node], self.nodes.right[node] = others, stays
        return others

    def _has_answer(self, element: Element) -> bool:
        return element.get("score") is not None or bool(within(element, "ScoreDistribution"))

    def _add(self, element: Element) -> int:
        node = self.nodes.add(None, 0.0)
        self.answer.append(0)
        self._set(node, element)
        return node

    def _set(self, node: int, element: Element) -> None:
        """Set what a node answers, and how many rows came by."""
        shares = {
            each.get("value", ""): as_number(each.get("recordCount"))
            for each in within(element, "ScoreDistribution")
        }
        self.nodes.weight[node] = as_number(element.get("recordCount", str(sum(shares.values()))))
        labels, target, score = self.columns.labels, self.columns.target, element.get("score")
        if labels is None:
            self.nodes.value[node] = 0.0 if score is None else as_number(score)
            return
        value = np.zeros(len(labels))
        if score is None and shares:
            score = max(shares, key=lambda each: shares[each])
        if score is not None:
            self.answer[node] = labels.index(target.value(score) if target is not None else score)
            value[self.answer[node]] = 1.0
        if self.columns.probable and shares:
            value[:] = 0.0
            for each in within(element, "ScoreDistribution"):
                place = labels.index(
                    target.value(each.get("value", "")) if target is not None else each.get("value")
                )
                total = sum(shares.values()) or 1.0
                told = each.get("probability")
                value[place] = as_number(told) if told is not None else shares[each.get("value", "")] / total
        self.nodes.value[node] = value
