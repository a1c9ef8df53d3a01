"""`PoolPanel`: what the test pool does now, Stop, and the messages of earlier commands."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from nicegui import ui

from ..._text import pluralise
from ..pool_client import LogEntry, PoolClient

REFRESH_SECONDS = 0.3
MAX_ENTRIES_SHOWN = 40
MAX_COMMAND_CHARACTERS = 300
ICONS = {"done": "check", "failed": "error_outline", "stopped": "pan_tool", "running": "hourglass_empty"}
KIND_TEXTS = {"done": "Done", "failed": "Failed", "stopped": "Stopped", "running": "Running"}

#: called when the pool has changed
ChangeHandler = Callable[[], Awaitable[None] | None]


class PoolPanel:
    """Follows the pool of a person: also commands that another page, or the page before a reload, has started."""

    def __init__(self, pool: PoolClient, on_change: ChangeHandler) -> None:
        self._pool, self._on_change = pool, on_change
        self._version = -1
        self._last_entry: LogEntry | None = pool.log[-1] if pool.log else None
        with ui.element("div").classes("pool-status w-full"):
            self._summary = ui.label().classes("pool-summary").props('role="status"')
            with ui.element("div").classes("row pool-progress") as self._row:
                self._text = ui.label().classes("mono")
                self._bar = ui.linear_progress(value=0, show_value=False, size="10px").props('aria-label="Progress"')
                self._stop = ui.button("Stop", icon="stop", on_click=self._press_stop).props("outline color=negative")
        ui.timer(REFRESH_SECONDS, self.refresh)

    def build_messages(self) -> None:
        """Build the pane with the commands that were run, the newest first."""
        self._messages = (
            ui.element("div").classes("pool-messages").props('role="log" aria-label="Messages" tabindex="0"')
        )
        self._show_messages()

    async def _press_stop(self) -> None:
        self._stop.disable()
        await self._pool.stop()

    async def refresh(self) -> None:
        """Show the state of the pool, and report a change of it."""
        pool = self._pool
        entry = pool.running
        self._row.set_visibility(entry is not None)
        if entry is None:
            self._stop.enable()
        else:
            self._bar.props(f"indeterminate={'false' if pool.share is not None else 'true'}")
            self._bar.set_value(pool.share or 0.0)
            seconds = time.time() - entry.time
            parts = [_cut(entry.text.splitlines()[-1] if entry.text else ""), f"{seconds:.0f} s", pool.left]
            self._text.set_text(", ".join(filter(None, parts)))
        if pool.version == self._version:
            return
        self._version = pool.version
        self._summary.set_text(describe_state(pool.state))
        self._show_messages()
        last_entry = pool.log[-1] if pool.log else None
        if last_entry is not None and last_entry is not self._last_entry and last_entry.kind != "running":
            if last_entry.kind == "failed":
                ui.notify(last_entry.outcome, type="negative", multi_line=True, close_button="Close", timeout=10_000)
            self._last_entry = last_entry
        result = self._on_change()
        if result is not None:
            await result

    def _show_messages(self) -> None:
        pane = getattr(self, "_messages", None)
        if pane is None:
            return
        pane.clear()
        with pane:
            if not self._pool.log:
                ui.label("Every button runs a command. What it did is listed here.").classes("muted")
            for entry in list(self._pool.log)[: -MAX_ENTRIES_SHOWN - 1 : -1]:
                _show_entry(entry)


def _show_entry(entry: LogEntry) -> None:
    with ui.element("div").classes(f"pool-entry entry-{entry.kind}"):
        with ui.element("div").classes("entry-heading"):
            ui.icon(ICONS[entry.kind]).props(f'role="img" aria-label="{KIND_TEXTS[entry.kind]}"')
            ui.label(time.strftime("%H:%M:%S", time.localtime(entry.time))).classes("muted")
            place = "" if entry.line is None or "\n" not in entry.text else f"Line {entry.line}"
            ui.label(place).classes("muted")
        ui.label(_cut(entry.text)).classes("mono entry-command")
        outcome = f"Stopped. So far: {entry.outcome}" if entry.kind == "stopped" else entry.outcome
        if outcome:
            ui.label(outcome).classes("entry-outcome")
        for message in entry.messages:
            ui.label(message).classes("entry-message")


def describe_state(state: dict[str, Any]) -> str:
    """Return the state of a pool in one line."""
    if not state:
        return "Starting the test pool"
    parts = [pluralise(state.get("cases", 0), "case")]
    if state.get("cases"):
        parts.append(f"{state.get('executed', 0):,} with an output")
    if state.get("runs"):
        parts.append(pluralise(state["runs"], "run"))
    if state.get("front"):
        parts.append(f"{pluralise(state['front']['pairs'], 'border pair')} in the last exploration")
    return f"{state.get('system', '')}: {', '.join(parts)}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_COMMAND_CHARACTERS else f"{text[: MAX_COMMAND_CHARACTERS - 3]}..."
