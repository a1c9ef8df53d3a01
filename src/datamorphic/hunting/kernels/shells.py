"""Shells of equal volume around the centre of a domain, one inside the other.

The share of an input is the volume of the centred box on whose surface it lies, divided by the volume of the domain.
With n shells, shell j holds the inputs with a share from j/n up to (j + 1)/n. An input keeps its share when shells
become more and thinner. So shares are filed in buckets, which show whether a shell is empty without a look at all
inputs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.algebra.box import CATEGORY, Floats
from .ahead import GroupsAhead
from .compiling import compile_helper
from .layout import Ints, Layout, RandomNumbers, draw_number, file_in_lists, round_to_kind, widen

SHELLS_PER_SOURCE_AHEAD = 2.0  # more: fewer sources are drawn in vain, and follow-up functions are called more often
ROUNDING = 2.0**-50  # more than two roundings change a number by, as a share of it


class Shells(NamedTuple):
    """Shares per slot in buckets: the first of each bucket, and the next after each."""

    share: Floats  # (slots, capacity)
    head: Ints  # (slots, capacity)
    after: Ints  # (slots, capacity)
    size: Ints  # (slots,)
    buckets: Ints  # (1,): a power of two
    half: Floats  # (columns of all slots,): half their widths; 0 for categories, which are in all shells
    dimension: Ints  # (slots,): of columns with a width


def _count_buckets(capacity: int) -> int:
    """Return the power of two that gives two to four shares per bucket when there is no more room."""
    return int(2 ** (capacity.bit_length() - 2))


def make_shells(layout: Layout, capacity: int) -> Shells:
    """Return empty shells."""
    slots = layout.sources
    half = np.where(layout.kind == CATEGORY, 0.0, (layout.high - layout.low) / 2)
    return Shells(
        share=np.zeros((slots, capacity)),
        head=np.full((slots, capacity), -1, dtype=np.int64),
        after=np.full((slots, capacity), -1, dtype=np.int64),
        size=np.zeros(slots, dtype=np.int64),
        buckets=np.array([_count_buckets(capacity)]),
        half=half,
        dimension=np.add.reduceat((half > 0).astype(np.int64), layout.start[:-1]),
    )


def grow_shells(shells: Shells, capacity: int) -> Shells:
    """Return the shells with room for more shares."""
    shells = widen(shells, capacity, share=0.0, head=-1, after=-1)
    shells.buckets[0] = _count_buckets(capacity)
    for slot, count in enumerate(shells.size):
        file_in_lists(
            shells.head[slot], shells.after[slot], (shells.share[slot, :count] * shells.buckets[0]).astype(int)
        )
    return shells


@compile_helper
def add_to_shells(layout: Layout, shells: Shells, slot: int, row: Floats) -> None:
    """File the share of an input; an input at the edge or outside is in the last shell."""
    norm = 0.0
    for column in range(layout.start[slot], layout.start[slot + 1]):
        half = shells.half[column]
        if half > 0:
            norm = max(norm, abs(row[column] - layout.low[column] - half) / half)
    share = norm
    for _ in range(1, shells.dimension[slot]):
        share *= norm
    share = min(share, 1.0 - 2.0**-53)
    place, bucket = shells.size[slot], int(share * shells.buckets[0])
    shells.share[slot, place] = share
    shells.after[slot, place] = shells.head[slot, bucket]
    shells.head[slot, bucket] = place
    shells.size[slot] = place + 1


@compile_helper
def _is_occupied(shells: Shells, number: int, slot: int, shell: int) -> Any:
    """Return whether a shell of `number` has an input."""
    buckets = shells.buckets[0]
    # a little more on either side, because the product below is rounded; that with a power of two is not
    first = int(shell / number * (1.0 - ROUNDING) * buckets)
    last = min(int((shell + 1) / number * (1.0 + ROUNDING) * buckets), buckets - 1)
    for bucket in range(first, last + 1):
        place = shells.head[slot, bucket]
        while place >= 0:
            if int(shells.share[slot, place] * number) == shell:
                return True
            place = shells.after[slot, place]
    return False


@compile_helper
def begin_ahead(shells: Shells, ahead: GroupsAhead, number: int, room: int) -> Any:
    """Prepare to draw groups ahead, with `number` shells; return for how many groups, at most `room`.

    The more shells there are, the later a source lies in one that was closed in between.
    """
    ahead.size[0] = 0
    for slot in range(len(ahead.share_count)):
        ahead.share_count[slot] = shells.size[slot]
    likely_groups = 1 + int(np.sqrt(number / (SHELLS_PER_SOURCE_AHEAD * ahead.shell[0].size)))
    return min(len(ahead.sources), room, likely_groups)


@compile_helper
def are_shells_empty(shells: Shells, ahead: GroupsAhead, group: int, number: int) -> Any:
    """Return whether the shells of sources drawn ahead are still empty: whether no later input lies in them."""
    for slot in range(len(ahead.share_count)):
        for place in range(ahead.share_count[slot], shells.size[slot]):
            closed = int(shells.share[slot, place] * number)
            for i in range(ahead.shell.shape[1]):
                if ahead.shell[group, i, slot] == closed:
                    return False
    return True


@compile_helper
def draw_in_shell(numbers: RandomNumbers, layout: Layout, shells: Shells, number: int, slot: int, row: Floats) -> Any:
    """Draw an input from a random empty shell of `number`; return the shell.

    The random numbers are: one per shell until an empty one is found, one for the share within the shell, one for the
    side of the box on whose surface the input lies, and one per other column.
    """
    shell = min(int(draw_number(numbers) * number), number - 1)
    while _is_occupied(shells, number, slot, shell) and numbers.position[0] <= len(numbers.values):
        shell = min(int(draw_number(numbers) * number), number - 1)
    dimension = shells.dimension[slot]
    share = (shell + draw_number(numbers)) / number
    norm = share ** (1.0 / dimension) if dimension else 0.0
    side = int(draw_number(numbers) * 2 * dimension)
    wide_columns = 0
    for column in range(layout.start[slot], layout.start[slot + 1]):
        low, high, kind = layout.low[column], layout.high[column], layout.kind[column]
        half = shells.half[column]
        if half == 0:
            row[column] = round_to_kind(kind, low, high, low + (high - low) * draw_number(numbers))
            continue
        if wide_columns == side // 2:
            offset = norm if side % 2 else -norm
        else:
            offset = norm * (2 * draw_number(numbers) - 1)
        row[column] = round_to_kind(kind, low, high, low + half + half * offset)
        wide_columns += 1
    return shell
