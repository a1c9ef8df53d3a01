"""The findings as SARIF 2.1.0, which code scanning reads."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from .. import __version__
from .._text import to_jsonable
from ..reporting.text import clean, cut
from .finding import Finding, Level
from .finding_text import format_certainty, format_command, format_frequency, tabulate_example
from .result import AuditResult

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SARIF_LEVELS: dict[Level, str] = {"fault": "error", "concern": "warning", "advice": "note"}
MAX_TEXT_CHARACTERS = 4_000  # letters of one text
_SCHEME_PATTERN = re.compile(r"^[A-Za-z][\w+.-]+:")  # a URL, or module:object; one letter is a drive


def format_sarif(result: AuditResult) -> str:
    """Return a SARIF log: checks are its rules, findings its results.

    A finding keeps its fingerprint from run to run as long as the same check finds something about the same thing.
    """
    checks = list(dict.fromkeys(outcome.check for outcome in result.outcomes))
    questions = {outcome.check: outcome.asks for outcome in result.outcomes}
    rules = [
        {
            "id": _cut_text(check),
            "name": _cut_text(check),
            "shortDescription": _build_message(questions[check] or check),
        }
        for check in checks
    ]
    rule_index = {check: i for i, check in enumerate(checks)}
    broken_outcomes = [outcome for outcome in result.outcomes if outcome.state == "broke"]
    notifications = [
        {
            "level": "error",
            "message": _build_message(f"The check {outcome.check!r} broke: {outcome.why}"),
            "associatedRule": {"id": _cut_text(outcome.check), "index": rule_index[outcome.check]},
        }
        for outcome in broken_outcomes
    ]
    run = {
        "tool": {"driver": {"name": "datamorphic", "version": __version__, "rules": rules}},
        "invocations": [
            {
                "executionSuccessful": not broken_outcomes,
                "commandLine": _cut_text(format_command(result)),
                "toolExecutionNotifications": notifications,
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [_build_result(result, finding, rule_index[finding.check]) for finding in result.findings],
        "properties": _build_properties(result),
    }
    log = to_jsonable({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, convert_text=clean)
    return json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _build_result(result: AuditResult, finding: Finding, rule: int) -> dict[str, Any]:
    frequency = format_frequency(finding, skip_if_in_detail=True)
    lines = [f"{finding.title}.", finding.detail, frequency, f"What to do: {finding.remedy}"]
    fingerprint = hashlib.sha256(f"{finding.check}\0{finding.about}".encode("utf-8", "surrogatepass")).hexdigest()[
        :32
    ]
    low, high = finding.interval
    return {
        "ruleId": _cut_text(finding.check),
        "ruleIndex": rule,
        "kind": "fail",
        "level": SARIF_LEVELS[finding.level],
        "rank": round(100 * finding.sure, 1),
        "message": _build_message("\n".join(line for line in lines if line)),
        "locations": [_build_location(result, finding)],
        # code scanning of GitHub looks for the second name only
        "partialFingerprints": {"checkAndAbout/v1": fingerprint, "primaryLocationLineHash": f"{fingerprint}:1"},
        "properties": {
            "level": finding.level,
            "about": _cut_text(finding.about),
            "sure": finding.sure,
            "howSure": format_certainty(finding),
            "cases": finding.cases,
            "of": finding.of,
            **({"rate": finding.rate, "interval": [low, high]} if finding.of else {}),
            "remedy": _cut_text(finding.remedy),
            "reproduce": _cut_text(format_command(result, finding)),
            "examples": [_build_example(finding, i) for i in range(min(3, len(finding.examples)))],
        },
    }


def _build_example(finding: Finding, number: int) -> dict[str, Any]:
    columns, table, note = tabulate_example(finding.examples[number])
    cells = [dict(zip(columns, map(_cut_text, row), strict=True)) for row in table]
    return {"words": _cut_text(finding.examples[number].words), "table": cells, "note": note}


def _build_location(result: AuditResult, finding: Finding) -> dict[str, Any]:
    """Return where a finding is: a file, as code scanning takes nothing else, and what it is about."""
    name = _cut_text(result.subject)
    qualified_name = f"{name}/{_cut_text(finding.about)}" if finding.about else name
    logical = {"name": _cut_text(finding.about) or name, "fullyQualifiedName": qualified_name, "kind": "resource"}
    model, data = result.words.get("model"), result.words.get("data")
    uri = _to_uri(model) or _find_module_file(model) or _to_uri(data) or "datamorphic"
    # a model has no lines, but code scanning shows only what has one
    physical = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    return {"physicalLocation": physical, "logicalLocations": [logical]}


def _find_module_file(model: object) -> str:
    """Return the file of the module in ``module:object`` as a relative URI; nothing if it is none."""
    match = re.fullmatch(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d][\w.]*", str(model))
    return quote(match[1].replace(".", "/") + ".py") if match else ""


def _to_uri(location: object) -> str:
    """Return a file as a relative URI; nothing if it is no file.

    What lies outside of the working directory is told by its name alone: other machines have other directories.
    """
    if not isinstance(location, str | Path) or not str(location) or _SCHEME_PATTERN.match(str(location)):
        return ""
    path = PurePosixPath(
        clean(Path(location).as_posix() if isinstance(location, Path) else location.replace("\\", "/"))
    )
    folder = Path.cwd().as_posix()
    if path.is_relative_to(folder):
        path = path.relative_to(folder)
    outside = path.is_absolute() or ".." in path.parts or re.match("^[A-Za-z]:", str(path))
    return quote(path.name if outside else str(path))


def _build_properties(result: AuditResult) -> dict[str, Any]:
    checks = {
        _cut_text(outcome.check): {
            "state": outcome.state,
            "why": _cut_text(outcome.why),
            "seconds": round(outcome.seconds, 3),
            "calls": outcome.calls,
        }
        for outcome in result.outcomes
    }
    about = {"subject": result.subject, "kind": result.kind, "data": result.data, "headline": result.headline}
    texts = {name: _cut_text(value) for name, value in about.items()}
    return {**texts, "passed": result.passed, "seed": result.seed, "checks": checks}


def _build_message(text: str) -> dict[str, str]:
    """Return a message in which no brackets make a link and no braces a placeholder."""
    return {"text": re.sub(r"([\\\[\]])", r"\\\1", _cut_text(text)).replace("{", "{{").replace("}", "}}")}


def _cut_text(text: str) -> str:
    return cut(text, MAX_TEXT_CHARACTERS)
