"""The page Studies: published tables computed again, ours beside the printed figures."""

from __future__ import annotations

import functools
from typing import Any

from nicegui import ui

from ...errors import UsageError
from ..components.command_form import CommandForm
from ..components.elements import build_later, show_errors
from ..components.job_list import JobList
from ..components.report_parts import build_report_parts
from ..workspaces import Workspace

ADDRESS = "/studies"
SCALES = ("small", "full")
COLUMNS = [
    {"name": "name", "label": "study", "field": "name", "align": "left", "sortable": True},
    {"name": "title", "label": "what it measures", "field": "title", "align": "left", "sortable": True},
    {"name": "compares", "label": "compares with", "field": "compares", "align": "left", "sortable": True},
]
SELECTION = '<q-checkbox v-model="props.selected" :aria-label="`Choose the study ${props.row.name}`" />'
LABELS = {"scale": "Scale: small takes two minutes at most, full may take hours"}


def build_studies(workspace: Workspace) -> None:
    """Build the page."""
    build_later("Reading the list of studies", list_studies, functools.partial(StudyPage, workspace))


class StudyPage:
    """The list of studies, the form, and the studies that this person ran."""

    def __init__(self, workspace: Workspace, studies: list[dict[str, str]]) -> None:
        self.workspace, self._studies = workspace, {study["name"]: study for study in studies}
        search = ui.input("Search the studies").props("clearable type=search").classes("job-choice")
        self.table = (
            ui.table(rows=studies, columns=COLUMNS, row_key="name", selection="single", pagination=8)
            .classes("study-table")
            .bind_filter_from(search, "value")
        )
        self.table.add_slot("body-selection", SELECTION)
        self.form = CommandForm("study", ["scale", "seed"], choices={"scale": SCALES}, labels=LABELS)
        with ui.element("div").classes("row"):
            self.button = ui.button("Run the chosen study", icon="play_arrow", on_click=self._start)
            self.status = ui.label("Choose a study in the table.").classes("muted").props('role="status"')
        self.table.on_select(lambda _: self._show_choice())
        self.jobs = JobList(workspace, ADDRESS, build_report_parts, noun="study")

    @property
    def _name(self) -> str:
        chosen: list[dict[str, Any]] = self.table.selected
        return str(chosen[0]["name"]) if chosen else ""

    def _show_choice(self) -> None:
        title = self._studies[self._name]["title"] if self._name in self._studies else ""
        self.status.set_text(f"{self._name}: {title}" if title else "Choose a study in the table.")

    def _start(self) -> None:
        with show_errors():
            if self._name not in self._studies:
                raise UsageError("Choose a study in the table first.")
            title = self._studies[self._name]["title"]
            job = self.workspace.start_job(
                "study", [self._name, *self.form.arguments], title=f"Study {self._name}: {title}", page=ADDRESS
            )
            self.jobs.show(job)


@functools.cache
def list_studies() -> list[dict[str, str]]:
    """Return the studies with their titles and the tables they compare with. Importing them takes seconds: call it in a thread."""
    from ...studies.catalogue import list_studies as list_all

    return [{str(name): str(value) for name, value in row.items()} for row in list_all().to_dict("records")]
