"""The demo: what it finds, how it tells it, and its page in a real browser."""

from __future__ import annotations

import functools
import json

import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.demo.demo import run_demo
from datamorphic.cli.main import app
from support.browser import CHROMIUM, WHY_NOT, Browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def seeds():
    """The seeds that demos were asked for, while all of them are the same one, and shorter: it takes seconds."""
    requested_seeds, once = [], functools.cache(lambda: run_demo(0))

    def recorded(seed):
        requested_seeds.append(seed)
        return once()

    with pytest.MonkeyPatch.context() as patch:
        amounts = {"LAW_EXAMPLES": 5, "RESUMED_WALKS": 8, "TRIALS": 3, "LOANS": 800, "DIGIT_WALKS": 20}
        for constant, amount in amounts.items():
            patch.setattr(f"datamorphic.cli.demo.demo.{constant}", amount)
        short_audit = functools.partial(dm.test, only=["answers", "monotone", "borders"])
        patch.setattr("datamorphic.cli.demo.demo.test", short_audit)
        patch.setattr("datamorphic.cli.demo.demo.run_demo", recorded)
        yield requested_seeds


@pytest.fixture(scope="module")
def demo_result(folder, seeds):
    return CliRunner().invoke(app, ["demo", "--out", str(folder)])


@pytest.mark.slow
def test_the_demo_explains_its_findings(demo_result, folder):
    assert demo_result.exit_code == 0, demo_result.output
    text = " ".join(demo_result.stdout.split())
    for words in (
        "A logistic regression was trained",
        "A higher mean compactness can make the answer malignant less likely",  # declared, and broken
        "border pairs",
        "the answer changes",
        "Moves and distances satisfy their laws",
        "30 patients to 414 tests: 11 flip the diagnosis",
        "the same front, byte for byte",
        "Is the test set good enough for a tree? It kills",
        "A distribution of a library:",
        "break what every lender expects",
        "pairs of digits that look the same and get different answers",
        "a search engine breaks 2 of 4 expectations of its users",
    ):
        assert words in text
    assert "mean radius can" not in text  # declared, and kept
    assert str(folder / "report.html") in demo_result.stdout.replace("\n", "")


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason=WHY_NOT)
def test_its_page_in_a_browser_at_three_widths(demo_result, folder):
    file = folder / "report.html"
    assert file.stat().st_size < 600_000
    with Browser() as browser:
        page = browser.open(file)
        for width in (360, 800, 1400):
            page.look(width)
            # nothing sticks out to the side
            page.wait(f"innerWidth === {width} && document.documentElement.scrollWidth <= {width}")
            picture = page.screenshot(folder / f"page-{width}.png", whole=False)
            assert picture.stat().st_size > 50_000
        headings = page.run("[...document.querySelectorAll('h1, h2, h3')].map(each => each.textContent.trim())")
        assert headings[0] == "A first look at a classifier"
        assert any("A closer look" in heading for heading in headings)
        tooltips = page.run(
            "[...document.querySelectorAll('figure.picture svg[role=img]')].map(svg => svg.querySelectorAll('g title').length)"
        )
        assert len(tooltips) >= 3
        assert all(tooltips)
        assert page.console == []
        assert page.requests == [file.as_uri()]


@pytest.mark.slow
def test_as_json(folder, seeds):
    result = CliRunner().invoke(app, ["demo", "--json", "--seed", "3", "--out", str(folder / "other")])
    assert seeds[-1] == 3
    document = json.loads(result.stdout)
    assert document["seed"] == 3
    assert (folder / "other" / "report.html").is_file()
    assert document["rows"] == 569
    assert document["changes"]
    assert document["laws"]
    assert {"level", "title"} == set(document["findings"][0])
