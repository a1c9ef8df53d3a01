"""Run a hunt: resolve system and relations, run trials, collect the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from .._clock import read_clock
from .._estimates import refuse_many_rows, refuse_too_large
from .._text import suggest_name
from .._typing import DataLike, ModelLike
from .._validation import reject
from ..errors import ArgumentError, Interrupted
from ..morphisms.subject import build_subject
from ..relations.base import MetamorphicRelation, Relation
from ..relations.function import FunctionRelation, read_columns
from ..relations.learner.base import LearnerRelation
from ..relations.registry import find_relation
from ..runs.driver import CallCounter, drive
from ..runs.engines import needs_processes
from ..runs.interrupts import Interrupts
from ..runs.progress import Progress
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from ..systems.function_runner import FunctionRunner, name_columns
from .generator_base import DomainLike, Generator, GroupBatch
from .generators import make_generator
from .loop import HuntMonitor, HuntSteps, Proposer, RoundRobin, run_trial
from .options import GenerateOptions, HuntOptions
from .result import Hunt, HuntTrial, ViolatingGroup
from .row_runner import ROWS, RowJudge, fit_relations, prepare_executor, run_source_trial, uses_rows
from .selectors import make_selector
from .system_runner import (
    OutputReader,
    find_source_box,
    fit_changes,
    to_change_function,
    to_flow,
    to_function_relation,
    validate_columns,
)
from .training_runner import TRAINING_SETS, TrainingJudge

MIN_TIMED_GROUPS = 1_000_000  # to generate: fewer take hours at most
TIMED_GROUPS = 1000  # of the first sample; the second has four times as many

#: a relation, its class, or the name of a relation of the system under test
RelationLike: TypeAlias = MetamorphicRelation | type[MetamorphicRelation] | str
#: one relation or several; None for all relations of the system under test
RelationsLike: TypeAlias = RelationLike | Collection[RelationLike] | Mapping[str, RelationLike] | None


def run_hunt(
    sut: ModelLike,
    relations: RelationsLike,
    options: HuntOptions,
    *,
    data: DataLike | None = None,
    space: Space | None = None,
    target: str | None = None,
) -> Hunt:
    """Return the result of hunting violations of relations by a system."""
    items = _list_relations(sut, relations)
    learner_relations = [item for item in items if isinstance(item, LearnerRelation)]
    if learner_relations:
        if len(learner_relations) < len(items):
            raise ArgumentError(
                f"The relation {learner_relations[0].name!r} is about training, other relations are about a model as it is. Hunt "
                "with each kind of relation alone."
            )
        return _hunt_training_sets(sut, learner_relations, options, data, target)
    is_system = isinstance(sut, Executor | str) or hasattr(sut, "predict") or space is not None or data is not None
    if not is_system:
        _reject_system_options(sut, engine=options.engine, timeout=options.timeout, target=target)
    known_space: Space | None = None
    if is_system:
        subject = build_subject(
            sut,
            data,
            target=target,
            space=space,
            seeds=1 if data is None else None,  # all rows, which may be the sources
            rng=np.random.default_rng(0),
            timeout=options.timeout,
            isolated=needs_processes(options.engine),
        )
        known_space = subject.seeds.space
    if uses_rows(items, options, subject.seeds if is_system and data is not None else None):
        return _hunt_rows(subject.sut, subject.seeds, items, options)
    changes = [] if known_space is None else fit_changes(items, subject.sut, known_space)
    if known_space is not None and changes:
        box = find_source_box(changes, known_space)
        functions = [to_change_function(relation, known_space, box) for relation in changes]
        system, first = changes[0].system(subject.sut), changes[0]
        return _hunt_system(
            system, known_space, _make_proposer(functions, options, is_system), options, first.compute_level
        )
    resolved_relations = _resolve_relations(sut, items, known_space, options.selector is not None)
    proposer = _make_proposer(resolved_relations, options, is_system)
    if known_space is not None:
        return _hunt_system(subject.sut, known_space, proposer, options)
    assert callable(sut)
    return _hunt_function(FunctionRunner(sut, getattr(sut, "name", None)), proposer, options)


def generate_groups(relation: FunctionRelation | DomainLike, options: GenerateOptions) -> GroupBatch:
    """Return groups of a relation, or single inputs of a domain."""
    generator = make_generator(options.generator, relation, seed=options.seed, **options.generator_options)
    if isinstance(generator.relation, FunctionRelation) and generator.relation.uses_outputs:
        raise ArgumentError(
            f"Follow-ups of the relation {generator.relation.name!r} depend on outputs, but generate() executes no "
            "system. Use dm.hunt."
        )
    _refuse_many_groups(generator, options.n)
    return generator.propose(options.n)


def _refuse_many_groups(generator: Generator, n: int) -> None:
    """Raise `ArgumentError` if so many groups take too long, or more memory than there is."""
    width = int(generator.layout.start[-1])
    refuse_many_rows("generate", "n", n, 2 * width)  # the groups, and what the generator remembers of them
    if n < MIN_TIMED_GROUPS:
        return
    generator.clone(0).propose(TIMED_GROUPS)  # not timed, since the first call compiles
    sample, seconds = generator.clone(0), []
    for count in (TIMED_GROUPS, 3 * TIMED_GROUPS):
        start_time = read_clock()
        sample.propose(count)
        seconds.append(read_clock() - start_time)
    # some generators compare every group with all others: their time grows with the square of the number
    growth = min(max(math.log(sum(seconds) / seconds[0]) / math.log(4), 1.0), 2.0)
    refuse_too_large("generate", {"n": n}, seconds=sum(seconds) * (n / (4 * TIMED_GROUPS)) ** growth)


#: runs a trial: takes its number, its record, the list to which violations are appended, and the monitor of the hunt
TrialRunner = Callable[[int, HuntTrial, list[ViolatingGroup], HuntMonitor], None]


def _hunt_function(runner: FunctionRunner, proposer: Proposer, options: HuntOptions) -> Hunt:
    """Run the trials against a function, in this process."""

    def run_one(number: int, record: HuntTrial, violations: list[ViolatingGroup], monitor: HuntMonitor) -> None:
        calls_before = runner.calls
        steps = _start_trial(proposer, number, options, violations, record, monitor)
        try:
            query = next(steps)
            while True:
                if interrupts.is_stopped():
                    raise Interrupted("interrupted")
                query = steps.send(runner(query.inputs))
        except StopIteration:
            pass
        finally:
            record.calls = runner.calls - calls_before

    with Interrupts() as interrupts:
        _set_answerer(proposer, lambda parts: [runner(part)[0] for part in parts])
        columns = _name_columns(proposer.relations[0])
        hunt = _run_trials(runner.name, columns, proposer.name, proposer.relations, options, run_one)
    return replace(hunt, failed=runner.failures, failure_message=runner.most_frequent_message)


def _hunt_system(
    executor: Executor,
    space: Space,
    proposer: Proposer,
    options: HuntOptions,
    read_outputs: OutputReader = read_columns,
) -> Hunt:
    """Run the trials against a system whose inputs are those of a space."""

    def run_one(number: int, record: HuntTrial, violations: list[ViolatingGroup], monitor: HuntMonitor) -> None:
        counter = CallCounter()
        flow = to_flow(_start_trial(proposer, number, options, violations, record, monitor), space, read_outputs)
        drive(flow, executor, tally=counter, engine=options.engine, timeout=options.timeout, progress=False)
        record.calls = counter.calls

    with Interrupts():
        _set_answerer(proposer, lambda parts: [executor.execute(Points(space, part)).values for part in parts])
        hunt = _run_trials(executor.name, space.names, proposer.name, proposer.relations, options, run_one)
    return replace(hunt, space=space)


def _hunt_rows(executor: Executor, inputs: Points, relations: Sequence[object], options: HuntOptions) -> Hunt:
    """Run the trials on rows of data."""
    fitted_relations = fit_relations(relations, executor, inputs)
    executor = prepare_executor(fitted_relations, executor)

    def run_one(number: int, record: HuntTrial, violations: list[ViolatingGroup], monitor: HuntMonitor) -> None:
        counter = CallCounter()
        judge = RowJudge(fitted_relations, inputs, number, options.seed, record)
        order = np.random.default_rng([options.seed, number]).permutation(len(inputs))
        flow = run_source_trial(judge, len(fitted_relations), order, number, options, violations, record, monitor)
        drive(flow, executor, tally=counter, engine=options.engine, timeout=options.timeout, progress=False)
        record.calls = counter.calls

    with Interrupts():
        return _run_trials(executor.name, inputs.space.names, ROWS, fitted_relations, options, run_one)


def _hunt_training_sets(
    learner: Any, relations: Sequence[LearnerRelation], options: HuntOptions, data: DataLike | None, target: str | None
) -> Hunt:
    """Run the trials of a learner on training sets."""
    judge = TrainingJudge(learner, relations, data, target, options.seed)

    def run_one(number: int, record: HuntTrial, violations: list[ViolatingGroup], monitor: HuntMonitor) -> None:
        counter = CallCounter()
        flow = run_source_trial(
            judge.start_trial(number), len(relations), None, number, options, violations, record, monitor
        )
        drive_options: dict[str, Any] = {"cache": None, "recheck": 0, "alive": True, "progress": False}
        drive(flow, judge.system, tally=counter, engine=options.engine, timeout=options.timeout, **drive_options)
        record.calls = counter.calls

    with Interrupts():
        return _run_trials(judge.name, judge.columns, TRAINING_SETS, relations, options, run_one)


def _start_trial(
    proposer: Proposer,
    number: int,
    options: HuntOptions,
    violations: list[ViolatingGroup],
    record: HuntTrial,
    monitor: HuntMonitor,
) -> HuntSteps:
    """Return the steps of a trial, with random numbers of its own."""
    trial_proposer = proposer.clone(np.random.default_rng([options.seed, number]))
    return run_trial(trial_proposer, number, options, violations, record, monitor)


def _run_trials(
    name: str,
    columns: Sequence[str],
    generator: str,
    relations: Sequence[MetamorphicRelation],
    options: HuntOptions,
    run_one: TrialRunner,
) -> Hunt:
    """Return the result of all trials, or of those until an interrupt."""
    start_time = read_clock()
    trials: list[HuntTrial] = []
    violations: list[ViolatingGroup] = []
    interrupted = False
    with Progress(f"hunting {name}", options.progress) as display:
        monitor = HuntMonitor(options, display)
        for number in range(options.trials):
            if monitor.is_over:
                break
            trials.append(HuntTrial())
            try:
                run_one(number, trials[-1], violations, monitor)
            except (Interrupted, KeyboardInterrupt):  # report the trials so far
                interrupted = True
                break
    return Hunt(
        name=name,
        generator=generator,
        relations=tuple(relations),
        trials=trials,
        examples=violations,
        columns=tuple(columns),
        budget=options.max_groups,
        seed=options.seed,
        seconds=read_clock() - start_time,
        interrupted=interrupted,
        timed_out=monitor.is_over and (len(trials) < options.trials or trials[-1].exhausted),
    )


def _reject_system_options(sut: ModelLike, **options: object) -> None:
    """Raise `ArgumentError` if an option of systems is given for a function."""
    for option, value in options.items():
        if value is not None:
            name = getattr(sut, "name", None) or getattr(sut, "__name__", None) or type(sut).__name__
            raise ArgumentError(
                f"The option {option} is for systems with a space, but {name} is a plain function, which is called in "
                "this process. Give it a space (space=...), or wrap it: dm.wrap(function, space=..., timeout=...)."
            )


def _set_answerer(proposer: Proposer, answer: Callable[[list[Any]], list[Any]]) -> None:
    """Set the function that answers sources, for follow-ups that depend on outputs."""
    if isinstance(proposer, RoundRobin):
        for generator in proposer.generators:
            generator.answer_with(answer)


def _list_relations(sut: ModelLike, relations: RelationsLike) -> list[RelationLike]:
    """Return the requested relations one by one, classes as objects, and names of registered relations of models resolved."""
    own_relations: Mapping[str, FunctionRelation] = getattr(sut, "relations", None) or {}
    items: list[RelationLike]
    if relations is None:
        if not own_relations:
            raise ArgumentError(
                "hunt() got no relations. Give those that must hold: hunt(function, relation). Make one with "
                "dm.FunctionRelation, or use those of a program in dm.programs."
            )
        items = list(own_relations)
    elif isinstance(relations, Mapping):
        items = list(relations.values())
    elif isinstance(relations, list | tuple | set | frozenset):
        items = list(relations)
    else:
        items = [relations]  # type: ignore[list-item]
    if not items:
        reject("relations", "hunt", "at least one relation", relations)
    return [
        item() if isinstance(item, type) and issubclass(item, MetamorphicRelation) else item
        for item in (
            find_relation(item) or item if isinstance(item, str) and item not in own_relations else item
            for item in items
        )
    ]


def _resolve_relations(
    sut: ModelLike, items: Sequence[RelationLike], space: Space | None, has_selector: bool
) -> list[FunctionRelation]:
    """Return relations from objects or names.

    With a selector, relations of a program are those with one shared source domain.
    """
    own_relations: Mapping[str, FunctionRelation] = getattr(sut, "relations", None) or {}
    shared_relations: Mapping[str, FunctionRelation] = {}
    if has_selector and own_relations and hasattr(sut, "shared"):
        shared_relations = sut.shared()
    return [_resolve_relation(sut, item, own_relations, shared_relations, space) for item in items]


def _resolve_relation(
    sut: ModelLike,
    item: RelationLike,
    own_relations: Mapping[str, FunctionRelation],
    shared_relations: Mapping[str, FunctionRelation],
    space: Space | None,
) -> FunctionRelation:
    if isinstance(item, str):
        if item not in own_relations:
            raise ArgumentError(
                f"There is no relation {item!r} of {getattr(sut, 'name', 'this system')!r}. "
                + (suggest_name(item, own_relations) if own_relations else "Give the relation itself.")
            )
        own = own_relations[item]
        item = shared_relations.get(own.name, own)
    if isinstance(item, Relation):
        if space is None:
            raise ArgumentError(
                f"The relation {item.name!r} is about models, whose inputs are those of a space. "
                "Give the inputs: data= or space=."
            )
        item = to_function_relation(item, space)
    if not isinstance(item, FunctionRelation):
        reject("relations", "hunt", "relations, or names of relations of a program", item)
    return item if space is None else validate_columns(item, space)


def _make_proposer(relations: Sequence[FunctionRelation], options: HuntOptions, has_space: bool) -> Proposer:
    if options.selector is not None:
        output_dependent = [relation.name for relation in relations if relation.uses_outputs]
        if output_dependent:
            raise ArgumentError(
                "A selector compares candidates before they are executed, but follow-ups of "
                f"{output_dependent[0]!r} depend on outputs. Leave the selector out: relations then take turns."
            )
        return make_selector(options.selector, relations, **options.proposer_options)
    generator = options.generator
    if generator is None:
        all_affine = all(relation.affine for relation in relations)
        generator = "MD-ART" if has_space and not all_affine else "SFIDMT-ART"
    return RoundRobin(
        [make_generator(generator, relation, scaled=has_space, **options.proposer_options) for relation in relations]
    )


def _name_columns(relation: FunctionRelation) -> tuple[str, ...]:
    """Return names for the inputs of a function: letters, or numbers if many."""
    width = relation.follow_domains()[0].dimension if relation.follow_ups else relation.domain[0].dimension
    return name_columns(width)
