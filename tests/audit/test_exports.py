"""The findings for terminals, pull requests, CI servers and code scanning: right, and harmless whatever is in them."""

from __future__ import annotations

import dataclasses
import html
import json
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import example as hypothesis_example
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from datamorphic._text import format_percent
from datamorphic.audit.examples import build_example_table
from datamorphic.audit.outcome import Outcome
from datamorphic.audit.page import format_certainty, format_frequency, format_impact
from datamorphic.audit.result import AuditResult
from datamorphic.audit.sarif import format_sarif
from datamorphic.core.result import Example, Finding
from datamorphic.reporting.markdown import MAX_BYTES, escape_markdown, format_code_block
from datamorphic.reporting.text import clean, cut, format_cell, split_blocks, to_one_line, to_printable
from support.planted_models import EVIL, example, hostile

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
EXPORTS = (AuditResult.describe, AuditResult.to_markdown, AuditResult.to_junit, format_sarif, AuditResult.to_html)
NASTY = "<>&\"'`*_[]()!|~#@$%^{}\\-+=.:;/ \t\n\r0aGH1wé👩\u200d\x00\x1b\u202e\ud800"


def result_of(*findings, outcome="found", **more):
    by_check = {}
    for item in findings:
        by_check.setdefault(item.check, []).append(item)
    outcomes = tuple(
        Outcome(check=check, asks="", state=outcome, findings=tuple(some)) for check, some in by_check.items()
    )
    fields = {"subject": "m", "kind": "k", "data": "d", "outcomes": outcomes, "seed": 0, "budget": "1m", "seconds": 1.0}
    return AuditResult(**(fields | {"calls": 1} | more))


def finding(level="fault", check="repeats", about="", **more):
    fields = {"title": "t", "confidence": 1.0, "detail": "d", "remedy": "r"}
    return Finding(check=check, about=about, level=level, **(fields | more))


def make_incomplete_result(*findings, **more):
    result = result_of(*findings, **more)
    unfinished = Outcome(check="borders", asks="?", state="not run", why="no time", skip_reason="budget spent")
    inapplicable = Outcome(check="texts", asks="?", state="not run", why="no input is text", skip_reason="inapplicable")
    passed = Outcome(check="answers", asks="?", state="passed")
    return dataclasses.replace(result, outcomes=(*result.outcomes, passed, unfinished, inapplicable))


def test_rows_of_which_only_the_score_changes_are_counted_apart():
    both = finding(cases=569, cases_tried=569, rows=569, affected_rows=4, inputs="changed", answer_changes=True)
    assert format_impact(both) == (
        "4 of 569 given rows, if they are changed; the answer is affected, and only the score of 565 other rows"
    )
    one = finding(cases=4, cases_tried=569, rows=569, affected_rows=4, inputs="changed", answer_changes=True)
    assert format_impact(one) == "4 of 569 given rows, if they are changed; the answer is affected"


# -- incomplete audits ------------------------------------------------------------------------------------------------


def test_an_incomplete_audit_is_never_said_to_have_found_nothing_wrong():
    result = make_incomplete_result()
    assert (result.complete, result.passed) == (False, False)
    assert result.headline == (
        "incomplete: no fault or concern was found by 1 check; 1 check was not tried, since the budget (1m) did not suffice"
    )
    assert result.to_markdown().startswith("# Check-up of m\n\n⚠️ **Incomplete: ")
    assert "\n❌ **Incomplete: 1 fault found by 2 checks; " in make_incomplete_result(finding()).to_markdown()
    for export in EXPORTS:
        assert "nothing wrong" not in export(result).lower()
    assert AuditResult.from_json(result.to_json()) == result
    assert json.loads(result.to_json())["unfinished"] == ["borders"]


def test_a_check_that_found_something_but_did_not_finish_leaves_an_audit_incomplete():
    advice = Outcome(
        check="response", asks="?", state="found", findings=(finding("advice"),), skip_reason="budget spent"
    )
    result = result_of(outcomes=(advice,))
    assert "and one piece of advice; 1 check was not finished, since" in result.headline
    assert ET.fromstring(result.to_junit()).get("errors") == "1"


def test_junit_and_sarif_say_which_checks_are_incomplete():
    result = make_incomplete_result()
    cases = {case.get("name"): case for case in ET.fromstring(result.to_junit()).iter("testcase")}
    assert cases["borders"].find("error").attrib == {"type": "incomplete", "message": "incomplete: no time"}
    assert cases["texts"].find("skipped") is not None
    assert '<property name="complete" value="false" />' in result.to_junit()
    [run] = json.loads(format_sarif(result))["runs"]
    [invocation] = run["invocations"]
    assert not invocation["executionSuccessful"]
    assert [note["message"]["text"] for note in invocation["toolExecutionNotifications"]] == [
        "The check 'borders' is incomplete: no time"
    ]
    assert run["properties"]["complete"] is False


