"""A report of ``dm.check`` as a page, and as a JUnit file."""

from __future__ import annotations

from ..._text import pluralize
from ...reporting.document import Page as Page
from ...reporting.document import Section, SectionState, Table
from ...reporting.text import cut
from .result import PURPOSES, CheckReport, RelationResult
from .text import format_messages, format_percent
from .violation import LearnerViolation, format_table

MAX_JUNIT_TEXT_LENGTH = 4_000  # letters of a text in a JUnit file


def build_page(report: CheckReport) -> Page:
    """Return a report as a page: the verdict, the relations, the smallest violation of each that has one."""
    sections = [_build_relations_section(report, purpose) for purpose in PURPOSES]
    examples = [_build_example_section(report, name) for name in report.examples]
    if examples:
        intro = "The fewest training rows and attributes, and the plainest numbers, that still show it."
        sections.append(Section(heading="The smallest violations", text=intro, parts=examples, anchor="examples"))
    if not report.known:
        sections.insert(0, _build_probe_section(report))
    state: SectionState = "bad" if report.faults else "warn" if not report.passed else "good"
    headline = report.headline
    return Page(
        title=f"Promises of {report.subject}",
        lead="Inputs were changed in known ways, and the answers had to change in known ways. No right answer had to be known. "
        "Verification: what every right implementation keeps. Validation: what one might hope for.",
        sections=[section for section in sections if section is not None],
        verdict=headline[:1].upper() + headline[1:],
        state=state,
        facts=[
            ("Subject", cut(report.subject, 600)),
            ("Data", cut(report.data, 600)),
            ("Effort", f"{report.seconds:.1f} s, {report.runs:,} cases labelled"),
            ("Seed", f"{report.seed} (the same seed gives the same report)"),
            *((("Notes", "\n".join(f"• {note}" for note in report.notes)),) if report.notes else ()),
        ],
        contents=True,
    )


def _build_relations_section(report: CheckReport, purpose: str) -> Section | None:
    entries = [entry for entry in report.entries if entry.purpose == purpose]
    if not entries:
        return None
    rows = [
        [
            entry.relation, entry.says, f"{entry.judged:,}", f"{entry.violated:,}" if entry.judged else None, *_format_rate_cells(entry),
            _format_judging(entry) + entry.reason, format_messages(entry),
        ]
        for entry in entries
    ]  # fmt: skip
    columns = [
        "relation",
        "promise",
        "judged",
        "violated",
        "share",
        "95 %",
        "why it must hold, or need not",
        "not judged",
    ]
    violated_entries = [entry for entry in entries if entry.violated or entry.fault]
    state: SectionState = "plain" if purpose == "validation" else "bad" if violated_entries else "good"
    meaning = PURPOSES[purpose]
    summary = f"{meaning[:1].upper()}{meaning[1:]}. {pluralize(len(violated_entries), 'relation')} of {len(entries)} violated."
    return Section(
        heading=purpose.capitalize(),
        text=summary,
        state=state,
        table=Table(columns=columns, rows=rows),
        anchor=purpose,
    )


def _format_judging(entry: RelationResult) -> str:
    """Return how it is judged, where that is not by labels alone."""
    prefixes = {
        "score_exact": "Scores, too: ",
        "class_stat": "By counts of labels: ",
        "score_stat": "By distributions of scores: ",
    }
    return prefixes.get(entry.strictness, "")


def _format_rate_cells(entry: RelationResult) -> list[str | None]:
    if not entry.judged:
        return [None, None]
    low, high = entry.interval
    return [format_percent(entry.rate), f"{format_percent(low)} to {format_percent(high)}"]


