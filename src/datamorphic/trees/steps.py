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
class Before:
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
    named: bool

    def transform(self, frame: Any) -> Any:
        """Return the data as the last step gets them."""
        return np.asarray(self.pipeline.transform(frame if self.named else frame.to_numpy()))

    def told(self, columns: npt.NDArray[Any], thresholds: Floats) -> Floats:
        """Return thresholds of the last step, a column for each, in the units of the data.

        There the limit is known to within what a few steps of single precision become. Of the numbers that close the
        one with the fewest decimals is taken; it is sent through the steps, and where it turns out to lie above the
        threshold, the number just below it is the limit.
        """
        finite = np.isfinite(thresholds) & (columns >= 0)
        column, limit = columns[finite], thresholds[finite]
        centre = self._back(column, limit)
        step = np.spacing(np.maximum(1, np.abs(limit)).astype(np.float32))  # scaled columns hold numbers around 1
        blur = np.abs(self._back(column, limit + 4 * step) - centre)
        found, sought = centre.copy(), np.ones(len(centre), dtype=bool)
        for decimals in range(16):
            rounded = np.round(centre, decimals)
            here = sought & (np.abs(rounded - centre) <= blur)
            found[here] = rounded[here]
            sought &= ~here
        above = self.forth(column, found).astype(np.float32) > limit
        told = thresholds.copy()
        told[finite] = np.where(above, np.nextafter(found, -np.inf), found)
        return told

    def _back(self, columns: npt.NDArray[Any], values: Floats) -> Floats:
        table = self._table(columns, values)
        for scaler in reversed(self.scalers):
            table = np.asarray(scaler.inverse_transform(table), dtype=np.float64)
        return table[np.arange(len(table)), columns]

    def forth(self, columns: npt.NDArray[Any], values: Floats) -> Floats:
        """Return values, a column for each, in the units in which the last step gets them."""
        table = self._table(columns, values)
        for scaler in self.scalers:
            table = np.asarray(_nameless(scaler).transform(table), dtype=np.float64)
        return table[np.arange(len(table)), columns]

    def _table(self, columns: npt.NDArray[Any], values: Floats) -> Floats:
        """Return a row for each value: each column is scaled by itself, so what the others hold does not matter."""
        table = np.zeros((len(values), self.pipeline.n_features_in_))
        table[np.arange(len(values)), columns] = values
        return table


def taken_apart(model: Any) -> tuple[Any, Before | None]:
    """Return the model that gives the answers, and the steps before it if there are any.

    Raises
    ------
    ModelError
        If the model is not fitted, or a step makes other columns of those of the data.
    """
    from sklearn.pipeline import Pipeline

    model = getattr(model, "best_estimator_", model)  # what a search over parameters has found
    check_fitted(model)
    if not isinstance(model, Pipeline):
        return model, None
    steps = list(_flat(model))
    last = steps.pop()[1]
    if not steps:
        return last, None
    for name, step in steps:
        if not _keeps_columns(step):
            raise ModelError(
                f"The step {name!r} ({type(step).__name__}) before the trees does not keep the columns of the data as "
                "they are, so the trees cannot be told in these. Take the last step and what it gets: "
                "dm.cover(model[-1], model[:-1].transform(data))."
            )
    return last, Before(
        model[:-1],
        scalers=tuple(step for _, step in steps if _scales(step)),
        fills=any(_fills(step) for _, step in steps),
        named=columns_of(model) is not None,
    )


def columns_of(model: Any) -> list[str] | None:
    """Return the names of the columns a model was fitted on; None where it was fitted on an array."""
    model = getattr(model, "best_estimator_", model)
    places = NAMES_OF_COLUMNS.get(type(model).__module__.partition(".")[0])
    for place in places or ["feature_names_in_"]:
        names = getattr(model, place, None)
        if names is not None:
            listed = [str(name) for name in (names() if callable(names) else names)]
            return None if places and _invented(listed) else listed
    return None


def _invented(names: list[str]) -> bool:
    """Tell whether a library made up the names of columns because it got none."""
    return any(names == [form.format(place) for place in range(len(names))] for form in ("Column_{}", "{}"))


def check_fitted(model: Any) -> None:
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


def _nameless(step: Any) -> Any:
    """Return a twin of a fitted step that takes an array without a word about the names it was fitted with."""
    twin = copy.copy(step)
    vars(twin).pop("feature_names_in_", None)
    return twin


def _flat(pipeline: Any) -> Iterator[tuple[str, Any]]:
    """Return the steps of a pipeline that do something, those of pipelines in it among them."""
    from sklearn.pipeline import Pipeline

    for name, step in pipeline.steps:
        if isinstance(step, Pipeline):
            yield from _flat(step)
        elif step is not None and not (isinstance(step, str) and step == "passthrough"):
            yield name, step


def _scales(step: Any) -> bool:
    """Tell whether a step stretches and shifts each column by itself, upwards staying upwards."""
    from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

    return isinstance(step, MaxAbsScaler | MinMaxScaler | RobustScaler | StandardScaler)


def _fills(step: Any) -> bool:
    from sklearn.impute import KNNImputer, SimpleImputer

    return isinstance(step, KNNImputer | SimpleImputer)


def _keeps_columns(step: Any) -> bool:
    from sklearn.preprocessing import FunctionTransformer

    if isinstance(step, FunctionTransformer):
        return step.func is None
    if not _scales(step) and not _fills(step):
        return False
    # an imputer may leave columns out and add some
    return len(step.get_feature_names_out()) == step.n_features_in_
