"""Edits between two lists of tokens, in the plainest way: the table of Wagner & Fischer, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence


def count_edits(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the least number of insertions, deletions and substitutions."""
    row = list(range(len(b) + 1))
    for i, token in enumerate(a, start=1):
        previous, row = row, [i]
        for j, other in enumerate(b, start=1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (token != other)))
    return row[-1]
