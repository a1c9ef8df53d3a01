"""The findings as a JUnit XML file: a test case a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text import pluralize
from ..reporting.text import cut
from .finding import Finding, Outcome
from .finding_text import format_certainty, format_command, format_frequency, tabulate_example
from .result import AuditResult

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_TEXT_CHARACTERS = 4_000  # letters of one text
MAX_FINDINGS_PER_CHECK = 200  # of one check


def format_junit(result: AuditResult) -> str:
    """Return a JUnit XML file.

    A check fails by what is worse than advice; one that was not run is skipped, one that broke is an error.
    """
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    cases = [_build_test_case(result, outcome) for outcome in result.outcomes]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
        "time": f"{result.seconds:.3f}",
    }
    root = Element("testsuites", {"name": "datamorphic", **counts})
    suite = SubElement(root, "testsuite", {"name": _cut_text(result.subject, 200), **counts})
    properties = SubElement(suite, "properties")
    settings = {"kind": result.kind, "data": result.data, "seed": str(result.seed), "budget": result.budget}
    settings |= {f"version of {name}": version for name, version in result.versions.items()}
    for name, value in settings.items():
        SubElement(properties, "property", {"name": _cut_text(name, 200), "value": _cut_text(value, 1_000)})
    suite.extend(cases)
    if result.notes:
        SubElement(suite, "system-out").text = _cut_text("\n".join(result.notes))
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _build_test_case(result: AuditResult, outcome: Outcome) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    names = {"classname": f"datamorphic.{_cut_text(result.subject, 200)}", "name": _cut_text(outcome.check, 200)}
    case = Element("testcase", {**names, "time": f"{outcome.seconds:.3f}"})
    defects = [finding for finding in outcome.findings if finding.level != "advice"]
    advice = [finding for finding in outcome.findings if finding.level == "advice"]
    if outcome.state == "broke":
        error = SubElement(case, "error", {"type": "broke", "message": _cut_text(outcome.why, 500)})
        error.text = _format_findings(result, defects) or _cut_text(outcome.why)
    elif outcome.state == "not run":
        SubElement(case, "skipped", {"message": _cut_text(outcome.why, 500)})
    elif defects:
        more = f" (and {pluralize(len(defects) - 1, 'more finding')})" if len(defects) > 1 else ""
        worst = min(defects, key=lambda finding: finding.rank)
        about = {"type": worst.level, "message": _cut_text(worst.title, 450) + more}
        SubElement(case, "failure", about).text = _format_findings(result, defects)
    if advice:
        SubElement(case, "system-out").text = _format_findings(result, advice)
    return case


def _format_findings(result: AuditResult, findings: list[Finding]) -> str:
    ordered = sorted(findings, key=lambda finding: finding.rank)
    texts = [_format_finding(result, finding) for finding in ordered[:MAX_FINDINGS_PER_CHECK]]
    omitted_count = len(findings) - len(texts)
    return "\n\n".join(texts + ([f"{omitted_count:,} more findings not shown."] if omitted_count else []))


def _format_finding(result: AuditResult, finding: Finding) -> str:
    lines = [
        f"{finding.level}: {finding.title}",
        finding.detail,
        format_frequency(finding, skip_if_in_detail=True),
        f"how sure: {format_certainty(finding)}",
    ]
    for example in finding.examples[:1]:
        _, table, note = tabulate_example(example)
        lines += [
            f"example: {example.words}",
            *(f"  {name}: {' -> '.join(values)}" for name, *values in table),
            note,
        ]
    lines += [
        f"what to do: {finding.remedy}" if finding.remedy else "",
        f"again: {format_command(result, finding)}",
    ]
    return "\n".join(_cut_text(line) for line in lines if line)


def _cut_text(text: str, limit: int = MAX_TEXT_CHARACTERS) -> str:
    """Return a text that is allowed in XML."""
    return cut(text, limit)
