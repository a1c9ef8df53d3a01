"""A stored check-up becomes files for other tools, and a pytest file that pins it or one of its findings."""

import json

import pytest

import datamorphic as dm
from datamorphic.core.result import Finding
from datamorphic.errors import UsageError
from datamorphic.web.audit_files import EXPORTS, export_result, pin_result, summarise_findings
from datamorphic.web.jobs import RESULT_FILE


def _build_finding(check, about, **values):
    texts = {"title": f"{about} is wrong", "level": "concern", "confidence": 1.0, "detail": "", "remedy": ""}
    return Finding(check=check, about=about, **texts | values)


@pytest.fixture
def folder(tmp_path):
    result = dm.test(dm.subjects["Box 1"], seed=1, only="answers", progress=False)
    outcomes = [outcome for outcome in result.outcomes if outcome.check not in ("identifiers", "suggestions")]
    base = next(outcome for outcome in result.outcomes if outcome.check == "answers")
    findings = [
        _build_finding("identifiers", "id", declarations=(("invariant", "id"),)),
        _build_finding("suggestions", "id", level="advice", declarations=(("protected", "id"),)),
        _build_finding("response", "x"),
    ]
    outcomes += [type(base)(check=finding.check, asks="?", state="found", findings=(finding,)) for finding in findings]
    words = {"from_files": True, "model": str(tmp_path / "uploads" / "m.skops"), "data": "data:iris"}
    altered = type(result)(
        **{name: getattr(result, name) for name in ("subject", "kind", "data", "seed", "budget", "seconds", "calls")},
        outcomes=tuple(outcomes),
        words=words,
    )
    (tmp_path / RESULT_FILE).write_text(json.dumps(altered.document() | {"run": 3}))
    return tmp_path


def test_findings_come_in_the_order_of_the_report_with_what_they_suggest(folder):
    findings = summarise_findings(folder)
    assert [finding.about for finding in findings] == ["id", "x"]
    assert findings[0].declarations == (("invariant", "id"), ("protected", "id"))  # of the evidence, too


def test_every_format_is_written(folder):
    texts = {name: export_result(folder, name)[1] for name in EXPORTS}
    assert texts["JUnit"].startswith("<?xml")
    assert json.loads(texts["SARIF"])["version"] == "2.1.0"
    assert "id is wrong" in texts["Markdown"]
    assert json.loads(texts["JSON"])["format"] == 1


def test_one_finding_is_pinned_alone_and_uploads_are_expected_beside_the_tests(folder):
    served = folder / "served"
    name, text = pin_result(folder, served, folder / "uploads", "response", "x")
    assert name == "test_response_x.py"
    compile(text, name, "exec")
    assert "response_x_is_fixed" in text
    assert "identifiers" not in text
    assert "HERE / 'm.skops'" in text or 'HERE / "m.skops"' in text
    _, whole = pin_result(folder, served, folder / "uploads")
    assert "identifiers_id_is_fixed" in whole


def test_a_finding_that_does_not_exist_is_refused(folder):
    with pytest.raises(UsageError, match="no finding"):
        pin_result(folder, folder, folder, "response", "y")
