"""Findings and outcomes of checks, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .._stats import compute_wilson_interval
from ..reporting.document import Section

Level = Literal["fault", "concern", "advice"]
OutcomeState = Literal["passed", "found", "not run", "broke"]
#: Why a check did not run, or not completely; empty if it did.
SkipReason = Literal["", "inapplicable", "not requested", "share too small", "budget spent", "interrupted"]

UNFINISHED_REASONS: tuple[SkipReason, ...] = ("share too small", "budget spent", "interrupted")
#: Where the inputs of a finding come from: given rows, given rows with a change, or made ones; empty if unknown.
InputOrigin = Literal["given", "changed", "made", ""]

#: From worst to least.
LEVELS: tuple[Level, ...] = ("fault", "concern", "advice")
#: From most to least plausible; unknown ones are mostly given rows with a change.
INPUT_ORIGINS: tuple[InputOrigin, ...] = ("given", "changed", "", "made")
LEVEL_MEANINGS = {
    "fault": "wrong for any purpose, or against what was declared",
    "concern": "probably not intended",
    "advice": "worth doing, although nothing is wrong",
}


@dataclass(frozen=True, kw_only=True)
class Example:
    """The smallest case that shows a finding."""

    words: str  # the example in one sentence
    case: Mapping[str, Any] = field(default_factory=dict)  # the source case: feature to value
    answer: Any = None  # of the system to the source case
    changed: Mapping[str, Any] = field(default_factory=dict)  # the features in which the follow-up differs
    becomes: Any = None  # the answer of the system to the follow-up
    row: int | None = None  # the position of the source case in the given data; None if it is not one of their rows
    breaks: tuple[str, ...] = ()  # relations between columns that all given rows keep, and this example does not


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One defect, doubt or piece of advice about a model."""

    check: str  # the name of the check, as in ``only=``
    about: str  # the feature, class or relation concerned; empty if the check has only one subject
    title: str  # the finding in one line
    level: Level
    sure: float  # from 0 to 1; 1 if an example shows the finding and repeats
    detail: str  # one or two sentences: how often, in which cases
    remedy: str  # what to do about it
    cases: int = 0  # that show the finding
    of: int = 0  # cases tried; 0 if nothing was counted
    examples: tuple[Example, ...] = ()  # rows of the data first, with few changes
    counted_in_detail: bool = False  # whether `detail` already gives the share of cases and its interval
    noun: str = "case"  # what is counted, in the singular
    sampled: bool = True  # whether what was counted is a sample, so that the rate has an interval
    sections: tuple[Section, ...] = ()  # pictures and tables that show the finding, beside its text
    cause: str = ""  # findings of several checks with the same cause are one finding; see `ranking`
    columns: tuple[str, ...] = ()  # the features concerned, if `about` is not the only one
    affected_rows: int = 0  # given rows that show the finding, as they are or with a change
    rows: int = 0  # given rows that were tried; 0 if unknown
    answer_changes: bool | None = None  # False if only scores change; None if unknown
    effect: float | None = None  # the typical size of the change, in units of the answer or of the score
    inputs: InputOrigin = ""
    #: of the rows it is about, those answered wrongly minus those answered correctly; None if unknown
    explained_rows: int | None = None
    evidence: tuple[Finding, ...] = ()  # what other checks found about the same cause
    #: what could be declared about it, as options of the command line: ("protected", "gender"), ("monotone", "income=up")
    declarations: tuple[tuple[str, str], ...] = ()

    @property
    def rate(self) -> float:
        """The share of cases that show the finding; 0 if nothing was counted."""
        return self.cases / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% Wilson interval of the rate, for counts of a sample."""
        return compute_wilson_interval(self.cases, self.of)

    @property
    def affected_share(self) -> float:
        """The share of given rows that are affected; of all cases if given rows were not counted."""
        return self.affected_rows / self.rows if self.rows else self.rate

    @property
    def all_declarations(self) -> tuple[tuple[str, str], ...]:
        """What could be declared about it, by this check or by others that found the same."""
        findings = (self, *self.evidence)
        return tuple(dict.fromkeys((name, value) for finding in findings for name, value in finding.declarations))

    @property
    def implausible(self) -> bool:
        """Whether every example breaks a relation between columns that all given rows keep."""
        return bool(self.examples) and all(example.breaks for example in self.examples)

    @property
    def rank(self) -> tuple[int, int, int, float, float, float]:
        """The sort key of findings: severity, then impact.

        A changed answer comes before a changed score, real rows before made ones (and before rows that break a relation
        of the data), certain before uncertain, many rows before few, and large effects before small ones.
        """
        origin: InputOrigin = "made" if self.implausible and self.inputs != "given" else self.inputs
        return (
            LEVELS.index(self.level),
            1 if self.answer_changes is False else 0,
            INPUT_ORIGINS.index(origin),
            -round(self.sure, 1),
            -self.affected_share,
            -abs(self.effect or 0.0),
        )


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

    @property
    def defects(self) -> list[Finding]:
        """The findings that are worse than advice."""
        return [finding for finding in self.findings if finding.level != "advice"]

    @property
    def unfinished(self) -> bool:
        """Whether the budget or an interrupt kept the check from running completely."""
        return self.skip_reason in UNFINISHED_REASONS
