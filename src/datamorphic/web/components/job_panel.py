"""`JobPanel`: a job as a person sees it: progress, Stop, the outcome, its report and its files."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from nicegui import ui

from ...runs.progress import format_duration
from ..jobs import FRONT_FILE, REPORT_FILE, StudioJob
from .elements import build_heading, clean_attribute

REFRESH_SECONDS = 0.3
STATE_TEXTS = {
    "waiting": "waiting for other jobs to end",
    "running": "running",
    "finished": "finished",
    "interrupted": "stopped",
    "failed": "failed",
    "killed": "ended early",
}


class JobPanel:
    """Follows a job until it ends, then calls `show_result` to show what it found.

    `show_end` is called last, however the job ended.
    """

    def __init__(
        self,
        job: StudioJob,
        show_result: Callable[[StudioJob], None] | None = None,
        *,
        show_report: bool = True,
        show_end: Callable[[StudioJob], None] | None = None,
    ) -> None:
        self.job, self._show_result, self._show_report = job, show_result, show_report
        self._show_end = show_end
        self._outcome_count = 0
        self._was_ended = False
        with (
            ui.element("section")
            .classes("card w-full")
            .props(f'aria-label="{clean_attribute(job.title)}" data-job={job.number}')
        ):
            with ui.element("div").classes("row"):
                build_heading(job.title)
                self._state = ui.label().props('role="status"')
                self._stop = ui.button("Stop", icon="stop", on_click=self._press_stop).props("outline color=negative")
            self._bar = ui.linear_progress(value=0, show_value=False, size="10px").props('aria-label="Progress"')
            self._text = ui.label().classes("muted")
            self._live = ui.column().classes("w-full")
            self._result = ui.column().classes("w-full")
            with ui.expansion("The same in a terminal").classes("w-full"):
                ui.html(f'<pre class="command">{escape(job.command)}</pre>', sanitize=False)
        self._refresh()
        if not self._was_ended:
            self._timer = ui.timer(REFRESH_SECONDS, self._refresh)

    async def _press_stop(self) -> None:
        self._stop.disable()
        await self.job.stop()

    def _refresh(self) -> None:
        job = self.job
        duration = f" after {format_duration(job.seconds)}" if job.ended and job.seconds else ""
        before = f", {job.jobs_before} before this one" if job.state == "waiting" and job.jobs_before else ""
        self._state.set_text(STATE_TEXTS[job.state] + before + duration)
        self._state.classes(replace=f"state-{job.state}")
        self._stop.set_visibility(not job.ended)
        self._bar.set_visibility(not job.ended)
        self._text.set_visibility(not job.ended)
        if not job.ended:
            self._bar.props(f"indeterminate={'false' if job.share is not None else 'true'}")
            self._bar.set_value(job.share or 0.0)
            self._text.set_text(", ".join(filter(None, (job.text, job.left))))
        self._add_outcomes()
        if job.ended and not self._was_ended:
            self._was_ended = True
            if timer := getattr(self, "_timer", None):
                timer.deactivate()
            self._end()

    def _add_outcomes(self) -> None:
        """Show the findings of checks as they come; the result replaces them."""
        with self._live:
            for outcome in self.job.outcomes[self._outcome_count :]:
                for finding in outcome["findings"]:
                    with ui.element("div").classes(f"finding {finding['level']}"):
                        ui.label(f"{finding['level'].capitalize()}: {finding['title']}")
        self._outcome_count = len(self.job.outcomes)

    def _end(self) -> None:
        job = self.job
        with self._result:
            if not job.succeeded and job.error:
                ui.label(job.error).classes("error").props('role="alert"')
            if job.succeeded and self._show_result is not None:
                self._live.clear()
                self._show_result(job)
            if job.get_file(REPORT_FILE) is not None:
                with ui.element("div").classes("row"):
                    ui.link("Open the report", f"/jobs/{job.number}/report", new_tab=True)
                    ui.link("Download the report", f"/jobs/{job.number}/files/{REPORT_FILE}")
                    if job.get_file(FRONT_FILE) is not None:
                        ui.link("Download the border pairs", f"/jobs/{job.number}/files/{FRONT_FILE}")
                if self._show_report:
                    build_report(job)
            if self._show_end is not None:
                self._show_end(job)


def build_report(job: StudioJob) -> Any:
    """Build a frame with the report of a job; the report is a page of its own, as it is sent by mail."""
    frame = ui.element("iframe").classes("report-frame")
    frame.props(
        f'src="/jobs/{job.number}/report" title="Report of {clean_attribute(job.title)}" sandbox="allow-scripts allow-popups"'
    )
    return frame
