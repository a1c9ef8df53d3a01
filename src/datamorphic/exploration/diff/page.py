"""A difference between two fronts as a page."""

from __future__ import annotations

from ..._lazy import pd
from ...reporting.document import Page, Section, Table
from ...reporting.text import format_cell
from ..page import build_table
from .diff import STATUSES, Difference
from .text import format_first_cases, format_headline, format_outcome

MAX_ROWS = 30  # rows per table


def build_difference_page(change: Difference, brief: bool = False) -> Page:
    """Build the page of a difference: the verdict, the borders, and the cases to look at first.

    With `brief`, it is the short form for terminals, with a line per case.
    """
    sections = []
    if outcome := format_outcome(change):
        heading = "How they were compared" if change.unchanged else "What changed"
        sections.append(Section(heading=heading, text="\n".join(f"• {line}" for line in outcome)))
    if len(change.table) and not (brief and change.unchanged):
        text = "" if brief else "The number of pairs per border and status."
        sections.append(Section(heading="The borders", text=text, table=_tabulate_borders(change)))
    if not change.unchanged and len(change.first()):
        text = "The border changed most here, and the inputs are plausible."
        if brief:
            text = "\n".join(f"• {case}" for case in format_first_cases(change))
        table = None if brief else build_table(change.first(), MAX_ROWS)
        sections.append(Section(heading="Cases to look at first", text=text, table=table))
    return Page(
        title=f"The border of {change.old.subject}, old and new",
        lead="Where the border moved, was gained or vanished.",
        verdict=format_headline(change),
        state="good" if change.unchanged else "bad",
        sections=sections,
    )


def _tabulate_borders(change: Difference) -> Table:
    """Return the pairs that were judged, by border and status."""
    summary, judged = change.summary, change.judged
    counts = pd.crosstab(judged["border"], judged["status"])
    counts = counts.reindex(index=summary.index, columns=list(STATUSES), fill_value=0)
    frame = summary.assign(**{str(name): counts[name] for name in counts}).round(3).head(MAX_ROWS).reset_index()
    rows = [[format_cell(value) for value in row] for row in frame.itertuples(index=False)]
    return Table(columns=[str(name) for name in frame.columns], rows=rows)
