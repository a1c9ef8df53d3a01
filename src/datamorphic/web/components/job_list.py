"""`JobList`: the newest job of a page, and a list of the earlier ones to look at again."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from nicegui import ui

from ..jobs import StudioJob
from ..workspaces import Workspace
from .job_panel import JobPanel

#: builds what a finished job found, in the place where it is called
ResultBuilder = Callable[[StudioJob], Awaitable[None] | None]


class JobList:
    """Shows one job of a page at a time: the newest, or an earlier one that is chosen from a list."""

    def __init__(self, workspace: Workspace, page: str, build_result: ResultBuilder, *, noun: str = "run") -> None:
        self._workspace, self._page, self._build_result, self._noun = workspace, page, build_result, noun
        self._choice = (
            ui.select({}, label=f"Show an earlier {noun}", on_change=lambda event: self._choose(event.value))
            .props("options-dense")
            .classes("job-choice")
        )
        self._panel = ui.column().classes("w-full")
        jobs = workspace.list_jobs(page)
        if jobs:
            self.show(jobs[0])
        else:
            self._choice.set_visibility(False)

    def show(self, job: StudioJob) -> None:
        """Show a job instead of the one that is shown."""
        jobs = self._workspace.list_jobs(self._page)
        self._choice.set_visibility(len(jobs) > 1)
        moments = {other.number: time.strftime("%d %b %H:%M:%S", time.localtime(other.started)) for other in jobs}
        names = {other.number: f"{other.number}. {other.title}, {moments[other.number]}" for other in jobs}
        self._choice.set_options(names, value=job.number)

    def _choose(self, number: int | None) -> None:
        job = next((job for job in self._workspace.list_jobs(self._page) if job.number == number), None)
        if job is None:
            return
        self._panel.clear()
        with self._panel:
            JobPanel(job, self._start_building, show_report=False)

    def _start_building(self, job: StudioJob) -> None:
        """Build the result, in the background if that takes longer."""
        place = ui.column().classes("w-full")

        async def build() -> None:
            with place:
                outcome = self._build_result(job)
                if outcome is not None:
                    await outcome

        with place:
            ui.timer(0, build, once=True)
