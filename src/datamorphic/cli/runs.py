"""The commands ``datamorphic runs ...`` and ``datamorphic worker-check``."""

from __future__ import annotations

import os
import shlex
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from .._text import pluralize
from ..errors import StoreError, UntrustedError, UsageError
from .console import FINDINGS, Json, console, print_json, ready_to_write, to_printable
from .explore import WORDS, perform
from .store_options import EngineName, StoreUrl, Workers, hint, nothing_yet, open_store

app = typer.Typer(help="Runs that were kept: see them, go on with them, compare them.", no_args_is_help=True)

RunId = Annotated[int, typer.Argument(metavar="ID", help="The number of the run.", show_default=False)]
WIDEST = 120  # characters of a cell
#: what is not gone on with but made again, in words, and the options it was made with
AGAIN = {"check": "a check of promises", "laws": "a check of laws", "test": "a test"}
OPTIONS = (
    "target", "param", "examples", "protected", "monotone", "invariant", "towards", "expect", "baseline", "budget"
)  # fmt: skip
STYLES = {"finished": "green", "running": "cyan", "interrupted": "yellow", "killed": "yellow", "failed": "red"}


def _opened(url: str | None) -> Any:
    """Open the store, which these commands cannot do without, to look at it."""
    return open_store(url, needed=True, reading=True)


@app.command("list")
def list_runs(
    last: Annotated[int, typer.Option(help="How many of the newest to list.", min=1)] = 50,
    every: Annotated[bool, typer.Option("--all", help="List all of them.")] = False,
    store: StoreUrl = None,
    as_json: Json = False,
) -> None:
    """List the runs of a store, the newest last.

    Example: datamorphic runs list
    """
    runs: list[Any] = []
    where = nothing_yet(store)
    if not where:
        with _opened(store) as kept:
            # whoever reads JSON counts on all of them
            runs, where = kept.runs(last=None if every or as_json else last), kept.url
    if as_json:
        print_json([run.to_json() for run in runs])
        return
    if not runs:
        told = f"There are no runs in {where} yet. Try: datamorphic explore --subject 'Box 1'"
        console().print(told, markup=False)
        return
    rows = [
        [run.id, run.verb, run.system, run.state, _when(run.started, "%Y-%m-%d %H:%M"), _seconds(run), _found(run)]
        for run in runs
    ]
    _table(["run", "verb", "system", "state", "started", "took", "found"], rows)


@app.command()
def show(run: RunId, store: StoreUrl = None, as_json: Json = False) -> None:
    """Show all that is known of a run.

    Example: datamorphic runs show 12
    """
    with _opened(store) as kept:
        found = kept.run(run)
    if as_json:
        print_json(found.to_json())
        return
    out = console()
    out.print(
        f"run {found.id}: {to_printable(found.verb)} of {to_printable(found.system)}",
        style="bold",
        markup=False,
        end="",
    )
    out.print(f", {to_printable(found.state)}", markup=False)
    if found.message:
        out.print(to_printable(found.message), markup=False)
    words = found.parameters.get("words") or {}
    asked = {**found.parameters, **{name: words.get(name) for name in ("model", "subject", "data", "target")}}
    about: dict[str, Any] = {
        "started": f"{_when(found.started)}, took {_seconds(found)}",
        "ended": found.ended and _when(found.ended),
        "done": _done(found) + (f"; {_cost(found)}" if found.runs else ""),
        "found": _found(found) or "-",
        "seed": found.seed,
        **{name: value for name, value in asked.items() if name != "words"},
        "model hash": found.model_hash,
        "data hash": found.data_hash,
        "versions": _listed(found.versions),
        "made on": f"{found.host}; {_listed(found.environment)}",
        "files": ", ".join(f"{file.name} ({pluralize(file.rows, 'row')})" for file in found.artifacts) or "none",
    }
    for name, value in about.items():
        if value is not None:
            out.print(f"  {to_printable(name):<14} {to_printable(str(value))}", markup=False)
    for verdict in found.verdicts:
        count = verdict.get("cases")
        cases = f", {pluralize(count, 'case')}" if isinstance(count, int) and count else ""
        counter = f": {verdict['words']}" if verdict.get("words") else ""
        told = f"{verdict.get('verdict', ''):<14} {verdict.get('says', '')}{cases}{counter}"
        out.print(f"  {to_printable(told)}", markup=False)
    if found.state in ("killed", "interrupted", "failed"):
        again = f"Go on with it: datamorphic runs resume {found.id}{hint(store)}"
        out.print(to_printable(_again(found) if found.verb == "laws" else again), markup=False)


