"""Trees from PMML files and to them: the format in which tools exchange models."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from ...errors import ModelError
from ..forest import Forest
from ..model import Tree
from ..sources.building import meanings
from .document import (
    NUMBERS,
    ORDERS,
    Field,
    as_number,
    casts_of,
    everywhere,
    fields_of,
    kind,
    parsed,
    schema_of,
    within,
)
from .joining import Member, joined
from .nodes import Columns, TreeReader, array_of
from .writing import write_pmml

__all__ = ["read_pmml", "write_pmml"]


def read_pmml(path: str | os.PathLike[str]) -> Forest:
    """Return the trees of a PMML file of version 4, and how they make the model's answer.

    A TreeModel is read, a MiningModel that lets trees vote or takes the mean, the median or the sum of their answers,
    and a chain that ends in a RegressionModel with one coefficient for each sum of trees, as boosted trees are written.
    Nothing in the file is evaluated.

    Parameters
    ----------
    path : str or path
        The file.

    Raises
    ------
    DataError
        If the file is no PMML.
    ModelError
        If it is, but its trees ask or join in a way that has no like here.

    Notes
    -----
    A split into more than two is made binary. Categories that the document does not list count as missing. Where a
    document has no answer for missing values (`nullPrediction`, or `none` without the last prediction), or makes it
    from several leaves, the trees take none. Fields of type "float" are compared in single precision.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from datamorphic.trees.reading import forest_of
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "iris.pmml"
    ...     write_pmml(forest_of(model), path)
    ...     forest = read_pmml(path)
    >>> forest
    Forest(3 leaves, of TreeModel)
    >>> bool((forest.predict(X) == model.predict(X)).all())
    True
    """
    root = parsed(path)
    models = [each for each in root if kind(each).endswith("Model")]
    model = next((each for each in models if kind(each) in ("TreeModel", "MiningModel")), None)
    if model is None:
        found = f"a {kind(models[0])}" if models else "no model"
        raise ModelError(
            f"There is no tree in the PMML file: {found} was found. A TreeModel or a MiningModel is read."
        )
    fields = fields_of(root)
    asked, target = schema_of(model, fields)
    members, joining, probable = joined(model)
    numbers = joining.decides == "number"
    labels = None if numbers else _labels(model, target)
    columns = _columns(root, asked, labels, target)
    columns.probable = probable
    names = tuple(each.name for each in columns.fields)
    several = len(joining.start) or 1
    told = meanings(labels, several, joining.link) if joining.how == "sum" and joining.column else [""] * several
    trees = tuple(_tree(each, columns, names, told[each.score], bool(joining.column)) for each in members)
    if (joining.how == "sum" and not joining.column) or joining.how == "mean":
        trees = tuple(_weighted(tree, each.weight) for tree, each in zip(trees, members, strict=True))
    gone = {
        i: as_number(each.missing[0])
        for i, each in enumerate(columns.fields)
        if each.missing and i not in columns.codes
    }
    return Forest(
        trees,
        model.get("modelName") or kind(model),
        names,
        len(names),
        None if labels is None else tuple(labels),
        joining,
        columns.takes_missing,
        {column: tuple(_ordered(columns, column, codes)) for column, codes in columns.codes.items()},
        gone,
    )


def _tree(member: Member, columns: Columns, names: tuple[str, ...], meaning: str, adds: bool) -> Tree:
    """Return one tree; where it adds to a score its answers are numbers, whatever the model answers."""
    own = replace(columns, labels=None) if adds else columns
    tree = TreeReader(member.element, own).read(names, meaning)
    columns.takes_missing &= own.takes_missing
    return tree


def _weighted(tree: Tree, weight: float) -> Tree:
    return tree if weight == 1 else replace(tree, value=tree.value * weight)


# -- columns and labels ----------------------------------------------------------------------------------


def _columns(root: Element, asked: list[Field], labels: list[Any] | None, target: Field | None) -> Columns:
    """Return the columns of a document; those whose categories are asked for with their codes."""
    place = {each.name: i for i, each in enumerate(asked)}
    casts = casts_of(root)
    types = {each.data_type for each in asked if each.data_type in NUMBERS}
    for name, (source, data_type) in casts.items():
        if source in place and name not in place:
            place[name] = place[source]
            if data_type in NUMBERS:
                types = (types - {"double"}) | {data_type}
    if {"float", "double"} <= types:
        raise ModelError(
            "Some fields of the PMML file are of type 'float' and others of type 'double': trees here compare all their "
            "columns in one precision. Make the type of all the same."
        )
    columns = Columns(asked, place, {}, labels, target, single="float" in types)
    values: dict[int, list[Any]] = {}
    for each in everywhere(root, "SimplePredicate", "SimpleSetPredicate"):
        column = place.get(each.get("field", ""))
        if column is None or (asked[column].data_type in NUMBERS and kind(each) != "SimpleSetPredicate"):
            continue
        if each.get("operator") not in ("isMissing", "isNotMissing"):
            values.setdefault(column, [])
    for column, field in enumerate(asked):
        if field.data_type not in NUMBERS:
            values.setdefault(column, [])
    for column, known in values.items():
        codes = columns.codes[column] = {}
        texts = asked[column].values + _texts(root, place, column)
        for text in texts:
            value = asked[column].value(text)
            if value not in known:
                known.append(value)
            codes[text] = known.index(value)
    return columns


def _texts(root: Element, place: dict[str, int], column: int) -> list[str]:
    """Return the categories of a column that trees ask for."""
    found: list[str] = []
    for each in everywhere(root, "SimplePredicate", "SimpleSetPredicate"):
        if place.get(each.get("field", "")) != column:
            continue
        if each.get("operator") in ORDERS:
            raise ModelError(
                f"The field {each.get('field')!r} of categories is compared by {each.get('operator')!r}."
            )
        if kind(each) == "SimpleSetPredicate":
            found += array_of(each)
        elif each.get("value") is not None:
            found.append(each.get("value", ""))
    return found


def _ordered(columns: Columns, column: int, codes: dict[str, int]) -> list[Any]:
    """Return the categories of a column by their codes."""
    places = {code: columns.fields[column].value(text) for text, code in reversed(codes.items())}
    return [places[code] for code in sorted(places)]


def _labels(model: Element, target: Field | None) -> list[Any]:
    """Return what a model answers: what its target may be, and all that its leaves say."""
    # where a regression decides, scores belong to its tables in their order; of two labels the first has the score
    texts = [each.get("targetCategory", "") for each in everywhere(model, "RegressionTable")]
    if len(texts) == 2:
        texts.reverse()
    if not texts:
        texts = list(target.values) if target is not None else []
        for node in everywhere(model, "Node"):
            texts += [score for score in [node.get("score")] if score is not None]
            texts += [each.get("value", "") for each in within(node, "ScoreDistribution")]
    values: list[Any] = []
    for text in dict.fromkeys(texts):
        value = target.value(text) if target is not None else text
        if value not in values:
            values.append(value)
    return values
