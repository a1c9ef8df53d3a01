"""`hunt` and `generate`: find violations of relations with few groups; make groups."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._checks import did_you_mean, plural, reject, whole_number
from ..errors import ArgumentError, Interrupted
from ..groups.base import Groups
from ..groups.generators import make as make_generator
from ..groups.selectors import make_selector
from ..hunts.asking import Asked
from ..hunts.hunt import Hunt
from ..hunts.hunting import Proposing, Trial, Turns, Violation, hunting
from ..hunts.systems import asked_once, fitting, framed, hunted, space_of
from ..relations.base import Relation
from ..relations.numeric import FunctionRelation
from ..runs.interrupts import Interrupts
from ..runs.progress import Progress
from ..sut.base import Executor


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
    whole_number("budget", "hunt", budget, 1)
    whole_number("trials", "hunt", trials, 1)
    whole_number("seed", "hunt", seed)
    if stop_after is not None:
        whole_number("stop_after", "hunt", stop_after, 1)
    if batch is not None:
        whole_number("batch", "hunt", batch, 1)
    is_system = isinstance(sut, Executor | str) or hasattr(sut, "predict") or space is not None or data is not None
    if not is_system:
        for what, value in (("engine", engine), ("timeout", timeout), ("target", target)):
            if value is not None:
                raise ArgumentError(
                    f"{what} is for systems whose inputs are those of a space; {_called(sut)} is a plain function, asked "
                    "in this process. Give it a space (space=...), or wrap it: dm.wrap(function, space=..., timeout=...)."
                )
    executor, known_space = space_of(sut, data, space, target) if is_system else (None, None)
    chosen = _relations(sut, relations, known_space, selector is not None)
    if k is not None:
        options["k"] = k
    if generator is None:
        generator = (
            "MD-ART" if known_space is not None and not all(each.affine for each in chosen) else "SFIDMT-ART"
        )
    proposing = _proposing(chosen, generator, selector, known_space is not None, options)
    asked = Asked(sut, getattr(sut, "name", None)) if executor is None else None
    began = time.perf_counter()
    done: list[Trial] = []
    kept: list[Violation] = []
    interrupted = False
    name = asked.name if asked is not None else executor.name  # type: ignore[union-attr]
    with Interrupts() as interrupts, Progress(f"hunting {name}", progress) as shown:
        for number in range(trials):
            record = Trial()
            before = 0 if asked is None else asked.calls
            done.append(record)
            turn = proposing.again(np.random.default_rng([seed, number]))
            steps = hunting(turn, turn.relations, number, budget, stop_after, batch, kept, record)
            try:
                if executor is not None and known_space is not None:
                    _answer_with(turn, lambda parts: [asked_once(executor, known_space, each) for each in parts])
                    record.calls = hunted(
                        steps, executor, known_space, engine=engine, timeout=timeout, progress=False
                    )
                else:
                    assert asked is not None
                    _answer_with(turn, lambda parts: [asked(each)[0] for each in parts])
                    ask = next(steps)
                    while True:
                        if interrupts.stopped:
                            raise Interrupted("interrupted")
                        shown.show(
                            f"trial {number + 1:,} of {trials:,}, {record.groups:,} groups",
                            (number + ask.done) / trials,
                        )
                        ask = steps.send(asked(ask.inputs))
            except StopIteration:
                pass
            except (Interrupted, KeyboardInterrupt):  # nothing found is lost
                interrupted = True
                break
            finally:
                if asked is not None:
                    record.calls = asked.calls - before
            shown.show(f"trial {number + 1:,} of {trials:,}", (number + 1) / trials)
    columns = tuple(known_space.names) if known_space is not None else _columns(sut, turn.relations[0])
    found = Hunt(
        name, proposing.name, turn.relations, done, kept, columns, budget, seed, time.perf_counter() - began,
        0 if asked is None else asked.failed, interrupted=interrupted,
    )  # fmt: skip
    object.__setattr__(found, "notes", tuple(_notes(found, asked)))
    return found


def _called(sut: Any) -> str:
    return str(getattr(sut, "name", None) or getattr(sut, "__name__", None) or type(sut).__name__)


def _answer_with(turn: Proposing, answer: Any) -> None:
    """Say who answers to sources, where follow-ups depend on that."""
    if isinstance(turn, Turns):
        for each in turn.generators:
            each.answered_by(answer)


def _relations(sut: Any, given: Any, space: Any, selected: bool) -> list[FunctionRelation]:
    """Return the relations by objects or names; those of a program on one source domain where a selector chooses."""
    own: Mapping[str, FunctionRelation] = getattr(sut, "relations", None) or {}
    shared = sut.shared() if selected and own and hasattr(sut, "shared") else {}
    if given is None:
        if not own:
            raise ArgumentError(
                "Say which relations must hold: hunt(function, relation). Make one with dm.FunctionRelation, or take those "
                "of a program of dm.programs."
            )
        given = list(own)
    several = given if isinstance(given, list | tuple | set | frozenset) else [given]
    if isinstance(given, Mapping):
        several = list(given.values())
    chosen: list[FunctionRelation] = []
    for each in several:
        if isinstance(each, str):
            if each not in own:
                raise ArgumentError(
                    f"There is no relation {each!r} of {getattr(sut, 'name', 'this system')!r}. "
                    + (did_you_mean(each, own) if own else "Give the relation itself.")
                )
            each = own[each]
            each = shared.get(each.name, each)
        if isinstance(each, type) and issubclass(each, Relation):
            each = each()
        if isinstance(each, Relation):
            if space is None:
                raise ArgumentError(
                    f"The relation {each.name!r} is about models, whose inputs are those of a space. "
                    "Say which: data= or space=."
                )
            each = framed(each, space)
        if not isinstance(each, FunctionRelation):
            reject("relations", "hunt", "relations, or names of those of a program", each)
        chosen.append(each if space is None else fitting(each, space))
    if not chosen:
        reject("relations", "hunt", "at least one relation", given)
    return chosen


def _proposing(
    relations: Sequence[FunctionRelation], generator: Any, selector: Any, scaled: bool, options: dict[str, Any]
) -> Proposing:
    if selector is not None:
        depending = [relation.name for relation in relations if relation.uses_outputs]
        if depending:
            raise ArgumentError(
                f"A selector compares candidates before they are executed, and follow-ups of {depending[0]!r} depend on "
                "answers. Leave the selector out: relations then take turns."
            )
        return make_selector(selector, relations, **options)
    return Turns([make_generator(generator, relation, scaled=scaled, **options) for relation in relations])


def _columns(sut: Any, relation: FunctionRelation) -> tuple[str, ...]:
    width = relation.follow_domains()[0].dimension if relation.follow_ups else relation.domain[0].dimension
    return tuple("xyzuvw"[:width]) if width <= 6 else tuple(str(j) for j in range(width))


def _notes(found: Hunt, asked: Asked | None) -> list[str]:
    notes = []
    table = found.table
    judged = int((table["holds"] + table["violated"]).sum())
    if found.groups and not judged:
        undefined, beside = int(table["undefined"].sum()), int(table["inapplicable"].sum())
        notes.append(
            f"No group could be judged: {plural(undefined, 'group')} without an answer that is a number, {beside:,} to "
            "which the relation does not apply or whose follow-ups leave their declared domain."
        )
    if asked is not None and asked.failed:
        why = max(asked.messages, key=lambda text: asked.messages[text])
        notes.append(f"{plural(asked.failed, 'input')} had no answer. Most often: {why}")
    if found.interrupted:
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
) -> Groups:
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
    whole_number("n", "generate", n, 1)
    whole_number("seed", "generate", seed)
    if k is not None:
        options["k"] = k
    made = make_generator(generator, relation, seed=seed, **options)
    if isinstance(made.relation, FunctionRelation) and made.relation.uses_outputs:
        raise ArgumentError(
            f"Follow-ups of the relation {made.relation.name!r} depend on answers, and here nobody answers. Use dm.hunt."
        )
    return made.propose(n)
