"""Figures, small tables and lists of sentences, as several pages show them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from nicegui import ui


def build_figures(figures: Iterable[tuple[str, str, str]]) -> None:
    """Build a row of figures: the name, the value, and a remark."""
    parts = "".join(
        f"<div><dt>{html.escape(name)}</dt><dd><strong>{html.escape(value)}</strong>"
        + (f"<span>{html.escape(remark)}</span>" if remark else "")
        + "</dd></div>"
        for name, value, remark in figures
    )
    if parts:
        ui.html(f'<dl class="figures">{parts}</dl>', sanitize=False).classes("w-full")


def build_table(columns: Sequence[str], rows: Iterable[Sequence[str]], label: str) -> None:
    """Build a plain table of texts that can be scrolled sideways."""
    head = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    ui.html(
        f'<div class="fact-scroll" tabindex="0" role="region" aria-label="{html.escape(label, quote=True)}">'
        f'<table class="fact-table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>',
        sanitize=False,
    ).classes("w-full")


def build_lines(lines: Iterable[object]) -> None:
    """Build a list of sentences, or nothing if there are none."""
    items = "".join(f"<li>{html.escape(str(line))}</li>" for line in lines)
    if items:
        ui.html(f'<ul class="lines">{items}</ul>', sanitize=False)
