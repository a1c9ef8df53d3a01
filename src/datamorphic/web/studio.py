"""`Studio`: what all pages share, and the list of the pages."""

from __future__ import annotations

from dataclasses import dataclass

from .._tables import read_document
from .options import WebOptions
from .workspaces import Workspace, Workspaces


@dataclass(frozen=True, kw_only=True)
class PageFacts:
    """A page of the studio: a row of `pages.toml`."""

    builder: str  # of what is inside the frame: a module and a name in it
    address: str
    title: str
    icon: str
    lead: str  # below the title
    needs_subject: bool = False  # without one, there is only a link to the page Start
    shows_reports: bool = False
    parameters: tuple[str, ...] = ()  # of the address, for the builder


@dataclass(frozen=True, kw_only=True)
class PageTable:
    """The pages in the order of the navigation."""

    pages: tuple[PageFacts, ...]


PAGES = read_document(f"{__package__}.pages", "pages.toml", PageTable).pages


class Studio:
    """What all pages share: the options and the workspaces."""

    def __init__(self, options: WebOptions) -> None:
        self.options = options
        self.workspaces = Workspaces(options)

    def get_workspace(self) -> Workspace:
        """Return the workspace of the person whose page is being built."""
        from nicegui import app

        return self.workspaces.get(app.storage.browser["id"])
