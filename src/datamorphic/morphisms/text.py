"""Reports of law checks as text."""

from __future__ import annotations

from .._text import pluralize
from .law_result import LawReport


def format_report(report: LawReport) -> str:
    """Return a report as text with a headline and one line per law."""
    lines = [f"Laws of {report.system}, {report.examples:,} examples, seed {report.seed}", ""]
    for result in report.results:
        reason = f": {result.words}" if result.words else ""
        lines.append(f"{result.state:<11}  {result.law:<12}  {result.says}{reason}")
    tried_first = format_tried_first(report)
    if tried_first:
        lines += ["", tried_first]
    return "\n".join(lines)


def format_tried_first(report: LawReport) -> str:
    """Return the outcome of earlier counter-examples as text, "" if none."""
    counts = report.tried_first
    if not counts["tried"]:
        return ""
    total = pluralize(counts["tried"], "counter-example")
    return f"tried first: {total} from earlier checks, {counts['breaking']} still breaking, {counts['mended']} fixed"
