"""The commands ``datamorphic hunt`` and ``datamorphic generate``."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import pluralize
from ..errors import SystemFailed, UsageError
from .console import (  # fmt: skip
    FINDINGS,
    STOPPED,
    Json,
    Seed,
    console,
    print_json,
    print_text,
    ready_to_write,
    tell_written,
    user_code,
    write_rows,
)
from .load import Data, Target, Timeout, Trust, load_data, load_object, load_system

if TYPE_CHECKING:
    import pandas as pd

    from ..relations.function import FunctionRelation

PROGRAM = "program:"

Candidates = Annotated[
    int | None, typer.Option("--k", help="How many candidates there are for each group.", min=1)
]
Page = Annotated[Path | None, typer.Option(help="Write the page to this file.")]


def hunt(
    hunted: Annotated[
        str,
        typer.Argument(
            metavar="SYSTEM",
            help="program:NAME, program:NAME/MUTANT, module:function; with --data a model file or module:object.",
            show_default=False,
        ),
    ],
    relations: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RELATIONS",
            help="What must hold: names of the program's relations (all by default), or module:object.",
            show_default=False,
        ),
    ] = None,
    generator: Annotated[
        str | None,
        typer.Option(
            help="Who chooses groups: SFIDMT-ART (default), MT-RT (random), MT-BART ...; of models MD-ART by default."
        ),
    ] = None,
    selector: Annotated[
        str | None,
        typer.Option(help="Who chooses among several relations, e.g. MRGS-ART; they take turns by default."),
    ] = None,
    budget: Annotated[int, typer.Option(help="Groups after which a trial ends.", min=1)] = 100_000,
    trials: Annotated[int, typer.Option(help="How often it is done, with fresh random numbers.", min=1)] = 1,
    stop_after: Annotated[str, typer.Option(help="Violations that end a trial; 0 or all to collect them.")] = "1",
    k: Candidates = None,
    data: Data = None,
    target: Target = None,
    trust: Trust = False,
    timeout: Timeout = None,
    html: Page = None,
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit XML file for CI.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Find violations of relations with as few tries as possible: groups of inputs are chosen, executed and judged.

    Exit code 1 if a relation is violated.

    Examples: datamorphic hunt program:tanh/emu10; datamorphic hunt program:sin Sin1 Sin2 --selector MRGS-ART --budget
    1000; datamorphic hunt program:tanh/branch3.1 tripling --generator MT-BART --trials 20 --html hunt.html
    """
    from ..hunting.api import hunt as run

    for file in (html, junit):
        if file is not None:
            ready_to_write(file)
    limit = _stop_after(stop_after)
    with user_code():
        system, name, own = _system(hunted, data, trust)
        chosen = _chosen(hunted, relations or [], own)
        if selector is not None and own is not None:
            shared = system.shared()  # a selector puts the same sources to all
            chosen = [shared.get(each.name, each) for each in chosen]
        found = run(
            system, chosen, generator, selector, budget, trials, seed, stop_after=limit,
            k=k, data=None if data is None else load_data(data), target=target, timeout=timeout,
        )  # fmt: skip
        if name is not None:
            found = replace(found, name=name)
        if found.failed >= found.calls > 0:
            raise SystemFailed(
                f"{found.name} answered none of {pluralize(found.failed, 'input')}. "
                f"The most frequent error: {found.failure_message}"
            )
        if html is not None:
            found.to_html(html, system=None if data is not None else system)
        if junit is not None:
            found.to_junit(junit)
    if as_json:
        print_json(found.document() | {"interrupted": found.interrupted})
    else:
        print_text(found.describe())
        tell_written(html, junit)
    if found.found:
        raise typer.Exit(FINDINGS)
    if found.interrupted:
        raise typer.Exit(STOPPED)


def _stop_after(text: str) -> int | None:
    if text == "all":
        return None
    try:
        return int(text) or None
    except ValueError:
        raise UsageError(f"--stop-after is a number of violations, or all. Got {text!r}.") from None


def _system(text: str, data: str | None, trust: bool) -> tuple[Any, str | None, Any]:
    """Return what is hunted, a name to tell it by, and the relations it has of its own."""
    if text.startswith(PROGRAM):
        if data is not None:
            raise UsageError("A program has its own inputs: leave --data out.")
        system, program, name = _program(text.removeprefix(PROGRAM))
        return system, name, program.relations
    system, options = load_system(text, None, trust)
    if isinstance(system, str):
        if data is None:
            raise UsageError(f"Which inputs does the model {text!r} have? Say it with --data FILE.")
        from ..systems.wrap import wrap

        return wrap(system, **options), None, None
    if not callable(system) and not hasattr(system, "predict"):
        raise UsageError(f"{text!r} is no function and no model, but {type(system).__name__}.")
    if hasattr(system, "predict") and data is None:
        raise UsageError(f"Which inputs does the model {text!r} have? Say it with --data FILE.")
    return system, None, None


def _program(text: str) -> tuple[Any, Any, str]:
    """Return a program or a mutant of it, the program, and what it is called."""
    from ..data.programs import programs

    name, slash, wanted = text.partition("/")
    program = programs[name]
    if not slash:
        return program, program, program.name
    mutant = program.mutants[wanted]
    return mutant, program, f"{program.name}/{mutant.id}"


