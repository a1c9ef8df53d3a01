"""What chance alone does to a front: telling two fronts apart when no system is there to be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..space.features import Codes
from ..space.neighbours import nearest
from .follow import Oriented
from .reading import Mask, Rows, thinned

if TYPE_CHECKING:
    from .front import Front

RARE = 0.001  # what is less likely is no chance: for each two classes, and each answer
UNLIKELY = 0.005  # the same for where all the pairs lie
SHUFFLES = 999
MOST_PAIRS = 1_000  # of each front, evenly chosen
AROUND = 30  # neighbours of each pair that are looked at


def only_in(
    some: npt.NDArray[Any], others: npt.NDArray[Any], tries: int, other_tries: int, of_try: npt.NDArray[Any]
) -> list[Any]:
    """Return the values that occur in some and never in others, too often for that to be chance.

    If a value were as likely in both, all of the `c` tries that met it would be among the some with probability
    `tries` over all, times `tries - 1` over all but one, ... `of_try` is the try that each of some belongs to.
    """
    found = []
    for value in dict.fromkeys(some.tolist()):
        if not np.any(others == value):
            met = np.arange(len(np.unique(of_try[some == value])))
            if np.prod((tries - met) / (tries + other_tries - met)) < RARE:
                found.append(value)
    return found


def unlike(front: Front, other: Front, old: Oriented, new: Oriented, tolerance: float) -> float:
    """Return how likely two fronts of one system lie as far apart as these, from how far random halves of both do.

    For each two classes that meet in both: how far the pairs of one are from the nearest of the other that looks
    the same way, in all and on their way from side to side, how much all of one lie beyond the other, and how much
    neighbours of both look different ways. The most unusual of these counts. Pairs near one seed go to the same half,
    since walks from it find the same border again and again. Distances count by what they are above the tolerance.
    """
    joined, group, cluster = _joined(front, other, old, new)
    views = [
        _View(joined.take(rows), rows, tolerance)
        for kind in np.unique(joined.kinds)
        if len(rows := np.flatnonzero(joined.kinds == kind)) > 2 and len(np.unique(group[rows])) == 2
    ]
    if not views:
        return 1.0
    rng = np.random.default_rng(0)
    sizes = np.bincount(cluster)
    figures = [[figure for view in views for figure in view.figures(group)]]
    for _ in range(SHUFFLES):
        order = rng.permutation(len(sizes))
        into = np.empty(len(sizes), dtype=bool)
        into[order] = np.cumsum(sizes[order]) > len(old)
        half = into[cluster]
        figures.append([figure for view in views for figure in view.figures(half)])
    all_figures = np.array(figures)
    spread = all_figures.std(axis=0)
    unusual = ((all_figures - all_figures.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).max(axis=1)
    return float((unusual >= unusual[0] - 1e-12).mean())


def _joined(front: Front, other: Front, old: Oriented, new: Oriented) -> tuple[Oriented, Mask, Rows]:
    """Return pairs of both fronts, which are of the new one, and the seed near which each lies."""
    parts, clusters, groups = [], [], []
    for number, (its, pairs) in enumerate(((front, old), (other, new))):
        rows = thinned(len(pairs), MOST_PAIRS)
        parts.append(pairs.take(rows))
        seeds = nearest(its.space, its.a.codes[rows], its.seeds.codes)[1][:, 0]
        clusters.append(seeds + number * len(front.seeds))
        groups.append(np.full(len(rows), bool(number)))
    whole = [np.concatenate([getattr(part, name) for part in parts]) for name in vars(old) if name != "space"]
    _, cluster = np.unique(np.concatenate(clusters), return_inverse=True)
    return Oriented(old.space, *whole), np.concatenate(groups), cluster


class _View:
    """The pairs between two classes, each with its neighbours."""

    def __init__(self, pairs: Oriented, rows: Rows, tolerance: float) -> None:
        self.rows = rows
        count = min(AROUND, len(pairs))
        far, self.near = nearest(pairs.space, pairs.first, pairs.first, count)
        self.far = np.maximum(far - tolerance, 0.0)
        every = np.arange(len(pairs))
        ranks = [self.near[:, rank] for rank in range(count)]
        self.agreement: Codes = np.column_stack([pairs.agreement(every, pairs, near) for near in ranks])
        ahead = np.column_stack([pairs.ahead(every, pairs, near) for near in ranks])
        self.ahead: Codes = np.sign(ahead) * np.maximum(np.abs(ahead) - tolerance, 0.0)

    def figures(self, group: Mask) -> tuple[float, ...]:
        """Return by how much two groups of the pairs differ, in four ways."""
        mine = group[self.rows]
        across = mine[self.near] != mine[:, None]
        fit = across & (self.agreement >= 0)
        some, first = fit.any(axis=1), fit.argmax(axis=1)
        far = np.where(some, self.far[np.arange(len(mine)), first], self.far[:, -1])
        ahead = self.ahead[some, first[some]]
        ways = self.agreement[across]
        if not ahead.size:
            return float(far.mean()), 0.0, 0.0, 0.0 if not ways.size else -float(ways.mean())
        beyond = np.where(mine[some], -ahead, ahead)
        return float(far.mean()), float(np.abs(ahead).mean()), abs(float(beyond.mean())), -float(ways.mean())
