"""The page Scripts: what was clicked as a script, to edit, check, save, replay and download.

A script is data: nothing of it is evaluated as Python, and it reads and writes files of the person's own folder only.
"""

from __future__ import annotations

import re
from typing import Any

from nicegui import ui

from ..._text import pluralise
from ...errors import DatamorphicError, UsageError
from ...scripting.commands import COMMANDS, find_command
from ...scripting.formatter import format_script
from ...scripting.grammar import MAX_SCRIPT_BYTES, parse_script
from ..components.elements import build_heading, show_errors
from ..components.pool_panel import PoolPanel
from ..pool_client import PoolClient, PoolFailure
from ..script_files import ScriptFiles, clean_name
from ..workspaces import Workspace

RECORDED = "recorded:"
CHECK_DELAY_SECONDS = 0.5  # after the last key
MAX_PROBLEMS_SHOWN = 20
MAX_HIGHLIGHTED_LINES = 1_000
_TOKEN = re.compile(
    r"(?P<comment>//.*$)|(?P<text>\"(?:[^\"]|\"\")*\")|^\s*(?P<command>[A-Za-z_]\w*)(?=\s*\()|(?P<number>(?<![\w.])\d+(?:\.\d+)?(?![\w.]))"
)


class ScriptsPage:
    """An editor with the marks of a checker, and the pool that scripts are replayed on."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._pool: PoolClient = workspace.pool
        self._files = ScriptFiles(workspace.scripts, workspace.served_folder)
        self._opened = RECORDED
        self._loaded_text = ""  # as it was opened or saved, to notice changes
        self._checked_text: str | None = None
        self._pending_text: str | None = None  # changed since the last look
        self._root = ui.element("div").classes("w-full stack")
        with self._root:
            if self._pool.state:
                self._build()
            else:
                with ui.element("div").classes("row"):
                    ui.spinner()
                    ui.label(f"Starting the test pool of {workspace.subject.name}").props('role="status"')
                ui.timer(0.05, self._open_pool, once=True)

    async def _open_pool(self) -> None:
        try:
            await self._pool.open()
        except PoolFailure as failure:
            self._root.clear()
            with self._root:
                ui.label(str(failure)).classes("error").props('role="alert"')
            return
        self._root.clear()
        with self._root:
            self._build()

    def _build(self) -> None:
        self._panel = PoolPanel(self._pool, self._refresh)
        with ui.element("div").classes("activities-grid"):
            with ui.element("section").classes("card").props('aria-label="Editor"'):
                self._build_tools()
                self._build_editor()
            with ui.element("div").classes("stack"):
                with ui.element("section").classes("card").props('aria-label="Messages of commands"'):
                    build_heading("Messages")
                    self._panel.build_messages()
                with ui.expansion("All commands", icon="help_outline").classes("card command-list"):
                    for command in COMMANDS.values():
                        with ui.element("div"):
                            ui.label(command.signature).classes("mono strong")
                            ui.label(command.summary).classes("muted")
        self._set_text(self._read_recorded())

    def _build_tools(self) -> None:
        with ui.element("div").classes("row"):
            self._select = ui.select(
                self._files.list_choices(), value=RECORDED, label="Script", on_change=self._open
            ).classes("script-select")
            self._name = ui.input("Name", value="session").classes("tool")
            ui.button("Save", icon="save", on_click=self._save).props("outline")
            ui.button("Download", icon="download", on_click=self._download).props("outline")
            self._delete = ui.button(icon="delete_outline", on_click=self._remove).props(
                'flat dense aria-label="Delete this script"'
            )
            self._delete.set_visibility(False)

    def _build_editor(self) -> None:
        self._editor = ui.codemirror("", line_wrapping=True, on_change=self._note).classes("script-editor")
        ui.timer(0.3, self._label_editor, once=True)
        self._verdict = ui.label().props('role="status"')
        self._problems = ui.element("ul").classes("problems")
        with ui.element("div").classes("row"):
            ui.button("Replay and compare", icon="replay", on_click=self._replay).tooltip(
                "Run the script on a fresh pool with the same seed, and compare the outcome with the pool"
            )
            ui.button("Run on the pool", icon="play_arrow", on_click=self._run).props("outline").tooltip(
                "Run the commands on the cases that are there"
            )
            ui.button("Tidy up", on_click=self._format).props("flat").tooltip("Format the script in one style")
        self._comparison = ui.element("div").classes("w-full")
        ui.timer(CHECK_DELAY_SECONDS, self._check)

    def _label_editor(self) -> None:
        ui.run_javascript("document.querySelector('.script-editor .cm-content')?.setAttribute('aria-label', 'Script')")

    # -- the text ------------------------------------------------------------------------------------------------------

    def _read_recorded(self) -> str:
        return str(self._pool.state.get("script", ""))

    def _set_text(self, text: str) -> None:
        self._loaded_text = text
        self._editor.decorations = []
        self._editor.value = text
        self._editor.decorations = highlight(text)
        self._checked_text = None

    def _note(self) -> None:
        self._pending_text = self._get_text()

    def _get_text(self) -> str:
        text = str(self._editor.value or "")
        return text if len(text) <= MAX_SCRIPT_BYTES else text[: MAX_SCRIPT_BYTES + 1]

    def _open(self) -> None:
        key = str(self._select.value)
        if key == self._opened:
            return
        with show_errors():
            text = self._read_recorded() if key == RECORDED else self._files.read(key)
            self._opened = key
            file = key.partition(":")[2].rpartition("/")[2]
            self._name.value = "session" if key == RECORDED else re.sub(r"[^\w .()+-]", "-", file).lstrip("-")
            self._delete.set_visibility(key.startswith("saved:"))
            self._set_text(text)

    def _save(self) -> None:
        with show_errors():
            try:
                key = self._files.save(str(self._name.value or ""), self._get_text())
            except OSError as error:
                raise UsageError(f"The script cannot be saved: {error.strerror}.") from None
            self._loaded_text = self._get_text()
            self._opened = key
            self._select.set_options(self._files.list_choices(), value=key)
            self._delete.set_visibility(True)
            ui.notify(f"Saved as {key.partition(':')[2]}", type="positive")

    def _remove(self) -> None:
        with show_errors():
            self._files.remove(self._opened)
            self._opened = RECORDED
            self._select.set_options(self._files.list_choices(), value=RECORDED)
            self._delete.set_visibility(False)
            self._set_text(self._read_recorded())

    def _download(self) -> None:
        with show_errors():
            ui.download.content(self._get_text(), clean_name(str(self._name.value or "script")), "text/plain")

    def _format(self) -> None:
        with show_errors():
            self._editor.value = format_script(parse_script(self._get_text()))

    # -- checking ------------------------------------------------------------------------------------------------------

    async def _check(self) -> None:
        """Check the script when nobody types, and mark its mistakes."""
        text = self._get_text()
        if text == self._checked_text:
            return
        if self._pending_text is not None:  # typed since the last look: wait for a pause
            self._pending_text = None
            return
        if self._pool.running is not None:
            self._verdict.set_text("The script is checked when the running command has ended.")
            return
        self._checked_text = text
        try:
            reply = await self._pool.ask("check", text=text)
        except DatamorphicError as error:
            reply = {"problems": [{"line": 1, "column": 1, "message": str(error)}]}
        if text == self._get_text():
            self._mark(text, reply)

    def _mark(self, text: str, reply: dict[str, Any]) -> None:
        problems = reply["problems"][:MAX_PROBLEMS_SHOWN]
        lines = text.split("\n")
        decorations = highlight(text)
        for problem in problems:
            number = min(max(1, int(problem["line"])), len(lines))
            decorations.append({"kind": "line", "line": number, "class": "script-error-line"})
            start = sum(len(line) + 1 for line in lines[: number - 1])
            begin = start + min(int(problem["column"]) - 1, max(0, len(lines[number - 1]) - 1))
            end = start + len(lines[number - 1])
            if begin < end:
                decorations.append({"kind": "mark", "from": begin, "to": end, "class": "script-error"})
        self._editor.decorations = decorations
        self._problems.clear()
        if not problems:
            self._verdict.set_text(f"No mistakes found. {pluralise(reply.get('commands', 0), 'command')}.")
            return
        self._verdict.set_text(
            f"{pluralise(len(reply['problems']), 'mistake')} found. Nothing is run before it is corrected."
        )
        with self._problems:
            for problem in problems:
                with ui.element("li").classes("error"):
                    ui.button(
                        f"Line {problem['line']}, column {problem['column']}",
                        on_click=lambda line=problem["line"]: self._editor.reveal_line(min(int(line), len(lines))),
                    ).props("flat dense").classes("problem-place")
                    ui.label(str(problem["message"]))

    # -- running -------------------------------------------------------------------------------------------------------

    def _replay(self) -> None:
        with show_errors():
            self._comparison.clear()
            self._pool.start_replay(self._get_text(), str(self._name.value or "script")[:60])

    def _run(self) -> None:
        with show_errors():
            self._pool.start(self._get_text())

    def _adopt(self) -> None:
        with show_errors():
            self._pool.start_adopting()

    def _refresh(self) -> None:
        """Show what a command has changed."""
        if self._pool.running is not None:
            return
        if self._opened == RECORDED and self._get_text() == self._loaded_text:
            recorded = self._read_recorded()
            if recorded != self._loaded_text:
                self._set_text(recorded)
        self._checked_text = None
        self._comparison.clear()
        if self._pool.comparison is not None:
            with self._comparison:
                self._show_comparison(self._pool.comparison)

    def _show_comparison(self, comparison: dict[str, Any]) -> None:
        with ui.element("div").classes("comparison").props('role="status"'):
            build_heading("Replay compared with the pool", 3)
            for text, same in describe_comparison(comparison):
                kind = "good" if same else "muted" if same is None else "bad"
                ui.label(text).classes(f"comparison-{kind}")
            if comparison.get("adopted"):
                ui.label("The pool was empty. It has the cases of the replay now.")
            elif not comparison["same_cases"] and self._pool.state.get("can_adopt"):
                ui.button("Use the cases of the replay", on_click=self._adopt).props("outline")


def highlight(text: str) -> list[dict[str, Any]]:
    """Return marks of commands, comments, numbers and quoted texts, for the first lines of a script."""
    marks: list[dict[str, Any]] = []
    start = 0
    for line in text.split("\n")[:MAX_HIGHLIGHTED_LINES]:
        for match in _TOKEN.finditer(line):
            kind = match.lastgroup
            if kind == "command" and find_command(match["command"]) is None:
                continue
            begin, end = match.span(str(kind))
            marks.append({"kind": "mark", "from": start + begin, "to": start + end, "class": f"script-{kind}"})
        start += len(line) + 1
    return marks


def describe_comparison(comparison: dict[str, Any]) -> list[tuple[str, bool | None]]:
    """Return the outcome of a replay in sentences, each with whether it is the same as in the pool; None if unknown.

    Examples
    --------
    >>> describe_comparison({"cases": [3, 3], "same_cases": True, "pairs": [None, None], "same_front": None})
    [('Same cases: 3.', True)]
    """
    cases, pairs = comparison["cases"], comparison["pairs"]
    sentences: list[tuple[str, bool | None]] = []
    if comparison.get("adopted"):
        sentences.append((f"{cases[1]:,} cases made.", None))
    elif comparison["same_cases"]:
        sentences.append((f"Same cases: {cases[1]:,}.", True))
    else:
        sentences.append((f"Different cases: {cases[1]:,} in the replay, {cases[0]:,} in the pool.", False))
    if comparison["same_front"]:
        sentences.append((f"Same front: {pairs[1]:,} border pairs.", True))
    elif comparison["same_front"] is False:
        sentences.append(
            (f"Different front: {pairs[1]:,} border pairs in the replay, {pairs[0]:,} in the pool.", False)
        )
    elif pairs != [None, None]:
        counts = ["no exploration" if count is None else f"{count:,} border pairs" for count in pairs]
        sentences.append((f"Front: {counts[1]} in the replay, {counts[0]} in the pool.", None))
    return sentences
