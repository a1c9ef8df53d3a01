"""The one loop that answers flows."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

import datamorphic as dm
from datamorphic import Status
from datamorphic.errors import ArgumentError, OutOfBudget, SystemDied, SystemFailed, SystemHung
from datamorphic.runs.driver import CallCounter, drive
from datamorphic.runs.flow import Budget, Query, ask
from datamorphic.runs.journal import RunJournal
from datamorphic.runs.store import Store

SPACE = dm.Space([dm.Integer("n", 0, 1_000_000)])


def parity():
    return dm.wrap(lambda f: f["n"] % 2, space=SPACE, name="parity")


def numbers(*values):
    return SPACE.points(pd.DataFrame({"n": list(values)}))


def count_up(batches, size):
    """A flow that asks for consecutive numbers and returns how many answers it saw, also when cut short."""
    seen = 0
    try:
        for i in range(batches):
            outputs = yield Query(numbers(*range(i * size, (i + 1) * size)), progress=i / batches, note="counting")
            seen += len(outputs)
    except OutOfBudget:
        pass
    return seen


def test_a_flow_is_answered_and_counted():
    def flow():
        first = yield numbers(1, 2, 3)  # plain points are a question too
        second = yield Query(numbers(3, 2, 9))
        return first.values.tolist(), second.values.tolist()

    tally = CallCounter()
    assert drive(flow(), parity(), tally=tally) == ([1, 0, 1], [1, 0, 1])
    assert (tally.runs, tally.calls) == (6, 4)  # 2 and 3 are remembered
    assert tally.seconds > 0
    assert tally.incidents.empty


def test_scores_on_demand():
    from sklearn.linear_model import LogisticRegression

    frame = pd.DataFrame({"n": range(20)})
    sut = dm.wrap(LogisticRegression().fit(frame, frame["n"] > 9), space=SPACE)
    assert drive(ask(SPACE.points(frame)), sut).scores is None
    assert drive(ask(SPACE.points(frame), scores=True), sut).scores.shape == (20, 2)


@pytest.mark.parametrize(("budget", "answered"), [(35, 30), ("30 runs", 30), ("29", 20), (5, 0), (None, 100)])
def test_a_budget_of_runs_is_never_exceeded(budget, answered):
    tally = CallCounter()
    assert drive(count_up(10, 10), parity(), budget=budget, tally=tally) == answered
    assert tally.runs == answered
    assert tally.exhausted == (answered < 100)


def test_a_budget_of_time_ends_the_run(clock):
    slow = dm.wrap(lambda f: clock.move(0.02) or f["n"] % 2, space=SPACE)
    tally = CallCounter()
    seen = drive(count_up(10_000, 1), slow, budget="0.3s", tally=tally)
    assert 0 < seen < 100
    assert tally.exhausted


@pytest.mark.parametrize("failure", [SystemDied("it died"), SystemHung("it hung")], ids=["dies", "hangs"])
@pytest.mark.parametrize("journaled", [False, True])
def test_a_budget_of_time_covers_the_restarts_of_a_system_that_fails(failure, journaled, clock, monkeypatch, tmp_path):
    """Each death costs two seconds, on most of 400 rows."""
    system = parity()
    answer_all = system.answers

    def answer_or_fail(batches, scores):
        if all((batch.frame["n"] % 10 == 0).all() for batch in batches):
            return answer_all(batches, scores)
        clock.move(2.0)
        return [failure] * len(batches)

    monkeypatch.setattr(system, "answers", answer_or_fail)
    rng, tally = np.random.default_rng(0), CallCounter()
    with Store.open(tmp_path / "runs.db") as store:
        run = store.begin("explore", "parity", {}, seed=0) if journaled else None
        journal = None if run is None else RunJournal(store, run, rng)
        start_time = clock.time
        with pytest.raises(OutOfBudget):
            drive(ask(numbers(*range(400))), system, budget="10s", tally=tally, journal=journal, batch=50)
    assert tally.exhausted
    assert clock.time - start_time <= 10 + 1 + 2  # what is begun in time may end a little later


def test_a_flow_that_does_not_mind_budgets_is_ended():
    def deaf():
        while True:
            try:
                yield numbers(1)
            except OutOfBudget:
                continue

    with pytest.raises(OutOfBudget):
        drive(deaf(), parity(), budget=3)

    def careless():
        yield numbers(1, 2)
        yield numbers(3, 4)

    with pytest.raises(OutOfBudget, match="after 2 runs"):
        drive(careless(), parity(), budget=3)


@pytest.mark.parametrize("text", ["", "soon", "-5", "0", "1 fortnight", "1..2s", 0, -1, 2.5, True])
def test_budgets_that_are_none(text):
    with pytest.raises(ArgumentError, match="not understood"):
        Budget.parse(text)


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("90s", Budget(seconds=90)),
        ("1m", Budget(seconds=60)),
        ("1.5 min", Budget(seconds=90)),
        ("2h", Budget(seconds=7200)),
        ("1h 1m 1s", Budget(seconds=3661)),
        ("10,000 runs", Budget(runs=10_000)),
        (np.int64(7), Budget(runs=7)),
        (Budget(runs=3, seconds=4), Budget(runs=3, seconds=4)),
    ],
)
def test_budgets(text, budget):
    assert Budget.parse(text) == budget


@pytest.mark.slow
def test_a_run_survives_a_model_that_raises_hangs_and_answers_nan(hang_clock):
    """Two rows of sixteen raise, one hangs, one is NaN: exactly these are reported, nothing else is lost."""
    raising, hanging, nan, path = {3, 15}, 6, 10, hang_clock.path

    def model(frame):
        import time

        n = frame["n"].to_numpy()
        if np.isin(n, list(raising)).any():
            raise ValueError("cannot divide the indivisible")
        if (n == hanging).any():
            path.touch()
            time.sleep(3600)
        answers = (n % 7).astype(float)
        answers[n == nan] = np.nan
        return answers

    tally = CallCounter()
    points = numbers(*range(16))
    outputs = drive(ask(points), dm.wrap(model, space=SPACE), tally=tally, timeout=1.0)
    failures = {int(i): Status(outputs.status[i]) for i in np.flatnonzero(outputs.status != Status.OK)}
    assert failures == {**dict.fromkeys(raising, Status.ERROR), hanging: Status.TIMEOUT, nan: Status.MISSING}
    fine = outputs.status == Status.OK
    np.testing.assert_array_equal(outputs.values[fine], (np.arange(16) % 7)[fine])
    incidents = tally.incidents.set_index("n")
    assert set(incidents.index) == raising | {hanging, nan}
    assert incidents.loc[3, "message"] == "ValueError: cannot divide the indivisible"
    assert "did not answer" in incidents.loc[hanging, "message"]
    assert tally.health.status_counts == {Status.ERROR: 2, Status.TIMEOUT: 1, Status.MISSING: 1}
    assert (tally.runs, tally.calls) == (16, 16)


def test_a_system_that_fails_altogether_ends_the_run():
    def broken(frame):
        raise RuntimeError("no licence")

    flow = count_up(3, 5)
    with pytest.raises(SystemFailed, match="no licence"):
        drive(flow, dm.wrap(broken, space=SPACE))
    assert flow.gi_frame is None  # closed


def test_incidents_are_kept_up_to_a_limit_and_counted_beyond():
    tally = CallCounter()
    drive(ask(numbers(*range(3000))), dm.wrap(lambda f: f["n"] * np.nan, space=SPACE), tally=tally)
    assert len(tally.incidents) == 1000
    assert tally.health.status_counts == {Status.MISSING: 3000}


def test_progress_goes_to_stderr_and_only_where_it_is_wanted(monkeypatch, capsys):
    from datamorphic.runs import progress

    monkeypatch.setattr(progress, "SILENT_SECONDS", 0.0)
    drive(count_up(5, 3), parity(), progress=True)
    output = capsys.readouterr()
    assert output.out == ""
    assert "counting" in output.err
    drive(count_up(5, 3), parity())  # stderr is no terminal here
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress.sys, "stderr", io.StringIO())
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "SILENT_SECONDS", 60.0)
    drive(count_up(5, 3), parity())
    assert progress.sys.stderr.getvalue() == ""  # over before anyone would look
