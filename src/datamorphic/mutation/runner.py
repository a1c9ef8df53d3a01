"""What a child process does to a mutant: import it, put relations to it, compare it with the original.

Everything here runs code of the program under mutation, so none of it is called in the process of the user.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import ModelError
from ..relations.base import UNDEFINED
from ..relations.check.learner_session import prepare_outcomes
from ..relations.learner.base import LearnerRelation
from ..relations.learner.necessity import Stance, find_stance
from ..relations.learner.result import LearnerSubject
from ..relations.learner.runner import answer_flow, check_relation
from ..relations.learner.sklearn import LEARNER_RELATIONS
from ..relations.learner.waves import TrainingSource, check_in_waves
from ..systems.learner import Learner
from ..systems.training import TrainingBatch
from .cross_validation import CrossValidationRules, compute_error_rates
from .forge import ModuleSource, load_module
from .tracing import count_lines

LearnerFactory = Callable[[ModuleType], Mapping[str, Any]]
TRACED_INPUTS = 30  # inputs on which lines are counted: that takes its time
INPUTS_PER_COMPARISON = 200  # inputs on which labels are compared at once; one difference is enough


@dataclass(frozen=True)
class MutationPlan:
    """How mutants are tried.

    Attributes
    ----------
    program : Program
        The text of the original.
    inputs : Inputs
        What relations are tried on.
    relations : sequence of LearnerRelation, optional
        Those that count; by default all that every right implementation keeps.
    learners : callable, optional
        What makes the learners from a module; by default its function ``learners``, or its only class that learns.
    like : estimator, optional
        Whose relations must hold, where the learners do not say it.
    differ : int
        On how many inputs labels are compared with those of the original.
    rules : Rules, optional
        Simulated data for cross-validation; None for none.
    """

    program: ModuleSource
    inputs: TrainingSource
    relations: Sequence[LearnerRelation] | None = None
    learners: LearnerFactory | None = None
    like: Any = None
    compared_inputs: int = 1000
    rules: CrossValidationRules | None = None


@dataclass(frozen=True)
class OriginalOutcome:
    """What the program itself does: labels, violations that are its own, lines it runs."""

    relations: Mapping[str, list[str]]  # that count, by learner
    violating_cases: Mapping[tuple[str, str], frozenset[tuple[int, int]]]
    judged_counts: Mapping[tuple[str, str], int]
    labels: Mapping[str, list[Any]]
    lines: frozenset[int]
    traces: Mapping[tuple[str, str], float]  # how much source and follow-up runs differ
    errors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    undefined_counts: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True)
class MutantOutcome:
    """What became of a mutant in its process: violations and judgements by learner and relation, and differences."""

    violation_counts: Mapping[tuple[str, str], int]
    judged_counts: Mapping[tuple[str, str], int]
    undefined_count: int
    answered_count: int
    different_count: (
        int  # inputs whose label is another than the original's; of mutants that are killed a few only
    )
    message: str = ""
    errors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def make_learners(module: ModuleType, make: LearnerFactory | None) -> dict[str, Any]:
    """Return the learners of a module, by name."""
    if make is not None:
        return dict(make(module))
    if callable(getattr(module, "learners", None)):
        return dict(module.learners())
    learner_classes = [
        value
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__ and not name.startswith("_")
        and callable(getattr(value, "fit", None)) and callable(getattr(value, "predict", None))
    ]  # fmt: skip
    if len(learner_classes) == 1:
        return {learner_classes[0].__name__: learner_classes[0]()}
    names = ", ".join(learner_class.__name__ for learner_class in learner_classes) or "none"
    raise ModelError(
        f"Which learner of the module is to be tested? It has {names} with fit and predict. Give it a function "
        "learners() that returns them by name, or name one."
    )


def _select_stances(learner: Any, plan: MutationPlan) -> dict[str, Stance]:
    if plan.relations is not None:
        return {
            relation.name: Stance(
                True, "score_exact" if relation.about_scores else "class_exact", "it was asked for"
            )
            for relation in plan.relations
        }
    like = plan.like if plan.like is not None else learner
    stances = {name: find_stance(name, like) for name in LEARNER_RELATIONS}
    return {name: stance for name, stance in stances.items() if stance.necessary}


def _index_relations(plan: MutationPlan) -> dict[str, LearnerRelation]:
    return (
        LEARNER_RELATIONS if plan.relations is None else {relation.name: relation for relation in plan.relations}
    )


def study_original(plan: MutationPlan) -> OriginalOutcome:
    """Try the program itself: what it violates is not held against its mutants."""
    program, catalogue = plan.program, _index_relations(plan)
    violating_cases, judged_counts, undefined_counts, labels, errors, relation_names = {}, {}, {}, {}, {}, {}
    with load_module(program.text, program.name, program.package) as module:
        for name, learner in make_learners(module, plan.learners).items():
            stances = _select_stances(learner, plan)
            relation_names[name] = list(stances)
            outcomes = prepare_outcomes(
                [catalogue[relation_name] for relation_name in stances], stances, plan.inputs.seed, "count"
            )
            answer_flow(
                check_in_waves(outcomes, LearnerSubject(learner, plan.like), plan.inputs),
                _make_system(learner, plan),
            )
            for outcome in outcomes:
                violating_cases[name, outcome.relation.name] = frozenset(
                    (b.input, b.case) for b in outcome.violations
                )
                judged_counts[name, outcome.relation.name] = outcome.judged_count
                undefined_counts[name, outcome.relation.name] = int(outcome.counts[UNDEFINED])
            labels[name] = [label for part in _iter_labels(learner, plan) for label in part]
            if plan.rules is not None:
                errors[name] = compute_error_rates(learner, plan.rules)
    lines, traces = _trace_lines(plan, relation_names)
    return OriginalOutcome(
        relation_names, violating_cases, judged_counts, labels, lines, traces, errors, undefined_counts
    )


def study_mutant(job: tuple[MutationPlan, OriginalOutcome, str]) -> MutantOutcome:
    """Try a mutant: relations on inputs that the original does not violate, and labels beside those of the original."""
    plan, original, source = job
    catalogue, program = _index_relations(plan), plan.program
    violation_counts, judged_counts, errors = {}, {}, {}
    undefined_count = answers = 0
    different = 0
    message = ""
    with load_module(source, program.name, program.package) as module:
        for name, learner in make_learners(module, plan.learners).items():
            if name not in original.relations:
                continue
            stances = {
                relation_name: Stance(True, "class_exact", "") for relation_name in original.relations[name]
            }
            learner_stances = _select_stances(learner if plan.like is None else plan.like, plan)
            stances |= {
                relation_name: stance
                for relation_name, stance in learner_stances.items()
                if relation_name in stances
            }
            outcomes = prepare_outcomes(
                [catalogue[relation_name] for relation_name in stances], stances, plan.inputs.seed, "count"
            )
            answer_flow(
                check_in_waves(outcomes, LearnerSubject(learner, plan.like), plan.inputs),
                _make_system(learner, plan),
            )
            for outcome in outcomes:
                key = name, outcome.relation.name
                original_cases = original.violating_cases[key]
                violation_counts[key] = sum(
                    (violating_case.input, violating_case.case) not in original_cases
                    for violating_case in outcome.violations
                )
                judged_counts[key] = max(
                    0, outcome.judged_count - len(original_cases)
                )  # what the original violates does not count
                undefined_count += max(0, int(outcome.counts[UNDEFINED]) - original.undefined_counts.get(key, 0))
                answers += outcome.judged_count
                message = message or next((text for text in outcome.messages if text.startswith("fitted on")), "")
            alive = not any(violation_counts.values())
            different += _count_differences(learner, plan, original.labels[name], count_all=alive)
            if plan.rules is not None:
                errors[name] = compute_error_rates(learner, plan.rules, informative_only=True)
    return MutantOutcome(violation_counts, judged_counts, undefined_count, answers, different, message, errors)


def _make_system(learner: Any, plan: MutationPlan) -> Learner:
    return Learner(learner, seed=plan.inputs.seed, limited=True)


def _iter_labels(learner: Any, plan: MutationPlan) -> Any:
    """Yield the labels of inputs, some at a time."""
    system = _make_system(learner, plan)
    for start in range(0, plan.compared_inputs, INPUTS_PER_COMPARISON):
        sets = [
            plan.inputs.draw_training(number).cases([0])
            for number in range(start, min(start + INPUTS_PER_COMPARISON, plan.compared_inputs))
        ]
        outputs = system.execute(TrainingBatch(sets))
        yield [
            label if ok else None for label, ok in zip(outputs.values.tolist(), outputs.ok.tolist(), strict=True)
        ]


def _count_differences(learner: Any, plan: MutationPlan, original_labels: list[Any], count_all: bool) -> int:
    """Return on how many inputs the label is another than the original's; unless `whole`, those first found do."""
    start = different_count = 0
    for part in _iter_labels(learner, plan):
        different_count += sum(label != original_labels[start + place] for place, label in enumerate(part))
        start += len(part)
        if different_count and not count_all:
            break
    return different_count


