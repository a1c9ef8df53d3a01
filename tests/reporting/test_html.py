"""The page: escaped, offline, small, readable by everybody, and without errors in a real browser."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import struct
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

from datamorphic.audit.outcome import Outcome
from datamorphic.audit.page import build_page
from datamorphic.audit.result import AuditResult
from datamorphic.core.result import LEVEL_MEANINGS, Example, Finding
from datamorphic.errors import UsageError
from datamorphic.reporting.document import Axis, Line, Page, Scatter, Section, Table
from datamorphic.reporting.html import MAX_PAGE_BYTES, build_part_style, render_page, render_parts, write_page
from datamorphic.reporting.svg import PICTURE_WIDTH, choose_ticks, picture_to_svg
from datamorphic.reporting.text import cut
from datamorphic.reporting.thinning import (
    MAX_COLOURED_GROUPS,
    MAX_NAME_CHARACTERS,
    MAX_TOOLTIPS,
    choose_evenly,
    describe_picture,
    group_points,
    thin_line,
    thin_scatter,
)
from datamorphic.runs.events import watch
from support.browser import CHROMIUM, WHY_NOT, Browser
from support.cases import in_one_test
from support.planted_models import EVIL, example, hostile, income_picture, sweep_picture

TAGS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "main",
    "header",
    "h1",
    "h2",
    "h3",
    "p",
    "br",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "div",
    "nav",
    "a",
    "section",
    "span",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "pre",
    "code",
    "figure",
    "figcaption",
    "svg",
    "g",
    "path",
    "text",
    "script",
    "footer",
    "h4",
    "strong",
    "details",
    "summary",
    "bdi",
    "del",
    "ins",
}


class Parsed(HTMLParser):
    """The elements of a page, its text outside of scripts, and its scripts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts, self.scripts, self.headings = [], set(), [], [], []
        self.ids, self.links = [], []
        self.inside = []
        self.feed(page)
        self.text = "".join(self.texts)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name == "href"]
        if tag not in ("meta", "br"):
            self.inside.append((tag, dict(attrs)))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        if tag not in ("meta", "br"):
            opened, _ = self.inside.pop()
            assert opened == tag, f"<{opened}> is ended by </{tag}>"

    def handle_data(self, data):
        tag, attrs = self.inside[-1] if self.inside else ("", {})
        if tag == "script":
            self.scripts.append((attrs.get("type"), data))
        elif tag != "style":
            self.texts.append(data)


@pytest.fixture(scope="module")
def evil_page():
    return hostile().to_html()


@pytest.fixture(scope="module")
def usual_page():
    return example().to_html()


# -- what is in the file ----------------------------------------------------------------------------------------------


def test_every_string_is_escaped_and_nothing_is_fetched(evil_page):
    page = Parsed(evil_page)
    assert page.inside == []
    assert set(page.tags) <= TAGS
    assert not [name for name in page.attributes if name.startswith("on")]
    assert not page.attributes & {"src", "srcset", "action", "formaction", "background"}
    assert page.links
    assert all(re.fullmatch(r"#[a-z0-9-]+", link) for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(set(page.ids)) == len(page.ids)
    for word in EVIL.values():  # it is there all the same, as text
        assert cut(word, 60).split("\n")[0].rstrip("…") in page.text
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202e]", page.text)
    evil_page.encode("utf-8")


