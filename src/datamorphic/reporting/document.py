"""Pages as plain data: sections, tables, pictures and drawings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._validation import reject

#: The state of a section, shown as a colour.
SectionState = Literal["good", "bad", "warn", "note", "plain"]
#: Whether readers can fold a section, and whether it starts open.
Folding = Literal["", "open", "closed"]
Facts = Sequence[tuple[str, str]]  # terms and their values


class Link(str):
    """A text that leads to another file beside the page; as a string it is the text only.

    Examples
    --------
    >>> Link("all studies", "index.html"), Link("all studies", "index.html").target
    ('all studies', 'index.html')
    """

    target: str

    def __new__(cls, text: str, target: str) -> Link:
        """Make a link to a file, which must be a plain name: pages never lead elsewhere."""
        if not re.fullmatch(r"\w[\w.-]*", target):
            reject("target", "a link", "the name of a file beside the page", target)
        link = super().__new__(cls, text)
        link.target = target
        return link

    def __reduce__(self) -> tuple[object, ...]:
        return Link, (str(self), self.target)


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line over the steps of a walk, with the answer at each step as a coloured band behind it.

    The steps are at 0, 1, ... unless `steps` gives their positions in ascending order. `alt` describes the picture for
    readers who cannot see it; by default it is generated from the data.
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
    """An axis of a picture; `names` are the categories at 0, 1, ..., if it shows categories."""

    label: str
    names: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """Points of several groups, each in its own colour, in front of faint grey points of real inputs.

    The group named `rest` is grey. `behind` holds the coordinates of the real inputs, `alt` is as for a line.
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
    """One line or area of a drawing."""

    path: str  # the outline as an SVG path
    kind: str  # the meaning, as classes of ``drawing.css``
    note: str = ""  # the tooltip


@dataclass(frozen=True)
class TextLabel:
    """One line of text in a drawing; `kind` as for a shape."""

    x: float
    y: float
    text: str
    kind: str = ""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A drawing of shapes and texts, later ones on top.

    It holds no markup: text from users is escaped when the drawing is rendered. `alt` describes the drawing for readers who
    cannot see it; it is empty for a symbol beside its meaning.
    """

    width: float
    height: float
    shapes: Sequence[Shape | TextLabel]
    alt: str
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Drawings that share a legend, side by side on wide screens; an entry of the legend is a symbol and its meaning."""

    panels: Sequence[Drawing]
    legend: Sequence[tuple[Drawing, str]] = ()
    caption: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with a caption above and a note below; readers can sort it unless its order has a meaning."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    note: str = ""
    sortable: bool = True
    marked: Sequence[Sequence[int]] = ()  # the row and column of each cell that is highlighted
    main_columns: Sequence[str] = ()  # those that a terminal shows; all if empty
    main_rows: int = 20  # as many as a terminal shows


@dataclass(frozen=True, kw_only=True)
class Snippet:
    """A text to be copied, such as code or CSV, with its name."""

    label: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Meter:
    """A share from 0 to 1, drawn as a bar with its text."""

    label: str
    share: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A figure at the top of a page; `target` is the anchor of the section that it links to."""

    label: str
    value: str
    state: SectionState = "plain"
    target: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of a page: a heading, text, and optionally a table, a picture or further sections."""

    heading: str
    text: str  # lines that start with a bullet are shown as a list
    state: SectionState = "plain"  # shown as a colour; the text should say it as well
    table: Table | None = None
    picture: Picture | None = None
    badge: str = ""  # the state in one word, before the heading
    facts: Facts = ()
    again: str = ""  # a command that reproduces the section
    parts: Sequence[Section] = ()
    anchor: str = ""  # the target of links
    drawing: Drawing | None = None
    chart: Chart | None = None
    meters: Sequence[Meter] = ()  # figures to see at a glance, below the heading
    beside: Sequence[Section] = ()  # pictures and tables that belong to the text, beside it on wide screens
    snippets: Sequence[Snippet] = ()  # to be copied
    snippets_title: str = "To be copied"
    folding: Folding = ""
    searchable: bool = False  # whether readers can search its parts, and select them by their badges

    @property
    def all_facts(self) -> list[tuple[str, str]]:
        """The meters as facts, then the facts: for readers who see no bars."""
        return [*((meter.label, meter.text) for meter in self.meters), *self.facts]


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of a report."""

    title: str
    lead: str  # an introduction below the title; a terminal does not show it
    subject: str = (
        ""  # what was examined, if the verdict does not say it: where there is no title, it comes before the verdict
    )
    sections: Sequence[Section] = ()
    verdict: str = ""  # the main result in one line
    state: SectionState = "plain"  # of the verdict, shown as a colour
    facts: Facts = ()  # the basis of the verdict
    contents: bool = False  # whether to show a list of the sections
    tiles: Sequence[Tile] = ()  # the main figures
    compact: bool = False  # whether it is printed in small type, to fit one sheet of paper
