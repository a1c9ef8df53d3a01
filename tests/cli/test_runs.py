"""``datamorphic runs ...`` and what ``explore`` keeps, as users and machines call them."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.command import find_command
from datamorphic.cli.main import app
from datamorphic.runs import dask_engine as cluster
from datamorphic.runs.store import Store
from datamorphic.studies import workload
from datamorphic.studies.explorations import Exploration

MODULE = """
import os
import signal
import numpy as np

calls = 0

def rule(frame):
    print("the model talks")
    return np.where(frame["x"] * frame["y"] > 0.5, "high", "low")

def shifted(frame):
    return np.where(frame["x"] * frame["y"] > 0.75, "high", "low")

def other(frame):
    return rule(frame)

def broken(frame):
    raise RuntimeError("no licence")

def faulty(frame):
    if (frame["x"] == 0.25).any():
        raise ValueError("[red]out of stock[/red] \\x1b]0;owned\\x07")
    return rule(frame)

def stops(frame):
    '''At the call that the file stop names, once, as many Ctrl-C as it says, to us, our parent, or from nowhere.'''
    global calls
    calls += 1
    with open("calls", "a") as log:
        log.write(f"{len(frame)}\\n")
    try:
        with open("stop") as file:
            at, times, whom = map(int, file.read().split())
        if calls == at:
            os.unlink("stop")
            if whom == 2:
                raise KeyboardInterrupt
            for _ in range(times):
                os.kill(os.getppid(), signal.SIGINT) if whom else signal.raise_signal(signal.SIGINT)
    except FileNotFoundError:
        pass
    return rule(frame)
"""

US, PARENT, NOWHERE = range(3)  # who is told to stop

SHORT = ["--walks", 20, "--strategy", "random_target"]
BOX = ["explore", "--subject", "Box 1", "--strategy", "random_target", "--seeds", 20, "--walks", 20]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Call the command in a folder with a module, data, and a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "kept_rules", raising=False)
    monkeypatch.setenv("DATAMORPHIC_STORE", str(tmp_path / "runs.sqlite"))
    (tmp_path / "kept_rules.py").write_text(MODULE)
    pd.DataFrame({"x": [i / 40 for i in range(41)], "y": [0.5, 1.5] * 20 + [1.0]}).to_csv("data.csv", index=False)

    def call(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def document(run):
    """Call the command with --json and return what it printed, which must be JSON alone."""

    def call(*arguments, code=0):
        result = run(*arguments, "--json")
        assert result.exit_code == code, result.output
        return json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))

    return call


def in_a_process(*arguments):
    """Call the command in a process of its own, which hears Ctrl-C whatever this one does."""
    return subprocess.run(
        [sys.executable, "-m", "datamorphic", *map(str, arguments)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def with_ctrl_c(run, *arguments):
    """Call the command in this process, which hears one Ctrl-C as a shell's would."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return run(*arguments)
    finally:
        signal.signal(signal.SIGINT, handler)


def stop_at(call, times, whom):
    """Have the model stop the run at a call; the count begins anew."""
    Path("stop").write_text(f"{call} {times} {whom}")
    sys.modules.pop("kept_rules", None)


def interrupted(run, *more):
    """Leave a run that was interrupted, and return its number."""
    with Store.open() as store:
        before = len(store.runs())
    stop_at(3, 1, NOWHERE)
    result = run("explore", "kept_rules:stops", "data.csv", "--walks", 40, "--strategy", "random_walk", *more)
    assert result.exit_code == 130, result.output
    with Store.open() as store:
        runs = store.runs()
    assert len(runs) == before + 1
    assert runs[-1].state == "interrupted"
    return runs[-1].id


def state(number, store=None):
    with Store.open(store) as run_store:
        return run_store.run(number).state


def sha256(document, number, *more):
    (file,) = document("runs", "show", number, *more)["artifacts"]
    assert file["name"] == "front.parquet"
    return file["sha256"]


# -- runs that the user ends ------------------------------------------------------------------------------------------

