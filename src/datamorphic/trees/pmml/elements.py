"""Write the elements of a PMML file, among them the nodes of a tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ..._text import format_short
from ...errors import ModelError
from ..forest import Forest
from ..readers._build import name_columns
from ..tree import ABOVE, BELOW, EQUAL, FROM, LEAF, UP_TO, WITHIN, Floats, Tree
from .domains import Domain

TREATMENT_BY_POLICY = {"kept": "asIs", "missing": "asMissing", "refused": "returnInvalid"}
INVALID_XML_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
PMML_OPERATORS = {UP_TO: "lessOrEqual", BELOW: "lessThan", ABOVE: "greaterThan", FROM: "greaterOrEqual", EQUAL: "equal"}
OPPOSITE_PMML_OPERATORS = {
    "lessOrEqual": "greaterThan",
    "lessThan": "greaterOrEqual",
    "greaterThan": "lessOrEqual",
    "greaterOrEqual": "lessThan",
    "equal": "notEqual",
    "isIn": "isNotIn",
}


class TreeModelWriter:
    """Writes trees of any depth, without recursion."""

    def __init__(self, file: TextIO, forest: Forest) -> None:
        self.file, self.forest = file, forest
        self.names = name_columns(forest.columns, forest.width)
        self.answer = _find_unused_name("answer", self.names)
        self.score = _find_unused_name("score", self.names)
        self.depth = 0

    def write_element(self, name: str, /, *, close: bool = True, **attributes: Any) -> None:
        """Write an element; it stays open if not `close`."""
        attribute_text = "".join(
            f' {key}="{value!r}"'
            if type(value) in (int, float)
            else f" {key}={quoteattr(_validate_xml_text(_format_value(value)))}"
            for key, value in attributes.items()
            if value is not None
        )
        self.file.write(f"{'  ' * min(self.depth, 12)}<{name}{attribute_text}{'/' if close else ''}>\n")
        self.depth += not close

    def end_element(self, name: str) -> None:
        """Close an element."""
        self.depth -= 1
        self.file.write(f"{'  ' * min(self.depth, 12)}</{name}>\n")

    def write_schema(self, *, with_target: bool = True) -> None:
        """Write the MiningSchema: the columns of a model."""
        self.write_element("MiningSchema", close=False)
        for column, name in enumerate(self.names):
            default = Domain(invalid_policy="missing" if column in self.forest.categories else "kept")
            policy = self.forest.domains.get(column, default).invalid_policy
            self.write_element("MiningField", name=name, invalidValueTreatment=TREATMENT_BY_POLICY[policy])
        if with_target:
            self.write_element("MiningField", name=self.answer, usageType="target")
        self.end_element("MiningSchema")

    def write_tree(
        self, write_tree: Tree, value: Floats, labels: tuple[Any, ...] | None, *, is_part: bool = False
    ) -> None:
        """Write one tree."""
        missing = "defaultChild" if self.forest.takes_missing else "none"
        self.write_element(
            "TreeModel",
            close=False,
            functionName="regression" if labels is None else "classification",
            missingValueStrategy=missing,
            noTrueChildStrategy="returnNullPrediction",
            splitCharacteristic="binarySplit",
        )
        self.write_schema(with_target=not is_part)
        pending: list[tuple[int, int, bool]] = [(0, -1, True)]
        while pending:
            node, parent, is_first = pending.pop()
            if node < 0:
                self.end_element("Node")
                continue
            left, right = int(write_tree.left[node]), int(write_tree.right[node])
            default = None
            if left != LEAF and self.forest.takes_missing:
                default = left if write_tree.missing_left[node] else right
            row = value[node]
            self.write_element(
                "Node",
                close=False,
                id=node,
                score=float(row[0]) if labels is None else labels[int(row.argmax())],
                recordCount=float(write_tree.weight[node]),
                defaultChild=default,
            )
            self.write_predicate(write_tree, parent, is_first)
            if labels is not None:
                self.write_distribution(row, float(write_tree.weight[node]), labels)
            pending.append((-1, -1, True))
            if left != LEAF:
                pending += [(right, node, False), (left, node, True)]
        self.end_element("TreeModel")

    def write_predicate(self, tree: Tree, node: int, holds: bool) -> None:
        """Write the predicate of a child: the comparison of its parent, or the opposite."""
        if node < 0:
            self.write_element("True")
            return
        column, operator, limit = int(tree.feature[node]), int(tree.operator[node]), float(tree.threshold[node])
        values, name = self.forest.categories.get(column), self.names[column]
        if operator == WITHIN or (values is not None and operator == EQUAL):
            codes = sorted(tree.sets[int(limit)]) if operator == WITHIN else [int(limit)]
            texts = [
                _format_value(values[code] if values is not None else code)
                for code in codes
                if values is None or code < len(values)
            ]
            quoted = " ".join('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts)
            self.write_element(
                "SimpleSetPredicate", close=False, field=name, booleanOperator="isIn" if holds else "isNotIn"
            )
            self.file.write(
                f'<Array type="string" n="{len(texts)}">{_validate_xml_text(escape(quoted, {chr(13): "&#13;"}))}</Array>\n'
            )
            self.end_element("SimpleSetPredicate")
            return
        operator_name = PMML_OPERATORS[operator]
        if not np.isfinite(limit):  # all values but missing ones go to the same side
            is_negative = limit < 0
            operator_name = "isNotMissing" if (operator in (UP_TO, BELOW)) != is_negative else "isMissing"
            opposite = "isMissing" if operator_name == "isNotMissing" else "isNotMissing"
            self.write_element("SimplePredicate", field=name, operator=operator_name if holds else opposite)
            return
        written_name = operator_name if holds else OPPOSITE_PMML_OPERATORS[operator_name]
        self.write_element(
            "SimplePredicate",
            field=name,
            operator=written_name,
            value=_round_limit(limit, operator, self.forest.single),
        )

    def write_distribution(self, row: Floats, weight: float, labels: tuple[Any, ...]) -> None:
        """Write the probability of each label, if a node has them."""
        total = float(row.sum())
        if total <= 0 or (row < 0).any():
            return
        for label, part in zip(labels, row.tolist(), strict=True):
            self.write_element("ScoreDistribution", value=label, recordCount=weight * part / total, probability=part)


def _round_limit(limit: float, operator: int, single: bool) -> float:
    """Return a threshold that decides the same in the precision of its field."""
    if not single:
        return limit
    rounded = np.float32(limit)
    if operator in (UP_TO, ABOVE) and float(rounded) > limit:
        rounded = np.nextafter(rounded, np.float32(-np.inf))
    elif operator in (BELOW, FROM) and float(rounded) < limit:
        rounded = np.nextafter(rounded, np.float32(np.inf))
    return float(rounded)


def _validate_xml_text(text: str) -> str:
    """Return a text if XML can hold it, else raise `ModelError`."""
    match = INVALID_XML_CHARACTERS.search(text)
    if match:
        raise ModelError(
            f"{format_short(text)!r} cannot be written as PMML: XML cannot hold the character {match[0]!r}."
        )
    return text


def _find_unused_name(name: str, names: Sequence[str]) -> str:
    """Return a name that no column starts with."""
    while any(column.startswith(name) for column in names):
        name = "_" + name
    return name


def _format_value(value: object) -> str:
    """Return a value as PMML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
