"""`Clusterer`: a learner whose answer to training data is the partition of their rows."""

from __future__ import annotations

from contextlib import suppress
from numbers import Integral
from typing import Any

import numpy as np

from .._text import pluralise
from ..errors import ModelError
from ..space.outputs import Outputs
from ..space.partition import RowPartition
from .base import ScoreRequest
from .learner import (
    LEARNER_ERRORS,
    Learner,
    copy_table,
    copy_with_seed,
    has_only_numbers,
    read_parameters,
    takes_arrays,
    to_frames,
)
from .training import Array, Training, TrainingBatch
from .traits import is_transformer

COUNT_PARAMETERS = ("n_clusters", "n_components")
OTHER_KINDS = ("classifier", "regressor", "outlier_detector", "transformer")  # types of estimators with `fit_predict`


class Clusterer(Learner):
    """A clusterer as a system: training data in, the partition of their rows out.

    For each training set, a copy is fitted to the rows. Labels and test cases play no part. If the training data declare labels,
    a parameter ``n_clusters`` or ``n_components`` is set to their number. ``random_state`` is that of the learner, or the seed,
    plus the `seed_shift` of the training data.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> rows = np.array([[1.0], [2.0], [8.0], [9.0]])
    >>> print(Clusterer(KMeans(2)).execute(Training(rows, np.zeros(4), rows[:1])).values[0])
    2 clusters of 2 and 2 rows
    """

    needed_methods = ("fit",)
    trains_together = False
    unfitted_hint = "is a clusterer and is not fitted. Fit it first: clusterer.fit(X)."

    def answer(self, batch: TrainingBatch, scores: ScoreRequest) -> Outputs:  # type: ignore[override]
        """Fit a copy to each training set and return its clusters, which have no scores."""
        return super().answer(batch, False)

    def _answer_training(self, training: Training, rows: int, as_array: bool, scores: ScoreRequest) -> Outputs:
        """Return the clusters of a fitted copy, the same for all rows."""
        values = np.empty(rows, dtype=object)
        values.fill(RowPartition(self._cluster_rows(training)))
        return Outputs.of(values)

    def _cluster_rows(self, training: Training) -> Array:
        """Return the label of each row by a fitted copy."""
        model = copy_with_seed(self._prototype, self.seed)
        parameters: dict[str, Any] = {}
        if training.seed_shift:
            parameters = {name: seed + training.seed_shift for name, seed in find_seeds(model).items()}
        count = find_cluster_count(model)
        if training.labels is not None and count is not None:
            parameters[count[0]] = len(training.labels)
        _set_parameters(model, parameters)
        as_array = takes_arrays(self._prototype) and has_only_numbers(training.x)
        if training.query == "as frames":
            training, as_array = to_frames(training), False
        x = copy_table(training.x, as_array)
        if training.query == "after other data":
            with suppress(*LEARNER_ERRORS):  # it may refuse them
                model.fit(2 * x[: len(x) // 2 + 1])
        if hasattr(model, "fit_predict"):
            labels = model.fit_predict(x)
        else:
            fitted = model.fit(x)
            model = model if fitted is None else fitted
            labels = model.labels_ if hasattr(model, "labels_") else model.predict(copy_table(training.x))
        labels = np.asarray(labels)
        if labels.shape != (rows := training.x.shape[0],):
            raise ModelError(
                f"The clusterer gave labels of shape {labels.shape} for {pluralise(rows, 'row')}. Return one label per row."
            )
        return labels


def is_clusterer(learner: object) -> bool:
    """Return whether a learner groups rows: by its type, by `like`, or by ``fit_predict`` without classes."""
    like = getattr(learner, "like", None)
    if like is not None and like is not learner and hasattr(learner, "fit") and is_clusterer(like):
        return True
    kind = getattr(learner, "_estimator_type", None)
    if hasattr(learner, "__sklearn_tags__"):
        with suppress(Exception):  # not quite an estimator of scikit-learn
            kind = learner.__sklearn_tags__().estimator_type or kind
    if kind == "clusterer":  # unless it groups columns and changes rows
        return hasattr(learner, "fit") and not is_transformer(learner)
    is_other = kind in OTHER_KINDS or hasattr(learner, "classes_") or hasattr(learner, "predict_log_proba")
    return hasattr(learner, "fit") and hasattr(learner, "fit_predict") and not is_other


def find_cluster_count(learner: object) -> tuple[str, int] | None:
    """Return the name and value of the parameter for the number of clusters; None if it has none."""
    prefix, last = _find_last_step(learner)
    for name in COUNT_PARAMETERS:
        value = getattr(last, name, None)
        if isinstance(value, Integral):
            return prefix + name, int(value)
    return None


def find_length(learner: object) -> float | None:
    """Return the parameter that is a distance between rows, such as ``eps``; None if there is none."""
    _, last = _find_last_step(learner)
    for name in ("eps", "bandwidth", "distance_threshold", "threshold"):
        value = getattr(last, name, None)
        if isinstance(value, int | float) and 0 < value < np.inf:
            return float(value)
    return None


def find_seeds(learner: object) -> dict[str, int]:
    """Return the parameters called ``random_state`` that are numbers or unset, with their values."""
    parameters = read_parameters(learner) or {"random_state": getattr(learner, "random_state", "")}
    return {
        name: int(value or 0)
        for name, value in parameters.items()
        if name.endswith("random_state") and (value is None or isinstance(value, Integral))
    }


def _find_last_step(learner: object) -> tuple[str, Any]:
    """Return the last step of a pipeline with the prefix of its parameters, or the learner itself."""
    steps = getattr(learner, "steps", None)
    if isinstance(steps, list) and steps:
        name, step = steps[-1]
        prefix, last = _find_last_step(step)
        return f"{name}__{prefix}", last
    return "", learner


def _set_parameters(model: Any, parameters: dict[str, Any]) -> None:
    if hasattr(model, "set_params"):
        model.set_params(**parameters)
    else:
        for name, value in parameters.items():
            setattr(model, name, value)
