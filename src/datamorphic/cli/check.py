"""The command ``datamorphic check``."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from .console import (
    FINDINGS,
    SYSTEM_FAILED,
    Json,
    Seed,
    console,
    escaped,
    print_json,
    ready_to_write,
    to_printable,
    user_code,
)
from .load import (
    Data,
    Inputs,
    Model,
    Scalar,
    Target,
    Timeout,
    Trust,
    lasting,
    load_data,
    load_object,
    load_system,
    sorted_out,
)
from .store_options import Batch, EngineName, Numbered, StoreUrl, Workers, hint, open_store

Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param", metavar="NAME=VALUE", help="A parameter of the learner, e.g. n_neighbors=3; may be repeated."
    ),
]
Like = Annotated[
    str | None,
    typer.Option(
        help="A class of scikit-learn whose algorithm it implements, e.g. sklearn.naive_bayes:GaussianNB."
    ),
]


def check(
    model: Model = None,
    inputs: Inputs = None,
    data: Data = None,
    target: Target = None,
    relation: Annotated[
        list[str] | None,
        typer.Option(
            help="A relation by name (MR-1.1), as module:object, or 'necessary'; may be repeated. All by default."
        ),
    ] = None,
    cases: Annotated[int, typer.Option("--inputs", help="Cases each relation is tried on.", min=1)] = 300,
    rows: Annotated[int, typer.Option(help="Rows of a random training set, at most.", min=1)] = 50,
    param: Parameters = None,
    like: Like = None,
    expect_failure: Annotated[
        list[str] | None,
        typer.Option(metavar="RELATION=REASON", help="A relation whose violation is no fault; may be repeated."),
    ] = None,
    count_ties: Annotated[
        bool, typer.Option("--count-ties", help="Count violations that hang on a tie, too.")
    ] = False,
    budget: Annotated[str | None, typer.Option(help='What it may cost: "1m", "10000 runs".')] = None,
    html: Annotated[Path | None, typer.Option(help="Write the page to this file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit XML file.")] = None,
    timeout: Timeout = None,
    batch: Batch = None,
    workers: Workers = None,
    engine: EngineName = None,
    store: StoreUrl = None,
    trust: Trust = False,
    scalar: Scalar = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Check whether a learner or a model keeps its promises: metamorphic relations, on many inputs.

    MODEL is a learner or a class of learners (module:object), a model file, or "weka:IBk -K 3". Without DATA a learner is
    trained on random data. Exit code 1 if it violates what every right implementation keeps.

    Examples: datamorphic check sklearn.neighbors:KNeighborsClassifier --param n_neighbors=3;
    datamorphic check "weka:NaiveBayes" --inputs 300 --html promises.html;
    datamorphic check model.skops customers.csv --target churned --relation necessary
    """
    from ..relations.check.api import RANDOM_DATA
    from ..relations.check.api import check as run
    from ..runs.engines import make_engine
    from ..runs.keep import KeepOptions

    model, where = sorted_out(model, inputs, None, data, target)
    files = {"html": html, "junit": junit}
    for file in files.values():
        if file is not None:
            ready_to_write(file)  # before the search: what it finds should not be lost over a folder
    failures = dict(_pair(each, "--expect-failure", "RELATION=REASON") for each in expect_failure or ())
    words = {"model": lasting(model), "data": lasting(where), "target": target, "seed": seed, "param": param or []}
    with open_store(store) as kept:
        number = Numbered(kept, hint(store), resumable=False)
        keep = None if kept is None else KeepOptions(kept, request={"words": words}, on_begin=number)
        with user_code(), number:
            learner, options = learner_named(model, param, trust)
            report = run(
                learner, RANDOM_DATA if where is None else load_data(where), _relations(relation), target, cases, seed,
                make_engine(engine, workers), like=None if like is None else learner_named(like, None, False)[0],
                expected_failures=failures, rows=rows, ties="count" if count_ties else "aside", budget=budget,
                timeout=timeout, batch=batch, store=keep, scalar=scalar, **options,
            )  # fmt: skip
        if as_json:
            print_json(report.document() | {"run": number.run})
        else:
            _print(report)
        with user_code():
            for kind, file in files.items():
                if file is not None:
                    getattr(report, f"to_{kind}")(file)
        if not as_json:
            for kind, file in files.items():
                if file is not None:
                    console().print(f"The {'page' if kind == 'html' else 'JUnit file'}: {file}", markup=False)
            number.tell()
    if report.faults:
        raise typer.Exit(FINDINGS)
    if not any(entry.judged for entry in report.entries) and any(entry.undefined for entry in report.entries):
        raise typer.Exit(SYSTEM_FAILED)


def learner_named(text: str | None, parameters: list[str] | None, trust: bool) -> tuple[Any, dict[str, Any]]:
    """Return the learner or model that words stand for, a class made into a learner, and the options to load it with."""
    if text is None:
        raise UsageError(
            "Say what to check: a learner or a class of learners (module:object), a model file, or 'weka:IBk -K 3'."
        )
    if text.startswith("weka:"):
        given: tuple[Any, dict[str, Any]] = text, {}
    else:
        given = load_system(text, None, trust)
    learner, options = given
    known = parameters_of(parameters)
    if isinstance(learner, type):
        try:
            return learner(**known), options
        except TypeError as error:
            raise UsageError(f"{learner.__name__} cannot be made with these parameters: {error}.") from None
    if known:
        if not hasattr(learner, "set_params"):
            raise UsageError("--param is for learners with parameters, and this is none: leave it out.")
        try:
            learner = learner.set_params(**known)
        except ValueError as error:
            raise UsageError(f"--param: {' '.join(str(error).split())[:200]}") from None
    return learner, options


def parameters_of(given: list[str] | None) -> dict[str, Any]:
    """Return parameters by name, their values as Python writes them."""
    values = dict(_pair(each, "--param", "NAME=VALUE") for each in given or ())
    return {name: _literal(value) for name, value in values.items()}


def _pair(text: str, option: str, expected: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise UsageError(f"{option} takes {expected}. Got {text!r}.")
    return name.strip(), value.strip()


def _literal(text: str) -> Any:
    """Return a number, True, None, a tuple as Python writes them, or the text itself; nothing is evaluated."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _relations(given: list[str] | None) -> Any:
    if not given:
        return "auto"
    if given == ["necessary"]:
        return "necessary"
    return [load_object(each) if ":" in each else each for each in given]


def _print(report: Any) -> None:
    out = console()
    text = report.describe()
    if out.is_terminal:
        first, _, rest = text.partition("\n")
        colour = "green" if report.passed else "red"
        subject, _, headline = first.partition(": ")
        out.print(
            f"[bold]{escaped(to_printable(subject))}[/]: [bold {colour}]{escaped(to_printable(headline))}[/]"
        )
        out.print(rest, markup=False)
    else:
        out.print(text, markup=False)
