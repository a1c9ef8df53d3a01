"""Reports of law checks as text."""

from __future__ import annotations

from .._text import pluralize
from .law_result import LawReport


def format_report(report: LawReport) -> str:
    """Return a report as text with one line per law."""
    lines = [str(result) for result in report.results]
    tried_first = format_tried_first(report)
    if tried_first:
        lines.append(tried_first)
    return "\n".join(lines)


def format_tried_first(report: LawReport) -> str:
    """Return how the counter-examples of earlier checks ended, or "" if there were none."""
    counts = report.tried_first
    if not counts["tried"]:
        return ""
    tried = pluralize(counts["tried"], "counter-example")
    return (
        f"tried first: {tried} of earlier checks, {counts['breaking']} still breaking, {counts['mended']} mended"
    )
