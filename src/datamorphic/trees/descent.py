"""Send rows through a tree to find the leaves they reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._validation import reject
from .tree import ABOVE, BELOW, EQUAL, FROM, LEVELS_PER_ARRIVAL_CHECK, WITHIN, Floats, Nodes, Tree

ROWS_PER_BLOCK = 16_384  # few enough to stay in the processor's cache from level to level


def evaluate_comparisons(
    values: npt.NDArray[Any],
    operator: npt.NDArray[np.int8],
    threshold: Floats,
    members: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.bool_]:
    """Return where comparisons hold, element by element; never for NaN. Sets need `members`, see `Tree.members`."""
    holds = values <= threshold
    for code, compare in ((BELOW, np.less), (ABOVE, np.greater), (FROM, np.greater_equal), (EQUAL, np.equal)):
        places = np.flatnonzero(operator == code)
        if places.size:
            holds[places] = compare(values[places], threshold[places])
    places = np.flatnonzero(operator >= WITHIN)
    if places.size:
        assert members is not None
        with np.errstate(invalid="ignore"):
            codes = np.clip(values[places], -1, members.shape[1] - 1)
            is_code = np.isfinite(codes) & (codes >= 0) & (codes == np.floor(codes))
            inside = is_code & members[threshold[places].astype(np.intp), np.where(is_code, codes, 0).astype(np.intp)]
        holds[places] = inside == (operator[places] == WITHIN)
    return holds


def to_tree_precision(tree: Tree, matrix: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return rows in the precision in which a tree compares them."""
    try:
        with np.errstate(over="ignore"):
            values = np.ascontiguousarray(matrix, dtype=np.float32 if tree.single else np.float64)
    except (TypeError, ValueError, OverflowError):
        reject("matrix", "find_leaves", "a matrix of numbers", matrix)
    if values.ndim != 2 or values.shape[1] != len(tree.names):
        reject("matrix", "find_leaves", f"a matrix of {len(tree.names)} columns", np.shape(matrix))
    return values


def find_leaves(tree: Tree, matrix: npt.ArrayLike, *, compiled: bool = False) -> Nodes:
    """Find the leaf that each row reaches; `compiled` needs numba."""
    values = to_tree_precision(tree, matrix)
    if compiled:
        from .kernels import find_leaves_compiled

        return find_leaves_compiled(tree, values)
    leaves = np.zeros(len(values), dtype=np.intp)
    for start in range(0, len(values), ROWS_PER_BLOCK):
        block = values[start : start + ROWS_PER_BLOCK]
        rows = np.arange(len(block))
        leaves[start : start + ROWS_PER_BLOCK] = descend(tree, block, rows, np.zeros(len(block), dtype=np.intp))
    return leaves


def descend(tree: Tree, values: npt.NDArray[Any], rows: Nodes, node: Nodes) -> Nodes:
    """Find the leaves that rows reach, each from a node of its own.

    `rows` are indices into the block of values. All rows descend together, level by level. Rows that reach a leaf
    stay there, since a leaf leads to itself.
    """
    feature, limit, children, missing_second, is_leaf, special = tree.routing
    leaves = node.copy()
    if is_leaf[0]:
        return leaves
    missing_goes_second = missing_second if np.isnan(values).any() else None
    flat = values.ravel()
    origin = rows * values.shape[1]
    places = np.arange(len(node))
    while node.size:
        for _ in range(LEVELS_PER_ARRIVAL_CHECK):
            # mode="clip" skips the bounds check, which is not needed
            compared_values = flat.take(origin + feature.take(node, mode="clip"), mode="clip")
            second = ~(compared_values <= limit.take(node, mode="clip"))
            if special is not None:
                special_places = np.flatnonzero(special.take(node, mode="clip"))
                special_nodes = node[special_places]
                second[special_places] = ~evaluate_comparisons(
                    compared_values[special_places],
                    tree.operator[special_nodes],
                    tree.threshold[special_nodes],
                    tree.members,
                )
            if missing_goes_second is not None:
                second = np.where(np.isnan(compared_values), missing_goes_second.take(node, mode="clip"), second)
            node = children.take(2 * node + second, mode="clip")
        leaves[places] = node
        moving = np.flatnonzero(~is_leaf.take(node, mode="clip"))
        if moving.size < 0.8 * node.size:  # copying pays if enough rows have arrived
            node, origin, places = node.take(moving), origin.take(moving), places.take(moving)
    return leaves
