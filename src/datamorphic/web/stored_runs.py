"""Runs of the store, as pages list them. Reading never creates a store, and never happens on the event loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..cli.command import find_command
from ..cli.runs import RESUMABLE_STATES, format_duration, format_summary
from ..cli.stores import find_missing_default_store, open_required_store
from ..errors import DatamorphicError
from ..runs.run import Run
from ..systems.files import is_python_name
from .folder import ServedFolder

MAX_RUNS_LISTED = 500  # the newest ones


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """One run in a list."""

    number: int
    verb: str
    system: str
    state: str
    started: str
    seconds: float
    duration: str
    outcome: str


@dataclass(frozen=True)
class RunListing:
    """The runs of a store, the newest first, or why there are none."""

    rows: Sequence[RunRow]
    message: str = ""


def read_runs(store: str | None, last: int = MAX_RUNS_LISTED) -> RunListing:
    """Return the newest runs of a store; a store that does not exist has none."""
    missing_path = find_missing_default_store(store)
    if missing_path:
        return RunListing([], "There are no runs yet. Start one on another page.")
    try:
        with open_required_store(store, reading=True) as run_store:
            runs = run_store.runs(last=last)
    except DatamorphicError as error:
        return RunListing([], str(error))
    return RunListing([_to_row(run) for run in reversed(runs)], "" if runs else "There are no runs yet.")


def read_run(store: str | None, number: int) -> Run:
    """Return one run."""
    with open_required_store(store, reading=True) as run_store:
        return run_store.run(number)


def _to_row(run: Run) -> RunRow:
    return RunRow(
        number=run.id,
        verb=run.verb,
        system=run.system,
        state=run.state,
        started=run.started.astimezone().strftime("%Y-%m-%d %H:%M"),
        seconds=run.seconds,
        duration=format_duration(run),
        outcome=format_summary(run),
    )


def is_resumable(run: Run) -> bool:
    """Return whether a run can go on where it ended."""
    return run.state in RESUMABLE_STATES and is_repeatable(run)


def is_repeatable(run: Run) -> bool:
    """Return whether a run can be started again with the same options."""
    return run.state != "running" and _get_request(run) is not None and find_command(run.verb) is not None


def list_repeat_arguments(run: Run) -> list[str]:
    """Return the arguments that repeat a run, without the command."""
    command = find_command(run.verb)
    assert command is not None
    return command.build_arguments(run.parameters["words"], run.seed)


def find_foreign_file(run: Run, folders: Sequence[ServedFolder]) -> str:
    """Return a file that a run reads and that lies outside the folders, or another Python; an empty text if there is none.

    The store may hold runs of other folders and of other people.
    """
    from pathlib import Path

    for values in (_get_request(run) or {}).values():
        for value in map(str, values if isinstance(values, list) else [values]):
            for file in (value, value.partition("=")[2]):  # a model may be named: "old=/a/model.skops"
                is_foreign = not any(Path(file).resolve().is_relative_to(folder.root) for folder in folders)
                if (Path(file).is_absolute() and is_foreign) or is_python_name(file):
                    return file
    return ""


def _get_request(run: Run) -> dict[str, Any] | None:
    request = run.parameters.get("words")
    return request if isinstance(request, dict) else None
