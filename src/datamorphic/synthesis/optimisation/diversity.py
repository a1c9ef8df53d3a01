"""Diversity of test sets: the mean distance to the nearest neighbour, and the removal of crowded cases."""

from __future__ import annotations

import numpy as np

from ...morphisms.cases import TestSet
from ...morphisms.stock import mean_nearest_distance
from ...space.features import Mask
from ...space.neighbours import find_nearest
from .metrics import FitnessMetric, Numbers, RowNumbers

NEIGHBOUR_COUNT = 12  # neighbours that are remembered per case; enough even if most of them are removed
MAX_SINGLE_REMOVALS = 1_000  # of more cases, several are removed at a time


class MeanNearestDistance(FitnessMetric):
    """The mean scaled distance of a case to its nearest neighbour: large if a set covers the space evenly.

    Fewer cases are farther apart, so values can be compared only between sets of equal size.
    """

    name = "mean_nearest_distance"

    def measure(self, tests: TestSet) -> float:
        """Return the mean distance to the nearest neighbour."""
        return mean_nearest_distance(tests)

    def score_cases(self, tests: TestSet) -> Numbers:
        """Return the distance to the nearest case, less what the neighbours would gain if this case were not there."""
        crowd = _Crowd(tests)
        return crowd.nearest - crowd.compute_neighbour_gains()

    def choose_weakest(self, tests: TestSet, count: int, removable: Mask, rng: np.random.Generator) -> RowNumbers:
        """Return rows without which the mean distance grows most, chosen one after the other."""
        return _Crowd(tests).remove(count, removable, by_gain=True)


def thin_out_to(tests: TestSet, size: int, removable: Mask | None = None) -> TestSet:
    """Return `size` of the cases: of the two nearest ones, one is removed until so many are left.

    If there are fewer `removable` cases than that, all of them are removed.
    """
    if removable is None:
        removable = np.ones(len(tests), dtype=bool)
    excess = min(len(tests) - size, int(removable.sum()))
    if excess <= 0:
        return tests
    keep = np.ones(len(tests), dtype=bool)
    keep[_Crowd(tests).remove(excess, removable, by_gain=False)] = False
    return tests.take(keep)


class _Crowd:
    """Cases with their nearest neighbours, from which cases are removed one after the other."""

    def __init__(self, tests: TestSet) -> None:
        codes, n = tests.inputs.codes, len(tests)
        distances, places = find_nearest(tests.space, codes, codes, min(n, NEIGHBOUR_COUNT + 1))
        is_self = places == np.arange(n)[:, None]
        is_self[~is_self.any(axis=1), -1] = True  # hidden by equal cases: then the farthest neighbour is left out
        self._places = places[~is_self].reshape(n, -1)
        self._distances = distances[~is_self].reshape(n, -1)
        self._alive = np.ones(n, dtype=bool)
        self.nearest, self._second = np.empty(n), np.empty(n)  # the distances to the two nearest cases that are alive
        self._nearest_row = np.empty(n, dtype=np.intp)
        self._second_row = np.empty(n, dtype=np.intp)
        self._find_neighbours(np.arange(n))

    def _find_neighbours(self, rows: RowNumbers) -> None:
        """Find the two nearest cases that are alive; at the end of the list, the last known distance stands in."""
        places, distances = self._places[rows], self._distances[rows]
        if not places.shape[1]:
            self.nearest[rows] = self._second[rows] = np.inf
            self._nearest_row[rows] = self._second_row[rows] = -1
            return
        alive = self._alive[places]
        numbers, last = np.arange(len(rows)), places.shape[1] - 1
        first = np.where(alive.any(axis=1), alive.argmax(axis=1), last)
        self.nearest[rows], self._nearest_row[rows] = distances[numbers, first], places[numbers, first]
        alive[numbers, first] = False
        second = np.where(alive.any(axis=1), alive.argmax(axis=1), last)
        self._second[rows], self._second_row[rows] = distances[numbers, second], places[numbers, second]

    def compute_neighbour_gains(self) -> Numbers:
        """Return by how much the distances of its neighbours would grow in sum without each case."""
        gains = np.where(self._alive, self._second - self.nearest, 0.0)
        gains[~np.isfinite(gains)] = 0.0
        sums = np.bincount(self._nearest_row, weights=gains, minlength=len(gains))
        return np.asarray(sums, dtype=np.float64)

    def remove(self, count: int, removable: Mask, *, by_gain: bool) -> RowNumbers:
        """Remove cases and return their rows, in this order.

        The next one is the case without which the mean distance is largest, or else the one with the nearest neighbour.
        """
        removed_rows: list[RowNumbers] = []
        batch, left = 1 + count // MAX_SINGLE_REMOVALS, count
        while left:
            scores = self.nearest - self.compute_neighbour_gains() if by_gain else self.nearest + 1e-3 * self._second
            scores = np.where(self._alive & removable, scores, np.inf)
            chosen = self._choose_lowest(scores, min(batch, left))
            self._alive[chosen] = False
            removed_rows.append(chosen)
            left -= len(chosen)
            # neighbours that are not alive are those removed now: earlier ones were replaced at once
            is_affected = ~(self._alive[self._nearest_row] & self._alive[self._second_row]) & self._alive
            self._find_neighbours(np.flatnonzero(is_affected))
        return np.concatenate([np.empty(0, dtype=np.intp), *removed_rows])

    def _choose_lowest(self, scores: Numbers, size: int) -> RowNumbers:
        """Return at most `size` rows with the lowest scores, and not both of two neighbours.

        Without the first one, the second is less crowded.
        """
        if size == 1:
            return np.array([scores.argmin()])
        candidates = np.argpartition(scores, size - 1)[:size]
        candidates = candidates[np.argsort(scores[candidates], kind="stable")]
        places = np.full(len(scores), size)
        places[candidates] = np.arange(size)
        return candidates[places[self._nearest_row[candidates]] > np.arange(size)]
