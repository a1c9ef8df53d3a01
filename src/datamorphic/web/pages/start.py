"""The page Start: choose what to test."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from nicegui import events, run, ui

from ...data.subjects import subjects
from ...errors import UsageError
from ..commands import build_arguments
from ..components.elements import build_heading, clean_attribute, show_errors
from ..demo_model import PLANTED_MISTAKES
from ..folder import DATA_SUFFIXES
from ..module_classes import find_classes, read_sources
from ..newest_runs import list_newest_runs
from ..subject import ChosenSubject, find_file
from ..thumbnails import DESCRIPTIONS, HEIGHT, WIDTH, draw_classifier
from ..workspaces import Workspace
from .checkup import start_checkup

CHECKUP_ADDRESS, SETUP_ADDRESS, ACTIVITIES_ADDRESS, RUNS_ADDRESS = "/check-up", "/set-up", "/activities", "/runs"
NO_TARGET = ""
#: what a lender expects of the demo, for the form of the check-up
DEMO_EXPECTATIONS = {"protected": ["gender"], "monotone": ["income=up"], "towards": "approved"}
MAX_FILES_WITHOUT_SEARCH = 12
TRUST_LABEL = "I trust this file: run the code in it"
TRUST_MISSING = "Only the person who started the studio can allow that: datamorphic web --trust."
#: runs in the browser: sends the names and sizes of the files that the uploader refused
EMIT_REFUSED_FILES = "entries => emit(entries.map(entry => [entry.file.name, entry.file.size]))"
#: what is inside the area for uploads; the trigger holds the hidden input of files
UPLOAD_HEADER = """
<div class="start-drop">
  <q-btn no-caps outline dense color="primary" icon="upload" label="Upload files" class="q-px-sm" @click="props.pickFiles"></q-btn>
  <span>or drop a model and a CSV or Parquet file here, at most {limit} MB each</span>
  <span class="file-trigger"><q-uploader-add-trigger></q-uploader-add-trigger></span>
