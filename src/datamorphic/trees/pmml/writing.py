"""Trees to PMML files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from ..._checks import short
from ...errors import DataError, ModelError
from ..domains import Domain
from ..forest import Forest
from ..model import Floats, Tree
from .elements import TreeWriter

NOTE = "datamorphic"  # the name of the extension that says what PMML has no words for
NORMALIZATIONS = {"": "none", "sigmoid": "logit", "softmax": "softmax", "exp": "exp"}


def write_pmml(forest: Forest, path: str | os.PathLike[str]) -> None:
    """Write trees to a PMML file of version 4.4, so that other tools can read them.

    One tree becomes a TreeModel, several a MiningModel; boosted trees for labels become a chain of sums and a
    regression. Missing values go to the default child, as in the trees. `read_pmml` gets the same answers back.

    Parameters
    ----------
    forest : Forest
        The trees, as `forest_of` gives them.
    path : str or path
        The file.

    Raises
    ------
    ModelError
        If PMML cannot say what the model does: several answers at once, steps of a pipeline before the trees.
    """
    joining = forest.joining
    if joining is None or forest.before is not None or joining.parts:
        why = (
            "it starts from another model or has an objective of its own"
            if joining is None
            else "there are steps before its trees; write what comes after: forest_of(model[-1])"
            if forest.before is not None
            else "it gives several answers at once"
        )
        raise ModelError(f"This {forest.owner} cannot be written as PMML: {why}.")
    text = StringIO()  # so that no half of a file is left where something cannot be said
    _Writer(text, forest).document()
    try:
        Path(path).write_text(text.getvalue(), encoding="utf-8", newline="\n")
    except OSError as error:
        raise DataError(f"The file {short(path)!r} cannot be written: {error.strerror or error}.") from None


class _Writer(TreeWriter):
    """Writes one document."""

    def document(self) -> None:
        """Write the whole document."""
        self.file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        self.put("PMML", leave=False, xmlns="http://www.dmg.org/PMML-4_4", version="4.4")
        self.put("Header", leave=False, description=f"trees of {self.forest.owner}")
        self.put("Application", name="datamorphic")
        self.end("Header")
        self.dictionary()
        self.model()
        self.end("PMML")

    def dictionary(self) -> None:
        """Write what is known of the columns and of the answer."""
        forest, number = self.forest, "float" if self.forest.single else "double"
        self.put("DataDictionary", leave=False, numberOfFields=len(self.names) + 1)
        for column, name in enumerate(self.names):
            values = forest.categories.get(column)
            kind = number if values is None else _type_of(values, forest.owner)
            optype = "continuous" if values is None else "categorical"
            domain = forest.domains.get(column, Domain())
            gone = [forest.gone[column]] if column in forest.gone else []
            self.field(name, optype, kind, values or (), [*gone, *domain.missing], domain.intervals)
        labels = forest.labels
        kind = "double" if labels is None else _type_of(labels, forest.owner)
        self.field(self.answer, "continuous" if labels is None else "categorical", kind, labels or ())
        self.end("DataDictionary")

    def field(
        self,
        name: str,
        optype: str,
        kind: str,
        values: Sequence[Any],
        gone: Sequence[Any] = (),
        intervals: Sequence[tuple[float, bool, float, bool]] = (),
    ) -> None:
        """Write what is known of one column."""
        empty = not (values or gone or intervals)
        self.put("DataField", leave=empty, name=name, optype=optype, dataType=kind)
        for low, with_low, high, with_high in intervals:
            closure = f"{'closed' if with_low else 'open'}{'Closed' if with_high else 'Open'}"
            left, right = (None if math.isinf(end) else end for end in (low, high))
            self.put("Interval", closure=closure, leftMargin=left, rightMargin=right)
        for value in values:
            self.put("Value", value=value)
        for value in gone:
            self.put("Value", value=value, property="missing")
        if not empty:
            self.end("DataField")

    def model(self) -> None:
        """Write the model in the form that says what it does."""
        forest, joining = self.forest, self.forest._joining
        trees, labels = forest.trees, forest.labels
        simple = not joining.start and not joining.column and joining.link == "" and joining.scale == 1
        if len(trees) == 1 and simple and joining.how != "median" and joining.decides in ("most", "number"):
            return self.tree(trees[0], trees[0].value, labels)
        values = [tree.value for tree in trees]
        if joining.decides == "most" and simple and joining.how == "mean":
            return self.mining("average", list(zip(trees, values, strict=True)), labels)
        if joining.decides == "most" and simple and (weights := _votes(values)) is not None:
            return self.mining("weightedMajorityVote", list(zip(trees, values, strict=True)), labels, weights)
        if joining.decides == "number" and joining.link == "" and joining.scale == 1:
            method = {"mean": "average", "sum": "sum", "median": "weightedMedian"}[joining.how]
            if joining.how != "mean" or not any(joining.start):
                start = joining.start[0] if joining.start else 0.0
                weights = list(joining.weights) or None
                return self.mining(method, list(zip(trees, values, strict=True)), None, weights, start=start)
        return self.chain()

    def mining(
        self,
        method: str,
        trees: list[tuple[Tree, Floats]],
        labels: tuple[Any, ...] | None,
        weights: list[float] | None = None,
        *,
        start: float = 0.0,
        name: str | None = None,
    ) -> None:
        """Write trees that are joined by one method; with a name they are a part of more."""
        self.put("MiningModel", leave=False, functionName="regression" if labels is None else "classification")
        if name is None and self.forest._joining.single:
            self.put("Extension", extender="datamorphic", name=NOTE, value="single")
        self.schema(answers=name is None)
        if name is not None:
            self.put("Output", leave=False)
            self.put("OutputField", name=name, optype="continuous", dataType="double", feature="predictedValue")
            self.end("Output")
        if start:
            self.put("Targets", leave=False)
            self.put("Target", field=self.answer if name is None else None, rescaleConstant=start)
            self.end("Targets")
        self.put("Segmentation", leave=False, multipleModelMethod=method)
        for place, (tree, value) in enumerate(trees):
            weight = weights[place] if weights is not None else None
            self.put("Segment", leave=False, id=place + 1, weight=weight)
            self.put("True")
            self.tree(tree, value, labels, part=True)
            self.end("Segment")
        self.end("Segmentation")
        self.end("MiningModel")

    def chain(self) -> None:
        """Write sums of trees, and a regression that makes the answer of them."""
        forest, joining = self.forest, self.forest._joining
        link = joining.link if joining.decides not in ("above", "at least") else "sigmoid"
        width = len(joining.start) or max(tree.value.shape[1] for tree in forest.trees)
        if link not in NORMALIZATIONS or joining.how == "median":
            raise ModelError(f"This {forest.owner} cannot be written as PMML: its answers go through {link!r}.")
        start = joining.start or (0.0,) * width
        function = "regression" if forest.labels is None else "classification"
        self.put("MiningModel", leave=False, functionName=function)
        words = ["single"] * joining.single + [joining.decides] * (joining.decides in ("above", "at least"))
        if words:
            self.put("Extension", extender="datamorphic", name=NOTE, value=",".join(words))
        self.schema()
        self.put("Segmentation", leave=False, multipleModelMethod="modelChain")
        for score in range(width):
            self.put("Segment", leave=False, id=score + 1)
            self.put("True")
            self.mining(
                "sum", list(self.adding_to(score)), None, start=start[score], name=f"{self.score} {score + 1}"
            )
            self.end("Segment")
        self.put("Segment", leave=False, id=width + 1)
        self.put("True")
        self.regression(function, NORMALIZATIONS[link], width, joining.scale)
        self.end("Segment")
        self.end("Segmentation")
        self.end("MiningModel")

    def adding_to(self, score: int) -> Iterator[tuple[Tree, Floats]]:
        """Return the trees that add to a score, with what they add."""
        joining = self.forest._joining
        first = joining.column or (0,) * len(self.forest.trees)
        own = [
            (tree, tree.value[:, score - begin, None])
            for tree, begin in zip(self.forest.trees, first, strict=True)
            if begin <= score < begin + tree.value.shape[1]
        ]
        for tree, value in own:
            yield tree, value / len(own) if joining.how == "mean" else value

    def regression(self, function: str, method: str, width: int, scale: float) -> None:
        """Write how sums become the answer."""
        self.put("RegressionModel", leave=False, functionName=function, normalizationMethod=method)
        self.put("MiningSchema", leave=False)
        for score in range(width):
            self.put("MiningField", name=f"{self.score} {score + 1}")
        self.put("MiningField", name=self.answer, usageType="target")
        self.end("MiningSchema")
        labels = self.forest.labels
        for score in range(width):
            label = None if labels is None else labels[score + (width == 1)]
            self.put("RegressionTable", leave=False, intercept=0, targetCategory=label)
            self.put("NumericPredictor", name=f"{self.score} {score + 1}", coefficient=scale)
            self.end("RegressionTable")
        if labels is not None and width == 1:
            self.put("RegressionTable", intercept=0, targetCategory=labels[0])
        self.end("RegressionModel")


def _votes(values: list[Floats]) -> list[float] | None:
    """Return how much each tree counts if all vote for one label; None if they do not."""
    weights = []
    for value in values:
        top, low = value.max(axis=1), value.min(axis=1)
        lone = np.isclose(value, low[:, None]).sum(axis=1) == value.shape[1] - 1
        if not lone.all() or not np.allclose(top - low, top[0] - low[0]):
            return None
        weights.append(float(top[0] - low[0]))
    return weights


def _type_of(values: Sequence[Any], owner: str) -> str:
    """Return the type of labels or categories."""
    if not values:
        return "string"
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "double"), (str, "string")):
        if all(isinstance(value, kind) and (kind is bool or not isinstance(value, bool)) for value in values):
            return name
    raise ModelError(
        f"This {owner} cannot be written as PMML: its labels or categories are of several types, such as {values[:4]}."
    )
