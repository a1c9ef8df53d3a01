"""Read trees from PMML files, the format in which tools exchange models."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from ...errors import ModelError
from ..forest import Forest
from ..readers._build import describe_meanings
from ..tree import Tree
from .document import (
    NUMBER_TYPES,
    ORDER_OPERATORS,
    PmmlField,
    find_children,
    get_tag,
    iterate_descendants,
    parse_pmml,
    read_casts,
    read_fields,
    read_schema,
)
from .domains import Domain
from .joining import NO_RESCALING, Member, read_joining
from .nodes import TreeModelReader
from .predicates import PmmlColumns, read_array
from .unsupported import validate_elements, validate_inner_fields
from .writing import write_pmml

__all__ = ["read_pmml", "write_pmml"]


def read_pmml(path: str | os.PathLike[str]) -> Forest:
    """Read the trees of a PMML 4 file.

    Supported are a TreeModel; a MiningModel of trees that vote, or whose answers are averaged or summed or their
    median taken; and a chain that ends in a RegressionModel with one coefficient per sum of trees, as boosted trees
    are written. Nothing in the file is evaluated.

    Parameters
    ----------
    path : str or path
        The file.

    Raises
    ------
    DataError
        If the file is not PMML.
    ModelError
        If its trees, or how they are combined, are not supported.

    Notes ----- Splits into more than two children are made binary. If the document lists the valid values of a field,
    other values are treated as it says: kept (`asIs`), missing (`asMissing`), or refused (`returnInvalid`). The trees
    take no missing values if the document has no answer for them (`nullPrediction`, or `none` without the last
    prediction), computes it from several leaves, or uses surrogate columns. Fields of type "float" are compared in
    single precision. Anything else that may change the answer is an error.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from datamorphic.trees.read import forest_of
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
    root = parse_pmml(path)
    models = [element for element in root if get_tag(element).endswith("Model")]
    model = models[0] if models else root
    if len(models) != 1 or get_tag(model) not in ("TreeModel", "MiningModel"):
        content = "no model" if not models else f"a {get_tag(model)}" if len(models) == 1 else f"{len(models)} models"
        raise ModelError(f"The PMML file must hold one TreeModel or MiningModel. Found {content}.")
    validate_elements(root)
    validate_inner_fields(model)
    fields = read_fields(root)
    active_fields, target = read_schema(model, fields)
    members, joining, has_probabilities = read_joining(model)
    is_regression = joining.decision == "number"
    labels = None if is_regression else _read_labels(model, target)
    columns = _build_columns(root, active_fields, labels, target)
    columns.has_probabilities = has_probabilities
    names = tuple(field.name for field in columns.fields)
    score_count = len(joining.start) or 1
    leaf_meanings = (
        describe_meanings(labels, score_count, joining.link)
        if joining.method == "sum" and joining.column
        else [""] * score_count
    )
    trees = tuple(
        _read_tree(member, columns, names, leaf_meanings[member.score], bool(joining.column)) for member in members
    )
    if joining.method != "median":
        trees = tuple(_scale_tree(tree, member.weight) for tree, member in zip(trees, members, strict=True))
    missing_markers = {
        i: float(number)
        for i, field in enumerate(columns.fields)
        if i not in columns.codes
        for number in [next((value for value in field.list_missing_values() if not isinstance(value, str)), None)]
        if number is not None
    }
    domains = {i: field.build_domain(i in columns.codes) for i, field in enumerate(columns.fields)}
    return Forest(
        trees=trees,
        owner=model.get("modelName") or get_tag(model),
        columns=names,
        width=len(names),
        labels=None if labels is None else tuple(labels),
        joining=joining,
        takes_missing=columns.takes_missing,
        categories={column: tuple(codes) for column, codes in columns.codes.items()},
        missing_markers=missing_markers,
        domains={i: domain for i, domain in domains.items() if domain != _get_default_domain(i in columns.codes)},
    )


def _get_default_domain(is_categorical: bool) -> Domain:
    """Return the domain that applies if a document says nothing about a column."""
    return Domain(invalid_policy="missing" if is_categorical else "kept")


def _read_tree(member: Member, columns: PmmlColumns, names: tuple[str, ...], meaning: str, is_additive: bool) -> Tree:
    """Read one tree; its answers are numbers if it adds to a score."""
    tree_columns = replace(columns, labels=None) if is_additive else columns
    tree = TreeModelReader(member.element, tree_columns).read_tree(names, meaning)
    columns.takes_missing &= tree_columns.takes_missing
    if member.rescaling == NO_RESCALING:
        return tree
    value = member.rescaling.rescale(tree.value)
    return replace(tree, value=value, answer=value[:, 0].copy())