STOPPING_SYSTEM = """
import signal
import numpy as np
import datamorphic as dm
from sklearn.tree import DecisionTreeClassifier

calls, stop_at = 0, None

def count_call():
    global calls
    calls += 1
    if calls == stop_at:
        signal.raise_signal(signal.SIGINT)

def model(frame):
    count_call()
    return np.where(frame["x"] ** 2 + frame["y"] ** 3 > 1, "in", "out")

class Learner(DecisionTreeClassifier):
    def fit(self, X, y, **options):
        count_call()
        return super().fit(X, y, **options)

class System:
    space = dm.Space([dm.Continuous("x", 0, 1, step=0.1)])

    @dm.seed_maker
    def left(self, rng, n=20):
        return self.space.sample(n, seed=rng) * 0.7

    @dm.datamorphism
    def right(self, p):
        count_call()
        return p.assign(x=(p.x + 0.1).clip(upper=1))

    @dm.metamorphism(of="right")
    def same(self, case, origin):
        return case.output == origin.output

    @dm.set_metric
    def mean_x(self, tests):
        return tests.input["x"].mean()

    @dm.executor
    def classify(self, p):
        count_call()
        return p.x > 0.5
"""
SYSTEM = "stopping_system:System"
STORING_COMMANDS = {
    "explore": ["explore", "stopping_system:model", "data.csv", *SHORT],
    "test": ["test", "stopping_system:model", "data.csv"],
    "check": ["check", "stopping_system:model", "data.csv"],
    "check of a learner": ["check", "stopping_system:Learner", "--inputs", 100, "--relation", "MR-0"],
    "combine": ["combine", SYSTEM, "--strategy", "permutationComplete"],
    "optimise": ["optimise", SYSTEM, "--strategy", "GAOptimizeWeakestRemoval", "--metric", "mean_x", "--max-cycles", 3],
    "laws": ["laws", SYSTEM, "--examples", 20],
    "script": ["script", "all.scr", "--system", SYSTEM],
    "study": ["study", "random_target"],
}


@pytest.fixture
def stopping_system(tmp_path, run, monkeypatch):
    """The module whose models and test system count their calls, and send one Ctrl-C at the call `stop_at`."""
    (tmp_path / "stopping_system.py").write_text(STOPPING_SYSTEM)
    (tmp_path / "all.scr").write_text("makeSeed([left])\nrandomTargetExplore(20,mid)\nanalyse([saveStatistics])\n")
    monkeypatch.delitem(sys.modules, "stopping_system", raising=False)
    module = importlib.import_module("stopping_system")
    measure = Exploration.measure

    def count_and_measure(self, *settings):
        module.count_call()
        return measure(self, *settings)

    monkeypatch.setattr(Exploration, "measure", count_and_measure)
    monkeypatch.setitem(workload.SCALES, "small", workload.SCALES["tiny"])
    monkeypatch.setattr(workload, "_outcomes", {})
    return module


