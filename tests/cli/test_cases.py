"""``datamorphic cases ...``: test sets in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from support.loans import SPACE, Loans

SYSTEM = ("--system", "support.loans:Loans")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Call a command in a folder that holds seeds.csv and judged.parquet."""
    monkeypatch.chdir(tmp_path)
    system = dm.TestSystem.collect(Loans)
    seeds = system.make_seeds()
    seeds.save("seeds.csv")
    tests = dm.TestSet.concat([seeds, system.mutate("raise_income", seeds)])
    tests.save("tests.tcs")
    system.judge(system.execute(tests)).save("judged.parquet")

    def call(*words, code=0):
        result = CliRunner().invoke(app, ["cases", *map(str, words)], prog_name="datamorphic")
        assert result.exit_code == code, (result.output, result.exception)
        return json.loads(result.stdout) if "--json" in words else result.stdout + (result.stderr if code == 2 else "")

    return call


def test_a_session_from_seeds_to_verdicts(run):
    assert "2 cases (2 original" in run("apply", "applicants", *SYSTEM, "--n", 2, "--to", "a.tcs")
    assert "4 cases (2 original, 2 mutants" in run("apply", "raise_income", "a.tcs", *SYSTEM, "--to", "b.tcs")
    assert "4 runs, 4 model calls" in run("execute", "b.tcs", *SYSTEM, "--to", "c.tcs")
    assert "0 incorrect" in run("judge", "c.tcs", *SYSTEM, "--to", "d.tcs")
    assert "correctness:income_helps:pass;" in Path("d.tcs").read_text()
    document = run("judge", "judged.parquet", *SYSTEM, "--html", "a.html", "--junit", "a.xml", "--json", code=1)
    assert (document["incorrect"], document["failures"][0]["lineage"]) == (1, [2])
    assert "income_helps" in Path("a.html").read_text()
    assert 'failures="1"' in Path("a.xml").read_text()


def test_cases_are_shown_and_counted(run):
    text = run("show", "judged.parquet", "--where", "correctness=incorrect")
    assert "judged.parquet: 1 case (0 original, 1 mutant, 1 executed)" in text
    assert "5   100     full  no      raise_income  2     incorrect" in text
    assert [row["id"] for row in run("show", "judged.parquet", "--id", 4, "--json")["rows"]] == [4, 1]
    assert "... and 5 more cases" in run("show", "judged.parquet", "--rows", 1)
    assert run("count", "judged.parquet", "--by", "label", "--json")["counts"] == [
        {"value": "no", "cases": 3},
        {"value": "yes", "cases": 3},
    ]
    assert "not judged   3" in run("count", "judged.parquet", "--by", "correctness")


def test_sets_are_filtered_sorted_merged_edited_and_converted(run):
    assert run("filter", "judged.parquet", "--where", "income>=60", "--to", "f.csv", "--json")["cases"] == 4
    assert [row["id"] for row in run("filter", "judged.parquet", "--where", "income>=60", "--json")["rows"]] == [
        *[1, 2, 4, 5]
    ]
    assert [row["id"] for row in run("sort", "seeds.csv", "--by", "income", "--descending", "--json")["rows"]] == [
        *[2, 1, 0]
    ]
    assert run("merge", "seeds.csv", "tests.tcs", *SYSTEM, "--to", "m.parquet", "--json")["cases"] == 6
    assert run("merge", "seeds.csv", "seeds.csv", "--keep-duplicates", "--json")["cases"] == 6
    run("merge", "seeds.csv", "seeds.csv", "--keep-duplicates", "--to", "double.csv")
    assert run("filter", "double.csv", "--unique", "--json")["cases"] == 3
    assert "-       edit" in run("edit", "judged.parquet", "--id", 4, "--set", "income=7.5", "--set", "job=none")
    run("edit", "judged.parquet", "--id", 4, "--set", "income=7.5", "--to", "e.parquet")
    assert dm.TestSet.load("e.parquet").input["income"].tolist() == [30, 60, 90, 40, 7.5, 100]
    run("convert", "judged.parquet", "judged.tcs")
    assert dm.TestSet.load("judged.tcs", SPACE).correctness.tolist() == [0, 0, 0, 1, 1, 2]


def test_names_of_features_come_from_data(run):
    dm.TestSystem.collect(Loans).make_seeds().input.assign(loan="no").to_csv("rows.csv", index=False)
    run("convert", "tests.tcs", "named.csv", "--data", "rows.csv", "--target", "loan")
    assert Path("named.csv").read_text().startswith("id,in.income,in.job,")


