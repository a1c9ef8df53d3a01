"""`RelationOutcome`: what the check of one relation on one system has found so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .base import HOLDS, VIOLATED, MetamorphicRelation, get_relation_name


class ViolatingCase(NamedTuple):
    """A case that violates a relation: the input, the case in it, and the answers.

    The input is the number of a training set, or the row of a case; a row has one case only.
    """

    input: int
    case: int
    before: Any
    expected: Any
    after: Any


@dataclass(kw_only=True)
class RelationOutcome:
    """The outcome of one relation so far."""

    relation: MetamorphicRelation
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(4, dtype=np.int64))  # of cases, by verdict
    violations: list[ViolatingCase] = field(default_factory=list)
    messages: dict[str, int] = field(default_factory=dict)  # why cases could not be judged, with their numbers
    complete: bool = False  # whether all inputs were tried

    @property
    def name(self) -> str:
        """The name of the relation."""
        return get_relation_name(self.relation)

    @property
    def changed_count(self) -> int:
        """The number of cases that were not answered as expected."""
        return int(self.counts[VIOLATED])

    @property
    def judged_count(self) -> int:
        """The number of cases that could be judged."""
        return int(self.counts[HOLDS] + self.counts[VIOLATED])

    @property
    def violated_count(self) -> int:
        """The number of violations that count."""
        return self.changed_count

    def list_facts(self) -> dict[str, Any]:
        """Return what a report says about the relation, beside the counts."""
        raise NotImplementedError
