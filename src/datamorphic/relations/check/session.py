"""`CheckSession`: relations that are checked on one system, and their outcomes so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ...runs.driver import Driver, FlowDriver
from ..algebra.outcome import RelationOutcome, ViolatingCase
from .causes import ConfirmedCause

Outcome = TypeVar("Outcome", bound=RelationOutcome)
Violation = TypeVar("Violation", covariant=True)


@dataclass(kw_only=True)
class CheckSession(ABC, Generic[Outcome, Violation]):
    """The outcomes of relations on one system, which `drive` queries."""

    outcomes: Sequence[Outcome]
    drive: FlowDriver = field(default_factory=lambda: Driver({"progress": False}).drive)

    @property
    def unfinished(self) -> list[str]:
        """The names of the relations that were not tried on all inputs."""
        return [outcome.name for outcome in self.outcomes if not outcome.complete]

    def find_smallest(self, name: str, violating_case: ViolatingCase) -> Violation | None:
        """Return the smallest violation of a relation that is found from a violating case; None if it does not occur again."""
        return self.shrink(next(outcome for outcome in self.outcomes if outcome.name == name), violating_case)

    def find_cause(self, violation: Any) -> ConfirmedCause | None:
        """Return the confirmed cause of a relation's violations, or None."""
        return None

    @abstractmethod
    def shrink(self, outcome: Outcome, violating_case: ViolatingCase) -> Violation | None:
        """Return a violation as small as possible; None if it does not occur again."""
