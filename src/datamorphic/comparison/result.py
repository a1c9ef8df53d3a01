"""`ModelComparison`: what changed from one model to another, and for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._lazy import pd
from .._text import pluralise
from ..core.result import LEVELS, Finding, Measure, Result, find_defects
from ..exploration.diff.diff import Difference
from ..reporting.junit import JUnitCase
from .directions import DirectionChange
from .judgement import ChanceLevel, ChangedGroup, ChangeJudgement
from .measures import FigurePair

MAX_DOCUMENT_ROWS = 1_000


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelComparison(Result):
    """The result of `dm.compare`.

    Attributes
    ----------
    findings : tuple of Finding
        What was found, worst first; each with ``.level`` ("fault", "concern", "advice"), ``.title``, ``.detail``, ``.remedy``.
    groups : tuple of ChangedGroup
        The groups whose answers changed more than others and than training again explains, with shares and intervals.
    rows : DataFrame
        The rows that get another answer: inputs, label, ``old_answer`` and ``new_answer``.
    judgement : ChangeJudgement or None
        Whether the changes are more than training again explains; None if the models must be the same.
    chance : ChanceLevel or None
        What changed when the old learner was trained again with other seeds; None if it was not.
    figures : tuple of FigurePair
        Errors, recall and precision per class, errors of probabilities: old and new, with paired intervals.
    difference : Difference or None
        Where the border between the answers moved.
    """

    _PAGE: ClassVar[str] = "comparison.page:build_page"

    old: str
    new: str
    findings: tuple[Finding, ...]
    rows: pd.DataFrame
    row_count: int
    judgement: ChangeJudgement | None = None
    chance: ChanceLevel | None = None
    basis: str = ""  # how chance was judged
    figures: tuple[FigurePair, ...] = ()
    directions: tuple[DirectionChange, ...] = ()
    calibration: Mapping[str, float | None] = field(default_factory=dict)
    seconds_per_row: Mapping[str, float] = field(default_factory=dict)
    difference: Difference | None = field(default=None, repr=False)
    same: bool = False
    seed: int = 0
    request: str = ""  # the command line; empty for a call in Python
    target: str | None = None
    notes: Sequence[str] = ()
    unfinished: Sequence[str] = ()  # what was not compared, because the budget was spent or the user ended the run
    interrupted: bool = False
    calls: int = 0
    seconds: float = 0.0

    @property
    def groups(self) -> tuple[ChangedGroup, ...]:
        """The groups whose answers changed most, clearest first."""
        return () if self.judgement is None else self.judgement.groups

    @property
    def changed_share(self) -> Measure:
        """The share of the rows that get another answer."""
        return Measure.from_counts(len(self.rows), self.row_count)

    @property
    def defects(self) -> list[Finding]:
        """The findings that are worse than advice."""
        return find_defects(self.findings)

    @property
    def passed(self) -> bool:
        """Whether nothing worse than advice was found."""
        return not self.defects

    @property
    def complete(self) -> bool:
        """Whether everything was compared."""
        return not self.unfinished

    @property
    def headline(self) -> str:
        """The verdict in one line; it begins with "incomplete" if not everything was compared."""
        rows = pluralise(self.row_count, "row")
        if self.findings:
            text = self.findings[0].title
        elif self.same:
            text = f"No difference was found on {rows} and beyond them"
        elif self.judgement is None:
            text = "Nothing was compared"
        elif self.row_count and not len(self.rows):
            text = f"All {rows} get the same answer"
        else:
            text = f"{len(self.rows):,} of {rows} get another answer"
        return f"incomplete: {text[0].lower()}{text[1:]}" if self.unfinished and not self.defects else text

    def command(self) -> str:
        """Return the command, or the line of Python, that repeats the comparison."""
        if self.request:
            return self.request
        options = ["old", "new", "data"]
        options += [f"target={self.target!r}"] if self.target is not None else []
        options += ["same=True"] if self.same else []
        return f"dm.compare({', '.join(options)}, seed={self.seed})"

    def document(self) -> dict[str, Any]:
        """Return the comparison as a JSON-serialisable dict; of the changed rows, at most a thousand."""
        return self._collect(
            *("old", "new", "headline", "passed", "same", "findings", "groups", "judgement", "chance", "basis"),
            *("figures", "directions", "calibration", "seconds_per_row", "row_count", "notes", "complete"),
            *("unfinished", "interrupted", "seed", "calls", "seconds"),
            changed=len(self.rows),
            changed_share=self.changed_share,
            rows=self.rows.head(MAX_DOCUMENT_ROWS).reset_index(names="row") if len(self.rows) else [],
            border=None if self.difference is None else self.difference.document(),
        )

    def stored_summary(self) -> dict[str, Any]:
        """Return the verdict, the number of findings per level, and their titles."""
        levels = [finding.level for finding in self.findings]
        return {
            "headline": self.headline,
            "passed": self.passed,
            "complete": self.complete,
            "rows": self.row_count,
            "changed": len(self.rows),
            **{f"{level}s" if level != "advice" else level: levels.count(level) for level in LEVELS},
            "calls": self.calls,
            "findings": [finding.title for finding in self.findings],
        }

    def test_cases(self) -> list[JUnitCase]:
        """Return one test case per finding that is worse than advice, or one that passed."""
        return [
            JUnitCase(
                name=finding.about or finding.check,
                outcome="failed",
                kind=finding.level,
                message=finding.title,
                detail=f"{finding.detail}\n{finding.remedy}",
            )
            for finding in self.defects
        ] or [JUnitCase(name="no change for the worse")]

    def _export_name(self) -> str:
        return f"{self.old} -> {self.new}"

    def _export_properties(self) -> Mapping[str, str]:
        return {"rows": str(self.row_count), "changed": str(len(self.rows)), "seed": str(self.seed)}

    def __repr__(self) -> str:
        return f"ModelComparison({self.old} -> {self.new}: {self.headline})"
