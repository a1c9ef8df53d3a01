"""``datamorphic init``: what is drafted runs at once, says what was tried, and lets no name become code."""

from __future__ import annotations

import ast
import functools
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.audit.draft import run as draft_run
from datamorphic.audit.draft.code import (
    MAX_LINE_CHARACTERS,
    format_list,
    format_literal,
    make_unique,
    tidy_feature,
    to_system_name,
)
from datamorphic.cli.load import load_data
from datamorphic.cli.main import app
from datamorphic.errors import DataError, SystemFailed, UsageError
from datamorphic.morphisms.subject import DEFAULT_SEED_CASES
from datamorphic.reporting.python_code import format_comment, to_slug
from support.cases import LONG
from support.run_code import run_program

draft_system = functools.partial(draft_run.draft_system, load_data=load_data)

NASTY = [
    '"; import os #',
    "two\nlines",
    "'''",
    '"""',
    "class",
    "größe\u2028x",
    "a b",
    "a_b",
    "back\\slash",
    "{{ 7*7 }}",
]
LABELS = ["{% raw %}", 'no # \n raise SystemExit("""']

RULES = '''
import numpy as np
import datamorphic as dm
from sklearn.tree import DecisionTreeClassifier

def judge(frame):
    """A function of a frame."""
    return np.where(frame["a b"] + frame["a_b"] / 100 > 50, LABELS[0], LABELS[1])

LABELS = {labels}

def one(case):
    """A function of one case."""
    return "yes" if case["petal width (cm)"] > 0.8 else "no"

def fussy(frame):
    """A function that dislikes some rows."""
    if (frame["sepal width (cm)"] > 4).any():
        raise ValueError("too wide")
    return (frame["petal width (cm)"] > 0.8).to_numpy()

def noisy(frame):
    """A function that decides by the last digits of a number."""
    return np.floor(frame["sepal length (cm)"] * 1e6).astype(int) % 2

def moody(frame, random=np.random.default_rng(0)):
    """A function that answers anything."""
    return random.integers(0, 2, len(frame))

def broken(frame):
    raise ConnectionError("nobody there")

class Known:
    @dm.executor
    def ask(self, frame):
        return judge(frame)

class Deep:
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)

_iris = dm.data.load("iris")
Deep.tree.fit(_iris.drop(columns="target"), _iris["target"])
'''


