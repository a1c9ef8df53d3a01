"""The page Hunts: search for violations of relations of numeric programs and their mutants."""

from __future__ import annotations

import inspect

from nicegui import ui

from ..._text import pluralize
from ...data.programs import programs
from ...errors import UsageError
from ...hunting.generators import GENERATORS
from ...hunting.selectors import SELECTORS
from ..commands import read_values
from ..components.command_form import CommandForm
from ..components.errors import show_errors
from ..components.job_list import JobList
from ..components.plain_table import build_table
from ..components.report_parts import build_report_parts, prepare_parts
from ..layout import build_frame
from ..studio import Studio
from ..workspaces import Workspace

ADDRESS, TITLE = "/hunts", "Hunts"
ORIGINAL = ""  # the program itself, not a mutant
DEFAULT_PROGRAM = "tanh"
DEFAULT_VALUES = {"budget": 1_000, "stop_after": "1", "trials": 10}
STOP_CHOICES = ("1", "2", "10", "100", "all")
LABELS = {
    "generator": "Generator of groups",
    "selector": "Selector of relations",
    "budget": "Largest number of groups per trial",
    "stop_after": "Violations that end a trial",
    "k": "Candidates per group",
}


def register(studio: Studio) -> None:
    """Add the page."""

    @ui.page(ADDRESS)
    def build_page() -> None:
        workspace = studio.get_workspace()
        prepare_parts()
        with build_frame(
            workspace,
            TITLE,
            "Search a program for inputs that break a relation, with as few executions as possible. Mutants are copies of the "
            "program with one fault.",
        ):
            HuntPage(workspace)


class HuntPage:
    """The form, and the hunts of this person."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        jobs = workspace.list_jobs(ADDRESS)
        name, mutant, relations = parse_hunt(jobs[0].own_arguments) if jobs else (DEFAULT_PROGRAM, "emu10", [])
        with ui.element("div").classes("form-grid"):
            self.program = ui.select(
                list(programs), label="Program", value=name, on_change=lambda: self._list_parts("", [])
            ).props("outlined dense")
            self.mutant = (
                ui.select({ORIGINAL: ""}, label="Version", value=ORIGINAL).props("outlined dense").classes("wide-field")
            )
        self.relations = (
            ui.select({}, label="Relations (all, if none is chosen)", multiple=True, value=[], clearable=True)
            .props("outlined dense use-chips")
            .classes("w-full")
        )
        self._list_parts(mutant, relations)
        values = read_values("hunt", jobs[0].arguments) if jobs else DEFAULT_VALUES
        self.form = CommandForm(
            "hunt",
            ["generator", "selector", "trials", "budget", "stop_after", "seed"],
            ["k"],
            choices={"generator": list(GENERATORS), "selector": list(SELECTORS), "stop_after": list(STOP_CHOICES)},
            values=values,
            labels=LABELS,
        )
        with ui.expansion("What the generators and selectors do").classes("w-full"):
            build_table("Generators", [], [(item, explain(kind)) for item, kind in GENERATORS.items()])
            build_table("Selectors", [], [(item, explain(kind)) for item, kind in SELECTORS.items()])
        ui.button("Hunt", icon="play_arrow", on_click=self._start)
        self.jobs = JobList(workspace, ADDRESS, build_report_parts, noun="hunt")

    def _list_parts(self, mutant: str, relations: list[str]) -> None:
        """Offer the mutants and relations of the chosen program."""
        program = programs[str(self.program.value)]
        versions = {ORIGINAL: "the program itself"}
        versions |= {
            name: f"mutant {name}: line {item.line}, {item.before} → {item.after}"
            for name, item in program.mutants.items()
        }
        self.mutant.set_options(versions, value=mutant if mutant in versions else ORIGINAL)
        statements = {name: f"{name}: {relation.says}" for name, relation in program.relations.items()}
        self.relations.set_options(statements, value=[name for name in relations if name in statements])

    def _start(self) -> None:
        with show_errors():
            words = build_system_words(
                str(self.program.value), str(self.mutant.value or ""), list(self.relations.value or [])
            )
            name = words[0].partition(":")[2]
            what = (
                ", ".join(words[1:4])
                if 1 < len(words) <= 4
                else pluralize(len(words) - 1 or len(programs[str(self.program.value)].relations), "relation")
            )
            job = self.workspace.start_job(
                "hunt", [*words, *self.form.arguments], title=f"Hunt in {name}: {what}", page=ADDRESS
            )
            self.jobs.show(job)


def build_system_words(program: str, mutant: str, relations: list[str]) -> list[str]:
    """Return the arguments that name a program or mutant, and relations of it; nothing else can be named.

    Examples
    --------
    >>> build_system_words("tanh", "emu10", ["tripling"])
    ['program:tanh/emu10', 'tripling']
    """
    if program not in list(programs):
        raise UsageError(f"There is no program {program!r}.")
    known = programs[program]
    if mutant and mutant not in list(known.mutants):
        raise UsageError(f"{program} has no mutant {mutant!r}.")
    for name in relations:
        if name not in list(known.relations):
            raise UsageError(f"{program} has no relation {name!r}.")
    return [f"program:{program}/{mutant}" if mutant else f"program:{program}", *relations]


def parse_hunt(arguments: list[str]) -> tuple[str, str, list[str]]:
    """Return the program, the mutant and the relations of an earlier hunt.

    Examples
    --------
    >>> parse_hunt(["program:tanh/emu10", "tripling", "--seed=3"])
    ('tanh', 'emu10', ['tripling'])
    """
    system, *words = [word for word in arguments if not word.startswith("--")]
    program, _, mutant = system.partition(":")[2].partition("/")
    return program, mutant, words


def explain(kind: type) -> str:
    """Return the first sentence of a docstring."""
    return (inspect.getdoc(kind) or "").partition("\n")[0]
