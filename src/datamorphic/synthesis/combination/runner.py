"""Run a combination: make the cases, execute them, check the metamorphisms, and shorten the chains of violations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..._clock import read_clock
from ..._estimates import WorkPace, refuse_many_rows, refuse_too_large
from ..._text import pluralize
from ..._typing import DataLike
from ..._validation import is_number, validate_integer
from ...errors import ArgumentError, OutOfBudget, SystemFailed, TestSystemError
from ...morphisms.case_columns import make_missing_outputs
from ...morphisms.cases import NO_ORIGIN, CaseKind, TestSet, Verdict
from ...morphisms.morphism import Morphism
from ...morphisms.subject import DEFAULT_SEED_CASES
from ...morphisms.system import TestSystem, judge_verdicts
from ...runs.driver import CallCounter, drive
from ...runs.engine_base import Engine
from ...runs.flow import Flow, Query
from ...runs.progress import Progress
from ...space.features import Mask
from ...space.outputs import Outputs
from .chains import ChainRule, Integers, draw_ranks, format_size, split_ranks
from .generation import CaseMaker, GeneratedCases, make_all_cases, make_drawn_cases, mark_ancestors
from .options import CombineOptions
from .result import CombinationResult, Derivations, Verdicts
from .shortening import ChainExecutor, ChainFailure, ShortenedChain, shorten_chains

if TYPE_CHECKING:
    from ...runs.session import Session

MAX_CASES_PER_QUERY = 50_000  # so that progress is shown between queries, and Ctrl-C keeps what was executed
MAX_CACHED_CASES = 200_000  # for more, a cache costs too much memory
MAX_SHORTENED_PER_METAMORPHISM = 1_000  # violations, evenly chosen
MAX_ARITY = 2
BYTES_PER_CASE = 60  # besides its values: its chain, its origins, and the table of known cases
PERMUTATION_RATIO = 50  # NumPy permutes all numbers if it draws more than one of so many
SUGGESTED_BUDGET = 10_000  # cases, in the message that there are too many
SUGGESTED_DIVISOR = 100  # of the number of cases, in the message that their execution takes too long


@dataclass(frozen=True, eq=False, kw_only=True)
class CombinationPlan:
    """What is combined: seed cases with different inputs, datamorphisms, and the chains of the strategy."""

    system: TestSystem
    seeds: TestSet
    datamorphisms: Sequence[Morphism]
    rule: ChainRule
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def size(self) -> int:
        """The number of new cases if all chains give different ones and no filter ends one."""
        return len(self.seeds) * self.rule.count


def plan_combination(
    system: TestSystem, seeds: DataLike | TestSet | int | None, data: DataLike | None, options: CombineOptions
) -> CombinationPlan:
    """Collect the seed cases and the datamorphisms, and count the chains."""
    notes: list[str] = []
    datamorphisms = _select_datamorphisms(system, options, notes)
    seed_cases = _collect_seeds(system, seeds, data, options)
    distinct_seeds = seed_cases.drop_duplicates()
    if len(distinct_seeds) < len(seed_cases):
        count = len(seed_cases) - len(distinct_seeds)
        notes.append(f"{pluralize(count, 'seed case')} left out, because an earlier one has the same input.")
    if not len(distinct_seeds):
        raise ArgumentError("There are no seed cases to start from. Give at least one.")
    for name in options.filters or ():
        system.find("set_filter", name)
    weights = [1 if morphism.arity == 1 else len(distinct_seeds) - 1 for morphism in datamorphisms]
    rule = options.make_rule(weights)
    return CombinationPlan(system=system, seeds=distinct_seeds, datamorphisms=datamorphisms, rule=rule, notes=notes)


def _select_datamorphisms(system: TestSystem, options: CombineOptions, notes: list[str]) -> list[Morphism]:
    """Return the named datamorphisms, or all, in declared order."""
    if not system.datamorphisms:
        raise TestSystemError(f"{system.name} has no datamorphism to combine. Mark a function with @datamorphism.")
    if options.datamorphisms is not None:
        names = {system.find("datamorphism", name).name for name in options.datamorphisms}
        morphisms = [morphism for name, morphism in system.datamorphisms.items() if name in names]
        for morphism in morphisms:
            if morphism.arity > MAX_ARITY:
                morphism.fail(f"takes {morphism.arity} cases. Datamorphisms of one or two cases can be combined.")
        return morphisms
    morphisms = [morphism for morphism in system.datamorphisms.values() if morphism.arity <= MAX_ARITY]
    if omitted := [name for name, morphism in system.datamorphisms.items() if morphism.arity > MAX_ARITY]:
        notes.append(f"Left out, because they take more than two cases: {', '.join(omitted)}.")
    if not morphisms:
        raise TestSystemError(f"{system.name} has no datamorphism of one or two cases, and others cannot be combined.")
    return morphisms


def _collect_seeds(
    system: TestSystem, seeds: DataLike | TestSet | int | None, data: DataLike | None, options: CombineOptions
) -> TestSet:
    rng = np.random.default_rng(options.seed)
    if isinstance(seeds, TestSet):
        if seeds.space.features != system.known_space().features:
            raise ArgumentError(
                f"The seed cases are of another space than that of {system.name}. Give cases of its space."
            )
        return seeds
    space = system.known_space()
    if seeds is None or is_number(seeds):
        count = None if seeds is None else validate_integer("seeds", options.OWNER, seeds, 1)
        if data is None or system.seed_makers:
            refuse_many_rows(options.OWNER, "seeds", count or 1, len(space))
        if system.seed_makers:
            made_seeds = system.make_seeds(n=count, seed=rng)
            return made_seeds if count is None else made_seeds.take(slice(0, count))
        if data is None:
            return TestSet.of_seeds(space.sample(count or DEFAULT_SEED_CASES, seed=rng, points=True), "sample")
        points = space.points(data)
        if count is not None and count < len(points):
            points = points.take(np.sort(rng.permutation(len(points))[:count]))
        return TestSet.of_seeds(points, "data")
    return TestSet.of_seeds(space.points(seeds), "data")


def validate_size(plan: CombinationPlan, options: CombineOptions) -> None:
    """Raise `ArgumentError` if there are more cases than the limit, and no budget."""
    if options.budget is None and plan.size > options.limit:
        raise ArgumentError(
            f"{options.strategy} of {pluralize(len(plan.datamorphisms), 'datamorphism')} on "
            f"{pluralize(len(plan.seeds), 'seed case')} makes up to {format_size(plan.size)} cases, more than the limit of "
            f"{options.limit:,}. To draw some at random, add {_suggest_budget(options.limit)}. Or "
            "give fewer seed cases or datamorphisms, or a higher limit."
        )
    case_count = plan.size if options.budget is None else min(plan.size, options.budget)
    permuted_count = min(plan.size, PERMUTATION_RATIO * case_count) if case_count < plan.size else 0
    numbers = {"limit": options.limit} if options.budget is None else {"budget": options.budget}
    memory = case_count * (BYTES_PER_CASE + 8.0 * len(plan.seeds.space)) + 8.0 * permuted_count
    refuse_too_large(options.OWNER, numbers, memory=memory)


def _suggest_budget(max_cases: int) -> str:
    budget = min(max_cases, SUGGESTED_BUDGET)
    return f"budget={budget} (--budget {budget} on the command line)"


def _make_pace(plan: CombinationPlan, options: CombineOptions, case_count: int) -> WorkPace:
    """Return the pace that refuses to execute `case_count` cases if that takes too long."""
    if options.budget is not None:
        return WorkPace(options.OWNER, {"budget": options.budget}, count_all_rows=lambda: case_count)
    remedy = f"draw some of the cases with {_suggest_budget(math.ceil(case_count / SUGGESTED_DIVISOR))}"
    return WorkPace(options.OWNER, {"seeds": len(plan.seeds)}, remedy=remedy, count_all_rows=lambda: case_count)


def run_combination(
    plan: CombinationPlan,
    options: CombineOptions,
    *,
    engine: Engine | None = None,
    progress: bool | None = None,
    session: Session | None = None,
) -> CombinationResult:
    """Combine, execute and check, and return the result. A `session` records the run."""
    validate_size(plan, options)
    system, start_time, notes = plan.system, read_clock(), list(plan.notes)
    is_sampled = options.budget is not None and options.budget < plan.size
    with Progress(system.name, progress) as display:
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
            progress=progress,
            timeout=options.timeout,
            engine=engine,
            journal=session.journal if session is not None else None,
            pace=pace,
            on_piece=pace.add_answers,
        )
        if not counter.interrupted:
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
    )


def _make_all(plan: CombinationPlan, options: CombineOptions, display: Progress) -> GeneratedCases:
    """Make the cases of all chains."""
    maker = CaseMaker(plan.system, plan.seeds, plan.datamorphisms, options.seed, expected=plan.size)
    return make_all_cases(maker, plan.rule, display.show)


def _make_drawn(plan: CombinationPlan, options: CombineOptions, display: Progress) -> GeneratedCases:
    """Draw as many chains as the budget allows, and make their cases."""
    assert options.budget is not None
    rng = np.random.default_rng(np.random.SeedSequence(options.seed, spawn_key=(0,)))
    seeds, ranks = split_ranks(draw_ranks(rng, plan.size, options.budget), plan.rule.count)
    steps, choices = plan.rule.unrank(ranks)
    maker = CaseMaker(plan.system, plan.seeds, plan.datamorphisms, options.seed, expected=int((steps >= 0).sum()))
    return make_drawn_cases(maker, seeds, steps, choices, display.show)


def _require_an_answer(system: TestSystem, tests: TestSet, counter: CallCounter) -> None:
    """Raise `SystemFailed` if no case has a valid output."""
    outputs = tests.outputs
    if outputs is not None and len(outputs) and not outputs.ok.any():
        message = counter.incidents["message"].iloc[0] if len(counter.incidents) else "no message"
        raise SystemFailed(f"{system.name} gave no answer to any of {pluralize(len(outputs), 'case')}: {message}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class CaseSelection:
    """The cases that are executed, among all that were made."""

    cases: GeneratedCases
    tests: TestSet
    rows: Integers  # the row of each among all cases
    ancestors: Mask  # which are there only because others were made from them
    removed: Mask  # which a filter removed, but others were made from them


def _apply_filters(
    system: TestSystem, cases: GeneratedCases, options: CombineOptions, notes: list[str]
) -> CaseSelection:
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
        notes.append(f"{pluralize(int((~keep).sum()), 'case')} removed by filters: {', '.join(options.filters)}.")
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
    notes: Sequence[str] = ()


def _execute_and_judge(plan: CombinationPlan, selection: CaseSelection, options: CombineOptions) -> Flow[Judgement]:
    """Execute the cases, check the metamorphisms, and shorten the chains of violations."""
    parts: list[Outputs] = []
    tests, done, notes, is_stopped = selection.tests, 0, list[str](), False
    # No two cases are equal, so only the search for shortest chains finds them in the cache.
    is_large = len(tests) > MAX_CACHED_CASES
    try:
        while done < len(tests):
            batch = tests.inputs.take(slice(done, done + MAX_CASES_PER_QUERY))
            progress = done / len(tests)
            parts.append((yield Query(batch, progress=progress, note="executing test cases", fresh=is_large)))
            done += len(batch)
    except OutOfBudget:
        is_stopped = True
        notes.append(f"{len(tests) - done:,} of {pluralize(len(tests), 'case')} were not executed.")
    tests = tests.with_outputs(Outputs.concat([*parts, make_missing_outputs(len(tests) - done)]))
    derivations = _list_derivations(selection)
    verdicts = _check_derivations(plan, tests, derivations, selection.removed)
    merged_verdicts = {name: _merge_verdicts(column, derivations, len(tests)) for name, column in verdicts.items()}
    if plan.system.metamorphisms:
        tests = tests.with_correctness(judge_verdicts(merged_verdicts, len(tests)))
    shortened, failures = _list_failures(plan.system, selection.cases, derivations, verdicts)
    if failures and not is_stopped:
        executor = ChainExecutor(plan.system, plan.seeds, plan.datamorphisms, options.seed)
        chains = yield from shorten_chains(executor, list(failures.values()))
        shortened |= dict(zip(failures, chains, strict=True))
    return Judgement(
        tests=tests,
        derivations=derivations,
        verdicts=merged_verdicts,
        checks=verdicts,
        shortened=shortened,
        notes=notes,
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
    stays &= (places[states.cases[states.parents[repeats]]] >= 0) & ((partners < 0) | (places[partners] >= 0))
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
        origins[:, :2] = np.where(origin_rows >= 0, tests.ids[origin_rows], NO_ORIGIN)
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
        seeds, steps, partners = cases.read_chains(derivations.states[violated])
        is_by_seed = np.zeros(len(seeds), dtype=bool)
        if system.metamorphisms[name].arity == 1:
            # the derivations of seed cases come first, and the seed case of a selected case is selected too
            seed_rows = derivations.states[derivations.states < cases.seed_count]
            is_by_seed = is_violated[np.searchsorted(seed_rows, seeds)]
        for number in violated[is_by_seed].tolist():
            seed_violations[name, number] = ShortenedChain(chain=(), is_searched=True)
        lengths = (steps >= 0).sum(axis=1)
        places = np.flatnonzero((lengths > 1) & ~is_by_seed)
        spread = np.linspace(0, len(places) - 1, min(len(places), MAX_SHORTENED_PER_METAMORPHISM)).astype(int)
        for place in places[spread].tolist():
            chain = tuple(zip(steps[place].tolist(), partners[place].tolist(), strict=True))[: lengths[place]]
            failures[name, int(violated[place])] = ChainFailure(metamorphism=name, seed=int(seeds[place]), chain=chain)
    return seed_violations, failures
