"""A small set of rows that meets all requirements: greedy, and the smallest there is where that can be found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SMALL = 200_000  # meetings of a row and a requirement up to which the smallest set is sought
SECONDS = 10.0


def smallest(meets: csr_array) -> tuple[npt.NDArray[np.intp], bool]:
    """Return rows that meet every requirement that any row meets, and whether no smaller set would do.

    Parameters
    ----------
    meets : sparse matrix of bool
        A row for each requirement, a column for each row of the data.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows, exact = smallest(csr_array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]))
    >>> rows.tolist(), exact
    ([1, 2], True)
    """
    wanted = np.flatnonzero(np.diff(meets.indptr) > 0)
    if not wanted.size:
        return np.zeros(0, dtype=np.intp), True
    wanted_meets = meets[wanted]
    # rows that meet the same requirements stand for each other, the first for all
    columns = wanted_meets.tocsc()
    columns.sort_indices()
    keys: dict[bytes, int] = {}
    for row in np.flatnonzero(np.diff(columns.indptr) > 0).tolist():
        keys.setdefault(columns.indices[columns.indptr[row] : columns.indptr[row + 1]].tobytes(), row)
    rows = np.fromiter(keys.values(), dtype=np.intp)
    few = columns[:, rows].tocsr()
    chosen = greedy(few)
    exact = len(chosen) == 1
    if not exact and few.nnz <= SMALL:
        better = _solved(few)
        if better is not None:
            chosen, exact = better, True
    return np.sort(rows[chosen]), exact


def greedy(meets: csr_array) -> npt.NDArray[np.intp]:
    """Return rows that meet all requirements: each time the one that meets most of those still open."""
    columns = meets.tocsc()
    still = np.diff(columns.indptr).astype(np.int64)
    open_ = np.ones(meets.shape[0], dtype=bool)
    chosen = []
    while open_.any():
        row = int(still.argmax())
        chosen.append(row)
        met = columns.indices[columns.indptr[row] : columns.indptr[row + 1]]
        met = met[open_[met]]
        open_[met] = False
        # each of the requirements met now counts no longer for all rows that meet it
        np.subtract.at(still, meets[met].indices, 1)
    return np.array(chosen, dtype=np.intp)


def _solved(meets: Any) -> npt.NDArray[np.intp] | None:
    """Return the smallest set by a solver of integer programs; None if it takes too long."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    found = milp(
        np.ones(meets.shape[1]),
        integrality=np.ones(meets.shape[1]),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(meets.astype(float), lb=1),
        options={"time_limit": SECONDS, "mip_rel_gap": 0},
    )
    return np.flatnonzero(found.x > 0.5) if found.status == 0 else None
