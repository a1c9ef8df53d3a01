"""Trials: groups are made until one hits a violation region, which stands for a program that is wrong there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..relations.boxes import Floats

FIRST = 32  # groups that are made at once to begin with
SHARE = 3  # later a third of what there is: so few are made in vain


class Proposes(Protocol):
    """A generator, or a selector that chooses relations too."""

    def propose(self, count: int = 1) -> Any:
        """Return the next groups."""


def until_hit(proposing: Proposes, hit: Callable[[Any], npt.NDArray[np.bool_]], budget: int) -> tuple[int, bool]:
    """Return how many groups it took, the first that hits included, and whether the budget ended the search."""
    made = 0
    while made < budget:
        count = min(max(FIRST, made // SHARE), budget - made)
        hits = hit(proposing.propose(count))
        if hits.any():
            return made + int(hits.argmax()) + 1, False
        made += count
    return budget, True


def trial_seed(seed: int, trial: int) -> np.random.Generator:
    """Return where the randomness of a trial starts: not on which trials are made beside it."""
    return np.random.default_rng([seed, trial])


def sources_of(groups: Any) -> Floats:
    """Return the sources of groups."""
    return np.asarray(groups.sources)