def test_sets_are_measured(run):
    text = run("measure", "judged.parquet", *SYSTEM, "--runs", 12, "--metric", "total", "--metric", "label_balance")
    facts = dict(line.split(":", 1) for line in text.splitlines() if line.startswith("#"))
    assert {name: int(value) for name, value in facts.items()} == {
        "#Runs": 12,
        "#Test Cases": 6,
        "#Original TC": 3,
        "#Mutants": 3,
    }
    assert "total: 390\nlabel_balance: 1\n" in text
    document = run("measure", "judged.parquet", "--metric", "label_balance", "--html", "m.html", "--json")
    assert document["metrics"] == {"label_balance": 1.0}
    assert document["runs"] == 6


@pytest.mark.parametrize(
    ("morphism", "options", "expected"),
    [
        ("total", (), "total: 390.0"),
        ("size", ("--kind", "case_metric", "--rows", 1), "0   30.0\n... and 5 more cases"),
        ("rich", (), "4 cases"),
        ("first_two", (), "2 cases"),
        ("report", (), "6 applicants"),
        ("statistics", (), "#Runs"),
        ("failures", (), "5   100.0      full    no      applicants > raise_income  2"),
        ("distances", ("--rows", 1), "id  nearest  distance\n0   "),
        ("mid", ("--seed", 2), "12 cases"),
        ("decide", (), "6 executed"),
        ("total", ("--where", "job=none"), "total: 70.0"),
    ],
)
def test_single_morphisms_are_invoked(run, morphism, options, expected):
    assert expected in run("apply", morphism, "judged.parquet", *SYSTEM, *options)


def test_invocations_as_json(run):
    document = run("apply", "report", "judged.parquet", *SYSTEM, "--json")
    assert (document["morphism"], document["kind"], document["answer"]) == ("report", "analyser", "6 applicants")
    assert run("apply", "size", "seeds.csv", *SYSTEM, "--kind", "case_metric", "--json")["values"][2] == {
        "id": 2,
        "value": 90.0,
    }
    assert len(run("apply", "mid", "seeds.csv", *SYSTEM, "--json")["rows"]) == 6
    assert run("apply", "statistics", "judged.parquet", "--json")["answer"]["incorrect"] == 1
    assert run("apply", "failures", "judged.parquet", "--json")["answer"][0]["lineage"] == "2"


def test_a_violated_metamorphism_is_a_finding(run):
    text = run("apply", "income_helps", "judged.parquet", *SYSTEM, code=1)
    assert "income_helps: holds for 2 cases, violated by 1" in text
    values = run("apply", "income_helps", "judged.parquet", *SYSTEM, "--json", code=1)["values"]
    assert values[5] == {"id": 5, "value": "violated"}


def test_models_and_subjects_execute_cases(run):
    rows = run("execute", "seeds.csv", "--system", "support.loans:approve_all", "--json")["rows"]
    assert [row["output"] for row in rows] == ["yes", "yes", "yes"]
    assert run("apply", "RandomValues", "--subject", "Box 1", "--n", 4, "--to", "b.tcs", "--json")["cases"] == 4
    partly = run("execute", "b.tcs", "--subject", "box_1", "--budget", "3 runs", "--to", "c.tcs", "--json")
    assert (partly["executed"], partly["runs"]) == (3, 3)
    rest = run("execute", "c.tcs", "--subject", "box_1", "--only-missing", "--json")
    assert (rest["executed"], rest["runs"]) == (4, 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("execute", "missing.csv", "--to", "x.txt"), "Known extensions: .parquet, .csv, .tcs"),  # before any work
        (("execute", "seeds.csv"), "Say which test system to use: --system module:Class, or --subject NAME."),
        (("judge", "seeds.csv", *SYSTEM), "have no outputs. Execute them first: datamorphic cases execute seeds.csv"),
        (("show", "seeds.csv", "--where", "incme=3"), "Did you mean 'income'?"),
        (("show", "seeds.csv", "--target", "loan"), "Add --data FILE."),
        (("show", "seeds.csv", "--id", "77"), "no test case with id 77"),
        (("show", "nowhere.tcs"), "There is no file 'nowhere.tcs'."),
        (("edit", "judged.parquet", "--id", "0", "--set", "job=boss"), "'boss', the value of 'job', is not one of"),
        (("apply", "total", "seeds.csv"), "has no morphism named 'total'"),
        (("apply", "applicants"), "Say which test system has this morphism"),
        (("apply", "up_income", "--system", "support.loans:approve_all"), "is a model, not a test system"),
        (("sort", "seeds.csv", "--by", "debt"), "have no 'debt'"),
        (("convert", "seeds.csv", "out.xlsx"), "Known extensions: .parquet, .csv, .tcs"),
    ],
)
def test_wrong_use_is_one_line(run, words, message):
    output = run(*words, code=2)
    assert message in output
    assert len(output.splitlines()) == 1
