"""Nearest rows in a space, by its own distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .features import Codes
from .geometry import summed

if TYPE_CHECKING:
    from .space import Space

PAIRS_AT_ONCE = 2_000_000  # bounds the memory of all-pairs distances


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
    rows = max(1, PAIRS_AT_ONCE // len(among))
    for start in range(0, len(cases), rows):
        some = slice(start, start + rows)
        gaps = all_distances(space, cases[some], among, scaled=scaled)
        order = np.argpartition(gaps, found - 1, axis=1)[:, :found] if found < len(among) else None
        at = np.broadcast_to(np.arange(len(among)), gaps.shape) if order is None else order
        near = np.take_along_axis(gaps, at, axis=1)
        sorting = np.argsort(near, axis=1, kind="stable")
        distances[some, :found] = np.take_along_axis(near, sorting, axis=1)
        places[some, :found] = np.take_along_axis(at, sorting, axis=1)
    return distances, places


def all_distances(space: Space, a: Codes, b: Codes, *, scaled: bool = False) -> Codes:
    """Return the matrix of distances of every row of `a` to every row of `b`."""
    return summed(space, a.T[:, :, None], b.T[:, None, :], (len(a), len(b)), scaled)