</div>
"""


def build_start(workspace: Workspace, demo: str) -> None:
    """Build the page, for `demo` with the demonstration model first."""
    if demo:
        _DemoCard(workspace, prepare=True)
    elif workspace.subject.kind != "none":
        with ui.element("div").classes("row"):
            ui.label(f"You are testing {workspace.subject.name}.")
            for text, address in (("Set-up", SETUP_ADDRESS), ("Check-up", CHECKUP_ADDRESS)):
                ui.link(f"Go to {text}", address)
    with ui.element("div").classes("start-grid"):
        FileChooser(workspace)
        with ui.element("div").classes("start-side"):
            if not demo:
                _DemoCard(workspace)
            _SystemCard(workspace)
            _RunsCard(workspace)
    _build_classifiers(workspace)


# -- a model and data --------------------------------------------------------------------------------------------------


class FileChooser:
    """Chooses a model file, a data file and the column of the labels, with a preview of the data."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._preview_number = 0  # of the newest preview: replies to older questions are dropped
        limit = workspace.options.upload_megabytes
        with ui.element("section").classes("card").props('aria-label="A model of yours"'):
            build_heading("A model of yours")
            ui.label("A model file and a table with rows that it can answer.").classes("muted")
            with ui.element("div").classes("form-grid"):
                self._model = ui.select({}, label="Model", on_change=self._change_model)
                self._data = ui.select({}, label="Data", on_change=self._load_preview)
            self._missing = ui.label().classes("muted")
            upload = ui.upload(
                multiple=True, auto_upload=True, max_file_size=limit * 1_000_000, on_upload=self._take_upload
            ).on("rejected", self._explain_refusal, js_handler=EMIT_REFUSED_FILES)
            upload.classes("w-full start-upload").props(f'flat bordered accept="{",".join(workspace.upload_suffixes)}"')
            upload.add_slot("header", UPLOAD_HEADER.format(limit=limit))
            self._uploads = ui.element("div").classes("w-full")
            self._preview = ui.column().classes("w-full")
            self._trust = ui.checkbox(TRUST_LABEL, on_change=self._load_preview)
            self._trust.set_enabled(workspace.options.trust)
            self._trust_missing = ui.label(TRUST_MISSING).classes("muted")
            with ui.element("div").classes("row"):
                self._button = ui.button(
                    "Test this model", icon="play_arrow", on_click=lambda: self._choose("check-up")
                )
                self._setup = ui.button("Look at its set-up first", on_click=lambda: self._choose("set-up"))
                self._setup.props("outline")
        self._target: Any = None
        self._enable(False)
        self._show_trust(False)
        ui.timer(0, self._list_files, once=True)

    def _enable(self, enabled: bool) -> None:
        self._button.set_enabled(enabled)
        self._setup.set_enabled(enabled)

    def _show_trust(self, needed: bool) -> None:
        self._trust.set_visibility(needed)
        self._trust_missing.set_visibility(needed and not self._workspace.options.trust)

    @property
    def _is_trusted(self) -> bool:
        return self._workspace.options.trust and bool(self._trust.value)

    async def _change_model(self) -> None:
        self._trust.set_value(False)  # trust is for one file
        self._show_trust(False)
        await self._load_preview()

    def _explain_refusal(self, event: events.GenericEventArguments) -> None:
        for name, size in event.args:
            with show_errors():
                self._workspace.validate_upload(str(name), int(size))

    async def _list_files(self, model: str | None = None, data: str | None = None) -> None:
        """Offer the files of the served folder and the uploads; choose those given, or the only ones."""
        workspace = self._workspace
        models, tables = await run.io_bound(_list_choices, workspace) or ({}, {})
        for select, names, wanted in ((self._model, models, model), (self._data, tables, data)):
            value = wanted if wanted in names else select.value if select.value in names else None
            if value is None and len(names) == 1:
                value = next(iter(names))
            if len(names) > MAX_FILES_WITHOUT_SEARCH:
                select.props("use-input input-debounce=0")
            select.set_options(names, value=value)
        self._show_uploads()
        missing = [noun for noun, names in (("model files", models), ("tables", tables)) if not names]
        text = f"There are no {' and no '.join(missing)} in the served folder. Upload them here."
        self._missing.set_text(text if missing else "")
        self._missing.set_visibility(bool(missing))

    def _show_uploads(self) -> None:
        """List the files that this person has uploaded, each with a button that deletes it."""
        folder = self._workspace.uploads
        names = sorted({*folder.list_models(), *folder.list_data()})
        self._uploads.clear()
        if not names:
            return
        with self._uploads, ui.expansion(f"Your uploads ({len(names)})").classes("w-full"):
            for name in names:
                with ui.element("div").classes("row upload-line"):
                    ui.label(f"{name} ({_format_size(folder.find_file(name).stat().st_size)})")
                    ui.button(icon="delete_outline", on_click=functools.partial(self._ask_to_delete, name)).props(
                        f'flat dense aria-label="Delete {clean_attribute(name)}"'
                    )

    async def _ask_to_delete(self, name: str) -> None:
        with ui.dialog().props('aria-label="Delete an upload"') as dialog, ui.card().classes("confirmation"):
            ui.label(f"Delete the uploaded file {name}? Results of jobs that used it stay.")
            with ui.element("div").classes("row"):
                ui.button("Delete", on_click=lambda: dialog.submit(True)).props("color=negative")
                ui.button("Keep it", on_click=lambda: dialog.submit(False)).props("outline autofocus")
        confirmed = await dialog
        dialog.delete()
        if not confirmed:
            return
        with show_errors():
            was_chosen = self._workspace.remove_upload(name)
            ui.notify(f"{name} is deleted." + (" Choose what to test again." if was_chosen else ""), type="positive")
            await self._list_files()

    async def _take_upload(self, event: events.UploadEventArguments) -> None:
        name = event.file.name
        with show_errors():
            path = await run.io_bound(self._workspace.save_upload, name, await event.file.read())
            assert path is not None
            is_table = path.name.lower().endswith(DATA_SUFFIXES)
            await self._list_files(data=path.name) if is_table else await self._list_files(model=path.name)
            ui.notify(f"{path.name} is uploaded.", type="positive")

    async def _load_preview(self) -> None:
        """Show the first rows of the data, and offer their columns as the target."""
        workspace = self._workspace
        self._preview_number += 1
        number = self._preview_number
        self._enable(False)
        self._target = None
        self._preview.clear()
        if not self._data.value:
            return
        with self._preview, ui.element("div").classes("row").props('role="status"'):
            ui.spinner()
            ui.label("Reading the data")
        reply: dict[str, Any] | None = None
        with show_errors():
            data, model = str(self._data.value), str(self._model.value or "")
            if not data.lower().endswith(DATA_SUFFIXES):
                raise UsageError(f"{data!r} is not a file with data. Choose one from the list.")
            reply = await workspace.queries.ask(
                "preview",
                data=str(find_file(workspace.folders, data)),
                model=ChosenSubject.of_files(workspace.folders, model, data).model if model else None,
                trust=self._is_trusted,
            )
        if number != self._preview_number:
            return
        self._preview.clear()
        if reply is not None:
            with self._preview:
                self._show_preview(reply)
            self._show_trust(reply["untrusted"] or self._is_trusted)
            self._enable(bool(self._model.value) and not reply["problem"])

    def _show_preview(self, reply: Mapping[str, Any]) -> None:
        if reply["problem"]:
            ui.label(reply["problem"]).classes("error").props('role="alert"')
        columns: list[str] = reply["columns"]
        with ui.element("div").classes("row"):
            self._target = ui.select(
                {NO_TARGET: "No column: all are inputs"} | {name: name for name in columns},
                label="Column with the label",
                value=reply["target"],
                on_change=lambda event: describe(event.value),
            )
            self._target.classes("start-target")
            labels = ui.label().classes("muted")

        def describe(name: str) -> None:
            values = reply["labels"].get(name, "")
            labels.set_text(f"Its values: {values}" if values else "")

        describe(reply["target"])
        rows = reply["rows"]
        width = len(rows[0]) if rows else len(columns)
        more = f", the first {width} columns" if width < len(columns) else ""
        ui.label(f"{reply['row_count']:,} rows and {len(columns)} columns. The first rows{more}:").classes("muted")
        build_table(columns[:width], rows, "The first rows of the data")

    def _choose(self, page: str) -> None:
        workspace = self._workspace
        with show_errors():
            if not self._model.value or not self._data.value:
                raise UsageError("Choose a model file and a data file.")
            target = str(self._target.value or "") if self._target is not None else ""
            model, data = str(self._model.value), str(self._data.value)
            workspace.choose(ChosenSubject.of_files(workspace.folders, model, data, target, trust=self._is_trusted))
            ui.navigate.to(f"/{page}")


