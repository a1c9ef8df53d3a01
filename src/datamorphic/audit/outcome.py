"""Outcomes of checks, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..core.result import Finding, find_defects
from ..reporting.document import Section

OutcomeState = Literal["passed", "found", "not run", "broke"]
#: Why a check did not run, or not completely; empty if it did.
SkipReason = Literal["", "inapplicable", "not requested", "share too small", "budget spent", "interrupted"]

UNFINISHED_REASONS: tuple[SkipReason, ...] = ("share too small", "budget spent", "interrupted")


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of one check."""

    check: str
    asks: str  # the question that the check answers
    state: OutcomeState  # "broke" if it ended with an error
    why: str = ""  # it did not run, or how it broke; otherwise what the outcome is based on, in a few words
    findings: tuple[Finding, ...] = ()
    sections: tuple[Section, ...] = ()  # pictures and tables beyond the findings
    seconds: float = 0.0
    calls: int = 0  # the rows that the system computed for it
    skip_reason: SkipReason = ""  # why it did not run, or not completely, for programs
    is_limited: bool = False  # whether more time would have given more cases
    min_seconds: float = 0.0  # of querying the system, at least, as far as it is known

    @property
    def defects(self) -> list[Finding]:
        """The findings that are worse than advice."""
        return find_defects(self.findings)

    @property
    def unfinished(self) -> bool:
        """Whether the budget or an interrupt kept the check from running completely."""
        return self.skip_reason in UNFINISHED_REASONS

    @property
    def stored_verdict(self) -> str:
        """The outcome as run stores keep it; undefined if it may apply, but there was no time to try it."""
        if self.state == "found":
            return "VIOLATED" if self.defects else "HOLDS"
        if self.state == "not run":
            return "UNDEFINED" if self.unfinished else "INAPPLICABLE"
        return "HOLDS" if self.state == "passed" else "UNDEFINED"
