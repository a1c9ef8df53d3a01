"""A difference between two fronts as a page."""

from __future__ import annotations

from ...reporting.document import Page, Section
from ..page import build_table
from .diff import Difference
from .text import format_outcome

MAX_ROWS = 30  # rows per table


def build_difference_page(change: Difference) -> Page:
    """Build the page of a difference: the verdict, the borders, and the cases to look at first."""
    headline, *details = format_outcome(change)
    text = "\n".join(f"• {line}" for line in details)
    sections = [Section(heading=headline, text=text, state="good" if change.unchanged else "bad")]
    if len(change.table):
        table = build_table(change.summary.reset_index(), MAX_ROWS)
        sections.append(Section(heading="The borders", text="The number of pairs per border and status.", table=table))
    if not change.unchanged and len(change.first()):
        text = "The border changed most here, and the inputs are plausible."
        table = build_table(change.first(), MAX_ROWS)
        sections.append(Section(heading="Cases to look at first", text=text, table=table))
    title = f"The border of {change.old.subject}, old and new"
    return Page(title=title, lead="Where the border moved, was gained or vanished.", sections=sections)