@app.command()
def resume(
    run: RunId,
    store: StoreUrl = None,
    workers: Workers = None,
    engine: EngineName = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Load a pickled model, or import one for a run in a store that others can write to."
        ),
    ] = False,
    save: Annotated[Path | None, typer.Option(help="Write the front to this Parquet file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report with pictures to this file.")] = None,
    as_json: Json = False,
) -> None:
    """Go on with a run that was killed, interrupted or failed, to exactly the result it would have had.

    The model is asked only what it has not answered yet. Who computes may be another than before.

    Example: datamorphic runs resume 12 --workers 4
    """
    from ..runs.engines import make_engine

    for file in (save, html):
        if file is not None:
            ready_to_write(file)
    with open_store(store, needed=True) as kept:
        before = kept.run(run)
        if before.verb in AGAIN:
            raise StoreError(f"Run {run} is {AGAIN[before.verb]}, too short to be gone on with. {_again(before)}")
        words = before.parameters.get("words")
        if words is None:
            raise StoreError(
                f"Run {run} was begun in Python. Go on with it there: the same call, with resume={run}."
            )
        perform(
            _checked(words, kept, run, trust), kept, resume=run, trust=trust, engine=make_engine(engine, workers),
            save=save, html=html, as_json=as_json, hint=hint(store),
        )  # fmt: skip


def _checked(words: Any, store: Any, run: int, trust: bool) -> dict[str, Any]:
    """Return the words of a run, if they are such; what a store says is no reason to run somebody's code."""
    if isinstance(words, dict):
        words = {"scalar": False, **words}  # runs of earlier versions do not say
    if not isinstance(words, dict) or not set(WORDS) <= words.keys():
        raise StoreError(f"Run {run} does not say how it was begun: its words are damaged. Start it anew.")
    model = words["model"]
    if model is not None and not os.path.exists(str(model)) and not trust and not _private(store):
        raise UntrustedError(
            f"Run {run} wants to import {to_printable(str(model))}, which runs its code, and others can write to {store.url}. "
            "If the run and the module are yours, say --trust."
        )
    return {name: words[name] for name in WORDS}


def _private(store: Any) -> bool:
    """Tell whether nobody but this user can write to a store."""
    if not os.path.isfile(store.url):
        return False  # a server
    about = os.stat(store.url)
    return not hasattr(os, "getuid") or (about.st_uid == os.getuid() and not about.st_mode & 0o022)


@app.command()
def diff(
    first: Annotated[int, typer.Argument(metavar="A", help="The earlier run.", show_default=False)],
    second: Annotated[int, typer.Argument(metavar="B", help="The later run.", show_default=False)],
    store: StoreUrl = None,
    as_json: Json = False,
) -> None:
    """Say what differs between two runs: how they were made, and where the border moved; exit code 1 if it did.

    Example: datamorphic runs diff 11 12
    """
    from ..exploration.persistence import compare_runs

    with _opened(store) as kept:
        for run in (first, second):
            if kept.run(run).verb == "laws":
                raise StoreError(
                    f"Run {run} is a check of laws: it has verdicts and no border, and only borders can be compared. "
                    f"See its verdicts: datamorphic runs show {run}{hint(store)}"
                )
        found = compare_runs(kept, first, second)
    difference = found.difference
    if as_json:
        print_json(
            {
                "first": found.first.id,
                "second": found.second.id,
                "changed": {name: list(both) for name, both in found.changes.items()},
                "unchanged": None if difference is None else bool(difference.unchanged),
                "findings": [] if difference is None else list(difference.findings),
                "why_not": found.reason,
            }
        )
    else:
        out = console()
        for name, (before, after) in found.changes.items():
            told = f"  {to_printable(name):<14} {to_printable(str(before))} -> {to_printable(str(after))}"
            out.print(told, markup=False)
        if difference is not None:
            out.print(to_printable(difference.describe()), markup=False)
    if difference is None:
        raise UsageError(f"The borders cannot be compared: {found.reason}")
    if not difference.unchanged:
        raise typer.Exit(FINDINGS)


@app.command()
def export(
    run: RunId,
    to: Annotated[
        Path | None,
        typer.Option(help="A file (.json, .parquet, .csv, .html) or a folder for all; run-ID by default."),
    ] = None,
    store: StoreUrl = None,
    as_json: Json = False,
) -> None:
    """Write a run to files: what is known of it, the front, the pairs, the report.

    Example: datamorphic runs export 12 --to pairs.csv
    """
    from .run_export import export_run

    with _opened(store) as kept:
        files = export_run(kept, run, to if to is not None else Path(f"run-{run}"))
    if as_json:
        print_json({"run": run, "files": [str(file) for file in files]})
    else:
        for file in files:
            console().print(str(file), markup=False)


