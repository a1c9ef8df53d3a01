"""``datamorphic test``: exit codes, files, words that hold nothing hostile."""

from __future__ import annotations

import html
import json
import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import pandas as pd
import pytest
from typer.testing import CliRunner

import datamorphic as dm
from datamorphic.audit import run as audit_run
from datamorphic.cli.main import app
from datamorphic.errors import OutOfBudget
from support.cases import WITHOUT_TRAINING
from support.lending import people

EVIL = "<script>alert(1)</script>"
LENDERS = """
from support.lending import EverythingWrong, Lender, people

good, bad = Lender(people(200)), EverythingWrong(people(200))

def broken(frame):
    raise RuntimeError("no weights")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "lenders.py").write_text(LENDERS)
    people(120).to_csv(tmp_path / "loans.csv", index=False)
    yield tmp_path
    sys.modules.pop("lenders", None)


ONLY = [f"--only={check}" for check in ("answers", "scores", "borders")]


def run(*words):
    return CliRunner().invoke(app, ["test", *words])


@pytest.mark.slow
def test_a_good_model_exits_0_and_a_bad_one_1(folder):
    words = ["loans.csv", "--target", "decision", "--monotone", "income=up", "--outcome", "approve"]
    words += ["--only", "answers", "--only", "monotone"]  # all checks together: in the next test
    good = run("lenders:good", *words)
    assert good.exit_code == 0, good.output
    assert "nothing wrong was found" in good.stdout
    bad = run("lenders:bad", *words)
    assert bad.exit_code == 1
    assert "A higher income can make the answer approve less likely" in bad.stdout
    assert "--only monotone" in bad.stdout
    assert "--outcome approve" in bad.stdout
    former = run("lenders:good", *(word.replace("--outcome", "--towards") for word in words))
    assert (former.exit_code, former.stdout.partition("\n")[0]) == (0, good.stdout.partition("\n")[0])
    assert "--towards is now called --outcome" in former.stderr
    never = run("lenders:bad", "loans.csv", "--target", "decision", "--fail-on", "never", "--only", "answers")
    assert never.exit_code == 0
    assert run("lenders:broken", "loans.csv", "--target", "decision").exit_code == 3


@pytest.fixture
def starved_borders(monkeypatch):
    """Give the check "borders" no time."""

    def stop(context, budget):
        raise OutOfBudget("no time")

    checks = [replace(check, run=stop) if check.name == "borders" else check for check in audit_run.CHECKS]
    monkeypatch.setattr(audit_run, "CHECKS", checks)


def test_an_incomplete_run_exits_4_unless_it_is_allowed(folder, starved_borders):
    words = ["lenders:good", "loans.csv", "--target", "decision", *ONLY, "--store", "none"]
    incomplete = run(*words, "--junit", "error.xml", "--sarif", "found.sarif")
    assert incomplete.exit_code == 4, incomplete.output
    headline = "incomplete: no fault or concern was found by 2 checks; 1 check was not tried, since the budget (60 s)"
    assert headline in incomplete.stdout
    assert ET.parse(folder / "error.xml").getroot().get("errors") == "1"
    [scan] = json.loads((folder / "found.sarif").read_text())["runs"]
    assert not scan["invocations"][0]["executionSuccessful"]
    assert run(*words, "--fail-on", "never").exit_code == 4
    allowed = run(*words, "--allow-incomplete", "--junit", "skipped.xml", "--json")
    assert allowed.exit_code == 0
    document = json.loads(allowed.stdout)
    assert (document["passed"], document["complete"], document["unfinished"]) == (False, False, ["borders"])
    assert ET.parse(folder / "skipped.xml").getroot().get("errors") == "0"


def test_findings_come_before_incompleteness(folder, starved_borders):
    result = run("lenders:bad", "loans.csv", "--target", "decision", *ONLY)
    assert ("incomplete: " in result.stdout, result.exit_code) == (True, 1)


@pytest.mark.slow
def test_all_files_are_written_and_agree(folder):
    names = {
        "html": "page.html",
        "junit": "junit.xml",
        "sarif": "found.sarif",
        "markdown": "found.md",
        "pytest": "test_it.py",
    }
    words = [word for kind, name in names.items() for word in (f"--{kind}", f"out/{name}")]
    promises = folder / "promises.toml"
    promises.write_text('protected = ["gender"]\noutcome = "approve"\nmonotone = {income = "up"}\n')
    result = run(
        "lenders:bad",
        "loans.csv",
        "--target",
        "decision",
        "--expect",
        "promises.toml",
        "--save-front",
        "out/front.parquet",
        *words,
        *(f"--only={check}" for check in ("answers", "monotone", "protected", "borders")),
        "--json",
    )
    assert result.exit_code == 1, result.output
    document = json.loads(result.stdout)
    titles = [finding["title"] for outcome in document["outcomes"] for finding in outcome["findings"]]
    read_back = dm.results.AuditResult.from_json(json.dumps(document))
    assert read_back.headline == document["headline"]
    out = folder / "out"
    for name in ("page.html", "found.md"):
        text = html.unescape((out / name).read_text()).replace("\\", "")
        assert all(title in text for title in titles), name
    sarif = json.loads((out / "found.sarif").read_text())
    assert len(sarif["runs"][0]["results"]) == len(read_back.findings)
    suite = ET.parse(out / "junit.xml").getroot()
    assert sum(1 for _ in suite.iter("testcase")) == len(document["outcomes"])
    assert len(dm.Front.load(out / "front.parquet"))
    compile((out / "test_it.py").read_text(), "test_it.py", "exec")


def test_hints_for_columns_are_part_of_the_command_that_repeats_the_test(folder):
    hints = ["--kind", "debt=integer", "--column-step", "income=2", "--bounds", "income=0:200"]
    result = run("lenders:bad", "loans.csv", "--target", "decision", "--only", "answers", *hints, "--json")
    assert result.exit_code in (0, 1), result.output
    command = dm.results.AuditResult.from_json(result.stdout).command()
    assert "--kind debt=integer --column-step income=2 --bounds income=0:200" in command


@pytest.mark.slow
def test_a_baseline_that_moved(folder):
    first = run(
        "lenders:good", "loans.csv", "--target", "decision", "--only", "borders", "--save-front", "front.parquet"
    )
    assert first.exit_code == 0, first.output
    words = (
        "loans.csv",
        "--target",
        "decision",
        "--baseline",
        "front.parquet",
        "--only",
        "borders",
        "--only",
        "baseline",
    )
    assert run("lenders:good", *words).exit_code == 0
    moved = run("lenders:bad", *words)
    assert moved.exit_code == 1
    assert "Given rows get another answer than from the baseline" in moved.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["lenders:good", "loans.csv", "--monotone", "income"], "income=up"),
        (["lenders:good", "loans.csv", "--only", "rows"], "must be one of"),
        (["lenders:good", "loans.csv", "--fail-on", "sometimes"], "fault, concern, advice or never"),
        (["lenders:good", "loans.csv", "--target", "decisoin"], "Did you mean 'decision'"),
        (["lenders:good", "loans.csv", "--expect", "nowhere.toml"], "cannot be read"),
        (["lenders:good", "loans.csv", "--baseline", "nowhere.parquet"], "nowhere.parquet"),
        (["lenders:good", "--target", "decision"], "no data are given"),
        (["lenders:good", "loans.csv", "--data", "loans.csv"], "twice"),
        (["nowhere.skops", "loans.csv"], "nowhere.skops"),
        (["lenders:good", "nowhere.csv"], "nowhere.csv"),
        (["loans.csv", "--budget", "soon"], "not understood"),
    ],
)
def test_wrong_use_is_one_line(folder, words, says):
    result = run(*words)
    assert result.exit_code == 2
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_hostile_names_are_harmless_everywhere(folder):
    from sklearn.tree import DecisionTreeClassifier

    frame = people(100).rename(columns={"income": EVIL, "debt": "[red]debt\x1b[31m", "decision": "label"})
    frame["label"] = frame["label"].replace({"approve": EVIL})
    frame = frame.drop(columns="gender")
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(frame.drop(columns="label"), frame["label"])
    result = dm.test(
        model,
        frame,
        "label",
        name=EVIL,
        protected=[EVIL],
        expect={"monotone": {EVIL: "down"}, "outcome": EVIL},
        only=WITHOUT_TRAINING,
    )
    assert any(EVIL in finding.title for finding in result.findings)
    page = result.to_html()
    body = page[page.index("<body") :]
    assert EVIL not in body
    assert "&lt;script&gt;alert(1)" in body
    assert EVIL not in re.sub(r"^```.*?^```", "", result.to_markdown(), flags=re.DOTALL | re.MULTILINE)
    assert "\x1b" not in result.describe()
    assert "\x1b" not in result.to_markdown()
    ET.fromstring(result.to_junit())
    document = json.loads(result.to_sarif())
    texts = [item["message"] for item in document["runs"][0]["results"]]
    assert texts
    assert all(EVIL not in text.get("markdown", "") for text in texts)


@pytest.mark.slow
def test_the_terminal_shows_what_names_say_and_obeys_none(folder, monkeypatch):
    frame = people(100).rename(columns={"income": "[red]money\x1b[31m"})
    frame.to_csv("odd.csv", index=False)
    (folder / "odd.py").write_text(
        "def model(frame):\n    return ['yes' if each > 90 else 'no' for each in frame.iloc[:, 0]]\n"
    )
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    result = run(
        "odd:model", "odd.csv", "--target", "decision", "--protected", "[red]money\x1b[31m", "--only", "protected"
    )
    assert result.exit_code == 1
    assert "\x1b[31mmoney" not in result.stdout
    assert "[red]money�[31m" in result.stdout


@pytest.mark.slow
def test_a_new_user_with_a_model_of_their_own(folder):
    """Train on a CSV, save, test, read the page: as the README says it."""
    pytest.importorskip("skops", reason="no skops: pip install 'datamorphic[skops]'")
    import skops.io
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    loans = pd.read_csv("loans.csv").drop(columns="gender").head(80)
    loans.to_csv("data.csv", index=False)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(loans.drop(columns="decision"), loans["decision"])
    skops.io.dump(model, "model.skops")
    done = run("model.skops", "data.csv", "--target", "decision", "--html", "out.html", "--store", "none", *ONLY)
    assert done.exit_code == 0, done.output
    assert "out.html" in done.stdout
    page = (folder / "out.html").read_text()
    assert "model.skops" in page
    assert "nothing wrong was found" in page.lower()
