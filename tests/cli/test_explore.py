"""``datamorphic explore`` as users and machines call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from support.cases import LONG

MODULE = """
import numpy as np
import datamorphic as dm

print("this module talks")

def rule(frame):
    print("so does the model")
    return np.where(frame["x"] > 0.5, "high", "low")

def shifted(frame):
    return np.where(frame["x"] > 0.6, "high", "low")

def broken(frame):
    raise RuntimeError("no\\n\\x1b]0;owned\\x07")

def loud(frame):
    global asked
    import os
    os.write(1, b"straight to the descriptor")
    if not asked:
        os.system("echo from a child process")
    asked += 1
    return np.where(frame["x"] > 0.5, "é", "ü")

def number(frame):
    return frame["x"] * frame["y"]

asked = 0

def one(x, y):
    return "high" if x * y > 0.5 else "low"

def whole(case):
    return one(**case) if case["x"] > 0 else "none"

def stopping(x, y):
    global asked
    asked += 1
    if asked == 100:
        raise KeyboardInterrupt
    return one(x, y)
"""

TARGETS = ["--strategy", "random_target"]
SHORT = ["--walks", "12", "--max-halvings", "6", *TARGETS]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talking_rules.py").write_text(MODULE)
    pd.DataFrame({"x": [i / 40 for i in range(41)], "y": [0.5, 1.5] * 20 + [1.0]}).to_csv("data.csv", index=False)

    def call(*arguments):
        return CliRunner().invoke(app, ["explore", *map(str, arguments)])

    return call


def test_json_has_what_the_contract_names(run):
    result = run("--subject", "Box 1", "--strategy", "random_target", "--walks", 300, "--seeds", 100, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    keys = "subject strategy walks pairs mutants runs calls capability cost seconds seed"
    assert set(keys.split()) <= document.keys()
    assert document["mutants"] == 2 * document["pairs"]
    assert document["capability"] == document["pairs"] / 300
    assert document["cost"] == document["runs"] / document["mutants"]
    front = dm.explore(dm.subjects["Box 1"], strategy="random_target", walks=300, seeds=100)
    assert (document["runs"], document["pairs"]) == (front.runs, len(front))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["random_walk", "directed_walk", "auto"])
def test_every_strategy_by_name(run, strategy):
    moves = ["--moves", "upward,downward"] if strategy == "directed_walk" else []
    result = run("--subject", "Sin 2", "--strategy", strategy, "--walks", 100, *moves, "--json")
    document = json.loads(result.stdout)
    assert document["strategy"] == strategy
    assert document["pairs"] > 10
    if moves:
        assert document["settings"]["moves"] == ["upward", "downward"]


@pytest.mark.slow
def test_a_function_and_a_file_of_data(run):
    result = run("talking_rules:rule", "data.csv", "--walks", 100, "--json")
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)  # what the user's code prints goes elsewhere
    assert document["borders"] == {"high | low": document["pairs"]}
    assert document["deciding"][0]["feature"] == "x"


@pytest.mark.slow
def test_a_model_file_needs_trust_where_it_is_a_pickle(run, tmp_path):
    import joblib

    frame = pd.read_csv(tmp_path / "data.csv").assign(target=lambda f: f.x > 0.3)
    joblib.dump(DecisionTreeClassifier().fit(frame[["x", "y"]], frame["target"]), tmp_path / "tree.joblib")
    frame.to_csv(tmp_path / "labelled.csv", index=False)
    assert run("tree.joblib", "labelled.csv", "--target", "target").exit_code == 2
    result = run("tree.joblib", "labelled.csv", "--target", "target", "--trust", *SHORT, "--json")
    assert json.loads(result.stdout)["pairs"] > 2


@pytest.mark.slow
def test_a_function_of_one_case(run):
    arguments = ["data.csv", "--walks", 10, "--max-halvings", 4, "--json"]
    exploration = run("talking_rules:one", *arguments, "--scalar")
    assert exploration.exit_code == 0, exploration.output
    assert json.loads(exploration.stdout)["borders"].keys() == {"high | low"}
    assert run("talking_rules:whole", *arguments, "--scalar", "--plan").exit_code == 0
    tested = ["test", "talking_rules:one", "data.csv", "--scalar", "--only", "repeats", "--store", "none"]
    result = CliRunner().invoke(app, tested)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "command", [["explore", "--walks", "20"], ["test", "--only", "repeats"]], ids=lambda words: words[0]
)
@pytest.mark.parametrize("rule", ["one", "whole"])
def test_functions_of_one_case_are_recognised(run, command, rule):
    result = CliRunner().invoke(app, [*command, f"talking_rules:{rule}", "data.csv", "--store", "none"])
    assert result.exit_code == 0, result.output
    assert f"{rule} takes one case at a time, which was found by trying it." in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", ["explore", "test"])
def test_a_function_that_answers_nothing_is_to_be_wrapped(run, command):
    result = CliRunner().invoke(app, [command, "talking_rules:broken", "data.csv", "--store", "none"])
    assert result.exit_code == 3, result.output
    assert "def predict(frame)" in result.stderr


@pytest.mark.slow
def test_a_run_of_a_function_of_one_case_can_be_resumed(run, tmp_path, monkeypatch):
    monkeypatch.setenv("DATAMORPHIC_STORE", str(tmp_path / "runs.sqlite"))
    stopped = run("talking_rules:stopping", "data.csv", "--walks", 20, "--scalar")
    assert "datamorphic runs resume 1" in stopped.output
    resumed = CliRunner().invoke(app, ["runs", "resume", "1", "--json"])
    assert resumed.exit_code == 0, resumed.output
    undisturbed = json.loads(run("talking_rules:one", "data.csv", "--walks", 20, "--scalar", "--json").stdout)
    assert json.loads(resumed.stdout)["pairs"] == undisturbed["pairs"] > 2


@pytest.mark.slow
def test_hints_for_columns(run, tmp_path, monkeypatch):
    monkeypatch.setenv("DATAMORPHIC_STORE", str(tmp_path / "runs.sqlite"))
    hints = ["--kind", "y=categorical", "--column-step", "x=0.1", "--bounds", "x=-1:2"]
    result = run("talking_rules:rule", "data.csv", *SHORT, *hints, "--save", "front.parquet")
    assert result.exit_code == 0, result.output
    space = dm.Front.load(tmp_path / "front.parquet").space
    assert (space["x"].low, space["x"].high, space["x"].step) == (-1, 2, 0.1)
    assert isinstance(space["y"], dm.Categorical)
    assert run("talking_rules:rule", "data.csv", "--plan", "--walks", 20, *hints).exit_code == 0  # stored as run 2
    sys.modules["talking_rules"].asked = 0
    stopped = run("talking_rules:stopping", "data.csv", "--walks", 20, "--scalar", "--bounds", "x=0:1")
    assert "datamorphic runs resume 3" in stopped.output
    resumed = CliRunner().invoke(app, ["runs", "resume", "3", "--json"])
    assert resumed.exit_code == 0, resumed.output
    refused = run("talking_rules:rule", "data.csv", "--kind", "y=word")
    assert refused.exit_code == 2
    assert "kinds=" not in refused.stderr


@pytest.mark.slow
def test_text_a_report_and_a_front_are_written(run, tmp_path):
    result = run("--subject", "Box 2", "--walks", 60, *TARGETS, "--html", "out/page.html", "--save", "front.parquet")
    assert result.exit_code == 0, result.output
    assert "border pairs from 60 walks" in result.stdout
    assert "For example:" in result.stdout
    assert "Capability" in (tmp_path / "out" / "page.html").read_text(encoding="utf-8")
    assert len(dm.Front.load(tmp_path / "front.parquet")) > 20


@pytest.mark.slow
def test_comparing_with_a_saved_front_finds_a_moved_border(run, tmp_path):
    arguments = ["data.csv", "--walks", 100, "--strategy", "random_target"]
    assert run("talking_rules:rule", *arguments, "--save", "old.parquet").exit_code == 0
    same = run("talking_rules:rule", *arguments, "--seed", 1, "--compare", "old.parquet", "--json")
    assert same.exit_code == 0, same.output
    assert json.loads(same.stdout)["difference"]["unchanged"]
    report = tmp_path / "moved.html"
    moved = run("talking_rules:shifted", *arguments, "--compare", "old.parquet", "--html", report)
    assert moved.exit_code == 1, moved.output
    assert "moved" in moved.stdout
    page = report.read_text(encoding="utf-8")
    assert 0 < page.index("Cases to look at first") < page.index("The border in a picture")


@pytest.mark.slow
def test_a_plan_before_a_long_run(run):
    result = run("--subject", "Line 1", "--walks", 500, "--plan")
    assert result.exit_code == 0
    assert "random_target is recommended for 500 walks" in result.stdout
    assert "as options: --strategy random_target" in result.stdout
    document = json.loads(run("--subject", "Line 1", "--walks", 500, "--plan", "--json").stdout)
    assert document["best"] == document["options"]["strategy"] == "random_target"
    assert {"strategy", "walk_distance", "capability", "cost", "balance"} <= document["curve"][0].keys()
    assert {row["strategy"] for row in document["strategies"]} == {"random_target", "directed_walk", "random_walk"}


def test_the_cost_without_pairs_is_null(run):
    result = run("--subject", "Box 1", "--walks", 0, "--json")
    document = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert document["pairs"] == 0
    assert document["cost"] is None


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"] if LONG else ["ascii"])
def test_json_is_strict_for_every_encoding_and_output_of_the_model(run, tmp_path, encoding):
    words = ["explore", "talking_rules:loud", "data.csv", *SHORT, "--store", "none", "--json"]
    command = [sys.executable, "-m", "datamorphic", *words]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    printed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True).stdout
    document = json.loads(printed.decode(encoding))
    assert document["borders"] == {"é | ü": document["pairs"]}
    assert document["pairs"] > 5


@pytest.mark.slow
def test_a_regressor_is_compared_by_the_border_it_had(run):
    assert run("talking_rules:number", "data.csv", "--walks", 60, "--save", "old.parquet").exit_code == 0
    again = run("talking_rules:number", "data.csv", "--walks", 60, "--seed", 3, "--compare", "old.parquet")
    assert again.exit_code == 0, again.output


@pytest.mark.slow
def test_a_file_that_cannot_be_written_is_reported_before_the_search(run, tmp_path):
    (tmp_path / "folder").mkdir()
    result = run("talking_rules:broken", "data.csv", "--save", "folder")
    assert result.exit_code == 2
    assert "is a folder" in result.stderr
    assert run("--subject", "Box 1", "--walks", 20, "--save", "new/front.parquet").exit_code == 0
    assert (tmp_path / "new" / "front.parquet").exists()


@pytest.mark.slow
def test_errors_are_one_line_without_control_characters(run):
    error = run("talking_rules:broken", "data.csv").stderr
    assert error.rstrip().splitlines()[-1].startswith("datamorphic: ")
    assert "\x1b" not in error


@pytest.mark.slow
def test_the_only_argument_beside_a_subject_is_the_data(run, tmp_path):
    dm.subjects["Box 1"].space.sample(50).to_csv(tmp_path / "points.csv", index=False)
    result = run("--subject", "Box 1", "points.csv", "--walks", 50, "--json")
    assert result.exit_code == 0, result.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 2, "Say what to test"),
        (["talking_rules:rule", "data.csv", "--subject", "Box 1"], 2, "Got both"),
        (["--subject", "Box 1", "--target", "z"], 2, "no data are given"),
        (["--subject", "Box 1", "--plan", "--save", "front.parquet"], 2, "--plan finds no front"),
        (["talking_rules:rule"], 2, "inputs to start from"),
        (["talking_rules:rule", "data.csv", "--data", "data.csv"], 2, "given twice"),
        (["talking_rules:none", "data.csv"], 2, "no 'none'"),
        (["nowhere.skops", "data.csv"], 2, "nowhere.skops"),
        (["talking_rules:rule", "nowhere.csv"], 2, "nowhere.csv"),
        (["--subject", "Box 9"], 2, "no subject 'Box 9'"),
        (["--subject", "Box 1", "--strategy", "hop"], 2, "'random_walk'"),
        (["--subject", "Box 1", "--walks", "-1"], 2, "walks"),
        (["--subject", "Box 1", "--moves", "sideways"], 2, "no move 'sideways'"),
        (["--subject", "Box 1", "--seeds", "0"], 2, "seeds"),
        (["--subject", "Box 1", "--budget", "much"], 2, "budget"),
        (["--subject", "Box 1", "--compare", "none.parquet"], 2, "no file none.parquet"),
        (["talking_rules:rule", "data.csv", "--target", "z"], 2, "'z' is not in the data"),
        (["talking_rules:broken", "data.csv"], 3, "failed on all"),
    ],
)
def test_wrong_use_is_one_line_with_its_exit_code(run, arguments, code, says):
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert says in result.stderr
    assert "Traceback" not in result.output


def test_a_call_on_a_test_system_is_recorded_as_a_script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ["explore", "--subject", "Box 1", "--walks", "20", "--budget", "200 runs", "--seed", "3"]
    result = CliRunner().invoke(app, [*arguments, "--record", "a.scr", "--store", "none", "--json"])
    assert result.exit_code == 0
    assert (tmp_path / "a.scr").read_text().splitlines()[1:] == [
        "loadTestSpec(Box 1)",
        "explore(walks=20;budget=200 runs;seed=3)",
    ]
    assert dm.play("a.scr").pool.runs == json.loads(result.stdout)["runs"]
