"""An audit keeps its budget, and says what it did not try."""

from __future__ import annotations

import itertools
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
from datamorphic.audit import options as options_module
from datamorphic.audit import run as audit_run
from datamorphic.audit.check import MISSING_RESULT, Check, CheckFindings, run_checks
from datamorphic.audit.checks import CHECKS
from datamorphic.audit.context import BudgetClock, CheckContext
from datamorphic.audit.expectations import parse_expectations
from datamorphic.audit.progress import AuditProgress
from datamorphic.core import execute as execute_module
from datamorphic.errors import ArgumentError, OutOfBudget
from datamorphic.morphisms.subject import build_subject
from datamorphic.runs.driver import CallCounter
from datamorphic.runs.flow import Budget
from datamorphic.runs.store import Store
from datamorphic.space import space as space_module
from datamorphic.space.options import SpaceOptions
from datamorphic.space.space import Space
from support.clock import ManualClock
from support.lending import Lender, people

PEOPLE = people(60)
LEARNING_CHECK = next(check for check in CHECKS if check.name == "learning")


@pytest.fixture
def undisturbed_clock():
    """Some of these tests wait for the end of a budget."""


def outcome(result, check):
    return next(item for item in result.outcomes if item.check == check)


def make_check(name="x", run=lambda context, budget: CheckFindings(basis="done"), **fields):
    settings = {"question": f"{name}?", "weight": 1.0, "find_skip_reason": lambda context: "", **fields}
    return Check(name=name, run=run, **settings)


def make_context(budget):
    subject = build_subject(Lender(PEOPLE), PEOPLE, target="decision", rng=np.random.default_rng(0), owner="test")
    clock = BudgetClock(Budget.parse(budget))
    clock.start()
    return CheckContext(subject=subject, expectations=parse_expectations(), clock=clock, drive_options={})


def run(checks, budget="2s", **options):
    return {item.check: item for item in run_checks(make_context(budget), checks, **options)}


def loop_forever(context, budget):
    while True:
        time.sleep(0.01)


# -- what counts -----------------------------------------------------------------------------------------------


def test_the_budget_starts_with_the_first_query(monkeypatch, clock, tmp_path):
    """Neither loading, nor opening a store, nor imports count; terminal, JSON and store say the same duration."""

    def wait_before(function):
        def wait_and_call(*arguments, **keywords):
            clock.move(1000)
            return function(*arguments, **keywords)

        return wait_and_call

    for name in ("load_tested_model", "load_reference"):
        monkeypatch.setattr(options_module, name, wait_before(getattr(options_module, name)))
    monkeypatch.setattr(execute_module, "keep_run", wait_before(execute_module.keep_run))
    monkeypatch.setattr("datamorphic.morphisms.subject.SpaceOptions.infer_space", wait_before(SpaceOptions.infer_space))
    monkeypatch.setattr("datamorphic.audit.context.import_module", lambda name: clock.move(1000))
    monkeypatch.setattr(audit_run, "CHECKS", (make_check("x", libraries=("not_imported_yet",)),))

    def decide(frame):
        clock.move(0.25)
        return np.where(frame.income > 90, "a", "b")

    result = dm.test(decide, PEOPLE, "decision", budget="60s", store=tmp_path / "runs.db", progress=False)
    assert outcome(result, "x").state == "passed"
    assert 0.25 <= result.seconds < 60
    with Store.open(tmp_path / "runs.db") as store:
        assert [run.seconds for run in store.runs()] == [result.seconds]
    assert f"{result.seconds:.1f} s and" in result.describe()
    assert json.loads(result.to_json())["seconds"] == result.seconds


WITHOUT_IMPORTS = """
import sys
from dataclasses import replace
import numpy as np, pandas as pd
import datamorphic as dm
from datamorphic.audit import run as audit_run
from datamorphic.audit.context import BudgetClock

known = set()
def import_and_note(clock, names, plain=BudgetClock.import_libraries):
    plain(clock, names)
    known.update(sys.modules)

def observe(check):
    def run(context, budget):
        result = check.run(context, budget)
        new = {name for name in set(sys.modules) - known if name.split(".")[0] in ("pandas", "scipy", "sklearn")}
        assert not new, (check.name, new)
        return result
    return replace(check, run=run)

BudgetClock.import_libraries = import_and_note
audit_run.CHECKS = tuple(map(observe, audit_run.CHECKS))
rng = np.random.default_rng(0)
data = pd.DataFrame({"a": rng.normal(size=300), "b": rng.integers(0, 9, 300), "c": rng.choice(list("xyz"), 300)})
data["y"] = np.where(data.a + rng.normal(size=300) > 1, "p", "q")
result = dm.test(lambda frame: np.where(frame.a > 1, "p", "q"), data, "y", budget="50000 runs", progress=False)
assert not [outcome.why for outcome in result.outcomes if outcome.state == "broke"], result.describe()
"""


