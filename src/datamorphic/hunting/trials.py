"""Trials of a simulation: propose groups until one hits the violation region."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

FIRST_BATCH_GROUPS = 32
BATCH_GROWTH_DIVISOR = 3  # a batch has a third of the groups so far: few are proposed in vain


class GroupProposer(Protocol):
    """A generator or a selector."""

    def propose(self, count: int = 1) -> Any:
        """Return the next groups."""


def count_until_hit(
    proposer: GroupProposer, find_hits: Callable[[Any], npt.NDArray[np.bool_]], budget: int
) -> tuple[int, bool]:
    """Return the number of groups up to the first hit, and whether the budget ended it."""
    group_count = 0
    while group_count < budget:
        count = min(max(FIRST_BATCH_GROUPS, group_count // BATCH_GROWTH_DIVISOR), budget - group_count)
        hits = find_hits(proposer.propose(count))
        if hits.any():
            return group_count + int(hits.argmax()) + 1, False
        group_count += count
    return budget, True


def make_trial_rng(seed: int, trial: int) -> np.random.Generator:
    """Return the random numbers of a trial, which do not depend on other trials."""
    return np.random.default_rng([seed, trial])
