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
class Axis:
    """What one direction of a picture shows; `names` are those of the places 0, 1, ... where it shows categories."""

    label: str
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Scatter:
    """Points of several groups, each in its colour, before faint grey ones that show where real inputs lie.

    The group named `rest` is what has no colour of its own.
    """

    title: str
    subtitle: str
    x_axis: Axis
    y_axis: Axis
    x: Sequence[float]
    y: Sequence[float]
    groups: Sequence[str]
    notes: Sequence[str]
    behind: tuple[Sequence[float], Sequence[float]] = ((), ())
    rest: str = ""


Picture = Line | Scatter


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
    picture: Picture | None = None


@dataclass(frozen=True)
class Report:
    """A page of findings."""

    title: str
    lead: str
    sections: Sequence[Section] = field(default_factory=tuple)
