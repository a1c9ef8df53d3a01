"""Kernels of generators that split boxes at executed inputs: RPART, MT-RPART.

A split box has 2^d children, one per corner. The largest leaf is the top of a heap; boxes that were split since they
were pushed are dropped when they reach the top.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.algebra.box import NUMBER, Floats
from .ahead import GroupsAhead, file_ahead, take_ahead, write_follow_ups_ahead
from .compiling import compile_helper, compile_kernel
from .layout import (
    Ints,
    Layout,
    RandomNumbers,
    draw_number,
    lacks_numbers,
    pick_greatest,
    round_to_kind,
    widen,
    write_follow_ups,
)


class SplitBoxes(NamedTuple):
    """Boxes per slot: corners, split point, first child (-1 for a leaf), volume, heap."""

    low: Floats  # (slots, boxes, columns)
    high: Floats
    split_point: Floats
    first_child: Ints  # (slots, boxes)
    volume: Floats
    heap: Ints
    box_count: Ints  # (slots,)
    heap_size: Ints  # (slots,)


def make_boxes(layout: Layout, capacity: int) -> SplitBoxes:
    """Return one box per slot, with room for the children of `capacity` splits."""
    slots, columns = layout.slots, layout.columns
    shape = (slots, 1 + capacity * 2**columns)
    boxes = SplitBoxes(
        low=np.zeros((*shape, columns)),
        high=np.zeros((*shape, columns)),
        split_point=np.zeros((*shape, columns)),
        first_child=np.full(shape, -1, dtype=np.int64),
        volume=np.zeros(shape),
        heap=np.zeros(shape, dtype=np.int64),
        box_count=np.ones(slots, dtype=np.int64),
        heap_size=np.ones(slots, dtype=np.int64),
    )
    for slot in range(slots):
        first, last = layout.start[slot], layout.start[slot + 1]
        boxes.low[slot, 0, : last - first] = layout.low[first:last]
        boxes.high[slot, 0, : last - first] = layout.high[first:last]
        boxes.volume[slot, 0] = 1.0
    return boxes


def grow_boxes(boxes: SplitBoxes, capacity: int) -> SplitBoxes:
    """Return the boxes with room for more splits."""
    box_capacity = 1 + capacity * 2 ** boxes.low.shape[2]
    return widen(boxes, box_capacity, low=0.0, high=0.0, split_point=0.0, first_child=-1, volume=0.0, heap=0)


@compile_helper
def _push(boxes: SplitBoxes, slot: int, box: int) -> None:
    place = boxes.heap_size[slot]
    boxes.heap_size[slot] += 1
    boxes.heap[slot, place] = box
    while place > 0:
        above = (place - 1) // 2
        if boxes.volume[slot, boxes.heap[slot, above]] >= boxes.volume[slot, box]:
            break
        boxes.heap[slot, place] = boxes.heap[slot, above]
        boxes.heap[slot, above] = box
        place = above


@compile_helper
def _pop(boxes: SplitBoxes, slot: int) -> None:
    boxes.heap_size[slot] -= 1
    size = boxes.heap_size[slot]
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


@compile_helper
def find_largest_leaf(boxes: SplitBoxes, slot: int) -> Any:
    """Return the largest leaf."""
    while boxes.first_child[slot, boxes.heap[slot, 0]] >= 0:
        _pop(boxes, slot)
    return boxes.heap[slot, 0]


@compile_helper
def find_leaf(layout: Layout, boxes: SplitBoxes, slot: int, row: Floats) -> Any:
    """Return the leaf that contains an input."""
    first = layout.start[slot]
    box = 0
    while boxes.first_child[slot, box] >= 0:
        corner = 0
        for j in range(layout.start[slot + 1] - first):
            corner = 2 * corner + (1 if row[first + j] >= boxes.split_point[slot, box, j] else 0)
        box = boxes.first_child[slot, box] + corner
    return box


@compile_helper
def split_leaf(layout: Layout, boxes: SplitBoxes, slot: int, row: Floats) -> None:
    """Split the leaf that contains an input at this input, along every column."""
    first = layout.start[slot]
    dimension = layout.start[slot + 1] - first
    box = find_leaf(layout, boxes, slot, row)
    child = boxes.box_count[slot]
    boxes.first_child[slot, box] = child
    boxes.box_count[slot] += 2**dimension
    for j in range(dimension):  # an input outside the domain splits at the edge
        low, high, value = boxes.low[slot, box, j], boxes.high[slot, box, j], row[first + j]
        if layout.kind[first + j] != NUMBER:  # between integers, so that both parts are smaller
            value += 0.5 if value < (low + high) / 2 else -0.5
        boxes.split_point[slot, box, j] = min(max(value, low), high)
    several = False  # inputs in the box; a box with one integer input is used up when that is executed
    for j in range(dimension):
        if layout.kind[first + j] == NUMBER or boxes.high[slot, box, j] - boxes.low[slot, box, j] > 1.5:
            several = True
    for corner in range(2**dimension):
        volume = 1.0 if several else 0.0
        for j in range(dimension):
            low, high = boxes.low[slot, box, j], boxes.high[slot, box, j]
            if (corner >> (dimension - 1 - j)) & 1:
                low = boxes.split_point[slot, box, j]
            else:
                high = boxes.split_point[slot, box, j]
            boxes.low[slot, child + corner, j] = low
            boxes.high[slot, child + corner, j] = high
            width = layout.high[first + j] - layout.low[first + j]
            if width > 0:
                volume *= (high - low) / width
            elif not (corner >> (dimension - 1 - j)) & 1:
                volume = 0.0  # the lower part of a column without extent is empty
        boxes.volume[slot, child + corner] = volume
        _push(boxes, slot, child + corner)


@compile_helper
def _draw_candidates(numbers: RandomNumbers, layout: Layout, boxes: SplitBoxes, rows: Floats) -> None:
    """Draw candidates in the largest box of each source."""
    for slot in range(layout.sources):
        box = find_largest_leaf(boxes, slot)
        first = layout.start[slot]
        for i in range(rows.shape[0]):
            for j in range(layout.start[slot + 1] - first):
                low, high = layout.low[first + j], layout.high[first + j]
                box_low = boxes.low[slot, box, j]
                value = box_low + (boxes.high[slot, box, j] - box_low) * draw_number(numbers)
                rows[i, first + j] = round_to_kind(layout.kind[first + j], low, high, value)


@compile_kernel
def add_split(layout: Layout, boxes: SplitBoxes, row: Floats) -> None:
    """Count a group as executed."""
    for slot in range(len(layout.start) - 1):
        split_leaf(layout, boxes, slot, row)


@compile_kernel
def advance_split(
    numbers: RandomNumbers,
    layout: Layout,
    boxes: SplitBoxes,
    rows: Floats,
    scores: Floats,
    affine: bool | None,
    ahead: GroupsAhead | None,
    follow_ups: Floats | None,
    out: Floats,
) -> Any:
    """Write groups to `out`, each a candidate whose follow-ups lie in their largest boxes; return how many.

    With `ahead`, these are the groups whose candidates were drawn at the end of the call before.
    """
    taken = np.int64(0)  # see `advance_spread`
    while taken < out.shape[0]:
        tie = 0.0
        if affine is not None:
            begin = numbers.position[0]
            _draw_candidates(numbers, layout, boxes, rows)
            tie = draw_number(numbers)
            if lacks_numbers(numbers, begin):
                break
            write_follow_ups(layout, rows)
        if ahead is not None:
            if taken == ahead.size[0]:
                break
            tie = take_ahead(numbers, layout, ahead, follow_ups, taken, rows)
        for candidate in range(rows.shape[0]):
            scores[0, candidate] = 1.0
        for slot in range(layout.sources, len(layout.start) - 1):
            box = find_largest_leaf(boxes, slot)
            for candidate in range(rows.shape[0]):
                if find_leaf(layout, boxes, slot, rows[candidate]) != box:
                    scores[0, candidate] = 0.0
        best = pick_greatest(scores[0], tie)
        for slot in range(len(layout.start) - 1):
            split_leaf(layout, boxes, slot, rows[best])
        for j in range(out.shape[1]):
            out[taken, j] = rows[best, j]
        if ahead is not None:
            write_follow_ups_ahead(follow_ups, taken * rows.shape[0] + best, out[taken])
        taken += 1
    if ahead is not None:
        begin = numbers.position[0]
        ahead.size[0] = 0
        if taken < out.shape[0]:
            _draw_candidates(numbers, layout, boxes, ahead.sources[0])
            draw_number(numbers)
            file_ahead(numbers, ahead, begin)
        numbers.position[0] = begin
    return taken
