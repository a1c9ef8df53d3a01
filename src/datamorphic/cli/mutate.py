"""The command ``datamorphic mutate``."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from ..errors import UsageError
from .check import Like, Parameters, learner_named, parameters_of
from .console import FINDINGS, Json, Seed, console, escaped, print_json, ready_to_write, to_printable, user_code
from .load import Data, Inputs, Target, load_data, load_object
from .store_options import Workers


def mutate(
    program: Annotated[
        str, typer.Argument(metavar="PROGRAM", help="A Python file, or the name of a module.", show_default=False)
    ],
    inputs: Inputs = None,
    data: Data = None,
    target: Target = None,
    learner: Annotated[
        str | None,
        typer.Option(help="The class to test; by default what the module's learners() says, or its only one."),
    ] = None,
    param: Parameters = None,
    like: Like = None,
    relation: Annotated[
        list[str] | None,
        typer.Option(help="A relation by name (MR-1.1); may be repeated. By default all that must hold."),
    ] = None,
    operator: Annotated[
        list[str] | None,
        typer.Option(help="AOR, ROR, COR, SOR, LOR, ASR, CRP or RSR; may be repeated. All by default."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Try so many mutants, drawn at random.", min=1)] = None,
    cases: Annotated[int, typer.Option("--inputs", help="Inputs that relations are tried on.", min=1)] = 300,
    compared: Annotated[int, typer.Option(help="Inputs on which labels are compared.", min=1)] = 1000,
    rival: Annotated[
        int | None, typer.Option(help="Cross-validate, too, on so many simulated data sets of three kinds.", min=1)
    ] = None,
    at_least: Annotated[
        float | None,
        typer.Option(help="Exit with 1 if a smaller share than this is killed, e.g. 0.9.", min=0, max=1),
    ] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds a mutant may take.")] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="A process of its own for each mutant: slower, and safer.")
    ] = False,
    workers: Workers = None,
    html: Annotated[Path | None, typer.Option(help="Write the page to this file.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Would the relations catch a bug? Make mutants of a program, and see which of them are killed.

    One place is changed at a time. Each mutant runs in a process with limits of time and memory.

    Examples: datamorphic mutate datamorphic.data.knn --limit 20; datamorphic mutate my_learner.py --learner Mine
    --like sklearn.naive_bayes:GaussianNB; datamorphic mutate datamorphic.data.naive_bayes --rival 10 --html mutants.html
    """
    from ..mutation.api import mutate as run

    if inputs is not None and data is not None:
        raise UsageError("The data are given twice, as an argument and with --data. Leave one out.")
    where = inputs or data
    if html is not None:
        ready_to_write(html)
    with user_code():
        mutation = run(
            _program(program), relation or "auto", operator or "all", limit, seed,
            learners=None if learner is None else Named(learner, parameters_of(param)),
            like=None if like is None else learner_named(like, None, False)[0],
            data="random" if where is None else load_data(where), target=target, inputs=cases, compared=compared,
            rival=rival, workers=workers or 1, timeout=timeout, fresh=fresh,
        )  # fmt: skip
        if html is not None:
            mutation.to_html(html)
    if as_json:
        print_json(mutation.document())
    else:
        out = console()
        first, _, rest = mutation.describe().partition("\n")
        if out.is_terminal:
            out.print(f"[bold]{escaped(to_printable(first))}[/]")
        else:
            out.print(first, markup=False)
        out.print(rest, markup=False)
        if html is not None:
            out.print(f"The page: {html}", markup=False)
    if at_least is not None and not mutation.score >= at_least:
        raise typer.Exit(FINDINGS)


class Named:
    """Makes the learner of a name from a module: sent to other processes, it says no more than that."""

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        self.name, self.parameters = name, parameters

    def __call__(self, module: ModuleType) -> dict[str, Any]:
        """Return the learner by its name."""
        if not hasattr(module, self.name):
            raise UsageError(f"The program has no {self.name!r}.")
        return {self.name: getattr(module, self.name)(**self.parameters)}


def _program(text: str) -> Any:
    if text.endswith(".py") or os.sep in text:
        return text
    found = load_object(text)
    if not isinstance(found, ModuleType):
        raise UsageError(f"{text!r} is no module. Give a Python file, or the name of a module.")
    return found
