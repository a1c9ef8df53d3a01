"""Study the original and its mutants, inside a child process.

The functions run code of the program under mutation, so the process of the user must not call them.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from .._typing import SupportsFit
from ..errors import ModelError
from ..relations.base import UNDEFINED
from ..relations.check.learner_session import prepare_outcomes
from ..relations.learner.base import LearnerRelation
from ..relations.learner.necessity import find_stance
from ..relations.learner.result import LearnerSubject
from ..relations.learner.runner import answer_flow, check_relation
from ..relations.learner.sklearn import LEARNER_RELATIONS
from ..relations.learner.stance import Stance, must_hold
from ..relations.learner.waves import LearnerRelationOutcome, TrainingSource, check_in_waves
from ..runs.flow import Flow, Query
from ..systems.learner import Learner
from ..systems.training import TrainingBatch
from .cross_validation import CrossValidationRules, compute_error_rates
from .forge import ModuleSource, load_module
from .options import LearnerFactory

TRACED_INPUTS = 30  # on which executed lines are counted, which is slow
INPUTS_PER_COMPARISON = 200  # on which labels are compared in one batch
TIES = "count"
ResultKey = tuple[str, str]  # the names of a learner and of a relation


@dataclass(frozen=True, kw_only=True)
class MutationPlan:
    """How to try mutants: the program, the inputs, and options of `datamorphic.mutate`."""

    program: ModuleSource
    inputs: TrainingSource
    relations: Sequence[LearnerRelation] | None = None  # None: all that every correct implementation satisfies
    learners: LearnerFactory | None = None
    like: SupportsFit | None = None
    compared_inputs: int = 1000
    rules: CrossValidationRules | None = None  # None: no cross-validation

    @cached_property
    def catalogue(self) -> Mapping[str, LearnerRelation]:
        """The relations that may count, by name."""
        if self.relations is None:
            return LEARNER_RELATIONS
        return {relation.name: relation for relation in self.relations}


@dataclass(kw_only=True)
class OriginalOutcome:
    """The behaviour of the program itself, by learner or by learner and relation."""

    relations: dict[str, list[str]] = field(default_factory=dict)  # the names of those that count
    violating_cases: dict[ResultKey, frozenset[tuple[int, int]]] = field(default_factory=dict)
    judged_counts: dict[ResultKey, int] = field(default_factory=dict)
    undefined_counts: dict[ResultKey, int] = field(default_factory=dict)
    labels: dict[str, list[Any]] = field(default_factory=dict)  # of the compared inputs
    errors: dict[str, tuple[float, ...]] = field(default_factory=dict)  # the error rates of cross-validation
    lines: set[int] = field(default_factory=set)  # that the traced inputs execute
    traces: dict[ResultKey, float] = field(default_factory=dict)  # how much the lines of source and follow-up differ


@dataclass(kw_only=True)
class MutantOutcome:
    """The behaviour of a mutant, without the cases that the original violates."""

    violation_counts: dict[ResultKey, int] = field(default_factory=dict)
    judged_counts: dict[ResultKey, int] = field(default_factory=dict)
    undefined_count: int = 0
    different_count: int = 0  # inputs whose label differs from the original's; of a killed mutant only some of them
    message: str = ""  # the error of a fit that failed, if any did
    errors: dict[str, tuple[float, ...]] = field(default_factory=dict)  # the error rates of cross-validation


def make_learners(module: ModuleType, make: LearnerFactory | None) -> dict[str, Any]:
    """Return the learners of a module, by name."""
    if make is not None:
        return dict(make(module))
    if callable(getattr(module, "learners", None)):
        return dict(module.learners())
    classes = [
        value
        for name, value in vars(module).items()
        if not name.startswith("_") and isinstance(value, type) and value.__module__ == module.__name__
        if callable(getattr(value, "fit", None)) and callable(getattr(value, "predict", None))
    ]
    if len(classes) == 1:
        return {classes[0].__name__: classes[0]()}
    names = ", ".join(learner_class.__name__ for learner_class in classes) or "none"
    raise ModelError(
        f"The module must have one class with fit and predict. It has {names}. Add a function learners() that returns the "
        "learners to test by name, or name the class."
    )


def _select_stances(learner: SupportsFit, plan: MutationPlan) -> dict[str, Stance]:
    """Return the stances of the relations that count."""
    if plan.relations is not None:
        return {
            relation.name: must_hold("requested by the user", "score_exact" if relation.about_scores else "class_exact")
            for relation in plan.relations
        }
    like = plan.like if plan.like is not None else learner
    stances = {name: find_stance(name, like) for name in LEARNER_RELATIONS}
    return {name: stance for name, stance in stances.items() if stance.necessary}


def study_original(plan: MutationPlan) -> OriginalOutcome:
    """Return the behaviour of the original."""
    program, original = plan.program, OriginalOutcome()
    with load_module(program.text, program.name, program.package) as module:
        for name, learner in make_learners(module, plan.learners).items():
            stances = _select_stances(learner, plan)
            original.relations[name] = list(stances)
            for outcome in _check_relations(learner, stances, plan):
                key = name, outcome.relation.name
                original.violating_cases[key] = frozenset((case.input, case.case) for case in outcome.violations)
                original.judged_counts[key] = outcome.judged_count
                original.undefined_counts[key] = int(outcome.counts[UNDEFINED])
            original.labels[name] = [label for part in _iter_labels(learner, plan) for label in part]
            if plan.rules is not None:
                original.errors[name] = compute_error_rates(learner, plan.rules)
    _trace_lines(plan, original)
    return original


def study_mutant(job: tuple[MutationPlan, OriginalOutcome, str]) -> MutantOutcome:
    """Return the behaviour of a mutant, compared with that of the original."""
    plan, original, source = job
    program, mutant = plan.program, MutantOutcome()
    with load_module(source, program.name, program.package) as module:
        for name, learner in make_learners(module, plan.learners).items():
            if name not in original.relations:
                continue
            own_stances = _select_stances(learner, plan)
            stances = {key: own_stances.get(key, must_hold("")) for key in original.relations[name]}
            for outcome in _check_relations(learner, stances, plan):
                key = name, outcome.relation.name
                known_cases = original.violating_cases[key]
                new_cases = [case for case in outcome.violations if (case.input, case.case) not in known_cases]
                mutant.violation_counts[key] = len(new_cases)
                mutant.judged_counts[key] = max(0, outcome.judged_count - len(known_cases))
                known_undefined = original.undefined_counts.get(key, 0)
                mutant.undefined_count += max(0, int(outcome.counts[UNDEFINED]) - known_undefined)
                mutant.message = mutant.message or outcome.fit_failure
            alive = not any(mutant.violation_counts.values())
            mutant.different_count += _count_differences(learner, plan, original.labels[name], count_all=alive)
            if plan.rules is not None:
                mutant.errors[name] = compute_error_rates(learner, plan.rules, informative_only=True)
    return mutant


def _check_relations(
    learner: SupportsFit, stances: Mapping[str, Stance], plan: MutationPlan
) -> Sequence[LearnerRelationOutcome]:
    relations = [plan.catalogue[name] for name in stances]
    outcomes = prepare_outcomes(relations, stances, plan.inputs.seed, TIES)
    flow = check_in_waves(outcomes, LearnerSubject(learner, plan.like), plan.inputs)
    return answer_flow(flow, _make_system(learner, plan))


def _make_system(learner: SupportsFit, plan: MutationPlan) -> Learner:
    return Learner(learner, seed=plan.inputs.seed, limited=True)


def _iter_labels(learner: SupportsFit, plan: MutationPlan) -> Iterator[list[Any]]:
    """Yield the labels of the compared inputs, in blocks; None for no answer."""
    system = _make_system(learner, plan)
    for start in range(0, plan.compared_inputs, INPUTS_PER_COMPARISON):
        numbers = range(start, min(start + INPUTS_PER_COMPARISON, plan.compared_inputs))
        outputs = system.execute(TrainingBatch([plan.inputs.draw_training(number).cases([0]) for number in numbers]))
        yield [label if ok else None for label, ok in zip(outputs.values.tolist(), outputs.ok.tolist(), strict=True)]


def _count_differences(learner: SupportsFit, plan: MutationPlan, original_labels: list[Any], count_all: bool) -> int:
    """Return the number of inputs with another label than the original's.

    Without `count_all`, stop after the first block that has a difference.
    """
    start = different_count = 0
    for part in _iter_labels(learner, plan):
        different_count += sum(label != original_labels[start + place] for place, label in enumerate(part))
        start += len(part)
        if different_count and not count_all:
            break
    return different_count


def _trace_lines(plan: MutationPlan, original: OriginalOutcome) -> None:
    """Record the executed lines, and how much they differ per relation."""
    program = plan.program
    sets = [plan.inputs.draw_training(number).cases([0]) for number in range(min(TRACED_INPUTS, plan.inputs.count))]
    with load_module(program.text, program.name, program.package) as module:
        for name, learner in make_learners(module, plan.learners).items():
            system, subject = _make_system(learner, plan), LearnerSubject(learner, plan.like)
            relations = [plan.catalogue[relation_name] for relation_name in original.relations[name]]
            for outcome in prepare_outcomes(relations, _select_stances(learner, plan), plan.inputs.seed, TIES):
                distances = []
                for number, data in enumerate(sets):
                    flow = check_relation(outcome.relation, subject, TrainingBatch([data]), [number], outcome.judging)
                    traces = _trace_flow(flow, system, module)
                    original.lines.update(*traces)
                    if len(traces) == 2:
                        distances.append(_compute_trace_distance(*traces))
                mean = float(np.mean(distances)) if distances else float("nan")
                original.traces[name, outcome.relation.name] = mean


@contextmanager
def count_lines(module: ModuleType) -> Iterator[Counter[int]]:
    """Count how often each line of a module is executed within the ``with`` block."""
    counts: Counter[int] = Counter()

    def trace_call(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != module.__file__:
            return None
        counts[frame.f_lineno] += 1
        return trace_line

    def trace_line(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            counts[frame.f_lineno] += 1
        return trace_line

    before, before_in_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(trace_call)
    sys.settrace(trace_call)
    try:
        yield counts
    finally:
        sys.settrace(before)
        threading.settrace(before_in_threads)


def _trace_flow(flow: Flow[Any], system: Learner, module: ModuleType) -> list[Counter[int]]:
    """Answer a flow, and return the executed lines of a module per query."""
    traces = []
    try:
        query = next(flow)
        while True:
            query = query if isinstance(query, Query) else Query(query)
            with count_lines(module) as counts:
                outputs = system.execute(query.batch, scores=query.scores)
            traces.append(counts)
            query = flow.send(outputs)
    except StopIteration:
        return traces


def _compute_trace_distance(first: Counter[int], second: Counter[int]) -> float:
    """Return the share of line executions that are not in both traces, from 0 to 1."""
    total = (first | second).total()
    return 1 - (first & second).total() / total if total else 0.0
