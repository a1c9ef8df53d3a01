"""Requirements: whether a learner must satisfy a relation, how strictly, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args


class EstimatorParameters(Protocol):
    """An estimator of scikit-learn whose hyper-parameters are read as attributes."""

    def __getattr__(self, name: str, /) -> Any:
        """Return a hyper-parameter."""
        ...


Strictness = Literal["class_exact", "score_exact", "class_stat", "score_stat", "expected_failure"]
STRICTNESS: tuple[Strictness, ...] = get_args(Strictness)


@dataclass(frozen=True)
class Requirement:
    """Whether every correct learner of a kind satisfies a relation, and why.

    Strictness is "class_exact" (labels), "score_exact" (scores, too), "class_stat" and "score_stat" (labels or scores have
    the same distribution over many trainings), or "expected_failure" (violations are known). With `ties`, the definition of the
    learner leaves choices open in which ties decide, such as that among neighbours at equal distance.
    """

    necessary: bool
    strictness: Strictness
    reason: str
    ties: bool = True


def must_hold(reason: str, strictness: Strictness = "class_exact") -> Requirement:
    """Return the requirement of a relation that every correct implementation satisfies."""
    return Requirement(True, strictness, reason)


def may_fail(reason: str) -> Requirement:
    """Return the requirement of a relation that a correct implementation may violate."""
    return Requirement(False, "class_exact", reason)


RequirementTable = Mapping[str, Requirement]

# what a scaler leaves of a linear map of numbers: rounding errors only, or the signs of some attributes
SCALING_UNDONE, SIGNS_FLIPPED = "the same numbers", "some attributes mirrored"
INFORMATIVE_RELATIONS = ("MR-2.2", "MR-2.2 shared")
