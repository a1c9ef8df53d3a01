"""What every capability returns: a `Result`, made of `Finding`, `Example` and `Measure`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict, TypeVar

from .._deprecation import rename_attribute
from .._stats import compute_wilson_interval
from .._text import format_percent, pluralise, to_jsonable
from ..reporting.export import Exportable

if TYPE_CHECKING:
    from ..reporting.document import Section

Level = Literal["fault", "concern", "advice"]
#: Where the inputs of a finding come from: given rows, given rows with a change, or made ones; empty if unknown.
InputOrigin = Literal["given", "changed", "made", ""]

#: From worst to least.
LEVELS: tuple[Level, ...] = ("fault", "concern", "advice")
#: From most to least plausible; unknown ones are mostly given rows with a change.
INPUT_ORIGINS: tuple[InputOrigin, ...] = ("given", "changed", "", "made")
LEVEL_MEANINGS = {
    "fault": "wrong for any purpose, or against what was declared",
    "concern": "probably not intended",
    "advice": "worth doing, although nothing is wrong",
}
#: Writes a file of a stored run, and returns how many rows it has.
FileWriter = Callable[[Path], int]
RESULT_FILE = "result.json"  # of a stored run
DEFAULT_CONFIDENCE = 0.95  # of intervals


# -- measures ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    """A measured share, mean, difference or ratio with its confidence interval.

    It can be unpacked and indexed like a tuple: ``value, low, high = measure``.

    Examples
    --------
    >>> share = Measure.from_counts(3, 150)
    >>> str(share)
    '2% (0.682% to 5.71%, 150 cases)'
    >>> share.excludes_zero
    True
    """

    value: float
    low: float
    high: float
    cases: int | None = None  # it was measured on; None if they were not counted
    confidence: float = DEFAULT_CONFIDENCE  # of the interval

    @classmethod
    def from_counts(cls, count: int, total: int, confidence: float = DEFAULT_CONFIDENCE) -> Measure:
        """Return a share with its Wilson interval; 0 if there are no cases."""
        low, high = compute_wilson_interval(count, total, confidence)
        return cls(count / total if total else 0.0, low, high, total, confidence)

    def __iter__(self) -> Iterator[float]:
        return iter((self.value, self.low, self.high))

    def __getitem__(self, index: Any) -> Any:
        return (self.value, self.low, self.high)[index]

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of zero."""
        return self.low > 0 or self.high < 0

    def document(self) -> dict[str, Any]:
        """Return the value, its interval and, if they were counted, the number of cases as a dict."""
        cases = {} if self.cases is None else {"total": self.cases}
        return {"value": self.value, "low": self.low, "high": self.high, **cases}

    def to_columns(self, name: str) -> dict[str, float | None]:
        """Return the value and the ends of its interval as columns of a table."""
        return {name: self.value, f"{name}_low": self.low, f"{name}_high": self.high}

    def __str__(self) -> str:
        value, low, high = map(format_percent, self)
        cases = "" if self.cases is None else f", {pluralise(self.cases, 'case')}"
        return f"{value} ({low} to {high}{cases})"


def format_share(count: int, total: int, noun: str = "case", plural: str | None = None) -> str:
    """Return a count with its share and 95% interval: ``3 of 150 cases (2%, 0.682% to 5.71%)``."""
    share, low, high = map(format_percent, Measure.from_counts(count, total))
    return f"{count:,} of {pluralise(total, noun, plural)} ({share}, {low} to {high})"


# -- findings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Example:
    """The smallest case that shows a finding."""

    text: str  # the example in one sentence
    case: Mapping[str, Any] = field(default_factory=dict)  # the source case: feature to value
    answer: Any = None  # of the system to the source case
    changed: Mapping[str, Any] = field(default_factory=dict)  # the features in which the follow-up differs
    new_answer: Any = None  # the answer of the system to the follow-up
    row: int | None = None  # the position of the source case in the given data; None if it is not one of their rows
    breaks: tuple[str, ...] = ()  # relations between columns that all given rows keep, and this example does not

    words = rename_attribute("Example.words", "text")
    becomes = rename_attribute("Example.becomes", "new_answer")

    #: the keys of JSON documents, where they are not the names of the attributes
    JSON_KEYS: ClassVar[Mapping[str, str]] = {"text": "words", "new_answer": "becomes"}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One defect, doubt or piece of advice about a model."""

    check: str  # the name of the check, as in ``only=``
    about: str  # the feature, class or relation concerned; empty if the check has only one subject
    title: str  # the finding in one line
    level: Level
    confidence: float  # from 0 to 1; 1 if an example shows the finding and repeats
    detail: str  # one or two sentences: how often, in which cases
    remedy: str  # what to do about it
    cases: int = 0  # that show the finding
    cases_tried: int = 0  # 0 if nothing was counted
    examples: tuple[Example, ...] = ()  # rows of the data first, with few changes
    counted_in_detail: bool = False  # whether `detail` already gives the share of cases and its interval
    noun: str = "case"  # what is counted, in the singular
    sampled: bool = True  # whether what was counted is a sample, so that the rate has an interval
    sections: tuple[Section, ...] = ()  # pictures and tables that show the finding, beside its text
    cause: str = ""  # findings of several checks with the same cause are one finding
    columns: tuple[str, ...] = ()  # the features concerned, if `about` is not the only one
    affected_rows: int = 0  # given rows that show the finding, as they are or with a change
    rows: int = 0  # given rows that were tried; 0 if unknown
    answer_changes: bool | None = None  # False if only scores change; None if unknown
    effect: float | None = None  # the typical size of the change, in units of the answer or of the score
    inputs: InputOrigin = ""
    #: of the rows it is about, those answered wrongly minus those answered correctly; None if unknown
    explained_rows: int | None = None
    evidence: tuple[Finding, ...] = ()  # what other checks found about the same cause
    #: what could be declared about it, as options of the command line: ("protected", "gender"), ("monotone", "income=up")
    declarations: tuple[tuple[str, str], ...] = ()

    sure = rename_attribute("Finding.sure", "confidence")
    of = rename_attribute("Finding.of", "cases_tried")

    JSON_KEYS: ClassVar[Mapping[str, str]] = {"confidence": "sure", "cases_tried": "of"}

    @property
    def measure(self) -> Measure:
        """The share of cases that show the finding, with its interval for counts of a sample."""
        return Measure.from_counts(self.cases, self.cases_tried)

    @property
    def rate(self) -> float:
        """The share of cases that show the finding; 0 if nothing was counted."""
        return self.measure.value

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% Wilson interval of the rate, for counts of a sample."""
        return self.measure.low, self.measure.high

    @property
    def affected_share(self) -> float:
        """The share of given rows that are affected; of all cases if given rows were not counted."""
        return self.affected_rows / self.rows if self.rows else self.rate

    @property
    def all_declarations(self) -> tuple[tuple[str, str], ...]:
        """What could be declared about it, by this check or by others that found the same."""
        findings = (self, *self.evidence)
        return tuple(dict.fromkeys((name, value) for finding in findings for name, value in finding.declarations))

    @property
    def implausible(self) -> bool:
        """Whether every example breaks a relation between columns that all given rows keep."""
        return bool(self.examples) and all(example.breaks for example in self.examples)

    @property
    def rank(self) -> tuple[int, int, int, float, float, float]:
        """The sort key of findings: severity, then impact.

        A changed answer comes before a changed score, real rows before made ones (and before rows that break a relation
        of the data), certain before uncertain, many rows before few, and large effects before small ones.
        """
        origin: InputOrigin = "made" if self.implausible and self.inputs != "given" else self.inputs
        return (
            LEVELS.index(self.level),
            1 if self.answer_changes is False else 0,
            INPUT_ORIGINS.index(origin),
            -round(self.confidence, 1),
            -self.affected_share,
            -abs(self.effect or 0.0),
        )


