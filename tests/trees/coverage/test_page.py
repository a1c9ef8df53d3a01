"""The tree drawn, and the pages on what rows do for it: sound, escaped, small however large the tree is."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import datamorphic as dm
from datamorphic._text import format_percent
from datamorphic.errors import ArgumentError, UsageError
from datamorphic.reporting.document import Drawing, Page, Section, Shape, TextLabel
from datamorphic.reporting.html import render_page
from datamorphic.trees.coverage.draw import MAX_BOXES, BoxLine, NodeBox, draw_mutant, draw_tree, lay_out
from datamorphic.trees.descent import find_leaves
from datamorphic.trees.forest import Forest
from datamorphic.trees.mutants import build_mutant
from datamorphic.trees.tree import Tree
from support.browser import CHROMIUM, WHY_NOT, Browser

SVG = "{http://www.w3.org/2000/svg}"
EVIL = ["<script>alert(1)</script>", 'a"onload="alert(1)', "שלום & co", "👩 </text></svg>", "long " * 60, "x\u202e\x00"]


WITHIN = """() => {
  let box = null, out = [];
  for (const each of document.querySelectorAll('.shapes > *')) {
    if (each.querySelector('title')) { box = /asks|reached|absent|folded/.test(each.getAttribute('class')) ? each : null; }
    if (box === null || each.tagName !== 'text') { continue; }
    const inner = each.getBBox(), outer = box.getBBox();
    if (inner.x < outer.x || inner.x + inner.width > outer.x + outer.width) { out.push(each.textContent); }
  }
  return out;
}"""  # words that stick out of their box


def texts(svg):
    return ["".join(item.itertext()) for item in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def kinds(svg, kind):
    return [item for item in ElementTree.fromstring(svg).iter(f"{SVG}path") if item.get("class") == kind]


@pytest.fixture(scope="module")
def iris():
    return dm.data.load("iris")


@pytest.fixture(scope="module")
def tree(iris):
    return DecisionTreeClassifier(random_state=0).fit(iris.drop(columns="target"), iris.target)


@pytest.fixture(scope="module")
def half(tree, iris):
    return dm.cover(tree, iris[:70], target="target", criterion="DTMT")


@pytest.fixture(scope="module")
def noise():
    """A tree of some 2,800 nodes, with names and labels that mean harm."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((4_000, 6)), columns=EVIL)
    labels = np.array(["yes", "no </text><b>", "ö" * 200])[rng.integers(0, 3, len(X))]
    return DecisionTreeClassifier(random_state=0).fit(X, labels), X


def chain(depth):
    """A tree whose every decision has a leaf on the left: as deep as it has decisions."""
    count = 2 * depth + 1
    place = np.arange(count)
    inner = (place % 2 == 0) & (place < count - 1)
    left, right = (np.where(inner, place + step, -1).astype(np.int32) for step in (1, 2))
    answer = (place % 2).astype(np.int32)
    tree = Tree(
        feature=np.where(inner, 0, -1).astype(np.int32),
        operator=np.zeros(count, np.int8),
        threshold=place / 2,
        left=left,
        right=right,
        missing_left=np.zeros(count, bool),
        answer=answer,
        value=np.eye(2)[answer],
        weight=np.ones(count) / count,
        names=("x",),
        labels=("a", "b"),
    )
    return Forest(trees=(tree,), owner="chain", columns=("x",), width=1, labels=("a", "b"))


# -- the drawing ------------------------------------------------------------------------------------------------------


def test_every_leaf_and_every_live_mutant_is_drawn(half):
    svg = half.to_svg()
    leaves, missing = half.leaves, half.leaves.uncovered(None)
    shapes = kinds(svg, "absent")[1:]  # the first explains the shape
    notes = [shape.find(f"{SVG}title").text for shape in shapes]
    assert sorted(notes) == sorted(f"leaf {leaf}: {rule}" for leaf, rule in missing["rule"].items())
    assert len(kinds(svg, "reached")) - 1 == int(leaves.covered.sum()) == 2
    words = texts(svg)
    assert words.count("✗ no row") == len(missing)
    assert {"✓ 50 rows", "✓ 20 rows"} <= set(words)
    assert (words.count("yes"), words.count("no")) == (8, 8)
    badges = [re.fullmatch(r"(\d+) live(?:, (\d+) killable|, equivalent)?", word) for word in words]
    counts = [(int(badge[1]), int(badge[2] or 0)) for badge in badges if badge]
    can = sum(half.why(int(item)).killable is True for item in half.live)
    assert (sum(live for live, _ in counts), sum(killable for _, killable in counts)) == (len(half.live), can)
    assert "<= 0.8?" in words