@pytest.mark.slow
def test_checks_declare_the_libraries_that_they_import():
    process = subprocess.run([sys.executable, "-c", WITHOUT_IMPORTS], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr


# -- large data -------------------------------------------------------------------------------------------------


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
    data = np.random.default_rng(0).normal(size=(options_module.MAX_ROWS + 5_000, 3))
    low = data[:, 0].argmin()
    result = dm.test(lambda frame: frame.iloc[:, 0] > 0, data, only=["answers", "number types"], progress=False)
    assert max(sizes) == options_module.MAX_ROWS
    assert any("A random sample of 100,000 of the 105,000 rows was used" in note for note in result.notes)
    again = dm.morphisms.subject.build_subject(
        lambda frame: frame, data, max_rows=1_000, rng=np.random.default_rng(0), owner="test"
    )
    assert len(again.seeds) == 1_000
    assert (np.diff(again.rows) > 0).all()
    assert (again.seeds.codes == data[again.rows]).all()
    assert again.seeds.space.features[0].low == data[low, 0]  # the space is that of all rows


def test_examples_name_the_rows_of_large_data(monkeypatch):
    monkeypatch.setattr(options_module, "MAX_ROWS", 200)
    data = pd.DataFrame({"income": np.arange(1_000.0), "gender": ["f", "m"] * 500})

    def decide(frame):
        return np.where((frame.gender == "m") & (frame.income > 300), "yes", "no")

    result = dm.test(decide, data, protected="gender", only="protected", progress=False)
    rows = [(example.row, example.case["income"]) for finding in result.findings for example in finding.examples]
    assert rows
    assert all(row == income for row, income in rows)


@pytest.mark.slow
def test_a_slow_model_of_many_columns_keeps_the_budget(clock):
    """On a clock that goes on by 20 ms for each row that the model answers."""
    from sklearn.naive_bayes import GaussianNB

    class Slow(GaussianNB):
        def predict_joint_log_proba(self, rows):
            clock.move(0.02 * len(rows))
            return super().predict_joint_log_proba(rows)

    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(2_000, 60))
    labels = inputs[:, 0] + inputs[:, 1] ** 2 > 1
    result = dm.test(Slow().fit(inputs, labels), inputs, labels, budget="60s", only="dependence", progress=False)
    assert 5 < result.seconds < 62


# -- shares -----------------------------------------------------------------------------------------------------


def test_a_check_that_looks_at_no_clock_is_ended():
    outcomes = run([make_check("endless", loop_forever), make_check("after")], budget="1s")
    assert outcomes["endless"].state == "not run"
    assert outcomes["endless"].skip_reason == "share too small"
    assert outcomes["after"].state == "passed"


@pytest.mark.parametrize("has_timer", [True, False])
def test_where_no_check_can_be_ended_the_notes_say_why_the_budget_was_exceeded(has_timer, clock, monkeypatch):
    def take_long(context, budget):
        clock.move(60)
        return CheckFindings(basis="done")

    monkeypatch.setattr(audit_run, "CHECKS", (make_check(run=take_long),))
    monkeypatch.setattr(audit_run, "can_end_work", lambda: has_timer)
    result = dm.test(Lender(PEOPLE), PEOPLE, target="decision", budget="10s", progress=False)
    assert any("The budget was exceeded" in note for note in result.notes) is not has_timer


def test_a_check_that_needs_more_than_its_share_gets_it_at_once(clock):
    """As long as it is not too much of what is left."""
    shares = []

    def estimate(context, budget):
        shares.append(budget.budget.seconds)
        if budget.budget.seconds < 6:
            raise OutOfBudget("too little")
        return CheckFindings(basis="done")

    others = [make_check(str(number)) for number in range(29)]
    outcomes = run([make_check("first", estimate), *others], budget="100s")
    assert outcomes["first"].state == "passed"
    assert shares == sorted(shares)
    assert shares[-1] <= 0.2 * 100
    assert {item.state for item in outcomes.values()} == {"passed"}


def test_a_busy_machine_gives_a_check_enough_time_to_compute(clock):
    shares = []
    check = make_check(
        run=lambda context, budget: shares.append(budget.budget.seconds) or CheckFindings(), own_seconds=1.0
    )
    others = [make_check(str(number)) for number in range(99)]
    for slowdown in (1.0, 8.0, 1000.0):
        context = make_context("100s")
        context.clock.slowdown = slowdown
        run_checks(context, [check, *others])
    assert shares == pytest.approx([1.0, 8.0, 0.2 * 75], abs=0.5)


