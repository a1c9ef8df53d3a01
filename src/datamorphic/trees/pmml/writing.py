"""Write trees to PMML files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ..._text import format_short
from ...errors import DataError, ModelError
from ..forest import Forest
from ..tree import Floats, Tree
from .domains import Domain
from .elements import TreeModelWriter

EXTENSION_NAME = "datamorphic"  # the name of the Extension for what PMML cannot express
NORMALIZATIONS = {"": "none", "sigmoid": "logit", "softmax": "softmax", "exp": "exp"}


def write_pmml(forest: Forest, path: str | os.PathLike[str]) -> None:
    """Write trees to a PMML 4.4 file.

    One tree becomes a TreeModel, several become a MiningModel. Boosted trees with labels become a chain of sums and a
    regression. Missing values go to the default child. `read_pmml` gets the same answers back.

    Parameters
    ----------
    forest : Forest
        The trees, as `forest_of` returns them.
    path : str or path
        The file.

    Raises
    ------
    ModelError
        If PMML cannot express the model: several outputs, or steps of a pipeline before the trees.
    """
    joining = forest.joining
    if joining is None or forest.preprocessing is not None or joining.parts:
        reason = (
            "it starts from another model or has a custom objective"
            if joining is None
            else "there are steps before its trees; write only the last step: forest_of(model[-1])"
            if forest.preprocessing is not None
            else "it has several outputs"
        )
        raise ModelError(f"This {forest.owner} cannot be written as PMML: {reason}.")
    text = StringIO()  # no partial file is left behind after an error
    _DocumentWriter(text, forest).write_document()
    try:
        Path(path).write_text(text.getvalue(), encoding="utf-8", newline="\n")
    except OSError as error:
        raise DataError(f"The file {format_short(path)!r} cannot be written: {error.strerror or error}.") from None


class _DocumentWriter(TreeModelWriter):
    """Writes one document."""

    def write_document(self) -> None:
        """Write the whole document."""
        self.file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        self.write_element("PMML", close=False, xmlns="http://www.dmg.org/PMML-4_4", version="4.4")
        self.write_element("Header", close=False, description=f"trees of {self.forest.owner}")
        self.write_element("Application", name="datamorphic")
        self.end_element("Header")
        self.write_data_dictionary()
        self.write_model()
        self.end_element("PMML")

    def write_data_dictionary(self) -> None:
        """Write the DataDictionary: the columns and the answer."""
        forest, number = self.forest, "float" if self.forest.single else "double"
        self.write_element("DataDictionary", close=False, numberOfFields=len(self.names) + 1)
        for column, name in enumerate(self.names):
            values = forest.categories.get(column)
            kind = number if values is None else _find_data_type(values, forest.owner)
            optype = "continuous" if values is None else "categorical"
            domain = forest.domains.get(column, Domain())
            missing_markers = [forest.missing_markers[column]] if column in forest.missing_markers else []
            self.write_field(name, optype, kind, values or (), [*missing_markers, *domain.missing], domain.intervals)
        labels = forest.labels
        kind = "double" if labels is None else _find_data_type(labels, forest.owner)
        self.write_field(self.answer, "continuous" if labels is None else "categorical", kind, labels or ())
        self.end_element("DataDictionary")

    def write_field(
        self,
        name: str,
        optype: str,
        kind: str,
        values: Sequence[Any],
        missing_markers: Sequence[Any] = (),
        intervals: Sequence[tuple[float, bool, float, bool]] = (),
    ) -> None:
        """Write the DataField of one column."""
        is_empty = not (values or missing_markers or intervals)
        self.write_element("DataField", close=is_empty, name=name, optype=optype, dataType=kind)
        for low, with_low, high, with_high in intervals:
            closure = f"{'closed' if with_low else 'open'}{'Closed' if with_high else 'Open'}"
            left, right = (None if math.isinf(end) else end for end in (low, high))
            self.write_element("Interval", closure=closure, leftMargin=left, rightMargin=right)
        for value in values:
            self.write_element("Value", value=value)
        for value in missing_markers:
            self.write_element("Value", value=value, property="missing")
        if not is_empty:
            self.end_element("DataField")

    def write_model(self) -> None:
        """Write the model in the simplest form that expresses it."""
        forest, joining = self.forest, self.forest._joining
        trees, labels = forest.trees, forest.labels
        is_simple = not joining.start and not joining.column and joining.link == "" and joining.scale == 1
        if len(trees) == 1 and is_simple and joining.method != "median" and joining.decision in ("most", "number"):
            return self.write_tree(trees[0], trees[0].value, labels)
        values = [tree.value for tree in trees]
        if joining.decision == "most" and is_simple and joining.method == "mean":
            return self.write_mining_model("average", list(zip(trees, values, strict=True)), labels)
        if joining.decision == "most" and is_simple and (weights := _find_vote_weights(values)) is not None:
            return self.write_mining_model(
                "weightedMajorityVote", list(zip(trees, values, strict=True)), labels, weights
            )
        if joining.decision == "number" and joining.link == "" and joining.scale == 1:
            method = {"mean": "average", "sum": "sum", "median": "weightedMedian"}[joining.method]
            if joining.method != "mean" or not any(joining.start):
                start = joining.start[0] if joining.start else 0.0
                weights = list(joining.weights) or None
                return self.write_mining_model(
                    method, list(zip(trees, values, strict=True)), None, weights, start=start
                )
        return self.write_chain()

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
        self.write_element(
            "MiningModel", close=False, functionName="regression" if labels is None else "classification"
        )
        if name is None and self.forest._joining.single:
            self.write_element("Extension", extender="datamorphic", name=EXTENSION_NAME, value="single")
        self.write_schema(with_target=name is None)
        if name is not None:
            self.write_element("Output", close=False)
            self.write_element(
                "OutputField", name=name, optype="continuous", dataType="double", feature="predictedValue"
            )
            self.end_element("Output")
        if start:
            self.write_element("Targets", close=False)
            self.write_element("Target", field=self.answer if name is None else None, rescaleConstant=start)
            self.end_element("Targets")
        self.write_element("Segmentation", close=False, multipleModelMethod=method)
        for place, (tree, value) in enumerate(trees):
            weight = weights[place] if weights is not None else None
            self.write_element("Segment", close=False, id=place + 1, weight=weight)
            self.write_element("True")
            self.write_tree(tree, value, labels, is_part=True)
            self.end_element("Segment")
        self.end_element("Segmentation")
        self.end_element("MiningModel")

    def write_chain(self) -> None:
        """Write sums of trees, and a regression that turns them into the answer."""
        forest, joining = self.forest, self.forest._joining
        link = joining.link if joining.decision not in ("above", "at least") else "sigmoid"
        width = len(joining.start) or max(tree.value.shape[1] for tree in forest.trees)
        if link not in NORMALIZATIONS or joining.method == "median":
            raise ModelError(
                f"This {forest.owner} cannot be written as PMML: the link {link!r} of its answers has no counterpart."
            )
        start = joining.start or (0.0,) * width
        function = "regression" if forest.labels is None else "classification"
        self.write_element("MiningModel", close=False, functionName=function)
        flags = ["single"] if joining.single else []
        if joining.decision in ("above", "at least"):
            flags.append(joining.decision)
        if flags:
            self.write_element("Extension", extender="datamorphic", name=EXTENSION_NAME, value=",".join(flags))
        self.write_schema()
        self.write_element("Segmentation", close=False, multipleModelMethod="modelChain")
        for score in range(width):
            self.write_element("Segment", close=False, id=score + 1)
            self.write_element("True")
            self.write_mining_model(
                "sum",
                list(self.iterate_trees_of_score(score)),
                None,
                start=start[score],
                name=f"{self.score} {score + 1}",
            )
            self.end_element("Segment")
        self.write_element("Segment", close=False, id=width + 1)
        self.write_element("True")
        self.write_regression(function, NORMALIZATIONS[link], width, joining.scale)
        self.end_element("Segment")
        self.end_element("Segmentation")
        self.end_element("MiningModel")

    def iterate_trees_of_score(self, score: int) -> Iterator[tuple[Tree, Floats]]:
        """Yield the trees that add to a score, with what they add."""
        joining = self.forest._joining
        first = joining.column or (0,) * len(self.forest.trees)
        score_trees = [
            (tree, tree.value[:, score - begin, None])
            for tree, begin in zip(self.forest.trees, first, strict=True)
            if begin <= score < begin + tree.value.shape[1]
        ]
        for tree, value in score_trees:
            yield tree, value / len(score_trees) if joining.method == "mean" else value

    def write_regression(self, function: str, method: str, width: int, scale: float) -> None:
        """Write how sums become the answer."""
        self.write_element("RegressionModel", close=False, functionName=function, normalizationMethod=method)
        self.write_element("MiningSchema", close=False)
        for score in range(width):
            self.write_element("MiningField", name=f"{self.score} {score + 1}")
        self.write_element("MiningField", name=self.answer, usageType="target")
        self.end_element("MiningSchema")
        labels = self.forest.labels
        for score in range(width):
            label = None if labels is None else labels[score + (width == 1)]
            self.write_element("RegressionTable", close=False, intercept=0, targetCategory=label)
            self.write_element("NumericPredictor", name=f"{self.score} {score + 1}", coefficient=scale)
            self.end_element("RegressionTable")
        if labels is not None and width == 1:
            self.write_element("RegressionTable", intercept=0, targetCategory=labels[0])
        self.end_element("RegressionModel")


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
    if not values:
        return "string"
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "double"), (str, "string")):
        if all(isinstance(value, kind) and (kind is bool or not isinstance(value, bool)) for value in values):
            return name
    raise ModelError(
        f"This {owner} cannot be written as PMML: its labels or categories are of several types, such as {values[:4]}."
    )
