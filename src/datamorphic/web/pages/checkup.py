"""The page Check-up: all checks of `dm.test` on the chosen subject, with findings as they come."""

from __future__ import annotations

from nicegui import ui

from ..components.command_form import CommandForm
from ..components.errors import show_errors
from ..components.job_panel import JobPanel
from ..jobs import StudioJob
from ..layout import build_frame
from ..studio import Studio

ADDRESS, TITLE = "/check-up", "Check-up"


def register(studio: Studio) -> None:
    """Add the page."""

    @ui.page(ADDRESS)
    def build_page() -> None:
        workspace = studio.get_workspace()
        with build_frame(
            workspace, TITLE, "Every check that applies to the model. Findings appear as they come, worst first."
        ):
            if workspace.subject.kind == "none":
                ui.link("Choose what to test first.", "/")
                return
            form = CommandForm(
                "test", ["budget", "seed"], ["protected", "monotone", "invariant", "towards", "only", "tolerance"]
            )

            def start() -> None:
                with show_errors():
                    job = workspace.start_job(
                        "test",
                        [*workspace.subject.arguments, *form.arguments],
                        title=f"Check-up of {workspace.subject.name}",
                        page=ADDRESS,
                    )
                    jobs.clear()
                    with jobs:
                        JobPanel(job, show_findings)

            ui.button("Test", icon="play_arrow", on_click=start)
            jobs = ui.column().classes("w-full")
            with jobs:
                for job in workspace.list_jobs(ADDRESS)[:1]:
                    JobPanel(job, show_findings)


def show_findings(job: StudioJob) -> None:
    """Show the verdict and the findings of a finished check-up."""
    document = job.result or {}
    ui.label(document.get("headline", "")).classes("lead")
