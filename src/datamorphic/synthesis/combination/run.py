"""`dm.combine`: make new test cases by applying datamorphisms one after the other, execute them, and check them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..._clock import read_clock
from ..._estimates import WorkPace
from ..._text import pluralise
from ..._typing import DataLike, ModelLike
from ...core.capability import capability
from ...core.execute import Execution
from ...errors import OutOfBudget, SystemFailed
from ...morphisms.case_columns import make_missing_outputs
from ...morphisms.cases import NO_ORIGIN, CaseKind, TestSet, Verdict
from ...morphisms.system import TestSystem, judge_verdicts
from ...runs.driver import CallCounter, FlowDriver
from ...runs.flow import Flow, Query
from ...runs.progress import Progress
from ...space.features import Mask
from ...space.outputs import Outputs
from .chains import Integers, draw_ranks, split_ranks
from .generation import (
    CaseMaker,
    GeneratedCases,
    make_all_cases,
    make_all_compositions,
    make_drawn_cases,
    mark_ancestors,
)
from .options import ChainOptions, CombineOptions, suggest_budget
from .persistence import remember_violations, retry_violations
from .plan import CombinationPlan
from .result import CombinationResult, Derivations, Verdicts
from .shortening import ChainExecutor, ChainFailure, ShortenedChain, shorten_chains

MAX_CASES_PER_QUERY = 50_000  # so that progress is shown between queries, and Ctrl-C keeps what was executed
MAX_CASES_PER_TIMED_QUERY = 1_000  # the answers of a query that the end of the time cuts off are lost
MAX_CACHED_CASES = 200_000  # for more, a cache costs too much memory
MAX_SHORTENED_PER_METAMORPHISM = 1_000  # violations, evenly chosen
SUGGESTED_DIVISOR = 100  # of the number of cases, in the message that their execution takes too long


@capability(CombineOptions)
def combine(options: CombineOptions, execution: Execution[CombinationPlan]) -> CombinationResult:
    """Make new cases by chains of datamorphisms, execute them, and check the metamorphisms.

    A chain is a sequence of datamorphisms that are applied to a seed case one after the other. The strategy says which
    chains are tried. Of cases with equal inputs only the first is kept. Every violation is traced to its seed case, and its
    chain is shortened as long as the violation stays. Violations are kept in the run store, and tried first in the next run.

    Returns
    -------
    CombinationResult
        With ``.tests``, ``.violations``, ``.table``, ``.holds``, ``.chain(case_id)``, ...

    Examples
    --------
    >>> import datamorphic as dm
    >>> combination = dm.combine(dm.subjects["Box 1"], "sequences", order=2, seeds=5, datamorphisms=["upward", "leftward"])
    >>> combination.estimate, combination.case_count  # up and left is the same as left and up
    (30, 25)
    >>> combination.chain(29)
    ['upward', 'upward']
    """
    plan, session = execution.subject, execution.session
    # violations are not answers of this run, so that a resumed run tries them, too
    earlier = None if session is None else retry_violations(session.store, plan.system, execution.engine, options)
    combination = run_combination(plan, options, execution.drive)
    if earlier is not None:
        recurring, fixed_count = earlier
        combination.tally.retried_failures = len(recurring), fixed_count
        combination = replace(combination, recurring=recurring)
    if session is not None:
        remember_violations(session, combination)
    return combination


def estimate_size(
    model: ModelLike | DataLike,
    strategy: str = "first_order",
    *,
    seeds: DataLike | TestSet | int | None = None,
    datamorphisms: Sequence[str] | str | None = None,
    order: int | None = None,
    arguments: str = "seeds",
    seed: int = 0,
) -> int:
    """Return the largest number of new cases that `combine` can make.

    It makes fewer if several chains lead to the same input, or a filter ends a chain.

    Examples
    --------
    >>> import datamorphic as dm
    >>> moves = ["upward", "downward", "leftward", "rightward"]
    >>> estimate_size(dm.subjects["Box 1"], "permutations", seeds=10, datamorphisms=moves)
    640
    """
    options = CombineOptions(
        model, strategy, seeds=seeds, datamorphisms=datamorphisms, order=order, arguments=arguments, seed=seed
    )
    return options.make_subject().size


def _make_pace(plan: CombinationPlan, options: ChainOptions, case_count: int) -> WorkPace:
    """Return the pace that refuses to execute `case_count` cases if that takes too long."""
    if options.sample_size is not None:
        return WorkPace(options.OWNER, {"budget": options.sample_size}, count_all_rows=lambda: case_count)
    remedy = f"draw some of the cases with {suggest_budget(math.ceil(case_count / SUGGESTED_DIVISOR))}"
    return WorkPace(options.OWNER, {"seeds": len(plan.seeds)}, remedy=remedy, count_all_rows=lambda: case_count)


def run_combination(plan: CombinationPlan, options: ChainOptions, drive: FlowDriver) -> CombinationResult:
    """Combine, execute and check, and return the result; `drive` queries the system."""
    options.validate_size(plan)
    system, start_time, notes = plan.system, read_clock(), list(plan.notes)
    is_sampled = options.sample_size is not None and options.sample_size < plan.size
    with Progress(system.name, options.progress) as display:
        cases = _make_drawn(plan, options, display) if is_sampled else _make_all(plan, options, display)
        selection = _apply_filters(system, cases, options, notes)
    counter = CallCounter()
    judgement = Judgement(tests=selection.tests, derivations=_list_derivations(selection))
    if system.sut is not None:
        pace = _make_pace(plan, options, len(selection.tests))
        judgement = drive(
            _execute_and_judge(plan, selection, options),
            system.sut,
            tally=counter,
            limits=options.limits,
            pace=pace,
            on_piece=pace.add_answers,
        )
        if not counter.exhausted:
            _require_an_answer(system, judgement.tests, counter)
        notes += judgement.notes
        if not system.metamorphisms:
            notes.append("There is no metamorphism, so nothing was checked. Mark a function with @metamorphism.")
    else:
        notes.append("There is no executor, so the cases have no outputs. Mark a function with @executor.")
    return CombinationResult(
        subject=system.name,
        strategy=options.strategy,
        order=options.order,
        datamorphisms=[morphism.name for morphism in plan.datamorphisms],
        tests=judgement.tests,
        estimate=plan.size,
        is_sampled=is_sampled,
        ancestors=selection.ancestors,
        verdicts=judgement.verdicts,
        checks=judgement.checks,
        derivations=judgement.derivations,
        messages={name: morphism.mark.message for name, morphism in system.metamorphisms.items()},
        cases=cases,
        rows=selection.rows,
        shortened=judgement.shortened,
        seed=options.seed,
        seconds=read_clock() - start_time,
        notes=notes,
        tally=counter,
        unfinished=judgement.unfinished,
    )


def _make_all(plan: CombinationPlan, options: ChainOptions, display: Progress) -> GeneratedCases:
    """Make the cases of all chains."""
    maker = CaseMaker(plan.system, plan.seeds, plan.datamorphisms, options.seed, expected=plan.size)
    make_all = make_all_compositions if plan.arguments == "cases" else make_all_cases
    return make_all(maker, plan.rule, display.show)


def _make_drawn(plan: CombinationPlan, options: ChainOptions, display: Progress) -> GeneratedCases:
    """Draw as many chains as the budget allows, and make their cases."""
    assert options.sample_size is not None
    rng = np.random.default_rng(np.random.SeedSequence(options.seed, spawn_key=(0,)))
    seeds, ranks = split_ranks(draw_ranks(rng, plan.size, options.sample_size), plan.rule.count)
    steps, choices = plan.rule.unrank(ranks)
    maker = CaseMaker(plan.system, plan.seeds, plan.datamorphisms, options.seed, expected=int((steps >= 0).sum()))
    return make_drawn_cases(maker, seeds, steps, choices, display.show)


def _require_an_answer(system: TestSystem, tests: TestSet, counter: CallCounter) -> None:
    """Raise `SystemFailed` if no case has a valid output."""
    outputs = tests.outputs
    if outputs is not None and len(outputs) and not outputs.ok.any():
        message = counter.incidents["message"].iloc[0] if len(counter.incidents) else "no message"
        raise SystemFailed(f"{system.name} gave no answer to any of {pluralise(len(outputs), 'case')}: {message}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseSelection:
    """The cases that are executed, among all that were made."""

    cases: GeneratedCases
    tests: TestSet
    rows: Integers  # the row of each among all cases
    ancestors: Mask  # which are there only because others were made from them
    removed: Mask  # which a filter removed, but others were made from them


def _apply_filters(system: TestSystem, cases: GeneratedCases, options: ChainOptions, notes: list[str]) -> CaseSelection:
    """Select the drawn cases that all filters let pass, and their ancestors, which are needed to check them."""
    tests = cases.tests
    keep = np.ones(len(tests), dtype=bool)
    if options.filters:
        selection = tests
        for name in options.filters:
            morphism = system.find("set_filter", name)
            selection = morphism.evaluate_set(selection)
            if (tests.rows_of(selection.ids) < 0).any():
                morphism.fail("returned cases that it was not given. A filter of a combination selects cases.")
        keep = np.zeros(len(tests), dtype=bool)
        keep[tests.rows_of(selection.ids)] = True
        notes.append(f"{pluralise(int((~keep).sum()), 'case')} removed by filters: {', '.join(options.filters)}.")
    is_wanted = keep & cases.drawn
    rows = np.flatnonzero(mark_ancestors(tests, np.flatnonzero(is_wanted)))
    is_seed = rows < cases.seed_count
    return CaseSelection(
        cases=cases,
        tests=tests if len(rows) == len(tests) else tests.take(rows),
        rows=rows,
        ancestors=~is_wanted[rows] & ~(is_seed & keep[rows]),
        removed=~keep[rows],
    )


# -- executing and judging ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgement:
    """Executed cases, the verdicts on them, and the shortest chains of violations."""

    tests: TestSet
    derivations: Derivations
    verdicts: dict[str, Verdicts] = field(default_factory=dict)  # one per case
    checks: dict[str, Verdicts] = field(default_factory=dict)  # one per derivation
    shortened: dict[tuple[str, int], ShortenedChain] = field(default_factory=dict)
    unfinished: tuple[str, ...] = ()  # what could not be done

    @property
    def notes(self) -> list[str]:
        """What is unfinished, as sentences."""
        return [f"{text} were not executed." for text in self.unfinished]


def _execute_and_judge(plan: CombinationPlan, selection: CaseSelection, options: ChainOptions) -> Flow[Judgement]:
    """Execute the cases, check the metamorphisms, and shorten the chains of violations."""
    parts: list[Outputs] = []
    tests, done, unfinished = selection.tests, 0, list[str]()
    # No two cases are equal, so only the search for shortest chains finds them in the cache.
    is_large = len(tests) > MAX_CACHED_CASES
    max_rows = MAX_CASES_PER_QUERY if options.limits.seconds is None else MAX_CASES_PER_TIMED_QUERY
    max_runs = options.limits.runs or len(tests)
    try:
        while done < len(tests):
            # with a budget of runs, as many as it allows; one more ends the flow
            batch = tests.inputs.take(slice(done, done + max(1, min(max_rows, max_runs - done))))
            progress = done / len(tests)
            parts.append((yield Query(batch, progress=progress, note="executing test cases", fresh=is_large)))
            done += len(batch)
    except OutOfBudget:
        unfinished.append(f"{len(tests) - done:,} of {pluralise(len(tests), 'case')}")
    tests = tests.with_outputs(Outputs.concat([*parts, make_missing_outputs(len(tests) - done)]))
    derivations = _list_derivations(selection)
    verdicts = _check_derivations(plan, tests, derivations, selection.removed)
    merged_verdicts = {name: _merge_verdicts(column, derivations, len(tests)) for name, column in verdicts.items()}
    if plan.system.metamorphisms:
        tests = tests.with_correctness(judge_verdicts(merged_verdicts, len(tests)))
    shortened, failures = _list_failures(plan.system, selection.cases, derivations, verdicts)
    if failures and not unfinished:
        arguments = selection.cases.tests if plan.arguments == "cases" else plan.seeds
        executor = ChainExecutor(plan.system, arguments, plan.datamorphisms, options.seed)
        chains = yield from shorten_chains(executor, list(failures.values()))
        shortened |= dict(zip(failures, chains, strict=True))
    return Judgement(
        tests=tests,
        derivations=derivations,
        verdicts=merged_verdicts,
        checks=verdicts,
        shortened=shortened,
        unfinished=tuple(unfinished),
    )


def _list_derivations(selection: CaseSelection) -> Derivations:
    """Return how each case was made, then all further ways to make selected cases from selected cases."""
    cases, rows, removed = selection.cases, selection.rows, selection.removed
    places = np.full(len(cases.tests), -1, dtype=np.int64)
    places[rows] = np.arange(len(rows))
    repeats, states = cases.repeats, cases.states
    stays = places[states.cases[repeats]] >= 0
    stays[stays] = ~removed[places[states.cases[repeats[stays]]]]
    partners = states.partners[repeats]
    stays &= (places[states.cases[states.parents[repeats]]] >= 0) & ((partners < 0) | (places[partners] >= 0)).all(
        axis=1
    )
    repeats = repeats[stays]
    numbers = np.concatenate([cases.state_of_case[rows], repeats])
    parents, partners = states.parents[numbers], states.partners[numbers]
    return Derivations(
        states=numbers,
        steps=states.steps[numbers].astype(np.int64),
        rows=np.concatenate([np.arange(len(rows)), places[states.cases[repeats]]]),
        origin_rows=np.column_stack(
            [np.where(parents >= 0, places[states.cases[parents]], -1), np.where(partners >= 0, places[partners], -1)]
        ),
    )


def _check_derivations(
    plan: CombinationPlan, tests: TestSet, derivations: Derivations, removed: Mask
) -> dict[str, Verdicts]:
    """Return the verdicts of all metamorphisms on all ways in which cases were made."""
    repeats = slice(len(tests), None)
    checked_tests = tests
    if len(derivations.rows) > len(tests):
        origin_rows = derivations.origin_rows[repeats]
        origins = np.full((len(origin_rows), tests.origins.shape[1]), NO_ORIGIN, dtype=np.int64)
        origins[:, : origin_rows.shape[1]] = np.where(origin_rows >= 0, tests.ids[origin_rows], NO_ORIGIN)
        steps = derivations.steps[repeats]
        repeated_tests = replace(
            tests.take(derivations.rows[repeats]),
            ids=tests.next_id + np.arange(len(origins), dtype=np.int64),
            kinds=np.full(len(origins), CaseKind.MUTANT, dtype=np.int8),
            made_by=(steps + len(plan.seeds.morphisms)).astype(np.int32),
            origins=origins,
        )
        checked_tests = TestSet.concat([tests, repeated_tests])
    verdicts = plan.system.check(checked_tests)
    for name, column in verdicts.items():
        column[: len(tests)][removed] = Verdict.INAPPLICABLE  # the user does not want them
        mark = plan.system.metamorphisms[name].mark
        if plan.system.metamorphisms[name].arity == 1 and mark.of is None:
            column[repeats] = Verdict.INAPPLICABLE  # it does not matter how the case was made
    return verdicts


def _merge_verdicts(verdicts: Verdicts, derivations: Derivations, count: int) -> Verdicts:
    """Return one verdict per case: violated if a way to make it violates, else that of a way that could be checked."""
    if len(verdicts) == count:
        return verdicts
    order = [Verdict.INAPPLICABLE, Verdict.UNDEFINED, Verdict.HOLDS, Verdict.VIOLATED]
    ranks = sum((verdicts == verdict).astype(np.int8) * rank for rank, verdict in enumerate(order))
    merged = np.zeros(count, dtype=np.int8)
    np.maximum.at(merged, derivations.rows, ranks)
    return np.array(order, dtype=object)[merged]


def _list_failures(
    system: TestSystem, cases: GeneratedCases, derivations: Derivations, verdicts: dict[str, Verdicts]
) -> tuple[dict[tuple[str, int], ShortenedChain], dict[tuple[str, int], ChainFailure]]:
    """Return the violations that the seed case alone causes, and those whose chains can be shortened.

    Both are dicts by metamorphism and number of the derivation. The second has at most `MAX_SHORTENED_PER_METAMORPHISM`
    per metamorphism, and only chains of several datamorphisms.
    """
    seed_violations: dict[tuple[str, int], ShortenedChain] = {}
    failures: dict[tuple[str, int], ChainFailure] = {}
    for name, verdict_column in verdicts.items():
        is_violated = verdict_column == Verdict.VIOLATED
        violated = np.flatnonzero(is_violated)
        if not violated.size:
            continue
        chains = cases.read_chains(derivations.states[violated])
        seeds = np.array([seed for seed, _ in chains])
        is_by_seed = np.zeros(len(seeds), dtype=bool)
        if system.metamorphisms[name].arity == 1:
            # the derivations of seed cases come first, and the seed case of a selected case is selected too
            seed_rows = derivations.states[derivations.states < cases.seed_count]
            is_by_seed = is_violated[np.searchsorted(seed_rows, seeds)]
        for number in violated[is_by_seed].tolist():
            seed_violations[name, number] = ShortenedChain(chain=(), is_searched=True)
        lengths = np.array([len(chain) for _, chain in chains])
        places = np.flatnonzero((lengths > 1) & ~is_by_seed)
        spread = np.linspace(0, len(places) - 1, min(len(places), MAX_SHORTENED_PER_METAMORPHISM)).astype(int)
        for place in places[spread].tolist():
            seed, chain = chains[place]
            failures[name, int(violated[place])] = ChainFailure(metamorphism=name, seed=seed, chain=chain)
    return seed_violations, failures
