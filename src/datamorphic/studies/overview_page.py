"""The overview of all studies as a page."""

from __future__ import annotations

from ..reporting.document import Link, Page, Section, SectionState, Table, Tile
from ..runs.progress import format_duration
from .catalogue import ATTEMPTS
from .overview import DATA_FILE, StudyOverview, StudyReport, list_tables_without_figures
from .verdicts import RULE, VerdictKind

STATES: dict[VerdictKind, SectionState] = {
    VerdictKind.AGREES: "good",
    VerdictKind.CAUSE_PROVEN: "good",
    VerdictKind.TOO_FEW: "note",
    VerdictKind.NOT_COMPARABLE: "note",
    VerdictKind.CAUSE_UNKNOWN: "warn",
    VerdictKind.NOT_MEASURED: "warn",
    VerdictKind.NOT_PUBLISHED: "plain",
    VerdictKind.FAILED: "bad",
}
HEADINGS = {
    VerdictKind.AGREES: "Tables that agree",
    VerdictKind.CAUSE_PROVEN: "Tables that differ for a proven cause",
    VerdictKind.TOO_FEW: "Tables with too few repetitions",
    VerdictKind.NOT_COMPARABLE: "Tables of other data, systems, mutants or machines",
    VerdictKind.CAUSE_UNKNOWN: "Tables that differ for an unknown cause",
    VerdictKind.NOT_MEASURED: "Tables that were not measured",
    VerdictKind.NOT_PUBLISHED: "Studies without published figures",
    VerdictKind.FAILED: "Studies that failed",
}
#: packages whose versions the index names
SHOWN_PACKAGES = ("datamorphic", "python", "numpy", "scikit-learn")


def build_page(overview: StudyOverview, *, brief: bool = False) -> Page:
    """Return the index of all studies."""
    sections = [
        Section(
            heading=HEADINGS[kind],
            text="",
            state=STATES[kind],
            anchor=kind.name.lower().replace("_", "-"),
            table=Table(
                columns=["study", "title", "figures", "order", "notes"],
                rows=[_build_row(report) for report in overview.reports if report.verdict.kind is kind],
                main_columns=["study", "title", "notes" if kind is VerdictKind.FAILED else "figures"],
                main_rows=len(overview.reports),
            ),
        )
        for kind in overview.counts
    ]
    without_figures = Section(
        heading="Tables that are not computed",
        text="They hold no figures, or our copy of the publication lacks them.",
        anchor="without-figures",
        table=Table(
            columns=["table", "title", "why"],
            rows=[[entry["table"], entry["title"], entry["reason"]] for entry in list_tables_without_figures()],
        ),
    )
    return Page(
        title="Published studies, computed again",
        lead=f"Every table of five documents that holds figures, ours beside the published ones. {RULE}",
        subject="All studies" if brief else "",
        verdict=overview.headline if brief else "",
        sections=sections if brief else [*sections, without_figures],
        tiles=[
            Tile(label=kind.value, value=str(count), state=STATES[kind], target=kind.name.lower().replace("_", "-"))
            for kind, count in overview.counts.items()
        ],
        facts=[
            ("Scale", overview.scale),
            ("Seed", f"{overview.seed} (the same seed gives the same figures, apart from times)"),
            ("Date", overview.date.strftime("%Y-%m-%d")),
            ("Effort", format_duration(overview.seconds)),
            ("Versions", format_versions(overview)),
            *([] if brief else [("All figures", Link("as JSON", DATA_FILE))]),
            *overview.list_missing_facts(),
        ],
        contents=True,
    )


def _build_row(report: StudyReport) -> list[str]:
    name = Link(report.name, report.file) if report.file else report.name
    verdict, attempts = report.verdict, ATTEMPTS.get(report.name, "")
    notes = f"Tried: {attempts}" if attempts and verdict.kind is VerdictKind.CAUSE_UNKNOWN else verdict.reason
    return [name, report.title, verdict.counts, verdict.order, notes]


def format_versions(overview: StudyOverview) -> str:
    """Return the versions of the most important packages."""
    return ", ".join(f"{name} {overview.versions[name]}" for name in SHOWN_PACKAGES if name in overview.versions)
