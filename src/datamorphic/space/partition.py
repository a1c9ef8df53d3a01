"""`RowPartition`: the answer of a clusterer, which groups rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._text import pluralise

NOISE = -1  # the label of rows in no cluster
MIN_AGREEMENT = 0.99  # adjusted Rand index from which two partitions agree
MAX_SIZES_SHOWN = 6


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

    def find_changed_rows(self, other: RowPartition) -> npt.NDArray[np.intp]:
        """Return the rows whose cluster does not match that of another partition."""
        return np.flatnonzero(self.number_like(other) != other.array)

    def __str__(self) -> str:
        sizes = sorted(self.sizes, reverse=True)
        text = pluralise(len(sizes), "cluster")
        if sizes:
            texts = [f"{size:,}" for size in sizes[:MAX_SIZES_SHOWN]]
            if len(sizes) > MAX_SIZES_SHOWN:
                joined = ", ".join([*texts, "..."])
            else:
                joined = " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)
            text += f" of {joined} {'row' if sizes == [1] else 'rows'}"
        return f"{text}, {pluralise(self.noise, 'row')} of noise" if self.noise else text
