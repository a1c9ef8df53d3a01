"""Tests of measures, findings, examples and the base class of results."""

import json
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import datamorphic as dm
from datamorphic._stats import compute_wilson_interval
from datamorphic._text import to_jsonable
from datamorphic.audit.outcome import Outcome
from datamorphic.audit.result import AuditResult
from datamorphic.core.result import (
    Example,
    Finding,
    Measure,
    Result,
    count_rows,
    find_defects,
    format_share,
    make_writer,
    to_plain,
)
from datamorphic.reporting.junit import JUnitCase

EXAMPLE = Example(text="x rises", case={"x": 1}, answer="no", changed={"x": 2}, new_answer="yes")
FINDING = Finding(
    check="monotone",
    about="x",
    title="t",
    level="fault",
    confidence=0.9,
    detail="d",
    remedy="r",
    cases=3,
    cases_tried=150,
    examples=(EXAMPLE,),
)


def test_a_measure_of_counts_has_the_wilson_interval():
    measure = Measure.from_counts(3, 150, 0.99)
    assert tuple(measure) == (3 / 150, *compute_wilson_interval(3, 150, 0.99))
    assert (measure[0], measure[1:]) == (measure.value, (measure.low, measure.high))
    assert (measure.cases, measure.confidence) == (150, 0.99)
    assert tuple(Measure.from_counts(0, 0)) == (0.0, 0.0, 1.0)


def test_a_measure_is_formatted_in_one_way():
    assert str(Measure.from_counts(3, 150)) == "2% (0.682% to 5.71%, 150 cases)"
    assert str(Measure(0.5, 0.25, 0.75)) == "50% (25% to 75%)"
    assert format_share(3, 150, "row") == "3 of 150 rows (2%, 0.682% to 5.71%)"


@pytest.mark.parametrize(("low", "high", "excludes"), [(0.1, 0.2, True), (-0.2, -0.1, True), (-0.1, 0.1, False)])
def test_an_interval_on_one_side_of_zero(low, high, excludes):
    assert Measure((low + high) / 2, low, high).excludes_zero is excludes


def test_the_document_of_a_measure_has_cases_only_if_they_were_counted():
    assert Measure(0.5, 0.2, 0.8).document() == {"value": 0.5, "low": 0.2, "high": 0.8}
    assert Measure(0.5, 0.2, 0.8, 10).document() == {"value": 0.5, "low": 0.2, "high": 0.8, "total": 10}
    assert Measure(0.5, 0.2, 0.8).to_columns("auc") == {"auc": 0.5, "auc_low": 0.2, "auc_high": 0.8}


@pytest.mark.parametrize(
    ("item", "old", "new"),
    [
        (FINDING, "sure", "confidence"),
        (FINDING, "of", "cases_tried"),
        (EXAMPLE, "words", "text"),
        (EXAMPLE, "becomes", "new_answer"),
    ],
)
def test_old_names_of_attributes_warn(item, old, new):
    with pytest.warns(DeprecationWarning, match=rf"\.{old} is deprecated .* Use {new}\."):
        value = getattr(item, old)
    assert value == getattr(item, new)


def test_json_has_the_keys_of_earlier_versions_and_is_read_again():
    outcome = Outcome(check="monotone", asks="?", state="found", findings=(FINDING,))
    result = AuditResult(subject="s", kind="k", data="d", outcomes=(outcome,), seed=0, budget="", seconds=0.0, calls=0)
    (finding,) = json.loads(result.to_json())["outcomes"][0]["findings"]
    assert (finding["sure"], finding["of"]) == (0.9, 150)
    assert (finding["examples"][0]["words"], finding["examples"][0]["becomes"]) == ("x rises", "yes")
    assert {"confidence", "cases_tried", "text", "new_answer"}.isdisjoint({*finding, *finding["examples"][0]})
    assert AuditResult.from_json(result.to_json()).findings == [FINDING]


def test_a_finding_measures_its_cases():
    assert FINDING.rate == 0.02
    assert FINDING.interval == compute_wilson_interval(3, 150)


def test_counts_of_rows_are_fields_of_a_finding():
    counts = count_rows(3, 150)
    assert set(counts) <= {item.name for item in fields(Finding)}
    assert (counts["cases"], counts["cases_tried"], counts["affected_rows"], counts["rows"]) == (3, 150, 3, 150)


def test_advice_is_no_defect():
    advice = Finding(check="c", about="", title="t", level="advice", confidence=1.0, detail="", remedy="")
    assert find_defects([advice, FINDING]) == [FINDING]


@dataclass(frozen=True)
class Part:
    name: str
    share: Measure


class Plain(Result):
    subject = "model"
    headline = "all is well"
    parts = (Part("a", Measure(0.5, 0.2, 0.8)),)
    table = pd.DataFrame({"n": np.array([1, 2]), "x": [0.5, float("nan")]})
    _SUMMARY = ("calls",)

    def document(self):
        return self._collect("subject", "parts", "table", calls=np.int64(7))

    def test_cases(self):
        return [JUnitCase(name="up"), JUnitCase(name="down", outcome="failed", message="it fell")]


def test_a_document_is_plain_json():
    document = Plain().document()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document == {
        "subject": "model",
        "parts": [{"name": "a", "share": {"value": 0.5, "low": 0.2, "high": 0.8}}],
        "table": [{"n": 1, "x": 0.5}, {"n": 2, "x": None}],
        "calls": 7,
    }
    assert to_plain(Measure) is Measure  # a class is not one of its values


def test_a_store_keeps_headline_and_chosen_figures():
    assert Plain().stored_summary() == {"headline": "all is well", "calls": 7}
    assert Plain().stored_verdicts() == [
        {"relation": "up", "says": "up", "verdict": "HOLDS"},
        {"relation": "down", "says": "it fell", "verdict": "VIOLATED"},
    ]
    assert list(Plain().stored_files()) == ["result.json"]


def test_a_writer_returns_the_number_of_items(tmp_path):
    assert make_writer(lambda path: path.write_text("x"), 3)(tmp_path / "file") == 3
    assert (tmp_path / "file").read_text() == "x"


def make_results():
    program = dm.programs["tanh"]
    tree = DecisionTreeClassifier(random_state=0).fit(*load_iris(return_X_y=True, as_frame=True))
    frame = load_iris(as_frame=True).data
    return {
        "hunt": dm.hunt(program.mutants["emu10"], list(program.relations.values())[:1], budget=50, seed=0),
        "cover": dm.cover(tree, frame),
        "select": dm.select(tree, frame),
        "simulate": dm.simulate(generator="IPART", rate=0.1, trials=10, seed=0),
        "laws": dm.laws(dm.subjects["Box 1"], examples=10),
        "combine": dm.combine(dm.subjects["Box 1"], "firstOrderMutantComplete"),
        "explore": dm.explore(dm.subjects["Box 1"], walks=20, seeds=20),
    }


def test_every_result_says_what_a_store_keeps(tmp_path):
    for verb, result in make_results().items():
        summary, verdicts = result.stored_summary(), result.stored_verdicts()
        json.dumps([to_jsonable(summary), to_jsonable(verdicts)], allow_nan=False)
        assert isinstance(summary.get("headline", ""), str), verb
        assert all({"relation", "says", "verdict"} <= verdict.keys() for verdict in verdicts), verb
        for name, write in result.stored_files().items():
            write(tmp_path / name)
            assert (tmp_path / name).stat().st_size, verb
