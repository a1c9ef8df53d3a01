"""Kernels of generators that split the largest box at each executed input: RPART, MT-RPART.

A split box has 2^d children, one for each corner. The largest leaf is the top of a heap; boxes that were split since
they were put there are dropped when they come up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.boxes import NUMBER, Floats
from .compiling import compiled
from .layout import Ints, Layout, follow, pick, settled


class Boxes(NamedTuple):
    """The boxes of each slot: corners, where they were split, their first child (-1 for a leaf), volumes, the heap."""

    low: Floats  # (slots, boxes, columns)
    high: Floats
    at: Floats
    child: Ints  # (slots, boxes)
    volume: Floats
    heap: Ints
    number: Ints  # (slots,): boxes
    size: Ints  # (slots,): entries of the heap


def make_boxes(layout: Layout, capacity: int) -> Boxes:
    """Return one box for each slot, and room for the children of some splits."""
    slots, columns = layout.slots, int(np.diff(layout.start).max())
    room = 1 + capacity * 2**columns
    boxes = Boxes(
        np.zeros((slots, room, columns)),
        np.zeros((slots, room, columns)),
        np.zeros((slots, room, columns)),
        np.full((slots, room), -1, dtype=np.int64),
        np.zeros((slots, room)),
        np.zeros((slots, room), dtype=np.int64),
        np.ones(slots, dtype=np.int64),
        np.ones(slots, dtype=np.int64),
    )
    for slot in range(slots):
        first, last = layout.start[slot], layout.start[slot + 1]
        boxes.low[slot, 0, : last - first] = layout.low[first:last]
        boxes.high[slot, 0, : last - first] = layout.high[first:last]
        boxes.volume[slot, 0] = 1.0
    return boxes


def grown_boxes(boxes: Boxes, capacity: int) -> Boxes:
    """Return the same with room for more splits."""
    columns = boxes.low.shape[2]
    room = 1 + capacity * 2**columns

    def wider(array: Any, fill: float) -> Any:
        made = np.full((array.shape[0], room, *array.shape[2:]), fill, dtype=array.dtype)
        made[:, : array.shape[1]] = array
        return made

    return Boxes(
        wider(boxes.low, 0.0),
        wider(boxes.high, 0.0),
        wider(boxes.at, 0.0),
        wider(boxes.child, -1),
        wider(boxes.volume, 0.0),
        wider(boxes.heap, 0),
        boxes.number,
        boxes.size,
    )


@compiled
def _push(boxes: Boxes, slot: int, box: int) -> None:
    place = boxes.size[slot]
    boxes.size[slot] += 1
    boxes.heap[slot, place] = box
    while place > 0:
        above = (place - 1) // 2
        if boxes.volume[slot, boxes.heap[slot, above]] >= boxes.volume[slot, box]:
            break
        boxes.heap[slot, place] = boxes.heap[slot, above]
        boxes.heap[slot, above] = box
        place = above


@compiled
def _pop(boxes: Boxes, slot: int) -> None:
    boxes.size[slot] -= 1
    size = boxes.size[slot]
    box = boxes.heap[slot, size]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and (
            boxes.volume[slot, boxes.heap[slot, below + 1]] > boxes.volume[slot, boxes.heap[slot, below]]
        ):
            below += 1
        if boxes.volume[slot, boxes.heap[slot, below]] <= boxes.volume[slot, box]:
            break
        boxes.heap[slot, place] = boxes.heap[slot, below]
        place = below
    boxes.heap[slot, place] = box


@compiled
def largest(boxes: Boxes, slot: int) -> Any:
    """Return the largest leaf."""
    while boxes.child[slot, boxes.heap[slot, 0]] >= 0:
        _pop(boxes, slot)
    return boxes.heap[slot, 0]


@compiled
def leaf_of(layout: Layout, boxes: Boxes, slot: int, row: Any) -> Any:
    """Return the leaf an input lies in."""
    first = layout.start[slot]
    box = 0
    while boxes.child[slot, box] >= 0:
        corner = 0
        for j in range(layout.start[slot + 1] - first):
            corner = 2 * corner + (1 if row[first + j] >= boxes.at[slot, box, j] else 0)
        box = boxes.child[slot, box] + corner
    return box


@compiled
def split(layout: Layout, boxes: Boxes, slot: int, row: Any) -> None:
    """Split the leaf of an input at it, along every column."""
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    box = leaf_of(layout, boxes, slot, row)
    child = boxes.number[slot]
    boxes.child[slot, box] = child
    boxes.number[slot] += 2**dimension
    for j in range(dimension):  # an input outside the domain splits nothing off
        low, high, at = boxes.low[slot, box, j], boxes.high[slot, box, j], row[first + j]
        if layout.kind[first + j] != NUMBER:  # between whole numbers, so that both parts are smaller
            at += 0.5 if at < (low + high) / 2 else -0.5
        boxes.at[slot, box, j] = min(max(at, low), high)
    several = False  # inputs in the box: where whole numbers leave only one, nothing is left when it is executed
    for j in range(dimension):
        if layout.kind[first + j] == NUMBER or boxes.high[slot, box, j] - boxes.low[slot, box, j] > 1.5:
            several = True
    for corner in range(2**dimension):
        volume = 1.0 if several else 0.0
        for j in range(dimension):
            low, high = boxes.low[slot, box, j], boxes.high[slot, box, j]
            if (corner >> (dimension - 1 - j)) & 1:
                low = boxes.at[slot, box, j]
            else:
                high = boxes.at[slot, box, j]
            boxes.low[slot, child + corner, j] = low
            boxes.high[slot, child + corner, j] = high
            width = layout.high[first + j] - layout.low[first + j]
            if width > 0:
                volume *= (high - low) / width
            elif not (corner >> (dimension - 1 - j)) & 1:
                volume = 0.0  # below a column without extent there is nothing
        boxes.volume[slot, child + corner] = volume
        _push(boxes, slot, child + corner)


@compiled
def propose_split(rng: Any, layout: Layout, boxes: Boxes, rows: Any) -> None:
    """Draw candidates in the largest box of each source: one random number a column, row by row."""
    for slot in range(layout.sources):
        box = largest(boxes, slot)
        first = layout.start[slot]
        for i in range(rows.shape[0]):
            for j in range(layout.start[slot + 1] - first):
                low = boxes.low[slot, box, j]
                value = low + (boxes.high[slot, box, j] - low) * rng.random()
                rows[i, first + j] = settled(
                    layout.kind[first + j], layout.low[first + j], layout.high[first + j], value
                )


@compiled
def choose_split(layout: Layout, boxes: Boxes, rows: Any, tie: float) -> Any:
    """Return a candidate whose follow-ups all lie in the largest boxes of theirs, by chance if several or none."""
    scores = np.ones(rows.shape[0])
    for slot in range(layout.sources, len(layout.start) - 1):
        box = largest(boxes, slot)
        for i in range(rows.shape[0]):
            if leaf_of(layout, boxes, slot, rows[i]) != box:
                scores[i] = 0.0
    return pick(scores, tie)


@compiled
def add_split(layout: Layout, boxes: Boxes, row: Any) -> None:
    """Count a group as executed."""
    for slot in range(len(layout.start) - 1):
        split(layout, boxes, slot, row)


@compiled
def advance_split(rng: Any, layout: Layout, boxes: Boxes, rows: Any, made: Any) -> Any:
    """Make groups; `rows` has room for the candidates."""
    for i in range(made.shape[0]):
        propose_split(rng, layout, boxes, rows)
        follow(layout, rows)
        chosen = choose_split(layout, boxes, rows, rng.random())
        add_split(layout, boxes, rows[chosen])
        made[i] = rows[chosen]
    return made.shape[0]