def nasty_frame():
    rng = np.random.default_rng(0)
    n = 90
    columns = [
        rng.normal(size=n),
        rng.integers(0, 5, n),
        rng.choice(["a'", 'b"', "c\n", '"""', "#"], n),
        rng.choice([True, False], n),
        np.where(rng.random(n) < 0.1, np.nan, rng.uniform(0, 100, n)),
        pd.Categorical(rng.choice(["low", "high"], n), categories=["low", "middle", "high"], ordered=True),
        rng.integers(0, 100, n),
        rng.integers(0, 1000, n),
        rng.choice(np.array(["x\\", "y", None], dtype=object), n),
        rng.uniform(0, 1, n).astype("float32"),
    ]
    return pd.DataFrame(dict(zip(NASTY, columns, strict=True))).assign(label="")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with models and data."""
    here = tmp_path_factory.mktemp("drafts")
    wine, diabetes = dm.data.load("wine"), load_diabetes(as_frame=True, scaled=False).frame
    wine.to_csv(here / "wine.csv", index=False)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(wine.drop(columns="target"), wine["target"])
    skops = pytest.importorskip("skops.io", reason="pip install 'datamorphic[skops]'")
    skops.dump(model, here / "model.skops")
    diabetes.to_csv(here / "diabetes.csv", index=False)
    model = make_pipeline(StandardScaler(), Ridge()).fit(diabetes.drop(columns="target"), diabetes["target"])
    joblib.dump(model, here / "ridge.joblib")
    nasty_frame().to_parquet(here / "na'sty \".parquet")
    iris = dm.data.load("iris")
    forest = RandomForestClassifier(5, random_state=0).fit(iris.drop(columns="target"), iris["target"])
    joblib.dump(forest, here / "forest.joblib")
    frame = pd.DataFrame({"when": ["2020-01-01", "2020-02-01 12:00"] * 3, "x": range(6)})
    frame.to_csv(here / "dates.csv", index=False)
    frame.assign(when=pd.to_datetime(frame["when"], format="mixed")).to_parquet(here / "dates.parquet")
    (here / "rules_of_tests.py").write_text(RULES.replace("{labels}", repr(LABELS)))
    return here


@pytest.fixture(scope="module")
def drafts(folder):
    """The drafts, by the name of their file."""
    sys.path.insert(0, str(folder))
    wanted = {
        "test_wine": ("model.skops", "wine.csv", "target", False),
        "test_ridge": ("ridge.joblib", "diabetes.csv", "target", True),
        "test_nasty": ("rules_of_tests:judge", "na'sty \".parquet", "label", False),
        "test_deep": ("rules_of_tests:Deep.tree", "data:iris", "target", False),
        "test_one": ("rules_of_tests:one", "data:iris", "target", False),
        "test_noisy": ("rules_of_tests:noisy", "data:iris", "target", False),
        "test_fussy": ("rules_of_tests:fussy", "data:iris", "target", False),
    }
    results = {}
    for name, (model, data, target, trust) in wanted.items():
        model, data = (place if ":" in place else str(folder / place) for place in (model, data))
        results[name] = draft_system(model, data, target, out=folder / f"{name}.py", trust=trust)
        (folder / f"{name}.py").write_text(results[name].text, encoding="utf-8")
    yield results
    sys.path.remove(str(folder))


NAMES = ["test_wine", "test_ridge", "test_nasty", "test_deep", "test_one", "test_noisy", "test_fussy"]


def loaded(text, file):
    """Return the module that a text is, as if it were in a file."""
    spec = importlib.util.spec_from_loader(file.stem, loader=None)
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(file)
    exec(compile(text, str(file), "exec"), module.__dict__)
    return module


def enabled(text):
    """Return a draft with the promises in force that are broken and so were made comments."""
    lines, on = [], False
    for line in text.splitlines():
        on = (on or bool(re.search(r"Today [\d,]+ of [\d,]+ rows violate it\.", line))) and line != ""
        lines.append(line if not on or "Today" in line else line.replace("    # ", "    ", 1).replace("    #", "", 1))
    return "\n".join(lines)


# -- the drafts ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_drafts_pass_under_pytest(folder, drafts, monkeypatch):
    some = ["test_nasty", *(["test_wine", "test_ridge"] if LONG else [])]
    monkeypatch.chdir(folder)
    files = (f"{name}.py" for name in some)
    code, printed = run_program("pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), *files)
    assert code == 0, printed
    in_force = sum(promise.holds for name in some for promise in drafts[name].relations)
    assert f"{in_force + 3 * len(some)} passed" in printed


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_code_of_a_draft_does_what_was_tried(folder, drafts, name):
    one = drafts[name]
    module = loaded(enabled(one.text), folder / f"{name}.py")
    system = module.SYSTEM
    assert system.space == one.space
    assert set(system.metamorphisms) == {promise.name for promise in one.relations}
    seeds = system.make_seeds(n=DEFAULT_SEED_CASES, seed=0)  # all rows where there are no more than that
    tests = dm.TestSet.concat([seeds, *(system.mutate(change, seeds) for change in system.datamorphisms)])
    tests = tests.with_outputs(dm.wrap(system.sut, guarded=True).execute(tests.inputs))
    verdicts = system.check(tests)
    for promise in one.relations:
        change = promise.change.make(seeds.inputs.frame)
        mutants = system.mutate(promise.change.name, seeds).inputs
        assert one.space.points(change).same(mutants).all()
        broken = int((verdicts[promise.name] == "violated").sum())
        if one.rows <= DEFAULT_SEED_CASES:
            assert broken == promise.broken
            assert (verdicts[promise.name] == "holds").sum() == promise.judged - promise.broken
        assert broken == 0 or not promise.holds


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES if LONG else ["test_ridge", "test_nasty", "test_fussy"])
def test_drafts_keep_the_laws_and_can_be_explored(folder, drafts, name):
    module = loaded(drafts[name].text, folder / f"{name}.py")
    system = getattr(module, drafts[name].name)
    assert dm.laws(system, examples=8).holds
    assert dm.laws(system.space, examples=8).holds
    assert dm.explore(system, walks=10, walk_distance=5).runs > 10


@pytest.mark.slow
def test_drafts_are_formatted(folder, drafts):
    for one in drafts.values():
        ast.parse(one.text)
        assert one.text.endswith("\n")
        assert "\t" not in one.text
        assert not any(line != line.rstrip() for line in one.text.splitlines())
    ruff = [Path(sys.executable).with_name("ruff"), "--isolated"]
    files = [f"{name}.py" for name in NAMES if name != "test_nasty"]  # ruff has its own taste in quotes
    checks = ["check", "--no-cache", "--select", "E,F,W,I,B", "--ignore", "E501"]
    for what in (checks, ["format", "--no-cache", "--check", "--diff", "--line-length", str(MAX_LINE_CHARACTERS)]):
        done = subprocess.run([*ruff, *what, *files], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_at_least_three_relations_fit_the_columns(drafts):
    for one in drafts.values():
        assert len(one.relations) >= 3
        assert sum(promise.holds for promise in one.relations) <= 3
        for promise in one.relations:
            assert f"def {promise.name}(self, cases, origins):" in one.text
            assert f'of="{promise.change.name}"' in one.text
            if not promise.holds:
                assert f"Today {promise.broken:,} of {promise.judged:,} rows violate it." in one.text


@pytest.mark.slow
def test_rows_keep_the_types_of_the_data(folder, drafts):
    module = loaded(drafts["test_nasty"].text, folder / "test_nasty.py")
    rows = module.SYSTEM.make_seeds().inputs.frame
    for name in NASTY:
        assert rows[name].dtype == module.ROWS[name].dtype, name


def test_drafts_say_how_to_load_the_model(drafts):
    assert 'dm.wrap(HERE / "model.skops")' in drafts["test_wine"].text
    assert 'dm.wrap(HERE / "ridge.joblib", trust=True)' in drafts["test_ridge"].text
    assert "Loading a pickle runs any code in it" in drafts["test_ridge"].text
    assert "from rules_of_tests import Deep as model" in drafts["test_deep"].text
    assert "dm.wrap(model.tree)" in drafts["test_deep"].text
    assert "dm.wrap(model, scalar=True)" in drafts["test_one"].text
    assert 'dm.data.load("iris")' in drafts["test_one"].text
    assert "TOLERANCE" in drafts["test_ridge"].text
    assert "TOLERANCE" not in drafts["test_wine"].text


def test_a_violated_relation_is_a_comment(drafts):
    one = drafts["test_noisy"]
    (noise,) = [promise for promise in one.relations if promise.name == "noise_keeps_the_answer"]
    assert noise.broken > 0
    assert "    # def noise_keeps_the_answer(self, cases, origins):" in one.text
    assert "    # Today" in one.text


def test_rows_without_an_answer_are_counted(drafts):
    assert re.search(r"limit = [1-9]\d*  # rows without an answer today", drafts["test_fussy"].text)
    assert any("get no answer today" in note for note in drafts["test_fussy"].notes)
    assert "limit = 0\n" in drafts["test_wine"].text


def test_a_random_system_is_reported(folder, drafts):
    one = draft_system("rules_of_tests:moody", "data:iris", "target", out=folder / "test_moody.py")
    again = [promise for promise in one.relations if promise.name == "the_same_row_gets_the_same_answer"]
    assert [promise.holds for promise in again] == [False]


def test_a_violation_is_reported_with_its_row(folder, drafts):
    module = loaded(drafts["test_wine"].text, folder / "test_wine.py")
    system = module.SYSTEM
    seeds = system.make_seeds(n=5)
    change = next(iter(system.datamorphisms))
    tests = dm.TestSet.concat([seeds, system.mutate(change, seeds)])
    tests = tests.with_outputs(dm.Outputs.of(np.arange(10)))
    description = module.describe(tests, tests.take(slice(7, 10)))
    assert "-> the answer" in description
    assert re.search(r"-> the answer\s+2\s+7", description)


# -- names and values ------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(st.text(max_size=30))
def test_text_becomes_one_literal_and_one_comment(text):
    code = format_literal(text)
    assert ast.literal_eval(code) == text
    assert len(code.splitlines()) == 1
    assert len(f"a = {code}".splitlines()) == 1
    remark = format_comment(f"The column {code} is fine.")
    assert all(line.lstrip().startswith("#") for line in remark.splitlines())


@pytest.mark.parametrize(
    "value", [0, -3, 2.5, float("inf"), float("-inf"), True, False, (1, "a", (None.__class__.__name__,)), ()]
)
def test_other_values_become_literals(value):
    literal_value = eval(format_literal(value), {"float": float})
    assert literal_value == value
    assert type(literal_value) is type(value)


@pytest.mark.parametrize("value", [pd.Timestamp("2020-01-01"), None, [1], type("Text", (str,), {})("x"), np.float64(1)])
def test_values_that_cannot_be_written_are_rejected(value):
    with pytest.raises(DataError, match="cannot be written as code"):
        format_literal(value)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("red_wine", "RedWine"),
        ("2019 sales", "My2019Sales"),
        ("test-data", "MyTestData"),
        ("ROWS", "MyROWS"),
        ("path", "MyPath"),
        ("none", "MyNone"),
        ("класс", "MySystem"),
        ('"; import os #', "ImportOs"),
    ],
)
def test_names_of_classes(words, name):
    assert to_system_name(words) == name
    assert name.isidentifier()


def test_names_are_unique():
    taken = set()
    assert [make_unique(f"next_{to_slug(name)}", taken) for name in ("a b", "a_b", "A B")] == [
        "next_a_b",
        "next_a_b_2",
        "next_a_b_3",
    ]


def test_long_lists_are_broken_between_items():
    items = [format_literal(f"a, {k} 'b' \"c\" " + "x" * 30) for k in range(9)]
    lines = format_list("dm.Categorical('x', [", items, "]),")
    assert ast.literal_eval("[" + "".join(lines[1:-1]) + "]") == [ast.literal_eval(item) for item in items]
    assert all(len(line) <= MAX_LINE_CHARACTERS for line in lines[1:-1])


@given(
    st.floats(-1e12, 1e12, allow_nan=False), st.floats(1e-9, 1e12, allow_nan=False), st.sampled_from([1.0, 1e-6, 1e6])
)
def test_rounded_bounds_contain_the_old_ones(low, width, scale):
    before = dm.Continuous("x", low * scale, low * scale + width * scale)
    after = tidy_feature(before)
    assert after.low <= before.low <= before.high <= after.high
    if before.high > before.low:
        assert after.high - after.low <= 1.01 * (before.high - before.low) * (1 + 1e-9) + 1e-9 * abs(low * scale)


@pytest.mark.slow
def test_frames_of_many_kinds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("always_yes.py").write_text("def ask(frame):\n    return ['yes'] * len(frame)\n")
    rng = np.random.default_rng(0)
    frames = {
        "words": pd.DataFrame({"word": rng.choice(list("abc"), 40)}),
        "many": pd.DataFrame({"name": [f"n{k:03}" for k in range(60)], "n": range(60)}),
        "flags": pd.DataFrame({"a": rng.random(40) > 0.5, "b": rng.random(40) > 0.5}),
        "holes": pd.DataFrame({"n": [1.0, np.nan, 3.0] * 20, "c": ["x", None, "y"] * 20}),
        "same": pd.DataFrame({"x": [0.5] * 30, "k": [7] * 30, "c": ["only"] * 30}),
        "below": pd.DataFrame({"x": rng.normal(-5, 1, 50), "big": rng.integers(0, 10**9, 50)}),
        "row": pd.DataFrame({"x": [0.5], "k": [7]}),
    }
    for name, frame in frames.items():
        frame.to_csv(f"{name}.csv", index=False)
        one = draft_system("always_yes:ask", f"{name}.csv", out=f"test_{name}.py")
        module = loaded(one.text, tmp_path / f"test_{name}.py")
        assert module.SYSTEM.space == one.space
        assert len(module.SYSTEM.make_seeds()) == len(frame)
        assert dm.laws(one.space, examples=3).holds
    assert "sorted(ROWS" in draft_system("always_yes:ask", "many.csv").text
    assert 'dm.Integer("n", 1, 3, step=1, nullable=True)' in draft_system("always_yes:ask", "holes.csv").text


# -- what is refused -------------------------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch, tmp_path, folder, drafts):
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, ["init", *map(str, arguments)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no.skops", "data:iris"], "There is no file 'no.skops'"),
        (["no_such_module:x", "data:iris"], "There is no module 'no_such_module'"),
        (["rules_of_tests", "data:iris"], "is neither a model file nor module:object"),
        (["rules_of_tests:Known", "data:iris"], "is a test system already"),
        (["rules_of_tests:Deep.tree", "no.csv"], "There is no file 'no.csv'"),
        (["rules_of_tests:Deep.tree", "data:iris", "--target", "targt"], "Did you mean 'target'?"),
        (["rules_of_tests:Deep.tree", "data:wine"], "not in the data"),
        (["rules_of_tests:one", "dates.csv"], "'when' holds dates as text ('2020-01-01')"),
        (["rules_of_tests:one", "dates.parquet"], "which have no moves and no midpoint here"),
        (["rules_of_tests:one", "data:iris", "--out", "my-tests.py"], "'my-tests.py' is not a valid name of a module"),
        (["rules_of_tests:one", "data:iris", "--out", "class.py"], "'class.py' is not a valid name of a module"),
        (["rules_of_tests:one", "data:iris", "--out", "tests.txt"], "'tests.txt' is not a valid name of a module"),
        (["rules_of_tests:one", "data:iris", "--out", "numpy.py"], "A module named 'numpy' is installed"),
        (["rules_of_tests:one", "data:iris", "--out", "here.py"], "here.py exists. Add --force"),
        (["forest.joblib", "data:iris", "--target", "target"], "If you trust its origin, pass --trust"),
    ],
)
def test_wrong_use_is_one_line(run, folder, arguments, words):
    Path("here.py").write_text("mine")
    result = run(*(folder / argument if (folder / argument).is_file() else argument for argument in arguments))
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
    assert Path("here.py").read_text() == "mine"
    assert not Path("test_model.py").exists()


def test_objects_without_a_file_are_rejected():
    with pytest.raises(UsageError, match=r"but got an object of type Ridge\. Save it first"):
        draft_system(Ridge(), "data:iris")
    with pytest.raises(UsageError, match="but got an object of type DataFrame"):
        draft_system("model.skops", pd.DataFrame({"x": [1]}))


@pytest.mark.slow
def test_a_system_without_any_answer_exits_with_3(run):
    result = run("rules_of_tests:broken", "data:iris")
    assert result.exit_code == 3
    assert "nobody there" in result.stderr
    assert not Path("test_model.py").exists()
    with pytest.raises(SystemFailed):
        draft_system("rules_of_tests:broken", "data:iris")


# -- the command -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_says_what_to_do_next_and_it_works(run, tmp_path):
    result = run("rules_of_tests:Deep.tree", "data:iris", "--target", "target", "--out", "test_command.py")
    assert result.exit_code == 0, result.output
    assert "test_command.py: a test system, drafted from 4 features and 150 rows" in result.stdout
    following = [line.strip() for line in result.stdout.partition("Next:")[2].splitlines() if line.strip()]
    assert following[0] == "pytest test_command.py"
    quick = {"test": ["--only", "metamorphisms"], "laws": ["--examples", "20"], "explore": ["--walks", "20"]}
    assert [line.split()[1] for line in following[1:]] == list(quick)
    for line in following[1:]:
        _, verb, system = line.split()
        done = CliRunner().invoke(app, [verb, system, *quick[verb], "--store", "none"])
        assert done.exit_code == 0, done.output
        assert verb != "test" or "3 metamorphisms" in done.stdout
    again = run("rules_of_tests:Deep.tree", "data:iris", "--out", "test_command.py")
    assert again.exit_code == 2
    forced = run("rules_of_tests:Deep.tree", "data:iris", "--out", "test_command.py", "--force")
    assert forced.exit_code == 0
    assert (tmp_path / "test_command.py").read_text().startswith('"""The test system Iris')


