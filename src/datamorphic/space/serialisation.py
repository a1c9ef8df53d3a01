"""Conversion of spaces and values to JSON-serialisable data and back."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lazy import pd
from ..errors import DataError, DatamorphicWarning
from .answers import Record
from .blocks import BLOCK_CLASSES, Block, block_from_dict
from .constraints import AllowedCombinations, Compare, Constraint, Dependency, LinearEquality, LinearInequality, OneHot
from .features import Categorical, Continuous, Feature, Integer
from .partition import RowPartition
from .space import Space
from .text_feature import Text

if TYPE_CHECKING:
    from .encoding import Dtype

MAX_STORED_EXAMPLES = 1_000  # texts per feature
_NUMERIC_FEATURES = {"continuous": Continuous, "integer": Integer}


def space_to_dict(space: Space) -> dict[str, Any]:
    """Return a space as data. A constraint that is a function is kept by name only."""
    block_names = {name for placed_block in space.blocks for name in placed_block.names}
    return {
        "features": _features_to_list(space),
        "moves": space.moves,
        "invalid": space.invalid,
        "dtypes": {name: _dtype_to_json(dtype) for name, dtype in space.dtypes.items() if name not in block_names},
        "constraints": [_constraint_to_dict(constraint) for constraint in space.constraints],
    }


def space_from_dict(document: dict[str, Any]) -> Space:
    """Return the space that `space_to_dict` converted."""
    try:
        features = [_feature_from_dict(feature) for feature in document["features"]]
        constraints = [_constraint_from_dict(constraint) for constraint in document["constraints"]]
        return Space(
            features,
            moves=document["moves"],
            invalid=document["invalid"],
            constraints=[constraint for constraint in constraints if constraint is not None],
            dtypes={name: _dtype_from_json(dtype) for name, dtype in document["dtypes"].items()},
        )
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"The description of the space is invalid: {type(error).__name__} {error}.") from None


def value_to_json(value: object, role: str = "value") -> Any:
    """Return a category or label as JSON data that preserves its type.

    `role` names the value in the message.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple):
        return {"tuple": [value_to_json(item, role) for item in value]}
    if isinstance(value, frozenset):
        return {"set": [value_to_json(item, role) for item in sorted(value, key=repr)]}
    if isinstance(value, Record):
        return {"record": [[value_to_json(key, role), value_to_json(item, role)] for key, item in value.items()]}
    if isinstance(value, RowPartition):
        return {"partition": list(value.labels)}
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise DataError(
        f"The {role} {value!r} is of type {type(value).__name__}, which cannot be stored in a file. "
        "Use strings, numbers, booleans or tuples of these."
    )


def value_from_json(data: object) -> Any:
    """Return the value that `value_to_json` converted."""
    if not isinstance(data, dict):
        return data
    if "set" in data:
        return frozenset(map(value_from_json, data["set"]))
    if "record" in data:
        return Record((value_from_json(key), value_from_json(item)) for key, item in data["record"])
    if "partition" in data:
        return RowPartition(data["partition"])
    return tuple(map(value_from_json, data["tuple"]))


def _dtype_to_json(dtype: Dtype) -> Any:
    if not isinstance(dtype, pd.CategoricalDtype) or dtype.categories is None:
        return str(dtype)
    return {"category": [value_to_json(v, "category") for v in dtype.categories], "ordered": bool(dtype.ordered)}


def _dtype_from_json(document: str | dict[str, Any]) -> Any:
    if isinstance(document, dict):
        return pd.CategoricalDtype(list(map(value_from_json, document["category"])), ordered=document["ordered"])
    return pd.api.types.pandas_dtype(document)


def _features_to_list(space: Space) -> list[dict[str, Any]]:
    """Return the features in order; a block is one entry, where its first value is, if its values are next to each other."""
    starts = {placed_block.positions[0]: placed_block for placed_block in space.blocks}
    documents: list[dict[str, Any]] = []
    position = 0
    while position < len(space):
        placed_block = starts.get(position)
        if placed_block is not None and placed_block.positions == tuple(
            range(position, position + placed_block.block.size)
        ):
            documents.append(placed_block.block.to_dict())
            position += placed_block.block.size
        else:
            documents.append(_feature_to_dict(space.features[position]))
            position += 1
    return documents


def _feature_to_dict(feature: Feature) -> dict[str, Any]:
    document: dict[str, Any] = {"name": feature.name, "kind": feature.kind, "nullable": feature.nullable}
    if isinstance(feature, Categorical):
        return document | {"values": [value_to_json(value, "category") for value in feature.values]}
    if isinstance(feature, Text):
        synonyms = {word: list(others) for word, others in feature.synonyms.items()}
        return (
            document
            | {"examples": list(feature.examples[:MAX_STORED_EXAMPLES])}
            | ({"synonyms": synonyms} if synonyms else {})
        )
    document |= {side: value for side, value in (("low", feature.low), ("high", feature.high)) if math.isfinite(value)}
    document |= {"step": feature.step, "step_given": feature.step_given}
    return document | ({"rounds": True} if getattr(feature, "rounds", False) else {})


def _feature_from_dict(document: dict[str, Any]) -> Feature | Block:
    if document.get("kind") in BLOCK_CLASSES:
        return block_from_dict(document)
    document = dict(document)
    kind = document.pop("kind")
    if kind == "categorical":
        return Categorical(
            document["name"], list(map(value_from_json, document["values"])), nullable=document["nullable"]
        )
    if kind == "text":
        return Text(**document)
    step_given = document.pop("step_given")
    return _NUMERIC_FEATURES[kind](**document).with_step_given(step_given)


def _constraint_to_dict(constraint: Constraint) -> dict[str, Any]:
    if isinstance(constraint, Compare):
        return {"compare": str(constraint)}
    if isinstance(constraint, LinearInequality):
        return {"inequality": str(constraint)}
    if isinstance(constraint, OneHot):
        return {"one_hot": list(constraint.names)}
    if isinstance(constraint, LinearEquality):
        return {
            "equality": [[name, factor] for name, factor in constraint.terms],
            "constant": constraint.constant,
            "tolerance": constraint.tolerance,
        }
    if isinstance(constraint, AllowedCombinations):
        columns = constraint.table.astype(object).to_dict("list")
        key = "dependency" if isinstance(constraint, Dependency) else "combinations"
        return {key: {name: [value_to_json(v) for v in column] for name, column in columns.items()}}
    return {"function": str(constraint)}


def _constraint_from_dict(document: dict[str, Any]) -> Constraint | None:
    if "compare" in document:
        return Compare.parse(document["compare"])
    if "inequality" in document:
        return LinearInequality.parse(document["inequality"])
    if "one_hot" in document:
        return OneHot(document["one_hot"])
    if "equality" in document:
        terms = tuple((str(name), float(factor)) for name, factor in document["equality"])
        return LinearEquality(terms, float(document["constant"]), float(document["tolerance"]))
    for key, table_class in (("combinations", AllowedCombinations), ("dependency", Dependency)):
        if key in document:
            columns = {name: list(map(value_from_json, column)) for name, column in document[key].items()}
            return table_class(
                pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})
            )
    warnings.warn(
        f"The constraint {document['function']!r} is a function, which files do not hold. Declare it again.",
        DatamorphicWarning,
        stacklevel=4,
    )
    return None
