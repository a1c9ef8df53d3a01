"""Trials: groups are made until one hits a violation region, which stands for a program that is wrong there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..relations.box import Floats

FIRST_BATCH_GROUPS = 32  # groups that are made at once to begin with
BATCH_GROWTH_DIVISOR = 3  # later a third of what there is: so few are made in vain


class GroupProposer(Protocol):
    """A generator, or a selector that chooses relations too."""

    def propose(self, count: int = 1) -> Any:
        """Return the next groups."""


def count_until_hit(
    proposer: GroupProposer, find_hits: Callable[[Any], npt.NDArray[np.bool_]], budget: int
) -> tuple[int, bool]:
    """Return how many groups it took, the first that hits included, and whether the budget ended the search."""
    group_count = 0
    while group_count < budget:
        count = min(max(FIRST_BATCH_GROUPS, group_count // BATCH_GROWTH_DIVISOR), budget - group_count)
        hits = find_hits(proposer.propose(count))
        if hits.any():
            return group_count + int(hits.argmax()) + 1, False
        group_count += count
    return budget, True


def make_trial_rng(seed: int, trial: int) -> np.random.Generator:
    """Return where the randomness of a trial starts: not on which trials are made beside it."""
    return np.random.default_rng([seed, trial])


def get_sources(groups: Any) -> Floats:
    """Return the sources of groups."""
    return np.asarray(groups.sources)
