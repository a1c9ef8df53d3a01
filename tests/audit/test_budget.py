"""An audit keeps its budget, and says what it did not try."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic._clock import use_clock
from datamorphic.audit import api, runner
from datamorphic.audit.check import MISSING_RESULT, Check, CheckFindings, run_checks
from datamorphic.audit.checks import CHECKS
from datamorphic.audit.context import BudgetClock, CheckContext
from datamorphic.audit.expectations import parse_expectations
from datamorphic.audit.progress import AuditProgress
from datamorphic.errors import ArgumentError, OutOfBudget
from datamorphic.morphisms.subject import build_subject
from datamorphic.runs.flow import Budget
from datamorphic.space import space as space_module
from datamorphic.space.space import Space
from support.clock import ManualClock
from support.lending import Lender, people

PEOPLE = people(60)
LEARNING_CHECK = next(check for check in CHECKS if check.name == "learning")


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    """Let the machine seem idle: more of the budget is reserved for the report on a busy one."""
    if hasattr(os, "getloadavg"):
        monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))


def outcome(result, check):
    return next(item for item in result.outcomes if item.check == check)


def make_check(name="x", run=lambda context, budget: CheckFindings(basis="done"), **fields):
    settings = {"question": f"{name}?", "weight": 1.0, "find_skip_reason": lambda context: "", **fields}
    return Check(name=name, run=run, **settings)


def make_context(budget):
    subject = build_subject(Lender(PEOPLE), PEOPLE, target="decision", rng=np.random.default_rng(0), owner="test")
    return CheckContext(
        subject=subject, expectations=parse_expectations(), clock=BudgetClock(Budget.parse(budget)), drive_options={}
    )


def run(checks, budget="2s", **options):
    return {item.check: item for item in run_checks(make_context(budget), checks, **options)}


def loop_forever(context, budget):
    while True:
        time.sleep(0.01)


# -- large data -------------------------------------------------------------------------------------------------


def test_the_clock_starts_before_the_data_are_read(monkeypatch):
    times = []

    def join(*arguments):
        times.append(time.monotonic())
        return arguments[0], arguments[1]

    monkeypatch.setattr(api, "join_target", join)
    monkeypatch.setattr(api, "run_audit", lambda model, data, options: times.append(options.start_time))
    dm.test(Lender(PEOPLE), PEOPLE, "decision")
    joined, started = times
    assert started is not None
    assert started <= joined


@pytest.mark.slow
def test_of_large_data_only_a_sample_is_read(monkeypatch):
    sizes = []
    encode, decode = space_module.encode_floats, Space.decode
    monkeypatch.setattr(
        space_module,
        "encode_floats",
        lambda features, frame, ends: sizes.append(len(frame)) or encode(features, frame, ends),
    )
    monkeypatch.setattr(
        Space, "decode", lambda self, codes, like=None: sizes.append(len(codes)) or decode(self, codes, like)
    )
    data = np.random.default_rng(0).normal(size=(runner.MAX_ROWS + 5_000, 3))
    low = data[:, 0].argmin()
    result = dm.test(lambda frame: frame.iloc[:, 0] > 0, data, only=["answers", "number types"], progress=False)
    assert max(sizes) == runner.MAX_ROWS
    assert any("A random sample of 100,000 of the 105,000 rows was used" in note for note in result.notes)
    again = dm.morphisms.subject.build_subject(
        lambda frame: frame, data, max_rows=1_000, rng=np.random.default_rng(0), owner="test"
    )
    assert len(again.seeds) == 1_000
    assert (np.diff(again.rows) > 0).all()
    assert (again.seeds.codes == data[again.rows]).all()
    assert again.seeds.space.features[0].low == data[low, 0]  # the space is that of all rows


def test_examples_name_the_rows_of_large_data(monkeypatch):
    monkeypatch.setattr(runner, "MAX_ROWS", 200, raising=False)
    data = pd.DataFrame({"income": np.arange(1_000.0), "gender": ["f", "m"] * 500})

    def decide(frame):
        return np.where((frame.gender == "m") & (frame.income > 300), "yes", "no")

    result = dm.test(decide, data, protected="gender", only="protected", progress=False)
    rows = [(example.row, example.case["income"]) for finding in result.findings for example in finding.examples]
    assert rows
    assert all(row == income for row, income in rows)


@pytest.mark.slow
def test_a_slow_model_of_many_columns_keeps_the_budget(monkeypatch):
    """On a clock that goes on by 20 ms for each row that the model answers."""
    from sklearn.naive_bayes import GaussianNB

    clock, monotonic = [0.0], time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + clock[0])

    class Slow(GaussianNB):
        def predict_joint_log_proba(self, rows):
            clock[0] += 0.02 * len(rows)
            return super().predict_joint_log_proba(rows)

    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(2_000, 60))
    labels = inputs[:, 0] + inputs[:, 1] ** 2 > 1
    result = dm.test(Slow().fit(inputs, labels), inputs, labels, budget="60s", only="dependence", progress=False)
    assert clock[0] > 5
    assert result.seconds < 62


# -- shares -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_check_that_looks_at_no_clock_is_ended():
    start = time.monotonic()
    outcomes = run([make_check("endless", loop_forever), make_check("after")])
    assert time.monotonic() - start < 3
    assert outcomes["endless"].state == "not run"
    assert outcomes["endless"].skip_reason == "share too small"
    assert outcomes["after"].state == "passed"


def test_a_check_gets_at_most_its_share_unless_it_is_requested():
    shares = []
    check = make_check(
        run=lambda context, budget: shares.append(budget.budget.seconds) or CheckFindings(), max_share=0.2
    )
    run([check], budget="10s")
    run([check], budget="10s", only=["x"])
    assert shares[0] == pytest.approx(2, abs=0.1)
    assert shares[1] > 8
    assert LEARNING_CHECK.max_share == 0.2


def test_a_check_with_untried_parts_has_not_passed():
    part = CheckFindings(basis="2 of 3", skip_reason="budget spent")
    outcomes = run([make_check(run=lambda context, budget: part)])
    assert outcomes["x"].state == "not run"
    assert outcomes["x"].unfinished


def test_what_needs_an_untried_check_is_not_tried_either():
    def run_out(context, budget):
        raise OutOfBudget("no time")

    first = make_check("first", run_out)
    second = make_check("second", find_skip_reason=lambda context: MISSING_RESULT, needs=("first",))
    third = make_check("third", find_skip_reason=lambda context: "no baseline is given", needs=("first",))
    outcomes = run([first, second, third])
    assert outcomes["second"].skip_reason == "budget spent"
    assert outcomes["second"].why == "it needs the check 'first', which was not completed"
    assert outcomes["third"].skip_reason == "inapplicable"


def test_no_check_begins_after_an_interrupt():
    outcomes = run([make_check("first"), make_check("second")], is_stopped=lambda: True)
    assert {item.skip_reason for item in outcomes.values()} == {"interrupted"}


def test_a_busy_machine_needs_more_time_for_the_report(monkeypatch):
    clock = BudgetClock(Budget(seconds=20), start_time=time.monotonic())
    assert clock.share(1.0).seconds == pytest.approx(20 - 1.2, abs=0.2)
    monkeypatch.setattr(os, "getloadavg", lambda: (3.0 * os.cpu_count(), 0.0, 0.0))
    assert clock.share(1.0).seconds == pytest.approx(20 - 3, abs=0.2)
    monkeypatch.setattr(os, "getloadavg", lambda: (100.0 * os.cpu_count(), 0.0, 0.0))
    assert clock.share(1.0).seconds == pytest.approx(20 - 5, abs=0.2)


# -- whole audits -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_very_slow_system_ends_in_time_and_nothing_is_said_to_have_passed():
    def slow(frame):
        for _ in range(len(frame)):
            time.sleep(1.0)
        return np.where(frame.income > 90, "a", "b")

    start = time.monotonic()
    result = dm.test(slow, PEOPLE, "decision", budget="2s", progress=False)
    assert time.monotonic() - start < 4
    assert not any(item.state == "passed" for item in result.outcomes)
    assert outcome(result, "borders").unfinished
    assert result.headline.startswith("incomplete: ")
    assert f"not tried, since the budget ({result.budget}) did not suffice" in result.headline
    assert "not tried" in result.describe()


@pytest.mark.slow
def test_a_slow_learner_is_not_fitted_longer_than_its_share():
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Slow(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            if hasattr(self, "fast"):
                return self
            end = time.monotonic() + 30
            while time.monotonic() < end:
                time.sleep(0.01)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    model = Slow()
    model.fast = True
    model.fit(PEOPLE.drop(columns="decision"), PEOPLE["decision"])
    start = time.monotonic()
    result = dm.test(model, PEOPLE, "decision", budget="3s", progress=False)
    assert time.monotonic() - start < 5
    assert outcome(result, "learning").state == "not run"
    assert outcome(result, "learning").unfinished


@pytest.mark.slow
def test_ctrl_c_ends_a_check_that_looks_at_no_clock(monkeypatch, tmp_path):
    press_times = []

    def press():
        press_times.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def loop_until_ctrl_c(context, budget):
        threading.Timer(0.1, press).start()
        loop_forever(context, budget)

    checks = (make_check("first"), make_check("endless", loop_until_ctrl_c), make_check("last"))
    monkeypatch.setattr(runner, "CHECKS", checks)
    result = dm.test(Lender(PEOPLE), PEOPLE, "decision", store=tmp_path / "runs.db", progress=False)
    assert time.monotonic() - press_times[0] < 2
    assert [item.why for item in result.outcomes] == ["done", "interrupted", "interrupted"]
    assert result.interrupted
    assert not result.passed
    assert result.headline.endswith("2 checks were not tried, since the audit was interrupted")
    from datamorphic.runs.store import Store

    with Store.open(tmp_path / "runs.db") as store:
        [run] = store.runs()
    assert run.state == "interrupted"
    assert run.summary["checks"] == 1


@pytest.mark.slow
def test_ctrl_c_ends_the_command_with_130(tmp_path):
    Path(tmp_path, "sleepy.py").write_text(
        "import time\nimport numpy as np\n\ncalls = []\n\n"
        "def predict(frame):\n    time.sleep(0.02)\n    calls.append(len(frame))\n"
        "    if len(calls) == 20:\n        open('started', 'w').close()\n"
        "    return np.where(frame.income > 90, 'a', 'b')\n"
    )
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    words = ["test", "sleepy:predict", "people.csv", "--target", "decision", "--json", "--store", "runs.db"]
    process = subprocess.Popen(
        [sys.executable, "-m", "datamorphic", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + 60
    while not Path(tmp_path, "started").exists() and time.monotonic() < deadline:  # a busy machine loads slowly
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    out, _ = process.communicate(timeout=20)
    assert time.monotonic() - start < 2.5
    assert process.returncode == 130
    document = json.loads(out)
    assert document["interrupted"]
    assert document["outcomes"][0]["state"] == "passed"


# -- budgets in runs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-9, 0.2])
def test_a_budget_in_runs_gives_the_same_on_any_clock(step):
    def test_on(clock):
        with use_clock(clock):
            result = dm.test(Lender(PEOPLE), PEOPLE, "decision", protected="gender", budget="9000 runs", progress=False)
        document = result.document() | {"seconds": 0}
        return document | {"outcomes": [item | {"seconds": 0} for item in document["outcomes"]]}

    assert test_on(ManualClock(step)) == test_on(ManualClock())


def test_a_fast_model_gets_the_check_of_batches(clock):
    """Also if a call takes much longer than a row."""

    def decide(frame):
        clock.move(0.001)
        return np.where(frame.income > 90, "a", "b")

    result = dm.test(decide, PEOPLE, "decision", budget="2000 runs", only="batches", progress=False)
    assert outcome(result, "batches").state == "passed"


def test_a_budget_as_text_needs_a_unit():
    with pytest.raises(ArgumentError, match=r"'5' has no unit\. Write '5s' for seconds"):
        dm.test(Lender(PEOPLE), PEOPLE, "decision", budget="5")
    for budget in ("500 runs", 500, "2s"):
        assert dm.test(Lender(PEOPLE), PEOPLE, "decision", budget=budget, only="repeats").outcomes[0].state == "passed"


# -- progress ---------------------------------------------------------------------------------------------------


def test_without_a_terminal_there_is_a_line_every_ten_seconds(monkeypatch, capsys):
    from datamorphic.runs import progress

    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = AuditProgress("model", BudgetClock(Budget(seconds=60), start_time=100.0))
    shown.begin(make_check("first", weight=1.0), 0.0, 0.25)
    for seconds, expected in (
        (3, ""),
        (8, "model: first, 20% done, at most 45 s left\n"),
        (3, ""),
        (8, "model: first, 24% done, at most 34 s left\n"),
    ):
        now[0] += seconds
        shown._show()
        assert capsys.readouterr().err == expected
    shown._progress.__exit__()
    silent = AuditProgress("model", BudgetClock(Budget(seconds=60)), visible=False)
    now[0] += 20
    silent._show()
    assert capsys.readouterr().err == ""


# -- tolerance --------------------------------------------------------------------------------------------------


class Wiggly:
    """A regressor that falls a little now and then."""

    def __init__(self, size):
        self.size = size

    def __call__(self, frame):
        return frame.income.to_numpy(dtype=float) + self.size * np.cos(frame.income.to_numpy(dtype=float) * 3)


def test_differences_within_the_tolerance_are_not_reported():
    options = {"expect": {"monotone": {"income": "up"}}, "only": "monotone", "progress": False}
    strict = dm.test(Wiggly(50.0), PEOPLE, "decision", **options)
    assert [finding.about for finding in strict.findings] == ["income"]
    assert strict.findings[0].effect > 0
    assert strict.findings[0].affected_rows == strict.findings[0].cases
    lenient = dm.test(Wiggly(50.0), PEOPLE, "decision", tolerance=100.0, **options)
    assert lenient.passed
    assert "tolerance=100.0" in lenient.code()
    invariant = {"expect": {"invariant": ["income"]}, "only": "invariant", "progress": False}
    assert not dm.test(Wiggly(0.0), PEOPLE, "decision", **invariant).passed
    assert dm.test(Wiggly(0.0), PEOPLE, "decision", tolerance=1e6, **invariant).passed
    with pytest.raises(ArgumentError, match="tolerance"):
        dm.test(Wiggly(0.0), PEOPLE, "decision", tolerance=-1)


@pytest.mark.slow
def test_a_forest_trained_again_is_advice_and_another_model_a_concern():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    wine = dm.data.load("wine")
    x, y = wine.drop(columns="target"), wine["target"]
    first = dm.test(RandomForestClassifier(10, random_state=0).fit(x, y), wine, "target", only="borders", budget="20s")
    options = {"baseline": first.front, "only": "baseline", "budget": "20s"}
    again = dm.test(RandomForestClassifier(10, random_state=1).fit(x, y), wine, "target", **options)
    assert [finding.level for finding in again.findings] == ["advice"]
    other = dm.test(DecisionTreeClassifier(max_depth=1).fit(x, y), wine, "target", **options)
    [finding] = other.findings
    assert finding.level == "concern"
    assert finding.affected_rows > 0
