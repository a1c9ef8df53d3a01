"""Fronts as pictures and pages."""

from __future__ import annotations

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError, SpaceError
from datamorphic.exploration import plot as picture
from datamorphic.exploration.page import build_front_page
from datamorphic.reporting.html import render_page
from support.fronts import EVIL, explore, step


def list_html_texts(figure):
    """All texts of a figure that plotly would read as HTML."""
    return figure.to_json()


def test_two_features_are_drawn_on_their_own_axes():
    front = explore(step(4.0))
    figure = front.plot()
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("x", "y")
    seeds, pairs = figure.data
    assert seeds.name == "real inputs"
    assert len(seeds.x) == len(front.seeds)
    assert pairs.name == "high | low"
    assert len(pairs.x) == len(front)
    np.testing.assert_allclose(pairs.x, 4.0, atol=1e-4)
    assert "becomes" in pairs.text[0]
    assert ": x " in pairs.text[0]


def test_more_features_are_projected_and_the_title_states_the_variance(mixed_front):
    figure = mixed_front.plot()
    assert "of the variance" in figure.layout.title.text
    assert figure.layout.xaxis.title.text.startswith("direction 1")
    assert {trace.name for trace in figure.data[1:]} == set(mixed_front.kinds)


def test_one_feature_is_chosen_by_name_and_the_other_by_how_often_it_decides(mixed_front):
    figure = mixed_front.plot("card", "income")
    assert figure.layout.xaxis.ticktext == ("Blue", "Silver", "Gold", "missing")
    deciding = mixed_front.deciding()["feature"].tolist()
    other = next(name for name in deciding if name != "card")
    assert mixed_front.plot(y="card").layout.xaxis.title.text.startswith(other)
    assert mixed_front.plot("card").layout.yaxis.title.text.startswith(other)
    assert "missing: at" in mixed_front.plot("age", "income").layout.xaxis.title.text
    for trace in figure.data:
        assert not np.isnan(np.array([trace.x, trace.y], dtype=float)).any()


def test_wrong_features_are_rejected(mixed_front):
    with pytest.raises(SpaceError, match="Did you mean 'income'"):
        mixed_front.plot("incomes")
    with pytest.raises(ArgumentError, match="two different features"):
        mixed_front.plot("age", "age")
    one = explore(step(0.5), dm.Space([dm.Continuous("x", 0, 1)]))
    with pytest.raises(SpaceError, match="no feature 'y'"):
        one.plot(y="y")


def test_one_feature_gets_a_line_for_each_border():
    space = dm.Space([dm.Continuous("x", 0, 1)])
    front = explore(lambda f: np.select([f["x"] > 0.6, f["x"] > 0.3], ["c", "b"], "a"), space)
    figure = front.plot()
    assert set(figure.layout.yaxis.ticktext) == {"a | b", "b | c", "real inputs"}
    for trace in figure.data[1:]:
        assert len(set(trace.y)) == 1


def test_an_empty_front_says_so(empty_front):
    assert "no border was found" in list_html_texts(empty_front.plot())
    page = build_front_page(empty_front)
    assert page.verdict.startswith("No border was found")
    assert page.verdict in render_page(page)


def test_many_pairs_are_thinned_evenly(monkeypatch):
    front = explore(step(4.0), walks=300)
    monkeypatch.setattr(picture, "MAX_DRAWN_PAIRS", 20)
    drawn = picture.build_scatter(front)
    assert len(drawn.x) == 20
    assert f"20 pairs of {len(front)} drawn" in drawn.subtitle


@pytest.mark.slow
def test_hostile_names_and_labels_are_shown_as_text():
    space = dm.Space([dm.Continuous(EVIL, 0, 1), dm.Categorical("c" + EVIL, [EVIL, "b"]), dm.Continuous("z", 0, 1)])
    front = explore(lambda f: np.where((f[EVIL] > 0.5) ^ (f["c" + EVIL] == EVIL), EVIL, "fine"), space)
    assert set(front.kinds) == {f"{EVIL} | fine"}
    for figure in (front.plot(), front.plot(EVIL), front.plot("c" + EVIL, EVIL)):
        assert "<img" not in list_html_texts(figure)
        assert "&lt;img" in list_html_texts(figure)
    page = render_page(build_front_page(front))
    assert "<img" not in page[page.index("<body>") :]
    change = front.diff(explore(lambda f: np.full(len(f), EVIL), space))
    assert EVIL in change.describe()  # words for a terminal are no HTML


def test_a_page_has_all_sections(mixed_front):
    report = build_front_page(mixed_front)
    text = " ".join([report.verdict, *(section.heading for section in report.sections)])
    for part in ("border pair", "picture", "pairs of classes meet", "plausible", "Which features decide", "How good"):
        assert part in text
    examples = next(section.table for section in report.sections if "plausible" in section.heading)
    borders = [" | ".join(sorted((row[1], row[2]))) for row in examples.rows]
    assert set(borders[: len(set(mixed_front.kinds))]) == set(mixed_front.kinds)  # every border has its turn
    assert all("->" in row[3] for row in examples.rows)
    assert "main" in render_page(report)


@pytest.mark.slow
def test_a_page_shows_inputs_without_an_answer():
    def fails(f):
        if (f["y"] > 9).any():
            raise RuntimeError("too high")
        return np.where(f["x"] > 5, "a", "b")

    report = build_front_page(explore(fails, walks=50))
    assert report.sections[-1].state == "bad"
    assert "no valid answer" in report.sections[-1].heading
    assert "too high" in render_page(report)
