"""`ModelComparison`: what changed from one model to another, and for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .._lazy import pd
from ..core.result import Finding, Result, find_defects
from ..reporting.junit import JUnitCase


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelComparison(Result):
    """The result of `dm.compare`.

    Attributes
    ----------
    findings : tuple of Finding
        What was found, worst first; each with ``.level`` ("fault", "concern", "advice"), ``.title``, ``.detail``, ``.remedy``.
    rows : DataFrame
        The rows that get another answer: inputs, label, ``old_answer`` and ``new_answer``.
    """

    _PAGE: ClassVar[str] = "comparison.page:build_page"

    old: str
    new: str
    findings: tuple[Finding, ...]
    rows: pd.DataFrame
    row_count: int
    same: bool = False
    seed: int = 0
    request: str = ""  # the command line; empty for a call in Python
    notes: Sequence[str] = ()
    unfinished: Sequence[str] = ()  # what was not compared, because the budget was spent or the user ended the run
    interrupted: bool = False
    calls: int = 0
    seconds: float = 0.0

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
        """The verdict in one line."""
        if self.findings:
            return self.findings[0].title
        return "Both models give the same answers"

    def document(self) -> dict[str, Any]:
        """Return the comparison as a JSON-serialisable dict."""
        return self._collect(
            *("old", "new", "headline", "passed", "same", "findings", "row_count", "notes", "complete", "unfinished"),
            *("interrupted", "seed", "calls", "seconds"),
            changed=len(self.rows),
            rows=self.rows,
        )

    def test_cases(self) -> list[JUnitCase]:
        """Return one test case per finding that is worse than advice, or one that passed."""
        return [
            JUnitCase(
                name=finding.title, outcome="failed", kind=finding.level, message=finding.title, detail=finding.detail
            )
            for finding in self.defects
        ] or [JUnitCase(name="no change that matters")]

    def _export_name(self) -> str:
        return f"{self.old} -> {self.new}"

    def _export_properties(self) -> Mapping[str, str]:
        return {"rows": str(self.row_count), "seed": str(self.seed)}

    def __repr__(self) -> str:
        return f"ModelComparison({self.old} -> {self.new}: {self.headline})"