def _format_size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} kB"


def _list_choices(workspace: Workspace) -> tuple[dict[str, str], dict[str, str]]:
    """Return the model files and the data files by name, with what to show; an upload hides a file of the same name."""
    choices: list[dict[str, str]] = []
    for uploaded_names, names in (
        (workspace.uploads.list_models(), workspace.served_folder.list_models()),
        (workspace.uploads.list_data(), workspace.served_folder.list_data()),
    ):
        choices.append({name: name for name in names} | {name: f"{name} (uploaded)" for name in uploaded_names})
    return choices[0], choices[1]


def build_table(columns: list[str], rows: list[list[str]], title: str) -> None:
    """Build a plain table; it scrolls by itself if it is wide."""
    with (
        ui.element("div")
        .classes("cell-scroll")
        .props(f'tabindex=0 role="region" aria-label="{clean_attribute(title)}"'),
        ui.element("table").classes("cell-table"),
    ):
        with ui.element("thead"), ui.element("tr"):
            for column in columns:
                with ui.element("th").props('scope="col"'):
                    ui.label(column)
        with ui.element("tbody"):
            for row in rows:
                with ui.element("tr"):
                    for value in row:
                        with ui.element("td"):
                            ui.label(value)


# -- the other choices -------------------------------------------------------------------------------------------------