# -- words ------------------------------------------------------------------------------------------------------------


def test_harmful_characters_are_replaced():
    assert clean("a\x00\x1b\x7f\x9f\ud83d\u202e\ufffe\uffffb") == "a��������b"
    assert clean(EVIL["emoji"]) == EVIL["emoji"]
    assert clean("a\r\nb\rc\td") == "a\nb\nc\td"
    assert to_printable("a\tb\x1b[1m\u200b\nc") == "a b�[1m?\nc"
    assert all(c.isprintable() or c == "\n" for c in to_printable("".join(map(chr, range(0x3000)))))
    assert to_one_line(" a\n\n b\tc ") == "a b c"


def test_shortened_texts_end_with_an_ellipsis():
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefg", 6) == "abcde…"
    assert len(cut("x" * 10_000_000, 10)) == 10


def test_cells_show_values_as_people_write_them():
    assert [format_cell(value) for value in (None, float("nan"), 0.1 + 0.2, 3, "x", True)] == [
        "–",
        "–",
        "0.3",
        "3",
        "x",
        "True",
    ]


def test_bullets_make_lists():
    assert split_blocks("a\nb\n• c\n• d\n\ne") == [("p", ["a", "b"]), ("ul", ["c", "d"]), ("p", ["e"])]
    assert split_blocks("") == []


@pytest.mark.parametrize(
    ("cases", "of", "text"),
    [
        (12, 400, "12 of 400 cases tried: 3% (95% interval: 1.72% to 5.17%)"),
        (1, 1, "1 of 1 case tried: 100% (95% interval: 20.7% to 100%)"),
        (1, 50_000, "1 of 50,000 cases tried: <0.01% (95% interval: <0.01% to 0.0113%)"),
        (9_999, 10_000, "9,999 of 10,000 cases tried: >99.9% (95% interval: 99.9% to >99.9%)"),
    ],
)
def test_the_frequency_has_an_interval(cases, of, text):
    assert format_frequency(finding(cases=cases, cases_tried=of)) == text


def test_the_certainty_is_given_in_words():
    case_example = Example(text="x")
    assert format_certainty(finding(examples=(case_example,))) == "certain: an example shows it"
    assert format_certainty(finding()) == "certain"
    assert [format_certainty(finding(confidence=sure)) for sure in (0.95, 0.7, 0.5, 0.1)] == [
        "nearly certain (95%)",
        "likely (70%)",
        "possible (50%)",
        "a suspicion (10%)",
    ]
    assert format_percent(0.5) == "50%"


def test_an_example_shows_only_what_matters():
    case = {f"f{i}": i for i in range(30)}
    table = build_example_table(
        Example(text="w", case=case, answer="no", changed={"f3": 4.5, "new": 1}, new_answer="yes")
    )
    assert table.columns == ["feature", "before", "after"]
    assert table.rows == [["f3", "3", "4.5"], ["new", "–", "1"], ["the model’s answer", "no", "yes"]]
    assert table.note == "The other 29 features are the same before and after. Copy the example to get all values."
    table = build_example_table(Example(text="w", case={"a": None}, answer="no"))
    assert (table.columns, table.rows) == (["feature", "value"], [["a", "–"], ["the model’s answer", "no"]])
    assert not build_example_table(Example(text="w")).rows


# -- for a terminal ---------------------------------------------------------------------------------------------------


def test_a_terminal_gets_the_findings_worst_first():
    text = example().describe()
    lines = text.splitlines()
    assert lines[0] == f"credit.skops: {example().headline}"
    heads = [line.split(":")[0] for line in lines if re.match(r"[A-Z]+: ", line)]
    assert heads == ["FAULT", "CONCERN", "CONCERN", "ADVICE"]
    assert "  How often:       288 of 300 cases tried: 96% (95% interval: 93.1% to 97.7%)" in lines
    assert "  How often:       37 of 1,000 cases tried: 3.7% (95% interval: 2.7% to 5.06%)" in lines
    assert lines.count("  How sure:        certain: an example shows it") == 2
    assert "  An example:      gender from female to male: declined becomes approved" in lines
    assert (
        "  Repeat: datamorphic test models/credit.skops applicants.csv --target decision --protected gender --seed 7 --only protected"
        in lines
    )
    assert "  not run    learning      a fitted model cannot be trained again" in lines
    assert "  broke      row labels    the model took longer than 10 s for a batch" in lines


