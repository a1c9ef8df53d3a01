"""`hunt` and `generate`: find violations of relations with few groups; make groups."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._text import pluralize, suggest_name
from .._validation import reject, validate_integer
from ..errors import ArgumentError, Interrupted
from ..relations.base import Relation
from ..relations.function import FunctionRelation
from ..runs.interrupts import Interrupts
from ..runs.progress import Progress
from ..systems.base import Executor
from .function_runner import FunctionRunner
from .generator_base import GroupBatch
from .generators import make_generator as make_generator
from .loop import HuntTrial, Proposer, RoundRobin, ViolatingGroup, run_trial
from .result import Hunt
from .selectors import make_selector
from .system_runner import drive_hunt, query_once, resolve_system, to_function_relation, validate_columns


def hunt(
    sut: Any,
    relations: Any = None,
    generator: Any = None,
    selector: Any = None,
    budget: int = 100_000,
    trials: int = 1,
    seed: int = 0,
    *,
    stop_after: int | None = 1,
    k: int | None = None,
    data: Any = None,
    space: Any = None,
    target: str | None = None,
    batch: int | None = None,
    engine: Any = None,
    timeout: float | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Hunt:
    """Hunt for groups that violate relations, with as few tries as possible.

    Parameters
    ----------
    sut : callable, program, model or system
        A function, called with one array for each input; a program of `dm.programs` or one of its mutants; a model with
        ``predict``, a path of one, or a system as `dm.wrap` gives it, whose inputs are those of a space.
    relations : FunctionRelation, Relation, name, or several
        What must hold. For a program, names of its relations; without any, all of them. With a selector they are put to
        the whole domain of the program.
    generator : str, optional
        Who chooses the next group: see `dm.generate`. By default ``"SFIDMT-ART"``; for relations about rows of a frame
        ``"MD-ART"``, which looks at sources only, since making follow-ups of all candidates takes long there.
    selector : str, optional
        Who chooses among several relations, e.g. ``"MRGS-ART"``. Without one, relations take turns, each with a generator
        of its own.
    budget : int
        Groups after which a trial ends.
    trials : int
        How often it is done, with fresh random numbers.
    seed : int
        Where randomness starts.
    stop_after : int, optional
        How many violations end a trial; None to collect all within the budget.
    k : int, optional
        How many candidates there are for each group.
    data, space, target
        For models: rows or a space that tell which inputs there are; the label's column, which is none.
    batch : int, optional
        How many groups are executed at once at most. Groups after the one that ends a trial do not count. Selectors that
        learn are told batch by batch, so they choose otherwise with another size.
    engine, timeout
        For models: who computes, and seconds a batch may take.
    progress : bool, optional
        Whether to show progress on stderr; by default if that is a terminal.
    **options
        For the generator or the selector.

    Returns
    -------
    Hunt
        With `f_measures`, `violations`, `groups`, `table`, `describe()`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> tanh = dm.programs["tanh"]
    >>> found = dm.hunt(tanh.mutants["emu10"], "tripling", trials=20, seed=1)
    >>> len(found.f_measures), found.violated
    (20, 20)
    >>> dm.hunt(tanh, "tripling", budget=1000).found
    False
    """
    validate_integer("budget", "hunt", budget, 1)
    validate_integer("trials", "hunt", trials, 1)
    validate_integer("seed", "hunt", seed)
    if stop_after is not None:
        validate_integer("stop_after", "hunt", stop_after, 1)
    if batch is not None:
        validate_integer("batch", "hunt", batch, 1)
    is_system = isinstance(sut, Executor | str) or hasattr(sut, "predict") or space is not None or data is not None
    if not is_system:
        for option, value in (("engine", engine), ("timeout", timeout), ("target", target)):
            if value is not None:
                raise ArgumentError(
                    f"{option} is for systems whose inputs are those of a space; {_get_name(sut)} is a plain function, asked "
                    "in this process. Give it a space (space=...), or wrap it: dm.wrap(function, space=..., timeout=...)."
                )
    executor, known_space = resolve_system(sut, data, space, target) if is_system else (None, None)
    chosen_relations = _resolve_relations(sut, relations, known_space, selector is not None)
    if k is not None:
        options["k"] = k
    if generator is None:
        generator = (
            "MD-ART"
            if known_space is not None and not all(relation.affine for relation in chosen_relations)
            else "SFIDMT-ART"
        )
    proposer = _make_proposer(chosen_relations, generator, selector, known_space is not None, options)
    runner = FunctionRunner(sut, getattr(sut, "name", None)) if executor is None else None
    start_time = time.perf_counter()
    trial_records: list[HuntTrial] = []
    violations: list[ViolatingGroup] = []
    interrupted = False
    name = runner.name if runner is not None else executor.name  # type: ignore[union-attr]
    with Interrupts() as interrupts, Progress(f"hunting {name}", progress) as display:
        for number in range(trials):
            record = HuntTrial()
            calls_before = 0 if runner is None else runner.calls
            trial_records.append(record)
            trial_proposer = proposer.clone(np.random.default_rng([seed, number]))
            steps = run_trial(
                trial_proposer, trial_proposer.relations, number, budget, stop_after, batch, violations, record
            )
            try:
                if executor is not None and known_space is not None:
                    _set_answerer(
                        trial_proposer, lambda parts: [query_once(executor, known_space, part) for part in parts]
                    )
                    record.calls = drive_hunt(
                        steps, executor, known_space, engine=engine, timeout=timeout, progress=False
                    )
                else:
                    assert runner is not None
                    _set_answerer(trial_proposer, lambda parts: [runner(part)[0] for part in parts])
                    query = next(steps)
                    while True:
                        if interrupts.stopped:
                            raise Interrupted("interrupted")
                        display.show(
                            f"trial {number + 1:,} of {trials:,}, {record.groups:,} groups",
                            (number + query.progress) / trials,
                        )
                        query = steps.send(runner(query.inputs))
            except StopIteration:
                pass
            except (Interrupted, KeyboardInterrupt):  # nothing found is lost
                interrupted = True
                break
            finally:
                if runner is not None:
                    record.calls = runner.calls - calls_before
            display.show(f"trial {number + 1:,} of {trials:,}", (number + 1) / trials)
    columns = (
        tuple(known_space.names) if known_space is not None else _name_columns(sut, trial_proposer.relations[0])
    )
    result = Hunt(
        name, proposer.name, trial_proposer.relations, trial_records, violations, columns, budget, seed, time.perf_counter() - start_time,
        0 if runner is None else runner.failures, interrupted=interrupted,
    )  # fmt: skip
    object.__setattr__(result, "notes", tuple(_build_notes(result, runner)))
    return result


def _get_name(sut: Any) -> str:
    return str(getattr(sut, "name", None) or getattr(sut, "__name__", None) or type(sut).__name__)


def _set_answerer(proposer: Proposer, answer: Any) -> None:
    """Say who answers to sources, where follow-ups depend on that."""
    if isinstance(proposer, RoundRobin):
        for generator in proposer.generators:
            generator.answer_with(answer)


def _resolve_relations(sut: Any, relations: Any, space: Any, has_selector: bool) -> list[FunctionRelation]:
    """Return the relations by objects or names; those of a program on one source domain where a selector chooses."""
    own_relations: Mapping[str, FunctionRelation] = getattr(sut, "relations", None) or {}
    shared_relations = sut.shared() if has_selector and own_relations and hasattr(sut, "shared") else {}
    if relations is None:
        if not own_relations:
            raise ArgumentError(
                "Say which relations must hold: hunt(function, relation). Make one with dm.FunctionRelation, or take those "
                "of a program of dm.programs."
            )
        relations = list(own_relations)
    items = relations if isinstance(relations, list | tuple | set | frozenset) else [relations]
    if isinstance(relations, Mapping):
        items = list(relations.values())
    resolved_relations: list[FunctionRelation] = []
    for item in items:
        if isinstance(item, str):
            if item not in own_relations:
                raise ArgumentError(
                    f"There is no relation {item!r} of {getattr(sut, 'name', 'this system')!r}. "
                    + (suggest_name(item, own_relations) if own_relations else "Give the relation itself.")
                )
            item = own_relations[item]
            item = shared_relations.get(item.name, item)
        if isinstance(item, type) and issubclass(item, Relation):
            item = item()
        if isinstance(item, Relation):
            if space is None:
                raise ArgumentError(
                    f"The relation {item.name!r} is about models, whose inputs are those of a space. "
                    "Say which: data= or space=."
                )
            item = to_function_relation(item, space)
        if not isinstance(item, FunctionRelation):
            reject("relations", "hunt", "relations, or names of those of a program", item)
        resolved_relations.append(item if space is None else validate_columns(item, space))
    if not resolved_relations:
        reject("relations", "hunt", "at least one relation", relations)
    return resolved_relations


def _make_proposer(
    relations: Sequence[FunctionRelation], generator: Any, selector: Any, scaled: bool, options: dict[str, Any]
) -> Proposer:
    if selector is not None:
        output_dependent = [relation.name for relation in relations if relation.uses_outputs]
        if output_dependent:
            raise ArgumentError(
                f"A selector compares candidates before they are executed, and follow-ups of {output_dependent[0]!r} depend on "
                "answers. Leave the selector out: relations then take turns."
            )
        return make_selector(selector, relations, **options)
    return RoundRobin([make_generator(generator, relation, scaled=scaled, **options) for relation in relations])


def _name_columns(sut: Any, relation: FunctionRelation) -> tuple[str, ...]:
    width = relation.follow_domains()[0].dimension if relation.follow_ups else relation.domain[0].dimension
    return tuple("xyzuvw"[:width]) if width <= 6 else tuple(str(j) for j in range(width))


def _build_notes(result: Hunt, runner: FunctionRunner | None) -> list[str]:
    notes = []
    table = result.table
    judged_groups = int((table["holds"] + table["violated"]).sum())
    if result.groups and not judged_groups:
        undefined, inapplicable = int(table["undefined"].sum()), int(table["inapplicable"].sum())
        notes.append(
            f"No group could be judged: {pluralize(undefined, 'group')} without an answer that is a number, {inapplicable:,} to "
            "which the relation does not apply or whose follow-ups leave their declared domain."
        )
    if runner is not None and runner.failures:
        message = max(runner.messages, key=lambda text: runner.messages[text])
        notes.append(f"{pluralize(runner.failures, 'input')} had no answer. Most often: {message}")
    if result.interrupted:
        notes.append("It was interrupted: what was found until then is here.")
    return notes


def generate(
    relation: Any,
    generator: Any = "SFIDMT-ART",
    n: int = 1000,
    seed: int = 0,
    *,
    k: int | None = None,
    **options: Any,
) -> GroupBatch:
    """Make groups of a relation, without executing anything.

    Parameters
    ----------
    relation : FunctionRelation, Box or pairs of limits
        What groups are made of; a domain for single inputs.
    generator : str
        ``"MT-RT"`` (random), ``"SFIDMT-ART"``, ``"MT-ART-Min"``, ``"MT-BART"``, ``"MT-IPART"``, ``"MT-RPART"``,
        ``"SFIDMT-BART"``; of sources only ``"FSCS-ART"``, ``"RRT"``, ``"RPART"``, ``"BART"``, ``"IPART"``, ``"Sobol"``,
        ``"Halton"``.
    n : int
        How many groups.
    seed : int
        Where randomness starts.
    k : int, optional
        How many candidates there are for each group.
    **options
        For the generator.

    Returns
    -------
    Groups
        Arrays `sources` and `follow_ups`, a row a group.

    Examples
    --------
    >>> import datamorphic as dm
    >>> groups = dm.generate(dm.programs["tanh"].relations["tripling"], "MT-BART", n=100)
    >>> groups.sources.shape, groups.follow_ups.shape
    ((100, 1), (100, 1))
    """
    validate_integer("n", "generate", n, 1)
    validate_integer("seed", "generate", seed)
    if k is not None:
        options["k"] = k
    group_generator = make_generator(generator, relation, seed=seed, **options)
    if isinstance(group_generator.relation, FunctionRelation) and group_generator.relation.uses_outputs:
        raise ArgumentError(
            f"Follow-ups of the relation {group_generator.relation.name!r} depend on answers, and here nobody answers. Use dm.hunt."
        )
    return group_generator.propose(n)
