"""The published figures that pages of studies draw: what each shows, and which rows of a study it takes.

Most figures of the papers are images. Their points are those of tables; where no table has them, ours are
drawn alone and the note says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..reporting.document import Chart, Section
from .figure_panels import (
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


@dataclass(frozen=True, kw_only=True)
class PublishedFigure:
    """A figure of a document: its panels, and the parts of studies, mostly tables, whose rows it draws."""

    document: str
    number: int
    title: str
    parts: tuple[str, ...]
    panels: tuple[FigurePanel, ...]
    note: str = ""

    @property
    def name(self) -> str:
        """Document and number, as tables are named."""
        return f"{self.document}-{self.number}"

    @property
    def heading(self) -> str:
        """The figure with its document and title."""
        return f"Figure {self.number} of {DOCUMENTS[self.document]}: {self.title}"


# -- explorations --------------------------------------------------------------------------------------------------

MEASURES = {
    "runs": ("Runs", "calls of the classifier"),
    "mutants": ("Mutants", "new test cases at borders"),
    "cost": ("Cost", "calls per new test case"),
    "capability": ("Capability", "% of walks that find a border"),
}
WALKS, SEEDS = "walks", "seed cases"


def _make_walk_panels(
    measures: Iterable[str], noun: str = "walks", column: str = "", title: str = ""
) -> tuple[FigurePanel, ...]:
    """Return a panel per measure over the number of walks or seeds, with a line per classifier."""
    return tuple(
        FigurePanel(
            kind="lines",
            pattern=rf"(?P<series>.+), (?P<place>[\d,]+) {noun} \| {measure}{column}",
            title=f"({letter}) {MEASURES[measure][0]}{title}",
            values=MEASURES[measure][1],
            places=SEEDS if noun == "seeds" else WALKS,
        )
        for letter, measure in zip("abcd", measures, strict=False)
    )


def _make_mean_panel(noun: str = "walks", column: str = "", title: str = "") -> FigurePanel:
    """Return the panel of the mean cost per classifier."""
    return FigurePanel(
        kind="dots",
        pattern=rf"(?P<place>.+), mean over {noun} \| cost{column}",
        title=f"(d) Mean cost{title}",
        values=MEASURES["cost"][1],
    )


def _make_strategy_panel(measure: str, column: str, title: str, logarithmic: bool) -> FigurePanel:
    """Return a panel of a measure per classifier, with a lane per strategy."""
    return FigurePanel(
        kind="dots",
        pattern=rf"(?P<place>.+), (?P<series>directed walk|random walk|random target) \| {measure}{column}",
        title=title,
        values=MEASURES[measure][1],
        logarithmic=logarithmic,
    )


#: the strategies, with what their walks are counted in
STRATEGY_NOUNS = {"random target": "walks", "random walk": "walks", "directed walk": "rows, every way"}
TYPICAL_MODELS = ("LR", "KNN", "DT", "NB", "SVM", "Stack1")
DATA_TABLES = (14, 18, 22)  # the first of four tables of each data set: runs, mutants, cost, capability


def _make_model_figure(number: int, measure: str, by_walks: bool, parts: Iterable[str] = ()) -> PublishedFigure:
    """Return a figure of a measure of models: over walks for some models, or the mean of each of them."""
    own_parts = tuple(f"000-{first + list(MEASURES).index(measure)}" for first in DATA_TABLES)
    title, values = MEASURES[measure]
    if by_walks:
        models = "|".join(TYPICAL_MODELS)
        panels = [
            FigurePanel(
                kind="lines",
                pattern=rf"{strategy}, (?P<series>{models}), (?P<place>[\d,]+) {noun} \| {measure}",
                title=f"({letter}) {strategy.capitalize()}",
                values=values,
                places="walks" if noun == "walks" else "rows, walked in every direction",
            )
            for letter, (strategy, noun) in zip("abc", STRATEGY_NOUNS.items(), strict=True)
        ]
        note = (
            f"The paper draws typical examples, without naming them; here are {', '.join(TYPICAL_MODELS)}, "
            "as far as the scale has them."
        )
    else:
        panels = [
            FigurePanel(
                kind="dots",
                pattern=rf"{strategy}, (?P<place>.+), mean \| {measure}",
                title=f"({letter}) {strategy.capitalize()}",
                values=f"{values}, mean over walks",
            )
            for letter, strategy in zip("abc", STRATEGY_NOUNS, strict=True)
        ]
        note = ""
    title = f"{title} by the number of walks" if by_walks else f"{title} of testing each model"
    return PublishedFigure(
        document="000", number=number, title=title, parts=(*own_parts, *parts), panels=tuple(panels), note=note
    )


FIRST_STEP, AS_WRITTEN, AS_TARGET = ", first step only", ", as written", ", random target"
MEAN_PARTS = ("000-16 and 000-17", "000-20 and 000-21", "000-24 and 000-25")
THREE_MEASURES = ("runs", "mutants", "cost")

# -- generators of groups, and trees --------------------------------------------------------------------------------

F_MEASURE_NOTE = (
    "The paper has the published points in an image only; the effects of the table are computed from "
    "them. Fewer groups are better. Where the parts of the figure divide is not said."
)


def _make_mutant_figure(number: int, part: str, table: str, mutants: range) -> PublishedFigure:
    """Return a figure of F-measures, with a panel per mutant and a row per generator."""
    numbers = "|".join(map(str, mutants))
    panel = FigurePanel(
        kind="dots",
        pattern=rf"(?P<title>.+ mutant (?:{numbers})(?:, \w+)?), ours .+ \| (?P<place>.+), F",
        values="groups until a violation",
        narrow=True,
    )
    return PublishedFigure(
        document="002",
        number=number,
        title=f"F-measures of generators of groups ({part})",
        parts=(table,),
        panels=(panel,),
        note=F_MEASURE_NOTE,
    )


SCORE_TITLES = {"precision": "Precision", "recall": "Recall", "accuracy": "Accuracy", "F1": "F1"}


def _make_score_panels() -> tuple[FigurePanel, ...]:
    names = "|".join([*(re.escape(format_name(name)) for name in list_published_sets()), MEAN])
    return tuple(
        FigurePanel(
            kind="boxes",
            pattern=rf"(?P<series>{names}) \| (?P<place>DTC|BVA|DTMT|CV) {score}",
            title=f"({letter}) {title}",
            values="score of 3-NN, over data sets",
        )
        for letter, (score, title) in zip("abcd", SCORE_TITLES.items(), strict=True)
    )


# -- the figures ---------------------------------------------------------------------------------------------------

FIGURES: tuple[PublishedFigure, ...] = (
    PublishedFigure(
        document="000",
        number=8,
        title="Directed walk, by the number of walks",
        parts=("000-9",),
        panels=(
            *_make_walk_panels(MEASURES, column=AS_WRITTEN, title=", as written"),
            *_make_walk_panels(MEASURES, column=AS_TARGET, title=", random target"),
        ),
        note="The published points are those of Table 9, which are of random target: they lie on our lines of the second four "
        "panels. The paper says of this figure that the runs of all classifiers nearly coincide, which is true of directed "
        "walks (the first four panels, and Figure 7 of Zhu & Bayley 2020).",
    ),
    PublishedFigure(
        document="000",
        number=9,
        title="Random walk, by the number of walks",
        parts=("000-10",),
        panels=_make_walk_panels(MEASURES),
    ),
    PublishedFigure(
        document="000",
        number=10,
        title="Random walk, by the number of seed cases",
        parts=("000-11",),
        panels=_make_walk_panels(MEASURES, noun="seeds"),
    ),
    PublishedFigure(
        document="000",
        number=11,
        title="Random target, by the number of walks",
        parts=("000-12",),
        panels=_make_walk_panels(MEASURES),
    ),
    PublishedFigure(
        document="000",
        number=12,
        title="Cost and capability on the coded classifiers",
        parts=("000-1",),
        panels=(
            _make_strategy_panel("cost", f"(?:{FIRST_STEP})?", "(a) Cost", logarithmic=True),
            _make_strategy_panel("capability", f"(?:{AS_TARGET})?", "(b) Capability", logarithmic=False),
        ),
        note="Ours of the directed walk are the figures that the published ones belong to: cost with success at the first step "
        "only, and capability of random target. The table has the strategy as written, too.",
    ),
    _make_model_figure(13, "runs", by_walks=True),
    _make_model_figure(14, "mutants", by_walks=True),
    _make_model_figure(15, "capability", by_walks=True),
    _make_model_figure(16, "capability", by_walks=False, parts=MEAN_PARTS),
    _make_model_figure(17, "cost", by_walks=True),
    _make_model_figure(18, "cost", by_walks=False, parts=MEAN_PARTS),
    PublishedFigure(
        document="001",
        number=7,
        title="Directed walk",
        parts=("001-1",),
        panels=tuple(
            panel
            for column in (FIRST_STEP, AS_WRITTEN)
            for panel in (
                *_make_walk_panels(THREE_MEASURES, column=column, title=column),
                _make_mean_panel(column=column, title=column),
            )
        ),
        note="The published points lie on our lines of the first four panels: walks that can succeed at their first step only.",
    ),
    PublishedFigure(
        document="001",
        number=8,
        title="Random walk, by the number of walks",
        parts=("001-2",),
        panels=(*_make_walk_panels(THREE_MEASURES), _make_mean_panel()),
    ),
    PublishedFigure(
        document="001",
        number=9,
        title="Random walk, by the number of seed cases",
        parts=("001-3",),
        panels=(*_make_walk_panels(THREE_MEASURES, noun="seeds"), _make_mean_panel("seeds")),
    ),
    PublishedFigure(
        document="001",
        number=10,
        title="Random target, by the number of walks",
        parts=("001-4",),
        panels=(*_make_walk_panels(THREE_MEASURES), _make_mean_panel()),
    ),
    PublishedFigure(
        document="001",
        number=11,
        title="Cost on the coded classifiers",
        parts=("001-5",),
        panels=(_make_strategy_panel("cost", f"(?:{FIRST_STEP})?", "Cost", logarithmic=True),),
        note="Ours of the directed walk can succeed at their first step only, as in print. The table has the strategy as "
        "written, too.",
    ),
    _make_mutant_figure(11, "part 1", "002-5", range(1, 13)),
    _make_mutant_figure(12, "part 2", "002-5", range(13, 25)),
    PublishedFigure(
        document="002",
        number=13,
        title="Seconds to make 10,000 groups",
        parts=("Figure 13",),
        panels=(
            FigurePanel(
                kind="dots",
                pattern=r"(?P<place>.+) \| (?P<series>.+), s",
                title="Generation time by relation",
                values="seconds, logarithmic",
                logarithmic=True,
            ),
        ),
        note="The paper has the published points in an image only. The hollow marks are those of Table 12, "
        "for the two generators and the relations that it shares with this figure.",
    ),
    _make_mutant_figure(14, "part 1", "002-11", range(1, 10)),
    _make_mutant_figure(15, "part 2", "002-11", range(10, 18)),
    PublishedFigure(
        document="004",
        number=9,
        title="Effectiveness of the four approaches",
        parts=("004-5",),
        panels=_make_score_panels(),
        note="The lower the scores of the tested 3-NN, the stronger the test rows. A box goes from the first to the third "
        "quartile over data sets, with a line at the median and a dot at the mean, and its whiskers to the least and "
        "greatest score. Our boxes lack the data sets that are not available.",
    ),
)


def list_figures(parts: Iterable[str]) -> list[PublishedFigure]:
    """Return the figures that are drawn from parts of a study.

    Examples
    --------
    >>> [figure.name for figure in list_figures(["000-12", "001-4"])]
    ['000-11', '001-10']
    """
    names = set(parts)
    return [figure for figure in FIGURES if names.intersection(figure.parts)]


def draw_figure(figure: PublishedFigure, rows: Iterable[Row]) -> Chart | None:
    """Draw a figure from the rows of a part of a study; None if none of them belongs to it."""
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
        elif panel.narrow:
            drawings.append(draw_dot_panel(labels, points, styles, panel.logarithmic, NARROW_PANEL_PX))
        else:
            drawings.append(draw_dot_panel(labels, points, styles, panel.logarithmic))
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
        point = ChartPoint(groups.get("series", ""), place, row.ours, row.published, row.margin)
        panels.setdefault(groups.get("title", panel.title), []).append(point)
    yield from panels.items()


def build_figure_sections(part: str, rows: Iterable[Row]) -> list[Section]:
    """Return a section per figure that is drawn from a part of a study."""
    all_rows = list(rows)
    sections = []
    for figure in list_figures([part]):
        chart = draw_figure(figure, all_rows)
        if chart is not None:
            anchor = f"figure-{figure.name}-{part}"
            sections.append(Section(heading=figure.heading, text=figure.note, chart=chart, anchor=anchor))
    return sections
