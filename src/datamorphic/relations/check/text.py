"""A report of ``dm.check`` in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._text import pluralize
from ...reporting.text import to_one_line, to_printable

if TYPE_CHECKING:
    from .result import CheckReport, RelationResult

MAX_EXAMPLES_SHOWN = 3


def format_report(report: CheckReport) -> str:
    """Return the report as text: the verdict, both tables, the smallest violations."""
    from .result import PURPOSES

    lines = [f"{report.subject}: {report.headline}", report.data]
    for purpose, meaning in PURPOSES.items():
        entries = [entry for entry in report.entries if entry.purpose == purpose]
        if entries:
            lines += ["", f"{purpose.capitalize()}: {meaning}.", *_format_table(entries)]
    lines += _format_unjudged(report)
    judged = any(entry.judged for entry in report.entries)
    lines += ["", *_format_probe(report)] if judged and not report.known else []
    for name, example in list(report.examples.items())[:MAX_EXAMPLES_SHOWN]:
        entry = next(candidate for candidate in report.entries if candidate.relation == name)
        reason = f"necessary because {entry.reason}" if entry.necessary else f"a hypothesis: {entry.reason}"
        lines += ["", f"The smallest violation of {name} ({reason}):"]
        lines += [
            f"  {line}" for line in (example.describe() if hasattr(example, "describe") else example).split("\n")
        ]
    lines += ["", *report.notes] if report.notes else [""]
    lines.append(f"{report.seconds:.1f} s, {report.runs:,} cases labelled, seed {report.seed}")
    return to_printable("\n".join(lines))


def _format_table(entries: list[RelationResult]) -> list[str]:
    rows = [("relation", "judged", "violated", "share (95 %)", "promise")]
    rows += [
        (entry.relation, f"{entry.judged:,}", *format_cells(entry), to_one_line(entry.says)) for entry in entries
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:<{widths[3]}}  {row[4]}"
        for row in rows
    ]


def _format_unjudged(report: CheckReport) -> list[str]:
    """Return what was said where there was no answer, and how many violations hang on ties."""
    lines = []
    unanswered = [entry for entry in report.entries if entry.undefined]
    if unanswered:
        message = format_messages(max(unanswered, key=lambda entry: entry.undefined))
        lines = [
            "",
            f"Without an answer: {', '.join(entry.relation for entry in unanswered)}. {to_one_line(message)}",
        ]
    tie_counts = [f"{entry.relation} ({entry.tied})" for entry in report.entries if entry.tied]
    if tie_counts:
        lines += [
            "",
            f"Violations that hang on a tie, set aside (count them with ties='count'): {', '.join(tie_counts)}",
        ]
    return lines


def format_cells(entry: RelationResult) -> tuple[str, str]:
    """Return how many cases violate a relation, and the share; or why there is none."""
    if not entry.judged:
        return "-", "no answer" if entry.undefined else "does not apply"
    low, high = entry.interval
    note = " by distribution" if entry.chance is not None else ""
    return (
        f"{entry.violated:,}",
        f"{format_percent(entry.rate)} ({format_percent(low)} to {format_percent(high)}){note}",
    )


def format_messages(entry: RelationResult) -> str:
    """Return what is worth saying of cases that were not judged: what was said of most of them."""
    parts = [
        f"{pluralize(count, 'case')}: {message}"
        for message, count in sorted(entry.messages.items(), key=lambda item: -item[1])[:2]
        if message
    ]
    return "; ".join(parts)


def format_percent(share: float) -> str:
    """Return a share in percent, without digits that say nothing.

    Examples
    --------
    >>> percent(0.0), percent(0.01234), percent(0.5)
    ('0 %', '1.2 %', '50 %')
    """
    if share in (0, 1):
        return f"{100 * share:g} %"
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.1f} %"


def _format_probe(report: CheckReport) -> list[str]:
    """Return what experience says of a learner nobody knows."""
    never_violated = report.never_violated
    lines = ["Nobody has said what this learner must keep. By experiment:"]
    if never_violated:
        bounds = [f"{entry.relation} (at most {format_percent(entry.interval[1])})" for entry in never_violated]
        lines.append(f"  never violated, and so perhaps its promises: {', '.join(bounds)}")
    violated_names = [entry.relation for entry in report.entries if entry.changed]
    if violated_names:
        lines.append(f"  violated, and so no promises of it: {', '.join(violated_names)}")
    return lines
