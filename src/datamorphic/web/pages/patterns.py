"""The page Patterns: the catalogue as cards, the trees drawn, and the guide as a form."""

from __future__ import annotations

import functools
from html import escape
from typing import Any

from nicegui import app, ui

from ..._text import pluralise
from ...errors import UsageError
from ...relations.patterns.catalogue import ANY_SYSTEM
from ...relations.patterns.catalogue import patterns as catalogue
from ...relations.patterns.code import format_code
from ...relations.patterns.drawing import draw_tree, format_tree
from ...relations.patterns.pattern import KINDS, Pattern
from ...reporting.svg import drawing_to_svg
from ..components.elements import build_heading
from ..components.report_parts import build_part
from ..guide_walk import CHOSEN, list_systems
from ..workspaces import Workspace

ALL = "all"
KIND_NAMES = {"MRP": "whole relation", "MRIP": "input side", "MROP": "output side"}
TABS = {"Catalogue": "apps", "Trees": "account_tree", "Guide": "assistant_direction"}
STORAGE_KEY, TAB_KEY = "guide", "patterns_tab"  # the answers of the guide and the tab, in the storage of the person
ANSWERS_FILE = "guide.answers"
MAX_ANSWER_CHARACTERS = 2_000


def build_patterns(workspace: Workspace) -> None:
    """Build the page."""
    with (
        ui.tabs(on_change=lambda event: app.storage.user.update({TAB_KEY: event.value}))
        .props("align=left no-caps")
        .classes("w-full") as tabs
    ):
        for name, icon in TABS.items():
            ui.tab(name, icon=icon)
    tab = app.storage.user.get(TAB_KEY)
    with ui.tab_panels(tabs, value=tab if tab in TABS else "Catalogue", animated=False).classes("w-full"):
        with ui.tab_panel("Catalogue"):
            CatalogueView()
        with ui.tab_panel("Trees"):
            build_trees()
        with ui.tab_panel("Guide"):
            GuideForm(workspace)


# -- the catalogue -----------------------------------------------------------------------------------------------------


class CatalogueView:
    """The patterns as cards that can be searched."""

    def __init__(self) -> None:
        scopes = list(dict.fromkeys(pattern.scope for pattern in catalogue.values()))
        with ui.element("div").classes("form-grid").props('role="search"'):
            self._search = ui.input("Search", on_change=self._filter).props("clearable")
            self._kind = ui.select({ALL: "all sides", **KIND_NAMES}, value=ALL, label="Side", on_change=self._filter)
            self._scope = ui.select(
                {ALL: "all"} | {scope: _format_scope(scope) for scope in scopes},
                value=ALL,
                label="Proposed for",
                on_change=self._filter,
            )
        self._status = ui.label().classes("muted").props('role="status"')
        with ui.element("div").classes("pattern-cards"):
            self._cards = [(_build_card(pattern), pattern, _collect_words(pattern)) for pattern in catalogue.values()]
        self._filter()

    def _filter(self) -> None:
        words = str(self._search.value or "").casefold().split()
        count = 0
        for card, pattern, text in self._cards:
            visible = (
                all(word in text for word in words)
                and self._kind.value in (ALL, pattern.kind)
                and self._scope.value in (ALL, pattern.scope)
            )
            card.set_visibility(visible)
            count += visible
        self._status.set_text(f"{count} of {len(self._cards)} patterns")


def _format_scope(scope: str) -> str:
    return "any system" if scope == ANY_SYSTEM else scope


def _collect_words(pattern: Pattern) -> str:
    """Return everything about a pattern that a search looks at."""
    examples = " ".join(f"{example.relation.statement} {example.system}" for example in pattern.examples)
    parts = (pattern.name, pattern.definition, pattern.scope, pattern.reference, pattern.note, examples)
    return " ".join(parts).casefold()


def _build_card(pattern: Pattern) -> ui.element:
    with ui.element("article").classes("card") as card:
        build_heading(pattern.name)
        with ui.element("div").classes("row"):
            ui.label(KIND_NAMES[pattern.kind]).classes("pattern-kind").tooltip(KINDS[pattern.kind])
            ui.label(_format_scope(pattern.scope)).classes("muted")
        ui.label(pattern.definition)
        for example in pattern.examples[:1]:
            ui.label(f"For example ({example.system}): {example.relation.statement}.").classes("muted")
        with ui.expansion("More").classes("w-full").props("dense"):
            ui.html(_format_details(pattern.name), sanitize=False)  # one element instead of ten: there are many cards
    return card