@pytest.mark.slow
@pytest.mark.parametrize("command", STORING_COMMANDS.values(), ids=STORING_COMMANDS)
def test_a_run_that_the_user_ends_is_never_stored_as_finished(command, run, document, stopping_system):
    assert run(*command).exit_code in (0, 1)
    calls = stopping_system.calls
    states, ids = set(), {1}
    for stop_at in sorted({1 + share * (calls - 1) // 4 for share in range(5)}):
        stopping_system.calls, stopping_system.stop_at = 0, stop_at
        workload._outcomes.clear()
        exit_code = with_ctrl_c(run, *command).exit_code
        newest = document("runs", "list")[-1]
        if newest["id"] in ids:  # it ended before it was stored
            assert exit_code == 130
            continue
        ids.add(newest["id"])
        states.add(newest["state"])
        assert (newest["state"] == "interrupted") == (exit_code == 130), (stop_at, calls, newest)
        assert newest["state"] == "finished" or (newest["done"] != 1 and not newest["summary"].get("passed"))
    assert "interrupted" in states


# -- what explore keeps ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_is_kept_where_the_variable_says_and_tells_its_number(run, document):
    assert "kept as run 1: datamorphic runs show 1" in run(*BOX).stdout
    exploration = document(*BOX)
    assert exploration["run"] == 2
    (first, second) = document("runs", "list")
    assert (first["id"], second["id"]) == (1, 2)  # the newest last
    assert second["summary"]["pairs"] == exploration["pairs"]


def test_a_store_of_ones_own(run, document, tmp_path):
    assert document(*BOX, "--store", "mine.sqlite")["run"] == 1
    assert (tmp_path / "mine.sqlite").is_file()
    assert not (tmp_path / "runs.sqlite").exists()
    assert [item["id"] for item in document("runs", "list", "--store", "mine.sqlite")] == [1]
    assert document("runs", "list") == []


def test_no_store_keeps_nothing(run, document, tmp_path):
    exploration = document(*BOX, "--store", "none")
    assert exploration["run"] is None
    assert "kept" not in run(*BOX, "--store", "none").stdout
    assert not (tmp_path / "runs.sqlite").exists()


def test_the_store_of_the_user_where_nobody_names_one(run, document, tmp_path, monkeypatch):
    monkeypatch.delenv("DATAMORPHIC_STORE")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert document("runs", "list") == []  # and makes none
    assert not (tmp_path / "share").exists()
    assert document(*BOX)["run"] == 1
    assert (tmp_path / "share" / "datamorphic" / "runs.sqlite").is_file()


def test_a_folder_of_the_user_that_cannot_be_made_stops_no_run(run, tmp_path, monkeypatch):
    monkeypatch.delenv("DATAMORPHIC_STORE")
    (tmp_path / "share").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    result = run(*BOX, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["run"] is None
    assert "datamorphic: this run is not kept." in result.stderr
    assert "There are no runs in" in run("runs", "list").stdout
    asked_for = run("runs", "show", 1)
    assert asked_for.exit_code == 2
    assert "share" in asked_for.stderr


def test_a_store_changes_nothing_that_is_found(run, tmp_path):
    run(*BOX, "--save", "kept.parquet")
    run(*BOX, "--save", "alone.parquet", "--store", "none")
    assert (tmp_path / "kept.parquet").read_bytes() == (tmp_path / "alone.parquet").read_bytes()


def test_a_system_that_fails_altogether_is_kept_as_failed(run, document):
    result = run("explore", "kept_rules:broken", "data.csv")
    assert result.exit_code == 3
    (stored_run,) = document("runs", "list")
    assert stored_run["state"] == "failed"
    assert "no licence" in stored_run["message"]


# -- list and show -----------------------------------------------------------------------------------------------


def test_an_empty_store_says_how_to_begin(run, document):
    result = run("runs", "list")
    assert result.exit_code == 0
    assert "There are no runs" in result.stdout
    assert "datamorphic explore" in result.stdout
    assert document("runs", "list") == []


def test_the_list_is_a_line_a_run(run, document):
    run(*BOX)
    run("explore", "kept_rules:broken", "data.csv")
    header, *lines = run("runs", "list").stdout.splitlines()
    assert header.split() == ["run", "verb", "system", "state", "started", "took", "found"]
    assert [line.split()[0] for line in lines] == ["1", "2"]
    assert "finished" in lines[0]
    assert "pairs from 20 walks" in lines[0]
    assert "failed" in lines[1]
    first, _ = document("runs", "list")
    assert {"id", "verb", "state", "started", "seconds"} <= first.keys()
    assert (first["verb"], first["state"]) == ("explore", "finished")
    assert first["seconds"] > 0


@pytest.mark.slow
def test_all_that_is_known_of_a_run(run, document):
    run("explore", "kept_rules:rule", "data.csv", "--walks", 40, "--seed", 7)
    text = run("runs", "show", 1).stdout
    assert text.startswith("run 1: explore of rule, finished")
    for words in ("seed           7", "kept_rules:rule", "data.csv", "HOLDS", "front.parquet (", "numpy"):
        assert words in text
    assert "resume" not in text
    stored_run = document("runs", "show", 1)
    assert (stored_run["seed"], stored_run["done"], stored_run["parameters"]["walks"]) == (7, 1.0, 40)
    assert [item["verdict"] for item in stored_run["verdicts"]] == ["HOLDS", "HOLDS"]


def test_an_unfinished_run_says_how_to_go_on(run):
    run("explore", "kept_rules:broken", "data.csv")
    text = run("runs", "show", 1).stdout
    assert "Resume it: datamorphic runs resume 1" in text
    assert "no licence" in text


# -- diff --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_runs_side_by_side(run, document):
    how = ["data.csv", "--walks", 60, "--strategy", "random_target"]
    run("explore", "kept_rules:rule", *how)
    run("explore", "kept_rules:rule", *how, "--seed", 1)
    run("explore", "kept_rules:shifted", *how)
    same = run("runs", "diff", 1, 2)
    assert same.exit_code == 0, same.output
    assert same.stdout.splitlines()[0].split() == ["seed", "0", "->", "1"]
    difference = document("runs", "diff", 1, 2)
    assert (difference["first"], difference["second"], difference["unchanged"], difference["findings"]) == (
        1,
        2,
        True,
        [],
    )
    assert difference["changed"] == {"seed": [0, 1]}
    moved = run("runs", "diff", 1, 3, "--html", "difference.html")
    assert moved.exit_code == 1
    assert "moved" in moved.stdout
    assert "Cases to look at first" in Path("difference.html").read_text(encoding="utf-8")
    difference = document("runs", "diff", 1, 3, code=1)
    assert not difference["unchanged"]
    assert difference["findings"]
    assert difference["changed"]["model"] == ["kept_rules:rule", "kept_rules:shifted"]


@pytest.mark.slow
def test_a_run_without_a_front_cannot_be_compared(run):
    run(*BOX)
    run("explore", "kept_rules:broken", "data.csv")
    result = run("runs", "diff", 1, 2)
    assert result.exit_code == 2
    assert "no file 'front.parquet'" in result.stderr


# -- export ------------------------------------------------------------------------------------------------------


def test_a_run_as_files_of_every_ending(run, document, tmp_path):
    pairs = document(*BOX)["pairs"]
    for name in ("about.json", "front.parquet", "sub/pairs.csv", "page.html"):
        result = run("runs", "export", 1, "--to", name)
        assert result.exit_code == 0, result.output
        assert result.stdout.split() == [name]
    assert json.loads((tmp_path / "about.json").read_text())["id"] == 1
    assert len(dm.Front.load(tmp_path / "front.parquet")) == pairs
    assert len(pd.read_csv(tmp_path / "sub" / "pairs.csv")) == pairs
    assert "Capability" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_run_as_a_folder(run, document, tmp_path):
    run(*BOX)
    run("explore", "kept_rules:broken", "data.csv")
    assert run("runs", "export", 1).exit_code == 0
    names = ["front.parquet", "pairs.csv", "report.html", "run.json"]
    assert sorted(os.listdir(tmp_path / "run-1")) == names
    written = document("runs", "export", 1, "--to", "here")["files"]
    assert sorted(os.path.basename(file) for file in written) == names
    assert all(os.path.isfile(file) for file in written)
    assert document("runs", "export", 2)["files"] == [os.path.join("run-2", "run.json")]  # it has no front


@pytest.mark.slow
@pytest.mark.parametrize(
    ("to", "says"),
    [
        ("run.xlsx", "cannot be written as '.xlsx'. Use .json, .parquet, .csv, .html"),
        ("data.csv/run.json", "cannot be written to 'data.csv/run.json'"),
        ("folder.json", "folder.json is a folder. Name a file in it."),
    ],
)
def test_where_a_run_cannot_be_written(run, tmp_path, to, says):
    (tmp_path / "folder.json").mkdir()
    run(*BOX)
    result = run("runs", "export", 1, "--to", to)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""


def test_there_are_no_pairs_of_a_run_that_failed(run, tmp_path):
    run("explore", "kept_rules:broken", "data.csv")
    result = run("runs", "export", 1, "--to", "pairs.csv")
    assert result.exit_code == 2
    assert "has no files" in result.stderr
    assert not (tmp_path / "pairs.csv").exists()


# -- remove ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_runs_are_removed_with_their_files(run, document, tmp_path):
    for _ in range(3):
        run(*BOX)
    assert len(list((tmp_path / "runs.sqlite.files").rglob("*.parquet"))) == 3
    result = run("runs", "remove", 1, 3)
    assert (result.exit_code, result.stdout) == (0, "")
    assert [item["id"] for item in document("runs", "list")] == [2]
    assert len(list((tmp_path / "runs.sqlite.files").rglob("*.parquet"))) == 1
    assert document(*BOX)["run"] == 4  # a number is not given twice


def test_removing_tells_machines_too(run, document):
    run(*BOX)
    assert document("runs", "remove", 1) == {"removed": [1]}


# -- failures ----------------------------------------------------------------------------------------------------


def test_cases_that_failed_are_listed_and_forgotten(run, document):
    run("explore", "kept_rules:faulty", "data.csv", "--walks", 20, "--strategy", "random_target")
    known = document("runs", "failures")
    assert {failure["case"]["x"] for failure in known} == {0.25}
    assert {failure["system"] for failure in known} == {"kept_rules:faulty"}
    header, *lines = run("runs", "failures").stdout.splitlines()
    assert header.split()[:5] == ["case", "system", "relation", "verdict", "times"]
    assert len(lines) == len(known)
    assert all("x=0.25" in line and "[red]out of stock[/red]" in line for line in lines)
    assert "\x1b" not in "".join(lines)
    first, *rest = (failure["id"] for failure in known)
    left = document("runs", "failures", "--forget", first, "--forget", 999)
    assert [failure["id"] for failure in left] == rest
    for failure_id in rest:
        run("runs", "failures", "--forget", failure_id)
    assert "No failures are stored" in run("runs", "failures").stdout
    assert document("runs", "failures") == []


@pytest.mark.slow
def test_the_next_run_tells_what_became_of_them(run):
    how = ["data.csv", "--walks", 20, "--strategy", "random_target"]
    run("explore", "kept_rules:faulty", *how)
    assert "went first" in run("explore", "kept_rules:faulty", *how).stdout


@pytest.mark.slow
def test_a_case_with_a_missing_number_is_told_to_machines(run, document, tmp_path):
    frame = pd.read_csv("data.csv")
    frame.loc[::3, "x"] = np.nan
    frame.to_csv("data.csv", index=False)
    (tmp_path / "kept_rules.py").write_text(MODULE.replace('frame["x"] == 0.25', 'frame["x"].isna()'))
    run("explore", "kept_rules:faulty", "data.csv", "--walks", 20)
    assert "x=nan" in run("runs", "failures").stdout
    assert document("runs", "failures")[0]["case"]["x"] is None


def test_a_run_with_a_bad_number_does_not_spoil_the_list(run, document):
    assert run(*BOX, "--timeout", "inf").exit_code == 2
    assert isinstance(document("runs", "list"), list)


# -- resume ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_ctrl_c_tells_what_was_found_and_resume_finds_the_rest(run, document):
    how = ["explore", "kept_rules:stops", "data.csv", "--walks", 60, "--batch", 20, "--strategy", "random_walk"]
    undisturbed = run(*how, "--store", "whole.sqlite")
    assert undisturbed.exit_code == 0, undisturbed.stderr
    rows = sum(map(int, Path("calls").read_text().split()))
    os.unlink("calls")
    stop_at(6, 1, US)
    result = with_ctrl_c(run, *how)
    assert result.exit_code == 130, result.stderr
    assert "border" in result.stdout
    assert "The search was interrupted" in result.stdout
    assert "run 1 can be resumed: datamorphic runs resume 1" in result.stdout
    assert "Press Ctrl-C again" in result.stderr
    before = document("runs", "show", 1)
    assert before["state"] == "interrupted"
    assert before["done"] < 1
    exploration = document("runs", "resume", 1)
    assert exploration["run"] == 1
    assert not exploration["exhausted"]
    after = document("runs", "show", 1)
    assert (after["state"], after["done"]) == ("finished", 1.0)
    assert after["summary"] == document("runs", "show", 1, "--store", "whole.sqlite")["summary"]
    assert after["calls"] > before["calls"]
    assert sha256(document, 1) == sha256(document, 1, "--store", "whole.sqlite") != before["artifacts"][0]["sha256"]
    again = sum(map(int, Path("calls").read_text().split()))
    aside = again - rows  # what both sessions asked to say which features decide; nothing of the run itself
    assert aside < rows / 2


@pytest.mark.slow
def test_ctrl_c_reaches_a_run_whose_work_is_done_by_others(run, document):
    how = ["explore", "kept_rules:stops", "data.csv", "--walks", 20, "--batch", 5, "--strategy", "random_walk"]
    assert run(*how, "--store", "whole.sqlite").exit_code == 0
    stop_at(4, 1, PARENT)
    result = in_a_process(*how, "--engine", "processes", "--workers", 1, "--json")
    assert result.returncode == 130, result.stderr
    assert json.loads(result.stdout)["exhausted"]
    assert document("runs", "show", 1)["state"] == "interrupted"
    assert run("runs", "resume", 1, "--engine", "threads", "--workers", 2).exit_code == 0
    assert sha256(document, 1) == sha256(document, 1, "--store", "whole.sqlite")


@pytest.mark.slow
def test_two_ctrl_c_stop_at_once_and_resume_gives_all(run, document):
    how = ["explore", "kept_rules:stops", "data.csv", "--walks", 60, "--batch", 20, "--strategy", "random_walk"]
    assert run(*how, "--store", "whole.sqlite").exit_code == 0
    stop_at(6, 2, US)
    result = in_a_process(*how, "--json")
    assert result.returncode == 130, result.stderr
    assert result.stdout == ""
    assert "datamorphic: interrupted. run 1 can be resumed: datamorphic runs resume 1" in result.stderr
    assert "Traceback" not in result.stderr
    stored_run = document("runs", "show", 1)
    assert (stored_run["state"], stored_run["artifacts"]) == ("interrupted", [])
    assert stored_run["calls"] > 0
    assert run("runs", "resume", 1).exit_code == 0
    assert state(1) == "finished"
    assert sha256(document, 1) == sha256(document, 1, "--store", "whole.sqlite")


@pytest.mark.slow
def test_a_run_may_be_interrupted_again_and_again(run, document):
    number = interrupted(run, "--batch", 20)
    for _ in range(3):
        stop_at(2, 1, NOWHERE)
        result = run("runs", "resume", number)
        assert result.exit_code == 130, result.output
        assert state(number) == "interrupted"
    assert run("runs", "resume", number).exit_code == 0
    how = ["--walks", 40, "--strategy", "random_walk", "--batch", 20]
    assert run("explore", "kept_rules:stops", "data.csv", *how).exit_code == 0
    assert sha256(document, number) == sha256(document, number + 1)


@pytest.mark.slow
def test_ctrl_c_while_old_failures_go_first_ends_the_run(run):
    with Store.open() as store:
        from datamorphic.runs import failures

        failures.remember(store, "stops", "answers", [{"case": {"x": 0.25, "y": 0.5}}])
    stop_at(1, 1, US)
    result = with_ctrl_c(run, "explore", "kept_rules:stops", "data.csv", *SHORT)
    assert "Press Ctrl-C again" in result.stderr
    assert state(1) == "interrupted"
    assert result.exit_code in (0, 130)


@pytest.mark.slow
def test_ctrl_c_when_all_is_found_promises_nothing(run):
    how = ["explore", "kept_rules:stops", "data.csv", "--walks", 40, "--strategy", "random_target"]
    assert run(*how, "--store", "none").exit_code == 0
    stop_at(len(Path("calls").read_text().split()), 2, US)  # the last call asks which features decide
    result = with_ctrl_c(run, *how)
    assert result.exit_code == 130
    assert state(1) == "finished"
    assert "can be resumed" not in result.stderr


@pytest.mark.slow
def test_a_run_with_named_classes_is_resumed(run):
    number = interrupted(run, "--classes", "low,high", "--strategy", "random_target")
    assert run("runs", "resume", number).exit_code == 0
    assert state(number) == "finished"


@pytest.mark.slow
def test_a_run_with_a_described_space_is_resumed(run, tmp_path):
    (tmp_path / "space.toml").write_text('constraints = ["x <= 1"]\n[features]\ny = {low = 0, high = 3}\n')
    options = ["--space", "space.toml", "--name", "Ours", "--strategy", "random_target"]
    number = interrupted(run, *options)
    assert run("runs", "resume", number, "--save", "resumed.parquet").exit_code == 0
    assert state(number) == "finished"
    resumed = dm.Front.load(tmp_path / "resumed.parquet")
    assert (
        run("explore", "kept_rules:stops", "data.csv", "--walks", 40, *options, "--save", "whole.parquet").exit_code
        == 0
    )
    pd.testing.assert_frame_equal(resumed.pairs, dm.Front.load(tmp_path / "whole.parquet").pairs)
    assert resumed.space["y"].high == 3
    assert [str(constraint) for constraint in resumed.space.constraints] == ["x <= 1.0"]


@pytest.mark.slow
def test_whoever_stops_a_run_does_not_hear_that_the_system_failed(run):
    how = ["explore", "kept_rules:stops", "data.csv", "--walks", 40, "--strategy", "random_target"]
    assert run(*how, "--store", "none").exit_code == 0
    stop_at(len(Path("calls").read_text().split()), 1, NOWHERE)
    assert run(*how).exit_code != 3
    assert state(1) == "finished"


@pytest.mark.slow
def test_the_command_that_is_told_is_the_one_to_give(run):
    stop_at(3, 1, US)
    result = with_ctrl_c(run, "explore", "kept_rules:stops", "data.csv", *SHORT, "--store", "mine.sqlite")
    last_line = result.stdout.rstrip().splitlines()[-1]
    command = last_line.partition(": datamorphic ")[2].split()
    assert command[:3] == ["runs", "resume", "1"]
    assert run(*command).exit_code == 0


@pytest.mark.slow
def test_what_is_resumed_can_be_saved_and_reported(run, tmp_path):
    number = interrupted(run)
    result = run("runs", "resume", number, "--save", "front.parquet", "--html", "out/page.html")
    assert result.exit_code == 0, result.output
    assert f"kept as run {number}" in result.stdout
    assert len(dm.Front.load(tmp_path / "front.parquet")) > 0
    assert (tmp_path / "out" / "page.html").is_file()


@pytest.mark.slow
def test_a_resumed_run_is_found_from_any_folder(run, document, tmp_path, monkeypatch):
    number = interrupted(run)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert document("runs", "resume", number)["run"] == number


# -- what cannot be resumed --------------------------------------------------------------------------------------


def test_a_finished_run_is_not_gone_on_with(run):
    run(*BOX)
    result = run("runs", "resume", 1)
    assert result.exit_code == 2
    assert "Run 1 is finished and cannot be resumed" in result.stderr


def test_a_run_begun_in_python_goes_on_there(run):
    calls = []

    def model(frame):
        calls.append(len(frame))
        if len(calls) > 1:  # at first it is only tried
            raise KeyboardInterrupt
        return [0] * len(frame)

    dm.explore(model, pd.read_csv("data.csv"), walks=10, store="runs.sqlite", progress=False)
    assert state(1) == "interrupted"
    result = run("runs", "resume", 1)
    assert result.exit_code == 2
    assert "was started in Python" in result.stderr
    assert "resume=1" in result.stderr


@pytest.mark.slow
def test_changed_code_is_noticed_and_the_run_is_left_as_it_was(run, tmp_path):
    number = interrupted(run)
    (tmp_path / "kept_rules.py").write_text(MODULE.replace("> 0.5", "> 0.75"))
    result = run("runs", "resume", number)
    assert result.exit_code == 2
    assert f"The model has changed since run {number} began" in result.stderr
    assert state(number) == "interrupted"
    (tmp_path / "kept_rules.py").write_text(MODULE)
    assert run("runs", "resume", number).exit_code == 0


@pytest.mark.slow
def test_changed_data_are_noticed_and_the_run_is_left_as_it_was(run, tmp_path):
    number = interrupted(run)
    frame = pd.read_csv("data.csv")
    frame.assign(x=frame["x"] * 0.99).to_csv("data.csv", index=False)
    result = run("runs", "resume", number)
    assert result.exit_code == 2
    assert f"The data have changed since run {number} began, so it cannot be resumed" in result.stderr
    frame.iloc[:-2].to_csv("data.csv", index=False)
    fewer = run("runs", "resume", number)
    assert fewer.exit_code == 2
    assert f"The data have changed since run {number} began (41 seed cases then, 39 now)" in fewer.stderr
    os.unlink("data.csv")
    gone = run("runs", "resume", number)
    assert gone.exit_code == 2
    assert "data.csv" in gone.stderr
    assert state(number) == "interrupted"
    frame.to_csv("data.csv", index=False)
    assert run("runs", "resume", number).exit_code == 0


@pytest.fixture
def pickled(run, tmp_path):
    """Leave a run of a pickled model that another process was at work on when it was killed."""
    frame = pd.read_csv("data.csv").assign(target=lambda f: f.x > 0.3)
    frame.to_csv("labelled.csv", index=False)

    def fit(depth):
        tree = DecisionTreeClassifier(max_depth=depth, random_state=0)
        joblib.dump(tree.fit(frame[["x", "y"]], frame["target"] ^ (frame["y"] > 1)), "tree.joblib")

    fit(3)
    result = run("explore", "tree.joblib", "labelled.csv", "--target", "target", "--trust", *SHORT)
    assert result.exit_code == 0, result.output
    killed("runs.sqlite", 1)
    return fit


def killed(store, number):
    """Make a run look as if its process were gone in the middle of it."""
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE runs SET state = 'running', pid = 999999999 WHERE id = ?", [number])
    connection.close()
    assert state(number, store) == "killed"


@pytest.mark.slow
def test_a_pickle_needs_trust_again(run, pickled):
    result = run("runs", "resume", 1)
    assert result.exit_code == 2
    assert "--trust" in result.stderr
    assert state(1) == "killed"
    assert run("runs", "resume", 1, "--trust").exit_code == 0
    assert state(1) == "finished"


@pytest.mark.slow
def test_a_model_file_that_was_written_anew_is_noticed(run, pickled):
    pickled(1)
    result = run("runs", "resume", 1, "--trust")
    assert result.exit_code == 2
    assert "The model has changed since run 1 began" in result.stderr
    pickled(3)
    assert run("runs", "resume", 1, "--trust").exit_code == 0


def test_a_run_that_is_under_way_is_not_gone_on_with(run):
    with Store.open() as store:
        number = store.begin("explore", "stops", {"words": {}}, seed=0)
        listed = run("runs", "list").stdout
        assert "running" in listed
        removed = run("runs", "remove", number)
        assert removed.exit_code == 2
        assert f"Run {number} is still running: process {os.getpid()}" in removed.stderr


@pytest.mark.slow
def test_a_resume_that_was_refused_can_be_tried_again_in_the_same_process(run):
    stopping = True
    answers = "first"

    class Model:  # no two of them can be told apart
        def __reduce__(self):
            raise TypeError("cannot be pickled")

        def __call__(self, frame):
            calls.append(len(frame))
            if stopping and len(calls) == 4:
                raise KeyboardInterrupt
            high = frame["x"] > (0.5 if answers == "first" else 0.25)
            return np.where(high, "high", "low")

    def explore(resume=None):
        data = pd.read_csv("data.csv")
        return dm.explore(
            Model(), data, walks=40, name="m", store="runs.sqlite", resume=resume, batch=batch, progress=False
        )

    calls, batch = [], None
    explore()
    assert state(1) == "interrupted"
    stopping = False
    with sqlite3.connect("runs.sqlite") as connection:
        connection.execute("UPDATE answers SET fingerprint = 'x' || fingerprint")
    connection.close()
    with pytest.raises(dm.errors.StoreError, match="differs from the stored one"):
        explore(resume=1)
    with sqlite3.connect("runs.sqlite") as connection:
        connection.execute("UPDATE answers SET fingerprint = substr(fingerprint, 2)")
    connection.close()
    assert len(explore(resume=1)) > 0


# -- wrong use ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        *(
            [*command, *as_json]
            for command in (["show", 7], ["resume", 7], ["diff", 7, 1], ["diff", 1, 7], ["export", 7])
            for as_json in ([], ["--json"])
        ),
        ["remove", 7],
    ],
    ids=lambda command: " ".join(map(str, command)),
)
def test_a_run_that_never_was(run, command):
    run(*BOX[:-1], 2)
    result = run("runs", *command)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "There is no run 7 in" in result.stderr
    assert "The newest are 1." in result.stderr
    assert len(result.stderr.splitlines()) == 1


