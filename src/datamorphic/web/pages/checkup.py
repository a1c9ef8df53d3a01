"""The page Check-up: all checks of `dm.test` on the chosen subject, with findings as they come."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from ..._text import pluralise
from ...audit.checks import CHECKS
from ...core.result import LEVELS
from ..audit_files import EXPORTS, FindingSummary, export_result, pin_result, summarise_findings
from ..columns import SubjectColumns, read_columns
from ..commands import read_values
from ..components.command_form import CommandForm
from ..components.elements import build_heading, build_later, show_errors
from ..components.job_list import JobList
from ..components.report_parts import build_part, build_sections, build_summary
from ..jobs import StudioJob
from ..workspaces import Workspace

ADDRESS = "/check-up"
BUDGETS = ("10s", "30s", "1m", "5m", "30m", "1000 runs", "10000 runs", "100000 runs")
LABELS = {
    "protected": "Protected columns",
    "monotone": "One direction only",
    "invariant": "Must never matter",
    "towards": "“Up” leads towards",
    "only": "Run only these checks",
    "tolerance": "Ignore differences up to",
}
LEVEL_NAMES = {"fault": "Faults", "concern": "Concerns", "advice": "Advice"}
DECLARATION_TEXTS = {
    "protected": "Declare: no decision may depend on {}",
    "invariant": "Declare: {} must not change the answer",
    "monotone": "Declare: {} only",
}


def build_checkup(workspace: Workspace) -> None:
    """Build the page."""
    read = functools.partial(read_columns, workspace.subject)
    build_later("Reading the columns of the data", read, functools.partial(CheckupPage, workspace))


def start_checkup(workspace: Workspace, arguments: Sequence[str]) -> StudioJob:
    """Start a check-up of the chosen subject with the arguments of a form."""
    subject = workspace.subject
    words = [*subject.arguments, *arguments]
    return workspace.start_job("test", words, title=f"Check-up of {subject.name}", page=ADDRESS)


class CheckupPage:
    """The form, and the check-ups of this person."""

    def __init__(self, workspace: Workspace, columns: SubjectColumns) -> None:
        self.workspace = workspace
        words = workspace.subject.arguments
        previous_jobs = [job for job in workspace.list_jobs(ADDRESS) if job.own_arguments[: len(words)] == words]
        values = (
            read_values("test", previous_jobs[0].arguments) if previous_jobs else dict(workspace.subject.expectations)
        )
        values.pop("only", None)  # a check-up of all checks is the usual next one
        choices = {"budget": list(BUDGETS), "only": [check.name for check in CHECKS], **_list_promises(columns)}
        promises = [name for name in ("protected", "monotone", "invariant", "towards") if choices.get(name)]
        build_heading("Promises of the model")
        if promises:
            ui.label("Optional: what you know about the model. Each is checked, and a broken one is a fault.").classes(
                "muted"
            )
        elif columns.message:
            ui.label(columns.message).classes("muted")
        self.form = CommandForm(
            "test", [*promises, "budget", "seed"], ["only", "tolerance"], choices=choices, values=values, labels=LABELS
        )
        ui.button("Test", icon="play_arrow", on_click=self._start)
        self.jobs = JobList(workspace, ADDRESS, self._show_result, noun="check-up")

    def _start(self) -> None:
        with show_errors():
            self.jobs.show(start_checkup(self.workspace, self.form.arguments))

    async def _show_result(self, job: StudioJob) -> None:
        """Show the verdict and the findings of a finished check-up."""
        parts = job.parts
        if parts is None:
            ui.label(str((job.result or {}).get("headline", ""))).classes("lead")
            return
        with show_errors():
            findings = await asyncio.to_thread(summarise_findings, job.folder)
            FindingsView(self, job, parts, findings)

    def rerun(self, job: StudioJob, check: str) -> None:
        """Run the check of a finding again, with the same seed."""
        words = [word for word in job.own_arguments if not word.startswith("--only=")]
        with show_errors():
            new_job = self.workspace.start_job(
                "test", [*words, f"--only={check}"], title=f"The check “{check}” again", page=ADDRESS
            )
            self.jobs.show(new_job)

    def declare(self, option: str, value: str) -> None:
        """Choose what a finding suggests in the form."""
        if self.form.add_value(option, value):
            ui.notify(
                f"Added to the promises above: {option} {value}. Press Test to check it.",
                type="positive",
                close_button="Close",
            )
        else:
            ui.notify(f"The form does not offer {option} {value}: another subject is chosen now.", type="warning")


class FindingsView:
    """The findings of one check-up: the cards of its report, with filters and buttons."""

    def __init__(
        self, page: CheckupPage, job: StudioJob, parts: Mapping[str, Any], findings: Sequence[FindingSummary]
    ) -> None:
        self._page, self._job = page, job
        build_summary(parts)
        self._build_downloads()
        first, *others = parts["sections"]
        with ui.element("section").props(f'id="{first["anchor"]}"').classes("w-full"):
            build_heading(first["heading"], 3)
            if first["parts"]:
                self._build_filters(findings)
            else:
                build_part(first["html"].replace(' id="findings"', ""))
            self._cards = []
            for part, finding in zip(first["parts"], findings, strict=False):
                with ui.element("div").classes("finding-card w-full") as card:
                    build_part(part["html"])
                    self._build_buttons(finding)
                self._cards.append((card, finding))
        with ui.expansion("Pictures, tables, all checks, and how this was made", icon="table_chart").classes("w-full"):
            build_sections(others)

    def _build_downloads(self) -> None:
        with ui.element("div").classes("row"):
            ui.label("Download:").classes("muted")
            for name in EXPORTS:
                ui.button(name, on_click=functools.partial(self._download_export, name)).props("flat dense")
            ui.button("pytest file", on_click=functools.partial(self._download_pin, None)).props("flat dense").tooltip(
                "Checks that pass today must keep passing; findings are expected until they are fixed"
            )

    def _build_filters(self, findings: Sequence[FindingSummary]) -> None:
        levels = [level for level in LEVELS if any(finding.level == level for finding in findings)]
        checks = sorted({finding.check for finding in findings})
        with ui.element("div").classes("row").props('role="search" aria-label="Filter the findings"'):
            self._levels: dict[str, ui.checkbox] = {
                level: ui.checkbox(LEVEL_NAMES[level], value=True, on_change=self._filter) for level in levels
            }
            self._check = ui.select(
                ["all checks", *checks], value="all checks", label="Found by", on_change=self._filter
            ).classes("check-filter")
            self._status = ui.label(pluralise(len(findings), "finding")).classes("muted").props('role="status"')

    def _filter(self) -> None:
        count = 0
        for card, finding in self._cards:
            visible = self._levels[finding.level].value and self._check.value in ("all checks", finding.check)
            card.set_visibility(visible)
            count += bool(visible)
        self._status.set_text(f"{count} of {pluralise(len(self._cards), 'finding')} shown")

    def _build_buttons(self, finding: FindingSummary) -> None:
        label = f"“{_shorten(finding.title)}”"
        with ui.element("div").classes("row finding-actions"):
            ui.button(
                "Run again", icon="replay", on_click=functools.partial(self._page.rerun, self._job, finding.check)
            ).props("outline dense").tooltip(f"Only the check “{finding.check}”, with the same seed")
            if finding.check != "suggestions":
                ui.button(
                    "Pin as a pytest file", icon="push_pin", on_click=functools.partial(self._download_pin, finding)
                ).props("outline dense").tooltip(f"An expected failure, reported when it is fixed: {label}")
            for option, value in finding.declarations:
                ui.button(
                    DECLARATION_TEXTS[option].format(value.replace("=", " ")),
                    icon="handshake",
                    on_click=functools.partial(self._page.declare, option, value),
                ).props("outline dense").tooltip(f"Adds --{option} {value} to the form")

    async def _download_export(self, name: str) -> None:
        with show_errors():
            file, text = await asyncio.to_thread(export_result, self._job.folder, name)
            ui.download.content(text, file)

    async def _download_pin(self, finding: FindingSummary | None) -> None:
        workspace = self._page.workspace
        key = () if finding is None else (finding.check, finding.about)
        with show_errors():
            file, text = await asyncio.to_thread(
                pin_result, self._job.folder, workspace.served_folder.root, workspace.uploads.root, *key
            )
            ui.download.content(text, file)


def _list_promises(columns: SubjectColumns) -> dict[str, list[str]]:
    """Return what can be declared about the columns, by option."""
    features = list(columns.features)
    return {
        "protected": features,
        "invariant": features,
        "monotone": [f"{name}={way}" for name in columns.numeric for way in ("up", "down")],
        "towards": list(columns.classes),
    }


def _shorten(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
