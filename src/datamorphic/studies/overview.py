"""All studies in one run: each table once, with a verdict, as a site with an index."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._files import to_local_path
from .._text import pluralize
from .._typing import EngineLike
from ..errors import format_error_line
from ..reporting.export import FilePath
from ..reporting.junit import JUnitCase
from ..runs.keep import StoreOptions
from ..runs.versions import read_versions
from .published import tables
from .result import Study, StudyResult
from .study import (
    STUDIES,
    TABLES,
    TABLES_WITHOUT_FIGURES,
    StudyEntry,
    TableBuilder,
    build_study,
    keep_study,
    make_workbench,
    plan_study,
)
from .verdicts import StudyVerdict, VerdictKind, judge_study

if TYPE_CHECKING:  # the run store is loaded when it is opened
    from ..runs.session import Session
    from ..runs.store import Store

ALL = "all"  # the name of the run of all studies
INDEX_FILE, DATA_FILE = "index.html", "studies.json"


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
    scale, seed, seconds
        The scale, the random seed, and how long it took.
    date : datetime
        When it was finished.
    versions : dict
        The versions of the packages.
    reports : sequence of StudyReport
        The studies, tables first.
    """

    _PAGE = "studies.overview_page:build_page"
    _TEXT = "studies.overview_page:format_overview"

    scale: str
    seed: int
    seconds: float
    date: datetime
    versions: dict[str, str]
    reports: Sequence[StudyReport]

    def __repr__(self) -> str:
        return f"StudyOverview({self.scale}: {pluralize(len(self.reports), 'study', 'studies')})"

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
            *("scale", "seed", "versions"),
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
                report.study.to_html(path / report.file, index=INDEX_FILE)
        self.to_json(path / DATA_FILE)
        self.to_html(path / INDEX_FILE)
        return path / INDEX_FILE


def _describe_report(report: StudyReport) -> dict[str, Any]:
    verdict = report.verdict
    return {
        "study": report.name,
        "title": report.title,
        "compares": report.compares,
        "verdict": verdict.kind.value,
        "reason": verdict.reason,
        **{name: getattr(verdict, name) for name in ("agreeing", "explained", "differing", "unmeasured")},
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


def _measure_seconds(session: Session | None, began: float) -> float:
    """Return the seconds of the run, including those before it was resumed."""
    if session is None or session.journal is None:
        return time.perf_counter() - began
    return session.journal.seconds


def _identify_builder(builder: TableBuilder) -> tuple[object, ...]:
    """Return a key that is the same for equal builders; partial functions are equal only to themselves."""
    if isinstance(builder, partial):
        return builder.func, builder.args, *sorted(builder.keywords.items())
    return (builder,)


def study_all(
    scale: str = "small",
    seed: int = 0,
    progress: bool | None = None,
    *,
    engine: EngineLike = None,
    store: FilePath | Store | StoreOptions | None = None,
    resume: int | None = None,
) -> StudyOverview:
    """Compute all studies, each table once, and judge how they agree with the published figures.

    What several studies need is measured once. A study that fails does not stop the others. Write a site with
    ``overview.to_site(folder)``.

    Parameters
    ----------
    scale, seed, progress, engine, store, resume
        As of `study`. At the small scale, all studies take less than half an hour on two cores.

    Examples
    --------
    >>> overview = study_all("small", engine="processes:2", store="runs.sqlite")  # doctest: +SKIP
    """
    bench = make_workbench(scale, seed)
    entries = list_entries()
    began = time.perf_counter()
    errors: dict[str, str] = {}
    for name, entry in entries.items():
        try:
            plan_study(name, entry, bench)
        except Exception as error:  # missing data must not stop the other studies
            errors[name] = format_error_line(error)
    with keep_study(ALL, scale, seed, engine, store, resume) as session:
        bench.work(
            ALL,
            progress,
            print_estimate=scale == "full" and progress is not False,
            engine=engine,
            journal=None if session is None else session.journal,
        )
        reports = []
        for name, entry in entries.items():
            study: Study | None = None
            if name not in errors:
                try:
                    study = build_study(name, entry, bench, scale, bench.seconds_by_study[name])
                except Exception as error:
                    errors[name] = format_error_line(error)
            failure = StudyVerdict(kind=VerdictKind.FAILED, reason=errors.get(name, ""))
            verdict = failure if study is None else judge_study(study)
            report = StudyReport(name=name, title=entry.title, compares=entry.compares, study=study, verdict=verdict)
            reports.append(report)
        overview = StudyOverview(
            scale=scale,
            seed=bench.seed,
            seconds=_measure_seconds(session, began),
            date=datetime.now(UTC),
            versions=read_versions(),
            reports=reports,
        )
        if session is not None:
            session.finish(overview)
    return overview
