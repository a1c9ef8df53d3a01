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
from ..mutants.forge import Program, module_of
from ..mutants.tracing import lines_counted
from ..relations.base import UNDEFINED
from ..relations.examining import Inputs, examine
from ..relations.further import LEARNER_RELATIONS
from ..relations.learned import Subject
from ..relations.learners import LearnerRelation
from ..relations.learning import answered, check
from ..relations.necessity import Stance, stance
from ..sut.learner import Learner
from ..sut.training import Trainings
from .examination import to_test
from .rival import Rules, errors_of

Learners = Callable[[ModuleType], Mapping[str, Any]]
TRACED = 30  # inputs on which lines are counted: that takes its time
STRIDE = 200  # inputs on which labels are compared at once; one difference is enough


@dataclass(frozen=True)
class Plan:
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

    program: Program
    inputs: Inputs
    relations: Sequence[LearnerRelation] | None = None
    learners: Learners | None = None
    like: Any = None
    differ: int = 1000
    rules: Rules | None = None


@dataclass(frozen=True)
class Original:
    """What the program itself does: labels, violations that are its own, lines it runs."""

    relations: Mapping[str, list[str]]  # that count, by learner
    violated: Mapping[tuple[str, str], frozenset[tuple[int, int]]]
    judged: Mapping[tuple[str, str], int]
    labels: Mapping[str, list[Any]]
    lines: frozenset[int]
    traces: Mapping[tuple[str, str], float]  # how much source and follow-up runs differ
    errors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    undefined: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Fate:
    """What became of a mutant in its process: violations and judgements by learner and relation, and differences."""

    violated: Mapping[tuple[str, str], int]
    judged: Mapping[tuple[str, str], int]
    undefined: int
    answered: int
    different: int  # inputs whose label is another than the original's; of mutants that are killed a few only
    message: str = ""
    errors: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def learners_of(module: ModuleType, make: Learners | None) -> dict[str, Any]:
    """Return the learners of a module, by name."""
    if make is not None:
        return dict(make(module))
    if callable(getattr(module, "learners", None)):
        return dict(module.learners())
    own = [
        each
        for name, each in vars(module).items()
        if isinstance(each, type) and each.__module__ == module.__name__ and not name.startswith("_")
        and callable(getattr(each, "fit", None)) and callable(getattr(each, "predict", None))
    ]  # fmt: skip
    if len(own) == 1:
        return {own[0].__name__: own[0]()}
    found = ", ".join(each.__name__ for each in own) or "none"
    raise ModelError(
        f"Which learner of the module is to be tested? It has {found} with fit and predict. Give it a function "
        "learners() that returns them by name, or name one."
    )


def _views(learner: Any, plan: Plan) -> dict[str, Stance]:
    if plan.relations is not None:
        return {
            each.name: Stance(True, "score_exact" if each.about_scores else "class_exact", "it was asked for")
            for each in plan.relations
        }
    like = plan.like if plan.like is not None else learner
    views = {name: stance(name, like) for name in LEARNER_RELATIONS}
    return {name: view for name, view in views.items() if view.necessary}


def _catalogue(plan: Plan) -> dict[str, LearnerRelation]:
    return LEARNER_RELATIONS if plan.relations is None else {each.name: each for each in plan.relations}


def study_original(plan: Plan) -> Original:
    """Try the program itself: what it violates is not held against its mutants."""
    program, catalogue = plan.program, _catalogue(plan)
    violated, judged, undefined, labels, errors, chosen = {}, {}, {}, {}, {}, {}
    with module_of(program.text, program.name, program.package) as module:
        for name, learner in learners_of(module, plan.learners).items():
            views = _views(learner, plan)
            chosen[name] = list(views)
            tested = to_test([catalogue[each] for each in views], views, plan.inputs.seed, "count")
            answered(
                examine(tested, Subject(learner, plan.like), plan.inputs),
                _system(learner, plan),
            )
            for each in tested:
                violated[name, each.relation.name] = frozenset((b.input, b.case) for b in each.violations)
                judged[name, each.relation.name] = each.judged
                undefined[name, each.relation.name] = int(each.counts[UNDEFINED])
            labels[name] = [label for part in _labels(learner, plan) for label in part]
            if plan.rules is not None:
                errors[name] = errors_of(learner, plan.rules)
    lines, traces = _traced(plan, chosen)
    return Original(chosen, violated, judged, labels, lines, traces, errors, undefined)


