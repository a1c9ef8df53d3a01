"""Batches of numbers as arrays, also for models of scikit-learn that were fitted on a frame.

Building a frame and comparing its column names takes longer than many models take to answer. The parts of scikit-learn turn a
frame of numbers into an array of numbers before they compute anything, so that the answers are the same.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy.typing as npt

from ..space.features import Integer
from ..space.points import Points

#: steps that select columns by name, or pass the frame on to foreign code
FRAME_STEPS = ("ColumnTransformer", "FunctionTransformer")


def to_array(points: Points) -> npt.NDArray[Any] | None:
    """Return the array that NumPy makes of the frame of points; None if not all columns are plain numbers.

    It is a copy, because models may write to it.
    """
    space = points.space
    if space.array_dtype is None:
        return None
    array = points.codes.astype(space.array_dtype, order="F")
    if array.dtype.kind == "f":
        for position, feature in enumerate(space.features):
            if isinstance(feature, Integer):
                array[:, position] += 0.0  # an integer has no -0.0
    return array


def is_pure_sklearn(model: Any) -> bool:
    """Return whether a model and all its parts are scikit-learn's own, without functions of others among their parameters."""
    if "sklearn" not in sys.modules:
        return False
    from sklearn.base import BaseEstimator

    if not isinstance(model, BaseEstimator):
        return False
    return all(_is_own(part) for part in (model, *model.get_params(deep=True).values()))


def _is_own(part: Any) -> bool:
    if not callable(part) and not hasattr(part, "fit"):
        return True  # a number, a text, a list of steps
    kind = type(part)
    return kind.__module__.startswith("sklearn.") and kind.__name__ not in FRAME_STEPS


def copy_without_feature_names(model: Any) -> Any:
    """Return a model that shares all it has learned, but not the names of its columns, so that arrays cause no warning.

    It is made for every query, which takes a microsecond: the model may be fitted again in between.
    """
    twin = object.__new__(type(model))
    vars(twin).update(vars(model))
    vars(twin).pop("feature_names_in_", None)
    if steps := vars(model).get("steps"):
        twin.steps = [
            (name, copy_without_feature_names(step) if hasattr(step, "fit") else step) for name, step in steps
        ]
    if "best_estimator_" in vars(model):
        twin.best_estimator_ = copy_without_feature_names(model.best_estimator_)
    return twin
