"""The catalogue as text, as a page, as drawings and as code."""

from __future__ import annotations

import ast
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import datamorphic as dm
from datamorphic.relations.patterns.code import format_code
from datamorphic.relations.patterns.drawing import draw_tree, format_tree, format_trees
from datamorphic.relations.patterns.hierarchy import find_descendants
from datamorphic.relations.patterns.page import build_page, build_pattern_page
from datamorphic.reporting.document import TextLabel
from datamorphic.reporting.html import render_drawing
from datamorphic.reporting.terminal import format_page
from support.cases import in_one_test

IMAGES = Path(__file__).parents[3] / "docs" / "images"
EXAMPLES = [example for pattern in dm.patterns.values() for example in pattern.examples]


@pytest.mark.parametrize("root", ["Symmetry", "Sets"])
def test_the_drawing_has_every_pattern_once_and_no_two_in_one_place(root):
    drawing = draw_tree(dm.patterns, root)
    names = [label for label in drawing.shapes if isinstance(label, TextLabel) and label.kind == "strong"]
    assert sorted(label.text for label in names) == sorted({root, *find_descendants(dm.patterns, root)})
    assert len({(label.x, label.y) for label in names}) == len(names)
    by_column = {}
    for label in names:
        by_column.setdefault(label.x, []).append(label.y)
    gaps = [b - a for column in by_column.values() for a, b in zip(sorted(column), sorted(column)[1:], strict=False)]
    assert min(gaps) >= 40  # boxes do not overlap
    assert all(0 <= label.x < drawing.width and 0 <= label.y < drawing.height for label in names)
    svg = ET.fromstring(render_drawing(drawing))
    assert len(svg.findall(".//{http://www.w3.org/2000/svg}title")) > len(names)


def test_the_drawing_tells_stated_edges_from_inferred_ones():
    kinds = {shape.note: shape.kind for shape in draw_tree(dm.patterns, "Sets").shapes if getattr(shape, "note", "")}
    assert kinds["Addition is a sub-pattern of Sets (stated in section 6.3.4 of Ying 2024)"] == "edge w1"
    inferred = [note for note, kind in kinds.items() if kind == "edge w0"]
    assert any(note.startswith("Subset is a sub-pattern of Sets (inferred") for note in inferred)


@pytest.mark.parametrize("root", ["Symmetry", "Sets"])
def test_the_pictures_of_the_documentation_show_the_present_trees(root):
    """Draw them again with: python docs/images/make.py patterns"""
    picture = IMAGES / f"patterns-{root.lower()}.svg"
    assert picture.read_text(encoding="utf-8") == render_drawing(draw_tree(dm.patterns, root))


def test_the_text_of_a_tree_shows_where_a_pattern_with_two_parents_is():
    lines = format_tree(dm.patterns, "sets").splitlines()
    assert "|   `-- Partition Difference: see Complete Partitions" in lines
    assert sum("Partition Difference (inferred)" in line for line in lines) == 1
    assert all(root in format_trees(dm.patterns) for root in dm.patterns.roots)


@in_one_test("name", dm.patterns)
def test_every_pattern_is_explained(name):
    text = format_page(build_pattern_page(dm.patterns, dm.patterns[name]))
    assert dm.patterns[name].definition.split()[-1] in text
    assert "satisfies it, and its fault" in text
    assert f'dm.patterns["{name}"]' in text


def test_the_page_has_both_trees_and_every_pattern():
    page = build_page(dm.patterns)
    assert [part.heading for part in page.sections[0].parts] == [
        "The tree of Symmetry",
        "The tree of Sets",
        "The tree of Affine",
    ]
    html = dm.patterns.to_html()
    assert html.count("<svg") >= 3
    assert all(f">{name}<" in html for name in dm.patterns)
    assert "MPReverseJD" in html
    assert len(html) < 400_000


def test_the_catalogue_as_json():
    document = json.loads(dm.patterns.to_json())
    assert [entry["name"] for entry in document["patterns"]] == list(dm.patterns)
    addition = next(entry for entry in document["patterns"] if entry["name"] == "Addition")
    assert [(parent["name"], parent["inferred"]) for parent in addition["parents"]] == [
        ("Sets", False),
        ("Similar", False),
    ]
    assert document["trees"]["Symmetry"][0] == ["Symmetry"]
    assert dm.patterns.describe().count("\n") > len(dm.patterns)


@in_one_test("example", EXAMPLES)
def test_code_builds_the_same_relation(example):
    code = format_code(example.relation)
    ast.parse(code)
    relation = eval(code, {"dm": dm})
    assert (relation.input, relation.output) == (example.relation.input, example.relation.output)
    assert (relation.name, relation.promise, relation.statement) == (
        example.relation.name,
        example.relation.promise,
        example.relation.statement,
    )


def test_code_of_compositions():
    first, second = dm.patterns["Additive"].input(columns="x"), dm.patterns["Multiplicative"].input(columns="y")
    both = dm.patterns["Equality"].output() & dm.patterns["Monotone"].output(direction="down")
    relation = (first.then(second) >> both).named('a "quoted" name')
    again = eval(format_code(relation), {"dm": dm})
    assert (again.input, again.output, again.name) == (relation.input, relation.output, relation.name)
