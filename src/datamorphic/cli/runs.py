"""The commands ``datamorphic runs ...``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import pluralise
from ..core.result import to_plain
from ..errors import StoreError, UntrustedError, UsageError
from ..space.labels import find_agreement
from . import options as opt
from .command import find_command
from .console import make_console, prepare_output_files, print_json, print_line, print_table
from .exit_codes import ExitCode
from .stores import find_missing_default_store, format_store_option, open_required_store

if TYPE_CHECKING:
    from ..exploration.front import Front
    from ..runs.run import Run
    from ..runs.store import Store

app = typer.Typer(
    name="runs",
    help="List, show, resume, compare and export stored runs."
    "\n\nExamples: datamorphic runs list; datamorphic runs resume 12; datamorphic runs diff 11 12",
    no_args_is_help=True,
)

RunId = Annotated[int, opt.argument("ID", "The number of the run.")]
#: stored parameters that mean nothing to a reader: the request itself, and the name of the folder with copies of files
HIDDEN_PARAMETERS = ("words", "backup")
DAMAGED_REQUEST = "The stored request of run {} is damaged, so it cannot be resumed. Start a new run."
RESUMABLE_STATES = ("killed", "interrupted", "failed")
MAX_CASE_FEATURES = 6  # in a row of a table
ALTERING_OPTIONS = ("classes", "scalar", "timeout", "space")  # with which a model answers otherwise
COMPARED_PAIRS = 20  # that a stored model must still answer as it did


@app.command("list")
def list_runs(
    last: Annotated[int, opt.option("N", "Number of runs to list, the newest ones.", min=1)] = 50,
    list_all: Annotated[bool, opt.flag("--all", "List all runs.")] = False,
    store: opt.StoreUrl = None,
    as_json: opt.Json = False,
) -> None:
    """List the stored runs, newest last.

    Example: datamorphic runs list
    """
    runs: list[Run] = []
    location = find_missing_default_store(store)
    if not location:
        with open_required_store(store, reading=True) as run_store:
            # programs that read JSON expect all runs
            runs = run_store.runs(last=None if list_all or as_json else last)
            location = run_store.url
    if as_json:
        print_json([run.to_json() for run in runs])
        return
    if not runs:
        print_line(f"There are no runs in {location} yet. Try: datamorphic explore --subject 'Box 1'")
        return
    rows = [
        [
            run.id,
            run.verb,
            run.system,
            run.state,
            _format_time(run.started, "%Y-%m-%d %H:%M"),
            format_duration(run),
            format_summary(run),
        ]
        for run in runs
    ]
    print_table(["run", "verb", "system", "state", "started", "took", "found"], rows)


@app.command()
def show(run: RunId, store: opt.StoreUrl = None, as_json: opt.Json = False) -> None:
    """Show everything that is stored about a run.

    Example: datamorphic runs show 12
    """
    with open_required_store(store, reading=True) as run_store:
        stored_run = run_store.run(run)
    if as_json:
        print_json(stored_run.to_json())
        return
    _print_run(stored_run, format_store_option(store))


def _print_run(run: Run, store_option: str) -> None:
    from rich.text import Text

    from ..reporting.text import to_printable

    title = Text(to_printable(f"run {run.id}: {run.verb} of {run.system}"), style="bold")
    make_console().print(title.append(to_printable(f", {run.state}"), style="not bold"))
    if run.message:
        print_line(run.message)
    request = run.parameters.get("words") or {}
    arguments = {
        name: (_format_items(value) or "none") if isinstance(value, Mapping) else value
        for name, value in run.parameters.items()
        if name not in HIDDEN_PARAMETERS
    }
    effort = f"; {pluralise(run.runs, 'run')}, {pluralise(run.calls, 'call')} of the system" if run.runs else ""
    files = ", ".join(f"{file.name} ({pluralise(file.rows, 'row')})" for file in run.artifacts)
    facts: dict[str, Any] = {
        "started": f"{_format_time(run.started)}, took {format_duration(run)}",
        "ended": run.ended and _format_time(run.ended),
        "done": ("-" if run.done is None else f"{run.done:.0%}") + effort,
        "found": format_summary(run) or "-",
        "seed": run.seed,
        **arguments,
        **{name: request.get(name) for name in ("model", "subject", "data", "target")},
        "model hash": run.model_hash,
        "data hash": run.data_hash,
        "versions": _format_items(run.versions),
        "computed on": f"{run.host}; {_format_items(run.environment)}",
        "files": files or "none",
    }
    for name, value in facts.items():
        if value is not None:
            print_line(f"  {name:<14} {value}")
    for verdict in run.verdicts:
        count = verdict.get("cases")
        cases = f", {pluralise(count, 'case')}" if isinstance(count, int) and count else ""
        example = f": {verdict['words']}" if verdict.get("words") else ""
        print_line(f"  {verdict.get('verdict', ''):<14} {verdict.get('says', '')}{cases}{example}")
    if run.state in RESUMABLE_STATES:
        print_line(f"Resume it: datamorphic runs resume {run.id}{store_option}")


@app.command()
def resume(
    run: RunId,
    store: opt.StoreUrl = None,
    workers: opt.Workers = None,
    engine: opt.EngineName = None,
    trust: Annotated[
        bool,
        opt.flag("--trust", "Load a pickled model, or import a module for a run in a store that others can write to."),
    ] = False,
    save: Annotated[Path | None, opt.option("FILE", "Write the front, or the test set, to this file.")] = None,
    html: opt.HtmlFile = None,
    as_json: opt.Json = False,
) -> None:
    """Resume a run that was killed, interrupted or failed. The result is the same as without the break.

    The model is queried only for inputs that it has not answered yet. Workers and engine may differ from before.

    Example: datamorphic runs resume 12 --workers 4
    """
    from ..runs.engines import make_engine

    prepare_output_files(save, html)
    with open_required_store(store) as run_store:
        stored_run = run_store.run(run)
        request = stored_run.parameters.get("words")
        if request is None:
            raise StoreError(f"Run {run} was started in Python. Repeat the call with resume={run}.")
        resume_options: dict[str, Any] = {
            "resume": run,
            "engine": make_engine(engine, workers),
            "save": save,
            "html": html,
            "as_json": as_json,
            "store_option": format_store_option(store),
        }
        command = find_command(stored_run.verb)
        if command is None:
            raise StoreError(f"Run {run} is of the kind {stored_run.verb!r}, which this version cannot resume.")
        if not isinstance(request, dict):
            raise StoreError(DAMAGED_REQUEST.format(run))
        models = command.list_models(request)
        _refuse_foreign_code(models, run_store, run, trust, has_model_files=command.has_model_files)
        request = {key: value for key, value in request.items() if key in command.request_keys}
        if save is None or "save" not in command.files:
            resume_options.pop("save")
        command.run_request(request, run_store, trust=trust, **resume_options)


def _refuse_foreign_code(
    models: Sequence[str], store: Store, run: int, trust: bool, *, has_model_files: bool = True
) -> None:
    """Raise `UntrustedError` if a run that others may have written would import a module."""
    imported_models = [model for model in models if not (has_model_files and os.path.exists(model))]
    if imported_models and not trust and not _is_private(store):
        raise UntrustedError(
            f"Run {run} would import {imported_models[0]}, which runs its code, and others can write to {store.url}. "
            "If the run and the module are yours, add --trust."
        )


def _is_private(store: Store) -> bool:
    """Return whether only this user can write to a store."""
    if not os.path.isfile(store.url):
        return False  # a server
    status = os.stat(store.url)
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)


@app.command()
def diff(
    first: Annotated[int, opt.argument("A", "The earlier run.")],
    second: Annotated[int, opt.argument("B", "The later run.")],
    store: opt.StoreUrl = None,
    html: opt.HtmlFile = None,
    as_json: opt.Json = False,
) -> None:
    """Compare two runs: their options, and where the border moved. The exit code is 1 if it moved.

    Models of files that are as they were are queried, too: changes that training again with another seed would make are no
    reason for exit code 1. To compare two models with labels, see datamorphic compare.

    Example: datamorphic runs diff 11 12
    """
    from ..comparison.fronts import describe_judgement, judge_difference
    from ..exploration.persistence import compare_runs

    prepare_output_files(html)
    with open_required_store(store, reading=True) as run_store:
        for run in (first, second):
            if run_store.run(run).verb == "laws":
                raise StoreError(
                    f"Run {run} is a check of laws: it has no border, and only borders can be compared. "
                    f"See its verdicts: datamorphic runs show {run}{format_store_option(store)}"
                )
        comparison = compare_runs(run_store, first, second, attach_stored_model)
    difference = comparison.difference
    judgement = None if difference is None else judge_difference(difference)
    if html is not None and difference is not None:
        difference.to_html(html)
    if as_json:
        print_json(
            {
                "first": comparison.first.id,
                "second": comparison.second.id,
                "changed": {name: list(values) for name, values in comparison.changes.items()},
                "unchanged": None if difference is None else bool(difference.unchanged),
                "findings": [] if difference is None else list(difference.findings),
                "judgement": None if judgement is None else to_plain(judgement),
                "why_not": comparison.reason,
            }
        )
    else:
        for name, (before, after) in comparison.changes.items():
            print_line(f"  {name:<14} {before} -> {after}")
        if difference is not None:
            print_line(difference.describe())
            print_line(describe_judgement(judgement))
    if difference is None:
        raise UsageError(f"The borders cannot be compared: {comparison.reason}")
    if not difference.unchanged and (judgement is None or judgement.is_more_than_chance):
        raise typer.Exit(ExitCode.FINDINGS)


def attach_stored_model(front: Front, run: Run) -> Front:
    """Return a stored front with its model, if that is a file that is as it was, needs no trust, and answers as it did."""
    from ..runs.fingerprint import compute_model_hash
    from ..systems.files import is_model_file

    words = run.parameters.get("words") or {}
    name = words.get("model")
    if not isinstance(name, str) or not is_model_file(name) or any(words.get(option) for option in ALTERING_OPTIONS):
        return front
    if run.model_hash is None or compute_model_hash(name) != run.model_hash:
        return front
    try:
        attached_front = front.attach(name)
        pairs = slice(0, COMPARED_PAIRS)
        answers = attached_front.sut.execute(front.a.take(pairs)) if attached_front.sut is not None else None
    except Exception:  # the model's own code, on a machine that may lack its library
        return front
    if answers is None or not find_agreement(answers.values, front.a_output[pairs]).all():
        return front
    return attached_front


@app.command()
def export(
    run: RunId,
    to: Annotated[
        Path | None,
        opt.option(
            "PATH",
            "A file (.json, .parquet, .csv, .html), or a folder for all of them. The default is the folder run-ID.",
        ),
    ] = None,
    store: opt.StoreUrl = None,
    as_json: opt.Json = False,
) -> None:
    """Write a run to files: its record, the front, the border pairs, the report.

    Example: datamorphic runs export 12 --to pairs.csv
    """
    from .run_export import export_run

    with open_required_store(store, reading=True) as run_store:
        files = export_run(run_store, run, to if to is not None else Path(f"run-{run}"))
    if as_json:
        print_json({"run": run, "files": [str(file) for file in files]})
    else:
        for file in files:
            print_line(str(file))


@app.command()
def remove(
    runs: Annotated[list[int], opt.argument("ID...", "The runs to remove.")],
    store: opt.StoreUrl = None,
    as_json: opt.Json = False,
) -> None:
    """Remove runs and their files from the store.

    Example: datamorphic runs remove 11 12
    """
    from ..scripting.persistence import discard_backup

    with open_required_store(store) as run_store:
        for run in runs:
            discard_backup(run_store.run(run))
            run_store.remove(run)
    if as_json:
        print_json({"removed": runs})


@app.command()
def failures(
    forget: Annotated[list[int] | None, opt.option("ID", "The number of a case to forget. Repeatable.")] = None,
    store: opt.StoreUrl = None,
    as_json: opt.Json = False,
) -> None:
    """List the cases on which systems failed. They are tried first in the next run.

    Example: datamorphic runs failures
    """
    from ..runs import failures as failure_store

    with open_required_store(store, reading=not forget) as run_store:
        if forget:
            failure_store.forget(run_store, forget)
        stored_failures = failure_store.recall_all(run_store)
    if as_json:
        print_json([failure.to_json() for failure in stored_failures])
        return
    if not stored_failures:
        print_line("No failures are stored.")
        return
    rows = [
        [
            failure.id,
            failure.system,
            failure.relation,
            failure.verdict,
            failure.times,
            _format_case(failure.case),
            failure.message,
        ]
        for failure in stored_failures
    ]
    print_table(["case", "system", "relation", "verdict", "times", "input", "what happened"], rows)


def _format_time(moment: datetime, form: str = "%Y-%m-%d %H:%M:%S %Z") -> str:
    return moment.astimezone().strftime(form)


def _format_items(items: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in items.items())


def format_duration(run: Run) -> str:
    """Return how long a run took."""
    if run.seconds < 60:
        return f"{run.seconds:.1f} s"
    minutes, seconds = divmod(round(run.seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02} h" if minutes >= 60 else f"{minutes}:{seconds:02} min"


def format_summary(run: Run) -> str:
    """Return what a run found, in a few words."""
    if "headline" in run.summary:
        return str(run.summary["headline"])
    pairs, walks = run.summary.get("pairs"), run.summary.get("walks")
    if isinstance(pairs, int) and isinstance(walks, int):
        return f"{pluralise(pairs, 'pair')} from {pluralise(walks, 'walk')}"
    if run.verdicts:
        broken = sum(verdict.get("verdict") in ("BROKEN", "VIOLATED") for verdict in run.verdicts)
        return f"{broken} of {pluralise(len(run.verdicts), 'law')} broken"
    return f"{run.done:.0%} done" if run.done is not None else ""


def _format_case(case: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name}={value}" for name, value in list(case.items())[:MAX_CASE_FEATURES])
    return f"{text}, ..." if len(case) > MAX_CASE_FEATURES else text
