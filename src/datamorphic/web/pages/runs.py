"""The page Runs: the list of the store, and one run with its parameters, verdicts, report and files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nicegui import ui

from ..._text import pluralise
from ...cli.runs import HIDDEN_PARAMETERS
from ...errors import DatamorphicError, UsageError
from ...runs.run import Run
from ..components.elements import build_heading, build_lines, build_table, show_errors
from ..components.front_plot import FrontPlot
from ..components.job_panel import JobPanel
from ..jobs import FRONT_FILE, StudioJob
from ..stored_runs import (
    RunListing,
    find_foreign_file,
    is_repeatable,
    is_resumable,
    list_repeat_arguments,
    read_run,
    read_runs,
)
from ..workspaces import Workspace
from .exploration import show_exploration_result

ADDRESS = "/runs"
ALL_STATES, ALL_VERBS = "all states", "all commands"
ROWS_PER_PAGE = 15
COLUMNS = [
    {"name": name, "label": label, "field": field, "align": "left", "sortable": True}
    for name, label, field in (
        ("number", "run", "number"),
        ("state", "state", "state"),
        ("verb", "command", "verb"),
        ("system", "system", "system"),
        ("started", "started", "started"),
        ("seconds", "took", "seconds"),
        ("outcome", "found", "outcome"),
    )
]
#: stored parameters that are paths; only the name of the file is shown
FILE_PARAMETERS = ("model", "data", "tree", "script")


def build_runs(workspace: Workspace, run: str) -> None:
    """Build the page: one run, or the table of all."""
    if run:
        with ui.element("div").classes("row"):
            ui.link("All runs", ADDRESS)
        RunDetails(workspace, run)
    else:
        RunTable(workspace)


class RunTable:
    """The list of the runs, with filters."""

    def __init__(self, workspace: Workspace) -> None:
        self._store = workspace.options.store
        self._listing = RunListing([])
        with ui.element("div").classes("row"):
            self._text = ui.input("Filter", placeholder="system, command or result", on_change=self._show)
            self._text.props('clearable debounce="200"').classes("axis-select")
            self._state = ui.select([ALL_STATES], value=ALL_STATES, label="State", on_change=self._show)
            self._verb = ui.select([ALL_VERBS], value=ALL_VERBS, label="Command", on_change=self._show)
            for select in (self._state, self._verb):
                select.classes("run-filter")
            ui.button("Refresh", icon="refresh", on_click=self._read).props("outline")
        self._message = ui.label("Reading the runs").classes("muted").props('role="status"')
        self._table = ui.table(
            columns=COLUMNS,
            rows=[],
            row_key="number",
            pagination={"rowsPerPage": ROWS_PER_PAGE, "sortBy": "number", "descending": True},
        ).classes("w-full runs-table")
        self._table.props("flat bordered dense wrap-cells")
        self._table.add_slot(
            "body-cell-number",
            '<q-td :props="props"><a class="run-link" :href="\'/runs?run=\' + props.value" '
            ":aria-label=\"'Open run ' + props.value\">{{ props.value }}</a></q-td>",
        )
        self._table.add_slot(
            "body-cell-state",
            '<q-td :props="props"><span :class="\'state-\' + props.value">{{ props.value }}</span></q-td>',
        )
        self._table.add_slot("body-cell-seconds", '<q-td :props="props">{{ props.row.duration }}</q-td>')
        self._table.set_visibility(False)
        ui.timer(0.01, self._read, once=True)

    async def _read(self) -> None:
        self._listing = await asyncio.to_thread(read_runs, self._store)
        rows = self._listing.rows
        for select, everything, values in (
            (self._state, ALL_STATES, {row.state for row in rows}),
            (self._verb, ALL_VERBS, {row.verb for row in rows}),
        ):
            options = [everything, *sorted(values)]
            select.set_options(options, value=select.value if select.value in options else everything)
        self._show()

    def _show(self) -> None:
        words = str(self._text.value or "").lower().split()
        rows = [
            asdict(row)
            for row in self._listing.rows
            if self._state.value in (ALL_STATES, row.state)
            and self._verb.value in (ALL_VERBS, row.verb)
            and all(word in f"{row.number} {row.verb} {row.system} {row.state} {row.outcome}".lower() for word in words)
        ]
        self._table.rows = rows
        self._table.set_visibility(bool(self._listing.rows))
        total = len(self._listing.rows)
        text = f"{len(rows):,} of {pluralise(total, 'run')}" if len(rows) < total else pluralise(total, "run")
        self._message.set_text(self._listing.message or text)


class RunDetails:
    """One run: what is stored about it, and what can be done with it."""

    def __init__(self, workspace: Workspace, number: str) -> None:
        self._workspace = workspace
        self._part = ui.column().classes("w-full")
        with self._part:
            ui.label("Reading the run").classes("muted").props('role="status"')
        self._jobs = ui.column().classes("w-full")
        self._number = int(number) if number.isascii() and number.isdigit() and len(number) < 12 else 0
        ui.timer(0.01, self._read, once=True)
        with self._jobs:
            for job in workspace.list_jobs(self._page)[:1]:
                self._show_job(job)

    @property
    def _page(self) -> str:
        return f"{ADDRESS}?run={self._number}"

    async def _read(self) -> None:
        try:
            run = await asyncio.to_thread(read_run, self._workspace.options.store, self._number)
        except DatamorphicError as error:
            self._part.clear()
            with self._part:
                ui.label(str(error)).classes("error").props('role="alert"')
            return
        self._part.clear()
        with self._part:
            self._build(run)

    def _build(self, run: Run) -> None:
        build_heading(f"Run {run.id}: {run.verb} of {run.system}")
        with ui.element("div").classes("row"):
            ui.label(run.state).classes(f"state-{run.state}").props('data-state=""')
            if run.message:
                ui.label(run.message)
        with ui.element("div").classes("row"):
            if is_resumable(run):
                ui.button("Resume", icon="play_arrow", on_click=lambda: self._resume(run))
            if is_repeatable(run):
                ui.button("Run it again", icon="replay", on_click=lambda: self._repeat(run)).props("outline")
            if run.state != "running":
                ui.button("Report and files", icon="description", on_click=lambda: self._export(run)).props("outline")
            ui.button("Refresh", icon="refresh", on_click=self._read).props("flat")
        if run.verdicts:
            rows = [
                [
                    str(verdict.get("verdict", "")).lower(),
                    str(verdict.get("says", "")),
                    f"{verdict['cases']:,}" if isinstance(verdict.get("cases"), int) else "",
                    str(verdict.get("words") or ""),
                ]
                for verdict in run.verdicts
            ]
            build_heading("Verdicts", 3)
            build_table(["verdict", "about", "cases", "example"], rows, "Verdicts")
        with ui.expansion("Options and figures", value=not self._workspace.list_jobs(self._page)).classes("w-full"):
            build_table(["what", "value"], list_facts(run), "Options and figures of the run")

    # -- jobs ----------------------------------------------------------------------------------------------------------

    def _require_own_files(self, run: Run) -> None:
        foreign_file = find_foreign_file(run, self._workspace.folders)
        if foreign_file:
            raise UsageError(
                f"Run {run.id} reads {Path(foreign_file).name}, which is not in the served folder. "
                f"Start the studio on its folder, or use a terminal: datamorphic runs show {run.id}"
            )

    def _resume(self, run: Run) -> None:
        with show_errors():
            self._require_own_files(run)
            self._follow(
                self._workspace.start_job(
                    "runs resume",
                    [str(run.id)],
                    title=f"Run {run.id}, resumed",
                    page=self._page,
                    report=run.verb in ("explore", "optimise", "script"),
                    front=run.verb == "explore",
                    trust=True,
                )
            )

    def _repeat(self, run: Run) -> None:
        with show_errors():
            self._require_own_files(run)
            words = [word for word in list_repeat_arguments(run) if word != "--trust"]  # the studio decides on that
            title = f"Run {run.id}, again"
            self._follow(self._workspace.start_job(run.verb, words, title=title, page=self._page, trust=True))

    def _export(self, run: Run) -> None:
        with show_errors():
            self._follow(
                self._workspace.start_job(
                    "runs export",
                    [str(run.id)],
                    title=f"Report and files of run {run.id}",
                    page=self._page,
                    report=False,
                    folder_option="--to",
                )
            )

    def _follow(self, job: StudioJob) -> None:
        self._jobs.clear()
        with self._jobs:
            self._show_job(job)

    def _show_job(self, job: StudioJob) -> None:
        JobPanel(job, self._show_result, show_end=self._read_again)

    def _read_again(self, job: StudioJob) -> None:
        """Show the run as the job left it."""
        ui.timer(0.01, self._read, once=True)

    def _show_result(self, job: StudioJob) -> None:
        document = job.result or {}
        if "capability" in document:
            show_exploration_result(self._workspace, job, show_report=False)
            return
        if "headline" in document:
            ui.label(str(document["headline"])).classes("lead")
        names = [Path(str(file)).name for file in document.get("files", ()) if isinstance(file, str)]
        names = [name for name in names if job.get_file(name) is not None]
        if names:
            with ui.element("div").classes("row"):
                ui.label("Download:")
                for name in names:
                    ui.link(name, f"/jobs/{job.number}/files/{name}")
        path = job.get_file(FRONT_FILE)
        if path is not None:
            FrontPlot(self._workspace, path)
        build_lines(document.get("notes", ()))


def list_facts(run: Run) -> list[list[str]]:
    """Return what is stored about a run as rows of a table; of files, only the names are shown."""
    request = run.parameters.get("words") or {}
    files = ", ".join(f"{file.name} ({file.rows:,} rows)" for file in run.artifacts)
    facts: dict[str, Any] = {
        "started": run.started.astimezone().strftime("%Y-%m-%d %H:%M:%S"),
        "ended": run.ended and run.ended.astimezone().strftime("%Y-%m-%d %H:%M:%S"),
        "done": None if run.done is None else f"{run.done:.0%}",
        "runs": run.runs or None,
        "calls": run.calls or None,
        **{name: Path(str(request[name])).name for name in FILE_PARAMETERS if request.get(name)},
        "subject": request.get("subject"),
        "target": request.get("target"),
        "seed": None if run.seed is None else str(run.seed),
        **{name: value for name, value in run.parameters.items() if name not in HIDDEN_PARAMETERS},
        **{name: value for name, value in run.summary.items() if not isinstance(value, list | dict)},
        "versions": run.versions,
        "computed on": {name: value for name, value in run.environment.items() if name != "folder"},
        "files": files or None,
    }
    return [[name.replace("_", " "), _format_fact(value)] for name, value in facts.items() if value not in (None, "")]


def _format_fact(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {item}" for name, item in value.items()) or "none"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
