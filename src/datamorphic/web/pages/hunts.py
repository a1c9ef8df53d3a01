"""The page Hunts: search for violations of relations of the chosen model, or of numeric programs and their mutants."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from ..._text import pluralise
from ...data.programs import programs
from ...errors import UsageError
from ...relations.catalogue.credit import CREDIT_RANGES, CREDIT_RELATIONS
from ..columns import SubjectColumns, read_columns
from ..commands import read_values
from ..components.command_form import CommandForm
from ..components.elements import build_heading, build_later, build_plain_table, clean_attribute, show_errors
from ..components.job_list import JobList
from ..components.report_parts import build_report_parts
from ..subject import ChosenSubject
from ..workspaces import Workspace
from .relations import list_input_relations

ADDRESS = "/hunts"
CHOSEN = ""  # the model that is chosen on the page Start
PROGRAM_PREFIX = "program:"
ORIGINAL = ""  # the program itself, not a mutant
DEFAULT_PROGRAM = "tanh"
DEFAULT_VALUES = {"budget": 1_000, "stop_after": "1", "trials": 10}
MODEL_VALUES = {"budget": 10_000, "stop_after": "10", "trials": 1}
STOP_CHOICES = ("1", "2", "10", "100", "all")
ROWS_EXPLANATION = "Take the rows of the data in a random order. Promises about a column, texts and images need it."
#: what a promise says about a column, as lines of a promises file have it
EFFECTS = {"raises": "does not fall", "lowers": "does not rise", "does not matter": "stays the same"}
#: how a column is changed; without a change, all its values are tried
CHANGES = {"": "more of it, or another", "x": "multiplied by", "+": "plus"}
PROMISE_OPTION = "--promise="
RESERVED_WORDS = ("outcome", "raises", "lowers", "x", "probability", "chance", "risk", "score", "protected", "change")
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")  # needs no quotation marks


def build_hunts(workspace: Workspace) -> None:
    """Build the page."""
    read = functools.partial(_prepare_form, workspace.subject)
    build_later("Reading the columns of the data", read, functools.partial(HuntPage, workspace))


def _prepare_form(subject: ChosenSubject) -> SubjectColumns:
    """Read the columns, and import the generators: the first time that takes a second, so that it happens in a thread."""
    from ...hunting import generators, selectors

    del generators, selectors
    return read_columns(subject)


class HuntPage:
    """The form, and the hunts of this person."""

    def __init__(self, workspace: Workspace, columns: SubjectColumns) -> None:
        from ...hunting.generators import GENERATORS
        from ...hunting.row_runner import ROWS
        from ...hunting.selectors import SELECTORS

        self.workspace, self._columns = workspace, columns
        self._promises: list[str] = []
        subject = workspace.subject
        jobs = workspace.list_jobs(ADDRESS)
        words = jobs[0].own_arguments if jobs else []
        systems = {name: f"the program {name}, with mutants of it" for name in programs}
        if subject.kind == "files":
            systems = {CHOSEN: f"the chosen model: {subject.name}", **systems}
        elif note := explain_missing_relations(subject):
            ui.label(note).classes("muted")
        first = CHOSEN if subject.kind == "files" else DEFAULT_PROGRAM
        if words and words[0].startswith(PROGRAM_PREFIX):
            first = parse_hunt(words)[0]
        self.system = ui.select(systems, label="What to hunt in", value=first, on_change=lambda: self._build_form([]))
        self.system.classes("w-full")
        self._place = ui.column().classes("w-full hunt-form")
        earlier_system = subject.model if first == CHOSEN else PROGRAM_PREFIX
        self._build_form(words if words and words[0].startswith(earlier_system) else [])
        with ui.expansion("What the generators and selectors do").classes("w-full"):
            rows = [(ROWS, ROWS_EXPLANATION), *((item, explain(kind)) for item, kind in GENERATORS.items())]
            build_plain_table("Generators", [], rows)
            build_plain_table("Selectors", [], [(item, explain(kind)) for item, kind in SELECTORS.items()])
        ui.button("Hunt", icon="play_arrow", on_click=self._start)
        self.jobs = JobList(workspace, ADDRESS, build_report_parts, noun="hunt")

    def _build_form(self, words: Sequence[str]) -> None:
        """Build the inputs for the chosen system; `words` are the arguments of an earlier hunt of it."""
        from ...hunting.generators import GENERATORS
        from ...hunting.row_runner import ROWS
        from ...hunting.selectors import SELECTORS

        self._place.clear()
        values = read_values("hunt", words) if words else None
        with self._place:
            if self.system.value == CHOSEN:
                self._build_model_inputs(words)
                generators, default_values = [ROWS, *GENERATORS], {**MODEL_VALUES, "generator": ROWS}
            else:
                self._build_program_inputs(words)
                generators, default_values = list(GENERATORS), DEFAULT_VALUES
            self.form = CommandForm(
                "hunt",
                ["generator", "selector", "trials", "budget", "stop_after", "seed"],
                ["k"],
                choices={"generator": generators, "selector": list(SELECTORS), "stop_after": list(STOP_CHOICES)},
                values=values or default_values,
            )

    def _build_relations(self, statements: Mapping[str, str], label: str, value: Sequence[str]) -> None:
        self.relations = (
            ui.select(
                {name: f"{name}: {says}" for name, says in statements.items()},
                label=label,
                multiple=True,
                value=[name for name in value if name in statements],
                clearable=True,
            )
            .props("use-chips")
            .classes("w-full")
        )

    # -- programs ------------------------------------------------------------------------------------------------------

    def _build_program_inputs(self, words: Sequence[str]) -> None:
        program = programs[str(self.system.value)]
        _, mutant, relations = parse_hunt(words) if words else ("", "", [])
        if not words and program.name == DEFAULT_PROGRAM:
            mutant = "emu10"
        versions = {ORIGINAL: "the program itself"}
        versions |= {
            name: f"mutant {name}: line {item.line}, {item.before} → {item.after}"
            for name, item in program.mutants.items()
        }
        ui.label("Mutants are copies of the program with one fault.").classes("muted")
        self.mutant = ui.select(versions, label="Version", value=mutant if mutant in versions else ORIGINAL)
        self.mutant.classes("w-full")
        statements = {name: relation.statement for name, relation in program.relations.items()}
        self._build_relations(statements, "Relations (all, if none is chosen)", relations)

    # -- the chosen model ----------------------------------------------------------------------------------------------

    def _build_model_inputs(self, words: Sequence[str]) -> None:
        subject, columns = self.workspace.subject, self._columns
        if columns.message:
            ui.label(columns.message).classes("error").props('role="alert"')
        self._promises = [word.removeprefix(PROMISE_OPTION) for word in words if word.startswith(PROMISE_OPTION)]
        if not words:
            self._promises = list_expected_promises(subject.expectations, columns)
        statements = list_model_relations(columns)
        if statements:
            chosen = [name for name in words if name in statements] if words else list(statements)
            self._build_relations(statements, "Relations that must hold", chosen)
        special_columns = {*columns.texts, *columns.images, *columns.sequences}
        names = [name for name in columns.features if name not in special_columns]
        with ui.element("section").classes("card w-full").props('aria-label="Promises"') as card:
            build_heading("What you promise about the model")
            ui.label(
                "A hunt searches for cases that break a promise: “income: raises yes” is broken where more income, all else equal, "
                "lowers the chance of yes."
            ).classes("muted")
            self._list = ui.element("ul").classes("plain-list promise-list")
            self._show_promises()
            with ui.element("div").classes("form-grid"):
                self._column = _select("Column", names)
                self._change = _select("Change", CHANGES, "")
                self._amount = ui.number("By how much", value=1.1)
                self._amount.bind_visibility_from(self._change, "value", bool)
                self._class = _select("Answer", list(columns.classes), columns.classes[-1] if columns.classes else None)
                self._effect = _select("Then its chance", EFFECTS, "raises")
            ui.button("Add this promise", icon="add", on_click=self._add_promise).props("outline")
        card.set_visibility(bool(names))

    def _show_promises(self) -> None:
        self._list.clear()
        with self._list:
            if not self._promises:
                with ui.element("li"):
                    ui.label("None yet. Choose a column and what must not happen, then add it.").classes("muted")
            for line in self._promises:
                with ui.element("li"), ui.element("div").classes("row"):
                    ui.label(line).classes("mono")
                    ui.button(icon="close", on_click=functools.partial(self._remove_promise, line)).props(
                        f'flat dense aria-label="Remove the promise {clean_attribute(line)}"'
                    )

    def _add_promise(self) -> None:
        with show_errors():
            if self._column.value not in self._columns.features:
                raise UsageError("Choose the column that the promise is about.")
            outcome = str(self._class.value) if self._class.value in self._columns.classes else ""
            line = build_promise(
                str(self._column.value),
                str(self._effect.value),
                outcome,
                str(self._change.value or ""),
                self._amount.value,
                number=1 + sum(": " in item and item.startswith("change ") for item in self._promises),
            )
            if line not in self._promises:
                self._promises.append(line)
            self._show_promises()

    def _remove_promise(self, line: str) -> None:
        self._promises.remove(line)
        self._show_promises()

    # -- the start -----------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        with show_errors():
            if self.system.value == CHOSEN:
                subject = self.workspace.subject
                statements = list_model_relations(self._columns)
                relations = list(self.relations.value or []) if statements else []
                words = build_model_words(subject, relations, statements, self._promises)
                name, count = subject.name, len(relations) + len(self._promises)
                what = pluralise(count, "relation")
            else:
                program = str(self.system.value)
                words = build_system_words(program, str(self.mutant.value or ""), list(self.relations.value or []))
                name = words[0].partition(":")[2]
                count = len(words) - 1 or len(programs[program].relations)
                what = ", ".join(words[1:]) if 1 < len(words) <= 4 else pluralise(count, "relation")
            job = self.workspace.start_job(
                "hunt", [*words, *self.form.arguments], title=f"Hunt in {name}: {what}", page=ADDRESS
            )
            self.jobs.show(job)


def explain_missing_relations(subject: ChosenSubject) -> str:
    """Return why the chosen subject cannot be hunted, and what can be done instead; empty for model files."""
    if subject.kind == "demo":
        return (
            f"No relation of {subject.name} is known, so there is nothing to hunt for in it. Explore its borders on the page "
            "Exploration, choose a model and its data on the page Start, or hunt in one of these programs."
        )
    if subject.kind == "module":
        return (
            f"Relations of the test system {subject.name} are its metamorphisms. Judge cases by them on the page Activities. A hunt "
            "needs a model with data, or one of these programs."
        )
    if subject.kind == "none":
        return "Models of your own appear here when they are chosen with their data on the page Start."
    return ""


def list_model_relations(columns: SubjectColumns) -> dict[str, str]:
    """Return the statements of the relations that can be hunted in a model with these columns, by name."""
    statements = {name: says for name, says in list_input_relations(columns).items() if "flip" not in name}
    if set(CREDIT_RANGES) <= set(columns.features):
        statements |= {name: relation.statement for name, relation in CREDIT_RELATIONS.items()}
    return statements


def list_expected_promises(expectations: Mapping[str, Any], columns: SubjectColumns) -> list[str]:
    """Return what is expected of a subject as promises; columns that are not there are left out.

    Examples
    --------
    >>> columns = SubjectColumns(features=("income", "gender"), classes=("no", "yes"))
    >>> list_expected_promises({"monotone": ["income=up"], "protected": ["gender"], "towards": "yes"}, columns)
    ['income: raises yes', 'gender: does not matter']
    """
    effects = {"up": "raises", "down": "lowers"}
    pairs = [item.rpartition("=") for item in expectations.get("monotone", ())]
    promises = [(column, effects.get(direction, "raises")) for column, _, direction in pairs]
    promises += [(column, "does not matter") for column in expectations.get("protected", ())]
    outcome = str(expectations.get("towards") or "")
    return [build_promise(column, effect, outcome) for column, effect in promises if column in columns.features]


def build_promise(
    column: str, effect: str, outcome: str = "", change: str = "", amount: Any = None, number: int = 1
) -> str:
    """Return a line of a promises file. A change is named by its number.

    Examples
    --------
    >>> build_promise("income", "raises", "yes"), build_promise("income", "raises", "yes", "x", 1.1)
    ('income: raises yes', 'change 1: income x 1.1 raises yes')
    """
    if effect not in EFFECTS or change not in CHANGES:
        raise UsageError("Choose the change and its effect from the lists.")
    consequence = effect if effect == "does not matter" or not outcome else f"{effect} {_quote(outcome)}"
    if not change:
        return f"{_quote(column)}: {consequence}"
    try:
        size = float(amount)
    except (TypeError, ValueError):
        size = math.nan
    if not math.isfinite(size):
        raise UsageError("Enter by how much the column changes.")
    sign, shown_size = ("-", -size) if change == "+" and size < 0 else (change, size)
    return f"change {number}: {_quote(column)} {sign} {shown_size:.12g} {consequence}"


def _quote(text: str) -> str:
    if _PLAIN_NAME.fullmatch(text) and text.casefold() not in RESERVED_WORDS:
        return text
    mark = '"' if '"' not in text else "`"
    if mark in text or "\n" in text:
        raise UsageError(f"{text!r} cannot be part of a promise: it has both kinds of quotation marks, or two lines.")
    return f"{mark}{text}{mark}"


def build_model_words(
    subject: ChosenSubject, relations: Sequence[str], known: Mapping[str, str], promises: Sequence[str]
) -> list[str]:
    """Return the arguments of a hunt in a model file; only known relations can be named."""
    if not relations and not promises:
        raise UsageError("Add a promise first: what must not happen when a column changes.")
    for name in relations:
        if name not in known:
            raise UsageError(f"There is no relation {name!r} here. Choose one from the list.")
    model, data, *options = subject.arguments
    return [model, *relations, f"--data={data}", *options, *(f"{PROMISE_OPTION}{line}" for line in promises)]


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
    return [f"{PROGRAM_PREFIX}{program}/{mutant}" if mutant else f"{PROGRAM_PREFIX}{program}", *relations]


def parse_hunt(arguments: Sequence[str]) -> tuple[str, str, list[str]]:
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


def _select(label: str, options: Any, value: Any = None) -> Any:
    return ui.select(options, label=label, value=value, with_input=len(options) > 12)
