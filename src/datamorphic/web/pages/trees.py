"""The page Trees: what the data exercise in a tree model, its live mutants, and small test sets."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from ..._text import format_percent
from ...trees.coverage.page import CRITERION_TEXTS
from ..components.command_form import CommandForm
from ..components.elements import build_after, build_plain_table, show_errors
from ..components.job_list import JobList
from ..components.report_parts import build_report_parts
from ..jobs import StudioJob
from ..workspaces import Workspace

ADDRESS = "/trees"
CRITERIA = tuple(CRITERION_TEXTS)
TASKS = {"cover": "Measure what the data cover", "select": "Choose a small test set"}
ROWS_FILE, TREE_FILE = "rows.csv", "tree.svg"
LABELS = {
    "criterion": "Criterion",
    "surrogate": "Fit a tree to the model’s answers, and use that (--surrogate)",
    "minimal": "The smallest set, not a random one",
    "offset": "Distance to a limit (BVA)",
    "per_node": "Constants per decision (DTMT)",
    "tolerance": "Smallest difference that counts (DTMT)",
}
OFFSETS, CONSTANTS = ("step", "unit", "0.5"), ("neighbours", "2", "5", "10", "all")


def build_trees(workspace: Workspace) -> None:
    """Build the page, or say what it needs."""
    subject = workspace.subject
    if subject.kind != "files":
        ui.label("This page needs a model file with trees, and its data.")
        ui.link("Choose them on the page Start.", "/")
        return
    ask = functools.partial(
        workspace.queries.ask, "trees", model=subject.model, data=subject.data, trust=workspace.trust
    )
    build_after("Reading the trees", ask, functools.partial(TreePage, workspace))


class TreePage:
    """The form, a table of all criteria that were measured, and the jobs of this person.

    `reply` says whether the trees of the model can be read. If not, a tree that is fitted to its answers is the default.
    """

    def __init__(self, workspace: Workspace, reply: Mapping[str, Any]) -> None:
        self.workspace = workspace
        self.task = ui.radio(TASKS, value="cover", on_change=self._show_form).props("inline")
        build_plain_table("Criteria: when a test set is good enough", [], list(CRITERION_TEXTS.items()))
        if reply["problem"]:
            ui.label(f"{reply['problem']} So a tree is fitted to its answers, and that tree is measured.")
        self.forms: dict[str, CommandForm] = {}
        self._places: dict[str, ui.element] = {}
        choices = {"criterion": CRITERIA, "offset": OFFSETS, "per_node": CONSTANTS}
        for command, main in (("cover", ["criterion"]), ("select", ["criterion", "minimal", "seed"])):
            with ui.element("div").classes("w-full") as place:
                self.forms[command] = CommandForm(
                    command,
                    [*main, "surrogate"],
                    ["per_node", "offset", "tolerance"],
                    choices=choices,
                    values={"surrogate": bool(reply["problem"])},
                    labels=LABELS,
                )
            self._places[command] = place
        self._show_form()
        ui.button("Start", icon="play_arrow", on_click=self._start)
        self.summary = ui.column().classes("w-full")
        self._show_summary()
        self.jobs = JobList(workspace, ADDRESS, self._show_result, noun="result")

    def _show_form(self) -> None:
        for command, place in self._places.items():
            place.set_visibility(command == self.task.value)

    def _start(self) -> None:
        with show_errors():
            command = "select" if self.task.value == "select" else "cover"
            files = {"--out": ROWS_FILE} if command == "select" else {"--fix": ROWS_FILE, "--svg": TREE_FILE}
            words = self.forms[command].arguments
            criterion = next((word.partition("=")[2] for word in words if word.startswith("--criterion=")), CRITERIA[0])
            what = "Test set for" if command == "select" else "What the data cover in"
            job = self.workspace.start_job(
                command,
                [*self.workspace.subject.arguments, *words],
                title=f"{what} {self.workspace.subject.name}: {criterion}",
                page=ADDRESS,
                files=files,
            )
            self.jobs.show(job)

    def _show_result(self, job: StudioJob) -> None:
        self._show_summary()
        with ui.element("div").classes("row"):
            if job.get_file(ROWS_FILE) is not None:
                text = "the test set" if job.arguments[0] == "select" else "rows that cover what is missing"
                ui.link(f"Download {text} (CSV)", f"/jobs/{job.number}/files/{ROWS_FILE}")
            if job.get_file(TREE_FILE) is not None:
                ui.link("Download the drawing (SVG)", f"/jobs/{job.number}/files/{TREE_FILE}")
        build_report_parts(job)

    def _show_summary(self) -> None:
        """Show the newest figures of each criterion side by side."""
        rows = summarise_coverage(self.workspace.list_jobs(ADDRESS), self.workspace.subject.arguments)
        self.summary.clear()
        if rows:
            with self.summary:
                build_plain_table("Measured so far", ["criterion", "rows", "covered", "share"], rows)


def summarise_coverage(jobs: Sequence[StudioJob], subject: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """Return criterion, rows, what is covered, and the share, from the newest measurement of each criterion."""
    rows: dict[str, tuple[str, str, str, str]] = {}
    for job in jobs:
        is_concerned = job.arguments[0] == "cover" and job.own_arguments[: len(subject)] == list(subject)
        document = job.result if is_concerned and job.ended else None
        if not document or "criterion" not in document or document["criterion"] in rows:
            continue
        mutants = document.get("mutants")
        covered = f"{document['covered']:,} of {document['leaves']:,} leaves"
        if isinstance(mutants, dict):
            covered = str(document["headline"]).removeprefix("The tests ").partition(" (")[0]
        rows[document["criterion"]] = (
            str(document["criterion"]),
            f"{document['rows']:,}",
            covered,
            format_percent(document["share"]),
        )
    return [rows[name] for name in CRITERIA if name in rows]
