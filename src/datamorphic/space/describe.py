"""A space as plain data (for JSON and Parquet) and back."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ..errors import DataError, DatamorphicWarning
from .constraints import Combinations, Compare, Constraint, OneHot
from .features import Categorical, Continuous, Feature, Integer
from .space import Space

_NUMERIC = {"continuous": Continuous, "integer": Integer}


def space_to_dict(space: Space) -> dict[str, Any]:
    """Return the space as data; a constraint that is a function is named, and lost."""
    return {
        "features": [_feature_to_dict(feature) for feature in space.features],
        "moves": space.moves,
        "invalid": space.invalid,
        "dtypes": {name: str(dtype) for name, dtype in space.dtypes.items()},
        "constraints": [_constraint_to_dict(constraint) for constraint in space.constraints],
    }


def space_from_dict(about: dict[str, Any]) -> Space:
    """Return the space that `space_to_dict` described."""
    try:
        features = [_feature_from_dict(each) for each in about["features"]]
        constraints = [_constraint_from_dict(each) for each in about["constraints"]]
        return Space(
            features,
            moves=about["moves"],
            invalid=about["invalid"],
            constraints=[each for each in constraints if each is not None],
            dtypes=_dtypes(about["dtypes"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"This is no description of a space: {type(error).__name__} {error}.") from None


def _dtypes(names: dict[str, str]) -> dict[str, Any]:
    import pandas as pd

    # "category" alone has lost its categories: the feature has them, so that dtype is made by decoding
    return {name: pd.CategoricalDtype() if text == "category" else pd.api.types.pandas_dtype(text)
            for name, text in names.items()}  # fmt: skip


def _feature_to_dict(feature: Feature) -> dict[str, Any]:
    about: dict[str, Any] = {"name": feature.name, "kind": feature.kind, "nullable": feature.nullable}
    if isinstance(feature, Categorical):
        return about | {"values": list(feature.values)}
    about |= {
        side: value for side, value in (("low", feature.low), ("high", feature.high)) if math.isfinite(value)
    }
    return about | {"step": feature.step} | ({"rounds": True} if getattr(feature, "rounds", False) else {})


def _feature_from_dict(about: dict[str, Any]) -> Feature:
    about = dict(about)
    kind = about.pop("kind")
    if kind == "categorical":
        values = [tuple(v) if isinstance(v, list) else v for v in about["values"]]
        return Categorical(about["name"], values, nullable=about["nullable"])
    return _NUMERIC[kind](**about)


def _constraint_to_dict(constraint: Constraint) -> dict[str, Any]:
    if isinstance(constraint, Compare):
        return {"compare": str(constraint)}
    if isinstance(constraint, OneHot):
        return {"one_hot": list(constraint.names)}
    if isinstance(constraint, Combinations):
        return {"combinations": constraint.table.astype(object).to_dict("list")}
    return {"function": str(constraint)}


def _constraint_from_dict(about: dict[str, Any]) -> Constraint | None:
    import pandas as pd

    if "compare" in about:
        return Compare.parse(about["compare"])
    if "one_hot" in about:
        return OneHot(about["one_hot"])
    if "combinations" in about:
        return Combinations(pd.DataFrame(about["combinations"]))
    warnings.warn(
        f"The constraint {about['function']!r} was a function and is not kept in files. Declare it again.",
        DatamorphicWarning,
        stacklevel=4,
    )
    return None
