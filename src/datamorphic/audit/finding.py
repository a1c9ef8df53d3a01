"""What a check-up found, as plain data: computed once, told in many ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .._stats import compute_wilson_interval
from ..reporting.document import Section

Level = Literal["fault", "concern", "advice"]
OutcomeState = Literal["passed", "found", "not run", "broke"]

#: from the worst to the least: what is wrong whatever the model is for; what is probably not meant; what would help
LEVELS: tuple[Level, ...] = ("fault", "concern", "advice")
LEVEL_MEANINGS = {
    "fault": "wrong whatever the model is for, or against what was declared",
    "concern": "hardly meant",
    "advice": "worth doing, nothing is wrong",
}


@dataclass(frozen=True, kw_only=True)
class Example:
    """The smallest case that shows a finding.

    Attributes
    ----------
    words : str
        The example in a sentence.
    case : mapping
        The source case: feature to value.
    answer : object
        What the system said to it.
    changed : mapping
        The features in which the follow-up case differs, with their values there.
    becomes : object
        What the system said to the follow-up case.
    """

    words: str
    case: Mapping[str, Any] = field(default_factory=dict)
    answer: Any = None
    changed: Mapping[str, Any] = field(default_factory=dict)
    becomes: Any = None


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that was found.

    Attributes
    ----------
    check : str
        The check that found it, as ``only=`` and ``--only`` name it.
    about : str
        What it is about within the check: a feature, a class; empty where there is nothing to tell apart.
    title : str
        What is the matter, in one line.
    level : {"fault", "concern", "advice"}
        How bad it is.
    sure : float
        How sure that is, from 0 to 1: 1 where an example shows it and repeats.
    detail : str
        A sentence or two: how often, on what.
    remedy : str
        What to do about it.
    cases, of : int
        How many cases show it, of how many that were tried; 0 of 0 where nothing was counted.
    examples : sequence of Example
        The smallest first.
    """

    check: str
    about: str
    title: str
    level: Level
    sure: float
    detail: str
    remedy: str
    cases: int = 0
    of: int = 0
    examples: tuple[Example, ...] = ()

    @property
    def rate(self) -> float:
        """The share of the cases that show it; 0 where nothing was counted."""
        return self.cases / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the rate."""
        return compute_wilson_interval(self.cases, self.of)

    @property
    def rank(self) -> tuple[int, float, float]:
        """What findings are sorted by: how bad, how sure, how often."""
        return LEVELS.index(self.level), -round(self.sure, 2), -self.rate


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one check.

    Attributes
    ----------
    check : str
        Its name.
    asks : str
        The question it answers.
    state : {"passed", "found", "not run", "broke"}
        Whether it found anything; "broke" if it could not be carried through.
    why : str
        Why it was not run, or how it broke; or in a few words what it rests on.
    findings : sequence of Finding
        What it found.
    sections : sequence of Section
        What there is to look at beyond the findings: pictures and tables.
    seconds : float
        How long it took.
    calls : int
        Rows that the system computed for it.
    """

    check: str
    asks: str
    state: OutcomeState
    why: str = ""
    findings: tuple[Finding, ...] = ()
    sections: tuple[Section, ...] = ()
    seconds: float = 0.0
    calls: int = 0
