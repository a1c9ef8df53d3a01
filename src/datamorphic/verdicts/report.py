"""`Report`: what ``dm.check`` found. Verification, where a violation is a fault, apart from validation, where it teaches."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._checks import jsonable, plural
from .._intervals import wilson
from ..errors import ArgumentError, DataError, OutOfBudget
from ..relations.examining import Broken, Tested
from .asked import REASON, Asked, Kept
from .examination import Examination
from .violation import Violation

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "relation", "purpose", "necessary", "strictness", "inputs", "violated", "inapplicable", "undefined",
    "rate", "low", "high", "holds", "tied", "chance", "about", "says", "reason",
)  # fmt: skip
PURPOSES = {
    "verification": "every right implementation keeps these, so a violation is a fault",
    "validation": "these are hypotheses, and a violation tells how it behaves",
}


@dataclass(frozen=True)
class Entry:
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
    violations: Sequence[Broken] = ()
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
        return wilson(self.violated, self.judged)

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
        told = {
            **asdict(self),
            "purpose": self.purpose,
            "inputs": self.inputs,
            "rate": self.rate,
            "low": low,
            "high": high,
        }
        return {name: told[name] for name in COLUMNS}


def entry_of(each: Tested) -> Entry:
    """Return what became of a relation of learners."""
    holds, changed, inapplicable, undefined = (int(count) for count in each.counts)
    return Entry(
        each.relation.name, each.relation.says, each.view.necessary,
        each.manner.strictness if each.statistical else each.view.strictness, each.view.reason, "learner",
        holds, changed, each.violated, inapplicable, undefined, each.tied,
        each.chance() if each.statistical else None, dict(each.messages), tuple(each.violations),
    )  # fmt: skip


def entry_of_model(each: Kept) -> Entry:
    """Return what became of a relation of models."""
    holds, changed, inapplicable, undefined = (int(count) for count in each.counts)
    necessary = each.relation.necessary
    return Entry(
        each.relation.name or type(each.relation).__name__, each.relation.says, necessary, "class_exact",
        REASON[necessary], "model", holds, changed, changed, inapplicable, undefined, 0, None, dict(each.messages),
        tuple(each.violations),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Report:
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
    entries: Sequence[Entry]
    seed: int = 0
    runs: int = 0
    calls: int = 0
    seconds: float = 0.0
    known: bool = True
    complete: bool = True
    notes: Sequence[str] = ()
    examples: Mapping[str, Any] = field(default_factory=dict)
    _learning: Examination | None = field(default=None, repr=False)
    _models: Asked | None = None

    @staticmethod
    def of(
        subject: str,
        data: str,
        learning: Examination,
        models: Asked | None,
        replayed: Mapping[str, Sequence[Violation]],
        seed: int,
        known: bool,
    ) -> Report:
        """Return a report of what was found."""
        entries = [
            replace(entry_of(each), replayed=len(replayed.get(each.relation.name, ()))) for each in learning.tested
        ]
        entries += [entry_of_model(each) for each in (() if models is None else models.kept)]
        examples = {name: each[0] for name, each in replayed.items() if each}
        return Report(
            subject, data, entries, seed, known=known, examples=examples, _learning=learning, _models=models
        )

    def smallest(self, most: int, left: Callable[[], Any] = lambda: None) -> dict[str, Any]:
        """Return the smallest violations of relations that are violated, by name; those that must hold go first.

        `left` tells what is left of the budget.
        """
        found = dict(self.examples)
        for entry in sorted(self.entries, key=lambda entry: not entry.necessary):
            exact = entry.chance is None  # by distribution no single case is to blame
            room = len(found) < (most if entry.necessary else most // 2)
            if entry.violated and exact and room and entry.relation not in found:
                example = self._smaller(entry, entry.violations[0], left)
                found |= {} if example is None else {entry.relation: example}
        return found

    def _smaller(self, entry: Entry, broken: Broken, left: Callable[[], Any] = lambda: None) -> Any:
        if entry.about == "learner" and self._learning is not None:
            each = next(each for each in self._learning.tested if each.relation.name == entry.relation)
            try:
                small = self._learning.smallest(each, broken, left())
                return small or self._learning.whole(each, broken, left())
            except OutOfBudget:
                return None
        if self._models is not None:
            kept = next(each for each in self._models.kept if entry_of_model(each).relation == entry.relation)
            return self._models.shrink(kept, broken)
        return None

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row a relation; ``rate`` is the share of the judged cases that violate it, from ``low`` to ``high`` (95 %)."""
        import pandas as pd

        return pd.DataFrame([entry.row() for entry in self.entries], columns=list(COLUMNS))

    @cached_property
    def _broken(self) -> list[tuple[Entry, Broken]]:
        ordered = sorted(self.entries, key=lambda entry: not entry.necessary)
        return [(entry, broken) for entry in ordered for broken in entry.violations]

    @property
    def violations(self) -> pd.DataFrame:
        """A row a case that is not as expected, those of necessary relations first: its input, case, and labels."""
        import pandas as pd

        rows = [(entry.relation, entry.necessary, *broken) for entry, broken in self._broken]
        return pd.DataFrame(rows, columns=["relation", "necessary", *Broken._fields])

    def shrunk(self, number: int) -> Any:
        """Return the smallest violation that one of `violations` leads to: fewest rows and attributes, plainest numbers."""
        if not 0 <= number < len(self._broken):
            many = plural(len(self._broken), "violation")
            raise ArgumentError(f"There are {many}, numbered from 0. Got {number!r}.")
        entry, broken = self._broken[number]
        known = self.examples.get(entry.relation)
        if known is not None and broken == entry.violations[0]:
            return known
        return self._smaller(entry, broken)

    @property
    def faults(self) -> list[Entry]:
        """The necessary relations that are violated."""
        return [entry for entry in self.entries if entry.fault]

    @property
    def surprises(self) -> list[Entry]:
        """The hypotheses that are violated, though nobody expected it."""
        return [entry for entry in self.entries if not entry.necessary and entry.violated and not entry.expected]

    @property
    def passed(self) -> bool:
        """Whether no necessary relation is violated or left without an answer, and something could be judged."""
        return not self.faults and not self._mute and any(entry.judged for entry in self.entries)

    @property
    def _mute(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.necessary and entry.undefined and not entry.judged]

    @property
    def never_violated(self) -> list[Entry]:
        """Relations that were judged and never violated: for a learner nobody knows, candidates for its promises."""
        return [entry for entry in self.entries if entry.judged and not entry.changed]

    @property
    def headline(self) -> str:
        """What matters most, in a line."""
        must = [entry for entry in self.entries if entry.necessary and entry.judged]
        taught = [entry for entry in self.entries if not entry.necessary and entry.judged]
        if not must and not taught:
            undefined = sum(entry.undefined for entry in self.entries)
            return "nothing could be judged" + (
                f": {plural(undefined, 'case')} without an answer" if undefined else ""
            )
        said = []
        if self.faults:
            said.append(f"{len(self.faults)} of {plural(len(must), 'necessary relation')} violated")
        elif must:
            said.append(
                f"all {len(must)} necessary relations kept" if len(must) > 1 else "the necessary relation kept"
            )
        if self._mute:
            said.append(f"{len(self._mute)} without any answer")
        if taught:
            broken = sum(bool(entry.violated) for entry in taught)
            said.append(f"{broken} of {plural(len(taught), 'hypothesis', 'hypotheses')} violated")
        return ", ".join(said)

    def describe(self) -> str:
        """Return everything in words."""
        from .told import text

        return text(self)

    def document(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        examples = {name: _as_json(each) for name, each in self.examples.items()}
        rows = [{**entry.row(), "messages": dict(entry.messages)} for entry in self.entries]
        told: dict[str, Any] = jsonable(
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
        return told

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the report as JSON, and write it to a file if one is named."""
        from ..reports.html import written

        text = json.dumps(self.document(), indent=1, allow_nan=False)
        if path is not None:
            written(text, path, "JSON file")
        return text

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it to a file if one is named."""
        from ..reports.html import render, written
        from .page import page_of

        page = render(page_of(self))
        if path is not None:
            written(page, path, "report")
        return page

    def to_junit(self, path: str | Path | None = None) -> str:
        """Return the report as JUnit XML, a test case a relation, and write it to a file if one is named."""
        from ..reports.html import written
        from .page import junit

        text = junit(self)
        if path is not None:
            written(text, path, "JUnit file")
        return text

    def __repr__(self) -> str:
        return f"Report({self.subject}: {self.headline})"

    def _repr_html_(self) -> str:
        return str(self.table.iloc[:, :11].to_html())


def _as_json(example: Any) -> Any:
    """Return an example as JSON has it; in words where no file can hold its values."""
    try:
        return example.to_json()
    except DataError:
        return {"words": example.describe()}
