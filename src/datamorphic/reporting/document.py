"""What a report says, as plain dataclasses: computed once, rendered many times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

#: how something stands: well, badly, not quite well, worth a note, or neither
SectionState = Literal["good", "bad", "warn", "note", "plain"]
Facts = Sequence[tuple[str, str]]  # each a term and what is said of it


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line over the steps of a walk, with the answer at each step as a band behind it.

    The steps lie at 0, 1, ... unless `steps` says where, in ascending order. `alt` is the picture in words for those
    who cannot see it; without it, it is made from the data.
    """

    title: str
    x_label: str
    y_label: str
    values: Sequence[float]
    bands: Sequence[str]
    notes: Sequence[str]
    subtitle: str = ""
    steps: Sequence[float] = ()
    alt: str = ""


@dataclass(frozen=True)
class Axis:
    """What one direction of a picture shows; `names` are those of the places 0, 1, ... where it shows categories."""

    label: str
    names: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """Points of several groups, each in its colour, before faint grey ones that show where real inputs lie.

    The group named `rest` is what has no colour of its own. `alt` is the picture in words, as that of a line.
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
    alt: str = ""


Picture = Line | Scatter


@dataclass(frozen=True)
class Shape:
    """One line or area of a drawing.

    Attributes
    ----------
    path : str
        Its outline, as SVG writes it.
    kind : str
        What it stands for: classes of ``drawing.css``.
    note : str
        What is told when somebody points at it.
    """

    path: str
    kind: str
    note: str = ""


@dataclass(frozen=True)
class TextLabel:
    """One line of text of a drawing, at a place; `kind` as that of a mark."""

    x: float
    y: float
    text: str
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A picture of marks and words, those that come later above the others.

    It holds no markup: what users wrote is text when it comes here, and is escaped when it is rendered. `alt` is the
    picture in words, the caption stands above it.
    """

    width: float
    height: float
    shapes: Sequence[Shape | TextLabel]
    alt: str
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Column names and rows of cells.

    The caption stands above it, the note below; readers can sort it unless the order is part of what it says.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    note: str = ""
    sortable: bool = True


@dataclass(frozen=True, kw_only=True)
class Section:
    """One finding: a heading that says it, a sentence or two, a table, a picture.

    Attributes
    ----------
    heading, text : str
        Lines of the text that begin with a bullet are shown as a list.
    state : {"good", "bad", "warn", "note", "plain"}
        How it stands, shown as a colour; say it in words too.
    table, picture, drawing : optional
        What there is to look at.
    badge : str
        The state in a word, before the heading.
    facts : sequence of (str, str)
        Terms and what is said of them.
    again : str
        A command that shows it again.
    parts : sequence of Section
        Sections within this one.
    anchor : str
        What links call it.
    """

    heading: str
    text: str
    state: SectionState = "plain"
    table: Table | None = None
    picture: Picture | None = None
    badge: str = ""
    facts: Facts = ()
    again: str = ""
    parts: Sequence[Section] = ()
    anchor: str = ""
    drawing: Drawing | None = None


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of findings.

    Attributes
    ----------
    title, lead : str
        What it is about.
    sections : sequence of Section
        What it says.
    verdict : str
        What matters most, in a line.
    state : {"good", "bad", "warn", "note", "plain"}
        How that stands.
    facts : sequence of (str, str)
        What the verdict rests on.
    contents : bool
        Whether to begin with a list of the sections.
    """

    title: str
    lead: str
    sections: Sequence[Section] = field(default_factory=tuple)
    verdict: str = ""
    state: SectionState = "plain"
    facts: Facts = ()
    contents: bool = False
