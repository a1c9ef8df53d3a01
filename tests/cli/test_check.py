"""``datamorphic check``: exit codes, words, files, a page that a browser shows."""

from __future__ import annotations

import json
import re
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.cli.main import app
from datamorphic.data.knn import KNN
from support.browser import CHROMIUM, WHY_NOT, Browser

KNN_HERE = "datamorphic.data.knn:KNN"
LEARNERS = """
import numpy as np

import datamorphic as dm
from datamorphic.data.knn import KNN


class First(KNN):
    # claims to be a kNN, and answers the label of the first training row
    def predict(self, X):
        print("hello from the learner")
        return np.repeat(self.classes_[self._codes[0]], len(X))


class Broken(KNN):
    def fit(self, X, y):
        raise RuntimeError("no weights")


class Stranger:
    def __init__(self, k=1, words="none", table=(1,)):
        self.inner, self.words, self.table = KNN(k), words, table

    def fit(self, X, y):
        self.inner.fit(X, y)
        return self

    def predict(self, X):
        return self.inner.predict(X)


class Backwards(dm.LearnerRelation):
    name = "backwards"
    statement = "training rows in reverse order: the same labels"

    def follow_up(self, data, labels, rng):
        return data.rows(slice(None, None, -1))


ready = KNN(1)

def answer(frame):
    return np.where(frame["x"] > 0, "a", "b")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("DATAMORPHIC_STORE", "none")
    (tmp_path / "own.py").write_text(LEARNERS)
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=40), "z": rng.normal(size=40), "y": rng.choice(["a", "b"], 40)})
    data.to_csv("data.csv", index=False)
    yield tmp_path
    sys.modules.pop("own", None)


def run(*words):
    return CliRunner().invoke(app, ["check", *words])


def document(*words):
    result = run(*words, "--json")
    assert result.exit_code in (0, 1, 3), result.output
    return json.loads(result.stdout)


def names(document):
    return [row["relation"] for row in document["relations"]]


@pytest.mark.slow
def test_exit_codes(folder):
    result = run(KNN_HERE, "--param", "k=1", "--inputs", "5", "--relation", "necessary")
    assert result.exit_code == 0, result.output
    assert re.match(r"KNN\(k=1\): All \d+ necessary relations hold", result.stdout)
    words = ("own:First", "--param", "k=1", "--inputs", "20", "--relation", "sample order")
    wrong = run(*words)
    assert wrong.exit_code == 1
    assert "1 of 1 necessary relation violated" in wrong.stdout
    assert "Training rows with their labels, then the test case" in wrong.stdout
    known = run(*words, "--expect-failure", "sample order=it is known, ticket=7")
    assert known.exit_code == 0
    assert "Why it need not hold: it is known, ticket=7" in known.stdout
    broken = run("own:Broken", "--inputs", "5", "--relation", "MR-0")
    assert broken.exit_code == 3
    assert "without an answer" in broken.stdout
    one_class = run(KNN_HERE, "--inputs", "5", "--rows", "1", "--relation", "MR-0")
    assert one_class.exit_code == 0  # nothing to judge, and nothing wrong
    assert "Nothing could be judged" in one_class.stdout


@pytest.mark.slow
def test_another_model_gets_the_same_inputs(folder):
    words = ("--param", "k=1", "--inputs", "20", "--relation", "sample order")
    result = run("own:First", *words, "--against", KNN_HERE)
    assert result.exit_code == 1
    assert "violated here, but not by KNN(k=1)" in " ".join(result.stdout.split())
    fixed = run(KNN_HERE, *words, "--against", "own:First", "--json")
    assert fixed.exit_code == 0  # the exit code is about the first model
    document = json.loads(fixed.stdout)
    assert document["against"]["violated_there_only"] == ["sample order"]
    assert document["against"]["answers"]["differing"] > 0
    environment = f"python:{sys.executable}"
    knn = "sklearn.neighbors:KNeighborsClassifier"
    same = run(f"{environment} {knn}", "--against", environment, "--inputs", "5", "--relation", "MR-1.2")
    assert same.exit_code == 0, same.output
    assert "the answers are the same" in " ".join(same.stdout.split())
    other_kind = run(KNN_HERE, "--against", "sklearn.linear_model:LinearRegression", "--inputs", "5")
    assert other_kind.exit_code == 2
    assert "LinearRegression() is a regressor" in other_kind.stderr


def test_json_is_one_document_and_nothing_else(folder):
    report = document(
        "own:First",
        "--param",
        "k=1",
        "--inputs",
        "20",
        "--relation",
        "sample order",
        "--relation",
        "MR-1.2",
        "--seed",
        "3",
    )
    assert report.keys() >= {
        "subject",
        "data",
        "headline",
        "passed",
        "complete",
        "known",
        "relations",
        "violations",
        "examples",
        "notes",
        "seed",
        "runs",
        "calls",
        "seconds",
        "run",
    }
    assert (report["passed"], report["seed"], report["run"], names(report)) == (
        False,
        3,
        None,
        ["sample order", "MR-1.2"],
    )
    row = report["relations"][0]
    assert row.keys() >= {
        "relation",
        "purpose",
        "necessary",
        "strictness",
        "inputs",
        "violated",
        "inapplicable",
        "undefined",
        "rate",
        "low",
        "high",
    }
    assert row["low"] < row["rate"] == row["violated"] / (row["holds"] + row["violated"]) < row["high"]
    example = report["examples"]["sample order"]
    assert len(example["source"]["x"]) == 2
    assert example["after"] != example["expected"]
    same = dm.check(KNN(1), relations="MR-1.2", inputs=20, seed=3)
    assert report["relations"][1]["holds"] == same.table["holds"][0]
    silent = document(KNN_HERE, "--inputs", "2", "--relation", "weights")["relations"][0]
    assert silent["rate"] is None
    assert silent["messages"] == {"the learner's fit does not accept sample_weight": 2}


@pytest.mark.parametrize(
    ("words", "relations"),
    [
        (("--relation", "own:Backwards", "--relation", "refit"), ["backwards", "refit"]),
        (("--relation", "own:Backwards", "data.csv", "--target", "y"), ["backwards"]),
        (("--relation", "MR-3.2 odds", "--count-ties", "--batch", "3"), ["MR-3.2 odds"]),
    ],
)
def test_relations_by_name_and_of_ones_own(folder, words, relations):
    assert names(document("own:ready", "--inputs", "4", *words)) == relations


def test_parameters_are_values_and_nothing_is_evaluated(folder):
    text = "__import__('os').system('touch evil')"
    words = ("own:Stranger", "--param", "k=3", "--param", f"words={text}", "--param", "table=(1, 2)")
    report = document(*words, "--inputs", "3", "--relation", "refit")
    assert report["passed"]
    assert not (folder / "evil").exists()
    assert not report["known"]
    like = ("--like", "sklearn.neighbors:KNeighborsClassifier")
    assert document("own:Stranger", *like, "--inputs", "3", "--relation", "refit")["known"]


def test_data_of_ones_own(folder):
    report = document("own:ready", "data.csv", "--target", "y", "--inputs", "4", "--relation", "MR-1.2")
    assert report["data"] == "40 rows, training sets and cases drawn from them, labels in y"
    assert report["relations"][0]["holds"] == 4
    assert "random data" in document("own:ready", "--inputs", "2", "--relation", "MR-0")["data"]


def test_a_budget_and_what_it_left(folder):
    words = ("own:ready", "--budget", "60 runs")
    incomplete = run(*words, "--junit", "error.xml")
    assert incomplete.exit_code == 4
    assert incomplete.stdout.startswith("KNN(k=1): Incomplete: ")
    assert "The budget was spent before everything was tried." in incomplete.stdout
    assert 'name="complete" value="false"' in (folder / "error.xml").read_text()
    allowed = run(*words, "--allow-incomplete", "--json")
    assert allowed.exit_code == 0
    assert not json.loads(allowed.stdout)["complete"]
    assert not json.loads(allowed.stdout)["passed"]


def test_relations_that_the_budget_did_not_reach_are_named(folder):
    words = ("own:answer", "data.csv", "--target", "y", "--relation", "repeats", "--relation", "row order")
    words += ("--budget", "3 runs")
    untried = run(*words, "--junit", "error.xml")
    assert untried.exit_code == 4, untried.output
    assert (
        "Incomplete: nothing could be judged; 2 relations were not tried, since the budget did not suffice"
        in untried.stdout
    )
    assert ET.parse(folder / "error.xml").getroot().get("errors") == "2"
    run(*words, "--allow-incomplete", "--junit", "skipped.xml")
    assert ET.parse(folder / "skipped.xml").getroot().get("skipped") == "2"


def test_files_are_written_and_named(folder):
    words = ("own:First", "--inputs", "20", "--relation", "sample order", "--relation", "MR-NBC")
    result = run(*words, "--html", "out/page.html", "--junit", "out/junit.xml")
    assert result.exit_code == 1
    assert "The report: out/page.html" in result.stdout
    assert "The JUnit file: out/junit.xml" in result.stdout
    assert "hello" not in result.stdout  # what the learner prints goes elsewhere
    (suite,) = ET.parse(folder / "out" / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    page = (folder / "out" / "page.html").read_text()
    assert "Relations of First" in page
    assert "sample order" in page


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Say what to check"),
        (["nowhere:Thing"], "no module 'nowhere'"),
        (["own:Frist"], "Did you mean 'First'"),
        (["nowhere.skops"], "nowhere.skops"),
        (["own:ready", "nowhere.csv", "--target", "y"], "nowhere.csv"),
        (["own:ready", "data.csv"], "target"),
        (["own:ready", "data.csv", "--target", "yy"], "no target column 'yy'"),
        (["own:ready", "--target", "y"], "no data are given"),
        (["own:First", "--param", "k"], "--param takes NAME=VALUE. Got 'k'"),
        (["own:First", "--param", "kk=1"], "does not take these parameters"),
        (["own:ready", "--param", "k=1"], "--param"),
        (["own:ready", "--relation", "MR-9"], "no relation 'MR-9'"),
        (["own:ready", "--relation", "own:Nothing"], "'own' has no 'Nothing'"),
        (["own:ready", "--relation", "own:ready"], "the name of one"),
        (["own:ready", "--expect-failure", "MR-0"], "--expect-failure takes RELATION=REASON"),
        (["own:ready", "--expect-failure", "MR-00=x"], "Did you mean 'MR-0'"),
        (["own:ready", "--inputs", "0"], "--inputs"),
        (["own:ready", "--seed", "-1"], "--seed"),
        (["own:ready", "--budget", "soon"], "not understood"),
        (["own:ready", "--engine", "steam"], "engine"),
        (["own:ready", "--html", "."], "is a folder"),
        (["own:ready", "--like", "sklearn.naive_bayes:GaussianNBB"], "Did you mean 'GaussianNB'"),
    ],
)
def test_wrong_use_is_one_line(folder, words, says):
    result = run(*words)
    assert result.exit_code == 2
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not result.stdout


@pytest.mark.slow
def test_kept_by_the_words_and_parameters_it_was_asked_with(folder):
    words = ("own:First", "--store", "runs.sqlite", "--inputs", "20", "--relation", "sample order")
    assert "kept as run 1" in run(*words, "--param", "k=1").stdout
    again = run(*words, "--param", "k=1", "--seed", "1", "--json")
    assert json.loads(again.stdout)["run"] == 2
    assert "1 violation of earlier checks was replayed and reproduced." in json.loads(again.stdout)["notes"]
    other = run(*words, "--param", "k=2", "--seed", "1", "--json")
    assert json.loads(other.stdout)["notes"] == []  # what one k violates, another need not
    run_page = CliRunner().invoke(app, ["runs", "show", "1", "--store", "runs.sqlite"])
    assert "necessary relation violated" in run_page.stdout


@pytest.mark.slow
def test_a_terminal_shows_what_names_say_and_obeys_none(folder, monkeypatch):
    data = pd.read_csv("data.csv").rename(columns={name: f"[red]{name}\x1b[31m" for name in "xz"})
    data.to_csv("odd.csv", index=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    result = run(
        "own:First", "odd.csv", "--target", "y", "--inputs", "60", "--rows", "10", "--relation", "sample order"
    )
    assert result.exit_code == 1
    assert "\x1b[31m" not in result.stdout
    assert re.search(r"\[red\][xz]�\[31m", result.stdout)
    assert "\x1b[1;31m" in result.stdout  # our own colours


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason=WHY_NOT)
def test_a_browser_shows_the_page(folder):
    evil = "<img src=x onerror=alert(1)>"
    (folder / "evil.py").write_text(
        f"from own import Backwards\nclass Evil(Backwards):\n    name = statement = {evil!r}\n"
    )
    result = run(
        "own:First", "--relation", "evil:Evil", "--relation", "sample order", "--inputs", "20", "--html", "page.html"
    )
    sys.modules.pop("evil", None)
    assert result.exit_code == 1
    with Browser() as browser:
        page = browser.open(folder / "page.html")
        assert page.console == []
        assert page.requests == [(folder / "page.html").as_uri()]
        text = page.run("document.body.innerText")
        assert evil in text
        assert "sample order" in text
        assert page.run("document.querySelectorAll('img').length") == 0
        page.look(width=400)
        assert page.run("document.documentElement.scrollWidth") <= 400