def _trace_lines(
    plan: MutationPlan, relation_names: Mapping[str, list[str]]
) -> tuple[frozenset[int], dict[tuple[str, str], float]]:
    """Return the lines that are run, and by learner and relation how much source and follow-up runs differ in them."""
    program, catalogue = plan.program, _index_relations(plan)
    reached_lines: set[int] = set()
    differences: dict[tuple[str, str], float] = {}
    sets = [
        plan.inputs.draw_training(number).cases([0]) for number in range(min(TRACED_INPUTS, plan.inputs.count))
    ]
    with load_module(program.text, program.name, program.package) as module:
        for name, learner in make_learners(module, plan.learners).items():
            system = _make_system(learner, plan)
            for relation_name in relation_names[name]:
                outcome = prepare_outcomes(
                    [catalogue[relation_name]], _select_stances(learner, plan), plan.inputs.seed, "count"
                )[0]
                distances = []
                for number, data in enumerate(sets):
                    flow = check_relation(
                        outcome.relation,
                        LearnerSubject(learner, plan.like),
                        TrainingBatch([data]),
                        [number],
                        outcome.judging,
                    )
                    runs: list[Mapping[int, int]] = []
                    _count_lines(flow, system, module, runs)
                    reached_lines.update(*runs)
                    if len(runs) == 2:
                        distances.append(_compute_trace_distance(*runs))
                differences[name, relation_name] = float(np.mean(distances)) if distances else float("nan")
    return frozenset(reached_lines), differences


def _count_lines(flow: Any, system: Learner, module: ModuleType, runs: list[Mapping[int, int]]) -> None:
    """Answer a flow, and note for each of its questions how often each line of a module was run."""
    try:
        question = next(flow)
        while True:
            with count_lines(module) as counts:
                outputs = system.execute(question.batch, scores=question.scores)
            runs.append(counts)
            question = flow.send(outputs)
    except StopIteration:
        pass


def _compute_trace_distance(first: Mapping[int, int], second: Mapping[int, int]) -> float:
    """Return how different two traces are: the share of all line runs that are not in both, from 0 to 1."""
    lines = set(first) | set(second)
    total = sum(max(first.get(line, 0), second.get(line, 0)) for line in lines)
    shared = sum(min(first.get(line, 0), second.get(line, 0)) for line in lines)
    return 1 - shared / total if total else 0.0
