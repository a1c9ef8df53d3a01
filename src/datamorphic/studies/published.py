"""The figures of the published tables as they are printed, and what is known to be wrong with them.

A table is named by document and number: ``"000-12"`` is Table 12 of Zhu & Bayley (2022). The CSV files hold what is
printed, mistakes included; where a figure is cut off or illegible, the row is missing. Costs printed as a
division by zero are infinite. Tables 20 to 22 of Ying (2024) have no body in our text of it.

errata.csv says what is known about sets of figures: why they differ from ours, or cannot be compared with them. A field
names the values it is about, separated by commas; an empty field stands for all values. Its column `kind` says what the
entry proves (`Kind`), and `cause` names the switch that computes the study again with the cause. misprints.csv lists
single figures.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from .._lazy import pd
from ..errors import DataError


class Kind(StrEnum):
    """What an entry of errata.csv says about a figure."""

    PRINT = "print"  # other figures or sentences in print contradict it
    SWITCH = "switch"  # the study can be computed again with the cause of the difference
    DATA = "data"  # ours are other data
    SYSTEM = "system"  # ours is another program, service or library
    MUTANTS = "mutants"  # ours are other mutants
    MACHINE = "machine"  # seconds of another machine
    PART = "part"  # ours covers a part of what the published figure covers
    REMARK = "remark"  # something to know, which explains no difference


#: kinds of figures that cannot be compared, only their order and their direction
INCOMPARABLE_KINDS = frozenset({Kind.DATA, Kind.SYSTEM, Kind.MUTANTS, Kind.MACHINE})


class Erratum(NamedTuple):
    """What is known about a figure."""

    says: str
    kind: Kind
    cause: str = ""  # the switch of the study


def tables() -> list[str]:
    """Return the names of the published tables.

    Examples
    --------
    >>> tables()[:4], len(tables())
    (['000-1', '000-2', '000-4', '000-5'], 75)
    """
    return list(_list_tables())


@cache
def _list_tables() -> tuple[str, ...]:
    names = [file.name.removesuffix(".csv") for file in files(__package__).joinpath("published").iterdir()]
    numbers = {name: [int(part) for part in name.split("-")] for name in names if name[0].isdigit()}
    return tuple(sorted(numbers, key=numbers.__getitem__))


def published(table: str) -> pd.DataFrame:
    """Return the figures of a table, one per row.

    Parameters
    ----------
    table : str
        Document and number, such as ``"000-12"``; see `tables`.

    Returns
    -------
    DataFrame
        Columns ``strategy``, ``data`` (empty for the coded subjects), ``subject`` ("all": over all of them),
        ``walks`` and ``seeds`` (missing where they do not apply or are not stated), ``measure``, ``published``,
        ``unit`` (of the last printed digit).
        In 002 (Ying 2024) subjects are programs, mutants, relations or rates, strategies are algorithms, pairs of them or
        sets of relations, ``data`` is the relation of a mutant, and marks are 1 or 0. An effect size that was not
        computed is nan. A name has one spelling: ``TriPlus`` is also printed as TriSquarePlus, Tri and Tr.
        In 003 (Xie et al. 2011) subjects are classifiers or mutants and measures are relations or rules, in percent; verdicts
        ("MR-0 necessary", "killed") are 1 or 0. In 004 (Silveira et al. 2025) subjects are data sets, statistics over all of them
        ("mean") or scores ("precision").

    Examples
    --------
    >>> rows = published("000-12")
    >>> rows[(rows["subject"] == "Box 1") & (rows["walks"] == 1200)][["measure", "published"]]
           measure  published
    20        runs    3586.00
    21     mutants     338.60
    22        cost      10.59
    23  capability      14.11
    """
    return _read_table(_validate_table(table)).copy()


def erratum(
    table: str, strategy: str = "", subject: str = "", measure: str = "", *, data: str = "", walks: int | None = None
) -> str:
    """Return what is known to be wrong with a figure, or an empty text.

    Arguments that are left out match every figure. Without `walks`, a note on a misprint names the walks it occurs at.

    Examples
    --------
    >>> erratum("000-12", "random_target", "Sin 1", "cost")
    'The rows of Sin 1 and Sin 2 are swapped.'
    >>> erratum("001-2", "random_walk", "Triangle 1", "mutants", walks=200).rpartition(". ")[2]
    'A misprint: the other figures give 121.8.'
    >>> erratum("000-12", "random_target", "Box 1", "cost")
    ''
    """
    return " ".join(entry.says for entry in find_errata(table, strategy, subject, measure, data=data, walks=walks))


def find_errata(
    table: str, strategy: str = "", subject: str = "", measure: str = "", *, data: str = "", walks: int | None = None
) -> list[Erratum]:
    """Return all that is known about a figure, as `erratum` does in words."""
    place = {"tables": _validate_table(table), "strategy": strategy, "data": data}
    place |= {"subject": subject, "measure": measure}
    entries = [
        Erratum(entry.says, Kind(entry.kind), entry.cause)
        for entry in errata()
        if all(
            not value or not getattr(entry, field) or value in getattr(entry, field).split(",")
            for field, value in place.items()
        )
    ]
    return entries + [Erratum(text, Kind.PRINT) for text in _find_misprints(place, walks)]


@cache
def errata() -> list[Any]:
    """Return what is wrong with sets of figures, as named tuples of the columns of errata.csv."""
    return list(_read_table("errata").itertuples(index=False))


@cache
def misprints() -> pd.DataFrame:
    """Return the figures that contradict the others of their row or column.

    Most are single digits in the small print of the case studies, and some may be slips of the text the figures
    were read from rather than of the page. The column ``fits`` has the value that would agree, where one value
    does. Otherwise some figure of the row is wrong, and it is unknown which. The row is then listed at its cost
    or capability.
    """
    return _read_table("misprints")


@cache
def _group_misprints() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of misprints.csv by table; walks that are not stated are None."""
    frame = misprints()
    records = frame.astype({"walks": object}).where(frame.notna(), None).to_dict("records")
    rows_by_table: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        rows_by_table.setdefault(record["table"], []).append(record)
    return rows_by_table


