"""A quick model of the labelled data, to tell "the model is wrong here" from "this is hard to predict"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._clock import read_clock
from ..errors import BudgetSpent
from ..space.dates import DateColumn, list_date_parts
from ..space.points import Points
from ..space.projection import describe_texts
from ..space.text_feature import Text
from ..systems.isolation import use_one_openmp_thread
from .labels import find_missing_labels, to_label_texts

MAX_REFERENCE_ROWS = 3_000  # take about a second
MIN_REFERENCE_ROWS = 50  # fewer do not train a model
MAX_REFERENCE_CLASSES = 24
FOLDS = 5
TREES_PER_FOLD = 60  # of all classes together, except that each class gets at least 8
MIN_ROUNDS = 8
MAX_NATIVE_CATEGORIES = 60  # a feature with more is treated as a number: its code


@dataclass(frozen=True, eq=False, kw_only=True)
class ReferenceModel:
    """What a quick model predicts for rows that it was not fitted to (cross-validation)."""

    rows: npt.NDArray[np.intp]  # the positions of the rows among the inputs, ascending
    classes: tuple[str, ...]  # as `to_label_texts` formats them, in the order of the codes; empty for numbers
    labels: npt.NDArray[np.float64]  # of the data: codes of classes, or numbers
    predictions: npt.NDArray[np.float64]  # for each row by a model fitted without it: codes of classes, or numbers
    probabilities: npt.NDArray[np.float64] | None  # rows by classes; None for numbers

    @property
    def errors(self) -> npt.NDArray[np.float64]:
        """The error of each prediction: 0 or 1 for classes, the absolute difference for numbers."""
        if self.classes:
            return (self.predictions != self.labels).astype(np.float64)
        return np.abs(self.predictions - self.labels)

    @property
    def label_probabilities(self) -> npt.NDArray[np.float64]:
        """The probability that it gives to the label of each row; for classes only."""
        assert self.probabilities is not None
        return np.asarray(self.probabilities[np.arange(len(self.rows)), self.labels.astype(np.intp)])


def fit_reference_model(
    inputs: Points,
    labels: npt.NDArray[np.generic],
    rows: npt.NDArray[np.intp],
    *,
    numeric: bool,
    seed: int,
    seconds: float | None = None,
    dates: Sequence[DateColumn] = (),
) -> ReferenceModel | None:
    """Fit histogram boosting to labelled rows, and predict each of them by a model that has not seen it.

    `dates` are the features that are days since a date: their hours, weekdays and months are features, too.

    None is returned if there are too few rows with labels, one class or too many, or if numbers are expected and the
    labels are none. `OutOfBudget` is raised if it takes more than `seconds`, which are looked at after each fold.
    """
    rows = np.sort(rows)
    rows = rows[~find_missing_labels(labels[rows])]
    if len(rows) < MIN_REFERENCE_ROWS:
        return None
    if numeric:
        try:
            targets, classes = labels[rows].astype(np.float64), []
        except (TypeError, ValueError):
            return None
        if not np.isfinite(targets).all():
            return None
    else:
        class_names, codes = np.unique(to_label_texts(labels[rows]).astype(str), return_inverse=True)
        targets, classes = codes.astype(np.float64), class_names.tolist()
        if not 2 <= len(classes) <= MAX_REFERENCE_CLASSES:
            return None
    matrix, is_category = _build_matrix(inputs.take(rows), dates)
    predictions, probabilities = _cross_validate(matrix, is_category, targets, len(classes), seed, seconds)
    return ReferenceModel(
        rows=rows, classes=tuple(classes), labels=targets, predictions=predictions, probabilities=probabilities
    )


def _cross_validate(
    matrix: npt.NDArray[np.float64],
    is_category: list[bool],
    targets: npt.NDArray[np.float64],
    class_count: int,
    seed: int,
    seconds: float | None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
    """Return the predictions for each row, and probabilities of classes, by models fitted without the row."""
    order = np.random.default_rng([seed, 17]).permutation(len(targets))
    # Sorted by target, every fifth row belongs to the same fold, so that all folds have the same share of each class.
    order = order[np.argsort(targets[order], kind="stable")]
    folds = np.empty(len(targets), dtype=np.intp)
    folds[order] = np.arange(len(targets)) % FOLDS
    predictions = np.empty(len(targets))
    probabilities = np.zeros((len(targets), class_count)) if class_count else None
    start_time = read_clock()
    with use_one_openmp_thread():
        for fold in range(FOLDS):
            if seconds is not None and read_clock() - start_time > seconds:
                raise BudgetSpent("The budget was spent while the reference model was fitted.")
            test_rows = folds == fold
            train_codes, train_targets = matrix[~test_rows], targets[~test_rows]
            outputs = _fit_and_predict(train_codes, train_targets, matrix[test_rows], is_category, class_count, seed)
            if probabilities is None:
                predictions[test_rows] = outputs
            else:
                probabilities[test_rows] = outputs
    if probabilities is not None:
        predictions = probabilities.argmax(axis=1).astype(np.float64)
    return predictions, probabilities


def predict_by_other_rows(
    training: Points,
    targets: npt.NDArray[np.float64],
    inputs: Points,
    *,
    class_count: int,
    seed: int,
    dates: Sequence[DateColumn] = (),
) -> npt.NDArray[np.float64]:
    """Fit the quick model to some rows, and predict others: codes of classes, or numbers if `class_count` is 0."""
    (train_codes, is_category), (codes, _) = _build_matrix(training, dates), _build_matrix(inputs, dates)
    with use_one_openmp_thread():
        outputs = _fit_and_predict(train_codes, targets, codes, is_category, class_count, seed)
    return outputs.argmax(axis=1).astype(np.float64) if class_count else outputs


def _fit_and_predict(
    train_codes: npt.NDArray[np.float64],
    targets: npt.NDArray[np.float64],
    codes: npt.NDArray[np.float64],
    is_category: list[bool],
    class_count: int,
    seed: int,
) -> npt.NDArray[np.float64]:
    """Return the predicted numbers, or rows by classes of probabilities."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    rounds = max(MIN_ROUNDS, TREES_PER_FOLD // (class_count if class_count > 2 else 1))
    options = {
        "max_iter": rounds,
        "learning_rate": min(0.3, 0.1 * TREES_PER_FOLD / rounds),
        "max_leaf_nodes": 15,
        "min_samples_leaf": 10,
        "max_bins": 100,
        "early_stopping": False,
        "random_state": seed,
        "categorical_features": is_category,
    }
    is_empty = ~np.isfinite(train_codes).any(axis=0)  # a column without values, which the learner refuses
    if is_empty.any():
        train_codes, codes = np.where(is_empty, 0.0, train_codes), np.where(is_empty, 0.0, codes)
    if not class_count:
        regressor = HistGradientBoostingRegressor(**options).fit(train_codes, targets)
        return np.asarray(regressor.predict(codes), dtype=np.float64)
    probabilities = np.zeros((len(codes), class_count))
    present = np.unique(targets).astype(np.intp)
    if len(present) == 1:
        probabilities[:, present[0]] = 1.0
        return probabilities
    classifier = HistGradientBoostingClassifier(**options).fit(train_codes, targets)
    probabilities[:, present] = classifier.predict_proba(codes)
    return probabilities


def _build_matrix(inputs: Points, dates: Sequence[DateColumn]) -> tuple[npt.NDArray[np.float64], list[bool]]:
    """Return the inputs as numbers, and which columns are categories; texts are counts of words in buckets."""
    parts: list[npt.NDArray[np.float64]] = []
    is_category: list[bool] = []
    for column, feature in enumerate(inputs.space.features):
        codes = inputs.codes[:, column]
        parts.append(describe_texts(feature, codes) if isinstance(feature, Text) else codes[:, None])
        native = feature.kind == "categorical" and feature.high < MAX_NATIVE_CATEGORIES
        is_category += [native] * parts[-1].shape[1]
    for date_parts in list_date_parts(inputs.space.names, inputs.codes, dates):
        parts.append(date_parts)
        is_category += [False] * date_parts.shape[1]
    return np.hstack(parts), is_category
