"""Plain models of several kinds: how good honest models are that are too simple, too flexible, or unlucky with the data.

A model that is worse than the quick model may be wrong, or only simple. A linear model is worse where the data bend, a shallow
tree where a third feature matters, a fully grown one where labels are noisy. So a model is blamed only for errors that plain
models of its own kind do not make.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .._clock import read_clock
from ..errors import BudgetSpent
from ..space.dates import DateColumn, list_date_parts
from ..space.points import Points
from ..space.projection import describe_texts
from ..space.text_feature import Text
from ..systems.isolation import use_one_openmp_thread

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FOLDS = 3
MAX_CATEGORIES_AS_COLUMNS = 30  # the most frequent ones; the others share a column of zeros
TREE_DEPTHS = (1, 2, 3, 4, 6, None)
#: Models of these kinds cannot be expected to find labels that are easy to find.
CRUDE_MODELS = (
    "a linear model of codes",
    "naive Bayes of codes",
    *(f"a tree of depth {depth}" for depth in TREE_DEPTHS if depth != 6),
)
CAUTIOUS_C = 0.1  # of a linear model that is regularised strongly, and gives rare classes seldom
MAX_LINEAR_STEPS = 60  # of the fit of a logistic regression
MAX_MATCHING_STEPS = 40
NEAR_AGREEMENT = 0.03  # of the rows: plain models that agree with the model nearly as often as the most similar one

MAX_DISTANCE_RATIO = 1.25  # the same for numbers: of the mean distance to the answers to the smallest one


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainModel:
    """What a plain model predicts for rows that it was not fitted to (cross-validation)."""

    name: str
    predictions: Floats  # codes of classes, or numbers
    probabilities: Floats | None  # rows by classes; None for numbers, and for a support vector machine
    is_crude: bool = False  # whether it cannot be expected to find labels that are easy to find


def fit_plain_models(
    inputs: Points,
    labels: Floats,
    class_count: int,
    *,
    seed: int,
    seconds: float | None = None,
    dates: Sequence[DateColumn] = (),
) -> list[PlainModel]:
    """Fit a linear model, trees, neighbours and, for classes, others; `class_count` is 0 for numbers.

    `dates` are the features that are days since a date. `BudgetSpent` is raised if it takes more than `seconds`, which are looked
    at after each fit.
    """
    columns, codes = _build_columns(inputs, dates)
    order = np.random.default_rng([seed, 29]).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(labels), dtype=np.intp)
    folds[order] = np.arange(len(labels)) % FOLDS
    start_time = read_clock()
    models: list[PlainModel] = []
    with use_one_openmp_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about steps that do not suffice, and columns that are constant in a fold
        for name, (learner, matrix) in _build_learners(columns, codes, class_count, seed).items():
            predictions = np.zeros(len(labels))
            has_probabilities = class_count > 0 and hasattr(learner, "predict_proba")
            probabilities = np.zeros((len(labels), class_count)) if has_probabilities else None
            for fold in range(FOLDS):
                if seconds is not None and read_clock() - start_time > seconds:
                    raise BudgetSpent("The budget was spent while plain models were fitted.")
                test_rows = folds == fold
                train_labels = labels[~test_rows]
                present = np.unique(train_labels).astype(np.intp)
                if probabilities is None and class_count and len(present) == 1:
                    predictions[test_rows] = present[0]
                elif probabilities is None:
                    predictions[test_rows] = learner.fit(matrix[~test_rows], train_labels).predict(matrix[test_rows])
                elif len(present) == 1:
                    probabilities[test_rows, present[0]] = 1.0
                else:
                    fitted = learner.fit(matrix[~test_rows], train_labels)
                    probabilities[np.ix_(test_rows, present)] = fitted.predict_proba(matrix[test_rows])
            if probabilities is not None:
                predictions = probabilities.argmax(axis=1).astype(np.float64)
            models.append(
                PlainModel(
                    name=name, predictions=predictions, probabilities=probabilities, is_crude=name in CRUDE_MODELS
                )
            )
    return models


def _build_learners(
    columns: Floats, codes: Floats, class_count: int, seed: int
) -> dict[str, tuple[BaseEstimator, Floats]]:
    """Return learners by name, each with the matrix that it learns from."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    tree = DecisionTreeClassifier if class_count else DecisionTreeRegressor
    neighbours = KNeighborsClassifier(5) if class_count else KNeighborsRegressor(5)
    linear = LogisticRegression(max_iter=MAX_LINEAR_STEPS) if class_count else Ridge()
    learners: dict[str, tuple[BaseEstimator, Floats]] = {
        "a linear model": (linear, columns),
        **{f"a tree of depth {depth}": (tree(max_depth=depth, random_state=seed), codes) for depth in TREE_DEPTHS},
        "five neighbours": (neighbours, columns),
    }
    if codes.shape != columns.shape:
        learners["a linear model of codes"] = (linear, codes)
    if class_count:
        learners["a cautious linear model"] = (LogisticRegression(C=CAUTIOUS_C, max_iter=MAX_LINEAR_STEPS), columns)
        learners["a support vector machine"] = (SVC(), columns)
        learners["naive Bayes"] = (GaussianNB(), columns)
        learners["naive Bayes of codes"] = (GaussianNB(), codes)
    return learners


