"""A part of a page that is built when something slow was read, so that the page itself opens at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from nicegui import ui

from ...errors import UsageError

Value = TypeVar("Value")


def build_later(text: str, read: Callable[[], Value], build: Callable[[Value], object]) -> None:
    """Show a text, read something in a thread, then build the part in place of the text."""
    build_after(text, lambda: asyncio.to_thread(read), build)


def build_after(text: str, ask: Callable[[], Awaitable[Value]], build: Callable[[Value], object]) -> None:
    """Show a text, wait for an answer, then build the part in place of the text, or say why there is no answer."""
    place = ui.column().classes("w-full later-part")
    with place, ui.element("div").classes("row").props('role="status"'):
        ui.spinner()
        ui.label(text)

    async def fill() -> None:
        try:
            value = await ask()
        except UsageError as error:
            place.clear()
            with place:
                ui.label(str(error)).classes("error").props('role="alert"')
            return
        place.clear()
        with place:
            build(value)

    ui.timer(0, fill, once=True)
