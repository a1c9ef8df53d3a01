"""Small pieces of pages: headings, tables, figures, lists of sentences, messages, and parts that are built later."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from typing import TypeVar

from nicegui import ui

from ...errors import DatamorphicError, UsageError

Value = TypeVar("Value")


def build_heading(text: str, level: int = 2) -> None:
    """Build the heading of a section."""
    ui.html(f"<h{level}>{escape(text)}</h{level}>", sanitize=False)


def clean_attribute(text: str) -> str:
    """Return a text for an attribute that is set by ``props``, without the characters that would end it.

    Examples
    --------
    >>> clean_attribute('say "a=b"')
    'say a b'
    """
    return " ".join("".join(" " if character in "\"'\\{}<>`=" else character for character in text).split())


def build_plain_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Show rows of texts, the first cell of each as its heading; without a head if there are no columns."""
    with ui.element("table").classes("plain-table"):
        with ui.element("caption"):
            ui.label(caption)
        if columns:
            with ui.element("thead"), ui.element("tr"):
                for name in columns:
                    with ui.element("th").props('scope="col"'):
                        ui.label(name)
        with ui.element("tbody"):
            for first, *others in rows:
                with ui.element("tr"):
                    with ui.element("th").props('scope="row"'):
                        ui.label(first)
                    for text in others:
                        with ui.element("td"):
                            ui.label(text)


def build_figures(figures: Iterable[tuple[str, str, str]]) -> None:
    """Build a row of figures: the name, the value, and a remark."""
    parts = "".join(
        f"<div><dt>{escape(name)}</dt><dd><strong>{escape(value)}</strong>"
        + (f"<span>{escape(remark)}</span>" if remark else "")
        + "</dd></div>"
        for name, value, remark in figures
    )
    if parts:
        ui.html(f'<dl class="figures">{parts}</dl>', sanitize=False).classes("w-full")


def build_table(columns: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> None:
    """Build a plain table of texts that can be scrolled sideways."""
    head = "".join(f"<th scope=col>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    ui.html(
        f'<div class="fact-scroll" tabindex="0" role="region" aria-label="{escape(label, quote=True)}">'
        f'<table class="fact-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>',
        sanitize=False,
    ).classes("w-full")


def build_lines(lines: Iterable[object]) -> None:
    """Build a list of sentences, or nothing if there are none."""
    items = "".join(f"<li>{escape(str(line))}</li>" for line in lines)
    if items:
        ui.html(f'<ul class="lines">{items}</ul>', sanitize=False)


@contextmanager
def show_errors() -> Iterator[None]:
    """Show the errors of users that happen in the block."""
    try:
        yield
    except DatamorphicError as error:
        ui.notify(str(error), type="negative", multi_line=True, close_button="Close", timeout=12_000)


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
