"""The report of ``dm.check`` as text."""

from __future__ import annotations

from ..._text import format_percent
from ...reporting.text import to_one_line, to_printable
from .result import PURPOSES, CheckReport, RelationResult

MAX_EXAMPLES_SHOWN = 3


def format_report(report: CheckReport) -> str:
    """Return the report as text: the verdict, both tables, the smallest violations."""
    lines = [f"{report.subject}: {report.headline}", report.data]
    for purpose, meaning in PURPOSES.items():
        entries = [entry for entry in report.entries if entry.purpose == purpose]
        if entries:
            lines += ["", f"{purpose.capitalize()}: {meaning}.", *_format_table(report, entries)]
    if meanings := report.list_type_meanings():
        lines += ["", "Types of violations:", *(f"  {name}  {text}" for name, text in sorted(meanings.items()))]
    lines += [*_format_sizes(report), *_format_unjudged(report)]
    if not report.known and any(entry.judged for entry in report.entries):
        lines += ["", *_format_experience(report)]
    entries_by_name = {entry.relation: entry for entry in report.entries}
    for name, example in list(report.examples.items())[:MAX_EXAMPLES_SHOWN]:
        entry = entries_by_name[name]
        kind = "robustness" if entry.robustness else "a hypothesis"
        reason = f"necessary because {entry.reason}" if entry.necessary else f"{kind}: {entry.reason}"
        lines += ["", f"The smallest violation of {name} ({reason}):"]
        lines += [f"  {line}" for line in example.describe().split("\n")]
    lines += ["", *report.notes]
    lines.append(f"{report.seconds:.1f} s, {report.runs:,} cases labelled, seed {report.seed}")
    return to_printable("\n".join(lines))


def _format_table(report: CheckReport, entries: list[RelationResult]) -> list[str]:
    rows = [("relation", "judged", "violated", "share (95%)", "statement")]
    for entry in entries:
        violated, share = "-", "no answer" if entry.undefined else "not applicable"
        if entry.relation in report.untried:
            share = "not tried"
        elif entry.judged:
            rate, low, high = entry.format_rate()
            note = " by distribution" if entry.chance is not None else ""
            violated, share = entry.format_violated(), f"{rate} ({low} to {high}){note}"
        rows.append((entry.relation, f"{entry.judged:,}", violated, share, to_one_line(entry.says)))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:<{widths[3]}}  {row[4]}"
        for row in rows
    ]


def _format_sizes(report: CheckReport) -> list[str]:
    """Return the violations by their size, for relations whose violations have one."""
    frame = report.decades
    if not frame["violated"].any():
        return []
    nouns = dict.fromkeys(entry.size_noun for entry in report.entries if entry.size_noun)
    rows = [
        list(frame.columns),
        *([f"{value:,}" if name else value for name, value in enumerate(row)] for row in frame.values.tolist()),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["", f"Violations by size ({' or '.join(nouns)}):"]
    for row in rows:
        first, *figures = (f"{cell:{'<' if column == 0 else '>'}{widths[column]}}" for column, cell in enumerate(row))
        lines.append("  " + "  ".join([first, *figures]))
    return lines


def _format_unjudged(report: CheckReport) -> list[str]:
    """Return which relations lack answers, and how many violations depend on ties."""
    lines = []
    unanswered = [entry for entry in report.entries if entry.undefined]
    if unanswered:
        names = ", ".join(entry.relation for entry in unanswered)
        messages = max(unanswered, key=lambda entry: entry.undefined).format_messages()
        lines += ["", f"Without an answer: {names}. {to_one_line(messages)}"]
    tie_counts = [f"{entry.relation} ({entry.tied})" for entry in report.entries if entry.tied]
    if tie_counts:
        lines += ["", f"Not counted because they depend on a tie (ties='count' counts them): {', '.join(tie_counts)}"]
    return lines


def _format_experience(report: CheckReport) -> list[str]:
    """Return which relations an unknown learner kept and violated."""
    lines = ["It is unknown which relations this learner must satisfy. In this check:"]
    if kept_entries := report.never_violated:
        bounds = [f"{entry.relation} (at most {format_percent(entry.interval[1])})" for entry in kept_entries]
        lines.append(f"  never violated, so it may always hold: {', '.join(bounds)}")
    violated_names = [entry.relation for entry in report.entries if entry.changed]
    if violated_names:
        lines.append(f"  violated, so it does not always hold: {', '.join(violated_names)}")
    return lines
