"""The findings as a JUnit XML file: a test case a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._checks import plural
from ..reports.texts import cut
from .finding import Finding, Outcome
from .result import Result
from .told import again, how_often, how_sure, rows

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LONGEST = 4_000  # letters of one text
MOST_FINDINGS = 200  # of one check


def junit(result: Result) -> str:
    """Return a JUnit XML file.

    A check fails by what is worse than advice; one that was not run is skipped, one that broke is an error.
    """
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    cases = [_case(result, outcome) for outcome in result.outcomes]
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
        "time": f"{result.seconds:.3f}",
    }
    root = Element("testsuites", {"name": "datamorphic", **counts})
    suite = SubElement(root, "testsuite", {"name": _words(result.subject, 200), **counts})
    properties = SubElement(suite, "properties")
    told = {"kind": result.kind, "data": result.data, "seed": str(result.seed), "budget": result.budget}
    told |= {f"version of {name}": version for name, version in result.versions.items()}
    for name, value in told.items():
        SubElement(properties, "property", {"name": _words(name, 200), "value": _words(value, 1_000)})
    suite.extend(cases)
    if result.notes:
        SubElement(suite, "system-out").text = _words("\n".join(result.notes))
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _case(result: Result, outcome: Outcome) -> Element:
    from xml.etree.ElementTree import Element, SubElement

    names = {"classname": f"datamorphic.{_words(result.subject, 200)}", "name": _words(outcome.check, 200)}
    case = Element("testcase", {**names, "time": f"{outcome.seconds:.3f}"})
    bad = [finding for finding in outcome.findings if finding.level != "advice"]
    advice = [finding for finding in outcome.findings if finding.level == "advice"]
    if outcome.state == "broke":
        told = SubElement(case, "error", {"type": "broke", "message": _words(outcome.why, 500)})
        told.text = _told(result, bad) or _words(outcome.why)
    elif outcome.state == "not run":
        SubElement(case, "skipped", {"message": _words(outcome.why, 500)})
    elif bad:
        more = f" (and {plural(len(bad) - 1, 'more finding')})" if len(bad) > 1 else ""
        worst = min(bad, key=lambda finding: finding.rank)
        about = {"type": worst.level, "message": _words(worst.title, 450) + more}
        SubElement(case, "failure", about).text = _told(result, bad)
    if advice:
        SubElement(case, "system-out").text = _told(result, advice)
    return case


def _told(result: Result, findings: list[Finding]) -> str:
    ordered = sorted(findings, key=lambda finding: finding.rank)
    told = [_finding(result, finding) for finding in ordered[:MOST_FINDINGS]]
    left = len(findings) - len(told)
    return "\n\n".join(told + ([f"{left:,} more findings not shown."] if left else []))


def _finding(result: Result, finding: Finding) -> str:
    lines = [
        f"{finding.level}: {finding.title}",
        finding.detail,
        how_often(finding, unless_told=True),
        f"how sure: {how_sure(finding)}",
    ]
    for example in finding.examples[:1]:
        _, table, note = rows(example)
        lines += [
            f"example: {example.words}",
            *(f"  {name}: {' -> '.join(values)}" for name, *values in table),
            note,
        ]
    lines += [f"what to do: {finding.remedy}" if finding.remedy else "", f"again: {again(result, finding)}"]
    return "\n".join(_words(line) for line in lines if line)


def _words(text: str, most: int = LONGEST) -> str:
    """Return a text that is allowed in XML."""
    return cut(text, most)
