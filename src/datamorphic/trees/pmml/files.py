"""Trees from PMML files and to them: the format in which tools exchange models."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from ...errors import ModelError
from ..domains import Domain
from ..forest import Forest
from ..model import Tree
from ..sources.building import meanings
from .document import (
    NUMBERS,
    ORDERS,
    Field,
    casts_of,
    everywhere,
    fields_of,
    kind,
    parsed,
    schema_of,
    within,
)
from .joining import AS_IT_IS, Member, joined
from .nodes import TreeReader
from .predicates import Columns, array_of
from .understood import check_inner_fields, check_understood
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
    A split into more than two is made binary. Where the document lists what a field may hold, all else is treated as it
    says: kept (`asIs`), missing (`asMissing`), or refused with the data (`returnInvalid`). Where a document has no answer
    for missing values (`nullPrediction`, or `none` without the last prediction), makes it from several leaves or asks
    other columns (surrogates), the trees take none. Fields of type "float" are compared in single precision. What is not
    understood and may change the answer is an error.

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
    model = models[0] if models else root
    if len(models) != 1 or kind(model) not in ("TreeModel", "MiningModel"):
        found = "no model" if not models else f"a {kind(model)}" if len(models) == 1 else f"{len(models)} models"
        raise ModelError(
            f"There is not one model of trees in the PMML file: {found} was found. One TreeModel or MiningModel is read."
        )
    check_understood(root)
    check_inner_fields(model)
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
    if joining.how != "median":
        trees = tuple(_weighted(tree, each.weight) for tree, each in zip(trees, members, strict=True))
    gone = {
        i: float(number)
        for i, each in enumerate(columns.fields)
        if i not in columns.codes
        for number in [next((told for told in each.gone() if not isinstance(told, str)), None)]
        if number is not None
    }
    domains = {i: each.domain(i in columns.codes) for i, each in enumerate(columns.fields)}
    return Forest(
        trees,
        model.get("modelName") or kind(model),
        names,
        len(names),
        None if labels is None else tuple(labels),
        joining,
        columns.takes_missing,
        {column: tuple(codes) for column, codes in columns.codes.items()},
        gone,
        domains={i: each for i, each in domains.items() if each != _default(i in columns.codes)},
    )


def _default(grouped: bool) -> Domain:
    """Return what needs not be said of a column."""
    return Domain(others="missing" if grouped else "kept")


def _tree(member: Member, columns: Columns, names: tuple[str, ...], meaning: str, adds: bool) -> Tree:
    """Return one tree; where it adds to a score its answers are numbers, whatever the model answers."""
    own = replace(columns, labels=None) if adds else columns
    tree = TreeReader(member.element, own).read(names, meaning)
    columns.takes_missing &= own.takes_missing
    if member.rescaling == AS_IT_IS:
        return tree
    value = member.rescaling.of(tree.value)
    return replace(tree, value=value, answer=value[:, 0].copy())


def _weighted(tree: Tree, weight: float) -> Tree:
    return tree if weight == 1 else replace(tree, value=tree.value * weight)


# -- columns and labels ----------------------------------------------------------------------------------


def _columns(root: Element, asked: list[Field], labels: list[Any] | None, target: Field | None) -> Columns:
    """Return the columns of a document; those whose categories are asked for with their codes."""
    place = {each.name: i for i, each in enumerate(asked)}
    type_of = {each.name: each.data_type for each in asked}
    for name, (source, data_type) in casts_of(root).items():
        # any other cast changes values
        same = type_of.get(source) == data_type or (
            type_of.get(source) in NUMBERS and data_type in ("float", "double")
        )
        if source in place and name not in place and same:
            place[name], type_of[name] = place[source], data_type
    about: dict[int, list[Element]] = {}
    types = set()
    for each in everywhere(root, "SimplePredicate", "SimpleSetPredicate"):
        name = each.get("field", "")
        if name in place:
            about.setdefault(place[name], []).append(each)
            types.add(type_of[name])
    types = types or {each.data_type for each in asked}
    if {"float", "double"} <= types:
        raise ModelError(
            "Some fields of the PMML file are of type 'float' and others of type 'double': trees here compare all their "
            "columns in one precision. Make the type of all the same."
        )
    columns = Columns(asked, place, {}, labels, target, single="float" in types)
    for column, field in enumerate(asked):
        predicates = about.get(column, [])
        if field.data_type not in NUMBERS or any(kind(each) == "SimpleSetPredicate" for each in predicates):
            _group(columns, column, predicates)
    return columns


def _group(columns: Columns, column: int, predicates: list[Element]) -> None:
    """Give the categories of a column their codes: those that are valid, or those that trees ask for as well."""
    field = columns.fields[column]
    texts: list[str] = []
    for each in predicates:
        if each.get("operator") in ORDERS:
            raise ModelError(f"The field {field.name!r} of categories is compared by {each.get('operator')!r}.")
        told = each.get("value")
        texts += array_of(each) if kind(each) == "SimpleSetPredicate" else [] if told is None else [told]
    if texts and field.data_type not in (*NUMBERS, "string", "boolean"):
        raise ModelError(f"A tree asks about {field.name!r} of type {field.data_type!r}, which is not read.")
    if field.intervals and field.others != "kept":
        raise ModelError(
            f"The field {field.name!r} has categories and is limited to intervals, which is not read."
        )
    if field.others == "kept":
        columns.open.add(column)
    both = field.data_type == "boolean" and (not field.values or field.treatment == "asIs")
    listed = ["true", "false"] if both else field.values
    known = dict.fromkeys(map(field.value, [*listed, *texts] if column in columns.open else listed))
    if columns.single and any(isinstance(value, float) and value != int(value) for value in known):
        raise ModelError(
            f"A tree asks whether {field.name!r} of type 'float' is one of some fractions, which is not read."
        )
    columns.codes[column] = {value: code for code, value in enumerate(known)}


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
