"""The commands ``datamorphic runs ...`` and ``datamorphic worker-check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .._checks import plural
from ..errors import StoreError, UsageError
from .console import FINDINGS, Json, console, print_json, printable, ready_to_write
from .explore import perform
from .keeping import EngineName, StoreUrl, Workers, open_store

app = typer.Typer(help="Runs that were kept: see them, go on with them, compare them.", no_args_is_help=True)

RunId = Annotated[int, typer.Argument(metavar="ID", help="The number of the run.", show_default=False)]
STYLES = {"finished": "green", "running": "cyan", "interrupted": "yellow", "killed": "yellow", "failed": "red"}


def _opened(url: str | None) -> Any:
    """Open the store, which these commands cannot do without."""
    if url == "none":
        raise UsageError("There is nothing to see without a store. Leave --store out, or name one.")
    return open_store(url, needed=True)


@app.command("list")
def list_runs(store: StoreUrl = None, as_json: Json = False) -> None:
    """List the runs of a store, the newest last.

    Example: datamorphic runs list
    """
    with _opened(store) as kept:
        runs, where = kept.runs(), kept.url
    if as_json:
        print_json([run.to_json() for run in runs])
        return
    if not runs:
        console().print(
            f"There are no runs in {where} yet. Try: datamorphic explore --subject 'Box 1'", markup=False
        )
        return
    rows = [
        [
            run.id,
            run.verb,
            run.system,
            run.state,
            f"{run.started.astimezone():%Y-%m-%d %H:%M}",
            _seconds(run),
            _found(run),
        ]
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
    out.print(f"[bold]run {found.id}: {found.verb}[/bold] ", end="")
    out.print(f"of {printable(found.system)}, {found.state}", markup=False)
    if found.message:
        out.print(printable(found.message), markup=False)
    about: dict[str, Any] = {
        "started": f"{found.started.astimezone():%Y-%m-%d %H:%M:%S}, took {_seconds(found)}",
        "done": f"{_done(found)}; {plural(found.runs, 'run')}, {plural(found.calls, 'call')} of the system",
        "found": _found(found) or "-",
        "seed": found.seed,
        **{name: value for name, value in found.parameters.items() if value is not None and name != "words"},
        **{name: found.parameters.get("words", {}).get(name) for name in ("model", "subject", "data", "target")},
        "model": found.parameters.get("words", {}).get("model") or found.model_hash,
        "versions": ", ".join(f"{name} {version}" for name, version in found.versions.items()),
        "files": ", ".join(f"{file.name} ({plural(file.rows, 'row')})" for file in found.artifacts) or "none",
    }
    for name, value in about.items():
        if value is not None:
            out.print(f"  {name:<14} {printable(str(value))}", markup=False)
    for verdict in found.verdicts:
        cases = f", {plural(verdict['cases'], 'case')}" if verdict.get("cases") else ""
        out.print(f"  {verdict['verdict']:<14} {printable(verdict['says'])}{cases}", markup=False)
    if found.state in ("killed", "interrupted", "failed"):
        out.print(f"Go on with it: datamorphic runs resume {found.id}", markup=False)


@app.command()
def resume(
    run: RunId,
    store: StoreUrl = None,
    workers: Workers = None,
    engine: EngineName = None,
    trust: Annotated[bool, typer.Option("--trust", help="Load a pickled model: runs whatever is in it.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write the front to this Parquet file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report with pictures to this file.")] = None,
    as_json: Json = False,
) -> None:
    """Go on with a run that was killed, interrupted or failed, to exactly the result it would have had.

    The model is asked only what it has not answered yet. Who computes may be another than before.

    Example: datamorphic runs resume 12 --workers 4
    """
    from ..runs.engine import engine_of

    for file in (save, html):
        if file is not None:
            ready_to_write(file)
    with _opened(store) as kept:
        words = kept.run(run).parameters.get("words")
        if words is None:
            raise StoreError(
                f"Run {run} was begun in Python. Go on with it there: the same call, with resume={run}."
            )
        perform(
            words, kept, resume=run, trust=trust, engine=engine_of(engine, workers), save=save, html=html,
            as_json=as_json,
        )  # fmt: skip


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
    from ..verbs.runs import compare

    with _opened(store) as kept:
        found = compare(kept, first, second)
    if as_json:
        print_json(
            {
                "first": found.first.id,
                "second": found.second.id,
                "changed": {name: list(both) for name, both in found.changed.items()},
                "unchanged": bool(found.difference.unchanged),
                "findings": list(found.difference.findings),
            }
        )
    else:
        out = console()
        for name, (before, after) in found.changed.items():
            out.print(f"  {name:<14} {printable(str(before))} -> {printable(str(after))}", markup=False)
        out.print(printable(found.difference.describe()), markup=False)
    if not found.difference.unchanged:
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
    from ..verbs.runs import export as write

    with _opened(store) as kept:
        files = write(kept, run, to if to is not None else Path(f"run-{run}"))
    if as_json:
        print_json({"run": run, "files": [str(file) for file in files]})
    else:
        for file in files:
            console().print(str(file), markup=False)


@app.command()
def remove(
    runs: Annotated[list[int], typer.Argument(metavar="ID...", help="The runs.", show_default=False)],
    store: StoreUrl = None,
) -> None:
    """Remove runs and their files from the store.

    Example: datamorphic runs remove 11 12
    """
    with _opened(store) as kept:
        for run in runs:
            kept.remove(run)


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

    with _opened(store) as kept:
        database.forget(kept, forget or [])
        known = database.known(kept)
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
    from ..runs.cluster import worker_check as check

    workers, different = check(engine)
    if as_json:
        print_json({"workers": workers, "differences": different})
    elif different:
        _table(["worker", "package", "here", "there"], [list(row.values()) for row in different])
    else:
        console().print(f"{plural(len(workers), 'worker')}, all with the versions of this machine.", markup=False)
    if different:
        raise typer.Exit(FINDINGS)


def _table(header: list[str], rows: list[list[Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    out = console()
    words = [[printable(str(cell)).replace("\n", " ") for cell in row] for row in rows]
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


def _seconds(run: Any) -> str:
    if run.seconds < 60:
        return f"{run.seconds:.1f} s"
    minutes, seconds = divmod(round(run.seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02} h" if minutes >= 60 else f"{minutes}:{seconds:02} min"


def _done(run: Any) -> str:
    return "-" if run.done is None else f"{run.done:.0%}"


def _found(run: Any) -> str:
    if "pairs" in run.summary:
        return f"{plural(run.summary['pairs'], 'pair')} from {plural(run.summary['walks'], 'walk')}"
    if run.verdicts:
        broken = sum(verdict.get("verdict") in ("BROKEN", "VIOLATED") for verdict in run.verdicts)
        return f"{broken} of {plural(len(run.verdicts), 'law')} broken"
    return f"{run.done:.0%} done" if run.done is not None else ""


def _case(case: dict[str, Any]) -> str:
    told = ", ".join(f"{name}={value}" for name, value in list(case.items())[:6])
    return told + (", ..." if len(case) > 6 else "")
