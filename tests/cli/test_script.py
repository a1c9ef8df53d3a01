"""The command ``datamorphic script``."""

from __future__ import annotations

import json
import sqlite3

import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app

SCRIPT = (
    "repeat(2)\n  makeSeed( [RandomValue30] )\nendRepeat()\nrandomTargetExplore(20,mid)\nanalyse([saveStatistics])\n"
)
SYSTEM = """
from pathlib import Path

import datamorphic as dm

class Parity:
    space = dm.Space([dm.Integer("n", 0, 100)])

    @dm.datamorphism
    def up(self, p):
        return p.assign(n=(p.n + 1).clip(upper=100))

    @dm.metamorphism(of="up")
    def same(self, cases, origins):
        return cases.output == origins.output

    @dm.executor
    def classify(self, p):
        if Path("stop").exists():
            raise KeyboardInterrupt
        return p.n % 2 == 0
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Run commands in a folder with a script and a test system."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("DATAMORPHIC_STORE", str(tmp_path / "runs.sqlite"))
    (tmp_path / "a.scr").write_text(SCRIPT)
    (tmp_path / "parity_tests.py").write_text(SYSTEM)
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, ["script", *words], prog_name="datamorphic")


def test_a_script_is_run_recorded_and_reported(folder):
    result = run(
        "a.scr",
        "--subject",
        "box_1",
        "--seed",
        "3",
        "--record",
        "b.scr",
        "--html",
        "a.html",
        "--junit",
        "a.xml",
        "--json",
    )
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert (document["commands"], document["subject"], document["run"], document["seed"]) == (4, "Box 1", 1, 3)
    assert document["files"] == ["ExpDataFile.csv"]
    assert (folder / "b.scr").read_text().startswith("//Recorded by datamorphic\nloadTestSpec(Box 1)\nsetSeed(3)\n")
    assert (folder / "a.html").exists()
    again = run("b.scr", "--store", "none", "--seed", "8")
    assert "b.scr: 6 commands run" in again.stdout
    lines = (folder / "ExpDataFile.csv").read_text().splitlines()
    assert len(lines) == 2
    assert lines[0] == lines[1]


def test_violations_exit_with_1_and_maps_name_test_systems(folder):
    (folder / "p.scr").write_text(
        "loadTestSpec(C:\\x\\ParityTest.class)\nmakeSeed([RandomValue5])\nmakeMutant([up])\nexecuteTestCases()\n"
        "checkMetamorphisms()\n"
    )
    result = run("p.scr", "--map", "ParityTest.class=parity_tests:Parity", "--store", "none")
    assert result.exit_code == 1, result.output
    assert "same: 5 violations in 5 cases" in result.stdout
    assert run("p.scr", "--store", "none").exit_code == 2
    both = run("p.scr", "--subject", "box_1", "--system", "parity_tests:Parity")
    assert (both.exit_code, "Give only one of them" in both.stderr) == (2, True)


def test_check_reports_all_problems_and_runs_nothing(folder):
    good = run("a.scr", "--check")
    assert good.exit_code == 0
    assert "a.scr: 4 commands, reads 0 files, writes 0 files. No mistake was found." in good.stdout
    assert "could not be checked" in good.stdout
    (folder / "bad.scr").write_text("makeSeeds([a])\nclean()\nrepeat(x)\n")
    bad = run("bad.scr", "--check")
    assert bad.exit_code == 2
    assert [line.split(": ")[0] for line in bad.stderr.splitlines()] == ["bad.scr:1:1", "bad.scr:3:8"]
    document = json.loads(run("bad.scr", "--check", "--json").stdout)
    assert [(problem["line"], problem["column"]) for problem in document["problems"]] == [(1, 1), (3, 8)]
    assert not (folder / "ExpDataFile.csv").exists()


def test_format_prints_the_script(folder):
    result = run("a.scr", "--format")
    assert result.stdout == SCRIPT.replace("  makeSeed( [RandomValue30] )", "    makeSeed([RandomValue30])").replace(
        "20,mid", "20;mid"
    )
    assert run("a.scr", "--format", "--check").exit_code == 2


def test_a_missing_script_is_one_line():
    result = run("none.scr", "--subject", "box_1")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "cannot be read" in result.stderr


def test_removing_a_run_that_failed_removes_the_copies_of_its_files(folder):
    (folder / "seeds.csv").write_text("x,y\n1,2\n")
    (folder / "bad.scr").write_text("saveMessage(notes.txt;begun)\nloadTestSet(seeds.csv)\nloadTestSet(broken.csv)\n")
    (folder / "broken.csv").write_text("x,y\n1,nothing\n")
    assert run("bad.scr", "--subject", "box_1").exit_code == 2
    assert list(folder.glob(".datamorphic-*"))
    removed = CliRunner().invoke(app, ["runs", "remove", "1"])
    assert removed.exit_code == 0, removed.output
    assert not list(folder.glob(".datamorphic-*"))


def test_a_run_of_an_earlier_version_is_resumed(folder):
    (folder / "p.scr").write_text("makeSeed([RandomValue5])\nexecuteTestCases()\nsaveMessage(notes.txt;done)\n")
    options = ["p.scr", "--system", "parity_tests:Parity", "--map", "Other=parity_tests:Parity", "--seed", "3"]
    whole = json.loads(run(*options, "--store", "none", "--json").stdout)
    (folder / "notes.txt").unlink()
    (folder / "stop").touch()
    assert run(*options).exit_code == 130
    (folder / "stop").unlink()
    with sqlite3.connect(folder / "runs.sqlite") as database:
        (text,) = database.execute("select parameters from runs").fetchone()
        parameters = json.loads(text)
        maps = ["Other=parity_tests:Parity"]
        script = {"script": str(folder / "p.scr"), "subject": None, "system": "parity_tests:Parity", "maps": maps}
        earlier = {name: parameters[name] for name in ("script", "commands", "scripts", "inputs", "backup", "timeout")}
        earlier["words"] = script | {"seed": 3, "timeout": None}
        database.execute("update runs set parameters = ?", [json.dumps(earlier)])
    database.close()
    resumed = CliRunner().invoke(app, ["runs", "resume", "1", "--json"])
    assert resumed.exit_code == 0, resumed.output
    document = json.loads(resumed.stdout)
    assert {name for name in whole if document[name] != whole[name]} <= {"seconds", "run"}
    assert (folder / "notes.txt").read_text() == "done\n"
    assert not list(folder.glob(".datamorphic-*"))


@pytest.mark.parametrize(
    ("words", "start"),
    [
        (
            ["explore", "--strategy", "random_target", "--walks", "20", "--seeds", "30"],
            "explore(strategy=random_target;",
        ),
        (["combine", "--seeds", "3"], "combine(seeds=3;"),
        (["optimise", "--seeds", "10", "--max-cycles", "2"], "optimise(seeds=10;"),
    ],
)
def test_a_command_is_recorded_and_replays_to_the_same_test_set(folder, words, start):
    done = CliRunner().invoke(
        app, [*words, "--subject", "Box 1", "--seed", "4", "--record", "b.scr", "--store", "none"]
    )
    assert done.exit_code == 0, done.output
    line = (folder / "b.scr").read_text().splitlines()[-1]
    assert line.startswith(start)
    assert ";seed=4" in line
    replayed, box = dm.play(folder / "b.scr").tests, dm.subjects["Box 1"]
    if words[0] == "explore":
        front = dm.explore(box, strategy="random_target", walks=20, seeds=30, seed=4)
        assert len(replayed) == len(front.seeds) + front.mutants
        return
    result = (
        dm.combine(box, seeds=3, seed=4) if words[0] == "combine" else dm.optimise(box, seeds=10, max_cycles=2, seed=4)
    )
    pd.testing.assert_frame_equal(replayed.input, result.tests.input)
