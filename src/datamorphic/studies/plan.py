"""What has to be measured for one study or for all of them, and the results made from the figures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from .._lazy import pd
from .._text import suggest_name
from ..core.execute import Execution
from ..errors import UsageError, format_error_line
from ..runs.versions import read_versions
from .catalogue import STUDIES, TABLES_WITHOUT_FIGURES, StudyEntry, build_rows
from .overview import StudyOverview, StudyReport, list_entries
from .result import ALL, Study
from .rows import Row
from .verdicts import StudyVerdict, VerdictKind, judge_measured_figure, judge_study
from .workload import SCALES, Workbench


class StudyPlan:
    """One study or all of them, and the workbench that measures what they need."""

    def __init__(self, name: str, scale: str, seed: int, cause: str = "all") -> None:
        self.name, self.scale = name, scale
        self._entries = list_entries() if name == ALL else {name: _find_entry(name)}
        self._bench = Workbench(SCALES[scale], seed, cause)
        self._errors: dict[str, str] = {}  # by study, where others go on
        for study in self._entries:
            self._build_rows(study)

    def _build_rows(self, study: str) -> list[Row]:
        """Return the rows of a study, which records what has to be measured; none if it fails and others go on."""
        self._bench.study = study
        try:
            return [] if study in self._errors else build_rows(self._entries[study], self._bench)
        except Exception as error:  # missing data must not stop the other studies
            if self.name != ALL:
                raise
            self._errors[study] = format_error_line(error)
            return []

    def compute(self, execution: Execution[Any]) -> Study | StudyOverview:
        """Measure what has to be measured, and return the figures."""
        print_estimate = self.scale in ("medium", "full") and execution.options.progress is not False
        self._bench.work(self.name, execution, print_estimate=print_estimate)
        outcome: dict[str, Any] = {
            "unfinished": tuple(execution.unfinished),
            "interrupted": execution.counter.interrupted,
        }
        if self.name != ALL:
            return self._build_study(self.name, self._build_rows(self.name), execution.seconds, **outcome)
        return StudyOverview(
            scale=self.scale,
            seed=self._bench.seed,
            date=datetime.now(UTC),
            versions=read_versions(),
            reports=[self._build_report(study) for study in self._entries],
            seconds=execution.seconds,
            **outcome,
        )

    def _build_study(self, name: str, rows: list[Row], seconds: float, **outcome: Any) -> Study:
        entry = self._entries[name]
        frame = pd.DataFrame(rows, columns=list(Row._fields))
        frame["verdict"] = [judge_measured_figure(row) for row in rows]
        return Study(
            name=name,
            title=entry.title,
            scale=self.scale,
            seed=self._bench.seed,
            seconds=seconds,
            amount=entry.amount(self._bench.scale),
            rows=frame,
            **outcome,
        )

    def _build_report(self, name: str) -> StudyReport:
        rows, entry = self._build_rows(name), self._entries[name]
        if name in self._errors:
            study, verdict = None, StudyVerdict(kind=VerdictKind.FAILED, counts_by_class={}, reason=self._errors[name])
        else:
            study = self._build_study(name, rows, self._bench.seconds_by_study[name])
            verdict = judge_study(study)
        return StudyReport(name=name, title=entry.title, compares=entry.compares, study=study, verdict=verdict)


def _find_entry(name: str) -> StudyEntry:
    if name in TABLES_WITHOUT_FIGURES:
        title, reason = TABLES_WITHOUT_FIGURES[name]
        raise UsageError(f"Table {name} ({title}) is not computed: {reason}.")
    if name not in STUDIES:
        raise UsageError(f"There is no study {name!r}. {suggest_name(name, STUDIES)}")
    return STUDIES[name]
