"""`LawReport`: the outcome of a law check, with one `LawResult` per law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from .._lazy import pd
from ..core.result import Result
from ..reporting.junit import JUnitCase

if TYPE_CHECKING:
    from ..space.features import Codes


@dataclass(frozen=True, kw_only=True)
class LawResult:
    """The outcome for one law.

    For each counter-example of earlier checks that was tried, `first` says whether it still breaks the law. `again` has the
    codes of a triple of points to try first in the next check, if one was found and requested.
    """

    law: str
    says: str  # what the law demands
    state: Literal["HOLDS", "BROKEN", "NOT CHECKED"]
    words: str = ""  # the counter-example, or the reason why the law was not checked
    culprit: str = ""  # the function that broke the law
    cases: pd.DataFrame | None = field(default=None, compare=False, repr=False)  # the points of the counter-example
    first: tuple[bool, ...] = ()
    again: Codes | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.law}: {self.state}" + (f". {self.words}" if self.words else "")


@dataclass(frozen=True)
class LawReport(Result):
    """The outcome of a law check."""

    system: str
    results: list[LawResult]  # one per law
    examples: int  # the number of triples of points that were tried
    seed: int
    unfinished: tuple[str, ...] = ()  # what the budget, or the user, left untried
    interrupted: bool = False  # whether the user ended the check

    _PAGE: ClassVar[str] = "morphisms.page:build_page"

    @property
    def holds(self) -> bool:
        """Whether no law is broken."""
        return not self.broken

    @property
    def passed(self) -> bool:
        """The same as `holds`."""
        return self.holds

    @property
    def complete(self) -> bool:
        """Whether all laws were checked that apply."""
        return not self.unfinished

    @property
    def broken(self) -> list[LawResult]:
        """The broken laws, each with its counter-example in words."""
        return [result for result in self.results if result.state == "BROKEN"]

    @property
    def tried_first(self) -> dict[str, int]:
        """The numbers of earlier counter-examples: tried, still breaking, fixed."""
        outcomes = [breaks for result in self.results for breaks in result.first]
        return {"tried": len(outcomes), "breaking": sum(outcomes), "mended": len(outcomes) - sum(outcomes)}

    def document(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dict."""
        keys = ("law", "says", "state", "words", "culprit")
        laws = [{key: getattr(result, key) for key in keys} for result in self.results]
        return self._collect("system", "examples", "seed", "tried_first", "complete", "unfinished", laws=laws)

    def stored_summary(self) -> dict[str, Any]:
        """Return the numbers of laws and of examples."""
        counts = {"laws": len(self.results), "broken": len(self.broken)}
        return {**counts, "examples": self.examples, "tried_first": self.tried_first}

    def stored_verdicts(self) -> list[dict[str, Any]]:
        """Return the state of every law."""
        return [
            {
                "relation": result.law,
                "says": result.says,
                "verdict": result.state,
                "cases": int(result.state == "BROKEN"),
                "words": result.words,
            }
            for result in self.results
        ]

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one test case per law: passed, failed or skipped."""
        return [_to_test_case(result) for result in self.results]

    def _export_name(self) -> str:
        return f"laws of {self.system}"

    def _export_properties(self) -> Mapping[str, str]:
        return {"examples": str(self.examples), "seed": str(self.seed)}

    def __str__(self) -> str:
        return self.describe()


def _to_test_case(result: LawResult) -> JUnitCase:
    if result.state == "BROKEN":
        return JUnitCase(name=result.law, outcome="failed", kind="broken law", message=result.words, detail=result.says)
    if result.state == "NOT CHECKED":
        return JUnitCase(name=result.law, outcome="skipped", message=result.words)
    return JUnitCase(name=result.law, output=result.words)
