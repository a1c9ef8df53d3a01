"""`Layout`: where the inputs of a group stand, what they may be, and how follow-ups are made: as arrays for kernels.

A group is a row of numbers: its source inputs, then its follow-ups. Each input is a slot, some columns of the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import ArgumentError
from ...relations.box import CATEGORY, NUMBER, Affine, Box, Floats
from ...relations.function import FunctionRelation
from .compiling import compile_kernel

Ints = npt.NDArray[np.int64]


class Layout(NamedTuple):
    """What kernels know of a relation.

    Attributes
    ----------
    sources : int
        How many slots are sources; they come first.
    start : ndarray
        The column each slot begins at, and where the last one ends.
    low, high : ndarray
        Between which limits the values of each column are drawn; half a unit beyond whole numbers.
    kind : ndarray
        NUMBER, WHOLE or CATEGORY, a column.
    scale : ndarray
        By what differences are multiplied in distances.
    matrix, offset : ndarray
        How follow-ups are made, where they are affine.
    """

    sources: int
    start: Ints
    low: Floats
    high: Floats
    kind: npt.NDArray[np.int8]
    scale: Floats
    matrix: Floats
    offset: Floats
    jaccard: (
        bool  # whether inputs are sets of values: the share of values that only one of two has is their distance
    )

    @property
    def slots(self) -> int:
        """How many inputs a group has."""
        return len(self.start) - 1

    @property
    def width(self) -> int:
        """How many numbers are drawn for a group."""
        return int(self.start[self.sources])

    @property
    def has_categories(self) -> bool:
        """Whether some column holds categories."""
        return bool((self.kind == CATEGORY).any())


def build_box_layout(
    sources: Sequence[Box],
    follow_ups: Sequence[Box] = (),
    changes: Sequence[Any] = (),
    *,
    scaled: bool = False,
    jaccard: bool = False,
) -> Layout:
    """Return the layout of groups with these domains."""
    boxes = [*sources, *follow_ups]
    start = np.concatenate([[0], np.cumsum([box.dimension for box in boxes])]).astype(np.int64)
    low, high = (np.concatenate(ends) for ends in zip(*(box.edges for box in boxes), strict=True))
    kind = np.concatenate([box.kind for box in boxes])
    if not (high[: start[len(sources)]] > low[: start[len(sources)]]).any():
        raise ArgumentError(
            "The source domain is a single input: there is nothing to choose from. Give it an extent."
        )
    width = np.where((high > low) & (kind != CATEGORY), high - low, 1.0)
    matrix = (
        np.concatenate([change.matrix for change in changes]) if changes else np.zeros((0, start[len(sources)]))
    )
    offset = np.concatenate([change.offset for change in changes]) if changes else np.zeros(0)
    return Layout(
        len(sources), start, low, high, kind, 1 / width if scaled else np.ones_like(width), matrix, offset, jaccard
    )


def build_layout(relation: FunctionRelation | Box, *, scaled: bool = False) -> Layout:
    """Return the layout of a relation, or of single inputs from a domain."""
    if isinstance(relation, Box):
        return build_box_layout([relation], scaled=scaled)
    changes: tuple[Affine, ...] = relation.follow_up if relation.affine else ()
    return build_box_layout(relation.domain, relation.follow_domains(), changes, scaled=scaled)


@compile_kernel
def write_follow_ups(layout: Layout, rows: Any) -> None:
    """Write the follow-ups of the sources of each row beside them."""
    width = layout.start[layout.sources]
    for row in range(rows.shape[0]):
        for i in range(layout.matrix.shape[0]):
            value = layout.offset[i]
            for j in range(width):
                if layout.matrix[i, j] != 0.0:
                    value += layout.matrix[i, j] * rows[row, j]
            rows[row, width + i] = value


@compile_kernel
def round_to_kind(kind: int, low: float, high: float, value: float) -> Any:
    """Return a value as it is in its column: whole numbers and categories rounded, within the limits.

    Its arguments are numbers: to hand over a layout for each value would take longer than the rest.
    """
    if kind == NUMBER:
        return value
    return min(max(np.floor(value + 0.5), low + 0.5), high - 0.5)


def round_columns(layout: Layout, values: Floats) -> Floats:
    """Return values of the first columns as they are in these: `settled`, many at once."""
    columns = values.shape[-1]
    low, high, kind = (values_of_column[:columns] for values_of_column in (layout.low, layout.high, layout.kind))
    return np.where(kind == NUMBER, values, np.clip(np.floor(values + 0.5), low + 0.5, high - 0.5))


@compile_kernel
def draw_uniform(rng: Any, layout: Layout, slot: int, row: Any) -> None:
    """Draw an input of a slot: one random number a column."""
    for column in range(layout.start[slot], layout.start[slot + 1]):
        low, high = layout.low[column], layout.high[column]
        row[column] = round_to_kind(layout.kind[column], low, high, low + (high - low) * rng.random())


@compile_kernel
def compute_distance(layout: Layout, slot: int, row: Any, point: Any) -> Any:
    """Return how far two inputs are apart: Euclidean, and 1 for each category in which they differ; or Jaccard's."""
    squares = 0.0
    differing = 0.0
    first = layout.start[slot]
    columns = layout.start[slot + 1] - first
    for j in range(columns):
        if layout.kind[first + j] == CATEGORY or layout.jaccard:
            if row[first + j] != point[j]:
                differing += 1.0
        else:
            difference = (row[first + j] - point[j]) * layout.scale[first + j]
            squares += difference * difference
    if layout.jaccard:
        return 2.0 * differing / (columns + differing)
    return np.sqrt(squares) + differing


@compile_kernel
def pick_greatest(values: Any, tie: float) -> Any:
    """Return the place of the greatest value; of several that are equal, the one a number in [0, 1) points at."""
    best = values[0]
    equal = 1
    for i in range(1, len(values)):
        if values[i] > best:
            best = values[i]
            equal = 1
        elif values[i] == best:
            equal += 1
    remaining = min(int(tie * equal), equal - 1)
    for i in range(len(values)):
        if values[i] == best:
            if remaining == 0:
                return i
            remaining -= 1
    return 0  # no number is greatest where none is a number