def test_the_policy_allows_only_our_scripts_and_no_network(usual_page, evil_page):
    for page in (usual_page, evil_page):
        ((kind, script),) = Parsed(page).scripts
        assert kind is None
        (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
        policy = policy.replace("&#39;", "'")
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe-eval" not in policy
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
        assert policy.count("sha256-") == 1
        assert page.index("Content-Security-Policy") < page.index("<style>")


def test_labels_cannot_escape_tooltips(evil_page):
    pictures = re.findall(r'<figure class="picture">.*?</figure>', evil_page, re.S)
    assert len(pictures) == len(EVIL)
    for picture in pictures:
        tooltips = re.findall(r"<title>(.*?)</title>", picture, re.S)
        assert tooltips
        assert not [tooltip for tooltip in tooltips if set("<>") & set(tooltip)]
    assert "<title>&lt;script" in pictures[0]


def test_the_page_is_valid_html(usual_page):
    page = Parsed(usual_page)
    assert usual_page.startswith("<!doctype html>")
    assert '<html lang="en">' in usual_page
    assert (page.tags.count("h1"), page.tags.count("main")) == (1, 1)
    assert usual_page[: usual_page.index("<body>")].count("<title>") == 1  # others are tooltips
    assert page.headings[0] == 1
    assert all(later <= earlier + 1 for earlier, later in zip(page.headings, page.headings[1:], strict=False))
    labels = re.findall(r'role="img" aria-label="([^"]*)"', usual_page)
    assert len(labels) == 2
    assert all(len(label) > 100 for label in labels)
    assert usual_page.count('<th scope="col"') == usual_page.count("<th ")


def test_a_report_without_pictures_and_tables_needs_no_script():
    page = render_page(Page(title="Short", lead="Nothing to see.", sections=[Section(heading="One", text="line")]))
    assert "<script" not in page
    assert "script-src &#39;none&#39;" in page
    assert len(page) < 20_000
    with_table = render_page(
        Page(
            title="Short",
            lead="",
            sections=[Section(heading="One", text="", table=Table(columns=["a"], rows=[[1], [2]]))],
        )
    )
    assert with_table.count("<script") == 1
    assert len(with_table) < 40_000


def test_the_same_report_is_the_same_file(usual_page):
    assert example().to_html() == usual_page


def test_a_page_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        write_page(Page(title="a", lead="b"), tmp_path / "file" / "report.html")
    assert write_page(Page(title="a", lead="b"), tmp_path / "deep" / "report.html").read_text().count("<h1>a</h1>") == 1


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_has_contrast_in_both_colour_schemes():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    style = files("datamorphic.reporting").joinpath("report.css").read_text()
    schemes = [dict(re.findall(r"--(\w+): (#\w{6});", block)) for block in re.findall(r":root \{(.*?)\}", style, re.S)]
    assert len(schemes) == 2
    assert schemes[0]["paper"] != schemes[1]["paper"]
    for colours in schemes:
        for name in ("ink", "soft", "link", "good", "bad", "warn", "note", "plain"):
            for behind in ("paper", "card"):
                assert contrast(colours[name], colours[behind]) >= 4.5, (name, behind)
        for name in ("c0", "c1", "c2", "c3", "c4", "c5", "rest"):
            assert contrast(colours[name], colours["card"]) >= 3, name


# -- what it says -----------------------------------------------------------------------------------------------------


def test_the_page_shows_everything(usual_page):
    text = " ".join(Parsed(usual_page).text.split())
    result = example()
    assert text.lower().index(result.headline) < text.index("4 findings")
    for part in (
        "Fault The answer depends on the order of the columns",
        f"Concern: {LEVEL_MEANINGS['concern']}",
        "288 of 300 cases tried: 96% (95% interval: 93.1% to 97.7%)",
        "nearly certain (93%)",
        "An example: a row made for this test gender from female to male: declined becomes approved",
        "Copy the example as Python or CSV",
        "gender from male to female, at income 31,200",
        "a fitted model cannot be trained again",
        "the model took longer than 10 s for a batch",
        "10 checks: 4 found something, 1 ended with an error, 3 passed, 2 not applicable to this model or these data.",
        "phone is missing in 12 rows",
        "scikit-learn 1.9.0",
        "43.2 s and 67,411 rows computed by the model (budget: 1m)",
    ):
        assert part in text, part
    for finding in result.findings:
        assert result.command(finding) in text
        assert finding.remedy in text
    titles = [finding.title for finding in result.findings]
    places = [text.rindex(title) for title in titles]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("outcomes", "head"),
    [
        ((Outcome(check="a", asks="?", state="passed"),), "No findings"),
        ((Outcome(check="a", asks="?", state="not run", why="why"),), "Nothing could be checked"),
        (
            (Outcome(check="a", asks="?", state="passed"), Outcome(check="b", asks="?", state="broke", why="why")),
            "No findings",
        ),
        ((), "Nothing could be checked"),
    ],
)
def test_a_page_without_findings_lists_its_checks(outcomes, head):
    result = AuditResult(subject="m", kind="k", data="d", outcomes=outcomes, seed=0, budget="1m", seconds=1.0, calls=1)
    report = build_page(result)
    first_section = report.sections[0]
    assert report.state == ("good" if result.passed else "warn")
    assert first_section.heading == head
    assert first_section.state == ("good" if [outcome.state for outcome in outcomes] == ["passed"] else "warn")
    assert render_page(report)


def test_an_example_without_a_case_is_a_sentence():
    finding = Finding(
        check="a",
        about="",
        title="t",
        level="advice",
        confidence=1.0,
        detail="d",
        remedy="r",
        examples=(Example(text="so it is"),),
    )
    report = build_page(
        AuditResult(
            subject="m",
            kind="k",
            data="d",
            outcomes=(Outcome(check="a", asks="?", state="found", findings=(finding,)),),
            seed=0,
            budget="1m",
            seconds=1.0,
            calls=1,
        )
    )
    part = report.sections[0].parts[0]
    assert not part.beside
    assert ("An example", "so it is") in part.facts


def test_sections_survive_json():
    part = Section(heading="p", text="q", state="note", badge="b", facts=(("a", "b"),), again="x", anchor="y")
    looked = Section(
        heading="h",
        text="t",
        state="warn",
        table=Table(columns=("a",), rows=((1,),), caption="c", note="n", sortable=False),
        picture=sweep_picture(),
        parts=(part,),
    )
    result = AuditResult(
        subject="m",
        kind="k",
        data="d",
        outcomes=(Outcome(check="a", asks="?", state="passed", sections=(looked,)),),
        seed=0,
        budget="1m",
        seconds=1.0,
        calls=1,
    )
    back = AuditResult.from_json(result.to_json())
    assert back.outcomes[0].sections[0].parts == (part,)
    assert render_page(back.report()) == render_page(result.report())


