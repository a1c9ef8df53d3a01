"""`Clusterer`: a learner whose answer to training data is a `RowPartition` of their rows."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralize
from .._typing import LearnerLike, ModelLike
from .._validation import reject
from ..errors import ModelError
from ..space.outputs import Outputs, Status
from .base import ScoreRequest
from .learner import (
    LEARNER_ERRORS,
    Learner,
    copy_table,
    copy_with_seed,
    format_learner,
    has_only_numbers,
    read_parameters,
    takes_arrays,
)
from .training import Array, Places, Training, TrainingBatch

NOISE = -1  # the label of rows in no cluster
MIN_AGREEMENT = 0.99  # adjusted Rand index from which two partitions agree
MAX_SIZES_SHOWN = 6
COUNT_PARAMETERS = ("n_clusters", "n_components")
OTHER_KINDS = ("classifier", "regressor", "outlier_detector", "transformer")  # types of estimators with `fit_predict`


@dataclass(frozen=True)
class RowPartition:
    """The cluster of each row, numbered in the order of the rows; -1 is noise.

    Two partitions are equal if they group the rows in the same way, whatever the numbers of their clusters.

    Examples
    --------
    >>> RowPartition([7, 7, 2, -1]) == RowPartition([0, 0, 5, -1])
    True
    >>> print(RowPartition([7, 7, 2, -1]))
    2 clusters of 2 and 1 rows, 1 row of noise
    """

    labels: Any

    def __post_init__(self) -> None:
        numbers: dict[Any, int] = {}
        labels = np.asarray(self.labels).tolist()
        numbered = (label if label == NOISE else numbers.setdefault(label, len(numbers)) for label in labels)
        object.__setattr__(self, "labels", tuple(map(int, numbered)))

    @property
    def array(self) -> npt.NDArray[np.int64]:
        """The cluster of each row as an array."""
        return np.array(self.labels, dtype=np.int64)

    @property
    def sizes(self) -> list[int]:
        """The number of rows of each cluster, without noise."""
        labels = self.array
        return np.bincount(labels[labels != NOISE]).tolist()

    @property
    def noise(self) -> int:
        """The number of rows in no cluster."""
        return self.labels.count(NOISE)

    def agrees(self, other: RowPartition) -> bool:
        """Return whether at most 1 % of the rows change between noise and cluster, and the adjusted Rand index is at least 0.99."""
        if self == other:
            return True
        if len(self.labels) != len(other.labels):
            return False
        from sklearn.metrics import adjusted_rand_score

        first, second = self.array, other.array
        changed_noise = np.count_nonzero((first == NOISE) != (second == NOISE))
        few = changed_noise <= (1 - MIN_AGREEMENT) * len(first)
        return bool(few and adjusted_rand_score(first, second) >= MIN_AGREEMENT)

    def number_like(self, other: RowPartition) -> npt.NDArray[np.int64]:
        """Return the labels of the rows with the numbers of the clusters of another partition that they match best."""
        from scipy.optimize import linear_sum_assignment

        first, second = self.array, other.array
        shared_rows = np.zeros((len(self.sizes), len(other.sizes)), dtype=np.int64)
        clustered = (first != NOISE) & (second != NOISE)
        np.add.at(shared_rows, (first[clustered], second[clustered]), 1)
        pairs = zip(*(places.tolist() for places in linear_sum_assignment(-shared_rows)), strict=True)
        numbers = dict(pairs) | {NOISE: NOISE}
        new_number = len(other.sizes)
        for label in range(len(self.sizes)):
            if label not in numbers:
                numbers[label], new_number = new_number, new_number + 1
        return np.array([numbers[label] for label in self.labels], dtype=np.int64)

    def find_changed_rows(self, other: RowPartition) -> Places:
        """Return the rows whose cluster does not match that of another partition."""
        return np.flatnonzero(self.number_like(other) != other.array)

    def __str__(self) -> str:
        sizes = sorted(self.sizes, reverse=True)
        text = pluralize(len(sizes), "cluster")
        if sizes:
            shown = [f"{size:,}" for size in sizes[:MAX_SIZES_SHOWN]]
            if len(sizes) > MAX_SIZES_SHOWN:
                joined = ", ".join([*shown, "..."])
            else:
                joined = " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
            text += f" of {joined} {'row' if sizes == [1] else 'rows'}"
        return f"{text}, {pluralize(self.noise, 'row')} of noise" if self.noise else text


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

    def __init__(
        self, learner: LearnerLike | ModelLike, *, seed: int = 0, name: str | None = None, limited: bool = False
    ) -> None:
        if isinstance(learner, type) or not hasattr(learner, "fit"):
            reject("learner", "Clusterer", "an object with fit", learner)
        self.learner: Any = learner
        self.seed, self.limited = seed, limited
        self.name = name or format_learner(learner)
        self._prototype: Any = None

    def answer(self, batch: TrainingBatch, scores: ScoreRequest) -> Outputs:  # type: ignore[override]
        """Fit a copy to each training set and return its clusters."""
        if not isinstance(batch, TrainingBatch):
            raise ModelError(f"{self.name} is a clusterer and is not fitted. Fit it first: clusterer.fit(X).")
        values = np.full(len(batch), None, dtype=object)
        status = np.zeros(len(batch), dtype=np.int8)
        messages: dict[int, str] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self._prototype is None:
                self._prototype = self._make_prototype()
            for training, rows in batch.parts():
                try:
                    partition = RowPartition(self._cluster_rows(training))
                except LEARNER_ERRORS as error:
                    status[rows] = Status.ERROR
                    messages |= dict.fromkeys(rows.tolist(), self._describe_failure(error))
                    continue
                for row in rows:
                    values[row] = partition
        return Outputs(values, status, None, messages)

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
        x = copy_table(training.x, takes_arrays(self._prototype) and has_only_numbers(training.x))
        if hasattr(model, "fit_predict"):
            labels = model.fit_predict(x)
        else:
            fitted = model.fit(x)
            model = model if fitted is None else fitted
            labels = model.labels_ if hasattr(model, "labels_") else model.predict(copy_table(training.x))
        labels = np.asarray(labels)
        if labels.shape != (rows := training.x.shape[0],):
            raise ModelError(
                f"The clusterer gave labels of shape {labels.shape} for {pluralize(rows, 'row')}. Return one label per row."
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
    if kind == "clusterer":
        return hasattr(learner, "fit")
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
