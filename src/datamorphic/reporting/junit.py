"""Write JUnit XML, the format in which CI servers read test results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .text import cut

MAX_NAME_CHARACTERS = 200
MAX_MESSAGE_CHARACTERS = 500
MAX_PROPERTY_CHARACTERS = 1_000
MAX_LINE_CHARACTERS = 4_000

JUnitOutcome = Literal["passed", "failed", "error", "skipped"]
VERDICTS = {"passed": "HOLDS", "failed": "VIOLATED", "error": "UNDEFINED", "skipped": "INAPPLICABLE"}


@dataclass(frozen=True, kw_only=True)
class JUnitCase:
    """One test case: what was checked and how it ended."""

    name: str
    outcome: JUnitOutcome = "passed"
    kind: str = ""  # of a failure or an error, for filters of CI servers
    message: str = ""  # the reason in one line
    detail: str = ""  # the evidence, several lines if need be
    output: str = ""  # worth reading although the case may have passed
    seconds: float | None = None

    @property
    def verdict(self) -> str:
        """The outcome as a run store keeps it."""
        return VERDICTS[self.outcome]


@dataclass(frozen=True, kw_only=True)
class JUnitSuite:
    """The test cases of one result, with the settings it was obtained with."""

    name: str
    cases: Sequence[JUnitCase]
    seconds: float | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    output: str = ""


def format_junit(suite: JUnitSuite) -> str:
    """Return a suite as a JUnit XML document."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    name = cut(suite.name, MAX_NAME_CHARACTERS)
    outcomes = Counter(case.outcome for case in suite.cases)
    figures = {
        "tests": str(len(suite.cases)),
        "failures": str(outcomes["failed"]),
        "errors": str(outcomes["error"]),
        "skipped": str(outcomes["skipped"]),
        **_format_time(suite.seconds),
    }
    root = Element("testsuites", {"name": "datamorphic", **figures})
    element = SubElement(root, "testsuite", {"name": name, **figures})
    if suite.properties:
        properties = SubElement(element, "properties")
        for key, value in suite.properties.items():
            attributes = {"name": cut(key, MAX_NAME_CHARACTERS), "value": cut(value, MAX_PROPERTY_CHARACTERS)}
            SubElement(properties, "property", attributes)
    for case in suite.cases:
        attributes = {"classname": f"datamorphic.{name}", "name": cut(case.name, MAX_NAME_CHARACTERS)}
        node = SubElement(element, "testcase", {**attributes, **_format_time(case.seconds)})
        message = cut(case.message, MAX_MESSAGE_CHARACTERS)
        if case.outcome == "skipped":
            SubElement(node, "skipped", {"message": message})
        elif case.outcome != "passed":
            tag = "failure" if case.outcome == "failed" else "error"
            SubElement(node, tag, {"type": case.kind, "message": message}).text = _cut_lines(case.detail)
        if case.output:
            SubElement(node, "system-out").text = _cut_lines(case.output)
    if suite.output:
        SubElement(element, "system-out").text = _cut_lines(suite.output)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _format_time(seconds: float | None) -> dict[str, str]:
    return {} if seconds is None else {"time": f"{seconds:.3f}"}


def _cut_lines(text: str) -> str:
    return "\n".join(cut(line, MAX_LINE_CHARACTERS) for line in text.split("\n"))
