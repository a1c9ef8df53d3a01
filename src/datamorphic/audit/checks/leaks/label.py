"""Features that are nearly the label: cross-validated trees of one feature, against a forest of all others."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....systems.isolation import use_one_blas_thread
from ...context import CheckContext
from .rows import LabelledRows, Labels

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

MAX_TREE_ROWS = 2_000  # on which features are tried as predictors
MAX_CROSS_VALIDATED_FEATURES = 8
MIN_BINS, MAX_BINS = 8, 128  # of a feature, for a first estimate
MIN_ROWS_PER_BIN = 8
FOLDS = 3  # of the cross-validation
MAX_LEAVES = 64  # of a tree of one feature: enough for every category
MIN_LEAF_ROWS = 3
#: A feature that alone gets fewer wrong is nearly the label. Legitimate features of real data rarely reach 97% alone.
MAX_ERROR_OF_LEAK = 0.03
#: A leak knows what nothing else knows: all features without it have at least so many times its error, and so much more.
MIN_ERROR_RATIO = 3.0
MIN_ERROR_DIFFERENCE = 0.03
SIGNIFICANCE = 0.001  # of the difference, divided by the number of features looked at
FOREST_TREES = 30  # quick, since their error is compared by factors only


def predict_from_single_features(context: CheckContext, rows: LabelledRows) -> dict[str, Labels]:
    """Return cross-validated predictions from the features that may be leaks; at least from the best."""
    bounds = [_bound_error(rows, column) for column in range(rows.codes.shape[1])]
    order = [column for column in np.argsort(bounds, kind="stable").tolist() if column in set(context.columns)]
    columns = [column for column in order if bounds[column] <= MAX_ERROR_OF_LEAK]
    columns = columns[:MAX_CROSS_VALIDATED_FEATURES] or order[:1]
    return {
        context.space.names[column]: _cross_validate(rows, [int(column)], context.seed, forest=False)
        for column in columns
    }


def predict_from_others(context: CheckContext, rows: LabelledRows, names: Sequence[str]) -> Labels:
    """Return cross-validated predictions of a forest from some features together."""
    return _cross_validate(rows, [context.space.position(name) for name in names], context.seed, forest=True)


def _bound_error(rows: LabelledRows, column: int) -> float:
    """Return the error of the best constant in each bin of a feature: on the same rows, so hardly any tree does better."""
    values = rows.codes[:, column]
    _, bins = np.unique(values, return_inverse=True)
    bin_count = max(MIN_BINS, min(MAX_BINS, len(values) // MIN_ROWS_PER_BIN))
    if bins.max() >= bin_count:
        bins = bins * bin_count // (bins.max() + 1)
    counts = np.bincount(bins)
    if rows.numbers:
        means = np.bincount(bins, weights=rows.labels) / np.maximum(counts, 1)
        return rows.compute_error(means[bins])
    classes = np.unique(rows.labels)
    # balanced: a row of a rare class weighs more
    shares = [
        np.bincount(bins[rows.labels == label], minlength=len(counts)) / (rows.labels == label).sum()
        for label in classes
    ]
    return rows.compute_error(classes[np.argmax(shares, axis=0)][bins])


def _cross_validate(rows: LabelledRows, columns: Sequence[int], seed: int, forest: bool) -> Labels:
    """Return predictions of each row by a model that has not seen it."""
    from sklearn.model_selection import KFold, StratifiedKFold

    splitter: Any = KFold if rows.numbers else StratifiedKFold
    predictions = np.empty(len(rows.labels), dtype=rows.labels.dtype)
    x = rows.codes[:, list(columns)]
    x = np.where(np.isnan(x), np.nanmin(rows.codes, initial=0.0) - 1, x)  # missing values are a value of their own
    with use_one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in splitter(FOLDS, shuffle=True, random_state=seed).split(x, rows.labels):
            model: Any = _make_predictor(rows.numbers, forest, seed)
            predictions[test] = model.fit(x[train], rows.labels[train]).predict(x[test])
    return predictions


def _make_predictor(numbers: bool, forest: bool, seed: int) -> BaseEstimator:
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if forest:
        kind = ExtraTreesRegressor if numbers else ExtraTreesClassifier
        options: dict[str, Any] = {} if numbers else {"class_weight": "balanced"}
        return kind(FOREST_TREES, max_features=0.5, min_samples_leaf=2, random_state=seed, **options)
    options = {"max_leaf_nodes": MAX_LEAVES, "min_samples_leaf": MIN_LEAF_ROWS, "random_state": seed}
    if numbers:
        return DecisionTreeRegressor(**options)
    return DecisionTreeClassifier(class_weight="balanced", **options)


def is_far_better(
    rows: LabelledRows, error: float, predictions: Labels, other_error: float, other_predictions: Labels, features: int
) -> bool:
    """Tell whether one feature predicts the label significantly and far better than all others together."""
    from scipy.stats import binomtest

    if other_error < MIN_ERROR_RATIO * error or other_error - error < MIN_ERROR_DIFFERENCE:
        return False
    own, other = rows.find_row_errors(predictions), rows.find_row_errors(other_predictions)
    better, worse = int((own < other).sum()), int((own > other).sum())
    if not better + worse:
        return False
    return binomtest(better, better + worse, alternative="greater").pvalue < SIGNIFICANCE / features