# -- however large a run was ------------------------------------------------------------------------------------------


def large_scatter(count):
    rng = np.random.default_rng(0)
    names = [f"{'a very long label <&> ' * 20}{i % 3_000}" for i in range(count)]
    return Scatter(
        title="t",
        subtitle="s",
        x_axis=Axis("x" * 999),
        y_axis=Axis("y", ["c" * 99] * 900),
        x=rng.random(count).tolist(),
        y=rng.random(count).tolist(),
        groups=names,
        notes=["a long note & more " * 50] * count,
        behind=(np.zeros(count).tolist(),) * 2,
    )


@pytest.mark.slow
def test_a_large_page_is_trimmed_and_says_so():
    table = Table(columns=["n", *(f"column {i}" for i in range(99))], rows=[list(range(100))] * 200_000)
    steps = 100_000
    line = Line(
        title="l",
        x_label="x",
        y_label="y",
        values=list(range(steps)),
        bands=list(map(str, range(steps))),
        notes=["n" * 500] * steps,
    )
    page = render_page(
        Page(
            title="big",
            lead="x" * 1_000_000,
            sections=[
                Section(heading="table", text="", table=table),
                Section(heading="scatter", text="", picture=large_scatter(40_000)),
                Section(heading="line", text="", picture=line),
            ],
        )
    )
    assert MAX_PAGE_BYTES / 4 < len(page.encode()) <= MAX_PAGE_BYTES < 1_000_000
    text = Parsed(page).text
    assert re.search(r"The first [\d,]+ of 200,000 rows are shown; sorting sorts these\.", text)
    assert re.search(r"The first \d+ of 100 columns are shown\.", text)
    assert re.search(r"[\d,]+ of 40,000 points are drawn, evenly chosen from each group", text)
    assert re.search(r"[\d,]+ of 40,000 real inputs are drawn", text)
    assert re.search(r"[\d,]+ rare groups are drawn as one", text)
    assert re.search(r"the first 200 of 900 values of y are drawn", text)
    assert re.search(r"[\d,]+ of 100,000 steps are drawn, the highest and lowest among them", text)
    assert re.search(r"99[\d,]+ more characters left out", text)


def test_large_pictures_have_few_tooltips_some_in_every_group():
    groups = ["common"] * 3_900 + ["rare"] * 3
    count = len(groups)
    scatter = thin_scatter(
        Scatter(
            title="t",
            subtitle="",
            x_axis=Axis("x"),
            y_axis=Axis("y"),
            x=list(range(count)),
            y=list(range(count)),
            groups=groups,
            notes=[f"<{name}>" for name in groups],
        ),
        4_000,
        100,
    )
    svg = picture_to_svg(scatter)
    assert MAX_TOOLTIPS - 10 <= svg.count("<title>") <= MAX_TOOLTIPS + 3
    assert svg.count("<title>&lt;rare&gt;</title>") == 3
    assert len(drawn_circles(svg)) == 3_900
    assert "some of the points have tooltips" in scatter.subtitle
    wave = [math.sin(i / 99) for i in range(3_000)]
    bands = ["up" if value > 0 else "down" for value in wave]
    svg = picture_to_svg(Line(title="t", x_label="x", y_label="y", values=wave, bands=bands, notes=[]))
    assert svg.count("<title>") <= MAX_TOOLTIPS + 20  # the bands have tooltips too
    assert 'class="dot hidden c0"' in svg  # so many would hide the line
    assert "<title>1: up</title>" in svg


@pytest.mark.slow
def test_a_page_with_many_sections_is_trimmed():
    facts = [("&" * 200, "<" * 5_000)] * 40
    parts = [
        Section(
            heading="<" * 999, text="&" * 9_000, facts=facts, table=Table(columns=["👩" * 99], rows=[["👩" * 999]] * 9)
        )
        for _ in range(2_000)
    ]
    page = render_page(
        Page(
            title="t",
            lead="l",
            sections=[Section(heading="all", text="", parts=parts, picture=income_picture())],
            contents=True,
        )
    )
    assert len(page.encode()) < MAX_PAGE_BYTES
    assert re.search(r"1,\d{3} more sections left out", page)


def test_small_pages_are_not_trimmed(usual_page):
    assert "left out" not in usual_page
    assert "are shown" not in usual_page


def test_some_points_of_every_group_are_drawn():
    groups = ["common"] * 9_000 + ["rare"] * 3 + ["seldom"] * 997
    count = len(groups)
    scatter = Scatter(
        title="t",
        subtitle="",
        x_axis=Axis("x"),
        y_axis=Axis("y"),
        x=list(range(count)),
        y=list(range(count)),
        groups=groups,
        notes=groups,
    )
    fewer = thin_scatter(scatter, 500, 100)
    counts = {name: fewer.groups.count(name) for name in ("common", "rare", "seldom")}
    assert counts["rare"] == 3
    assert 430 <= counts["common"] <= 460
    assert 45 <= counts["seldom"] <= 60
    assert all(groups[int(x)] == name for x, name in zip(fewer.x, fewer.groups, strict=True))  # rows stay together
    assert thin_scatter(scatter, 20_000, 100).x == scatter.x


