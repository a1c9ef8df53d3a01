"""`dm.hunt`: run trials against a system, and collect the violations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .._clock import read_clock
from .._text import pluralise, suggest_name
from .._validation import reject
from ..core.capability import capability
from ..core.execute import Execution
from ..errors import ArgumentError, Interrupted, OutOfBudget
from ..relations.algebra.base import MetamorphicRelation, Relation
from ..relations.algebra.function import FunctionRelation, find_argument_names, read_columns
from ..relations.learners.base import LearnerRelation
from ..runs.flow import Flow
from ..runs.interrupts import Interrupts
from ..runs.progress import Progress
from ..space.points import Points
from ..space.space import Space
from ..systems.base import Executor
from ..systems.function_runner import FunctionRunner, call_by_name, name_columns
from .generators import make_generator
from .loop import HuntMonitor, HuntSteps, Proposer, RoundRobin, Trial, judge_proposed
from .options import HuntOptions, HuntSubject, RelationLike
from .result import Hunt, HuntTrial, ViolatingGroup
from .row_runner import (
    ROWS,
    TRAINING_SETS,
    RowTrial,
    TrainingJudge,
    TrainingTrial,
    fit_relations,
    prepare_executor,
    uses_rows,
)
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
from .violation_regions import ViolationRegion, classify_region


@capability(HuntOptions)
def hunt(options: HuntOptions, execution: Execution[HuntSubject]) -> Hunt:
    """Hunt for groups that violate relations, with as few groups as possible.

    Returns
    -------
    Hunt
        The result, with `f_measures`, `violations`, `groups`, `table` and `describe()`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> tanh = dm.programs["tanh"]
    >>> result = dm.hunt(tanh.mutants["emu10"], "tripling", trials=20, seed=1)
    >>> len(result.f_measures), result.violated
    (20, 20)
    >>> dm.hunt(tanh, "tripling", budget=1000).found
    False
    """
    hunter = Hunter(options, execution)
    subject, system = execution.subject, execution.subject.system
    if subject.is_learner:
        _refuse_distributions(options, "training sets")
        return hunter.hunt_training_sets()
    takes_rows = uses_rows(subject.relations, options, None if options.data is None or system is None else system.seeds)
    if system is None:
        return hunter.hunt_function()
    if takes_rows:
        _refuse_distributions(options, "rows of data")
        return hunter.hunt_rows(system.sut, system.seeds)
    space = system.seeds.space
    changes = fit_changes(subject.relations, system.sut, space)
    if changes:
        box = find_source_box(changes, space)
        functions = [to_change_function(relation, space, box) for relation in changes]
        return hunter.hunt_system(changes[0].system(system.sut), space, functions, changes[0].compute_level)
    return hunter.hunt_system(system.sut, space, resolve_relations(subject, has_selector=options.selector is not None))


class Hunter:
    """Runs the trials of a hunt, and collects what they find."""

    def __init__(self, options: HuntOptions, execution: Execution[HuntSubject]) -> None:
        self.options, self.execution = options, execution
        seed = execution.seed
        self.seed = seed if isinstance(seed, int) else int(execution.rng.integers(2**32))
        self.trials: list[HuntTrial] = []
        self.violations: list[ViolatingGroup] = []
        self.monitor: HuntMonitor
        self.interrupted = self.timed_out = False
        self.seconds = 0.0

    # -- what is hunted ------------------------------------------------------------------------------------------------

    def hunt_function(self) -> Hunt:
        """Run the trials against a function, in this process; a resumed run repeats them."""
        subject = self.execution.subject
        assert callable(subject.model)
        relations = resolve_relations(subject, has_selector=self.options.selector is not None)
        function = call_by_name(subject.model, find_argument_names(relations))
        runner = FunctionRunner(function, self.options.name or getattr(subject.model, "name", None))
        proposer = make_proposer(relations, self.options, has_space=False)
        _set_answerer(proposer, lambda parts: [runner(part)[0] for part in parts])

        def run_one(trial: Trial) -> None:
            calls_before = runner.calls
            steps = self._start_trial(proposer, trial)
            try:
                query = next(steps)
                while True:
                    if interrupts.is_stopped():
                        raise Interrupted("interrupted")
                    query = steps.send(runner(query.inputs))
            except StopIteration:
                pass
            finally:
                trial.record.calls = runner.calls - calls_before

        with Interrupts() as interrupts:
            self._run_trials(runner.name, run_one)
        result = self._build_result(
            name=runner.name,
            generator=proposer.name,
            relations=proposer.relations,
            columns=_name_columns(proposer.relations[0]),
            failed=runner.failures,
            failure_message=runner.most_frequent_message,
            function=subject.model,
        )
        return result if self.options.regions is None else replace(result, regions=self._classify_regions(result))

    def _classify_regions(self, result: Hunt) -> tuple[ViolationRegion, ...]:
        """Return the violation region of each relation that the hunt found violated."""
        assert result.function is not None
        assert self.options.regions is not None
        return tuple(
            classify_region(result.function, relation, n=self.options.regions, seed=self.seed, name=result.name)
            for relation, count in zip(result.relations, result.table["violated"], strict=True)
            if count and isinstance(relation, FunctionRelation)
        )

    def hunt_system(
        self,
        executor: Executor,
        space: Space,
        relations: Sequence[FunctionRelation],
        read_outputs: OutputReader = read_columns,
    ) -> Hunt:
        """Run the trials against a system whose inputs are those of a space."""
        proposer = make_proposer(relations, self.options, has_space=True, names=space.names)
        _set_answerer(proposer, lambda parts: [executor.execute(Points(space, part)).values for part in parts])
        self._drive_trials(executor, lambda trial: to_flow(self._start_trial(proposer, trial), space, read_outputs))
        return self._build_result(
            name=executor.name, generator=proposer.name, relations=proposer.relations, columns=space.names, space=space
        )

    def hunt_rows(self, executor: Executor, inputs: Points) -> Hunt:
        """Run the trials on rows of data."""
        relations = fit_relations(self.execution.subject.relations, executor, inputs)
        executor = prepare_executor(relations, executor)
        self._drive_trials(executor, lambda trial: RowTrial(trial, relations, inputs).run())
        names = inputs.space.names
        return self._build_result(name=executor.name, generator=ROWS, relations=relations, columns=names)

    def hunt_training_sets(self) -> Hunt:
        """Run the trials of a learner on training sets."""
        options, subject = self.options, self.execution.subject
        learner: Any = subject.model
        relations = [relation for relation in subject.relations if isinstance(relation, LearnerRelation)]
        judge = TrainingJudge(learner, relations, options.data, options.target, self.seed)
        self._drive_trials(
            judge.system, lambda trial: TrainingTrial(trial, judge).run(), cache=None, recheck=0, alive=True
        )
        name = options.name or judge.name
        return self._build_result(name=name, generator=TRAINING_SETS, relations=relations, columns=judge.columns)

    # -- trials --------------------------------------------------------------------------------------------------------

    def _start_trial(self, proposer: Proposer, trial: Trial) -> HuntSteps:
        """Return the steps of a trial, with random numbers of its own."""
        judge = partial(judge_proposed, trial, proposer.clone(trial.make_rng()))
        return trial.run(judge, len(proposer.relations), self.options.max_groups)

    def _drive_trials(self, executor: Executor, make_flow: Callable[[Trial], Flow[None]], **details: Any) -> None:
        """Run trials that query a system."""
        execution = self.execution

        def run_one(trial: Trial) -> None:
            calls_before = execution.counter.calls
            try:
                execution.drive(make_flow(trial), executor, progress=False, batch=None, **details)
            finally:
                trial.record.calls = execution.counter.calls - calls_before

        self._run_trials(executor.name, run_one, lambda: execution.seconds, execution.recall)

    def _run_trials(
        self,
        name: str,
        run_one: Callable[[Trial], None],
        measure_seconds: Callable[[], float] = read_clock,
        recall: Callable[[Callable[[], bool]], bool] = lambda measure: measure(),
    ) -> None:
        """Run all trials, or those until an interrupt or the end of the time."""
        options, start_time = self.options, read_clock()
        is_over = False
        with Progress(f"hunting {name}", options.progress) as display:
            self.monitor = HuntMonitor(options, display, measure_seconds, recall)
            for number in range(options.trials):
                if self.monitor.is_over:
                    break
                trial = Trial(number, self.seed, self.monitor, self.violations)
                self.trials.append(trial.record)
                try:
                    run_one(trial)
                except OutOfBudget as error:
                    self.interrupted = isinstance(error, Interrupted)
                    is_over = not self.interrupted
                    break
                except KeyboardInterrupt:  # report the trials so far
                    self.interrupted = True
                    break
        is_cut_off = len(self.trials) < options.trials or self.trials[-1].exhausted
        self.seconds = read_clock() - start_time
        self.timed_out = (is_over or self.monitor.is_over) and is_cut_off

    def _build_result(self, *, relations: Sequence[MetamorphicRelation], columns: Sequence[str], **facts: Any) -> Hunt:
        return Hunt(
            seconds=self.seconds,
            interrupted=self.interrupted,
            timed_out=self.timed_out,
            relations=tuple(relations),
            columns=tuple(columns),
            trials=self.trials,
            examples=self.violations,
            budget=self.options.max_groups,
            seed=self.seed,
            time_limit=self.options.max_seconds,
            unfinished=self._list_unfinished(),
            **facts,
        )

    def _list_unfinished(self) -> tuple[str, ...]:
        """Return what a budget of time did not reach; the time of a hunt without a budget is what it is."""
        if not self.timed_out or self.options.limits.seconds is None:
            return ()
        count, trials = len(self.trials), self.options.trials
        rest = [f"{pluralise(trials - count, 'further trial')}"] if count < trials else []
        return (f"trial {count:,} of {trials:,}, after {pluralise(self.trials[-1].groups, 'group')}", *rest)


def _set_answerer(proposer: Proposer, answer: Callable[[list[Any]], list[Any]]) -> None:
    """Set the function that answers sources, for follow-ups that depend on outputs."""
    if isinstance(proposer, RoundRobin):
        for generator in proposer.generators:
            generator.answer_with(answer)


# -- relations and generators ------------------------------------------------------------------------------------------


def resolve_relations(subject: HuntSubject, *, has_selector: bool) -> list[FunctionRelation]:
    """Return relations from objects or names.

    With a selector, relations of a program are those with one shared source domain.
    """
    model = subject.model
    own_relations: Mapping[str, FunctionRelation] = getattr(model, "relations", None) or {}
    shared_relations: Mapping[str, FunctionRelation] = {}
    if has_selector and own_relations and hasattr(model, "shared"):
        shared_relations = model.shared()
    return [_resolve_relation(subject, item, own_relations, shared_relations) for item in subject.relations]


def _resolve_relation(
    subject: HuntSubject,
    item: RelationLike,
    own_relations: Mapping[str, FunctionRelation],
    shared_relations: Mapping[str, FunctionRelation],
) -> FunctionRelation:
    space = subject.space
    if isinstance(item, str):
        if item not in own_relations:
            raise ArgumentError(
                f"There is no relation {item!r} of {getattr(subject.model, 'name', 'this system')!r}. "
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


def _refuse_distributions(options: HuntOptions, sources: str) -> None:
    """Raise `ArgumentError` for distributions of sources that are not drawn from a domain."""
    if options.source_distribution:
        raise ArgumentError(
            f"source_distribution is about numbers of a domain, but the sources of this hunt are {sources}. Leave it out."
        )


def make_proposer(
    relations: Sequence[FunctionRelation], options: HuntOptions, *, has_space: bool, names: Sequence[str] = ()
) -> Proposer:
    """Return the selector, or generators of relations that take turns."""
    if options.source_distribution:
        relations = [relation.drawn_from(options.source_distribution, names) for relation in relations]
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
        [
            make_generator(generator, relation, **({"scaled": has_space} | options.proposer_options))
            for relation in relations
        ]
    )


def _name_columns(relation: FunctionRelation) -> tuple[str, ...]:
    """Return names for the inputs of a function: those of the relation, else letters, or numbers if many."""
    if relation.names:
        return relation.names
    width = relation.follow_domains()[0].dimension if relation.follow_ups else relation.domain[0].dimension
    return name_columns(width)
