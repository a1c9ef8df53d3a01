"""The command ``optimise``: output, files, runs that are resumed, exit codes and wrong use."""

from __future__ import annotations

import json
import sys
from xml.etree import ElementTree

import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app

MODULE = """
import os
import numpy as np
import datamorphic as dm
from sklearn.tree import DecisionTreeClassifier

class Line:
    space = dm.Space([dm.Continuous("x", 0, 1, step=0.1)])

    @dm.seed_maker
    def left(self, rng, n=20):
        return self.space.sample(n, seed=rng) * 0.7

    @dm.datamorphism
    def right(self, p):
        return p.assign(x=(p.x + 0.1).clip(upper=1))

    @dm.set_metric
    def mean_x(self, tests):
        return tests.input["x"].mean()

    @dm.executor
    def classify(self, p):
        print("noise")
        if os.path.exists("stop"):
            os.remove("stop")
            raise KeyboardInterrupt
        return p.x > 0.5

def grade(x):
    if x > 0.95:
        return "top"
    return "low"

class Graded(Line):
    @dm.executor(scalar=True)
    def classify(self, x):
        return grade(x)

class Broken(Line):
    @dm.executor
    def classify(self, p):
        raise RuntimeError("out of order")

rows = Line.space.sample(50, seed=0)
tree = DecisionTreeClassifier(random_state=0).fit(rows, (rows.x * 6).astype(int))
"""
BOX = ["--subject", "Box 2", "--strategy", "GAOptimizeWeakestRemoval", "--seeds", "20", "--max-cycles", "3"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DATAMORPHIC_STORE", "none")
    (tmp_path / "line_tests.py").write_text(MODULE)
    monkeypatch.delitem(sys.modules, "line_tests", raising=False)  # that of the folder of another test
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["optimise", *map(str, words)], prog_name="datamorphic")


def test_text_and_files(folder):
    result = run(*BOX, "--html", "a/b.html", "--junit", "c.xml", "--save", "better.tcs")
    assert result.exit_code == 0
    assert result.stdout.startswith("Box 2: mean_nearest_distance")
    assert "The test set: better.tcs" in result.stdout
    assert "<svg" in (folder / "a" / "b.html").read_text()
    assert ElementTree.parse(folder / "c.xml").getroot().get("tests") == "1"
    assert len(dm.TestSet.load("better.tcs", dm.subjects["Box 2"].known_space())) == 20


def test_json_is_all_that_is_printed():
    result = run("line_tests:Line", "--metric", "mean_x", "--metric", "label_balance", "--max-cycles", 2, "--json")
    document = json.loads(result.stdout)
    assert document["metrics"] == ["mean_x", "label_balance"]
    assert document["interrupted"] is False
    assert document["run"] is None
    assert result.exit_code == 0


def test_code_coverage_is_measured_and_improved(folder):
    pd.DataFrame({"x": [0.1, 0.2, 0.3]}).to_csv("low.csv", index=False)
    words = ["--metric", "line_coverage", "--code", "line_tests.py:grade", "--json"]
    document = json.loads(run("line_tests:Graded", "--tests", "low.csv", "--max-cycles", 1, *words).stdout)
    assert document["start"] == {"line_coverage": 2 / 3}
    pd.DataFrame({"x": [0.1, 0.99]}).to_csv("both.csv", index=False)
    words[-3:] = ["--code", "line_tests:grade,line_tests:Graded.classify", "--json"]
    words = ["measure", "both.csv", "--system", "line_tests:Graded", *words, "--metric", "branch_coverage"]
    measured = CliRunner().invoke(app, ["cases", *words], prog_name="datamorphic")
    assert json.loads(measured.stdout)["metrics"] == {"line_coverage": 1.0, "branch_coverage": 1.0}
    assert (
        "no function or class" in run("line_tests:Graded", "--metric", "line_coverage", "--code", "line_tests:x").stderr
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cases.csv", "cases.parquet", "cases.tcs"])
def test_a_saved_test_set_is_improved_with_its_origins(name):
    assert run(*BOX, "--save", name).exit_code == 0
    document = json.loads(run("--subject", "Box 2", "--tests", name, "--max-cycles", 1, "--json").stdout)
    assert document["start_cases"] == 20
    saved = dm.TestSet.load(name, dm.subjects["Box 2"].known_space())
    assert (saved.origins >= 0).any()


@pytest.mark.slow
def test_plain_rows_and_a_tree(folder):
    rows = pd.DataFrame({"x": [0.1, 0.2, 0.3, 0.15], "label": [0, 1, 2, 0]})
    rows.to_csv("rows.csv", index=False)
    rows.to_parquet("rows.parquet")
    for name in ("rows.csv", "rows.parquet"):
        words = ["line_tests:Line", "--tests", name, "--target", "label", "--tree", "line_tests:tree", "--metric"]
        document = json.loads(run(*words, "leaf_coverage", "--max-cycles", 20, "--json").stdout)
        assert document["fitness"]["leaf_coverage"] > document["start"]["leaf_coverage"]
    words = ["line_tests:tree", "--tests", "rows.csv", "--target", "label", "--metric", "mutation_score"]
    assert json.loads(run(*words, "--max-cycles", 2, "--json").stdout)["cases"] == 4


@pytest.mark.slow
def test_an_interrupted_run_is_resumed(folder, monkeypatch):
    monkeypatch.setenv("DATAMORPHIC_STORE", "runs.sqlite")
    words = ["line_tests:Line", "--metric", "label_balance", "--max-cycles", 3]
    whole = json.loads(run(*words, "--json").stdout)
    (folder / "stop").touch()
    result = run(*words, "--json")
    assert result.exit_code == 130
    resumed = CliRunner().invoke(app, ["runs", "resume", "2", "--json", "--save", "tests.csv"])
    document = json.loads(resumed.stdout)
    changing = {"run", "seconds"}
    assert {k: v for k, v in document.items() if k not in changing} == {
        k: v for k, v in whole.items() if k not in changing
    }
    assert (folder / "tests.csv").exists()
    files = json.loads(CliRunner().invoke(app, ["runs", "export", "2", "--json"]).stdout)["files"]
    assert [file.partition("/")[2] for file in files] == ["run.json", "tests.parquet", "tests.csv"]
    assert "label_balance" in CliRunner().invoke(app, ["runs", "list"]).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "Say what to test"),
        ([*BOX, "--metric", "boarder_coverage"], 2, "Did you mean 'border_coverage'"),
        ([*BOX, "--strategy", "GAOptimize"], 2, "no strategy 'GAOptimize'"),
        ([*BOX, "--tests", "nowhere.csv"], 2, "nowhere.csv"),
        ([*BOX, "--mutant-ratio", "-1"], 2, "mutant_ratio"),
        ([*BOX, "--filters", "thin"], 2, "Filters are applied by GAOptimizeFilter"),
        ([*BOX, "--save", "cases.docx"], 2, "docx"),
        (["line_tests:Broken", "--metric", "border_coverage"], 3, "out of order"),
    ],
)
def test_wrong_use_and_failing_systems(words, code, message):
    result = run(*words)
    assert result.exit_code == code
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