def test_rare_groups_are_merged():
    names = [f"g{i}" for i in range(100) for _ in range(100 - i)]
    scatter = Scatter(
        title="t",
        subtitle="",
        x_axis=Axis("x"),
        y_axis=Axis("y"),
        x=[0.0] * len(names),
        y=[0.0] * len(names),
        groups=names,
        notes=names,
    )
    fewer = thin_scatter(scatter, 10_000, 100)
    groups = group_points(fewer)
    assert [group.name for group in groups] == ["other groups", *(f"g{i}" for i in range(MAX_COLOURED_GROUPS))]
    assert sum(len(group.rows) for group in groups) == len(names)
    styles = {(group.hue, group.symbol) for group in groups}
    assert len(styles) == MAX_COLOURED_GROUPS + 1  # no two look the same
    assert "82 rare groups are drawn as one" in fewer.subtitle


def test_shortened_names_stay_different():
    names = ["x" * 999 + end for end in "aba"]
    fewer = thin_scatter(
        Scatter(
            title="t", subtitle="", x_axis=Axis("x"), y_axis=Axis("y"), x=[0] * 3, y=[0] * 3, groups=names, notes=names
        ),
        10,
        10,
    )
    cut_name = "x" * (MAX_NAME_CHARACTERS - 1) + "…"
    assert fewer.groups == [cut_name, f"{cut_name} (2)", cut_name]
    line = thin_line(Line(title="t", x_label="x", y_label="y", values=[0] * 3, bands=names, notes=names), 10, 10)
    assert line.bands == fewer.groups


def test_too_many_bands_are_not_drawn():
    bands = ["a", "b"] * 200
    line = thin_line(
        Line(title="t", x_label="x", y_label="y", values=list(range(400)), bands=bands, notes=bands), 1_000, 10
    )
    assert "changes too often for bands" in line.subtitle
    svg = picture_to_svg(line)
    assert 'class="band' not in svg
    assert len(drawn_circles(svg)) == 400  # the points have the colours
    assert "changes 399 times" in line.alt


def test_a_line_keeps_its_extremes():
    values = np.sin(np.arange(50_000) / 300)
    values[31_234], values[40_001] = 9.0, -9.0
    bands = np.where(values > 0, "up", "down").tolist()
    fewer = thin_line(Line(title="t", x_label="x", y_label="y", values=values.tolist(), bands=bands, notes=[]), 400, 50)
    assert len(fewer.values) <= 400
    assert (max(fewer.values), min(fewer.values)) == (9.0, -9.0)
    assert fewer.steps[fewer.values.index(9.0)] == 31_234
    assert (fewer.steps[0], fewer.steps[-1]) == (0, 49_999)
    expected = [bands[int(step)] for step in fewer.steps]
    assert fewer.bands == expected
    assert "of 50,000 steps are drawn" in fewer.subtitle


def test_indices_are_chosen_evenly():
    assert choose_evenly(5, 9) == [0, 1, 2, 3, 4]
    chosen = choose_evenly(1_000, 11)
    assert (chosen[0], chosen[-1], len(set(chosen))) == (0, 999, 11)
    assert set(np.diff(chosen)) <= {99, 100, 101}
    assert (choose_evenly(10, 1), choose_evenly(10, 0), choose_evenly(0, 5)) == ([0], [], [])


# -- pictures ---------------------------------------------------------------------------------------------------------


def drawn_circles(svg):
    return [(float(x), float(y)) for x, y in re.findall(r"M([\d.-]+) ([\d.-]+)h0", svg)]


def test_the_svg_places_points_correctly():
    x, y = [0.0, 10.0, 5.0], [100.0, 300.0, 200.0]
    places = drawn_circles(
        picture_to_svg(
            Scatter(
                title="t", subtitle="", x_axis=Axis("x"), y_axis=Axis("y"), x=x, y=y, groups=["a"] * 3, notes=["n"] * 3
            )
        )
    )
    (ax, ay), (bx, by), (cx, cy) = places
    assert 0 < ax < bx < PICTURE_WIDTH
    assert ay > by > 0  # up is up
    assert cx == pytest.approx((ax + bx) / 2, abs=0.1)
    assert cy == pytest.approx((ay + by) / 2, abs=0.1)


def test_nan_and_infinity_are_not_drawn():
    bad = [0.0, math.nan, math.inf, 1e308, 1.0]
    fewer = thin_scatter(
        Scatter(
            title="t", subtitle="", x_axis=Axis("x"), y_axis=Axis("y"), x=bad, y=bad, groups=["a"] * 5, notes=["n"] * 5
        ),
        10,
        10,
    )
    assert "3 points cannot be drawn" in fewer.subtitle
    assert len(drawn_circles(picture_to_svg(fewer))) == 2
    line = thin_line(Line(title="t", x_label="x", y_label="y", values=bad, bands=["a"] * 5, notes=["n"] * 5), 10, 10)
    (path,) = re.findall(r'class="line" d="([^"]*)"', picture_to_svg(line))
    assert re.sub(r"[\d. ]", "", path) == "MM"  # a gap, not a line across it
    for empty in (
        Scatter(title="t", subtitle="", x_axis=Axis("x"), y_axis=Axis("y"), x=[], y=[], groups=[], notes=[]),
        Line(title="t", x_label="x", y_label="y", values=[], bands=[], notes=[]),
    ):
        page = render_page(Page(title="t", lead="l", sections=[Section(heading="s", text="", picture=empty)]))
        assert "nan" not in re.search("<svg.*?</svg>", page, re.S)[0].lower()


