"""The page patterns."""

from __future__ import annotations

from nicegui import ui

from ..layout import build_frame
from ..studio import PAGES, Studio

_, ADDRESS, TITLE, _ = next(page for page in PAGES if page[0] == "pages.patterns")


def register(studio: Studio) -> None:
    """Add the page."""

    @ui.page(ADDRESS)
    def build_page() -> None:
        with build_frame(studio.get_workspace(), TITLE):
            ui.label("Nothing here yet.")
