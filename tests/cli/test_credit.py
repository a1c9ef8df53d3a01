"""``datamorphic credit`` as users and machines call it."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app

MODULE = """
import datamorphic as dm

print("this module talks")

def law(frame):
    return dm.data.default_probability(frame)

def upside_down(frame):
    return 1 - dm.data.default_probability(frame)
"""
QUICK = ("--ladder", "logistic_regression", "--repetitions", 1)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "loan_models.py").write_text(MODULE)
    dm.data.make_loan_book(800, seed=1).to_csv("loans.csv", index=False)
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["credit", *map(str, words)], prog_name="datamorphic")


@pytest.mark.slow
def test_a_ladder_on_a_file_with_all_outputs(folder):
    result = run("loans.csv", *QUICK, "--verdict", "v.html", "--html", "a/b.html", "--junit", "c.xml")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("Use logistic regression.")
    assert "loans.csv: 800 loans" in result.stdout
    assert "The verdict: v.html" in result.stdout
    assert "Credit model verdict" in (folder / "v.html").read_text()
    assert "Ranking power against violations" in (folder / "a" / "b.html").read_text()
    assert ElementTree.parse(folder / "c.xml").getroot().get("failures") == "0"


def test_json_is_all_that_is_printed():
    result = run("loan_models:law", "loans.csv", "--also", "other=loan_models:upside_down", "--json")
    document = json.loads(result.stdout)
    assert [model["model"] for model in document["models"]] == ["loan_models:law", "other"]
    assert document["selected"] == "loan_models:law"
    assert list(document["choice"]["rejected"]) == ["other"]
    assert result.exit_code == 1


@pytest.mark.slow
def test_a_good_model_passes_and_a_bad_one_fails():
    assert run("loan_models:law", "loans.csv").exit_code == 0
    rejected = run("loan_models:upside_down", "--data", "loans.csv")
    assert rejected.exit_code == 1
    assert rejected.stdout.startswith("Reject loan_models:upside_down")


def test_a_spent_budget_makes_the_verdict_incomplete():
    words = ("loan_models:law", "loans.csv", "--also", "other=loan_models:law", "--budget", "5000 runs")
    incomplete = run(*words)
    assert incomplete.exit_code == 4, incomplete.output
    assert incomplete.stdout.startswith(
        "Incomplete: the budget was spent before everything was measured. So far: Accept"
    )
    allowed = run(*words, "--allow-incomplete", "--json")
    assert allowed.exit_code == 0
    assert not json.loads(allowed.stdout)["complete"]


@pytest.mark.slow
def test_promises_other_columns_and_later_loans(folder):
    (folder / "bank.promises").write_text("outcome: default\nltv: raises default, 999 means unavailable\n")
    document = json.loads(run("loans.csv", *QUICK, "--promises", "bank.promises", "--json").stdout)
    assert list(document["relations"]) == ["ltv"]
    dm.data.make_loan_book(300, seed=2).rename(columns={"credit_score": "fico"}).to_csv("other.csv", index=False)
    document = json.loads(
        run("other.csv", *QUICK, "--column", "credit_score=fico", "--additive", "--later", "other.csv", "--json").stdout
    )
    assert document["relations"]["credit.HMR1+"].startswith("fico + 70")
    assert document["settings"]["test_loans"] == 300


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("loan_models:law",), "DATA is missing"),
        (("loans.csv", "--also", "x=loan_models:law"), "there is no MODEL"),
        (("loan_models:law", "loans.csv", "--also", "loan_models:law"), "takes a name and a model"),
        (("loan_models:law", "loans.csv", "--also", "loan_models:law=loan_models:law"), "already a model"),
        (("loans.csv", "--target", "lost"), "no column 'lost'"),
        (("loans.csv", "--column", "fico"), "takes ROLE=COL"),
        (("loans.csv", "--ladder", "stairs"), "no family of models 'stairs'"),
        (("loans.csv", "--promises", "none.txt"), "cannot be read"),
        (("missing.csv",), "missing.csv"),
    ],
)
def test_wrong_use_is_one_line(words, message):
    result = run(*words)
    assert result.exit_code != 0
    assert message in str(result.exception) + result.stderr


def test_a_loan_that_cannot_be_is_reported_with_its_line_or_left_out(folder):
    lines = (folder / "loans.csv").read_text().splitlines()
    lines[2] = ",".join(["12", *lines[2].split(",")[1:]])
    (folder / "bad.csv").write_text("\n".join(lines))
    refused = run("bad.csv", *QUICK)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("datamorphic: bad.csv:3: credit_score is 12, outside 300 to 850")
    assert "--invalid drop" in refused.stderr
    dropped = run("bad.csv", *QUICK, "--invalid", "drop")
    assert dropped.exit_code == 0, dropped.stderr
    assert "bad.csv: 799 loans" in dropped.stdout


def test_performance_needs_a_file_of_freddie_mac():
    result = run("loans.csv", "--performance", "perf.txt")
    assert result.exit_code == 2
    assert "belongs to a file of Freddie Mac" in result.stderr
    missing = run("orig.txt", "--performance", "perf.txt")
    assert missing.exit_code == 2
    assert "orig.txt" in missing.stderr
