"""The command line: what it prints, where, and how it exits."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app

TESTS = Path(__file__).parents[1]


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def test_laws_of_a_subject(run):
    result = run("laws", "--subject", "box 1", "--examples", "5")
    assert result.exit_code == 0
    assert result.stdout.count("HOLDS") == 10
    assert "BROKEN" not in result.stdout


@pytest.mark.slow
def test_broken_laws_exit_with_one(run, monkeypatch):
    monkeypatch.chdir(TESTS)
    result = run("laws", "support.faulty_systems:WineMidpoint", "--examples", "30")
    assert result.exit_code == 1
    assert "BROKEN" in result.stdout
    lines = result.stdout.splitlines()
    place = next(number for number, line in enumerate(lines) if "BROKEN" in line and "midpoint" in line)
    assert "'total sulfur dioxide' from 6 to 3.5" in lines[place + 1]


@pytest.mark.slow
def test_json_is_one_document_and_nothing_else(run, monkeypatch):
    monkeypatch.chdir(TESTS)
    result = run("laws", "support.faulty_systems:BankLastCategory", "--examples", "10", "--json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["system"] == "BankLastCategory"
    assert document["seed"] == 0
    states = {law["law"]: law["state"] for law in document["laws"]}
    assert states["completeness"] == "BROKEN"
    assert states["locality"] == "HOLDS"


@pytest.mark.slow
def test_laws_of_data_with_hints(run):
    words = ("laws", "--data", "data:iris", "--target", "target", "--examples", "20")
    result = run(*words, "--kind", "petal length (cm)=categorical")
    assert result.exit_code == 0
    result = run(*words, "--bounds", "petal length (cm)=9:1")
    assert "reversed" in result.stderr
    result = run("laws", "--subject", "box 1", "--kind", "x=integer")
    assert "need --data" in result.stderr


@pytest.mark.slow
def test_laws_of_data(run, tmp_path):
    dm.data.load("iris").to_csv(tmp_path / "iris.csv", index=False)
    for data in ("data:iris", "iris.csv"):
        result = run("laws", "--data", data, "--target", "target", "--examples", "40")
        assert result.exit_code == 0, result.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["laws"], "Say what to check"),
        (["laws", "a:b", "--subject", "Box 1"], "Got 2 of them"),
        (["laws", "--subject", "Sphere"], "There is no subject 'Sphere'"),
        (["laws", "no_such_module:X"], "There is no module 'no_such_module'"),
        (["laws", "../evil:X"], "Write module:object"),
        (["laws", "json:Dumper"], "'json' has no 'Dumper'"),
        (["laws", "json"], "has no marked functions"),
        (["laws", "broken_module:X"], "Importing 'broken_module' failed: ZeroDivisionError"),
        (["laws", "--data", "nowhere.csv"], "There is no file 'nowhere.csv'"),
        (["laws", "--data", "data:nowhere"], "There is no data set 'nowhere'"),
        (["laws", "--data", "data:iris", "--target", "specis"], "'specis' is not in the frame"),
        (["laws", "--data", "table.xls"], "is not understood as a table"),
        (["laws", "--subject", "Box 1", "--examples", "0"], "--examples"),
        (["nonsense"], "No such command"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_two(run, tmp_path, arguments, words):
    (tmp_path / "broken_module.py").write_text("1 / 0")
    (tmp_path / "table.xls").write_text("")
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


@pytest.mark.slow
def test_a_failing_system_exits_with_three(run, tmp_path):
    (tmp_path / "failing_system.py").write_text(
        "import datamorphic as dm\n"
        "class Failing:\n"
        "    space = dm.Space([dm.Continuous('x', 0, 1)])\n"
        "    @dm.executor\n"
        "    def ask(self, p):\n"
        "        raise ConnectionError('nobody there')\n"
    )
    result = run("laws", "failing_system:Failing", "--examples", "5")
    assert result.exit_code == 3
    assert "ConnectionError: nobody there" in result.stderr


@pytest.mark.slow
def test_the_command_leaves_no_files_and_honours_no_color(tmp_path):
    command = Path(sys.executable).with_name("datamorphic")
    result = subprocess.run(
        [command, "laws", "--subject", "Sin 2", "--examples", "1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "\x1b" not in result.stdout
    assert result.stderr == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_help_and_version(run):
    assert dm.__version__ in run("--version").stdout
    for arguments in (["--help"], ["laws", "--help"], ["demo", "-h"]):
        assert run(*arguments).exit_code == 0
    assert "Examples" in run("laws", "--help").stdout


def test_in_a_terminal_laws_are_wrapped(monkeypatch, capsys):
    from rich.console import Console

    from datamorphic.cli import console, laws

    monkeypatch.setattr(
        console, "make_console", lambda: Console(width=60, force_terminal=True, no_color=True, highlight=False)
    )
    defaults = {name: parameter.default for name, parameter in inspect.signature(laws.laws).parameters.items()}
    laws.laws(**defaults | {"subject": "Box 1", "examples": 20, "store": "none"})
    printed = capsys.readouterr().out
    assert printed.count("HOLDS") == 10
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", printed).splitlines())) <= 60


def test_what_user_code_prints_stays_out_of_the_json(run, tmp_path):
    (tmp_path / "noisy_system.py").write_text(
        "import datamorphic as dm\n"
        "print('hello from the import')\n"
        "class Noisy:\n"
        "    space = dm.Space([dm.Continuous('x', 0, 1)])\n"
        "    @dm.executor\n"
        "    def ask(self, p):\n"
        "        print('asked')\n"
        "        return p['x'] > 0.5\n"
    )
    result = run("laws", "noisy_system:Noisy", "--json", "--examples", "20")
    assert json.loads(result.stdout)["system"] == "Noisy"
    assert "hello from the import" in result.stderr


@pytest.mark.parametrize(
    ("code", "name", "words"),
    [
        ("import sys; sys.exit(0)", "", "SystemExit"),
        ("import no_such_neighbour", "", "needs the module 'no_such_neighbour', which was not found"),
        ("class X:\n    def __init__(self): open('no_such.csv')", ":X", "FileNotFoundError"),
        ("five = 5", ":five.foo", "has no 'foo'"),
    ],
)
def test_faulty_modules_are_wrong_use(run, tmp_path, code, name, words):
    module = f"faulty_module_{abs(hash(code)) % 10**8}"
    (tmp_path / f"{module}.py").write_text(code)
    result = run("laws", module + name)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_report_that_cannot_be_written(run, tmp_path):
    (tmp_path / "taken").write_text("")
    result = run("demo", "--out", "taken")
    assert result.exit_code == 2
    assert "taken" in result.stderr


def test_terminals_get_no_control_characters():
    from datamorphic.reporting.text import to_printable

    assert to_printable("a\x1b[31mb\x07") == "a�[31mb�"
