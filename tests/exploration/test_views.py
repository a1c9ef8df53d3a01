"""Views of fronts of many features: parallel axes, t-SNE and UMAP, in notebooks, reports and on the command line."""

from __future__ import annotations

import re
import sys
import types

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.errors import ArgumentError, MissingExtra
from datamorphic.exploration import views
from datamorphic.exploration.changes import thin_rows
from datamorphic.exploration.page import build_front_page
from datamorphic.reporting.document import Shape
from datamorphic.reporting.html import render_page
from support.fronts import EVIL, explore, step


@pytest.fixture(scope="module")
def corner_front():
    """Borders in two far corners of a space of five features."""
    space = dm.Space([dm.Continuous(name, 0, 10, step=0.5) for name in "abcde"])
    near = pd.DataFrame(
        np.tile([[value + 0.01 * k] for value in (1.0, 8.9) for k in range(20)], 5), columns=list("abcde")
    )

    def answer(frame):
        return np.select([frame["a"] > 9.2, frame["a"] < 1.25], ["high", "low"], "middle")

    return dm.explore(answer, near, space=space, strategy="directed_walk", moves=["up_a"], walks=40, progress=False)


def find_lines(drawing):
    return [shape for shape in drawing.shapes if isinstance(shape, Shape) and shape.kind.startswith("trend")]


def test_a_line_per_pair_goes_through_its_values():
    front = explore(lambda f: np.where(f["x"] + f["y"] + f["z"] > 15, "far", "near"), make_cube(), walks=40)
    parallel = views.build_parallel_axes(front)
    assert [axis.label for axis in parallel.axes] == ["x", "y", "z"]
    np.testing.assert_array_equal(parallel.places, front.a.codes)
    drawing = views.draw_parallel_axes(front).panels[0]
    lines = find_lines(drawing)
    assert len(lines) == len(front)
    points = np.array([[float(n) for n in re.findall(r"[-\d.]+", line.path)] for line in lines])
    for column in range(3):
        heights, values = points[:, 2 * column + 1], front.a.codes[:, column]
        assert np.ptp(heights) > 20
        slope, offset = np.polyfit(values, heights, 1)
        assert slope < 0  # larger values are higher
        np.testing.assert_allclose(slope * values + offset, heights, atol=1)
    assert len({points[0, 0], points[0, 2], points[0, 4]}) == 3
    assert "becomes" in lines[0].note


def make_cube():
    return dm.Space([dm.Continuous(name, 0, 10) for name in "xyz"])


def test_categories_and_missing_values_have_places_on_axes(mixed_front):
    chart = views.draw_parallel_axes(mixed_front)
    texts = {item.text for item in chart.panels[0].shapes if not isinstance(item, Shape)}
    assert {"Blue", "Silver", "Gold", "missing"} <= texts
    assert not any("nan" in line.path for line in find_lines(chart.panels[0]))
    assert [name for _, name in chart.legend] == list(dict.fromkeys(mixed_front.border_counts.index))


def test_of_many_features_those_that_differ_are_drawn(monkeypatch):
    monkeypatch.setattr(views, "MAX_PARALLEL_FEATURES", 2)
    front = explore(lambda f: np.where(f["y"] > 5, "a", "b"), make_cube(), strategy="directed_walk", walks=60)
    parallel = views.build_parallel_axes(front, 5)
    assert len(parallel.axes) == 2
    assert "y" in [axis.label for axis in parallel.axes]
    assert parallel.remarks == ["the 2 of 3 features that differ most", f"5 pairs of {len(front)} drawn, evenly chosen"]


def test_t_sne_keeps_neighbours_together(corner_front):
    rows = thin_rows(len(corner_front), 1_000)
    places = views.embed_cases(corner_front, rows, np.empty(0, dtype=np.intp), "tsne", seed=1)
    is_high = corner_front.a.codes[:, 0] > 5
    assert 10 < is_high.sum() < len(rows) - 10
    centres = [places[is_high].mean(axis=0), places[~is_high].mean(axis=0)]
    distances = np.array([np.linalg.norm(places - centre, axis=1) for centre in centres])
    assert ((distances[0] < distances[1]) == is_high).all()


def test_a_view_is_seeded(corner_front):
    first, again, other = (views.build_view(corner_front, "tsne", seed) for seed in (1, 1, 2))
    assert first.x == again.x
    assert first.x != other.x
    assert "seed 2" in other.subtitle


