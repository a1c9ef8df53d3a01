"""Set cover: few rows that meet all requirements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_EXACT_MATRIX_ENTRIES = 200_000  # beyond, only the greedy set is computed
EXACT_SOLVER_SECONDS = 10.0


def find_smallest_cover(coverage_matrix: csr_array) -> tuple[npt.NDArray[np.intp], bool]:
    """Find few rows that meet all requirements, and whether they are the fewest.

    The matrix has one row per requirement and one column per row of the data.
    """
    requirements = np.flatnonzero(np.diff(coverage_matrix.indptr) > 0)
    if not requirements.size:
        return np.zeros(0, dtype=np.intp), True
    required_matrix = coverage_matrix[requirements]
    # of rows that meet the same requirements only the first is kept
    columns = required_matrix.tocsc()
    columns.sort_indices()
    keys: dict[bytes, int] = {}
    for row in np.flatnonzero(np.diff(columns.indptr) > 0).tolist():
        keys.setdefault(columns.indices[columns.indptr[row] : columns.indptr[row + 1]].tobytes(), row)
    rows = np.fromiter(keys.values(), dtype=np.intp)
    distinct_matrix = columns[:, rows].tocsr()
    chosen = find_greedy_cover(distinct_matrix)
    exact = len(chosen) == 1
    if not exact and distinct_matrix.nnz <= MAX_EXACT_MATRIX_ENTRIES:
        optimum = _solve_exactly(distinct_matrix)
        if optimum is not None:
            chosen, exact = optimum, True
    return np.sort(rows[chosen]), exact


def find_greedy_cover(coverage_matrix: csr_array) -> npt.NDArray[np.intp]:
    """Choose rows that meet most open requirements until all are met."""
    columns = coverage_matrix.tocsc()
    open_counts = np.diff(columns.indptr).astype(np.int64)
    is_open = np.ones(coverage_matrix.shape[0], dtype=bool)
    chosen = []
    while is_open.any():
        row = int(open_counts.argmax())
        chosen.append(row)
        requirements = columns.indices[columns.indptr[row] : columns.indptr[row + 1]]
        requirements = requirements[is_open[requirements]]
        is_open[requirements] = False
        # requirements that are met no longer count for other rows
        np.subtract.at(open_counts, coverage_matrix[requirements].indices, 1)
    return np.array(chosen, dtype=np.intp)


def _solve_exactly(coverage_matrix: csr_array) -> npt.NDArray[np.intp] | None:
    """Find the smallest set by integer programming; None if that takes too long."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    solution = milp(
        np.ones(coverage_matrix.shape[1]),
        integrality=np.ones(coverage_matrix.shape[1]),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(coverage_matrix.astype(float), lb=1),
        options={"time_limit": EXACT_SOLVER_SECONDS, "mip_rel_gap": 0},
    )
    return np.flatnonzero(solution.x > 0.5) if solution.status == 0 else None
