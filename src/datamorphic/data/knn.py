"""The nearest neighbours as a textbook has them: a subject of mutation analysis, and no match for much data.

Bounds of loops are written out, as they are where such faults are made.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt


class KNN:
    """Labels a case as most of its `k` nearest samples are labelled.

    Of samples at the same distance the earlier ones count as nearer, of labels with as many votes the one that sorts
    first wins. Attributes are numbers, labels anything that can be sorted.

    Examples
    --------
    >>> model = KNN(k=1).fit([[1.0, 2.0], [8.0, 9.0]], ["low", "high"])
    >>> model.predict([[2.0, 2.0]])
    array(['low'], dtype='<U4')
    """

    def __init__(self, k: int = 3) -> None:
        self.k = k

    def __repr__(self) -> str:
        return f"{type(self).__name__}(k={self.k!r})"

    @property
    def like(self) -> Any:
        """The estimator of scikit-learn that gives the same answers."""
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(self.k, algorithm="brute")

    def fit(self, X: Any, y: Any) -> Self:
        """Remember the samples and their labels."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self._codes = codes.tolist()
        self._samples = rows_of(X)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the label with the most votes, case by case."""
        winners = []
        for case in rows_of(X):
            votes = self._votes(case)
            winner = 0
            for code in range(0, len(votes)):
                if votes[code] > votes[winner]:
                    winner = code
            winners.append(winner)
        return np.asarray(self.classes_[winners])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the share of votes for each class, in the order of `classes_`, case by case."""
        shares = []
        for case in rows_of(X):
            shares.append([count / self.k for count in self._votes(case)])
        return np.array(shares).reshape(len(shares), len(self.classes_))

    def _votes(self, case: list[float]) -> list[int]:
        """Return how many of the nearest samples are of each class."""
        votes = [0] * len(self.classes_)
        for place in self._nearest(case):
            votes[self._codes[place]] += 1
        return votes

    def _nearest(self, case: list[float]) -> list[int]:
        """Return the places of the k nearest samples, the nearest first."""
        if self.k > len(self._samples):
            raise ValueError(
                f"{self.k} neighbours are wanted and there are {len(self._samples)} training samples."
            )
        distances = [squared_distance(sample, case) for sample in self._samples]
        nearest: list[int] = []
        for place in range(0, len(distances)):
            rank = len(nearest)
            while rank > 0 and distances[place] < distances[nearest[rank - 1]]:
                rank -= 1
            nearest.insert(rank, place)
            if len(nearest) > self.k:
                nearest.pop()
        return nearest


def squared_distance(sample: list[float], case: list[float]) -> float:
    """Return the square of the distance of two points: roots would be in the same order."""
    total = 0.0
    for attribute in range(0, len(case)):
        difference = sample[attribute] - case[attribute]
        total += difference * difference
    return total


def rows_of(X: Any) -> list[list[float]]:
    """Return the rows of a table, an array or a frame, as lists of numbers."""
    table = X.to_numpy() if hasattr(X, "to_numpy") else X
    rows: list[list[float]] = np.asarray(table, dtype=float).tolist()
    return rows


def learners() -> dict[str, Any]:
    """Return the learners that are to be tested, by name."""
    return {"k = 1": KNN(1), "k = 3": KNN(3)}
