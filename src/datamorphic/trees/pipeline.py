"""What a model does before its trees: the last step of a pipeline, told in the columns of the data."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError

Floats = npt.NDArray[np.float64]
# where the models of other libraries have the names of their columns, by library
NAMES_OF_COLUMNS = {
    "xgboost": ["feature_names_in_", "feature_names"],
    "lightgbm": ["feature_name_", "feature_name"],
    "catboost": ["feature_names_"],
}


@dataclass(frozen=True)
class Preprocessing:
    """The fitted steps of a pipeline before its last: they keep the columns, and may change their units.

    Attributes
    ----------
    pipeline : Pipeline
        The steps.
    scalers : tuple
        Those that change units, in order.
    fills : bool
        Whether one of them fills in missing values.
    named : bool
        Whether they were fitted on a frame and want one.
    """

    pipeline: Any
    scalers: tuple[Any, ...]
    fills: bool
    takes_frame: bool

    def transform(self, frame: Any) -> Any:
        """Return the data as the last step gets them."""
        return np.asarray(self.pipeline.transform(frame if self.takes_frame else frame.to_numpy()))

    def to_data_thresholds(self, columns: npt.NDArray[Any], thresholds: Floats) -> Floats:
        """Return thresholds of the last step, a column for each, in the units of the data.

        There the limit is known to within what a few steps of single precision become. Of the numbers that close the
        one with the fewest decimals is taken; it is sent through the steps, and where it turns out to lie above the
        threshold, the number just below it is the limit.
        """
        finite = np.isfinite(thresholds) & (columns >= 0)
        column, limit = columns[finite], thresholds[finite]
        centre = self._to_data_units(column, limit)
        step = np.spacing(np.maximum(1, np.abs(limit)).astype(np.float32))  # scaled columns hold numbers around 1
        blur = np.abs(self._to_data_units(column, limit + 4 * step) - centre)
        nearest, pending = centre.copy(), np.ones(len(centre), dtype=bool)
        for decimals in range(16):
            rounded = np.round(centre, decimals)
            here = pending & (np.abs(rounded - centre) <= blur)
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
        """Return values, a column for each, in the units in which the last step gets them."""
        table = self._build_table(columns, values)
        for scaler in self.scalers:
            table = np.asarray(_without_feature_names(scaler).transform(table), dtype=np.float64)
        return table[np.arange(len(table)), columns]

    def _build_table(self, columns: npt.NDArray[Any], values: Floats) -> Floats:
        """Return a row for each value: each column is scaled by itself, so what the others hold does not matter."""
        table = np.zeros((len(values), self.pipeline.n_features_in_))
        table[np.arange(len(values)), columns] = values
        return table


def split_pipeline(model: Any) -> tuple[Any, Preprocessing | None]:
    """Return the model that gives the answers, and the steps before it if there are any.

    Raises
    ------
    ModelError
        If the model is not fitted, or a step makes other columns of those of the data.
    """
    from sklearn.pipeline import Pipeline

    model = getattr(model, "best_estimator_", model)  # what a search over parameters has found
    validate_fitted(model)
    if not isinstance(model, Pipeline):
        return model, None
    steps = list(_iterate_steps(model))
    last = steps.pop()[1]
    if not steps:
        return last, None
    for name, step in steps:
        if not _is_column_preserving(step):
            raise ModelError(
                f"The step {name!r} ({type(step).__name__}) before the trees does not keep the columns of the data as "
                "they are, so the trees cannot be told in these. Take the last step and what it gets: "
                "dm.cover(model[-1], model[:-1].transform(data))."
            )
    return last, Preprocessing(
        model[:-1],
        scalers=tuple(step for _, step in steps if _is_scaler(step)),
        fills=any(_is_imputer(step) for _, step in steps),
        takes_frame=get_column_names(model) is not None,
    )


def get_column_names(model: Any) -> list[str] | None:
    """Return the names of the columns a model was fitted on; None where it was fitted on an array."""
    model = getattr(model, "best_estimator_", model)
    attributes = NAMES_OF_COLUMNS.get(type(model).__module__.partition(".")[0])
    for attribute in attributes or ["feature_names_in_"]:
        names = getattr(model, attribute, None)
        if names is not None:
            listed = [str(name) for name in (names() if callable(names) else names)]
            return None if attributes and _are_generated(listed) else listed
    return None


def _are_generated(names: list[str]) -> bool:
    """Tell whether a library made up the names of columns because it got none."""
    return any(
        names == [template.format(place) for place in range(len(names))] for template in ("Column_{}", "{}")
    )


def validate_fitted(model: Any) -> None:
    """Raise `ModelError` if a model of scikit-learn is not fitted."""
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, type):
        raise ModelError(
            f"{model.__name__} is a class, no fitted model. Make one and fit it: {model.__name__}().fit(X, y)."
        )
    unfitted = ModelError(f"This {type(model).__name__} is not fitted. Fit it first: model.fit(X, y).")
    if type(model).__module__.startswith("catboost.") and hasattr(model, "is_fitted"):  # none of scikit-learn's
        if not model.is_fitted():
            raise unfitted
        return
    if not isinstance(model, BaseEstimator) or not hasattr(model, "fit"):
        return  # whatever it is, it will be looked at for trees
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise unfitted from None


def _without_feature_names(step: Any) -> Any:
    """Return a twin of a fitted step that takes an array without a word about the names it was fitted with."""
    twin = copy.copy(step)
    vars(twin).pop("feature_names_in_", None)
    return twin


def _iterate_steps(pipeline: Any) -> Iterator[tuple[str, Any]]:
    """Return the steps of a pipeline that do something, those of pipelines in it among them."""
    from sklearn.pipeline import Pipeline

    for name, step in pipeline.steps:
        if isinstance(step, Pipeline):
            yield from _iterate_steps(step)
        elif step is not None and not (isinstance(step, str) and step == "passthrough"):
            yield name, step


def _is_scaler(step: Any) -> bool:
    """Tell whether a step stretches and shifts each column by itself, upwards staying upwards."""
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

    return isinstance(step, MaxAbsScaler | MinMaxScaler | RobustScaler | StandardScaler)


def _is_imputer(step: Any) -> bool:
    from sklearn.impute import KNNImputer, SimpleImputer

    return isinstance(step, KNNImputer | SimpleImputer)


def _is_column_preserving(step: Any) -> bool:
    from sklearn.preprocessing import FunctionTransformer

    if isinstance(step, FunctionTransformer):
        return step.func is None
    if not _is_scaler(step) and not _is_imputer(step):
        return False
    # an imputer may leave columns out and add some
    return len(step.get_feature_names_out()) == step.n_features_in_
