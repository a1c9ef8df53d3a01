"""``dm.mutate``: find out which faults of a program its relations would catch."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from .._clock import read_clock
from .._estimates import refuse_too_large
from .._text import pluralize
from .._typing import DataLike, FilePath, SupportsFit
from .._validation import check_types
from ..errors import ArgumentError, SystemFailed
from ..relations.base import MetamorphicRelation
from ..relations.learner.base import LearnerRelation
from ..relations.learner.sampling import MAX_TRAINING_ROWS, RANDOM_DATA
from ..relations.learner.waves import TrainingSource
from ..relations.registry import RelationsLike, resolve_relations
from ..runs.jobs import JobError, JobOutcome, JobSuccess, run_jobs
from ..runs.progress import Progress
from ..space.table_forms import accept_tables
from .cross_validation import CrossValidationRules
from .forge import make_mutants, read_program
from .options import DEFAULT_MEMORY_BYTES, LearnerFactory, MutateOptions
from .result import Mutation, classify_mutant
from .runner import MutationPlan, OriginalOutcome, study_mutant, study_original

TIMEOUT_FACTOR = 4.0  # a mutant may take this many times as long as the original
MIN_TIMEOUT_SECONDS = 10.0  # for a mutant, however quick the original is
ORIGINAL_TIMEOUT_SECONDS = 600.0
TIMED_CASES = {"inputs": 100, "compared": 200, "rival": 1}  # at most, to estimate the time of more
MIN_TIMED_FACTOR = 100  # time is estimated only for more than this many times the cases above


@accept_tables
@check_types
def mutate(
    program: ModuleType | FilePath,
    relations: RelationsLike = "auto",
    operators: str | Sequence[str] = "all",
    limit: int | None = None,
    seed: int = 0,
    *,
    learners: LearnerFactory | None = None,
    like: SupportsFit | None = None,
    data: DataLike | str = RANDOM_DATA,
    target: str | None = None,
    inputs: int = 300,
    compared: int = 1000,
    rows: int = MAX_TRAINING_ROWS,
    rival: int | None = None,
    workers: int = 1,
    timeout: float | None = None,
    memory: int = DEFAULT_MEMORY_BYTES,
    fresh: bool = False,
    progress: bool | None = None,
) -> Mutation:
    """Make mutants of a program and find out which of them its relations kill.

    Each mutant is the program with one place changed. It is imported from memory in a child process with limits of time
    and memory, so that one that hangs, crashes or needs too much memory does no harm and is reported. A mutant is killed
    when it violates a relation on an input on which the original satisfies it.

    Parameters
    ----------
    program : module or path
        The module, or its file ``*.py``. It either has a function ``learners()`` that returns the learners to test by
        name, or a single class with ``fit`` and ``predict``. For relations that are not about training, models and functions
        are tested, too: by name, or the single public function of the module.
    relations : "auto", str, relation, or a sequence of these
        The relations that count. By default all that every correct implementation satisfies: those of the estimator that a
        learner says it is `like`. For a relation that is not about training, a learner is fitted to the data first.
    operators : "all" or sequence of str
        The mutation operators: AOR, ROR, COR, SOR, LOR, ASR, CRP, RSR.
    limit, seed : int
        The number of mutants to try, drawn at random (all by default), and the seed.
    learners : callable, optional
        Makes the learners, models or functions to test from the module, by name.
    like : estimator, optional
        An estimator of scikit-learn whose necessary relations the learners must satisfy, unless they name one themselves.
    data : "random", or DataFrame
        The random data of Xie et al. (2011), or rows of your own, with labels in the column `target`.
    inputs, compared : int
        The number of inputs on which relations are checked, and on which labels are compared with the original's.
    rows : int
        The maximum number of rows of a random training set; with `data`, the minimum number.
    rival : int, optional
        Cross-validate each mutant, too, on this many simulated data sets of each of three kinds.
    workers : int
        The number of child processes.
    timeout : float, optional
        Seconds that a mutant may take; by default 4 times what the original takes, and at least 10.
    memory : int
        Bytes that a mutant may add to its process.
    fresh : bool
        Whether each mutant gets a process of its own. That is slower, but a mutant that changes a shared library then
        affects no other mutant.
    progress : bool, optional
        Whether to show progress on stderr; by default if stderr is a terminal.

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
    options = MutateOptions(
        relations=relations,
        operators=operators,
        limit=limit,
        seed=seed,
        learners=learners,
        like=like,
        data=data,
        target=target,
        inputs=inputs,
        compared=compared,
        rows=rows,
        rival=rival,
        workers=workers,
        timeout=timeout,
        memory=memory,
        fresh=fresh,
        progress=progress,
    )
    return run_mutation(program, options)