@functools.cache
def _format_details(name: str) -> str:
    """Return what else is known about a pattern, as HTML."""
    pattern = catalogue[name]
    children = catalogue.find_children(name)
    facts = [
        ("More abstract", ", ".join(pattern.parents) or "none: it is the root of a tree"),
        ("More specific", ", ".join(children) or "none"),
        ("Goes with", ", ".join(pattern.partners)),
        ("Proposed by", pattern.reference),
        ("To know", pattern.note),
    ]
    parts = [f"<div>{escape(f'{title}: {text}')}</div>" for title, text in facts if text]
    for example in pattern.examples:
        words = f"{example.relation.name}: {example.relation.statement}. The fault {example.fault!r} violates it."
        parts.append(f'<div>{escape(words)}</div><pre class="command">{escape(format_code(example.relation))}</pre>')
    return "".join(parts)


# -- the trees ---------------------------------------------------------------------------------------------------------


@functools.cache
def _list_trees() -> list[tuple[str, str, str, str]]:
    """Return the trees: root, definition, drawing and text."""
    return [
        (root, catalogue[root].definition, drawing_to_svg(draw_tree(catalogue, root)), format_tree(catalogue, root))
        for root in catalogue.roots
        if catalogue.find_children(root)
    ]


def build_trees() -> None:
    """Draw the trees of patterns, each also as text."""
    ui.label(
        "More abstract patterns are on the left. A solid line is stated by Ying (2024), a dotted one is inferred. "
        "Point at a box for its definition."
    ).classes("muted")
    for root, definition, drawing, text in _list_trees():
        with ui.element("section").classes("card w-full"):
            build_heading(f"The tree of {root}")
            ui.label(definition)
            build_part(
                f'<div class="scroll" tabindex="0" role="region" aria-label="Tree of {escape(root)}">{drawing}</div>'
            )
            with ui.expansion("The tree as text").classes("w-full").props("dense"):
                ui.html(f'<pre class="command">{escape(text)}</pre>', sanitize=False)


# -- the guide ---------------------------------------------------------------------------------------------------------


