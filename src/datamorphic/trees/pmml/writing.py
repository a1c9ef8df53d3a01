"""Write trees to PMML files."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from ..._files import write_file
from ..._text import format_short
from ...errors import ModelError
from ..forest import Forest
from ..readers._build import name_columns
from ..tree import ABOVE, BELOW, EQUAL, FROM, LEAF, UP_TO, WITHIN, Floats, Tree
from .domains import Domain

EXTENSION_NAME = "datamorphic"  # the name of the Extension for what PMML cannot express
NORMALISATIONS = {"": "none", "sigmoid": "logit", "softmax": "softmax", "exp": "exp"}
TREATMENT_BY_POLICY = {"kept": "asIs", "missing": "asMissing", "refused": "returnInvalid"}
INVALID_XML_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# how PMML writes a comparison, and its opposite
PMML_OPERATORS = {
    UP_TO: ("lessOrEqual", "greaterThan"),
    BELOW: ("lessThan", "greaterOrEqual"),
    ABOVE: ("greaterThan", "lessOrEqual"),
    FROM: ("greaterOrEqual", "lessThan"),
    EQUAL: ("equal", "notEqual"),
}


def write_forest(forest: Forest, path: str | os.PathLike[str]) -> None:
    """Write trees to a PMML 4.4 file."""
    reason = ""
    if forest.joining is None:
        reason = "it starts from another model or has a custom objective"
    elif forest.preprocessing is not None:
        reason = "there are steps before its trees; write only the last step: read_forest(model[-1])"
    elif forest.joining.parts:
        reason = "it has several outputs"
    if reason:
        raise ModelError(f"This {forest.owner} cannot be written as PMML: {reason}.")
    writer = _DocumentWriter(forest)  # no partial file is left behind after an error
    writer.write_document()
    write_file(path, writer.file.getvalue(), "PMML file")


class _DocumentWriter:
    """Writes one document, with trees of any depth."""

    def __init__(self, forest: Forest) -> None:
        self.file, self.forest, self.depth = StringIO(), forest, 0
        self.names = name_columns(forest.columns, forest.width)
        self.answer, self.score = (_find_unused_name(name, self.names) for name in ("answer", "score"))

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

    @contextmanager
    def element(self, name: str, /, **attributes: Any) -> Iterator[None]:
        """Write an element around all that is written in this context."""
        self.write_element(name, close=False, **attributes)
        yield
        self.end_element(name)

    def write_document(self) -> None:
        """Write the whole document."""
        self.file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        with self.element("PMML", xmlns="http://www.dmg.org/PMML-4_4", version="4.4"):
            with self.element("Header", description=f"trees of {self.forest.owner}"):
                self.write_element("Application", name="datamorphic")
            with self.element("DataDictionary", numberOfFields=len(self.names) + 1):
                self.write_fields()
            self.write_model()

    # -- columns -------------------------------------------------------------------------------------------------------

    def write_fields(self) -> None:
        """Write the columns and the answer."""
        forest, number = self.forest, "float" if self.forest.single else "double"
        for column, name in enumerate(self.names):
            domain = forest.domains.get(column, Domain())
            missing_markers = [forest.missing_markers[column]] if column in forest.missing_markers else []
            self.write_field(
                name, number, forest.categories.get(column), [*missing_markers, *domain.missing], domain.intervals
            )
        self.write_field(self.answer, "double", forest.labels)

    def write_field(
        self,
        name: str,
        number: str,
        values: Sequence[Any] | None,
        missing_markers: Sequence[Any] = (),
        intervals: Sequence[tuple[float, bool, float, bool]] = (),
    ) -> None:
        """Write the DataField of one column; without values it holds a number."""
        optype = "continuous" if values is None else "categorical"
        kind = number if values is None else _find_data_type(values, self.forest.owner)
        is_empty = not (values or missing_markers or intervals)
        self.write_element("DataField", close=is_empty, name=name, optype=optype, dataType=kind)
        for low, with_low, high, with_high in intervals:
            closure = f"{'closed' if with_low else 'open'}{'Closed' if with_high else 'Open'}"
            left, right = (None if math.isinf(end) else end for end in (low, high))
            self.write_element("Interval", closure=closure, leftMargin=left, rightMargin=right)
        for value in values or ():
            self.write_element("Value", value=value)
        for value in missing_markers:
            self.write_element("Value", value=value, property="missing")
        if not is_empty:
            self.end_element("DataField")

    def write_schema(self, *, with_target: bool = True) -> None:
        """Write the MiningSchema: the columns of a model."""
        with self.element("MiningSchema"):
            for column, name in enumerate(self.names):
                default = Domain(invalid_policy="missing" if column in self.forest.categories else "kept")
                policy = self.forest.domains.get(column, default).invalid_policy
                self.write_element("MiningField", name=name, invalidValueTreatment=TREATMENT_BY_POLICY[policy])
            if with_target:
                self.write_element("MiningField", name=self.answer, usageType="target")

    # -- models --------------------------------------------------------------------------------------------------------

    def write_model(self) -> None:
        """Write the model in the simplest form that expresses it."""
        joining, trees, labels = self.forest._joining, self.forest.trees, self.forest.labels
        values = [tree.value for tree in trees]
        pairs = list(zip(trees, values, strict=True))
        is_linked = joining.link != "" or joining.scale != 1
        is_simple = not joining.start and not joining.column and not is_linked
        if len(trees) == 1 and is_simple and joining.method != "median" and joining.decision in ("most", "number"):
            self.write_tree(trees[0], trees[0].value, labels)
        elif joining.decision == "most" and is_simple and joining.method == "mean":
            self.write_mining_model("average", pairs, labels)
        elif joining.decision == "most" and is_simple and (weights := _find_vote_weights(values)) is not None:
            self.write_mining_model("weightedMajorityVote", pairs, labels, weights)
        elif joining.decision == "number" and not is_linked and (joining.method != "mean" or not any(joining.start)):
            method = {"mean": "average", "sum": "sum", "median": "weightedMedian"}[joining.method]
            start = joining.start[0] if joining.start else 0.0
            self.write_mining_model(method, pairs, None, list(joining.weights) or None, start=start)
        else:
            self.write_chain()

    def write_mining_model(
        self,
        method: str,
        trees: list[tuple[Tree, Floats]],
        labels: tuple[Any, ...] | None,
        weights: list[float] | None = None,
        *,
        start: float = 0.0,
        name: str | None = None,
    ) -> None:
        """Write trees that one method combines; with a name, as part of a chain."""
        with self.element("MiningModel", functionName="regression" if labels is None else "classification"):
            if name is None and self.forest._joining.single:
                self.write_element("Extension", extender="datamorphic", name=EXTENSION_NAME, value="single")
            self.write_schema(with_target=name is None)
            if name is not None:
                with self.element("Output"):
                    self.write_element(
                        "OutputField", name=name, optype="continuous", dataType="double", feature="predictedValue"
                    )
            if start:
                with self.element("Targets"):
                    self.write_element("Target", field=self.answer if name is None else None, rescaleConstant=start)
            with self.element("Segmentation", multipleModelMethod=method):
                for place, (tree, value) in enumerate(trees):
                    weight = weights[place] if weights is not None else None
                    with self.element("Segment", id=place + 1, weight=weight):
                        self.write_element("True")
                        self.write_tree(tree, value, labels, is_part=True)

    def write_chain(self) -> None:
        """Write sums of trees, and a regression that turns them into the answer."""
        forest, joining = self.forest, self.forest._joining
        decides_by_sign = joining.decision in ("above", "at least")
        link = "sigmoid" if decides_by_sign else joining.link
        width = len(joining.start) or max(tree.value.shape[1] for tree in forest.trees)
        if link not in NORMALISATIONS or joining.method == "median":
            raise ModelError(
                f"This {forest.owner} cannot be written as PMML: the link {link!r} of its answers has no counterpart."
            )
        start = joining.start or (0.0,) * width
        function = "regression" if forest.labels is None else "classification"
        flags = [*(["single"] if joining.single else []), *([joining.decision] if decides_by_sign else [])]
        with self.element("MiningModel", functionName=function):
            if flags:
                self.write_element("Extension", extender="datamorphic", name=EXTENSION_NAME, value=",".join(flags))
            self.write_schema()
            with self.element("Segmentation", multipleModelMethod="modelChain"):
                for score in range(width):
                    with self.element("Segment", id=score + 1):
                        self.write_element("True")
                        trees, name = self.list_trees_of_score(score), f"{self.score} {score + 1}"
                        self.write_mining_model("sum", trees, None, start=start[score], name=name)
                with self.element("Segment", id=width + 1):
                    self.write_element("True")
                    self.write_regression(function, NORMALISATIONS[link], width, joining.scale)

    def list_trees_of_score(self, score: int) -> list[tuple[Tree, Floats]]:
        """Return the trees that add to a score, with what they add."""
        joining, trees = self.forest._joining, self.forest.trees
        pairs = [
            (tree, tree.value[:, score - begin, None])
            for tree, begin in zip(trees, joining.column or (0,) * len(trees), strict=True)
            if begin <= score < begin + tree.value.shape[1]
        ]
        return [(tree, value / len(pairs)) for tree, value in pairs] if joining.method == "mean" else pairs

    def write_regression(self, function: str, method: str, width: int, scale: float) -> None:
        """Write how sums become the answer."""
        labels, names = self.forest.labels, [f"{self.score} {score + 1}" for score in range(width)]
        with self.element("RegressionModel", functionName=function, normalizationMethod=method):
            with self.element("MiningSchema"):
                for name in names:
                    self.write_element("MiningField", name=name)
                self.write_element("MiningField", name=self.answer, usageType="target")
            for score, name in enumerate(names):
                label = None if labels is None else labels[score + (width == 1)]
                with self.element("RegressionTable", intercept=0, targetCategory=label):
                    self.write_element("NumericPredictor", name=name, coefficient=scale)
            if labels is not None and width == 1:
                self.write_element("RegressionTable", intercept=0, targetCategory=labels[0])

    # -- trees ---------------------------------------------------------------------------------------------------------

    def write_tree(self, tree: Tree, value: Floats, labels: tuple[Any, ...] | None, *, is_part: bool = False) -> None:
        """Write one tree, without recursion."""
        with self.element(
            "TreeModel",
            functionName="regression" if labels is None else "classification",
            missingValueStrategy="defaultChild" if self.forest.takes_missing else "none",
            noTrueChildStrategy="returnNullPrediction",
            splitCharacteristic="binarySplit",
        ):
            self.write_schema(with_target=not is_part)
            pending: list[tuple[int, int, bool]] = [(0, -1, True)]
            while pending:
                node, parent, is_first = pending.pop()
                if node < 0:
                    self.end_element("Node")
                    continue
                left, right = int(tree.left[node]), int(tree.right[node])
                default = None
                if left != LEAF and self.forest.takes_missing:
                    default = left if tree.missing_left[node] else right
                row, weight = value[node], float(tree.weight[node])
                score = float(row[0]) if labels is None else labels[int(row.argmax())]
                self.write_element("Node", close=False, id=node, score=score, recordCount=weight, defaultChild=default)
                self.write_predicate(tree, parent, is_first)
                total = float(row.sum())
                if labels is not None and total > 0 and not (row < 0).any():  # the node has probabilities
                    for label, part in zip(labels, row.tolist(), strict=True):
                        self.write_element(
                            "ScoreDistribution", value=label, recordCount=weight * part / total, probability=part
                        )
                pending.append((-1, -1, True))
                if left != LEAF:
                    pending += [(right, node, False), (left, node, True)]

    def write_predicate(self, tree: Tree, node: int, holds: bool) -> None:
        """Write the predicate of a child: the comparison of its parent, or the opposite."""
        if node < 0:
            return self.write_element("True")
        column, operator, limit = int(tree.feature[node]), int(tree.operator[node]), float(tree.threshold[node])
        values, name = self.forest.categories.get(column), self.names[column]
        if operator == WITHIN or (values is not None and operator == EQUAL):
            codes: Sequence[Any] = sorted(tree.sets[int(limit)]) if operator == WITHIN else [int(limit)]
            if values is not None:
                codes = [values[code] for code in codes if code < len(values)]
            escaped_texts = [_format_value(code).replace("\\", "\\\\").replace('"', '\\"') for code in codes]
            quoted = escape(" ".join(f'"{text}"' for text in escaped_texts), {chr(13): "&#13;"})
            with self.element("SimpleSetPredicate", field=name, booleanOperator="isIn" if holds else "isNotIn"):
                self.file.write(f'<Array type="string" n="{len(codes)}">{_validate_xml_text(quoted)}</Array>\n')
        elif not np.isfinite(limit):  # all values but missing ones go to the same side
            takes_known = (operator in (UP_TO, BELOW)) == (limit > 0)
            self.write_element(
                "SimplePredicate", field=name, operator="isNotMissing" if takes_known == holds else "isMissing"
            )
        else:
            value = _round_limit(limit, operator, self.forest.single)
            self.write_element("SimplePredicate", field=name, operator=PMML_OPERATORS[operator][not holds], value=value)


def _find_vote_weights(values: list[Floats]) -> list[float] | None:
    """Return the weight of each tree if each votes for one label; otherwise None."""
    weights = []
    for value in values:
        top, low = value.max(axis=1), value.min(axis=1)
        has_single_winner = np.isclose(value, low[:, None]).sum(axis=1) == value.shape[1] - 1
        if not has_single_winner.all() or not np.allclose(top - low, top[0] - low[0]):
            return None
        weights.append(float(top[0] - low[0]))
    return weights


def _find_data_type(values: Sequence[Any], owner: str) -> str:
    """Return the PMML type of labels or categories."""
    types = {type(value) for value in values} or {str}
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "double"), (str, "string")):
        if all(issubclass(type_, kind) and (kind is bool or type_ is not bool) for type_ in types):
            return name
    raise ModelError(
        f"This {owner} cannot be written as PMML: its labels or categories are of several types, such as {values[:4]}."
    )


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
