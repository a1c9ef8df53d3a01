"""A textbook naive Bayes classifier for normally distributed attributes, as a subject of mutation analysis."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt


class NaiveBayes:
    """Predicts the most likely class if attributes are normal and, within a class, independent.

    `smoothing` times the largest variance of an attribute over all samples is added to every variance. Attributes are
    numbers; labels can be sorted. Of equally likely labels, the one that sorts first is predicted.

    Examples
    --------
    >>> model = NaiveBayes().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"])
    >>> model.predict([[2.5]])
    array(['low'], dtype='<U4')
    """

    def __init__(self, smoothing: float = 1e-9) -> None:
        self.smoothing = smoothing

    def __repr__(self) -> str:
        return f"{type(self).__name__}(smoothing={self.smoothing!r})"

    @property
    def like(self) -> Any:
        """The scikit-learn estimator with the same answers."""
        from sklearn.naive_bayes import GaussianNB

        return GaussianNB(var_smoothing=self.smoothing)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the frequency of each class and the distribution of its attributes."""
        self.classes_, labels = np.unique(np.asarray(y), return_inverse=True)
        codes = labels.tolist()
        samples = to_rows(X)
        least = self.smoothing * largest_variance(samples)
        self._priors: list[float] = []
        self._means: list[list[float]] = []
        self._variances: list[list[float]] = []
        for code in range(len(self.classes_)):
            own = [samples[place] for place in range(len(samples)) if codes[place] == code]
            self._priors.append(len(own) / len(samples))
            means, variances = [], []
            for attribute in range(len(samples[0])):
                values = [sample[attribute] for sample in own]
                means.append(mean(values))
                variances.append(variance(values) + least)
            self._means.append(means)
            self._variances.append(variances)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most likely label of every case."""
        winners = []
        for case in to_rows(X):
            joint = self._joint(case)
            winner = 0
            for code in range(len(joint)):
                if joint[code] > joint[winner]:
                    winner = code
            winners.append(winner)
        return np.asarray(self.classes_[winners])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probabilities of the classes of every case, in the order of `classes_`."""
        chances = []
        for case in to_rows(X):
            joint = self._joint(case)
            highest = max(joint)
            total = 0.0
            for value in joint:
                total += math.exp(value - highest)
            chances.append([math.exp(value - highest) / total for value in joint])
        return np.array(chances).reshape(len(chances), len(self.classes_))

    def predict_joint_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the logarithm of prior times likelihood of the classes of every case."""
        joint = [self._joint(case) for case in to_rows(X)]
        return np.array(joint).reshape(len(joint), len(self.classes_))

    def _joint(self, case: list[float]) -> list[float]:
        joint = []
        for code in range(len(self.classes_)):
            total = math.log(self._priors[code])
            for attribute in range(len(case)):
                total += log_density(
                    case[attribute], self._means[code][attribute], self._variances[code][attribute]
                )
            joint.append(total)
        return joint


def largest_variance(samples: list[list[float]]) -> float:
    """Return the largest variance of an attribute."""
    largest = 0.0
    for attribute in range(len(samples[0])):
        spread = variance([sample[attribute] for sample in samples])
        if spread > largest:
            largest = spread
    if largest == 0:
        raise ValueError("No attribute of the training samples varies. Train on samples that differ.")
    return largest


def mean(values: list[float]) -> float:
    """Return the mean of numbers."""
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def variance(values: list[float]) -> float:
    """Return the mean of the squared differences from the mean."""
    centre = mean(values)
    total = 0.0
    for value in values:
        difference = value - centre
        total += difference * difference
    return total / len(values)


def log_density(value: float, centre: float, spread: float) -> float:
    """Return the logarithm of a normal density with mean `centre` and variance `spread`."""
    difference = value - centre
    return -0.5 * math.log(2 * math.pi * spread) - difference * difference / (2 * spread)


def to_rows(X: Any) -> list[list[float]]:
    """Return the rows of an array or a frame as lists of numbers."""
    table = X.to_numpy() if hasattr(X, "to_numpy") else X
    rows: list[list[float]] = np.asarray(table, dtype=float).tolist()
    return rows


def learners() -> dict[str, Any]:
    """Return the learners to test, by name."""
    return {"NBC": NaiveBayes()}
