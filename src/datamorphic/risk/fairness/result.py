"""`FairnessReport`: how decisions depend on who people are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ..._lazy import pd
from ..._text import join_names
from ..._typing import FilePath
from ..._validation import validate_choice
from ...core.result import Result, find_defects
from ...reporting.junit import JUnitCase
from .effects import AttributeEffect, CombinationEffect
from .findings import FairnessFinding
from .groups import GroupTable
from .proxies import Proxy
from .wording import Wording

MAX_HEADLINE_STAND_INS = 2
#: How an attribute fares: it decides, it decides together with others, a column stands in for it, it moves the probability
#: behind the decision, it matters for a few people, or none of these.
AttributeState = Literal["depends", "depends together", "stand-in", "probability", "slightly", "clear"]


@dataclass(frozen=True, eq=False, kw_only=True)
class FairnessReport(Result):
    """The result of `dm.fairness`.

    Attributes
    ----------
    findings : tuple of FairnessFinding
        What was found, worst first; each with ``.level`` ("fault", "concern", "advice"), ``.title``, ``.detail``, ``.remedy``.
    effects : tuple of AttributeEffect
        What people would get with another value of each protected attribute.
    combinations : tuple of CombinationEffect
        The same for several attributes at once.
    proxies : tuple of Proxy
        The columns that tell the groups apart best, and how decisions depend on them.
    tables : tuple of GroupTable
        What the groups get, with intervals.
    """

    _PAGE: ClassVar[str] = "risk.fairness.page:build_page"

    subject: str
    people: int
    attributes: tuple[str, ...]
    wording: Wording
    tables: tuple[GroupTable, ...]
    effects: tuple[AttributeEffect, ...]
    combinations: tuple[CombinationEffect, ...]
    proxies: tuple[Proxy, ...]
    findings: tuple[FairnessFinding, ...]
    relations: Sequence[str]  # between columns, that changed people keep
    threshold: float
    min_effect: float
    seed: int = 0
    request: str = ""  # the command line; empty for a call in Python
    notes: Sequence[str] = ()
    unfinished: Sequence[str] = ()  # what was not examined, because the budget was spent or the user ended the run
    interrupted: bool = False
    calls: int = 0
    seconds: float = 0.0

    # -- the verdict -------------------------------------------------------------------------------------------------

    @property
    def defects(self) -> list[FairnessFinding]:
        """The findings that are worse than advice."""
        return find_defects(self.findings)

    @property
    def passed(self) -> bool:
        """Whether nothing worse than advice was found."""
        return not self.defects

    @property
    def complete(self) -> bool:
        """Whether everything was examined."""
        return not self.unfinished

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        if self.passed and self.unfinished:
            return f"Incomplete: {join_names(self.unfinished)} could not be examined"
        if self.passed:
            return f"No dependence on {join_names(self.attributes, 'or')} was found"
        alone = [finding.attributes[0] for finding in self.defects if finding.kind == "attribute"]
        together = [" and ".join(finding.attributes) for finding in self.defects if finding.kind == "combination"]
        decisive = [*alone, *(f"{names} together" for names in together)]
        parts = [f"{self.wording.subject} depends on {join_names(decisive)}"] if decisive else []
        stand_ins = [finding.title for finding in self.defects if finding.kind == "stand-in"]
        if len(stand_ins) > MAX_HEADLINE_STAND_INS:
            stand_ins = [f"{len(stand_ins)} columns stand in for protected ones"]
        probability_attributes = [finding.attributes[0] for finding in self.defects if finding.kind == "probability"]
        if probability_attributes:
            parts.append(f"the probability behind the decision depends on {join_names(probability_attributes)}")
        headline = "; ".join([*parts, *stand_ins])
        return headline[0].upper() + headline[1:] if decisive or probability_attributes else headline

    def find_state(self, attribute: str) -> AttributeState:
        """Return how one attribute fares."""
        findings = [finding for finding in self.findings if attribute in finding.attributes]
        kinds = {finding.kind for finding in findings if finding.level != "advice"}
        if "attribute" in kinds:
            return "depends"
        if "combination" in kinds:
            return "depends together"
        if "stand-in" in kinds:
            return "stand-in"
        if "probability" in kinds:
            return "probability"
        return "slightly" if any(finding.kind == "attribute" for finding in findings) else "clear"

    def get_effect(self, attribute: str) -> AttributeEffect:
        """Return the effect of one attribute."""
        effects = {effect.attribute: effect for effect in self.effects}  # of a complete examination, all attributes
        return effects[validate_choice("attribute", "FairnessReport.get_effect", attribute, effects)]

    @property
    def table(self) -> pd.DataFrame:
        """One row per group: what it gets, with the interval."""
        rows = [
            {
                "attributes": table.title,
                "group": row.label,
                "people": row.people,
                "level": row.level.value,
                "low": row.level.low,
                "high": row.level.high,
                "wrong": None if row.wrong is None else row.wrong.value,
            }
            for table in self.tables
            for row in table.rows
        ]
        return pd.DataFrame(rows)

    def command(self) -> str:
        """Return the command, or the line of Python, that repeats the examination."""
        if self.request:
            return self.request
        options = [f"protected={list(self.attributes)!r}", f"seed={self.seed}"]
        return f"dm.fairness(model, data, {', '.join(options)}, ...)"

    # -- exports -----------------------------------------------------------------------------------------------------

    def to_verdict(self, path: FilePath | None = None) -> str:
        """Return the verdict as an HTML page that is printed on one sheet, and write it to `path` if given."""
        return self.to_html(path, one_page=True)

    def document(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dict."""
        return self._collect(
            *("subject", "headline", "passed", "people", "findings", "effects", "combinations", "proxies", "relations"),
            *("threshold", "min_effect", "notes", "complete", "unfinished", "interrupted", "seed", "calls", "seconds"),
            attributes={name: self.find_state(name) for name in self.attributes},
            measure=self.wording.measure,
            decision=self.wording.decision,
            groups=self.tables,
        )

    def test_cases(self) -> list[JUnitCase]:
        """Return one test case per attribute and combination, and one per stand-in."""
        cases = []
        for name in self.attributes:
            cases.append(self._build_case(f"{name} alone", "attribute", (name,)))
            cases.append(self._build_case(f"stand-ins for {name}", "stand-in", (name,)))
        cases += [
            self._build_case(f"{' and '.join(effect.attributes)} together", "combination", effect.attributes)
            for effect in self.combinations
        ]
        return cases

    def _build_case(self, name: str, kind: str, attributes: tuple[str, ...]) -> JUnitCase:
        findings = [
            finding
            for finding in self.defects
            if finding.kind in ((kind, "probability") if kind == "attribute" else (kind,))
            and (finding.attributes == attributes or (kind == "stand-in" and set(attributes) & set(finding.attributes)))
        ]
        if not findings:
            return JUnitCase(name=name)
        return JUnitCase(
            name=name,
            outcome="failed",
            kind=findings[0].level,
            message="; ".join(finding.title for finding in findings),
            detail="\n".join(f"{finding.detail} {finding.remedy}" for finding in findings),
        )

    def _export_properties(self) -> Mapping[str, str]:
        return {"protected": ", ".join(self.attributes), "people": str(self.people), "seed": str(self.seed)}

    def __repr__(self) -> str:
        return f"FairnessReport({self.subject}: {self.headline})"