def test_equivalent_mutants_look_different(tree, iris):
    svg = dm.cover(tree, iris, target="target", criterion="DTMT").to_svg()
    assert not kinds(svg, "absent")
    assert len(kinds(svg, "spared")) - 1 == sum(text.endswith("live, equivalent") for text in texts(svg)) > 0


def test_boxes_do_not_touch_each_other(half, noise):
    model, X = noise
    for results in ([half.leaves, half], [dm.cover(model, X[:500])]):
        drawing = draw_tree(*results)
        spans = []
        for mark in drawing.shapes:
            if isinstance(mark, Shape) and mark.kind in ("asks", "reached", "absent", "folded") and mark.note:
                x, y, width = map(float, re.match(r"M([\d.]+) ([\d.]+)h([\d.]+)", mark.path).groups())
                spans.append((x, y, x + width, y + 40))
                assert x + width < drawing.width
                assert y + 40 < drawing.height
        assert len(spans) > 10
        for i, (a, b, c, d) in enumerate(spans):
            assert all(c <= x or z <= a or d <= y or w <= b for x, y, z, w in spans[i + 1 :])


def test_a_parent_is_in_the_middle_of_its_children():
    texts = ["a", "b", "c", "wide " * 9, "d"]
    boxes = [NodeBox(kind="reached", lines=[BoxLine(text)]) for text in texts]
    boxes[0].children, boxes[1].children = [1, 4], [2, 3]
    for sideways in (False, True):
        lay_out(boxes, sideways)
        middle = [box.y if sideways else box.x for box in boxes]
        assert middle[0] == pytest.approx((middle[1] + middle[4]) / 2)
        assert middle[1] == pytest.approx((middle[2] + middle[3]) / 2)


def count_by_leaf(svg):
    """Return the numbers of rows in the leaves, in the order in which they are drawn."""
    return [0 if text.startswith("✗") else int(text.split()[1]) for text in texts(svg) if text[0] in "✓✗"]


@pytest.mark.parametrize("mutant", [1, 8, 10])
def test_a_mutant_is_drawn_beside_its_tree(tree, iris, mutant):
    score = dm.cover(tree, iris, target="target", criterion="DTMT")
    svg = score.to_svg(mutant=mutant)
    framed = kinds(svg, "asks framed")
    assert len(framed) == 3  # in the legend, in the tree, and in the mutant
    row = score.mutants.loc[mutant]
    assert any(text.startswith(f"Mutant {mutant} ({row['kind']}): {row['feature']}") for text in texts(svg))
    counts = count_by_leaf(svg)
    before, after = counts[:9], counts[9:]
    assert before == dm.cover(tree, iris, target="target").counts[[0, *range(1, 9)]].tolist()
    assert sum(after) == sum(before) == len(iris)
    changed = build_mutant(score.leaves.trees[0], score.of[0], mutant)
    leaves = find_leaves(changed, score.leaves.inputs.to_tree_matrix(score.leaves.frame))
    assert after == [int((leaves == leaf).sum()) for leaf in changed.leaves]
    assert f"node {row['node']}: " in "".join(item.findtext(f"{SVG}title") or "" for item in framed)


def test_a_mutant_of_a_large_tree_is_drawn_with_its_path(noise):
    deep, data = noise
    score = dm.cover(deep, data, criterion="DTMT")
    node_depths = score.leaves.trees[0].depth[score.of[0].node]
    mutant = int(np.argmax(node_depths))
    drawing = draw_mutant(score, mutant, max_boxes=31)
    marks = [mark for mark in drawing.shapes if isinstance(mark, Shape)]
    assert sum(mark.kind == "asks framed" for mark in marks) == 3
    boxes = 2 * int(node_depths.max()) + 3  # two per level, and the leaves of the decision
    assert sum(mark.kind in ("asks", "asks framed", "reached", "absent", "folded") for mark in marks) <= 2 * boxes + 4
    assert "Mutant" in drawing.alt


