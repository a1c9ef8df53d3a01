"""`AuditResult`: the findings of an audit and the outcome of every check."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from .._text import pluralise, to_jsonable
from .._validation import check_types, validate_choice
from ..core.result import LEVELS, Example, FileWriter, Finding, Level, make_writer
from ..core.result import Result as BaseResult
from ..errors import DataError, UsageError
from ..reporting.document import Axis, Drawing, Line, Meter, Page, Scatter, Section, Shape, Snippet, Table, TextLabel
from ..reporting.export import FilePath, load_renderer, write_export
from ..reporting.junit import JUnitCase
from ..space.options import format_hint_options
from .expectations import merge_expectations
from .outcome import Outcome
from .ranking import rank_findings

if TYPE_CHECKING:
    from ..exploration.front import Front

FORMAT_VERSION = 1  # of the JSON document; `from_json` refuses newer ones
RESULT_FILE = "result.json"  # the name of the result among the files of a run
NO_LIMIT = "no limit"  # the text of a budget without limits
SERIALISED_CLASSES = {
    kind.__name__: kind
    for kind in (
        Axis,
        Drawing,
        Example,
        Finding,
        Line,
        Meter,
        Outcome,
        Scatter,
        Section,
        Shape,
        Snippet,
        Table,
        TextLabel,
    )
}


def format_options(request: Mapping[str, Any], *names: str) -> list[str]:
    """Return values of a request as options of the command line, one for each item of a list."""
    options: list[str] = []
    for name in names:
        value = request.get(name)
        for item in value if isinstance(value, list | tuple) else [value]:
            if item is not None:
                options += [f"--{name}", str(item)]
    return options


def format_space_code(request: Mapping[str, Any], path: str) -> str:
    """Return the expression that reads the space of a request; `path` is the expression of the file."""
    columns = request.get("space_columns")
    return f"dm.read_space({path}{'' if columns is None else f', data[{columns!r}]'})"


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditResult(BaseResult):
    """The result of `dm.test`: ranked findings, and the outcome of every check.

    Attributes
    ----------
    subject, kind, data : str
        The name of the model, its kind in words: "a fitted classifier of 3 classes (SVC)", and the data in words.
    outcomes : sequence of Outcome
        One per check, in the order they ran.
    seed, budget : int, str
        The seed of all randomness, and the budget in words.
    seconds, calls : float, int
        The time it took, and the rows that the system computed.
    words : mapping
        The request, so that the audit can be repeated: "model", "data", "target", ...
    notes : sequence of str
        Assumptions that were made, and other remarks for readers.
    versions : mapping
        The versions of Python and of the packages involved.
    fitted_on_given_data : bool
        Whether the model was given unfitted, and was fitted to the data of the audit.
    has_unmatched_labels : bool
        Whether the labels of the data are not classes of the model and could not be matched with them.
    interrupted : bool
        Whether the user ended the audit (Ctrl-C), so that some checks did not run.
    column_relations : sequence of str
        Relations between columns that all given rows keep, in words; `dm.find_constraints` returns them as constraints.
    front : Front or None
        The border, if it was explored; not part of the JSON document.
    """

    _PAGE: ClassVar[str] = "audit.page:build_page"

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
    fitted_on_given_data: bool = False
    has_unmatched_labels: bool = False
    interrupted: bool = False
    column_relations: tuple[str, ...] = ()
    front: Front | None = field(default=None, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AuditResult) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Result({self.subject}: {self.headline})"

    @property
    def findings(self) -> list[Finding]:
        """All findings, those with the greatest impact first; what several checks found is one finding."""
        return rank_findings(self.single_findings)

    @property
    def single_findings(self) -> list[Finding]:
        """The findings of every check, before those with the same cause become one."""
        return [finding for outcome in self.outcomes for finding in outcome.findings]

    def at_least(self, level: Level) -> list[Finding]:
        """Return the findings of this level or worse."""
        worst = LEVELS[: LEVELS.index(validate_choice("level", "at_least", level, LEVELS)) + 1]
        return [finding for finding in self.findings if finding.level in worst]

    @property
    def passed(self) -> bool:
        """Whether the audit is complete and found nothing worse than advice."""
        return self.complete and not self.at_least("concern")

    @property
    def complete(self) -> bool:
        """Whether at least one check ran, and every check that applies ran to its end, without an error."""
        return not self.broken and not self.unfinished and not self.interrupted

    @property
    def unfinished(self) -> list[Outcome]:
        """The outcomes of checks that apply, but that the budget or an interrupt kept from running to their end."""
        return [outcome for outcome in self.outcomes if outcome.unfinished]

    @property
    def broken(self) -> bool:
        """Whether a check ended with an error, or no check applies."""
        states = {outcome.state for outcome in self.outcomes}
        return "broke" in states or (states == {"not run"} and not self.unfinished)

    @property
    def headline(self) -> str:
        """The verdict in one line; it begins with "incomplete" if not all checks that apply ran to their end."""
        levels = [finding.level for finding in self.findings]
        run_count = sum(outcome.state != "not run" for outcome in self.outcomes)
        defects = [pluralise(levels.count(level), level) for level in LEVELS[:2] if level in levels]
        no_defects = "no fault or concern was" if self.unfinished else "nothing wrong was"
        verdict = f"{' and '.join(defects) or no_defects} found by {pluralise(run_count, 'check')}"
        advice_count = levels.count("advice")
        if advice_count:
            pieces = "one piece" if advice_count == 1 else f"{advice_count} pieces"
            verdict += f", and {pieces} of advice"
        broken_count = sum(outcome.state == "broke" for outcome in self.outcomes)
        if broken_count:
            verdict += f"; {pluralise(broken_count, 'check')} broke"
        if not run_count:
            verdict = "nothing could be checked"
        if self.has_unmatched_labels:
            verdict += "; the labels of the data are not classes of the model and were not used: give classes="
        return f"incomplete: {verdict}; {self._format_unfinished()}" if self.unfinished else verdict

    def _format_unfinished(self) -> str:
        """Return how many checks were not tried or not finished, and why."""
        untried_count = sum(outcome.state == "not run" for outcome in self.unfinished)
        counts = {"not tried": untried_count, "not finished": len(self.unfinished) - untried_count}
        parts = [
            f"{pluralise(count, 'check')} {'was' if count == 1 else 'were'} {state}"
            for state, count in counts.items()
            if count
        ]
        reason = "the audit was interrupted" if self.interrupted else f"the budget ({self.budget}) did not suffice"
        return f"{' and '.join(parts)}, since {reason}"

    @check_types
    def command(self, finding: Finding | None = None) -> str:
        """Return the command that repeats the audit; with a finding, only the check that found it."""
        request = self.words
        if not request.get("from_files"):
            return self.code(finding)
        parts = ["datamorphic", "test"]
        parts += [str(request[name]) for name in ("model", "data") if request.get(name) is not None]
        parts += ["--data-only"] if request.get("data_only") else []
        parts += format_options(
            {**request, "outcome": request.get("towards")},
            *("subject", "target", "expect", "promises", "outcome", "baseline", "tolerance", "reference"),
        )
        parts += format_options(request, "protected", "monotone", "invariant", "space", "name")
        parts += format_hint_options(request)
        if request.get("classes"):
            parts += ["--classes", ",".join(map(str, request["classes"]))]
        flags = ("trust", "scalar", "allow_incomplete")
        parts += [f"--{name.replace('_', '-')}" for name in flags if request.get(name)]
        parts += format_options(request, "budget", "timeout", "batch")
        parts += ["--seed", str(self.seed)]
        if finding is not None:
            parts += ["--only", finding.check]
        return shlex.join(parts)

    @check_types
    def code(self, finding: Finding | None = None) -> str:
        """Return the line of Python that repeats the audit with the same `model` and `data`."""
        request = self.words
        options: dict[str, Any] = {
            "target": request.get("target"),
            "protected": list(request.get("protected") or ()) or None,
            "expect": request.get("expect") or merge_expectations(request) or None,
            "promises": request.get("promises"),
            "kinds": request.get("kinds"),
            "column_steps": request.get("steps"),
            "bounds": request.get("bounds"),
            "orders": request.get("orders"),
            "baseline": request.get("baseline"),
            "tolerance": request.get("tolerance"),
            "reference": request.get("reference"),
            "budget": request.get("budget"),
            "scalar": request.get("scalar") or None,
            "data_only": request.get("data_only") or None,
            "classes": request.get("classes"),
            "name": request.get("name"),
            "seed": self.seed,
            "only": None if finding is None else finding.check,
        }
        arguments = [f"{name}={value!r}" for name, value in options.items() if value is not None]
        if request.get("space") is not None:
            arguments.append(f"space={format_space_code(request, repr(request['space']))}")
        model = "None" if request.get("data_only") else "model"
        return f"dm.test({model}, data, {', '.join(arguments)})"

    def report(self) -> Page:
        """Return the result as a page; the same as `page`."""
        return self.page()

    # -- files -----------------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """Return the result as a JSON-serialisable dict."""
        document = {item.name: _to_plain(getattr(self, item.name)) for item in fields(self) if item.name != "front"}
        verdict = {
            "passed": self.passed,
            "complete": self.complete,
            "unfinished": [outcome.check for outcome in self.unfinished],
        }
        return document | verdict | {"headline": self.headline}

    def stored_summary(self) -> dict[str, Any]:
        """Return the verdict, the number of findings per level, and their titles."""
        levels = [finding.level for finding in self.findings]
        return {
            "headline": self.headline,
            "passed": self.passed,
            "complete": self.complete,
            **{f"{level}s" if level != "advice" else level: levels.count(level) for level in LEVELS},
            "checks": sum(outcome.state != "not run" for outcome in self.outcomes),
            "calls": self.calls,
            "findings": [finding.title for finding in self.findings],
        }

    def stored_verdicts(self) -> list[dict[str, Any]]:
        """Return the verdict of every check."""
        return [
            {
                "relation": outcome.check,
                "says": outcome.asks,
                "verdict": outcome.stored_verdict,
                "cases": sum(finding.cases for finding in outcome.defects),
            }
            for outcome in self.outcomes
        ]

    def stored_files(self) -> dict[str, FileWriter]:
        """Return the result as a JSON file, and the border if it was explored."""
        border = {} if self.front is None or not len(self.front) else self.front.stored_files()
        return {RESULT_FILE: make_writer(self.to_json, len(self.findings)), **border}

    def _json_document(self) -> dict[str, Any]:
        return {"format": FORMAT_VERSION, **self.document()}

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one test case per check."""
        return load_renderer("audit.junit:build_test_cases")(self)

    def _export_properties(self) -> Mapping[str, str]:
        settings = {"kind": self.kind, "data": self.data, "seed": str(self.seed), "budget": self.budget}
        settings |= {"headline": self.headline, "complete": str(self.complete).lower()}
        return settings | {f"version of {name}": version for name, version in self.versions.items()}

    def to_sarif(self, path: FilePath | None = None) -> str:
        """Return the findings as SARIF 2.1.0, and write them to `path` if given."""
        return write_export(load_renderer("audit.sarif:format_sarif")(self), path, "SARIF file")

    @check_types
    def to_pytest(self, path: FilePath) -> Path:
        """Write a pytest file that pins the result, and return its path.

        Checks that pass must go on passing. Findings are expected to fail until they are fixed. The border is saved
        beside the file and must not move.
        """
        if self.words.get("data_only"):
            raise UsageError(
                "A pytest file pins the answers of a model, and only data were tested. Test a model, or use to_junit()."
            )
        return load_renderer("audit.pytest_file:write_test_file")(self, Path(path))

    def log_to_mlflow(self) -> None:
        """Log the counts of findings, the verdict and the report to the active run of MLflow.

        Without an active run MLflow starts one.
        """
        load_renderer("audit.mlflow:log_result")(self)

    @classmethod
    def from_json(cls, text: str) -> AuditResult:
        """Return the result that `to_json` wrote.

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
            names = {item.name for item in fields(cls)} - {"front"}
            return cls(**{name: _from_plain(value) for name, value in document.items() if name in names})
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(
                f"This text is not the JSON of an audit: {error}. Give the text that to_json() returned."
            ) from None


Result = AuditResult  # its public name, kept for users of version 0.1


def _to_plain(value: object) -> Any:
    """Return a JSON-serialisable value; a dataclass becomes a dict with its class name as "kind"."""
    if is_dataclass(value) and not isinstance(value, type):
        keys = getattr(value, "JSON_KEYS", {})
        attributes = {keys.get(item.name, item.name): getattr(value, item.name) for item in fields(value)}
        return {"kind": type(value).__name__, **_to_plain(attributes)}
    if isinstance(value, Mapping):
        # the name of a feature or an attribute must differ from "kind"
        return {
            f"{name}_" if str(name).rstrip("_") == "kind" else str(name): _to_plain(item)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_to_plain(item) for item in value]
    return to_jsonable(value)


def _from_plain(value: object) -> Any:
    if isinstance(value, dict):
        attributes = {name: _from_plain(item) for name, item in value.items()}
        kind = attributes.pop("kind", None)
        attributes = {name[:-1] if name.rstrip("_") == "kind" else name: item for name, item in attributes.items()}
        if kind is None:
            return attributes
        serialised_class = SERIALISED_CLASSES[kind]
        names = {key: name for name, key in getattr(serialised_class, "JSON_KEYS", {}).items()}
        return serialised_class(**{names.get(key, key): item for key, item in attributes.items()})
    return tuple(_from_plain(item) for item in value) if isinstance(value, list) else value
