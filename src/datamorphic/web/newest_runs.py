"""The newest runs of the store, for the first page."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import StoreError, UsageError
from ..runs.run import Run

NEWEST_RUNS = 5


@dataclass(frozen=True, kw_only=True)
class RunLine:
    """A run in a few words."""

    id: int
    title: str
    state: str
    started: str


def list_newest_runs(store: str | None) -> list[RunLine]:
    """Return the newest runs, the newest first; none if there is no store."""
    from ..cli.stores import find_missing_default_store, open_store

    if find_missing_default_store(store):
        return []
    try:
        with open_store(store, reading=True) as run_store:
            runs = [] if run_store is None else run_store.runs(last=NEWEST_RUNS)
    except (StoreError, UsageError):
        return []
    return [_describe_run(run) for run in reversed(runs)]


def _describe_run(run: Run) -> RunLine:
    return RunLine(
        id=run.id,
        title=f"{run.verb} of {run.system}",
        state=run.state,
        started=run.started.astimezone().strftime("%Y-%m-%d %H:%M"),
    )