@app.command()
def remove(
    runs: Annotated[list[int], typer.Argument(metavar="ID...", help="The runs.", show_default=False)],
    store: StoreUrl = None,
    as_json: Json = False,
) -> None:
    """Remove runs and their files from the store.

    Example: datamorphic runs remove 11 12
    """
    with open_store(store, needed=True) as kept:
        for run in runs:
            kept.remove(run)
    if as_json:
        print_json({"removed": runs})


@app.command()
def failures(
    forget: Annotated[
        list[int] | None, typer.Option(help="The number of a case to forget; may be repeated.")
    ] = None,
    store: StoreUrl = None,
    as_json: Json = False,
) -> None:
    """List the cases that systems failed on, which are tried first in their next run.

    Example: datamorphic runs failures
    """
    from ..runs import failures as database

    with open_store(store, needed=True) if forget else _opened(store) as kept:
        if forget:
            database.forget(kept, forget)
        known = database.recall_all(kept)
    if as_json:
        print_json([failure.to_json() for failure in known])
        return
    if not known:
        console().print("No case is known that a system failed on.", markup=False)
        return
    rows = [
        [each.id, each.system, each.relation, each.verdict, each.times, _case(each.case), each.message]
        for each in known
    ]
    _table(["case", "system", "relation", "verdict", "times", "input", "what happened"], rows)


def worker_check(
    engine: Annotated[str, typer.Argument(help="A Dask cluster: dask://host:port.", show_default=False)],
    as_json: Json = False,
) -> None:
    """Say whether the workers of a cluster have the same versions as this machine; exit code 1 if not.

    Example: datamorphic worker-check dask://10.0.0.7:8786
    """
    from ..runs.dask_engine import check_workers as check

    workers, different = check(engine)
    if as_json:
        print_json({"workers": workers, "differences": different})
    elif different:
        _table(["worker", "package", "here", "there"], [list(row.values()) for row in different])
    else:
        console().print(
            f"{pluralize(len(workers), 'worker')}, all with the versions of this machine.", markup=False
        )
    if different:
        raise typer.Exit(FINDINGS)


def _table(header: list[str], rows: list[list[Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    words = [[_cut(to_printable(str(cell)).replace("\n", " ")) for cell in row] for row in rows]
    if not out.is_terminal:  # whoever reads a pipe wants whole lines
        widths = [max(map(len, column)) for column in zip(header, *words, strict=True)]
        for row in [header, *words]:
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            out.print(line.rstrip(), markup=False)
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in header:
        table.add_column(name, overflow="fold")
    for row in words:
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    out.print(table)


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def _when(moment: datetime, form: str = "%Y-%m-%d %H:%M:%S %Z") -> str:
    return moment.astimezone().strftime(form)


def _listed(about: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in about.items())


def _seconds(run: Any) -> str:
    if run.seconds < 60:
        return f"{run.seconds:.1f} s"
    minutes, seconds = divmod(round(run.seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02} h" if minutes >= 60 else f"{minutes}:{seconds:02} min"


def _done(run: Any) -> str:
    return "-" if run.done is None else f"{run.done:.0%}"


def _cost(run: Any) -> str:
    return f"{pluralize(run.runs, 'run')}, {pluralize(run.calls, 'call')} of the system"


def _again(run: Any) -> str:
    """Say how to make a run once more."""
    words = run.parameters.get("words")
    if not isinstance(words, dict):
        return f"Call dm.{run.verb} again."
    given = [
        str(words[name])
        for name in ("model", "data")
        if words.get(name) and (run.verb != "laws" or name == "model")
    ]
    options: list[str] = []
    for name in ("subject", *(["data"] if run.verb == "laws" else []), *OPTIONS):
        value = words.get(name)
        for each in value if isinstance(value, list) else [value]:
            options += [] if each is None else [f"--{name}", str(each)]
    options += [f"--{name}" for name in ("trust", "scalar") if words.get(name)]
    return f"Run it again: {shlex.join(['datamorphic', run.verb, *given, *options, '--seed', str(run.seed)])}"


def _found(run: Any) -> str:
    if "headline" in run.summary:
        return str(run.summary["headline"])
    pairs, walks = run.summary.get("pairs"), run.summary.get("walks")
    if isinstance(pairs, int) and isinstance(walks, int):
        return f"{pluralize(pairs, 'pair')} from {pluralize(walks, 'walk')}"
    if run.verdicts:
        broken = sum(verdict.get("verdict") in ("BROKEN", "VIOLATED") for verdict in run.verdicts)
        return f"{broken} of {pluralize(len(run.verdicts), 'law')} broken"
    return f"{run.done:.0%} done" if run.done is not None else ""


def _case(case: dict[str, Any]) -> str:
    told = ", ".join(f"{name}={value}" for name, value in list(case.items())[:6])
    return told + (", ..." if len(case) > 6 else "")
