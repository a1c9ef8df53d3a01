"""Check relations on a fitted model: query, count verdicts, shrink violations."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._estimates import LIMIT_TIME
from ...errors import OutOfBudget
from ...morphisms.subject import SubjectUnderTest, build_subject
from ...space.outputs import Outputs
from ...space.points import Points
from ..algebra.base import (
    INAPPLICABLE,
    UNDEFINED,
    VIOLATED,
    JudgedGroups,
    MetamorphicRelation,
    SystemRelation,
    find_worst_verdicts,
)
from ..algebra.change import ChangeGroups
from ..algebra.function import prepare_function
from ..algebra.outcome import RelationOutcome, ViolatingCase
from ..algebra.shrink import shrink_violation
from ..learners.sampling import MAX_TRAINING_ROWS, draw_random_training, is_random
from .runner import DRIVE_OPTIONS, QueryPace, check_system_relation
from .session import CheckSession
from .violation import ModelViolation

REASONS = {
    "verification": "every model must satisfy it, or you declared it",
    "robustness": "its inputs are faulty or noisy",
    "validation": "it is not declared necessary",
}  # why a violation of a relation is a fault or not, by what it is for


@dataclass(kw_only=True)
class ModelRelationOutcome(RelationOutcome):
    """The outcome of one relation on a model so far."""

    relation: SystemRelation
    groups: JudgedGroups | None = None  # None if the relation was not checked
    inputs: Points | None = None  # the source inputs of the groups
    smallest: JudgedGroups | None = None
    sizes: tuple[float, ...] = ()  # of the violations, if the relation measures them

    @property
    def fit_failure(self) -> str:
        """An error instead of an answer; empty if there was none."""
        return next(iter(self.messages), "") if self.counts[UNDEFINED] else ""

    def list_facts(self) -> dict[str, Any]:
        """Return what the relation is for, and its violations by size and type."""
        relation = self.relation
        purpose = "verification" if relation.necessary else "validation"
        return {
            "about": "model",
            "necessary": relation.necessary,
            "strictness": "class_exact",
            "robustness": relation.robustness,
            "reason": relation.reason or REASONS["robustness" if relation.robustness else purpose],
            "size_noun": relation.size_noun,
            "sizes": self.sizes,
            "types": {} if self.groups is None else self.groups.count_types(),
            "type_meanings": relation.violation_types(),
        }


@dataclass(kw_only=True)
class ModelSession(CheckSession[ModelRelationOutcome, ModelViolation]):
    """A model, the relations to check on it, and their outcomes."""

    subject: SubjectUnderTest
    seed: int
    shrinks: bool = True  # whether to search the smallest violation of each relation

    def run(self) -> None:
        """Check as many relations as the budget allows."""
        sut, inputs, spent = self.subject.sut, self.subject.seeds, False
        query_pace = QueryPace("check", {"inputs": len(inputs)}, remedy=LIMIT_TIME)
        source_answers: Outputs | None = None  # relations about changes have the same source cases
        for outcome in self.outcomes:
            relation = outcome.relation
            if obstacle := relation.find_obstacle(sut, inputs):
                outcome.counts[INAPPLICABLE] = len(inputs)
                outcome.messages[obstacle] = len(inputs)
                outcome.complete = True
                continue
            if spent:  # it applies, but cannot be tried
                continue
            try:
                result = check_system_relation(
                    relation,
                    sut,
                    relation.draw_inputs(inputs, np.random.default_rng(self.seed)),
                    self.drive,
                    seed=self.seed,
                    source_answers=source_answers,
                    shrink=self.shrinks,
                    query_pace=query_pace,
                )
            except OutOfBudget:  # keep the outcomes of the relations that were checked before
                spent = True
                continue
            outcome.complete = True
            outcome.groups, outcome.inputs, outcome.smallest = result.groups, result.inputs, result.smallest
            if isinstance(result.groups, ChangeGroups):
                source_answers = result.groups.before
            outcome.counts = count_verdicts(result.groups, len(inputs))
            violations = result.groups.violations
            sizes = relation.fitted_to(sut, inputs).measure_violations(violations) if len(violations) else None
            outcome.sizes = () if sizes is None else tuple(sizes.tolist())
            columns = zip(violations.rows, violations.before.values, violations.after.values, strict=True)
            outcome.violations = [ViolatingCase(int(row), 0, before, None, after) for row, before, after in columns]
            for outputs in (result.groups.before, result.groups.after):
                for text in outputs.messages.values():
                    outcome.messages[text] = outcome.messages.get(text, 0) + 1

    def shrink(self, outcome: ModelRelationOutcome, violating_case: ViolatingCase) -> ModelViolation | None:
        """Return the smallest violation of an input; None if not reproducible."""
        if outcome.groups is None or outcome.inputs is None:
            return None
        groups = outcome.smallest
        if violating_case != outcome.violations[0] or groups is None:
            violated = (outcome.groups.rows == violating_case.input) & (outcome.groups.verdicts == VIOLATED)
            sut = self.subject.sut
            relation = outcome.relation.fitted_to(sut, self.subject.seeds)
            flow = shrink_violation(relation, outcome.inputs, outcome.groups.take(np.flatnonzero(violated)), self.seed)
            groups = self.drive(flow, relation.system(sut), **DRIVE_OPTIONS)
        if not len(groups):
            return None
        remarks = tuple(outcome.relation.explain_violation(groups))
        return ModelViolation(outcome.relation.name, outcome.relation.statement, groups, remarks)


def count_verdicts(groups: JudgedGroups, inputs: int) -> npt.NDArray[np.int64]:
    """Return the number of inputs per verdict, each by its worst group."""
    return np.bincount(find_worst_verdicts(groups, inputs), minlength=4)


def build_fitted_subject(
    learner: Any,
    relations: Sequence[MetamorphicRelation],
    data: Any,
    target: str | None,
    *,
    count: int,
    seed: int,
    owner: str,
) -> SubjectUnderTest:
    """Return what relations about models are checked on: a model, a function, or a copy of a learner fitted to the data.

    Without data, a learner is fitted to random ones, and a function gets the inputs of its relations.
    """
    rng = np.random.default_rng(seed)
    if is_random(data):
        data = None
    if not hasattr(learner, "fit"):
        model = prepare_function(learner, relations, data is not None)
        return build_subject(model, data, target=target, seeds=count, rng=rng, owner=owner)
    model = copy.deepcopy(learner)
    if data is None:
        training = draw_random_training(rng, count, min_rows=MAX_TRAINING_ROWS, framed=True)
        model.fit(training.x, training.y)
        data, target = training.t, None
    elif target is None:
        model.fit(data)
    else:
        model.fit(data.drop(columns=[target]), data[target])
    return build_subject(model, data, target=target, seeds=count, rng=rng, owner=owner)