def test_bands_of_a_line_lie_between_its_steps():
    svg = picture_to_svg(
        Line(
            title="t",
            x_label="x",
            y_label="y",
            values=[0, 1, 2, 3],
            bands=["a", "a", "b", "b"],
            notes=[],
            steps=[0, 10, 20, 30],
        )
    )
    (_, a_right), (b_left, _) = [
        (float(m[0]), float(m[1])) for m in re.findall(r'class="band c\d" d="M([\d.]+) [\d.]+H([\d.]+)', svg)
    ]
    steps = [float(x) for x in re.findall(r"[ML]([\d.]+) ", re.search(r'class="line" d="([^"]*)"', svg)[1])]
    assert a_right == b_left
    assert a_right == pytest.approx((steps[1] + steps[2]) / 2, abs=0.11)


@in_one_test(("low", "high"), [(0, 1), (-3.7, 12), (1e-9, 2e-9), (-1e12, 1e12), (5, 5.001), (1e299, 2e299)])
def test_ticks_are_round_few_and_within_the_range(low, high):
    marks = choose_ticks(low, high)
    assert 3 <= len(marks) <= 9
    assert all(low - 1e-9 * abs(low) <= mark <= high + 1e-9 * abs(high) for mark in marks)
    steps = np.diff(marks)
    assert np.allclose(steps, steps[0], rtol=1e-6)
    assert f"{steps[0]:.3e}"[0] in "125"
    assert f"{steps[0]:.3e}"[2:5] == "000"


def test_pictures_are_described():
    words = describe_picture(income_picture())
    for part in (
        "260 points in 3 groups",
        "approved | declined",
        "400 real inputs in grey",
        "Across: direction 1",
        "from ",
    ):
        assert part in words
    assert "changes once: declined, approved" in describe_picture(sweep_picture())
    assert (
        describe_picture(
            Scatter(
                title="t", subtitle="", x_axis=Axis(""), y_axis=Axis("c", ["u", "v"]), x=[], y=[], groups=[], notes=[]
            )
        )
        == "t. No points. Across: lines. Up: c, with the values u, v."
    )


# -- in a browser -----------------------------------------------------------------------------------------------------


