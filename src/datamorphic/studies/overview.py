"""The result of all studies: each table once, with a verdict, as a site with an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from .._files import to_local_path
from .._text import pluralise
from ..reporting.export import FilePath
from ..reporting.junit import JUnitCase
from .catalogue import STUDIES, TABLES, TABLES_WITHOUT_FIGURES, StudyEntry, TableBuilder
from .published import tables
from .result import Study, StudyResult
from .verdicts import StudyVerdict, VerdictKind

DATA_FILE = "studies.json"


@dataclass(frozen=True, kw_only=True)
class StudyReport:
    """One study of the overview: its result, or why there is none."""

    name: str
    title: str
    compares: str
    study: Study | None
    verdict: StudyVerdict

    @property
    def file(self) -> str:
        """The name of its page; empty if it failed."""
        return "" if self.study is None else f"{self.name}.html"


@dataclass(frozen=True, eq=False, kw_only=True)
class StudyOverview(StudyResult):
    """All studies with their verdicts.

    Attributes
    ----------
    date : datetime
        When it was finished.
    versions : dict
        The versions of the packages.
    reports : sequence of StudyReport
        The studies, tables first.
    """

    INDEX_FILE: ClassVar[str] = "index.html"  # the first page of the site
    _PAGE = "studies.overview_page:build_page"

    date: datetime
    versions: dict[str, str]
    reports: Sequence[StudyReport]

    def __repr__(self) -> str:
        return f"StudyOverview({self.scale}: {pluralise(len(self.reports), 'study', 'studies')})"

    @property
    def counts(self) -> dict[VerdictKind, int]:
        """The number of studies per verdict."""
        counts = Counter(report.verdict.kind for report in self.reports)
        return {kind: counts[kind] for kind in VerdictKind if counts[kind]}

    @property
    def headline(self) -> str:
        """The verdicts in one line."""
        return ", ".join(f"{count} {kind.value}" for kind, count in self.counts.items())

    def document(self) -> dict[str, Any]:
        """Return all figures and verdicts as a JSON-serialisable dict."""
        return self._collect(
            *("scale", "seed", "versions", *self._ENDING),
            seconds=round(self.seconds, 3),
            date=self.date.isoformat(timespec="seconds"),
            verdicts={kind.value: count for kind, count in self.counts.items()},
            studies=[_describe_report(report) for report in self.reports],
            without_figures=list_tables_without_figures(),
        )

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one case per study. Studies only report, so every case passes."""
        return [
            JUnitCase(name=report.name, output=f"{report.verdict.kind.value}: {report.verdict.reason}")
            for report in self.reports
        ]

    def to_site(self, folder: FilePath) -> Path:
        """Write a page per study, an index and all figures as JSON to a folder; return the path of the index."""
        path = to_local_path(folder, "folder of the site")
        for report in self.reports:
            if report.study is not None:
                report.study.to_html(path / report.file, index=self.INDEX_FILE)
        self.to_json(path / DATA_FILE)
        self.to_html(path / self.INDEX_FILE)
        return path / self.INDEX_FILE


def _describe_report(report: StudyReport) -> dict[str, Any]:
    verdict = report.verdict
    return {
        "study": report.name,
        "title": report.title,
        "compares": report.compares,
        "verdict": verdict.kind.value,
        "reason": verdict.reason,
        "figures": {kind.value: number for kind, number in verdict.counts_by_class.items()},
        "unmeasured": verdict.unmeasured,
        "same_order": verdict.same_order,
        "same_sign": verdict.same_sign,
        "seconds": None if report.study is None else round(report.study.seconds, 3),
        "rows": [] if report.study is None else report.study.document()["rows"],
    }


def list_tables_without_figures() -> list[dict[str, str]]:
    """Return the published tables that no study computes, with the reason."""
    return [
        {"table": name, "title": title, "reason": reason} for name, (title, reason) in TABLES_WITHOUT_FIGURES.items()
    ]


def list_entries() -> dict[str, StudyEntry]:
    """Return the studies of the overview: all tables, then parts of other studies that are no tables, each once."""
    entries = {name: STUDIES[name] for name in tables()}
    seen = {_identify_builder(builder) for entry in entries.values() for builder in entry.parts.values()}
    # a study of its own comes before the same part of a group
    for name, entry in sorted(STUDIES.items(), key=lambda item: len(item[1].parts) > 1):
        parts = {
            part: builder
            for part, builder in entry.parts.items()
            if part not in TABLES and _identify_builder(builder) not in seen
        }
        if name in entries or not parts:
            continue
        seen.update(map(_identify_builder, parts.values()))
        title = entry.title if len(parts) == len(entry.parts) else f"{entry.title}: {', '.join(parts)}"
        entries[name] = entry._replace(title=title, parts=parts)
    return entries


def _identify_builder(builder: TableBuilder) -> tuple[object, ...]:
    """Return a key that is the same for equal builders; partial functions are equal only to themselves."""
    if isinstance(builder, partial):
        return builder.func, builder.args, *sorted(builder.keywords.items())
    return (builder,)
