"""`Studio`: what all pages share, and the list of the pages."""

from __future__ import annotations

from .options import WebOptions
from .workspaces import Workspace, Workspaces

#: the pages in the order of the navigation: module, address, title, icon
PAGES: tuple[tuple[str, str, str, str], ...] = (
    ("pages.start", "/", "Start", "home"),
    ("pages.setup", "/set-up", "Set-up", "tune"),
    ("pages.checkup", "/check-up", "Check-up", "fact_check"),
    ("pages.activities", "/activities", "Activities", "science"),
    ("pages.exploration", "/exploration", "Exploration", "explore"),
    ("pages.relations", "/relations", "Relations", "compare_arrows"),
    ("pages.trees", "/trees", "Trees", "account_tree"),
    ("pages.hunts", "/hunts", "Hunts", "gps_fixed"),
    ("pages.scripts", "/scripts", "Scripts", "description"),
    ("pages.runs", "/runs", "Runs", "history"),
    ("pages.studies", "/studies", "Studies", "menu_book"),
    ("pages.patterns", "/patterns", "Patterns", "extension"),
)


class Studio:
    """What all pages share: the options and the workspaces."""

    def __init__(self, options: WebOptions) -> None:
        self.options = options
        self.workspaces = Workspaces(options)

    def get_workspace(self) -> Workspace:
        """Return the workspace of the person whose page is being built."""
        from nicegui import app

        return self.workspaces.get(app.storage.browser["id"])
