"""Examples of findings: rows of the data, before and after, as code to copy, and as pictures."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic.audit.case_text import extract_case
from datamorphic.audit.examples import (
    build_example_table,
    build_snippets,
    draw_pixels,
    find_pixel_side,
    find_row,
    format_pair,
    locate_examples,
)
from datamorphic.audit.outcome import Outcome
from datamorphic.audit.page import build_page, format_frequency
from datamorphic.audit.result import AuditResult
from datamorphic.core.result import Example, Finding
from datamorphic.reporting.document import Drawing, Meter, Section, Shape, Snippet, Table, TextLabel
from datamorphic.reporting.html import render_page
from datamorphic.space.points import Points
from support.planted_models import EVIL


def applicants():
    return pd.DataFrame(
        {
            "age": [41, 52, 33, 41],
            "income": [58_000.5, 31_200.0, np.nan, 58_000.5],
            "gender": ["female", "male", "female", "female"],
        }
    )


def to_points(frame):
    kinds = {name: "integer" for name in frame.columns if frame[name].dtype.kind == "i"}
    return dm.Space.from_frame(frame, kinds=kinds).points(frame)


def finding(*examples, **fields):
    default = {
        "check": "c",
        "about": "",
        "title": "t",
        "level": "fault",
        "confidence": 1.0,
        "detail": "d",
        "remedy": "r",
    }
    return Finding(examples=examples, **(default | fields))


def result_of(*findings, **fields):
    outcome = Outcome(check="c", asks="?", state="found" if findings else "passed", findings=findings, **fields)
    return AuditResult(
        subject="m", kind="a fitted model", data="d", outcomes=(outcome,), seed=0, budget="1m", seconds=1.0, calls=1
    )


# -- rows of the data --------------------------------------------------------------------------------------------------


def test_whole_numbers_stay_whole():
    case = extract_case(to_points(applicants()), 1)
    assert case == {"age": 52, "income": 31_200.0, "gender": "male"}
    assert type(case["age"]) is int
    numbers = to_points(pd.DataFrame({"whole": [1, 2], "real": [0.5, 1.5]}))
    assert type(extract_case(numbers, 0)["whole"]) is int


def test_an_example_is_found_in_the_data():
    points = to_points(applicants())
    assert [find_row(points, extract_case(points, row)) for row in range(4)] == [0, 1, 2, 0]
    assert find_row(points, {**extract_case(points, 0), "age": 42}) is None
    assert find_row(points, {"age": 41}) is None
    assert find_row(points, {"age": 41, "income": 1.0, "gender": "unheard of"}) is None


def test_rows_of_the_data_come_before_made_ones():
    points = to_points(applicants())
    synthetic = Example(text="made", case={**extract_case(points, 0), "age": 42}, changed={"age": 43})
    real = Example(text="real", case=extract_case(points, 2), changed={"age": 34, "gender": "male"})
    simple = Example(text="simple", case=extract_case(points, 1), changed={"age": 53})
    outcome = Outcome(check="c", asks="?", state="found", findings=(finding(synthetic, real, simple),))
    (located,) = locate_examples([outcome], points)
    assert [(example.text, example.row) for example in located.findings[0].examples] == [
        ("simple", 1),
        ("real", 2),
        ("made", None),
    ]


def test_an_audit_names_the_row_of_an_example():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"income": rng.integers(10, 90, 60), "gender": rng.choice(["f", "m"], 60)})

    def decide(frame):
        return np.where((frame["gender"] == "m") & (frame["income"] > 50), "yes", "no")

    result = dm.test(decide, data, protected=["gender"], budget="5s", only="protected", progress=False)
    example = result.findings[0].examples[0]
    assert example.row is not None
    assert data.iloc[example.row].to_dict() == example.case
    assert f"row {example.row} of the data" in result.describe()
    assert AuditResult.from_json(result.to_json()) == result


# -- before and after --------------------------------------------------------------------------------------------------


def test_changed_cells_are_marked():
    case = {"a": 1, "b": "x", "c": None}
    table = build_example_table(Example(text="", case=case, answer="no", changed={"b": "y"}, new_answer="yes"))
    assert table.columns == ["feature", "before", "after"]
    assert table.rows == [["b", "x", "y"], ["a", "1", "1"], ["c", "–", "–"], ["the model’s answer", "no", "yes"]]
    assert table.marked == [(0, 1), (0, 2), (3, 1), (3, 2)]
    page = render_page(build_page(result_of(finding(Example(text="w", case=case, changed={"b": "y"})))))
    assert page.count('<td class="marked"><strong>') == 2


def test_an_example_without_a_change_has_one_column_of_values():
    table = build_example_table(Example(text="", case={"a": 1}, answer="no"))
    assert (table.columns, table.rows) == (["feature", "value"], [["a", "1"], ["the model’s answer", "no"]])
    table = build_example_table(Example(text="", case={"a": 1}, answer="no", new_answer="yes"))
    assert table.rows == [["a", "1", "1"], ["the model’s answer", "no", "yes"]]
    assert build_example_table(Example(text="")).rows == []


def test_many_features_are_counted():
    case = {f"f{i}": i for i in range(30)}
    table = build_example_table(Example(text="", case=case, changed={"f3": 4}))
    assert table.rows == [["f3", "3", "4"]]
    assert table.note.startswith("The other 29 features are the same before and after.")
    table = build_example_table(Example(text="", case=case, changed={f"f{i}": -1 for i in range(20)}))
    assert len(table.rows) == 14
    assert table.note.startswith("The other 16 features are not shown.")


def test_two_numbers_have_as_many_digits_as_show_the_difference():
    assert format_pair(14.123456789, 15.0) == ("14.1235", "15")
    assert format_pair(1.00000001, 1.00000002) == ("1.00000001", "1.00000002")
    assert format_pair(0.5, 0.5) == ("0.5", "0.5")
    assert format_pair(math.nan, 0.5) == ("–", "0.5")


# -- code --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [word for word in EVIL.values() if word.isprintable() or word.isascii()])
def test_snippets_hold_all_values_and_nothing_else(word):
    case = {word: word, "n": 3, "x": 0.1 + 0.2, "none": None, "yes": True}
    example = Example(text="", case=case, answer=word, changed={"n": 4}, new_answer=word, row=12)
    python, table = build_snippets(example)
    names = {"model": type("Model", (), {"predict": staticmethod(lambda frame: frame)})}
    exec(python.text, names)  # the code that readers copy
    assert {**case, "none": 0} == {**names["before"], "none": 0}
    assert math.isnan(names["before"]["none"])
    assert names["after"]["n"] == 4
    assert "row 12 of the data" in python.text
    header, before, after = csv.reader(io.StringIO(table.text, newline=""))
    assert header == list(case)
    assert before == [word, "3", str(0.1 + 0.2), "", "True"]
    assert after[1] == "4"


def test_snippets_query_the_model_as_it_was_given():
    example = Example(text="", case={"a": 1}, answer="no")
    assert build_snippets(example)[0].text.endswith("model.predict(pd.DataFrame([case]))  # no")
    assert build_snippets(Example(text="only words")) == []
    page = build_page(result_of(finding(example)))
    assert "model.predict(" in page.sections[0].parts[0].beside[0].snippets[0].text


# -- pixels ------------------------------------------------------------------------------------------------------------


def test_pixels_are_recognised_by_their_names_or_values():
    assert find_pixel_side({f"pixel_{i // 8}_{i % 8}": 16.0 for i in range(64)}) == 8
    assert find_pixel_side({f"pixel{i}": 300 for i in range(784)}) == 28
    assert find_pixel_side({f"x{i}": i % 17 for i in range(64)}) == 8
    assert find_pixel_side({str(i): 0.5 for i in range(784)}) == 28
    assert find_pixel_side({f"x{i}": 0.5 for i in range(16)}) == 0  # too few to tell
    assert find_pixel_side({f"x{i}": 1_000.0 * i for i in range(64)}) == 0
    assert find_pixel_side({f"x{i}": -1.0 for i in range(64)}) == 0
    assert find_pixel_side({f"x{i}": "a" for i in range(64)}) == 0
    assert find_pixel_side({f"pixel_{63 - i}": 1 for i in range(64)}) == 0  # in another order
    assert find_pixel_side({f"{chr(97 + i % 26)}{i}": 1 for i in range(64)}) == 0
    assert find_pixel_side({}) == 0


def test_an_example_of_pixels_is_a_picture():
    case = {f"pixel_{i // 8}_{i % 8}": float(i % 17) for i in range(64)}
    drawing = draw_pixels(Example(text="", case=case, answer=3, changed={"pixel_0_0": 16.0}, new_answer=8))
    kinds = [shape.kind for shape in drawing.shapes if isinstance(shape, Shape)]
    assert kinds.count("framed") == 2
    assert {"tone0", "tone15"} <= set(kinds)
    assert [shape.text for shape in drawing.shapes if isinstance(shape, TextLabel)] == ["before: 3", "after: 8"]
    assert "1 pixel of 64 changed" in drawing.alt
    assert draw_pixels(Example(text="", case={"a": 1})) is None
    assert "tone7" in render_page(build_page(result_of(finding(Example(text="", case=case, answer=3)))))


# -- findings ----------------------------------------------------------------------------------------------------------


def test_counts_that_are_no_sample_have_no_interval():
    assert format_frequency(finding(cases=14, cases_tried=32, noun="leaf", sampled=False)) == "14 of 32 leaves: 43.8%"
    assert (
        format_frequency(finding(cases=1, cases_tried=1, noun="row"))
        == "1 of 1 row tried: 100% (95% interval: 20.7% to 100%)"
    )


def test_the_picture_of_a_finding_stands_in_its_card():
    drawing = Drawing(width=10, height=10, shapes=(Shape("M0 0h1", "axis"), TextLabel(1.0, 2.0, "t")), alt="a drawing")
    picture = Section(heading="A picture", text="", drawing=drawing, meters=(Meter(label="m", share=0.5, text="half"),))
    table = Section(
        heading="A table",
        text="",
        table=Table(columns=("a",), rows=((1,),), marked=((0, 0),)),
        snippets=(Snippet(label="CSV", text="a"),),
    )
    result = result_of(finding(sections=(picture, table)))
    card = build_page(result).sections[0].parts[0]
    assert [section.heading for section in card.beside] == ["A picture"]
    assert [section.heading for section in card.parts] == ["A table"]
    back = AuditResult.from_json(result.to_json())
    assert back.findings[0].sections == (picture, table)
    assert render_page(build_page(back)) == render_page(build_page(result))


def test_documents_of_earlier_versions_are_read():
    result = result_of(finding(Example(text="w", case={"a": 1}), cases=1, cases_tried=2))
    document = json.loads(result.to_json())
    for outcome in document["outcomes"]:
        for item in outcome["findings"]:
            for name in ("noun", "sampled", "sections"):
                del item[name]
            for example in item["examples"]:
                del example["row"]
    assert AuditResult.from_json(json.dumps(document)) == result


def test_points_without_rows_hold_no_example():
    points = to_points(applicants())
    assert find_row(Points(points.space, points.codes[:0]), extract_case(points, 0)) is None
