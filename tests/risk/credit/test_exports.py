"""A credit report as text, page, one-page verdict, JSON and JUnit."""

from __future__ import annotations

import base64
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import datamorphic as dm
from datamorphic.core.result import Measure
from datamorphic.relations.algebra.change import Change, ChangeRelation
from datamorphic.risk.credit.judging import WorstCase
from datamorphic.risk.credit.page import build_page, draw_histogram
from datamorphic.risk.credit.terms import describe_case, describe_change, describe_price, describe_relation
from support.browser import CHROMIUM, WHY_NOT, Browser


def law(frame):
    return dm.data.default_probability(frame)


def always_wrong(frame):
    return 1 - dm.data.default_probability(frame)


def test_text_names_the_model_its_promises_and_the_price(report):
    text = report.describe()
    assert text.splitlines()[0].startswith(f"Use {report.selected}.")
    assert "A small book: 1,500 loans" in text
    assert "Expected: the risk must not rise with" in text
    assert re.search("Credit score 10% higher +KEPT", text)
    assert "What a repair costs" in text
    assert "REJECTED" in text


@pytest.mark.slow
def test_texts_of_given_models(loans):
    accepted = dm.credit({"law": law}, loans)
    assert accepted.describe().startswith("Accept law: it keeps 5 of 5 expectations.")
    rejected = dm.credit({"upside down": always_wrong}, loans)
    assert rejected.describe().startswith("Reject upside down: it is wrong for")
    both = dm.credit({"a": always_wrong, "b": always_wrong}, loans)
    assert both.describe().startswith("Reject all 2 models")
    assert rejected.page().state == "bad"
    assert rejected.page(one_page=True).compact


def test_a_ladder_of_rejected_models(loans):
    report = dm.credit(data=loans, ladder="decision_tree", repetitions=1, threshold=0)
    assert report.selected is None
    assert not report.passed
    assert report.describe().startswith("Do not use any of these 3 models")
    cases = {case.name: case.outcome for case in report.test_cases()}
    assert cases["a model can be used"] == "failed"
    assert list(cases.values()).count("skipped") >= 3


def test_json_holds_every_figure(report):
    document = json.loads(report.to_json())
    assert document["selected"] == report.selected
    model = document["models"][1]
    assert {"auc", "gini", "ks", "strong", "weak", "relations", "histogram", "worst_cases"} <= set(model)
    assert set(model["relations"]["credit.HMR4"]) == {"strong", "weak", "cases", "clipped", "inapplicable", "undefined"}
    assert document["choice"]["auc_cost"].keys() == {"value", "low", "high"}
    assert document["mitigations"][0]["auc_price"].keys() == {"value", "low", "high"}


def test_junit_fails_for_given_models_only(report, loans):
    suite = ElementTree.fromstring(report.to_junit())
    assert suite.get("failures") == "0"
    rejected = dm.credit({"upside down": always_wrong}, loans)
    suite = ElementTree.fromstring(rejected.to_junit())
    assert suite.get("failures") == suite.get("tests") == "5"


def test_the_page_shows_ladder_violations_histogram_and_worst_cases(report):
    page = build_page(report)
    headings = [section.heading for section in page.sections]
    assert "Ranking power against violations" in headings
    assert "Gradient boosting: violations by size" in headings
    assert "How wrong the violations are" in headings
    table = next(section.table for section in page.sections if section.heading == "All models")
    assert len(table.rows) == 7
    assert "<svg" in report.to_html()
    assert report.to_markdown().startswith("#")


def test_the_verdict_is_short_and_names_the_rule(report):
    page = report.page(one_page=True)
    assert page.compact
    assert len(page.sections) <= 5
    assert page.verdict.startswith(f"Use {report.selected}")
    promises = page.sections[0].table
    assert len(promises.rows) == 5
    assert promises.columns[0] == "Expected: the risk must not rise with"


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.skipif(CHROMIUM is None, reason=WHY_NOT)
def test_the_verdict_prints_on_one_page(report, tmp_path):
    report.to_verdict(tmp_path / "verdict.html")
    with Browser() as browser:
        page = browser.open(tmp_path / "verdict.html")
        for size in ({"paperWidth": 8.5, "paperHeight": 11}, {"paperWidth": 8.27, "paperHeight": 11.69}):
            document = base64.b64decode(page.send("Page.printToPDF", printBackground=True, **size)["data"])
            assert len(re.findall(rb"/Type\s*/Page\b(?!s)", document)) == 1


def test_words_of_changes():
    assert describe_change(Change(column="upb", amount=-500)) == "loan amount 500 lower"
    assert describe_change(Change(column="purpose", value="P")) == "purpose P instead"
    relation = ChangeRelation("r", [Change(column="a", factor=0.5), Change(column="b", amount=1)], direction="up")
    assert describe_relation(relation) == "A 50% lower and b 1 higher: the risk must not fall"


def test_words_of_prices():
    assert "costs nothing" in describe_price(Measure(0, 0, 0), "x")
    assert (
        describe_price(Measure(0.02, 0.01, 0.03), "x") == "Its ranking power is 2.0 points (1.0 to 3.0) lower than x."
    )
    assert (
        describe_price(Measure(-0.02, -0.03, -0.01), "x")
        == "Its ranking power is 2.0 points (1.0 to 3.0) higher than x."
    )
    assert describe_price(Measure(0.001, -0.01, 0.012), "x").endswith("too little to be distinguished from chance.")


def test_words_of_cases():
    case = WorstCase(
        relation="r",
        applicant={"credit_score": np.int64(661), "ltv": 67, "state": "CA"},
        changes={"credit_score": (661, 727)},
        before=0.15,
        after=0.177,
    )
    assert describe_case(case) == (
        "An applicant with credit score 661 (loan-to-value ratio 67) was given a risk of 15.0%. "
        "The same applicant with credit score 727 would be given 17.7%."
    )


def test_histograms_have_a_bar_per_decade():
    drawing = draw_histogram((0, 1, 2, 30, 400, 5))
    assert "1 to 10 points: 400" in drawing.alt
    assert len(drawing.shapes) == 18