def _chosen(hunted: str, words: list[str], own: Any) -> list[Any]:
    """Return the relations that words stand for; those of the program, or of the module of the function, by name."""
    if not words:
        if own is None:
            raise UsageError(
                "Say which relations must hold: datamorphic hunt SYSTEM module:relation. Make one with dm.FunctionRelation."
            )
        return list(own.values())
    chosen: list[Any] = []
    for word in words:
        if own is not None and ":" not in word:
            chosen.append(own[word])
            continue
        module, colon, _ = hunted.partition(":")
        if ":" not in word and not colon:
            raise UsageError(f"{word!r} is not understood. Write module:relation, as in my_tests:doubling.")
        found = load_object(word if ":" in word else f"{module}:{word}")
        if isinstance(found, dict):
            found = list(found.values())
        chosen += found if isinstance(found, list | tuple) else [found]
    return chosen


# -- groups without a system -------------------------------------------------------------------------------------------


def generate(
    of: Annotated[
        str | None,
        typer.Argument(metavar="RELATION", help="program:NAME/RELATION, or module:object.", show_default=False),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(metavar="LOW,HIGH", help="For single inputs, the limits of one of them; may be repeated."),
    ] = None,
    generator: Annotated[
        str, typer.Option(help="Who chooses groups: MT-RT (random), SFIDMT-ART, MT-BART, MT-IPART ...")
    ] = "SFIDMT-ART",
    n: Annotated[int, typer.Option(help="How many groups.", min=1)] = 1000,
    k: Candidates = None,
    out: Annotated[Path | None, typer.Option(help="Write them to this CSV or Parquet file.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Make groups of a relation, or single inputs, that are spread well; nothing is executed.

    The file has a row for each group: the columns source_... and follow_up_....

    Examples: datamorphic generate program:tanh/tripling --generator MT-BART --n 100 --out groups.csv; datamorphic generate
    --domain 0,1 --domain 0,1 --generator IPART --n 20
    """
    from ..hunting.api import generate as run

    if (of is None) == (not domain):
        raise UsageError(
            "Say what groups are made of, one of: a relation (program:NAME/RELATION or module:object) or --domain LOW,HIGH. "
            f"Got {'neither' if of is None else 'both'}."
        )
    if out is not None:
        ready_to_write(out)
    with user_code():
        relation = [_limits(pair) for pair in domain or []] if of is None else _relation(of)
        began = time.perf_counter()
        groups = run(relation, generator, n, seed, k=k)
        seconds = time.perf_counter() - began
        rows = _table(relation, groups)
        if out is not None:
            write_rows(rows, out)
    if as_json:
        told = {"relation": of, "domain": domain, "generator": generator, "n": n, "seed": seed, "seconds": seconds}
        told |= {"columns": list(rows.columns)}
        print_json(told | ({"groups": rows.to_numpy().tolist()} if out is None else {"file": str(out)}))
        return
    print_text(f"{pluralize(n, 'group')} by {generator} in {seconds:.2f} s; seed {seed}.")
    if out is None:
        console().print(rows.to_string(max_rows=20), markup=False)
    tell_written(out)


def _relation(text: str) -> FunctionRelation:
    from ..relations.function import FunctionRelation

    if text.startswith(PROGRAM):
        name, slash, relation = text.removeprefix(PROGRAM).partition("/")
        from ..data.programs import programs

        known = programs[name].relations
        if not slash:
            raise UsageError(f"Say which relation of {name!r}: {PROGRAM}{name}/{next(iter(known))}, for example.")
        return known[relation]
    found = load_object(text)
    if not isinstance(found, FunctionRelation):
        raise UsageError(f"{text!r} is no FunctionRelation, but {type(found).__name__}.")
    return found


def _limits(text: str) -> tuple[float, float]:
    low, _, high = text.partition(",")
    try:
        return float(low), float(high)
    except ValueError:
        raise UsageError(f"--domain has two numbers, as in 0,1. Got {text!r}.") from None


def _table(relation: Any, groups: Any) -> pd.DataFrame:
    """Return groups as a table, a column for each number of each input."""
    import pandas as pd

    from ..hunting.plots import name_columns
    from ..relations.box import Box
    from ..relations.function import FunctionRelation

    if not isinstance(relation, FunctionRelation):
        names = name_columns(Box.of(relation))
        return pd.DataFrame(groups.sources, columns=[f"source_{name}" for name in names])
    columns: dict[str, Any] = {}
    if relation.given is not None:  # inputs are made of what was drawn
        columns |= {f"drawn_{i}": column for i, column in enumerate(groups.sources.T, 1)}
    for kind, inputs in (
        ("source", relation.source_inputs(groups.sources)),
        ("follow_up", relation.follow_inputs(groups.follow_ups)),
    ):
        for i, each in enumerate(inputs, 1):
            start = kind if len(inputs) == 1 else f"{kind}{i}"
            names = name_columns(Box.of([(0, 1)] * each.shape[1]))
            columns |= {f"{start}_{name}": each[:, j] for j, name in enumerate(names)}
    return pd.DataFrame(columns)
