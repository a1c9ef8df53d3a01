"""Format an audit as SARIF 2.1.0, the format of code scanning."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from .. import __version__
from .._text import to_jsonable
from ..core.result import Example, Finding, Level
from ..reporting.text import clean, cut
from .examples import build_example_table
from .page import build_finding, format_certainty, format_command
from .result import AuditResult

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SARIF_LEVELS: dict[Level, str] = {"fault": "error", "concern": "warning", "advice": "note"}
MAX_TEXT_CHARACTERS = 4_000
MAX_EXAMPLES = 3
_SCHEME = re.compile(r"^[A-Za-z][\w+.-]+:")  # of a URL or module:object; a single letter is a Windows drive
_OBJECT = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d][\w.]*")  # module:object


def format_sarif(result: AuditResult) -> str:
    """Return a SARIF log in which checks are rules and findings are results.

    The fingerprint of a finding depends on its check and subject only, so that code scanning recognises it in later runs.
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
            "level": level,
            "message": _build_message(f"The check {outcome.check!r} {verb}: {outcome.why}"),
            "associatedRule": {"id": _cut_text(outcome.check), "index": rule_index[outcome.check]},
        }
        for outcomes, level, verb in (
            (broken_outcomes, "error", "broke"),
            (result.unfinished, "warning", "is incomplete"),
        )
        for outcome in outcomes
    ]
    incomplete_allowed = bool(result.words.get("allow_incomplete"))
    run = {
        "tool": {"driver": {"name": "datamorphic", "version": __version__, "rules": rules}},
        "invocations": [
            {
                "executionSuccessful": not broken_outcomes and (incomplete_allowed or not result.unfinished),
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
    section = build_finding(result, finding, brief=True)
    facts = [f"{term}: {value}" for term, value in section.all_facts]
    identity = f"{finding.check}\0{finding.about}".encode("utf-8", "surrogatepass")
    fingerprint = hashlib.sha256(identity).hexdigest()[:32]
    low, high = finding.interval
    return {
        "ruleId": _cut_text(finding.check),
        "ruleIndex": rule,
        "kind": "fail",
        "level": SARIF_LEVELS[finding.level],
        "rank": round(100 * finding.confidence, 1),
        "message": _build_message("\n".join([f"{section.heading}.", section.text, *facts])),
        "locations": [_build_location(result, finding)],
        # GitHub reads the second name only
        "partialFingerprints": {"checkAndAbout/v1": fingerprint, "primaryLocationLineHash": f"{fingerprint}:1"},
        "properties": {
            "level": finding.level,
            "about": _cut_text(finding.about),
            "sure": finding.confidence,
            "howSure": format_certainty(finding),
            "cases": finding.cases,
            "of": finding.cases_tried,
            **({"rate": finding.rate, "interval": [low, high]} if finding.cases_tried else {}),
            "remedy": _cut_text(finding.remedy),
            "reproduce": _cut_text(format_command(result, finding)),
            "examples": [_build_example(example) for example in finding.examples[:MAX_EXAMPLES]],
        },
    }


def _build_example(example: Example) -> dict[str, Any]:
    table = build_example_table(example)
    cells = [dict(zip(table.columns, map(_cut_text, row), strict=True)) for row in table.rows]
    return {"words": _cut_text(example.text), "table": cells, "note": table.note}


def _build_location(result: AuditResult, finding: Finding) -> dict[str, Any]:
    """Return the file of the model or data, since code scanning requires a file, and the subject of the finding."""
    name = _cut_text(result.subject)
    qualified_name = f"{name}/{_cut_text(finding.about)}" if finding.about else name
    logical = {"name": _cut_text(finding.about) or name, "fullyQualifiedName": qualified_name, "kind": "resource"}
    model, data = result.words.get("model"), result.words.get("data")
    module = _OBJECT.fullmatch(str(model))
    module_file = quote(module[1].replace(".", "/") + ".py") if module else ""
    uri = _to_uri(model) or module_file or _to_uri(data) or "datamorphic"
    # a model has no lines, but code scanning shows only results with a line
    physical = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    return {"physicalLocation": physical, "logicalLocations": [logical]}


def _to_uri(location: object) -> str:
    """Return the relative URI of a file; empty for anything else.

    A file outside of the working directory is given by its name only, since its folder differs between machines.
    """
    if not isinstance(location, str | Path) or not str(location) or _SCHEME.match(str(location)):
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
    verdict = {"passed": result.passed, "complete": result.complete}
    return {**texts, **verdict, "seed": result.seed, "checks": checks}


def _build_message(text: str) -> dict[str, str]:
    """Return a message in which brackets make no links and braces no placeholders."""
    return {"text": re.sub(r"([\\\[\]])", r"\\\1", _cut_text(text)).replace("{", "{{").replace("}", "}}")}


def _cut_text(text: str) -> str:
    return cut(text, MAX_TEXT_CHARACTERS)
