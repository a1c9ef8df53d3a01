"""The result of ``dm.check``: one entry per relation, and the violations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ..._lazy import pd
from ..._text import format_percent, pluralise
from ..._validation import check_types
from ...core.result import FileWriter, Measure, Result, make_writer
from ...errors import ArgumentError, DataError, OutOfBudget
from ...reporting.junit import JUnitCase, JUnitOutcome
from ..algebra.base import split_statement
from ..algebra.outcome import RelationOutcome, ViolatingCase
from .causes import ConfirmedCause
from .decades import count_by_decade
from .session import CheckSession
from .violation import LearnerViolation, ModelViolation

TABLE_COLUMNS = (
    *("relation", "purpose", "necessary", "strictness", "inputs", "violated", "inapplicable", "undefined"),
    *("rate", "low", "high", "holds", "tied", "chance", "about", "says", "reason"),
)
PURPOSES = {
    "verification": "every correct implementation satisfies these relations, so a violation is a fault",
    "robustness": "these relations are about faulty or noisy inputs, and a violation shows that the system does not cope",
    "validation": "these relations are hypotheses, and a violation shows how the algorithm behaves",
}
MAX_VIOLATIONS_IN_DOCUMENT = 1_000
MAX_CHANCE = 0.001  # of a difference between two violation rates of a hypothesis that counts
MIN_MISSING_SHARE = 0.5  # of different answers, from which missing values are named as what they have in common
MAX_TIE_SHARE = 0.1  # of judged and tied cases; if ties decide more of them, that is a finding of its own


@dataclass(frozen=True, kw_only=True)
class RelationResult:
    """The outcome of one relation.

    `holds`, `changed`, `inapplicable` and `undefined` are numbers of cases. Those that `changed` were not answered as expected.
    `violated` counts all of them; where distributions are compared, none unless chance is an unlikely explanation.
    """

    relation: str
    says: str
    necessary: bool  # whether every correct implementation satisfies it
    strictness: str  # how it was judged
    reason: str  # why it is necessary or not
    about: str  # "learner" if it was trained again, "model" if a fitted model was queried as it is
    holds: int
    changed: int
    violated: int
    inapplicable: int
    undefined: int
    tied: int = 0  # inapplicable cases that depend on a tie
    chance: float | None = None  # the p-value of a comparison of distributions
    messages: Mapping[str, int] = field(default_factory=dict)  # why cases could not be judged, with their numbers
    violations: Sequence[ViolatingCase] = ()
    robustness: bool = False  # whether it is about faulty or noisy inputs
    replayed: int = 0  # violations of earlier runs that still occur; they are not among the other figures
    size_noun: str = ""  # what the size of a violation is, if violations have sizes
    sizes: Sequence[float] = ()  # of the violations
    types: Mapping[str, int] = field(default_factory=dict)  # violations by type, if the relation tells types apart
    type_meanings: Mapping[str, str] = field(default_factory=dict)  # of all its types

    @classmethod
    def from_outcome(cls, outcome: RelationOutcome, replayed: int) -> RelationResult:
        """Return what a session has found out about a relation."""
        holds, changed, inapplicable, undefined = (int(count) for count in outcome.counts)
        return cls(
            relation=outcome.name,
            says=outcome.relation.statement,
            holds=holds,
            changed=changed,
            violated=outcome.violated_count,
            inapplicable=inapplicable,
            undefined=undefined,
            messages=dict(outcome.messages),
            violations=tuple(outcome.violations),
            replayed=replayed,
            **outcome.list_facts(),
        )

    @property
    def purpose(self) -> str:
        """What a violation means: "verification", "robustness" or "validation"."""
        if self.robustness:
            return "robustness"
        return "verification" if self.necessary else "validation"

    @property
    def inputs(self) -> int:
        """The number of cases that were tried."""
        return self.holds + self.changed + self.inapplicable + self.undefined

    @property
    def judged(self) -> int:
        """The number of cases that could be judged."""
        return self.holds + self.changed

    @property
    def rate(self) -> float:
        """The share of judged cases that violate the relation; NaN without any."""
        return self.measure.value if self.judged else float("nan")

    @property
    def measure(self) -> Measure:
        """The share of judged cases that violate the relation, with its 95% interval."""
        return Measure.from_counts(self.violated, self.judged)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% confidence interval of the rate."""
        return self.measure.low, self.measure.high

    @property
    def decades(self) -> dict[str, int]:
        """The number of violations by the power of ten of their size; empty if violations have no size."""
        return count_by_decade(self.sizes)

    @property
    def fault(self) -> bool:
        """Whether the relation is necessary and violated, now or in a replay."""
        return self.necessary and bool(self.violated or self.replayed)

    @property
    def expected(self) -> bool:
        """Whether violations are expected, by the table of learners or by the user."""
        return self.strictness == "expected_failure"

    @property
    def verdict(self) -> str:
        """The outcome in one or two words."""
        if self.violated or self.replayed:
            return "violated, as expected" if self.expected else "violated"
        return "holds" if self.judged else "not judged"

    @property
    def tie_share(self) -> float:
        """The share of violations that were set aside because they depend on a tie, among them and the judged cases."""
        return self.tied / (self.judged + self.tied) if self.tied else 0.0

    @property
    def often_tied(self) -> bool:
        """Whether ties decide so many cases that the verdict says little."""
        return self.tie_share > MAX_TIE_SHARE

    def format_ties(self) -> str:
        """Return how many cases were set aside as ties: " (12 of 300 set aside as ties)"; empty if none."""
        return f" ({self.tied:,} of {self.judged + self.tied:,} set aside as ties)" if self.tied else ""

    @property
    def stored_verdict(self) -> str:
        """The outcome as run stores keep it."""
        if self.violated or self.fault:
            return "VIOLATED"
        if self.judged:
            return "HOLDS"
        return "UNDEFINED" if self.undefined else "INAPPLICABLE"

    def row(self) -> dict[str, Any]:
        """Return the outcome as a row of `CheckReport.table`."""
        ends = dict(zip(("low", "high"), self.interval, strict=True))
        return {name: ends[name] if name in ends else getattr(self, name) for name in TABLE_COLUMNS}

    def format_rate(self) -> tuple[str, str, str]:
        """Return the rate and the ends of its interval in percent."""
        low, high = self.interval
        return format_percent(self.rate), format_percent(low), format_percent(high)

    def format_violated(self) -> str:
        """Return the number of violations, with those by type: "5 (A 3, B 2)"."""
        types = ", ".join(f"{name} {count:,}" for name, count in self.types.items())
        return f"{self.violated:,} ({types})" if types else f"{self.violated:,}"

    def format_messages(self) -> str:
        """Return the two most frequent reasons why cases could not be judged."""
        messages = sorted(self.messages.items(), key=lambda item: -item[1])[:2]
        return "; ".join(f"{pluralise(count, 'case')}: {message}" for message, count in messages if message)


