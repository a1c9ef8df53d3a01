"""A textbook nearest-neighbour classifier, as a subject of mutation analysis; too slow for large data.

Loop bounds are explicit, because mutants change them.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt


class KNN:
    """Predicts the most frequent label of the `k` nearest samples.

    Of samples at the same distance, the earlier ones count as nearer. Of labels with equally many votes, the one that
    sorts first is predicted. Attributes are numbers; labels can be sorted.

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
        """The scikit-learn estimator with the same answers."""
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(self.k, algorithm="brute")

    def fit(self, X: Any, y: Any) -> Self:
        """Store the samples and their labels."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self._codes = codes.tolist()
        self._samples = to_rows(X)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the label with the most votes of every case."""
        winners = []
        for case in to_rows(X):
            votes = self._votes(case)
            winner = 0
            for code in range(0, len(votes)):
                if votes[code] > votes[winner]:
                    winner = code
            winners.append(winner)
        return np.asarray(self.classes_[winners])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the shares of votes of every case, in the order of `classes_`."""
        shares = []
        for case in to_rows(X):
            shares.append([count / self.k for count in self._votes(case)])
        return np.array(shares).reshape(len(shares), len(self.classes_))

    def _votes(self, case: list[float]) -> list[int]:
        """Count the nearest samples of each class."""
        votes = [0] * len(self.classes_)
        for place in self._nearest(case):
            votes[self._codes[place]] += 1
        return votes

    def _nearest(self, case: list[float]) -> list[int]:
        """Return the indices of the k nearest samples, nearest first."""
        if self.k > len(self._samples):
            raise ValueError(
                f"{self.k} neighbours need as many training samples, but there are {len(self._samples)}."
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
    """Return the squared distance of two points; square roots would not change the order."""
    total = 0.0
    for attribute in range(0, len(case)):
        difference = sample[attribute] - case[attribute]
        total += difference * difference
    return total


def to_rows(X: Any) -> list[list[float]]:
    """Return the rows of an array or a frame as lists of numbers."""
    table = X.to_numpy() if hasattr(X, "to_numpy") else X
    rows: list[list[float]] = np.asarray(table, dtype=float).tolist()
    return rows


def learners() -> dict[str, Any]:
    """Return the learners to test, by name."""
    return {"k = 1": KNN(1), "k = 3": KNN(3)}