def _find_misprints(place: dict[str, str], walks: int | None) -> list[str]:
    conditions = {field: value for field, value in place.items() if value and field != "tables"}
    rows = [
        row
        for row in _group_misprints().get(place["tables"], ())
        if all(row[field] == value for field, value in conditions.items())
    ]
    if walks is not None:
        rows = [row for row in rows if row["walks"] == walks]
    elif stated := {row["walks"] for row in rows if row["walks"] is not None}:
        return ["Misprints at " + ", ".join(f"{walks:,}" for walks in sorted(stated)) + " walks."]
    if not rows:
        return []
    fits = rows[0]["fits"]
    if len(rows) > 1 or not fits:
        return ["The figures of this row contradict each other."]
    return [f"A misprint: the other figures give {fits}."]


@cache
def _read_table(name: str) -> pd.DataFrame:
    with files(__package__).joinpath("published", f"{name}.csv").open(encoding="utf-8") as file:
        frame = pd.read_csv(file, dtype=str, keep_default_na=False)
    whole = [column for column in ("walks", "seeds") if column in frame]
    frame[whole] = frame[whole].apply(pd.to_numeric).astype("Int64")
    if "published" in frame:
        frame["unit"] = frame["published"].map(_find_unit)
        frame["published"] = frame["published"].astype(float)
    return frame


def _find_unit(text: str) -> float:
    """Return the unit of the last digit: 0.01 of "51.88"; 0 if it is not a finite number."""
    exponent = Decimal(text).as_tuple().exponent
    return 10.0**exponent if isinstance(exponent, int) else 0.0


def _validate_table(table: str) -> str:
    if table not in _list_tables():
        raise DataError(f"There is no published table {table!r}. There are: {', '.join(tables())}.")
    return table
