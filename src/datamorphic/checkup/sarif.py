"""The findings as SARIF 2.1.0, which code scanning reads."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from .. import __version__
from .._checks import jsonable
from ..reports.texts import clean, cut
from .finding import Finding, Level
from .result import Result
from .told import again, how_often, how_sure, rows

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVEL: dict[Level, str] = {"fault": "error", "concern": "warning", "advice": "note"}
LONGEST = 4_000  # letters of one text
_SCHEME = re.compile(r"^[A-Za-z][\w+.-]+:")  # a URL, or module:object; one letter is a drive


def sarif(result: Result) -> str:
    """Return a SARIF log: checks are its rules, findings its results.

    A finding keeps its fingerprint from run to run as long as the same check finds something about the same thing.
    """
    checks = list(dict.fromkeys(outcome.check for outcome in result.outcomes))
    asks = {outcome.check: outcome.asks for outcome in result.outcomes}
    rules = [
        {"id": _words(check), "name": _words(check), "shortDescription": _message(asks[check] or check)}
        for check in checks
    ]
    place = {check: i for i, check in enumerate(checks)}
    broke = [outcome for outcome in result.outcomes if outcome.state == "broke"]
    notices = [
        {
            "level": "error",
            "message": _message(f"The check {each.check!r} broke: {each.why}"),
            "associatedRule": {"id": _words(each.check), "index": place[each.check]},
        }
        for each in broke
    ]
    run = {
        "tool": {"driver": {"name": "datamorphic", "version": __version__, "rules": rules}},
        "invocations": [
            {
                "executionSuccessful": not broke,
                "commandLine": _words(again(result)),
                "toolExecutionNotifications": notices,
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": [_result(result, finding, place[finding.check]) for finding in result.findings],
        "properties": _properties(result),
    }
    log = jsonable({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, words=clean)
    return json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _result(result: Result, finding: Finding, rule: int) -> dict[str, Any]:
    often = how_often(finding, unless_told=True)
    told = [f"{finding.title}.", finding.detail, often, f"What to do: {finding.remedy}"]
    mark = hashlib.sha256(f"{finding.check}\0{finding.about}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    low, high = finding.interval
    return {
        "ruleId": _words(finding.check),
        "ruleIndex": rule,
        "kind": "fail",
        "level": LEVEL[finding.level],
        "rank": round(100 * finding.sure, 1),
        "message": _message("\n".join(line for line in told if line)),
        "locations": [_location(result, finding)],
        # code scanning of GitHub looks for the second name only
        "partialFingerprints": {"checkAndAbout/v1": mark, "primaryLocationLineHash": f"{mark}:1"},
        "properties": {
            "level": finding.level,
            "about": _words(finding.about),
            "sure": finding.sure,
            "howSure": how_sure(finding),
            "cases": finding.cases,
            "of": finding.of,
            **({"rate": finding.rate, "interval": [low, high]} if finding.of else {}),
            "remedy": _words(finding.remedy),
            "reproduce": _words(again(result, finding)),
            "examples": [_example(finding, i) for i in range(min(3, len(finding.examples)))],
        },
    }


def _example(finding: Finding, number: int) -> dict[str, Any]:
    columns, table, note = rows(finding.examples[number])
    cells = [dict(zip(columns, map(_words, row), strict=True)) for row in table]
    return {"words": _words(finding.examples[number].words), "table": cells, "note": note}


def _location(result: Result, finding: Finding) -> dict[str, Any]:
    """Return where a finding is: a file, as code scanning takes nothing else, and what it is about."""
    name = _words(result.subject)
    full = f"{name}/{_words(finding.about)}" if finding.about else name
    logical = {"name": _words(finding.about) or name, "fullyQualifiedName": full, "kind": "resource"}
    model, data = result.words.get("model"), result.words.get("data")
    uri = _file(model) or _module(model) or _file(data) or "datamorphic"
    # a model has no lines, but code scanning shows only what has one
    physical = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    return {"physicalLocation": physical, "logicalLocations": [logical]}


def _module(model: object) -> str:
    """Return the file of the module in ``module:object`` as a relative URI; nothing if it is none."""
    named = re.fullmatch(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d][\w.]*", str(model))
    return quote(named[1].replace(".", "/") + ".py") if named else ""


def _file(given: object) -> str:
    """Return a file as a relative URI; nothing if it is no file.

    What lies outside of the working directory is told by its name alone: other machines have other directories.
    """
    if not isinstance(given, str | Path) or not str(given) or _SCHEME.match(str(given)):
        return ""
    path = PurePosixPath(clean(Path(given).as_posix() if isinstance(given, Path) else given.replace("\\", "/")))
    here = Path.cwd().as_posix()
    if path.is_relative_to(here):
        path = path.relative_to(here)
    outside = path.is_absolute() or ".." in path.parts or re.match("^[A-Za-z]:", str(path))
    return quote(path.name if outside else str(path))


def _properties(result: Result) -> dict[str, Any]:
    checks = {
        _words(each.check): {
            "state": each.state,
            "why": _words(each.why),
            "seconds": round(each.seconds, 3),
            "calls": each.calls,
        }
        for each in result.outcomes
    }
    about = {"subject": result.subject, "kind": result.kind, "data": result.data, "headline": result.headline}
    told = {name: _words(value) for name, value in about.items()}
    return {**told, "passed": result.passed, "seed": result.seed, "checks": checks}


def _message(text: str) -> dict[str, str]:
    """Return a message in which no brackets make a link and no braces a placeholder."""
    return {"text": re.sub(r"([\\\[\]])", r"\\\1", _words(text)).replace("{", "{{").replace("}", "}}")}


def _words(text: str) -> str:
    return cut(text, LONGEST)
