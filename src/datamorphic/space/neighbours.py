"""Nearest neighbours by the distance of a space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import geometry
from .features import Codes
from .text_feature import Text
from .token_edits import bound_edits, count_edits

if TYPE_CHECKING:
    from .space import Space

MAX_DISTANCES_PER_BLOCK = 500_000  # so that a block stays in the processor's cache from one feature to the next
MAX_EXACT_TEXT_PAIRS = 20_000
MAX_PLAIN_DISTANCES = 200_000  # milliseconds
MAX_PLAIN_DIMENSIONS = 3
MAX_NEIGHBOURS_BY_REPEATED_SEARCH = 32  # for more neighbours, sorting is faster


def find_nearest(
    space: Space, cases: Codes, candidates: Codes, k: int = 1, *, scaled: bool = True
) -> tuple[Codes, npt.NDArray[np.intp]]:
    """Return distances and row numbers of the `k` nearest candidates per case.

    The search uses a tree if all features are continuous, else all distances. It is exact, except among many texts, whose edits
    are replaced by a lower bound (see `Distances`). If there are fewer than `k` candidates, the rest is inf and -1.
    """
    neighbour_count = min(k, len(candidates))
    distances = np.full((len(cases), k), np.inf)
    places = np.full((len(cases), k), -1, dtype=np.intp)
    if not neighbour_count or not len(cases):
        return distances, places
    if space.smooth:
        from scipy.spatial import cKDTree

        scale = np.array([feature.scale if scaled else 1.0 for feature in space.features])
        rows = cKDTree(candidates * scale).query(cases * scale, k=list(range(1, neighbour_count + 1)))[1]
        # the tree rounds its own distances as the processor does, so they are measured again
        gaps = geometry.distance(space, np.repeat(cases, neighbour_count, axis=0), candidates[rows.ravel()], scaled)
        distances[:, :neighbour_count], places[:, :neighbour_count] = gaps.reshape(rows.shape), rows
        return distances, places
    block_distances = Distances(space, cases, candidates, scaled)
    rows_per_block = max(1, MAX_DISTANCES_PER_BLOCK // len(candidates))
    for start in range(0, len(cases), rows_per_block):
        block = slice(start, start + rows_per_block)
        remaining = block_distances(block)
        if neighbour_count <= MAX_NEIGHBOURS_BY_REPEATED_SEARCH:
            row_numbers = np.arange(len(remaining))
            for rank in range(neighbour_count):
                best = remaining.argmin(axis=1)
                places[block, rank], distances[block, rank] = best, remaining[row_numbers, best]
                remaining[row_numbers, best] = np.inf
        else:
            order = np.argsort(remaining, axis=1, kind="stable")[:, :neighbour_count]
            places[block, :neighbour_count] = order
            distances[block, :neighbour_count] = np.take_along_axis(remaining, order, axis=1)
    return distances, places


def measure_nearest(space: Space, cases: Codes, candidates: Codes) -> Codes:
    """Return the distance of each case to its nearest candidate, as `find_nearest` does.

    A small plane is searched without SciPy, which takes longer to import than the search itself.
    """
    if not (
        space.smooth and len(space) <= MAX_PLAIN_DIMENSIONS and 0 < len(cases) * len(candidates) <= MAX_PLAIN_DISTANCES
    ):
        return find_nearest(space, cases, candidates)[0][:, 0]
    squares = np.zeros((len(cases), len(candidates)))
    for j, feature in enumerate(space.features):
        squares += (np.subtract.outer(cases[:, j], candidates[:, j]) * feature.scale) ** 2
    return geometry.distance(space, cases, candidates[squares.argmin(axis=1)], scaled=True)


class Distances:
    """The distances of all cases to all candidates, block by block.

    For more than `MAX_EXACT_TEXT_PAIRS` pairs of texts, the number of edits is replaced by a lower bound, which ignores the order
    of the words.
    """

    def __init__(self, space: Space, cases: Codes, candidates: Codes, scaled: bool) -> None:
        scale = np.array([feature.scale if scaled else 1.0 for feature in space.features])
        all_rows = np.concatenate([cases, candidates])
        self._complete_columns, self._columns_with_missing = [], []
        self._texts: list[tuple[Codes, npt.NDArray[np.intp], npt.NDArray[np.intp]]] = []
        for j, feature in enumerate(space.features):
            if isinstance(feature, Text):
                self._texts.append(_measure_texts(feature, cases[:, j], candidates[:, j], scale[j]))
        kinds = ("categorical", "hamming"), ("integer", "cityblock"), ("continuous", "sqeuclidean")
        for kind, measure in kinds:
            positions = [j for j, feature in enumerate(space.features) if feature.kind == kind]
            with_missing = [j for j in positions if kind != "categorical" and np.isnan(all_rows[:, j]).any()]
            complete = [j for j in positions if j not in with_missing]
            values = all_rows[:, complete] * scale[complete]
            if complete:  # a missing value counts as one more category
                values = np.ascontiguousarray(np.nan_to_num(values, nan=-1.0))
                self._complete_columns.append((measure, values[: len(cases)], values[len(cases) :]))
            for j in with_missing:
                column = all_rows[:, j] * scale[j]
                self._columns_with_missing.append((measure, column[: len(cases), None], column[None, len(cases) :]))

    def __call__(self, rows: slice) -> Codes:
        """Return the distances of a slice of the cases to all candidates."""
        from scipy.spatial.distance import cdist

        sums: dict[str, Codes] = {}

        def add(measure: str, gaps: Codes) -> None:
            sums[measure] = sums[measure] + gaps if measure in sums else gaps

        for measure, cases, candidates in self._complete_columns:
            add(measure, cdist(cases[rows], candidates, measure))
            if measure == "hamming":  # the share of categories that differ
                sums[measure] *= candidates.shape[1]
        for table, case_places, candidate_places in self._texts:
            add("text", table[case_places[rows][:, None], candidate_places])
        for measure, cases, candidates in self._columns_with_missing:
            gap = np.abs(cases[rows] - candidates)
            add("missing", (np.isnan(cases[rows]) != np.isnan(candidates)).astype(np.float64))
            gap[np.isnan(gap)] = 0.0
            add(measure, gap * gap if measure == "sqeuclidean" else gap)
        if "sqeuclidean" in sums:
            np.sqrt(sums["sqeuclidean"], out=sums["sqeuclidean"])
        first, *rest = sums.values()
        for gaps in rest:
            first += gaps
        return first


def _measure_texts(
    feature: Text, cases: Codes, candidates: Codes, scale: float
) -> tuple[Codes, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the distances of different texts as a table, and the places of all rows in it."""
    first, case_places = np.unique(cases, return_inverse=True)
    second, candidate_places = np.unique(candidates, return_inverse=True)
    texts = [feature.decode_texts(codes) for codes in (first, second)]
    known_texts = [[text for text in side if text is not None] for side in texts]  # a missing value is the last one
    table = np.ones((len(first), len(second)))
    if len(known_texts[0]) * len(known_texts[1]) > MAX_EXACT_TEXT_PAIRS:
        edits = bound_edits(*known_texts)
    else:
        pairs = [(a, b) for a in known_texts[0] for b in known_texts[1]]
        edits = count_edits([a for a, _ in pairs], [b for _, b in pairs]).reshape(
            len(known_texts[0]), len(known_texts[1])
        )
    table[: len(known_texts[0]), : len(known_texts[1])] = edits * scale
    if len(known_texts[0]) < len(first) and len(known_texts[1]) < len(second):
        table[-1, -1] = 0.0
    return table, case_places.ravel(), candidate_places.ravel()