def test_a_mutant_of_a_forest_keeps_the_numbers_of_leaves(iris):
    inputs = iris.drop(columns="target")
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(inputs, iris["target"])
    score = dm.cover(forest, inputs, criterion="DTMT")
    mutant = len(score.of[0])  # the first of the second tree
    first = len(score.leaves.trees[0].leaves)
    assert f"leaf {first}: " in score.to_svg(mutant=mutant)
    assert f"leaf {first - 1}: " not in score.to_svg(mutant=mutant)
    with pytest.raises(ArgumentError, match="mutant"):
        score.to_svg(mutant=len(score.counts))


def test_the_page_shows_a_mutant_of_each_kind(half):
    page = half.to_html()
    assert "Mutants beside their tree" in page
    assert page.count("(ORRN): ") >= 1


def test_names_and_labels_are_escaped(noise):
    model, X = noise
    small = DecisionTreeClassifier(random_state=0, max_leaf_nodes=20).fit(X, model.predict(X))
    coverage = dm.cover(small, X[:15], criterion="DTMT")
    svg = coverage.to_svg()
    assert {item.tag for item in ElementTree.fromstring(svg).iter()} == {
        f"{SVG}{tag}" for tag in ("svg", "style", "path", "text", "title")
    }
    assert not re.search(r"[\x00-\x08\u202e]", svg)
    page = render_page(coverage.page())
    assert "<script>alert" not in page
    assert "</text><b>" not in page
    assert max(map(len, texts(svg))) < 60
    for harm in ('"><script>', "</title></path></text><b>"):
        harmed = Drawing(
            width=1, height=1, shapes=[Shape(harm, harm, harm), TextLabel(0, 0, harm, harm)], alt=harm, caption=harm
        )
        html = render_page(Page(title="t", lead="", sections=[Section(heading="s", text="", drawing=harmed)]))
        assert harm not in html


def test_a_large_tree_is_folded(noise):
    model, X = noise
    few = dm.cover(model, X[:3_990]).to_svg()
    assert kinds(few, "folded")
    absent = int((~dm.cover(model, X[:3_990]).covered).sum())
    assert 0 < len(kinds(few, "absent")) - 1 == absent  # all that matters is there
    coverage = dm.cover(model, X[:1_500])
    many = coverage.to_svg()
    assert len(coverage.trees[0]) > 2_000
    assert len(few) < len(many) < 300_000
    folded_counts = [int(text.split()[1].replace(",", "")) for text in texts(many) if re.match(r"✗ [\d,]+ of", text)]
    assert sum(folded_counts) + len(kinds(many, "absent")) - 1 == int((~coverage.covered).sum())  # in sight or counted
    boxes = sum(len(kinds(many, kind)) for kind in ("asks", "reached", "absent", "folded"))
    assert boxes <= MAX_BOXES + 3


@pytest.mark.slow
def test_a_very_deep_tree_is_drawn():
    rows = pd.DataFrame({"x": [0.5, 30.0, 4_000.0]})
    for criterion in ("DTC", "DTMT"):
        svg = dm.cover(chain(5_000), rows, criterion=criterion).to_svg()
        assert len(svg) < 100_000
        assert any(re.match("… 9,9[0-9]{2} nodes", text) for text in texts(svg))


def test_trees_of_numbers_and_of_one_leaf_can_be_drawn(iris):
    X = iris.drop(columns="target")
    grown = DecisionTreeRegressor(random_state=0, max_leaf_nodes=4).fit(X, X.iloc[:, 0] / 3)
    coverage = dm.cover(grown, X[:5])
    assert any(re.fullmatch(r"\d\.\d+", text) for text in texts(coverage.to_svg()))
    forest = RandomForestClassifier(4, max_depth=2, random_state=0).fit(X, iris.target)
    assert len({dm.cover(forest, X[:50]).to_svg(tree=number) for number in range(4)}) == 4
    with pytest.raises(ArgumentError, match="'tree'"):
        dm.cover(forest, X).to_svg(tree=4)
    leaf = chain(1).trees[0]
    arrays = ("feature", "operator", "threshold", "left", "right", "missing_left", "answer", "value", "weight")
    alone = replace(leaf, **{name: getattr(leaf, name)[-1:] for name in arrays})
    both = Forest(trees=(leaf, alone), owner="pair", columns=("x",), width=1, labels=("a", "b"))
    assert "✓ 1 row" in texts(dm.cover(both, pd.DataFrame({"x": [1.0]})).to_svg(tree=1))


# -- pages ------------------------------------------------------------------------------------------------------------


