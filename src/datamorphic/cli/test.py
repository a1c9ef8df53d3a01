"""The command ``datamorphic test``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from .console import FINDINGS, Json, Seed, console, escaped, print_json, ready_to_write, to_printable, user_code
from .explore import hinting_at_scalar
from .load import (
    Coded,
    Data,
    Inputs,
    Model,
    Scalar,
    Target,
    Timeout,
    Trust,
    lasting,
    load_data,
    load_system,
    sorted_out,
)
from .store_options import Batch, EngineName, Numbered, StoreUrl, Workers, hint, open_store

COLOURS = {"fault": "red", "concern": "yellow", "advice": "cyan"}
STATES = {"passed": "green", "found": "red", "not run": "dim", "broke": "red"}


def test(
    model: Model = None,
    inputs: Inputs = None,
    subject: Coded = None,
    data: Data = None,
    target: Target = None,
    protected: Annotated[
        list[str] | None, typer.Option(help="A feature on which no decision may hang; may be repeated.")
    ] = None,
    monotone: Annotated[
        list[str] | None,
        typer.Option(metavar="COL=up|down", help="A direction the answer must keep; may be repeated."),
    ] = None,
    invariant: Annotated[
        list[str] | None, typer.Option(help="A feature that must not matter; may be repeated.")
    ] = None,
    towards: Annotated[
        str | None, typer.Option(help='The class that "up" leads towards; the second of two by default.')
    ] = None,
    expect: Annotated[
        Path | None, typer.Option(help="A TOML or YAML file that declares all that.", show_default=False)
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="The border of an earlier version (--save-front): has it moved?")
    ] = None,
    budget: Annotated[str, typer.Option(help='What it may cost: "1m", "10000 runs".')] = "1m",
    only: Annotated[
        list[str] | None, typer.Option(metavar="CHECK", help="Make this check only; may be repeated.")
    ] = None,
    fail_on: Annotated[
        str, typer.Option(help="Exit with 1 from which level on: fault, concern, advice or never.")
    ] = "concern",
    html: Annotated[Path | None, typer.Option(help="Write the page of findings to this file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write a JUnit XML file.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write a SARIF file.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write Markdown, for a pull request.")] = None,
    pytest: Annotated[
        Path | None, typer.Option(help="Write a pytest file that pins what was found today.")
    ] = None,
    save_front: Annotated[
        Path | None, typer.Option(help="Write the border to this Parquet file, a baseline for the next version.")
    ] = None,
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
    """Test a model with everything that applies to it, and print the findings, the worst first.

    Does it answer everything, and the same way twice? Where are its borders, and have they moved? Does it keep what
    you declare? What does not apply is listed with the reason. Exit code 1 if anything worse than advice is found.

    Examples: datamorphic test model.skops customers.csv --target churned --html findings.html;
    datamorphic test model.skops loans.csv --target decision --monotone income=up --towards approve --protected gender;
    datamorphic test model.skops loans.csv --target decision --only "row order"
    """
    from ..audit.api import test as run
    from ..audit.finding import LEVELS
    from ..runs.engines import make_engine
    from ..runs.keep import KeepOptions

    began = time.monotonic()  # what is loaded is part of the time
    model, where = sorted_out(model, inputs, subject, data, target)
    if save_front is not None and only and not {"borders", "baseline"} & set(only):
        raise UsageError(
            "--save-front saves what the check 'borders' finds. Add --only borders, or leave --only out."
        )
    if fail_on not in (*LEVELS, "never"):
        raise UsageError(f"--fail-on is one of {', '.join(LEVELS)} or never. Got {fail_on!r}.")
    files = {"html": html, "junit": junit, "sarif": sarif, "markdown": markdown, "pytest": pytest}
    for file in (*files.values(), save_front):
        if file is not None:
            ready_to_write(file)  # before the search: what it finds should not be lost over a folder
    words: dict[str, Any] = {
        "from_files": True, "model": model, "data": where, "subject": subject, "target": target,
        "protected": protected or [], "monotone": monotone or [], "invariant": invariant or [], "towards": towards,
        "expect": None if expect is None else str(expect), "baseline": None if baseline is None else str(baseline),
        "trust": trust, "budget": None if budget == "1m" else budget, "timeout": timeout, "batch": batch,
        "scalar": scalar,
    }  # fmt: skip
    kept_words = {**words, "model": lasting(model), "data": lasting(where), "seed": seed, "budget": budget}
    with open_store(store) as kept:
        number = Numbered(kept, hint(store), resumable=False)
        keep = None if kept is None else KeepOptions(kept, request={"words": kept_words}, on_begin=number)
        with user_code(), number, hinting_at_scalar(words):
            system, options = load_system(model, subject, trust)
            result = run(
                system, None if where is None else load_data(where), target, protected or (),
                _expected(expect, monotone, invariant, towards), budget, seed,
                baseline=baseline, only=only or (), engine=make_engine(engine, workers), timeout=timeout, batch=batch,
                store=keep, scalar=scalar, words=words, began=began, **options,
            )  # fmt: skip
        if as_json:
            print_json(result.document() | {"run": number.run})
        else:
            print_result(result)
        with user_code():
            for kind, file in files.items():
                if file is not None:
                    getattr(result, f"to_{kind}")(file)
            if save_front is not None and result.front is None:
                raise UsageError("There is no border to save: the check 'borders' was not made.")
            if save_front is not None and result.front is not None:
                result.front.save(save_front)
        if not as_json:
            _tell_files({**files, "border": save_front})
            number.tell()
    if fail_on != "never" and (result.at_least(fail_on) or not result.complete):  # type: ignore[arg-type]
        raise typer.Exit(FINDINGS)


def _expected(
    file: Path | None, monotone: list[str] | None, invariant: list[str] | None, towards: str | None
) -> dict[str, Any]:
    """Return what is expected of the model, from the file and from the options; the options go first."""
    from ..audit.expectations import read_expectations

    expected: dict[str, Any] = {} if file is None else dict(read_expectations(file))
    directions = {}
    for each in monotone or ():
        name, sign, direction = each.rpartition("=")
        if not sign or not name:
            raise UsageError(f"--monotone takes a feature and a direction, as in income=up. Got {each!r}.")
        directions[name] = direction
    if directions:
        expected["monotone"] = {**(expected.get("monotone") or {}), **directions}
    if invariant:
        expected["invariant"] = [*(expected.get("invariant") or ()), *invariant]
    if towards is not None:
        expected["towards"] = towards
    return expected


def print_result(result: Any) -> None:
    """Print what was found."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    if not out.is_terminal:
        out.print(result.describe(), markup=False)
    else:
        colour = "green" if result.passed else "red"
        out.print(
            f"[bold]{escaped(to_printable(result.subject))}[/bold]: [bold {colour}]{escaped(result.headline)}[/]"
        )
        out.print(f"{to_printable(result.kind)}; {to_printable(result.data)}", markup=False, style="dim")
        for finding in result.findings:
            out.print(
                f"\n[bold {COLOURS[finding.level]}]{finding.level.upper()}[/]  [bold]{escaped(to_printable(finding.title))}[/]"
            )
            out.print(to_printable(finding.detail), markup=False)
            for example in finding.examples[:1]:
                out.print(f"for example: {to_printable(example.words)}", markup=False)
            out.print(f"what to do: {to_printable(finding.remedy)}", markup=False)
            out.print(f"again: {to_printable(result.command(finding))}", markup=False, style="dim")
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for name in ("check", "", "what it rests on"):
            table.add_column(name, overflow="fold")
        for outcome in result.outcomes:
            state = Text(outcome.state, style=STATES[outcome.state], no_wrap=True)
            table.add_row(Text(outcome.check), state, Text(to_printable(outcome.why)))
        out.print()
        out.print(table)
        for note in result.notes:
            out.print(to_printable(note), markup=False)
        out.print(f"{result.seconds:.1f} s, {result.calls:,} calls of the model, seed {result.seed}", markup=False)


def _tell_files(files: dict[str, Path | None]) -> None:
    for kind, file in files.items():
        if file is not None:
            what = {"html": "The page of findings", "border": "The border"}.get(kind, f"The {kind} file")
            console().print(f"{what}: {file}", markup=False)
