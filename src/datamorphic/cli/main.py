"""The command ``datamorphic``.

Exit codes: 0 nothing found, 1 findings, 2 wrong use (one line that says how to mend it), 3 the system under test
failed, 70 a fault of our own, 130 stopped by Ctrl-C, 141 whoever read the output closed it. ``--json`` prints one JSON
document on stdout and nothing else.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from ..errors import UsageError
from .check import check
from .completion import mend_words
from .console import (
    CLOSED,
    FINDINGS,
    Json,
    Seed,
    busy,
    console,
    escaped,
    print_json,
    ready_to_write,
    to_printable,
    user_code,
)
from .cover import cover, select
from .explore import explore
from .help import Group, ended_by, hush, open_missing, teach
from .hunt import generate, hunt
from .init import init
from .load import lasting
from .mutate import mutate
from .runs import app as runs
from .runs import worker_check
from .simulate import simulate
from .store_options import Numbered, StoreUrl, hint, open_store
from .study import study
from .test import print_result, test

if TYPE_CHECKING:
    from ..morphisms.law_result import LawReport

START, TESTS, LATER, MORE = "Start here", "Test a model", "What was found before", "More"

app = typer.Typer(
    cls=Group,
    help="Test classifiers, and other systems whose right answers nobody knows, without an oracle."
    "\n\nTry first: datamorphic demo; datamorphic test model.skops customers.csv --target churned; "
    "datamorphic init model.skops customers.csv --target churned",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"datamorphic {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Hold the options of the command itself."""


app.command(rich_help_panel=START)(test)
app.command(rich_help_panel=START)(init)
app.command(rich_help_panel=TESTS)(explore)
app.command(rich_help_panel=TESTS)(check)
app.command(rich_help_panel=TESTS)(cover)
app.command(rich_help_panel=TESTS)(select)
app.command(rich_help_panel=TESTS)(mutate)
app.command(rich_help_panel=TESTS)(hunt)
app.command(rich_help_panel=MORE)(generate)
app.command(rich_help_panel=MORE)(simulate)
app.command(rich_help_panel=MORE)(study)
app.command("worker-check", rich_help_panel=MORE)(worker_check)
app.add_typer(
    runs,
    name="runs",
    help=f"{runs.info.help}\n\nExamples: datamorphic runs list; datamorphic runs resume 12; datamorphic runs diff 11 12",
    rich_help_panel=LATER,
)


