"""A hash table from rows of codes to numbers, filled and queried in batches.

A Python dict would need one key object per row; this table needs a few passes over arrays. Two rows are equal if their
values are: 0.0 equals -0.0, and missing equals missing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .features import Codes

Numbers = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]

_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, which spreads neighbouring values
_SHORT_SHIFT = np.uint64(29)
_LONG_SHIFT = np.uint64(32)


def count_different_rows(codes: Codes) -> int:
    """Return the number of different rows."""
    table = RowTable(codes.shape[1])
    table.add(codes)
    return len(table)


class RowTable:
    """A table that numbers rows 0, 1, 2, ... in the order of their first occurrence."""

    def __init__(self, width: int) -> None:
        self._slots = np.full(1024, -1, dtype=np.int64)
        self._rows = np.empty((512, width), dtype=np.uint64)
        self._hashes = np.empty(512, dtype=np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def get_rows(self, count: int) -> Codes:
        """Return the first rows, in the order of their numbers."""
        return self._rows[:count].view(np.float64)

    def find(self, codes: Codes) -> Numbers:
        """Return the number of each row, or -1 if it is not in the table."""
        bits = _to_bits(codes)
        return self._find(bits, _hash_rows(bits))

    def add(self, codes: Codes) -> tuple[Numbers, Numbers]:
        """Add new rows; return the numbers of all rows and the positions of new ones.

        Equal rows share a number. Only the first of them counts as new.
        """
        bits = _to_bits(codes)
        hashes = _hash_rows(bits)
        numbers = self._find(bits, hashes)
        count_before = self._count
        new_row_parts = [np.empty(0, dtype=np.int64)]
        pending = np.flatnonzero(numbers < 0)
        while pending.size:
            # One row per hash is inserted. The few rows that share its hash wait for the next round.
            _, first, inverse = np.unique(hashes[pending], return_index=True, return_inverse=True)
            order = np.argsort(first)
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            newcomers = pending[first[order]]
            new_row_parts.append(newcomers)
            numbers[pending] = self._count + rank[inverse]
            self._insert(bits[newcomers], hashes[newcomers])
            if len(newcomers) == len(pending):
                break
            differs = (self._rows[numbers[pending]] != bits[pending]).any(axis=1)
            pending = pending[differs]
            numbers[pending] = self._find(bits[pending], hashes[pending])
            pending = pending[numbers[pending] < 0]
        new_rows = np.concatenate(new_row_parts)
        assert len(new_rows) == self._count - count_before
        return numbers, new_rows

    def _find(self, bits: Bits, hashes: Bits) -> Numbers:
        mask = np.uint64(len(self._slots) - 1)
        numbers = np.full(len(bits), -1, dtype=np.int64)
        rows = np.arange(len(bits))
        slots = (hashes & mask).astype(np.int64)
        while rows.size:
            occupants = self._slots[slots]
            occupied = occupants >= 0
            rows, slots, occupants = rows[occupied], slots[occupied], occupants[occupied]
            hit = self._hashes[occupants] == hashes[rows]
            hit[hit] = (self._rows[occupants[hit]] == bits[rows[hit]]).all(axis=1)
            numbers[rows[hit]] = occupants[hit]
            rows, slots = rows[~hit], (slots[~hit] + 1) & int(mask)
        return numbers

    def _insert(self, bits: Bits, hashes: Bits) -> None:
        """Insert rows that are new and different from each other."""
        start, stop = self._count, self._count + len(bits)
        if stop > len(self._rows):
            capacity = 1 << stop.bit_length()
            self._rows, self._hashes = _enlarge(self._rows, capacity), _enlarge(self._hashes, capacity)
        self._rows[start:stop] = bits
        self._hashes[start:stop] = hashes
        self._count = stop
        if 2 * stop > len(self._slots):
            self._slots = np.full(4 << stop.bit_length(), -1, dtype=np.int64)
            start = 0  # all rows are inserted in the larger table
        mask, numbers = len(self._slots) - 1, np.arange(start, stop)
        slots = (self._hashes[start:stop] & np.uint64(mask)).astype(np.int64)
        while numbers.size:
            free = self._slots[slots] < 0
            self._slots[slots[free]] = numbers[free]  # if several rows claim one slot, the last one gets it
            lost = self._slots[slots] != numbers
            numbers, slots = numbers[lost], (slots[lost] + 1) & mask


def _enlarge(bits: Bits, capacity: int) -> Bits:
    """Return an array with more rows, which are not written yet."""
    larger = np.empty((capacity, *bits.shape[1:]), dtype=np.uint64)
    larger[: len(bits)] = bits
    return larger


def _to_bits(codes: Codes) -> Bits:
    plain = np.ascontiguousarray(codes) + 0.0  # -0.0 becomes 0.0
    plain[np.isnan(plain)] = np.nan  # NaN has many bit patterns; use one
    return plain.view(np.uint64)


def _hash_rows(bits: Bits) -> Bits:
    hashes = np.full(len(bits), 1, dtype=np.uint64)
    for column in range(bits.shape[1]):
        hashes = (hashes ^ bits[:, column]) * _HASH_MULTIPLIER
        hashes ^= hashes >> _LONG_SHIFT
    # Integers as floats differ in their highest bits, and slots are chosen by the lowest bits: mix once more.
    for shift in (_LONG_SHIFT, _SHORT_SHIFT):
        hashes = (hashes ^ (hashes >> shift)) * _HASH_MULTIPLIER
    return hashes ^ (hashes >> _LONG_SHIFT)