def _build_probe_section(report: CheckReport) -> Section:
    rows = [
        [entry.relation, entry.says, f"{entry.judged:,}", f"{entry.changed:,}", format_percent(entry.interval[1])]
        for entry in sorted(report.entries, key=lambda entry: entry.changed)
        if entry.judged
    ]
    return Section(
        heading="What experience says",
        text="Nobody has said what this learner must keep. What it never violated may be a promise of it; how often it might be "
        "violated all the same, with 95 % confidence, stands in the last column.",
        state="note",
        table=Table(columns=["relation", "promise", "judged", "violated", "at most"], rows=rows),
        anchor="probe",
    )


def _build_example_section(report: CheckReport, name: str) -> Section:
    entry = next(candidate for candidate in report.entries if candidate.relation == name)
    violation = report.examples[name]
    state: SectionState = "bad" if entry.necessary else "note"
    badge = "fault" if entry.necessary else "hypothesis"
    if not isinstance(violation, LearnerViolation):
        return Section(heading=f"{name}: {entry.says}", text=violation.describe(), state=state, badge=badge)
    source, follow_up = (format_table(training) for training in (violation.source, violation.follow_up))
    columns = list(dict.fromkeys([*source[0], *follow_up[0]]))
    rows = [
        [stage, *(cells.get(column) for column in columns), label]
        for stage, (_, table) in (("before", source), ("after", follow_up))
        for cells, label in table
    ]  # the case last, each time
    facts = [
        ("Change", violation.change or entry.says.partition(": ")[0]),
        ("Label before", str(violation.before)),
        ("Label expected after", str(violation.expected)),
        ("Label after", str(violation.after)),
    ]
    if violation.scores_before is not None and violation.scores_after is not None:
        score_lines = [
            f"{label}: {old:.6g} before, {new:.6g} after"
            for label, old, new in zip(
                violation.source.declared, violation.scores_before, violation.scores_after, strict=False
            )
        ]
        facts.append(("Scores", "; ".join(score_lines)))
    facts.append(("Why it must hold" if entry.necessary else "Why it need not hold", entry.reason))
    table = Table(
        columns=["", *columns, "label"],
        rows=rows,
        caption="Training rows with their labels, and the case",
        sortable=False,
    )
    return Section(
        heading=f"{name}: {entry.says}",
        text="",
        state=state,
        table=table,
        badge=badge,
        facts=[(term, value) for term, value in facts if value],
    )


def format_junit(report: CheckReport) -> str:
    """Return a JUnit XML file: a necessary relation that is violated fails, one that could not be judged is skipped."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    suite = Element("testsuite", {"name": cut(report.subject, 200), "time": f"{report.seconds:.3f}"})
    counts = {"tests": len(report.entries), "failures": 0, "errors": 0, "skipped": 0}
    for entry in report.entries:
        case = SubElement(
            suite,
            "testcase",
            {"classname": f"datamorphic.{cut(report.subject, 200)}", "name": cut(entry.relation, 200)},
        )
        low, high = entry.interval
        message = (
            f"{entry.violated:,} of {pluralize(entry.judged, 'case')} violate it ({format_percent(low)} to {format_percent(high)}): "
            f"{entry.says}. {entry.reason}"
        )
        example = report.examples.get(entry.relation)
        detail = "" if example is None else example.describe()
        if entry.fault:
            counts["failures"] += 1
            SubElement(case, "failure", {"type": "violated", "message": cut(message, 500)}).text = cut(
                detail, MAX_JUNIT_TEXT_LENGTH
            )
        elif not entry.judged and entry.undefined:
            counts["errors"] += 1
            SubElement(case, "error", {"type": "undefined", "message": cut(format_messages(entry), 500)})
        elif not entry.judged:
            counts["skipped"] += 1
            SubElement(case, "skipped", {"message": cut(format_messages(entry), 500)})
        elif entry.violated:
            SubElement(case, "system-out").text = cut(f"a hypothesis. {message}\n{detail}", MAX_JUNIT_TEXT_LENGTH)
    figures = {name: str(count) for name, count in counts.items()}
    suite.attrib.update(figures)
    root = Element("testsuites", {"name": "datamorphic", **figures})
    root.append(suite)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'
