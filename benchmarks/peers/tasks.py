"""The tasks of both sides: data, models that count what they are asked, and how answers are judged.

Only NumPy, pandas and scikit-learn are imported, because this module also runs in the environments of peers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

CASES = 10  # rows for which a border is searched
PAIR_DISTANCE = 1e-3  # of a border pair, numbers divided by their ranges
LOANS = 1_000  # rows
CATEGORIES = {
    "purpose": ["business", "car", "home", "study"],
    "housing": ["free", "own", "rent"],
    "region": ["east", "north", "south", "west"],
}
WHOLE_NUMBERS = ("age", "years_employed")
TARGET = "approved"


class CountedModel:
    """A fitted classifier that counts calls and rows; what it was asked is the cost that both sides share."""

    def __init__(self, model):
        self.model = model
        self.classes_ = model.classes_
        self.takes_frames = hasattr(model, "feature_names_in_")
        self.calls = self.rows = 0

    def predict(self, inputs):
        return self.classes_[np.argmax(self.predict_proba(inputs), axis=1)]

    def predict_proba(self, inputs):
        self.calls += 1
        self.rows += len(inputs)
        return self.model.predict_proba(inputs if self.takes_frames else np.asarray(inputs))

    def fit(self, inputs, labels):
        raise NotImplementedError("The model is fitted.")


class Stopwatch:
    """Measure CPU seconds of this process in a `with` block."""

    def __enter__(self):
        self._start = time.process_time()
        return self

    def __exit__(self, *_):
        self.seconds = time.process_time() - self._start


@cache
def make_loans(count: int = LOANS) -> pd.DataFrame:
    """Return loans with four numbers, three categories and a label."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 75, count),
            "income": rng.gamma(4, 12, count).round(2),
            "debt": rng.gamma(2, 8, count).round(2),
            "years_employed": rng.integers(0, 31, count),
        }
        | {name: rng.choice(values, count) for name, values in CATEGORIES.items()}
    )
    score = frame["income"] / 12 - frame["debt"] / 6 + frame["years_employed"] / 8 + (frame["housing"] == "own")
    score = score - 1.5 * (frame["purpose"] == "business") + rng.normal(0, 0.7, count)
    return frame.assign(**{TARGET: (score > score.median()).astype(int)})


def fit_loans(learner, data: pd.DataFrame | None = None):
    """Return a pipeline for loans, fitted."""
    data = make_loans() if data is None else data
    names = [name for name in data.columns if name not in CATEGORIES and name != TARGET]
    encoder = make_column_transformer(
        (StandardScaler(), names), (OneHotEncoder(handle_unknown="ignore"), list(CATEGORIES))
    )
    return make_pipeline(encoder, learner).fit(data.drop(columns=TARGET), data[TARGET])


@cache
def fit_loan_forest():
    """Return the forest whose borders are searched, of mixed columns."""
    return fit_loans(RandomForestClassifier(100, random_state=0))


def load_cancer() -> tuple[np.ndarray, np.ndarray]:
    """Return 30 numbers per tumour, scaled to [0, 1], and its class."""
    inputs, labels = load_breast_cancer(return_X_y=True)
    low, high = inputs.min(axis=0), inputs.max(axis=0)
    return (inputs - low) / (high - low), labels


@cache
def fit_cancer_models():
    """Return the models of numbers whose borders are searched: one with steps, and a smooth one."""
    inputs, labels = load_cancer()
    learners = {
        "random forest": RandomForestClassifier(100, random_state=0),
        "logistic regression": LogisticRegression(max_iter=1_000),
    }
    return {name: learner.fit(inputs, labels) for name, learner in learners.items()}


def measure_distances(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return Euclidean distances of rows that are scaled to [0, 1]."""
    return np.sqrt(((np.asarray(first, dtype=float) - np.asarray(second, dtype=float)) ** 2).sum(axis=1))


def measure_loan_distances(first: pd.DataFrame, second: pd.DataFrame) -> np.ndarray:
    """Return distances of loans: numbers divided by their ranges, a changed category counts 1."""
    loans = make_loans()
    squares = np.zeros(len(first))
    for name in loans.columns.drop(TARGET):
        if name in CATEGORIES:
            squares += first[name].to_numpy() != second[name].to_numpy()
        else:
            difference = first[name].to_numpy(dtype=float) - second[name].to_numpy(dtype=float)
            squares += (difference / (loans[name].max() - loans[name].min())) ** 2
    return np.sqrt(squares)


def find_invalid_loans(frame: pd.DataFrame) -> np.ndarray:
    """Return which rows have a category that does not exist, or a fraction where only whole numbers occur."""
    invalid = np.zeros(len(frame), dtype=bool)
    for name, values in CATEGORIES.items():
        invalid |= ~frame[name].isin(values).to_numpy()
    for name in WHOLE_NUMBERS:
        numbers = frame[name].to_numpy(dtype=float)
        invalid |= np.abs(numbers - np.round(numbers)) > 1e-6
    return invalid


def blend_rows(first: np.ndarray, second: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return rows of numbers on the way from the first to the second ones."""
    return first + shares[:, None] * (second - first)


def blend_loans(first: pd.DataFrame, second: pd.DataFrame, shares: np.ndarray) -> pd.DataFrame:
    """Return loans on the way from the first to the second ones; categories change one after the other."""
    columns = {}
    for position, name in enumerate(first.columns):
        a, b = first[name].to_numpy(), second[name].to_numpy()
        if name in CATEGORIES:
            columns[name] = np.where(shares < (position + 1) / (len(first.columns) + 1), a, b)
        else:
            columns[name] = a + shares * (b.astype(float) - a)
            if name in WHOLE_NUMBERS:
                columns[name] = np.round(columns[name]).astype(int)
    return pd.DataFrame(columns)


def narrow(predict, blend, first, second, distances: np.ndarray) -> int:
    """Halve the way between rows with different answers until they are border pairs; return the number of pairs.

    What a peer found is a row on the other side of a border, so that the last step to a pair is the same for all.
    """
    answers = predict(first)
    low, high = np.zeros(len(first)), np.ones(len(first))
    for _ in range(max(1, math.ceil(math.log2(distances.max() / PAIR_DISTANCE)))):
        middle = (low + high) / 2
        same = predict(blend(first, second, middle)) == answers
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return len(first)


def describe_flips(
    model: CountedModel, watch: Stopwatch, count: int, distances: np.ndarray, valid: np.ndarray
) -> dict[str, float | str]:
    """Return what it took to change the answers of cases, and how far they had to be changed."""
    return {
        "rows queried per case": model.rows / count,
        "CPU seconds per case": watch.seconds / count,
        "median distance of the change": float(np.median(distances[valid])) if valid.any() else "no valid row",
        "cases answered, with a valid row": f"{int(valid.sum())} of {count}",
    }


def take_cases(count: int, seed: int = 1) -> Sequence[int]:
    """Return the numbers of the rows for which a border is searched."""
    return np.random.default_rng(seed).choice(count, CASES, replace=False)