def test_counts_in_the_detail_are_not_repeated():
    detail = "3 of 1,200 cases (0.25%, 0.085% to 0.733%) do it."
    once = result_of(finding(detail=detail, cases=3, cases_tried=1_200, counted_in_detail=True))
    for export in EXPORTS:
        assert export(once).count("3 of 1,200") == 1


def test_text_holds_no_control_characters_or_forged_lines():
    text = hostile().describe()
    assert all(c.isprintable() or c == "\n" for c in text)
    assert not any(line.startswith(("# three", "- four", "[31m")) for line in text.split("\n"))
    assert max(len(line.strip()) for line in text.split("\n")) <= 2_100  # a cut text, its term and its badge
    text.encode("utf-8")


def test_many_findings_are_counted_not_listed():
    many = result_of(*(finding(check=f"c{i}") for i in range(150)))
    assert "\n50 more findings\n  Write a report" in many.describe()


# -- for a pull request -----------------------------------------------------------------------------------------------


def rendered(source):
    """What a reader sees of Markdown, without the spaces of no width."""
    page = MARKDOWN.render(source)
    return html.unescape(re.sub("<[^>]*>", "", page)).replace("\u200b", "")


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.text(NASTY, max_size=40))
@hypothesis_example("````")
@hypothesis_example("~~~ x")
@hypothesis_example("1. x")
@hypothesis_example("# x")
@hypothesis_example("&lt;b&gt; &#64;me")
def test_markdown_shows_text_unchanged(words):
    assert rendered(escape_markdown(words, 500)).strip("\n") == to_one_line(words)
    table = MARKDOWN.render(f"| a |\n| --- |\n| {escape_markdown(words, 500)} |")
    assert table.count("<td>") == 1
    assert html.unescape(re.search("<td>(.*)</td>", table, re.S)[1]).replace("\u200b", "") == to_one_line(words)
    assert (
        html.unescape(MARKDOWN.render("\n".join(format_code_block(words))))
        == f"<pre><code>{to_one_line(words)}\n</code></pre>\n"
    )


def allowed(token):
    return re.fullmatch(r"(<details><summary>[^<>]*</summary>|</details>)\n?", token.content)


@pytest.mark.parametrize("result", [example(), hostile()], ids=["usual", "hostile"])
def test_markdown_of_users_makes_no_html_links_or_pictures(result):
    text = result.to_markdown()
    assert len(text) <= MAX_BYTES
    tokens = [inner for token in MARKDOWN.parse(text) for inner in [token, *(token.children or ())]]
    kinds = {token.type for token in tokens}
    assert not kinds & {"image", "link_open", "html_inline"}
    assert "table_open" in kinds
    blocks = [token for token in tokens if token.type == "html_block"]
    assert blocks
    assert all(allowed(token) for token in blocks)
    assert sum("<details>" in token.content for token in blocks) == sum(
        "</details>" in token.content for token in blocks
    )
    outside = re.sub(r"(?ms)^(`{3,})\n.*?\n\1$", "", text)
    seen = html.unescape(re.sub("<[^>]*>", "", MARKDOWN.render(outside)))
    for pattern in (r"@\w", r"#\d", r"://", r"www\.", r"mailto:\w", r"GH-\d"):
        assert not re.search(pattern, seen), pattern


def test_markdown_has_the_verdict_findings_and_checks():
    source = example().to_markdown()
    text = rendered(source)
    assert source.startswith(f"# Check-up of credit.skops\n\n❌ **{escape_markdown(example().headline)}. ")
    assert "<details><summary>🔴 Fault&#58; The answer depends on the order of the columns</summary>" in source
    assert "288 of 300 cases tried: 96% (95% interval: 93.1% to 97.7%)" in text
    assert "- **More examples:**\n  - gender from male to female, at income 31,200: " in source
    assert "| gender | female | male |" in source
    assert source.count("<details>") == 4 + 4  # findings, a table, and groups of checks that did what they should
    assert "--only 'column order'\n```" in source
    assert "\n✅ **" in result_of(outcomes=(Outcome(check="answers", asks="?", state="passed"),)).to_markdown()


def test_markdown_fits_into_a_comment():
    many = result_of(*(finding(check=f"c{i}", title="<&" * 300, detail="|" * 3_000) for i in range(400)))
    text = many.to_markdown()
    assert len(text.encode()) <= MAX_BYTES
    assert re.search(r"\d+ more sections left out", text)
    assert re.search(r"The first \d+ of 400 rows are shown", text)
    assert re.search(r"more characters left out", text)