@dataclass(frozen=True, eq=False, kw_only=True)
class AnswerComparison:
    """How often two systems answer the same inputs differently.

    `candidates` are the cases whose answers differ, of `compared` ones. Those `examined` were asked again, and `confirmed` unless
    they were `set_aside`: a tie, the random state or the last bits explain them. `with_missing_values` are those
    of the confirmed ones that have missing values.
    """

    noun: str  # "answers" or "scores"
    compared: int
    candidates: int = 0
    examined: int = 0
    confirmed: int = 0
    with_missing_values: int = 0
    set_aside: Mapping[str, int] = field(default_factory=dict)
    example: LearnerViolation | ModelViolation | None = None
    complete: bool = True

    @property
    def differing(self) -> int:
        """The number of cases that differ; estimated, if not all candidates were examined."""
        return round(self.candidates * self.confirmed / self.examined) if self.examined else self.candidates

    @property
    def share(self) -> float:
        """The share of the compared cases that differ."""
        return self.differing / self.compared if self.compared else 0.0

    def format_verdict(self) -> str:
        """Return the share in words: "the answers differ in 3% of 2,000 cases, all of them with missing values"."""
        if not self.compared:
            return f"no {self.noun} could be compared"
        cases, only = pluralise(self.compared, "case"), "only " if self.noun == "scores" else ""
        if not self.differing:
            count = sum(self.set_aside.values())
            return f"the {self.noun} are the same in {cases}" + (f" ({count:,} differences set aside)" if count else "")
        text = f"{only}the {self.noun} differ in {format_percent(self.share)} of {cases}"
        if self.with_missing_values <= MIN_MISSING_SHARE * self.confirmed:
            return text
        share = (
            "all"
            if self.with_missing_values == self.confirmed
            else format_percent(self.with_missing_values / self.confirmed)
        )
        return f"{text}, {share} of them with missing values"

    def format_set_aside(self) -> str:
        """Return the differences that do not count, by their reason; empty if there are none."""
        return "; ".join(f"{pluralise(count, 'case')}: {text}" for text, count in self.set_aside.items() if count)

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as a JSON-serialisable dict."""
        names = ("compared", "candidates", "examined", "confirmed", "differing", "share", "with_missing_values")
        example = None if self.example is None else _example_to_json(self.example)
        facts = {name: getattr(self, name) for name in names}
        return {**facts, "complete": self.complete, "set_aside": dict(self.set_aside), "example": example}


class EntryPair(NamedTuple):
    """The outcome of one relation on the system that is checked, and on the one that it is compared with."""

    here: RelationResult
    there: RelationResult


@dataclass(frozen=True, eq=False, kw_only=True)
class Against:
    """The system that another is compared with: the outcomes of the same relations, and where answers differ."""

    subject: str
    entries: Sequence[RelationResult]
    comparisons: Sequence[AnswerComparison] = ()  # of answers, and of scores
    only_with_missing_values: Sequence[str] = ()  # the relations that are violated only where values are missing
    one_sided: Mapping[str, int] = field(default_factory=dict)  # cases that only one of both answers, by the reason
    obstacle: str = ""  # why answers cannot be compared

    @property
    def unfinished(self) -> list[str]:
        """What was not examined before the budget was spent."""
        return [f"the different {comparison.noun}" for comparison in self.comparisons if not comparison.complete]

    def list_changes(self, entries: Sequence[RelationResult]) -> tuple[list[EntryPair], list[EntryPair]]:
        """Return the relations violated in this system only, and those violated in the other one only; necessary ones first.

        Of hypotheses, those whose violation rates differ by more than chance explains.
        """
        there = {entry.relation: entry for entry in self.entries}
        pairs = [EntryPair(entry, there[entry.relation]) for entry in entries if entry.relation in there]
        pairs = [pair for pair in pairs if pair.here.judged and pair.there.judged and _is_clear(pair)]
        pairs.sort(key=lambda pair: (not pair.here.necessary, -max(pair.here.changed, pair.there.changed)))
        lost = [pair for pair in pairs if pair.here.violated and not pair.there.violated]
        gained = [pair for pair in pairs if pair.there.violated and not pair.here.violated]
        return lost, gained

    def format_headline(self, entries: Sequence[RelationResult]) -> str:
        """Return what differs in one line: relations that hold in one only, then answers."""
        lost, gained = self.list_changes(entries)
        parts = []
        for pairs, place in ((lost, f"here, but not by {self.subject}"), (gained, f"only by {self.subject}")):
            if pairs:
                entry = pairs[0].here
                change = f" ({split_statement(entry.says)[0]})" if entry.says else ""
                more = f" and {pluralise(len(pairs) - 1, 'more relation')}" if len(pairs) > 1 else ""
                has_missing_values = all(pair.here.relation in self.only_with_missing_values for pair in pairs)
                where = ", where values are missing" if has_missing_values else ""
                parts.append(f"{entry.relation}{change}{more} violated {place}{where}")
        if not parts:
            parts.append(f"no relation holds in only one of this and {self.subject}")
        if self.obstacle:
            parts.append("answers cannot be compared")
        parts += [
            comparison.format_verdict()
            for comparison in self.comparisons
            if comparison.noun == "answers" or comparison.differing
        ]
        return "; ".join(parts)

    def to_json(self, entries: Sequence[RelationResult]) -> dict[str, Any]:
        """Return the comparison as a JSON-serialisable dict."""
        lost, gained = self.list_changes(entries)
        return {
            "subject": self.subject,
            "violated_here_only": [pair.here.relation for pair in lost],
            "violated_there_only": [pair.here.relation for pair in gained],
            "relations": [_entry_to_json(entry) for entry in self.entries],
            **{comparison.noun: comparison.to_json() for comparison in self.comparisons},
            "only_with_missing_values": list(self.only_with_missing_values),
            "one_sided": dict(self.one_sided),
            "obstacle": self.obstacle,
        }


def _is_clear(pair: EntryPair) -> bool:
    """Return whether two outcomes differ by more than chance: any violation of a necessary relation does."""
    if pair.here.necessary:
        return True
    from scipy import stats

    table = [[entry.violated, entry.judged - entry.violated] for entry in pair]
    return float(stats.fisher_exact(table).pvalue) < MAX_CHANCE


@dataclass(frozen=True, eq=False, kw_only=True)
class CheckReport(Result):
    """The outcome of checking a learner or a model against relations."""

    _PAGE = "relations.check.page:build_page"

    subject: str
    data: str
    entries: Sequence[RelationResult]
    seed: int = 0
    runs: int = 0  # labelled cases
    calls: int = 0  # of the model
    seconds: float = 0.0
    known: bool = True  # whether the table says which relations the learner must satisfy
    complete: bool = True  # whether the check ended before its budget was spent
    incomplete_allowed: bool = False  # whether test cases of relations that were not tried are skipped, not errors
    interrupted: bool = False  # by Ctrl-C
    notes: Sequence[str] = ()  # remarks about how the check was made
    examples: Mapping[str, LearnerViolation | ModelViolation] = field(
        default_factory=dict
    )  # smallest ones, by relation
    causes: Mapping[str, ConfirmedCause] = field(default_factory=dict)  # of violations, by relation
    unfinished: Sequence[str] = ()  # the relations that were not tried on all inputs
    against: Against | None = None  # the system that it was compared with
    _sessions: Mapping[str, CheckSession[Any, Any]] = field(default_factory=dict, repr=False)  # by relation

    @staticmethod
    def from_sessions(
        sessions: Sequence[CheckSession[Any, Any]],
        replayed_violations: Mapping[str, Sequence[LearnerViolation]],
        **fields: Any,
    ) -> CheckReport:
        """Return the report of the relations that sessions have checked; `fields` are its other fields."""
        return CheckReport(
            entries=[
                RelationResult.from_outcome(outcome, len(replayed_violations.get(outcome.name, ())))
                for session in sessions
                for outcome in session.outcomes
            ],
            examples={name: violations[0] for name, violations in replayed_violations.items() if violations},
            _sessions={outcome.name: session for session in sessions for outcome in session.outcomes},
            **fields,
        )

    def find_smallest_violations(self, max_examples: int) -> dict[str, LearnerViolation | ModelViolation]:
        """Return the smallest violation of violated relations, by name; hypotheses get half as many examples."""
        examples = dict(self.examples)
        for entry in self._rank_entries():
            exact = entry.chance is None  # in a comparison of distributions no single case is to blame
            has_room = len(examples) < (max_examples if entry.necessary else max_examples // 2)
            if entry.violated and exact and has_room and entry.relation not in examples:
                example = self._shrink(entry, entry.violations[0])
                if example is not None:
                    examples[entry.relation] = example
        return examples

    def find_causes(self) -> dict[str, ConfirmedCause]:
        """Return the known causes of the smallest violations that experiments confirm, by relation."""
        causes = {}
        with suppress(OutOfBudget):
            for entry in self._rank_entries():
                example, session = self.examples.get(entry.relation), self._sessions.get(entry.relation)
                if entry.violated and entry.chance is None and example is not None and session is not None:
                    cause = session.find_cause(example)
                    if cause is not None:
                        causes[entry.relation] = cause
        return causes

    def _rank_entries(self) -> list[RelationResult]:
        return sorted(self.entries, key=lambda entry: not entry.necessary)

    def _shrink(self, entry: RelationResult, case: ViolatingCase) -> LearnerViolation | ModelViolation | None:
        violation: LearnerViolation | ModelViolation | None = None
        with suppress(OutOfBudget):
            session = self._sessions.get(entry.relation)
            violation = None if session is None else session.find_smallest(entry.relation, case)
        return violation

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per relation; ``rate`` has the 95% interval ``low`` to ``high``."""
        return pd.DataFrame([entry.row() for entry in self.entries], columns=list(TABLE_COLUMNS))

    @cached_property
    def decades(self) -> pd.DataFrame:
        """Violations by the power of ten of their size, one row per relation whose violations have a size."""
        entries = [entry for entry in self.entries if entry.size_noun]
        ranges = list(count_by_decade([size for entry in entries for size in entry.sizes]))
        rows = [
            (entry.relation, entry.judged, entry.violated, *(entry.decades.get(name, 0) for name in ranges))
            for entry in entries
        ]
        return pd.DataFrame(rows, columns=["relation", "judged", "violated", *ranges])

    @cached_property
    def _violating_cases(self) -> list[tuple[RelationResult, ViolatingCase]]:
        return [(entry, case) for entry in self._rank_entries() for case in entry.violations]

    @property
    def violations(self) -> pd.DataFrame:
        """One row per violating case, necessary relations first."""
        rows = [(entry.relation, entry.necessary, *case) for entry, case in self._violating_cases]
        return pd.DataFrame(rows, columns=["relation", "necessary", *ViolatingCase._fields])

    @check_types
    def shrunk(self, number: int) -> LearnerViolation | ModelViolation | None:
        """Return row `number` of `violations`, shrunk as far as possible.

        The first row of a relation stands for the example of the report. Of a model, that is the violation whose values are
        the most usual ones, which may be another row.
        """
        if not 0 <= number < len(self._violating_cases):
            count_text = pluralise(len(self._violating_cases), "violation")
            raise ArgumentError(f"There is no violation number {number!r}: the report has {count_text}. Count from 0.")
        entry, case = self._violating_cases[number]
        example = self.examples.get(entry.relation)
        if example is not None and case == entry.violations[0]:
            return example
        return self._shrink(entry, case)

    @property
    def faults(self) -> list[RelationResult]:
        """The necessary relations that are violated."""
        return [entry for entry in self.entries if entry.fault]

    @property
    def surprises(self) -> list[RelationResult]:
        """The hypotheses that are violated although no failure was expected."""
        return [entry for entry in self.entries if not entry.necessary and entry.violated and not entry.expected]

    @property
    def passed(self) -> bool:
        """Whether the check is complete, something was judged and every necessary relation holds."""
        judged = any(entry.judged for entry in self.entries)
        return judged and not self.faults and not self._unanswered and self.complete and not self.interrupted

    @property
    def untried(self) -> list[str]:
        """The names of the relations that were not tried before the budget was spent."""
        return [] if self.complete else [entry.relation for entry in self.entries if not entry.inputs]

    @property
    def _stop_reason(self) -> str:
        return "the check was interrupted" if self.interrupted else "the budget did not suffice"

    @property
    def _unanswered(self) -> list[RelationResult]:
        return [entry for entry in self.entries if entry.necessary and entry.undefined and not entry.judged]

    @property
    def often_tied(self) -> list[RelationResult]:
        """The relations in which ties decide more than one in ten cases."""
        return [entry for entry in self.entries if entry.often_tied]

    @property
    def never_violated(self) -> list[RelationResult]:
        """The relations that were judged and never violated."""
        return [entry for entry in self.entries if entry.judged and not entry.changed]

    @property
    def headline(self) -> str:
        """The verdict in one line; it begins with "incomplete" if the budget was spent before everything was tried."""
        if self.complete:
            return self._verdict
        count = len(self.untried)
        untried = f"{pluralise(count, 'relation')} {'was' if count == 1 else 'were'} not tried"
        ending = untried if count else "not all inputs were tried"
        return f"incomplete: {self._verdict}; {ending}, since {self._stop_reason}"

    @property
    def _verdict(self) -> str:
        return self.check_verdict if self.against is None else self.against.format_headline(self.entries)

    @property
    def check_verdict(self) -> str:
        """The verdict on the system itself, without the one that it was compared with."""
        so_far = "" if self.complete else " as far as tried"
        necessary = [entry for entry in self.entries if entry.necessary and entry.judged]
        robustness = [entry for entry in self.entries if entry.robustness and entry.judged]
        hypotheses = [entry for entry in self.entries if entry.purpose == "validation" and entry.judged]
        if not self.entries and self.complete:
            return "no relation is known to be necessary"
        if not necessary and not robustness and not hypotheses:
            undefined = sum(entry.undefined for entry in self.entries)
            detail = f": {pluralise(undefined, 'case')} without an answer" if undefined else ""
            return f"nothing could be judged{detail}"
        parts = []
        if self.faults:
            parts.append(f"{len(self.faults)} of {pluralise(len(necessary), 'necessary relation')} violated")
        elif len(necessary) == 1:
            parts.append("the necessary relation holds" + so_far)
        elif necessary:
            parts.append(f"all {len(necessary)} necessary relations hold" + so_far)
        if self._unanswered:
            parts.append(f"{len(self._unanswered)} without any answer")
        if robustness:
            violated_count = sum(bool(entry.violated) for entry in robustness)
            parts.append(f"{violated_count} of {pluralise(len(robustness), 'relation')} for robustness violated")
        if hypotheses:
            violated_count = sum(bool(entry.violated) for entry in hypotheses)
            parts.append(f"{violated_count} of {pluralise(len(hypotheses), 'hypothesis', 'hypotheses')} violated")
        if self.often_tied:
            parts.append(f"ties decide often in {pluralise(len(self.often_tied), 'relation')}")
        return ", ".join(parts)

    def document(self) -> dict[str, Any]:
        """Return the report as a JSON-serialisable dict."""
        return self._collect(
            *(
                "subject",
                "data",
                "headline",
                "passed",
                "complete",
                "unfinished",
                "known",
                "notes",
                "seed",
                "runs",
                "calls",
                "seconds",
            ),
            relations=[_entry_to_json(entry) for entry in self.entries],
            violations=self.violations.head(MAX_VIOLATIONS_IN_DOCUMENT),
            examples={name: _example_to_json(example) for name, example in self.examples.items()},
            causes={name: cause.document() for name, cause in self.causes.items()},
            **({} if self.against is None else {"against": self.against.to_json(self.entries)}),
        )

    def stored_summary(self) -> dict[str, Any]:
        """Return the verdict, the relations at fault and the cost."""
        figures = self._collect("headline", "passed", "complete", "runs", "calls")
        return figures | {"relations": len(self.entries), "faults": [entry.relation for entry in self.faults]}

    def stored_verdicts(self) -> list[dict[str, Any]]:
        """Return the verdict of every relation."""
        return [
            {"relation": entry.relation, "says": entry.says, "verdict": entry.stored_verdict, "cases": entry.violated}
            for entry in self.entries
        ]

    def stored_files(self) -> dict[str, FileWriter]:
        """Return the report as a JSON file."""
        return {"report.json": make_writer(self.to_json, len(self.entries))}

    @check_types
    def list_type_meanings(self, purpose: str | None = None) -> dict[str, str]:
        """Return the types of violations that occurred, with their meanings."""
        entries = [entry for entry in self.entries if purpose in (None, entry.purpose)]
        return {name: entry.type_meanings.get(name, "") for entry in entries for name in sorted(entry.types)}

    def test_cases(self) -> list[JUnitCase]:
        """Return one test case per relation; a violated necessary one fails."""
        cases = [self._build_test_case(entry) for entry in self.entries]
        for comparison in () if self.against is None else self.against.comparisons:
            detail = "" if comparison.example is None else f"\n{comparison.example.describe()}"
            cases.append(JUnitCase(name=f"the same {comparison.noun}", output=comparison.format_verdict() + detail))
        return cases

    def _build_test_case(self, entry: RelationResult) -> JUnitCase:
        if entry.relation in self.untried:
            outcome: JUnitOutcome = "skipped" if self.incomplete_allowed else "error"
            message = f"incomplete: not tried, since {self._stop_reason}"
            return JUnitCase(name=entry.relation, outcome=outcome, kind="incomplete", message=message)
        if not entry.judged and not entry.fault:
            outcome = "error" if entry.undefined else "skipped"
            message = entry.format_messages()
            return JUnitCase(name=entry.relation, outcome=outcome, kind="undefined", message=message)
        _, low, high = entry.format_rate()
        message = (
            f"{entry.format_violated()} of {pluralise(entry.judged, 'case')} violate it ({low} to {high}): "
            f"{entry.says}. {entry.reason}"
        )
        if self.against is not None and any(pair.here is entry for pair in self.against.list_changes(self.entries)[0]):
            message += f" It holds for {self.against.subject}."
        example = self.examples.get(entry.relation)
        detail = "" if example is None else example.describe()
        if entry.relation in self.causes:
            detail += f"\nCause: {self.causes[entry.relation].text}"
        if entry.fault:
            return JUnitCase(name=entry.relation, outcome="failed", kind="violated", message=message, detail=detail)
        output = (
            f"{'robustness' if entry.robustness else 'a hypothesis'}. {message}\n{detail}" if entry.violated else ""
        )
        return JUnitCase(name=entry.relation, output=output or entry.format_ties().strip())

    def _export_properties(self) -> Mapping[str, str]:
        return {"headline": self.headline, "complete": str(self.complete).lower()}

    def __repr__(self) -> str:
        return f"CheckReport({self.subject}: {self.headline})"


def _entry_to_json(entry: RelationResult) -> dict[str, Any]:
    """Return an entry as JSON, with its violations by size and by type if they have them."""
    sizes = {"sizes_of": entry.size_noun, "violated_by_size": entry.decades} if entry.size_noun else {}
    types = {"types": dict(entry.types)} if entry.type_meanings else {}
    return {**entry.row(), "messages": entry.messages, **sizes, **types}


def _example_to_json(example: LearnerViolation | ModelViolation) -> dict[str, Any]:
    """Return an example as JSON, or as text if it holds values that JSON cannot."""
    try:
        return example.to_json()
    except DataError:
        return {"words": example.describe()}