@app.command(rich_help_panel=START)
def demo(
    out: Annotated[Path, typer.Option(help="The folder for the report.")] = Path("datamorphic-demo"),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Train a classifier on data that ships with scikit-learn, test it, and write a report.

    Example: datamorphic demo
    """
    from ..reporting.html import write_page
    from .demo.demo import run_demo

    ready_to_write(out / "report.html")
    with busy("training a classifier and testing it", usually=10):
        found = run_demo(seed)
        report = found.report()
        file = write_page(report, out / "report.html")
    if as_json:
        print_json(
            {
                "report": str(file),
                "rows": found.rows,
                "accuracy": found.accuracy,
                "steps": len(found.path),
                "borders": len(found.front),
                "flip": str(found.flip.iloc[0]["change"]),
                "changes": [found.told_change(step) for step in found.changes],
                "calls": found.result.calls + found.cost.calls,
                "headline": found.result.headline,
                "findings": [{"level": each.level, "title": each.title} for each in found.result.findings],
                "laws": found.laws.document()["laws"],
                "tests": {
                    "mutants": len(found.tests.counts),
                    "killed": int(found.tests.killed.sum()),
                    "proved": found.tests.proved,
                },
                "planted": {"change": str(found.planted.mutant), "found_by": found.planted.found},
                "hunted": {"change": found.race.change, "ratio": found.race.ratio},
                "seed": seed,
            }
        )
        return
    screen = console()
    screen.print(f"[bold]{report.title}[/bold]")
    screen.print(found.lead, markup=False)
    print_result(found.result)
    for section in found.closer_look().parts[:-1]:  # the list of features is for the page
        colour = {"good": "green", "bad": "red"}.get(section.state, "cyan")
        screen.print(f"\n[bold {colour}]●[/] [bold]{escaped(section.heading)}[/bold]")
        screen.print(section.text, markup=False)
    screen.print(f"\nThe report, with pictures: {file}", markup=False)


@app.command(rich_help_panel=TESTS)
def laws(
    system: Annotated[
        str | None, typer.Argument(help="A test system: module:Class, or a module.", show_default=False)
    ] = None,
    subject: Annotated[str | None, typer.Option(help='A coded subject, e.g. "Box 1".')] = None,
    data: Annotated[
        str | None, typer.Option(help="A CSV or Parquet file, or data:NAME: checks the moves derived from it.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="The column of the data that is the label.")] = None,
    examples: Annotated[int, typer.Option(help="How many triples of points to try.", min=1)] = 500,
    store: StoreUrl = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Check that moves, midpoint and distance of a test system keep the laws exploration stands on.

    Prints each law with HOLDS or BROKEN, a broken one with a counter-example in words; exit code 1 if one is broken.
    Counter-examples are kept, and tried first the next time.

    Examples: datamorphic laws my_tests:RedWine; datamorphic laws --subject "Box 1";
    datamorphic laws --data data:iris --target target
    """
    from ..morphisms.api import laws as check
    from ..runs.keep import KeepOptions

    words = {"model": system, "subject": subject, "data": lasting(data), "target": target, "examples": examples}
    with open_store(store) as opened:
        number = Numbered(opened, hint(store), resumable=False)
        keep = None if opened is None else KeepOptions(opened, request={"words": words}, on_begin=number)
        with user_code(), number:
            source = _law_source(system, subject, data, target)
            report = check(source, examples=examples, seed=seed, store=keep)
        if as_json:
            print_json({**report.document(), "examples": examples, "run": number.run})
        else:
            _print_laws(report)
            number.tell()
    if not report.holds:
        raise typer.Exit(FINDINGS)


def _law_source(system: str | None, subject: str | None, data: str | None, target: str | None) -> Any:
    if target is not None and data is None:
        raise UsageError("--target names a column of --data, and no data are given.")
    given = [each for each in (system, subject, data) if each is not None]
    if len(given) != 1:
        raise UsageError(
            "Say what to check, one of: a test system (module:Class), --subject NAME, or --data FILE. "
            f"Got {len(given)} of them."
        )
    if subject is not None:
        from ..data.subjects import subjects

        return subjects[subject]
    if data is not None:
        from ..space.space import Space
        from .load import load_data

        return Space.from_frame(load_data(data), target=target)
    from .load import load_object

    return load_object(str(system))


def _print_laws(report: LawReport) -> None:
    from rich.table import Table
    from rich.text import Text

    from ..morphisms.text import format_tried_first

    out = console()
    if not out.is_terminal:  # whoever reads a pipe wants a line a law
        sys.stdout.write(f"Laws of {report.system}, {report.examples:,} examples, seed {report.seed}\n\n")
        for result in report.results:
            words = f": {to_printable(result.words)}" if result.words else ""
            sys.stdout.write(f"{result.state:<11}  {result.law:<12}  {result.says}{words}\n")
        if first := format_tried_first(report):
            sys.stdout.write(f"\n{first}\n")
        return
    out.print(f"Laws of {report.system}, {report.examples:,} examples, seed {report.seed}\n", markup=False)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(overflow="fold")
    for result in report.results:
        style = {"HOLDS": "green", "BROKEN": "bold red"}.get(result.state, "yellow")
        says = Text(result.says)
        if result.words:
            says.append(f"\n{to_printable(result.words)}", style="bold" if result.state == "BROKEN" else "dim")
        table.add_row(Text(result.state, style=style, no_wrap=True), Text(result.law), says)
    out.print(table)
    if first := format_tried_first(report):
        out.print(f"\n{first}", markup=False)


teach(app)


def main() -> None:
    """Run the command."""
    open_missing()
    # Hypothesis would keep its notes in a folder .hypothesis wherever the command is run.
    os.environ.setdefault(
        "HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(tempfile.gettempdir(), "datamorphic-hypothesis")
    )
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that knows ASCII only gets that
    mend_words()
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # now, while a closed pipe can still be taken for what it is
    except BrokenPipeError:
        hush()
        sys.exit(CLOSED)
    except Exception as error:
        sys.exit(ended_by(error))
