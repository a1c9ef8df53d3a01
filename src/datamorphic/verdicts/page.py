"""A report of ``dm.check`` as a page, and as a JUnit file."""

from __future__ import annotations

from .._checks import plural
from ..reports.summary import Report as Page
from ..reports.summary import Section, State, Table
from ..reports.texts import cut
from .report import PURPOSES, Entry, Report
from .told import percent, why
from .violation import Violation, told_rows

LONGEST = 4_000  # letters of a text in a JUnit file


def page_of(report: Report) -> Page:
    """Return a report as a page: the verdict, the relations, the smallest violation of each that has one."""
    sections = [_relations(report, purpose) for purpose in PURPOSES]
    examples = [_example(report, name) for name in report.examples]
    if examples:
        told = "The fewest training rows and attributes, and the plainest numbers, that still show it."
        sections.append(Section("The smallest violations", told, parts=examples, anchor="examples"))
    if not report.known:
        sections.insert(0, _probe(report))
    state: State = "bad" if report.faults else "warn" if not report.passed else "good"
    headline = report.headline
    return Page(
        f"Promises of {report.subject}",
        "Inputs were changed in known ways, and the answers had to change in known ways. No right answer had to be known. "
        "Verification: what every right implementation keeps. Validation: what one might hope for.",
        [section for section in sections if section is not None],
        headline[:1].upper() + headline[1:],
        state,
        [
            ("Subject", cut(report.subject, 600)),
            ("Data", cut(report.data, 600)),
            ("Effort", f"{report.seconds:.1f} s, {report.runs:,} cases labelled"),
            ("Seed", f"{report.seed} (the same seed gives the same report)"),
            *((("Notes", "\n".join(f"• {note}" for note in report.notes)),) if report.notes else ()),
        ],
        contents=True,
    )


def _relations(report: Report, purpose: str) -> Section | None:
    entries = [entry for entry in report.entries if entry.purpose == purpose]
    if not entries:
        return None
    rows = [
        [
            entry.relation, entry.says, f"{entry.judged:,}", f"{entry.violated:,}" if entry.judged else None, *_share(entry),
            _how(entry) + entry.reason, why(entry),
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
    bad = [entry for entry in entries if entry.violated or entry.fault]
    state: State = "plain" if purpose == "validation" else "bad" if bad else "good"
    meaning = PURPOSES[purpose]
    said = f"{meaning[:1].upper()}{meaning[1:]}. {plural(len(bad), 'relation')} of {len(entries)} violated."
    return Section(purpose.capitalize(), said, state, Table(columns, rows), anchor=purpose)


def _how(entry: Entry) -> str:
    """Return how it is judged, where that is not by labels alone."""
    told = {
        "score_exact": "Scores, too: ",
        "class_stat": "By counts of labels: ",
        "score_stat": "By distributions of scores: ",
    }
    return told.get(entry.strictness, "")


def _share(entry: Entry) -> list[str | None]:
    if not entry.judged:
        return [None, None]
    low, high = entry.interval
    return [percent(entry.rate), f"{percent(low)} to {percent(high)}"]


def _probe(report: Report) -> Section:
    rows = [
        [entry.relation, entry.says, f"{entry.judged:,}", f"{entry.changed:,}", percent(entry.interval[1])]
        for entry in sorted(report.entries, key=lambda entry: entry.changed)
        if entry.judged
    ]
    return Section(
        "What experience says",
        "Nobody has said what this learner must keep. What it never violated may be a promise of it; how often it might be "
        "violated all the same, with 95 % confidence, stands in the last column.",
        "note",
        Table(["relation", "promise", "judged", "violated", "at most"], rows),
        anchor="probe",
    )


def _example(report: Report, name: str) -> Section:
    entry = next(each for each in report.entries if each.relation == name)
    violation = report.examples[name]
    state: State = "bad" if entry.necessary else "note"
    badge = "fault" if entry.necessary else "hypothesis"
    if not isinstance(violation, Violation):
        return Section(f"{name}: {entry.says}", violation.describe(), state, badge=badge)
    source, follow_up = (told_rows(each) for each in (violation.source, violation.follow_up))
    columns = list(dict.fromkeys([*source[0], *follow_up[0]]))
    rows = [
        [when, *(cells.get(column) for column in columns), label]
        for when, (_, table) in (("before", source), ("after", follow_up))
        for cells, label in table
    ]  # the case last, each time
    facts = [
        ("Change", violation.change or entry.says.partition(": ")[0]),
        ("Label before", str(violation.before)),
        ("Label expected after", str(violation.expected)),
        ("Label after", str(violation.after)),
    ]
    if violation.scores_before is not None and violation.scores_after is not None:
        told = [
            f"{label}: {old:.6g} before, {new:.6g} after"
            for label, old, new in zip(
                violation.source.declared, violation.scores_before, violation.scores_after, strict=False
            )
        ]
        facts.append(("Scores", "; ".join(told)))
    facts.append(("Why it must hold" if entry.necessary else "Why it need not hold", entry.reason))
    table = Table(["", *columns, "label"], rows, "Training rows with their labels, and the case", sortable=False)
    return Section(
        f"{name}: {entry.says}",
        "",
        state,
        table,
        badge=badge,
        facts=[(term, said) for term, said in facts if said],
    )


def junit(report: Report) -> str:
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
        told = (
            f"{entry.violated:,} of {plural(entry.judged, 'case')} violate it ({percent(low)} to {percent(high)}): "
            f"{entry.says}. {entry.reason}"
        )
        example = report.examples.get(entry.relation)
        detail = "" if example is None else example.describe()
        if entry.fault:
            counts["failures"] += 1
            SubElement(case, "failure", {"type": "violated", "message": cut(told, 500)}).text = cut(
                detail, LONGEST
            )
        elif not entry.judged and entry.undefined:
            counts["errors"] += 1
            SubElement(case, "error", {"type": "undefined", "message": cut(why(entry), 500)})
        elif not entry.judged:
            counts["skipped"] += 1
            SubElement(case, "skipped", {"message": cut(why(entry), 500)})
        elif entry.violated:
            SubElement(case, "system-out").text = cut(f"a hypothesis. {told}\n{detail}", LONGEST)
    figures = {name: str(count) for name, count in counts.items()}
    suite.attrib.update(figures)
    root = Element("testsuites", {"name": "datamorphic", **figures})
    root.append(suite)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'
