"""``dm.mutate``: would the relations catch a bug? Mutants of a program, and who kills them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._checks import did_you_mean, plural, positive, reject, whole_number
from ..errors import ArgumentError, SystemFailed
from ..mutants.forge import mutants_of, read_program
from ..relations.drawing import ROWS, parts_of, random_training
from ..relations.examining import Inputs
from ..relations.further import LEARNER_RELATIONS
from ..relations.learners import LearnerRelation
from ..runs.jobs import Done, run_jobs
from ..runs.progress import Progress
from ..verdicts.killing import Plan, study_mutant, study_original
from ..verdicts.mutation import Mutation, tried_of
from ..verdicts.rival import Rules
from .check import known_like

LONGER = 4.0  # a mutant may take so much longer than the original ...
LEAST = 10.0  # ... and so many seconds at least
PATIENCE = 600.0  # seconds for the original
MEMORY = 1 << 30  # bytes that a mutant may add
CASES = 20  # of one training set, where parts of real data are learnt


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
    rows: int = ROWS,
    rival: int | None = None,
    workers: int = 1,
    timeout: float | None = None,
    memory: int = MEMORY,
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
        whole_number(name, "mutate", value, 1)
    whole_number("memory", "mutate", memory, 1)
    if timeout is not None:
        positive("timeout", "mutate", timeout)
    if like is not None:
        known_like("mutate", like)
    text = read_program(program)
    made = mutants_of(text.text, operators, limit=limit, seed=seed, name=text.name)
    if not made:
        raise ArgumentError(f"There is nothing in {text.name} that these operators could change: {operators!r}.")
    random = isinstance(data, str) and data == "random"
    if isinstance(data, str) and not random:
        raise ArgumentError(f"The data are a frame, or 'random'. Got {data!r}.")
    source = Inputs(
        _draw(data, target, rows, random), inputs, 1 if random else CASES, whole_number("seed", "mutate", seed)
    )
    rules = None if rival is None else Rules(whole_number("rival", "mutate", rival, 1), seed)
    plan = Plan(text, source, _relations(relations), learners, like, compared, rules)
    with Progress(text.name, progress) as shown:
        shown.show("the original", 0.0)
        start = time.monotonic()
        (own,) = run_jobs(study_original, [plan], seconds=max(PATIENCE, timeout or 0.0), output="nothing")
        if not isinstance(own, Done):
            raise SystemFailed(f"{text.name} itself cannot be tested: {getattr(own, 'message', own.state)}.")
        original = own.value
        if not any(original.relations.values()):
            raise ArgumentError(
                f"Nobody has said what the learners of {text.name} must keep. Say whose algorithm they implement "
                "(like=, or an attribute `like`), or name the relations that must hold."
            )
        longest = timeout or max(LEAST, LONGER * (time.monotonic() - start))
        to_try = [mutant for mutant in made if not mutant.same_as]
        done = 0

        def note(number: int, outcome: Any) -> None:
            nonlocal done
            done += 1
            shown.show(f"{done:,} of {plural(len(to_try), 'mutant')}", done / len(to_try))

        outcomes = run_jobs(
            study_mutant, ((plan, original, mutant.source) for mutant in to_try), workers=workers, seconds=longest,
            memory=memory, output="nothing", fresh=fresh, progress=note,
        )  # fmt: skip
    by_id = dict(zip((mutant.id for mutant in to_try), outcomes, strict=True))
    tried = [tried_of(mutant, by_id.get(mutant.id), original) for mutant in made]
    return Mutation(text.name, tried, original, inputs, compared, rules, seed, time.monotonic() - began)


def _draw(data: Any, target: str | None, rows: int, random: bool) -> Any:
    from functools import partial

    return partial(random_training, most=rows) if random else parts_of(data, target, rows)


def _relations(given: Any) -> list[LearnerRelation] | None:
    """Return the relations that were asked for; None for those that must hold."""
    if isinstance(given, str) and given == "auto":
        return None
    several = given if isinstance(given, list | tuple | set | frozenset) else [given]
    found = []
    for each in several:
        if isinstance(each, str):
            if each not in LEARNER_RELATIONS:
                raise ArgumentError(f"There is no relation {each!r}. {did_you_mean(each, LEARNER_RELATIONS)}")
            each = LEARNER_RELATIONS[each]
        elif isinstance(each, type) and issubclass(each, LearnerRelation):
            each = each()
        if not isinstance(each, LearnerRelation):
            reject(
                "relations", "mutate", "'auto', a relation of learners, the name of one, or several of these", each
            )
        found.append(each)
    if not found:
        reject("relations", "mutate", "at least one relation", given)
    return found