def test_the_page_lists_uncovered_items_and_example_rows(half):
    report = half.page()
    assert report.verdict == "The tests kill 15 of 42 mutants (35.7%)"
    assert report.state == "warn"
    mutants, leaves = (
        next(section for section in report.sections if section.anchor == name) for name in ("mutants", "leaves")
    )
    assert mutants.heading == "27 mutants that no row kills"
    first = mutants.table.rows[0]
    assert first[1] == half.change(int(first[0]))
    assert first[-1].startswith("row ")
    assert {row[-1] for row in leaves.table.rows if row[0] == "8"} == {
        "row 56 with petal length (cm) 4.86, petal width (cm) 1.76"
    }


def test_the_page_of_a_complete_test_set(tree, iris):
    report = dm.cover(tree, iris, target="target").page()
    assert (report.verdict, report.state) == ("The tests reach 9 of 9 leaves (100%)", "good")
    assert [section.anchor for section in report.sections] == ["tree"]


def test_the_page_lists_limits_with_their_side(tree, iris):
    selection = dm.select(tree, iris, target="target", criterion="BVA")
    report = selection.page()
    rows = next(section.table.rows for section in report.sections if section.anchor == "limits")
    assert len(rows) == sum(map(len, selection.limits))
    assert [row[-1].startswith("yes") for row in rows] == [
        limit.holds for limits in selection.limits for limit in limits
    ]
    cover = dm.cover(tree, iris, target="target", criterion="BVA").page()
    leaf_rows = next(section.table.rows for section in cover.sections if section.anchor == "leaves")
    assert "petal width (cm) <= 0.8 holds" in " ".join(row[-1] for row in leaf_rows)


@pytest.mark.slow
def test_the_page_of_a_forest_lists_the_worst_trees(iris):
    X = iris.drop(columns="target")
    forest = RandomForestClassifier(150, max_depth=3, random_state=0).fit(X, iris.target)
    coverage = dm.cover(forest, X[::7])
    trees = next(section for section in coverage.page().sections if section.anchor == "trees")
    shares = coverage.shares
    assert [int(row[0]) for row in trees.table.rows] == np.argsort(shares, kind="stable")[:10].tolist()
    assert f"From {format_percent(shares.min())} to {format_percent(shares.max())}" in trees.text
    bars = [int(shape.text) for shape in trees.drawing.shapes if isinstance(shape, TextLabel) and shape.text.isdigit()]
    assert sum(bars) == 150


@pytest.mark.slow
def test_results_can_be_written_to_files(half, tree, iris, tmp_path):
    chosen = dm.select(tree, iris, target="target", criterion="DTMT")
    for result in (half, half.leaves, chosen):
        assert json.loads(json.dumps(result.document(), allow_nan=False)) == json.loads(
            result.to_json(tmp_path / "a.json")
        )
        assert (tmp_path / "a.json").read_text() == result.to_json()
        assert result.to_html(tmp_path / "new" / "a.html") == (tmp_path / "new" / "a.html").read_text()
        assert result._repr_html_().startswith("<iframe")
    assert half.to_svg(tmp_path / "a.svg") == (tmp_path / "a.svg").read_text()
    document = half.document()
    assert document["mutants"] == {"all": 42, "killed": 15, "live": 27, "proved_equivalent": 6, "killable": 21}
    assert (document["nodes"], document["decision_nodes"], document["leaves"], document["covered"]) == (17, 8, 9, 2)
    assert (len(document["uncovered"]), len(document["live"])) == (7, 27)
    with pytest.raises(UsageError, match="SVG file cannot be written"):
        half.to_svg(tmp_path / "a.svg" / "b.svg")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)
def test_pages_open_without_errors_and_fit_a_phone(half, noise, tmp_path):
    model, X = noise
    half.to_html(tmp_path / "half.html")
    dm.cover(model, X[:1_500]).to_html(tmp_path / "noise.html")
    half.to_svg(tmp_path / "half.svg")
    with Browser() as browser:
        for name in ("half.html", "noise.html"):
            page = browser.open(tmp_path / name, width=390)
            assert page.run("document.documentElement.scrollWidth") <= 390
            assert page.run("document.querySelector('.shapes').getBoundingClientRect().width") > 390
            assert page.console == []
            assert len(page.requests) == 1
        drawn = browser.open(tmp_path / "half.svg", dark=True)
        assert drawn.run(f"({WITHIN})()") == []
        colour = "getComputedStyle(document.querySelector('.ground')).fill"
        dark = drawn.run(colour)
        drawn.look(dark=False)
        assert drawn.run(colour) != dark
        assert drawn.console == []
