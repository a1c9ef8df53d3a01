"""A part of a page that is built when something slow was read, so that the page itself opens at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from nicegui import ui

Value = TypeVar("Value")


def build_later(text: str, read: Callable[[], Value], build: Callable[[Value], object]) -> None:
    """Show a text, read something in a thread, then build the part in place of the text."""
    place = ui.column().classes("w-full later-part")
    with place, ui.element("div").classes("row").props('role="status"'):
        ui.spinner()
        ui.label(text)

    async def fill() -> None:
        value = await asyncio.to_thread(read)
        place.clear()
        with place:
            build(value)

    ui.timer(0, fill, once=True)
