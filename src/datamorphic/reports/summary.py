"""What a report says, as plain dataclasses: computed once, rendered many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["good", "bad", "plain"]


@dataclass(frozen=True)
class Line:
    """A line over the steps of a walk, with the answer at each step as a band behind it."""

    title: str
    x_label: str
    y_label: str
    values: Sequence[float]
    bands: Sequence[str]
    notes: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Column names and rows of cells."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Section:
    """One finding: a heading that says it, a sentence or two, a table, a picture."""

    heading: str
    text: str
    state: State = "plain"
    table: Table | None = None
    picture: Line | None = None


@dataclass(frozen=True)
class Report:
    """A page of findings."""

    title: str
    lead: str
    sections: Sequence[Section] = field(default_factory=tuple)
