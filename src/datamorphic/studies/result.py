"""The result of a study: published figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .._lazy import pd
from ..core.result import FileWriter, Result, make_writer
from ..reporting.junit import JUnitCase

ALL = "all"  # the name of all studies together


@dataclass(frozen=True, eq=False, kw_only=True)
class StudyResult(Result):
    """Figures of one study or of all of them, which a run store keeps as a JSON file."""

    _ENDING: ClassVar = ("complete", "unfinished", "interrupted")  # in the document

    scale: str
    seed: int
    seconds: float
    unfinished: tuple[str, ...] = ()  # what was not measured, because the budget was spent or the user ended the run
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether everything was measured."""
        return not self.unfinished

    def list_missing_facts(self) -> list[tuple[str, str]]:
        """Return what was not measured, as facts of a page."""
        return [("Not measured", ", ".join(self.unfinished))] if self.unfinished else []

    def stored_verdicts(self) -> list[dict[str, Any]]:
        """Return nothing: a study only reports."""
        return []

    def stored_files(self) -> dict[str, FileWriter]:
        """Return the figures as a JSON file."""
        return {"figures.json": make_writer(self.to_json, 1)}


@dataclass(frozen=True, eq=False, kw_only=True)
class Study(StudyResult):
    """Published figures beside ours.

    Attributes
    ----------
    name, title, scale : str
        Which study, and at which scale.
    seed : int
        The random seed.
    seconds : float
        How long it took.
    unfinished : tuple of str
        What was not measured, because the budget was spent or the user ended the run.
    amount : str
        How much was measured, in words. Ours are means where something was measured more than once.
    rows : DataFrame
        Columns ``row``, ``column``, ``published``, ``ours``, ``note``, ``margin`` (half the width of the 95% interval of
        ours), ``trials`` (how many trials or repetitions ours is from), ``printed_margin`` (half the width of the interval
        in which 95% of repetitions of the published experiment lie), ``unit`` (of the last printed digit), ``kinds`` (what is
        known about the published figure: print, data, system, mutants, machine, part), ``cause`` (the known cause of the
        difference), ``ours_with_cause``, ``margin_with_cause`` and ``verdict``. Numbers are NaN where there are none.
    """

    _PAGE = "studies.page:build_page"

    name: str
    title: str
    amount: str
    rows: pd.DataFrame

    def __repr__(self) -> str:
        return f"Study({self.name}, {self.scale}: {len(self.rows):,} figures)"

    @property
    def heading(self) -> str:
        """The study, its scale and its effort in one line."""
        return f"{self.title}: scale {self.scale}, seed {self.seed}, {self.amount}, {self.seconds:.0f} s"

    @property
    def headline(self) -> str:
        """The number of figures."""
        return f"{len(self.rows):,} figures"

    def document(self) -> dict[str, Any]:
        """Return the figures as a JSON-serialisable dict."""
        seconds = round(self.seconds, 3)
        return {"study": self.name} | self._collect("scale", "seed", *self._ENDING, seconds=seconds, rows=self.rows)

    def test_cases(self) -> Sequence[JUnitCase]:
        """Return one case per figure. A study only reports, so every case passes."""
        return [
            JUnitCase(name=f"{row.row}, {row.column}", output=f"published {row.published}, ours {row.ours}")
            for row in self.rows.itertuples(index=False)
        ]

    def _export_name(self) -> str:
        return self.name
