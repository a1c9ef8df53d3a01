"""Pages, drawings and charts of hunts and simulations."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.core.result import Measure
from datamorphic.errors import ArgumentError
from datamorphic.hunting.measures import FMeasures
from datamorphic.hunting.page import build_page, build_simulation_rows
from datamorphic.hunting.plots import draw_f_measure_chart, draw_ratio_chart, draw_region_picture, draw_spread_picture
from datamorphic.hunting.regions import draw_region
from datamorphic.hunting.violation_regions import ViolationSample, sample_violations
from datamorphic.relations.algebra.box import Box
from datamorphic.reporting.document import Shape, TextLabel
from datamorphic.reporting.html import render_drawing, render_page
from support.browser import CHROMIUM, WHY_NOT, Browser

TANH = dm.programs["tanh"]
TRIPLING = TANH.relations["tripling"]


@pytest.fixture(scope="module")
def emu10():
    return dm.hunt(TANH.mutants["emu10"], TRIPLING, trials=20, seed=1)


def test_page_shows_violations_and_regions(emu10):
    page = build_page(emu10, TANH.mutants["emu10"])
    assert [section.anchor for section in page.sections] == ["relations", "soon", "sources", "regions", "violations"]
    assert page.state == "bad"
    assert len(page.sections[4].table.rows) == 20
    picture = page.sections[2].picture
    first = emu10.trials[0].violated[0]
    assert [picture.groups.count(role) for role in ("source", "follow-up")] == [first - 1, first - 1]
    assert picture.groups[-2:] == ["source of a violation", "follow-up of a violation"]
    assert picture.x[-2:] == [float(inputs[0]) for inputs in emu10.examples[0].inputs]
    assert picture.y[-2:] == [first, first]
    assert [tile.value for tile in page.tiles[:2]] == ["20", f"{emu10.f_measures.mean():.1f}"]
    assert "A block region" in page.sections[3].parts[0].drawing.caption


@pytest.mark.parametrize(
    ("relations", "options"),
    [
        (["Sin1"], {"generator": "MT-RT"}),
        (["Sin1", "Sin2", "Sin13"], {"generator": "MT-IPART", "k": 2}),
        (["Sin1", "Sin2"], {"selector": "MRGS-ART"}),
    ],
)
def test_the_first_sources_that_were_executed_are_kept(relations, options):
    sin = dm.programs["Sin"]
    chosen = [sin.relations[name] for name in relations]
    inputs = []

    def broken(x):
        inputs.append(x)
        return np.sin(x) + 0.1 * ((x > 100) & (x < 120))

    hunt = dm.hunt(broken, chosen, budget=200, stop_after=None, seed=3, **options)
    groups = hunt.executed(0)
    assert groups.violated.sum() == hunt.table["violated"][0] > 0
    assert set(groups.sources.ravel()) <= set(np.concatenate(inputs))
    assert len(groups.sources) == hunt.table["groups"][0]


def test_three_inputs_are_three_planes_and_more_are_strips():
    def wrong(*x):
        return sum(x) + 10 * (x[0] > 0.8)

    for d, headings in ((2, 1), (3, 3), (5, 5)):
        relation = dm.FunctionRelation(
            name="mirrored",
            domain=[(0, 1)] * d,
            follow_up=dm.relations.Affine.scaled(-1, d, 1),
            equal=lambda x, y: (y[0], y[1]),
        )
        drawing = draw_region_picture(sample_violations(wrong, relation, 2_000))
        strong = [item for item in drawing.shapes if isinstance(item, TextLabel) and item.kind == "strong"]
        assert len(strong) == headings
        ElementTree.fromstring(render_drawing(drawing))


def test_small_region_is_drawn_enlarged():
    sources = np.random.default_rng(0).random((20_000, 2))
    square = {"sources": sources, "low": np.zeros(2), "high": np.ones(2), "names": ("x", "y")}
    small = ViolationSample(violated=(abs(sources - 0.5) < 0.05).all(axis=1), **square)
    labels = [item.text for item in draw_region_picture(small).shapes if isinstance(item, TextLabel)]
    assert "enlarged" in labels
    none = ViolationSample(violated=np.zeros(len(sources), dtype=bool), **square)
    assert "no violation" in draw_region_picture(none).caption


@pytest.mark.parametrize("d", [1, 2, 3])
def test_generators_are_shown_beside_each_other(d):
    domain = [(0, 1)] * d
    region = draw_region("block", 0.1, [0] * d, [1] * d, 1)
    groups = {"MT-RT <b>": dm.generate(domain, "MT-RT", n=300), "IPART": dm.generate(domain, "IPART", n=300).sources}
    drawing = draw_spread_picture(groups, region, domain=domain)
    strong = [item.text for item in drawing.shapes if isinstance(item, TextLabel) and item.kind == "strong"]
    assert set(strong) == set(groups)
    assert "<b>" not in render_drawing(drawing)
    if d == 2:
        hits = [item.path.count("M") for item in drawing.shapes if isinstance(item, Shape) and item.kind == "killable"]
        assert hits == [
            int(region.contains(dm.generate(domain, name, n=300).sources).sum()) for name in ("MT-RT", "IPART")
        ]


def test_spread_picture_of_mt_art_min():
    """Sources of MT-ART-Min keep away from the third of the source domain whose follow-ups lie there too."""
    third = Box.of((30, 111))
    groups = {name: dm.generate(TRIPLING, name, n=1_000, seed=1) for name in ("SFIDMT-ART", "MT-ART-Min")}
    alt = draw_spread_picture(groups, third, domain=TRIPLING.domain[0]).alt
    share = [float(part.split(" times")[0]) for part in alt.split("region, ")[1:]]
    assert share[0] == pytest.approx(1, abs=0.1)
    assert share[1] < 0.75


@pytest.mark.parametrize(
    ("spread", "domain"), [({}, (0, 1)), ({"a": np.zeros((3, 2))}, (0, 1)), ({"a": np.zeros((3, 4))}, [(0, 1)] * 4)]
)
def test_a_spread_that_cannot_be_drawn(spread, domain):
    with pytest.raises(ArgumentError):
        draw_spread_picture(spread, domain=domain)


def test_charts():
    one = draw_f_measure_chart(FMeasures([5, 5, 9], [False, False, True]))
    assert "of 2 trials: from 5 to 5" in one.alt
    flat = draw_ratio_chart([("a <b>", Measure(1.2, np.nan, np.nan)), ("b", Measure(0.5, 0.4, 0.6))])
    assert "<b>" not in render_drawing(flat)
    ended = dm.simulate("MT-RT", rate=0.001, budget=2, trials=20)
    assert build_simulation_rows([ended])[0][1:6] == ["> 2.0", "> 0.2%", None, None, None]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)
def test_the_page_in_a_browser(emu10, tmp_path):
    file = tmp_path / "hunt.html"
    file.write_text(render_page(build_page(emu10, TANH.mutants["emu10"])), encoding="utf-8")
    with Browser() as browser:
        page = browser.open(file)
        assert page.console == []
        assert [address for address in page.requests if not address.startswith("file:")] == []
        for dark in (False, True):
            page.look(500, dark=dark)
            page.wait("document.documentElement.scrollWidth <= 500")
        assert page.run("document.querySelectorAll('svg.shapes').length") == 2


class OtherJob(dm.Relation):
    """Another job does not matter."""

    name = "other job"
    statement = "the answer does not depend on the job"

    def follow_up(self, frame, rng):
        return frame.assign(job=frame["job"].map({"full": "none", "none": "full"}))


def test_categories_are_shown_by_name():
    space = dm.Space([dm.Categorical("job", ("full", "none")), dm.Integer("age", 18, 80)])

    def decide(frame):
        return np.where((frame["job"] == "full") & (frame["age"] > 40), "yes", "no")

    model = dm.wrap(decide, space=space, name="lending")
    hunt = dm.hunt(model, OtherJob(), "MT-RT", space=space, budget=50, stop_after=None, progress=False)
    row = hunt.violations.iloc[0]
    assert {row["x1.job"], row["x2.job"]} == {"full", "none"}
    assert float(row["x1.age"]).is_integer()
    assert "f(full, " in hunt.describe()
    page = hunt.page()
    pictures = [section.picture for section in page.sections if section.picture is not None]
    assert pictures[0].x_axis.names == ["full", "none"]
    assert any("job none" in note for note in pictures[0].notes)
