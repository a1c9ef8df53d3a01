"""Nearest rows in a space, by its own distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .features import Codes

if TYPE_CHECKING:
    from .space import Space

AT_ONCE = 500_000  # distances: few enough to stay in the processor's cache from one feature to the next
FEW = 32  # nearest rows, up to which as many searches beat sorting


def nearest(
    space: Space, cases: Codes, among: Codes, k: int = 1, *, scaled: bool = True
) -> tuple[Codes, npt.NDArray[np.intp]]:
    """Return for each case the distances to its `k` nearest rows of `among` and their numbers, nearest first.

    Exact; by a tree where all features are continuous, else by all distances. Where there are fewer than `k`
    rows the rest is inf and -1.
    """
    found = min(k, len(among))
    distances = np.full((len(cases), k), np.inf)
    places = np.full((len(cases), k), -1, dtype=np.intp)
    if not found or not len(cases):
        return distances, places
    if space.smooth:
        from scipy.spatial import cKDTree

        scale = np.array([feature.scale if scaled else 1.0 for feature in space.features])
        near, at = cKDTree(among * scale).query(cases * scale, k=list(range(1, found + 1)))
        distances[:, :found], places[:, :found] = near, at
        return distances, places
    measured = Distances(space, cases, among, scaled)
    rows = max(1, AT_ONCE // len(among))
    for start in range(0, len(cases), rows):
        some = slice(start, start + rows)
        left = measured(some)
        if found <= FEW:
            every = np.arange(len(left))
            for rank in range(found):
                best = left.argmin(axis=1)
                places[some, rank], distances[some, rank] = best, left[every, best]
                left[every, best] = np.inf
        else:
            order = np.argsort(left, axis=1, kind="stable")[:, :found]
            places[some, :found], distances[some, :found] = order, np.take_along_axis(left, order, axis=1)
    return distances, places


class Distances:
    """The distances of rows to every one of others, block by block, as SciPy computes them."""

    def __init__(self, space: Space, cases: Codes, among: Codes, scaled: bool) -> None:
        scale = np.array([feature.scale if scaled else 1.0 for feature in space.features])
        both = np.concatenate([cases, among])
        self._measured, self._holed = [], []
        kinds = ("categorical", "hamming"), ("integer", "cityblock"), ("continuous", "sqeuclidean")
        for kind, measure in kinds:
            of_kind = [j for j, feature in enumerate(space.features) if feature.kind == kind]
            holed = [j for j in of_kind if kind != "categorical" and np.isnan(both[:, j]).any()]
            some = [j for j in of_kind if j not in holed]
            values = both[:, some] * scale[some]
            if some:  # a missing category is one more
                values = np.ascontiguousarray(np.nan_to_num(values, nan=-1.0))
                self._measured.append((measure, values[: len(cases)], values[len(cases) :]))
            for j in holed:
                column = both[:, j] * scale[j]
                self._holed.append((measure, column[: len(cases), None], column[None, len(cases) :]))

    def __call__(self, rows: slice) -> Codes:
        """Return the distances of some of the rows."""
        from scipy.spatial.distance import cdist

        sums: dict[str, Codes] = {}

        def add(measure: str, gaps: Codes) -> None:
            sums[measure] = sums[measure] + gaps if measure in sums else gaps

        for measure, cases, among in self._measured:
            add(measure, cdist(cases[rows], among, measure))
            if measure == "hamming":  # tells the share of categories that differ
                sums[measure] *= among.shape[1]
        for measure, cases, among in self._holed:
            gap = np.abs(cases[rows] - among)
            add("missing", (np.isnan(cases[rows]) != np.isnan(among)).astype(np.float64))
            gap[np.isnan(gap)] = 0.0
            add(measure, gap * gap if measure == "sqeuclidean" else gap)
        if "sqeuclidean" in sums:
            np.sqrt(sums["sqeuclidean"], out=sums["sqeuclidean"])
        first, *rest = sums.values()
        for gaps in rest:
            first += gaps
        return first
