"""``dm.mutate``: would the relations catch a bug? Mutants of a program, and who kills them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._text import pluralize, suggest_name
from .._validation import reject, validate_integer, validate_positive
from ..errors import ArgumentError, SystemFailed
from ..relations.check.api import validate_like
from ..relations.learner.base import LearnerRelation
from ..relations.learner.sampling import MAX_TRAINING_ROWS, draw_random_training, make_data_sampler
from ..relations.learner.sklearn import LEARNER_RELATIONS
from ..relations.learner.waves import TrainingSource
from ..runs.jobs import JobSuccess, run_jobs
from ..runs.progress import Progress
from .cross_validation import CrossValidationRules
from .forge import make_mutants, read_program
from .result import Mutation, classify_mutant
from .runner import MutationPlan, study_mutant, study_original

TIMEOUT_FACTOR = 4.0  # a mutant may take so much longer than the original ...
MIN_TIMEOUT_SECONDS = 10.0  # ... and so many seconds at least
ORIGINAL_TIMEOUT_SECONDS = 600.0  # seconds for the original
DEFAULT_MEMORY_BYTES = 1 << 30  # bytes that a mutant may add
CASES_PER_TRAINING_SET = 20  # of one training set, where parts of real data are learnt


def mutate(
    program: Any,
    relations: Any = "auto",
    operators: str | Sequence[str] = "all",
    limit: int | None = None,
    seed: int = 0,
    *,
    learners: Callable[[Any], Mapping[str, Any]] | None = None,
    like: Any = None,
    data: Any = "random",
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
    """Make mutants of a program, put relations to each, and tell which are killed, which live, and why.

    One place of the program is changed at a time. Each mutant is imported from memory in a child process with limits of
    time and memory: one that hangs, dies or takes all memory does no harm and is reported. A mutant is killed when a
    relation is violated on an input on which the original keeps it.

    Parameters
    ----------
    program : module or path
        The module, or its file ``*.py``. It says what is to be tested by a function ``learners()`` that returns learners
        by name, or has a single class with ``fit`` and ``predict``.
    relations : "auto", str, LearnerRelation, or a sequence of these
        Those that count. By default all that every right implementation keeps: of whatever estimator a learner says it is
        `like`.
    operators : "all" or sequence of str
        What is changed: AOR, ROR, COR, SOR, LOR, ASR, CRP, RSR.
    limit : int, optional
        How many mutants to try, drawn at random; by default all.
    seed : int
        Where randomness starts.
    learners : callable, optional
        Makes the learners, by name, from the module.
    like : estimator, optional
        An estimator of scikit-learn whose promises the learners must keep, where they do not say so themselves.
    data : "random", or DataFrame
        The random data of the study, or rows of your own, with labels in the column `target`.
    inputs, compared : int
        On how many inputs relations are tried, and labels compared with those of the original.
    rows : int
        How many rows a random training set has at most; with `data`, how many it has at least.
    rival : int, optional
        Try cross-validation, too, on so many simulated data sets of each of three kinds.
    workers : int
        How many child processes.
    timeout : float, optional
        Seconds a mutant may take; by default 4 times what the original takes, 10 at least.
    memory : int
        Bytes a mutant may add to its process.
    fresh : bool
        Whether each mutant gets a process of its own: slower, but what one does to a library it shares reaches no other.
    progress : bool, optional
        Whether to show progress on stderr; by default if that is a terminal.

    Returns
    -------
    Mutation
        ``.score``, ``.mutants``, ``.survivors``, ``.relations``, ``.kills``, ``.describe()``, ``.to_html("mutants.html")``.

    Examples
    --------
    >>> import datamorphic as dm
    >>> from datamorphic.data import knn
    >>> mutation = dm.mutate(knn, operators=["ASR"], limit=2, inputs=20, compared=50)
    >>> mutation.mutants["state"].tolist()
    ['killed', 'killed']
    """
    began = time.monotonic()
    for name, value in {"inputs": inputs, "compared": compared, "rows": rows, "workers": workers}.items():
        validate_integer(name, "mutate", value, 1)
    validate_integer("memory", "mutate", memory, 1)
    if timeout is not None:
        validate_positive("timeout", "mutate", timeout)
    if like is not None:
        validate_like("mutate", like)
    module_source = read_program(program)
    mutants = make_mutants(module_source.text, operators, limit=limit, seed=seed, name=module_source.name)
    if not mutants:
        raise ArgumentError(
            f"There is nothing in {module_source.name} that these operators could change: {operators!r}."
        )
    is_random = isinstance(data, str) and data == "random"
    if isinstance(data, str) and not is_random:
        raise ArgumentError(f"The data are a frame, or 'random'. Got {data!r}.")
    training_source = TrainingSource(
        _make_sampler(data, target, rows, is_random),
        inputs,
        1 if is_random else CASES_PER_TRAINING_SET,
        validate_integer("seed", "mutate", seed),
    )
    rules = None if rival is None else CrossValidationRules(validate_integer("rival", "mutate", rival, 1), seed)
    plan = MutationPlan(
        module_source, training_source, _select_relations(relations), learners, like, compared, rules
    )
    with Progress(module_source.name, progress) as display:
        display.show("the original", 0.0)
        start = time.monotonic()
        (original_job,) = run_jobs(
            study_original, [plan], seconds=max(ORIGINAL_TIMEOUT_SECONDS, timeout or 0.0), output="nothing"
        )
        if not isinstance(original_job, JobSuccess):
            raise SystemFailed(
                f"{module_source.name} itself cannot be tested: {getattr(original_job, 'message', original_job.state)}."
            )
        original = original_job.value
        if not any(original.relations.values()):
            raise ArgumentError(
                f"Nobody has said what the learners of {module_source.name} must keep. Say whose algorithm they implement "
                "(like=, or an attribute `like`), or name the relations that must hold."
            )
        max_seconds = timeout or max(MIN_TIMEOUT_SECONDS, TIMEOUT_FACTOR * (time.monotonic() - start))
        mutants_to_run = [mutant for mutant in mutants if not mutant.same_as]
        done = 0

        def note(number: int, outcome: Any) -> None:
            nonlocal done
            done += 1
            display.show(f"{done:,} of {pluralize(len(mutants_to_run), 'mutant')}", done / len(mutants_to_run))

        outcomes = run_jobs(
            study_mutant, ((plan, original, mutant.source) for mutant in mutants_to_run), workers=workers, seconds=max_seconds,
            memory=memory, output="nothing", fresh=fresh, progress=note,
        )  # fmt: skip
    by_id = dict(zip((mutant.id for mutant in mutants_to_run), outcomes, strict=True))
    results = [classify_mutant(mutant, by_id.get(mutant.id), original) for mutant in mutants]
    return Mutation(
        program=module_source.name,
        tried=results,
        original=original,
        inputs=inputs,
        compared=compared,
        rules=rules,
        seed=seed,
        seconds=time.monotonic() - began,
    )


def _make_sampler(data: Any, target: str | None, rows: int, is_random: bool) -> Any:
    from functools import partial

    return partial(draw_random_training, max_rows=rows) if is_random else make_data_sampler(data, target, rows)


def _select_relations(relations: Any) -> list[LearnerRelation] | None:
    """Return the relations that were asked for; None for those that must hold."""
    if isinstance(relations, str) and relations == "auto":
        return None
    candidates = relations if isinstance(relations, list | tuple | set | frozenset) else [relations]
    learner_relations = []
    for relation in candidates:
        if isinstance(relation, str):
            if relation not in LEARNER_RELATIONS:
                raise ArgumentError(
                    f"There is no relation {relation!r}. {suggest_name(relation, LEARNER_RELATIONS)}"
                )
            relation = LEARNER_RELATIONS[relation]
        elif isinstance(relation, type) and issubclass(relation, LearnerRelation):
            relation = relation()
        if not isinstance(relation, LearnerRelation):
            reject(
                "relations",
                "mutate",
                "'auto', a relation of learners, the name of one, or several of these",
                relation,
            )
        learner_relations.append(relation)
    if not learner_relations:
        reject("relations", "mutate", "at least one relation", relations)
    return learner_relations
