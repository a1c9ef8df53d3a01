"""What can be made of a stored check-up: its findings, files for other tools, and pytest files that pin it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..audit.pytest_file import format_test_file
from ..audit.result import AuditResult
from ..core.result import Finding
from ..errors import UsageError
from ..reporting.python_code import to_slug
from .jobs import RESULT_FILE

#: by format: the name of the file, and the method of the result
EXPORTS = {
    "JUnit": ("junit.xml", "to_junit"),
    "SARIF": ("findings.sarif", "to_sarif"),
    "Markdown": ("findings.md", "to_markdown"),
    "JSON": ("findings.json", "to_json"),
}


@dataclass(frozen=True, kw_only=True)
class FindingSummary:
    """What the page needs to know about a finding, beyond what the report shows."""

    check: str
    about: str
    level: str
    title: str
    declarations: tuple[tuple[str, str], ...]


def read_result(folder: Path) -> AuditResult:
    """Return the result of a check-up from the folder of its job."""
    return AuditResult.from_json((folder / RESULT_FILE).read_text(encoding="utf-8"))


def summarise_findings(folder: Path) -> list[FindingSummary]:
    """Return the findings of a check-up in the order of its report."""
    return [
        FindingSummary(
            check=finding.check,
            about=finding.about,
            level=finding.level,
            title=finding.title,
            declarations=finding.all_declarations,
        )
        for finding in read_result(folder).findings
    ]


def export_result(folder: Path, format_name: str) -> tuple[str, str]:
    """Return the name and the text of a file for another tool."""
    file, method = EXPORTS[format_name]
    return file, getattr(read_result(folder), method)()


def pin_result(folder: Path, served: Path, uploads: Path, check: str | None = None, about: str = "") -> tuple[str, str]:
    """Return the name and the text of a pytest file that pins a check-up, or a single finding of it.

    The file belongs into the served folder: the paths in it are relative to that. Uploaded files are expected there, too.
    """
    result = read_result(folder)
    words = {
        name: _move_upload(value, served, uploads) if name in ("model", "data") else value
        for name, value in result.words.items()
    }
    if check is None:
        return f"test_{to_slug(Path(result.subject).stem)}.py", format_test_file(replace(result, words=words), served)
    outcomes = [
        replace(outcome, findings=_select(outcome.findings, about))
        for outcome in result.outcomes
        if outcome.check == check
    ]
    if not any(outcome.findings for outcome in outcomes):
        raise UsageError(f"There is no finding of the check {check!r} about {about!r}.")
    others = tuple(
        replace(outcome, state="not run", findings=(), skip_reason="not requested", why="not pinned")
        for outcome in result.outcomes
        if outcome.check != check
    )
    pinned = replace(result, words=words, outcomes=(*outcomes, *others))
    return f"test_{to_slug(f'{check} {about}')}.py", format_test_file(pinned, served)


def _select(findings: Sequence[Finding], about: str) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.about == about)


def _move_upload(value: Any, served: Path, uploads: Path) -> Any:
    if isinstance(value, str) and Path(value).is_absolute() and Path(value).is_relative_to(uploads):
        return str(served / Path(value).name)
    return value
