"""Candidates of the next groups, drawn ahead so that one call of a function of the user makes their follow-ups."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...relations.algebra.box import Floats
from .compiling import compile_helper
from .layout import Ints, Layout, RandomNumbers, lacks_numbers


class GroupsAhead(NamedTuple):
    """Candidates of the next groups."""

    sources: Floats  # (groups, candidates, columns of sources)
    shell: Ints  # (groups, candidates, sources): the shell of each source, if they are drawn from shells
    share_count: Ints  # (sources,): of shares in the shells when the sources were drawn
    number_count: Ints  # (groups,): of random numbers, including the last, which decides among equals
    size: Ints  # (1,): the number of groups


def make_groups_ahead(groups: int, candidates: int, layout: Layout) -> GroupsAhead:
    """Return room for the candidates of `groups` groups."""
    return GroupsAhead(
        sources=np.zeros((groups, candidates, layout.width)),
        shell=np.zeros((groups, candidates, layout.sources), dtype=np.int64),
        share_count=np.zeros(layout.sources, dtype=np.int64),
        number_count=np.zeros(groups, dtype=np.int64),
        size=np.zeros(1, dtype=np.int64),
    )


@compile_helper
def file_ahead(numbers: RandomNumbers, ahead: GroupsAhead, begin: int) -> Any:
    """File the candidates that were drawn for one more group; return False if there were too few numbers."""
    if lacks_numbers(numbers, begin):
        return False
    ahead.number_count[ahead.size[0]] = numbers.position[0] - begin
    ahead.size[0] += 1
    return True


@compile_helper
def take_ahead(
    numbers: RandomNumbers, layout: Layout, ahead: GroupsAhead, follow_ups: Floats, group: int, rows: Floats
) -> Any:
    """Write the candidates of a group to `rows`, as if they were drawn now; return the last random number.

    A follow-up that is not finite counts as the lower limit.
    """
    width = ahead.sources.shape[2]
    for i in range(rows.shape[0]):
        for j in range(width):
            rows[i, j] = ahead.sources[group, i, j]
        for j in range(follow_ups.shape[1]):
            value = follow_ups[group * rows.shape[0] + i, j]
            rows[i, width + j] = value if np.isfinite(value) else layout.low[width + j]
    numbers.position[0] += ahead.number_count[group]
    return numbers.values[numbers.position[0] - 1]


@compile_helper
def write_follow_ups_ahead(follow_ups: Floats, candidate: int, row: Floats) -> None:
    """Write the follow-ups of a candidate as the function made them."""
    for j in range(follow_ups.shape[1]):
        row[len(row) - follow_ups.shape[1] + j] = follow_ups[candidate, j]
