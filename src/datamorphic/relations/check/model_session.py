"""Check relations on a fitted model: query, count verdicts, shrink violations."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._estimates import LIMIT_TIME
from ...errors import Interrupted, OutOfBudget
from ...morphisms.subject import SubjectUnderTest, build_subject
from ...runs.driver import CallCounter, drive
from ...runs.flow import Budget
from ...space.outputs import Outputs
from ...space.points import Points
from ..base import (
    HOLDS,
    INAPPLICABLE,
    UNDEFINED,
    VIOLATED,
    JudgedGroups,
    MetamorphicRelation,
    SystemRelation,
    find_worst_verdicts,
    get_relation_name,
)
from ..change import ChangeGroups
from ..function import prepare_function
from ..learner.sampling import MAX_TRAINING_ROWS, draw_random_training, is_random
from ..learner.waves import ViolatingCase
from ..shrink import shrink_violation
from .runner import QueryPace, run_relation_check
from .violation import ModelViolation


@dataclass(kw_only=True)
class ModelRelationOutcome:
    """The outcome of one relation on a model so far."""

    relation: SystemRelation
    counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(4, dtype=np.int64))  # of inputs, by verdict
    violations: list[ViolatingCase] = field(default_factory=list)
    messages: dict[str, int] = field(default_factory=dict)  # why inputs could not be judged, with their numbers
    groups: JudgedGroups | None = None  # None if the relation was not checked
    inputs: Points | None = None  # the source inputs of the groups
    smallest: JudgedGroups | None = None
    sizes: tuple[float, ...] = ()  # of the violations, if the relation measures them

    @property
    def name(self) -> str:
        """The name of the relation."""
        return get_relation_name(self.relation)

    @property
    def judged_count(self) -> int:
        """The number of inputs that could be judged."""
        return int(self.counts[HOLDS] + self.counts[VIOLATED])

    @property
    def fit_failure(self) -> str:
        """An error instead of an answer; empty if there was none."""
        return next(iter(self.messages), "") if self.counts[UNDEFINED] else ""


@dataclass(kw_only=True)
class ModelSession:
    """A model, the relations to check on it, and their outcomes."""

    subject: SubjectUnderTest
    relations: Sequence[SystemRelation]
    seed: int
    drive_options: Mapping[str, Any]
    shrinks: bool = True  # whether to search the smallest violation of each relation
    counter: CallCounter = field(default_factory=CallCounter)
    outcomes: list[ModelRelationOutcome] = field(default_factory=list)

    def run(self, remaining_budget: Callable[[], Budget | None] = lambda: None) -> None:
        """Check all relations; `remaining_budget` returns what is left of the budget."""
        sut, inputs = self.subject.sut, self.subject.seeds
        query_pace = QueryPace("check", {"inputs": len(inputs)}, remedy=LIMIT_TIME)
        source_answers: Outputs | None = None  # relations about changes have the same source cases
        for relation in self.relations:
            outcome = ModelRelationOutcome(relation=relation)
            self.outcomes.append(outcome)
            if obstacle := relation.find_obstacle(sut, inputs):
                outcome.counts[INAPPLICABLE] = len(inputs)
                outcome.messages[obstacle] = len(inputs)
                continue
            if self.counter.exhausted:  # it applies, but cannot be tried
                continue
            try:
                options = {"seed": self.seed, "counter": self.counter, **self.drive_options}
                result = run_relation_check(
                    relation,
                    sut,
                    relation.draw_inputs(inputs, np.random.default_rng(self.seed)),
                    budget=remaining_budget(),
                    source_answers=source_answers,
                    shrink=self.shrinks,
                    query_pace=query_pace,
                    **options,
                )
            except OutOfBudget as error:  # keep the outcomes of the relations that were checked before
                self.counter.exhausted = True
                self.counter.interrupted |= isinstance(error, Interrupted)
                continue
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
            options = {"progress": False, "recheck": 0, "alive": True} | dict(self.drive_options)
            groups = drive(flow, relation.system(sut), **options)
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