def _build_columns(inputs: Points, dates: Sequence[DateColumn]) -> tuple[Floats, Floats]:
    """Return the inputs as scaled numbers without gaps: with a column per category, and with the codes of categories."""
    columns: list[Floats] = []
    codes: list[Floats] = []
    for column, feature in enumerate(inputs.space.features):
        values = inputs.codes[:, column]
        if isinstance(feature, Text):
            parts = describe_texts(feature, values)
            columns.append(_scale(parts))
            codes.append(columns[-1])
            continue
        codes.append(_scale(values[:, None]))
        if feature.kind != "categorical":
            columns.append(codes[-1])
            continue
        levels, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        frequent = levels[np.argsort(-counts, kind="stable")[:MAX_CATEGORIES_AS_COLUMNS]]
        columns.append((values[:, None] == frequent[None, :]).astype(np.float64))
    date_parts = [_scale(parts) for parts in list_date_parts(inputs.space.names, inputs.codes, dates)]
    return np.hstack([*columns, *date_parts]), np.hstack([*codes, *date_parts])


def _scale(values: Floats) -> Floats:
    """Return columns with their gaps filled by the median, centred, and divided by their standard deviation."""
    scaled = np.empty(values.shape)
    for column in range(values.shape[1]):
        part = np.clip(values[:, column], -1e100, 1e100)
        known = part[~np.isnan(part)]
        part = np.where(np.isnan(part), np.median(known) if len(known) else 0.0, part)
        deviation = float(part.std())
        scaled[:, column] = (part - part.mean()) / deviation if deviation > 0 else 0.0
    return scaled


def match_decisions(probabilities: Floats, counts: npt.NDArray[np.intp]) -> Floats:
    """Return the classes that probabilities favour if every class must be the answer about as often as `counts` say.

    A model whose threshold was moved, or which was trained with weights, decides otherwise than by the largest probability.
    It is compared with another one that gives each class as often.

    Examples
    --------
    >>> match_decisions(np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3], [0.8, 0.2]]), np.array([2, 2])).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    weights = np.zeros(len(counts))  # logarithms
    weights[counts == 0] = -np.inf
    logs = np.log(np.maximum(probabilities, 1e-12))
    logs = logs + 1e-9 * np.arange(len(logs))[:, None] * (np.arange(len(counts)) == len(counts) - 1)  # no ties
    if len(counts) == 2 and counts.all():
        margins = logs[:, 1] - logs[:, 0]
        answers = np.zeros(len(margins))
        answers[np.argsort(-margins, kind="stable")[: int(counts[1])]] = 1.0
        return answers
    step = 1.0
    for _ in range(MAX_MATCHING_STEPS):
        answers = (logs + weights).argmax(axis=1)
        reached = np.bincount(answers, minlength=len(counts))
        if (reached == counts).all():
            break
        present = counts > 0
        weights[present] += step * np.log((counts[present] + 0.5) / (reached[present] + 0.5))
        step *= 0.93
    return np.asarray((logs + weights).argmax(axis=1), dtype=np.float64)


def find_similar_models(models: list[PlainModel], answers: Floats, rows: Mask) -> list[PlainModel]:
    """Return the plain models that agree with the answers most in some rows, and those that agree nearly as much."""
    if not models or not rows.any():
        return []
    if models[0].probabilities is None:  # the first one has probabilities of classes
        distances = [float(np.abs(model.predictions - answers)[rows].mean()) for model in models]
        limit = MAX_DISTANCE_RATIO * min(distances)
        return [model for model, distance in zip(models, distances, strict=True) if distance <= limit]
    agreements = [float((model.predictions == answers)[rows].mean()) for model in models]
    return [
        model
        for model, agreement in zip(models, agreements, strict=True)
        if agreement >= max(agreements) - NEAR_AGREEMENT
    ]