SomeFinding = TypeVar("SomeFinding", bound=Finding)


class RowCounts(TypedDict):
    """The fields of a finding about given rows whose detail gives their share and its interval."""

    cases: int
    cases_tried: int
    affected_rows: int
    rows: int
    noun: str
    counted_in_detail: bool


def count_rows(count: int, total: int, noun: str = "row") -> RowCounts:
    """Return the counts of a finding that `count` of `total` given rows show, as keyword arguments."""
    return {
        "cases": count,
        "cases_tried": total,
        "affected_rows": count,
        "rows": total,
        "noun": noun,
        "counted_in_detail": True,
    }


def find_defects(findings: Sequence[SomeFinding]) -> list[SomeFinding]:
    """Return the findings that are worse than advice."""
    return [finding for finding in findings if finding.level != "advice"]


# -- results -----------------------------------------------------------------------------------------------------------


class Result(Exportable):
    """The base class of results: what they show, and what a run store keeps of them.

    A subclass names the function that builds its page, and implements `document` and, where single outcomes pass or fail,
    `test_cases`. A result that is stored says by `stored_summary`, `stored_verdicts` and `stored_files` what is kept.
    """

    #: the keys of the document that are part of the summary
    _SUMMARY: ClassVar[tuple[str, ...]] = ()

    def _export_name(self) -> str:
        return str(getattr(self, "subject", type(self).__name__))

    def _collect(self, *names: str, **values: Any) -> dict[str, Any]:
        """Return attributes by their names, and other values, as a JSON-serialisable dict."""
        return dict(to_jsonable(to_plain({name: getattr(self, name) for name in names} | values)))

    def stored_summary(self) -> dict[str, Any]:
        """Return the figures that a list of stored runs shows; "headline" is the outcome in one line."""
        document, headline = self.document(), getattr(self, "headline", "")
        figures = {name: document[name] for name in self._SUMMARY}
        return {"headline": headline() if callable(headline) else headline, **figures}

    def stored_verdicts(self) -> list[dict[str, Any]]:
        """Return one dict per relation, law or check: "relation", "says", "verdict", "cases", and "words" if any."""
        return [
            {"relation": case.name, "says": case.message or case.name, "verdict": case.verdict}
            for case in self.test_cases()
        ]

    def stored_files(self) -> dict[str, FileWriter]:
        """Return functions that write the files of a run, by their names; each returns how many items it wrote."""
        return {RESULT_FILE: make_writer(self.to_json, 1)}


def make_writer(write: Callable[[Path], object], item_count: int) -> FileWriter:
    """Return a function that writes a file of a stored run, and returns how many items it has."""

    def write_file(path: Path) -> int:
        write(path)
        return item_count

    return write_file


class ResultPart:
    """The base class of dataclasses that are parts of results: the document has their fields."""

    JSON_KEYS: ClassVar[Mapping[str, str]] = {}

    def document(self) -> dict[str, Any]:
        """Return the fields as a dict, ready for JSON."""
        names = [item.name for item in fields(self)]  # type: ignore[arg-type]  # subclasses are dataclasses
        return {self.JSON_KEYS.get(name, name): to_plain(getattr(self, name)) for name in names}


def to_plain(value: Any) -> Any:
    """Return a value with dataclasses and frames replaced by dicts; what has a method `document` becomes its document."""
    if isinstance(value, type):
        return value
    if is_dataclass(value):
        if hasattr(value, "document"):
            return value.document()
        return {item.name: to_plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {name: to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    # a frame, without importing pandas: rows
    return value.astype(object).to_dict("records") if hasattr(value, "to_dict") and hasattr(value, "columns") else value
