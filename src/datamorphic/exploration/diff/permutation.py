"""Test whether two fronts differ by more than chance, where no system can be queried."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...space.features import Codes
from ...space.neighbours import find_nearest
from ..changes import Answers, Mask, Rows, thin_rows
from ..front_data import FrontData
from .follow import OrientedPairs

ABSENCE_SIGNIFICANCE_LEVEL = 0.001  # per border and per answer that only one front has
DISTANCE_SIGNIFICANCE_LEVEL = 0.005  # for the positions of all pairs
SHUFFLES = 999
MAX_PAIRS_PER_FRONT = 1_000  # evenly chosen
VIEW_NEIGHBOURS_PER_PAIR = 30  # neighbours of each pair that are compared


def find_exclusive_values(
    values: Answers, other_values: Answers, tries: int, other_tries: int, try_of_value: Rows
) -> list[Any]:
    """Return the values that occur in `values` but never in `other_values`, too often for chance.

    If a value were equally likely in both samples, the probability that all `c` tries that met it belong to the first
    one would be ``tries / (tries + other_tries)``, times ``(tries - 1) / (tries + other_tries - 1)``, and so on for
    `c` factors. `try_of_value` is the try that each of `values` belongs to.
    """
    exclusive_values = []
    for value in dict.fromkeys(values.tolist()):
        if not np.any(other_values == value):
            hits = np.arange(len(np.unique(try_of_value[values == value])))
            if np.prod((tries - hits) / (tries + other_tries - hits)) < ABSENCE_SIGNIFICANCE_LEVEL:
                exclusive_values.append(value)
    return exclusive_values


def compute_permutation_p_value(
    old_front: FrontData, new_front: FrontData, old_pairs: OrientedPairs, new_pairs: OrientedPairs, tolerance: float
) -> float:
    """Return the probability that two fronts of the same system are as far apart as these.

    It compares the two fronts with random halves of all their pairs, by four statistics per border that both have: the
    distance of a pair from the nearest one of the other front with the same direction, in total and along that
    direction; the mean signed offset along it; and the mean angle between neighbours. The most extreme statistic
    counts. Pairs near the same seed case go to the same half, because walks from one seed find the same border again.
    Only the part of a distance above the tolerance counts.
    """
    pairs, is_new, cluster = _merge_pairs(old_front, new_front, old_pairs, new_pairs)
    views = [
        _PairNeighbourhoods(pairs.take(rows), rows, tolerance)
        for kind in np.unique(pairs.kinds)
        if len(rows := np.flatnonzero(pairs.kinds == kind)) > 2 and len(np.unique(is_new[rows])) == 2
    ]
    if not views:
        return 1.0
    rng = np.random.default_rng(0)
    sizes = np.bincount(cluster)
    statistics = [[statistic for view in views for statistic in view.compute_statistics(is_new)]]
    for _ in range(SHUFFLES):
        order = rng.permutation(len(sizes))
        in_second_half = np.empty(len(sizes), dtype=bool)
        in_second_half[order] = np.cumsum(sizes[order]) > len(old_pairs)
        half = in_second_half[cluster]
        statistics.append([statistic for view in views for statistic in view.compute_statistics(half)])
    all_statistics = np.array(statistics)
    spread = all_statistics.std(axis=0)
    extremeness = ((all_statistics - all_statistics.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).max(axis=1)
    return float((extremeness >= extremeness[0] - 1e-12).mean())


def _merge_pairs(
    old_front: FrontData, new_front: FrontData, old_pairs: OrientedPairs, new_pairs: OrientedPairs
) -> tuple[OrientedPairs, Mask, Rows]:
    """Return the pairs of both fronts, which of them are new, and the nearest seed case of each."""
    parts, clusters = [], []
    for first_seed, source, pairs in ((0, old_front, old_pairs), (len(old_front.seeds), new_front, new_pairs)):
        rows = thin_rows(len(pairs), MAX_PAIRS_PER_FRONT)
        parts.append(pairs.take(rows))
        clusters.append(first_seed + find_nearest(source.space, source.a.codes[rows], source.seeds.codes)[1][:, 0])
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in vars(old_pairs) if name != "space"
    }
    _, cluster = np.unique(np.concatenate(clusters), return_inverse=True)
    return replace(old_pairs, **columns), np.arange(len(cluster)) >= len(parts[0]), cluster


class _PairNeighbourhoods:
    """The pairs of one border, each with its neighbours."""

    def __init__(self, pairs: OrientedPairs, rows: Rows, tolerance: float) -> None:
        self.rows = rows
        count = min(VIEW_NEIGHBOURS_PER_PAIR, len(pairs))
        raw_distances, self.neighbours = find_nearest(pairs.space, pairs.first, pairs.first, count)
        self.distances = np.maximum(raw_distances - tolerance, 0.0)
        all_rows = np.arange(len(pairs))
        ranks = [self.neighbours[:, rank] for rank in range(count)]
        self.agreement = np.column_stack([pairs.compute_cosines(all_rows, pairs, neighbour) for neighbour in ranks])
        self.same_direction: Mask = self.agreement >= 0
        self.all_rows = all_rows
        ahead = np.column_stack([pairs.compute_offsets(all_rows, pairs, neighbour) for neighbour in ranks])
        self.ahead: Codes = np.sign(ahead) * np.maximum(np.abs(ahead) - tolerance, 0.0)

    def compute_statistics(self, is_new: Mask) -> tuple[float, ...]:
        """Return four statistics of how much two sets of the pairs differ."""
        in_new = is_new[self.rows]
        across = in_new[self.neighbours] != in_new[:, None]
        matches = across & self.same_direction
        has_match, first_match = matches.any(axis=1), matches.argmax(axis=1)
        gaps = np.where(has_match, self.distances[self.all_rows, first_match], self.distances[:, -1])
        offsets = self.ahead[has_match, first_match[has_match]]
        cosines = self.agreement[across]
        if not offsets.size:
            return float(gaps.mean()), 0.0, 0.0, 0.0 if not cosines.size else -float(cosines.mean())
        drift = np.where(in_new[has_match], -offsets, offsets).mean()
        return float(gaps.mean()), float(np.abs(offsets).mean()), abs(float(drift)), -float(cosines.mean())
