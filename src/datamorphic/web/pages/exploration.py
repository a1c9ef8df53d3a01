"""The page Exploration: find the borders of the subject, look at them, and compare runs and models."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nicegui import ui

from ...data.subjects import subjects
from ...errors import UsageError
from ...runs.progress import format_duration
from ..commands import list_own_fields, read_values
from ..components.command_form import CommandForm
from ..components.elements import build_figures, build_heading, build_lines, build_table, show_errors
from ..components.front_plot import FrontPlot
from ..components.job_panel import JobPanel, build_report
from ..jobs import FRONT_FILE, REPORT_FILE, StudioJob
from ..stored_runs import read_runs
from ..subject import ChosenSubject
from ..workspaces import Workspace

ADDRESS = "/exploration"
ESTIMATE_PAGE, COMPARISON_PAGE = "/exploration#estimate", "/exploration#comparison"
LABELS = {"budget": "Budget, such as 30s or 10000 runs"}
MAIN_OPTIONS = ("strategy", "walks", "seeds", "walk_distance", "refine", "pool", "budget")
REFRESH_SECONDS = 0.2


class ExplorationPage:
    """The form, the estimate, the exploration and the comparisons of one open page."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known_moves: list[str] = []
        with ui.element("section").classes("card w-full").props('aria-label="Options"'):
            jobs = [job for job in workspace.list_jobs(ADDRESS) if job.arguments[0] == "explore"]
            values = read_values("explore", jobs[0].arguments) if jobs else {}
            more = [name for name in list_own_fields("explore") if name not in (*MAIN_OPTIONS, "moves")]
            self._form = CommandForm("explore", MAIN_OPTIONS, more, values=values, labels=LABELS)
            with ui.expansion("Moves").classes("w-full") as moves_part:
                self._moves_note = ui.label("Reading the moves of the subject").classes("muted")
                self._moves = ui.select(
                    [], label="Moves to use (none chosen: all)", multiple=True, value=[], clearable=True
                )
                self._moves.props("use-chips").classes("w-full")
                self._moves.set_visibility(False)
            moves_part.on_value_change(self._read_moves)
            with ui.element("div").classes("row"):
                ui.button("Explore", icon="play_arrow", on_click=self._start)
                ui.button("Estimate size and time", icon="timer", on_click=self._estimate).props("outline")
            self._estimate_part = ui.element("div").classes("w-full").props('aria-live="polite"')
        self._job_part = ui.column().classes("w-full")
        with self._job_part:
            for job in workspace.list_jobs(ADDRESS)[:1]:
                self._show_job(job)
        self._build_earlier_jobs()
        self._build_comparisons()

    # -- starting ------------------------------------------------------------------------------------------------------

    @property
    def _arguments(self) -> list[str]:
        """The arguments of the command, without the subject."""
        chosen_moves = list(self._moves.value or [])
        if not set(chosen_moves) <= set(self._known_moves):
            raise UsageError("A move is not one of the subject. Choose moves from the list.")
        return [*self._form.arguments, *([f"--moves={','.join(chosen_moves)}"] if chosen_moves else [])]

    async def _read_moves(self) -> None:
        """Offer the moves of the subject, which its own process knows."""
        if self._known_moves:
            return
        with show_errors():
            state = await self._workspace.pool.open()
            # a name with a comma cannot be given on the command line
            self._known_moves = [name for name in state["names"]["datamorphism"]["declared"] if "," not in name]
            self._moves.set_options(self._known_moves)
            self._moves.set_visibility(bool(self._known_moves))
            self._moves_note.set_text(
                f"The subject has {len(self._known_moves)} moves." if self._known_moves else "The subject has no moves."
            )

    def _start(self) -> None:
        workspace = self._workspace
        with show_errors():
            job = workspace.start_job(
                "explore",
                [*workspace.subject.arguments, *self._arguments],
                title=f"Exploration of {workspace.subject.name}",
                page=ADDRESS,
                front=True,
            )
            self._follow(job)

    def _follow(self, job: StudioJob) -> None:
        self._job_part.clear()
        with self._job_part:
            self._show_job(job)

    def _show_job(self, job: StudioJob) -> None:
        JobPanel(job, self._show_result, show_report=False, show_end=self._show_end)

    def _estimate(self) -> None:
        workspace = self._workspace
        with show_errors():
            job = workspace.start_job(
                "explore",
                [*workspace.subject.arguments, *self._arguments, "--plan"],
                title=f"Estimate for {workspace.subject.name}",
                page=ESTIMATE_PAGE,
                report=False,
            )
            self._estimate_part.clear()
            with self._estimate_part:
                with ui.element("div").classes("row") as waiting:
                    ui.spinner()
                    ui.label("Trying every strategy on a few walks")
                timer = ui.timer(REFRESH_SECONDS, lambda: show())

            def show() -> None:
                if job.ended:
                    timer.deactivate()
                    waiting.delete()
                    with self._estimate_part:
                        show_estimate(job)

    # -- results -------------------------------------------------------------------------------------------------------

    def _show_result(self, job: StudioJob) -> None:
        show_exploration_result(self._workspace, job)

    def _show_end(self, job: StudioJob) -> None:
        if job.state == "finished" or job.run is None:
            return
        number = job.run
        words = ["runs", "resume", str(number)]
        if any(other.arguments[:3] == words and other.succeeded for other in self._workspace.jobs):
            ui.link(f"It was resumed later: see run {number}", f"/runs?run={number}")
            return

        def resume() -> None:
            with show_errors():
                self._follow(
                    self._workspace.start_job(
                        "runs resume", [str(number)], title=f"Run {number}, resumed", page=ADDRESS, front=True
                    )
                )

        with ui.element("div").classes("row"):
            ui.label(f"What was answered so far is kept as run {number}.")
            ui.button("Resume", icon="play_arrow", on_click=resume).props("outline")

    def _build_earlier_jobs(self) -> None:
        jobs = {job.number: job.title for job in self._workspace.list_jobs(ADDRESS)[1:] if job.ended}
        if not jobs:
            return
        names = {number: f"{title} (job {number})" for number, title in jobs.items()}

        def show() -> None:
            if earlier.value is not None:
                self._follow(self._workspace.find_job(int(earlier.value)))

        earlier = ui.select(names, label="Earlier explorations", on_change=show).classes("axis-select")

    # -- comparisons ---------------------------------------------------------------------------------------------------

    def _build_comparisons(self) -> None:
        build_heading("Compare")
        with ui.element("div").classes("cards"):
            with ui.element("section").classes("card").props('aria-label="Two runs"'):
                build_heading("Two runs", 3)
                ui.label("Where the border moved from one stored exploration to another.").classes("muted")
                first = ui.select({}, label="Earlier run")
                second = ui.select({}, label="Later run")
                compare_button = ui.button("Compare the runs").props("outline")
            with ui.element("section").classes("card").props('aria-label="Two models"'):
                build_heading("Two models", 3)
                ui.label(
                    "Explores another model on the same data with the options above, and compares the borders."
                ).classes("muted")
                names = self._list_other_models()
                if not names:
                    ui.label("There is no other model file here.").classes("muted")
                other = ui.select(names, label="The other model")
                model_button = ui.button("Compare the models").props("outline")
        self._comparison_part = ui.column().classes("w-full")
        with self._comparison_part:
            for job in self._workspace.list_jobs(COMPARISON_PAGE)[:1]:
                JobPanel(job, show_comparison)
        compare_button.on_click(lambda: self._compare_runs(first.value, second.value))
        model_button.on_click(lambda: self._compare_models(other.value))

        async def read() -> None:
            listing = await asyncio.to_thread(read_runs, self._workspace.options.store)
            names = {
                row.number: f"{row.number}: {row.system}, {row.started}, {row.outcome}"
                for row in listing.rows
                if row.verb == "explore" and row.state in ("finished", "interrupted")
            }
            for select in (first, second):
                select.set_options(names)

        ui.timer(0.1, read, once=True)

    def _compare_runs(self, first: object, second: object) -> None:
        with show_errors():
            if not isinstance(first, int) or not isinstance(second, int) or first == second:
                raise UsageError("Choose two different runs.")
            self._follow_comparison(
                self._workspace.start_job(
                    "runs diff", [str(first), str(second)], title=f"Run {first} and run {second}", page=COMPARISON_PAGE
                )
            )

    def _list_other_models(self) -> list[str]:
        subject = self._workspace.subject
        if subject.kind == "demo":
            return [name for name in subjects if name != subject.subject]
        if subject.kind == "files":
            names = [name for folder in self._workspace.folders for name in folder.list_models()]
            return list(dict.fromkeys(names))
        return []

    def _compare_models(self, name: object) -> None:
        workspace = self._workspace
        with show_errors():
            if name not in self._list_other_models():
                raise UsageError("Choose another model first.")
            front = find_latest_front(workspace)
            self._follow_comparison(
                workspace.start_job(
                    "explore",
                    [*build_other_subject(workspace, str(name)).arguments, *self._arguments, f"--compare={front}"],
                    title=f"{workspace.subject.name} and {name}",
                    page=COMPARISON_PAGE,
                    front=True,
                )
            )

    def _follow_comparison(self, job: StudioJob) -> None:
        self._comparison_part.clear()
        with self._comparison_part:
            JobPanel(job, show_comparison)


