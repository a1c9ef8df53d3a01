"""Fewer combinations of parameters: every value still occurs, and all combinations with DATAMORPHIC_LONG."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

LONG = "DATAMORPHIC_LONG" in os.environ
First = TypeVar("First")
Second = TypeVar("Second")


def thin(first: Sequence[First], second: Sequence[Second], keep: int = 1) -> list[tuple[First, Second]]:
    """Combine every first value with `keep` of the second ones, in rotation; with all of them in a long run.

    Every second value occurs if there are at least as many first ones.
    """
    if LONG or keep >= len(second):
        return [(one, other) for one in first for other in second]
    return [
        (one, second[(number + turn * len(second) // keep) % len(second)])
        for number, one in enumerate(first)
        for turn in range(keep)
    ]
