"""`Result`: everything a check-up found, and the ways to tell it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._text import pluralize, to_jsonable
from .._validation import validate_choice
from ..errors import DataError
from ..reporting.document import Axis, Line, Scatter, Section, Table
from ..reporting.html import render_page, write_text
from .finding import LEVELS, Example, Finding, Level, Outcome

if TYPE_CHECKING:
    from ..exploration.front import Front
    from ..reporting.document import Page

FORMAT_VERSION = 1  # of the JSON document; readers refuse a newer one
SERIALISED_CLASSES = {
    kind.__name__: kind for kind in (Axis, Example, Finding, Line, Outcome, Scatter, Section, Table)
}


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditResult:
    """What a check-up found: the findings, ranked, and what became of every check.

    Attributes
    ----------
    subject : str
        What was tested.
    kind : str
        What it was taken for, in words: "a fitted classifier of 3 classes (SVC)".
    data : str
        What it was tested with, in words.
    outcomes : sequence of Outcome
        One a check, in the order they were made.
    seed : int
        Where randomness started.
    budget : str
        What it might cost.
    seconds : float
        How long it took.
    calls : int
        Rows that the system computed.
    words : mapping
        How it was asked for, so that it can be asked for again: "model", "data", "target", ...
    notes : sequence of str
        What was decided on the way, and what a reader should know.
    versions : mapping
        Of Python and the packages that matter.
    front : Front or None
        The border that was found; not part of the JSON document.
    """

    subject: str
    kind: str
    data: str
    outcomes: tuple[Outcome, ...]
    seed: int
    budget: str
    seconds: float
    calls: int
    words: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    front: Front | None = field(default=None, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AuditResult) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Result({self.subject}: {self.headline})"

    @property
    def findings(self) -> list[Finding]:
        """All findings, the worst and surest first."""
        findings = [finding for outcome in self.outcomes for finding in outcome.findings]
        return sorted(findings, key=lambda finding: finding.rank)

    def at_least(self, level: Level) -> list[Finding]:
        """Return the findings of this level or worse."""
        worst = LEVELS[: LEVELS.index(validate_choice("level", "at_least", level, LEVELS)) + 1]
        return [finding for finding in self.findings if finding.level in worst]

    @property
    def passed(self) -> bool:
        """Whether nothing worse than advice was found, by checks that were made and carried through."""
        return self.complete and not self.at_least("concern")

    @property
    def complete(self) -> bool:
        """Whether checks were made at all, and none of them broke."""
        states = {outcome.state for outcome in self.outcomes}
        return "broke" not in states and states != {"not run"}

    @property
    def headline(self) -> str:
        """The verdict in a line."""
        counts = {level: sum(finding.level == level for finding in self.findings) for level in LEVELS}
        counted = [pluralize(counts["fault"], "fault"), pluralize(counts["concern"], "concern")]
        counted = [text for text, level in zip(counted, LEVELS, strict=False) if counts[level]]
        run_count = sum(outcome.state != "not run" for outcome in self.outcomes)
        if not run_count:
            first = "nothing could be checked"
        elif not counted:
            first = "nothing wrong was found"
        else:
            first = " and ".join(counted)
        more = f", and {counts['advice']} pieces of advice" if counts["advice"] > 1 else ""
        more = ", and one piece of advice" if counts["advice"] == 1 else more
        broken_count = sum(outcome.state == "broke" for outcome in self.outcomes)
        more += f"; {pluralize(broken_count, 'check')} broke" if broken_count else ""
        return f"{first} by {pluralize(run_count, 'check')}{more}" if run_count else first

    def command(self, finding: Finding | None = None) -> str:
        """Return the command that tests this again; with a finding, the check that found it alone."""
        request = self.words
        if not request.get("from_files"):
            return self.code(finding)
        parts = ["datamorphic", "test"]
        parts += [str(request[name]) for name in ("model", "data") if request.get(name) is not None]
        for name in ("subject", "target", "expect", "towards", "baseline"):
            if request.get(name) is not None:
                parts += [f"--{name}", str(request[name])]
        for name in ("protected", "monotone", "invariant"):
            for value in request.get(name) or ():
                parts += [f"--{name}", str(value)]
        parts += [f"--{name}" for name in ("trust", "scalar") if request.get(name)]
        for name in ("budget", "timeout", "batch"):
            parts += [f"--{name}", str(request[name])] if request.get(name) is not None else []
        parts += ["--seed", str(self.seed)]
        parts += ["--only", finding.check] if finding is not None else []
        return shlex.join(parts)

    def code(self, finding: Finding | None = None) -> str:
        """Return the line of Python that tests this again; `model` and `data` are what they were."""
        request = self.words
        directions = dict(item.rpartition("=")[::2] for item in request.get("monotone") or ())
        expect = {
            "monotone": directions,
            "invariant": list(request.get("invariant") or ()),
            "towards": request.get("towards"),
        }
        expect = {name: value for name, value in expect.items() if value}
        options = [f"target={request['target']!r}"] if request.get("target") is not None else []
        options += [f"protected={list(request['protected'])!r}"] if request.get("protected") else []
        if request.get("expect") is not None:
            options.append(f"expect={request['expect']!r}")
        elif expect:
            options.append(f"expect={expect!r}")
        options += [f"baseline={request['baseline']!r}"] if request.get("baseline") is not None else []
        options += [f"budget={request['budget']!r}"] if request.get("budget") is not None else []
        options += ["scalar=True"] if request.get("scalar") else []
        options += [f"seed={self.seed}"] + ([f"only={finding.check!r}"] if finding is not None else [])
        return f"dm.test(model, data, {', '.join(options)})"

    def describe(self) -> str:
        """Return the findings in words, for a terminal."""
        from .text import format_text

        return format_text(self)

    def report(self) -> Page:
        """Return the page of findings as plain data."""
        from .page import build_page

        return build_page(self)

    # -- files -----------------------------------------------------------------------------------------

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Return the page of findings as one HTML file, and write it if a path is given."""
        return _write_if_path(render_page(self.report()), path, "report")

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return everything as JSON, which `from_json` reads back, and write it if a path is given."""
        document = {"format": FORMAT_VERSION, **self.document()}
        return _write_if_path(json.dumps(document, indent=2, allow_nan=False) + "\n", path, "result")

    def to_junit(self, path: str | PathLike[str] | None = None) -> str:
        """Return a JUnit XML file, a test case a check, and write it if a path is given."""
        from .text import format_junit

        return _write_if_path(format_junit(self), path, "JUnit file")

    def to_markdown(self, path: str | PathLike[str] | None = None) -> str:
        """Return the findings as Markdown for a pull request, and write it if a path is given."""
        from .text import format_markdown

        return _write_if_path(format_markdown(self), path, "Markdown file")

    def to_sarif(self, path: str | PathLike[str] | None = None) -> str:
        """Return the findings as SARIF 2.1.0, and write it if a path is given."""
        from .text import format_sarif

        return _write_if_path(format_sarif(self), path, "SARIF file")

    def to_pytest(self, path: str | PathLike[str]) -> Path:
        """Write a pytest file that pins what was found today, and return where it is.

        What holds today must go on holding; what is violated today is expected to fail until it is mended. The border
        is kept beside it and must not move.
        """
        from .pytest_file import write_test_file

        return write_test_file(self, Path(path))

    def document(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        document = {
            item.name: _to_plain(getattr(self, item.name)) for item in fields(self) if item.name != "front"
        }
        return document | {"passed": self.passed, "headline": self.headline}

    @classmethod
    def from_json(cls, text: str) -> AuditResult:
        """Return what `to_json` wrote.

        Examples
        --------
        >>> import datamorphic as dm
        >>> result = dm.test(dm.subjects["Box 1"], seed=1, only="answers")
        >>> type(result).from_json(result.to_json()) == result
        True
        """
        try:
            document = json.loads(text)
            if not isinstance(document, dict) or "outcomes" not in document:
                raise ValueError("it has no outcomes")
            if document.get("format", 0) > FORMAT_VERSION:
                raise ValueError("it was written by a newer version")
            field_names = {item.name for item in fields(cls)} - {"front"}
            values = {name: _from_plain(value) for name, value in document.items() if name in field_names}
            return cls(**values)
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"This is no result of a check-up in JSON: {error}.") from None


Result = AuditResult  # its public name, kept for users of version 0.1


def _to_plain(value: Any) -> Any:
    """Return dataclasses as dicts that name their kind, everything else as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        attributes = {item.name: _to_plain(getattr(value, item.name)) for item in fields(value)}
        return {"kind": type(value).__name__, **attributes}
    if isinstance(value, Mapping):
        return {_escape_name(str(name)): _to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain(item) for item in value]
    return to_jsonable(value)


def _escape_name(name: str) -> str:
    """Return the name of a feature as it is written: none is taken for our own mark."""
    return f"{name}_" if name.rstrip("_") == "kind" else name


def _unescape_name(name: str) -> str:
    return name[:-1] if name.rstrip("_") == "kind" else name


def _from_plain(value: Any) -> Any:
    if isinstance(value, dict):
        attributes = {name: _from_plain(item) for name, item in value.items()}
        kind = attributes.pop("kind", None)
        return (
            SERIALISED_CLASSES[kind](**attributes)
            if kind is not None
            else {_unescape_name(name): item for name, item in attributes.items()}
        )
    return tuple(_from_plain(item) for item in value) if isinstance(value, list) else value


def _write_if_path(text: str, path: str | PathLike[str] | None, noun: str) -> str:
    if path is not None:
        write_text(text, Path(path), noun)
    return text
