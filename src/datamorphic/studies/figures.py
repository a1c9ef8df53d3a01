"""The published figures that pages of studies draw: what each shows, and which rows of a study it takes.

Most figures of the papers are images. Their points are those of tables; where no table has them, ours are
drawn alone and the note says so.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast

from .._tables import read_document
from ..errors import DataError
from ..reporting.document import Chart, Section
from .figure_panels import (
    LINE_PANEL_WIDTH_PX,
    MEAN,
    ChartPoint,
    PanelLabels,
    assign_styles,
    build_legend,
    draw_box_panel,
    draw_dot_panel,
    draw_line_panel,
)
from .trees import format_name, list_published_sets

if TYPE_CHECKING:
    from .rows import Row

DOCUMENTS = {
    "000": "Zhu & Bayley (2022)",
    "001": "Zhu & Bayley (2020)",
    "002": "Ying (2024)",
    "004": "Silveira et al. (2025)",
}
NARROW_PANEL_PX = 280.0


@dataclass(frozen=True, kw_only=True)
class FigurePanel:
    """A panel of a figure, or several if the rows name them.

    The pattern is matched with ``row | column``. Its groups are `place` (a number or category), `series` where there are
    several, and `title` where rows name the panels.
    """

    kind: Literal["lines", "dots", "boxes"]
    pattern: str
    values: str  # what the axis of figures shows, with the unit
    title: str = ""
    places: str = ""  # what the axis of numbers shows
    logarithmic: bool = False
    narrow: bool = False
    cause: str = ""  # with which ours are drawn


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """A figure of a document: its panels, and the parts of studies, mostly tables, whose rows it draws."""

    document: str
    number: int
    title: str
    parts: tuple[str, ...]
    panels: tuple[FigurePanel, ...]
    note: str = ""
    drawing: str = ""  # the function that draws it for a seed, if what it shows is not in rows

    @property
    def name(self) -> str:
        """Document and number, as tables are named."""
        return f"{self.document}-{self.number}"

    @property
    def heading(self) -> str:
        """The figure with its document and title."""
        return f"Figure {self.number} of {DOCUMENTS[self.document]}: {self.title}"


# -- panels ----------------------------------------------------------------------------------------------------------

MEASURES = {
    "runs": ("Runs", "calls of the classifier"),
    "mutants": ("Mutants", "new test cases at borders"),
    "cost": ("Cost", "calls per new test case"),
    "capability": ("Capability", "% of walks that find a border"),
}
#: the strategies, with what their walks are counted in
STRATEGY_NOUNS = {"random target": "walks", "random walk": "walks", "directed walk": "rows, every way"}
TYPICAL_MODELS = ("LR", "KNN", "DT", "NB", "SVM", "Stack1")
SCORE_TITLES = {"precision": "Precision", "recall": "Recall", "accuracy": "Accuracy", "F1": "F1"}


def _make_walk_panels(
    measures: Iterable[str] = tuple(MEASURES), noun: str = "walks", cause: str = "", title: str = ""
) -> Iterator[FigurePanel]:
    """Yield a panel per measure over the number of walks or seeds, with a line per classifier."""
    for letter, measure in zip("abcd", measures, strict=False):
        yield FigurePanel(
            kind="lines",
            pattern=rf"(?P<series>.+), (?P<place>[\d,]+) {noun} \| {measure}",
            title=f"({letter}) {MEASURES[measure][0]}{title}",
            values=MEASURES[measure][1],
            places="seed cases" if noun == "seeds" else "walks",
            cause=cause,
        )


def _make_mean_panel(noun: str = "walks", cause: str = "", title: str = "") -> Iterator[FigurePanel]:
    """Yield the panel of the mean cost per classifier."""
    yield FigurePanel(
        kind="dots",
        pattern=rf"(?P<place>.+), mean over {noun} \| cost",
        title=f"(d) Mean cost{title}",
        values=MEASURES["cost"][1],
        cause=cause,
    )


def _make_strategy_panel(measure: str, title: str, cause: str = "", logarithmic: bool = False) -> Iterator[FigurePanel]:
    """Yield a panel of a measure per classifier, with a lane per strategy."""
    yield FigurePanel(
        kind="dots",
        pattern=rf"(?P<place>.+), (?P<series>directed walk|random walk|random target) \| {measure}",
        title=title,
        values=MEASURES[measure][1],
        logarithmic=logarithmic,
        cause=cause,
    )


def _make_typical_model_panels(measure: str) -> Iterator[FigurePanel]:
    """Yield a panel of a measure over walks per strategy, with a line per model."""
    for letter, (strategy, noun) in zip("abc", STRATEGY_NOUNS.items(), strict=True):
        yield FigurePanel(
            kind="lines",
            pattern=rf"{strategy}, (?P<series>{'|'.join(TYPICAL_MODELS)}), (?P<place>[\d,]+) {noun} \| {measure}",
            title=f"({letter}) {strategy.capitalize()}",
            values=MEASURES[measure][1],
            places="walks" if noun == "walks" else "rows, walked in every direction",
        )


def _make_model_mean_panels(measure: str) -> Iterator[FigurePanel]:
    """Yield a panel of the mean of a measure per strategy, with a row per model."""
    for letter, strategy in zip("abc", STRATEGY_NOUNS, strict=True):
        yield FigurePanel(
            kind="dots",
            pattern=rf"{strategy}, (?P<place>.+), mean \| {measure}",
            title=f"({letter}) {strategy.capitalize()}",
            values=f"{MEASURES[measure][1]}, mean over walks",
        )


def _make_mutant_panels(first: int, last: int) -> Iterator[FigurePanel]:
    """Yield panels of F-measures, one per mutant, with a row per generator."""
    numbers = "|".join(map(str, range(first, last + 1)))
    yield FigurePanel(
        kind="dots",
        pattern=rf"(?P<title>.+ mutant (?:{numbers})(?:, \w+)?), ours .+ \| (?P<place>.+), F",
        values="groups until a violation",
        narrow=True,
    )


def _make_score_panels() -> Iterator[FigurePanel]:
    """Yield a panel per score of 3-NN, with a box per approach."""
    names = "|".join([*(re.escape(format_name(name)) for name in list_published_sets()), MEAN])
    for letter, (score, title) in zip("abcd", SCORE_TITLES.items(), strict=True):
        yield FigurePanel(
            kind="boxes",
            pattern=rf"(?P<series>{names}) \| (?P<place>DTC|BVA|DTMT|CV) {score}",
            title=f"({letter}) {title}",
            values="score of 3-NN, over data sets",
        )


PANEL_MAKERS: dict[str, Callable[..., Iterable[FigurePanel]]] = {
    "walks": _make_walk_panels,
    "mean": _make_mean_panel,
    "strategies": _make_strategy_panel,
    "models over walks": _make_typical_model_panels,
    "means of models": _make_model_mean_panels,
    "mutants": _make_mutant_panels,
    "scores": _make_score_panels,
    "panel": lambda **fields: [FigurePanel(**fields)],
}

# -- the figures ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _FigureFacts:
    """What figures.toml says about a figure."""

    document: str
    number: int
    title: str
    parts: tuple[str, ...]
    panels: tuple[Any, ...] = ()
    note: str = ""
    drawing: str = ""

    def build(self, notes: Mapping[str, str]) -> PublishedFigure:
        """Return the figure with its panels."""
        panels: list[FigurePanel] = []
        for fields in self.panels:
            options = {name: value for name, value in fields.items() if name != "make"}
            panels += PANEL_MAKERS[fields["make"]](**options)
        return PublishedFigure(**vars(self) | {"panels": tuple(panels), "note": notes.get(self.note, self.note)})


@dataclass(frozen=True)
class _FigureFile:
    notes: Mapping[str, str]
    figures: tuple[_FigureFacts, ...]


@cache
def read_figures() -> tuple[PublishedFigure, ...]:
    """Return the published figures."""
    document = read_document(__package__, "figures.toml", _FigureFile)
    return tuple(facts.build(document.notes) for facts in document.figures)


def list_figures(parts: Iterable[str]) -> list[PublishedFigure]:
    """Return the figures that are drawn from parts of a study.

    Examples
    --------
    >>> [figure.name for figure in list_figures(["000-12", "001-4"])]
    ['000-11', '001-10']
    """
    names = set(parts)
    return [figure for figure in read_figures() if names.intersection(figure.parts)]


def find_function(name: str) -> Callable[..., Any]:
    """Return a function of a module of studies: "groups.build_time_table"."""
    module, _, function = name.partition(".")
    try:
        return cast(Callable[..., Any], getattr(importlib.import_module(f".{module}", __package__), function))
    except (ImportError, AttributeError) as error:
        raise DataError(f"There is no function {name!r} in the modules of studies.") from error


def draw_figure(figure: PublishedFigure, rows: Iterable[Row], seed: int = 0) -> Chart | None:
    """Draw a figure from the rows of a part of a study; None if none of them belongs to it."""
    if figure.drawing:
        chart: Chart = find_function(figure.drawing)(seed)
        return chart
    drawn_rows = [row for row in rows if math.isfinite(row.published) or math.isfinite(row.ours)]
    charts = [(panel, title, points) for panel in figure.panels for title, points in _collect_points(panel, drawn_rows)]
    if not charts:
        return None
    all_points = [point for _, _, points in charts for point in points]
    styles = assign_styles(point.series for point in all_points)
    drawings = []
    for panel, title, points in charts:
        labels = PanelLabels(title=title, values=panel.values, places=panel.places)
        if panel.kind == "lines":
            drawings.append(draw_line_panel(labels, points, styles, panel.logarithmic))
        elif panel.kind == "boxes":
            drawings.append(draw_box_panel(labels, points, styles, panel.logarithmic))
        else:
            width = NARROW_PANEL_PX if panel.narrow else LINE_PANEL_WIDTH_PX
            drawings.append(draw_dot_panel(labels, points, styles, panel.logarithmic, width))
    return Chart(panels=drawings, legend=build_legend(styles, all_points, figure.panels[0].kind))


def _collect_points(panel: FigurePanel, rows: Iterable[Row]) -> Iterator[tuple[str, list[ChartPoint]]]:
    """Yield the title and the points of each panel that has any."""
    panels: dict[str, list[ChartPoint]] = {}
    for row in rows:
        match = re.fullmatch(panel.pattern, f"{row.row} | {row.column}")
        if match is None:
            continue
        groups = match.groupdict()
        place = "average" if groups["place"] == "all" else groups["place"]
        with_cause = panel.cause and row.cause == panel.cause
        ours, margin = (row.ours_with_cause, row.margin_with_cause) if with_cause else (row.ours, row.margin)
        point = ChartPoint(groups.get("series", ""), place, ours, row.published, margin)
        panels.setdefault(groups.get("title", panel.title), []).append(point)
    yield from panels.items()


def build_figure_sections(part: str, rows: Iterable[Row], seed: int = 0) -> list[Section]:
    """Return a section per figure that is drawn from a part of a study."""
    all_rows = list(rows)
    sections = []
    for figure in list_figures([part]):
        chart = draw_figure(figure, all_rows, seed)
        if chart is not None:
            anchor = f"figure-{figure.name}-{part}"
            sections.append(Section(heading=figure.heading, text=figure.note, chart=chart, anchor=anchor))
    return sections
