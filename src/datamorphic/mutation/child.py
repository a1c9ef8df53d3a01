"""Study the original and its mutants, inside a child process.

The functions run code of the program under mutation, so the process of the user must not call them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .._typing import DataLike, SupportsFit
from ..errors import ModelError
from ..morphisms.subject import SubjectUnderTest
from ..relations.algebra.answers import FunctionAnswers
from ..relations.algebra.base import UNDEFINED, MetamorphicRelation, SystemRelation
from ..relations.check.learner_session import prepare_outcomes
from ..relations.check.model_session import ModelRelationOutcome, ModelSession, build_fitted_subject
from ..relations.check.traces import TracedSystem, count_lines, measure_traces
from ..relations.learners.base import LearnerRelation
from ..relations.learners.necessity import find_requirement
from ..relations.learners.requirement import Requirement, must_hold
from ..relations.learners.result import LearnerSubject
from ..relations.learners.runner import answer_flow, check_relation
from ..relations.learners.sampling import MAX_TRAINING_ROWS, RANDOM_DATA
from ..relations.learners.sklearn import LEARNER_RELATIONS
from ..relations.learners.waves import LearnerRelationOutcome, TrainingSource, check_in_waves
from ..runs.flow import Flow
from ..space.points import Batch
from ..systems.base import Executor
from ..systems.clusterer import Clusterer
from ..systems.guard import GuardedSystem
from ..systems.learner import Learner
from ..systems.training import TrainingBatch
from .cross_validation import CrossValidationRules, compute_error_rates
from .forge import ModuleSource, load_module

TRACED_INPUTS = 30  # on which executed lines are counted, which is slow
INPUTS_PER_COMPARISON = 200  # on which labels are compared in one batch
TIES = "count"
ResultKey = tuple[str, str]  # the names of a learner and of a relation
LearnerFactory = Callable[[ModuleType], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class MutationPlan:
    """How to try mutants: the program, the inputs, and options of `datamorphic.mutate`."""

    program: ModuleSource
    inputs: TrainingSource
    relations: Sequence[MetamorphicRelation] | None = None  # None: all that every correct implementation satisfies
    data: DataLike | str = RANDOM_DATA
    target: str | None = None
    rows: int = MAX_TRAINING_ROWS
    learners: LearnerFactory | None = None
    like: SupportsFit | None = None
    compared_inputs: int = 1000
    rules: CrossValidationRules | None = None  # None: no cross-validation

    @cached_property
    def catalogue(self) -> Mapping[str, MetamorphicRelation]:
        """The relations that may count, by name."""
        if self.relations is None:
            return LEARNER_RELATIONS
        return {relation.name: relation for relation in self.relations}

    @property
    def model_relations(self) -> list[SystemRelation]:
        """The relations that are not about training."""
        return [relation for relation in self.catalogue.values() if isinstance(relation, SystemRelation)]

    @property
    def has_learner_relations(self) -> bool:
        """Whether a relation is about training."""
        return len(self.model_relations) < len(self.catalogue)


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

    def document(self) -> dict[str, Any]:
        """Return the outcome as a JSON-serialisable dict."""
        names = ("violation_counts", "judged_counts")
        return vars(self) | {name: [[*key, count] for key, count in getattr(self, name).items()] for name in names}

    @classmethod
    def from_document(
        cls, violation_counts: Any, judged_counts: Any, errors: dict[str, list[float]], **others: Any
    ) -> MutantOutcome:
        """Return the outcome that `document` converted."""
        return cls(
            violation_counts={(learner, relation): count for learner, relation, count in violation_counts},
            judged_counts={(learner, relation): count for learner, relation, count in judged_counts},
            errors={learner: tuple(rates) for learner, rates in errors.items()},
            **others,
        )


def make_learners(module: ModuleType, make: LearnerFactory | None, trains: bool = True) -> dict[str, Any]:
    """Return the learners of a module, by name; models and functions, too, unless the relations are about training."""
    if make is not None:
        return dict(make(module))
    if callable(getattr(module, "learners", None)):
        return dict(module.learners())
    own_values = [
        value
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    classes = [
        value
        for value in own_values
        if isinstance(value, type)
        and hasattr(value, "fit")
        and (hasattr(value, "predict") or hasattr(value, "fit_predict"))
    ]
    if len(classes) == 1:
        return {classes[0].__name__: classes[0]()}
    functions = [value for value in own_values if isinstance(value, FunctionType)]
    if not trains and not classes:
        if len(functions) == 1:
            return {functions[0].__name__: functions[0]}
        names = ", ".join(function.__name__ for function in functions) or "none"
        raise ModelError(
            f"The module must have one public function. It has {names}. Say which to test: learners=lambda module: "
            '{"name": module.name}, or --learner NAME on the command line.'
        )
    names = ", ".join(learner_class.__name__ for learner_class in classes) or "none"
    raise ModelError(
        f"The module must have one class with fit and predict. It has {names}. Add a function learners() that returns the "
        "learners to test by name, or name the class."
    )


def _select_requirements(learner: SupportsFit, plan: MutationPlan) -> dict[str, Requirement]:
    """Return the requirements of the relations that count."""
    if plan.relations is not None:
        return {
            relation.name: must_hold(
                "requested by the user",
                "score_exact" if isinstance(relation, LearnerRelation) and relation.about_scores else "class_exact",
            )
            for relation in plan.relations
        }
    like = plan.like if plan.like is not None else learner
    requirements = {name: find_requirement(name, like) for name in LEARNER_RELATIONS}
    return {name: requirement for name, requirement in requirements.items() if requirement.necessary}


def study_original(plan: MutationPlan) -> OriginalOutcome:
    """Return the behaviour of the original."""
    program, original = plan.program, OriginalOutcome()
    with load_module(program.text, program.name, program.package) as module:
        for name, learner in make_learners(module, plan.learners, plan.has_learner_relations).items():
            requirements = _select_requirements(learner, plan)
            original.relations[name] = list(requirements)
            for outcome in _check_relations(learner, requirements, plan):
                key = name, outcome.relation.name
                original.violating_cases[key] = frozenset((case.input, case.case) for case in outcome.violations)
                original.judged_counts[key] = outcome.judged_count
                original.undefined_counts[key] = int(outcome.counts[UNDEFINED])
            original.labels[name] = [label for part in _iter_labels(learner, plan) for label in part]
            if plan.rules is not None and hasattr(learner, "fit"):
                original.errors[name] = compute_error_rates(learner, plan.rules)
    _trace_lines(plan, original)
    return original


def study_mutant(job: tuple[MutationPlan, OriginalOutcome, str]) -> MutantOutcome:
    """Return the behaviour of a mutant, compared with that of the original."""
    plan, original, source = job
    program, mutant = plan.program, MutantOutcome()
    with load_module(source, program.name, program.package) as module:
        for name, learner in make_learners(module, plan.learners, plan.has_learner_relations).items():
            if name not in original.relations:
                continue
            own_requirements = _select_requirements(learner, plan)
            requirements = {key: own_requirements.get(key, must_hold("")) for key in original.relations[name]}
            for outcome in _check_relations(learner, requirements, plan):
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
            if plan.rules is not None and hasattr(learner, "fit"):
                mutant.errors[name] = compute_error_rates(learner, plan.rules, informative_only=True)
    return mutant


def _check_relations(
    learner: Any, requirements: Mapping[str, Requirement], plan: MutationPlan
) -> Sequence[LearnerRelationOutcome | ModelRelationOutcome]:
    relations = [plan.catalogue[name] for name in requirements]
    outcomes: list[LearnerRelationOutcome | ModelRelationOutcome] = []
    for labelled in (True, False):  # clusterers answer with clusters, other learners with labels
        training_relations = [
            relation
            for relation in relations
            if isinstance(relation, LearnerRelation) and relation.labelled is labelled
        ]
        if training_relations:
            learner_outcomes = prepare_outcomes(training_relations, requirements, plan.inputs.seed, TIES)
            source = _make_source(learner, plan, labelled)
            flow = check_in_waves(learner_outcomes, LearnerSubject(learner, plan.like), source)
            outcomes += answer_flow(flow, _make_system(learner, plan, labelled))
    if plan.model_relations:
        session = ModelSession(
            subject=_build_model(learner, plan, plan.inputs.count),
            outcomes=[ModelRelationOutcome(relation=relation) for relation in plan.model_relations],
            seed=plan.inputs.seed,
            shrinks=False,
        )
        session.run()
        outcomes += session.outcomes
    return outcomes


def _make_system(learner: Any, plan: MutationPlan, labelled: bool = True) -> Learner:
    if not hasattr(learner, "fit"):
        name = getattr(learner, "__name__", type(learner).__name__)
        raise ModelError(f"A relation about training needs a learner, but {name} has no fit")
    seed = plan.inputs.seed
    return Learner(learner, seed=seed, limited=True) if labelled else Clusterer(learner, seed=seed)


def _make_source(learner: Any, plan: MutationPlan, labelled: bool) -> TrainingSource:
    source = plan.inputs
    if labelled:
        return source
    return TrainingSource.of(plan.data, plan.target, plan.rows, source.count, source.seed, learner)


def _build_model(learner: Any, plan: MutationPlan, count: int) -> SubjectUnderTest:
    return build_fitted_subject(
        learner, plan.model_relations, plan.data, plan.target, count=count, seed=plan.inputs.seed, owner="mutate"
    )


def _iter_labels(learner: Any, plan: MutationPlan) -> Iterator[list[Any]]:
    """Yield the labels of the compared inputs, in blocks; None for no answer."""
    trains = plan.has_learner_relations
    if trains:
        labelled = all(
            relation.labelled for relation in plan.catalogue.values() if isinstance(relation, LearnerRelation)
        )
        system: Executor = _make_system(learner, plan, labelled)
        source = _make_source(learner, plan, labelled)
    else:
        subject = _build_model(learner, plan, plan.compared_inputs)
        system, points = GuardedSystem(subject.sut, alive=True), subject.seeds
        for relation in plan.model_relations:
            if isinstance(relation, FunctionAnswers):  # inputs inside the domains, which may not be boxes
                points = relation.draw_inputs(points, np.random.default_rng(plan.inputs.seed))
    for start in range(0, plan.compared_inputs if trains else len(points), INPUTS_PER_COMPARISON):
        numbers = range(start, min(start + INPUTS_PER_COMPARISON, plan.compared_inputs))
        batch: Batch = (
            TrainingBatch([source.draw_training(number).cases([0]) for number in numbers])
            if trains
            else points.take(slice(start, start + INPUTS_PER_COMPARISON))
        )
        outputs = system.execute(batch)
        yield [label if ok else None for label, ok in zip(outputs.values.tolist(), outputs.ok.tolist(), strict=True)]


def _count_differences(learner: Any, plan: MutationPlan, original_labels: list[Any], count_all: bool) -> int:
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
    with load_module(program.text, program.name, program.package) as module:
        for name, learner in make_learners(module, plan.learners, plan.has_learner_relations).items():
            requirements = _select_requirements(learner, plan)
            if plan.model_relations:
                with count_lines(str(module.__file__)) as counts:
                    _build_model(learner, plan, min(TRACED_INPUTS, plan.inputs.count))
                original.lines.update(counts)
            for relation_name in original.relations[name]:
                system, checks = _prepare_traced_checks(learner, plan.catalogue[relation_name], requirements, plan)
                traced_system = TracedSystem(system, str(module.__file__))
                differences = measure_traces(traced_system, checks)
                original.lines.update(traced_system.lines)
                shares = [executions for executions, _ in differences]
                original.traces[name, relation_name] = float(np.mean(shares)) if differences else float("nan")


def _prepare_traced_checks(
    learner: Any, relation: MetamorphicRelation, requirements: Mapping[str, Requirement], plan: MutationPlan
) -> tuple[Executor, Iterator[Flow[Any]]]:
    """Return a system, and checks of a relation on one input of it each."""
    count = min(TRACED_INPUTS, plan.inputs.count)
    if isinstance(relation, LearnerRelation):
        subject = LearnerSubject(learner, plan.like)
        (outcome,) = prepare_outcomes([relation], requirements, plan.inputs.seed, TIES)
        source = _make_source(learner, plan, relation.labelled)
        trainings = ((number, TrainingBatch([source.draw_training(number).cases([0])])) for number in range(count))
        checks = (check_relation(relation, subject, data, [number], outcome.judging) for number, data in trainings)
        return _make_system(learner, plan, relation.labelled), checks
    assert isinstance(relation, SystemRelation)
    model = _build_model(learner, plan, count)
    system = GuardedSystem(relation.system(model.sut), recheck=0, alive=True)
    if relation.find_obstacle(model.sut, model.seeds):
        return system, iter(())
    fitted_relation, rng = relation.fitted_to(model.sut, model.seeds), np.random.default_rng(plan.inputs.seed)
    inputs = relation.draw_inputs(model.seeds, rng)
    rows = (inputs.take(slice(number, number + 1)) for number in range(len(inputs)))
    return system, (fitted_relation.check(row, rng) for row in rows)