def in_browser(test):
    """Mark a test that needs a browser, which takes seconds to start."""
    return pytest.mark.slow(pytest.mark.skipif(not CHROMIUM, reason=WHY_NOT)(test))


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def file(usual_page, tmp_path_factory):
    file = tmp_path_factory.mktemp("pages") / "report.html"
    file.write_text(usual_page, encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def opened(browser, file):
    return browser.open(file)


@pytest.fixture
def usual(opened, file):
    """The usual page; whatever a test does with it, it logs no errors and asks nobody."""
    opened.look()
    yield opened
    assert opened.console == []
    assert opened.requests == [file.as_uri()]


def picture_size(file):
    return struct.unpack(">II", file.read_bytes()[16:24])


@pytest.mark.slow
@in_browser
def test_the_page_works_at_every_width(usual, tmp_path):
    for width in (360, 800, 1400):
        usual.look(width)
        usual.wait(f"innerWidth === {width}")
        assert usual.run("document.documentElement.scrollWidth") == width
        assert picture_size(usual.screenshot(tmp_path / f"{width}.png"))[0] == width
    assert usual.run("[...document.querySelectorAll('h1, h2')].map(e => e.textContent)") == [
        "Check-up of credit.skops",
        "4 findings",
        "Pictures and tables",
        "All checks",
        "How this page was produced",
    ]
    assert usual.run("document.querySelectorAll('.drawing > svg').length") == 2
    assert usual.run("document.querySelectorAll('.drawing g path > title').length") == 260 + 31


@in_browser
def test_the_page_is_dark_on_request_and_white_in_print(usual, tmp_path):
    def paper():
        colour = usual.run("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    fill = "getComputedStyle(document.querySelector('.drawing text')).fill"
    assert paper() > 700
    light = usual.run(fill)
    usual.look(dark=True)
    assert usual.run(fill) != light
    assert paper() < 100
    usual.look(dark=True, media="print")
    assert paper() > 700
    count_visible = "[...document.querySelectorAll('{}')].filter(e => e.offsetParent).length"
    assert usual.run(count_visible.format(".drawing")) == 2
    assert usual.run(count_visible.format(".zoom")) == 0
    assert usual.run("document.documentElement.scrollWidth <= innerWidth")
    assert usual.run("getComputedStyle(document.querySelector('th button'), '::after').content") == "none"
    assert usual.pdf(tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


@in_browser
def test_without_scripts_the_svg_is_shown(browser, file):
    page = browser.open(file, width=360, scripts=False)
    assert page.run("[...document.querySelectorAll('.drawing')].filter(e => e.offsetParent).length") == 2
    assert page.run("document.querySelectorAll('button').length") == 0
    assert page.run("document.documentElement.scrollWidth") == 360


COLUMN = "[...document.querySelectorAll('table.sortable')].at({}).querySelectorAll('tbody tr td:nth-child({})')"


@in_browser
def test_tables_are_sorted_by_keyboard(browser, tmp_path):
    rows = [
        ["b", "1,234", "12.3%", "-3"],
        ["A", "–", "9%", "1e3"],
        ["a10", "99", "–", "–"],
        ["a9", "100", ">99.9%", "−40"],
        ["", "5", "<0.01%", "0.5"],
    ]
    page = browser.open(
        write_page(
            Page(
                title="t",
                lead="",
                sections=[Section(heading="s", text="", table=Table(columns=["w", "n", "p", "e"], rows=rows))],
            ),
            tmp_path / "t.html",
        )
    )
    orders = {
        1: (["A", "a9", "a10", "b", ""], ["b", "a10", "a9", "A", ""]),
        2: (["5", "99", "100", "1,234", "–"], ["1,234", "100", "99", "5", "–"]),
        3: (["<0.01%", "9%", "12.3%", ">99.9%", "–"], [">99.9%", "12.3%", "9%", "<0.01%", "–"]),
        4: (["−40", "-3", "0.5", "1e3", "–"], ["1e3", "0.5", "-3", "−40", "–"]),
    }
    page.press("Tab", "Tab", 9)  # to the table
    for column, both in orders.items():
        page.press("Tab", "Tab", 9)  # to the next header
        assert page.run("document.activeElement.parentNode.cellIndex") == column - 1
        assert page.run("document.activeElement.matches(':focus-visible')")
        for key, way, order in zip(
            ((" ", "Space", 32), ("Enter", "Enter", 13)), ("ascending", "descending"), both, strict=True
        ):
            page.press(*key, text="\r" if key[0] == "Enter" else " ")
            assert page.run("document.activeElement.parentNode.getAttribute('aria-sort')") == way
            assert page.run("document.querySelectorAll('[aria-sort=none]').length") == 3
            assert page.run(f"[...{COLUMN.format(0, column)}].map(cell => cell.textContent)") == order
    assert page.console == []


@in_browser
def test_groups_of_a_picture_can_be_hidden(usual):
    display = "getComputedStyle(document.querySelector('.drawing .real')).display"
    assert usual.run(display) != "none"
    usual.run("[...document.querySelectorAll('.legend button')].find(b => b.textContent === 'real inputs').click()")
    assert usual.run(display) == "none"
    usual.look(media="print")
    assert usual.run(display) != "none"
    usual.look()
    usual.run("document.querySelector('.legend button[aria-pressed=false]').click()")
    assert usual.run(display) != "none"


VIEW = "document.querySelector('.drawing svg').getAttribute('viewBox')"


@in_browser
def test_points_have_tooltips_where_the_mouse_finds_them(usual):
    tooltips = usual.run("""[...document.querySelectorAll('.drawing g path:has(title)')].slice(0, 31).map(path => {
        path.scrollIntoView({block: 'center'});
        const box = path.getBoundingClientRect();
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return hit.querySelector('title')?.textContent;
    })""")
    assert len(tooltips) == 31
    assert all(re.search(r"\d: (declined|approved)$", tooltip) for tooltip in tooltips)


@pytest.mark.slow
@in_browser
def test_pictures_are_zoomed_and_moved(usual):
    def spot():
        usual.run("document.querySelector('.drawing').scrollIntoView({block: 'center'})")
        box = usual.run(
            "(({x, y, width, height}) => [x, y, width, height])"
            "(document.querySelector('.drawing svg').getBoundingClientRect())"
        )
        return {"x": box[0] + box[2] / 2, "y": box[1] + box[3] / 2}

    def view():
        return [float(number) for number in usual.run(VIEW).split()]

    whole = view()
    usual.run("document.querySelector('.zoom button').click()")
    closer = view()
    assert closer[2] == pytest.approx(whole[2] / 1.5, abs=0.1)
    assert closer[0] + closer[2] / 2 == pytest.approx(whole[2] / 2, abs=0.1)  # the middle stays
    usual.run("document.querySelector('.drawing').focus()")
    usual.press("ArrowRight", "ArrowRight", 39)
    assert view()[0] == pytest.approx(closer[0] + closer[2] / 10, abs=0.1)
    usual.press("0", "Digit0", 48, text="0")
    assert view() == whole
    usual.press("ArrowRight", "ArrowRight", 39)
    assert view() == whole  # nothing beyond the picture is shown
    for modifier in ("", ", ctrlKey: true"):
        assert view() == whole  # the wheel alone scrolls the page
        usual.run(
            f"document.querySelector('.drawing svg').dispatchEvent(new WheelEvent('wheel', {{deltaY: -200{modifier}}}))"
        )
    assert view()[2] < whole[2]
    usual.run("document.querySelector('.zoom button').click()")
    before, start = view(), spot()
    usual.send("Input.dispatchMouseEvent", type="mousePressed", button="left", buttons=1, **start)
    start["x"] += 20
    usual.send("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, **start)
    usual.send("Input.dispatchMouseEvent", type="mouseReleased", button="left", **start)
    assert view()[0] < before[0]
    assert view()[2] == before[2]
    for count in (1, 2):
        usual.send("Input.dispatchMouseEvent", type="mousePressed", button="left", clickCount=count, **start)
        usual.send("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=count, **start)
    usual.wait(f"{VIEW} === '{' '.join(f'{number:g}' for number in whole)}'")


@pytest.mark.slow
@in_browser
def test_hostile_text_does_nothing_in_a_browser(browser, evil_page, tmp_path):
    (tmp_path / "evil.html").write_text(evil_page, encoding="utf-8")
    page = browser.open(tmp_path / "evil.html", width=360)
    assert page.run("document.title").startswith("Check-up of <script>")
    assert page.run("document.querySelectorAll('img, iframe, object, embed, link, base, form').length") == 0
    assert page.run("document.querySelectorAll('script').length") == 1
    assert page.run("document.querySelectorAll('.drawing > svg').length") == len(EVIL)
    assert page.run("document.documentElement.scrollWidth") == 360
    titles = page.run("[...document.querySelectorAll('.drawing title')].map(e => e.textContent).join('\\n')")
    assert "<script>document.title='owned'" in titles  # as words
    assert "var(--bad)" in titles
    assert page.console == []
    assert page.requests == [(tmp_path / "evil.html").as_uri()]


# -- a page that people use -------------------------------------------------------------------------------------------


def shown_findings(page):
    return page.run(
        "[...document.querySelectorAll('#findings > section')].filter(e => e.offsetParent).map(e => e.dataset.badge)"
    )


@in_browser
def test_findings_are_searched_and_selected_by_level(usual):
    everything = ["Fault", "Concern", "Concern", "Advice"]
    assert shown_findings(usual) == everything
    search = "(word => { const input = document.querySelector('.tools input'); input.value = word; input.dispatchEvent(new Event('input')); })"
    usual.run(f"{search}('GENDER alone')")
    assert shown_findings(usual) == ["Concern"]
    assert usual.run("document.querySelector('.tools [role=status]').textContent") == "1 of 4 shown"
    usual.run(f"{search}('')")
    press = "[...document.querySelectorAll('.tools button')].find(b => b.textContent === 'Concern').click()"
    usual.run(press)
    assert shown_findings(usual) == ["Fault", "Advice"]
    usual.look(media="print")
    assert shown_findings(usual) == everything
    usual.look()
    usual.run(press)
    assert shown_findings(usual) == everything


@in_browser
def test_links_lead_to_single_findings_and_unfold_sections(browser, file):
    page = browser.open(file)
    closed = "document.querySelectorAll('main section > details:not([open], .snippets)').length"
    before = page.run(closed)
    assert before == 4  # the picture of a check that passed, and the lists of checks without anything to do
    page.run("location.hash = 'checks-passed'")
    page.wait(f"{closed} === {before - 1}")
    page.run("document.querySelector('#finding-protected-gender .permalink').click()")
    page.wait("location.hash === '#finding-protected-gender'")
    tiles = page.run("[...document.querySelectorAll('.tiles li')].map(e => e.textContent.trim().replace(/\\s+/g, ' '))")
    assert tiles == [
        "1 Fault",
        "2 Concerns",
        "1 Advice",
        "3 Checks passed",
        "1 Not completed",
        "67,411 Rows computed",
        "43.2 Seconds",
    ]
    assert page.console == []


@in_browser
def test_examples_are_copied(browser, file):
    page = browser.open(file)
    page.send("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.run("document.querySelector('details.snippets').open = true")
    page.run(
        "window.copied = []; navigator.clipboard.writeText = text => { copied.push(text); return Promise.resolve(); }"
    )
    page.run("document.querySelectorAll('details.snippets .copier')[1].click()")
    page.wait("copied.length === 1")
    assert page.run("copied[0]").startswith("age,income,debt,gender,card,")
    page.wait("document.querySelectorAll('details.snippets .copier')[1].textContent === 'Copied'")


@pytest.mark.slow
@in_browser
def test_the_contents_are_at_the_side_if_there_is_room(browser, file):
    place = "(({x, width}) => [x, x + width])(document.querySelector('nav').getBoundingClientRect())"
    for width in (360, 800, 1100, 1400, 1600):
        page = browser.open(file, width=width)
        is_wide = width > 1_000
        assert page.run("document.querySelector('nav details').open") == is_wide
        beside = page.run(place)[1] < page.run("document.querySelector('main').getBoundingClientRect().x")
        assert beside == is_wide
        assert page.run("document.documentElement.scrollWidth") == width


#: Rules of WCAG 2.2 that a page can break by its markup or style; each returns what breaks it.
RULES = """(() => {
    const visible = [...document.querySelectorAll('body *')].filter(e => e.checkVisibility());
    const name = e => (e.getAttribute('aria-label') || [...(e.labels || [])].map(l => l.textContent).join('') || e.textContent).trim();
    const pick = selector => visible.filter(e => e.matches(selector));
    const repeated = names => names.filter((n, i) => names.indexOf(n) !== i);
    const luminance = colour => {
        const [r, g, b] = colour.map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const parse = text => text.match(/[\\d.]+/g).map(Number);
    const behind = e => {
        for (; e; e = e.parentElement) {
            const colour = parse(getComputedStyle(e).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) { return colour.slice(0, 3); }
        }
    };
    const contrast = e => {
        const style = getComputedStyle(e);
        const colour = parse(e instanceof SVGElement ? style.fill : style.color).slice(0, 3);
        const [dark, light] = [luminance(colour), luminance(behind(e))].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
    };
    const texts = visible.filter(e => !e.closest('script, title') && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));
    const levels = pick('h1, h2, h3, h4, h5, h6').map(e => Number(e.tagName[1]));
    return {
        'controls have names': pick('a, button, input, summary').filter(e => !name(e)).map(e => e.outerHTML),
        'pictures have descriptions': pick('svg').filter(e => !e.closest('[aria-hidden]') && !name(e)).map(e => e.outerHTML),
        'headings are in order': levels.filter((level, i) => level > (levels[i - 1] || 0) + 1),
        'one main, header and footer': ['main', 'body > .page > header', 'footer', 'h1'].filter(s => document.querySelectorAll(s).length !== 1),
        'landmarks differ': repeated(pick('main, nav, [role=region], [role=search]').map(e => e.tagName + (e.getAttribute('aria-label') || ''))),
        'ids differ': repeated([...document.querySelectorAll('[id]')].map(e => e.id)),
        'scrolled parts get the focus': visible.filter(e => e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX) && e.tabIndex < 0).map(e => e.outerHTML.slice(0, 99)),
        'header cells have a scope': pick('th:not([scope])').map(e => e.outerHTML),
        'text has contrast': texts.filter(e => contrast(e) < 4.5).map(e => e.outerHTML.slice(0, 99) + contrast(e)),
        'targets are large enough': pick('button, summary').filter(e => e.getBoundingClientRect().height < 20).map(e => e.outerHTML),
    };
})()"""


@pytest.mark.slow
@in_browser
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1400])
def test_the_page_breaks_no_rule_of_accessibility(browser, file, dark, width):
    page = browser.open(file, width=width, dark=dark)
    page.run("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    broken = {rule: places for rule, places in page.run(RULES).items() if places}
    assert broken == {}


@pytest.mark.slow
@in_browser
def test_the_focus_is_visible_and_the_content_is_one_key_away(browser, file):
    page = browser.open(file)
    page.press("Tab", "Tab", 9)
    assert page.run("document.activeElement.textContent") == "Skip to the content"
    assert page.run("document.activeElement.getBoundingClientRect().x") > 0
    page.press("Enter", "Enter", 13, text="\r")
    page.wait("location.hash === '#content'")
    page.press("Tab", "Tab", 9)
    assert page.run("document.querySelector('main').contains(document.activeElement)")
    assert page.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"


# -- parts of a page within another page -----------------------------------------------------------------------------


def test_parts_of_a_page_are_those_of_the_report():
    findings = Section(
        heading="Findings",
        text="",
        anchor="findings",
        searchable=True,
        parts=[
            Section(heading=EVIL, text="", badge="Fault", anchor="a"),
            Section(heading="B", text="", badge="Advice"),
        ],
    )
    page = Page(title="A", lead="", sections=[findings, Section(heading="Rest", text="t")], verdict=EVIL, state="bad")
    published = []
    with watch(lambda kind, data: published.append(data["page"])):
        report = render_page(page)
    parts = render_parts(published[0])
    cards = parts["sections"][0]["parts"]
    assert [card["badge"] for card in cards] == ["Fault", "Advice"]
    assert cards[0]["html"].strip() in report  # the same markup, cell by cell
    assert parts["sections"][1]["html"].strip() in report
    assert parts["verdict"].strip() in report
    assert "<section" not in parts["sections"][0]["html"].replace("<section", "", 1)
    assert "<script>" not in "".join([parts["verdict"], cards[0]["html"]])


@pytest.mark.slow
def test_the_style_of_parts_stays_within_them():
    style = build_part_style(".report", ".night .report")
    assert style.count("{") == style.count("}")
    assert not any(
        word in style for word in (":root", "html {", "body {", "@page", "@media print", "prefers-color-scheme")
    )
    outer = re.sub(r"\{[^{}]*(\{[^{}]*(\{[^{}]*\}[^{}]*)*\}[^{}]*)*\}", "{}", style)
    assert {head.strip() for head in outer.replace("{}", "").splitlines()} == {".report", ".night .report"}