def test_each_view_is_a_figure(corner_front):
    parallel = corner_front.plot(view="parallel")
    (trace,) = parallel.data
    assert [dimension.label for dimension in trace.dimensions] == [*"abcde", "border"]
    assert len(trace.dimensions[0]["values"]) == len(corner_front)
    np.testing.assert_array_equal(trace.dimensions[0]["values"], corner_front.a.codes[:, 0])
    assert corner_front.plot(view="tsne").layout.xaxis.title.text == "t-SNE 1"
    assert corner_front.plot(view="pca").layout.xaxis.title.text.startswith("direction 1")
    assert corner_front.plot(view="auto") == corner_front.plot()


def test_umap_is_called_with_the_seed(corner_front, monkeypatch):
    calls = []

    class Reducer:
        def __init__(self, **options):
            calls.append(options)

        def fit_transform(self, matrix):
            return matrix[:, :2]

    monkeypatch.setitem(sys.modules, "umap", types.SimpleNamespace(UMAP=Reducer))
    figure = corner_front.plot(view="umap", seed=7)
    assert figure.layout.yaxis.title.text == "UMAP 2"
    assert calls == [{"n_neighbors": 15, "random_state": 7, "n_jobs": 1}]


def test_a_missing_package_is_named_with_the_remedy(corner_front, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(MissingExtra, match=r"pip install umap-learn\), or use view='tsne'"):
        corner_front.plot(view="umap")


def test_views_that_do_not_fit_are_refused(corner_front):
    with pytest.raises(ArgumentError, match="'auto', 'pca', 'parallel', 'tsne', 'umap'"):
        corner_front.plot(view="heat")
    with pytest.raises(ArgumentError, match="Leave out either of the two"):
        corner_front.plot("a", view="tsne")
    with pytest.raises(ArgumentError, match="more than two features, and the front has 2"):
        explore(step(4.0)).plot(view="tsne")
    few = explore(lambda f: np.where(f["x"] > 5, "a", "b"), make_cube(), walks=1, seeds=2)
    with pytest.raises(ArgumentError, match="needs 5 cases or more"):
        few.plot(view="tsne")
    with pytest.raises(ArgumentError, match="seed"):
        corner_front.plot(view="tsne", seed=-1)


def test_an_empty_front_has_every_view():
    front = explore(lambda f: np.full(len(f), "same"), make_cube())
    assert len(front.plot(view="parallel").data[0].dimensions) == 4
    assert "no border was found" in front.plot(view="tsne").to_json()
    assert not find_lines(views.draw_parallel_axes(front).panels[0])


def test_the_report_shows_the_view(corner_front):
    headings = {
        view: [section.heading for section in build_front_page(corner_front, view=view).sections][:2]
        for view in ("auto", "parallel", "tsne")
    }
    assert headings["auto"] == ["The border in a picture", "The pairs over all features"]
    assert headings["parallel"][0] == "The pairs over all features"
    assert headings["tsne"][0] == "The border in a picture"
    assert headings["tsne"][1] != "The pairs over all features"
    assert "t-SNE 1" in render_page(build_front_page(corner_front, view="tsne"))


def test_hostile_names_stay_text():
    space = dm.Space([dm.Continuous(EVIL, 0, 1), dm.Categorical("c" + EVIL, [EVIL, "b"]), dm.Continuous("z", 0, 1)])
    front = explore(lambda f: np.where(f[EVIL] > 0.5, EVIL, "fine"), space)
    assert "<img" not in front.plot(view="parallel").to_json()
    page = render_page(build_front_page(front, view="parallel"))
    assert "<img" not in page[page.index("<body>") :]


def test_the_command_writes_the_view_into_its_report(tmp_path):
    out = tmp_path / "front.html"
    line = ["explore", "--subject", "Box 1", "--walks", "50", "--store", "none"]
    result = CliRunner().invoke(app, [*line, "--view", "parallel", "--html", str(out)])
    assert result.exit_code == 0, result.output
    assert "The pairs over all features" in out.read_text(encoding="utf-8")
    alone = CliRunner().invoke(app, [*line, "--view", "parallel"])
    assert (alone.exit_code, "Add --html FILE" in " ".join(alone.output.split())) == (2, True)
    wrong = CliRunner().invoke(app, [*line, "--view", "heat", "--html", str(out)])
    assert wrong.exit_code == 2
    assert "'parallel'" in wrong.output
