"""Headings and other pieces of pages that are plain HTML, with their texts escaped."""

from __future__ import annotations

from html import escape

from nicegui import ui


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