def test_checks_with_a_small_part_of_the_budget_come_last(clock):
    order = []

    def note(name):
        return lambda context, budget: order.append(name) or CheckFindings()

    checks = [make_check("algorithm", note("algorithm"), max_share=0.2), make_check("model", note("model"))]
    assert list(run(checks)) == ["algorithm", "model"]
    assert order == ["model", "algorithm"]


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


def test_a_busy_machine_needs_more_time_for_the_report(clock):
    budget_clock = BudgetClock(Budget(seconds=20))
    assert budget_clock.share(1.0).seconds == pytest.approx(20 - 1.2)
    budget_clock.slowdown = 6.0
    assert budget_clock.share(1.0).seconds == pytest.approx(20 - 3)
    budget_clock.slowdown = 100.0
    assert budget_clock.share(1.0).seconds == pytest.approx(20 - 5)


def test_a_query_shows_that_rows_are_faster_than_they_seemed(clock):
    context = make_context("60s")
    context.pace.seconds_per_row = 1.0
    counter = CallCounter(calls=100, seconds=2.0)
    context.learn_pace(counter)
    assert context.pace.seconds_per_row == 0.02
    context.learn_pace(CallCounter(calls=1, seconds=2.0))
    assert context.pace.seconds_per_row == 0.02


def test_slow_calls_of_a_busy_machine_do_not_make_rows_seem_slow(clock):
    """Each call waits for other programs, however many rows it has."""
    waits = itertools.cycle([0.4, 1.1, 0.7, 0.9])

    def decide(frame):
        clock.move(next(waits) + 1e-4 * len(frame))
        return np.where(frame.income > 90, "a", "b")

    data = people(600)
    result = dm.test(decide, data, "decision", budget="60s", only=["repeats", "answers", "row order"], progress=False)
    assert {item.state for item in result.outcomes if item.skip_reason != "not requested"} == {"passed"}
    assert outcome(result, "answers").why.startswith("600 given inputs")


# -- whole audits -----------------------------------------------------------------------------------------------


def test_a_very_slow_system_ends_in_time_and_nothing_is_said_to_have_passed(clock):
    def slow(frame):
        clock.move(len(frame))
        return np.where(frame.income > 90, "a", "b")

    result = dm.test(slow, PEOPLE, "decision", budget="2s", progress=False)
    assert result.seconds <= 5  # for the rows that show how it is called: nothing is tried after them
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
            while True:
                time.sleep(0.01)

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    model = Slow()
    model.fast = True
    model.fit(PEOPLE.drop(columns="decision"), PEOPLE["decision"])
    result = dm.test(model, PEOPLE, "decision", budget="3s", only="learning", progress=False)
    assert outcome(result, "learning").state == "not run"
    assert outcome(result, "learning").unfinished


@pytest.mark.slow
def test_ctrl_c_ends_a_check_that_looks_at_no_clock(monkeypatch, tmp_path):
    def loop_until_ctrl_c(context, budget):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        loop_forever(context, budget)

    checks = (make_check("first"), make_check("endless", loop_until_ctrl_c), make_check("last"))
    monkeypatch.setattr(audit_run, "CHECKS", checks)
    result = dm.test(Lender(PEOPLE), PEOPLE, "decision", store=tmp_path / "runs.db", progress=False, budget=None)
    assert [item.why for item in result.outcomes] == ["done", "interrupted", "interrupted"]
    assert result.interrupted
    assert not result.passed
    assert result.headline.endswith("2 checks were not tried, since the audit was interrupted")
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
    out, _ = process.communicate(timeout=60)
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


def test_without_a_terminal_there_is_a_line_every_ten_seconds(monkeypatch, capsys, clock):
    monkeypatch.delenv("NO_COLOR", raising=False)
    budget_clock = BudgetClock(Budget(seconds=60))
    budget_clock.start()
    progress = AuditProgress("model", budget_clock)
    progress.begin(make_check("first", weight=1.0), 0.0, 0.25)
    for seconds, expected in (
        (3, ""),
        (8, "model: first, 20% done, at most 45 s left\n"),
        (3, ""),
        (8, "model: first, 24% done, at most 34 s left\n"),
    ):
        clock.move(seconds)
        progress._show()
        assert capsys.readouterr().err == expected
    progress._progress.__exit__()
    silent = AuditProgress("model", BudgetClock(Budget(seconds=60)), visible=False)
    clock.move(20)
    silent._show()
    assert capsys.readouterr().err == ""


def test_progress_never_goes_back(monkeypatch):
    """Although a check that was not completed is tried again at the end."""
    shares = []
    progress = AuditProgress("model", BudgetClock(Budget()), visible=False)
    monkeypatch.setattr(progress._progress, "show", lambda text, share, **_: shares.append(share))
    for done in (0.0, 0.5, 0.9, 0.4, 0.95):
        progress.begin(make_check(), done, 0.05)
        progress._show()
    assert shares == [0.0, 0.5, 0.9, 0.9, 0.95]


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