# -- for CI servers ---------------------------------------------------------------------------------------------------


def test_junit_has_a_case_for_each_check():
    root = ET.fromstring(AuditResult.to_junit(example()))
    assert root.tag == "testsuites"
    (suite,) = root
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped", "time")}
    assert counts == {"tests": "10", "failures": "3", "errors": "1", "skipped": "2", "time": "43.210"}
    assert {name: root.get(name) for name in counts} == counts
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert list(cases) == [outcome.check for outcome in example().outcomes]
    assert {case.get("classname") for case in cases.values()} == {"datamorphic.credit.skops"}
    failure = cases["protected"].find("failure")
    assert failure.get("type") == "concern"
    assert failure.get("message") == "The answer depends on gender alone"
    for part in ("37 of 1,000", "95% interval", "gender from female to male", "--only protected", "What to do:"):
        assert part in failure.text
    assert cases["learning"].find("skipped").get("message") == "a fitted model cannot be trained again"
    assert cases["row labels"].find("error").get("message") == "the model took longer than 10 s for a batch"
    assert len(cases["adequacy"]) == 1  # advice fails nothing
    assert "dm.select" in cases["adequacy"].find("system-out").text
    assert len(cases["answers"]) == 0


@pytest.mark.parametrize("level", ["fault", "concern", "advice"])
@pytest.mark.parametrize("state", ["found", "broke"])
def test_junit_fails_exactly_where_the_result_does(level, state):
    result = result_of(finding(level), finding("advice"), outcome=state)
    suite = ET.fromstring(AuditResult.to_junit(result))[0]
    assert (int(suite.get("failures")) + int(suite.get("errors")) == 0) == result.passed
    (case,) = suite.iter("testcase")
    assert sum(case.find(tag) is not None for tag in ("failure", "error", "skipped")) <= 1


def test_a_check_with_several_findings_fails_by_the_worst():
    root = ET.fromstring(
        AuditResult.to_junit(result_of(finding("concern", title="lesser"), finding("fault", title="worse")))
    )
    failure = root.find(".//failure")
    assert (failure.get("type"), failure.get("message")) == ("fault", "worse (and 1 more finding)")
    assert failure.text.index("worse") < failure.text.index("lesser")


def test_junit_is_valid_xml_with_any_text():
    text = AuditResult.to_junit(hostile())
    text.encode("utf-8")
    root = ET.fromstring(text)
    names = [case.get("name") for case in root.iter("testcase")]
    assert names[: len(EVIL)] == [cut(word, 200) for word in EVIL.values()]
    assert {element.tag for element in root.iter()} == {
        "testsuites",
        "testsuite",
        "properties",
        "property",
        "testcase",
        "failure",
        "error",
        "skipped",
        "system-out",
    }


# -- for code scanning ------------------------------------------------------------------------------------------------

#: the properties that the schema of SARIF 2.1.0 knows, of the objects that are used
KNOWN = {
    "log": {"$schema", "version", "runs"},
    "run": {"tool", "invocations", "columnKind", "results", "properties"},
    "driver": {"name", "version", "rules"},
    "rule": {"id", "name", "shortDescription"},
    "invocation": {"executionSuccessful", "commandLine", "toolExecutionNotifications"},
    "notification": {"level", "message", "associatedRule"},
    "result": {
        "ruleId",
        "ruleIndex",
        "kind",
        "level",
        "rank",
        "message",
        "locations",
        "partialFingerprints",
        "properties",
    },
    "location": {"physicalLocation", "logicalLocations"},
}


def unescaped(message):
    """The text of a message as readers of SARIF show it."""
    assert set(message) == {"text"}
    plain = message["text"].replace("{{", "{").replace("}}", "}")
    return re.sub(r"\\([\\\[\]])", r"\1", plain)


