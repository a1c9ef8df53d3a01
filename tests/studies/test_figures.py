"""The published figures: all of them are declared and have data, and what is drawn lies where the data say."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from datamorphic.reporting.document import Shape
from datamorphic.studies import box_models
from datamorphic.studies.catalogue import STUDIES, build_published_rows, list_studies
from datamorphic.studies.figure_panels import (
    MARK_RADIUS_PX,
    PUBLISHED_RADIUS_PX,
    ChartPoint,
    PanelLabels,
    assign_styles,
    build_legend,
    draw_box_panel,
    draw_dot_panel,
    draw_line_panel,
)
from datamorphic.studies.figures import build_figure_sections, draw_figure, read_figures
from datamorphic.studies.rows import Row

LABELS = PanelLabels(title="(a) Cost", values="calls per case", places="walks")


def find_marks(drawing, side):
    """Return the centres of the round marks of ours or of the published figures, in drawing order."""
    radius = {"ours": MARK_RADIUS_PX, "published": PUBLISHED_RADIUS_PX}[side]
    marks = [shape for shape in drawing.shapes if isinstance(shape, Shape) and shape.kind.split()[0] == side]
    places = [re.match(r"M([-\d.]+) ([-\d.]+)a", mark.path).groups() for mark in marks]
    return np.array([(float(x) + radius, float(y)) for x, y in places])


def find_numbers(drawing, kind):
    return [
        [float(number) for number in re.findall(r"-?\d+\.\d", shape.path)]
        for shape in drawing.shapes
        if isinstance(shape, Shape) and shape.kind.startswith(kind)
    ]


def assert_linear(places, values):
    """Places in pixels are a linear function of values."""
    assert np.polyval(np.polyfit(values, places, 1), values) == pytest.approx(places, abs=0.2)
    assert np.ptp(places) > 50


def test_lines_lie_where_the_figures_are():
    ours, published, margins = [10.0, 14.0, 30.0], [12.0, math.nan, 28.0], [1.0, math.nan, 3.0]
    points = [
        ChartPoint("Box 1", place, *values)
        for place, *values in zip(("200", "400", "1,200"), ours, published, margins, strict=True)
    ]
    drawing = draw_line_panel(LABELS, points, assign_styles(["Box 1"]))
    marks, hollow = find_marks(drawing, "ours"), find_marks(drawing, "published")
    assert_linear(marks[:, 0], [200, 400, 1200])
    assert_linear([*marks[:, 1], *hollow[:, 1]], [*ours, 12.0, 28.0])
    assert hollow[:, 0] == pytest.approx(marks[[0, 2], 0], abs=0.2)
    (_, low, high), _ = find_numbers(drawing, "interval")
    per_unit = (marks[2, 1] - marks[0, 1]) / 20
    assert [low, high] == pytest.approx([marks[0, 1] - per_unit, marks[0, 1] + per_unit], abs=0.2)
    assert "Box 1, 200: ours 10.00 ±1.00, published 12.00" in drawing.alt


def test_dots_lie_where_the_figures_are_on_a_logarithmic_axis():
    ours, published = [10.0, 100.0, math.nan, 1000.0], [20.0, math.nan, 500.0, 1000.0]
    points = [ChartPoint("", *values) for values in zip("abcd", ours, published, strict=True)]
    drawing = draw_dot_panel(LABELS, points, assign_styles([""]), logarithmic=True)
    marks, hollow = find_marks(drawing, "ours"), find_marks(drawing, "published")
    assert_linear([*marks[:, 0], *hollow[:, 0]], np.log10([10, 100, 1000, 20, 500, 1000]))
    assert len(marks) == len(hollow) == 3  # none where there is no figure
    assert_linear([hollow[0, 1], marks[1, 1], hollow[1, 1], marks[2, 1]], [0, 1, 2, 3])


def test_boxes_go_from_quartile_to_quartile():
    values = {"DTC": [0.1, 0.2, 0.4, 0.5, 0.9], "CV": [0.5, 0.6, 0.8, 0.9, 1.0]}
    points = [ChartPoint(str(k), place, value, 1 - value) for place in values for k, value in enumerate(values[place])]
    drawing = draw_box_panel(LABELS, points, assign_styles(["0"]))
    boxes = find_numbers(drawing, "box")
    quartiles = [np.percentile(numbers, [25, 75]) for numbers in values.values()]
    means = [np.mean(values["DTC"]), 1 - np.mean(values["DTC"]), np.mean(values["CV"]), 1 - np.mean(values["CV"])]
    assert_linear(
        [*boxes[0][:3:2], *boxes[1][:3:2], *find_marks(drawing, "ours")[:, 0]], [*np.ravel(quartiles), *means]
    )


def test_a_legend_names_what_is_drawn():
    points = [ChartPoint("Box 1", "200", 1.0, math.nan, 0.1), ChartPoint("Box 2", "200", 2.0, math.nan)]
    legend = build_legend(assign_styles(["Box 1", "Box 2"]), points, "lines")
    assert [label for _, label in legend] == ["ours, with the 95% interval", "Box 1", "Box 2"]


def test_the_figures_of_the_documents_are_complete():
    expected = {f"000-{number}" for number in range(8, 20)} | {f"001-{number}" for number in range(7, 12)}
    expected |= {f"002-{number}" for number in range(11, 16)} | {"004-9"}
    assert {figure.name for figure in read_figures()} == expected
    listing = list_studies().set_index("name")["figures"]
    assert listing["random_target"] == "000-11, 001-10"
    assert set(", ".join(filter(None, listing)).split(", ")) == expected


@pytest.mark.parametrize("figure", read_figures(), ids=lambda figure: figure.name)
def test_every_figure_has_data(figure, monkeypatch):
    monkeypatch.setattr(box_models, "MODELS", ("DT",))  # for time
    for part in figure.parts:
        name, entry = next((name, entry) for name, entry in STUDIES.items() if part in entry.parts)
        prefix = f"{part}: " if len(entry.parts) > 1 else ""
        study = part if part in STUDIES else name
        prefix = "" if study == part else prefix
        rows = [row for row in build_published_rows(study) if row.row.startswith(prefix)]
        rows = [row._replace(row=row.row.removeprefix(prefix), ours=1.0) for row in rows]
        chart = draw_figure(figure, rows)
        assert chart is not None
        assert len(chart.panels) >= len(figure.panels) - 1  # Table 17 has no means of directed walks
        assert all(panel.alt for panel in chart.panels)


def test_a_section_shows_a_figure_after_its_table():
    (section,) = build_figure_sections("000-12", [Row("Box 1, 200 walks", "runs", 700.0, 690.0)])
    assert section.heading == "Figure 11 of Zhu & Bayley (2022): Random target, by the number of walks"
    assert len(section.chart.panels) == 1
    assert build_figure_sections("003-6", [Row("a", "b", 1.0, 1.0)]) == []