class GuideForm:
    """The questions of the guide, one at a time. The answers are kept: a reload goes on with them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._systems = list_systems(workspace.subject)
        self._answers: list[str] = []
        self._input: Any = None
        self._own: Any = None
        self._has_choices = False
        with ui.element("section").classes("card w-full").props('aria-label="Guide"'):
            build_heading("From a pattern to a relation with a test")
            ui.label(
                "Answer questions about a system, and see what its answers do when inputs change. In the end there is a "
                "Python module with the relation and a test for pytest. Nothing of it is run or written here."
            ).classes("muted")
            with ui.element("div").classes("row"):
                self._system = ui.select(self._systems, value=next(iter(self._systems)), label="What is it about?")
                self._system.classes("guide-answer")
                self._start_button = ui.button("Start", icon="play_arrow", on_click=self._start)
            if CHOSEN not in self._systems:
                ui.link("For a model of your own, choose its file on the page Start.", "/")
            self._status = ui.element("div").classes("row").props('role="status"')
        self._content = ui.column().classes("w-full")
        ui.timer(0, self._resume, once=True)

    # -- the state -----------------------------------------------------------------------------------------------------

    async def _resume(self) -> None:
        """Go on where the person was, if the system is still there."""
        progress = app.storage.user.get(STORAGE_KEY)
        if not isinstance(progress, dict) or progress.get("model") != self._workspace.subject.model:
            return
        if progress.get("system") in self._systems:
            self._system.set_value(progress["system"])
            await self._ask(list(progress["answers"]))

    async def _start(self) -> None:
        await self._ask([])

    async def _ask(self, answers: list[str]) -> None:
        """Send the answers, and show the next question or the result."""
        workspace = self._workspace
        self._status.clear()
        with self._status:
            ui.spinner()
            ui.label("Trying it on the system")
        folder = workspace.served_folder.root
        problem, reply = "", None
        try:
            reply = await workspace.queries.ask(
                "guide",
                subject=workspace.subject.to_document(),
                system=str(self._system.value),
                answers=answers,
                folder=str(folder),
                trust=workspace.trust,
            )
        except UsageError as error:
            problem = str(error)
        self._status.clear()
        if reply is None:
            with self._status:
                ui.label(problem).classes("error").props('role="alert"')
            return
        self._answers = reply["answers"]
        app.storage.user[STORAGE_KEY] = {
            "model": workspace.subject.model,
            "system": self._system.value,
            "answers": self._answers,
        }
        self._start_button.set_text("Start over")
        self._content.clear()
        with self._content:
            self._show(reply)
            ui.run_javascript("document.getElementById('guide-question')?.focus()")

    # -- what is shown -------------------------------------------------------------------------------------------------

    def _show(self, reply: dict[str, Any]) -> None:
        question = reply["question"]
        with ui.element("section").classes("card w-full"):
            if question is not None:
                number = len(self._answers) + 1
                ui.html(
                    f'<h2 id="guide-question" tabindex="-1">{number}. {escape(question["text"])}</h2>', sanitize=False
                )
                for message in reply["messages"]:
                    ui.label(message.strip("\n")).classes("guide-text")
                self._build_question(question, reply["error"])
            else:
                self._build_result(reply)
            with ui.element("div").classes("row"):
                if question is not None:
                    ui.button("Next", icon="arrow_forward", on_click=self._answer)
                back = ui.button("Back", icon="arrow_back", on_click=lambda: self._ask(self._answers[:-1])).props(
                    "outline"
                )
                back.set_enabled(bool(self._answers))
        if reply["steps"]:
            with ui.element("section").classes("card w-full").props('aria-label="Answers so far"'):
                build_heading("Your answers so far")
                with ui.element("ol").classes("plain-list"):
                    for step in reply["steps"]:
                        with ui.element("li"):
                            ui.label(step["question"]).classes("muted")
                            ui.label(step["answer"])
                ui.button(
                    "Download the answers",
                    icon="download",
                    on_click=lambda: ui.download.content(reply["answer_file"], ANSWERS_FILE),
                ).props("flat dense").tooltip(f"datamorphic guide --answers {ANSWERS_FILE} goes on with them")

    def _build_question(self, question: dict[str, Any], error: str) -> None:
        choices = {
            choice["value"]: "\u2003" * choice["depth"]
            + choice["value"]
            + (f": {choice['text']}" if choice["text"] else "")
            for choice in question["choices"]
        }
        self._input = self._own = None
        self._has_choices = bool(choices)
        if question["help"]:
            ui.label(question["help"]).classes("muted")
        if choices:
            default = question["default"] if question["default"] in choices else None
            with ui.element("div").classes("guide-choices").props('role="group" aria-labelledby="guide-question"'):
                self._input = ui.radio(choices, value=default)
            if question["open"]:
                self._own = ui.input("Or your own answer, such as several with commas")
                self._own.classes("guide-answer").on("keydown.enter", self._answer)
        else:
            self._input = ui.input("Your answer", value=question["default"] or "")
            self._input.classes("guide-answer").on("keydown.enter", self._answer)
        if error:
            ui.label(error).classes("error").props('role="alert"')

    def _build_result(self, reply: dict[str, Any]) -> None:
        result = reply["result"]
        ui.html('<h2 id="guide-question" tabindex="-1">The relation</h2>', sanitize=False)
        ui.label(result["text"]).classes("guide-text")
        judged = result["holds"] + result["violated"]
        verdict = (
            f"{pluralise(result['violated'], 'case')} of {judged:,} violate it today."
            if result["violated"]
            else f"It holds in all {pluralise(judged, 'case')} that were tried."
        )
        ui.label(verdict).classes("state-failed" if result["violated"] else "state-finished")
        for file in reply["files"]:
            with ui.element("div").classes("row"):
                build_heading(file["name"], 3)
                ui.button(
                    f"Download {file['name']}",
                    icon="download",
                    on_click=functools.partial(ui.download.content, file["text"], file["name"]),
                )
            ui.html(f'<pre class="command guide-code" tabindex="0">{escape(file["text"])}</pre>', sanitize=False)
        ui.label(f"Put the file into the folder of the model, and run: pytest {reply['files'][0]['name']}").classes(
            "muted"
        )

    # -- clicks --------------------------------------------------------------------------------------------------------

    async def _answer(self) -> None:
        own = str(self._own.value or "").strip() if self._own is not None else ""
        text = own or str(self._input.value or "")
        if self._has_choices and not text:
            ui.notify("Choose an answer first.", type="warning")
            return
        await self._ask([*self._answers, text[: MAX_ANSWER_CHARACTERS + 1]])
