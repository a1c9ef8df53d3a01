"""The page Set-up: the space of the chosen subject, changes of it, and the laws of its moves."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

from nicegui import ui

from ..._text import pluralise
from ...errors import UsageError
from ..components.elements import build_heading, clean_attribute, show_errors
from ..components.job_panel import JobPanel
from ..jobs import StudioJob
from ..space_edits import KIND_NAMES, NUMBER_KINDS, FeatureDocument, FeatureEdit, build_hints, has_editable_order
from ..subject import ChosenSubject
from ..workspaces import Workspace

ADDRESS = "/set-up"
ROWS_PER_PAGE = 25
MAX_NOTES = 8
LAW_EXAMPLES = (100, 500, 2_000)


def build_setup(workspace: Workspace) -> None:
    """Build the page."""
    SpacePanel(workspace)
    LawsPanel(workspace)


class SpacePanel:
    """The features as a table whose cells can be changed, and the constraints of the data."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._base: list[FeatureDocument] = []  # as the data suggest them
        self._features: list[FeatureDocument] = []  # as they are now
        self._edits: dict[str, FeatureEdit] = {}
        self._search, self._page = "", 1
        with ui.element("section").classes("card w-full").props('aria-label="Features"'):
            build_heading("Features")
            self._status = ui.element("div").classes("row").props('role="status"')
            self._content = ui.column().classes("w-full")
        ui.timer(0, self._load, once=True)

    async def _ask(self, subject: ChosenSubject) -> dict[str, Any]:
        workspace = self._workspace
        return await workspace.queries.ask(
            "space", subject=subject.to_document(), served=str(workspace.served_folder.root), trust=workspace.trust
        )

    async def _load(self) -> None:
        self._show_status("Reading the space")
        subject = self._workspace.subject
        reply, problem = None, ""
        try:
            reply = await self._ask(subject)
            base = await self._ask(replace(subject, hints={})) if subject.hints else reply
            self._base = base["features"]
        except UsageError as error:
            problem = str(error)
        self._status.clear()
        self._content.clear()
        with self._content:
            if reply is None:
                ui.label(problem).classes("error").props('role="alert"')
                if subject.hints:
                    ui.button("Reset to what the data suggest", on_click=self._reset).props("outline")
            else:
                self._show(reply)

    def _show_status(self, text: str) -> None:
        self._status.clear()
        with self._status:
            ui.spinner()
            ui.label(text)

    def _show(self, reply: dict[str, Any]) -> None:
        self._features = reply["features"]
        self._edits = {feature["name"]: FeatureEdit.of_feature(feature) for feature in self._features}
        changed = bool(self._workspace.subject.hints)
        rows = "" if reply["rows"] is None else f" of {reply['rows']:,} rows"
        ui.label(
            f"{pluralise(len(self._features), 'feature')}{rows}."
            + (" Some differ from what the data suggest." if changed else "")
        )
        for note in reply["notes"][:MAX_NOTES]:
            ui.label(note).classes("muted")
        if len(self._features) > ROWS_PER_PAGE:
            ui.input("Search a feature", on_change=self._filter).props("clearable")
        self._editable = reply["editable"]
        self._table = ui.column().classes("w-full")
        self._show_table()
        if self._editable:
            ui.label(
                "An empty limit is open: moves may go further than the data. The order of categories says which one is the next."
            ).classes("muted")
            with ui.element("div").classes("row"):
                ui.button("Apply changes", icon="check", on_click=self._apply)
                reset = ui.button("Reset to what the data suggest", on_click=self._reset).props("outline")
                reset.set_enabled(changed)
        else:
            ui.label(
                "The space cannot be changed here: the test system declares it, or its inputs are images or sequences."
            ).classes("muted")
        build_heading("Constraints", 3)
        constraints = reply["constraints"]
        if not constraints:
            ui.label(
                "No relation between columns holds in all rows." if self._editable else "The space declares none."
            ).classes("muted")
        else:
            ui.label("These hold in all rows. Cases that break them may be impossible:").classes("muted")
            with ui.element("ul").classes("plain-list"):
                for constraint in constraints:
                    with ui.element("li"):
                        ui.label(constraint)

    # -- the table -----------------------------------------------------------------------------------------------------

    def _filter(self, event: Any) -> None:
        self._search, self._page = str(event.value or "").casefold(), 1
        self._show_table()

    def _turn(self, event: Any) -> None:
        self._page = event.value
        self._show_table()

    def _show_table(self) -> None:
        features = [feature for feature in self._features if self._search in feature["name"].casefold()]
        pages = -(-len(features) // ROWS_PER_PAGE)
        first = (self._page - 1) * ROWS_PER_PAGE
        self._table.clear()
        with self._table:
            with (
                ui.element("div")
                .classes("cell-scroll")
                .props('tabindex=0 role="region" aria-label="Table of features"'),
                ui.element("table").classes("cell-table space-table"),
            ):
                with ui.element("thead"), ui.element("tr"):
                    for title in ("Feature", "Kind", "Lowest", "Highest", "Step", "Order of categories", "Missing"):
                        with ui.element("th").props('scope="col"'):
                            ui.label(title)
                with ui.element("tbody"):
                    for feature in features[first : first + ROWS_PER_PAGE]:
                        self._build_row(feature)
            if pages > 1:
                ui.pagination(1, pages, direction_links=True, value=self._page, on_change=self._turn)

    def _build_row(self, feature: FeatureDocument) -> None:
        name, edit = feature["name"], self._edits[feature["name"]]
        with ui.element("tr"):
            with ui.element("th").props('scope="row"'), ui.element("div").classes("row"):
                ui.label(name)
                if any(name in by_column for by_column in self._workspace.subject.hints.values()):
                    ui.label("changed").classes("badge")
            if not self._editable:
                self._build_fixed_cells(feature)
                return
            with ui.element("td"):
                kind = ui.select(KIND_NAMES, value=edit.kind).props("options-dense")
                self._describe_input(kind, f"Kind of {name}")
            number_inputs = []
            for field, title in (("low", "Lowest value"), ("high", "Highest value"), ("step", "Step")):
                with ui.element("td"):
                    element = ui.number(value=getattr(edit, field), on_change=functools.partial(_keep, edit, field))
                    self._describe_input(element, f"{title} of {name}")
                    number_inputs.append(element)
            with ui.element("td"):
                order = self._build_order(feature, edit)
            self._build_missing(feature)

            def show_kind() -> None:
                for element in number_inputs:
                    element.set_visibility(edit.kind in NUMBER_KINDS)
                order.set_visibility(edit.kind == "categorical")

            def change_kind(event: Any) -> None:
                edit.kind = event.value
                show_kind()

            kind.on_value_change(change_kind)
            show_kind()

    def _build_order(self, feature: FeatureDocument, edit: FeatureEdit) -> Any:
        if feature["kind"] != "categorical":
            return ui.label("as sorted").classes("muted")
        if not has_editable_order(feature):
            return ui.label(f"{feature['value_count']:,} categories, as sorted").classes("muted")
        element = ui.input(value=edit.order, on_change=functools.partial(_keep, edit, "order")).classes("space-order")
        self._describe_input(element, f"Order of the categories of {feature['name']}")
        return element

    def _build_fixed_cells(self, feature: FeatureDocument) -> None:
        edit = FeatureEdit.of_feature(feature)
        is_number = feature["kind"] in NUMBER_KINDS
        open_end = "open" if is_number else ""
        texts = (KIND_NAMES[feature["kind"]], edit.low, edit.high, edit.step, edit.order)
        for position, text in enumerate(texts):
            with ui.element("td"):
                ui.label(_format_cell(text) or (open_end if position in (1, 2) else ""))
        self._build_missing(feature)

    def _build_missing(self, feature: FeatureDocument) -> None:
        with ui.element("td"):
            count = feature.get("missing")
            ui.label(pluralise(count, "row") if count else "may be missing" if feature["nullable"] else "none")

    @staticmethod
    def _describe_input(element: Any, text: str) -> None:
        element.props(f'aria-label="{clean_attribute(text)}"')

    # -- changes -------------------------------------------------------------------------------------------------------

    async def _apply(self) -> None:
        workspace = self._workspace
        with show_errors():
            hints = build_hints(self._base, self._edits)
            if hints == workspace.subject.hints:
                ui.notify("Nothing was changed.")
                return
            subject = replace(workspace.subject, hints=hints)
            self._show_status("Trying the changes")
            try:
                await self._ask(subject)  # what is wrong with it is said before it is used
            finally:
                self._status.clear()
            workspace.choose(subject)
            ui.notify("The changes are used from now on.", type="positive")
            await self._load()

    async def _reset(self) -> None:
        self._workspace.choose(replace(self._workspace.subject, hints={}))
        ui.notify("The space is as the data suggest again.", type="positive")
        await self._load()


def _keep(edit: FeatureEdit, field: str, event: Any) -> None:
    setattr(edit, field, event.value)


def _format_cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


# -- laws --------------------------------------------------------------------------------------------------------------


class LawsPanel:
    """The check of the laws that exploration relies on."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        with ui.element("section").classes("card w-full").props('aria-label="Laws"'):
            build_heading("Laws")
            for text in describe_laws(workspace.subject):
                ui.label(text).classes("muted")
            with ui.element("div").classes("row"):
                self._examples = ui.select(list(LAW_EXAMPLES), value=LAW_EXAMPLES[1], label="Triples of points to try")
                self._examples.classes("start-target")
                ui.button("Check the laws", icon="rule", on_click=self._start).props("outline")
        self._jobs = ui.column().classes("w-full")
        with self._jobs:
            words = list_law_arguments(workspace.subject)
            jobs = [job for job in workspace.list_jobs(ADDRESS) if job.arguments[1 : 1 + len(words)] == words]
            for job in jobs[:1]:
                JobPanel(job, show_laws, show_report=False)

    def _start(self) -> None:
        workspace = self._workspace
        with show_errors():
            if self._examples.value not in LAW_EXAMPLES:
                raise UsageError("Choose a number from the list.")
            job = workspace.start_job(
                "laws",
                [*list_law_arguments(workspace.subject), f"--examples={self._examples.value}"],
                title=f"Laws of {workspace.subject.name}",
                page=ADDRESS,
                report=False,
            )
            self._jobs.clear()
            with self._jobs:
                JobPanel(job, show_laws, show_report=False)


def describe_laws(subject: ChosenSubject) -> list[str]:
    """Return what the check of the laws tries on a subject, and for a model file also what it does not try."""
    laws = (
        "Exploration relies on moves, midpoints and distances. The check tries them on many points: a distance is never negative, "
        "a midpoint lies between, a move goes no further than its step."
    )
    if subject.kind != "files":
        return [laws]
    return [
        laws,
        f"For a model file it tries the space that is read from {Path(subject.data).name}, with your changes above: its distance, its "
        "midpoint, and the moves up and down of each column.",
        f"It does not query {subject.name}. So the two laws about answers, determinism and batches, are not checked here: the page "
        "Check-up and the relations “repeats” and “batches” try them. What the answers must satisfy is tried on Relations and "
        "Hunts.",
    ]


def list_law_arguments(subject: ChosenSubject) -> list[str]:
    """Return what the command ``laws`` needs to find a subject: of a model file, its data.

    Examples
    --------
    >>> list_law_arguments(ChosenSubject.of_demo("Box 2"))
    ['--subject=Box 2']
    """
    if subject.kind != "files":
        return subject.arguments
    words = [f"--data={subject.data}"]
    if subject.target:
        words.append(f"--target={subject.target}")
    return [*words, *(f"--{option}={hint}" for option in subject.hints for hint in subject.format_hints(option))]


def show_laws(job: StudioJob) -> None:
    """Show the laws of a finished check, broken ones first, with their examples in words."""
    document = job.result or {}
    laws = document.get("laws", [])
    broken = [law for law in laws if law["state"] == "BROKEN"]
    ui.label(f"{pluralise(len(broken), 'law')} of {len(laws)} broken." if broken else "No law is broken.").classes(
        "law-verdict " + ("state-failed" if broken else "state-finished")
    )
    if skipped := [law["law"] for law in laws if law["state"] == "NOT CHECKED"]:
        ui.label(f"Not checked: {', '.join(skipped)}. The reasons are below.")
    order = {"BROKEN": 0, "HOLDS": 1, "NOT CHECKED": 2}
    for law in sorted(laws, key=lambda law: order.get(law["state"], 3)):
        with ui.element("div").classes("finding" + (" fault" if law["state"] == "BROKEN" else "")):
            with ui.element("div").classes("row"):
                ui.label(law["law"]).classes("tile-name")
                ui.label(law["state"].lower()).classes(_LAW_CLASSES.get(law["state"], "muted"))
            ui.label(law["says"])
            if law["words"]:
                ui.label(law["words"]).classes("muted")
            if law["culprit"]:
                ui.label(f"Look at {law['culprit']}.").classes("muted")


_LAW_CLASSES = {"BROKEN": "state-failed", "HOLDS": "state-finished"}
