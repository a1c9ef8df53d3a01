"""Messages about wrong input: one line at the bottom of the page, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nicegui import ui

from ...errors import DatamorphicError


@contextmanager
def show_errors() -> Iterator[None]:
    """Show the errors of users that happen in the block."""
    try:
        yield
    except DatamorphicError as error:
        ui.notify(str(error), type="negative", multi_line=True, close_button="Close", timeout=12_000)