def _scale_tree(tree: Tree, weight: float) -> Tree:
    """Multiply the values of a tree by its weight."""
    return tree if weight == 1 else replace(tree, value=tree.value * weight)


# -- columns and labels ----------------------------------------------------------------------------------


def _build_columns(
    root: Element, active_fields: list[PmmlField], labels: list[Any] | None, target: PmmlField | None
) -> PmmlColumns:
    """Return the columns of a document, with codes for categories."""
    place = {field.name: i for i, field in enumerate(active_fields)}
    type_of = {field.name: field.data_type for field in active_fields}
    for name, (source, data_type) in read_casts(root).items():
        # other casts change values
        is_lossless = type_of.get(source) == data_type or (
            type_of.get(source) in NUMBER_TYPES and data_type in ("float", "double")
        )
        if source in place and name not in place and is_lossless:
            place[name], type_of[name] = place[source], data_type
    predicates_by_column: dict[int, list[Element]] = {}
    types = set()
    for predicate in iterate_descendants(root, "SimplePredicate", "SimpleSetPredicate"):
        name = predicate.get("field", "")
        if name in place:
            predicates_by_column.setdefault(place[name], []).append(predicate)
            types.add(type_of[name])
    types = types or {field.data_type for field in active_fields}
    if {"float", "double"} <= types:
        raise ModelError(
            "Some fields of the PMML file have type 'float' and others 'double', but trees compare all columns in one "
            "precision. Give all fields the same type."
        )
    columns = PmmlColumns(
        fields=active_fields, place=place, codes={}, labels=labels, target=target, single="float" in types
    )
    for column, field in enumerate(active_fields):
        predicates = predicates_by_column.get(column, [])
        if field.data_type not in NUMBER_TYPES or any(
            get_tag(predicate) == "SimpleSetPredicate" for predicate in predicates
        ):
            _assign_codes(columns, column, predicates)
    return columns


def _assign_codes(columns: PmmlColumns, column: int, predicates: list[Element]) -> None:
    """Assign codes to the categories of a column that are valid or compared."""
    field = columns.fields[column]
    texts: list[str] = []
    for predicate in predicates:
        if predicate.get("operator") in ORDER_OPERATORS:
            raise ModelError(
                f"The field {field.name!r} holds categories but is compared by {predicate.get('operator')!r}."
            )
        text = predicate.get("value")
        texts += read_array(predicate) if get_tag(predicate) == "SimpleSetPredicate" else [] if text is None else [text]
    if texts and field.data_type not in (*NUMBER_TYPES, "string", "boolean"):
        raise ModelError(f"A tree compares {field.name!r} of type {field.data_type!r}, which is not supported.")
    if field.intervals and field.invalid_policy != "kept":
        raise ModelError(
            f"The field {field.name!r} has categories and is limited to intervals, which is not supported."
        )
    if field.invalid_policy == "kept":
        columns.open_columns.add(column)
    has_both_values = field.data_type == "boolean" and (not field.values or field.treatment == "asIs")
    valid_texts = ["true", "false"] if has_both_values else field.values
    values = dict.fromkeys(
        map(field.parse_value, [*valid_texts, *texts] if column in columns.open_columns else valid_texts)
    )
    if columns.single and any(isinstance(value, float) and value != int(value) for value in values):
        raise ModelError(
            f"A tree compares {field.name!r} of type 'float' with a set of fractions, which is not supported."
        )
    columns.codes[column] = {value: code for code, value in enumerate(values)}


def _read_labels(model: Element, target: PmmlField | None) -> list[Any]:
    """Return the labels of the target and of the leaves of a model."""
    # the tables of a regression give the order of scores; of two labels, the first table has the score
    texts = [table.get("targetCategory", "") for table in iterate_descendants(model, "RegressionTable")]
    if len(texts) == 2:
        texts.reverse()
    if not texts:
        texts = list(target.values) if target is not None else []
        for node in iterate_descendants(model, "Node"):
            texts += [score for score in [node.get("score")] if score is not None]
            texts += [distribution.get("value", "") for distribution in find_children(node, "ScoreDistribution")]
    values: list[Any] = []
    for text in dict.fromkeys(texts):
        value = target.parse_value(text) if target is not None else text
        if value not in values:
            values.append(value)
    return values
