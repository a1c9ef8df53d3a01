"""Which rows kill which mutants of a tree, without asking a single mutant.

A mutant differs from its tree at one node, so only rows that come by this node can tell: those that it sends the other
way. What the other way leads to is found once for each row and node; then a mutant is one comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .model import ROWS_AT_ONCE, Nodes, Tree, as_seen, compared, descend, leaf_of
from .mutants import Mutants

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WORTH_COMPILED = 1_000_000_000  # rows times mutants: below, loading the compiler costs more than it saves
COUNTED_AT_ONCE = 200_000  # rows


@dataclass(frozen=True, eq=False)
class Kills:
    """Which rows kill which mutants: those of mutant m are ``rows[start[m]:start[m + 1]]``, ascending."""

    start: Nodes
    rows: Nodes
    width: int

    def __len__(self) -> int:
        return len(self.start) - 1

    def of(self, mutant: int) -> Nodes:
        """Return the rows that kill a mutant."""
        return self.rows[self.start[mutant] : self.start[mutant + 1]]

    @cached_property
    def counts(self) -> Nodes:
        """How many rows kill each mutant."""
        return np.diff(self.start)

    @property
    def killed(self) -> npt.NDArray[np.bool_]:
        """Which mutants some row kills."""
        return self.counts > 0

    def matrix(self) -> csr_array:
        """Return all that as a sparse matrix, a row for each mutant and a column for each row of the data."""
        from scipy.sparse import csr_array

        return csr_array(
            (np.ones(len(self.rows), dtype=bool), self.rows, self.start), shape=(len(self), self.width)
        )


def kills_of(
    tree: Tree, matrix: Any, mutants: Mutants, *, tolerance: float = 0.0, compiled: bool | None = None
) -> Kills:
    """Return which rows of a matrix, as the tree sees them, kill which of its mutants: get another answer.

    Parameters
    ----------
    tolerance : float
        How far apart answers that are numbers may be and still count as the same.
    compiled : bool, optional
        Whether to use compiled code, which needs the extra "fast"; left out, where it is there and pays.
    """
    values = as_seen(tree, matrix)
    if compiled is None:
        worth = len(values) * len(mutants) > WORTH_COMPILED
        compiled = worth and find_spec("numba") is not None
    if compiled:
        from .kernels import compiled_kills

        return Kills(
            *compiled_kills(tree, values, mutants, tree.answer.astype(np.float64), tolerance), len(values)
        )
    number, rows, _ = cells(tree, values, mutants, tree.answer, tolerance)
    return collected(number, rows, len(mutants), len(values))


def killers_of(tree: Tree, matrix: Any, mutants: Mutants, *, tolerance: float = 0.0) -> Nodes:
    """Return how many rows kill each mutant: the same figures without a list of who, which may be long."""
    values = as_seen(tree, matrix)
    counts = np.zeros(len(mutants), dtype=np.intp)
    for start in range(0, len(values), COUNTED_AT_ONCE):
        counts += kills_of(tree, values[start : start + COUNTED_AT_ONCE], mutants, tolerance=tolerance).counts
    return counts


def collected(number: Nodes, rows: Nodes, mutants: int, width: int) -> Kills:
    """Return kills that are given one by one, by mutant and row."""
    start = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=mutants))])
    return Kills(start.astype(np.intp), rows[np.argsort(number, kind="stable")], width)


def cells(
    tree: Tree, values: npt.NDArray[Any], mutants: Mutants, answer: npt.NDArray[Any], tolerance: float = 0.0
) -> tuple[Nodes, Nodes, Nodes]:
    """Return kills one by one: the mutant, the row, and the leaf it comes to in the mutant; rows ascending.

    Two leaves answer the same where their numbers in `answer` are no farther apart than the tolerance.
    """
    found: list[tuple[Nodes, Nodes, Nodes]] = []
    for start in range(0, len(values), ROWS_AT_ONCE):
        number, rows, leaves = _cells(tree, values[start : start + ROWS_AT_ONCE], mutants, answer, tolerance)
        found.append((number, rows + start, leaves))
    if not found:
        return (np.zeros(0, dtype=np.intp),) * 3
    number, rows, leaves = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return number, rows, leaves


def _cells(
    tree: Tree, values: npt.NDArray[Any], mutants: Mutants, answer: npt.NDArray[Any], tolerance: float
) -> tuple[Nodes, Nodes, Nodes]:
    own = leaf_of(tree, values)
    rows, nodes = _visits(tree, own)
    seen = values[rows, tree.feature[nodes]]
    left = compared(seen, tree.operator[nodes], tree.threshold[nodes], tree.members)
    given = ~np.isnan(seen)  # a missing value goes where it went
    rows, nodes, seen, left = rows[given], nodes[given], seen[given], left[given]
    other = descend(tree, values, rows, np.where(left, tree.right[nodes], tree.left[nodes]).astype(np.intp))
    tells = np.flatnonzero(np.abs(answer[other] - answer[own[rows]]) > tolerance)
    tells = tells[np.argsort(nodes[tells], kind="stable")]
    rows, nodes, seen, left, other = rows[tells], nodes[tells], seen[tells], left[tells], other[tells]
    first = np.searchsorted(nodes, mutants.node)
    many = np.searchsorted(nodes, mutants.node, side="right") - first
    number = np.repeat(np.arange(len(mutants)), many)
    at = np.arange(len(number)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(first, many)
    holds = compared(seen[at], mutants.operator[number], mutants.threshold[number], tree.members)
    turned = np.flatnonzero(holds != left[at])
    return number[turned], rows[at[turned]], other[at[turned]]


def _visits(tree: Tree, leaves: Nodes) -> tuple[Nodes, Nodes]:
    """Return the nodes that rows come by on their way to their leaves, as pairs; of one node, rows ascending."""
    rows, nodes = np.arange(len(leaves)), tree.parent[leaves].astype(np.intp)
    found = []
    while True:
        on = nodes >= 0
        if not on.any():
            break
        rows, nodes = rows[on], nodes[on]
        found.append((rows, nodes))
        nodes = tree.parent[nodes].astype(np.intp)
    if not found:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    rows, nodes = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((rows, nodes))
    return rows[order], nodes[order]
