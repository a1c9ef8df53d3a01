"""The frame of every page: header, navigation, the chosen subject, light and dark."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

from fastapi import Request
from nicegui import app, ui

from .components.elements import build_heading
from .components.report_parts import prepare_parts
from .error_pages import FAULT_MESSAGE
from .studio import PAGES, PageFacts, Studio
from .workspaces import Workspace

ui.button.default_props("no-caps unelevated")
for field in (ui.select, ui.input, ui.number, ui.input_chips):
    field.default_props("outlined dense")
PRIMARY_COLOUR = "#1f5f8b"  # white text on it can be read; `studio.css` has the one for dark pages
STYLE = files(__package__).joinpath("studio.css").read_text(encoding="utf-8")


def register_page(studio: Studio, facts: PageFacts) -> None:
    """Add a page to the studio."""
    module, _, name = facts.builder.partition(":")
    build = getattr(importlib.import_module(f"{__package__}.{module}"), name)

    @ui.page(facts.address)
    def build_page(request: Request) -> None:
        workspace = studio.get_workspace()
        if facts.shows_reports:
            prepare_parts()
        with _build_frame(workspace, facts):
            if facts.needs_subject and workspace.subject.kind == "none":
                ui.link("Choose what to test first.", "/")
            else:
                build(workspace, **{name: request.query_params.get(name, "") for name in facts.parameters})


@contextmanager
def _build_frame(workspace: Workspace, facts: PageFacts) -> Iterator[None]:
    """Build the frame of a page around what is built in the block."""
    ui.page_title(f"{facts.title} · datamorphic studio")
    ui.add_css(STYLE)
    ui.colors(primary=PRIMARY_COLOUR)
    ui.on_exception(_show_fault)
    dark = ui.dark_mode(value=app.storage.user.get("dark"))
    with ui.header().classes("studio-header"):
        ui.link("Skip to the content", "#content").classes("skip")  # the first thing that Tab reaches
        menu = ui.button(icon="menu").props('flat dense color=white aria-label="Navigation"')
        ui.link("datamorphic studio", "/").classes("brand")
        ui.space()
        ui.label(f"Testing {workspace.subject.name}" if workspace.subject.name else "Nothing chosen yet").classes(
            "subject"
        )

        def toggle() -> None:
            dark.value = not dark.value
            app.storage.user["dark"] = dark.value

        ui.button(icon="contrast", on_click=toggle).props('flat dense color=white aria-label="Light or dark"')
    # with the value None, NiceGUI asks the browser whether it is open, which fails when the page is left at once
    drawer = ui.left_drawer(value=False).props("show-if-above width=200 breakpoint=900 bordered")
    drawer.classes("studio-drawer")
    menu.on_click(drawer.toggle)
    with drawer, ui.element("nav").props('aria-label="Pages"'):
        for page in PAGES:
            with ui.link(target=page.address).classes("nav" + (" current" if page is facts else "")) as link:
                if page is facts:
                    link.props('aria-current="page"')
                ui.icon(page.icon).props('aria-hidden="true"')
                ui.label(page.title)
    with ui.element("div").classes("studio-content").props("id=content tabindex=-1"):
        build_heading(facts.title, level=1)
        ui.label(facts.lead).classes("lead")
        yield


def _show_fault() -> None:
    """Say that a click did not work; NiceGUI writes the traceback to the terminal."""
    ui.notify(FAULT_MESSAGE, type="negative", multi_line=True, close_button="Close", timeout=12_000)
