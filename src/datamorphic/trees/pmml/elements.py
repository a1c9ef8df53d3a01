"""The elements of a PMML file as text, a tree of nodes among them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ..._checks import short
from ...errors import ModelError
from ..domains import Domain
from ..forest import Forest
from ..model import ABOVE, BELOW, EQUAL, FROM, LEAF, UP_TO, WITHIN, Floats, Tree
from ..sources.building import names_of

TREATMENTS = {"kept": "asIs", "missing": "asMissing", "refused": "returnInvalid"}
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
OPERATORS = {UP_TO: "lessOrEqual", BELOW: "lessThan", ABOVE: "greaterThan", FROM: "greaterOrEqual", EQUAL: "equal"}
OPPOSITES = {
    "lessOrEqual": "greaterThan",
    "lessThan": "greaterOrEqual",
    "greaterThan": "lessOrEqual",
    "greaterOrEqual": "lessThan",
    "equal": "notEqual",
    "isIn": "isNotIn",
}


class TreeWriter:
    """Writes trees; elements are closed as they are left, so that no tree is too deep."""

    def __init__(self, file: TextIO, forest: Forest) -> None:
        self.file, self.forest = file, forest
        self.names = names_of(forest.columns, forest.width)
        self.answer = _unused("answer", self.names)
        self.score = _unused("score", self.names)
        self.depth = 0

    def put(self, name: str, /, *, leave: bool = True, **attributes: Any) -> None:
        """Write an element; it stays open without `leave`."""
        told = "".join(
            f' {key}="{value!r}"' if type(value) in (int, float) else f" {key}={quoteattr(_clean(_text(value)))}"
            for key, value in attributes.items()
            if value is not None
        )
        self.file.write(f"{'  ' * min(self.depth, 12)}<{name}{told}{'/' if leave else ''}>\n")
        self.depth += not leave

    def end(self, name: str) -> None:
        """Close an element."""
        self.depth -= 1
        self.file.write(f"{'  ' * min(self.depth, 12)}</{name}>\n")

    def schema(self, *, answers: bool = True) -> None:
        """Write which columns a model looks at."""
        self.put("MiningSchema", leave=False)
        for column, name in enumerate(self.names):
            default = Domain(others="missing" if column in self.forest.categories else "kept")
            others = self.forest.domains.get(column, default).others
            self.put("MiningField", name=name, invalidValueTreatment=TREATMENTS[others])
        if answers:
            self.put("MiningField", name=self.answer, usageType="target")
        self.end("MiningSchema")

    def tree(self, tree: Tree, value: Floats, labels: tuple[Any, ...] | None, *, part: bool = False) -> None:
        """Write one tree."""
        missing = "defaultChild" if self.forest.takes_missing else "none"
        self.put(
            "TreeModel",
            leave=False,
            functionName="regression" if labels is None else "classification",
            missingValueStrategy=missing,
            noTrueChildStrategy="returnNullPrediction",
            splitCharacteristic="binarySplit",
        )
        self.schema(answers=not part)
        waiting: list[tuple[int, int, bool]] = [(0, -1, True)]
        while waiting:
            node, above, first = waiting.pop()
            if node < 0:
                self.end("Node")
                continue
            left, right = int(tree.left[node]), int(tree.right[node])
            default = None
            if left != LEAF and self.forest.takes_missing:
                default = left if tree.missing_left[node] else right
            row = value[node]
            self.put(
                "Node",
                leave=False,
                id=node,
                score=float(row[0]) if labels is None else labels[int(row.argmax())],
                recordCount=float(tree.weight[node]),
                defaultChild=default,
            )
            self.predicate(tree, above, first)
            if labels is not None:
                self.distribution(row, float(tree.weight[node]), labels)
            waiting.append((-1, -1, True))
            if left != LEAF:
                waiting += [(right, node, False), (left, node, True)]
        self.end("TreeModel")

    def predicate(self, tree: Tree, node: int, holds: bool) -> None:
        """Write what a child of a node takes: the rows for which its comparison holds, or the others."""
        if node < 0:
            self.put("True")
            return
        column, operator, limit = int(tree.feature[node]), int(tree.operator[node]), float(tree.threshold[node])
        values, name = self.forest.categories.get(column), self.names[column]
        if operator == WITHIN or (values is not None and operator == EQUAL):
            codes = sorted(tree.sets[int(limit)]) if operator == WITHIN else [int(limit)]
            asked = [
                _text(values[code] if values is not None else code)
                for code in codes
                if values is None or code < len(values)
            ]
            listed = " ".join('"' + each.replace("\\", "\\\\").replace('"', '\\"') + '"' for each in asked)
            self.put("SimpleSetPredicate", leave=False, field=name, booleanOperator="isIn" if holds else "isNotIn")
            self.file.write(
                f'<Array type="string" n="{len(asked)}">{_clean(escape(listed, {chr(13): "&#13;"}))}</Array>\n'
            )
            self.end("SimpleSetPredicate")
            return
        word = OPERATORS[operator]
        if not np.isfinite(limit):  # all that is not missing goes one way
            low = limit < 0
            word = "isNotMissing" if (operator in (UP_TO, BELOW)) != low else "isMissing"
            other = "isMissing" if word == "isNotMissing" else "isNotMissing"
            self.put("SimplePredicate", field=name, operator=word if holds else other)
            return
        told = word if holds else OPPOSITES[word]
        self.put("SimplePredicate", field=name, operator=told, value=_limit(limit, operator, self.forest.single))

    def distribution(self, row: Floats, weight: float, labels: tuple[Any, ...]) -> None:
        """Write how likely each label is, where a node says so."""
        total = float(row.sum())
        if total <= 0 or (row < 0).any():
            return
        for label, part in zip(labels, row.tolist(), strict=True):
            self.put("ScoreDistribution", value=label, recordCount=weight * part / total, probability=part)


def _limit(limit: float, operator: int, single: bool) -> float:
    """Return a threshold that decides the same if it is rounded to the precision of its field."""
    if not single:
        return limit
    near = np.float32(limit)
    if operator in (UP_TO, ABOVE) and float(near) > limit:
        near = np.nextafter(near, np.float32(-np.inf))
    elif operator in (BELOW, FROM) and float(near) < limit:
        near = np.nextafter(near, np.float32(np.inf))
    return float(near)


def _clean(text: str) -> str:
    """Return a text if XML can hold it."""
    bad = NOT_IN_XML.search(text)
    if bad:
        raise ModelError(f"{short(text)!r} cannot be written as PMML: XML cannot hold the sign {bad[0]!r}.")
    return text


def _unused(name: str, names: Sequence[str]) -> str:
    """Return a name that no column has or begins with."""
    while any(each.startswith(name) for each in names):
        name = "_" + name
    return name


def _text(value: Any) -> str:
    """Return a value as PMML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
