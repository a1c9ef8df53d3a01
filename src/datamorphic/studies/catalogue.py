"""The catalogue of studies: which tables each computes, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from .._lazy import pd
from .._tables import read_document, read_rows
from .._text import pluralise
from . import real_data
from .figures import find_function, list_figures
from .published import tables
from .rows import Row
from .workload import SCALES, Scale, Workbench

TableBuilder = Callable[[Workbench], list[Row]]


def format_explorations(scale: Scale) -> str:
    """Describe how often explorations are repeated at a scale."""
    usual, slow = pluralise(scale.repetitions, "time"), pluralise(scale.slow, "time")
    text = f"each exploration {usual}" + ("" if usual == slow else f" (data sets, growing pools: {slow})")
    if not scale.coded_walks:
        return text
    return f"{text}, and at least {scale.coded_walks:,} walks (data sets: {scale.data_walks:,}) per figure"


class StudyEntry(NamedTuple):
    """A study: its parts by heading, usually tables, and a function that describes how much is measured."""

    title: str
    compares: str
    parts: dict[str, TableBuilder]
    amount: Callable[[Scale], str] = format_explorations


@dataclass(frozen=True, kw_only=True)
class _TableRow:
    """A table of the five documents."""

    name: str
    title: str
    builder: str = ""  # the function that builds it
    amount: str = ""  # the function that says how much is measured; by default explorations
    reason: str = ""  # why it has no study
    tried: str = ""  # what did not explain its differences


@dataclass(frozen=True, kw_only=True)
class _StudyRow:
    """A study of several tables, or of what is not published."""

    name: str
    title: str
    compares: str = ""
    tables: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by heading: a function, and its arguments
    amount: str = ""
    data: str = ""


@dataclass(frozen=True, kw_only=True)
class _StudyTable:
    studies: tuple[_StudyRow, ...]


def _find_amount(name: str) -> Callable[[Scale], str]:
    if not name:
        return format_explorations
    return find_function(name if "." in name else f"{name}.format_amount")


_TABLE_ROWS = {row.name: row for row in read_rows(__package__, "tables.csv", _TableRow)}

#: the published tables: their titles, and what builds them
TABLES: dict[str, tuple[str, Callable[[str, Workbench], list[Row]]]] = {
    name: (row.title, find_function(row.builder)) for name, row in _TABLE_ROWS.items() if row.builder
}

#: what was tried to explain tables whose differences have no known cause
ATTEMPTS = {name: row.tried for name, row in _TABLE_ROWS.items() if row.tried}

#: tables of the five documents without a study, and why; every other table has one
TABLES_WITHOUT_FIGURES = {name: (row.title, row.reason) for name, row in _TABLE_ROWS.items() if not row.builder}


def _build_entry(row: _StudyRow) -> StudyEntry:
    """Return a study of published tables, with more parts that are not published."""
    if row.data:
        return _build_case_study(row)
    parts: dict[str, TableBuilder] = {name: partial(TABLES[name][1], name) for name in row.tables}
    parts |= {heading: partial(find_function(name), *others) for heading, (name, *others) in row.parts.items()}
    compares = row.compares or f"{'Tables' if len(row.tables) > 1 else 'Table'} {', '.join(row.tables)}"
    amount = row.amount or (_TABLE_ROWS[row.tables[0]].amount if row.tables else "")
    return StudyEntry(row.title, compares, parts, _find_amount(amount))


def _build_case_study(row: _StudyRow) -> StudyEntry:
    both = " and ".join(real_data.PAIRS_OF_TABLES[row.data])
    parts: dict[str, TableBuilder] = {
        "000-4": partial(real_data.build_overall_table, "000-4", data=row.data),
        both: partial(real_data.build_mean_table, row.data),
    }
    return StudyEntry(row.title, f"Table 000-4 and the means of Tables {both}", parts)


#: the studies by name
STUDIES: dict[str, StudyEntry] = {
    row.name: _build_entry(row)
    for row in (
        *read_document(__package__, "studies.toml", _StudyTable).studies,
        *(_StudyRow(name=name, title=TABLES[name][0], tables=(name,)) for name in tables()),
    )
}


def list_names() -> list[str]:
    """Return the names of all studies."""
    return list(STUDIES)


@dataclass(frozen=True, kw_only=True)
class RecordedVerdict:
    """The verdict on a table when all studies were last computed, which docs/write_published.py records."""

    name: str
    verdict: str
    figures: str
    scale: str
    date: str


def read_verdicts() -> dict[str, RecordedVerdict]:
    """Return the verdicts on all tables when all studies were last computed."""
    return {row.name: row for row in read_rows(__package__, "verdicts.csv", RecordedVerdict)}


def list_studies() -> pd.DataFrame:
    """Return all studies: what they compare with, the figures that their pages draw, and the last verdict."""
    verdicts = {name: recorded.verdict for name, recorded in read_verdicts().items()}
    return pd.DataFrame(
        [
            (
                name,
                entry.title,
                entry.compares,
                ", ".join(figure.name for figure in list_figures(entry.parts)),
                verdicts.get(name, ""),
            )
            for name, entry in STUDIES.items()
        ],
        columns=["name", "title", "compares", "figures", "verdict"],
    )


def build_published_rows(name: str) -> list[Row]:
    """Return all rows of a study at full scale before anything is measured: every published figure it compares with."""
    return build_rows(STUDIES[name], Workbench(SCALES["full"]))


def build_rows(entry: StudyEntry, bench: Workbench) -> list[Row]:
    """Return the rows of all parts, prefixed with the name of the part if there are several."""
    many = len(entry.parts) > 1
    return [
        row._replace(row=f"{part}: {row.row}" if many else row.row)
        for part, make in entry.parts.items()
        for row in make(bench)
    ]
