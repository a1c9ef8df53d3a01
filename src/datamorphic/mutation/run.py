"""``dm.mutate``: find out which faults of a program its relations would catch."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from .._clock import read_clock
from .._estimates import refuse_too_large
from .._text import pluralise
from ..core.capability import capability
from ..core.execute import Execution
from ..errors import ArgumentError, OutOfBudget
from ..runs.engines import ThreadEngine
from ..runs.flow import ask
from ..runs.jobs import JobOutcome
from ..runs.progress import Progress
from ..space.features import Integer
from ..space.outputs import Outputs
from ..space.points import Points
from ..space.space import Space
from .child import MutationPlan, OriginalOutcome
from .forge import SourceMutant, make_mutants
from .options import MIN_TIMEOUT_SECONDS, TIMEOUT_FACTOR, MutateOptions
from .processes import MutantSystem, observe_original, read_jobs
from .result import Mutation, classify_mutant

TIMED_CASES = {"inputs": 100, "compared": 200, "rival": 1}  # at most, to estimate the time of more
MIN_TIMED_FACTOR = 100  # time is estimated only for more than this many times the cases above


@capability(MutateOptions)
def mutate(options: MutateOptions, execution: Execution[MutationPlan]) -> Mutation:
    """Make mutants of a program and find out which of them its relations kill.

    Each mutant is the program with one place changed. It is imported from memory in a child process with limits of time
    and memory, so that one that hangs, crashes or needs too much memory does no harm and is reported. A mutant is killed
    when it violates a relation on an input on which the original satisfies it.

    Returns
    -------
    Mutation
        ``.score``, ``.mutants``, ``.survivors``, ``.relations``, ``.kills``, ``.describe()``, ``.to_html("mutants.html")``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from datamorphic.data import knn
    >>> mutation = dm.mutate(knn, operators=["ASR"], limit=1, inputs=5, compared=20)
    >>> mutation.mutants["state"].tolist()
    ['killed']
    """
    plan = execution.subject
    source = plan.program
    mutants = make_mutants(source.text, options.operators, limit=options.limit, seed=options.seed, name=source.name)
    if not mutants:
        raise ArgumentError(
            f"The operators {options.operators!r} find no place to change in {source.name}. Use others."
        )
    distinct_mutants = [mutant for mutant in mutants if not mutant.same_as]
    with Progress(source.name, options.progress) as display:
        display.show("the original", 0.0)
        _refuse_many_cases(plan, options, len(distinct_mutants) / execution.engine.workers)
        start = read_clock()
        original = observe_original(plan, options.timeout)
        original_seconds = read_clock() - start
        max_seconds = execution.recall(lambda: max(MIN_TIMEOUT_SECONDS, TIMEOUT_FACTOR * original_seconds))
        jobs = _run_mutants(options, execution, original, distinct_mutants, options.timeout or max_seconds, display)
    notes = []
    if len(jobs) < len(distinct_mutants):
        question = f"{len(distinct_mutants) - len(jobs):,} of {pluralise(len(distinct_mutants), 'mutant')}"
        execution.unfinished.append(question)
        notes.append(f"Not tried: {question}. The budget was spent.")
    return Mutation(
        program=source.name,
        results=[
            classify_mutant(mutant, jobs.get(mutant.id), original)
            for mutant in mutants
            if mutant.same_as or mutant.id in jobs
        ],
        original=original,
        inputs=options.inputs,
        compared=options.compared,
        rules=plan.rules,
        seed=options.seed,
        seconds=execution.seconds,
        notes=notes,
        unfinished=tuple(execution.unfinished),
        interrupted=execution.counter.interrupted,
    )


def _run_mutants(
    options: MutateOptions,
    execution: Execution[MutationPlan],
    original: OriginalOutcome,
    mutants: list[SourceMutant],
    max_seconds: float,
    display: Progress,
) -> dict[str, JobOutcome]:
    """Return the outcomes of mutants by their ids, of those that were tried before the budget was spent."""
    jobs: dict[str, JobOutcome] = {}
    max_count = min(len(mutants), options.limits.runs or len(mutants))

    def note_mutant(number: int, outputs: Outputs) -> None:
        [jobs[mutants[number].id]] = read_jobs(outputs)
        display.show(f"{len(jobs):,} of {pluralise(len(mutants), 'mutant')}", len(jobs) / len(mutants))
        if execution.journal is not None:
            execution.journal.note_progress(done=len(jobs) / len(mutants), runs=len(jobs), calls=len(jobs))

    space = Space([Integer("mutant", 0, len(mutants))])
    limits = {"seconds": max_seconds, "memory": options.memory, "fresh": options.fresh}
    with MutantSystem(execution.subject, original, mutants, **limits) as system, suppress(OutOfBudget):
        execution.drive(
            ask(Points(space, np.arange(max_count, dtype=np.float64)[:, None])),
            system,
            # every mutant has a child process anyway
            engine=ThreadEngine(execution.engine.workers) if execution.is_isolated else execution.engine,
            timeout=None,
            batch=1,
            cache=None,
            recheck=0,
            alive=True,
            progress=False,
            on_piece=note_mutant,
        )
    return jobs


def _refuse_many_cases(plan: MutationPlan, options: MutateOptions, mutants: float) -> None:
    """Raise `ArgumentError` if so many cases per mutant take too long, timed with the original on a part of them."""
    numbers = {name: getattr(options, name) or 0 for name in TIMED_CASES}
    factor = max(numbers[name] / cases for name, cases in TIMED_CASES.items())
    if factor <= MIN_TIMED_FACTOR:
        return

    def time_original(divisor: float) -> float:
        inputs, compared, rival = (max(1, int(number / divisor)) for number in numbers.values())
        rules = None if plan.rules is None else replace(plan.rules, sets=rival)
        start = read_clock()
        part = replace(plan, inputs=replace(plan.inputs, count=inputs), compared_inputs=compared, rules=rules)
        observe_original(part, options.timeout)
        return read_clock() - start

    start_seconds = time_original(max(numbers.values()))  # of a child process, with a single case
    seconds = max(0.0, time_original(factor) - start_seconds) * factor
    large_numbers = {name: number for name, number in numbers.items() if number > MIN_TIMED_FACTOR * TIMED_CASES[name]}
    refuse_too_large("mutate", large_numbers, seconds=seconds * mutants)
