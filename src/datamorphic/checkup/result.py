"""`Result`: everything a check-up found, and the ways to tell it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._checks import jsonable, one_of, plural
from ..errors import DataError
from ..reports.html import render, written
from ..reports.summary import Axis, Line, Scatter, Section, Table
from .finding import LEVELS, Example, Finding, Level, Outcome

if TYPE_CHECKING:
    from ..fronts.front import Front
    from ..reports.summary import Report

FORMAT = 1  # of the JSON document; readers refuse a newer one
KINDS = {kind.__name__: kind for kind in (Axis, Example, Finding, Line, Outcome, Scatter, Section, Table)}


@dataclass(frozen=True, eq=False)
class Result:
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
        return isinstance(other, Result) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Result({self.subject}: {self.headline})"

    @property
    def findings(self) -> list[Finding]:
        """All findings, the worst and surest first."""
        found = [finding for outcome in self.outcomes for finding in outcome.findings]
        return sorted(found, key=lambda finding: finding.rank)

    def at_least(self, level: Level) -> list[Finding]:
        """Return the findings of this level or worse."""
        worst = LEVELS[: LEVELS.index(one_of("level", "at_least", level, LEVELS)) + 1]
        return [finding for finding in self.findings if finding.level in worst]

    @property
    def passed(self) -> bool:
        """Whether nothing worse than advice was found, by checks that were made and carried through."""
        return self.complete and not self.at_least("concern")

    @property
    def complete(self) -> bool:
        """Whether checks were made at all, and none of them broke."""
        states = {each.state for each in self.outcomes}
        return "broke" not in states and states != {"not run"}

    @property
    def headline(self) -> str:
        """The verdict in a line."""
        counts = {level: sum(each.level == level for each in self.findings) for level in LEVELS}
        told = [plural(counts["fault"], "fault"), plural(counts["concern"], "concern")]
        told = [text for text, level in zip(told, LEVELS, strict=False) if counts[level]]
        ran = sum(outcome.state != "not run" for outcome in self.outcomes)
        if not ran:
            first = "nothing could be checked"
        elif not told:
            first = "nothing wrong was found"
        else:
            first = " and ".join(told)
        more = f", and {counts['advice']} pieces of advice" if counts["advice"] > 1 else ""
        more = ", and one piece of advice" if counts["advice"] == 1 else more
        broke = sum(outcome.state == "broke" for outcome in self.outcomes)
        more += f"; {plural(broke, 'check')} broke" if broke else ""
        return f"{first} by {plural(ran, 'check')}{more}" if ran else first

    def command(self, finding: Finding | None = None) -> str:
        """Return the command that tests this again; with a finding, the check that found it alone."""
        words = self.words
        if not words.get("from_files"):
            return self.code(finding)
        parts = ["datamorphic", "test"]
        parts += [str(words[name]) for name in ("model", "data") if words.get(name) is not None]
        for name in ("subject", "target", "expect", "towards", "baseline"):
            if words.get(name) is not None:
                parts += [f"--{name}", str(words[name])]
        for name in ("protected", "monotone", "invariant"):
            for each in words.get(name) or ():
                parts += [f"--{name}", str(each)]
        parts += [f"--{name}" for name in ("trust", "scalar") if words.get(name)]
        for name in ("budget", "timeout", "batch"):
            parts += [f"--{name}", str(words[name])] if words.get(name) is not None else []
        parts += ["--seed", str(self.seed)]
        parts += ["--only", finding.check] if finding is not None else []
        return shlex.join(parts)

    def code(self, finding: Finding | None = None) -> str:
        """Return the line of Python that tests this again; `model` and `data` are what they were."""
        words = self.words
        ways = dict(each.rpartition("=")[::2] for each in words.get("monotone") or ())
        expect = {
            "monotone": ways,
            "invariant": list(words.get("invariant") or ()),
            "towards": words.get("towards"),
        }
        expect = {name: value for name, value in expect.items() if value}
        options = [f"target={words['target']!r}"] if words.get("target") is not None else []
        options += [f"protected={list(words['protected'])!r}"] if words.get("protected") else []
        if words.get("expect") is not None:
            options.append(f"expect={words['expect']!r}")
        elif expect:
            options.append(f"expect={expect!r}")
        options += [f"baseline={words['baseline']!r}"] if words.get("baseline") is not None else []
        options += [f"budget={words['budget']!r}"] if words.get("budget") is not None else []
        options += ["scalar=True"] if words.get("scalar") else []
        options += [f"seed={self.seed}"] + ([f"only={finding.check!r}"] if finding is not None else [])
        return f"dm.test(model, data, {', '.join(options)})"

    def describe(self) -> str:
        """Return the findings in words, for a terminal."""
        from .exports import plain_text

        return plain_text(self)

    def report(self) -> Report:
        """Return the page of findings as plain data."""
        from .page import report_of

        return report_of(self)

    # -- files -----------------------------------------------------------------------------------------

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Return the page of findings as one HTML file, and write it if a path is given."""
        return _written(render(self.report()), path, "report")

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return everything as JSON, which `from_json` reads back, and write it if a path is given."""
        document = {"format": FORMAT, **self.document()}
        return _written(json.dumps(document, indent=2, allow_nan=False) + "\n", path, "result")

    def to_junit(self, path: str | PathLike[str] | None = None) -> str:
        """Return a JUnit XML file, a test case a check, and write it if a path is given."""
        from .exports import junit

        return _written(junit(self), path, "JUnit file")

    def to_markdown(self, path: str | PathLike[str] | None = None) -> str:
        """Return the findings as Markdown for a pull request, and write it if a path is given."""
        from .exports import markdown

        return _written(markdown(self), path, "Markdown file")

    def to_sarif(self, path: str | PathLike[str] | None = None) -> str:
        """Return the findings as SARIF 2.1.0, and write it if a path is given."""
        from .exports import sarif

        return _written(sarif(self), path, "SARIF file")

    def to_pytest(self, path: str | PathLike[str]) -> Path:
        """Write a pytest file that pins what was found today, and return where it is.

        What holds today must go on holding; what is violated today is expected to fail until it is mended. The border
        is kept beside it and must not move.
        """
        from .pinned import write_tests

        return write_tests(self, Path(path))

    def document(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        document = {each.name: _plain(getattr(self, each.name)) for each in fields(self) if each.name != "front"}
        return document | {"passed": self.passed, "headline": self.headline}

    @classmethod
    def from_json(cls, text: str) -> Result:
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
            if document.get("format", 0) > FORMAT:
                raise ValueError("it was written by a newer version")
            known = {each.name for each in fields(cls)} - {"front"}
            given = {name: _rebuilt(value) for name, value in document.items() if name in known}
            return cls(**given)
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"This is no result of a check-up in JSON: {error}.") from None


def _plain(value: Any) -> Any:
    """Return dataclasses as dicts that name their kind, everything else as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        about = {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
        return {"kind": type(value).__name__, **about}
    if isinstance(value, Mapping):
        return {_spared(str(name)): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return jsonable(value)


def _spared(name: str) -> str:
    """Return the name of a feature as it is written: none is taken for our own mark."""
    return f"{name}_" if name.rstrip("_") == "kind" else name


def _own(name: str) -> str:
    return name[:-1] if name.rstrip("_") == "kind" else name


def _rebuilt(value: Any) -> Any:
    if isinstance(value, dict):
        about = {name: _rebuilt(each) for name, each in value.items()}
        kind = about.pop("kind", None)
        return KINDS[kind](**about) if kind is not None else {_own(name): each for name, each in about.items()}
    return tuple(_rebuilt(each) for each in value) if isinstance(value, list) else value


def _written(text: str, path: str | PathLike[str] | None, what: str) -> str:
    if path is not None:
        written(text, Path(path), what)
    return text