def find_latest_front(workspace: Workspace) -> str:
    """Return the file of the newest exploration of the chosen subject."""
    subject_words = set(workspace.subject.arguments)
    for job in workspace.list_jobs(ADDRESS):
        path = job.get_file(FRONT_FILE)
        if path is not None and job.succeeded and subject_words <= set(job.arguments):
            return str(path)
    raise UsageError(f"Explore {workspace.subject.name} first: its border is what the other one is compared with.")


def build_other_subject(workspace: Workspace, name: str) -> ChosenSubject:
    """Return the subject with another model and all else as it is."""
    subject = workspace.subject
    if subject.kind == "demo":
        return ChosenSubject.of_demo(name)
    path = None
    for folder in workspace.folders:
        if name in folder.list_models():
            path = folder.find_file(name)
            break
    if subject.kind != "files" or path is None:
        raise UsageError("Only a model file can be compared with another one.")
    return replace(subject, name=path.name, model=str(path))


def show_exploration_result(workspace: Workspace, job: StudioJob, *, show_report: bool = True) -> None:
    """Show what an exploration found: its figures, the plot and, folded away, the report."""
    document = job.result or {}
    build_figures(list_figures(document))
    if document.get("interrupted"):
        ui.label("Stopped before all walks were done: the figures are those of the walks that ended.").classes("muted")
    elif document.get("exhausted"):
        ui.label("The budget was spent before all walks were done.").classes("muted")
    build_lines(document.get("notes", ()))
    path = job.get_file(FRONT_FILE)
    if path is not None:
        build_heading("The border in a picture")
        FrontPlot(workspace, path)
    if show_report and job.get_file(REPORT_FILE) is not None:
        with ui.expansion("The report").classes("w-full") as expansion:
            frame = ui.element("div").classes("w-full")

        def open_report() -> None:
            if expansion.value and not frame.default_slot.children:
                with frame:
                    build_report(job)

        expansion.on_value_change(open_report)


