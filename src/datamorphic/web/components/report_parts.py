"""Parts of reports within a page of the studio: the same HTML, style and script as in the report itself."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from nicegui import ui

from ...reporting.html import build_part_style, read_script
from ..jobs import StudioJob

SCOPE = ".report"
#: parts that are added to the page become sortable and zoomable
OBSERVER = """
new MutationObserver(function () {
  document.querySelectorAll(".report:not([data-ready])").forEach(function (part) {
    part.dataset.ready = "true";
    window.setUpReport(part);
  });
}).observe(document.documentElement, { childList: true, subtree: true });
"""


@functools.cache
def _build_head() -> str:
    style = build_part_style(SCOPE, f"body.body--dark {SCOPE}")
    return f"<style>{style}</style><script>{read_script()}{OBSERVER}</script>"


def prepare_parts() -> None:
    """Add the style and the script of reports to the page that is being built."""
    ui.add_head_html(_build_head())


def build_part(html: str) -> ui.html:
    """Show a piece of HTML that `render_parts` made; all text of users in it is escaped there."""
    return ui.html(html, sanitize=False).classes("report w-full")


def build_summary(parts: Mapping[str, Any]) -> None:
    """Show the verdict and the figures of a report."""
    for name in ("verdict", "tiles"):
        if parts[name].strip():
            build_part(parts[name])


def build_sections(sections: Iterable[Mapping[str, Any]]) -> None:
    """Show sections of a report, with their parts."""
    for section in sections:
        build_part(section["html"])
        build_sections(section["parts"])


def build_report_parts(job: StudioJob) -> None:
    """Show the report of a job: verdict, figures, sections, and how it was made."""
    parts = job.parts
    if parts is None:
        return
    build_summary(parts)
    build_sections(parts["sections"])
    if parts["facts"].strip():
        with ui.expansion("How it was made").classes("w-full"):
            build_part(parts["facts"])
