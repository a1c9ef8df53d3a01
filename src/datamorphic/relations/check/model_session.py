"""Check relations on a fitted model: query, count verdicts, shrink violations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import Interrupted, OutOfBudget
from ...morphisms.subject import SubjectUnderTest
from ...runs.driver import CallCounter, drive
from ...runs.flow import Budget
from ...space.serialize import value_to_json
from ..base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, JudgedGroups, Relation, get_relation_name
from ..learner.waves import ViolatingCase
from ..shrink import shrink_violation
from .example_text import format_example
from .runner import run_relation_check


@dataclass(frozen=True, eq=False)
class ModelViolation:
    """A violation by a model: one case, its follow-up, both answers."""

    relation: str
    says: str
    groups: JudgedGroups

    def describe(self) -> str:
        """Return the violation as lines of text."""
        return format_example(self.groups)

    def to_json(self) -> dict[str, Any]:
        """Return the violation as a JSON-serialisable dict."""
        first = self.groups.take(slice(0, 1))
        source, follow_up = (
            batch.frame.astype(object).to_dict("records")[0] for batch in (first.source, first.follow_up)
        )
        return {
            "relation": self.relation,
            "says": self.says,
            "source": {str(name): value_to_json(value) for name, value in source.items()},
            "follow_up": {str(name): value_to_json(value) for name, value in follow_up.items()},
            "before": value_to_json(first.before.values[0]),
            "after": value_to_json(first.after.values[0]),
        }


@dataclass(kw_only=True)
class ModelRelationOutcome:
    """The outcome of one relation on a model so far.

    Attributes
    ----------
    counts : ndarray
        The number of inputs that HOLD, are VIOLATED, INAPPLICABLE and UNDEFINED.
    violations : list of ViolatingCase
        The inputs that violate the relation.
    messages : dict
        The reasons why inputs could not be judged, each with its number of inputs.
    groups, smallest : JudgedGroups or None
        All groups, and the smallest violation; None if the relation was not checked.
    """

    relation: Relation
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    violations: list[ViolatingCase] = field(default_factory=list)
    messages: dict[str, int] = field(default_factory=dict)
    groups: JudgedGroups | None = None
    smallest: JudgedGroups | None = None

    @property
    def name(self) -> str:
        """The name of the relation."""
        return get_relation_name(self.relation)


@dataclass(kw_only=True)
class ModelSession:
    """A model, the relations to check on it, and their outcomes."""

    subject: SubjectUnderTest
    relations: Sequence[Relation]
    seed: int
    drive_options: Mapping[str, Any]
    counter: CallCounter = field(default_factory=CallCounter)
    outcomes: list[ModelRelationOutcome] = field(default_factory=list)

    def run(self, remaining_budget: Callable[[], Budget | None] = lambda: None) -> None:
        """Check all relations; `remaining_budget` returns what is left of the budget."""
        sut, inputs = self.subject.sut, self.subject.seeds
        for relation in self.relations:
            outcome = ModelRelationOutcome(relation=relation)
            self.outcomes.append(outcome)
            if obstacle := relation.why_not(sut, inputs):
                outcome.counts[INAPPLICABLE] = len(inputs)
                outcome.messages[obstacle] = len(inputs)
                continue
            try:
                result = run_relation_check(
                    relation,
                    sut,
                    inputs,
                    seed=self.seed,
                    counter=self.counter,
                    budget=remaining_budget(),
                    **self.drive_options,
                )
            except OutOfBudget as error:  # keep the outcomes of the relations that were checked before
                self.counter.exhausted = True
                self.counter.interrupted = isinstance(error, Interrupted)
                break
            outcome.groups, outcome.smallest = result.groups, result.smallest
            outcome.counts = count_verdicts(result.groups, len(inputs))
            outcome.violations = _list_violating_cases(result.groups)
            for outputs in (result.groups.before, result.groups.after):
                for text in outputs.messages.values():
                    outcome.messages[text] = outcome.messages.get(text, 0) + 1

    def shrink(self, outcome: ModelRelationOutcome, violating_case: ViolatingCase) -> ModelViolation | None:
        """Return the smallest violation of an input; None if not reproducible."""
        if outcome.groups is None:
            return None
        groups = outcome.smallest
        if violating_case != outcome.violations[0] or groups is None:
            violated = (outcome.groups.rows == violating_case.input) & (outcome.groups.verdicts == VIOLATED)
            sut, inputs = self.subject.sut, self.subject.seeds
            relation = outcome.relation.fitted_to(sut, inputs)
            flow = shrink_violation(relation, inputs, outcome.groups.take(np.flatnonzero(violated)), self.seed)
            options = {"progress": False, "recheck": 0, "alive": True} | dict(self.drive_options)
            groups = drive(flow, relation.system(sut), **options)
        return ModelViolation(outcome.relation.name, outcome.relation.says, groups) if len(groups) else None


def count_verdicts(groups: JudgedGroups, inputs: int) -> npt.NDArray[np.int64]:
    """Return the number of inputs per verdict, each by its worst group."""
    worst = np.full(inputs, INAPPLICABLE, dtype=np.int8)
    for verdict in (HOLDS, UNDEFINED, VIOLATED):
        worst[groups.rows[groups.verdicts == verdict]] = verdict
    return np.bincount(worst, minlength=4)


def _list_violating_cases(groups: JudgedGroups) -> list[ViolatingCase]:
    violations = groups.violations
    columns = zip(violations.rows, violations.before.values, violations.after.values, strict=True)
    return [ViolatingCase(int(row), 0, before, None, after) for row, before, after in columns]
