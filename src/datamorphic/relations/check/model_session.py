"""Relations put to a model that is asked as it is: judged, counted, and made small."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import Interrupted, OutOfBudget
from ...morphisms.subject import SubjectUnderTest
from ...runs.driver import CallCounter, drive
from ...space.serialize import value_to_json
from ..base import HOLDS, INAPPLICABLE, UNDEFINED, VIOLATED, JudgedGroups, Relation
from ..learner.waves import ViolatingCase
from ..shrink import shrink_violation
from .example_text import format_example
from .runner import run_relation_check

REASONS = {True: "it is promised of whatever predicts, or declared", False: "a hypothesis"}


@dataclass(frozen=True, eq=False)
class ModelViolation:
    """A violation by a model: one case, its follow-up, both answers."""

    relation: str
    says: str
    groups: JudgedGroups

    def describe(self) -> str:
        """Return it in lines."""
        return format_example(self.groups)

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
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


@dataclass
class ModelRelationOutcome:
    """What became of one relation of a model."""

    relation: Relation
    counts: Any = field(default_factory=lambda: np.zeros(4, dtype=np.int64))
    violations: list[ViolatingCase] = field(default_factory=list)
    messages: dict[str, int] = field(default_factory=dict)
    groups: JudgedGroups | None = None
    smallest: JudgedGroups | None = None


@dataclass
class ModelSession:
    """A model, and relations to put to it."""

    subject: SubjectUnderTest
    relations: Sequence[Relation]
    seed: int
    drive_options: Mapping[str, Any]
    counter: CallCounter = field(default_factory=CallCounter)
    outcomes: list[ModelRelationOutcome] = field(default_factory=list)

    def run(self, remaining_budget: Callable[[], Any] = lambda: None) -> None:
        """Put all relations to the model; `left` tells what is left of the budget."""
        sut, inputs = self.subject.sut, self.subject.seeds
        for relation in self.relations:
            outcome = ModelRelationOutcome(relation)
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
            except OutOfBudget as error:  # what was found until then counts
                self.counter.exhausted = True
                self.counter.interrupted = isinstance(error, Interrupted)
                break
            outcome.groups, outcome.smallest = result.groups, result.smallest
            outcome.counts, outcome.violations = (
                count_verdicts(result.groups, len(inputs)),
                _list_violating_cases(result.groups),
            )
            for outputs in (result.groups.before, result.groups.after):
                for text in outputs.messages.values():
                    outcome.messages[text] = outcome.messages.get(text, 0) + 1

    def shrink(self, outcome: ModelRelationOutcome, violating_case: ViolatingCase) -> ModelViolation | None:
        """Return the smallest violation that one leads to."""
        if outcome.groups is None:
            return None
        groups = outcome.smallest
        if violating_case != outcome.violations[0] or groups is None:
            violation_groups = outcome.groups.take(
                np.flatnonzero(
                    (outcome.groups.rows == violating_case.input) & (outcome.groups.verdicts == VIOLATED)
                )
            )
            sut, inputs = self.subject.sut, self.subject.seeds
            relation = outcome.relation.fitted_to(sut, inputs)
            options = {"progress": False, "recheck": 0, "alive": True} | dict(self.drive_options)
            groups = drive(
                shrink_violation(relation, inputs, violation_groups, self.seed), relation.system(sut), **options
            )
        return ModelViolation(outcome.relation.name, outcome.relation.says, groups) if len(groups) else None


def count_verdicts(groups: JudgedGroups, inputs: int) -> Any:
    """Return how many inputs have each verdict; one that several groups are made of counts by the worst of them."""
    worst = np.full(inputs, INAPPLICABLE, dtype=np.int8)
    for verdict in (HOLDS, UNDEFINED, VIOLATED):
        worst[groups.rows[groups.verdicts == verdict]] = verdict
    return np.bincount(worst, minlength=4)


def _list_violating_cases(groups: JudgedGroups) -> list[ViolatingCase]:
    violations = groups.violations
    return [
        ViolatingCase(int(row), 0, before, None, after)
        for row, before, after in zip(
            violations.rows, violations.before.values, violations.after.values, strict=True
        )
    ]