def folder(path):
    path.mkdir()


def newer(path):
    with Store.open(path):
        pass
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE schema SET version = 99")
    connection.close()


def foreign(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()


@pytest.mark.slow
@pytest.mark.parametrize("command", [BOX, ["runs", "list"], ["runs", "resume", 1], ["runs", "failures"]])
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (folder, "is a folder, but must be a file"),
        (lambda path: path.write_text("no database " * 100), "is not an SQLite database"),
        (newer, "was written by a newer version of datamorphic (schema 99"),
        (foreign, "is the database of another program"),
    ],
    ids=["folder", "text", "newer", "foreign"],
)
def test_a_store_that_is_none(run, tmp_path, command, make, says):
    make(tmp_path / "odd.sqlite")
    result = run(*command, "--store", "odd.sqlite", "--json")
    assert result.exit_code == 2
    assert says in result.stderr
    assert "name another store with --store" in result.stderr.lower().replace("\n", " ")
    assert result.stdout == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["runs", "list", "--store", "none"], "needs a run store"),
        (["runs", "list", "--store", "mysql://host/x"], "type 'mysql' are not supported"),
        (["runs", "list", "--store", "nowhere/runs.sqlite"], "There is no run store"),
        ([*BOX, "--store", "nowhere/runs.sqlite"], "is in a folder that does not exist"),
        (["runs", "show", "first"], "ID"),
        (["runs", "remove"], "Missing argument"),
        (
            [*BOX, "--workers", 2, "--engine", "serial"],
            "The serial engine has one worker, but 2 workers were requested",
        ),
        ([*BOX, "--workers", 2, "--engine", "processes:3"], "contradicts workers=2"),
        ([*BOX, "--workers", 2, "--engine", "dask://127.0.0.1:1"], "Leave workers out"),
        ([*BOX, "--workers", 0], "--workers"),
        ([*BOX, "--engine", "quantum"], "'serial', 'processes:2'"),
        ([*BOX, "--engine", "processes:0"], "workers"),
        ([*BOX, "--engine", "threads", "--timeout", 1], "cannot be stopped"),
        ([*BOX, "--batch", 0], "--batch"),
    ],
)
def test_wrong_use_is_told_with_its_remedy(run, arguments, says):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert says in " ".join(result.stderr.replace("│", " ").split())
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_a_contradiction_on_resume_leaves_the_run_as_it_was(run):
    number = interrupted(run)
    result = run("runs", "resume", number, "--workers", 2, "--engine", "serial")
    assert result.exit_code == 2
    assert "serial engine" in result.stderr
    assert state(number) == "interrupted"