class _DemoCard:
    """A model of ours with planted mistakes; its files are made in a worker process."""

    def __init__(self, workspace: Workspace, *, prepare: bool = False) -> None:
        self._workspace = workspace
        section = ui.element("section").classes("card" + (" start-demo" if prepare else ""))
        with section.props('aria-label="The demo"'):
            build_heading("See it work: the demo")
            ui.label(
                "A random forest decides about loans. It was trained on 1,000 decisions of a bank that made mistakes. "
                "The check-up finds them without knowing a single right answer:"
            )
            with ui.element("ul").classes("plain-list"):
                for mistake in PLANTED_MISTAKES:
                    with ui.element("li"):
                        ui.label(mistake)
            with ui.element("div").classes("row"):
                self._button = ui.button("Test the demo model", icon="play_arrow", on_click=self._choose)
                self._status = ui.label().classes("muted").props('role="status"')
        if prepare:
            ui.timer(0, self._prepare, once=True)

    async def _prepare(self) -> dict[str, Any] | None:
        self._status.set_text("Training the model")
        reply = None
        with show_errors():
            reply = await self._workspace.queries.ask("demo", folder=str(self._workspace.uploads.root))
        self._status.set_text("" if reply is None else "The model and its data are ready.")
        return reply

    async def _choose(self) -> None:
        self._button.disable()
        reply = await self._prepare()
        self._button.enable()
        if reply is None:
            return
        with show_errors():
            self._workspace.choose(
                ChosenSubject.of_files(
                    self._workspace.folders,
                    reply["model"],
                    reply["data"],
                    reply["target"],
                    expectations=DEMO_EXPECTATIONS,
                )
            )
            start_checkup(self._workspace, build_arguments("test", DEMO_EXPECTATIONS))
            ui.navigate.to(CHECKUP_ADDRESS)


class _SystemCard:
    """The test systems in the modules of the served folder."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        with ui.element("section").classes("card").props('aria-label="A test system"'):
            build_heading("A test system of yours")
            ui.label("A class of the served folder whose methods are marked as morphisms.").classes("muted")
            self._list = ui.column().classes("w-full")
        ui.timer(0, self._list_systems, once=True)

    async def _list_systems(self) -> None:
        sources = await run.io_bound(read_sources, self._workspace.served_folder) or []
        # here, and not in a thread: before Python 3.11.9, two threads that parse at the same time disturb each other, and
        # NiceGUI parses on the event loop
        systems = [system for file, source in sources for system in find_classes(file, source)]
        with self._list:
            if not systems:
                ui.label("There is none in this folder.").classes("muted")
                return
            options = {
                (system.file, system.name): f"{system.name} in {system.file} ({system.summary})" for system in systems
            }
            select = ui.select(options, label="Test system", value=next(iter(options))).classes("w-full")

            def choose() -> None:
                with show_errors():
                    file, name = select.value
                    self._workspace.choose(ChosenSubject.of_module(self._workspace.served_folder, file, name))
                    ui.navigate.to(ACTIVITIES_ADDRESS)

            ui.button("Test with it", on_click=choose).props("outline")


class _RunsCard:
    """The newest runs of the store."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        with ui.element("section").classes("card").props('aria-label="Earlier runs"'):
            build_heading("An earlier run")
            self._list = ui.column().classes("w-full start-runs")
            ui.link("All runs", RUNS_ADDRESS)
        ui.timer(0, self._list_runs, once=True)

    async def _list_runs(self) -> None:
        runs = await run.io_bound(list_newest_runs, self._workspace.options.store) or []
        with self._list:
            if not runs:
                ui.label("There are none yet.").classes("muted")
            for item in runs:
                with ui.element("div").classes("row"):
                    ui.link(f"{item.id}: {item.title}", f"{RUNS_ADDRESS}?run={item.id}")
                    ui.label(f"{item.state}, {item.started}").classes("muted")


def _build_classifiers(workspace: Workspace) -> None:
    """Build a tile for each coded classifier."""
    with ui.element("section").classes("card").props('aria-label="Classifiers with known borders"'):
        build_heading("A classifier with a known border")
        ui.label(
            "Ten small programs that colour the points of a plane (Zhu & Bayley 2022). Their borders are known, so that one sees "
            "what an exploration finds."
        ).classes("muted")
        with ui.element("div").classes("start-tiles"):
            for name in subjects:
                _build_tile(workspace, name)


def _build_tile(workspace: Workspace, name: str) -> None:
    def choose() -> None:
        with show_errors():
            workspace.choose(ChosenSubject.of_demo(name))
            ui.navigate.to(ACTIVITIES_ADDRESS)

    with ui.element("button").classes("tile").props('type="button"').on("click", choose):
        picture = ui.element("img").props(f'alt="" width={WIDTH} height={HEIGHT}')
        picture.props["src"] = draw_classifier(name)
        with ui.element("span").classes("tile-text"):
            ui.label(name).classes("tile-name")
            ui.label(DESCRIPTIONS[name]).classes("muted")
