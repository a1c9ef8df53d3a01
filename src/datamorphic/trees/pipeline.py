"""The steps of a pipeline before its trees."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._lazy import pd
from .._typing import ModelLike
from ..errors import ModelError
from .tree import Floats

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

# the attributes that hold the column names of models, by library
NAMES_OF_COLUMNS = {
    "xgboost": ["feature_names_in_", "feature_names"],
    "lightgbm": ["feature_name_", "feature_name"],
    "catboost": ["feature_names_"],
}


@dataclass(frozen=True)
class Preprocessing:
    """The fitted steps of a pipeline before its last, which keep the columns."""

    pipeline: Pipeline
    scalers: tuple[Any, ...]  # the steps that change units, in order
    fills: bool  # whether a step fills in missing values
    takes_frame: bool  # whether the steps were fitted on a frame and expect one

    def transform(self, frame: pd.DataFrame) -> Any:
        """Return the data as the last step gets them."""
        return np.asarray(self.pipeline.transform(frame if self.takes_frame else frame.to_numpy()))

    def to_data_thresholds(self, columns: npt.NDArray[Any], thresholds: Floats) -> Floats:
        """Convert thresholds, one per column index, to the units of the data.

        A limit is known only to within a few steps of single precision. Of the numbers that close, the one with the
        fewest decimals is taken. If it turns out to lie above the threshold after scaling, the number just below it
        is the limit.
        """
        finite = np.isfinite(thresholds) & (columns >= 0)
        column, limit = columns[finite], thresholds[finite]
        centre = self._to_data_units(column, limit)
        step = np.spacing(np.maximum(1, np.abs(limit)).astype(np.float32))  # scaled numbers are about 1
        uncertainty = np.abs(self._to_data_units(column, limit + 4 * step) - centre)
        nearest, pending = centre.copy(), np.ones(len(centre), dtype=bool)
        for decimals in range(16):
            rounded = np.round(centre, decimals)
            here = pending & (np.abs(rounded - centre) <= uncertainty)
            nearest[here] = rounded[here]
            pending &= ~here
        above = self.to_tree_units(column, nearest).astype(np.float32) > limit
        data_thresholds = thresholds.copy()
        data_thresholds[finite] = np.where(above, np.nextafter(nearest, -np.inf), nearest)
        return data_thresholds

    def _to_data_units(self, columns: npt.NDArray[Any], values: Floats) -> Floats:
        table = self._build_table(columns, values)
        for scaler in reversed(self.scalers):
            table = np.asarray(scaler.inverse_transform(table), dtype=np.float64)
        return table[np.arange(len(table)), columns]

    def to_tree_units(self, columns: npt.NDArray[Any], values: Floats) -> Floats:
        """Convert values, one per column index, to the units that the last step gets."""
        table = self._build_table(columns, values)
        for scaler in self.scalers:
            nameless_scaler = copy.copy(scaler)  # it takes arrays without a warning about names
            vars(nameless_scaler).pop("feature_names_in_", None)
            table = np.asarray(nameless_scaler.transform(table), dtype=np.float64)
        return table[np.arange(len(table)), columns]

    def _build_table(self, columns: npt.NDArray[Any], values: Floats) -> Floats:
        """Return one row per value; scalers treat columns separately."""
        table = np.zeros((len(values), self.pipeline.n_features_in_))
        table[np.arange(len(values)), columns] = values
        return table


def split_pipeline(model: ModelLike) -> tuple[Any, Preprocessing | None]:
    """Return the last step of a model, and the steps before it if any, which must keep the columns."""
    from sklearn.impute import KNNImputer, SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

    # these scale each column by itself, keeping the order
    scaler_types = (MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler)
    model = getattr(model, "best_estimator_", model)  # the result of a parameter search
    validate_fitted(model)
    if not isinstance(model, Pipeline):
        return model, None
    steps = list(_iterate_steps(model))
    last = steps.pop()[1]
    if not steps:
        return last, None
    for name, step in steps:
        if isinstance(step, FunctionTransformer):
            keeps_columns = step.func is None
        else:  # an imputer may drop columns and add others
            is_known = isinstance(step, (*scaler_types, KNNImputer, SimpleImputer))
            keeps_columns = is_known and len(step.get_feature_names_out()) == step.n_features_in_
        if not keeps_columns:
            raise ModelError(
                f"The step {name!r} ({type(step).__name__}) before the trees does not keep the columns of the data, so "
                "the trees cannot be described by them. Fit a tree to its answers: surrogate=True (--surrogate on the "
                "command line)."
            )
    return last, Preprocessing(
        model[:-1],
        scalers=tuple(step for _, step in steps if isinstance(step, scaler_types)),
        fills=any(isinstance(step, KNNImputer | SimpleImputer) for _, step in steps),
        takes_frame=get_column_names(model) is not None,
    )


def get_column_names(model: ModelLike) -> list[str] | None:
    """Return the columns that a model was fitted on; None for an array."""
    model = getattr(model, "best_estimator_", model)
    attributes = NAMES_OF_COLUMNS.get(type(model).__module__.partition(".")[0])
    for attribute in attributes or ["feature_names_in_"]:
        names = getattr(model, attribute, None)
        if names is not None:
            listed = [str(name) for name in (names() if callable(names) else names)]
            generated = [[f"{prefix}{place}" for place in range(len(listed))] for prefix in ("Column_", "")]
            return None if attributes and listed in generated else listed
    return None


def validate_fitted(model: ModelLike) -> None:
    """Raise `ModelError` if a model is not fitted."""
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, type):
        raise ModelError(
            f"{model.__name__} is a class, not a fitted model. Create and fit one: {model.__name__}().fit(X, y)."
        )
    unfitted = ModelError(f"This {type(model).__name__} is not fitted. Fit it first: model.fit(X, y).")
    if type(model).__module__.startswith("catboost.") and hasattr(model, "is_fitted"):  # unlike scikit-learn
        if not model.is_fitted():
            raise unfitted
        return
    if not isinstance(model, BaseEstimator) or not hasattr(model, "fit"):
        return  # the readers decide whether it has trees
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise unfitted from None


def _iterate_steps(pipeline: Pipeline) -> Iterator[tuple[str, Any]]:
    """Yield the steps of a pipeline that do something, those of nested pipelines too."""
    from sklearn.pipeline import Pipeline

    for name, step in pipeline.steps:
        if isinstance(step, Pipeline):
            yield from _iterate_steps(step)
        elif step is not None and not (isinstance(step, str) and step == "passthrough"):
            yield name, step