def run_mutation(program: ModuleType | FilePath, options: MutateOptions) -> Mutation:
    """Run a mutation analysis with validated options."""
    began = read_clock()
    source = read_program(program)
    mutants = make_mutants(source.text, options.operators, limit=options.limit, seed=options.seed, name=source.name)
    if not mutants:
        raise ArgumentError(
            f"The operators {options.operators!r} find no place to change in {source.name}. Use others."
        )
    rules = None if options.rival is None else CrossValidationRules(options.rival, options.seed)
    relations = None
    if not isinstance(options.relations, str) or options.relations != "auto":
        relations = resolve_relations(options.relations, "relations", "mutate", "'auto', ")
    plan = MutationPlan(
        program=source,
        inputs=_make_source(options, relations),
        relations=relations,
        data=options.data,
        target=options.target,
        rows=options.rows,
        learners=options.learners,
        like=options.like,
        compared_inputs=options.compared,
        rules=rules,
    )
    with Progress(source.name, options.progress) as display:
        display.show("the original", 0.0)
        distinct_mutants = [mutant for mutant in mutants if not mutant.same_as]
        _refuse_many_cases(plan, options, len(distinct_mutants))
        start = read_clock()
        original = _study_original(plan, options.timeout)
        max_seconds = options.timeout or max(MIN_TIMEOUT_SECONDS, TIMEOUT_FACTOR * (read_clock() - start))
        total, done_counts = len(distinct_mutants), itertools.count(1)

        def show_progress(number: int, job: JobOutcome) -> None:
            done = next(done_counts)
            display.show(f"{done:,} of {pluralize(total, 'mutant')}", done / total)

        jobs = run_jobs(
            study_mutant,
            ((plan, original, mutant.source) for mutant in distinct_mutants),
            workers=options.workers,
            seconds=max_seconds,
            memory=options.memory,
            output="nothing",
            fresh=options.fresh,
            progress=show_progress,
        )
    jobs_by_id = dict(zip((mutant.id for mutant in distinct_mutants), jobs, strict=True))
    return Mutation(
        program=source.name,
        results=[classify_mutant(mutant, jobs_by_id.get(mutant.id), original) for mutant in mutants],
        original=original,
        inputs=options.inputs,
        compared=options.compared,
        rules=rules,
        seed=options.seed,
        seconds=read_clock() - began,
    )


def _make_source(options: MutateOptions, relations: Sequence[MetamorphicRelation] | None) -> TrainingSource:
    """Return the source of training sets with labels; of random ones if no relation needs those of the user."""
    needs_labels = relations is None or any(
        isinstance(relation, LearnerRelation) and relation.labelled for relation in relations
    )
    data = options.data if needs_labels else RANDOM_DATA
    return TrainingSource.of(data, options.target, options.rows, options.inputs, options.seed)


def _refuse_many_cases(plan: MutationPlan, options: MutateOptions, mutants: int) -> None:
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
        _study_original(part, options.timeout)
        return read_clock() - start

    start_seconds = time_original(max(numbers.values()))  # of a child process, with a single case
    seconds = max(0.0, time_original(factor) - start_seconds) * factor
    large_numbers = {name: number for name, number in numbers.items() if number > MIN_TIMED_FACTOR * TIMED_CASES[name]}
    refuse_too_large("mutate", large_numbers, seconds=seconds * mutants / options.workers)


def _study_original(plan: MutationPlan, timeout: float | None) -> OriginalOutcome:
    """Return the behaviour of the original, observed in a child process."""
    name, seconds = plan.program.name, max(ORIGINAL_TIMEOUT_SECONDS, timeout or 0.0)
    (job,) = run_jobs(study_original, [plan], seconds=seconds, output="nothing")
    if not isinstance(job, JobSuccess):
        reason = job.message if isinstance(job, JobError) else job.state
        raise SystemFailed(f"The original program {name} cannot be tested: {reason}.")
    original: OriginalOutcome = job.value
    if not any(original.relations.values()):
        raise ArgumentError(
            f"It is unknown which relations the learners of {name} must satisfy. Name the estimator whose algorithm they "
            "implement (like=, or an attribute `like`), or the relations that must hold."
        )
    return original
