"""Shells of equal volume around the centre of a domain, one inside the other.

The share of an input is the volume of the centred box on whose surface it lies, divided by the volume of the domain.
With n shells, shell j holds the inputs with a share from j/n up to (j + 1)/n. An input keeps its share when shells
become more and thinner. So shares are filed in buckets, which show whether a shell is empty without a look at all
inputs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.box import CATEGORY, Floats
from .compiling import compile_kernel
from .layout import Ints, Layout, round_to_kind, widen


class Shells(NamedTuple):
    """Shares per slot in buckets: the first of each bucket, and the next after each."""

    share: Floats  # (slots, capacity)
    head: Ints  # (slots, capacity)
    after: Ints  # (slots, capacity)
    size: Ints  # (slots,)
    buckets: Ints  # (1,)


def make_shells(slots: int, capacity: int) -> Shells:
    """Return empty shells."""
    return Shells(
        share=np.zeros((slots, capacity)),
        head=np.full((slots, capacity), -1, dtype=np.int64),
        after=np.full((slots, capacity), -1, dtype=np.int64),
        size=np.zeros(slots, dtype=np.int64),
        buckets=np.array([16], dtype=np.int64),
    )


def grow_shells(shells: Shells, capacity: int) -> Shells:
    """Return the shells with room for more shares."""
    return widen(shells, capacity, share=0.0, head=-1, after=-1)


@compile_kernel
def compute_share(layout: Layout, slot: int, row: Floats) -> Any:
    """Return the share of an input; it is above 1 outside the domain."""
    norm = 0.0
    dimension = 0
    for column in range(layout.start[slot], layout.start[slot + 1]):
        half = (layout.high[column] - layout.low[column]) / 2
        if half > 0 and layout.kind[column] != CATEGORY:
            norm = max(norm, abs(row[column] - layout.low[column] - half) / half)
            dimension += 1
    share = 1.0 if dimension else 0.0
    for _ in range(dimension):
        share *= norm
    return share


@compile_kernel
def _file_share(shells: Shells, slot: int, place: int) -> None:
    bucket = int(shells.share[slot, place] * shells.buckets[0])
    shells.after[slot, place] = shells.head[slot, bucket]
    shells.head[slot, bucket] = place


@compile_kernel
def add_share(shells: Shells, slot: int, share: float) -> None:
    """File the share of an input; an input at the edge is in the last shell."""
    share = min(max(share, 0.0), 1.0 - 2.0**-53)
    place = shells.size[slot]
    shells.share[slot, place] = share
    shells.size[slot] += 1
    if place + 1 > 2 * shells.buckets[0]:
        shells.buckets[0] = 2 * shells.buckets[0]
        shells.head[:, : shells.buckets[0]] = -1
        for filed_slot in range(shells.head.shape[0]):
            for i in range(shells.size[filed_slot]):
                _file_share(shells, filed_slot, i)
    else:
        _file_share(shells, slot, place)


@compile_kernel
def _is_empty(shells: Shells, slot: int, shell: int, number: int) -> Any:
    buckets = shells.buckets[0]
    # one bucket more on either side, because rounding may file a share next to its own bucket
    first = max(int(shell / number * buckets) - 1, 0)
    last = min(int((shell + 1) / number * buckets) + 1, buckets - 1)
    for bucket in range(first, last + 1):
        place = shells.head[slot, bucket]
        while place >= 0:
            if int(shells.share[slot, place] * number) == shell:
                return False
            place = shells.after[slot, place]
    return True


@compile_kernel
def draw_in_shell(
    rng: np.random.Generator, layout: Layout, shells: Shells, number: int, slot: int, row: Floats
) -> None:
    """Draw an input from a random empty shell of `number`.

    The random numbers are: one per shell until an empty one is found, one for the share within the shell, one for the
    side of the box on whose surface the input lies, and one per other column.
    """
    shell = min(int(rng.random() * number), number - 1)
    while not _is_empty(shells, slot, shell, number):
        shell = min(int(rng.random() * number), number - 1)
    dimension = 0
    for column in range(layout.start[slot], layout.start[slot + 1]):
        if layout.high[column] > layout.low[column] and layout.kind[column] != CATEGORY:
            dimension += 1
    share = (shell + rng.random()) / number
    norm = share ** (1.0 / dimension) if dimension else 0.0
    side = int(rng.random() * 2 * dimension)
    wide_columns = 0
    for column in range(layout.start[slot], layout.start[slot + 1]):
        low, high, kind = layout.low[column], layout.high[column], layout.kind[column]
        half = (high - low) / 2
        if kind == CATEGORY or not half > 0:
            row[column] = round_to_kind(kind, low, high, low + 2 * half * rng.random())
            continue
        if wide_columns == side // 2:
            offset = norm if side % 2 else -norm
        else:
            offset = norm * (2 * rng.random() - 1)
        row[column] = round_to_kind(kind, low, high, low + half + half * offset)
        wide_columns += 1
