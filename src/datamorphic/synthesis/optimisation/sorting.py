"""Non-dominated sorting of test sets by several metrics, and which of them to keep (Deb et al. 2002, NSGA-II).

One set dominates another if no metric is lower and at least one is higher.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .metrics import Numbers, RowNumbers


def rank_by_dominance(fitness: Numbers) -> RowNumbers:
    """Return the rank of each row of a matrix with one column per metric; rank 0 is dominated by no other row."""
    at_least = np.all(fitness[:, None, :] >= fitness[None, :, :], axis=2)
    above = np.any(fitness[:, None, :] > fitness[None, :, :], axis=2)
    dominates: npt.NDArray[np.bool_] = np.asarray(at_least & above)
    ranks = np.full(len(fitness), -1, dtype=np.intp)
    rank = 0
    while (ranks < 0).any():
        open_rows = ranks < 0
        ranks[open_rows & ~dominates[open_rows].any(axis=0)] = rank
        rank += 1
    return ranks


def compute_crowding(fitness: Numbers) -> Numbers:
    """Return how much room each row has between its neighbours in every metric; the extremes have infinite room."""
    rows, columns = fitness.shape
    room = np.zeros(rows)
    for column in range(columns):
        order = np.argsort(fitness[:, column], kind="stable")
        values = fitness[order, column]
        room[order[[0, -1]]] = np.inf
        width = values[-1] - values[0]
        if width > 0:
            room[order[1:-1]] += (values[2:] - values[:-2]) / width
    return room


def choose_survivors(fitness: Numbers, limit: int, start: Numbers) -> RowNumbers:
    """Return the rows to keep: the best rank only, and of these at most `limit`, the least crowded ones.

    The best row of each metric and the compromise always stay, so that no metric falls. Of rows with equal fitness the last
    one is kept, because a new set may lead on where an old one did not.
    """
    best = np.flatnonzero(rank_by_dominance(fitness) == 0)
    _, last = np.unique(fitness[best][::-1], axis=0, return_index=True)
    best = np.sort(best[::-1][last])
    needed = best[[*fitness[best].argmax(axis=0).tolist(), choose_compromise(fitness[best], start)]]
    while len(best) > max(limit, len(set(needed.tolist()))):
        removable = np.flatnonzero(~np.isin(best, needed))
        best = np.delete(best, removable[compute_crowding(fitness[best])[removable].argmin()])
    return best


def choose_compromise(fitness: Numbers, start: Numbers) -> int:
    """Return the row whose smallest gain is largest, with the gain of each metric as a share of the largest one.

    So no metric is lower than at the start, if a row for which that is true is among the rows.
    """
    gains = fitness - start
    best = gains.max(axis=0)
    shares = gains / np.where(best > 0, best, np.maximum(np.abs(start), np.finfo(float).tiny))
    order = np.lexsort((-shares.sum(axis=1), -shares.min(axis=1)))
    return int(order[0])
