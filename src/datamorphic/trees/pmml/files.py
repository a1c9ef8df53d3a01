"""Read trees from PMML files, the format in which tools exchange models."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from ..._validation import check_types
from ...errors import ModelError
from ..forest import Forest, Joining
from ..readers._build import describe_meanings
from ..tree import Tree
from .document import (
    NUMBER_TYPES,
    ORDER_OPERATORS,
    PmmlField,
    parse_pmml,
    read_casts,
    read_fields,
    read_schema,
    validate_elements,
    validate_inner_fields,
)
from .domains import Domain
from .joining import NO_RESCALING, Member, read_joining
from .nodes import PmmlColumns, TreeModelReader, read_array


@check_types
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

    Notes
    -----
    Splits into more than two children are made binary. If the document lists the valid values of a field, other values are
    treated as it says: kept (`asIs`), missing (`asMissing`), or refused (`returnInvalid`). The trees
    take no missing values if the document has no answer for them (`nullPrediction`, or `none` without the last
    prediction), computes it from several leaves, or uses surrogate columns. Fields of type "float" are compared in
    single precision. Anything else that may change the answer is an error.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from datamorphic.trees.write import write_pmml
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "iris.pmml"
    ...     write_pmml(model, path)
    ...     forest = read_pmml(path)
    >>> forest
    Forest(3 leaves, of TreeModel)
    >>> bool((forest.predict(X) == model.predict(X)).all())
    True
    """
    root = parse_pmml(path)
    models = [element for element in root if element.tag.endswith("Model")]
    model = models[0] if models else root
    if len(models) != 1 or model.tag not in ("TreeModel", "MiningModel"):
        content = "no model" if not models else f"a {model.tag}" if len(models) == 1 else f"{len(models)} models"
        raise ModelError(f"The PMML file must hold one TreeModel or MiningModel. Found {content}.")
    validate_elements(root)
    validate_inner_fields(model)
    active_fields, target = read_schema(model, read_fields(root))
    members, joining, has_probabilities = read_joining(model)
    labels = None if joining.decision == "number" else _read_labels(model, target)
    columns = _build_columns(root, active_fields, labels, target)
    columns.has_probabilities = has_probabilities
    names = tuple(field.name for field in columns.fields)
    score_count = len(joining.start) or 1
    leaf_meanings = [""] * score_count
    if joining.method == "sum" and joining.column:
        leaf_meanings = describe_meanings(labels, score_count, joining.link)
    trees = tuple(_read_tree(member, columns, names, leaf_meanings[member.score], joining) for member in members)
    missing_markers, domains = {}, {}
    for column, field in enumerate(columns.fields):
        is_categorical = column in columns.codes
        numbers = [value for value in field.list_missing_values() if not isinstance(value, str)]
        if numbers and not is_categorical:
            missing_markers[column] = float(numbers[0])
        domain = field.build_domain(is_categorical)
        if domain != Domain(invalid_policy="missing" if is_categorical else "kept"):  # the default
            domains[column] = domain
    return Forest(
        trees=trees,
        owner=model.get("modelName") or model.tag,
        columns=names,
        width=len(names),
        labels=None if labels is None else tuple(labels),
        joining=joining,
        takes_missing=columns.takes_missing,
        categories={column: tuple(codes) for column, codes in columns.codes.items()},
        missing_markers=missing_markers,
        domains=domains,
    )


def _read_tree(member: Member, columns: PmmlColumns, names: tuple[str, ...], meaning: str, joining: Joining) -> Tree:
    """Read one tree; its answers are numbers if it adds to a score."""
    tree_columns = replace(columns, labels=None) if joining.column else columns
    tree = TreeModelReader(member.element, tree_columns).read_tree(names, meaning)
    columns.takes_missing &= tree_columns.takes_missing
    if member.rescaling != NO_RESCALING:
        value = member.rescaling.rescale(tree.value)
        tree = replace(tree, value=value, answer=value[:, 0].copy())
    if member.weight == 1 or joining.method == "median":
        return tree
    return replace(tree, value=tree.value * member.weight)


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
    for predicate in root.iter():
        name = predicate.get("field", "")
        if predicate.tag in ("SimplePredicate", "SimpleSetPredicate") and name in place:
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
        if field.data_type not in NUMBER_TYPES or "SimpleSetPredicate" in {predicate.tag for predicate in predicates}:
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
        if predicate.tag == "SimpleSetPredicate":
            texts += read_array(predicate)
        elif "value" in predicate.attrib:
            texts.append(predicate.attrib["value"])
    if texts and field.data_type not in (*NUMBER_TYPES, "string", "boolean"):
        raise ModelError(f"A tree compares {field.name!r} of type {field.data_type!r}, which is not supported.")
    if field.intervals and field.invalid_policy != "kept":
        raise ModelError(
            f"The field {field.name!r} has categories and is limited to intervals, which is not supported."
        )
    has_both_values = field.data_type == "boolean" and (not field.values or field.treatment == "asIs")
    valid_texts = ["true", "false"] if has_both_values else field.values
    if field.invalid_policy == "kept":
        columns.open_columns.add(column)
        valid_texts = [*valid_texts, *texts]
    values = dict.fromkeys(map(field.parse_value, valid_texts))
    if columns.single and any(isinstance(value, float) and value != int(value) for value in values):
        raise ModelError(
            f"A tree compares {field.name!r} of type 'float' with a set of fractions, which is not supported."
        )
    columns.codes[column] = {value: code for code, value in enumerate(values)}


def _read_labels(model: Element, target: PmmlField | None) -> list[Any]:
    """Return the labels of the target and of the leaves of a model."""
    # the tables of a regression give the order of scores; of two labels, the first table has the score
    texts = [table.get("targetCategory", "") for table in model.iter("RegressionTable")]
    if len(texts) == 2:
        texts.reverse()
    if not texts:
        texts = list(target.values) if target is not None else []
        for node in model.iter("Node"):
            texts += [node.attrib["score"]] if "score" in node.attrib else []
            texts += [distribution.get("value", "") for distribution in node.findall("ScoreDistribution")]
    return list(dict.fromkeys(texts if target is None else map(target.parse_value, texts)))
