"""Exports of a law report: one mechanism for text, JSON, pages, Markdown and JUnit."""

import json
from xml.etree import ElementTree

import pytest

import datamorphic as dm
from datamorphic.errors import ArgumentError
from datamorphic.morphisms.options import LawOptions
from datamorphic.morphisms.page import build_page
from datamorphic.reporting.terminal import format_page


class Asymmetric:
    """A distance that depends on the direction."""

    space = dm.Space([dm.Continuous("x", 0, 1, step=0.1)])

    def distance(self, a, b):
        return ((b.x - a.x).clip(lower=0) * 2 + (a.x - b.x).clip(lower=0)).to_numpy()

    @dm.datamorphism(feature="x")
    def up(self, p):
        return self.space.up(p, "x")

    @dm.datamorphism(feature="x")
    def down(self, p):
        return self.space.down(p, "x")


@pytest.fixture(scope="module")
def report():
    return dm.laws(Asymmetric, examples=30)


@pytest.mark.slow
def test_the_document_lists_every_law(report, tmp_path):
    document = report.document()
    assert set(document) == {"system", "examples", "seed", "tried_first", "complete", "unfinished", "laws"}
    assert [entry["law"] for entry in document["laws"]] == [result.law for result in report.results]
    assert (
        json.loads(report.to_json(tmp_path / "laws.json"))
        == document
        == json.loads((tmp_path / "laws.json").read_text())
    )


@pytest.mark.slow
def test_a_page_shows_broken_laws_with_their_points(report):
    page = report.page()
    assert page == build_page(report)
    assert "symmetry" in page.verdict
    assert page.state == "bad"
    broken = next(section for section in page.sections if section.heading.startswith("symmetry"))
    assert [row[0] for row in broken.table.rows] == ["x", "y", "z"]
    assert "symmetry" in report.to_html()
    assert "symmetry" in report.to_markdown()
    assert "symmetry" in report._repr_html_()
    assert dm.laws(Asymmetric.space, examples=5).page().verdict == "No law is broken"


def test_junit_has_one_test_case_per_law(report):
    cases = ElementTree.fromstring(report.to_junit()).findall(".//testcase")
    outcomes = {case.get("name"): next((child.tag for child in case), "passed") for case in cases}
    assert outcomes["symmetry"] == "failure"
    assert outcomes["determinism"] == "skipped"
    assert outcomes["closure"] == "passed"


def test_the_description_is_the_text_of_the_report(report):
    text = report.describe()
    assert text == str(report) == format_page(report.page(brief=True))
    assert text.splitlines()[0] == f"{report.system}: {report.page().verdict}"
    assert "BROKEN       symmetry" in text


@pytest.mark.parametrize("wrong", [{"examples": 0}, {"seed": -1}, {"examples": True}])
def test_options_validate_themselves(wrong):
    with pytest.raises(ArgumentError, match="parameter of laws must be an int"):
        LawOptions(Asymmetric, **wrong)