@pytest.mark.parametrize("result", [example(), hostile()], ids=["usual", "hostile"])
def test_sarif_follows_the_standard(result):
    text = format_sarif(result)
    text.encode("utf-8")
    log = json.loads(text)
    assert (log["version"], set(log)) == ("2.1.0", KNOWN["log"])
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    rules = driver["rules"]
    assert set(run) <= KNOWN["run"]
    assert set(driver) <= KNOWN["driver"]
    assert all(set(rule) <= KNOWN["rule"] for rule in rules)
    assert len({rule["id"] for rule in rules}) == len(rules)
    (invocation,) = run["invocations"]
    assert set(invocation) <= KNOWN["invocation"]
    assert invocation["executionSuccessful"] is False  # a check broke
    (notice,) = invocation["toolExecutionNotifications"]
    assert set(notice) <= KNOWN["notification"]
    assert len(run["results"]) == len(result.findings)
    for value, own_finding in zip(run["results"], result.findings, strict=True):
        assert set(value) <= KNOWN["result"]
        assert rules[value["ruleIndex"]]["id"] == value["ruleId"] == cut(own_finding.check, 4_000)
        assert value["level"] == {"fault": "error", "concern": "warning", "advice": "note"}[own_finding.level]
        assert unescaped(value["message"]).startswith(clean(own_finding.title))
        (location,) = value["locations"]
        assert set(location) == KNOWN["location"]
        assert value["properties"]["sure"] == own_finding.confidence
        if own_finding.cases_tried:
            assert value["properties"]["rate"] == own_finding.rate
            assert value["properties"]["interval"] == list(own_finding.interval)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text.replace("\n", ""))


def test_sarif_escapes_brackets_and_braces():
    log = json.loads(format_sarif(result_of(finding(title="see [this](http://x) {0} C:\\d"))))
    message = log["runs"][0]["results"][0]["message"]["text"]
    assert message.startswith("see \\[this\\](http://x) {{0}} C:\\\\d.")


def test_a_fingerprint_depends_on_check_and_subject_only():
    def prints(*findings, **more):
        results = json.loads(format_sarif(result_of(*findings, **more)))["runs"][0]["results"]
        return [tuple(sorted(result["partialFingerprints"].items())) for result in results]

    first = prints(finding(check="monotone", about="income"))
    again = prints(
        finding("concern", "monotone", "income", title="other", cases=3, cases_tried=9, confidence=0.5),
        seed=9,
        subject="x",
    )
    assert first == again
    others = prints(
        finding(check="monotone", about="age"), finding(check="monotone"), finding(check="invariant", about="income")
    )
    assert len({*first, *others}) == 4


@pytest.mark.parametrize(
    ("model", "uri"),
    [
        ("models/credit model.skops", "models/credit%20model.skops"),
        ("a\\b.onnx", "a/b.onnx"),
        ("./m.skops", "m.skops"),
        ("../else/where.skops", "where.skops"),
        ("/srv/secret/m.skops", "m.skops"),
        ("C:\\models\\m.skops", "m.skops"),
        ("package.module:model", "package/module.py"),
        ("größen:Model.best", "gr%C3%B6%C3%9Fen.py"),
        ("weka:IBk -K 3", "my%20data.csv"),
        ("https://host/predict", "my%20data.csv"),
        (None, "my%20data.csv"),
    ],
)
def test_a_finding_lies_in_a_file(model, uri):
    result = result_of(finding(about="income"), words={"model": model, "data": "my data.csv"})
    (location,) = json.loads(format_sarif(result))["runs"][0]["results"][0]["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == uri
    (logical,) = location["logicalLocations"]
    assert (logical["name"], logical["fullyQualifiedName"]) == ("income", "m/income")


@pytest.mark.parametrize("words", [{}, {"model": None, "data": "data:wine"}, {"data": ""}, {"data": "/"}])
def test_a_finding_has_a_location_without_any_file(words):
    """Code scanning refuses all of a log for one result without a file."""
    (location,) = json.loads(format_sarif(result_of(finding(), words=words)))["runs"][0]["results"][0]["locations"]
    assert location["physicalLocation"] == {"artifactLocation": {"uri": "datamorphic"}, "region": {"startLine": 1}}


def test_locations_are_relative_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = result_of(finding(), words={"model": str(tmp_path / "deep" / "m.skops")})
    assert '"uri": "deep/m.skops"' in format_sarif(result)
    assert str(tmp_path) not in format_sarif(result)


# -- all of them ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_exports_of_a_result_read_back_are_the_same():
    for result in (example(), dataclasses.replace(hostile(), front=None)):
        back = AuditResult.from_json(json.dumps(json.loads(result.to_json())))
        for export in EXPORTS[:4]:
            assert export(back) == export(result)


def test_exports_contain_no_passwords():
    words = {"model": "https://ada:secret@host/predict?token=topsecret", "data": "d.csv", "from_files": True}
    result = result_of(finding(), words=words)
    for export in EXPORTS:
        text = export(result)
        assert "secret" not in text
        assert "datamorphic test" in text


def test_an_empty_result_can_be_exported():
    empty = result_of(kind="", data="", budget="")
    for export in EXPORTS:
        assert export(empty)
