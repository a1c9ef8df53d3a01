"""Turn the outcomes of checks into JUnit test cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .._text import pluralise
from ..core.result import Finding
from ..reporting.junit import JUnitCase, JUnitOutcome
from ..reporting.terminal import format_section
from ..reporting.text import cut
from .outcome import Outcome
from .page import build_finding
from .result import AuditResult

MAX_TITLE_CHARACTERS = 450
MAX_FINDINGS_PER_CHECK = 200


def build_test_cases(result: AuditResult) -> list[JUnitCase]:
    """Return one test case per check.

    A check fails if it found anything worse than advice. A check that does not apply is skipped. A broken one is an error, as
    is one that the budget or an interrupt kept from running to its end, unless incomplete audits are allowed.
    """
    return [_build_test_case(result, outcome) for outcome in result.outcomes]


def _build_test_case(result: AuditResult, outcome: Outcome) -> JUnitCase:
    defects = sorted(outcome.defects, key=lambda finding: finding.rank)
    advice = [finding for finding in outcome.findings if finding.level == "advice"]
    detail = _format_findings(result, defects)
    case = JUnitCase(name=outcome.check, output=_format_findings(result, advice), seconds=outcome.seconds)
    if outcome.state == "broke":
        return replace(case, outcome="error", kind="broke", message=outcome.why, detail=detail or outcome.why)
    if defects:
        more = f" (and {pluralise(len(defects) - 1, 'more finding')})" if len(defects) > 1 else ""
        message = cut(defects[0].title, MAX_TITLE_CHARACTERS) + more
        return replace(case, outcome="failed", kind=defects[0].level, message=message, detail=detail)
    if outcome.unfinished:
        message = f"incomplete: {outcome.why}"
        junit_outcome: JUnitOutcome = "skipped" if result.words.get("allow_incomplete") else "error"
        return replace(case, outcome=junit_outcome, kind="incomplete", message=message, detail=message)
    if outcome.state == "not run":
        return replace(case, outcome="skipped", message=outcome.why)
    return case


def _format_findings(result: AuditResult, findings: Sequence[Finding]) -> str:
    ordered = sorted(findings, key=lambda finding: finding.rank)
    texts = [format_section(build_finding(result, finding, brief=True)) for finding in ordered[:MAX_FINDINGS_PER_CHECK]]
    if len(findings) > len(texts):
        texts.append(f"{len(findings) - len(texts):,} more findings not shown.")
    return "\n\n".join(texts)
