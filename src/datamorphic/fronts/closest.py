"""The nearest rows of mixed data, exactly, with distances that SciPy computes."""

from __future__ import annotations

import numpy as np

from ..space.features import Codes
from ..space.neighbours import nearest
from ..space.space import Space
from .reading import Rows

AT_ONCE = 500_000  # distances: few enough to stay in the processor's cache from one feature to the next
FEW = 32  # nearest rows, up to which as many searches beat sorting


def closest(space: Space, cases: Codes, among: Codes, k: int = 1) -> tuple[Codes, Rows]:
    """Return for each case the scaled distances to its `k` nearest rows of `among` and their numbers, nearest first.

    As `space.neighbours.nearest` does, several times as fast where not all features are real numbers.
    """
    found = min(k, len(among))
    if space.smooth or not len(cases) or not 0 < found <= FEW:
        return nearest(space, cases, among, k)
    gaps, at = np.full((len(cases), k), np.inf), np.full((len(cases), k), -1, dtype=np.intp)
    measured = Distances(space, cases, among)
    rows = max(1, AT_ONCE // len(among))
    for start in range(0, len(cases), rows):
        some = slice(start, start + rows)
        left = measured(some)
        every = np.arange(len(left))
        for rank in range(found):
            best = left.argmin(axis=1)
            at[some, rank], gaps[some, rank] = best, left[every, best]
            left[every, best] = np.inf
    return gaps, at


class Distances:
    """The scaled distances of rows to every one of others, block by block."""

    def __init__(self, space: Space, cases: Codes, among: Codes) -> None:
        both = np.concatenate([cases, among])
        self._measured, self._holed = [], []
        kinds = ("categorical", "hamming"), ("integer", "cityblock"), ("continuous", "sqeuclidean")
        for kind, measure in kinds:
            of_kind = [j for j, feature in enumerate(space.features) if feature.kind == kind]
            holed = [j for j in of_kind if kind != "categorical" and np.isnan(both[:, j]).any()]
            some = [j for j in of_kind if j not in holed]
            values = both[:, some] * np.array([space.features[j].scale for j in some])
            if some:  # a missing category is one more
                values = np.ascontiguousarray(np.nan_to_num(values, nan=-1.0))
                self._measured.append((measure, values[: len(cases)], values[len(cases) :]))
            for j in holed:
                column = both[:, j] * space.features[j].scale
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
