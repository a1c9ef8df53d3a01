"""The command ``datamorphic mutate``."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Annotated, Any

import typer

from ..errors import UsageError
from . import options as opt
from .console import prepare_output_files, print_json, print_text, print_written_files, redirect_user_output
from .exit_codes import ExitCode
from .load import choose_model_and_data, load_data, load_learner, load_named, load_object


def mutate(
    program: Annotated[str, opt.argument("PROGRAM", "A Python file, or the name of a module.")],
    inputs: opt.DataArgument = None,
    data: opt.Data = None,
    target: opt.Target = None,
    learner: Annotated[
        str | None,
        opt.option(
            "CLASS", "The class to test. The default is what learners() of the module returns, or its only class."
        ),
    ] = None,
    param: opt.LearnerParameters = None,
    like: opt.LikeLearner = None,
    relation: Annotated[
        list[str] | None,
        opt.option(
            "RELATION", "A relation by name (MR-1.1), or module:object. Repeatable. The default is all that must hold."
        ),
    ] = None,
    operator: Annotated[
        list[str] | None,
        opt.option("OPERATOR", "AOR, ROR, COR, SOR, LOR, ASR, CRP or RSR. Repeatable. The default is all."),
    ] = None,
    limit: Annotated[int | None, opt.option("N", "Try at most N mutants, drawn at random.", min=1)] = None,
    cases: opt.InputCount = 300,
    rows: Annotated[int, opt.option("N", "Largest number of rows of a random training set.", min=1)] = 50,
    compared: Annotated[
        int, opt.option("N", "Number of inputs on which to compare labels with the original.", min=1)
    ] = 1000,
    rival: Annotated[
        int | None, opt.option("N", "Also cross-validate, on N simulated data sets of each of three kinds.", min=1)
    ] = None,
    at_least: Annotated[
        float | None, opt.option("SHARE", "Exit with 1 if a smaller share than this is killed, e.g. 0.9.", min=0, max=1)
    ] = None,
    timeout: Annotated[float | None, opt.option("SECONDS", "Seconds per mutant.")] = None,
    memory: Annotated[str, opt.option("SIZE", "Memory per mutant, e.g. 512MB.")] = "1GB",
    fresh: Annotated[bool, opt.flag("--fresh", "Run every mutant in a new process: slower and safer.")] = False,
    workers: opt.Workers = None,
    html: opt.HtmlFile = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Measure relations: make mutants of a program, and count how many the relations kill.

    A mutant changes one place of the program. Mutants run in child processes with limits of time and memory.

    Examples: datamorphic mutate datamorphic.data.knn --limit 20; datamorphic mutate my_learner.py --learner Mine
    --like sklearn.naive_bayes:GaussianNB; datamorphic mutate datamorphic.data.naive_bayes --rival 10 --html mutants.html
    """
    from ..mutation.api import mutate as run_mutants

    _, data_name = choose_model_and_data(None, inputs, None, data, None)
    prepare_output_files(html)
    with redirect_user_output():
        mutation = run_mutants(
            _load_program(program),
            [load_named(name) for name in relation] if relation else "auto",
            operator or "all",
            limit,
            seed,
            learners=None if learner is None else NamedLearner(learner, opt.parse_parameters(param)),
            like=None if like is None else load_learner(like, None, False)[0],
            data="random" if data_name is None else load_data(data_name),
            target=target,
            inputs=cases,
            compared=compared,
            rows=rows,
            rival=rival,
            workers=workers or 1,
            timeout=timeout,
            fresh=fresh,
            memory=opt.parse_size(memory, "--memory"),
        )
        if html is not None:
            mutation.to_html(html)
    is_enough = at_least is None or mutation.score >= at_least
    if as_json:
        print_json(mutation.document())
    else:
        print_text(mutation.describe(), passed=None if at_least is None else is_enough)
        print_written_files(html)
    if not is_enough:
        raise typer.Exit(ExitCode.FINDINGS)


class NamedLearner:
    """Makes the learner of a name from a module. It can be sent to other processes."""

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        self.name, self.parameters = name, parameters

    def __call__(self, module: ModuleType) -> dict[str, Any]:
        """Return the learner by its name."""
        if not hasattr(module, self.name):
            raise UsageError(f"The program has no class {self.name!r}. Name one with --learner.")
        return {self.name: getattr(module, self.name)(**self.parameters)}


def _load_program(text: str) -> str | ModuleType:
    if text.endswith(".py") or os.sep in text:
        return text
    module = load_object(text)
    if not isinstance(module, ModuleType):
        raise UsageError(f"{text!r} is not a module. Give a Python file, or the name of a module.")
    return module
