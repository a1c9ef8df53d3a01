"""`Layout`: the domains and follow-ups of a relation as arrays for the kernels.

A group is a row of numbers: its sources, then its follow-ups. Each of these inputs is a slot, a range of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import ArgumentError
from ...relations.algebra.box import CATEGORY, NUMBER, Affine, Box, Floats
from ...relations.algebra.function import FunctionRelation
from .compiling import compile_helper

Ints = npt.NDArray[np.int64]


class Layout(NamedTuple):
    """The domains and follow-ups of a relation.

    With `jaccard`, inputs are sets of values. Their distance is then the share of values that only one of two sets has.
    """

    sources: int  # the number of slots that are sources; they come first
    start: Ints  # the first column of each slot, and the end of the last one
    low: Floats  # the limits of each column; half a unit beyond integers
    high: Floats
    kind: npt.NDArray[np.int8]  # NUMBER, WHOLE or CATEGORY, per column
    scale: Floats  # the factor of differences in distances, per column
    matrix: Floats  # affine follow-ups are matrix @ sources + offset
    offset: Floats
    jaccard: bool

    @property
    def slots(self) -> int:
        """The number of inputs of a group."""
        return len(self.start) - 1

    @property
    def columns(self) -> int:
        """The number of columns of the widest slot."""
        return int(np.diff(self.start).max())

    @property
    def width(self) -> int:
        """The number of columns of the sources."""
        return int(self.start[self.sources])

    @property
    def has_categories(self) -> bool:
        """Whether any column holds categories."""
        return bool((self.kind == CATEGORY).any())


def build_box_layout(
    sources: Sequence[Box],
    follow_ups: Sequence[Box] = (),
    changes: Sequence[Any] = (),
    *,
    scaled: bool = False,
    jaccard: bool = False,
) -> Layout:
    """Return the layout of groups with the given domains."""
    boxes = [*sources, *follow_ups]
    start = np.concatenate([[0], np.cumsum([box.dimension for box in boxes])]).astype(np.int64)
    low, high = (np.concatenate(ends) for ends in zip(*(box.edges for box in boxes), strict=True))
    kind = np.concatenate([box.kind for box in boxes])
    if not (high[: start[len(sources)]] > low[: start[len(sources)]]).any():
        raise ArgumentError(
            "The source domain contains a single input, so there is nothing to choose from. Give a wider domain."
        )
    width = np.where((high > low) & (kind != CATEGORY), high - low, 1.0)
    scale = 1 / width if scaled else np.ones_like(width)
    matrix = np.concatenate([change.matrix for change in changes]) if changes else np.zeros((0, start[len(sources)]))
    offset = np.concatenate([change.offset for change in changes]) if changes else np.zeros(0)
    return Layout(len(sources), start, low, high, kind, scale, matrix, offset, jaccard)


def build_layout(relation: FunctionRelation | Box, *, scaled: bool = False) -> Layout:
    """Return the layout of a relation, or of single inputs of a domain."""
    if isinstance(relation, Box):
        return build_box_layout([relation], scaled=scaled)
    changes: tuple[Affine, ...] = relation.follow_up if relation.affine else ()
    return build_box_layout(relation.domain, relation.follow_domains(), changes, scaled=scaled)


class RandomNumbers(NamedTuple):
    """Random numbers drawn in advance. Kernels take one after the other, and can go back."""

    values: Floats
    position: Ints  # (2,): of the next number; then 1 if there were too few


def widen(memory: Any, size: int, **fills: float) -> Any:
    """Return a named tuple with at least `size` entries along axis 1 of the named arrays, filled up."""
    wider = {}
    for name, fill in fills.items():
        array = getattr(memory, name)
        if size > array.shape[1]:
            wider[name] = np.full((array.shape[0], size, *array.shape[2:]), fill, dtype=array.dtype)
            wider[name][:, : array.shape[1]] = array
    return memory._replace(**wider)


def file_in_lists(head: Ints, after: Ints, keys: Ints) -> None:
    """Link the elements with the same key, by the last element of each key and the one before each element."""
    head[:] = -1
    head[keys] = np.arange(len(keys))
    order = np.argsort(keys, kind="stable")
    after[order] = np.where(np.diff(keys[order], prepend=-1) == 0, np.roll(order, 1), -1)


@compile_helper
def write_follow_ups(layout: Layout, rows: Floats) -> None:
    """Write the follow-ups of each row next to its sources."""
    width = layout.start[layout.sources]
    for row in range(rows.shape[0]):
        for i in range(layout.matrix.shape[0]):
            value = layout.offset[i]
            for j in range(width):
                if layout.matrix[i, j] != 0.0:
                    value += layout.matrix[i, j] * rows[row, j]
            rows[row, width + i] = value


@compile_helper
def round_to_kind(kind: int, low: float, high: float, value: float) -> Any:
    """Return a value rounded to an integer or category if its column holds these.

    The arguments are numbers because passing a layout per value would take longer than the rest.
    """
    if kind == NUMBER:
        return value
    return min(max(np.floor(value + 0.5), low + 0.5), high - 0.5)


def round_columns(layout: Layout, values: Floats) -> Floats:
    """Return values of the first columns, rounded as by `round_to_kind`."""
    columns = values.shape[-1]
    low, high, kind = (limits[:columns] for limits in (layout.low, layout.high, layout.kind))
    return np.where(kind == NUMBER, values, np.clip(np.floor(values + 0.5), low + 0.5, high - 0.5))


@compile_helper
def find_part(layout: Layout, column: int, parts: int, value: float) -> Any:
    """Return which of equal parts of a column holds a value, or is nearest to it."""
    low, high = layout.low[column], layout.high[column]
    if not high > low:
        return 0
    return int(min(max((value - low) / (high - low) * parts, 0.0), parts - 1.0))


@compile_helper
def draw_number(numbers: RandomNumbers) -> Any:
    """Return the next random number; 0 after the last, see `lacks_numbers`."""
    place = numbers.position[0]
    numbers.position[0] = place + 1
    return numbers.values[place] if place < len(numbers.values) else 0.0


@compile_helper
def lacks_numbers(numbers: RandomNumbers, begin: int) -> Any:
    """Return whether there were too few numbers; if so, go back to `begin`."""
    if numbers.position[0] <= len(numbers.values):
        return False
    numbers.position[0], numbers.position[1] = begin, 1
    return True


@compile_helper
def draw_uniform(numbers: RandomNumbers, layout: Layout, slot: int, row: Floats) -> None:
    """Draw an input of a slot, by one random number per column."""
    for column in range(layout.start[slot], layout.start[slot + 1]):
        low, high = layout.low[column], layout.high[column]
        row[column] = round_to_kind(layout.kind[column], low, high, low + (high - low) * draw_number(numbers))


@compile_helper
def compute_distance(layout: Layout, slot: int, row: Floats, point: Floats) -> Any:
    """Return the distance of inputs: Euclidean plus differing categories, or Jaccard's."""
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


@compile_helper
def pick_greatest(values: Floats, tie: float) -> Any:
    """Return the position of the greatest value; `tie` in [0, 1) decides among equals."""
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
    return 0  # all values are NaN