def list_figures(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the figures of an exploration: the name, the value, and what it means.

    Examples
    --------
    >>> list_figures({"pairs": 1200, "walks": 2000})[0]
    ('border pairs', '1,200', 'from 2,000 walks')
    """
    figures: list[tuple[str, str, str]] = []
    if "pairs" in document:
        figures.append(("border pairs", f"{document['pairs']:,}", f"from {document.get('walks', 0):,} walks"))
    if "runs" in document:
        figures.append(("runs", f"{document['runs']:,}", "test cases executed"))
    if "calls" in document:
        figures.append(("model calls", f"{document['calls']:,}", "rows the model computed"))
    if document.get("capability") is not None:
        figures.append(
            (
                "capability",
                f"{document['capability']:.1%}",
                "of the walks found a pair" + _format_interval(document.get("capability_interval"), ".1%"),
            )
        )
    if document.get("cost") is not None:
        figures.append(
            (
                "cost",
                f"{document['cost']:.3g}",
                "runs per new test case" + _format_interval(document.get("cost_interval"), ".3g"),
            )
        )
    if document.get("seconds") is not None:
        figures.append(("time", format_duration(document["seconds"]), ""))
    return figures


def _format_interval(interval: Any, form: str) -> str:
    if not isinstance(interval, Sequence) or len(interval) != 2 or None in interval:
        return ""
    low, high = interval
    return f" (95%: {low:{form}} to {high:{form}})"


def show_estimate(job: StudioJob) -> None:
    """Show what each strategy would find and cost."""
    document = job.result
    if not job.succeeded or document is None:
        ui.label(job.error or "The estimate failed.").classes("error").props('role="alert"')
        return
    ui.label(f"Expected for {document['walks']:,} walks, from a short trial with each strategy:")
    rows = [
        [
            str(row["strategy"]).replace("_", " "),
            f"{row['pairs'] or 0:,.0f}",
            f"{row['runs'] or 0:,.0f}",
            format_duration(row["seconds"] or 0.0),
            f"{row['capability'] or 0:.0%}",
        ]
        for row in document["strategies"]
    ]
    build_table(["strategy", "pairs", "runs", "time", "walks with a pair"], rows, "Estimate")
    best = str(document["best"]).replace("_", " ")
    ui.label(
        f"Recommended, by the balance of capability and cost: {best}. Recommended walk distance: "
        f"{document['walk_distance']}. The strategy auto uses all strategies."
    ).classes("muted")


def show_comparison(job: StudioJob) -> None:
    """Show whether the border changed, and how."""
    document = job.result or {}
    difference = document.get("difference", document)
    if difference.get("why_not"):
        ui.label(f"The borders cannot be compared: {difference['why_not']}").classes("error")
        return
    unchanged = difference.get("unchanged")
    ui.label("No change of the border was found." if unchanged else "The border changed.").classes("lead")
    build_lines(difference.get("findings", ()))
    changed = document.get("changed") or {}
    if changed:
        rows = [[name, str(before), str(after)] for name, (before, after) in changed.items()]
        build_table(["option", "earlier", "later"], rows, "Options that differ")
    statuses = difference.get("statuses") or {}
    if statuses:
        build_table(["pairs", "number"], [[name, f"{count:,}"] for name, count in statuses.items()], "Pairs by status")
