"""Pages of fronts with many borders and places."""

from __future__ import annotations

import datamorphic as dm
from datamorphic.exploration.page import build_front_page
from datamorphic.reporting.html import render_page
from support.fronts import explore, step


def test_a_picture_of_many_borders_keeps_a_short_legend():
    front = explore(lambda f: f["x"].astype(int) * 11 + f["y"].astype(int), walks=600)
    traces = front.plot().data
    assert len(traces) == 14  # real inputs, twelve borders and the rest
    assert sum(len(trace.x) for trace in traces[1:]) == len(front)
    rest = next(trace for trace in traces if "other borders" in trace.name)
    assert rest.name == f"{len(front.border_counts) - 12} other borders"


def test_a_page_shows_each_place_once_and_titles_that_wrap():
    one = explore(step(0.5), dm.Space([dm.Continuous("x", 0, 1)]))
    report = build_front_page(one)
    examples = next(section for section in report.sections if "plausible" in section.heading)
    assert len(examples.table.rows) == 1
    assert "front.pairs" not in examples.text
    page = render_page(report)
    assert "<figcaption>Where answers of" in page
    assert '"title":{"text":"Where answers' not in page
