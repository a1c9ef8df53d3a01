"""`Report`: what ``dm.check`` found. Verification, where a violation is a fault, apart from validation, where it teaches."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._stats import compute_wilson_interval
from ..._text import pluralize, to_jsonable
from ...errors import ArgumentError, DataError, OutOfBudget
from ..learner.waves import LearnerRelationOutcome, ViolatingCase
from .learner_session import LearnerSession
from .model_session import REASONS, ModelRelationOutcome, ModelSession
from .violation import LearnerViolation

if TYPE_CHECKING:
    import pandas as pd

TABLE_COLUMNS = (
    "relation", "purpose", "necessary", "strictness", "inputs", "violated", "inapplicable", "undefined",
    "rate", "low", "high", "holds", "tied", "chance", "about", "says", "reason",
)  # fmt: skip
PURPOSES = {
    "verification": "every right implementation keeps these, so a violation is a fault",
    "validation": "these are hypotheses, and a violation tells how it behaves",
}


@dataclass(frozen=True)
class RelationResult:
    """One relation and what became of it.

    Attributes
    ----------
    relation, says, reason : str
        Its name, the promise, and why it is necessary or not.
    necessary : bool
        Whether every right implementation keeps it.
    strictness : str
        How it was judged.
    about : {"learner", "model"}
        Whether it was trained anew, or asked as it is.
    holds, changed, inapplicable, undefined : int
        Cases by verdict; those that are `changed` are not as expected.
    violated : int
        Violations that count: all that changed, or where distributions are compared none unless chance hardly
        explains them (`chance`).
    tied : int
        Cases among the inapplicable ones that hang on a tie.
    messages : mapping
        What was said of cases that could not be judged, and how often.
    violations : sequence of Broken
        The cases that are not as expected.
    replayed : int
        Violations of earlier runs that were tried first and are violations still; not among the figures.
    """

    relation: str
    says: str
    necessary: bool
    strictness: str
    reason: str
    about: str
    holds: int
    changed: int
    violated: int
    inapplicable: int
    undefined: int
    tied: int = 0
    chance: float | None = None
    messages: Mapping[str, int] = field(default_factory=dict)
    violations: Sequence[ViolatingCase] = ()
    replayed: int = 0

    @property
    def purpose(self) -> str:
        """What a violation means: "verification" or "validation"."""
        return "verification" if self.necessary else "validation"

    @property
    def inputs(self) -> int:
        """How many cases were tried."""
        return self.holds + self.changed + self.inapplicable + self.undefined

    @property
    def judged(self) -> int:
        """How many cases could be judged."""
        return self.holds + self.changed

    @property
    def rate(self) -> float:
        """The share of the judged cases that violate it; NaN where none could be judged."""
        return self.violated / self.judged if self.judged else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Where the rate lies with 95 % confidence."""
        return compute_wilson_interval(self.violated, self.judged)

    @property
    def fault(self) -> bool:
        """Whether it must hold and does not, on new inputs or on a case of an earlier run."""
        return self.necessary and bool(self.violated or self.replayed)

    @property
    def expected(self) -> bool:
        """Whether violations are expected, by the table or by the user."""
        return self.strictness == "expected_failure"

    def row(self) -> dict[str, Any]:
        """Return it as a row of the table."""
        low, high = self.interval
        values = {
            **asdict(self),
            "purpose": self.purpose,
            "inputs": self.inputs,
            "rate": self.rate,
            "low": low,
            "high": high,
        }
        return {name: values[name] for name in TABLE_COLUMNS}


def build_learner_entry(outcome: LearnerRelationOutcome) -> RelationResult:
    """Return what became of a relation of learners."""
    holds, changed, inapplicable, undefined = (int(count) for count in outcome.counts)
    return RelationResult(
        outcome.relation.name, outcome.relation.says, outcome.stance.necessary,
        outcome.judging.strictness if outcome.statistical else outcome.stance.strictness, outcome.stance.reason, "learner",
        holds, changed, outcome.violated_count, inapplicable, undefined, outcome.tied,
        outcome.compute_chance() if outcome.statistical else None, dict(outcome.messages), tuple(outcome.violations),
    )  # fmt: skip


