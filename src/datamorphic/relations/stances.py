"""Stances: whether a learner must keep a relation, how strictly, and why; and how relations are grouped for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

Strictness = Literal["class_exact", "score_exact", "class_stat", "score_stat", "expected_failure"]
STRICTNESS: tuple[Strictness, ...] = get_args(Strictness)


@dataclass(frozen=True)
class Stance:
    """What a relation is for a learner: whether each right implementation keeps it, how strictly, and why.

    Strictness is "class_exact" (labels), "score_exact" (scores, too), "class_stat" and "score_stat" (labels or scores
    are distributed alike over many trainings), or "expected_failure" (it is known to be violated).
    """

    necessary: bool
    strictness: Strictness
    reason: str


def must(reason: str, strictness: Strictness = "class_exact") -> Stance:
    """Return a stance: every right implementation keeps it."""
    return Stance(True, strictness, reason)


def may(reason: str, strictness: Strictness = "class_exact") -> Stance:
    """Return a stance: nobody promises it."""
    return Stance(False, strictness, reason)


fails = partial(may, strictness="expected_failure")
varies = partial(may, strictness="class_stat")
each = dict.fromkeys
Rows = Mapping[str, Stance]

# what a scaler leaves of a map of numbers: nothing but last digits, or the sign of some attributes
UNDONE, FLIPPED = "the same numbers", "some attributes mirrored"
MAPS = ("MR-0", "MR-0 mirrored", "MR-0 subset")
CONSTANTS, INFORMED = ("MR-2.1", "constant column"), ("MR-2.2", "MR-2.2 shared")
COPIES, REMOVALS = ("MR-4.1", "MR-4.1 subset"), ("MR-5.1", "MR-5.2")
SAME: Rows = {
    "refit": must("nothing is left to chance", "score_exact"),
    "label renaming": must("labels count by their order alone, so nothing else is computed", "score_exact"),
}
OVERRULED = may("how much rows like the case count is the learner's own business")
NO_WEIGHTS = may("the learner takes no weights of rows")
NO_SPARSE = may("the learner takes no sparse matrices")