@pytest.mark.slow
def test_a_cluster_where_nobody_listens(run, monkeypatch):
    pytest.importorskip("distributed", reason="pip install 'datamorphic[dask]'")
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT_SECONDS", 1)
    result = run(*BOX, "--engine", "dask://127.0.0.1:1")
    assert result.exit_code == 2
    assert "No Dask scheduler answers at dask://127.0.0.1:1" in result.stderr
    assert "dask scheduler" in result.stderr


# -- secrets -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:hunter2@127.0.0.1:1/x",
        "postgresql://127.0.0.1:1/x?password=hunter2",
        "postgresql://user:hunter2@127.0.0.1:1/x?password=hunter2&artifacts=ftp://me:hunter2@127.0.0.1/y",
        "postgresql://user:hunter2@hunter2@127.0.0.1:1/x",
        "mysql://user:hunter2@127.0.0.1/x",
        "sqlite://user:hunter2@127.0.0.1/x",
    ],
)
@pytest.mark.parametrize("command", [BOX, ["runs", "list"], ["runs", "resume", 1, "--json"]])
def test_no_password_is_told(run, monkeypatch, command, url):
    for result in (run(*command, "--store", url), (monkeypatch.setenv("DATAMORPHIC_STORE", url), run(*command))[1]):
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith("datamorphic: ")
        assert "hunter2" not in result.output


@pytest.mark.slow
def test_no_password_is_told_by_a_process(run):
    store = "postgresql://user:hunter2@127.0.0.1:1/x?password=hunter2"
    result = in_a_process("runs", "list", "--store", store)
    assert result.returncode == 2
    assert "hunter2" not in result.stdout + result.stderr


def test_a_stored_run_cannot_ask_for_trust_or_for_another_store():
    for verb in ("explore", "fairness"):
        assert not {"trust", "store", "engine", "resume", "progress"} & set(find_command(verb).request_keys)