def build_model_entry(outcome: ModelRelationOutcome) -> RelationResult:
    """Return what became of a relation of models."""
    holds, changed, inapplicable, undefined = (int(count) for count in outcome.counts)
    necessary = outcome.relation.necessary
    return RelationResult(
        outcome.relation.name or type(outcome.relation).__name__, outcome.relation.says, necessary, "class_exact",
        REASONS[necessary], "model", holds, changed, changed, inapplicable, undefined, 0, None, dict(outcome.messages),
        tuple(outcome.violations),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class CheckReport:
    """What became of relations that were put to a learner or a model.

    Attributes
    ----------
    subject, data : str
        What was checked, and with what.
    entries : sequence of Entry
        The relations.
    seed, runs, calls, seconds
        Where randomness started, and what it cost.
    known : bool
        Whether it is known which relations the learner must keep. If not, what it never violated is found by experiment.
    notes : sequence of str
        What was decided on the way.
    examples : mapping
        The smallest violation of relations that have one, by name.
    """

    subject: str
    data: str
    entries: Sequence[RelationResult]
    seed: int = 0
    runs: int = 0
    calls: int = 0
    seconds: float = 0.0
    known: bool = True
    complete: bool = True
    notes: Sequence[str] = ()
    examples: Mapping[str, Any] = field(default_factory=dict)
    _learner_session: LearnerSession | None = field(default=None, repr=False)
    _model_session: ModelSession | None = None

    @staticmethod
    def from_sessions(
        subject: str,
        data: str,
        learner_session: LearnerSession,
        model_session: ModelSession | None,
        replayed_violations: Mapping[str, Sequence[LearnerViolation]],
        seed: int,
        known: bool,
    ) -> CheckReport:
        """Return a report of what was found."""
        entries = [
            replace(build_learner_entry(outcome), replayed=len(replayed_violations.get(outcome.relation.name, ())))
            for outcome in learner_session.outcomes
        ]
        entries += [
            build_model_entry(outcome) for outcome in (() if model_session is None else model_session.outcomes)
        ]
        examples = {name: violations[0] for name, violations in replayed_violations.items() if violations}
        return CheckReport(
            subject,
            data,
            entries,
            seed,
            known=known,
            examples=examples,
            _learner_session=learner_session,
            _model_session=model_session,
        )

    def find_smallest_violations(
        self, max_examples: int, remaining_budget: Callable[[], Any] = lambda: None
    ) -> dict[str, Any]:
        """Return the smallest violations of relations that are violated, by name; those that must hold go first.

        `left` tells what is left of the budget.
        """
        examples = dict(self.examples)
        for entry in sorted(self.entries, key=lambda entry: not entry.necessary):
            exact = entry.chance is None  # by distribution no single case is to blame
            has_room = len(examples) < (max_examples if entry.necessary else max_examples // 2)
            if entry.violated and exact and has_room and entry.relation not in examples:
                example = self._shrink(entry, entry.violations[0], remaining_budget)
                examples |= {} if example is None else {entry.relation: example}
        return examples

    def _shrink(
        self,
        entry: RelationResult,
        violating_case: ViolatingCase,
        remaining_budget: Callable[[], Any] = lambda: None,
    ) -> Any:
        if entry.about == "learner" and self._learner_session is not None:
            outcome = next(
                outcome for outcome in self._learner_session.outcomes if outcome.relation.name == entry.relation
            )
            try:
                violation = self._learner_session.shrink(outcome, violating_case, remaining_budget())
                return violation or self._learner_session.reproduce(outcome, violating_case, remaining_budget())
            except OutOfBudget:
                return None
        if self._model_session is not None:
            model_outcome = next(
                candidate
                for candidate in self._model_session.outcomes
                if build_model_entry(candidate).relation == entry.relation
            )
            return self._model_session.shrink(model_outcome, violating_case)
        return None

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row a relation; ``rate`` is the share of the judged cases that violate it, from ``low`` to ``high`` (95 %)."""
        import pandas as pd

        return pd.DataFrame([entry.row() for entry in self.entries], columns=list(TABLE_COLUMNS))

    @cached_property
    def _violating_cases(self) -> list[tuple[RelationResult, ViolatingCase]]:
        entries = sorted(self.entries, key=lambda entry: not entry.necessary)
        return [(entry, case) for entry in entries for case in entry.violations]

    @property
    def violations(self) -> pd.DataFrame:
        """A row a case that is not as expected, those of necessary relations first: its input, case, and labels."""
        import pandas as pd

        rows = [(entry.relation, entry.necessary, *case) for entry, case in self._violating_cases]
        return pd.DataFrame(rows, columns=["relation", "necessary", *ViolatingCase._fields])

    def shrunk(self, number: int) -> Any:
        """Return the smallest violation that one of `violations` leads to: fewest rows and attributes, plainest numbers."""
        if not 0 <= number < len(self._violating_cases):
            count_text = pluralize(len(self._violating_cases), "violation")
            raise ArgumentError(f"There are {count_text}, numbered from 0. Got {number!r}.")
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
        """The hypotheses that are violated, though nobody expected it."""
        return [entry for entry in self.entries if not entry.necessary and entry.violated and not entry.expected]

    @property
    def passed(self) -> bool:
        """Whether no necessary relation is violated or left without an answer, and something could be judged."""
        return not self.faults and not self._unanswered and any(entry.judged for entry in self.entries)

    @property
    def _unanswered(self) -> list[RelationResult]:
        return [entry for entry in self.entries if entry.necessary and entry.undefined and not entry.judged]

    @property
    def never_violated(self) -> list[RelationResult]:
        """Relations that were judged and never violated: for a learner nobody knows, candidates for its promises."""
        return [entry for entry in self.entries if entry.judged and not entry.changed]

    @property
    def headline(self) -> str:
        """What matters most, in a line."""
        necessary = [entry for entry in self.entries if entry.necessary and entry.judged]
        hypotheses = [entry for entry in self.entries if not entry.necessary and entry.judged]
        if not necessary and not hypotheses:
            undefined = sum(entry.undefined for entry in self.entries)
            return "nothing could be judged" + (
                f": {pluralize(undefined, 'case')} without an answer" if undefined else ""
            )
        parts = []
        if self.faults:
            parts.append(f"{len(self.faults)} of {pluralize(len(necessary), 'necessary relation')} violated")
        elif necessary:
            parts.append(
                f"all {len(necessary)} necessary relations kept"
                if len(necessary) > 1
                else "the necessary relation kept"
            )
        if self._unanswered:
            parts.append(f"{len(self._unanswered)} without any answer")
        if hypotheses:
            violated_count = sum(bool(entry.violated) for entry in hypotheses)
            parts.append(f"{violated_count} of {pluralize(len(hypotheses), 'hypothesis', 'hypotheses')} violated")
        return ", ".join(parts)

    def describe(self) -> str:
        """Return everything in words."""
        from .text import format_report

        return format_report(self)

    def document(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        examples = {name: _to_json(example) for name, example in self.examples.items()}
        rows = [{**entry.row(), "messages": dict(entry.messages)} for entry in self.entries]
        content: dict[str, Any] = to_jsonable(
            {
                "subject": self.subject,
                "data": self.data,
                "headline": self.headline,
                "passed": self.passed,
                "complete": self.complete,
                "known": self.known,
                "relations": rows,
                "violations": self.violations.head(1000).astype(object).to_dict("records"),
                "examples": examples,
                "notes": list(self.notes),
                "seed": self.seed,
                "runs": self.runs,
                "calls": self.calls,
                "seconds": self.seconds,
            }
        )
        return content

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the report as JSON, and write it to a file if one is named."""
        from ...reporting.html import write_text

        text = json.dumps(self.document(), indent=1, allow_nan=False)
        if path is not None:
            write_text(text, path, "JSON file")
        return text

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it to a file if one is named."""
        from ...reporting.html import render_page, write_text
        from .page import build_page

        page = render_page(build_page(self))
        if path is not None:
            write_text(page, path, "report")
        return page

    def to_junit(self, path: str | Path | None = None) -> str:
        """Return the report as JUnit XML, a test case a relation, and write it to a file if one is named."""
        from ...reporting.html import write_text
        from .page import format_junit

        text = format_junit(self)
        if path is not None:
            write_text(text, path, "JUnit file")
        return text

    def __repr__(self) -> str:
        return f"Report({self.subject}: {self.headline})"

    def _repr_html_(self) -> str:
        return str(self.table.iloc[:, :11].to_html())


def _to_json(example: Any) -> Any:
    """Return an example as JSON has it; in words where no file can hold its values."""
    try:
        return example.to_json()
    except DataError:
        return {"words": example.describe()}
