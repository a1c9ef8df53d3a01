"""A small table of texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nicegui import ui


def build_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
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
