"""``datamorphic guide``: answers from a file, from a terminal, and wrong ones."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import joblib
import numpy as np
import pandas as pd
import pytest
import typer
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from datamorphic.cli import guide as guide_command
from datamorphic.cli.help import GroupWithExamples, add_examples
from datamorphic.cli.laws import laws
from support.run_code import run_program

#: only two commands: to declare all of them takes longer than a walk
app = typer.Typer(cls=GroupWithExamples, pretty_exceptions_enable=False)
for command in (guide_command.guide, laws):
    app.command()(command)
add_examples(app)

CONFIG = Path(__file__).parents[2] / "pyproject.toml"
PRICES = list(range(40))

FUNCTIONS = """
import json
from urllib.request import urlopen

def area(a, b):
    print("this function talks")
    return a * b if a < 8 else a * b + 1  # a planted fault

def search(low, brand):
    with urlopen(f"http://127.0.0.1:{PORT}/items?low={low}&brand={brand}", timeout=10) as reply:
        return json.load(reply)
"""


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        query = parse_qs(urlparse(self.path).query)
        low, brand = float(query["low"][0]), query["brand"][0]
        items = [price for price in PRICES if price >= low and (brand == "any" or price % 2 == (brand == "odd"))]
        if brand == "odd" and low > 30:
            items.append(3)  # a planted fault
        body = json.dumps(items).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def shop():
    server = HTTPServer(("127.0.0.1", 0), Shop)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "guided_shop.py").write_text(FUNCTIONS.replace("{PORT}", "1"))
    sys.modules.pop("guided_shop", None)
    yield tmp_path
    sys.modules.pop("guided_shop", None)


def run(*arguments, answers="", **named):
    if answers:
        Path("a.answers").write_text(answers, encoding="utf-8")
        arguments = (*arguments, "--answers", "a.answers")
    return CliRunner().invoke(app, ["guide", *map(str, arguments)], **named)


def get_error(result):
    """Return the only line on stderr that is not from the function under test."""
    (line,) = (line for line in result.stderr.splitlines() if line != "this function talks")
    return line


AREA = """
# the sides of a rectangle may be exchanged
inputs.ranges = a = 0 to 10; b = 1 to 5
side = input
pattern = Symmetry
input.columns = a, b
output.pattern = Symmetry
promise = MR
name = area.MR1
domain = rectangles
"""
SEARCH = """
side = output
pattern = Subset
input.pattern = Conjunctive Conditions
input.column = brand
input.values = odd
promise = MR
name = shop.MR1
"""
CREDIT = """
output.answer = probability of yes
side = input
pattern = Monotone
input.columns = income
input.amount = 5
output.pattern = Monotone
name = credit.HMR9
derive = lower
derive.name = A bit more income
"""


def write_model(folder):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.uniform(0, 100, 300).round(1), "debt": rng.uniform(0, 50, 300).round(1)})
    labels = np.where(frame.income - frame.debt + rng.normal(0, 15, 300) > 20, "yes", "no")
    joblib.dump(DecisionTreeClassifier(max_depth=6, random_state=0).fit(frame, labels), folder / "model.joblib")
    frame.assign(approved=labels).to_csv(folder / "people.csv", index=False)


@pytest.mark.slow
def test_written_modules_pass_ruff_run_under_pytest_and_find_planted_violations(folder, shop, capsys):
    (folder / "guided_shop.py").write_text(FUNCTIONS.replace("{PORT}", str(shop)))
    pd.DataFrame({"low": range(20, 40, 2), "brand": "any"}).to_csv("queries.csv", index=False)
    write_model(folder)
    results = [
        run("guided_shop:area", "none", "--save", "test_area.py", answers=AREA),
        run("guided_shop:search", "queries.csv", "--save", "test_shop.py", answers=SEARCH),
        run("model.joblib", "people.csv", "--trust", "--save", "test_credit.py", answers=CREDIT),
    ]
    assert [result.exit_code for result in results] == [1, 1, 0]  # violations of a hypothesis are no faults
    assert "of 300 violate it" in results[0].stdout
    files = ["test_area.py", "test_shop.py", "test_credit.py", "test_a_bit_more_income_pattern.py"]
    ruff = Path(sys.executable).with_name("ruff")
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [ruff, *command, "--no-cache", "--config", CONFIG, *files], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    _, printed = run_program("pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), *files)
    assert "3 failed, 1 passed" in printed, printed
    assert "guided_shop" not in capsys.readouterr().err
    for text in ("area violates 'area.MR1'", "search violates 'shop.MR1'", "violates 'credit.HMR9'"):
        assert text in printed


def test_json_is_one_document_and_answers_can_be_kept(folder):
    result = run("guided_shop:area", "none", "--json", "--keep-answers", "kept.answers", answers=AREA)
    document = json.loads(result.stdout)
    assert document["relation"] == "area.MR1"
    assert document["violated"] > 0
    assert document["files"] == ["test_area_mr1.py"]
    assert "a.answers" not in result.stderr  # every answer was used
    assert document["text"].startswith("In the domain of rectangles\nassuming that\n")
    again = run("--json", "--trust", "--force", answers=Path("kept.answers").read_text())
    assert json.loads(again.stdout) == document | {"answers": None}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (
            "pattern = Symetry",
            "a.answers:1: pattern = Symetry: 'Symetry' is not among the choices. Did you mean 'Symmetry'?",
        ),
        ("pattern = Symmetry\ninput.columns = a, c", "a.answers:2: input.columns = a, c: There is no column 'c'."),
        (
            "pattern = Monotone\ninput.columns = a\n\ninput.amount = lots",
            "a.answers:4: input.amount = lots: 'lots' is not",
        ),
        ("pattern =", "a.answers:1: pattern = : The answer is empty. Expected one of: Symmetry"),
        ('pattern = "\\u001b[31m"', "The answer has control characters. Expected one line of plain text."),
        ("patern = Noise", "a.answers:1: There is no question 'patern'. Did you mean 'pattern'?"),
        ("side = input", "There is no answer to pattern: Which pattern shall the input side follow?"),
        ("system.model = guided_shop:area", "There is no answer to pattern"),
    ],
)
def test_without_a_terminal_a_wrong_answer_is_one_line(folder, answers, message):
    result = run("guided_shop:area", "none", answers=f"{answers}\ninputs.ranges = a = 0 to 10; b = 1 to 5")
    assert result.exit_code == 2
    assert message in get_error(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere:f",), "There is no module 'nowhere' here"),
        (("guided_shop:areaa",), "'guided_shop' has no 'areaa'. Did you mean 'area'?"),
        (("guided_shop:area", "no.csv"), "no.csv"),
        (("example:shop",), "shop"),
        (("example:product search with gaps",), "has no fault 'gaps'"),
        (("guided_shop:area", "none", "--answers", "no.answers"), "The answers cannot be read from 'no.answers'"),
        (("guided_shop:area", "none", "--save", "no/such.py", "--answers", "ok.answers"), "There is no folder"),
        ((), "There is no answer to system.model: What do you want to test?"),
    ],
)
def test_wrong_arguments_are_one_line(folder, arguments, message):
    Path("ok.answers").write_text(AREA)
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in get_error(result)


def test_code_that_an_answers_file_names_is_run_only_with_trust(folder):
    answers = f"system.model = guided_shop:area\nsystem.data = none\n{AREA}"
    result = run(answers=answers)
    assert result.exit_code == 2
    assert "Give it as MODEL on the command line, or add --trust" in result.stderr
    assert "guided_shop" not in sys.modules
    assert run("--trust", answers=answers).exit_code == 1
    other_python = run(answers=answers.replace("guided_shop:area", f"python:{sys.executable} math:sin"))
    assert "Give it as MODEL on the command line, or add --trust" in other_python.stderr


def test_a_system_that_answers_nothing_is_reported_as_such(folder):
    Path("guided_shop.py").write_text("def area(a, b):\n    raise RuntimeError('closed')\n")
    result = run("guided_shop:area", "none", answers=AREA)
    assert result.exit_code == 3
    assert "area failed on all" in get_error(result)


def test_files_that_exist_are_kept_unless_forced(folder):
    Path("test_x.py").write_text("mine")
    result = run("guided_shop:area", "none", "--save", "test_x.py", answers=AREA)
    assert Path("test_x.py").read_text() == "mine"
    assert "test_area_mr1.py" in result.stdout
    assert run("guided_shop:area", "none", "--save", "test_x.py", "--force", answers=AREA).exit_code == 1
    assert "area.MR1" in Path("test_x.py").read_text()


# -- on a terminal -----------------------------------------------------------------------------------------------------


class Terminal:
    """A terminal on which lines are typed; an exception in place of a line is raised."""

    def __init__(self, monkeypatch, lines):
        self.lines = iter(lines)
        monkeypatch.setattr(guide_command, "is_interactive", lambda: True)
        monkeypatch.setattr("builtins.input", self.type)

    def type(self, prompt):
        line = next(self.lines, EOFError)
        if not isinstance(line, str):
            raise line
        print(prompt + line)
        return line


def test_wrong_answers_are_asked_again(folder, monkeypatch):
    Terminal(
        monkeypatch,
        ["x", "?", "a = 0 to 10; b = 1 to 5", "in", "back", "input", "99", "Symmetry", "", "", "a", "a, b", *[""] * 20],
    )
    result = run("guided_shop:area", "none", answers="promise = nonsense")
    assert result.exit_code == 0
    assert "'x' is not understood. Expected name = range" in result.stdout
    assert "There is no choice 99" in result.stdout
    assert "columns must be at least 2 column(s)" in result.stdout
    assert "a.answers:1: promise = nonsense: 'nonsense' is not among the choices" in result.stdout
    assert Path("test_area_hmr1.py").exists()


@pytest.mark.parametrize("end", [EOFError, KeyboardInterrupt, "quit"])
def test_a_walk_that_is_stopped_keeps_its_answers(folder, monkeypatch, end):
    Terminal(monkeypatch, ["a = 0 to 10; b = 1 to 5", "input", "Symmetry", end])
    result = run("guided_shop:area", "none", "--trust", "--seed", "3")
    assert result.exit_code == 130
    assert "datamorphic guide guided_shop:area none --answers guide.answers --trust --seed 3" in result.stdout
    assert len(Path("guide.answers").read_text().splitlines()) == 6  # a remark and five answers


def test_a_stopped_walk_goes_on_with_its_answers(folder, monkeypatch):
    Terminal(monkeypatch, ["a = 0 to 10; b = 1 to 5", "input", "Symmetry"])
    run("guided_shop:area", "none")
    Terminal(monkeypatch, ["take", "", "a, b", *[""] * 20])
    result = run("guided_shop:area", "none", "--answers", "guide.answers")
    assert result.exit_code == 0
    assert "was not asked for" not in result.stdout
    assert Path("test_area_hmr1.py").exists()


def test_stopping_at_once_keeps_nothing(folder, monkeypatch):
    Terminal(monkeypatch, [])
    result = run()
    assert result.exit_code == 130
    assert "Nothing was answered yet" in result.stdout
    assert not list(folder.glob("*.answers"))