def test_the_command_as_json(run):
    result = run("rules_of_tests:noisy", "data:iris", "--target", "target", "--json", "--out", "sub/test_it.py")
    document = json.loads(result.stdout)
    assert document["file"] == str(Path("sub", "test_it.py"))
    assert document["system"] == "test_it:Iris"
    assert document["next"][0] == "cd sub"
    assert {promise["holds"] for promise in document["promises"]} == {True, False}
    assert Path("sub", "test_it.py").is_file()


def test_a_forest_is_drafted_with_trust(run, folder):
    result = run(folder / "forest.joblib", "data:iris", "--trust")
    assert result.exit_code == 0, result.output
    assert re.search(r'dm.wrap\(HERE / "[./\w-]*/forest.joblib", trust=True\)', Path("test_model.py").read_text())
    assert "left out: target" in result.stdout
    assert loaded(Path("test_model.py").read_text(), Path("test_model.py").resolve()).Iris


def test_a_draft_reads_the_table_the_same_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "rules_of_a.py").write_text("def rule(frame):\n    return frame['a'] > 2\n")
    table = pd.DataFrame({"a": [1.5, 2.5, 3.25], "größe": ["x", "y", "x"], "n": [7, 8, 9]})
    table.to_csv("t.csv", index=False, sep=";", decimal=",")
    text = draft_system("rules_of_a:rule", "t.csv", out="test_rules_of_a.py", progress=False).text
    (line,) = (line for line in text.splitlines() if line.startswith("ROWS = "))
    assert line == 'ROWS = pd.read_csv(HERE / "t.csv", sep=";", decimal=",")'


def test_nothing_is_promised_about_an_identifier(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"client_id": range(300), "income": rng.normal(50, 10, 300), "code": [f"C{i}" for i in range(300)]}
    )
    data.to_csv(tmp_path / "data.csv", index=False)
    model = LogisticRegression().fit(data[["client_id", "income"]], data["client_id"] > 150)
    joblib.dump(model, tmp_path / "model.joblib")
    draft = draft_system(
        tmp_path / "model.joblib", tmp_path / "data.csv", out=tmp_path / "test_model.py", trust=True, progress=False
    )
    changed = " ".join(relation.change.phrase for relation in draft.relations)
    assert "client_id" not in changed
    assert "income" in changed
    assert any("Nothing is promised about client_id" in note for note in draft.notes)
