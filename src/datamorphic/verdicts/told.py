"""A report of ``dm.check`` in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._checks import plural
from ..reports.texts import one_line, printable

if TYPE_CHECKING:
    from .report import Entry, Report

MOST_EXAMPLES = 3


def text(report: Report) -> str:
    """Return the report as text: the verdict, both tables, the smallest violations."""
    from .report import PURPOSES

    lines = [f"{report.subject}: {report.headline}", report.data]
    for purpose, meaning in PURPOSES.items():
        entries = [entry for entry in report.entries if entry.purpose == purpose]
        if entries:
            lines += ["", f"{purpose.capitalize()}: {meaning}.", *_table(entries)]
    lines += _unjudged(report)
    judged = any(entry.judged for entry in report.entries)
    lines += ["", *_probe(report)] if judged and not report.known else []
    for name, example in list(report.examples.items())[:MOST_EXAMPLES]:
        entry = next(each for each in report.entries if each.relation == name)
        fault = f"necessary because {entry.reason}" if entry.necessary else f"a hypothesis: {entry.reason}"
        lines += ["", f"The smallest violation of {name} ({fault}):"]
        lines += [
            f"  {line}" for line in (example.describe() if hasattr(example, "describe") else example).split("\n")
        ]
    lines += ["", *report.notes] if report.notes else [""]
    lines.append(f"{report.seconds:.1f} s, {report.runs:,} cases labelled, seed {report.seed}")
    return printable("\n".join(lines))


def _table(entries: list[Entry]) -> list[str]:
    rows = [("relation", "judged", "violated", "share (95 %)", "promise")]
    rows += [(entry.relation, f"{entry.judged:,}", *result(entry), one_line(entry.says)) for entry in entries]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:<{widths[3]}}  {row[4]}"
        for row in rows
    ]


def _unjudged(report: Report) -> list[str]:
    """Return what was said where there was no answer, and how many violations hang on ties."""
    lines = []
    mute = [entry for entry in report.entries if entry.undefined]
    if mute:
        said = why(max(mute, key=lambda entry: entry.undefined))
        lines = ["", f"Without an answer: {', '.join(entry.relation for entry in mute)}. {one_line(said)}"]
    tied = [f"{entry.relation} ({entry.tied})" for entry in report.entries if entry.tied]
    if tied:
        lines += [
            "",
            f"Violations that hang on a tie, set aside (count them with ties='count'): {', '.join(tied)}",
        ]
    return lines


def result(entry: Entry) -> tuple[str, str]:
    """Return how many cases violate a relation, and the share; or why there is none."""
    if not entry.judged:
        return "-", "no answer" if entry.undefined else "does not apply"
    low, high = entry.interval
    note = " by distribution" if entry.chance is not None else ""
    return f"{entry.violated:,}", f"{percent(entry.rate)} ({percent(low)} to {percent(high)}){note}"


def why(entry: Entry) -> str:
    """Return what is worth saying of cases that were not judged: what was said of most of them."""
    told = [
        f"{plural(count, 'case')}: {message}"
        for message, count in sorted(entry.messages.items(), key=lambda each: -each[1])[:2]
        if message
    ]
    return "; ".join(told)


def percent(share: float) -> str:
    """Return a share in percent, without digits that say nothing.

    Examples
    --------
    >>> percent(0.0), percent(0.01234), percent(0.5)
    ('0 %', '1.2 %', '50 %')
    """
    if share in (0, 1):
        return f"{100 * share:g} %"
    return f"{100 * share:.2g} %" if share < 0.995 else f"{100 * share:.1f} %"


def _probe(report: Report) -> list[str]:
    """Return what experience says of a learner nobody knows."""
    kept = report.never_violated
    lines = ["Nobody has said what this learner must keep. By experiment:"]
    if kept:
        most = [f"{entry.relation} (at most {percent(entry.interval[1])})" for entry in kept]
        lines.append(f"  never violated, and so perhaps its promises: {', '.join(most)}")
    broken = [entry.relation for entry in report.entries if entry.changed]
    if broken:
        lines.append(f"  violated, and so no promises of it: {', '.join(broken)}")
    return lines