def study_mutant(job: tuple[Plan, Original, str]) -> Fate:
    """Try a mutant: relations on inputs that the original does not violate, and labels beside those of the original."""
    plan, original, source = job
    catalogue, program = _catalogue(plan), plan.program
    violated, judged, errors = {}, {}, {}
    undefined = answers = 0
    different = 0
    message = ""
    with module_of(source, program.name, program.package) as module:
        for name, learner in learners_of(module, plan.learners).items():
            if name not in original.relations:
                continue
            views = {each: Stance(True, "class_exact", "") for each in original.relations[name]}
            known = _views(learner if plan.like is None else plan.like, plan)
            views |= {each: view for each, view in known.items() if each in views}
            tested = to_test([catalogue[each] for each in views], views, plan.inputs.seed, "count")
            answered(
                examine(tested, Subject(learner, plan.like), plan.inputs),
                _system(learner, plan),
            )
            for each in tested:
                key = name, each.relation.name
                own = original.violated[key]
                violated[key] = sum((broken.input, broken.case) not in own for broken in each.violations)
                judged[key] = max(0, each.judged - len(own))  # what the original violates does not count
                undefined += max(0, int(each.counts[UNDEFINED]) - original.undefined.get(key, 0))
                answers += each.judged
                message = message or next((text for text in each.messages if text.startswith("fitted on")), "")
            alive = not any(violated.values())
            different += _differences(learner, plan, original.labels[name], whole=alive)
            if plan.rules is not None:
                errors[name] = errors_of(learner, plan.rules, telling=True)
    return Fate(violated, judged, undefined, answers, different, message, errors)


def _system(learner: Any, plan: Plan) -> Learner:
    return Learner(learner, seed=plan.inputs.seed, limited=True)


def _labels(learner: Any, plan: Plan) -> Any:
    """Yield the labels of inputs, some at a time."""
    system = _system(learner, plan)
    for start in range(0, plan.differ, STRIDE):
        sets = [
            plan.inputs.training(number).cases([0]) for number in range(start, min(start + STRIDE, plan.differ))
        ]
        outputs = system.execute(Trainings(sets))
        yield [
            label if ok else None for label, ok in zip(outputs.values.tolist(), outputs.ok.tolist(), strict=True)
        ]


def _differences(learner: Any, plan: Plan, wanted: list[Any], whole: bool) -> int:
    """Return on how many inputs the label is another than the original's; unless `whole`, those first found do."""
    start = found = 0
    for part in _labels(learner, plan):
        found += sum(label != wanted[start + place] for place, label in enumerate(part))
        start += len(part)
        if found and not whole:
            break
    return found


def _traced(plan: Plan, chosen: Mapping[str, list[str]]) -> tuple[frozenset[int], dict[tuple[str, str], float]]:
    """Return the lines that are run, and by learner and relation how much source and follow-up runs differ in them."""
    program, catalogue = plan.program, _catalogue(plan)
    reached: set[int] = set()
    differences: dict[tuple[str, str], float] = {}
    sets = [plan.inputs.training(number).cases([0]) for number in range(min(TRACED, plan.inputs.count))]
    with module_of(program.text, program.name, program.package) as module:
        for name, learner in learners_of(module, plan.learners).items():
            system = _system(learner, plan)
            for each in chosen[name]:
                tested = to_test([catalogue[each]], _views(learner, plan), plan.inputs.seed, "count")[0]
                apart = []
                for number, data in enumerate(sets):
                    flow = check(
                        tested.relation, Subject(learner, plan.like), Trainings([data]), [number], tested.manner
                    )
                    runs: list[Mapping[int, int]] = []
                    _counted(flow, system, module, runs)
                    reached.update(*runs)
                    if len(runs) == 2:
                        apart.append(_apart(*runs))
                differences[name, each] = float(np.mean(apart)) if apart else float("nan")
    return frozenset(reached), differences


def _counted(flow: Any, system: Learner, module: ModuleType, runs: list[Mapping[int, int]]) -> None:
    """Answer a flow, and note for each of its questions how often each line of a module was run."""
    try:
        question = next(flow)
        while True:
            with lines_counted(module) as counts:
                outputs = system.execute(question.batch, scores=question.scores)
            runs.append(counts)
            question = flow.send(outputs)
    except StopIteration:
        pass


def _apart(first: Mapping[int, int], second: Mapping[int, int]) -> float:
    """Return how different two traces are: the share of all line runs that are not in both, from 0 to 1."""
    lines = set(first) | set(second)
    most = sum(max(first.get(line, 0), second.get(line, 0)) for line in lines)
    both = sum(min(first.get(line, 0), second.get(line, 0)) for line in lines)
    return 1 - both / most if most else 0.0
