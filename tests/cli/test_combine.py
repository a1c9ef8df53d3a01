"""``datamorphic combine`` as users and machines call it."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app

MODULE = """
import numpy as np
import pandas as pd
import datamorphic as dm

print("this module talks")
stop_at = None

class Signs:
    space = dm.Space([dm.Integer("x", -100, 100), dm.Integer("y", -100, 100)])

    @dm.seed_maker
    def pairs(self):
        return pd.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})

    @dm.datamorphism
    def swapped(self, p):
        return p.assign(x=p.y, y=p.x)

    @dm.datamorphism
    def doubled(self, p):
        return 2 * p

    @dm.set_filter
    def few(self, tests):
        return tests.take(slice(0, 5))

    @dm.metamorphism(of="swapped")
    def order_is_irrelevant(self, case, origin):
        return case.output == origin.output

    @dm.executor
    def sign(self, p):
        global stop_at
        print("so does the system")
        if stop_at == 0:
            stop_at = None
            raise KeyboardInterrupt
        if stop_at is not None:
            stop_at -= 1
        return np.sign(p.x + p.y)

class Wrong(Signs):
    @dm.executor
    def sign(self, p):
        return np.where(p.x > 7, "large", "small")

class Failing(Signs):
    @dm.executor
    def sign(self, p):
        raise RuntimeError("no")
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talking_signs.py").write_text(MODULE)

    def call(*arguments):
        return CliRunner().invoke(app, [*map(str, arguments)])

    return call


def test_json_is_one_document_and_the_exit_code_tells_the_outcome(run):
    result = run("combine", "talking_signs:Signs", "--strategy", "permutationComplete", "--json", "--store", "none")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert (document["seeds"], document["estimate"], document["holds"], document["seed"]) == (3, 12, True, 0)
    result = run("combine", "talking_signs:Wrong", "--strategy", "permutationComplete", "--json", "--store", "none")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["violations"][0]["shortest"] == "doubled > swapped"


def test_text_and_files(run, tmp_path):
    result = run(
        *("combine", "talking_signs:Wrong", "--strategy", "k_order_complete(2)", "--datamorphisms", "swapped, doubled"),
        *("--html", "page.html", "--junit", "report.xml", "--save", "tests.parquet", "--store", "none"),
    )
    assert result.exit_code == 1
    assert "VIOLATED  order_is_irrelevant" in result.stdout
    assert "The test set: tests.parquet" in result.stdout
    assert "<failure" in (tmp_path / "report.xml").read_text()
    assert "shortest chain" in (tmp_path / "page.html").read_text()
    assert dm.TestSet.from_parquet(tmp_path / "tests.parquet").input.x.tolist()[:3] == [1, 2, 3]


def test_seed_cases_from_data_and_filters(run):
    pd.DataFrame({"x": [1, 5], "y": [4, 5], "label": ["a", "b"]}).to_csv("data.csv", index=False)
    options = ("--data", "data.csv", "--target", "label", "--filters", "few", "--json", "--store", "none")
    result = run("combine", "talking_signs:Signs", *options)
    document = json.loads(result.stdout)
    assert (document["seeds"], document["cases"]) == (2, 3)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["doubled.tcs", "doubled.csv", "doubled.parquet"])
def test_a_test_set_can_be_combined_further(run, file):
    once = ("combine", "talking_signs:Signs", "--datamorphisms", "doubled", "--store", "none")
    assert run(*once, "--save", file).exit_code == 0
    result = run(*once, "--data", file, "--json")
    assert (json.loads(result.stdout)["seeds"], json.loads(result.stdout)["cases"]) == (6, 3)


def test_an_estimate_makes_nothing(run):
    result = run("combine", "talking_signs:Failing", "--strategy", "combinatorialComplete", "--estimate")
    assert (result.exit_code, result.stdout) == (0, "up to 9 new cases\n")
    result = run(
        "combine", "--subject", "Box 1", "--seeds", 10, "--strategy", "permutationComplete", "--estimate", "--json"
    )
    assert json.loads(result.stdout)["estimate"] == 10 * (64 + 9 * (1 + 2 * 4 + 3 * 12 + 4 * 24 + 5 * 24))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["talking_signs:Signs", "--subject", "Box 1"], "Got 2 of them"),
        ([], "Got 0 of them"),
        (["--save", "x.txt"], "Known extensions: .parquet, .csv, .tcs"),  # before any work
        (["talking_signs:Signs", "--target", "x"], "no data are given"),
        (["talking_signs:Signs", "--strategy", "nonsense"], "no strategy 'nonsense'"),
        (["talking_signs:Signs", "--limit", "3"], "add --budget 3. Or give fewer"),
        (["talking_signs:Signs", "--datamorphisms", ","], "names separated by commas"),
    ],
)
def test_wrong_use_is_one_line(run, arguments, message):
    result = run("combine", *arguments, "--store", "none")
    assert result.exit_code == 2
    assert message in str(result.exception) or message in result.stderr


@pytest.mark.slow
def test_an_interrupted_run_can_be_resumed(run, tmp_path, monkeypatch):
    import importlib
    import sys

    from datamorphic.synthesis.combination import run as runner

    monkeypatch.setattr(runner, "MAX_CASES_PER_QUERY", 4)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("talking_signs", None)
    module = importlib.import_module("talking_signs")
    module.stop_at = 1
    store = ("--store", "runs.sqlite")
    result = run("combine", "talking_signs:Signs", "--strategy", "permutationComplete", "--seed", 3, *store)
    assert result.exit_code == 130
    assert "runs resume 1" in result.stdout
    result = run("runs", "resume", 1, "--json", *store)
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert (document["seed"], document["interrupted"], document["cases"]) == (3, False, 9)
    result = run("runs", "export", 1, "--to", "made.parquet", *store)
    assert len(dm.TestSet.from_parquet("made.parquet")) == 12
