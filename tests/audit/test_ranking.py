"""Findings are ranked by impact, and several findings of one cause are one finding."""

from __future__ import annotations

import dataclasses
import json

import pytest

from datamorphic.audit.outcome import Outcome
from datamorphic.audit.ranking import rank_findings
from datamorphic.audit.result import AuditResult
from datamorphic.core.result import Finding

PLAIN = Finding(check="x", about="", title="plain", level="concern", confidence=1.0, detail="", remedy="")


def make(**fields):
    return dataclasses.replace(PLAIN, **fields)


def rank(*findings):
    return [finding.title for finding in rank_findings(findings)]


def make_result(*findings, **fields):
    checks = dict.fromkeys(finding.check for finding in findings)
    outcomes = tuple(
        Outcome(check=check, asks="", state="found", findings=tuple(item for item in findings if item.check == check))
        for check in checks
    )
    settings = {"subject": "m", "kind": "", "data": "", "seed": 0, "budget": "", "seconds": 0.0, "calls": 0}
    return AuditResult(outcomes=outcomes, **settings | fields)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"level": "fault", "answer_changes": False}, {"level": "concern", "answer_changes": True}),
        (
            {"answer_changes": True, "rows": 100, "affected_rows": 1},
            {"answer_changes": False, "cases": 9, "cases_tried": 10},
        ),
        ({"inputs": "given"}, {"inputs": "made"}),
        ({"inputs": "changed"}, {"inputs": "made"}),
        ({"inputs": "given", "rows": 100, "affected_rows": 1}, {"inputs": "made", "cases": 90, "cases_tried": 100}),
        ({"confidence": 1.0}, {"confidence": 0.6, "cases": 5, "cases_tried": 5}),
        ({"rows": 100, "affected_rows": 50}, {"rows": 1_000, "affected_rows": 51}),
        ({"effect": -2.0}, {"effect": 0.1}),
        ({"cases": 5, "cases_tried": 10}, {"cases": 1, "cases_tried": 10}),
    ],
)
def test_the_greater_impact_comes_first(first, second):
    pair = make(title="first", **first), make(title="second", **second)
    assert rank(*pair) == rank(*reversed(pair)) == ["first", "second"]


def test_what_several_checks_found_is_one_finding():
    findings = [
        make(check="dependence", about="id", title="id decides"),
        make(check="identifiers", about="id", title="id is a number of the row", level="fault"),
        make(check="leaks", about="id", title="id predicts the label"),
        make(check="dependence", about="age", title="age decides", level="advice"),
        make(check="monotone", about="id", title="id has a direction"),
    ]
    merged = rank_findings(findings)
    assert [finding.title for finding in merged] == ["id is a number of the row", "id has a direction", "age decides"]
    assert {piece.check for piece in merged[0].evidence} == {"dependence", "leaks"}


def test_two_findings_of_one_check_stay_apart():
    findings = [make(check="response", about="age", title=f"a cut at {value}") for value in (20, 30)]
    findings.append(make(check="monotone", about="age", title="a fall"))
    merged = rank_findings(findings)
    assert len(merged) == 2
    assert sum(len(finding.evidence) for finding in merged) == 1


def test_queries_have_one_cause_and_a_cause_can_be_named():
    assert len(rank_findings([make(check="batches"), make(check="row order")])) == 1
    assert len(rank_findings([make(check="a", about="x"), make(check="b", about="x")])) == 2
    assert len(rank_findings([make(check="a", cause="unit of x"), make(check="b", cause="unit of x")])) == 1


def test_reports_show_the_evidence_and_json_keeps_every_finding():
    findings = [
        make(check="identifiers", about="id", title="id is a number of the row", level="fault"),
        make(check="leaks", about="id", title="id predicts the label"),
    ]
    result = make_result(*findings)
    assert result.headline == "1 fault found by 2 checks"
    assert len(result.findings) == 1
    assert len(result.single_findings) == 2
    for text in (result.describe(), result.to_markdown(), result.to_html(), result.to_sarif()):
        assert "id predicts the label" in text
    again = AuditResult.from_json(result.to_json())
    assert again == result
    assert again.findings[0].evidence == result.findings[0].evidence


def test_json_of_earlier_versions_is_read():
    document = json.loads(make_result(make(check="leaks", about="id")).to_json())
    for name in ("cause", "affected_rows", "rows", "answer_changes", "effect", "inputs", "evidence"):
        del document["outcomes"][0]["findings"][0][name]
    del document["interrupted"]
    result = AuditResult.from_json(json.dumps(document))
    assert result.findings[0].about == "id"
    assert not result.interrupted


def test_findings_about_a_common_column_have_one_cause():
    region = make(check="answers", about="given", columns=("age",), title="no answer where age > 60", level="fault")
    beyond = make(check="interface", about="age, income", columns=("age", "income"), title="no answer above the data")
    other = make(check="interface", about="colour", columns=("colour",), title="no answer to a new category")
    merged = rank_findings([beyond, other, region])
    assert [finding.title for finding in merged] == ["no answer where age > 60", "no answer to a new category"]
    assert [piece.title for piece in merged[0].evidence] == ["no answer above the data"]
    group = make(check="slices", about="age, income", columns=("age", "income"))
    assert len(rank_findings([group, make(check="response", about="income")])) == 1
    assert len(rank_findings([group, make(check="response", about="debt")])) == 2


def test_a_cause_can_be_that_of_a_group_of_checks():
    alone = make(check="interface", about="single row", cause="depends on the query")
    assert len(rank_findings([alone, make(check="batches")])) == 1


def test_the_check_that_explains_most_leads_within_a_level():
    findings = [
        make(check="slices", about="age", title="wrong where age > 50", rows=10, affected_rows=10),
        make(check="other", title="between them", rows=10, affected_rows=8),
        make(check="response", about="age", title="a jump at 50", rows=10, affected_rows=5),
    ]
    assert rank(*findings) == ["a jump at 50", "between them"]
    findings[0] = dataclasses.replace(findings[0], level="fault")
    assert rank(*findings) == ["wrong where age > 50", "between them"]


@pytest.mark.parametrize(
    ("explained_by_jump", "explained_by_group", "first"),
    [(40, 41, "wrong where age > 50"), (40, 40, "wrong where age > 50"), (40, 39, "a jump"), (None, 41, "a jump")],
)
def test_the_finding_that_explains_most_rows_leads(explained_by_jump, explained_by_group, first):
    jump = make(check="response", about="age", title="a jump", explained_rows=explained_by_jump)
    group = make(check="slices", about="age", title="wrong where age > 50", explained_rows=explained_by_group)
    assert rank(jump, group) == [first]
